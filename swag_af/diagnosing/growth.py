"""How well fresh filters tell gold from candidates, by the number of contexts that they are fitted on.

Two curves. *Random* shows random candidates of the pool beside gold: what they give away by themselves, before
any filtering. *Assigned* shows the run's own distractors: what is still given away after it. Fits of one draw are
nested: the contexts of the smaller one are the first of the larger one. A control declares a random negative gold;
whoever finds that more often than by chance would see something that is not in the texts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from swag_af.diagnosing.figures import Figure, mean_of
from swag_af.diagnosing.fits import UNREAD, Curve, Fits, hits_among

SMALLEST, MOST_SIZES = 16, 6
CurveName = Literal["random", "assigned"]


@dataclass(frozen=True, slots=True)
class Point:
    """The accuracy of fits on `n` contexts, gold against as many negatives as the run assigns."""

    n: int
    accuracy: Figure


@dataclass(frozen=True, slots=True)
class Against:
    """The accuracy of the largest fits, gold against so many random candidates."""

    n_negatives: int
    chance: float
    accuracy: Figure


@dataclass(frozen=True, slots=True)
class Growth:
    """Both curves of one filter; means over draws."""

    random: tuple[Point, ...]
    assigned: tuple[Point, ...]
    against: tuple[Against, ...]
    """One random candidate, as many as the run assigns, and many."""
    control: Against | None
    """With a random negative in the place of gold; None where rows have too few negatives."""


@dataclass(frozen=True)
class Hits:
    """What the trend of a curve is made of."""

    sizes: tuple[int, ...]
    """(s,) ascending."""
    values: np.ndarray
    """(t, s) hits at each size of every held-out context of every draw, one draw after another."""
    groups: np.ndarray
    """(t,) their groups."""
    draws: np.ndarray
    """(t,) their draws, from 0."""

    def figures(self) -> list[Figure]:
        """The mean at each size."""
        made = [mean_of(column, self.groups) for column in self.values.T]
        return [one for one in made if one is not None]


def sizes_up_to(n: int) -> tuple[int, ...]:
    """`n` and its halves, down to 16 contexts, six sizes at most, ascending."""
    halves = [n >> k for k in range(MOST_SIZES) if n >> k >= SMALLEST]
    return tuple(reversed(halves or [n]))


def growth_of(fits: Fits, filter: int, draws: Sequence[Mapping[str, Curve]]) -> tuple[Growth, dict[CurveName, Hits]]:
    """The curves of a filter, given those of each draw; and the hits that they are means of."""
    sizes = sizes_of(draws)
    scores = {
        name: [_scored(fits, filter, draw, made[name], sizes) for draw, made in enumerate(draws)] for name in BOTH
    }
    groups = np.concatenate([fits.groups[made["random"].test] for made in draws])
    n_negatives = min(fits.assigned.shape[1], scores["random"][0][0].shape[1]) - 1
    at = {name: _hits(scores[name], sizes, groups, n_negatives) for name in BOTH}
    largest = [of_draw[-1] for of_draw in scores["random"]]
    n_many = largest[0].shape[1] - 1
    growth = Growth(
        random=_points(at["random"]),
        assigned=_points(at["assigned"]),
        against=tuple(_against(largest, n, groups) for n in sorted({1, n_negatives, n_many})),
        control=_control(fits, filter, draws, sizes[-1], groups),
    )
    return growth, at


BOTH: tuple[CurveName, ...] = ("random", "assigned")


def sizes_of(draws: Sequence[Mapping[str, Curve]]) -> tuple[int, ...]:
    """The sizes of the fits, the same in every draw: up to as many contexts as the smallest draw has to fit on."""
    return sizes_up_to(min(len(made["random"].train) for made in draws))


def _scored(fits: Fits, filter: int, draw: int, curve: Curve, sizes: tuple[int, ...]) -> list[np.ndarray]:
    """The scores (t, m) of held-out contexts by a fit of each size."""
    return [fits.curve_point(filter, draw, curve, size) for size in sizes]


def _hits(scores: Sequence[list[np.ndarray]], sizes: tuple[int, ...], groups: np.ndarray, n_negatives: int) -> Hits:
    """Of one curve, from the `scores` of each draw at each size."""
    parts = [np.stack([hits_against(one, n_negatives) for one in of_draw], axis=1) for of_draw in scores]
    draws = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return Hits(sizes, np.concatenate(parts), groups, draws)


def _points(hits: Hits) -> tuple[Point, ...]:
    return tuple(Point(size, figure) for size, figure in zip(hits.sizes, hits.figures(), strict=True))


def _against(scores: Sequence[np.ndarray], n_negatives: int, groups: np.ndarray) -> Against:
    hits = np.concatenate([hits_against(one, n_negatives) for one in scores])
    accuracy = mean_of(hits, groups)
    assert accuracy is not None, "contexts are held out"
    return Against(n_negatives, round(1 / (1 + n_negatives), 6), accuracy)


def _control(
    fits: Fits, filter: int, draws: Sequence[Mapping[str, Curve]], size: int, groups: np.ndarray
) -> Against | None:
    if not all("control" in made for made in draws):
        return None
    scores = [fits.curve_point(filter, draw, made["control"], size) for draw, made in enumerate(draws)]
    return _against(scores, scores[0].shape[1] - 1, groups)


def hits_against(scores: np.ndarray, n_negatives: int) -> np.ndarray:
    """(t,) the chance that gold, column 0 of `scores` (t, 1 + M), wins against `n_negatives` of the M, drawn at random.

    A tie of gold with s negatives at the top counts 1 / (1 + s), and so does a draw of s negatives of which one, or
    gold, could not be read. Exact: a sum over hypergeometric probabilities.
    """
    from scipy.special import comb

    n_many = scores.shape[1] - 1
    if n_negatives == n_many:
        return hits_among(scores)
    is_read = (scores[:, 1:] != UNREAD) & (scores[:, :1] != UNREAD)
    tied = (is_read & (scores[:, 1:] == scores[:, :1])).sum(axis=1)
    below = (is_read & (scores[:, 1:] < scores[:, :1])).sum(axis=1)
    won = np.zeros(len(scores))
    for s in range(min(int(tied.max(initial=0)), n_negatives) + 1):
        won += comb(tied, s) * comb(below, n_negatives - s) / (1 + s)
    n_draws = comb(n_many, n_negatives)
    won += (n_draws - comb(is_read.sum(axis=1), n_negatives)) / (1 + n_negatives)
    return won / n_draws
