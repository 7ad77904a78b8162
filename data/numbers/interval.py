"""95 % intervals of an accuracy or a ratio, and of a paired difference, when contexts are clustered in groups (videos).

Both use Student's t with one degree of freedom less than there are groups: of groups of different sizes, less than as
many as of equal size would tell as much (`effective_groups`). Independent of filters and audits.
"""

from dataclasses import dataclass

import numpy as np

DIGITS = 6
"""Decimals that files keep."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean of paired differences and its 95 % interval, each -1 to 1."""

    mean: float
    low: float
    high: float

    @property
    def is_significant(self) -> bool:
        """Whether the interval excludes 0."""
        return not self.low <= 0 <= self.high


CROSS_VALIDATED = 2.0
"""How many times larger than that of hits drawn one by one the variance of a cross-validated accuracy may be.

Where nothing is to be found, a hit is a guess given all labels but its own. So two hits have in common only what
depends on both labels, and labels that agree by luck count in both: as far as pairs of questions go, the variance is at
most doubled. So it is for the difference of two such accuracies of the same questions. Measured with labels drawn by
lot: 1.2 to 1.8 times, the difference 1.2 to 1.5 (benchmarks/luck.py). Where something is to be found, fits vary as
well: what fits on so many questions find on average lies in 86 to 95 of 100 intervals of single hits, at chance and
above it, and in 96 to 100 with twice the variance (benchmarks/intervals.py --fits).
"""


def interval(hits: np.ndarray, groups: np.ndarray, *, times: float = 1.0, of: int = 1) -> tuple[float, float]:
    """The 95 % interval of the mean of `hits` (N,), each from 0 to 1, when contexts cluster in `groups` (N,).

    Wilson's interval at n divided by the design effect (the variance of the mean with whole videos drawn, over that
    with single contexts drawn; at least 1), and with Student's t at one less than the effective videos, as Dean and
    Pagano (2015, "Evaluating confidence interval methods for binomial proportions in clustered surveys") recommend. A
    closed formula, valid also at 0 and 1 and for few videos, where a bootstrap over videos is too narrow. If all hits
    are 0, or all are 1, each video counts as one context. A single video gives the interval from 0 to 1. `times`: how
    many times the variance is to be taken (`CROSS_VALIDATED`). `of`: intervals that are to hold together (Bonferroni).
    """
    return ratio_interval(hits, np.ones(len(hits)), groups, times=times, of=of)


def rounded_mean(hits: np.ndarray, groups: np.ndarray, *, times: float = 1.0) -> tuple[float, float, float]:
    """The mean of `hits` (N,) and the two ends of its `interval`, with as many decimals as files keep."""
    low, high = interval(hits, groups, times=times)
    return round(float(hits.mean()), DIGITS), round(low, DIGITS), round(high, DIGITS)


def mean_of_folds(hits: np.ndarray, groups: np.ndarray) -> tuple[float, float, float]:
    """As `rounded_mean`, of `hits` (N,) of a cross-validation, each by a fit on the other folds: with the variance that
    such a mean may have (`CROSS_VALIDATED`), as every interval of such an accuracy has it."""
    return rounded_mean(hits, groups, times=CROSS_VALIDATED)


def ratio_interval(
    part: np.ndarray, whole: np.ndarray, groups: np.ndarray, *, times: float = 1.0, of: int = 1
) -> tuple[float, float]:
    """As `interval`, of the ratio of the sums of `part` (N,) and `whole` (N,), where 0 <= part <= whole.

    With `whole` 0 or 1 that is the mean of `part` where it is 1; with larger ones a row is the sum of as many of one
    group, with smaller ones it counts for less. No more is told than by as many hits as `whole` sums to. The variance
    is the linearised one of a ratio.
    """
    counted = whole > 0
    part, whole, groups = part[counted], whole[counted], np.unique(groups[counted], return_inverse=True)[1]
    if int(groups.max(initial=-1)) < 1:
        return 0.0, 1.0
    n, n_groups = float(whole.sum()), effective_groups(np.bincount(groups, whole))
    p, n_telling = float(part.sum()) / n, min(n, n_groups)
    if 0 < p < 1:
        sums = np.bincount(groups, part - p * whole)  # (groups,)
        variance = n_groups / (n_groups - 1) * float((sums**2).sum()) / n**2
        return wilson(p, n / max(1.0, variance / (p * (1 - p) / n)) / times, n_telling, of=of)
    return wilson(p, n_telling / times, n_telling, of=of)


def effective_groups(sizes: np.ndarray) -> float:
    """How many groups of equal size tell as much as groups of these `sizes` (groups,): Kish's (Σ n)² / Σ n².

    With it in the place of the number of groups, Student's t and the correction of the variance allow for unequal
    groups (Carter, Schnepel and Steigerwald 2017, "Asymptotic behavior of a t-test robust to cluster heterogeneity").
    """
    return float(sizes.sum()) ** 2 / float((sizes.astype(float) ** 2).sum())


