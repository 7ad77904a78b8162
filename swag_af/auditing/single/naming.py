"""Whether what stands before the options names one of them: its letter, its number from 1 or from 0."""

import re
from collections import Counter
from string import ascii_uppercase

import numpy as np

from swag_af.auditing.single.tables import Seen

WAYS = ("letter", "number", "number from 0")
"""How an option may be named."""
_NAME = re.compile(r"(?<!\w)(?<!\d[.,])(?:[B-HJ-Z]|[AI](?!\s+[^\W\d_])|\d{1,2})(?!\w)(?![.,]\d)|(?<=\()[a-z](?=\))")
"""A capital or a number that stands alone, or a letter in brackets; not the words *A* and *I* before another."""


def named(seen: Seen) -> list[np.ndarray]:
    """For each of `WAYS` (M,): how often what stands before the options names each of them."""
    names = [Counter(name.upper() for name in _NAME.findall(stem)) for stem in seen.stems]
    sizes = np.diff(seen.texts.offsets).tolist()
    letters = [_of(names, [[*ascii_uppercase, *[""] * n][:n] for n in sizes])]
    return [*letters, *(_of(names, [[str(k + first) for k in range(n)] for n in sizes]) for first in (1, 0))]


def _of(names: list[Counter[str]], called: list[list[str]]) -> np.ndarray:
    """(M,) how often each option is among the `names` of its question, `called` so."""
    each = zip(names, called, strict=True)
    return np.array([there[name] for there, options in each for name in options], float)
