"""The encoder filter: a logistic regression on the vectors of a pretrained encoder that stays as it is.

As the pretrained sentence encoders of SWAG (Zellers et al. 2018, 4.1 b): a vector of the second sentence, or, where the
first one is read too, features of the pair (Conneau et al. 2017). Every distinct text is encoded once and kept, across
fits; a call encodes the candidates that it is asked about and no others.

Letters: `n` rows, `m` candidates a row, `q` texts or candidates, `D` numbers a vector, `F` features.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from swag_af.data.errors import InputError
from swag_af.data.pool.view import View
from swag_af.data.splits import hold_aside
from swag_af.filters.contract import check_fit, class_logits, fields_of, gold_labels, unfitted
from swag_af.filters.frozen import FrozenEncoder
from swag_af.filters.pretrained import second_sentences_within
from swag_af.filters.strings import Inputs, check_inputs, pieces_of
from swag_af.nn.pretrained import contents_of


@dataclass(kw_only=True)
class EncoderFilter:
    """Logistic regression on frozen sentence vectors: of the second sentence, or of how it goes with the first."""

    model: str
    """A folder that holds model and tokenizer, or a name on the Hugging Face hub."""
    inputs: Inputs = "full"
    """What it reads: `ending`; `second`, start and ending; or `full`, the context's first sentence too, where there is
    one."""
    strengths: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 0.1, 1.0)
    """Inverses of the L2 penalty (scikit-learn's `C`), on standardised features, that are tried on whole groups held
    aside of the fit; one alone is taken as it is. A fit of a few hundred rows wants another than one of thousands. With
    fewer than 10 groups none is tried, and the one nearest to 0.01 is taken."""
    choosing_share: float = 0.2
    """Share of the fitted candidates, whole groups, on which the strength is chosen; all are learnt from afterwards."""
    max_length: int = 128
    """Tokens of a text; of a longer one the beginning of its start is cut, and at the end what is longer without."""
    most_kept: int = 400_000
    """Texts whose vectors are kept in memory (of 384 numbers: 600 MB). Others come from the cache on disk, which holds
    2 GiB (1.2 million such vectors) and drops the oldest; what is in neither is encoded again."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto`: cuda where there is one."""

    _encoder: FrozenEncoder | None = field(default=None, init=False, repr=False, compare=False)
    _kept: dict[str, np.ndarray] = field(default_factory=dict, init=False, repr=False, compare=False)
    _strength: float = field(default=0.0, init=False, repr=False, compare=False)
    _fitted: "_Fitted | None" = field(default=None, init=False, repr=False, compare=False)

    name: ClassVar[str] = "encoder"
    argument: ClassVar[str] = "model"
    """What stands in the brackets of `encoder[...]`."""

    def check(self) -> None:
        """Raise InputError when the package or the model is missing, or a setting is out of range."""
        good = bool(self.strengths) and min(self.strengths) > 0 and 0 < self.choosing_share < 1
        if not good or self.max_length < 8 or self.most_kept < 0:
            raise InputError(
                "filter encoder: strengths above 0, choosing_share between 0 and 1, max_length 8 or more, most_kept "
                "not below 0."
            )
        check_inputs(self.name, self.inputs)
        self._encoder = self._encoder or FrozenEncoder(self.model, max_length=self.max_length, device=self.device)

    def settings(self) -> dict[str, Any]:
        """The settings, with the hashes of the model's files in place of its path."""
        return fields_of(self) | {"model": contents_of(self.model)}

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        """Learn to tell column 0 from the others.

        Raises InputError as `check` does, and for fewer than 2 candidates a row.
        """
        check_fit(self.name, view)
        self.fit_classes(*self._sides(view), gold_labels(view), 2, np.repeat(view.groups, view.shape[1]), rng=rng)

    def score(self, view: View) -> np.ndarray:
        """(n, m) log-odds of gold."""
        scores = self.score_classes(*self._sides(view))  # (q, 2)
        return (scores[:, 1] - scores[:, 0]).reshape(view.shape)

    def _sides(self, view: View) -> tuple[list[str], list[str]]:
        """First sentences and second ones, q of each; where these are too long, as much of the start as there is room
        for before a whole ending."""
        self.check()
        assert self._encoder is not None
        pieces = pieces_of(view, self.inputs)
        rooms = np.full(len(pieces.endings), self._encoder.room)
        return pieces.firsts, second_sentences_within(self._encoder.tokenizer, pieces, rooms)

    def fit_classes(
        self,
        firsts: Sequence[str],
        seconds: Sequence[str],
        labels: np.ndarray,
        n_labels: int,
        groups: np.ndarray,
        *,
        rng: np.random.Generator,
    ) -> None:
        """Learn `labels` (q,), from 0 to `n_labels` - 1, of q pairs of texts; whole `groups` (q,) are held aside
        while the strength is chosen. First texts that are all empty are not read."""
        has_first = self.inputs == "full" and any(firsts)
        features = self._features(firsts, seconds, has_first)  # (q, F)
        mean, deviation = features.mean(axis=0), features.std(axis=0)
        deviation[deviation < _SMALLEST] = 1.0
        features = (features - mean) / deviation
        self._strength = self._chosen(features, labels, groups, rng)
        regression = _regression(self._strength, features, labels) if len(np.unique(labels)) > 1 else None
        self._fitted = _Fitted(has_first, mean, deviation, regression, n_labels, np.unique(labels))

    def fit_record(self) -> dict[str, Any]:
        """The strength that was chosen."""
        return {"strength": self._strength}

    def _chosen(self, features: np.ndarray, labels: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> float:
        """The strength with the lowest loss on groups held aside; from the weakest up, until the loss rises."""
        from sklearn.metrics import log_loss

        strengths = sorted(self.strengths)
        if len(strengths) == 1 or len(np.unique(groups)) < _FEWEST_GROUPS:
            return _plainest(strengths)
        learn, stop = hold_aside(groups, round(self.choosing_share * len(groups)), rng=rng)
        known = np.unique(labels[learn])
        stop = stop[np.isin(labels[stop], known)]
        if len(known) < 2 or not len(stop):
            return _plainest(strengths)
        losses: list[float] = []
        for strength in strengths:
            regression = _regression(strength, features[learn], labels[learn])
            losses.append(float(log_loss(labels[stop], regression.predict_proba(features[stop]), labels=known)))
            if losses[-1] > min(losses):
                break
        return strengths[int(np.argmin(losses))]

    def score_classes(self, firsts: Sequence[str], seconds: Sequence[str]) -> np.ndarray:
        """(q, n_labels) logits; of a label that was not fitted far below the others."""
        if self._fitted is None:
            raise unfitted("filter encoder")
        return self._fitted.logits(self._features(firsts, seconds, self._fitted.has_first))

    def _features(self, firsts: Sequence[str], seconds: Sequence[str], has_first: bool) -> np.ndarray:
        """(q, F) float32: the vector v, or with a first text u also |u - v| and u * v (Conneau et al. 2017); u alone
        tells no candidates of a row apart, but it does tell classes."""
        v = self._vectors(seconds)
        if not has_first:
            return v
        u = self._vectors(firsts)
        return np.concatenate([u, v, np.abs(u - v), u * v], axis=1)

    def _vectors(self, texts: Sequence[str]) -> np.ndarray:
        """(q, D) float32 of unit length, each distinct text encoded once."""
        self.check()
        assert self._encoder is not None
        kept = self._kept
        missing = [text for text in dict.fromkeys(texts) if text not in kept]
        made = dict(zip(missing, self._encoder.vectors(missing), strict=True)) if missing else {}
        room = max(0, self.most_kept - len(kept))
        kept.update({text: made[text] for text in missing[:room]})
        rows = np.array([kept[text] if text in kept else made[text] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _plainest(strengths: Sequence[float]) -> float:
    """The one of `strengths` that is nearest to `_PLAIN`, in times as much."""
    return min(strengths, key=lambda strength: abs(np.log(strength / _PLAIN)))


def _regression(strength: float, features: np.ndarray, labels: np.ndarray) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, max_iter=_MOST_STEPS).fit(features, labels)


_FEWEST_GROUPS = 10
"""Groups without which no strength is chosen."""
_PLAIN = 0.01
"""The strength where none can be chosen, as far as it is among those asked for."""
_SMALLEST = 1e-8
"""A feature that varies less is the same for all."""
_MOST_STEPS = 1000


@dataclass(frozen=True)
class _Fitted:
    """What a fit learned."""

    has_first: bool
    mean: np.ndarray
    deviation: np.ndarray
    regression: Any
    """None where there was one label only."""
    n_labels: int
    found: np.ndarray
    """(k,) the labels that were fitted."""

    def logits(self, features: np.ndarray) -> np.ndarray:
        """(q, n_labels) of `features` (q, F)."""
        decided = np.zeros((len(features), 1))
        if self.regression is not None:
            decided = self.regression.decision_function((features - self.mean) / self.deviation)
        return class_logits(decided, self.found, self.n_labels)
