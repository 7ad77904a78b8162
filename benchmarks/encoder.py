"""How fast does a frozen encoder read candidates, and how near is that to the products of its layers alone?

    python benchmarks/encoder.py --model MODEL --pool POOL --json
    python benchmarks/encoder.py --model MODEL --pool POOL --shapes

CPU seconds on one thread, since machines are shared. The floor is the matrix products of the layers, in the same
shapes, measured in turn with the encoder in the same run; what lies above it is attention's softmax, layer norms, the
nonlinearity, tokens and Python. With the cache, the same candidates again from disk. `--shapes` tries other sizes of
batches and steps of lengths.
"""

import argparse
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

import swag_af.filters.frozen as frozen
from swag_af.data.disk.cache import VARIABLE
from swag_af.data.pool.pool import CandidatePool
from swag_af.filters.frozen import FrozenEncoder
from swag_af.filters.strings import second_sentences


def texts_of(pool: CandidatePool, n: int, seed: int) -> list[str]:
    """Second sentences of random candidates, all different."""
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(len(pool), min(len(pool), -(-n // 16)), replace=False))
    view = pool.view(rows, np.tile(np.arange(min(16, pool.n_candidates)), (len(rows), 1)))
    return list(dict.fromkeys(second_sentences(view)))[:n]


def batches_of(encoder: FrozenEncoder, texts: list[str]) -> list[int]:
    """The padded length of every batch that `encode` makes of `texts`."""
    lengths = np.array([len(ids) for ids in encoder.tokenizer(texts, truncation=True)["input_ids"]])
    sizes = np.bincount(-(-lengths // frozen.STEP))
    return [frozen.STEP * i for i, n in enumerate(sizes) for _ in range(-(-n // frozen.ENCODED_AT_ONCE))]


@torch.inference_mode()
def products(encoder: FrozenEncoder, lengths: list[int]) -> Callable[[], None]:
    """All products of all layers for batches of these lengths, on numbers that mean nothing."""
    config, b = encoder.network.config, frozen.ENCODED_AT_ONCE
    width, wide, heads = config.hidden_size, config.intermediate_size, config.num_attention_heads
    square, up, down = torch.randn(width, width), torch.randn(wide, width), torch.randn(width, wide)
    made: dict[int, Any] = {
        n: (torch.randn(b * n, width), torch.randn(b * n, wide), torch.randn(b * heads, n, width // heads))
        for n in set(lengths)
    }

    def run() -> None:
        with torch.inference_mode():
            for n in lengths:
                states, inner, split = made[n]
                for _ in range(config.num_hidden_layers):
                    for _ in range(4):  # queries, keys, values, and what attention gives
                        torch.nn.functional.linear(states, square)
                    torch.bmm(torch.bmm(split, split.transpose(1, 2)), split)
                    torch.nn.functional.linear(states, up)
                    torch.nn.functional.linear(inner, down)

    return run


def cpu_seconds(*works: Callable[[], object], repeats: int) -> list[float]:
    """The least CPU seconds of each, measured in turn so that all meet the same machine."""
    best = [np.inf] * len(works)
    for _ in range(repeats):
        for i, work in enumerate(works):
            started = time.process_time()
            work()
            best[i] = min(best[i], time.process_time() - started)
    return best


def measured(model: str, texts: list[str], repeats: int) -> dict[str, Any]:
    """Candidates a CPU second: the encoder, its floor, and the cache when it is empty and when it is full."""
    os.environ[VARIABLE] = "none"
    encoder = FrozenEncoder(model, device="cpu")
    lengths = batches_of(encoder, texts)
    floor = products(encoder, lengths)
    plain, least = cpu_seconds(lambda: encoder.encode(texts), floor, repeats=repeats)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[VARIABLE] = folder
        cached = FrozenEncoder(model, device="cpu")
        (first,) = cpu_seconds(lambda: cached.vectors(texts), repeats=1)
        (again,) = cpu_seconds(lambda: cached.vectors(texts), repeats=repeats)
        is_same = bool(np.array_equal(cached.vectors(texts), encoder.encode(texts)))
        n_bytes = sum(path.stat().st_size for path in Path(folder).iterdir())
    return {
        "candidates": len(texts),
        "tokens_computed": frozen.ENCODED_AT_ONCE * sum(lengths),
        "a_cpu_second": round(len(texts) / plain),
        "a_cpu_second_products_alone": round(len(texts) / least),
        "share_of_floor": round(least / plain, 3),
        "a_cpu_second_cache_empty": round(len(texts) / first),
        "a_cpu_second_cache_full": round(len(texts) / again),
        "same_bits_with_cache": is_same,
        "bytes_a_candidate_on_disk": round(n_bytes / len(texts)),
        "peak_memory_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
    }


def shapes(model: str, texts: list[str], repeats: int) -> dict[str, int]:
    """Candidates a CPU second by texts a batch and step of lengths."""
    os.environ[VARIABLE] = "none"
    encoder, pairs = FrozenEncoder(model, device="cpu"), [(4, 8), (8, 1), (8, 4), (8, 8), (16, 8), (32, 8)]

    def encode(at_once: int, step: int) -> Callable[[], object]:
        def run() -> None:
            frozen.ENCODED_AT_ONCE, frozen.STEP = at_once, step
            encoder.encode(texts)

        return run

    taken = cpu_seconds(*[encode(*pair) for pair in pairs], repeats=repeats)
    return {f"{b} texts, steps of {s}": round(len(texts) / t) for (b, s), t in zip(pairs, taken, strict=True)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--pool", type=Path, required=True)
    parser.add_argument("--candidates", type=int, default=800)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shapes", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    texts = texts_of(CandidatePool.open(options.pool), options.candidates, options.seed)
    found = (shapes if options.shapes else measured)(options.model, texts, options.repeats)
    print(json.dumps(found, indent=1) if options.json else "\n".join(f"{name}: {one}" for name, one in found.items()))


if __name__ == "__main__":
    main()
