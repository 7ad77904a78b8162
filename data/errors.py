"""The errors a user can cause, each one line: what is wrong, where, and what to do next; and what all options check.

The command line prints the line and exits with code 2; a traceback always means a bug in this package. This module does
not print and does not exit.
"""

import difflib
import os
from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from functools import wraps
from math import isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from swag_af.data.display.terminal import is_utf8

MOST_TOLD = 60
"""How many characters of a cell a message repeats."""


def told(value: Any) -> str:
    """What a cell holds, as a message repeats it: its `repr`, cut at `MOST_TOLD` characters."""
    try:
        said = repr(value)
    except ValueError:  # a number of thousands of digits, which Python does not spell
        return "a number of too many digits"
    said = " ".join(said.split()) if "\n" in said else said  # of arrays
    return said if len(said) <= MOST_TOLD else f"{said[: MOST_TOLD - 4]} ..."


def several(n: int, one: str, many: str = "") -> str:
    """`1 row`, `1,234 rows`; `many` where an s at the end does not make it: `1 row has`, `2 rows have`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def near_names(wanted: str, known: Iterable[str], *, most: int = 1) -> str:
    """` Did you mean ngrams or chars?`: at most `most` of the names `known` that are near; empty where none is."""
    near = difflib.get_close_matches(wanted, list(known), n=most)
    return f" Did you mean {' or '.join(near)}?" if near else ""


class SwagAfError(Exception):
    """Base of every error that the user, not the program, can fix."""

    exit_code = 2


class InputError(SwagAfError, ValueError):
    """A file or an argument contains something that cannot be used."""


class FormatError(SwagAfError, ValueError):
    """A folder or file is not of a kind or format version that this release reads."""


class ExhaustedError(SwagAfError, ValueError):
    """Something was asked for more items than there are (negatives, contexts, attempts)."""


def check_faults(faults: Iterable[tuple[bool, str]]) -> None:
    """Raise one InputError that names every fault whose condition is true."""
    found = [text for wrong, text in faults if wrong]
    if found:
        raise InputError("; ".join(found) + ".")


LARGEST_SIZE = (1 << 31) - 1
"""Most that a whole number of the options may be, but for seeds."""
LARGEST_SEED = (1 << 63) - 1


class Options:
    """Base of frozen dataclasses of options.

    Scripts may write what the command line takes: texts where paths are meant and paths where texts are, numbers that
    are choices, and a list, or one alone, where a tuple is. Raises InputError naming every value that is of another
    type or none of the choices that there are, and every number that is infinite, NaN or no size: whole numbers are
    sizes up to 2,147,483,647; seeds may be larger.
    """

    def __post_init__(self) -> None:
        """A class with checks of its own calls this before them."""
        kinds = get_type_hints(type(self))
        given = {name: getattr(self, name) for name in kinds}
        for name, value in given.items():
            if (meant := _as_meant(value, kinds[name])) is not value:
                object.__setattr__(self, name, meant)
                given[name] = meant
        flags = {name: f"--{name.replace('_', '-')}" for name in given}
        check_faults(
            (True, f"{flags[name]} {told(value)}: {_due(kinds[name])}")
            for name, value in given.items()
            if not _is_of_kind(value, kinds[name])
        )
        check_faults(
            (True, f"{flags[name]} {told(value)}: the path of a file or a folder is due")
            for name, value in given.items()
            if not _is_of_paths(value, kinds[name])
        )
        check_faults(
            (True, f"{flags[name]} {told(str(path))}: this name is not UTF-8; rename the file or folder")
            for name, value in given.items()
            for path in (value if isinstance(value, tuple) else (value,))
            if isinstance(path, Path) and not is_utf8(str(path))
        )
        check_faults(
            (True, f"{name}: a {type(value).__name__}, where {kinds[name].__name__} is due")
            for name, value in given.items()
            if isinstance(kinds[name], type) and is_dataclass(kinds[name]) and not isinstance(value, kinds[name])
        )
        check_faults(
            (True, f"{flags[name]} {told(value)}: one of {', '.join(map(str, choices))} is due")
            for name, value in given.items()
            if (choices := _choices(kinds[name])) and value not in (*choices, *_none_of(kinds[name]))
        )
        check_faults(
            (is_beyond_use(name, value), f"{flags[name]}: infinite, no number, or too large")
            for name, value in given.items()
        )

    def given_of(self, *names: str) -> list[str]:
        """The flags of those of `names` that are not at their defaults: a default that is written out is not told."""
        return [f"--{name.replace('_', '-')}" for name in names if getattr(self, name) != getattr(type(self), name)]


Verb = TypeVar("Verb", bound=Callable[..., Any])


def takes_options(function: Verb) -> Verb:
    """A verb, which raises InputError where it is not given the options that it is annotated with."""

    @wraps(function)
    def checked(options: Any, *given: Any, **named: Any) -> Any:
        kind = function.__annotations__["options"]
        if not isinstance(options, kind):
            raise InputError(
                f"{function.__name__}: takes {kind.__name__}, and was given a {type(options).__name__}. Call "
                f"{function.__name__}({kind.__name__}(...))."
            )
        return function(options, *given, **named)

    return cast(Verb, checked)


def _as_meant(value: Any, kind: Any) -> Any:
    """`value` for a field of type `kind`: a path for its text, a text for a path or for a number that is a choice, a
    tuple for one alone or a list."""
    if get_origin(kind) is tuple and isinstance(value, str | Path | int | float | list | tuple):
        several = value if isinstance(value, list | tuple) else [value]
        made = tuple(_as_meant(one, get_args(kind)[0]) for one in several)
        return value if made == value else made
    is_path = kind is Path or Path in get_args(kind)
    if is_path and isinstance(value, str):
        return Path(value)
    is_text = isinstance(value, Path) and _plain(kind) is str
    is_choice = isinstance(value, int) and value not in _choices(kind) and str(value) in _choices(kind)
    return str(value) if is_text or is_choice else value


_PLAIN = {bool: "True or False", int: "a whole number", float: "a number", str: "a text"}
"""What options of plain types take, as messages say it; those of other types are not looked at."""


def _plain(kind: Any) -> Any:
    """`bool`, `int`, `float` or `str` where an option is one, or one or None; else None."""
    kinds = [one for one in get_args(kind) or (kind,) if one is not type(None)]
    return kinds[0] if len(kinds) == 1 and kinds[0] in _PLAIN else None


def _choices(kind: Any) -> tuple[Any, ...]:
    """What an option may be, where it is one of several, or one or None."""
    for one in (kind, *get_args(kind)):
        if get_origin(one) is Literal:
            return get_args(one)
    return ()


def _none_of(kind: Any) -> tuple[None, ...]:
    """None, where an option may be that."""
    return (None,) if type(None) in get_args(kind) else ()


def _members(kind: Any) -> Any:
    """The type of the members, where an option is a tuple of any length; else None."""
    return get_args(kind)[0] if get_origin(kind) is tuple and get_args(kind)[1:] == (Ellipsis,) else None


def _due(kind: Any) -> str:
    member = _members(kind)
    return f"a list is due, {_PLAIN[_plain(member)]} each" if member else f"{_PLAIN[_plain(kind)]} is due"


def _is_of_kind(value: Any, kind: Any) -> bool:
    if (member := _members(kind)) in _PLAIN:
        return isinstance(value, tuple) and all(_is_of_kind(one, member) for one in value)
    plain = _plain(kind)
    if plain is None or (value is None and _none_of(kind)):
        return True
    if plain is str:
        return isinstance(value, str)
    if plain is bool or isinstance(value, bool):
        return isinstance(value, bool) and plain is bool
    return isinstance(value, Integral if plain is int else Real)


def _is_of_paths(value: Any, kind: Any) -> bool:
    """Whether a value is a path, or several, where an option is."""
    if get_origin(kind) is tuple and get_args(kind)[0] is Path:
        return isinstance(value, tuple) and all(isinstance(one, Path) for one in value)
    if kind is not Path and set(get_args(kind)) != {Path, type(None)}:
        return True
    return isinstance(value, Path) or (value is None and kind is not Path)


def as_path(what: str, given: object) -> Path:
    """The path that is given as a text or as such; InputError for anything else."""
    if not isinstance(given, str | os.PathLike) or given == "":
        raise InputError(f"{what}: {told(given)}, where the path of a folder is due.")
    return Path(given)


def check_kind(what: str, given: object, due: type) -> None:
    """Raise InputError where an argument is of another class than is `due`."""
    if not isinstance(given, due):
        raise InputError(f"{what}: a {type(given).__name__}, where {due.__name__} is due.")


def check_whole(**numbers: object) -> None:
    """Raise InputError where one of these arguments is no whole number."""
    for what, given in numbers.items():
        if not isinstance(given, Integral) or isinstance(given, bool):
            raise InputError(f"{what} {told(given)}: a whole number is due.")


def is_beyond_use(name: str, value: Any) -> bool:
    """Whether a setting is a number that is infinite or none, or a whole one that is no size, or no seed."""
    if isinstance(value, float):
        return not isfinite(value)
    return isinstance(value, int) and value > (LARGEST_SEED if name == "seed" else LARGEST_SIZE)


class GateError(SwagAfError):
    """An audit did not meet a condition of its gate: nothing is wrong with the input but what was asked about it."""

    exit_code = 1


class ContractError(SwagAfError, AssertionError):
    """Somebody's own filter, generator or model breaks a sentence of its contract, or raises."""


