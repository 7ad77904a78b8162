"""Cross-validation over whole groups: every question is scored once, by a filter that never saw its group."""

from collections.abc import Callable, Iterator

import numpy as np

from swag_af.data.pool.pool import CandidatePool
from swag_af.filters.contract import Filter, fit_filter, score_questions


def rank_shares(scores: np.ndarray) -> np.ndarray:
    """(N, A): how much gold (column 0 of `scores` (N, A)) is at each rank, best first; rows sum to 1.

    A tie of t candidates gives 1/t to each rank that they share. The mean of column 0 is the accuracy.
    """
    above = (scores > scores[:, :1]).sum(axis=1, keepdims=True)  # (N, 1)
    tied = (scores == scores[:, :1]).sum(axis=1, keepdims=True)  # gold among them
    rank = np.arange(scores.shape[1])
    return np.where((rank >= above) & (rank < above + tied), 1 / tied, 0.0)


def scores_by_fold(
    filter: Filter,
    pool: CandidatePool,
    columns: np.ndarray,
    folds: np.ndarray,
    *,
    seed: int,
    rows: np.ndarray | None = None,
    after_fit: Callable[[Filter], None] = lambda filter: None,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """By fold, positions (t,) and scores (t, m) of the candidates `columns` (n, m), by a filter fitted on the others.

    `folds` (n,) are numbered from 0. `rows` (n,) are their rows in the pool; all rows in order when not given.
    `after_fit` is called behind each fit.
    """
    rows = np.arange(len(columns)) if rows is None else rows
    fit_rngs = audit_rng(seed).spawn(1 + int(folds.max()))
    for fold, fit_rng in enumerate(fit_rngs):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        fit_filter(filter, pool.view(rows[train], columns[train]), rng=fit_rng)
        after_fit(filter)
        yield test, score_questions(filter, pool.view(rows[test], columns[test]))


def audit_rng(seed: int) -> np.random.Generator:
    """A random generator that is independent of those of the iterations."""
    return np.random.default_rng((seed, *b"audit"))
