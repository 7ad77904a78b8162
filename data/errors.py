"""The errors a user can cause, each one line: what is wrong, where, and what to do next.

The command line prints the line and exits with code 2; a traceback always means a bug in this package. This module does
not print and does not exit.
"""

from collections.abc import Iterable


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


class ContractError(SwagAfError, AssertionError):
    """A class that was to be a filter or a generator breaks a sentence of its contract."""
