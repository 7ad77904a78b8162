"""What a model of two texts says of all pairs of two lists, some pairs at a time.

Letters: `n` first texts, `m` second ones, `p` pairs of a tile, `C` classes.
"""

from collections.abc import Callable

import numpy as np

from swag_af.data.work.progress import Advance
from swag_af.filters.nli.entailing import shares

PAIRS_AT_ONCE = 1 << 16
"""Pairs of a tile: bounds the memory of comparing."""

Compare = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""`compare(first, second)`: (p, C) logits of the pairs whose texts have the numbers `first` (p,) and `second` (p,)."""


def all_pairs(compare: Compare, first: np.ndarray, second: np.ndarray, which: int, advance: Advance) -> np.ndarray:
    """(n, m) float32 the probability of class `which` for each pair of texts with the numbers `first` (n,) and
    `second` (m,); `advance` is told of the pairs that are done."""
    made = np.empty(len(first) * len(second), np.float32)
    for at in range(0, len(made), PAIRS_AT_ONCE):
        i, j = np.divmod(np.arange(at, min(at + PAIRS_AT_ONCE, len(made))), len(second))
        made[at : at + len(i)] = shares(compare(first[i], second[j]))[:, which]
        advance(len(i))
    return made.reshape(len(first), len(second))
