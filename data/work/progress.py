"""Progress on standard error: a bar with time left on a terminal, a line now and then in a log.

Imports rich only when a bar is shown, so that nothing else waits for it.
"""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate
from typing import Any

from swag_af.data.disk.urls import as_told
from swag_af.data.display.terminal import folded_for, tell, visible

Advance = Callable[..., None]
"""`advance(n, note="...", kept=False)`: `n` more items are done; `note` replaces the text at the end of the bar; what
an earlier run has `kept` says nothing of the rate."""

_SECONDS_BETWEEN_LINES = 20.0
_SECONDS_UNTIL_FIRST = 5.0
"""Then the first line is due, so that a log shows that and how the work goes."""
_LITTLE = 0.02
"""So much of all work tells nothing of the rate where it is the first to be done: what began it is not repeated."""


def note(line: str) -> None:
    """Print something to standard error that a user should know and that is no error."""
    tell(folded_for(sys.stderr, visible(as_told(line))), is_error=True)


def duration(seconds: float) -> str:
    """`75 s`, `12 min`, `3.4 h`, `2.1 days`: as precise as an estimate deserves."""
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (48 * 3600, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.0f} {name}" if unit < 3600 else f"{seconds / unit:.1f} {name}"
    return f"{seconds / 86400:.1f} days"


@contextmanager
def progress(
    label: str,
    total: int,
    unit: str,
    *,
    done: int = 0,
    stages: Sequence[tuple[str, int]] = (),
    kinds: Sequence[str] = (),
) -> Iterator[Advance]:
    """Show how many of `total` items are done, how many a second, and the time left.

    `stages` are the names and items of parts whose items take different times: time left is then that of the part at
    hand. Where items of different `kinds`, one of which is given for each in order, take turns, it is reckoned by kind,
    and unknown until one of each has been done. Within another progress there is no second bar, but a line now and
    then.
    """
    shown = _bar if sys.stderr.isatty() and not _is_within.get() else _lines
    before = _is_within.set(True)
    try:
        with shown(label, unit, _Pace(total, done, stages, kinds)) as advance:
            yield advance
    finally:
        _is_within.reset(before)


_is_within: ContextVar[bool] = ContextVar("_is_within", default=False)
"""Whether a progress is shown already."""


class _Pace:
    """How far the work is, and how fast it goes of late."""

    def __init__(self, total: int, done: int, stages: Sequence[tuple[str, int]], kinds: Sequence[str] = ()):
        self.total, self.now = total, done
        self._kinds, self._took = kinds, dict[str, tuple[float, int]]()
        """Of each kind the seconds that items took, and how many were done."""
        ends = accumulate(n for _, n in stages)
        self._stages = [(name, min(end, total)) for (name, _), end in zip(stages, ends, strict=True) if done < end]
        self._first = done
        self._last = time.perf_counter()
        self._seen = deque([(self._last, done)])

    def add(self, n: int, *, kept: bool) -> bool:
        """`n` more items are done, now or, if `kept`, long ago; returns whether the rate is reckoned from here on."""
        moment, is_start = time.perf_counter(), self.now == self._first and _is_little(n, self.total - self._first)
        for kind in () if kept else self._kinds[self.now : self.now + n]:
            seconds, counted = self._took.get(kind, (0.0, 0))
            self._took[kind] = seconds + (moment - self._last) / n, counted + 1
        self._last = moment
        self.now += n
        if kept:
            self._first += n
            self._seen = deque((then, count + n) for then, count in self._seen)
        if is_next := bool(self._stages) and self.now >= self._stages[0][1]:
            self._stages = [(name, end) for name, end in self._stages if self.now < end]
        is_next = is_next and self.now < self.total  # at the very end nothing begins
        if begins := is_next or (is_start and not kept):
            self._seen = deque([(moment, self.now)])
        elif not kept:
            self._note(moment)
        return begins

    def _note(self, moment: float) -> None:
        seen = self._seen
        if len(seen) > 1 and moment - seen[-2][0] < _SECONDS_APART:
            seen.pop()
        seen.append((moment, self.now))
        while len(seen) > _FEWEST and moment - seen[1][0] > _SECONDS_OF_LATE:
            seen.popleft()

    @property
    def rate(self) -> float:
        """Items a second."""
        (since, counted), (until, now) = self._seen[0], self._seen[-1]
        return (now - counted) / max(until - since, 1e-9)

    @property
    def left(self) -> str:
        """The time left, in words."""
        if self._kinds:
            return self._left_by_kind
        name, end = self._stages[0] if self._stages else ("", self.total)
        if self.now < end and not self.rate:
            return "time left unknown"  # a note alone, or a part that begins, and nothing done
        of = f" of {name}" if end < self.total else ""
        return f"{duration((end - self.now) / self.rate if self.now < end else 0.0)} left{of}"

    @property
    def _left_by_kind(self) -> str:
        rest = self._kinds[self.now :]
        if not self._took.keys() >= set(rest):
            return "time left unknown"
        means = {kind: seconds / counted for kind, (seconds, counted) in self._took.items()}
        return f"{duration(sum(means[kind] for kind in rest))} left"


