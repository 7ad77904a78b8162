"""Claims about what the checkers of contracts say of a constructor."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.utils import check_random_state

from swag_af.data.plugins.contracts import constructor_fault

GLOBAL = check_random_state(None)
"""The generator that `numpy.random.shuffle` and its like draw from."""


class Drawing:
    """Draws from numpy's global generator, and keeps nothing of it."""

    name = "drawing"

    def __init__(self) -> None:
        GLOBAL.shuffle(np.arange(5))


class Counting:
    """Each has another number."""

    name = "counting"
    made = 0

    def __init__(self) -> None:
        Counting.made += 1
        self.numbers = {"mine": [np.array([0, Counting.made])]}


@dataclass(slots=True)
class Slotted:
    """Keeps its settings in slots."""

    name: str = "slotted"


class Nested:
    """Keeps arrays within lists and dicts."""

    name = "nested"

    def __init__(self) -> None:
        self.rates = [np.arange(3), np.arange(2)]
        self.tables = {"one": (np.zeros(2),)}


@pytest.mark.parametrize("n_drawn", [0, 1, 623])
def test_a_draw_from_the_global_generator_is_found_wherever_it_stands(n_drawn: int) -> None:
    """Its numbers change once in 624 draws, and a count of those that are used up each time."""
    before = GLOBAL.get_state()
    GLOBAL.seed(0)
    GLOBAL.random_sample(n_drawn)
    try:
        assert constructor_fault(Drawing) == "constructing it draws from numpy's global generator"
    finally:
        GLOBAL.set_state(before)


class Unset:
    """Keeps NaN where nothing is set yet, made anew each time."""

    name = "unset"

    def __init__(self) -> None:
        self.limit = float("nan")
        self.limits = [float("nan"), {"high": (float("nan"), 1.0)}]
        self.table = np.array([np.nan, 1.0])
        self.words = np.array(["a", "b"])


@pytest.mark.parametrize("make", [Slotted, Nested, Unset])
def test_settings_in_slots_and_arrays_in_lists_are_settings(make: Callable[[], object]) -> None:
    assert constructor_fault(make) is None


def test_two_that_differ_within_a_list_differ() -> None:
    assert constructor_fault(Counting) == "two constructions differ in numbers"
