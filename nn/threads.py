"""Work that is independent item by item, shared by threads of one core each.

The other way to use several cores is a team of threads for each matrix product, which waits for its slowest member:
where another process takes one of two cores, the whole team stands still most of the time, product after product.
Threads with items of their own wait for nobody. Torch releases Python's lock while it computes, and weights are shared,
so this needs no processes. Bits do not depend on the number of threads, as long as an item's result depends on the item
alone.
"""

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    """Threads worth starting: as many as torch would use for one product on a CPU; a GPU is fed by one."""
    return torch.get_num_threads() if device.type == "cpu" else 1


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
