"""Work that is independent item by item, shared by threads of one core each where other processes use the cores too.

Torch's way to use several cores is a team of threads for each matrix product. On a quiet machine nothing is faster. But
the team waits for its slowest member: where another process takes one of two cores, all of it stands still most of the
time, product after product. Threads with items of their own wait for nobody, so they take over while others are busy
(`n_workers`). Bits do not depend on who works, as long as an item's result depends on the item alone.
"""

import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
Work = Callable[[Iterator[ItemT]], Iterator[ResultT]]
"""Takes items when it has room for them, and yields results, in any order."""

_MOST_WAITING = 64
"""Results that wait to be taken, at most: a slow caller must not fill the memory."""
_SECONDS_TO_STOP = 5.0


def n_workers(device: torch.device) -> int:
    """Threads worth starting: one, which works with torch's team, unless other processes use the cores of a CPU."""
    n_cores = torch.get_num_threads()
    return n_cores if device.type == "cpu" and n_cores > 1 and _LOAD.of_others() > _BUSY else 1


_BUSY = 0.5
"""Cores in use by others from which on a team of threads loses more than it gains."""


class _Load:
    """Looks at how many cores other processes use, some seconds apart."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at = self._busy = self._own = -1e9
        self._found = 0.0

    def of_others(self) -> float:
        """Cores that others used since the last look, or for a tenth of a second; 0 where the system does not say."""
        with self._lock:
            age = time.monotonic() - self._at
            if age < 2.0:
                return self._found
            if age > 60.0:
                self._look()
                time.sleep(0.1)
            self._look()
            return self._found

    def _look(self) -> None:
        at, own, busy = time.monotonic(), time.process_time(), _busy_seconds()
        passed = max(at - self._at, 1e-3)
        self._found = 0.0 if busy is None else ((busy - self._busy) - (own - self._own)) / passed
        self._at, self._own, self._busy = at, own, 0.0 if busy is None else busy


def _busy_seconds() -> float | None:
    """Seconds that all cores together have worked since the machine started; None but on Linux."""
    try:
        user, nice, system = map(int, Path("/proc/stat").read_text(encoding="ascii").split(None, 4)[1:4])
    except (OSError, ValueError):
        return None
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


_LOAD = _Load()
"""One for the process."""


def by_threads(works: Sequence[Work[ItemT, ResultT]], items: Iterable[ItemT]) -> Iterator[ResultT]:
    """What `works` make of `items`, each in a thread of its own, as it is done; one of them alone runs here.

    An error in a thread is raised here. Threads end when this generator is closed.
    """
    if len(works) == 1:
        yield from works[0](iter(items))
        return
    before = torch.get_num_threads()
    crew = _Crew(works, items)
    try:
        yield from crew.results()
    finally:
        crew.stop()
        torch.set_num_threads(before)  # torch gives the number last set to threads that start later


class _Crew(Generic[ItemT, ResultT]):
    """The threads, what they take from and what they put their results into."""

    def __init__(self, works: Sequence[Work[ItemT, ResultT]], items: Iterable[ItemT]):
        self._items = iter(items)
        self._taking = threading.Lock()
        self._stopped = False
        self._done: queue.Queue[tuple[str, Any]] = queue.Queue(_MOST_WAITING)
        self._threads = [threading.Thread(target=self._run, args=(work,), daemon=True) for work in works]
        for thread in self._threads:
            thread.start()

    def results(self) -> Iterator[ResultT]:
        """Until every thread has ended; raises what one of them raised."""
        n_running = len(self._threads)
        while n_running:
            kind, value = self._done.get()
            if kind == "result":
                yield value
            elif kind == "error":
                raise value
            else:
                n_running -= 1

    def stop(self) -> None:
        """Give out no more items, and wait a moment for the threads."""
        self._stopped = True
        for thread in self._threads:
            thread.join(_SECONDS_TO_STOP)

    def _run(self, work: Work[ItemT, ResultT]) -> None:
        torch.set_num_threads(1)
        try:
            for result in work(self._shared()):
                self._put(("result", result))
                if self._stopped:
                    return
        except BaseException as error:
            self._put(("error", error))
        else:
            self._put(("end", None))

    def _shared(self) -> Iterator[ItemT]:
        while not self._stopped:
            with self._taking:
                try:
                    item = next(self._items)
                except StopIteration:
                    return
            yield item

    def _put(self, entry: tuple[str, Any]) -> None:
        while not self._stopped:
            try:
                self._done.put(entry, timeout=0.2)
                return
            except queue.Full:
                continue
