"""How fast the language models learn, against a plain rewrite of the original and against the arithmetic.

    python benchmarks/train_lm.py --json
    python benchmarks/train_lm.py --types 21000 --rounds 5
    python benchmarks/train_lm.py --models 2 --types 10000 --batches 30
    python benchmarks/train_lm.py --bf16 --types 10000 --hidden 256 --batches 12

Both learn from the same sequences of random ids, both directions of each, batch 32, two layers, dropout as in
`LMOptions`: lengths drawn log-normally with median 27.3 and spread 0.36, which is what the pairs of ActivityNet
captions have (mean 29.2 tokens), ids by Zipf's law. Tokens are counted once, without padding. "Ours" is
`train-lm`'s own loop: length-bucketed batches, Lightning, clipping and Adam included. The reference does as the
original does (docs/DECISIONS.md), in plain torch: batches in random order, so that 54 % of a batch is padding, a cell
written by hand with both projections inside the step, the log-softmax of every position, Adam tensor by tensor.

The floor is the time of the matrix products alone, three times those of the forward pass, at the best rate that
this machine showed in any round just before ours was timed. Rounds alternate between the two, each size in a process
of its own, and the peak of memory is read before the reference runs. Prints a table, and with --json one JSON line
last; with several sizes its figures are the worst of any, and `sizes` holds each.

With --models N it asks something else: tokens a second of N models that learn side by side, in processes that share the
threads, over those of one model that has all threads, as `train-lm` had it once: rounds alternate. With --bf16
likewise: what `--precision bf16-mixed` reads in a second, over what `32-true` does, in the same process.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn

from swag_af.af.measures import peak_memory_gb
from swag_af.data.vocabulary import SPECIAL_TOKENS
from swag_af.lm.lstm.checkpoints import new_model
from swag_af.lm.lstm.corpus import FoldCorpus, directions
from swag_af.lm.lstm.fitting import Training, quiet_lightning
from swag_af.lm.lstm.workers import training_operations
from swag_af.lm.options import LMOptions
from swag_af.nn.products import multiply

BATCH = 32
WORST: dict[str, Callable[..., float]] = {
    "ratio_to_reference": min,
    "ratio_to_floor": max,
    "tokens_per_second": min,
    "peak_memory_gb": max,
}


def main() -> None:
    options = _options()
    figures: dict[str, Any]
    if options.rate:
        print(_own_rate(options.types[0], options))
        return
    if options.models or options.bf16:
        figures = (in_bf16 if options.bf16 else side_by_side)(options.types[0], options)
        _print(figures)
    elif len(options.types) == 1:
        figures = measure(options.types[0], options)
        _print(figures)
    else:
        sizes = {str(n_types): _alone(n_types, options) for n_types in options.types}
        figures = {name: worst(size[name] for size in sizes.values()) for name, worst in WORST.items()}
        figures["sizes"] = sizes
    if options.json:
        print(json.dumps(figures))


def _print(figures: Mapping[str, float]) -> None:
    for name, value in figures.items():
        print(f"{name:32} {value:12,.2f}" if value < 100 else f"{name:32} {value:12,.0f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--types", type=int, nargs="+", default=[10_000, 21_000], help="sizes of the vocabulary")
    parser.add_argument("--hidden", type=int, default=512, help="hidden units (default 512)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is timed (default 3)")
    parser.add_argument("--batches", type=int, default=8, help="batches of ours in a round (default 8; reference 1)")
    parser.add_argument("--threads", type=int, help="threads of torch (default: its own choice)")
    parser.add_argument(
        "--models",
        type=int,
        help="compare so many models, side by side, with one that has all threads (the first of --types)",
    )
    parser.add_argument("--bf16", action="store_true", help="compare bf16-mixed with 32-true (the first of --types)")
    parser.add_argument("--rate", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON line, last")
    return parser.parse_args()


def _alone(n_types: int, options: argparse.Namespace) -> dict[str, float]:
    """The figures of one size, from a fresh process; its table is printed."""
    given = [f"--{name}={getattr(options, name)}" for name in ("hidden", "rounds", "batches")]
    given += [f"--threads={options.threads}"] if options.threads else []
    command = [sys.executable, __file__, f"--types={n_types}", *given, "--json"]
    *shown, last = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    print(*shown, "", sep="\n", flush=True)
    figures: dict[str, float] = json.loads(last)
    return figures


def side_by_side(n_types: int, options: argparse.Namespace) -> dict[str, float]:
    """Tokens a second of models side by side, and of one with all threads, medians of the rounds."""
    n_threads = options.threads or torch.get_num_threads()
    found: dict[str, list[float]] = {"side": [], "alone": []}
    for _ in range(options.rounds):
        found["side"].append(_rate_of(options.models, max(1, n_threads // options.models), n_types, options))
        found["alone"].append(_rate_of(1, n_threads, n_types, options))
    return {
        "n_types": n_types,
        "hidden": options.hidden,
        "threads": n_threads,
        "models": options.models,
        "tokens_per_second_side_by_side": median(found["side"]),
        "tokens_per_second_alone": median(found["alone"]),
        "ratio": median(a / b for a, b in zip(found["side"], found["alone"], strict=True)),
    }


def in_bf16(n_types: int, options: argparse.Namespace) -> dict[str, float]:
    """Tokens a second of learning in bf16 and in fp32, medians of the rounds."""
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    sequences = draw_sequences(n_types, 4000, rng=np.random.default_rng(0))
    kinds = {"fp32": LMOptions(hidden=options.hidden)}
    kinds["bf16"] = replace(kinds["fp32"], precision="bf16-mixed")
    ours = {name: Ours(n_types, lm, options.batches) for name, lm in kinds.items()}
    found: dict[str, list[float]] = {name: [] for name in ours}
    for number in range(1 + options.rounds):
        for name, one in ours.items():
            found[name].append(one.rate(sequences, number))
    timed = {name: rates[1:] for name, rates in found.items()}  # the first round warms
    return {
        "n_types": n_types,
        "hidden": options.hidden,
        "threads": torch.get_num_threads(),
        **{f"tokens_per_second_{name}": median(rates) for name, rates in timed.items()},
        "ratio": median(a / b for a, b in zip(timed["bf16"], timed["fp32"], strict=True)),
    }


def _rate_of(n_models: int, n_threads: int, n_types: int, options: argparse.Namespace) -> float:
    """Tokens a second of `n_models` together, each in a process with `n_threads`."""
    given = [f"--{name}={getattr(options, name)}" for name in ("hidden", "batches")]
    command = [sys.executable, __file__, f"--types={n_types}", *given, f"--threads={n_threads}", "--rate"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(n_models)]
    return sum(float(one.communicate()[0]) for one in running)


def _own_rate(n_types: int, options: argparse.Namespace) -> float:
    """Tokens a second of ours in this process."""
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    ours = Ours(n_types, LMOptions(hidden=options.hidden), options.batches)
    sequences = draw_sequences(n_types, 4000, rng=np.random.default_rng(0))
    ours.rate(sequences, 0)
    return ours.rate(sequences, 1)


def measure(n_types: int, options: argparse.Namespace) -> dict[str, float]:
    """Time ours and the reference in turn."""
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    lm = LMOptions(hidden=options.hidden)
    rng = np.random.default_rng(0)
    ours, reference = Ours(n_types, lm, options.batches), Reference(n_types, lm)
    sequences = draw_sequences(n_types, 4000, rng=rng)
    ours.rate(sequences, 0)  # warm: the first pages and the first kernels of every shape
    peak = peak_memory_gb()
    reference.rate(sequences, rng=rng)
    found: dict[str, list[float]] = {"ours": [], "reference": [], "mm": [], "linear": []}
    for number in range(1, 1 + options.rounds):
        found["mm"].append(product_rate(lambda x, w: x @ w.T, options.hidden, n_types))
        found["linear"].append(product_rate(multiply, options.hidden, n_types))
        found["ours"].append(ours.rate(sequences, number))
        found["reference"].append(reference.rate(sequences, rng=rng))
    operations = 2 * training_operations(n_types, lm)  # both directions
    floor = max(found["mm"] + found["linear"]) / operations
    tokens_per_second = median(found["ours"])
    return {
        "n_types": n_types,
        "hidden": options.hidden,
        "threads": torch.get_num_threads(),
        "torch_mm_gflops": max(found["mm"]) / 1e9,
        "products_linear_gflops": max(found["linear"]) / 1e9,
        "mflop_per_token": operations / 1e6,
        "floor_tokens_per_second": floor,
        "tokens_per_second": tokens_per_second,
        "reference_tokens_per_second": median(found["reference"]),
        "ratio_to_floor": floor / tokens_per_second,
        "ratio_to_reference": median(a / b for a, b in zip(found["ours"], found["reference"], strict=True)),
        "peak_memory_gb": peak,
    }


def draw_sequences(n_types: int, n: int, *, rng: np.random.Generator) -> list[tuple[int, ...]]:
    lengths = np.clip(np.round(np.exp(rng.normal(np.log(27.3), 0.36, n))), 6, 150).astype(int)
    first = len(SPECIAL_TOKENS)
    shares = 1 / np.arange(1, 1 + n_types - first)
    ids = first + rng.choice(n_types - first, size=lengths.sum(), p=shares / shares.sum())
    return [tuple(part.tolist()) for part in np.split(ids, lengths.cumsum()[:-1])]


def product_rate(product: Callable[[Tensor, Tensor], Tensor], hidden: int, n_types: int) -> float:
    """Operations a second of products of the output layer's shape, 384 rows; the best of ten."""
    x, weight = torch.randn(384, hidden), torch.randn(n_types, hidden)
    seconds = []
    for _ in range(10):
        begin = time.perf_counter()
        product(x, weight)
        seconds.append(time.perf_counter() - begin)
    return 2 * 384 * hidden * n_types / min(seconds)


