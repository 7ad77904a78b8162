"""How far fits agree: on the order of candidates, on what is easy, on swaps, on mistakes.

If fits do not agree, a swap that one of them makes is noise to the next, and the floor of the curve is the filter's,
not the pool's. Fits of one filter with other seeds are told from fits of different filters. Only negatives are ranked:
that fits agree on gold says nothing of swaps. Of what one of two fits could not read they are not compared.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from swag_af.diagnosing.figures import Figure, average_of, blocks, fall_of, share_of
from swag_af.diagnosing.fits import UNREAD
from swag_af.diagnosing.left import hits_of

RANKED_AT_ONCE = 1 << 17
"""Candidates whose ranks are in memory together, of each fit."""
_Place = tuple[int, int]
"""A filter, and which of its fits."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two kinds of fits agree; means over the pairs of fits, figures None where nothing could be compared."""

    of: tuple[str, str]
    """The two filters; the same name twice of fits with other seeds."""
    n_pairs: int
    correlation: Figure | None
    """Spearman's, of the scores of a context's negatives, mean over contexts."""
    correlations: tuple[float, ...]
    """The share of contexts in each of 20 equal parts from -1 to 1."""
    easy: Figure | None
    """Of the distractors that one fit finds easy (scored below gold), the share that another finds easy ..."""
    easy_by_luck: float | None
    """... and the share if it had as many in each context, drawn at random."""
    easy_gain: Figure | None
    """Easy to both less what luck gives, as a share of all distractors."""
    swaps: Figure | None
    """Of the swaps that one fit would make in a context (an easy distractor for a candidate that scores higher), the
    share that another finds right, as a mean over contexts: 0.5 is a coin."""
    wrong: Figure | None
    """Of the contexts that one gets wrong, the share that the other does ..."""
    wrong_by_luck: float
    """... and the share of all contexts that the other does."""
    wrong_gain: Figure
    """Wrong by both less what independent mistakes give, as a share of all contexts."""


@dataclass(frozen=True)
class _Fit:
    """One fit of some contexts, as far as it is compared."""

    scores: np.ndarray
    """(b, K), NaN where a row has no candidate, or it could not be read."""
    ranks: np.ndarray
    """(b, K - 1) of the negatives within their context, centred; 0 where there is none, or it could not be read."""
    easy: np.ndarray
    """(b, A - 1)"""
    wrong: np.ndarray
    """(b,) 1 less the hits."""


@dataclass(frozen=True)
class _Pair:
    """Two fits compared, context by context."""

    correlations: np.ndarray
    """(n,), NaN where a context has no order."""
    easy: np.ndarray
    """(3, n) of the distractors: easy to one, easy to both, easy to both if the other drew as many at random."""
    swaps: np.ndarray
    """(n,), NaN where there is no swap to make."""
    wrong: np.ndarray
    """(2, n) 1 less the hits of either."""


def agreements(
    names: Sequence[str],
    scores: Sequence[Sequence[np.ndarray]],
    assigned: np.ndarray,
    groups: np.ndarray,
    *,
    at_once: int = RANKED_AT_ONCE,
) -> list[Agreement]:
    """Of each filter with itself and of each two, given the `scores` (n, K) of each fit of each of the filters.

    Contexts are independent, and are looked at some at a time: about `at_once` candidates.
    """
    fits = [(i, k) for i, ours in enumerate(scores) for k in range(len(ours))]
    kinds: list[tuple[tuple[str, str], list[tuple[_Place, _Place]]]] = []
    for i, name in enumerate(names):
        same = [(one, other) for one in fits for other in fits if one[0] == other[0] == i and one != other]
        kinds.append(((name, name), same))
        for j in range(i + 1, len(names)):
            two = [(one, other) for one in fits for other in fits if (one[0], other[0]) == (i, j)]
            kinds.append(((name, names[j]), [pair for one, other in two for pair in ((one, other), (other, one))]))
    compared: dict[tuple[_Place, _Place], list[_Pair]] = {pair: [] for _, pairs in kinds for pair in pairs}
    for rows in blocks(*scores[0][0].shape, at_once=at_once):
        read = {(i, k): _read(scores[i][k][rows], assigned[rows]) for i, k in fits}
        for one, other in compared:
            compared[one, other].append(_compared(read[one], read[other], assigned[rows]))
    whole = {pair: _joined(parts) for pair, parts in compared.items()}
    return [_agreement(of, [whole[pair] for pair in pairs], groups) for of, pairs in kinds]


def _read(scores: np.ndarray, assigned: np.ndarray) -> _Fit:
    known = np.where(scores == UNREAD, np.nan, scores)
    theirs = np.take_along_axis(known, assigned, axis=1)
    easy = theirs[:, 1:] < theirs[:, :1]
    return _Fit(known, centred_ranks(known[:, 1:]), easy, 1 - hits_of(scores, assigned))


def _compared(one: _Fit, other: _Fit, assigned: np.ndarray) -> _Pair:
    swaps = swaps_agreed(one.scores, other.scores, assigned)
    return _Pair(_correlations(one, other), _easy(one, other), swaps, np.stack([one.wrong, other.wrong]))


def _joined(parts: Sequence[_Pair]) -> _Pair:
    """Of all contexts, from those of some at a time."""
    return _Pair(*(np.concatenate([getattr(part, one.name) for part in parts], axis=-1) for one in fields(_Pair)))


