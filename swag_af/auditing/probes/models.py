"""What reads an input: models of texts with labels.

`tfidf`, a logistic regression on words and pairs of words weighted by tf-idf, and `fasttext` have names; filters are in
`bridge`. A model of your own is a class with two methods, named `package.module:Class`, or an object of it:

    class Mine:
        name = "mine"

        def fit(self, texts, labels, n_labels, *, rng):
            # q texts, labels (q,) from 0 to n_labels - 1; forgets any earlier fit
            self.fitted = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, labels)

        def score(self, texts):
            return self.fitted.predict_log_proba(texts)  # (q, n_labels)

Of choices every option is a text, with label 1 where it is right and 0 where it is not; of classes every instance is
one, and its class is the label. A text is what the input has of an entry, pieces joined by blanks. Scores are
log-probabilities or logits, finite; an option is as likely to be gold as its second score is above its first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from swag_af.auditing.probes.inputs import Reading
from swag_af.auditing.probes.words import ngram_counts
from swag_af.data.errors import ContractError, told
from swag_af.data.instances.instances import Texts
from swag_af.data.plugins.own_code import blaming
from swag_af.filters.contract import class_logits
from swag_af.filters.fast_text import FastText, FastTextSettings, train


@runtime_checkable
class Model(Protocol):
    """A classifier of texts; see the head of this module."""

    name: str

    def fit(self, texts: Sequence[str], labels: np.ndarray, n_labels: int, *, rng: np.random.Generator) -> None:
        """Learn `labels` (q,) of q texts."""

    def score(self, texts: Sequence[str]) -> np.ndarray:
        """(q, n_labels) log-probabilities or logits."""


class Scorer(Protocol):
    """A model that is ready for one input of one set: it holds texts, and each fit gets the labels of fitted rows."""

    def fit_score(
        self, fitted: np.ndarray, answers: np.ndarray, scored: np.ndarray, *, rng: np.random.Generator
    ) -> np.ndarray:
        """(a,) scores of the answers of rows `scored`, in order, by a fit on rows `fitted` with their `answers`."""


def answers_of(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Where the answers of `rows` lie among all, in order; `offsets` (N + 1,) says where those of each row begin."""
    sizes = np.diff(offsets)[rows]
    ends = np.cumsum(sizes)
    return np.arange(sizes.sum()) + np.repeat(offsets[rows] - (ends - sizes), sizes)


class Learner(Protocol):
    """A model that knows the entries of its input by their numbers."""

    def fit(self, entries: np.ndarray, labels: np.ndarray, n_labels: int, *, rng: np.random.Generator) -> None:
        """Learn `labels` (q,) of `entries` (q,)."""

    def score(self, entries: np.ndarray) -> np.ndarray:
        """(q, n_labels) log-probabilities or logits."""


@dataclass(frozen=True)
class ByEntry:
    """The scorer of a learner: entries are options, right or not, or texts with classes."""

    texts: Texts
    learner: Learner

    def fit_score(
        self, fitted: np.ndarray, answers: np.ndarray, scored: np.ndarray, *, rng: np.random.Generator
    ) -> np.ndarray:
        """As `Scorer` says; of choices log-odds of gold."""
        offsets = self.texts.offsets
        if self.texts.kind == "classes":
            self.learner.fit(fitted, answers, int(offsets[1]), rng=rng)
            return self.learner.score(scored).ravel()
        labels = np.zeros(int(offsets[-1]), np.int64)
        labels[offsets[:-1][fitted] + answers] = 1
        entries = answers_of(fitted, offsets)
        self.learner.fit(entries, labels[entries], 2, rng=rng)
        scores = self.learner.score(answers_of(scored, offsets))  # (a, 2)
        return scores[:, 1] - scores[:, 0]


def with_all_shares(logits: np.ndarray, fitted: np.ndarray, every: np.ndarray, n_labels: int) -> np.ndarray:
    """`logits` (n * n_labels,) as if the labels `fitted` had the shares that `every` label of the set has.

    A fold that has more of a class leaves fewer of it to fit on, so a model that knows nothing would name the others
    there, and be right less often than by guessing. Chance is counted from the shares of the set, too (Saerens,
    Latinne and Decaestecker 2002 correct for shares in this way). A class that was not fitted stays as it is.
    """
    here, there = (np.bincount(labels, minlength=n_labels) / len(labels) for labels in (fitted, every))
    is_known = (here > 0) & (there > 0)
    shift = np.log(np.where(is_known, there, 1.0)) - np.log(np.where(is_known, here, 1.0))  # (n_labels,)
    return (logits.reshape(-1, n_labels) + shift).ravel()


