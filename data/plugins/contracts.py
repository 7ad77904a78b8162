"""Classes of others: what the checkers of their contracts share.

`check_filter` and `check_generator` test anyone's class, each in sentences.
"""

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import Parameter
from typing import Any, TypeVar

import numpy as np

from swag_af.data.errors import ContractError
from swag_af.data.plugins.own_code import blaming, lacks, name_fault

ThingT = TypeVar("ThingT")

WORDS = [f"{a}{b}" for a in ("ba", "ke", "lo", "mi", "nu") for b in ("d", "g", "ll", "nk", "rt", "st")]
"""Made up, for texts that a class is tried on."""


def factory_of(thing_or_factory: ThingT | Callable[[], ThingT], method: str) -> Callable[[], ThingT]:
    """A function that returns a new thing each time: a class or a function as it is, a thing with `method` copied.

    ContractError where it would need arguments.
    """
    if isinstance(thing_or_factory, type) or not hasattr(thing_or_factory, method):
        if not callable(thing_or_factory):
            raise ContractError(f"{type(thing_or_factory).__name__}: it has no method {method}, and makes nothing.")
        if needed := _needed(thing_or_factory):
            name = getattr(thing_or_factory, "__name__", "it")
            raise ContractError(
                f"{name}: it cannot be made without {', '.join(needed)}. Give a function that makes one: "
                f"`lambda: {name}(...)`."
            )
        return thing_or_factory
    unused: Any = thing_or_factory
    return lambda: copy.deepcopy(unused)


def _needed(make: Callable[..., object]) -> list[str]:
    """The arguments without which `make` cannot be called; none where Python cannot say."""
    try:
        parameters = inspect.signature(make).parameters.values()
    except ValueError:
        return []
    given_by_place_or_name = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    return [one.name for one in parameters if one.default is Parameter.empty and one.kind in given_by_place_or_name]


def constructor_fault(make: Callable[[], object]) -> str | None:
    """What is wrong with a constructor that is to store settings and do nothing else; None if nothing is."""
    before = _global_numbers()
    one, two = make(), make()
    if not _same(before, _global_numbers()):
        return "constructing it draws from numpy's global generator"
    first, second = _attributes(one), _attributes(two)
    differing = [name for name in first | second if not _same(first.get(name), second.get(name))]
    if differing:
        return f"two constructions differ in {', '.join(differing)}"
    return f"it has {fault}" if (fault := name_fault(one)) else None


def lacking(made: object, *methods: str) -> str:
    """Which of `methods` a thing lacks, and whether its name is one, in words; empty where nothing is wrong."""
    faults = lacks(made, *methods)
    return f"it has {' and '.join(faults)}" if faults else ""


def broken(sentences: Mapping[int, str], number: int, thing: object, how: str) -> ContractError:
    """The error that names the class, the sentence of its contract that it breaks, and how."""
    return ContractError(f"{type(thing).__name__} breaks sentence {number}, {sentences[number]}: {how}.")


@contextmanager
def as_sentence(
    sentences: Mapping[int, str], number: int, thing: object, method: str, *, advice: str = ""
) -> Iterator[None]:
    """Tell what a `method` raises, and what it gives that nobody can use, as the sentence that it breaks.

    `advice` is what the error would go on with elsewhere: to ask the checker, which this is.
    """
    try:
        with blaming(thing, method):
            yield
    except ContractError as error:
        raise broken(sentences, number, thing, str(error).removesuffix(f" {advice}").strip(".")) from error


def _global_numbers() -> dict[str, Any]:
    """The state of numpy's global generator: its numbers, and how many of them are used up."""
    return copy.deepcopy(np.random.get_state(legacy=False))  # noqa: NPY002  # nobody draws: the global one is looked at


def _attributes(made: object) -> dict[str, Any]:
    """What a thing keeps by name, in slots too."""
    slots = [getattr(kind, "__slots__", ()) for kind in type(made).__mro__]
    names = [name for one in slots for name in ((one,) if isinstance(one, str) else one)]
    return {name: getattr(made, name) for name in names if hasattr(made, name)} | getattr(made, "__dict__", {})


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(two, np.ndarray):
        are_floats = all(isinstance(x, np.ndarray) and x.dtype.kind in "fc" for x in (one, two))
        return np.array_equal(one, two, equal_nan=are_floats)
    if one is two or (_is_nan(one) and _is_nan(two)):
        return True
    if type(one) is type(two) and isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(_same, one, two))
    if type(one) is type(two) and isinstance(one, dict):
        return one.keys() == two.keys() and all(_same(one[key], two[key]) for key in one)
    if type(one) is type(two) and type(one).__eq__ is object.__eq__:
        return True  # such objects, a scikit-learn estimator say, know their identity alone
    equal = one == two
    return bool(equal) if isinstance(equal, bool) else type(one) is type(two)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and bool(np.isnan(value))
