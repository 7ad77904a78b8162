"""What the pool has left: harder candidates than those assigned, and what taking the hardest ones would do.

A candidate is *harder* than another for a fit that scores it higher. What one fit takes as the hardest is judged by
that fit itself, which is an optimist's bound, since it sees its own errors as hardness; by another fit, which is honest
of present filters; and by fits on the hardest candidates themselves, which may find what those have in common.

That last figure needs care. If the fit that chooses for one context was fitted on the gold of another, then fits on
what it chose know that gold as something that looks right and is wrong, and avoid it: 0 % and no merit. So the contexts
are dealt into three parts: one is fitted on to choose, one is fitted on what was chosen for it, one is scored.

What a filter could not read is as in the loop: a context of which something that is shown could not be read is a tie;
such a distractor may leave, and such a candidate enters nowhere; beside a gold that could not be read nothing is easy.
"""

from dataclasses import dataclass

import numpy as np

from swag_af.data.splits import deal
from swag_af.diagnosing.figures import Figure, fall_of, mean_of
from swag_af.diagnosing.fits import UNREAD, Fits, hits_among

THIRDS = 3
"""Parts of the contexts: one chooses, one is fitted on, one is scored."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Unassigned candidates of each context that are harder than what is there, by one fit."""

    above_easiest: np.ndarray
    """(n,) how many score above the easiest assigned negative: those that may replace it."""
    above_gold: np.ndarray
    """(n,) how many score above gold."""
    has_easy: np.ndarray
    """(n,) whether an assigned negative scores below gold, so that a swap is wanted."""


@dataclass(frozen=True, slots=True)
class Left:
    """What the pool has left for one filter; means over its fits."""

    none_above_easiest: Figure
    """Share of contexts without an unassigned candidate above the easiest assigned one."""
    none_above_gold: Figure
    stuck: Figure
    """Share of contexts in which a swap is wanted and no candidate may enter."""
    quantiles: tuple[float, ...]
    """Of the number of unassigned candidates above the easiest assigned one: 0, 25, 50, 75 and 100 %."""
    histogram: tuple[float, ...]
    """The share of contexts with 0, 1, 2-3, 4-7, 8-15, ... of them."""
    histogram_gold: tuple[float, ...]
    """The same of unassigned candidates above gold."""
    now: Figure
    """Accuracy on the run's assignment."""
    same_fit: Figure
    """Accuracy if every context took its hardest candidates: by the fit that chose them ..."""
    other_fit: Figure
    """... by another fit of the filter ..."""
    fall_other: Figure
    """How much lower `other_fit` is than `now`, paired."""
    fresh_now: Figure
    """Accuracy on the run's assignment, by fits on a third of the contexts ..."""
    fresh_hardest: Figure
    """... and on the hardest candidates, by fits on those of another third."""
    fall_fresh: Figure
    """How much lower the second is, paired."""


def count_harder(scores: np.ndarray, assigned: np.ndarray) -> Counted:
    """The counts of each context, by `scores` (n, K), NaN where a row has no candidate; `assigned` is (n, A).

    An assigned negative that could not be read is easier than all that could; none is known to be above such a gold.
    """
    theirs = np.take_along_axis(scores, assigned, axis=1)  # (n, A)
    outside = scores.copy()
    np.put_along_axis(outside, assigned, np.nan, axis=1)
    easiest, gold = theirs[:, 1:].min(axis=1, keepdims=True), theirs[:, :1]
    above_gold = (outside > gold) & (gold != UNREAD)
    return Counted((outside > easiest).sum(axis=1), above_gold.sum(axis=1), easiest[:, 0] < gold[:, 0])


def hardest(scores: np.ndarray, n_assigned: int, keys: np.ndarray) -> np.ndarray:
    """(n, A) gold and the negatives with the highest `scores` (n, K), of equal ones those with the smallest `keys`.

    One that could not be read is taken only where a row has too few others; one that is not there never is.
    """
    lowest = np.maximum(scores[:, 1:], np.finfo(np.float64).min)  # of UNREAD; NaN stays
    negatives = np.where(np.isnan(lowest), -np.inf, lowest)
    order = np.lexsort((keys[:, 1:], -negatives), axis=1)[:, : n_assigned - 1]
    return np.concatenate([np.zeros((len(scores), 1), np.int64), 1 + order], axis=1)


def hits_of(scores: np.ndarray, assigned: np.ndarray) -> np.ndarray:
    """(n,) `hits_among` what is `assigned` (n, A), by `scores` (n, K)."""
    return hits_among(np.take_along_axis(scores, assigned, axis=1))


@dataclass(frozen=True)
class Measured:
    """One filter's fits: everything that `left_of` needs."""

    scores: list[np.ndarray]
    """Of each fit, (n, K)."""
    chosen: list[np.ndarray]
    """Of each fit, (n, A) gold and the candidates that it scores highest."""
    fresh_now: list[np.ndarray]
    """Of each draw of thirds, (n, A) scores of the run's assignment."""
    fresh_hardest: list[np.ndarray]
    """Of each draw of thirds, (n, A) scores of the hardest candidates, by fits on such."""


