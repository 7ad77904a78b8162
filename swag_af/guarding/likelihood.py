"""The guard `likelihood`: an ending that the pool's language model finds likelier than gold."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from swag_af.data.pool.folder import FEATURES
from swag_af.data.pool.view import View


@dataclass(kw_only=True)
class LikelihoodGuard:
    """By how many nats a token the ending is likelier in its context than gold is, by the feature
    `ending_given_context`, which the model of a fold gives that has not read the row.

    Marks and does not exclude: where every likelier ending is kept out, gold is the likeliest of every question.
    """

    name: ClassVar[str] = "likelihood"
    requires: ClassVar[tuple[str, ...]] = ("features",)
    threshold: ClassVar[float] = 0.0
    excludes: ClassVar[bool] = False
    about: ClassVar[str] = "likelier than gold, in nats a token"

    def score(self, view: View) -> np.ndarray:
        """(n, m) float32 nats a token."""
        name, gold = FEATURES[0], np.zeros((len(view), 1), np.int64)
        golds = view.pool.feature(name, view.rows, gold)  # (n, 1) negative log-likelihoods
        return np.asarray(golds - view.pool.feature(name, view.rows, view.columns), np.float32)
