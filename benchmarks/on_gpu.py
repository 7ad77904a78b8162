"""Learning, sampling and filtering on a GPU: what each costs, beside a reference in the same run.

    python benchmarks/on_gpu.py                    # all three, about two minutes on an H100
    python benchmarks/on_gpu.py train --json

`train`: tokens a second of `train-lm`'s own loop, 512 units, both directions of each sequence, lengths and ids as in
`train_lm.py`; the reference is the same loop with every direction and step by itself and gradients by autograd.
`generate`: seconds a context of 1,023 negatives, sampling and the features of the backward model, model and contexts as
in `generate.py`; the reference is the floor of its matrix products, at the rate of a large one measured just after.
`filter`: milliseconds a step of the ensemble's fit, forward, gradients and Adam, at the sizes of `filter_step.py`; the
reference is the same step by one thread of the machine's processor.

Sending an operation to a GPU takes longer than most of them do, so figures depend on the processor as well: its name
and that of the GPU are printed. On a machine without a GPU it says so.
"""

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from filter_step import N_ASSIGNED, batch_of, new_members
from generate import HIDDEN, N_CONTEXT, N_NEGATIVES, _model, _prompts, _sample
from train_lm import Ours, draw_sequences

from swag_af.filters.networks import Ensemble
from swag_af.filters.neural import cross_entropy
from swag_af.filters.sequences import Batch
from swag_af.lm.estimate import measure_products, token_operations
from swag_af.lm.lstm.features import Endings, backward_features
from swag_af.lm.lstm.reader import OutputLayer, Reader
from swag_af.lm.lstm.sampling import SampledRow
from swag_af.lm.options import LMOptions
from swag_af.nn import products
from swag_af.nn.device import mixed_precision
from swag_af.nn.threads import threads
from swag_af.nn.training import Adam

GPU = torch.device("cuda")
N_TYPES = 10_000


