"""What it is worth to give query i the response of row j: `log P_rel(q_i, r_j) + weight * log(1 - P_sim(r_i, r_j))`.

Equation 1 of Zellers et al. 2019b (VCR, section 4), where the weight is called lambda. Letters: `n` rows of a bucket,
each a query with its own response; `t` rounds so far.
"""

from dataclasses import dataclass

import numpy as np

from swag_af.data.errors import InputError

LEAST = 1e-6
"""Similarity is kept this far from 1, so that its logarithm is finite."""
LEAST_RELEVANCE = float(np.finfo(np.float32).tiny)
"""Relevance is kept from 0 by no more than its digits allow: a model that is sure finds most pairs of a bucket below
any bound that could be set, and among these the likelier ones count."""


@dataclass(frozen=True)
class Worth:
    """What matches within a bucket are worth."""

    relevance: np.ndarray
    """(n, n) float32 the probability that response j answers query i."""
    similarity: np.ndarray
    """(n, n) float32 the probability that responses i and j mean the same."""
    texts: np.ndarray
    """(n,) numbers that are equal for responses with the same text."""
    weight: float
    """Lambda: how much a difference in meaning counts beside relevance."""
    right: np.ndarray | None = None
    """(n, n) bool whether response j has the text of a right answer to the question of query i: its own, or that of
    another row of the question; its own alone where not given."""
    yields: bool = False
    """Whether what is right in another row of the question is given to as few rows as can be, in place of none."""

    def __post_init__(self) -> None:
        n = len(self.texts)
        for name in ("relevance", "similarity"):
            _check(name, getattr(self, name), n)
        if not (np.isfinite(self.weight) and self.weight >= 0):
            raise InputError(f"lambda {self.weight:g}: a number, not below 0.")

    def __len__(self) -> int:
        return len(self.texts)

    def matrix(self, assigned: np.ndarray) -> np.ndarray:
        """(n, n) float64 the worth of each match once the rows `assigned` (n, t) have been given; `-inf` forbids.

        Similarity is the largest to any response that the query has, the right one included. Forbidden is a response
        whose text the query has already, one that surely means the same as one of them (similarity 1), and one whose
        text is right for the same question in another row; where questions yield, the last costs more than all else
        together, so that the best matching has the fewest of them, and is the best of those that have.
        """
        similarity = self.similarity
        for column in assigned.T:
            similarity = np.maximum(similarity, self.similarity[column])
        worth = np.log(np.maximum(self.relevance, np.float32(LEAST_RELEVANCE)), dtype=np.float64)
        worth += self.weight * np.log(np.maximum(1 - similarity.astype(np.float64), LEAST))
        worth[similarity >= 1] = -np.inf
        worth[self._has_text(assigned)] = -np.inf
        if self.right is not None:
            worth[self.right] -= _more_than_all(worth) if self.yields else np.inf
        return worth

    def _has_text(self, assigned: np.ndarray) -> np.ndarray:
        """(n, n) whether query i has the text of response j already, its own or one of those `assigned` (n, t)."""
        has = np.concatenate([np.arange(len(self))[:, None], assigned], axis=1)  # (n, 1 + t) rows
        no = np.zeros((len(self), len(self)), bool)
        for column in self.texts[has].T:  # (n,)
            no |= column[:, None] == self.texts
        return no


def _more_than_all(worth: np.ndarray) -> float:
    """More than any two matchings of `worth` (n, n) differ by."""
    finite = worth[worth > -np.inf]
    return 1 + len(worth) * float(finite.max(initial=0) - finite.min(initial=0))


def _check(name: str, table: np.ndarray, n: int) -> None:
    if table.shape != (n, n):
        raise InputError(f"{name}: a table {table.shape}, where ({n}, {n}) is due, a probability for each pair.")
    if not np.isfinite(table).all() or table.min(initial=0) < 0 or table.max(initial=0) > 1:
        raise InputError(f"{name}: probabilities from 0 to 1 are due, and some are not.")
