"""Rules of item writing: which options of a question people who know how to take tests would choose, or rule out.

Each gives a mask (M,) over the options of choices; a question in which it marks none or all of them is one to which the
rule does not apply. No label is read. What people said of these rules, and how far data bear it out, are two things:
`writing` measures the second.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from swag_af.auditing.single.form import characters
from swag_af.auditing.single.likeness import likeness
from swag_af.auditing.single.numbers import numeric_questions
from swag_af.auditing.single.recurrence import SENTENCE_END
from swag_af.auditing.single.tables import CONTENT, Seen
from swag_af.data.text.scripts import OF_A_WORD, characters_apart, lower

_ALL = re.compile(r"\W*(?:all (?:of )?(?:the |these|them)\b.{0,20}|all (?:are|of the above).*|both \w and \w)\W*", re.I)
_NONE = re.compile(r"\W*(?:none|neither) (?:of )?(?:the |these|them)\b.{0,20}\W*", re.I)
_ABSOLUTE = re.compile(
    r"\b(?:always|never|all|none|nobody|no one|nothing|everyone|everybody|everything|only|every|must|entirely|"
    r"completely|absolutely|totally|impossible)\b",
    re.I,
)
_HEDGE = re.compile(
    r"\b(?:usually|may|might|could|often|sometimes|generally|typically|probably|perhaps|likely|frequently|seldom|"
    r"rarely|tends? to|in most cases)\b",
    re.I,
)
_NEGATED = re.compile(r"\b(?:not|except|least|false|incorrect|untrue)\b|n['’]t\b", re.I)
_ASKS = re.compile(r"\?|\b(?:which|what|who|whom|where|when|why|how|following)\b", re.I)
_ARTICLE = re.compile(r"\b(an?)[\s_.…:-]*$", re.I)
_VOWEL = re.compile(
    r"[\W_]*(?:(?!eu|one\b|once\b|uni(?!n|m)|us[aeiu]|ut[ei]|ub[ie]|u\b)[aeiou]|hour|hono|hones|heir|8|1[18]\b)", re.I
)
"""A word that begins with a vowel as it is spoken; `an` stands before it."""
_WORD = re.compile(f"[{OF_A_WORD}]+")
_DETAIL = 1.5
"""How many times the mean length of the others an option must have to be the one with detail. Our choice."""


def all_of_the_above(seen: Seen) -> np.ndarray:
    """Options that say that all others are right."""
    return _matches(seen, _ALL.fullmatch)


def none_of_the_above(seen: Seen) -> np.ndarray:
    """Options that say that no other is right."""
    return _matches(seen, _NONE.fullmatch)


def absolute_terms(seen: Seen) -> np.ndarray:
    """Options with a word such as always, never, only; those of `all_of_the_above` and its like apart."""
    return _matches(seen, _ABSOLUTE.search) & ~all_of_the_above(seen) & ~none_of_the_above(seen)


def hedges(seen: Seen) -> np.ndarray:
    """Options with a word such as usually, may, often."""
    return _matches(seen, _HEDGE.search)


def _matches(seen: Seen, matches: Callable[[str], object]) -> np.ndarray:
    return np.array([matches(text) is not None for text in seen.texts.options], bool)


def exception(seen: Seen) -> np.ndarray:
    """Where a question asks for what is not, except or least so: the option that is least like the others."""
    asks = np.array([_asks_for_exception(stem) for stem in seen.stems], bool)  # (N,)
    alike = likeness(seen)
    lowest = np.minimum.reduceat(alike, seen.texts.offsets[:-1])
    return (alike == lowest[seen.texts.rows]) & asks[seen.texts.rows]


def _asks_for_exception(stem: str) -> bool:
    last = next(filter(None, reversed(SENTENCE_END.split(stem.strip()))), "")
    return _NEGATED.search(last) is not None and _ASKS.search(last) is not None


def unfit_article(seen: Seen) -> np.ndarray:
    """Where a question ends in `a` or `an`: the options that this article does not fit."""
    found = [_ARTICLE.search(stem) for stem in seen.stems]
    wants_vowel = np.array([article is not None and article[1].lower() == "an" for article in found], bool)
    asks = np.array([article is not None for article in found], bool)
    has_vowel = _matches(seen, _VOWEL.match)
    return asks[seen.texts.rows] & (has_vowel != wants_vowel[seen.texts.rows])


def repeated_words(seen: Seen) -> np.ndarray:
    """The only option of a question that repeats a word of content from it."""
    shared = seen.tagged(CONTENT) & seen.in_context  # (T,)
    repeats = np.bincount(seen.options.rows, shared, len(seen.options)) > 0
    n_repeating = np.bincount(seen.texts.rows, repeats, len(seen.texts))
    return repeats & (n_repeating == 1)[seen.texts.rows]


def detail(seen: Seen) -> np.ndarray:
    """The option that is at least 1.5 times as long, in characters, as the others are on average."""
    lengths, rows = characters(seen), seen.texts.rows
    sums, n = np.bincount(rows, lengths)[rows], np.diff(seen.texts.offsets)[rows]
    return (n > 1) & (lengths * (n - 1) >= _DETAIL * (sums - lengths)) & (sums > lengths)


def contained(seen: Seen) -> np.ndarray:
    """Options that contain another option of the question, or are contained in one, word for word; equal ones apart."""
    words = [f" {' '.join(_WORD.findall(characters_apart(lower(text))))} " for text in seen.texts.options]
    marked = np.zeros(len(words), bool)
    for begin, end in _questions(seen):
        for i in range(begin, end):
            inside = [j for j in range(begin, end) if len(words[j]) > len(words[i]) > 2 and words[i] in words[j]]
            marked[[i, *inside] if inside else []] = True
    return marked


def out_of_order(seen: Seen) -> np.ndarray:
    """Where all options are numbers that are not in order: those without which the others are."""
    marked = np.zeros(len(seen.texts.options), bool)
    if seen.texts.has_order:
        for begin, numbers in _different_numbers(seen):
            if not _is_sorted(numbers):
                without = [_is_sorted(numbers[:k] + numbers[k + 1 :]) for k in range(len(numbers))]
                marked[begin : begin + len(numbers)] = without
    return marked


def extremes(seen: Seen) -> np.ndarray:
    """Where all options are numbers: the smallest and the largest."""
    marked = np.zeros(len(seen.texts.options), bool)
    for begin, numbers in _different_numbers(seen):
        marked[[begin + numbers.index(min(numbers)), begin + numbers.index(max(numbers))]] = True
    return marked


def _questions(seen: Seen) -> Iterator[tuple[int, int]]:
    """Where the options of each question begin and end."""
    ends = seen.texts.offsets.tolist()
    return pairwise(ends)


def _different_numbers(seen: Seen) -> Iterator[tuple[int, list[float]]]:
    """Questions of three options or more with one number each, all different: where they begin, and the numbers."""
    for begin, numbers in numeric_questions(seen):
        if len(set(numbers)) == len(numbers) > 2:
            yield begin, numbers


def _is_sorted(numbers: list[float]) -> bool:
    return numbers in (sorted(numbers), sorted(numbers, reverse=True))
