"""Similarity by words: two responses mean the same as far as one says what the other says, in nearly its letters.

No understanding: *He leaves the room.* and *The man walks out.* are different here. It is the stand-in that needs no
weights; a model of entailment (`entailment`) asks for meaning.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from swag_af.data.errors import check_faults
from swag_af.data.text.lexical import LETTERS, lexical_similarity
from swag_af.data.text.wording import by_value, comparable, marked_words


@dataclass(kw_only=True)
class LexicalSimilarity:
    """The share of one text's words and letter triples that the other has (`swag_af.data.text.lexical`).

    Of the text that has fewer: it would be right wherever the other is.
    """

    letter_weight: float = LETTERS
    """How much triples of letters count beside words, from 0 to 1."""

    name: ClassVar[str] = "lexical"

    def check(self) -> None:
        """Raise InputError for a setting out of range."""
        weight = self.letter_weight
        check_faults([(not 0 <= weight <= 1, f"similarity lexical: letter_weight={weight:g}, from 0 to 1")])

    def key(self, text: str) -> str:
        """Equal for texts of the same words, which have 1, and for numbers of one value; of a text without a word, the
        text as others compare it."""
        return by_value(" ".join(sorted(set(marked_words(text)))) or comparable(text))

    def score(self, first: Sequence[str], second: Sequence[str]) -> np.ndarray:
        """As `Similarity` says; 1 for the same words in whatever order, 0 for texts without a word."""
        return lexical_similarity(first, second, letter_weight=self.letter_weight)
