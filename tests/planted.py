"""Runs whose curve is where it is for a planted reason, and the filters that read them.

Every candidate says its level, `... of level 7.`, and `LevelFilter` scores by that; what is planted is the levels.
"""

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from conftest import make_contexts_of

from swag_af.data.context import Context
from swag_af.data.disk.records import Matching
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.data.runs.run import Run, begin_run

N, K, A = 90, 25, 5
MANY = 900


class LevelFilter:
    """Scores by the level that a candidate says, whatever it was fitted on."""

    name = "level"

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        self.salt = f"{rng.integers(2**32)} "

    def score(self, view: View) -> np.ndarray:
        return np.array([[self.of(text) for text in row] for row in view.texts])  # (n, m)

    def of(self, text: str) -> float:
        return level_of(text)


@dataclass
class CutFilter(LevelFilter):
    """Knows no level above `cut`; has a setting of several values, too."""

    cut: str
    rates: tuple[float, ...] = (1.0,)

    name: ClassVar[str] = "cut"
    argument: ClassVar[str] = "cut"

    def of(self, text: str) -> float:
        return min(level_of(text), float(self.cut))


class GoldOrNoiseFilter(LevelFilter):
    """Knows a level of 1,000 or more; below that, each fit has noise of its own."""

    name = "gold-or-noise"

    def of(self, text: str) -> float:
        return 1000.0 if level_of(text) >= 1000 else zlib.crc32((self.salt + text).encode()) / 2**32


class NoiseFilter(GoldOrNoiseFilter):
    """Noise of each fit alone."""

    name = "noise"

    def of(self, text: str) -> float:
        return zlib.crc32((self.salt + text).encode()) / 2**32


def level_of(text: str) -> float:
    found = re.search(r"level (\d+)", text)
    assert found is not None
    return float(found[1])


def planted_run(
    folder: Path,
    gold: np.ndarray,
    negatives: np.ndarray,
    start: np.ndarray | None = None,
    *,
    phase: str = "level",
    matching: Matching | None = None,
) -> Run:
    """A run without iterations: `gold` (n,) and `negatives` (n, K - 1) are levels, `start` (n, A) is the assignment.

    Without a start, the first A - 1 negatives are assigned.
    """
    contexts = [
        Context(one.sent1, one.start, f"takes the {i}th of level {level}.", one.id, one.video, one.source, one.fold)
        for i, (one, level) in enumerate(
            zip(
                make_contexts_of(len(gold), n_videos=min(len(gold), max(N // 2, len(gold) // 2))),
                gold.tolist(),
                strict=True,
            )
        )
    ]
    texts = [[f"takes {i} and {k} of level {level}." for k, level in enumerate(row)] for i, row in enumerate(negatives)]
    pool = CandidatePool.from_texts(contexts, texts, tagger="rules").save(folder / "pool")
    assigned = np.tile(np.arange(A, dtype=np.int32), (len(gold), 1)) if start is None else start
    identity = {"pool_identity": pool.identity, "phases": [[phase, 1]], "filters": {}, "options": {}}
    return begin_run(pool, assigned, folder / "run", identity, n_planned=0, matching=matching)


def levels(low: int, high: int, *, seed: int = 0, n: int = N, k: int = K) -> np.ndarray:
    """(n, k - 1) levels of negatives from `low` to below `high`."""
    return np.random.default_rng(seed).integers(low, high, (n, k - 1))


def exhausted(folder: Path) -> Run:
    """No unassigned candidate is harder than any assigned one, and gold stands out."""
    negatives = levels(0, 10)
    negatives[:, : A - 1] += 20
    return planted_run(folder, np.full(N, 100), negatives)


def unfinished(folder: Path) -> Run:
    """Half of the pool is harder than gold, and none of that is assigned."""
    negatives = levels(40, 60)
    negatives[:, : A - 1] = levels(0, 10, k=A)
    return planted_run(folder, np.full(N, 50), negatives)


def noisy(folder: Path) -> Run:
    """Gold stands out; which negative is harder, no fit knows."""
    return planted_run(folder, np.full(N, 1000), levels(0, 10), phase="gold-or-noise")


def obvious(folder: Path) -> Run:
    """Every candidate is below gold, and fits agree by how much."""
    return planted_run(folder, np.full(N, 1000), levels(0, 900))


def as_good_as_gold(folder: Path) -> Run:
    """Gold's levels have the distribution of the negatives', in enough contexts for that to be seen."""
    return planted_run(folder, levels(0, 1000, seed=1, n=MANY)[:, 0], levels(0, 1000, n=MANY))


def blind(folder: Path) -> Run:
    """The same of few contexts, read by a filter of noise."""
    return planted_run(folder, levels(0, 1000, seed=1)[:, 0], levels(0, 1000), phase="noise")


CAUSES: dict[str, Callable[[Path], Run]] = {
    one.__name__: one for one in (exhausted, unfinished, noisy, obvious, as_good_as_gold, blind)
}
