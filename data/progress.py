"""Progress on standard error: a bar with time left on a terminal, a line now and then in a log.

Imports rich only when a bar is shown, so that nothing else waits for it.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from swag_af.data.terminal import tell, visible
from swag_af.data.urls import as_told

Advance = Callable[..., None]
"""`advance(n, note="...", kept=False)`: `n` more items are done; `note` replaces the text at the end of the bar; what
an earlier run has `kept` says nothing of the rate."""

_SECONDS_BETWEEN_LINES = 20.0
_LITTLE = 0.02
"""So much of all work tells nothing of the rate where it is the first to be done: what began it is not repeated."""


def note(line: str) -> None:
    """Print something to standard error that a user should know and that is no error."""
    tell(visible(as_told(line)), is_error=True)


def duration(seconds: float) -> str:
    """`75 s`, `12 min`, `3.4 h`, `2.1 days`: as precise as an estimate deserves."""
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (48 * 3600, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.0f} {name}" if unit < 3600 else f"{seconds / unit:.1f} {name}"
    return f"{seconds / 86400:.1f} days"


@contextmanager
def progress(label: str, total: int, unit: str, *, done: int = 0) -> Iterator[Advance]:
    """Show how many of `total` items are done, how many a second, and the time left.

    Within another progress there is no second bar, but a line now and then.
    """
    shown = _bar if sys.stderr.isatty() and not _is_within.get() else _lines
    before = _is_within.set(True)
    try:
        with shown(label, total, unit, done) as advance:
            yield advance
    finally:
        _is_within.reset(before)


_is_within: ContextVar[bool] = ContextVar("_is_within", default=False)
"""Whether a progress is shown already."""


@contextmanager
def _bar(label: str, total: int, unit: str, done: int) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(*_columns(unit), console=Console(stderr=True)) as shown:
        task = shown.add_task(label, total=total, completed=done, note="", rate="")
        since, counted, now, first = time.perf_counter(), done, done, done

        def advance(n: int = 1, note: str | None = None, *, kept: bool = False) -> None:
            nonlocal since, counted, now, first
            moment, is_start = time.perf_counter(), now == first and _is_little(n, total - first)
            now += n
            if kept:
                counted, first = counted + n, first + n
                shown.reset(task, completed=now)  # or its time left would count them
            elif is_start:
                since, counted = moment, now
            rate = (now - counted) / max(moment - since, 1e-9)
            fields = {"rate": _rate(rate)} | ({} if note is None else {"note": note})
            shown.update(task, completed=now, **fields)  # type: ignore[arg-type]

        yield advance


def _columns(unit: str) -> tuple[Any, ...]:
    """What a bar shows, from left to right; names of filters have brackets, which are no markup."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return (
        TextColumn("{task.description}", style="bold", markup=False),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn(unit + "  {task.fields[rate]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )


@contextmanager
def _lines(label: str, total: int, unit: str, done: int) -> Iterator[Advance]:
    last, now, at_last, first, told, shown_note = time.perf_counter(), done, done, done, done, ""

    def advance(n: int = 1, note: str | None = None, *, kept: bool = False) -> None:
        nonlocal now, last, at_last, first, told, shown_note
        moment, is_start = time.perf_counter(), now == first and _is_little(n, total - first)
        now += n
        shown_note = shown_note if note is None else note
        if kept:
            at_last, first = at_last + n, first + n
        elif is_start:
            last, at_last = moment, now
        if moment - last < _SECONDS_BETWEEN_LINES:
            return
        rate = (now - at_last) / (moment - last)  # recent rate: a later phase may be slower than an earlier one
        last, at_last = moment, now
        left = f"{(total - now) / rate:.0f} s left" if rate else "time left unknown"  # a note alone, and nothing done
        line = f"{label}: {now} of {total} {unit}, {_rate(rate)}, {left}  {shown_note}"
        tell(visible(line.rstrip()), is_error=True)
        told = now

    yield advance
    if done < told < now == total:
        tell(visible(f"{label}: {now} of {total} {unit}  {shown_note}".rstrip()), is_error=True)


def _is_little(n: int, total: int) -> bool:
    """Whether `n` items are so few that the time until they were done says nothing of the rest: models are loaded and
    machines joined in it."""
    return 0 < n < _LITTLE * total


def _rate(per_second: float) -> str:
    return f"{per_second:,.0f}/s" if per_second >= 10 else f"{per_second:.2g}/s"
