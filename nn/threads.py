"""How many threads torch's products share: as many as the machine has cores free, and one where bits ask for it.

A team of threads waits for its slowest member at every product: where another process takes one of two cores, all of it
stands still most of the time. So work that has to be done in order takes a smaller team while others use the cores.
Work that is independent item by item does without a team: processes of one thread each (`swag_af.data.scale`).
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import torch


@contextlib.contextmanager
def threads(n: int) -> Iterator[None]:
    """Torch's products by `n` threads inside, and by as many as before afterwards."""
    before = torch.get_num_threads()
    if n == before:
        yield
        return
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


ALIKE = 2
"""Threads that give the bits of one. Torch cuts a tensor into as many pieces as there are threads; where a piece ends
within a vector register, its last exponentials are rounded otherwise. Halves of our tensors fill whole registers,
thirds do not."""


def team(alike: int = ALIKE) -> contextlib.AbstractContextManager[None]:
    """Torch's threads, or fewer where other processes leave fewer cores, one at least, as the last seconds say.

    More threads than `alike` stay as they are: with fewer the bits would depend on what else runs.
    """
    n = torch.get_num_threads()
    return threads(n if not 1 < n <= alike else min(n, max(1, round(_LOAD.free_cores()))))


def pair() -> contextlib.AbstractContextManager[None]:
    """Two of torch's threads, or one where it has one or other processes leave one: never other bits than by one."""
    n = torch.get_num_threads()
    return threads(1 if n == 1 or round(_LOAD.free_cores()) < ALIKE else ALIKE)


class _Load:
    """Looks at how many cores other processes leave to this one, some seconds apart."""

    def __init__(self) -> None:
        self._at = self._busy = self._own = -1e9
        self._free = 0.0

    def free_cores(self) -> float:
        """Cores that others did not use since the last look, or for a tenth of a second; all where nobody says."""
        age = time.monotonic() - self._at
        if age < _SECONDS_APART:
            return self._free
        if age > _SECONDS_OLD:
            self._look()
            time.sleep(0.1)
        self._look()
        return self._free

    def _look(self) -> None:
        cores = _cores()
        at, own, busy = time.monotonic(), time.process_time(), _busy_seconds(cores)
        passed = max(at - self._at, 1e-3)
        others = 0.0 if busy is None else ((busy - self._busy) - (own - self._own)) / passed
        self._free = len(cores) - max(0.0, others)
        self._at, self._own, self._busy = at, own, 0.0 if busy is None else busy


_SECONDS_APART, _SECONDS_OLD = 2.0, 60.0
"""Between two looks at least, and what says nothing of now."""


def _cores() -> set[int]:
    """The cores that this process may use."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def _busy_seconds(cores: set[int]) -> float | None:
    """Seconds that `cores` together have worked since the machine started; None but on Linux."""
    try:
        lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
        ticks = {name: map(int, more[:3]) for name, *more in map(str.split, lines)}  # user, nice, system
        return sum(sum(ticks[f"cpu{core}"]) for core in cores) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, KeyError):
        return None


_LOAD = _Load()
"""One for the process."""
