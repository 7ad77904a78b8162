"""What a filter is, in four sentences, and the function that tests them on anyone's class.

    1. The constructor stores settings and does nothing else.
    2. `fit` learns from a view whose column 0 is gold and forgets any earlier fit.
    3. `score` gives one finite float per candidate, whatever else is scored in the same call, and permuting
       the columns permutes the scores and nothing else.
    4. The same `rng` gives the same scores.

No filter lives here, and nothing of torch.
"""

import copy
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from swag_af.data.context import Context
from swag_af.data.errors import ContractError
from swag_af.data.pool.folder import FEATURES
from swag_af.data.pool.pool import CandidatePool, View


@runtime_checkable
class Filter(Protocol):
    """A classifier that scores how gold-like a candidate is.

    Six attributes are optional:

    * `requires`, the names of the pool tables that it reads beyond those every pool has, such as `("features",)`;
    * `check()`, called before any work, which raises InputError for what would fail later;
    * `settings() -> dict`, what a resumed run must have the same, where the filter is no dataclass;
    * `device`, set to `auto`, `cpu` or `cuda` before the first fit, as the command line says;
    * `argument`, a class attribute: the name of the setting that stands in brackets where the filter is named,
      `transformer[path/to/model]`;
    * `member_scores(view) -> dict[str, np.ndarray]`, the scores (n, m) of each of its heads, which are logged and
      decide nothing.
    """

    name: str

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        """Learn to tell column 0 of `view` from its other columns."""

    def score(self, view: View) -> np.ndarray:
        """(n, m) floats, higher = more gold-like."""


def settings_of(filter: Filter) -> dict[str, Any]:
    """The settings of a filter: what its `settings()` returns, or the fields of a dataclass; empty for others."""
    if hasattr(filter, "settings"):
        return dict(filter.settings())
    if not is_dataclass(filter):
        return {}
    return {f.name: getattr(filter, f.name) for f in fields(filter) if f.init}


SCORED_AT_ONCE = 200_000
"""Candidates handed to a filter in one call, at most: bounds the memory of scoring."""


