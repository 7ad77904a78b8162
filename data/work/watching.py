"""Something done again and again beside other work."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def every(seconds: float, work: Callable[[], object]) -> Iterator[None]:
    """Inside, another thread calls `work` every so many seconds.

    It is not called once more at the end; a call under way there is waited for, a minute at most. `work` must not
    raise: the thread would end with it.
    """
    over = threading.Event()

    def watch() -> None:
        while not over.wait(seconds):
            work()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join(60)
