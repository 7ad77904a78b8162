"""The guard `words`: an ending that says gold's words."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from swag_af.data.pool.pool import View
from swag_af.data.text.lexical import lexical_pairs


@dataclass(kw_only=True)
class WordsGuard:
    """The share of the words and letter triples of gold or of the ending that the other has, from 0 to 1.

    Of the one that has fewer: an ending that says no more than gold is right wherever gold is. Endings alone are
    compared, since all of a row begin alike.
    """

    name: ClassVar[str] = "words"
    threshold: ClassVar[float] = 0.6
    excludes: ClassVar[bool] = True
    about: ClassVar[str] = "says gold's words"

    def score(self, view: View) -> np.ndarray:
        """(n, m) float32 similarities."""
        n, m = view.shape
        golds = [context.gold for context in view.contexts for _ in range(m)]
        return lexical_pairs(golds, [text for texts in view.texts for text in texts]).reshape(n, m)