def score_in_parts(filter: Filter, view: View) -> np.ndarray:
    """`filter.score(view)` some rows at a time; the same, since no score depends on what else is scored."""
    n_parts = max(1, min(len(view), -(-view.columns.size // SCORED_AT_ONCE)))
    return np.concatenate([filter.score(view.take(part)) for part in np.array_split(np.arange(len(view)), n_parts)])


N_ROWS, N_COLUMNS = 48, 5


def check_filter(filter_or_factory: Filter | Callable[[], Filter], *, rng: np.random.Generator | None = None) -> None:
    """Raise ContractError, naming the sentence, unless the filter keeps the contract.

    Takes a class, any function that returns a new filter, or an unfitted filter (copied before each fit).
    Fits it five times on a pool of 48 rows made in memory from random words and random features.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    make = _factory(filter_or_factory)
    pool = _small_pool(rng)
    rows, columns = np.arange(N_ROWS), np.tile(np.arange(N_COLUMNS), (N_ROWS, 1))
    view = pool.view(rows, columns)
    first, second = view.take(rows[: N_ROWS // 2]), view.take(rows[N_ROWS // 2 :])
    seed = int(rng.integers(2**32))

    _check_constructor(make)
    fitted = make()
    fitted.fit(second, rng=np.random.default_rng(seed))
    scores = fitted.score(view)
    _check_scores(fitted, view, scores, rng)
    _check_same_rng(make, second, view, scores, seed)
    _check_forgets(make, first, second, view, scores, seed)


def _factory(filter_or_factory: Filter | Callable[[], Filter]) -> Callable[[], Filter]:
    if isinstance(filter_or_factory, type) or not hasattr(filter_or_factory, "fit"):
        assert callable(filter_or_factory)
        return filter_or_factory
    unfitted: Any = filter_or_factory
    return lambda: copy.deepcopy(unfitted)


def _small_pool(rng: np.random.Generator) -> CandidatePool:
    words = [f"{a}{b}" for a in ("ba", "ke", "lo", "mi", "nu") for b in ("d", "g", "ll", "nk", "rt", "st")]

    def phrase(n: int) -> str:
        return " ".join(rng.choice(words, n))

    contexts = [
        Context(phrase(8), phrase(int(rng.integers(1, 5))), f"{phrase(int(rng.integers(3, 12)))} x{i}x0 .")
        for i in range(N_ROWS)
    ]
    negatives = [[f"{phrase(int(rng.integers(3, 12)))} x{i}x{j} ." for j in range(1, N_COLUMNS)] for i in range(N_ROWS)]
    features = [rng.normal(size=(N_COLUMNS, len(FEATURES))).astype(np.float32) for _ in range(N_ROWS)]
    return CandidatePool.from_texts(contexts, negatives, features=features)


def _check_constructor(make: Callable[[], Filter]) -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[index] # noqa: NPY002
    one, two = make(), make()
    if not np.array_equal(before, np.random.get_state()[1]):  # type: ignore[index] # noqa: NPY002
        raise _broken(1, one, "constructing it draws from numpy's global generator")
    differing = [name for name in vars(one) | vars(two) if not _same(vars(one).get(name), vars(two).get(name))]
    if differing:
        raise _broken(1, one, f"two constructions differ in {', '.join(differing)}")
    if not isinstance(getattr(one, "name", None), str):
        raise _broken(1, one, "it has no `name`")


def _check_scores(fitted: Filter, view: View, scores: np.ndarray, rng: np.random.Generator) -> None:
    n, m = view.shape
    if not isinstance(scores, np.ndarray) or scores.shape != (n, m):
        raise _broken(3, fitted, f"scores of a view {n} x {m} have shape {getattr(scores, 'shape', None)}")
    if scores.dtype.kind != "f" or not np.isfinite(scores).all():
        raise _broken(3, fitted, f"scores are not all finite floats (type {scores.dtype})")
    if not _close(fitted.score(view), scores, 1e-5):
        raise _broken(3, fitted, "scoring the same view twice gives two answers")
    order = rng.permuted(np.tile(np.arange(m), (n, 1)), axis=1)  # (n, m)
    if not _close(fitted.score(view.permute(order)), np.take_along_axis(scores, order, axis=1), 1e-5):
        raise _broken(3, fitted, "permuting the candidates changes their scores: a position leaks")
    some = rng.choice(n, n // 3, replace=False)
    if not _close(fitted.score(view.take(some)), scores[some], 1e-4):
        raise _broken(3, fitted, "a row scored among fewer rows scores otherwise")
    few = View(view.pool, view.rows[some], view.columns[some][:, :2])
    if not _close(fitted.score(few), scores[some][:, :2], 1e-4):
        raise _broken(3, fitted, "a candidate scored among fewer candidates scores otherwise")


def _check_same_rng(make: Callable[[], Filter], train: View, view: View, scores: np.ndarray, seed: int) -> None:
    again = make()
    again.fit(train, rng=np.random.default_rng(seed))
    if not _close(again.score(view), scores, 1e-5):
        raise _broken(4, again, "two fits with the same rng score differently")


def _check_forgets(
    make: Callable[[], Filter], first: View, second: View, view: View, scores: np.ndarray, seed: int
) -> None:
    refitted = make()
    refitted.fit(first, rng=np.random.default_rng(seed + 1))
    refitted.fit(second, rng=np.random.default_rng(seed))
    if not _close(refitted.score(view), scores, 1e-5):
        raise _broken(2, refitted, "a second fit scores otherwise than a fresh filter fitted on the same view")


_SENTENCES = {
    1: "the constructor stores settings and does nothing else",
    2: "fit forgets any earlier fit",
    3: "score gives one finite float per candidate, and permuting the columns permutes the scores",
    4: "the same rng gives the same scores",
}


def _broken(sentence: int, filter: Filter, how: str) -> ContractError:
    return ContractError(f"{type(filter).__name__} breaks sentence {sentence}, {_SENTENCES[sentence]}: {how}.")


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(two, np.ndarray):
        return np.array_equal(one, two)
    if type(one) is type(two) and type(one).__eq__ is object.__eq__:
        return True  # such objects, a scikit-learn estimator say, know their identity alone
    equal = one == two
    return bool(equal) if isinstance(equal, bool) else one is two or type(one) is type(two)


def _close(one: np.ndarray, two: np.ndarray, tolerance: float) -> bool:
    """Equal to within `tolerance` of the largest score."""
    return one.shape == two.shape and bool(np.abs(one - two).max() <= tolerance * max(np.abs(two).max(), 1e-6))
