"""Filters that are scikit-learn estimators: any one of yours, and two that have names, bags of n-grams.

A fit flattens the assigned candidates, n rows x m columns, into `q` examples, gold (label 1) against negatives
(label 0). Rows are not kept together: for a loss over the candidates of a row see `neural`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from swag_af.data.errors import InputError, in_one_line
from swag_af.data.plugins.own_code import is_installed, is_own, name_and_source
from swag_af.data.pool.view import View
from swag_af.filters.characters import character_counts
from swag_af.filters.contract import check_fit, gold_labels, unfitted
from swag_af.filters.strings import READINGS, Reading, endings


class SklearnFilter:
    """A scikit-learn classifier, or a pipeline that ends in one, as a filter.

    `SklearnFilter(make_pipeline(TfidfVectorizer(), LogisticRegression()))` reads second sentences. The object that
    is passed stays as it is: each fit trains a clone, and sets every `random_state` in it from `rng`, those that
    you set too.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        of: Reading | str | Callable[[View], Any] = "second_sentence",
        requires: Sequence[str] = (),
        name: str = "sklearn",
    ):
        """`of`: what the estimator is given for its `X`, q rows, the candidates of row 0 first.

        `"second_sentence"` start + ending, `"ending"`, both as written; `"tokens"` start + ending lower-cased, a
        blank between tokens; `"features"` the pool's table (q, F); or a function of the view that returns q rows
        of anything. `requires`: pool tables that such a function reads. `name`: a schedule with two of these
        filters needs two names.
        """
        self.estimator = estimator
        self.of = of
        self.requires = ("features",) if of == "features" else tuple(requires)
        self.name = name
        self._fitted: Any = None

    def __repr__(self) -> str:
        return f"SklearnFilter({self.estimator!r}, of={_spelled(self.of)!r}, name={self.name!r})"

    def settings(self) -> dict[str, Any]:
        """What identifies this filter in a run folder, for JSON; sources of your classes and functions too."""
        written = (one for setting in (self.estimator, self.of) for one in _written(setting))
        sources = sorted({name_and_source(one) for one in written if is_own(one)})
        return {"estimator": _spelled(self.estimator), "of": _spelled(self.of)} | (
            {"sources": sources} if sources else {}
        )

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        """Train a clone on gold against the other columns.

        Raises InputError for fewer than 2 candidates a row, a missing table, and what the estimator refuses.
        """
        from sklearn.base import clone, is_clusterer

        check_fit(self.name, view)
        if isinstance(self.estimator, type):
            called = self.estimator.__name__
            raise InputError(f"filter {self.name}: {called} is a class. Give an object of it: {called}(...).")
        if not hasattr(self.estimator, "get_params") or not hasattr(self.estimator, "fit"):
            raise InputError(f"filter {self.name}: {type(self.estimator).__name__} is no scikit-learn estimator.")
        if is_clusterer(self.estimator):
            raise InputError(f"filter {self.name}: {type(self.estimator).__name__} finds clusters, and learns no gold.")
        examples = self._read(view)
        estimator = clone(self.estimator)
        _set_random_states(estimator, rng)
        with self._told("be fitted"):
            self._fitted = estimator.fit(examples, gold_labels(view))

    def score(self, view: View) -> np.ndarray:
        """(n, m) floats: the decision function; without one the probability of gold, then the prediction.

        InputError for what the estimator refuses.
        """
        if self._fitted is None:
            raise unfitted(f"filter {self.name}")
        examples = self._read(view)
        with self._told("score"):
            scores = _gold_scores(self._fitted, examples)
        if scores.shape != (view.columns.size,) or not np.isfinite(scores).all():
            raise InputError(
                f"filter {self.name}: the estimator gave scores of shape {scores.shape}, not all finite, "
                f"for {view.columns.size} candidates. Is it a classifier of two classes?"
            )
        return scores.reshape(view.shape)

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Whatever the estimator raises, code of others in it too, as one line."""
        try:
            yield
        except MemoryError:
            raise
        except Exception as error:
            said = in_one_line(error).rstrip(".")
            raise InputError(f"filter {self.name}: the estimator cannot {what}: {said}.") from error

    def _read(self, view: View) -> Any:
        view.pool.require(*self.requires)
        if self.of == "features":
            return view.features.reshape(view.columns.size, -1)  # (q, F)
        if isinstance(self.of, str) and self.of not in READINGS:
            known = ", ".join((*READINGS, "features"))
            raise InputError(f"filter {self.name}: of={self.of!r} is none of {known}, nor a function of a view.")
        examples = (READINGS[self.of] if isinstance(self.of, str) else self.of)(view)
        n_examples = examples.shape[0] if hasattr(examples, "shape") else len(examples)
        if n_examples != view.columns.size:
            raise InputError(
                f"filter {self.name}: {_spelled(self.of)} gave {n_examples} rows for {view.columns.size} candidates."
            )
        return examples


MOST_FITTED = 100_000
"""Rows that a regression on n-grams learns from, at most: with ten candidates each about 2 GB of counts."""


MOST_BUCKETS = 1 << 26
"""Columns of counts, at most: a weight each is half a gigabyte."""
WEAKEST, STRONGEST = 1e-15, 1e15
"""Beyond these liblinear goes on for minutes, and ends where it ends at these."""


@dataclass(kw_only=True)
class _Counted(ABC):
    """What `NgramFilter` and `CharFilter` share: a logistic regression on counts that a subclass makes."""

    strength: float = 10.0
    """Inverse of the L2 penalty (scikit-learn's `C`)."""

    longest: int
    n_buckets: int

    name: ClassVar[str]

    _filter: SklearnFilter | None = field(default=None, init=False, repr=False, compare=False)

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        """Train on gold against the other columns; raises InputError for fewer than 2 candidates a row.

        Of more than `MOST_FITTED` rows so many are drawn: the counts of all would be in memory at once.
        """
        filter = self._make_filter()
        if len(view) > MOST_FITTED:
            view = view.take(np.sort(rng.choice(len(view), MOST_FITTED, replace=False)))
        filter.fit(view, rng=rng)
        self._filter = filter

    def score(self, view: View) -> np.ndarray:
        """(n, m) log-odds of gold."""
        if self._filter is None:
            raise unfitted(f"filter {self.name}")
        return self._filter.score(view)

    @abstractmethod
    def _make_filter(self) -> SklearnFilter:
        """An unfitted one that reads what the subclass counts."""

    def check(self) -> None:
        """Raise InputError for a setting out of its range."""
        if min(self.longest, self.n_buckets) < 1 or self.strength <= 0:
            raise InputError(f"filter {self.name}: longest and n_buckets must be 1 or more, strength above 0.")
        if self.n_buckets > MOST_BUCKETS or not WEAKEST <= self.strength <= STRONGEST:
            raise InputError(
                f"filter {self.name}: n_buckets at most {MOST_BUCKETS:,}, strength from {WEAKEST:g} to {STRONGEST:g}."
            )

    def _weighted(self) -> list[Any]:
        """The last steps of the unfitted pipeline: tf-idf, logistic regression."""
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.linear_model import LogisticRegression

        regression = LogisticRegression(C=self.strength, solver="liblinear")  # half the seconds of lbfgs, or less
        return [TfidfTransformer(sublinear_tf=True), regression]


@dataclass(kw_only=True)
class NgramFilter(_Counted):
    """Logistic regression on a bag of words and word pairs of the second sentence: quick, and no network.

    It sees which words go together, not where they stand, nor how they are written.
    """

    longest: int = 2
    """Words of the longest n-gram; every shorter one is counted too."""
    n_buckets: int = 2**18
    """N-grams are hashed into this many columns, so that nothing is built or kept word by word."""

    name: ClassVar[str] = "ngrams"

    def make_estimator(self) -> Any:
        """The unfitted pipeline: counts of hashed n-grams, tf-idf, logistic regression."""
        from sklearn.feature_extraction.text import HashingVectorizer
        from sklearn.pipeline import make_pipeline

        self.check()
        counts = HashingVectorizer(
            ngram_range=(1, self.longest),
            n_features=self.n_buckets,
            token_pattern=r"\S+",
            lowercase=False,  # tokens are
            alternate_sign=False,
            norm=None,
        )
        return make_pipeline(counts, *self._weighted())

    def _make_filter(self) -> SklearnFilter:
        return SklearnFilter(self.make_estimator(), of="tokens", name=self.name)


@dataclass(kw_only=True)
class CharFilter(_Counted):
    """Logistic regression on a bag of the characters of the ending, exactly as it is written.

    Letter case, blanks, quotes, the final mark and characters that nobody sees are all there, which the filters that
    read lower-cased tokens are blind to, and every release prints. It reads the ending alone: the start is the same
    for all candidates of a row.
    """

    longest: int = 4
    """Characters of the longest n-gram; every shorter one is counted too, beginning and end of the text being two."""
    n_buckets: int = 2**18
    """N-grams are hashed into this many columns."""

    name: ClassVar[str] = "chars"
    reads_ending_alone: ClassVar[bool] = True

    def _make_filter(self) -> SklearnFilter:
        from sklearn.pipeline import make_pipeline

        self.check()
        return SklearnFilter(make_pipeline(*self._weighted()), of=self._counts, name=self.name)

    def _counts(self, view: View) -> Any:
        return character_counts(endings(view), longest=self.longest, n_buckets=self.n_buckets)


def _set_random_states(estimator: Any, rng: np.random.Generator) -> None:
    """Every parameter `random_state`, however deep, drawn from `rng` in the order of their names."""
    names = sorted(name for name in estimator.get_params() if name.rpartition("__")[2] == "random_state")
    if names:
        estimator.set_params(**{name: int(rng.integers(2**31 - 1)) for name in names})


def _gold_scores(fitted: Any, examples: Any) -> np.ndarray:
    """(q,) float64: the higher, the more gold-like."""
    if hasattr(fitted, "decision_function"):
        scores = fitted.decision_function(examples)
    elif hasattr(fitted, "predict_proba"):
        scores = np.asarray(fitted.predict_proba(examples))[:, list(fitted.classes_).index(1)]
    else:
        scores = fitted.predict(examples)
    return np.asarray(scores, dtype=np.float64)


def _spelled(setting: Any) -> str:
    """A setting as text that does not depend on where in memory it stands."""
    if isinstance(setting, str):
        return setting
    if isinstance(setting, partial):
        given = [
            *map(_parameter, setting.args),
            *(f"{name}={_parameter(one)}" for name, one in setting.keywords.items()),
        ]
        return f"partial({', '.join([_spelled(setting.func), *given])})"
    if hasattr(setting, "__qualname__"):
        return f"{setting.__module__}:{setting.__qualname__}"
    return f"{type(setting).__name__}({_parameters(setting)})"


def _written(setting: Any) -> Iterator[Any]:
    """The classes and functions in a setting, however deep, that no installed package brought."""
    if isinstance(setting, partial):
        inner: Iterable[Any] = (setting.func, *setting.args, *setting.keywords.values())
    elif isinstance(setting, list | tuple):
        inner = setting
    elif isinstance(setting, dict):
        inner = setting.values()
    else:
        is_estimator = hasattr(setting, "get_params") and not isinstance(setting, type)
        inner = setting.get_params(deep=False).values() if is_estimator else ()
        thing = setting if hasattr(setting, "__qualname__") else type(setting)
        if not is_installed(thing):
            yield thing
    for one in inner:
        yield from _written(one)


def _parameters(setting: Any) -> str:
    """Of an estimator, or an instance of a dataclass; of other objects none are known."""
    values = {one.name: getattr(setting, one.name) for one in fields(setting)} if is_dataclass(setting) else {}
    values = setting.get_params(deep=False) if hasattr(setting, "get_params") else values
    return ", ".join(f"{name}={_parameter(value)}" for name, value in sorted(values.items()))


def _parameter(value: Any) -> str:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()  # as the numbers that they are
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_parameter, value))}]"
    plain = value is None or isinstance(value, str | int | float | bool | dict)
    return repr(value) if plain else _spelled(value)