class Tfidf:
    """Logistic regression on words and pairs of words, weighted by tf-idf; scikit-learn's defaults throughout.

    The same as `make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression())` with our words, fitted in
    each fold anew: idf are those of the fitted texts, and n-grams that those do not have count nothing, not even in
    the length of a text. All n-grams are kept, since one that was met once in fitted texts may be met in scored ones.
    The regression is solved by Newton's method to a tolerance at which order and solver do not matter.
    """

    def __init__(self, reading: Reading):
        self.counts = ngram_counts(reading.tokens.joined(reading.pieces))  # (q, F)

    def fit(self, entries: np.ndarray, labels: np.ndarray, n_labels: int, *, rng: np.random.Generator) -> None:
        """Weights, then the regression; draws nothing."""
        from sklearn.linear_model import LogisticRegression

        counts = self.counts[entries]
        n_texts = np.bincount(counts.indices, minlength=counts.shape[1])  # (F,) fitted texts that have each n-gram
        self.idf = np.where(n_texts, np.log((1 + len(entries)) / (1 + n_texts)) + 1, 0.0)
        self.n_labels, self.found = n_labels, np.unique(labels)
        if len(self.found) > 1:
            self.regression = LogisticRegression(solver="newton-cg", tol=_TOLERANCE)
            self.regression.fit(self._weighted(counts), labels)

    def score(self, entries: np.ndarray) -> np.ndarray:
        """(q, n_labels) logits."""
        if len(self.found) < 2:
            return class_logits(np.zeros((len(entries), 1)), self.found, self.n_labels)
        logits = self.regression.decision_function(self._weighted(self.counts[entries]))
        return class_logits(logits, self.found, self.n_labels)

    def _weighted(self, counts: Any) -> Any:
        from scipy.sparse import csr_matrix
        from sklearn.preprocessing import normalize

        weighted = csr_matrix((counts.data * self.idf[counts.indices], counts.indices, counts.indptr), counts.shape)
        return normalize(weighted, copy=False)


_TOLERANCE = 1e-5


class FastTextModel:
    """Supervised fastText with the settings of the filter of that name."""

    name = "fasttext"

    def __init__(self) -> None:
        self.settings = FastTextSettings()
        self.settings.check()

    def fit(self, texts: Sequence[str], labels: np.ndarray, n_labels: int, *, rng: np.random.Generator) -> None:
        """Train, in an order drawn from `rng`."""
        self.n_labels = n_labels
        self.fitted: FastText = train(self.settings, texts, labels, rng=rng)

    def score(self, texts: Sequence[str]) -> np.ndarray:
        """(q, n_labels) logits."""
        outputs = np.array(list(self.fitted.outputs.values()))  # (k, dim)
        logits = self.fitted.vectors(texts) @ outputs.T  # (q, k)
        return class_logits(logits, np.array(list(self.fitted.outputs)), self.n_labels)


class OfStrings:
    """The learner of a model that reads texts as strings: ours where `of_words`, as numbered words spelled out."""

    def __init__(self, model: Model, reading: Reading, *, of_words: bool = False):
        self.model = model
        joined = reading.tokens.joined(reading.pieces) if of_words else None
        self.strings = reading.whole() if joined is None else [joined.text(i) for i in range(len(reading.pieces))]

    def fit(self, entries: np.ndarray, labels: np.ndarray, n_labels: int, *, rng: np.random.Generator) -> None:
        """Learn `labels` (q,) of `entries` (q,)."""
        self.n_labels = n_labels
        with blaming(self.model, "fit", _HOW):
            self.model.fit([self.strings[i] for i in entries.tolist()], labels, n_labels, rng=rng)

    def score(self, entries: np.ndarray) -> np.ndarray:
        """(q, n_labels); raises ContractError for scores of another shape, or that are not finite."""
        with blaming(self.model, "score", _HOW):
            given = self.model.score([self.strings[i] for i in entries.tolist()])
        return label_scores(given, (len(entries), self.n_labels), f"model {self.model.name}: score")


_HOW = "`swag_af.auditing.probes.models` says how it is asked."


def label_scores(given: Any, due: tuple[int, int], whose: str) -> np.ndarray:
    """`given` as numbers (q, n_labels); raises ContractError for another shape, and for what is not finite."""
    try:
        scores = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise ContractError(f"{whose} gave {told(given)}, where numbers {due} are due. {_HOW}") from None
    if scores.shape != due:
        found = told(given) if scores.ndim == 0 else str(scores.shape)
        raise ContractError(
            f"{whose} gave {found}, where {due} is due: one finite number for each text and label. {_HOW}"
        )
    if n := int((~np.isfinite(scores)).sum()):
        raise ContractError(f"{whose} gave {n:,} of {scores.size:,} numbers that are not finite. {_HOW}")
    return scores
