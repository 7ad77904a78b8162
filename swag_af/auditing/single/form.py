"""Features of the form of one text: length, marks, letter case, digits, quotes, parts of speech.

Each gives a number for every entry of `Texts.options`: (M,) of choices, (N,) of classes.
"""

import re
from collections.abc import Callable

import numpy as np

from swag_af.auditing.single.tables import Seen
from swag_af.data.text.surface import TYPOGRAPHIC_QUOTES, begins_with_capital, final_mark, has_blank_before_mark

_QUOTES = re.compile(rf"""["{TYPOGRAPHIC_QUOTES}]|``|''|(?<!\w)'|(?<=[.,!?])'""")
"""Quote marks; an apostrophe after a letter is none."""
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")
_TYPOGRAPHIC = re.compile(f"[{TYPOGRAPHIC_QUOTES}–—―…]")
"""Signs for which there are others in ASCII: quotes, apostrophes, dashes, an ellipsis."""
_STRAY = re.compile(r"(?<=\s)\s|(?<!\s)[^\S ]")
_DIGIT = re.compile(r"\d")


def _of_text(measure: Callable[[str], float]) -> Callable[[Seen], np.ndarray]:
    """The feature that is `measure` of each text."""
    return lambda seen: np.array([measure(text) for text in seen.texts.options], float)


characters = _of_text(len)
full_stop = _of_text(lambda text: final_mark(text) == ".")
question_mark = _of_text(lambda text: final_mark(text) == "?")
commas = _of_text(lambda text: text.count(","))
capital = _of_text(begins_with_capital)
capitals = _of_text(lambda text: len(_CAPITALS.findall(text)))
digits = _of_text(lambda text: len(_DIGIT.findall(text)))
quotes = _of_text(lambda text: len(_QUOTES.findall(text)))


typographic = _of_text(lambda text: 0 if text.isascii() else len(_TYPOGRAPHIC.findall(text)))


@_of_text
def stray_blanks(text: str) -> float:
    """How many blanks nobody sees: at either end, before the final mark, doubled, and of other kinds than the plain."""
    return len(text) - len(text.strip()) + len(_STRAY.findall(text.strip())) + has_blank_before_mark(text)


def tokens(seen: Seen) -> np.ndarray:
    """The number of tokens."""
    return seen.options.lengths.astype(float)


def position(seen: Seen) -> np.ndarray:
    """(M,) the place of each option, from 1."""
    return np.arange(len(seen.texts.options)) - np.repeat(seen.texts.offsets[:-1], np.diff(seen.texts.offsets)) + 1.0


def part_of_speech(*tags: str) -> Callable[[Seen], np.ndarray]:
    """The feature that is the share of tokens with one of the universal `tags`."""
    return lambda seen: seen.options.share(seen.tagged(tags))