def measured_of(fits: Fits, filter: int, n_seeds: int) -> Measured:
    """The fits of one filter, what each finds hardest, and fits on that."""
    scores = [fits.scores(filter, seed) for seed in range(n_seeds)]
    chosen = [hardest(one, fits.assigned.shape[1], ties(fits, seed)) for seed, one in enumerate(scores)]
    fresh = [in_thirds(fits, filter, seed) for seed in range(n_seeds)]
    return Measured(scores, chosen, [now for now, _ in fresh], [then for _, then in fresh])


def ties(fits: Fits, seed: int) -> np.ndarray:
    """(n, K) random numbers that decide between equal scores."""
    return tie_rng(fits, seed).random((len(fits.rows), fits.pool.n_candidates))


def tie_rng(fits: Fits, seed: int) -> np.random.Generator:
    """What draws `ties`, row by row."""
    return fits.rng(seed, b"ties")


def in_thirds(fits: Fits, filter: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Twice (n, A): scores of the run's assignment, and of the hardest candidates, each by fits on the same third.

    The hardest are chosen by a fit on a second third, for the third that is fitted on and for the one that is scored.
    """
    parts = deal(fits.groups, THIRDS, rng=fits.rng(seed, b"thirds"), largest_first=False)
    keys, n_assigned = ties(fits, seed), fits.assigned.shape[1]
    now, then = np.empty((2, *fits.assigned.shape))
    for turn in range(THIRDS):
        choosing, train, test = (np.flatnonzero(parts == (turn + k) % THIRDS) for k in range(THIRDS))
        name, others = f"{filter}-{seed}-{turn}", np.concatenate([train, test])
        scores = fits.scores_of_all(f"choosing-{name}", filter, seed, choosing, others)
        chosen = fits.assigned.copy()
        chosen[others] = hardest(scores, n_assigned, keys[others])
        for what, columns, out in (("now", fits.assigned, now), ("hardest", chosen, then)):
            fitted, scored = (train, columns[train]), (test, columns[test])
            out[test] = fits.kept(f"{what}-{name}", filter, seed, fitted, scored)
    return now, then


def now_of(measured: Measured, assigned: np.ndarray) -> np.ndarray:
    """(n,) hits of each context under the run's assignment, mean over the fits."""
    mean: np.ndarray = np.mean([hits_of(scores, assigned) for scores in measured.scores], axis=0)
    return mean


def unread_of(measured: Measured, assigned: np.ndarray) -> float:
    """The share of contexts of which gold or a distractor could not be read, mean over the fits."""
    shown = [np.take_along_axis(scores, assigned, axis=1) for scores in measured.scores]
    return round(float(np.mean([(one == UNREAD).any(axis=1) for one in shown])), 6)


def by_others(scores: list[np.ndarray], chosen: list[np.ndarray]) -> np.ndarray:
    """(n,) hits under what each fit chose by each of the other fits, mean over the pairs."""
    pairs = [(i, j) for i in range(len(chosen)) for j in range(len(scores)) if i != j]
    mean: np.ndarray = np.mean([hits_of(scores[j], chosen[i]) for i, j in pairs], axis=0)
    return mean


def left_of(measured: Measured, assigned: np.ndarray, groups: np.ndarray) -> Left:
    """All of it, over contexts in `groups` (n,)."""
    counts = [count_harder(scores, assigned) for scores in measured.scores]
    above = np.array([one.above_easiest for one in counts])  # (S, n)
    stuck = np.array([one.has_easy & (one.above_easiest == 0) for one in counts])
    above_gold = np.array([one.above_gold for one in counts])
    now, other = now_of(measured, assigned), by_others(measured.scores, measured.chosen)
    same = np.mean([hits_of(s, c) for s, c in zip(measured.scores, measured.chosen, strict=True)], axis=0)
    fresh_now, fresh = (
        np.mean([hits_among(one) for one in each], axis=0) for each in (measured.fresh_now, measured.fresh_hardest)
    )
    return Left(
        none_above_easiest=_mean((above == 0).mean(axis=0), groups),
        none_above_gold=_mean((above_gold == 0).mean(axis=0), groups),
        stuck=_mean(stuck.mean(axis=0), groups),
        quantiles=tuple(float(value) for value in np.round(np.quantile(above, (0, 0.25, 0.5, 0.75, 1)), 2)),
        histogram=histogram(above),
        histogram_gold=histogram(above_gold),
        now=_mean(now, groups),
        same_fit=_mean(same, groups),
        other_fit=_mean(other, groups),
        fall_other=fall_of(now, other, groups),
        fresh_now=_mean(fresh_now, groups),
        fresh_hardest=_mean(fresh, groups),
        fall_fresh=fall_of(fresh_now, fresh, groups),
    )


def histogram(counts: np.ndarray) -> tuple[float, ...]:
    """The share of whole numbers that are 0, 1, 2-3, 4-7, ..., up to the largest."""
    bins = np.where(counts > 0, 1 + np.floor(np.log2(np.maximum(counts, 1))), 0).astype(np.int64)
    return tuple(float(value) for value in np.round(np.bincount(bins.ravel()) / counts.size, 6))


def _mean(values: np.ndarray, groups: np.ndarray) -> Figure:
    found = mean_of(values, groups)
    assert found is not None, "every context has a value"
    return found