def in_one_line(error: BaseException, most: int = 200) -> str:
    """What an error says, its lines joined and cut after `most` characters; the name of its class where it says
    nothing."""
    return " ".join(str(error).split())[:most] or type(error).__name__


def blamed(error: Exception, whose: str, advice: str) -> ContractError:
    """What somebody's own code raised, in one line to `raise ... from error`; `whose` names it: `filter mine: its fit`.

    `advice` is what to do next, and may be empty.
    """
    said = f" ({in_one_line(error)})" if str(error).strip() else ""
    return ContractError(f"{whose} raised {type(error).__name__}{said}. {advice}".strip())


class RowError(InputError):
    """What is wrong with one row, without its place: `has an empty gold ending`."""


_N_FAULTS_TOLD = 3
_N_FAULTS_ENOUGH = 100


class UnknownNameError(InputError, KeyError):
    """No figure or diagnostic of that name: a KeyError, too, as of a dictionary."""

    __str__ = Exception.__str__


class Faults:
    """The faulty rows of one source, reported together in one line.

    Stops reading at the hundredth: such a file is wrong throughout.
    """

    def __init__(self, source: str, advice: str) -> None:
        self.source = source
        self.advice = advice
        self.n = 0
        self._first: list[str] = []

    def add(self, where: str, fault: RowError) -> None:
        """Note that the row at `where` (`line 7`, `row 3`) has `fault`."""
        self.n += 1
        if self.n <= _N_FAULTS_TOLD:
            self._first.append(f"{where} {fault}")
        if self.n >= _N_FAULTS_ENOUGH:
            self.check()

    def check(self) -> None:
        """Raise one InputError for all that was noted, if anything was."""
        if not self.n:
            return
        first = "; ".join(self._first)
        if self.n == 1:
            raise InputError(f"{self.source}: {first}. {self.advice}")
        more = f"{self.n} rows" if self.n < _N_FAULTS_ENOUGH else f"{self.n} rows or more"
        raise InputError(f"{self.source}: {more} cannot be used (first: {first}). {self.advice}")
