"""The values of options that are numbers."""

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from swag_af.auditing.single.tables import Seen
from swag_af.data.text.scripts import characters_apart

_NUMBER = re.compile(r"(?<![\w.])[-+−–]?\d[\d,]*(?:\.\d+)?(?:[eE][-+−–]?\d+)?")
_PLAIN = str.maketrans({"−": "-", "–": "-", ",": None})
"""A minus as keyboards have it, and no commas between thousands."""
_NARROW = str.maketrans("．－＋٫", ".-+.", "٬")
"""Marks within numbers of full width, and of Arabic."""


def values(seen: Seen) -> np.ndarray:
    """(M,) where all options of a question have one number each: these, as ranks from 0 that equal ones share; else 0.

    Ranks, so that no number is too large to compare.
    """
    ranks = np.zeros(len(seen.texts.options))
    for begin, numbers in numeric_questions(seen):
        ranks[begin : begin + len(numbers)] = np.unique(numbers, return_inverse=True)[1]
    return ranks


def numeric_questions(seen: Seen) -> Iterator[tuple[int, list[float]]]:
    """The questions whose options have one number each: where they begin, and the numbers."""
    for begin, end in pairwise(seen.texts.offsets.tolist()):
        found = [_NUMBER.findall(_with_numbers_apart(text)) for text in seen.texts.options[begin:end]]
        if all(len(one) == 1 for one in found):
            yield begin, [float(one[0].translate(_PLAIN)) for one in found]


def _with_numbers_apart(text: str) -> str:
    """`text`, in which a number begins where a character of a script without blanks ends."""
    return characters_apart(text.translate(_NARROW))
