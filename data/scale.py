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
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

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

    With more than one of `workers`, that many processes are started by spawn, so a script that calls this needs the
    usual `if __name__ == "__main__":`. They are gone when the `with` block is left, and end when this process is
    killed. An error in a block is raised where its result is taken.
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
    executor = ProcessPoolExecutor(workers, context, initializer=_start, initargs=(job,))
    try:
        yield _in_order(executor, blocks, _BLOCKS_AHEAD * workers)
    finally:
        executor.shutdown(cancel_futures=True)


_BLOCKS_AHEAD = 4
"""For each process, blocks sent before the result of the first is taken: memory does not grow with their number."""


def _in_order(executor: ProcessPoolExecutor, blocks: Iterable[BlockT], n_ahead: int) -> Iterator[Any]:
    sent: deque[Future[Any]] = deque()
    for block in blocks:
        sent.append(executor.submit(_do, block))
        if len(sent) > n_ahead:
            yield sent.popleft().result()
    while sent:
        yield sent.popleft().result()


class _Worker(Generic[BlockT, ResultT]):
    """The job of a worker process, opened when its first block comes."""

    def __init__(self, job: Job[BlockT, ResultT]):
        self._job = job

    @cached_property
    def do(self) -> Callable[[BlockT], ResultT]:
        return self._job.open()


_WORKERS: list[_Worker[Any, Any]] = []
"""The one worker of a worker process; empty in all other processes."""


def _start(job: Job[Any, Any]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _WORKERS[:] = [_Worker(job)]


def _end_with_parent() -> None:
    """A killed parent cannot stop its processes, and they would wait for work forever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _do(block: Any) -> Any:
    return _WORKERS[0].do(block)
