"""`check_filter`, which tests the four sentences of the contract on anyone's class."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np

from swag_af.data.context import Context
from swag_af.data.disk.files import plain
from swag_af.data.errors import ContractError, InputError
from swag_af.data.plugins.contracts import WORDS, broken, constructor_fault, factory_of
from swag_af.data.plugins.own_code import arguments_lost, blaming, said_of
from swag_af.data.pool.folder import CONTEXT_TAGS, FEATURES
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import Readable, View
from swag_af.filters.contract import (
    Filter,
    LastingFilter,
    MovableFilter,
    check_is_filter,
    fit_filter,
    fit_filter_on,
    heads_of,
    record_of_fit,
    restore_filter,
    score_fault,
    settings_of,
    state_of,
)

N_ROWS, N_COLUMNS = 48, 5
N_ALONE = 8
"""Candidates that are scored with no other."""


def check_filter(filter_or_factory: Filter | Callable[[], Filter], *, rng: np.random.Generator | None = None) -> None:
    """Raise ContractError, naming the sentence, unless the filter keeps the contract.

    Takes a class, any function that returns a new filter, or an unfitted filter (copied before each fit).
    Fits it four times on a pool of 48 rows made in memory from random words and, where it requires them, random
    features; where it can learn on (`fit_on`) or move (`state`, `restore`), some times more.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    make: Callable[[], Filter] = factory_of(filter_or_factory, "fit")
    check_is_filter(make(), type(make()).__name__)
    with blaming(make(), "check"):
        getattr(make(), "check", lambda: None)()
    pool = small_pool(rng, make())
    rows, columns = np.arange(N_ROWS), np.tile(np.arange(N_COLUMNS), (N_ROWS, 1))
    view = pool.view(rows, columns)
    first, second = view.take(rows[: N_ROWS // 2]), view.take(rows[N_ROWS // 2 :])
    seed = int(rng.integers(2**32))

    fault = constructor_fault(make)
    if fault is not None:
        raise _broken(1, make(), fault)
    fitted = make()
    settings = check_settings(_SENTENCES, make, fitted)
    with of_its_tables(fitted):
        fit_filter(fitted, second, rng=np.random.default_rng(seed))
        _check_unchanged(2, fitted, second)
        scores = _scored(fitted, view)
        _check_unchanged(3, fitted, view)
        _check_scores(fitted, view, scores, rng)
    record_of_fit(fitted)
    said_of(fitted)
    if fault := changed_settings(fitted, settings, settings_of(fitted)):
        raise _broken(1, fitted, f"{fault} when it is fitted")
    _check_same_rng(make, second, view, scores, seed)
    _check_forgets(make, first, second, view, scores, seed)
    _check_moves(make, fitted, view)
    _check_learns_on(make, first, view, seed)


def check_settings(sentences: Mapping[int, str], make: Callable[[], Any], made: Any) -> dict[str, Any]:
    """The settings of `made`; ContractError where those of another of the same making differ, or cannot be kept."""
    settings = settings_of(made)
    if hasattr(made, "settings") and not same_settings(settings, settings_of(make())):
        raise broken(sentences, 1, made, "two constructions have other settings()")
    if not hasattr(made, "settings") and not is_dataclass(made) and (lost := arguments_lost(made)):
        raise broken(
            sentences,
            1,
            made,
            f"it keeps nothing under the name of {', '.join(lost)}, by which a run would know it from one made "
            f"otherwise: let it be `self.{lost[0]}`, or write `settings()`",
        )
    return settings


def changed_settings(made: object, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Which settings of `made` change, in words; empty where none does."""
    names = [name for name in {**before, **after} if not same_settings(_only(name, before), _only(name, after))]
    if not names:
        return ""
    one = len(names) == 1
    if hasattr(made, "settings") or is_dataclass(made):
        return f"its {'setting' if one else 'settings'} {', '.join(names)} {'changes' if one else 'change'}"
    return f"what it keeps of its {'argument' if one else 'arguments'} {', '.join(names)} changes"


def _only(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: settings[name]} if name in settings else {}


def same_settings(one: Mapping[str, Any], two: Mapping[str, Any]) -> bool:
    """Whether a manifest would hold the same of both: arrays are lists there."""
    return json.dumps(one, default=plain, sort_keys=True) == json.dumps(two, default=plain, sort_keys=True)


def small_pool(rng: np.random.Generator, made: object) -> CandidatePool:
    """`N_ROWS` rows of `N_COLUMNS` random texts, gold first, all different, with random features where a filter or a
    guard, `made`, requires these. ContractError where it requires tables that no pool has."""

    def phrase(n: int) -> str:
        return " ".join(rng.choice(WORDS, n))

    contexts = [
        Context(phrase(8), phrase(int(rng.integers(1, 5))), f"{phrase(int(rng.integers(3, 12)))} x{i}x0 .")
        for i in range(N_ROWS)
    ]
    negatives = [[f"{phrase(int(rng.integers(3, 12)))} x{i}x{j} ." for j in range(1, N_COLUMNS)] for i in range(N_ROWS)]
    features = [rng.normal(size=(N_COLUMNS, len(FEATURES))).astype(np.float32) for _ in range(N_ROWS)]
    requires = getattr(made, "requires", ())
    has = "features" in requires
    pool = CandidatePool.from_texts(
        contexts, negatives, features=features if has else None, feature_names=FEATURES if has else None
    )
    if strange := sorted(set(requires) - {*pool.tables, *CONTEXT_TAGS, *_OPTIONAL}):
        known = ", ".join(sorted({*pool.tables, *CONTEXT_TAGS, *_OPTIONAL}))
        raise ContractError(f"{type(made).__name__}: it requires {', '.join(strange)}, and there are {known}.")
    return pool


_OPTIONAL = ("features", "tags")
"""Tables that a pool may have, which filters require."""


@contextmanager
def of_its_tables(made: object) -> Iterator[None]:
    """Tell a filter or a guard that reads features and requires none: of a pool without, it would end in the midst of
    work."""
    try:
        yield
    except InputError as error:
        if "no table features" in str(error) and "features" not in getattr(made, "requires", ()):
            raise ContractError(
                f"{type(made).__name__} reads features, which not every pool has, and does not require them. Write "
                '`requires = ("features",)` into the class.'
            ) from error
        raise


def _scored(filter: Filter, view: View) -> np.ndarray:
    """The scores (n, m) of `view`; ContractError where it raises, or where they are none."""
    with blaming(filter, "score"):
        scores = filter.score(view)
    if fault := score_fault(scores, view):
        raise _broken(3, filter, fault)
    return scores


def _check_unchanged(sentence: int, filter: Filter, view: View) -> None:
    """What a view has read is kept for those that read it next."""
    fresh = View(view.pool, view.rows, view.columns)
    read = {name: table for name, table in vars(view).items() if isinstance(table, np.ndarray)}
    for name in (name for name in read if not np.array_equal(read[name], getattr(fresh, name))):
        raise _broken(sentence, filter, f"it writes into view.{name}, which others read after it")


def _check_scores(fitted: Filter, view: View, scores: np.ndarray, rng: np.random.Generator) -> None:
    n, m = view.shape
    if not _close(_scored(fitted, view), scores, 1e-5):
        raise _broken(3, fitted, "scoring the same view twice gives two answers")
    order = rng.permuted(np.tile(np.arange(m), (n, 1)), axis=1)  # (n, m)
    if not _close(_scored(fitted, view.permute(order)), np.take_along_axis(scores, order, axis=1), 1e-5):
        raise _broken(3, fitted, "permuting the candidates changes their scores: a position leaks")
    some = rng.choice(n, n // 3, replace=False)
    if not _close(_scored(fitted, view.take(some)), scores[some], 1e-4):
        raise _broken(3, fitted, "a row scored among fewer rows scores otherwise")
    heads = heads_of(fitted, view)
    if fitted.name in heads and not _close(heads[fitted.name], scores, 1e-5):
        raise _broken(3, fitted, f"member_scores has other scores under its own name, {fitted.name!r}")
    if not getattr(fitted, "reads_rows", False):  # such a one audits, and takes part in no loop
        _check_alone(fitted, view, scores, some, rng)
    _check_blind(fitted, view, scores, rng)


def _check_blind(fitted: Filter, view: View, scores: np.ndarray, rng: np.random.Generator) -> None:
    """The same candidates have the same scores under other numbers, in contexts that call another one gold."""
    n, m = view.shape
    order = (np.arange(m) + rng.integers(1, m)) % m
    disguised = View(_Disguised(view.pool, order), view.rows, np.tile(np.argsort(order), (n, 1)))
    if not _close(_scored(fitted, disguised), scores, 1e-4):
        raise _broken(
            3,
            fitted,
            "the same candidates score otherwise where another one is gold: it reads the answer, as "
            "`view.contexts[i].gold` (a part of `str(view.contexts[i])`) or `view.columns`",
        )


class _Disguised:
    """A pool whose candidates have other numbers: number `j` is what number `order[j]` was. Contexts have the text of
    number 0 as gold."""

    def __init__(self, pool: Readable, order: np.ndarray):
        self._pool, self._order = pool, order
        self.contexts: Any = _OtherGolds(pool, order[0])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def gather(self, table: str, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        return self._pool.gather(table, rows, None if columns is None else self._order[columns])

    def feature(self, name: str, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self._pool.feature(name, rows, self._order[columns])

    def texts_of(self, rows: np.ndarray, columns: np.ndarray) -> list[list[str]]:
        return self._pool.texts_of(rows, self._order[columns])

    def view(self, rows: np.ndarray, columns: np.ndarray) -> View:
        return View(self, rows, columns)


class _OtherGolds:
    """The contexts of a pool with the text of another candidate as gold."""

    def __init__(self, pool: Readable, column: int):
        self._pool, self._column = pool, column

    def __getitem__(self, row: int) -> Context:
        return self.of_rows(np.array([row]))[0]

    def __len__(self) -> int:
        return len(self._pool.contexts)

    def of_rows(self, rows: np.ndarray) -> list[Context]:
        """Those of `rows` (n,)."""
        golds = self._pool.texts_of(rows, np.full((len(rows), 1), self._column))
        return [replace(one, gold=gold) for one, (gold,) in zip(self._pool.contexts.of_rows(rows), golds, strict=True)]


def _check_alone(fitted: Filter, view: View, scores: np.ndarray, some: np.ndarray, rng: np.random.Generator) -> None:
    """A candidate has the same score among fewer candidates, and alone."""
    n, m = view.shape
    few = View(view.pool, view.rows[some], view.columns[some][:, :2])
    if not _close(_scored(fitted, few), scores[some][:, :2], 1e-4):
        raise _broken(3, fitted, "a candidate scored among fewer candidates scores otherwise")
    rows, columns = rng.integers(n, size=N_ALONE), rng.integers(m, size=N_ALONE)
    each = [
        _scored(fitted, View(view.pool, view.rows[[i]], view.columns[[i], [j]][:, None]))
        for i, j in zip(rows, columns, strict=True)
    ]
    if not _close(np.concatenate(each).ravel(), scores[rows, columns], 1e-4):
        raise _broken(3, fitted, "a candidate scored alone scores otherwise")


def _check_same_rng(make: Callable[[], Filter], train: View, view: View, scores: np.ndarray, seed: int) -> None:
    again = make()
    fit_filter(again, train, rng=np.random.default_rng(seed))
    if not _close(_scored(again, view), scores, 1e-5):
        raise _broken(4, again, "two fits with the same rng score differently")


def _check_forgets(
    make: Callable[[], Filter], first: View, second: View, view: View, scores: np.ndarray, seed: int
) -> None:
    refitted = make()
    fit_filter(refitted, first, rng=np.random.default_rng(seed + 1))
    fit_filter(refitted, second, rng=np.random.default_rng(seed))
    if not _close(_scored(refitted, view), scores, 1e-5):
        raise _broken(2, refitted, "a second fit scores otherwise than a fresh filter fitted on the same view")


def _check_moves(make: Callable[[], Filter], fitted: Filter, view: View) -> None:
    """Another filter that is given its state scores as it does, to the bit: workers score so."""
    if not isinstance(fitted, MovableFilter):
        return
    moved = make()
    assert isinstance(moved, MovableFilter)
    state = {name: table.copy() for name, table in state_of(fitted).items()}
    restore_filter(moved, view.take(np.arange(1)), state)
    scores, again, there = _scored(fitted, view), _scored(fitted, view), _scored(moved, view)
    is_steady = np.array_equal(scores, again)
    if not (np.array_equal(scores, there) if is_steady else _close(there, scores, 1e-5)):
        raise ContractError(
            f"{type(fitted).__name__}: a new filter that was given its state() by restore scores otherwise, so that "
            "workers would make another run. Let state() have all that the last fit learnt, to the bit."
        )


def _check_learns_on(make: Callable[[], Filter], train: View, view: View, seed: int) -> None:
    """Without a state `fit_on` is `fit`; from one it goes on the same in any process, and leaves it as it is."""
    if not hasattr(make(), "fit_on"):
        return
    begun, plainly, gone_on = make(), make(), make()
    if not isinstance(begun, LastingFilter) or not isinstance(gone_on, LastingFilter):
        raise ContractError(f"{type(begun).__name__}: it has a fit_on and no state() to go on from.")
    fit_filter_on(begun, train, None, rng=np.random.default_rng(seed))
    fit_filter(plainly, train, rng=np.random.default_rng(seed))
    if not _close(_scored(begun, view), _scored(plainly, view), 1e-5):
        raise _broken(2, begun, "fit_on without a state scores otherwise than fit")
    state = {name: table.copy() for name, table in state_of(begun).items()}
    kept = {name: table.copy() for name, table in state.items()}
    fit_filter_on(gone_on, train, state, rng=np.random.default_rng(seed + 1))
    if any(not np.array_equal(table, kept[name]) for name, table in state.items()):
        raise _broken(2, gone_on, "fit_on writes into the state that it is given")
    fit_filter_on(begun, train, kept, rng=np.random.default_rng(seed + 1))
    if not _close(_scored(begun, view), _scored(gone_on, view), 1e-5):
        raise _broken(2, begun, "fit_on from the same state scores otherwise in a filter that was fitted before")


_SENTENCES = {
    1: "the constructor stores settings and does nothing else",
    2: "fit changes nothing in its view and forgets any earlier fit",
    3: "score changes nothing in its view and gives one finite float per candidate, permuting the columns permutes "
    "the scores, and which candidate is gold is not read",
    4: "the same rng gives the same scores",
}


def _broken(sentence: int, filter: Filter, how: str) -> ContractError:
    return broken(_SENTENCES, sentence, filter, how)


def _close(one: np.ndarray, two: np.ndarray, tolerance: float) -> bool:
    """Equal to within `tolerance` of the largest score."""
    one, two = one.astype(np.float64), two.astype(np.float64)  # differences of whole numbers may wrap
    return one.shape == two.shape and bool(np.abs(one - two).max() <= tolerance * max(np.abs(two).max(), 1e-6))
