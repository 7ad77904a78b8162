"""Texts to counts of their character n-grams, and of the n-grams of their shape. Nothing is learned here.

The shape of a text has X for every capital, x for every other letter, 9 for every digit, and all else as it is: that a
text begins with a capital is one n-gram of it, not one for each letter. Both are framed by two marks that no text can
hold, so that first and last characters are n-grams of their own. Many texts are hashed at once, in numpy.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

BEGIN, END = 0x110000, 0x110001
"""Marks of the two ends: numbers beyond every character."""

AT_ONCE = 4096
"""Texts that are hashed together."""

_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd: 2**64 divided by the golden ratio


def character_counts(texts: Sequence[str], *, longest: int, n_buckets: int) -> Any:
    """(q, n_buckets) sparse counts of the n-grams of 1 to `longest` characters of q texts and of their shapes."""
    from scipy.sparse import vstack

    parts = [texts[at : at + AT_ONCE] for at in range(0, max(1, len(texts)), AT_ONCE)]
    return vstack([_counts(part, longest=longest, n_buckets=n_buckets) for part in parts], format="csr")


def _counts(texts: Sequence[str], *, longest: int, n_buckets: int) -> Any:
    """The same of a part of the texts: each n-gram takes 17 bytes until those of a text are added up."""
    from scipy.sparse import csr_matrix

    codes, text_of = _framed(texts)
    rows, buckets = [], []
    for salt, symbols in enumerate((codes, shape_of(codes))):
        hashed = _mixed(np.full(len(symbols), 1 + salt, np.uint64))  # far apart: an n-gram of one is none of the other
        for n in range(1, longest + 1):
            m = max(0, len(symbols) - n + 1)
            hashed = _mixed(hashed[:m] + symbols[n - 1 :].astype(np.uint64))
            whole = text_of[:m] == text_of[n - 1 :]  # within one text
            rows.append(text_of[:m][whole])
            buckets.append((hashed[whole] % np.uint64(n_buckets)).astype(np.int32))
    row, bucket = np.concatenate(rows), np.concatenate(buckets)
    return csr_matrix((np.ones(len(row)), (row, bucket)), shape=(len(texts), n_buckets))


def shape_of(codes: np.ndarray) -> np.ndarray:
    """`codes` of characters with X, x and 9 in place of capitals, other letters and digits; marks stay."""
    kinds, which = np.unique(codes, return_inverse=True)
    return np.array([_shape(code) for code in kinds.tolist()], codes.dtype)[which]


def _shape(code: int) -> int:
    character = chr(code) if code < BEGIN else ""
    if character.isalpha():
        return ord("X" if character.isupper() else "x")
    return ord("9") if character.isdecimal() else code


def _framed(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """(c,) the characters of all texts, each text between its marks, and (c,) the text that each belongs to."""
    lengths = np.array([len(text) for text in texts], np.int64) + 2
    ends = np.cumsum(lengths)
    inside = np.ones(int(lengths.sum()), bool)
    inside[ends - lengths] = inside[ends - 1] = False
    codes = np.empty(len(inside), np.uint32)
    codes[ends - lengths], codes[ends - 1] = BEGIN, END
    codes[inside] = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    return codes, np.repeat(np.arange(len(texts), dtype=np.int32), lengths)


def _mixed(hashed: np.ndarray) -> np.ndarray:
    """Every bit of a number spread over all of the number that it becomes."""
    hashed = (hashed ^ (hashed >> np.uint64(32))) * _FACTOR
    return hashed ^ (hashed >> np.uint64(29))
