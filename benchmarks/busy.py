"""Beside other work: the speed of sampling and of filtering while another process keeps one core busy, against alone.

    python benchmarks/busy.py             # about 15 minutes on two cores
    python benchmarks/busy.py --json
    python benchmarks/busy.py --spin      # filtering beside a rival, by how long waiting threads spin

Sampling and features are those of the verb `generate` (start of its processes included), by an untrained model of the
paper's size; filtering is iterations of the MLP and the CNN on random words. Each is timed alone, then beside a process
that counts, several times in turn; the fastest of each counts, and `drift` says how far those that ran alone are apart.
With two cores and one rival, work that shares the cores fairly keeps between 0.5 and 0.75 of its speed.

The other rows are what was not chosen: one process whose threads make way for others, and teams of threads that do not.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from generate import N_NEGATIVES, _model

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.data.captions.context_set import write_contexts
from swag_af.data.context import Context
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.vocabulary import SPECIAL_TOKENS, Vocabulary
from swag_af.lm.lstm.checkpoints import fold_path, open_lm_folder, save_model
from swag_af.lm.lstm.corpus import corpus_hash, fold_map, pairs_of
from swag_af.lm.options import GenerateOptions, LMOptions
from swag_af.lm.verb import generate
from swag_af.nn import threads as threads_module
from swag_af.nn.threads import threads

N_TYPES = 10_000
Work = Callable[[], object]


def main() -> None:
    """Measure, print, and with --json one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=int, default=32, help="contexts to sample for")
    parser.add_argument("--repeats", type=int, default=3, help="times that each is timed alone and beside the rival")
    parser.add_argument("--rows", nargs="+", help="rows to measure; all when not given")
    parser.add_argument("--spin", action="store_true", help="compare lengths of spinning instead")
    parser.add_argument("--only", help="time this row once, as it is, and print its seconds")
    parser.add_argument("--json", action="store_true", help="print one line of JSON last")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = _generating(Path(folder), arguments.contexts) | _filtering()
        if arguments.only:
            rows[arguments.only]()  # warm
            print(_seconds(rows[arguments.only]))
            return
        made = (
            _spinning(arguments.repeats)
            if arguments.spin
            else _measure({name: rows[name] for name in arguments.rows or rows}, arguments.repeats)
        )
    for name, value in made.items():
        print(f"{name:34} {value:8.3f}")
    if arguments.json:
        print(json.dumps(made))


