"""Slow twins of matching: every permutation tried, and weights written out pair by pair."""

import itertools
import math

import numpy as np

from swag_af.matching.models.weights import LEAST, LEAST_RELEVANCE, Worth


def worth_of(worth: Worth, i: int, j: int, has: list[int]) -> float:
    """What response `j` is worth to query `i`, which has the responses `has` besides its own; -inf where forbidden."""
    held = [i, *has]
    similar = max(float(worth.similarity[k, j]) for k in held)
    if similar >= 1 or any(worth.texts[k] == worth.texts[j] for k in held):
        return -math.inf
    if worth.right is not None and worth.right[i, j]:
        return -math.inf
    return math.log(max(float(worth.relevance[i, j]), LEAST_RELEVANCE)) + worth.weight * math.log(
        max(1 - similar, LEAST)
    )


def best_round(worth: Worth, assigned: np.ndarray) -> float:
    """The worth of the best next round; -inf where there is none."""
    n = len(worth)
    return max(
        sum(worth_of(worth, i, j, assigned[i].tolist()) for i, j in enumerate(columns))
        for columns in itertools.permutations(range(n))
    )
