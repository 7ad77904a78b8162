"""The filter `nli[FOLDER]`: what a trained NLI model says of first and second text, weighed by a linear layer."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from swag_af.data.disk.manifests import MANIFEST, sha256_file
from swag_af.data.pool.view import View
from swag_af.filters.contract import check_fit, unfitted
from swag_af.filters.nli.entailing import shares
from swag_af.filters.nli.folder import NLIModel, open_nli
from swag_af.filters.pairs.texts import pairs_of_view

PENALTY = 1e-3
"""Of the squared weights beside the mean loss: as the probabilities sum to 1, one direction of them is free."""


@dataclass(kw_only=True)
class NLIFilter:
    """The probabilities of an NLI model's classes and a linear layer over them (Zellers et al. 2018, 4.2 f).

    First sentence against second, where there is a first; otherwise start against ending. The model stays as it is; the
    layer is fitted to the cross-entropy over the candidates of a row, by Newton-like steps that draw nothing.
    """

    folder: str
    """What `train-nli` wrote."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto`: cuda where there is one."""

    weights: np.ndarray | None = field(default=None, init=False, repr=False, compare=False)
    """(C,) after a fit: the weight of each class's probability."""

    name: ClassVar[str] = "nli"
    argument: ClassVar[str] = "folder"
    requires: ClassVar[tuple[str, ...]] = ()
    reads_one: ClassVar[bool] = False

    def check(self) -> None:
        """Raise InputError where the folder holds no model that can be read."""
        _ = self.model

    def settings(self) -> dict[str, Any]:
        """The hash of the folder's manifest, in place of its path, and the device."""
        return {"folder": sha256_file(self.model.path / MANIFEST), "device": self.device}

    @cached_property
    def model(self) -> NLIModel:
        """Read once."""
        return open_nli(self.folder, device=self.device)

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        """Learn the weights of the classes; raises InputError for fewer than 2 rows or 2 candidates a row."""
        check_fit(self.name, view, fewest=2)
        self.weights = fit_weights(self._read(view))

    def score(self, view: View) -> np.ndarray:
        """(n, m) float64 weighted probabilities."""
        if self.weights is None:
            raise unfitted("filter nli")
        scores: np.ndarray = self._read(view) @ self.weights
        return scores

    def _read(self, view: View) -> np.ndarray:
        """(n, m, C) probabilities."""
        pairs = pairs_of_view(view, see_context=True, as_one=False)
        return shares(self.model.filter.score_pairs(pairs)).reshape(*view.shape, -1)


def fit_weights(features: np.ndarray) -> np.ndarray:
    """(C,) weights of `features` (n, A, C) that make the first of each row likeliest: conditional logistic regression
    (McFadden 1974), with a small penalty."""
    from scipy.optimize import minimize

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        logits = features @ weights  # (n, A)
        top = logits.max(axis=1, keepdims=True)
        raised = np.exp(logits - top)
        share = raised / raised.sum(axis=1, keepdims=True)
        nats = np.log(raised.sum(axis=1)) + top[:, 0] - logits[:, 0]
        slope = np.einsum("na,nac->c", share, features) - features[:, 0].sum(axis=0)
        return float(nats.mean() + PENALTY * (weights**2).sum()), slope / len(features) + 2 * PENALTY * weights

    found = minimize(loss, np.zeros(features.shape[2]), jac=True, method="L-BFGS-B", options={"gtol": 1e-10})
    weights: np.ndarray = found.x
    return weights
