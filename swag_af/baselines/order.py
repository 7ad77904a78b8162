"""Whether rows have the paper's order: Kendall's tau-b, with a bootstrap over groups of questions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

N_DRAWS = 1000
_OUTER = (2.5, 97.5)


@dataclass(frozen=True, slots=True)
class Tau:
    """A rank correlation, -1 to 1."""

    value: float
    low: float
    high: float
    """The middle 95 % of its bootstrap draws: with other questions, and the same rows."""
    p: float
    """How often rows in a random order are as far from none, in either direction."""


def rank_agreement(hits: np.ndarray, groups: np.ndarray, paper: np.ndarray, *, rng: np.random.Generator) -> Tau | None:
    """How far the mean of each of `hits` (k, N) is in the order of `paper` (k,); questions cluster in `groups` (N,).

    None for fewer than three cells, and where the paper's are all alike: there is no order.
    """
    if len(paper) < 3 or np.ptp(paper) == 0:
        return None
    value, p = tau_b(hits.mean(axis=1), paper)
    n_groups = int(groups.max()) + 1
    sums = np.stack([np.bincount(groups, one, minlength=n_groups) for one in hits])  # (k, groups)
    sizes = np.bincount(groups, minlength=n_groups)
    drawn = np.empty(N_DRAWS)
    for i in range(N_DRAWS):
        times = np.bincount(rng.integers(n_groups, size=n_groups), minlength=n_groups)  # (groups,)
        drawn[i], _ = tau_b(sums @ times / (sizes @ times), paper)
    low, high = np.percentile(drawn, _OUTER)
    return Tau(value, float(low), float(high), p)


def tau_b(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """`(tau, p)`: Kendall's tau-b of two lists (k,), ties counted as in Kendall 1945, and its two-sided p-value; 0 and
    1 where either is all alike.

    Accuracies that differ by less than rounding are tied.
    """
    from scipy.stats import kendalltau

    found: Any = kendalltau(np.round(one, 12), other)
    return (0.0, 1.0) if np.isnan(found.statistic) else (float(found.statistic), float(found.pvalue))
