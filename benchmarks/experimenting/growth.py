"""What each filter finds in random assignments by the number of contexts: several draws, kept cell by cell.

Contexts are drawn from the first part as far as it reaches, so that this can be measured before the others are made,
and more of them from all parts together. A random assignment needs no more candidates than a question has: the pool
`wide` has these alone, and so many contexts that a filter can be seen to learn from ten thousand.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from experimenting.findings import Hits
from experimenting.sizes import BIG, Size
from experimenting.steps import N_NEGATIVES, WIDE, Setting, has_wide_folds, pool_of_all, seconds_of_fit
from swag_af.auditing.runs.audit import audit_columns
from swag_af.data.disk.files import read_json, write_json
from swag_af.data.numbers.interval import paired_difference
from swag_af.data.pool.assignments import random_assignment
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.work.progress import progress

GROWTH = "growth"
Cell = tuple[int, int, str]
"""Number of contexts, draw, filter."""


def measure_growth(setting: Setting) -> None:
    """Fit and score every filter on every number of contexts of every draw; those that are kept are not made again."""
    _measure(setting, GROWTH, growth_cells(setting))


def measure_wide(setting: Setting) -> None:
    """The same on the contexts of `wide`."""
    _measure(setting, WIDE, wide_cells(setting))


def _measure(setting: Setting, name: str, cells: Sequence[Cell]) -> None:
    todo = [cell for cell in cells if not _path(setting, name, cell).exists()]
    with progress(name, len(cells), "fits", done=len(cells) - len(todo)) as advance:
        for n, draw, filter in todo:
            pool = CandidatePool.open(setting.out / (WIDE if name == WIDE else _pool_of(setting.size, n)))
            rows = nested_rows(pool.groups, n, rng=np.random.default_rng((draw, *b"rows")))
            rng = np.random.default_rng((draw, *b"start"))
            columns = random_assignment(pool.counts, 1 + N_NEGATIVES, rng=rng)[rows]
            groups = np.unique(pool.groups[rows], return_inverse=True)[1]
            (one,) = audit_columns(pool, rows, columns, groups, [filter], seed=draw)
            kept = {"rows": rows.tolist(), "groups": pool.groups[rows].tolist(), "hits": list(one.hits)}
            write_json(_path(setting, name, (n, draw, filter)), kept)
            advance(1, note=f"{filter}, {n} contexts: {one.accuracy:.3f}")


def growth_cells(setting: Setting) -> list[Cell]:
    """Number of contexts, draw and filter of all that is measured."""
    size = setting.size
    counts = [n for n in size.growth if BIG in setting.together() or (n <= size.part_rows and 0 in setting.numbers())]
    return [(n, d, f) for n in counts for d in range(_draws(size, n)) for f in size.finders]


def wide_cells(setting: Setting) -> list[Cell]:
    """The same of `wide`: a draw of all numbers before the next, and the most contexts first, which are what is new.

    Of the most the second draw and the third have other assignments alone, for the filters that are compared.
    """
    size = setting.size
    compared = ("mlp", size.joint)
    counts = size.wide[::-1] if has_wide_folds(setting) else ()
    draws = range(size.growth_draws)
    of_draw = {d: compared if d else size.finders for d in draws}
    return [(n, d, f) for d in draws for n in counts for f in (of_draw[d] if n == counts[0] else size.finders)]


def _draws(size: Size, n: int) -> int:
    """One where all rows are taken, since others would have the same."""
    return 1 if n in (size.part_rows, size.n_contexts) else size.growth_draws


def _pool_of(size: Size, n: int) -> str:
    """The smallest pool that has so many contexts."""
    return "parts/0" if n <= size.part_rows else pool_of_all("")


def nested_rows(groups: np.ndarray, n: int, *, rng: np.random.Generator) -> np.ndarray:
    """(m,) the rows of whole `groups` (N,) in random order, up to `n`: those of fewer are among those of more.

    The last group may pass `n`; where all rows are fewer, it is all of them.
    """
    order = rng.permutation(int(groups.max()) + 1)
    ends = np.cumsum(np.bincount(groups)[order])
    taken = order[: int(np.searchsorted(ends, n)) + 1]
    return np.flatnonzero(np.isin(groups, taken))


def growth_found(setting: Setting) -> list[dict[str, Any]]:
    """Accuracy by filter and number of contexts over all draws, groups drawn again whole; what was measured so far."""
    return _found(setting, GROWTH, growth_cells(setting))


def wide_found(setting: Setting) -> list[dict[str, Any]]:
    """The same of `wide`."""
    return _found(setting, WIDE, wide_cells(setting))


def _found(setting: Setting, name: str, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    found = []
    for filter in setting.size.finders:
        for n in sorted({n for n, _, _ in cells}):
            paths = [_path(setting, name, cell) for cell in cells if (cell[0], cell[2]) == (n, filter)]
            kept = [read_json(path) for path in paths if path.exists()]
            if kept:
                groups = np.unique(np.concatenate([one["groups"] for one in kept]), return_inverse=True)[1]
                hits = Hits((), groups, np.concatenate([one["hits"] for one in kept]))
                of_draws = [float(np.mean(one["hits"])) for one in kept]
                figure = hits.figure() | {"n": round(len(hits.values) / len(kept)), "draws": of_draws}
                found.append({"filter": filter, "contexts": n} | figure)
    return found


def wide_gaps(setting: Setting) -> list[dict[str, Any]]:
    """How much more the joint filter finds than the MLP on the same assignments of `wide`, paired by context; of draws
    that both read."""
    cells, found = wide_cells(setting), []
    for n in sorted({n for n, _, _ in cells}):
        pairs = [
            (read_json(_path(setting, WIDE, cell)), read_json(path))
            for cell in cells
            if cell[0] == n and cell[2] == "mlp" and _path(setting, WIDE, cell).exists()
            if (path := _path(setting, WIDE, (n, cell[1], setting.size.joint))).exists()
        ]
        if pairs:
            groups = np.unique(np.concatenate([one["groups"] for one, _ in pairs]), return_inverse=True)[1]
            mlp, joint = (np.concatenate([pair[i]["hits"] for pair in pairs]) for i in (0, 1))
            of_draws = [float(np.mean(its["hits"]) - np.mean(mine["hits"])) for mine, its in pairs]
            of_all = asdict(paired_difference(mlp, joint, groups))
            found.append({"contexts": n, "n": round(len(mlp) / len(pairs)), "draws": of_draws} | of_all)
    return found


def growth_seconds(setting: Setting) -> float:
    """CPU seconds, forecast."""
    return _seconds(growth_cells(setting))


def wide_seconds(setting: Setting) -> float:
    """CPU seconds, forecast."""
    return _seconds(wide_cells(setting))


def _seconds(cells: Sequence[Cell]) -> float:
    """Five fits a cell; all filters together take about twice the ensemble."""
    asked = {(n, draw) for n, draw, _ in cells}
    return math.ceil(2 * 5 * sum(seconds_of_fit("ensemble", n) for n, _ in asked))


def _path(setting: Setting, name: str, cell: Cell) -> Path:
    return setting.out / (GROWTH if name == GROWTH else f"{GROWTH}-{WIDE}") / "{}-{}-{}.json".format(*cell)