class Ours:
    """The loop of `train-lm` on a few batches at a time."""

    def __init__(self, n_types: int, lm: LMOptions, n_batches: int, accelerator: str = "cpu"):
        self.lm = lm
        self.accelerator = accelerator
        self.model = new_model(n_types, lm)
        self.n_batches = n_batches
        quiet_lightning()

    def rate(self, sequences: list[tuple[int, ...]], number: int) -> float:
        """Tokens a second, all of the loop included."""
        module = Training(self.model, FoldCorpus(sequences, sequences[:1], []), self.lm, seed=number, fold=0)
        clock = _Clock()
        trainer = pl.Trainer(
            accelerator=self.accelerator,
            devices=1,
            precision=self.lm.precision,
            max_epochs=1,
            limit_train_batches=1 + self.n_batches,
            limit_val_batches=0,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            callbacks=[clock],
        )
        trainer.fit(module)
        return clock.n_tokens / (clock.end - clock.begin)


class _Clock(pl.Callback):
    """Counts from the end of the first batch, in which Adam allocates its state: that happens once a model."""

    n_tokens = 0
    begin = end = 0.0

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        self.end = time.perf_counter()
        if batch_idx:
            self.n_tokens += int((batch["forward"][1] != 0).sum())
        else:
            self.begin = self.end


