"""A power law through a curve, and what it says of twice as much; or that nothing can be said.

Learning curves of classifiers are near power laws with a ceiling, y = c + a x^-p (Hestness et al. 2017, "Deep Learning
Scaling is Predictable, Empirically"; Rosenfeld et al. 2020). Extrapolating one is a guess with an interval: groups and
draws are drawn again, the law is fitted to each such sample, and what it says of twice the largest x is the prediction.
Nothing is predicted where there are too few points or groups, or where the law through all points but the largest
misses that one.
"""

from dataclasses import dataclass

import numpy as np

from swag_af.data.errors import several
from swag_af.data.splits import renumbered
from swag_af.diagnosing.figures import Figure, fall_of, figure_of
from swag_af.diagnosing.growth import Hits

LEAST_SIZES, LEAST_GROUPS, N_SAMPLES = 4, 20, 1000
POWERS = np.geomspace(0.05, 2.0, 40)
"""The powers p that are tried."""
SAME = 1e-9
"""What values differ by at most that are equal but for rounding."""


@dataclass(frozen=True, slots=True)
class Trend:
    """What is known of a curve beyond its largest x."""

    largest: int
    """The largest x that was measured."""
    last: Figure | None
    """What the last doubling changed, as measured (from the x next to half of the largest, to the largest)."""
    doubled: Figure | None
    """What twice the largest x would change, by the power law; None where it cannot be said."""
    law: tuple[float, float, float] | None
    """c, a and p of the law through the means."""
    missed: Figure | None
    """At the largest x, what was measured less what the law through the smaller ones says."""
    why_unknown: str
    """Why there is no prediction; empty where there is one."""

    @property
    def direction(self) -> int:
        """1 where twice as much surely raises the curve, -1 where it lowers it, 0 where that is unknown."""
        if self.doubled is None or not self.doubled.excludes(0):
            return 0
        return 1 if self.doubled.value > 0 else -1


def trend_of(hits: Hits, *, rng: np.random.Generator) -> Trend:
    """The trend of a curve from the hits that it is the mean of."""
    sizes = np.array(hits.sizes, np.float64)
    n_groups = len(np.unique(hits.groups))
    means = resampled_means(hits, rng=rng)  # (1 + N_SAMPLES, s), those of all first
    last = _interval(means[:, -1] - means[:, _half(sizes)], n_groups) if len(sizes) > 1 and n_groups > 1 else None
    if len(sizes) < LEAST_SIZES or n_groups < LEAST_GROUPS:
        there = f"{several(len(sizes), 'size')} and {several(n_groups, 'group')}"
        few = f"there are {there}, and {LEAST_SIZES} and {LEAST_GROUPS} are needed"
        return Trend(hits.sizes[-1], last, None, None, None, few)
    laws = power_law(sizes, means)
    missed = _interval(means[:, -1] - at(power_law(sizes[:-1], means[:, :-1]), sizes[-1]), n_groups)
    ceiling, slope, power = (round(float(value), 6) for value in laws[0])
    law = (ceiling, slope, power)
    if missed.excludes(0):
        why = "the trend over the smaller sizes misses the largest one"
        return Trend(hits.sizes[-1], last, None, law, missed, why)
    doubled = _interval(at(laws, 2 * sizes[-1]) - at(laws, sizes[-1]), n_groups)
    return Trend(hits.sizes[-1], last, doubled, law, missed, "")


def power_law(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(b, 3) c, a and p of the law y = c + a x^-p nearest to each row of `y` (b, s) by least squares, c from 0 to 1.

    p is tried on a grid (`POWERS`); for each, c and a are the ones of linear regression, c moved to its bounds.
    """
    best, least = np.zeros((len(y), 3)), np.full(len(y), np.inf)
    for power in POWERS:
        z = (x / x[0]) ** -power  # from 1 downwards
        slope = (y - y.mean(axis=1, keepdims=True)) @ (z - z.mean()) / ((z - z.mean()) ** 2).sum()
        ceiling = y.mean(axis=1) - slope * z.mean()
        clipped = np.clip(ceiling, 0, 1)
        slope = np.where(clipped == ceiling, slope, (y - clipped[:, None]) @ z / (z**2).sum())
        error = ((clipped[:, None] + slope[:, None] * z - y) ** 2).sum(axis=1)
        law = np.stack([clipped, slope * x[0] ** power, np.full(len(y), power)], axis=1)
        best, least = np.where((error < least)[:, None], law, best), np.minimum(error, least)
    return best


def at(laws: np.ndarray, x: float | np.ndarray) -> np.ndarray:
    """(b,) what each of the `laws` (b, 3) says of x, one for all or (b,)."""
    value: np.ndarray = laws[:, 0] + laws[:, 1] * x ** -laws[:, 2]
    return value


def resampled_means(hits: Hits, *, rng: np.random.Generator) -> np.ndarray:
    """(1 + N_SAMPLES, s) the mean of each column of the hits, then of samples of whole groups and of draws."""
    groups, draws = renumbered(hits.groups), hits.draws
    n_groups, n_draws = int(groups.max()) + 1, int(draws.max()) + 1
    sums = np.zeros((n_draws, n_groups, 1 + hits.values.shape[1]))
    np.add.at(sums, (draws, groups), np.column_stack([np.ones(len(groups)), hits.values]))
    of_group = np.vstack([np.ones(n_groups), rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), N_SAMPLES)])
    of_draw = np.vstack([np.ones(n_draws), rng.multinomial(n_draws, np.full(n_draws, 1 / n_draws), N_SAMPLES)])
    totals = np.einsum("bd,bg,dgs->bs", of_draw, of_group, sums, optimize=True)
    empty = totals[:, 0] == 0  # no held-out context in a sample of few groups
    totals[empty] = totals[0]
    means: np.ndarray = totals[:, 1:] / totals[:, :1]
    return means


def _half(sizes: np.ndarray) -> int:
    """The place of the size next to half of the largest, which is not itself."""
    return int(np.abs(np.log2(sizes[:-1] / sizes[-1]) + 1).argmin())


def _interval(values: np.ndarray, n_groups: int) -> Figure:
    """The first of `values`, a difference, with the middle 95 % of the others. Where all are equal, as of `n_groups` of
    which none differs, that width would be 0, and the bound is that of `fall_of`."""
    if np.ptp(values) < SAME:
        return fall_of(np.full(n_groups, values[0]), np.zeros(n_groups), np.arange(n_groups))
    low, high = np.quantile(values[1:], (0.025, 0.975))
    return figure_of(float(values[0]), min(low, values[0]), max(high, values[0]))
