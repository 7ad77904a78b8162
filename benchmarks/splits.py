"""What do fixed splits save, and what do they cost in hardness? Exact loops and fixed ones, paired by context.

    python benchmarks/splits.py POOL --out runs/fixed                      # all of it; begun again, it goes on
    python benchmarks/splits.py POOL --out runs/fixed --loops fresh --only 0 2   # these loops of these parts, no audits
    python benchmarks/splits.py POOL --out runs/fixed --json               # the table, and one line of JSON
    python benchmarks/splits.py POOL --out runs/bf16 --loops fresh again bf16 fixed-bf16   # what rounding does
    python benchmarks/splits.py POOL --out runs/few --loops fresh again half-out most-out few-fitted   # smaller fits
    python benchmarks/splits.py POOL --out runs/few --loops fresh again larger rounds   # fewer fits, larger steps
    python benchmarks/splits.py POOL --out runs/few --loops fresh rounds --against brief   # the same, beside another

The contexts of POOL are dealt by whole groups into parts of about --contexts; the first --seeds parts are pools of
their own, each filtered with a seed of its own and from one random start by two loops or more: `fresh` (the paper's: a
fresh split and a fresh fit in every iteration), `fixed` (`--splits fixed`), and both with the products of fits in bf16,
`bf16` and `fixed-bf16`. `half-out` and `most-out` hold out a half and four fifths of the contexts, which they
re-assign, and fit on fewer; `few-fitted` holds out a fifth and fits on another. `larger` has a quarter of the
iterations of each phase, in which four times as many of a context's distractors may leave (`--n-easy 8`); `rounds`
likewise, but whole rounds in which each context is held out once (`--splits rounds`); `brief`, which is no loop but
`fresh` as it was after a quarter of the iterations of its last phase. `again` is `fresh` by another seed, so from
another random start: what chance does. All others are audited after as many iterations as `fresh`, and with --more
`fixed` once again after so many more of its last filter (`longer`: choose them so that it takes the CPU seconds of
`fresh`).

Fresh filters then audit the questions of all parts together, over the same folds of whole groups, so that loops are
compared context by context. Two intervals stand behind each difference: over contexts, clustered in groups, and, of
several parts, over the parts' own differences, of which there are as many as seeds (a part has a loop of its own;
audits are shared). CPU seconds are of the process, by iteration, in `cpu.jsonl` of each loop's folder, with the losses
that ended its fit.
"""

import argparse
import json
import time
from dataclasses import replace
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from kept import Kept

from swag_af.af.fitting import n_folds
from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.auditing.runs.audit import audit_columns
from swag_af.data.disk.files import read_jsonl, write_jsonl
from swag_af.data.numbers.interval import interval, paired_difference, t_quantile
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run, open_run
from swag_af.data.splits import deal
from swag_af.data.work.progress import progress
from swag_af.filters.registry import make_filter, parse_schedule

LOOPS: dict[str, dict[str, Any]] = {
    "fresh": {},
    "again": {},
    "fixed": {"splits": "fixed"},
    "bf16": {},
    "fixed-bf16": {"splits": "fixed"},
    "half-out": {"test_share": 0.5},
    "most-out": {"test_share": 0.8},
    "few-fitted": {},
    "larger": {"n_easy": 8},
    "rounds": {"splits": "rounds", "n_easy": 8},
}
"""What the options of each loop have other than `fresh`, as far as they do not depend on the part."""


A_ROUND = n_folds(AFOptions().test_share)
"""Iterations in which `rounds` holds each context out once."""


def parts_of(pool: CandidatePool, n_contexts: int, n_parts: int) -> list[np.ndarray]:
    """The rows of the first `n_parts` parts of about `n_contexts` whole groups."""
    dealt = deal(pool.groups, max(n_parts, round(len(pool) / n_contexts)), rng=np.random.default_rng((0, *b"parts")))
    return [np.flatnonzero(dealt == part) for part in range(n_parts)]


def quarter(n: int) -> int:
    """A quarter of `n` iterations, one at least."""
    return max(1, round(n / 4))


def sizes_of(loop: str, schedule: str) -> list[int]:
    """Iterations of each phase of a loop."""
    sizes = [n for _, n in parse_schedule(schedule)]
    if loop == "rounds":
        return [A_ROUND * ceil(n / (4 * A_ROUND)) for n in sizes]
    return [quarter(n) for n in sizes] if loop == "larger" else sizes


