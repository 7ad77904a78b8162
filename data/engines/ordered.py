"""Results in the order of the blocks, from workers who take the next block when they have time, and may be lost."""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from swag_af.data.engines.contract import ENDED, NEVER_READY
from swag_af.data.errors import InputError

TRIES = 4
"""Times that a block is given to a worker who is lost with it, before the run stops; and of each worker, times that one
in its place is lost before it was ready, none of the others having been ready in between: no other is hired then until
a block is done, and where nobody is ready to do one, the run stops."""

_STALE = -1
"""In place of the number of a block whose result nobody wants any more."""


class LostError(Exception):
    """A worker is gone: its machine or its process ended."""


class Fleet(Protocol):
    """Workers somewhere else. What `hire` and `send` return can be waited for, and is hashable."""

    def hire(self) -> tuple[Any, Any]:
        """A new worker, who need not have room yet, and what to wait for until there is."""

    def send(self, worker: Any, block: Any) -> Any:
        """Give a block to a worker, and return at once."""

    def wait(self, sent: Sequence[Any]) -> Any:
        """One of those that is done; waits for it."""

    def take(self, sent: Any) -> Any:
        """The result of one that is done; LostError where its worker is gone."""

    def let_go(self, worker: Any) -> None:
        """End what may be left of a worker who is lost: one who only cannot be reached keeps its cores."""


def in_order(fleet: Fleet, blocks: Sequence[Any], n_workers: int, *, ahead: int) -> Iterator[Any]:
    """The result of every block, in order, by `n_workers`; one that is lost costs its block, which another one does.

    No block is sent more than `ahead` places before the one whose result comes next.
    """
    return FleetCrew(fleet, n_workers, ahead=ahead).map(blocks)


class FleetCrew:
    """`n_workers` of a fleet, who stay from one list of blocks to the next."""

    def __init__(self, fleet: Fleet, n_workers: int, *, ahead: int):
        self._fleet, self._ahead = fleet, ahead
        self._sent: dict[Any, tuple[Any, int | None]] = {}
        """What is waited for: who does it, and the number of the block; None where a new worker is."""
        self._idle: list[Any] = []
        self._n_never_ready = 0
        """Workers lost before they were ready, since another one was, or was lost at its work."""
        self._most_never_ready = TRIES * n_workers
        self._n_missing = 0
        """Workers who are hired when a block is done: enough were lost by now, and others are at work."""
        for _ in range(n_workers):
            self._hire()

    def map(self, blocks: Sequence[Any]) -> Iterator[Any]:
        """As `in_order`. What was sent of an earlier list and never taken is done, and passed over."""
        self._sent = {sent: (worker, None if n is None else _STALE) for sent, (worker, n) in self._sent.items()}
        todo, done, tries = deque(range(len(blocks))), dict[int, Any](), Counter[int]()
        for number in range(len(blocks)):
            while number not in done:
                while self._idle and todo and todo[0] < number + self._ahead:
                    worker, block = self._idle.pop(0), todo.popleft()
                    self._sent[self._fleet.send(worker, blocks[block])] = worker, block
                lost = self._take(done)
                if lost is not None:
                    tries[lost] += 1
                    if tries[lost] == TRIES:
                        raise InputError(ENDED) from None
                    todo.appendleft(lost)
            yield done.pop(number)

    def _take(self, done: dict[int, Any]) -> int | None:
        """Wait for one of those sent and put its result into `done`; the number of its block where that was lost."""
        finished = self._fleet.wait(list(self._sent))
        worker, block = self._sent.pop(finished)
        try:
            result = self._fleet.take(finished)
        except LostError:
            self._fleet.let_go(worker)
            self._replace(was_ready=block is not None)
            return None if block == _STALE else block
        except Exception:
            self._idle.append(worker)  # who refuses a block is there for the next list
            if block != _STALE:
                raise
            return None
        self._idle.append(worker)
        if block is None:
            self._n_never_ready = 0
            return None
        self._hire_missing()
        if block != _STALE:
            done[block] = result
        return None

    def _replace(self, *, was_ready: bool) -> None:
        """Hire another one for a worker who is lost; later, where many were lost before they were ready and somebody
        else is, and InputError where nobody is."""
        self._n_never_ready = 0 if was_ready else self._n_never_ready + 1
        if self._n_never_ready < self._most_never_ready:
            self._hire()
        elif self._idle or any(block is not None for _, block in self._sent.values()):
            self._n_missing += 1
        else:
            raise InputError(NEVER_READY)

    def _hire_missing(self) -> None:
        """Each is tried once: the count of those lost stays as it is until one is ready."""
        n_missing, self._n_missing = self._n_missing, 0
        for _ in range(n_missing):
            self._hire()

    def _hire(self) -> None:
        worker, ready = self._fleet.hire()
        self._sent[ready] = worker, None
