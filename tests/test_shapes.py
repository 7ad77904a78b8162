"""Claims about the checks of shapes: they are in place, everywhere, and they refuse what is wrong."""

import functools
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from jaxtyping import Float, TypeCheckError
from shapes import SHAPES, Array, checked

from swag_af.auditing.runs.crossval import rank_shares
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.data.runs import run as module_loaded_before_the_checks
from swag_af.data.splits import deal


@pytest.mark.parametrize("place", SHAPES)
def test_a_checked_function_stands_in_its_place(place: str) -> None:
    module, _, path = place.partition(":")
    *owners, name = path.split(".")
    found = vars(functools.reduce(getattr, owners, import_module(module)))[name]
    function = found.func if isinstance(found, functools.cached_property) else found
    assert hasattr(function.__wrapped__, "__code__")
    assert function.__name__ == name


def test_an_argument_of_a_wrong_shape_is_refused() -> None:
    with pytest.raises(TypeCheckError, match="scores"):
        rank_shares(np.zeros(3))


def test_an_argument_of_a_wrong_type_is_refused() -> None:
    with pytest.raises(TypeCheckError, match="groups"):
        deal(np.zeros(3), 2, rng=np.random.default_rng(0))


def test_arguments_that_do_not_fit_one_another_are_refused() -> None:
    with pytest.raises(TypeCheckError, match="changes"):
        module_loaded_before_the_checks.apply_changes(np.zeros((3, 2), np.int32), np.zeros((1, 2), np.int32))


def test_a_property_of_a_wrong_shape_is_refused(pool: CandidatePool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CandidatePool, "gather", lambda *_: np.zeros((1, 1, 3), np.int32))
    with pytest.raises(TypeCheckError, match="return value"):
        _ = View(pool, np.arange(2), np.zeros((2, 4), np.int64)).tokens


def test_a_result_of_a_wrong_shape_is_refused() -> None:
    def halved(values: Any) -> Any:
        return values[::2]

    with pytest.raises(TypeCheckError, match="return value"):
        checked(halved, {"values": Float[Array, "n"], "return": Float[Array, "n"]})(np.zeros(4))


def test_a_shape_for_an_argument_that_is_not_there_is_refused() -> None:
    with pytest.raises(AssertionError, match="no argument"):
        checked(deal, {"group": Float[Array, "n"]})
