"""`check_guard`, which tests the three sentences of the contract on anyone's class."""

from collections.abc import Callable
from typing import Any

import numpy as np

from swag_af.data.errors import told
from swag_af.data.plugins.contracts import broken, constructor_fault, factory_of
from swag_af.data.plugins.own_code import blaming, said_of
from swag_af.data.pool.view import View
from swag_af.filters.checking import (
    N_ALONE,
    N_COLUMNS,
    N_ROWS,
    changed_settings,
    check_settings,
    of_its_tables,
    small_pool,
)
from swag_af.filters.contract import answerer_of, settings_of
from swag_af.guarding.contract import Guard, faults_of


def check_guard(guard_or_factory: Guard | Callable[[], Guard], *, rng: np.random.Generator | None = None) -> None:
    """Raise ContractError, naming the sentence, unless the guard keeps the contract.

    Takes a class, any function that returns a new guard, or a guard. Scores a pool of 48 rows made in memory from
    random words and random features.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    make: Callable[[], Any] = factory_of(guard_or_factory, "score")
    guard = make()
    faults = [f"it has {fault}" for fault in faults_of(guard)]
    if fault := ", ".join(faults) or constructor_fault(make):
        raise broken(_SENTENCES, 1, guard, fault)
    with blaming(guard, "check"):
        getattr(guard, "check", lambda: None)()
    answerer_of(guard)
    pool = small_pool(rng, guard)
    view = pool.view(np.arange(N_ROWS), np.tile(np.arange(N_COLUMNS), (N_ROWS, 1)))
    settings = check_settings(_SENTENCES, make, guard)
    with of_its_tables(guard):
        scores = _tried(guard, view)
    said_of(guard)
    if fault := changed_settings(guard, settings, settings_of(guard)):
        raise broken(_SENTENCES, 1, guard, f"{fault} when it scores")
    if not np.allclose(_tried(make(), view), scores, atol=1e-4):
        raise broken(_SENTENCES, 3, guard, "two guards of the same settings score differently")
    order = rng.permuted(np.tile(np.arange(N_COLUMNS), (N_ROWS, 1)), axis=1)
    if not np.allclose(_tried(guard, view.permute(order)), np.take_along_axis(scores, order, axis=1), atol=1e-4):
        raise broken(_SENTENCES, 2, guard, "permuting the candidates changes their scores")
    some = rng.choice(N_ROWS, N_ROWS // 3, replace=False)
    few = View(view.pool, view.rows[some], view.columns[some][:, 1:3])
    if not np.allclose(_tried(guard, few), scores[some][:, 1:3], atol=1e-4):
        raise broken(_SENTENCES, 2, guard, "a candidate scored among fewer scores otherwise")
    for i, j in zip(rng.integers(N_ROWS, size=N_ALONE), rng.integers(1, N_COLUMNS, size=N_ALONE), strict=True):
        alone = View(view.pool, view.rows[[i]], view.columns[[i], [j]][:, None])
        if not np.allclose(_tried(guard, alone), scores[i, j], atol=1e-4):
            raise broken(_SENTENCES, 2, guard, "a candidate scored alone scores otherwise")


def _tried(guard: Any, view: View) -> np.ndarray:
    """`checked`; ContractError, whose cause has the traceback, where the guard raises."""
    with blaming(guard, "score"):
        return checked(guard, view)


def checked(guard: Any, view: View) -> np.ndarray:
    """(n, m) what the guard says of `view`; ContractError unless it is one finite float per candidate."""
    scores = guard.score(view)
    if type(scores) is not np.ndarray or scores.shape != view.shape:
        found = f"a {type(scores).__name__} {scores.shape}" if isinstance(scores, np.ndarray) else told(scores)
        raise broken(_SENTENCES, 2, guard, f"scores of {view.shape[0]} x {view.shape[1]} candidates are {found}")
    if scores.dtype.kind != "f" or not np.isfinite(scores).all():
        raise broken(_SENTENCES, 2, guard, "scores are not all finite floats")
    return scores


_SENTENCES = {
    1: "the constructor stores settings and does nothing else",
    2: "score gives one finite float per candidate, whatever else is scored in the same call",
    3: "the same candidate has the same score in every call",
}
