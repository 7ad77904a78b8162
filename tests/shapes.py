"""The shapes and types of arrays at the public borders, checked by machine while the tests run.

Docstrings in the source give shapes in words and letters; `SHAPES` gives the same letters to jaxtyping. Before any
test module is imported, `check_signatures` replaces each function by one that checks them as well, so every test also
tests the shapes. The source stays plain numpy and needs neither jaxtyping nor beartype to run.

Filters are checked where they are called, by `score_in_parts` and `scores_by_head`, so anyone's filter is. Functions
that refuse a wrong shape themselves, with an error of ours, are not listed: `CandidatePool.view`, `check_assignment`,
`audit_pool`.
"""

import functools
import inspect
import re
import sys
from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np
from beartype import beartype
from jaxtyping import AbstractDtype, Bool, Float, Float32, Int32, Int64, Num, Shaped, jaxtyped

Array = np.ndarray
Shapes = dict[str, Any]


class Whole(AbstractDtype):
    """Whole numbers of any size, among them numpy's second type of 64 bits, which jaxtyping's Integer leaves out."""

    dtypes = re.compile(r"u?int\d+|u?longlong")


_FITTED, _HELD_OUT = Int64[Array, "fit"], Int64[Array, "out"]
_SCORES = Float[Array, "{view.shape[0]} {view.shape[1]}"]

SHAPES: dict[str, Shapes] = {
    "swag_af.data.splits:named_groups": {"return": Whole[Array, "{len(names)}"]},
    "swag_af.data.splits:join_by_text": {
        "groups": Whole[Array, "n"],
        "rows": Whole[Array, "t"],
        "keys": Whole[Array, "t"],
    },
    "swag_af.data.splits:join_pairs": {"groups": Whole[Array, "n"], "return": Whole[Array, "n"]},
    "swag_af.data.splits:deal": {"groups": Whole[Array, "n"], "return": Int64[Array, "n"]},
    "swag_af.data.splits:hold_out": {"groups": Whole[Array, "n"], "return": tuple[_FITTED, _HELD_OUT]},
    "swag_af.data.pool.assignments:random_assignment": {
        "counts": Whole[Array, "N"],
        "return": Int32[Array, "N {n_assigned}"],
    },
    "swag_af.data.pool.assignments:apply_changes": {
        "assignment": Whole[Array, "N A"],
        "changes": Whole[Array, "changes 3"],
        "return": Whole[Array, "N A"],
    },
    "swag_af.data.pool.pool:CandidatePool.counts": {"return": Int64[Array, "{len(self)}"]},
    "swag_af.data.pool.pool:CandidatePool.groups": {"return": Int64[Array, "{len(self)}"]},
    "swag_af.data.pool.pool:CandidatePool.missing_features": {"return": Bool[Array, "{len(self)}"]},
    "swag_af.data.pool.pool:CandidatePool.gather": {
        "rows": Whole[Array, "n"],
        "columns": Whole[Array, "n m"] | None,
        "return": Shaped[Array, "n ..."],
    },
    "swag_af.data.pool.pool:CandidatePool.texts": {"assignment": Whole[Array, "rows A"]},
    "swag_af.data.pool.pool:CandidatePool.texts_of": {"rows": Whole[Array, "n"], "columns": Whole[Array, "n m"]},
    "swag_af.data.pool.pool:View.tokens": {"return": Whole[Array, "{self.shape[0]} {self.shape[1]} L"]},
    "swag_af.data.pool.pool:View.lengths": {"return": Int64[Array, "{self.shape[0]} {self.shape[1]}"]},
    "swag_af.data.pool.pool:View.starts": {"return": Whole[Array, "{len(self)} S"]},
    "swag_af.data.pool.pool:View.start_lengths": {"return": Int64[Array, "{len(self)}"]},
    "swag_af.data.pool.pool:View.tags": {"return": Whole[Array, "{self.shape[0]} {self.shape[1]} L"]},
    "swag_af.data.pool.pool:View.start_tags": {"return": Whole[Array, "{len(self)} S"]},
    "swag_af.data.pool.pool:View.features": {"return": Float32[Array, "{self.shape[0]} {self.shape[1]} F"]},
    "swag_af.data.pool.pool:View.groups": {"return": Int64[Array, "{len(self)}"]},
    "swag_af.data.pool.pool:View.take": {"index": Whole[Array, "k"]},
    "swag_af.data.pool.pool:View.permute": {"order": Whole[Array, "{self.shape[0]} {self.shape[1]}"]},
    "swag_af.data.runs.run:Run.assignment": {"return": Whole[Array, "{len(self.pool)} {self.start.shape[1]}"]},
    "swag_af.data.runs.run:Run.append": {"changes": Int32[Array, "changes 3"]},
    "swag_af.filters.contract:score_in_parts": {"return": _SCORES},
    "swag_af.af.measures:accuracy": {"scores": Num[Array, "n A"]},
    "swag_af.af.measures:scores_by_head": {"return": dict[str, _SCORES]},
    "swag_af.af.replacement:replace": {
        "assignment": Whole[Array, "n A"],
        "assigned_scores": Num[Array, "n A"],
        "counts": Whole[Array, "n"],
    },
    "swag_af.auditing.runs.crossval:rank_shares": {"scores": Num[Array, "N A"], "return": Float[Array, "N A"]},
    "swag_af.auditing.runs.crossval:scores_by_fold": {
        "columns": Whole[Array, "n m"],
        "folds": Whole[Array, "n"],
        "rows": Whole[Array, "n"] | None,
    },
    "swag_af.data.numbers.interval:interval": {"hits": Num[Array, "N"], "groups": Whole[Array, "N"]},
    "swag_af.data.numbers.interval:paired_difference": {
        "before": Num[Array, "N"],
        "after": Num[Array, "N"],
        "groups": Whole[Array, "N"],
    },
}
"""By module and name: what each argument that is an array looks like, and what is returned."""


def check_signatures() -> None:
    """Put a checked function in the place of each of `SHAPES`, in every module of ours that has imported it."""
    for place, shapes in SHAPES.items():
        module, _, path = place.partition(":")
        *owners, name = path.split(".")
        owner = functools.reduce(getattr, owners, import_module(module))
        found = vars(owner)[name]
        made = checked(found, shapes)
        for holder in [owner, *(other for key, other in list(sys.modules.items()) if key.startswith("swag_af"))]:
            if vars(holder).get(name) is found:
                setattr(holder, name, made)


def checked(found: Any, shapes: Shapes) -> Any:
    """A function, a property or a cached property that does the same and raises where `shapes` do not hold."""
    if isinstance(found, functools.cached_property):
        again = functools.cached_property(_checked_function(found.func, shapes))
        again.__set_name__(object, found.func.__name__)
        return again
    return _checked_function(found, shapes)


def _checked_function(function: Callable[..., Any], shapes: Shapes) -> Callable[..., Any]:
    unknown = shapes.keys() - inspect.signature(function).parameters.keys() - {"return"}
    assert not unknown, f"{function.__qualname__} has no argument {unknown}"
    assert isinstance(function, FunctionType)
    twin = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    twin.__kwdefaults__, twin.__annotations__ = function.__kwdefaults__, shapes
    return functools.wraps(function)(jaxtyped(twin, typechecker=beartype))
