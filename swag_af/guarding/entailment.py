"""The guard `nli[FOLDER]`: an ending that follows from gold, or gold from it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from swag_af.data.pool.view import View
from swag_af.filters.nli.entailing import ByEntailment, either_way


@dataclass(kw_only=True)
class EntailmentGuard(ByEntailment):
    """The larger of the probabilities that the second sentence with the ending follows from that with gold, and
    the other way round, by a model of `swag-af train-nli`."""

    threshold: ClassVar[float] = 0.9
    is_share: ClassVar[bool] = True
    excludes: ClassVar[bool] = True
    about: ClassVar[str] = "entails gold's sentence, or follows from it"

    def score(self, view: View) -> np.ndarray:
        """(n, m) float32 probabilities."""
        n, m = view.shape
        golds = [context.sentences[1] for context in view.contexts for _ in range(m)]
        seconds = [
            f"{context.start} {text}"
            for context, texts in zip(view.contexts, view.texts, strict=True)
            for text in texts
        ]
        return either_way(self.model, golds, seconds).astype(np.float32).reshape(n, m)
