"""A stop at a place of one's choice, in place of a kill."""

from collections.abc import Callable
from itertools import count
from typing import Any


class KilledError(Exception):
    """In place of a kill."""


def break_after(n: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` as it is for `n` calls; the next one raises KilledError."""
    calls = count()

    def broken(*arguments: Any, **named: Any) -> Any:
        if next(calls) >= n:
            raise KilledError
        return function(*arguments, **named)

    return broken
