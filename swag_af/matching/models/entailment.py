"""Similarity by a model of natural language inference: two responses mean the same as far as one follows from the
other (Zellers et al. 2019b, appendix C).

The model is what `swag-af train-nli` leaves. What it knows of one text alone is worked out once a text, so that all
pairs of `n` texts take `n` encodings (VCR counts 2n: a text before and a text after) and `n * n` comparisons.

Letters: `n` first texts, `m` second ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from swag_af.data.splits import numbered
from swag_af.data.text.wording import comparable
from swag_af.data.work.progress import progress
from swag_af.filters.nli.entailing import ByEntailment, entailment_class
from swag_af.matching.models.tiles import all_pairs
from swag_af.matching.models.weights import LEAST


@dataclass(kw_only=True)
class NliSimilarity(ByEntailment):
    """The larger of the probabilities that the second text follows from the first, and the first from the second.

    No model is sure that a text follows from itself. Texts that are the same but for case, blanks and a full
    stop at the end (`comparable`) mean the same here, with probability 1; others 1 - 1e-6 at most.
    """

    n_measured: ClassVar[int] = 150
    """Rows that a dry run scores."""

    def score(self, first: Sequence[str], second: Sequence[str]) -> np.ndarray:
        """As `Similarity` says."""
        texts = list(dict.fromkeys([*first, *second]))
        place = {text: i for i, text in enumerate(texts)}
        rows, columns = (np.array([place[text] for text in side], np.int64) for side in (first, second))
        filter, which = self.model.filter, entailment_class(self.model)
        compare = partial(filter.compare, filter.encode_texts(texts))
        n_pairs = len(rows) * len(columns)
        is_square = np.array_equal(rows, columns)
        with progress("nli", n_pairs if is_square else 2 * n_pairs, "pairs") as advance:
            onward = all_pairs(compare, rows, columns, which, advance)
            back = onward if is_square else all_pairs(compare, columns, rows, which, advance)
        made = np.minimum(np.maximum(onward, back.T), np.float32(1 - LEAST))
        made[_same_words(first, second)] = 1
        return made


def _same_words(first: Sequence[str], second: Sequence[str]) -> np.ndarray:
    """(n, m) whether two texts are the same as `comparable` has it."""
    numbers = numbered([comparable(text) for text in (*first, *second)])
    return np.asarray(numbers[: len(first), None] == numbers[len(first) :])