def filter_part(path: Path, loop: str, schedule: str, more: int, seed: int) -> Run:
    """The finished run of a part by a loop; `more` iterations of the last filter for `fixed` alone."""
    rounded = {"precision": "bfloat16"} if loop.endswith("bf16") else {}
    filters = [make_filter(name, device="cpu", **rounded) for name, _ in parse_schedule(schedule)]
    phases = list(zip(filters, sizes_of(loop, schedule), strict=True))
    total = sum(n for _, n in phases) + (more if loop == "fixed" else 0)
    pool = CandidatePool.open(path / "pool")
    options = AFOptions(iterations=total, seed=seed + (100 if loop == "again" else 0), **LOOPS[loop])
    if loop == "few-fitted":
        options = replace(options, most_fitted=len(pool) // 5)
    out, kept = path / loop, path / loop / "cpu.jsonl"
    lines = [line for _, line in read_jsonl(kept)] if kept.exists() else []
    of = {one.name: one for one, _ in phases}
    last = [time.process_time()]

    def note(run: Run) -> None:
        now, done = time.process_time(), run.log[-1]
        losses = [round(loss, 4) for loss in getattr(of[done.filter], "held_out_losses", [])]
        lines.append({"iteration": done.iteration, "cpu_seconds": round(now - last[0], 3), "losses": losses})
        write_jsonl(kept, lines)
        last[0] = now

    return filter_pool(pool, phases, options, out=out, after_iteration=note)


def sets_of(out: Path, parts: list[np.ndarray], loops: list[str], sizes: list[int]) -> dict[str, np.ndarray]:
    """By name, (rows of all parts, A) the questions before any loop, after the iterations of each that the phases of
    `sizes` have, or all where it has fewer, and after all of those that have more."""
    n = sum(sizes)
    made: dict[str, list[np.ndarray]] = {}
    for number in range(len(parts)):
        for loop in loops:
            run = open_run(out / f"part{number}" / loop)
            if loop == "fresh":
                made.setdefault("start", []).append(run.assignment(0))
                made.setdefault("brief", []).append(run.assignment(n - sizes[-1] + quarter(sizes[-1])))
            made.setdefault(loop, []).append(run.assignment(min(n, run.n_finished)))
            if run.n_finished > n:
                made.setdefault("longer", []).append(run.assignment())
    return {name: np.concatenate(of_parts) for name, of_parts in made.items()}


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """What every audit that is kept depends on, beside its filter and the loop."""
    names = ("contexts", "seeds", "schedule", "more", "folds", "audit_seeds")
    return {"pool": str(options.pool.resolve())} | {name: getattr(options, name) for name in names}


def hits_of(
    pool: CandidatePool, rows: np.ndarray, columns: np.ndarray, name: str, options: argparse.Namespace
) -> list[float]:
    """(rows,) how often a fresh filter finds gold, a mean over the audits' seeds."""
    groups = np.unique(pool.groups[rows], return_inverse=True)[1]
    found = [
        audit_columns(pool, rows, columns, groups, [name], n_folds=options.folds, seed=seed)[0].hits
        for seed in range(options.audit_seeds)
    ]
    means: list[float] = np.mean(found, axis=0).round(4).tolist()
    return means


def audit(
    pool: CandidatePool, parts: list[np.ndarray], sizes: list[int], options: argparse.Namespace
) -> dict[str, list[float]]:
    """Hits (rows of all parts,) of every audit of every set, a mean over the audits' seeds; kept in `audits.json`."""
    rows = np.concatenate(parts)
    kept = Kept(options.out / "audits.json", settings_of(options))
    sets = sets_of(options.out, parts, options.loops, sizes)
    with progress("audit", len(sets) * len(options.filters), "audits") as advance:
        for name in options.filters:
            for label, columns in sets.items():
                cell = f"{name} {label}"
                found = kept.take(cell, partial(hits_of, pool, rows, columns, name, options))
                advance(1, note=f"{cell} {np.mean(found):.3f}")
    return kept.figures


def compared(
    hits: dict[str, list[float]], groups: np.ndarray, part: np.ndarray, against: str = "fresh"
) -> list[dict[str, Any]]:
    """Every audit of every set: accuracy and interval; less that of the set `against`, over contexts and over parts."""
    told = []
    for cell, of_cell in hits.items():
        name, _, label = cell.rpartition(" ")
        own, other = np.array(of_cell), np.array(hits[f"{name} {against}"])
        low, high = interval(own, groups)
        line: dict[str, Any] = {"filter": name, "set": label, "accuracy": own.mean(), "low": low, "high": high}
        if label != against:
            paired = paired_difference(other, own, groups)
            line |= {"less": paired.mean, "less_low": paired.low, "less_high": paired.high}
            of_parts = np.bincount(part, own - other) / np.bincount(part)
            line |= {"parts": of_parts.tolist()}
            if len(of_parts) > 1:
                half = t_quantile(len(of_parts) - 1) * of_parts.std(ddof=1) / len(of_parts) ** 0.5
                line |= {"parts_low": of_parts.mean() - half, "parts_high": of_parts.mean() + half}
        told.append(line)
    return told


def seconds_of(out: Path, n_parts: int, loops: list[str], schedule: str) -> dict[str, dict[str, float]]:
    """By loop: CPU seconds a run of the schedule and in all; an iteration of the last phase, first turns and later."""
    made: dict[str, dict[str, float]] = {}
    for loop in loops:
        sizes = sizes_of(loop, schedule)
        first, total = sum(sizes[:-1]) + 1, sum(sizes)
        lines = [line for i in range(n_parts) for _, line in read_jsonl(out / f"part{i}" / loop / "cpu.jsonl")]
        at = np.array([line["iteration"] for line in lines])
        cpu = np.array([line["cpu_seconds"] for line in lines])
        later = at >= first + 5
        made[loop] = {
            "run": cpu[at <= total].sum() / n_parts,
            "all": cpu.sum() / n_parts,
            "first_turns": cpu[(at >= first) & ~later].mean(),
        }
        if later.any():
            n_losses = [len(lines[i]["losses"]) for i in np.flatnonzero(later)]
            made[loop] |= {"later_turns": cpu[later].mean(), "losses_later": float(np.mean(n_losses))}
    return made


def main() -> None:
    """Filter every part by both loops, audit them, tell the differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--contexts", type=int, default=500, help="contexts a part")
    parser.add_argument("--seeds", type=int, default=5, help="parts, each with a seed of its own")
    parser.add_argument("--schedule", default="mlp:20,ensemble:15")
    parser.add_argument("--more", type=int, default=0, help="iterations of `fixed` beyond the schedule")
    parser.add_argument("--loops", nargs="+", choices=LOOPS, default=["fresh", "fixed"], help="`fresh` among them")
    parser.add_argument("--only", nargs="+", type=int, metavar="PART", help="these parts, and no audits")
    parser.add_argument("--filters", nargs="+", default=["ngrams", "chars", "fasttext", "mlp", "bow", "ensemble"])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--audit-seeds", type=int, default=1)
    sets = ("start", "brief", *LOOPS, "longer")
    parser.add_argument("--against", choices=sets, default="fresh", help="what others are compared with")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    pool = CandidatePool.open(options.pool)
    parts = parts_of(pool, options.contexts, options.seeds)
    for number in range(len(parts)) if options.only is None else options.only:
        path = options.out / f"part{number}"
        if not (path / "pool").exists():
            pool.save(path / "pool", rows=parts[number])
        for loop in options.loops:
            filter_part(path, loop, options.schedule, options.more, number)
    if options.only is None:
        tell(pool, parts, options)


def tell(pool: CandidatePool, parts: list[np.ndarray], options: argparse.Namespace) -> None:
    """Audit all sets, print the table, and with --json one line."""
    sizes = sizes_of("fresh", options.schedule)
    hits = audit(pool, parts, sizes, options)
    groups = np.unique(pool.groups[np.concatenate(parts)], return_inverse=True)[1]
    part = np.repeat(np.arange(len(parts)), [len(rows) for rows in parts])
    found = compared(hits, groups, part, options.against)
    seconds = seconds_of(options.out, len(parts), options.loops, options.schedule)
    for line in found:
        less = "".join(f"{100 * line[name]:7.1f}" for name in ("less", "less_low", "less_high") if name in line)
        over = "".join(f"{100 * line[name]:7.1f}" for name in ("parts_low", "parts_high") if name in line)
        accuracy = "".join(f"{100 * line[name]:6.1f}" for name in ("accuracy", "low", "high"))
        print(f"{line['filter']:10} {line['set']:11}{accuracy}   {less}   {over}")
    for loop, of_loop in seconds.items():
        print(loop, "  ".join(f"{name} {value:.1f}" for name, value in of_loop.items()))
    if options.json:
        print(json.dumps({"n_contexts": len(groups), "n_parts": len(parts), "cpu_seconds": seconds, "audits": found}))


if __name__ == "__main__":
    main()
