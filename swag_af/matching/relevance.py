"""Relevance by words: how alike query and response are under tf-idf, as a probability that is learned.

No understanding of what answers what: it is the stand-in that needs no weights and takes seconds. On captions it knows
that an ending with *guitar* belongs to a context with one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from swag_af.data.errors import InputError, check_faults
from swag_af.data.text.wording import words
from swag_af.matching.contract import training_pairs


@dataclass(kw_only=True)
class TfidfRelevance:
    """A logistic regression on the tf-idf cosine of query and response, and on the number of words of the response."""

    pairs_per_query: int = 4
    """Pairs learned from for each query, one of them true."""

    _fitted: tuple[Any, Any] | None = field(default=None, init=False, repr=False, compare=False)

    name: ClassVar[str] = "tfidf"

    def check(self) -> None:
        """Raise InputError for a setting out of range."""
        n = self.pairs_per_query
        check_faults([(n < 2, f"relevance tfidf: pairs_per_query={n}, at least 2, one of them true")])

    def fit(self, queries: Sequence[str], responses: Sequence[str], *, rng: np.random.Generator) -> None:
        """As `Relevance` says; the weights of words are those of both sides together."""
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression

        weights = TfidfVectorizer(analyzer=words, dtype=np.float32).fit([*queries, *responses])
        q, r = weights.transform(queries), weights.transform(responses)
        first, second = training_pairs(len(queries), rng=rng, per_query=self.pairs_per_query)
        cosines = np.asarray(q[first].multiply(r[second]).sum(axis=1)).ravel()  # (P,)
        lengths = _lengths(responses)[second]
        model = LogisticRegression(C=1e4).fit(np.stack([cosines, lengths], axis=1), first == second)
        self._fitted = weights, model

    def score(self, queries: Sequence[str], responses: Sequence[str]) -> np.ndarray:
        """As `Relevance` says."""
        if self._fitted is None:
            raise InputError("relevance tfidf has not been fitted. Call fit(queries, responses, rng=...) first.")
        weights, model = self._fitted
        cosines = (weights.transform(queries) @ weights.transform(responses).T).toarray()  # (n, m)
        by_cosine, by_length = (np.float32(weight) for weight in model.coef_[0])
        logits = cosines * by_cosine
        logits += _lengths(responses) * by_length + np.float32(model.intercept_[0])
        return sigmoid(logits)


def _lengths(texts: Sequence[str]) -> np.ndarray:
    return np.log1p([len(words(text)) for text in texts]).astype(np.float32)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-logits)), in place where they are float32."""
    from scipy.special import expit

    made: np.ndarray = expit(logits, out=logits)
    return made
