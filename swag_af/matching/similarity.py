"""Similarity by words: two responses mean the same as far as one says what the other says, in nearly its letters.

No understanding: *He leaves the room.* and *The man walks out.* are different here. It is the stand-in that needs no
weights; a model of entailment (`entailment`) asks for meaning.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from swag_af.data.text.wording import words

BOTH_WAYS = 0.1
"""How much it counts that both texts say no more than the other, beside that one of them does."""
STOP_WORD = 0.25
"""The weight of a word without content, such as *the*, beside 1 for all others."""


@dataclass(kw_only=True)
class LexicalSimilarity:
    """The share of one text's words and letter triples that the other has, of the text that has fewer.

    Containment more than overlap: *on the table* says nothing that *a cup on the table* does not, so the first would be
    right wherever the second is. Words that differ in their endings share most of their triples, so *jump* and *jumps*
    are nearly the same, and so is a word with a slip of the pen.
    """

    letter_weight: float = 0.5
    """How much triples of letters count beside words, from 0 to 1."""

    name: ClassVar[str] = "lexical"

    def score(self, first: Sequence[str], second: Sequence[str]) -> np.ndarray:
        """As `Similarity` says; 1 for the same words in whatever order, 0 for texts without a word."""
        made = _shared(first, second, words)
        made *= np.float32(1 - self.letter_weight)
        made += np.float32(self.letter_weight) * _shared(first, second, _triples)
        return np.clip(made, 0, 1, out=made)


def _shared(first: Sequence[str], second: Sequence[str], parts: Any) -> np.ndarray:
    """(n, m) float32 weight of the parts that texts i and j share: mostly by the lighter of the two, from 0 to 1."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

    counter = CountVectorizer(analyzer=parts, binary=True, dtype=np.float32)
    try:
        has = counter.fit_transform([*first, *second])
    except ValueError:  # no text has a part
        return np.zeros((len(first), len(second)), np.float32)
    names = counter.get_feature_names_out().tolist()
    weights = np.array([STOP_WORD if name in ENGLISH_STOP_WORDS else 1.0 for name in names], np.float32)
    one, other = has[: len(first)], has[len(first) :]
    common = (one.multiply(weights).tocsr() @ other.T).toarray()  # (n, m)
    sizes, others = (np.maximum(table @ weights, np.float32(1e-9)) for table in (one, other))
    union = sizes[:, None] + others - common
    lighter = np.minimum(sizes[:, None], others)
    return np.float32(1 - BOTH_WAYS) * (common / lighter) + np.float32(BOTH_WAYS) * (common / union)


def _triples(text: str) -> list[str]:
    """Three letters in a row of each word, its beginning and end marked."""
    return [f"^{word}$"[i : i + 3] for word in words(text) for i in range(len(word))]