def _measure(rows: dict[str, Work], n_repeats: int) -> dict[str, float]:
    """Seconds of each row alone and beside the rival, and what it keeps of its speed."""
    made = {"threads": float(torch.get_num_threads())}
    for name, work in rows.items():
        work()  # warm
        alone, beside = [], []
        for _ in range(n_repeats):
            alone.append(_seconds(work))
            with rival():
                beside.append(_seconds(work))
        alone.append(_seconds(work))
        made |= {
            f"seconds_{name}": min(alone),
            f"seconds_beside_{name}": min(beside),
            f"busy_over_quiet_{name}": min(alone) / min(beside),
            f"drift_{name}": max(alone) / min(alone),
        }
        if name == "generate":
            made["worker_gb"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    return made


def _spinning(n_repeats: int) -> dict[str, float]:
    """Seconds of filtering beside a rival, in processes of their own: libgomp reads its setting when it is loaded."""
    made: dict[str, float] = {}
    for name in ("filter", "filter_team"):
        for spin in ("1000", "300000"):  # ours, and libgomp's own
            command = [sys.executable, __file__, "--only", name]
            with rival():
                runs = [
                    subprocess.run(
                        command, env=os.environ | {"GOMP_SPINCOUNT": spin}, stdout=subprocess.PIPE, check=True
                    )
                    for _ in range(n_repeats)
                ]
            made[f"seconds_beside_{name}_spin_{spin}"] = min(float(run.stdout.split()[-1]) for run in runs)
    return made


@contextlib.contextmanager
def rival() -> Iterator[None]:
    """A process that keeps one core busy."""
    process = multiprocessing.get_context("spawn").Process(target=_count, daemon=True)
    process.start()
    time.sleep(3.0)  # until it counts, and until the last look at the load is old enough for another
    try:
        yield
    finally:
        process.kill()
        process.join()


def _count() -> None:
    n = 0
    while True:
        n += 1


def _generating(folder: Path, n_contexts: int) -> dict[str, Work]:
    """The verb, by processes, by one process, and by a team of threads that makes no way."""
    contexts = _contexts()
    write_contexts(folder / "contexts.jsonl", contexts, [], {})
    _write_model(folder / "lms", contexts)

    def work(workers: int) -> object:
        shutil.rmtree(folder / "pool", ignore_errors=True)
        options = GenerateOptions(
            folder / "contexts.jsonl",
            folder / "lms",
            folder / "pool",
            n_negatives=N_NEGATIVES,
            limit=n_contexts,
            workers=workers,
            tagger="rules",
        )
        return generate(options)

    return {
        "generate": partial(work, torch.get_num_threads()),
        "generate_one_process": partial(work, 1),
        "generate_team": partial(_stubborn, partial(work, 1)),
        "generate_one_thread": partial(_on_one_thread, partial(work, 1)),
    }


def _contexts() -> list[Context]:
    """999 of 20 words and an ending of 9; a fifth of all types stands in no ending, as in real captions."""
    rng = np.random.default_rng(0)
    types = rng.permutation([n for n in range(5, N_TYPES) if n % 5])[:7992].reshape(999, 8)
    return [
        Context(
            f"{_words(rng.integers(5, N_TYPES, 10))} .",
            _words(rng.integers(5, N_TYPES, 10)),
            f"{_words(gold)} .",
            id=f"c{i}",
            video=f"v{i}",
            fold=0,
        )
        for i, gold in enumerate(types)
    ]


def _words(types: np.ndarray) -> str:
    return " ".join(f"w{n}" for n in types)


def _write_model(lms: Path, contexts: list[Context]) -> None:
    """An untrained model of the paper's size, for which no context is one that it has read."""
    words = [f"w{n}" for n in range(5, N_TYPES)]
    tokens = (*SPECIAL_TOKENS, ".", *words)
    vocabulary = Vocabulary(tokens, np.maximum(0, N_TYPES - np.arange(N_TYPES)), tokens)
    pairs, lm = pairs_of(contexts, [], vocabulary), LMOptions()
    open_lm_folder(lms, lm, corpus_hash(pairs), vocabulary, fold_map(contexts, []), 0)
    nothing = {"forward": 1.0, "backward": 1.0}
    report = {"fold": 0, "best_epoch": 0, "held_out_perplexity": nothing, "fold_perplexity": nothing}
    save_model(fold_path(lms, 0), "lm-fold", _model(N_TYPES), report)


def _filtering() -> dict[str, Work]:
    """The loop, whose threads make way for others, and with teams that do not."""
    rng = np.random.default_rng(1)
    vocabulary = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in ("n", "rt", "st", "lk", "m", "sh", "v", "z")]

    def phrase(n: int) -> str:
        return " ".join(rng.choice(vocabulary, n))

    contexts = [Context(phrase(10), phrase(3), f"{phrase(9)} g{i}.", video=f"v{i}") for i in range(400)]
    negatives = [[f"{phrase(9)} n{k}." for k in range(63)] for _ in contexts]
    features = [rng.normal(size=(64, 8)).astype(np.float32) for _ in contexts]
    pool = CandidatePool.from_texts(contexts, negatives, features=features, tagger="rules")

    def work() -> object:
        return filter_pool(pool, [("mlp", 4), ("cnn", 4)], AFOptions(seed=1))

    return {
        "filter": work,
        "filter_team": partial(_stubborn, work),
        "filter_one_thread": partial(_on_one_thread, work),
    }


def _stubborn(work: Work) -> object:
    """`work` as if nobody else used the cores."""
    with mock.patch.object(threads_module._LOAD, "free_cores", return_value=float(os.cpu_count() or 1)):
        return work()


def _on_one_thread(work: Work) -> object:
    with threads(1):
        return work()


def _seconds(work: Work) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
