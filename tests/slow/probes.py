"""The slow, obvious twin of the tf-idf probe: a model of strings, a scikit-learn pipeline fitted anew in each fold."""

from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline


class PlainTfidf:
    """What a user would write; it needs at least two labels, and one word, in what it is fitted on."""

    name = "plain"

    def fit(self, texts: Sequence[str], labels: np.ndarray, n_labels: int, *, rng: np.random.Generator) -> None:
        words = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\w+(?:['’]\w+)*|[^\w\s]")
        self.pipeline = make_pipeline(words, LogisticRegression(solver="lbfgs", tol=1e-9, max_iter=5000))
        self.pipeline.fit(texts, labels)
        self.n_labels = n_labels

    def score(self, texts: Sequence[str]) -> np.ndarray:
        scores = np.full((len(texts), self.n_labels), -1e6)
        scores[:, self.pipeline.classes_] = self.pipeline.predict_log_proba(texts)
        return scores
