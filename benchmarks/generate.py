"""Sampling and scoring candidates: endings a second, against the arithmetic's floor and the original's procedure.

    python benchmarks/generate.py             # vocabularies of 10,000 and 21,000, about 5 minutes on two cores
    python benchmarks/generate.py --n-types 10000 --json

The model is untrained, of the paper's size, with Zipf's law in its bias and a sentence end about every eleventh
token, as in captions; contexts have 20 tokens, rows 1,023 negatives. The floor is the time that the matrix products
alone would take at the rate measured just before each phase: of every token drawn, forwards, and of every token of the
endings that count and of their contexts, backwards. The reference does what the released code does: one context at a
time, 2 x 1024 rows to the last step, `multinomial`, then all log-probabilities in reverse; it is timed on one context.
"""

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
import torch

from swag_af.af.measures import peak_memory_gb
from swag_af.data.vocabulary import BOS, EOS, Vocabulary
from swag_af.lm.estimate import measure_products, token_operations
from swag_af.lm.lstm.features import Endings, backward_features
from swag_af.lm.lstm.network import BidirectionalLM
from swag_af.lm.lstm.reader import OutputLayer, Reader
from swag_af.lm.lstm.sampling import Prompt, SampledRow, Sampling, Types, sample_rows
from swag_af.lm.lstm.wording import Wording
from swag_af.lm.options import LMOptions
from swag_af.nn.products import has_onednn

HIDDEN, N_NEGATIVES, MIN_TOKENS, MAX_TOKENS, N_CONTEXT, STOP = 512, 1023, 5, 25, 20, 4
LAZY_SHARE = 0.3
"""Of the candidates, how many a whole run of 140 iterations asks features of (docs/PERFORMANCE.md)."""


def main() -> None:
    """Measure, print a table, and with --json one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n-types", type=int, nargs="+", default=[10_000, 21_000], help="vocabulary sizes")
    parser.add_argument("--contexts", type=int, default=16, help="contexts to sample for")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32", help="of the output layer")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--no-reference", action="store_true", help="skip the slow one")
    parser.add_argument("--json", action="store_true", help="print one line of JSON last")
    arguments = parser.parse_args()
    print(f"{torch.get_num_threads()} threads, oneDNN {'yes' if has_onednn() else 'no'}, {arguments.precision}")
    sizes = [_measure(n_types, arguments) for n_types in arguments.n_types]
    if arguments.json:
        worst = {
            "ratio_to_reference": min(size["ratio_to_reference"] for size in sizes),
            "ratio_to_reference_lazy": min(size["ratio_to_reference_lazy"] for size in sizes),
            "ratio_to_floor": max(size["ratio_to_floor"] for size in sizes),
            "ratio_to_floor_sampling": max(size["ratio_to_floor_sampling"] for size in sizes),
            "ratio_to_floor_features": max(size["ratio_to_floor_features"] for size in sizes),
            "endings_per_second": min(size["endings_per_second"] for size in sizes),
            "peak_memory_gb": max(size["peak_memory_gb"] for size in sizes),
        }
        print(json.dumps(worst | {"sizes": sizes}))


def _measure(n_types: int, arguments: argparse.Namespace) -> dict[str, float]:
    device, n = arguments.device, arguments.contexts
    model = _model(n_types).to(device)
    output = OutputLayer(model, arguments.precision)
    forward, backward = Reader(model, "forward", output), Reader(model, "backward", output)
    prompts = _prompts(n, n_types)
    contexts = [prompt.context for prompt in prompts]
    plain = _rate_of_matmul(n_types, device)
    rows: dict[int, SampledRow] = {}
    rates = {"sampling": max(plain, measure_products(HIDDEN, n_types, device))}
    seconds = {"sampling": _seconds(lambda: rows.update(_sample(forward, prompts, n_types, device)))}
    items = [Endings(contexts[i], rows[i].tokens, rows[i].lengths) for i in range(n)]
    few = [_some(item, np.random.default_rng(i)) for i, item in enumerate(items)]
    rates["features"] = max(plain, measure_products(HIDDEN, n_types, device))
    seconds["features"] = _seconds(lambda: list(backward_features(backward, items)))
    seconds["lazy"] = _seconds(lambda: list(backward_features(backward, few)))
    peak = peak_memory_gb()

    operations = token_operations(n_types, LMOptions(hidden=HIDDEN))
    n_tokens = sum(int(row.lengths.sum()) for row in rows.values())
    n_drawn = sum(row.n_drawn_tokens for row in rows.values())
    floor = {
        "sampling": n_drawn * operations / rates["sampling"],
        "features": (n_tokens + n * (1 + N_NEGATIVES) * N_CONTEXT) * operations / rates["features"],
    }
    whole = seconds["sampling"] + seconds["features"]
    made: dict[str, float] = {
        "n_types": n_types,
        "matmul_gflops": plain / 1e9,
        "product_gflops": rates["features"] / 1e9,
        "seconds_per_context_sampling": seconds["sampling"] / n,
        "seconds_per_context_features": seconds["features"] / n,
        "seconds_per_context_lazy": seconds["lazy"] / n,
        "endings_per_second_sampling": n * (1 + N_NEGATIVES) / seconds["sampling"],
        "endings_per_second": n * (1 + N_NEGATIVES) / whole,
        "ratio_to_floor_sampling": seconds["sampling"] / floor["sampling"],
        "ratio_to_floor_features": seconds["features"] / floor["features"],
        "ratio_to_floor": whole / sum(floor.values()),
        "tokens_per_ending": n_tokens / n / (1 + N_NEGATIVES),
        "draws_per_context": sum(row.n_draws for row in rows.values()) / n,
        "peak_memory_gb": peak,
        "ratio_to_reference": float("nan"),
        "ratio_to_reference_lazy": float("nan"),
    }
    if not arguments.no_reference:
        reference = _seconds(lambda: _reference(model, prompts[0], device))
        made["seconds_per_context_reference"] = reference
        made["ratio_to_reference"] = reference * n / whole
        made["ratio_to_reference_lazy"] = reference * n / (seconds["sampling"] + seconds["lazy"])
    print(f"\n{n_types:,} token types, {n} contexts")
    for name, value in made.items():
        print(f"  {name:32} {value:12,.3f}" if value < 1000 else f"  {name:32} {value:12,.0f}")
    return made


def _model(n_types: int) -> BidirectionalLM:
    torch.manual_seed(0)
    model = BidirectionalLM(n_types, HIDDEN, 2).eval()
    with torch.no_grad():
        model.embedding.mul_(5)
        model.output_bias.copy_(-torch.log(torch.arange(n_types) + 5.0))
        model.output_bias[STOP] = model.output_bias.logsumexp(0) - 2.2
    return model


def _prompts(n: int, n_types: int) -> list[Prompt]:
    rng = np.random.default_rng(0)
    contexts = rng.integers(STOP + 1, n_types, (n, N_CONTEXT)).tolist()
    golds = rng.integers(STOP + 1, n_types, (n, 9)).tolist()
    return [Prompt(contexts[i], [*golds[i], STOP], np.random.default_rng(i)) for i in range(n)]


def _sample(reader: Reader, prompts: list[Prompt], n_types: int, device: str) -> dict[int, SampledRow]:
    rules = Sampling(N_NEGATIVES, MIN_TOKENS, MAX_TOKENS, 40)
    at = torch.arange(n_types, device=device)
    types = Types(at == STOP, at % 5 != 0)  # a fifth stands in no gold, as in real captions
    words = tuple(f"w{i}" for i in range(n_types))
    said = Wording(Vocabulary(words, np.zeros(n_types, np.int64), words))
    return {i: row for i, row in sample_rows(reader, prompts, rules, types, said) if row is not None}


def _some(item: Endings, rng: np.random.Generator) -> Endings:
    chosen = rng.permutation(len(item.lengths))[: round(LAZY_SHARE * len(item.lengths))]
    return Endings(item.context, item.tokens[chosen], item.lengths[chosen])


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - started


def _rate_of_matmul(n_types: int, device: str) -> float:
    """Floating-point operations a second of `torch.matmul` at the size of the reference's output layer."""
    x, weight = torch.randn(1024, HIDDEN, device=device), torch.randn(n_types, HIDDEN, device=device)
    return max(2.0 * x.numel() * n_types / _seconds(lambda: x @ weight.T) for _ in range(5))


