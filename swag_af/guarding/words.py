"""The guard `words`: an ending that says gold's words."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from swag_af.data.pool.view import View
from swag_af.data.text.lexical import has_content, lexical_pairs


@dataclass(kw_only=True)
class WordsGuard:
    """The share of the words and letter triples of gold or of the ending that the other has, from 0 to 1.

    Of the one that has fewer: an ending that says no more than gold is right wherever gold is. Endings alone are
    compared, since all of a row begin alike. 0 where one of the two, and not the other, has no word but such as *of*
    and *are*: those stand in anything.
    """

    name: ClassVar[str] = "words"
    threshold: ClassVar[float] = 0.6
    is_share: ClassVar[bool] = True
    excludes: ClassVar[bool] = True
    about: ClassVar[str] = "says gold's words"

    def score(self, view: View) -> np.ndarray:
        """(n, m) float32 similarities."""
        n, m = view.shape
        golds = [context.gold for context in view.contexts for _ in range(m)]
        endings = [text for texts in view.texts for text in texts]
        made = lexical_pairs(golds, endings)
        told = {text: has_content(text) for text in {*golds, *endings}}
        made[[told[gold] != told[ending] for gold, ending in zip(golds, endings, strict=True)]] = 0
        return made.reshape(n, m)
