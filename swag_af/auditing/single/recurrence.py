"""Options and classified texts that occur again in other instances: as options, with which label, and in contexts.

Options are the same where `swag_af.data.text.wording.comparable` says so.
"""

import re
from collections import Counter

import numpy as np

from swag_af.auditing.single.tables import Seen
from swag_af.data.instances.instances import Instances
from swag_af.data.text.scripts import OF_A_WORD, OTHER_END, characters_apart, lower
from swag_af.data.text.wording import comparable

_WORD = re.compile(rf"(?:(?!_)[{OF_A_WORD}])+")
SENTENCE_END = re.compile(rf"(?<=[.?!])\s+|{OTHER_END}\s*")
_MIN_WORDS = 3
"""Words of a text that is looked for in contexts; shorter ones end many sentences by luck."""


def same_texts(seen: Seen) -> np.ndarray:
    """A number from 0 for each entry of `texts.options`, the same for the same text."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(comparable(text), len(numbers)) for text in seen.texts.options])


def recurrences(seen: Seen) -> np.ndarray:
    """How many other instances have the text."""
    texts, n = same_texts(seen), len(seen.texts)
    holders = np.unique(texts * n + seen.texts.rows) // n  # one entry for each text and instance
    return np.bincount(holders, minlength=int(texts.max()) + 1)[texts] - 1.0


def right_elsewhere(seen: Seen, folds: np.ndarray, instances: Instances, *, forward: bool = False) -> np.ndarray:
    """(M,) the share of the times, in other `folds` (N,), that an option with this text was right.

    One more time at chance is counted, so a text that no other fold has is at chance. Labels of an option's own fold
    are not read; with `forward` those of earlier folds alone are.
    """
    texts, chance = same_texts(seen), instances.chance[seen.texts.rows]
    n_texts, fold_of = int(texts.max()) + 1, folds[seen.texts.rows]
    share = np.empty(len(texts))
    for fold in range(int(folds.max()) + 1):
        other, own = (fold_of < fold) if forward else (fold_of != fold), fold_of == fold
        n = np.bincount(texts[other], minlength=n_texts)[texts[own]]
        n_right = np.bincount(texts[other & instances.is_gold], minlength=n_texts)[texts[own]]
        share[own] = (n_right + chance[own]) / (n + 1)
    return np.round(share, 9)


def in_other_contexts(seen: Seen) -> np.ndarray:
    """How many different contexts of other instances have a sentence that is the text, or that ends in it.

    Words are compared, in lower case, and characters in scripts without blanks; a text of fewer than three is nowhere.
    Where captions of one video make several questions, the gold ending of one is the end of the next one's context.
    """
    wanted = [_words(text) for text in seen.texts.options]
    long_enough = {text for text in wanted if text.count(" ") >= _MIN_WORDS - 1}
    ended_by = {stem: _ends(stem, long_enough) for stem in set(seen.stems)}
    n_stems = Counter(text for texts in ended_by.values() for text in texts)
    own = [ended_by[seen.stems[row]] for row in seen.texts.rows.tolist()]
    return np.array([n_stems[text] - (text in ends) for text, ends in zip(wanted, own, strict=True)], float)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(characters_apart(lower(text))))


def _ends(stem: str, wanted: set[str]) -> set[str]:
    """Those of `wanted` that a sentence of `stem` ends in."""
    found = set()
    for sentence in SENTENCE_END.split(stem):
        words = _words(sentence)
        begins = [0, *(at + 1 for at, character in enumerate(words) if character == " ")]
        found |= {words[at:] for at in begins[: 1 - _MIN_WORDS]} & wanted
    return found
