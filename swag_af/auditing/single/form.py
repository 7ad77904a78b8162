"""Features of the form of one text: length, marks, letter case, digits, quotes, parts of speech.

Each gives a number for every entry of `Texts.options`: (M,) of choices, (N,) of classes.
"""

import re
from collections.abc import Callable

import numpy as np

from swag_af.auditing.single.tables import Seen
from swag_af.data.text.scripts import COMMAS, END_MARKS, FULL_STOPS, OF_A_WORD, QUESTION_MARKS, composed
from swag_af.data.text.surface import TYPOGRAPHIC_QUOTES, begins_with_capital, final_mark, is_decomposed

_QUOTES = re.compile(
    rf"""["{TYPOGRAPHIC_QUOTES.replace("’", "")}‹›「」『』《》〝〞〟＂]|``|''|(?<!\w)['’]|(?<=[.,!?])['’]"""
)
"""Quote marks; an apostrophe after a letter is none, typographic or not."""
_WORD = re.compile(f"[{OF_A_WORD}]+")
_TYPOGRAPHIC = re.compile(f"[{TYPOGRAPHIC_QUOTES}–—―…]")
"""Signs for which there are others in ASCII: quotes, apostrophes, dashes, an ellipsis."""
_STRAY = re.compile(r"(?<=\s)\s|(?<!\s)[^\S ]")
_MARKS = re.escape("".join(sorted(END_MARKS - {"."}))) + ",;:…)}،؛、，：；\\]"
_BEFORE_MARK = re.compile(rf"\s(?=[{_MARKS}]|\.(?!\w)|n['’]t\b|['’](?:s|m|d|re|ve|ll)\b)", re.I)
"""A blank before a mark, or before the second part of a word that a tokeniser cut; none before `.5`."""
_COMMA = re.compile(f"[{''.join(COMMAS)}]")
_FULL_STOPS = frozenset(FULL_STOPS)
_DIGIT = re.compile(r"\d")
_DOUBLED = re.compile(r"(?<!\w)([^\W\d_]+)(?=\s+\1(?!\w))", re.I)
"""A word before itself."""


def _of_text(measure: Callable[[str], float]) -> Callable[[Seen], np.ndarray]:
    """The feature that is `measure` of each text."""
    return lambda seen: np.array([measure(text) for text in seen.texts.options], float)


characters = _of_text(lambda text: len(composed(text)))
full_stop = _of_text(lambda text: final_mark(text) in _FULL_STOPS)
question_mark = _of_text(lambda text: final_mark(text) in QUESTION_MARKS)
commas = _of_text(lambda text: len(_COMMA.findall(text)))
capital = _of_text(begins_with_capital)
digits = _of_text(lambda text: len(_DIGIT.findall(text)))
quotes = _of_text(lambda text: len(_QUOTES.findall(text)))


typographic = _of_text(lambda text: 0 if text.isascii() else len(_TYPOGRAPHIC.findall(text)))


@_of_text
def capitals(text: str) -> float:
    """How many words have two capitals or more, of any script, and no small letter."""
    return sum(word.isupper() and sum(map(str.isupper, word)) > 1 for word in _WORD.findall(text))


@_of_text
def capitals_within(text: str) -> float:
    """How many letters behind the first letter or digit are capitals, of any script."""
    return sum(map(str.isupper, text)) - begins_with_capital(text)


@_of_text
def stray_blanks(text: str) -> float:
    """How many blanks nobody sees: at either end, before a mark, doubled, and of other kinds than the plain."""
    inner = text.strip()
    return len(text) - len(inner) + len(_STRAY.findall(inner)) + len(_BEFORE_MARK.findall(inner))


accents_apart = _of_text(is_decomposed)
doubled_words = _of_text(lambda text: len(_DOUBLED.findall(text)))


def tokens(seen: Seen) -> np.ndarray:
    """The number of tokens."""
    return seen.options.lengths.astype(float)


def position(seen: Seen) -> np.ndarray:
    """(M,) the place of each option, from 1."""
    return np.arange(len(seen.texts.options)) - np.repeat(seen.texts.offsets[:-1], np.diff(seen.texts.offsets)) + 1.0


def part_of_speech(*tags: str) -> Callable[[Seen], np.ndarray]:
    """The feature that is the share of tokens with one of the universal `tags`."""
    return lambda seen: seen.options.share(seen.tagged(tags))
