"""What guarding would take, before it starts: candidates to ask about, and the time, from a few rows measured here."""

from dataclasses import dataclass
from time import process_time

import numpy as np

from swag_af.guarding.checking import checked
from swag_af.guarding.contract import Chosen
from swag_af.guarding.scoring import BLOCK_CANDIDATES, Asked, Known


@dataclass(frozen=True)
class Estimate:
    """What one guard would take."""

    name: str
    n: int
    """Candidates to ask about, those left out that the pool knows."""
    seconds: float | None
    """On one core; None where a server is asked, and would have to be to know."""


def estimate(asked: Asked, chosen: list[Chosen]) -> list[Estimate]:
    """An estimate for each guard, from a block of rows drawn at random; writes nothing."""
    known = Known(asked.pool)
    return [_estimate(asked, one, known) for one in chosen]


def _estimate(asked: Asked, one: Chosen, known: Known) -> Estimate:
    n = sum(_n_unknown(asked, one, known, *block) for block in asked.blocks())
    if getattr(one.guard, "asks", False):
        return Estimate(one.guard.name, n, None)
    n_rows = max(2, BLOCK_CANDIDATES // asked.width)
    rows = np.sort(np.random.default_rng(0).permutation(len(asked.pool))[:n_rows])
    columns = np.concatenate([asked.columns(row, row + 1) for row in rows.tolist()])
    started = process_time()
    checked(one.guard, asked.pool.view(rows, columns))
    return Estimate(one.guard.name, n, (process_time() - started) / max(1, int((columns > 0).sum())) * n)


def _n_unknown(asked: Asked, one: Chosen, known: Known, begin: int, end: int) -> int:
    columns = asked.columns(begin, end)
    had = np.take_along_axis(known.scores(one.settings, np.arange(begin, end)), columns, axis=1)
    return int((np.isnan(had) & (columns > 0)).sum())