def _agreement(of: tuple[str, str], pairs: list[_Pair], groups: np.ndarray) -> Agreement:
    correlations = _mean_over(pair.correlations for pair in pairs)
    easy = np.mean([pair.easy for pair in pairs], axis=0)  # (3, n)
    swaps = _mean_over(pair.swaps for pair in pairs)
    wrongs = [pair.wrong for pair in pairs]
    wrong = np.mean([one for one, _ in wrongs], axis=0)
    both = np.mean([one * other for one, other in wrongs], axis=0)
    expected = float(np.mean([one.mean() * other.mean() for one, other in wrongs]))
    return Agreement(
        of=of,
        n_pairs=len(pairs),
        correlation=average_of(correlations, groups),
        correlations=_spread(correlations),
        easy=share_of(easy[1], easy[0], groups),
        easy_by_luck=round(float(easy[2].sum() / easy[0].sum()), 6) if easy[0].sum() > 0 else None,
        easy_gain=fall_of(easy[1], easy[2], groups) if easy[0].sum() > 0 else None,
        swaps=average_of(swaps, groups),
        wrong=share_of(both, wrong, groups),
        wrong_by_luck=round(expected / max(float(wrong.mean()), 1e-12), 6),
        wrong_gain=_wrong_gain(wrongs, groups),
    )


def _correlations(one: _Fit, other: _Fit) -> np.ndarray:
    """(n,) rank correlations over the negatives that both could read."""
    found = rank_correlations(one.ranks, other.ranks)
    gone = np.isnan(one.scores[:, 1:]) | np.isnan(other.scores[:, 1:])
    apart = np.flatnonzero((np.isnan(one.scores[:, 1:]) != np.isnan(other.scores[:, 1:])).any(axis=1))
    if len(apart):
        both = (centred_ranks(np.where(gone, np.nan, fit.scores[:, 1:])[apart]) for fit in (one, other))
        found[apart] = rank_correlations(*both)
    return found


def centred_ranks(scores: np.ndarray) -> np.ndarray:
    """(n, m) ranks of `scores` (n, m) within each row less their mean, ties shared; 0 where a score is NaN."""
    from scipy.stats import rankdata

    ranks = rankdata(scores, axis=1, nan_policy="omit")
    known = ~np.isnan(ranks)
    n = np.maximum(known.sum(axis=1, keepdims=True), 1)  # (n, 1) of a row of which none could be read there is no mean
    return np.nan_to_num(ranks - np.where(known, ranks, 0).sum(axis=1, keepdims=True) / n)


def rank_correlations(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(n,) Spearman's correlation of each row, from `centred_ranks` (n, m) of both; NaN where a row has no order."""
    product = (one * other).sum(axis=1)
    scale = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    return np.divide(product, scale, out=np.full(len(one), np.nan), where=scale > 0)


def swaps_agreed(one: np.ndarray, other: np.ndarray, assigned: np.ndarray) -> np.ndarray:
    """(n,) of the swaps that fit `one` (n, K) would make in a context, the share that `other` (n, K) finds right.

    A swap is an assigned negative that scores below gold, and an unassigned candidate that scores above it; right is a
    newcomer that scores above it with `other`, a tie is half. Scores are NaN where a row has no candidate, or it could
    not be read: what either fit could not read takes part in no swap. NaN where there is no swap to make.
    """
    gold, unassigned = one[:, :1], ~(np.isnan(one) | np.isnan(other))
    unassigned[np.arange(len(one))[:, None], assigned] = False
    n_swaps, agreed = np.zeros((2, len(one)))
    for column in assigned[:, 1:].T:  # one distractor of every context at a time: (n, K) at most in memory
        mine, its = (scores[np.arange(len(one)), column][:, None] for scores in (one, other))
        swaps = unassigned & (one > mine) & (mine < gold) & ~np.isnan(its)
        n_swaps += swaps.sum(axis=1)
        agreed += (swaps & (other > its)).sum(axis=1) + 0.5 * (swaps & (other == its)).sum(axis=1)
    return np.divide(agreed, n_swaps, out=np.full(len(one), np.nan), where=n_swaps > 0)


def _easy(one: _Fit, other: _Fit) -> np.ndarray:
    mine, its = one.easy.mean(axis=1), other.easy.mean(axis=1)
    return np.stack([mine, (one.easy & other.easy).mean(axis=1), mine * its])


def _wrong_gain(wrongs: list[np.ndarray], groups: np.ndarray) -> Figure:
    """The covariance of mistakes, whose mean over contexts is what both get wrong beyond luck."""
    products = [(one - one.mean()) * (other - other.mean()) for one, other in wrongs]
    gain = np.mean(products, axis=0)
    return fall_of(gain, np.zeros(len(gain)), groups)


def _mean_over(values: Iterable[np.ndarray]) -> np.ndarray:
    """(n,) the mean of those of several (n,) values that are not NaN; NaN where all are."""
    table = np.stack(list(values))
    known = ~np.isnan(table)
    n = known.sum(axis=0)
    return np.divide(np.where(known, table, 0).sum(axis=0), n, out=np.full(len(n), np.nan), where=n > 0)


def _spread(correlations: np.ndarray) -> tuple[float, ...]:
    known = correlations[~np.isnan(correlations)]
    counts = np.histogram(np.clip(known, -1, 1), bins=20, range=(-1, 1))[0]
    return tuple(float(value) for value in np.round(counts / max(1, len(known)), 6))
