"""Relevance by words: how alike query and response are under tf-idf, as a probability that is learned.

No understanding of what answers what: it is the stand-in that needs no weights and takes seconds. On captions it knows
that an ending with *guitar* belongs to a context with one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from swag_af.data.errors import check_faults
from swag_af.data.text.wording import words
from swag_af.filters.contract import unfitted
from swag_af.matching.contract import training_pairs


@dataclass(kw_only=True)
class TfidfRelevance:
    """A logistic regression on the tf-idf cosine of query and response, and on the number of words of the response."""

    pairs_per_query: int = 4
    """Pairs learned from for each query, one of them true."""

    _fitted: "tuple[Weights, Any] | None" = field(default=None, init=False, repr=False, compare=False)

    name: ClassVar[str] = "tfidf"

    def check(self) -> None:
        """Raise InputError for a setting out of range."""
        n = self.pairs_per_query
        check_faults([(n < 2, f"relevance tfidf: pairs_per_query={n}, at least 2, one of them true")])

    def fit(self, queries: Sequence[str], responses: Sequence[str], *, rng: np.random.Generator) -> None:
        """As `Relevance` says; the weights of words are those of both sides together."""
        from sklearn.linear_model import LogisticRegression

        weights = Weights.of([*queries, *responses])
        q, r = weights.table(queries), weights.table(responses)
        first, second = training_pairs(len(queries), rng=rng, per_query=self.pairs_per_query)
        cosines = np.asarray(q[first].multiply(r[second]).sum(axis=1)).ravel()  # (P,)
        lengths = _lengths(responses)[second]
        model = LogisticRegression(C=1e4).fit(np.stack([cosines, lengths], axis=1), first == second)
        self._fitted = weights, model

    def score(self, queries: Sequence[str], responses: Sequence[str]) -> np.ndarray:
        """As `Relevance` says."""
        if self._fitted is None:
            raise unfitted("relevance tfidf", "queries, responses")
        weights, model = self._fitted
        cosines = (weights.table(queries) @ weights.table(responses).T).toarray()  # (n, m)
        by_cosine, by_length = (np.float32(weight) for weight in model.coef_[0])
        logits = cosines * by_cosine
        logits += _lengths(responses) * by_length + np.float32(model.intercept_[0])
        return sigmoid(logits)


@dataclass(frozen=True)
class Weights:
    """The tf-idf weights of the words of some texts."""

    fitted: Any
    """A fitted `TfidfVectorizer`; None where no text has a word, and nothing is like anything."""

    @staticmethod
    def of(texts: Sequence[str]) -> "Weights":
        """Those of `texts`."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        if not any(map(words, texts)):
            return Weights(None)
        return Weights(TfidfVectorizer(analyzer=words, dtype=np.float32).fit(texts))

    def table(self, texts: Sequence[str]) -> Any:
        """(t, V) float32 sparse, rows of length 1, or 0 where a text has no known word."""
        from scipy.sparse import csr_matrix

        if self.fitted is None:
            return csr_matrix((len(texts), 1), dtype=np.float32)
        return self.fitted.transform(texts)


def _lengths(texts: Sequence[str]) -> np.ndarray:
    return np.log1p([len(words(text)) for text in texts]).astype(np.float32)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-logits)), in place where they are float32."""
    from scipy.special import expit

    made: np.ndarray = expit(logits, out=logits)
    return made
