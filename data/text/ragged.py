"""Texts of any length as one array of numbers, one text after another: how they are joined and told apart.

Letters: `t` texts of `T` numbers in all; `offsets` (t + 1,) say where each begins.
"""

from itertools import pairwise

import numpy as np


def joined(numbers: np.ndarray, offsets: np.ndarray, pieces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and offsets of q texts, each made of the k texts named in a row of `pieces` (q, k), in that order."""
    lengths = np.diff(offsets)[pieces]  # (q, k)
    begins, sizes = offsets[:-1][pieces].ravel(), lengths.ravel()
    ends = np.cumsum(sizes)
    at = np.arange(sizes.sum()) + np.repeat(begins - (ends - sizes), sizes)
    return numbers[at], np.concatenate([[0], np.cumsum(lengths.sum(axis=1))])


def stacked(*parts: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and offsets of the texts of all `parts`, one part after another."""
    lengths = np.concatenate([np.diff(offsets) for _, offsets in parts])
    return np.concatenate([numbers for numbers, _ in parts]), np.concatenate([[0], np.cumsum(lengths)])


def unpadded(table: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and offsets of the texts in the rows of `table` (t, L), of `lengths` (t,)."""
    return table[np.arange(table.shape[1]) < lengths[:, None]], np.concatenate([[0], np.cumsum(lengths)])


def distinct(numbers: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of the distinct texts, (d,), each where it first stands, and for every text which of them it is, (t,).

    Told apart by all their numbers, not by a hash of them.
    """
    raw, width = np.ascontiguousarray(numbers).tobytes(), numbers.itemsize
    ends = (offsets * width).tolist()
    known: dict[bytes, int] = {}
    which = np.array([known.setdefault(raw[a:b], len(known)) for a, b in pairwise(ends)], np.int64)
    return np.unique(which, return_index=True)[1], which
