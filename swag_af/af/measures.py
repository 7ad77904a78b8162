"""What is measured of a filter in an iteration: its scores by head, its accuracy, and the memory it took."""

import resource
import sys

import numpy as np

from swag_af.data.pool.view import View
from swag_af.filters.contract import Filter, heads_of, parts_of, scores_of


def accuracy(scores: np.ndarray) -> float:
    """Share of rows whose gold (column 0) scores highest; a tie at the top counts as a guess among the tied."""
    best = scores == scores.max(axis=1, keepdims=True)  # (n, A)
    return float((best[:, 0] / best.sum(axis=1)).mean())


def scores_by_head(filter: Filter, view: View) -> dict[str, np.ndarray]:
    """(n, m) scores of every head of the filter, the deciding one under the filter's name; some rows at a time."""
    parts = [_heads_of_part(filter, part) for part in parts_of(view)]
    return {head: np.concatenate([part[head] for part in parts]) for head in parts[0]}


def _heads_of_part(filter: Filter, view: View) -> dict[str, np.ndarray]:
    heads = heads_of(filter, view)
    if filter.name not in heads:
        heads[filter.name] = scores_of(filter, view)
    return heads


def peak_memory_gb() -> float:
    """The largest resident size of this process so far, in gigabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e9 if sys.platform == "darwin" else peak * 1024 / 1e9
