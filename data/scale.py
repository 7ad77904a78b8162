"""Where work runs: here, in processes of this machine, or as one of several runs that share a folder.

A job is work in blocks. It is small and picklable (paths and names, not tables or models), and opens what it needs in
the process that does the work. Results come in the order of the blocks, so a caller writes the same bytes wherever the
work was done, and a caller that writes each result before it takes the next can be killed and resumed.

A cluster that starts its own runs (a job array, several machines on one file system) needs nothing more: each run gets
its `part`, and the run that finds all parts done joins them. A backend that sends blocks to other machines would go
beside `_in_processes` and be chosen in `run_blocks`: it pickles the job once for each machine, calls `open` there once,
sends blocks, and yields results in order. Jobs and callers stay as they are.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cached_property
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar

from swag_af.data.errors import InputError

Part = tuple[int, int]
"""`(i, n)`: this run is number `i`, counted from 0, of `n` that share the work."""

Item = TypeVar("Item")
BlockT = TypeVar("BlockT")
ResultT = TypeVar("ResultT")
BlockIn = TypeVar("BlockIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)


class Job(Protocol[BlockIn, ResultOut]):
    """Work in blocks. Picklable, as are its blocks and results."""

    def open(self) -> Callable[[BlockIn], ResultOut]:
        """Open what the work needs; returns the function that does one block. Called once in each process."""


def share(items: Sequence[Item], part: Part | None) -> Sequence[Item]:
    """Every n-th item from the i-th on, for `part` `(i, n)`; all of them for None."""
    i, n = part or (0, 1)
    return items[i::n]


@contextmanager
def run_blocks(
    job: Job[BlockT, ResultT], blocks: Sequence[BlockT], *, workers: int = 1, part: Part | None = None
) -> Iterator[Iterator[ResultT]]:
    """The results of this run's share of `blocks`, in order, computed as they are taken.

    With more than one of `workers`, that many processes are started, which import what the job needs and not the
    caller's script. They are gone when the `with` block is left, at once where an error or a signal leaves it, and end
    when this process is killed. An error in a block is raised where its result is taken, and InputError where a process
    ended by itself, for want of memory for example.
    """
    mine = share(blocks, part)
    if workers == 1 or len(mine) < 2:
        yield map(job.open(), mine) if mine else iter(())
        return
    with _in_processes(job, mine, min(workers, len(mine))) as results:
        yield results


@contextmanager
def _in_processes(job: Job[BlockT, ResultT], blocks: Sequence[BlockT], workers: int) -> Iterator[Iterator[ResultT]]:
    context = multiprocessing.get_context("spawn")  # a fork would copy the threads of the libraries in use
    ends, held = context.Pipe(duplex=False)
    executor = ProcessPoolExecutor(workers, context, initializer=_start, initargs=(job, ends))
    try:
        yield _in_order(executor, blocks, _BLOCKS_AHEAD * workers)
    except BaseException as error:
        held.close()  # blocks being worked on are not waited for
        if isinstance(error, BrokenProcessPool):
            raise InputError(_ENDED) from None
        raise
    finally:
        executor.shutdown(cancel_futures=True)
        held.close()
        ends.close()


_ENDED = (
    "a process that did part of the work ended before it was done, perhaps for want of memory. Run the command again "
    "with fewer --workers."
)


_BLOCKS_AHEAD = 4
"""For each process, blocks sent before the result of the first is taken: memory does not grow with their number."""


def _in_order(executor: ProcessPoolExecutor, blocks: Iterable[BlockT], n_ahead: int) -> Iterator[Any]:
    sent: deque[Future[Any]] = deque()
    for block in blocks:
        with _without_script():
            sent.append(executor.submit(_do, block))
        if len(sent) > n_ahead:
            yield sent.popleft().result()
    while sent:
        yield sent.popleft().result()


@contextmanager
def _without_script() -> Iterator[None]:
    """Processes that are started inside know no script of the caller.

    They would run it anew, and one without `if __name__ == "__main__":` would do its work again in each of them.
    """
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


class _Worker(Generic[BlockT, ResultT]):
    """The job of a worker process, opened when its first block comes."""

    def __init__(self, job: Job[BlockT, ResultT]):
        self._job = job

    @cached_property
    def do(self) -> Callable[[BlockT], ResultT]:
        return self._job.open()


_WORKERS: list[_Worker[Any, Any]] = []
"""The one worker of a worker process; empty in all other processes."""


def _start(job: Job[Any, Any], ends: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever interrupts the parent means it
    threading.Thread(target=_end_with_parent, args=(ends,), daemon=True).start()
    _WORKERS[:] = [_Worker(job)]


def _end_with_parent(ends: Connection) -> None:
    """A killed parent cannot stop its processes, and they would wait for work forever: its end of the pipe is closed
    when it lets go of them, and when it is gone."""
    ends.poll(None)
    os._exit(1)


def _do(block: Any) -> Any:
    return _WORKERS[0].do(block)
