"""How many threads torch's products share: as many as the machine has cores free, and one where bits ask for it.

A team of threads waits for its slowest member at every product: where another process takes one of two cores, all of it
stands still most of the time. So work that has to be done in order takes a smaller team while others use the cores.
Work that is independent item by item does without a team: processes of one thread each (`swag_af.data.scale`).
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn.functional import linear

from swag_af.data.engines.processes import usable_cores


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
"""Threads that may give the bits of one. Torch cuts a tensor into as many pieces as there are threads; where a piece
ends within a vector register, its last exponentials are rounded otherwise. Halves of our tensors fill whole registers,
thirds do not."""

Product = Callable[[Tensor, Tensor], Tensor]
"""(M, I) and (O, I) to (M, O)."""


def alike(product: Product = linear) -> int:
    """Threads up to which `product`, torch's own if none is given, has the bits of one: 2 or, where two are asked for
    and it has others by two, 1."""
    return ALIKE if torch.get_num_threads() != ALIKE or _is_alike(product) else 1


@cache
def _is_alike(product: Product) -> bool:
    """Tried on shapes that filters have: on Intel's processors MKL cuts the sums of some among its threads, on AMD's it
    does not."""
    rng = torch.Generator().manual_seed(0)
    for n_rows, n_in, n_out in _TRIED:
        x, weight = torch.rand(n_rows, n_in, generator=rng), torch.rand(n_out, n_in, generator=rng)
        made = []
        for n in (1, ALIKE):
            with threads(n), torch.no_grad():
                made.append(product(x, weight))
        if not torch.equal(*made):
            return False
    return True


_TRIED = ((150, 512, 1), (256, 1792, 200), (238, 1600, 200), (200, 2048, 800))
"""Rows, inputs and outputs: a head, gradients of a convolution, and those of an LSTM."""


def team(n_alike: int | None = None) -> contextlib.AbstractContextManager[None]:
    """Torch's threads, or fewer where other processes leave fewer cores, one at least, as the last seconds say.

    More threads than `n_alike`, which are `alike()` where not given, stay as they are: with fewer the bits would depend
    on what else runs.
    """
    n = torch.get_num_threads()
    fewer = 1 < n <= (alike() if n_alike is None else n_alike)
    return threads(min(n, max(1, round(_LOAD.free_cores()))) if fewer else n)


def pair(product: Product = linear) -> contextlib.AbstractContextManager[None]:
    """Two of torch's threads, or one where it has one, other processes leave one, or `product` has other bits by two:
    never other bits than by one."""
    if torch.get_num_threads() == 1 or round(_LOAD.free_cores()) < ALIKE:
        return threads(1)
    return threads(ALIKE if _is_alike(product) else 1)


T = TypeVar("T")


def side_by_side(works: Sequence[Callable[[], T]]) -> list[T]:
    """What each of `works` returns, in order. Two of them are done at once, by one thread each, where torch has two:
    they meet at the end, a team's threads at every operation. With other numbers they are done one after the other.

    They must not write to the same place, nor draw from torch's generator. Gradients are recorded as outside.
    """
    if len(works) != 2 or torch.get_num_threads() != 2:
        return [work() for work in works]
    first, second = works
    is_recorded, is_inference = torch.is_grad_enabled(), torch.is_inference_mode_enabled()

    def beside() -> T:
        with threads(1), torch.inference_mode(is_inference), torch.set_grad_enabled(is_recorded):
            return second()

    with threads(1):
        other = _helper(os.getpid()).submit(beside)
        try:
            return [first(), other.result()]
        finally:
            wait([other])


@cache
def _helper(process: int) -> ThreadPoolExecutor:
    """One thread beside the one that asks; a process that was forked has its own."""
    return ThreadPoolExecutor(1, "side_by_side")


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
        cores = usable_cores()
        at, own, busy = time.monotonic(), time.process_time(), _busy_seconds(cores)
        passed = max(at - self._at, 1e-3)
        others = 0.0 if busy is None else ((busy - self._busy) - (own - self._own)) / passed
        self._free = len(cores) - max(0.0, others)
        self._at, self._own, self._busy = at, own, 0.0 if busy is None else busy


_SECONDS_APART, _SECONDS_OLD = 2.0, 60.0
"""Between two looks at least, and what says nothing of now."""


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
