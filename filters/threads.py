"""How many threads decide the bits of filters with networks: a run keeps to one number, whatever machine goes on."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from swag_af.filters.contract import Filter


def deciding_threads(filters: Sequence[Filter]) -> int:
    """1 where torch has so few threads that `filters` have the bits of one thread; otherwise the number it has."""
    alike = _alike(filters)
    if alike is None:
        return 1
    from torch import get_num_threads

    return 1 if get_num_threads() <= alike else get_num_threads()


def default_workers(filters: Sequence[Filter]) -> int:
    """Processes where nobody says how many: as many as torch has threads; one on a GPU, or without networks of ours."""
    if _alike(filters) is None:
        return 1
    import torch

    from swag_af.nn.device import pick_device

    on_cpu = all(pick_device(getattr(one, "device", "cpu")).type == "cpu" for one in filters)
    return torch.get_num_threads() if on_cpu else 1


@contextmanager
def bits_of(n: int, filters: Sequence[Filter], *, exactly: bool = False) -> Iterator[None]:
    """Fits and scores inside have the bits of `n` threads.

    They may take more than one thread where that has the bits of one, unless it is to be `exactly` n.
    """
    if _alike(filters) is None or (not exactly and deciding_threads(filters) == n):
        yield
        return
    from swag_af.nn.threads import threads

    with threads(n):
        yield


def _alike(filters: Sequence[Filter]) -> int | None:
    """Threads up to which all of them have the bits of one; None where no filter has networks of ours."""
    numbers = [one.threads_alike for one in filters if hasattr(one, "threads_alike")]
    return min(numbers, default=None)