_SECONDS_APART, _SECONDS_OF_LATE, _FEWEST = 0.5, 30.0, 6
"""Between two moments that the rate is reckoned from; how old they may be; and of slow items, how many there are."""


@contextmanager
def _bar(label: str, unit: str, pace: _Pace) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(*_columns(unit), console=Console(stderr=True), expand=True) as shown:
        task = shown.add_task(label, total=pace.total, completed=pace.now, note="", rate="", left="")

        def advance(n: int = 1, note: str | None = None, *, kept: bool = False) -> None:
            pace.add(n, kept=kept)
            fields: dict[str, Any] = {} if note is None else {"note": note}
            rate = _rate(pace.rate)
            has_one = pace.rate > 0  # what an earlier run kept has none
            shown.update(task, completed=pace.now, rate=rate if has_one else "", left=pace.left, **fields)

        yield advance


def _columns(unit: str) -> tuple[Any, ...]:
    """What a bar shows, from left to right; names of filters have brackets, which are no markup. On a narrow terminal
    bar and note give way."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    return (
        TextColumn("{task.description}", style="bold", markup=False),
        BarColumn(bar_width=None, table_column=Column(ratio=1)),
        MofNCompleteColumn(),
        TextColumn(unit + "  {task.fields[rate]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        TextColumn("{task.fields[note]}", markup=False, table_column=Column(ratio=2, no_wrap=True)),
    )


@contextmanager
def _lines(label: str, unit: str, pace: _Pace) -> Iterator[Advance]:
    last, done, told, shown_note = time.perf_counter(), pace.now, pace.now, ""
    wait = min(_SECONDS_UNTIL_FIRST, _SECONDS_BETWEEN_LINES)

    def advance(n: int = 1, note: str | None = None, *, kept: bool = False) -> None:
        nonlocal last, told, shown_note, wait
        begins = pace.add(n, kept=kept)
        shown_note = shown_note if note is None else note
        moment = time.perf_counter()
        last = moment if begins else last
        if moment - last < wait:
            return
        last, told, wait = moment, pace.now, _SECONDS_BETWEEN_LINES
        line = f"{label}: {pace.now} of {pace.total} {unit}, {_rate(pace.rate)}, {pace.left}  {shown_note}"
        tell(visible(line.rstrip()), is_error=True)

    yield advance
    if done < told < pace.now == pace.total:
        tell(visible(f"{label}: {pace.now} of {pace.total} {unit}  {shown_note}".rstrip()), is_error=True)


def _is_little(n: int, total: int) -> bool:
    """Whether `n` items are so few that the time until they were done says nothing of the rest: models are loaded and
    machines joined in it."""
    return 0 < n < _LITTLE * total


def _rate(per_second: float) -> str:
    return f"{per_second:,.0f}/s" if per_second >= 10 else f"{per_second:.2g}/s"
