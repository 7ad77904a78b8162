"""The figures of agreement on the admin page, kept while nothing changes: each costs a bootstrap over all answers, in
the process that serves the annotators."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from sqlalchemy import func, select

from swag_af.judging.agreement import FILTERED, Kinds, agreement_rows, distribution_rows, measure
from swag_af.verify.schema import events, tasks
from swag_af.verify.store import Store

FREE_SECONDS = 0.1
"""What takes no longer is measured whenever something has changed."""
REST = 20
"""What takes longer is kept this many times as long as it took, at least."""
LEAST_AGE = 10.0
"""And for these seconds, at least."""


@dataclass(frozen=True)
class Figures:
    """Tables of all answers that count, as they were at a time; empty without any."""

    agreement: list[list[str]]
    distribution: list[list[str]]
    at: float
    """When they were made, by `MeasuredStore.clock`."""


@dataclass
class MeasuredStore:
    """The figures of a store, and what they were made of."""

    store: Store
    clock: Callable[[], float] = time.monotonic
    kinds: Kinds = FILTERED
    """What gold and the other endings are called."""
    _kept: Figures | None = None
    _state: tuple[int, ...] = ()
    _good_until: float = 0.0
    _lock: Lock = field(default_factory=Lock)  # two pages at once measure once

    def figures(self) -> Figures:
        """Those of the answers as they are, or, where measuring takes long, as they were a while ago."""
        with self._lock:
            now, state = self.clock(), self._state_of_store()
            if self._kept is None or (state != self._state and now >= self._good_until):
                begun, self._state = time.perf_counter(), state
                self._kept = self._measured(now)
                took = time.perf_counter() - begun
                self._good_until = self.clock() + (max(LEAST_AGE, REST * took) if took > FREE_SECONDS else 0.0)
            return self._kept

    def age(self, figures: Figures) -> float:
        """Seconds since these were made."""
        return self.clock() - figures.at

    def _measured(self, now: float) -> Figures:
        verdicts = self.store.verdicts()
        found = measure(verdicts) if verdicts else None
        tables = (agreement_rows(found), distribution_rows(found, self.kinds)) if found else ([], [])
        return Figures(*tables, now)

    def _state_of_store(self) -> tuple[int, ...]:
        """Answers, how often they were given or changed, and the last change of who counts: any that changes the
        figures changes these."""
        answered = select(func.count(), func.sum(tasks.c.revision)).where(tasks.c.answered_at.is_not(None))
        with self.store.engine.connect() as connection:
            n, n_given = connection.execute(answered).one()
            last = connection.scalar(select(func.max(events.c.id)))
        return int(n), int(n_given or 0), int(last or 0)
