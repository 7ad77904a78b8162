"""Whether a rule beats luck, alone and among many rules that were tried at once."""

from collections.abc import Sequence

import numpy as np

from swag_af.data.numbers.interval import effective_groups, variance_over_groups

LEVEL = 0.05
"""The share of false findings, among all of a family, that is put up with."""


def p_value(residuals: np.ndarray, variances: np.ndarray, groups: np.ndarray) -> float:
    """How often luck alone gives hits as far from chance as these, two-sided.

    `residuals` (n,) are hits less what they are expected to be, `variances` (n,) theirs if any answer were right as
    likely as another, 0 where a rule cannot tell answers apart; `groups` (n,) are numbered from 0. The variance of the
    mean is that of luck, or that over whole groups where it is larger; its distribution Student's t at one less than
    the effective groups in which the rule tells anything apart, so that a few rows do not prove a rule.
    """
    from scipy.special import stdtr

    n, sizes = len(residuals), np.bincount(groups[variances > 1e-12])
    if np.count_nonzero(sizes) < 2:
        return 1.0
    mean = float(residuals.mean())
    variance = max(float(variances.sum()) / n**2, variance_over_groups(residuals - mean, groups))
    return float(2 * stdtr(max(1.0, effective_groups(sizes) - 1), -abs(mean) / variance**0.5))


def adjusted(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """The p-values after Benjamini and Hochberg (1995): below `LEVEL` for a share of false findings of `LEVEL`."""
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p_values)) if len(p_values) else np.zeros(0)
