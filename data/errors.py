"""The errors a user can cause, each one line: what is wrong, where, and what to do next.

The command line prints the line and exits with code 2; a traceback always means a bug in this package. This module does
not print and does not exit.
"""

from collections.abc import Iterable
from dataclasses import fields
from math import isfinite
from typing import Any

MOST_TOLD = 60
"""How many characters of a cell a message repeats."""


def told(value: Any) -> str:
    """What a cell holds, as a message repeats it: its `repr`, cut at `MOST_TOLD` characters."""
    try:
        said = repr(value)
    except ValueError:  # a number of thousands of digits, which Python does not spell
        return "a number of too many digits"
    return said if len(said) <= MOST_TOLD else f"{said[: MOST_TOLD - 4]} ..."


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
LARGEST_SEED = (1 << 63) - 1


def check_numbers(options: Any) -> None:
    """Raise InputError naming every number among the fields of a dataclass that is infinite, NaN, or no size.

    Whole numbers are sizes up to 2,147,483,647; seeds may be larger.
    """
    numbers = [(f.name, getattr(options, f.name)) for f in fields(options)]
    check_faults(
        (
            (isinstance(value, float) and not isfinite(value))
            or (isinstance(value, int) and value > (LARGEST_SEED if name == "seed" else LARGEST_SIZE)),
            f"--{name.replace('_', '-')}: infinite, no number, or too large",
        )
        for name, value in numbers
    )


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
