"""Classes of others: what the checkers of their contracts share, and the source they came from.

`check_filter` and `check_generator` test anyone's class, each in sentences.
"""

import copy
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar

import numpy as np

from swag_af.data.errors import ContractError
from swag_af.data.manifests import sha256_file, sha256_json

ThingT = TypeVar("ThingT")

OURS = "swag_af"


def is_own(made: Any) -> bool:
    """Whether a class, a function or what a class made is somebody else's."""
    made = made if hasattr(made, "__name__") else type(made)
    return (getattr(made, "__module__", None) or "").partition(".")[0] != OURS


def source_of(made: Any) -> str | None:
    """The SHA-256 of the file in which somebody else's class or function stands; None for ours.

    Of the script that runs it is that of the class alone, so that the rest of it may change. Where Python knows no
    source, as in a notebook, it is that of what it compiled; None for what was not written in Python.
    """
    thing = inspect.unwrap(made) if hasattr(made, "__name__") else type(made)
    if not is_own(thing):
        return None
    try:
        if thing.__module__ == "__main__":
            return sha256_json(inspect.getsource(thing))
        file = inspect.getsourcefile(thing)
    except (TypeError, OSError):
        return compiled_of(thing)
    return sha256_file(Path(file)) if file and Path(file).is_file() else compiled_of(thing)


def compiled_of(thing: Any) -> str | None:
    """The SHA-256 of what Python made of a function, or of the methods and attributes of a class; None of others."""
    if isinstance(thing, type):
        own = {name: _unwrapped(one) for name, one in sorted(vars(thing).items()) if name != "__firstlineno__"}
        methods = {name: _instructions(one) for name, one in own.items() if inspect.isfunction(one)}
        return sha256_json(methods | {name: repr(one) for name, one in own.items() if _is_plain(one)})
    function = getattr(thing, "__func__", thing)
    return sha256_json(_instructions(function)) if inspect.isfunction(function) else None


def _unwrapped(attribute: Any) -> Any:
    """The function of a method of a class, a static one or a property."""
    attribute = getattr(attribute, "__func__", getattr(attribute, "fget", attribute))
    return inspect.unwrap(attribute) if callable(attribute) else attribute


def _instructions(function: Any) -> list[Any]:
    """Instructions, names, constants, defaults and what a function closes over, without its place in a file."""
    around = inspect.getclosurevars(function).nonlocals
    given = {"defaults": function.__defaults__ or (), **(function.__kwdefaults__ or {}), **around}
    return [*_of_code(function.__code__), *(f"{name}={one!r}" for name, one in given.items() if _is_plain(one))]


def _is_plain(value: Any) -> bool:
    """Whether a value's text is the same in every process."""
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float | bytes)


def _of_code(code: CodeType) -> list[Any]:
    constants = [_of_code(one) if isinstance(one, CodeType) else _constant(one) for one in code.co_consts]
    return [code.co_code.hex(), *code.co_names, *code.co_varnames, *constants]


def _constant(value: Any) -> str:
    """A constant as text; the order of a set's members differs between processes."""
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def factory_of(thing_or_factory: ThingT | Callable[[], ThingT], method: str) -> Callable[[], ThingT]:
    """A function that returns a new thing each time: a class or a function as it is, a thing with `method` copied."""
    if isinstance(thing_or_factory, type) or not hasattr(thing_or_factory, method):
        if not callable(thing_or_factory):
            raise ContractError(f"{type(thing_or_factory).__name__}: it has no method {method}, and makes nothing.")
        return thing_or_factory
    unused: Any = thing_or_factory
    return lambda: copy.deepcopy(unused)


def constructor_fault(make: Callable[[], object]) -> str | None:
    """What is wrong with a constructor that is to store settings and do nothing else; None if nothing is."""
    before = _global_numbers()
    one, two = make(), make()
    if not np.array_equal(before, _global_numbers()):
        return "constructing it draws from numpy's global generator"
    differing = [name for name in vars(one) | vars(two) if not _same(vars(one).get(name), vars(two).get(name))]
    if differing:
        return f"two constructions differ in {', '.join(differing)}"
    return None if isinstance(getattr(one, "name", None), str) else "it has no `name`"


def broken(sentences: Mapping[int, str], number: int, thing: object, how: str) -> ContractError:
    """The error that names the class, the sentence of its contract that it breaks, and how."""
    return ContractError(f"{type(thing).__name__} breaks sentence {number}, {sentences[number]}: {how}.")


def _global_numbers() -> np.ndarray:
    state = np.random.get_state(legacy=False)  # noqa: NPY002  # the global generator is what is looked at
    numbers: np.ndarray = state["state"]["key"]
    return numbers.copy()


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(two, np.ndarray):
        return np.array_equal(one, two)
    if type(one) is type(two) and type(one).__eq__ is object.__eq__:
        return True  # such objects, a scikit-learn estimator say, know their identity alone
    equal = one == two
    return bool(equal) if isinstance(equal, bool) else one is two or type(one) is type(two)
