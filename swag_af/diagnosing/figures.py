"""A figure with its 95 % interval: means over contexts, clustered by groups (`swag_af.data.numbers.interval`)."""

from dataclasses import dataclass

import numpy as np

from swag_af.data.numbers.interval import DIGITS, paired_difference, ratio_interval, rounded_mean

MARGIN = 0.05
"""What is called nothing: an effect is said to be absent only where its whole interval is nearer to none than this."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A value and its 95 % interval, which covers other contexts of this kind, not other fits."""

    value: float
    low: float
    high: float

    def excludes(self, value: float) -> bool:
        """Whether the interval leaves out `value`."""
        return not self.low <= value <= self.high

    def is_near(self, value: float) -> bool:
        """Whether the whole interval is within `MARGIN` of `value`, so that they may be called the same."""
        return value - MARGIN <= self.low and self.high <= value + MARGIN


def figure_of(value: float, low: float, high: float) -> Figure:
    """A figure rounded to what is kept."""
    return Figure(*(round(float(one), DIGITS) for one in (value, low, high)))


def mean_of(values: np.ndarray, groups: np.ndarray) -> Figure | None:
    """The mean of `values` (n,), from 0 to 1, NaN where there is none, over `groups` (n,); None without any value."""
    known = ~np.isnan(values)
    if not known.any():
        return None
    return Figure(*rounded_mean(values[known], groups[known]))


def average_of(values: np.ndarray, groups: np.ndarray) -> Figure | None:
    """As `mean_of`, of values from -1 to 1 that are seldom 0 or 1, for which Wilson's interval is needlessly wide."""
    known = ~np.isnan(values)
    if not known.any():
        return None
    return fall_of(values[known], np.zeros(int(known.sum())), groups[known])


def share_of(part: np.ndarray, whole: np.ndarray, groups: np.ndarray) -> Figure | None:
    """The ratio of the sums of `part` (n,) and `whole` (n,), 0 <= part <= whole <= 1; None where whole is 0."""
    if not whole.sum() > 0:
        return None
    return figure_of(part.sum() / whole.sum(), *ratio_interval(part, whole, groups))


def fall_of(before: np.ndarray, after: np.ndarray, groups: np.ndarray) -> Figure:
    """How much lower the mean of `after` (n,) is than that of `before` (n,) of the same contexts, paired."""
    found = paired_difference(after, before, groups)
    return figure_of(found.mean, found.low, found.high)


def blocks(n: int, n_candidates: int, *, at_once: int) -> list[slice]:
    """`n` rows of so many candidates in parts, in order, each of `at_once` candidates at most, or of one row."""
    rows = max(1, at_once // n_candidates)
    return [slice(begin, begin + rows) for begin in range(0, n, rows)]
