"""Results in the order of the blocks, from workers who take the next block when they have time, and may be lost."""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from swag_af.data.engines.contract import ENDED
from swag_af.data.errors import InputError

TRIES = 4
"""Times that a block is given to a worker who is lost with it, before the run stops."""


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


def in_order(fleet: Fleet, blocks: Sequence[Any], n_workers: int, *, ahead: int) -> Iterator[Any]:
    """The result of every block, in order, by `n_workers`; one that is lost costs its block, which another one does.

    No block is sent more than `ahead` places before the one whose result comes next.
    """
    sent: dict[Any, tuple[Any, int | None]] = {}
    for _ in range(n_workers):
        worker, ready = fleet.hire()
        sent[ready] = worker, None
    idle, todo, done, tries = list[Any](), deque(range(len(blocks))), dict[int, Any](), Counter[int]()
    for number in range(len(blocks)):
        while number not in done:
            while idle and todo and todo[0] < number + ahead:
                worker, block = idle.pop(0), todo.popleft()
                sent[fleet.send(worker, blocks[block])] = worker, block
            finished = fleet.wait(list(sent))
            worker, block_done = sent.pop(finished)
            try:
                result = fleet.take(finished)
            except LostError:
                if block_done is not None:
                    tries[block_done] += 1
                    if tries[block_done] == TRIES:
                        raise InputError(ENDED) from None
                    todo.appendleft(block_done)
                worker, ready = fleet.hire()
                sent[ready] = worker, None
                continue
            idle.append(worker)
            if block_done is not None:
                done[block_done] = result
        yield done.pop(number)