def main() -> None:
    """Measure, print a table, and with --json one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", nargs="*", help="train, generate, filter; all if none is named")
    parser.add_argument("--contexts", type=int, default=512, help="contexts to sample for")
    parser.add_argument("--batches", type=int, default=60, help="batches to learn from")
    parser.add_argument("--json", action="store_true", help="print one line of JSON last")
    arguments = parser.parse_args()
    if unknown := set(arguments.which) - set(PARTS):
        parser.error(f"{', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    if not torch.cuda.is_available():
        sys.exit("on_gpu.py: this torch sees no GPU.")
    print(f"{torch.cuda.get_device_name()}, {_processor()}, torch {torch.__version__}")
    found: dict[str, Any] = {}
    for name in arguments.which or PARTS:
        found |= PARTS[name](arguments)
    for name, value in found.items():
        print(f"  {name:44} {value:12,.4g}" if value < 1e4 else f"  {name:44} {value:12,.0f}")
    if arguments.json:
        print(json.dumps(found))


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def train(arguments: argparse.Namespace) -> dict[str, float]:
    """Tokens a second by batches of 32 and of 128, and of 32 with each step by itself."""
    sequences = draw_sequences(N_TYPES, 12_000, rng=np.random.default_rng(0))
    _learn(sequences, 32, 8)  # warm
    made = {f"tokens_per_second_batch_{n}": _learn(sequences, n, arguments.batches * 32 // n) for n in (32, 128)}
    with patch.object(products, "is_launched", lambda x: False):
        made["tokens_per_second_step_by_step"] = _learn(sequences, 32, arguments.batches // 2)
    made["ratio_to_step_by_step"] = made["tokens_per_second_batch_32"] / made["tokens_per_second_step_by_step"]
    return made


def _learn(sequences: list[tuple[int, ...]], batch_size: int, n_batches: int) -> float:
    lm = LMOptions(hidden=HIDDEN, batch_size=batch_size, precision="bf16-mixed")
    return Ours(N_TYPES, lm, n_batches, "gpu").rate(sequences, 0)


def generate(arguments: argparse.Namespace) -> dict[str, float]:
    """Seconds a context, and over the floor of the products."""
    model, n = _model(N_TYPES).to(GPU), arguments.contexts
    output = OutputLayer(model, "bf16")
    forward, backward = Reader(model, "forward", output), Reader(model, "backward", output)
    _sample(forward, _prompts(8, N_TYPES), N_TYPES, "cuda")  # warm
    torch.cuda.reset_peak_memory_stats()
    prompts, rows = _prompts(n, N_TYPES), dict[int, SampledRow]()
    sampling = _seconds(lambda: rows.update(_sample(forward, prompts, N_TYPES, "cuda")))
    items = [Endings(prompts[i].context, rows[i].tokens, rows[i].lengths) for i in range(n)]
    features = _seconds(lambda: list(backward_features(backward, items)))
    rate = _bf16_rate()
    operations = token_operations(N_TYPES, LMOptions(hidden=HIDDEN))
    n_drawn = sum(row.n_drawn_tokens for row in rows.values())
    n_read = sum(int(row.lengths.sum()) for row in rows.values()) + n * (1 + N_NEGATIVES) * N_CONTEXT
    return {
        "contexts": n,
        "seconds_per_context_sampling": sampling / n,
        "seconds_per_context_features": features / n,
        "endings_per_second": n * (1 + N_NEGATIVES) / (sampling + features),
        "ratio_to_floor_sampling": sampling * rate / (n_drawn * operations),
        "ratio_to_floor_features": features * rate / (n_read * operations),
        "product_tflops_bf16": rate / 1e12,
        "product_tflops_fp32": measure_products(HIDDEN, N_TYPES, "cuda") / 1e12,
        "peak_gpu_memory_gb": torch.cuda.max_memory_allocated() / 1e9,
    }


def _bf16_rate() -> float:
    """Operations a second of the product with the vocabulary, a tile of 8,192 rows."""
    x = torch.randn(8192, HIDDEN, device=GPU, dtype=torch.bfloat16)
    weight = torch.randn(N_TYPES, HIDDEN, device=GPU, dtype=torch.bfloat16)
    taken = [_seconds(lambda: [x @ weight.T for _ in range(20)]) / 20 for _ in range(5)]
    return 2.0 * x.numel() * N_TYPES / float(np.median(taken))


def _seconds(work: Callable[[], object]) -> float:
    torch.cuda.synchronize()
    started = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - started


def filter(arguments: argparse.Namespace) -> dict[str, float]:
    """Milliseconds a step, and how many times as long one thread takes."""
    made: dict[str, float] = {}
    for n in (16, 56, 128):
        batch = batch_of(n * N_ASSIGNED)
        on_gpu = 1000 * _step(GPU, batch, 12)
        with threads(1):
            by_thread = 1000 * _step(torch.device("cpu"), batch, 2)
        made |= {f"step_ms_{n}_contexts": on_gpu, f"ratio_to_one_thread_{n}_contexts": by_thread / on_gpu}
    return made


def _step(device: torch.device, batch: Batch, n_steps: int) -> float:
    """Median seconds of a step that reads a batch where it is computed."""
    network = Ensemble(new_members()).to(device).train()
    adam = Adam(network, 1e-3, 1e-6)
    tensors: dict[str, Any] = {
        name: one.to(device) for name, one in vars(batch).items() if isinstance(one, torch.Tensor)
    }
    moved = replace(batch, **tensors)

    def step() -> None:
        network.zero_grad()
        with mixed_precision(device):
            logits = network.logits(moved)
        torch.stack([cross_entropy(one.reshape(-1, N_ASSIGNED)) for one in logits.values()]).sum().backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        adam.step()

    return float(np.median([_seconds(step) for _ in range(2 + n_steps)][2:]))


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, float]]] = {
    "train": train,
    "generate": generate,
    "filter": filter,
}

if __name__ == "__main__":
    main()