@torch.inference_mode()
def _reference(model: BidirectionalLM, prompt: Prompt, device: str) -> None:
    """One context by the original's procedure, plainly."""
    n = 2 * (1 + N_NEGATIVES)
    read = torch.tensor([BOS, *prompt.context], device=device)
    hidden, state = model.forward_lm(model.embed(read[:, None]))
    top = hidden[-1].expand(n, -1)
    state = [(h.expand(n, -1), c.expand(n, -1)) for h, c in state]
    tokens, log_p = [], []
    for step in range(MAX_TOKENS):
        log_p_all = torch.log_softmax(model.logits(top), dim=-1)
        chosen = torch.multinomial(log_p_all.exp(), 1)
        tokens.append(chosen)
        log_p.append(log_p_all.gather(1, chosen))
        if step + 1 < MAX_TOKENS:
            top, state = model.forward_lm.step(model.embedding[chosen[:, 0]], state)
    rows = torch.cat(tokens, dim=1)[: 1 + N_NEGATIVES].tolist()
    cut = [row[: row.index(STOP) + 1] if STOP in row else row for row in rows]
    width = max(map(len, cut))
    padded = torch.tensor([[*row, *[0] * (width - len(row))] for row in cut], device=device)
    backwards = torch.cat((read[1:].expand(len(rows), -1), padded), dim=1).flip(1)
    zeros = model.embedding.new_zeros(len(rows), HIDDEN)
    state = [(zeros, zeros) for _ in model.backward_lm.layers]
    last = torch.full((len(rows),), EOS, device=device)
    total = zeros[:, 0].clone()
    for step in range(backwards.shape[1]):
        top, state = model.backward_lm.step(model.embedding[last], state)
        last = backwards[:, step]
        total += torch.log_softmax(model.logits(top), dim=-1).gather(1, last[:, None])[:, 0]


if __name__ == "__main__":
    main()