class Reference:
    """The original's step in plain torch: what someone would write first."""

    def __init__(self, n_types: int, lm: LMOptions):
        self.lm = lm
        self.embedding = nn.Parameter(torch.empty(n_types, lm.hidden).uniform_(-0.1, 0.1))
        self.bias = nn.Parameter(torch.zeros(n_types))
        self.stacks = {
            name: [
                (nn.Linear(lm.hidden, 6 * lm.hidden), nn.Linear(lm.hidden, 5 * lm.hidden, bias=False))
                for _ in range(lm.layers)
            ]
            for name in ("forward", "backward")
        }
        modules = [part for stack in self.stacks.values() for layer in stack for part in layer]
        self.parameters = [self.embedding, self.bias, *(p for part in modules for p in part.parameters())]
        self.adam = torch.optim.Adam(self.parameters, lm.learning_rate, weight_decay=lm.weight_decay, foreach=False)

    def rate(self, sequences: list[tuple[int, ...]], *, rng: np.random.Generator) -> float:
        """Tokens a second of one batch of sequences drawn at random."""
        chosen = [sequences[i] for i in rng.choice(len(sequences), BATCH, replace=False)]
        begin = time.perf_counter()
        self.adam.zero_grad()
        loss = torch.zeros(())
        for name, (inputs, targets) in directions(chosen).items():
            loss = loss + self._loss(torch.from_numpy(inputs), torch.from_numpy(targets), self.stacks[name])
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, self.lm.clip_norm, foreach=False)
        self.adam.step()
        return sum(map(len, chosen)) / (time.perf_counter() - begin)

    def _loss(self, inputs: Tensor, targets: Tensor, stack: list[tuple[nn.Linear, nn.Linear]]) -> Tensor:
        keep = 1 - self.lm.embedding_dropout
        kept = torch.empty(len(self.embedding), 1).bernoulli_(keep) / keep
        x = nn.functional.embedding(inputs, self.embedding * kept)  # (T, B, H)
        for from_input, from_state in stack:
            x = self._layer(x, from_input, from_state)
        log_p = torch.log_softmax(nn.functional.linear(x, self.embedding, self.bias), dim=-1)  # (T, B, V)
        nats = -log_p.gather(-1, targets[..., None])[..., 0]
        wanted = (targets != 0).float()
        return (nats * wanted).sum() / wanted.sum()

    def _layer(self, x: Tensor, from_input: nn.Linear, from_state: nn.Linear) -> Tensor:
        H = self.lm.hidden
        h, c = x.new_zeros(2, *x.shape[1:])
        keep = 1 - self.lm.recurrent_dropout
        mask = torch.empty_like(h).bernoulli_(keep) / keep
        outputs = []
        for now in x:
            projected, from_h = from_input(now), from_state(h)
            i, f, o, r = (
                torch.sigmoid(projected[:, k * H : (k + 1) * H] + from_h[:, k * H : (k + 1) * H]) for k in range(4)
            )
            c = f * c + i * torch.tanh(projected[:, 4 * H : 5 * H] + from_h[:, 4 * H :])
            h = (r * o * torch.tanh(c) + (1 - r) * projected[:, 5 * H :]) * mask
            outputs.append(h)
        return torch.stack(outputs)


if __name__ == "__main__":
    main()
