"""In which orders the options of a question are shown to a judge.

Orders are drawn from the seed and the texts alone, so the order of the dataset, in which gold may stand first, decides
nothing. Of each block of m orders of m options every option stands once in every place: who always says A says every
option as often.
"""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np


def orders_of(options: Sequence[str], n: int, *, seed: int, draw: str = "") -> np.ndarray:
    """(n, m) orders of m distinct options, each a row of their numbers, first shown first.

    `draw` tells apart orders that are drawn anew, such as those of a later round. Whoever permutes the options gets the
    same texts in the same places.
    """
    m = len(options)
    blocks = [_block(options, f"{seed} {draw} {block}") for block in range(-(-n // m))]  # each (m, m)
    return np.concatenate([*blocks, np.empty((0, m), np.int64)])[:n]


def _block(options: Sequence[str], salt: str) -> np.ndarray:
    """(m, m) one shuffled order and its rotations, in a shuffled order."""
    together = "\n".join(sorted(options))
    shuffled = sorted(range(len(options)), key=lambda i: _hash(options[i], salt))
    steps = sorted(range(len(options)), key=lambda step: _hash(together, f"{salt} {step}"))
    return np.array([np.roll(shuffled, step) for step in steps], np.int64)


def _hash(text: str, salt: str) -> bytes:
    return blake2b(f"{salt}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
