"""Seconds and memory of Adversarial Matching: a bucket of 3,000 rows, three rounds, on one core.

    python benchmarks/match.py
    python benchmarks/match.py --json
    python benchmarks/match.py --data contexts.jsonl --size 3000

Rows are queries of 20 words and responses of 10 from a Zipf vocabulary, half of a response's words from its query; or
those of a file that `swag-af match` reads. Relevance is the dual encoder, after two epochs: what it learned does not
change what scoring costs. The floor of scoring is the one product of matrices that cannot be left out; the reference
is the naive loop, a pair at a time, timed on a sample. 26,000 rows in nine buckets are extrapolated from the seconds
of two sizes: those of a bucket grow with its square and its cube, fitted through both.
"""

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from swag_af.matching.algorithm.rounds import match_rounds
from swag_af.matching.models.encoder import DualEncoder
from swag_af.matching.models.similarity import LexicalSimilarity
from swag_af.matching.models.weights import Worth
from swag_af.matching.rows.items import Items, items_of
from swag_af.matching.rows.reading import read_items
from swag_af.nn.products import multiply
from swag_af.nn.threads import team

N_WORDS, EXPONENT = 20_000, 1.07
WORDS_OF_QUERY, WORDS_OF_RESPONSE = 20, 10
N_ROUNDS, N_NAIVE, N_REPEATS = 3, 300, 15
VCR_ROWS, VCR_BUCKETS = 26_000, 9


def made(n: int, *, seed: int = 0) -> Items:
    """`n` rows of words; half of each response's words are its query's."""
    rng = np.random.default_rng(seed)
    shares = 1 / (np.arange(N_WORDS) + 2.7) ** EXPONENT
    words = rng.choice(N_WORDS, (n, WORDS_OF_QUERY), p=shares / shares.sum())
    others = rng.choice(N_WORDS, (n, WORDS_OF_RESPONSE // 2), p=shares / shares.sum())
    own = rng.permuted(words, axis=1)[:, : WORDS_OF_RESPONSE // 2]
    queries = [" ".join(f"w{i}" for i in row) for row in words]
    responses = [" ".join(f"w{i}" for i in row) for row in np.concatenate([own, others], axis=1)]
    return items_of(queries, responses)


def measured(data: Path | None, size: int) -> dict[str, float]:
    """CPU seconds of one thread: scoring, matching, the product alone, a naive pair; and the peak memory in GB."""
    items = made(2 * size) if data is None else read_items([data])
    if len(items) < 2 * size:
        raise SystemExit(f"{data}: {len(items):,} rows, and {2 * size:,} are needed")
    queries, responses = items.queries, items.responses
    with team(1):
        model = DualEncoder(max_epochs=2)
        model.fit(queries[size : 2 * size], responses[size : 2 * size], rng=np.random.default_rng(0))
        model.score(queries[:50], responses[:50])  # kernels are compiled
        relevance = model.score(queries[:size], responses[:size])
        asked, floor = _medians(lambda: model.score(queries[:size], responses[:size]), _product(model, size))
        scored = time.process_time()
        similarity = LexicalSimilarity().score(responses[:size], responses[:size])
        compared = time.process_time()
        match_rounds(Worth(relevance, similarity, items.texts[:size], 0.1), N_ROUNDS)
        matched = time.process_time()
        naive = _naive(model, queries, responses)
    return {
        "relevance": asked,
        "similarity": compared - scored,
        "matching": matched - compared,
        "floor": floor,
        "naive_pair": naive,
        "peak_memory_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
    }


def _product(model: DualEncoder, size: int) -> Callable[[], object]:
    """The product of both sides' vectors."""
    q, r = torch.randn(2, size, model.size)
    return lambda: multiply(q, r)


def _medians(*works: Callable[[], object]) -> list[float]:
    """The median CPU seconds of each of `works`, which take turns, so that all are slowed alike by what else runs."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(N_REPEATS):
        for work, of_work in zip(works, times, strict=True):
            begun = time.process_time()
            work()
            of_work.append(time.process_time() - begun)
    return [float(np.median(of_work)) for of_work in times]


def _naive(model: DualEncoder, queries: list[str], responses: list[str]) -> float:
    """Seconds a pair, both texts encoded each time."""
    begun = time.process_time()
    for i in range(N_NAIVE):
        model.score(queries[i : i + 1], responses[i : i + 1])
    return (time.process_time() - begun) / N_NAIVE


def main() -> None:
    """Print a line a size, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--size", type=int, default=3_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {}
    for size in (options.size // 2, options.size):
        with multiprocessing.get_context("spawn").Pool(1) as alone:
            found[size] = alone.apply(measured, (options.data, size))
        if not options.json:
            print(
                f"{size:,} rows: " + ", ".join(f"{name} {value:.3g}" for name, value in found[size].items()), flush=True
            )
    one = found[options.size]
    seconds = one["relevance"] + one["similarity"] + one["matching"]
    figures = {
        "seconds_bucket_3000": seconds,
        "seconds_scoring": one["relevance"] + one["similarity"],
        "seconds_matching": one["matching"],
        "pairs_per_second": options.size**2 / (one["relevance"] + one["similarity"]),
        "ratio_to_floor": one["relevance"] / one["floor"],
        "ratio_to_reference": one["naive_pair"] * options.size**2 / one["relevance"],
        "peak_memory_gb": one["peak_memory_gb"],
        "hours_vcr_fold": _extrapolated(found, VCR_ROWS // VCR_BUCKETS) * VCR_BUCKETS / 3600,
    }
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}, indent=None if options.json else 1))


def _extrapolated(found: dict[int, dict[str, float]], size: int) -> float:
    """Seconds of a bucket of `size`: a n² + b n³ through both sizes, neither below 0."""
    sizes = np.array(sorted(found), np.float64)
    seconds = np.array([sum(found[int(n)][part] for part in ("relevance", "similarity", "matching")) for n in sizes])
    squares = np.stack([sizes**2, sizes**3], axis=1)
    a, b = np.maximum(np.linalg.solve(squares, seconds), 0)
    return float(a * size**2 + b * size**3)


if __name__ == "__main__":
    main()
