"""What guards say of the candidates of a pool: which are marked, and how many, by guard.

A guard *marks* a candidate whose score reaches the guard's threshold. Candidates that an excluding guard marks are
*flagged*, and no assignment has them (`CandidatePool.flagged`). The scores are made by `swag-af guard`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swag_af.data.disk.records import GuardEntry
from swag_af.data.disk.urls import command
from swag_af.data.errors import FormatError
from swag_af.data.pool.pool import CandidatePool

BEFORE = "guard_counts_before"
"""In a manifest: the counts before rows were left out, by the guards that it names."""
ROWS_DROPPED = "rows_dropped_by_guards"
"""In a manifest: how many rows were, by these guards and by those of pools that it was made of."""

NO_LONGER = "no_longer_kept_out"
"""In a manifest: how many negatives each earlier guard kept out that no guard of now does."""

N_ROWS = 512
"""Rows whose scores are looked at together."""


@dataclass(frozen=True)
class GuardCount:
    """What one guard says of some candidates."""

    name: str
    about: str
    """What a mark means, in a few words."""
    threshold: float
    excludes: bool
    """Whether those that it marks are flagged."""
    n_asked: int
    """Negatives that it was asked about."""
    n_marked: int


@dataclass(frozen=True)
class GuardCounts:
    """What all guards of a pool say of some candidates."""

    n: int
    """Negatives, asked about or not."""
    n_flagged: int
    guards: tuple[GuardCount, ...]


def guards_of(pool: CandidatePool) -> list[GuardEntry]:
    """The guards whose scores the pool has, in the order of the last axis of `guard_scores`; none for other pools."""
    if "guard_scores" not in pool.tables:
        return []
    guards: list[GuardEntry] = pool.manifest.get("guards") or []
    n = pool.gather("guard_scores", np.zeros(1, np.int64)).shape[2]
    if len(guards) != n:
        raise FormatError(
            f"{pool.path}: {len(guards)} guards in its manifest, and scores of {n}. Guard it again: "
            f"`{command('guard', pool.path)}`."
        )
    return guards


def marks(pool: CandidatePool, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """(n, m, G) whether each of the G guards marks the candidates `columns` (n, m) of `rows` (n,)."""
    guards = guards_of(pool)
    if not guards:
        return np.zeros((*columns.shape, 0), bool)
    scores = pool.gather("guard_scores", rows, columns)
    marked: np.ndarray = scores >= np.array([guard["threshold"] for guard in guards], np.float32)  # NaN marks nothing
    return marked


def n_marked(pool: CandidatePool, row: int, columns: Sequence[int]) -> int:
    """How many of the candidates `columns` of `row` any guard marks; 0 where the pool was not guarded."""
    if "guard_scores" not in pool.tables:
        return 0
    return int(marks(pool, np.array([row]), np.array([columns])).any(axis=2).sum())


def guard_counts(
    pool: CandidatePool, rows: np.ndarray | None = None, columns: np.ndarray | None = None
) -> GuardCounts | None:
    """What guards say of the candidates `columns` (n, m) of `rows` (n,), gold not counted; without them, of all.

    None where the pool was not guarded. Reads the tables some rows at a time.
    """
    guards = guards_of(pool)
    if not guards:
        return None
    rows = np.arange(len(pool)) if rows is None else rows
    n, n_flagged, asked, marked = 0, 0, np.zeros(len(guards), np.int64), np.zeros(len(guards), np.int64)
    for at in range(0, len(rows), N_ROWS):
        here = rows[at : at + N_ROWS]
        every = np.tile(np.arange(pool.n_candidates), (len(here), 1)) if columns is None else columns[at : at + N_ROWS]
        is_negative = (every > 0) & (every < pool.counts[here, None])  # (r, m)
        n += int(is_negative.sum())
        n_flagged += int((pool.gather("flagged", here, every) & is_negative).sum())
        asked += (np.isfinite(pool.gather("guard_scores", here, every)) & is_negative[..., None]).sum(axis=(0, 1))
        marked += (marks(pool, here, every) & is_negative[..., None]).sum(axis=(0, 1))
    told = zip(guards, asked.tolist(), marked.tolist(), strict=True)
    return GuardCounts(n, n_flagged, tuple(_count(guard, *counts) for guard, *counts in told))


def counts_before(pool: CandidatePool) -> GuardCounts | None:
    """The counts of all rows, of a pool from which `guard` left out rows: what it found is mostly in those; None for
    others."""
    told = pool.manifest.get(BEFORE)
    if told is None:
        return None
    return GuardCounts(told["n"], told["n_flagged"], tuple(GuardCount(**one) for one in told["guards"]))


def no_longer_kept_out(pool: CandidatePool, flagged: np.ndarray) -> dict[str, int]:
    """How many negatives each guard of the pool keeps out that are not `flagged` (N, K) any more, where there are some.

    Nothing of a pool whose guards cannot be read, which is to be guarded again.
    """
    try:
        guards = guards_of(pool)
    except FormatError:
        return {}
    n = np.zeros(len(guards), np.int64)
    for begin in range(0, len(pool) if guards else 0, N_ROWS):
        rows = np.arange(begin, min(begin + N_ROWS, len(pool)))
        every = np.tile(np.arange(pool.n_candidates), (len(rows), 1))
        is_free = (every > 0) & (every < pool.counts[rows, None]) & ~flagged[rows]  # (r, K)
        n += (marks(pool, rows, every) & is_free[..., None]).sum(axis=(0, 1))
    return {one["name"]: count for one, count in zip(guards, n.tolist(), strict=True) if one["excludes"] and count}


def _count(guard: GuardEntry, n_asked: int, n_marked: int) -> GuardCount:
    return GuardCount(guard["name"], guard["about"], guard["threshold"], guard["excludes"], n_asked, n_marked)


def guard_rows(places: dict[str, GuardCounts]) -> list[tuple[str, ...]]:
    """A table of rates: a header with the `places` that were counted, a row for each guard, and one for flagged."""
    first = next(iter(places.values()))
    rows: list[tuple[str, ...]] = [("marked by", "because", "kept out", *places)]
    for i, guard in enumerate(first.guards):
        cells = [_share(counts.guards[i].n_marked, counts.guards[i].n_asked) for counts in places.values()]
        kept_out = "yes" if guard.excludes else "no"
        rows.append((guard.name, f"{guard.about} (from {guard.threshold:g})", kept_out, *cells))
    return [*rows, ("flagged", "by any that keeps out", "", *(_share(c.n_flagged, c.n) for c in places.values()))]


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({100 * part / whole:.2f} %)" if whole else "none asked"
