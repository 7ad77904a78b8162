"""Seconds and memory of auditing a dataset: questions of four options, made of words of a Zipf vocabulary.

    python benchmarks/audit.py
    python benchmarks/audit.py --json
    python benchmarks/audit.py --questions 2000 --models tfidf

Two questions in a row share a group, so that random folds are made too; every option differs in its words, and none
tells its label. Each size runs in a process of its own, so that its peak memory is its own.
"""

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Sequence

import numpy as np

from swag_af.auditing.dataset import Checks, audit
from swag_af.auditing.probes.probe import DEFAULT_MODELS
from swag_af.data.instances.instances import Instance, Instances

N_WORDS = 50_000
EXPONENT = 1.07
"""Of Zipf's law, with the constant 2.7 of Mandelbrot: near that of English prose."""
WORDS_OF_CONTEXT, WORDS_OF_START, WORDS_OF_OPTION = 25, 3, 10


def questions(n: int, *, seed: int = 0) -> Instances:
    """`n` questions: a context, a start and four options; lengths are Poisson's."""
    rng = np.random.default_rng(seed)
    shares = 1 / (np.arange(N_WORDS) + 2.7) ** EXPONENT
    words = np.array([f"w{i}" for i in range(N_WORDS)])

    def texts(size: int, mean: int) -> list[str]:
        lengths = 1 + rng.poisson(mean - 1, size)
        drawn = rng.choice(words, int(lengths.sum()), p=shares / shares.sum())
        return [" ".join(part) for part in np.split(drawn, np.cumsum(lengths)[:-1])]

    contexts, starts = texts(n, WORDS_OF_CONTEXT), texts(n, WORDS_OF_START)
    options, answers = texts(4 * n, WORDS_OF_OPTION), rng.integers(4, size=n)
    rows = [
        Instance(f"q{i}", contexts[i], tuple(options[4 * i : 4 * i + 4]), int(answers[i]), starts[i], f"g{i // 2}")
        for i in range(n)
    ]
    return Instances(tuple(rows), "choices", name="generated")


def measured(n: int, models: Sequence[str]) -> dict[str, float]:
    """Wall and CPU seconds, and the peak memory of this process, in GB (10^9 bytes)."""
    instances = questions(n)
    wall, cpu = time.perf_counter(), time.process_time()
    audit(instances, Checks(models))
    found = {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    return {name: round(value, 2) for name, value in (found | {"peak_memory_gb": peak}).items()}


def main() -> None:
    """Print a line a size, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, nargs="+", default=[2_000, 10_000])
    parser.add_argument("--models", nargs="+", default=list(DEFAULT_MODELS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {}
    for n in options.questions:
        with multiprocessing.get_context("spawn").Pool(1) as alone:
            found[n] = alone.apply(measured, (n, options.models))
        if not options.json:
            print(f"{n:,} questions: " + ", ".join(f"{name} {value}" for name, value in found[n].items()), flush=True)
    if options.json:
        figures = {f"{name}_{n // 1000}k": one[name] for n, one in found.items() for name in ("seconds", "cpu_seconds")}
        print(json.dumps(figures | {"peak_memory_gb": max(one["peak_memory_gb"] for one in found.values())}))


if __name__ == "__main__":
    main()
