"""How far a share, and a difference of two shares, would vary with other videos: 95 % intervals over clusters.

Knows nothing of filters. All of it is Student's t with one degree less than there are groups (videos).
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean of paired differences and its 95 % interval, each -1 to 1."""

    mean: float
    low: float
    high: float

    @property
    def is_told(self) -> bool:
        """Whether the interval leaves out 0."""
        return not self.low <= 0 <= self.high


def interval(hits: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of the mean of `hits` (N,), each from 0 to 1, when contexts of one of `groups` (N,) are alike.

    Wilson's interval at n divided by the design effect (the variance of the mean with whole videos drawn, over that
    with single contexts drawn; at least 1), and with Student's t at one less than the videos, as Dean and Pagano
    (2015, "Evaluating confidence interval methods for binomial proportions in clustered surveys") recommend.
    Closed, and sound at 0 and 1 and for few videos, where a bootstrap over videos is too narrow. Where every hit is
    the same, a video counts as one context. A single video says nothing: 0 to 1.
    """
    n, n_groups, p = len(hits), int(groups.max()) + 1, float(hits.mean())
    if n_groups < 2:
        return 0.0, 1.0
    if 0 < p < 1:
        effective = n / max(1.0, _variance_over_groups(hits - p, groups) / (p * (1 - p) / n))
    else:
        effective = float(n_groups)
    t = _t_quantile(n_groups - 1)
    centre, half = p + t**2 / (2 * effective), t * np.sqrt(p * (1 - p) / effective + (t / (2 * effective)) ** 2)
    scale = 1 + t**2 / effective
    return max(0.0, float((centre - half) / scale)), min(1.0, float((centre + half) / scale))


def paired_difference(before: np.ndarray, after: np.ndarray, groups: np.ndarray) -> Difference:
    """How much higher `after` (N,) is than `before` (N,) of the same contexts, those of one of `groups` (N,) alike.

    The mean difference, and around it t standard errors with whole videos drawn, or with single contexts drawn where
    that is more, as in `interval`. Where every difference is the same, d, nothing varies and that width would be 0;
    but of n groups that are alike, a share of t² / (n + t²) may still be otherwise in truth (Wilson's bound when none
    was seen), by -1 or 1 at worst: from d - share (1 + d) to d + share (1 - d). A single video says nothing: -1 to 1.
    """
    differences = after - before  # (N,)
    n, n_groups, mean = len(differences), int(groups.max()) + 1, float(differences.mean())
    if n_groups < 2:
        return Difference(mean, -1.0, 1.0)
    t = _t_quantile(n_groups - 1)
    if np.ptp(differences) < 1e-9:
        share = t**2 / (n_groups + t**2)
        return Difference(mean, mean - share * (1 + mean), mean + share * (1 - mean))
    residuals = differences - mean
    variance = max(_variance_over_groups(residuals, groups), float((residuals**2).sum()) / (n * (n - 1)))
    half = t * variance**0.5
    return Difference(mean, max(-1.0, mean - half), min(1.0, mean + half))


def _variance_over_groups(residuals: np.ndarray, groups: np.ndarray) -> float:
    """Of the mean whose `residuals` (N,) these are, were other whole groups drawn."""
    n_groups = int(groups.max()) + 1
    sums = np.bincount(groups, residuals)  # (groups,)
    return n_groups / (n_groups - 1) * float((sums**2).sum()) / len(residuals) ** 2


def _t_quantile(df: int) -> float:
    """The 0.975 quantile of Student's t: `scipy.stats.t.ppf`, without the half second that importing it takes."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.975))
