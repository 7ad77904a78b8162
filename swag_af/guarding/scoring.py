"""What guards say of a pool, block by block, each block on disk before the next.

    guarding/KEY/00000064.npy    (n, m) float32, the scores of one guard for the rows from 64 on

KEY tells apart guards, their settings, the pool and what is asked, so blocks of one are never taken for another's. The
scores of guards that the pool has already are taken from there.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.disk.files import read_array, write_array
from swag_af.data.disk.manifests import sha256_json
from swag_af.data.pool.guarded import guards_of
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.scale import run_blocks
from swag_af.data.work.progress import progress
from swag_af.guarding.checking import checked
from swag_af.guarding.contract import GUARDS, Chosen, Guard

BLOCK_CANDIDATES = 4096
"""Candidates scored together: bounds the memory of a model, and what a killed run loses."""

Rows = tuple[int, int]
"""`(begin, end)`: the rows of the pool from `begin` up to `end`."""


@dataclass(frozen=True)
class Asked:
    """Which candidates guards are asked about."""

    pool: CandidatePool
    assigned: np.ndarray | None = None
    """(N, A) candidates; None for all that there are."""

    def columns(self, begin: int, end: int) -> np.ndarray:
        """(n, m) candidates of the rows from `begin` up to `end`; gold stands in for those that are not there."""
        if self.assigned is not None:
            return self.assigned[begin:end].astype(np.int64)
        every = np.arange(self.pool.n_candidates)
        return np.where(every < self.pool.counts[begin:end, None], every, 0)

    @property
    def width(self) -> int:
        """Candidates of a row at most, gold included."""
        return self.pool.n_candidates if self.assigned is None else self.assigned.shape[1]

    @cached_property
    def identity(self) -> str:
        """A hash of the pool without guards, and of what is asked about it."""
        which = None if self.assigned is None else self.assigned.tolist()
        return sha256_json([self.pool.unguarded_identity, which])

    @property
    def n(self) -> int:
        """Candidates, gold not counted."""
        return int(self.pool.counts.sum() - len(self.pool)) if self.assigned is None else self.assigned[:, 1:].size

    def blocks(self) -> list[Rows]:
        """The rows of the pool in parts of about `BLOCK_CANDIDATES` candidates."""
        n_rows, n = max(1, BLOCK_CANDIDATES // self.width), len(self.pool)
        return [(begin, min(begin + n_rows, n)) for begin in range(0, n, n_rows)]


def score_all(asked: Asked, chosen: list[Chosen], work: Path, *, workers: int) -> None:
    """Ask every guard about every block that `work` lacks."""
    blocks = asked.blocks()
    todo = [[block for block in blocks if not _file(work, asked, one, block).exists()] for one in chosen]
    total, left = len(chosen) * len(asked.pool), sum(end - begin for mine in todo for begin, end in mine)
    with progress("guard", total, "contexts", done=total - left) as advance:
        for one, mine in zip(chosen, todo, strict=True):
            with run_blocks(Job(asked, one.spelled, one.guard, one.settings), mine, workers=workers) as made:
                for block, scores in zip(mine, made, strict=True):
                    path = _file(work, asked, one, block)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    write_array(path, scores)
                    advance(block[1] - block[0], note=one.guard.name)


def scores_of(asked: Asked, chosen: list[Chosen], work: Path) -> Iterator[tuple[Rows, np.ndarray]]:
    """Each block of rows with its (n, K, G) float32 scores; NaN for gold, and where nothing was asked now or before."""
    known = Known(asked.pool)
    for begin, end in asked.blocks():
        rows, columns = np.arange(begin, end), asked.columns(begin, end)
        made = np.stack([known.scores(one.settings, rows) for one in chosen], axis=2)  # (n, K, G)
        for i, one in enumerate(chosen):
            made[np.arange(end - begin)[:, None], columns, i] = read_array(_file(work, asked, one, (begin, end)))
        made[:, 0] = np.nan
        yield (begin, end), made


def is_of_blocks(name: str) -> bool:
    """Whether a folder of that name is one of blocks, as `_file` names them."""
    return re.fullmatch(r"[0-9a-f]{16}", name) is not None


def _file(work: Path, asked: Asked, one: Chosen, block: Rows) -> Path:
    return work / sha256_json([asked.identity, one.settings])[:16] / f"{block[0]:08d}.npy"


@dataclass(frozen=True)
class Known:
    """What a pool has of guards' scores."""

    pool: CandidatePool

    @cached_property
    def guards(self) -> list[dict[str, Any]]:
        """The settings of each."""
        return [guard["settings"] for guard in guards_of(self.pool)]

    def scores(self, settings: dict[str, Any], rows: np.ndarray) -> np.ndarray:
        """(n, K) float32 what the pool has for `rows` (n,) of the guard with these settings; NaN where nothing."""
        if settings not in self.guards:
            return np.full((len(rows), self.pool.n_candidates), np.nan, np.float32)
        return self.pool.gather("guard_scores", rows)[:, :, self.guards.index(settings)]


@dataclass(frozen=True)
class Job:
    """Scoring by one guard, in blocks of rows."""

    asked: Asked
    spelled: str
    guard: Guard
    settings: dict[str, Any]
    """As they were told after its `check`, which another process does not make again."""

    def open(self) -> Callable[[Rows], np.ndarray]:
        known = Known(self.asked.pool)

        def score(block: Rows) -> np.ndarray:
            rows, columns = np.arange(*block), self.asked.columns(*block)
            had = np.take_along_axis(known.scores(self.settings, rows), columns, axis=1)  # (n, m)
            is_new = np.isnan(had) & (columns > 0)
            open_rows = np.flatnonzero(is_new.any(axis=1))
            if not len(open_rows):
                return had
            asked = np.where(is_new, columns, 0)[open_rows]  # gold stands in for what is known
            with GUARDS.blaming(self.spelled, "score"):
                made = checked(self.guard, self.asked.pool.view(rows[open_rows], asked)).astype(np.float32)
            had[open_rows] = np.where(is_new[open_rows], made, had[open_rows])
            return had

        return score

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (self.asked.pool.path, self.asked.assigned, self.spelled, self.settings)


def _opened(path: Path, assigned: np.ndarray | None, spelled: str, settings: dict[str, Any]) -> Job:
    """The job in another process, which opens pool and guard again."""
    return Job(Asked(CandidatePool.open(path), assigned), spelled, GUARDS.make(spelled), settings)
