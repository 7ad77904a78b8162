"""How memory and time grow with the number of contexts: a pool is made, opened, sampled, filtered once and audited.

    python benchmarks/million.py                                       # 10,000 and 100,000 contexts x 64
    python benchmarks/million.py --sizes 1000000 --folder runs/million  # 5.5 GB on disk
    python benchmarks/million.py --sizes 10000 --candidates 64 256 1024 --json

Pools are drawn at random, as in `filter.py`, and written shard by shard. Each step runs in a process of its own, whose
memory is told in two numbers: `own_gb` is the most that it held at once of anonymous pages, which is what it needs;
`resident_gb` counts the pages of mapped tables that happened to be in memory too, which the system takes back when it
needs them. `filter_mlp` and `filter_bow` are one iteration each with fits of --epochs passes over the training rows
(ten at most in a real fit), so their seconds are no iteration's; memory does not depend on the number of passes. Every
verb looks at all tables before its work, so the seconds of `open` are in all that follow.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from filter import L, _memory_watched, _random_tables, _vocabulary

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.auditing.runs.audit import audit_pool
from swag_af.data.context import Context
from swag_af.data.pool.assignments import random_assignment
from swag_af.data.pool.folder import FEATURES, finish_pool, write_shard
from swag_af.data.pool.pool import CandidatePool
from swag_af.filters.registry import make_filter

SHARD_CANDIDATES = 1 << 18
"""Candidates of a shard, as in the pools of `swag-af pool`."""
A_VIDEO = 5
"""Rows of a video."""


def main() -> None:
    """Measure each step of each size in a process of its own; print a table, and with --json one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000], help="numbers of contexts")
    parser.add_argument("--candidates", type=int, nargs="+", default=[64], help="candidates a row")
    parser.add_argument("--steps", nargs="+", default=list(STEPS), help=f"of {', '.join(STEPS)}")
    parser.add_argument("--epochs", type=int, default=1, help="passes of a fit")
    parser.add_argument("--folder", type=Path, help="keep pools here, and use those that are there")
    parser.add_argument("--json", action="store_true", help="print one line of JSON last")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        step, folder, n, k = arguments.measure
        print(json.dumps(_measured(step, Path(folder), int(n), int(k), arguments.epochs)))
        return
    made = []
    with tempfile.TemporaryDirectory() as temporary:
        for n in arguments.sizes:
            for k in arguments.candidates:
                folder = (arguments.folder or Path(temporary)) / f"{n}x{k}"
                for step in arguments.steps:
                    made.append(_in_a_process(step, folder, n, k, arguments.epochs))
                    _print(made[-1])
    if arguments.json:
        print(json.dumps(made))


def _print(row: dict[str, float | str]) -> None:
    print(
        f"{row['n_contexts']:>10,} x {row['n_candidates']:<5,} {row['step']:<12} {row['cpu_seconds']:8.1f} CPU s "
        f"{row['own_gb']:6.2f} GB own {row['resident_gb']:6.2f} GB resident"
        + (f"  fit {row['fit_share']:.0%} of the time" if "fit_share" in row else ""),
        flush=True,
    )


def _in_a_process(step: str, folder: Path, n: int, k: int, epochs: int) -> dict[str, float | str]:
    command = [sys.executable, __file__, "--measure", step, str(folder), str(n), str(k), "--epochs", str(epochs)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    measured: dict[str, float | str] = json.loads(output.splitlines()[-1])
    return measured


def _measured(step: str, folder: Path, n: int, k: int, epochs: int) -> dict[str, float | str]:
    """What the step took; the pool is made where it is not there."""
    begun = time.process_time()
    with _memory_watched() as memory:
        more = STEPS[step](folder, n, k, epochs) or {}
    own, resident = memory["peak_memory_gb"], memory["peak_resident_gb"]
    seconds = time.process_time() - begun
    sizes = {"n_contexts": n, "n_candidates": k}
    return {"step": step, **sizes, "cpu_seconds": seconds, "own_gb": own, "resident_gb": resident, **more}


def _make(folder: Path, n: int, k: int, epochs: int) -> None:
    """`n` rows of `k` random endings, five rows a video; each shard has the rows of the first, in another order.

    So rows repeat from shard to shard: memory and seconds can be measured on such a pool, accuracies cannot.
    """
    if (folder / "manifest.json").exists():
        return
    rng, most, entries = np.random.default_rng(0), SHARD_CANDIDATES // k, []
    drawn = _random_tables(rng, min(n, most), k)
    for number, at in enumerate(range(0, n, most)):
        here = np.arange(at, min(n, at + most))
        order = rng.permutation(len(drawn["counts"]))[: len(here)]
        tables = {name: table[order] for name, table in drawn.items()} | {"groups": here // A_VIDEO}
        contexts = [
            Context("She looks .", "The man", "waits .", id=f"{i}", video=f"v{i // A_VIDEO}") for i in here.tolist()
        ]
        entries.append(write_shard(folder, number, contexts, tables))
    finish_pool(folder, _vocabulary(), entries, {"tagger": "rules"})


def _open(folder: Path, n: int, k: int, epochs: int) -> None:
    """Open, and check every table and context once, as every verb does before its work."""
    pool = CandidatePool.open(folder)
    pool.check_tables()
    assert (len(pool), pool.n_candidates) == (n, k)


def _sample(folder: Path, n: int, k: int, epochs: int) -> None:
    """The first assignment, and 50 batches of 128 random rows."""
    pool, rng = CandidatePool.open(folder), np.random.default_rng(0)
    assignment = random_assignment(pool.counts, 10, rng=rng)
    for _ in range(50):
        rows = rng.integers(n, size=128)
        view = pool.view(rows, assignment[rows])
        assert view.tokens.shape == (128, 10, L)
        assert view.features.shape == (128, 10, len(FEATURES))
        assert len(view.contexts) == len(pool.groups[rows])


def _filter_mlp(folder: Path, n: int, k: int, epochs: int) -> dict[str, float]:
    return _filtered(folder, "mlp", epochs)


def _filter_bow(folder: Path, n: int, k: int, epochs: int) -> dict[str, float]:
    return _filtered(folder, "bow", epochs)


def _filtered(folder: Path, name: str, epochs: int) -> dict[str, float]:
    """One iteration; the share of its seconds that the fit took, and of the candidates that were scored."""
    filter = make_filter(name, max_epochs=epochs)
    run = filter_pool(CandidatePool.open(folder), filter, AFOptions(iterations=1))
    timing, record = run.timing[0], run.log[0]
    return {"fit_share": timing.fit_seconds / timing.seconds, "scored_share": record.scored_share}


def _audit(folder: Path, n: int, k: int, epochs: int) -> None:
    """An audit of the first assignment by a regression on n-grams, over five folds."""
    pool = CandidatePool.open(folder)
    assignment = random_assignment(pool.counts, 10, rng=np.random.default_rng(0))
    audit_pool(pool, assignment, ["ngrams"])


STEPS: dict[str, Callable[[Path, int, int, int], dict[str, float] | None]] = {
    "make": _make,
    "open": _open,
    "sample": _sample,
    "filter_mlp": _filter_mlp,
    "filter_bow": _filter_bow,
    "audit": _audit,
}

if __name__ == "__main__":
    main()
