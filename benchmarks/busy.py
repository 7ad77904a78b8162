"""Beside other work: the speed of sampling and of filtering while another process keeps one core busy, against alone.

    python benchmarks/busy.py             # about 4 minutes on two cores
    python benchmarks/busy.py --json

Sampling and features are those of `generate`, by an untrained model of the paper's size; filtering is iterations of the
MLP and the CNN on random words. Both are timed alone, then beside a process that counts, then alone again: the machine
itself must not have changed, and `drift` says by how much it has. With two cores and one rival, work that shares a core
fairly keeps between 0.5 and 0.75 of its speed; teams of threads that wait for each other keep less.
"""

import argparse
import contextlib
import json
import multiprocessing
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from generate import MAX_TOKENS, MIN_TOKENS, N_CONTEXT, N_NEGATIVES, STOP, _model

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.data.context import Context
from swag_af.data.pool.pool import CandidatePool
from swag_af.lm.lstm.candidates import Readers, Task, make_rows
from swag_af.lm.lstm.reader import OutputLayer, Reader
from swag_af.lm.lstm.sampling import Sampling, Types

N_TYPES = 10_000
RULES = Sampling(N_NEGATIVES, MIN_TOKENS, MAX_TOKENS, 40)


def main() -> None:
    """Measure, print, and with --json one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=int, default=8, help="contexts to sample for")
    parser.add_argument("--json", action="store_true", help="print one line of JSON last")
    arguments = parser.parse_args()
    made = {"threads": float(torch.get_num_threads())}
    for name, work in {"generate": _generating(arguments.contexts), "filter": _filtering()}.items():
        work()  # warm
        before = _seconds(work)
        with rival():
            beside = _seconds(work)
        after = _seconds(work)
        alone = min(before, after)
        made |= {
            f"seconds_{name}": alone,
            f"busy_over_quiet_{name}": alone / beside,
            f"drift_{name}": max(before, after) / alone,
        }
    for name, value in made.items():
        print(f"{name:26} {value:8.3f}")
    if arguments.json:
        print(json.dumps(made))


@contextlib.contextmanager
def rival() -> Iterator[None]:
    """A process that keeps one core busy."""
    process = multiprocessing.get_context("spawn").Process(target=_count, daemon=True)
    process.start()
    time.sleep(1.0)  # until it counts
    try:
        yield
    finally:
        process.kill()
        process.join()


def _count() -> None:
    n = 0
    while True:
        n += 1


def _generating(n_contexts: int) -> Callable[[], object]:
    model = _model(N_TYPES)
    output = OutputLayer(model)
    readers = Readers(Reader(model, "forward", output), Reader(model, "backward", output))
    at = torch.arange(N_TYPES)
    types = Types(at == STOP, at % 5 != 0)
    rng = np.random.default_rng(0)
    words = rng.integers(5, N_TYPES, (n_contexts, N_CONTEXT + 8)).tolist()

    def work() -> object:
        tasks = [
            Task(i, ids[: N_CONTEXT // 2], ids[N_CONTEXT // 2 : N_CONTEXT], [*ids[N_CONTEXT:], STOP], _rng(i))
            for i, ids in enumerate(words)
        ]
        return list(make_rows(readers, tasks, RULES, types, lazy=False))

    return work


def _filtering() -> Callable[[], object]:
    rng = np.random.default_rng(1)
    vocabulary = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in ("n", "rt", "st", "lk", "m", "sh", "v", "z")]

    def phrase(n: int) -> str:
        return " ".join(rng.choice(vocabulary, n))

    contexts = [Context(phrase(10), phrase(3), f"{phrase(9)} g{i}.", video=f"v{i}") for i in range(400)]
    negatives = [[f"{phrase(9)} n{k}." for k in range(63)] for _ in contexts]
    features = [rng.normal(size=(64, 8)).astype(np.float32) for _ in contexts]
    pool = CandidatePool.from_texts(contexts, negatives, features=features, tagger="rules")
    return lambda: filter_pool(pool, [("mlp", 4), ("cnn", 4)], AFOptions(seed=1))


def _rng(i: int) -> np.random.Generator:
    return np.random.default_rng((7, i))


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