def wilson(p: float, effective: float, n_groups: float, *, of: int = 1) -> tuple[float, float]:
    t = t_quantile(n_groups - 1, of=of)
    centre, half = p + t**2 / (2 * effective), t * np.sqrt(p * (1 - p) / effective + (t / (2 * effective)) ** 2)
    scale = 1 + t**2 / effective
    return max(0.0, float((centre - half) / scale)), min(1.0, float((centre + half) / scale))


def widened(p: float, low: float, high: float, *, times: float) -> tuple[float, float]:
    """What the interval `low` to `high` of `p` would be, which `wilson` gave, with so many times the variance.

    Its width is solved for t²/n. What is no such interval, and the one from 0 to 1, stays as it is.
    """
    width = high - low
    if not (0 <= low <= p <= high <= 1 and 0 < width < 1):
        return low, high
    a, b = 1 - width**2, 2 * width**2 - 4 * p * (1 - p)
    spread = times * (b + (b**2 + 4 * a * width**2) ** 0.5) / (2 * a)
    centre, half = p + spread / 2, (p * (1 - p) * spread + spread**2 / 4) ** 0.5
    return max(0.0, (centre - half) / (1 + spread)), min(1.0, (centre + half) / (1 + spread))


def paired_difference(before: np.ndarray, after: np.ndarray, groups: np.ndarray, *, times: float = 1.0) -> Difference:
    """How much higher `after` (N,) is than `before` (N,) of the same contexts, which cluster in `groups` (N,).

    The mean difference, and around it t standard errors with whole videos drawn, or with single contexts drawn where
    that is more, as in `interval`. If all differences equal d, that width would be 0; but although none of n groups
    differs, a share of up to t² / (n + t²) of all groups may (Wilson's bound for none observed), at the extreme by -1
    or 1: from d - share (1 + d) to d + share (1 - d). A single video gives the interval from -1 to 1. `times`: how many
    times the variance is to be taken (`CROSS_VALIDATED`).
    """
    differences, groups = after - before, np.unique(groups, return_inverse=True)[1]  # (N,), (N,)
    n, mean = len(differences), float(differences.mean())
    if int(groups.max()) < 1:
        return Difference(mean, -1.0, 1.0)
    n_groups = effective_groups(np.bincount(groups))
    t = t_quantile(n_groups - 1)
    if np.ptp(differences) < 1e-9:
        share = t**2 / (n_groups / times + t**2)
        return Difference(mean, mean - share * (1 + mean), mean + share * (1 - mean))
    residuals = differences - mean
    variance = max(variance_over_groups(residuals, groups), float((residuals**2).sum()) / (n * (n - 1)))
    half = t * (times * variance) ** 0.5
    return Difference(mean, max(-1.0, mean - half), min(1.0, mean + half))


def difference_of_means(before: np.ndarray, after: np.ndarray, *units: tuple[np.ndarray, np.ndarray]) -> Difference:
    """How much higher the mean of `after` (M,) is than that of `before` (N,), where what belongs together is in both.

    `units` are one or more ways to say it, each the numbers of the units of `before` (N,) and of `after` (M,): contrast
    sets, and groups of them. Around the difference t standard errors with whole units drawn, of those the most; where
    each has one partner this is `paired_difference`.
    """
    mean = float(after.mean() - before.mean())
    residuals = np.concatenate([(after - after.mean()) / len(after), (before.mean() - before) / len(before)])
    weights = np.repeat([1 / len(after), 1 / len(before)], [len(after), len(before)])
    numbers = [np.unique(np.concatenate([m, n]), return_inverse=True)[1] for n, m in units]
    if min(int(one.max()) for one in numbers) < 1:
        return Difference(mean, -1.0, 1.0)
    n_units = [effective_groups(np.bincount(one, weights)) for one in numbers]
    squares = [float((np.bincount(one, residuals) ** 2).sum()) for one in numbers]
    fewest = min(n_units)
    t = t_quantile(fewest - 1)
    half = t * max(n / (n - 1) * square for n, square in zip(n_units, squares, strict=True)) ** 0.5
    if half < 1e-9:
        share = t**2 / (fewest + t**2)
        return Difference(mean, mean - share * (1 + mean), mean + share * (1 - mean))
    return Difference(mean, max(-1.0, mean - half), min(1.0, mean + half))


def variance_over_groups(residuals: np.ndarray, groups: np.ndarray) -> float:
    """The variance of the mean whose `residuals` (N,) these are, over samples of whole `groups` (N,), two at least."""
    n_groups = effective_groups(np.bincount(groups))
    sums = np.bincount(groups, residuals)  # (groups,)
    return n_groups / (n_groups - 1) * float((sums**2).sum()) / len(residuals) ** 2


def t_quantile(df: float, *, of: int = 1) -> float:
    """The 0.975 quantile of Student's t: `scipy.stats.t.ppf`, without its import time of half a second.

    Of `of` intervals that are all to hold 19 times in 20, the quantile for each (Bonferroni). Fewer degrees of freedom
    than 1, as where one group has most of all rows, count as 1.
    """
    from scipy.special import stdtrit

    return float(stdtrit(max(df, 1.0), 1 - 0.025 / of))
