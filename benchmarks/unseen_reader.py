"""What does a pretrained reader find in four-way questions before and after Adversarial Filtering?

    python benchmarks/unseen_reader.py --model MODEL --out reader.json start=RUN@0 bow=RUN ensemble=RUN itself=RUN

Each NAME=RUN is the assignment after the last iteration of a run of `swag-af filter`, RUN@I that after iteration I. The
pool is that of the first run; other runs have its contexts, and perhaps more, with the same candidates. A question is
gold and the first three negatives assigned. The reader is fitted and scored over five folds of whole groups, the same
for every set, so sets are compared by context. The control declares one of four negatives gold. What is done is kept in
--out, so a second start goes on. The last line is JSON: every cell, and the differences of all pairs of sets.
"""

import argparse
import json
import time
from dataclasses import asdict
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from kept import Kept

from swag_af.auditing.runs.audit import audit_columns
from swag_af.data.numbers.interval import interval, paired_difference
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import open_run
from swag_af.data.work.progress import progress
from swag_af.filters.registry import make_filter

WAYS = 4


def sets_of(named: list[str], rows_of: CandidatePool, n_rows: int | None) -> dict[str, np.ndarray]:
    """By NAME=RUN, (n, 10) the assignment of the rows of the pool that all share, gold first."""
    made = {}
    for one in named:
        path, _, iteration = one.partition("=")[2].partition("@")
        run = open_run(path)
        row_of = {context.id: row for row, context in enumerate(run.pool.contexts)}
        rows = np.array([row_of[context.id] for context in rows_of.contexts[:n_rows]])
        made[one] = run.assignment(int(iteration) if iteration else None)[rows]
    return made


def questions(assignment: np.ndarray, *, is_control: bool) -> np.ndarray:
    """(n, 4) gold and three negatives, or four negatives with the first as gold."""
    return assignment[:, int(is_control) :][:, :WAYS]


def hits(pool: CandidatePool, columns: np.ndarray, name: str, seeds: range) -> np.ndarray:
    """(n,) how often gold scores highest, over the seeds."""
    rows = np.arange(len(columns))
    groups = np.unique(pool.groups[rows], return_inverse=True)[1]
    filter = _FILTERS.setdefault(name, make_filter(name, device="cpu"))  # keeps its vectors
    found = [audit_columns(pool, rows, columns, groups, [filter], seed=seed)[0].hits for seed in seeds]
    return np.mean(found, axis=0)


_FILTERS: dict[str, Any] = {}


def measured(pool: CandidatePool, columns: np.ndarray, name: str, seeds: range) -> dict[str, Any]:
    """What is kept of a cell: its hits, and the CPU seconds of this process that they took."""
    started = time.process_time()
    found = hits(pool, columns, name, seeds).round(4).tolist()
    return {"hits": found, "cpu_seconds": round(time.process_time() - started, 1)}


def summary(found: dict[str, list[float]], groups: np.ndarray) -> dict[str, Any]:
    """Accuracy and interval of every cell, and the differences between sets read by the same reader."""
    of = {name: np.array(one) for name, one in found.items()}
    told: dict[str, Any] = {}
    for name, one in of.items():
        low, high = interval(one, groups)
        told[name] = {"accuracy": float(one.mean()), "low": low, "high": high}
    for before, after in combinations(of, 2):
        if before.partition(": ")[2] == after.partition(": ")[2]:
            told[f"{before} -> {after.partition(': ')[0]}"] = asdict(paired_difference(of[before], of[after], groups))
    return told


def main() -> None:
    """Audit every set by every reader, one cell after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", metavar="NAME=RUN[@I]")
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--reader", default="encoder", help="encoder, or transformer")
    parser.add_argument("--more", default="", help="settings of the reader, as they stand in brackets: ,max_epochs=3")
    parser.add_argument("--inputs", nargs="+", default=["ending", "second", "full"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, help="the first so many contexts; all when not given")
    parser.add_argument("--control", action="store_true", help="declare a negative gold")
    options = parser.parse_args()
    pool = open_run(options.sets[0].partition("=")[2].partition("@")[0]).pool
    sets = sets_of(options.sets, pool, options.rows)
    asked = {"model": options.model, "more": options.more, "seeds": options.seeds, "rows": options.rows}
    kept = Kept(options.out, asked | {"sets": options.sets[0]})
    groups = np.unique(pool.groups[: options.rows], return_inverse=True)[1]
    with progress("read", len(sets) * len(options.inputs), "cells") as advance:
        for inputs in options.inputs:
            name = f"{options.reader}[{options.model},inputs={inputs}{options.more}]"
            for label, assignment in sets.items():
                cell = f"{label}: {options.reader}, {inputs}{', control' if options.control else ''}"
                columns = questions(assignment, is_control=options.control)
                kept.take(cell, partial(measured, pool, columns, name, range(options.seeds)))
                one = summary({cell: kept.figures[cell]["hits"]}, groups)[cell]
                print(f"{cell}: {one['accuracy']:.3f} ({one['low']:.3f} to {one['high']:.3f})", flush=True)
                advance(1, note=cell)
    print(json.dumps(summary({cell: of["hits"] for cell, of in kept.figures.items()}, groups)))


if __name__ == "__main__":
    main()
