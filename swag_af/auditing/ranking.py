"""Scores of answers, which have no label in them, against the labels: hits with shared ties, probabilities of gold.

Answers are flat, (M,), those of instance 0 first, as in `swag_af.data.instances.instances`.
"""

import numpy as np

from swag_af.data.instances.instances import Instances


def hits(scores: np.ndarray, instances: Instances) -> np.ndarray:
    """(N,) how far gold has the highest of `scores` (M,) in each instance: 1, 0, or 1/t where t answers tie with it."""
    starts = instances.offsets[:-1]
    highest = np.maximum.reduceat(scores, starts)  # (N,)
    is_top = scores == np.repeat(highest, instances.n_answers)  # (M,)
    n_top = np.add.reduceat(is_top.astype(np.int64), starts)  # (N,)
    return np.where(is_top[starts + instances.answers], 1 / n_top, 0.0)


def gold_probabilities(scores: np.ndarray, instances: Instances) -> np.ndarray:
    """(N,) the softmax of `scores` (M,), log-odds or log-probabilities, within each instance, at gold."""
    return softmax(scores, instances)[instances.is_gold]


def softmax(scores: np.ndarray, instances: Instances) -> np.ndarray:
    """(M,) the softmax of `scores` (M,) within each instance."""
    starts = instances.offsets[:-1]
    powers = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), instances.n_answers))
    shares: np.ndarray = powers / np.repeat(np.add.reduceat(powers, starts), instances.n_answers)
    return shares
