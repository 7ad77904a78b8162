"""`check_filter`, which tests the four sentences of the contract on anyone's class."""

from collections.abc import Callable

import numpy as np

from swag_af.data.context import Context
from swag_af.data.contracts import broken, constructor_fault, factory_of
from swag_af.data.errors import ContractError
from swag_af.data.pool.folder import FEATURES
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.filters.contract import Filter

N_ROWS, N_COLUMNS = 48, 5
N_ALONE = 8
"""Candidates that are scored with no other."""


def check_filter(filter_or_factory: Filter | Callable[[], Filter], *, rng: np.random.Generator | None = None) -> None:
    """Raise ContractError, naming the sentence, unless the filter keeps the contract.

    Takes a class, any function that returns a new filter, or an unfitted filter (copied before each fit).
    Fits it five times on a pool of 48 rows made in memory from random words and random features.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    make: Callable[[], Filter] = factory_of(filter_or_factory, "fit")
    pool = small_pool(rng)
    rows, columns = np.arange(N_ROWS), np.tile(np.arange(N_COLUMNS), (N_ROWS, 1))
    view = pool.view(rows, columns)
    first, second = view.take(rows[: N_ROWS // 2]), view.take(rows[N_ROWS // 2 :])
    seed = int(rng.integers(2**32))

    fault = constructor_fault(make)
    if fault is not None:
        raise _broken(1, make(), fault)
    fitted = make()
    fitted.fit(second, rng=np.random.default_rng(seed))
    _check_unchanged(2, fitted, second)
    scores = fitted.score(view)
    _check_unchanged(3, fitted, view)
    _check_scores(fitted, view, scores, rng)
    _check_same_rng(make, second, view, scores, seed)
    _check_forgets(make, first, second, view, scores, seed)


def small_pool(rng: np.random.Generator) -> CandidatePool:
    """`N_ROWS` rows of `N_COLUMNS` random texts with random features, gold first, all different."""
    words = [f"{a}{b}" for a in ("ba", "ke", "lo", "mi", "nu") for b in ("d", "g", "ll", "nk", "rt", "st")]

    def phrase(n: int) -> str:
        return " ".join(rng.choice(words, n))

    contexts = [
        Context(phrase(8), phrase(int(rng.integers(1, 5))), f"{phrase(int(rng.integers(3, 12)))} x{i}x0 .")
        for i in range(N_ROWS)
    ]
    negatives = [[f"{phrase(int(rng.integers(3, 12)))} x{i}x{j} ." for j in range(1, N_COLUMNS)] for i in range(N_ROWS)]
    features = [rng.normal(size=(N_COLUMNS, len(FEATURES))).astype(np.float32) for _ in range(N_ROWS)]
    return CandidatePool.from_texts(contexts, negatives, features=features, feature_names=FEATURES)


def _check_unchanged(sentence: int, filter: Filter, view: View) -> None:
    """What a view has read is kept for those that read it next."""
    fresh = View(view.pool, view.rows, view.columns)
    read = {name: table for name, table in vars(view).items() if isinstance(table, np.ndarray)}
    for name in (name for name in read if not np.array_equal(read[name], getattr(fresh, name))):
        raise _broken(sentence, filter, f"it writes into view.{name}, which others read after it")


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
    heads = dict(fitted.member_scores(view)) if hasattr(fitted, "member_scores") else {}
    if fitted.name in heads and not _close(heads[fitted.name], scores, 1e-5):
        raise _broken(3, fitted, f"member_scores has other scores under its own name, {fitted.name!r}")
    rows, columns = rng.integers(n, size=N_ALONE), rng.integers(m, size=N_ALONE)
    each = [
        fitted.score(View(view.pool, view.rows[[i]], view.columns[[i], [j]][:, None]))
        for i, j in zip(rows, columns, strict=True)
    ]
    if not _close(np.concatenate(each).ravel(), scores[rows, columns], 1e-4):
        raise _broken(3, fitted, "a candidate scored alone scores otherwise")


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
    2: "fit changes nothing in its view and forgets any earlier fit",
    3: "score changes nothing in its view and gives one finite float per candidate, and permuting the columns permutes "
    "the scores",
    4: "the same rng gives the same scores",
}


def _broken(sentence: int, filter: Filter, how: str) -> ContractError:
    return broken(_SENTENCES, sentence, filter, how)


def _close(one: np.ndarray, two: np.ndarray, tolerance: float) -> bool:
    """Equal to within `tolerance` of the largest score."""
    return one.shape == two.shape and bool(np.abs(one - two).max() <= tolerance * max(np.abs(two).max(), 1e-6))
