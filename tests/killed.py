"""A stop at a place of one's choice, in place of a kill."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest


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


def kill_at(holder: Any, where: str, n: int, verb: Callable[..., Any], *asked: Any) -> None:
    """`verb` of what is asked, stopped at the call of `where` in `holder`, a module or a class, that follows `n`."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(holder, where, break_after(n, getattr(holder, where)))
        verb(*asked)


def killed_then_whole(holder: Any, where: str, n: int, verb: Callable[..., Any], asked: Any, record: str) -> None:
    """The same, which leaves no record in its folder, and `verb` once more."""
    kill_at(holder, where, n, verb, asked)
    assert not (asked.out / record).exists()
    verb(asked)
