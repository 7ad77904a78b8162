"""Processes of this machine. They end with the process that started them, however it ends."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

from swag_af.data.engines.contract import BLOCKS_AHEAD, ENDED, BlockT, Crew, Job, ResultT, Worker
from swag_af.data.errors import InputError


@contextmanager
def in_processes(job: Job[BlockT, ResultT], blocks: Sequence[BlockT], workers: int) -> Iterator[Iterator[ResultT]]:
    """The results of `blocks`, in order, by `workers` processes."""
    with process_crew(job, workers) as crew:
        yield crew.map(blocks)


@contextmanager
def process_crew(job: Job[BlockT, ResultT], workers: int) -> Iterator[Crew[BlockT, ResultT]]:
    """`workers` processes, who stay until the `with` block is left.

    They import what the job needs and not the caller's script, are started when there is a block for them, are gone
    when the `with` block is left, and end when this process is killed.
    """
    context = multiprocessing.get_context("spawn")  # a fork would copy the threads of the libraries in use
    ends, held = context.Pipe(duplex=False)
    executor = ProcessPoolExecutor(workers, context, initializer=_start, initargs=(job, ends))
    crew = _Processes(executor, BLOCKS_AHEAD * workers)
    try:
        yield crew
        if crew.is_busy:
            held.close()  # with blocks whose results nobody takes any more
    except BaseException as error:
        held.close()  # blocks being worked on are not waited for
        if isinstance(error, BrokenProcessPool):
            raise InputError(ENDED) from None
        raise
    finally:
        executor.shutdown(cancel_futures=True)
        held.close()
        ends.close()


def usable_cores() -> set[int]:
    """The cores that this process may use."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


class _Processes:
    """A crew."""

    def __init__(self, executor: ProcessPoolExecutor, n_ahead: int):
        self._executor, self._n_ahead = executor, n_ahead
        self._sent: deque[Future[Any]] = deque()

    @property
    def is_busy(self) -> bool:
        """Whether somebody works on a block."""
        return any(one.running() for one in self._sent)

    def map(self, blocks: Sequence[Any]) -> Iterator[Any]:
        for unwanted in self._sent:
            unwanted.cancel()
        sent = self._sent = deque()
        for block in blocks:
            with _without_script(), _deaf():
                sent.append(self._executor.submit(_do, block))
            if len(sent) > self._n_ahead:
                yield _taken(sent.popleft())
        while sent:
            yield _taken(sent.popleft())


def _taken(sent: Future[Any]) -> Any:
    """The result of a block. Who watches the files of this process is told what the other has done to some."""
    result, changes = sent.result()
    for tell, path in changes:
        tell(path)
    return result


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


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that are started inside hear no Ctrl-C, which their parent is meant by: while they still import what
    they need, each would print a traceback. The parent hears one that comes meanwhile when the block is left."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_WORKERS: list[Worker[Any, Any]] = []
"""The one worker of a worker process; empty in all other processes."""


_CHANGES: list[tuple[Callable[[Path], None], Path]] = []
"""In a worker process: what it has written or removed since its last result, and how that is told."""


def _start(job: Job[Any, Any], ends: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as before, for processes that it starts itself
    threading.Thread(target=_end_with_parent, args=(ends,), daemon=True).start()
    _watch()
    _WORKERS[:] = [Worker(job)]


def _watch() -> None:
    from swag_af.data.disk.replacing import REMOVAL_WATCHERS, WATCHERS, changed, removed

    WATCHERS.append(lambda path: _CHANGES.append((changed, path)))
    REMOVAL_WATCHERS.append(lambda path: _CHANGES.append((removed, path)))


def _end_with_parent(ends: Connection) -> None:
    """A killed parent cannot stop its processes, and they would wait for work forever: its end of the pipe is closed
    when it lets go of them, and when it is gone."""
    ends.poll(None)
    os._exit(1)


def _do(block: Any) -> tuple[Any, Sequence[tuple[Callable[[Path], None], Path]]]:
    _CHANGES.clear()
    return _WORKERS[0].do(block), _CHANGES
