"""Whether rows have the paper's order: Kendall's tau-b, with a bootstrap over groups of questions and an exact p-value.

The p-value that scipy gives with ties is that of a normal curve, which is far too small for a table of a few rows, so
orders are counted here.
"""

from dataclasses import dataclass
from itertools import chain, permutations
from math import factorial
from typing import Any

import numpy as np

N_DRAWS = 1000
_OUTER = (2.5, 97.5)
MOST_ORDERS = factorial(8)
"""Orders of rows that are all looked at; of more rows so many are drawn."""


@dataclass(frozen=True, slots=True)
class Tau:
    """A rank correlation, -1 to 1."""

    value: float
    low: float
    high: float
    """The middle 95 % of its bootstrap draws: with other questions, and the same rows."""
    p: float
    """The share of the orders that rows can have which is as far from none, in either direction."""


def rank_agreement(hits: np.ndarray, groups: np.ndarray, paper: np.ndarray, *, rng: np.random.Generator) -> Tau | None:
    """How far the mean of each of `hits` (k, N) is in the order of `paper` (k,); questions cluster in `groups` (N,).

    None for fewer than three rows, and where the paper's are all alike: there is no order.
    """
    if len(paper) < 3 or np.ptp(paper) == 0:
        return None
    means = hits.mean(axis=1)
    n_groups = int(groups.max()) + 1
    sums = np.stack([np.bincount(groups, one, minlength=n_groups) for one in hits])  # (k, groups)
    sizes = np.bincount(groups, minlength=n_groups)
    drawn = np.empty(N_DRAWS)
    for i in range(N_DRAWS):
        times = np.bincount(rng.integers(n_groups, size=n_groups), minlength=n_groups)  # (groups,)
        drawn[i] = tau_b(sums @ times / (sizes @ times), paper)
    low, high = np.percentile(drawn, _OUTER)
    return Tau(tau_b(means, paper), float(low), float(high), order_p(means, paper, rng=rng))


def tau_b(one: np.ndarray, other: np.ndarray) -> float:
    """Kendall's tau-b of two lists (k,), ties counted as in Kendall 1945; 0 where either is all alike.

    Accuracies that differ by less than rounding are tied.
    """
    from scipy.stats import kendalltau

    found: Any = kendalltau(_rounded(one), other)
    return 0.0 if np.isnan(found.statistic) else float(found.statistic)


def order_p(one: np.ndarray, other: np.ndarray, *, rng: np.random.Generator) -> float:
    """The two-sided p-value of `tau_b`, ties and all: over every order of `one` (k,) up to `MOST_ORDERS`, which is
    exact, else over so many drawn ones and the order itself; 1 where either is all alike.

    Ties are the same in every order, so the sum of the signs of pairs stands for tau.
    """
    rows, ours, theirs = range(len(one)), _signs(_rounded(one)), _signs(other)  # (k, k)
    is_exact = factorial(len(one)) <= MOST_ORDERS
    given = permutations(rows) if is_exact else chain([rows], (rng.permutation(rows) for _ in range(MOST_ORDERS)))
    orders = np.array([*given])  # (orders, k), the order itself first
    sums = np.abs((ours[orders[:, :, None], orders[:, None]] * theirs).sum(axis=(1, 2)))  # (orders,)
    return float((sums >= sums[0]).mean())


def _signs(values: np.ndarray) -> np.ndarray:
    """(k, k) whether each of `values` (k,) is above, below or beside each other."""
    return np.sign(values[:, None] - values).astype(np.int8)


def _rounded(values: np.ndarray) -> np.ndarray:
    return np.round(values, 12)
