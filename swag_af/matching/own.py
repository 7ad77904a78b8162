"""Models and functions that are not of this package: their mistakes as one line each.

A mistake in a class of somebody else's is told by class, method and error, and is no bug of ours; what it raised stands
behind it as the cause.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from swag_af.data.disk.files import plain
from swag_af.data.disk.records import check_record
from swag_af.data.errors import InputError, SwagAfError, blamed, told
from swag_af.data.plugins.own_code import is_own, recorded
from swag_af.filters.contract import fields_of


def check_methods(model: Any, *methods: str) -> None:
    """Raise InputError naming the methods that a model lacks."""
    missing = [method for method in methods if not callable(getattr(model, method, None))]
    if missing:
        raise InputError(
            f"{type(model).__name__}: no method {' and no '.join(missing)}. Write it as swag_af.matching.contract "
            "says; check_relevance and check_similarity test it."
        )


def check_kinds(model: Any, called: str) -> None:
    """Raise InputError where a setting of a model, a dataclass, is of another type than it declares, or not finite."""
    given = {name: plain(one) if isinstance(one, np.generic) else one for name, one in fields_of(model).items()}
    check_record(given, type(model), called, "Give another.", error=InputError)


def call(function: Callable[..., Any], name: str, *texts: Any, **settings: Any) -> Any:
    """What `function` returns; an error in one that is somebody else's is a ContractError that calls it `name`.

    What the system reports, as a full disk, is told as it is.
    """
    try:
        return function(*texts, **settings)
    except (SwagAfError, OSError, MemoryError):
        raise
    except Exception as error:
        if not is_own(getattr(function, "__self__", function)):
            raise
        raise blamed(error, name, "swag_af.check_relevance and check_similarity test a class.") from error


def call_method(model: Any, method: str, *texts: Any, **settings: Any) -> Any:
    """As `call`, of a method that the model must have."""
    check_methods(model, method)
    return call(getattr(model, method), f"{type(model).__name__}.{method}", *texts, **settings)


def settings_of(model: Any) -> dict[str, Any]:
    """What a model says of itself, as the record of a matching keeps it; ContractError for what none can hold."""
    made = call_method(model, "settings")
    advice = "Let it be a dict of numbers, texts and lists."
    if not is_own(model):
        return dict(made)
    return recorded(made, f"{type(model).__name__}: its settings()", advice)


def scores_of(model: Any, first: Sequence[str], second: Sequence[str]) -> np.ndarray:
    """(n, m) what `score` says of all pairs; InputError where it is no such table."""
    made = call_method(model, "score", first, second)
    if isinstance(made, np.ndarray) and made.shape == (len(first), len(second)) and made.dtype.kind in "fiub":
        if not len(made) or (made.min() >= 0 and made.max() <= 1):
            return made
        wrong = float(made.ravel()[np.flatnonzero(~((made >= 0) & (made <= 1)).ravel())[0]])
        raise InputError(
            f"{type(model).__name__}.score: probabilities from 0 to 1 are due, and it gave {wrong:g}. Bring them into "
            "that range."
        )
    found = f"a table {made.shape} of {made.dtype}" if isinstance(made, np.ndarray) else told(made)
    raise InputError(
        f"{type(model).__name__}.score: an array ({len(first)}, {len(second)}) of probabilities is due, and it gave "
        f"{found}. Return a numpy array of that shape."
    )
