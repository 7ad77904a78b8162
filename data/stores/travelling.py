"""Jobs for workers that share no disk with the caller: paths in mirrors travel as addresses, and files come back.

A worker opens mirrors of its own. What it writes below them is sent, rows of unfinished shards too, and its names come
back with the result of the block; the caller fetches them before the result is used. The worker keeps no rows, which it
never reads again, unless its mirrors are the caller's, who goes on from them when it was killed.
"""

import hashlib
import io
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from swag_af.data.disk.replacing import WATCHERS
from swag_af.data.disk.urls import ROOTS
from swag_af.data.engines.contract import Job, ResultT, cores_of
from swag_af.data.stores.mirror import Mirror
from swag_af.data.stores.opened import all_open, holder_of, local, opened

Written = dict[str, list[str]]
"""The names of the files that a block wrote, by the address of their mirror."""


@dataclass(frozen=True)
class Travelling:
    """A job whose paths are addresses on the way; a result comes with the names of what was written."""

    packed: bytes
    cores: int = 1
    """That each worker is asked for, as of the job that travels."""
    mirrors: str = ""
    """Those of the caller (`_mirrors`)."""
    needs_folder: ClassVar[bool] = False
    """On the machine of a worker: its paths are addresses."""

    def open(self) -> Callable[[Any], tuple[Any, Written]]:
        do = pickle.loads(self.packed).open()
        written: list[Path] = []
        WATCHERS.append(written.append)

        def do_and_send(block: Any) -> tuple[Any, Written]:
            written.clear()
            result = do(block)
            held: dict[str, list[Path]] = {}
            for path in dict.fromkeys(path for path in written if path.is_file()):
                if mirror := holder_of(path):
                    held.setdefault(mirror.url, []).append(path)
            are_kept = _mirrors() == self.mirrors
            return result, {url: opened(url).send_hidden(paths, are_kept=are_kept) for url, paths in held.items()}

        return do_and_send


def sent(job: Job[Any, Any]) -> Travelling:
    """`job` as it travels to workers elsewhere."""
    packed = io.BytesIO()
    _Pickler(packed).dump(job)
    return Travelling(packed.getvalue(), cores_of(job), _mirrors())


def _mirrors() -> str:
    """What the folder of this process's mirrors is known by, on all machines that share its disk: its path and its
    number there. Hashed, since no path of one machine travels to another."""
    known_by = f"{ROOTS[0]} {ROOTS[0].stat().st_ino}" if ROOTS and ROOTS[0].exists() else ""
    return hashlib.sha256(known_by.encode()).hexdigest()


def arrived(results: Iterable[tuple[ResultT, Written]]) -> Iterator[ResultT]:
    """The results alone; the files of each are here when it is taken."""
    for result, written in results:
        for url, names in written.items():
            opened(url).take(names)
        yield result


class _Pickler(pickle.Pickler):
    """Paths in mirrors as addresses; everything else as ever."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Path):
            for mirror in all_open():
                if mirror.has(value):
                    return _located, (mirror.url, mirror.records_only, str(value.relative_to(mirror.folder)))
        return NotImplemented


def _located(url: str, records_only: bool, name: str) -> Path:
    local(url, records_only=records_only)
    mirror: Mirror = opened(url)
    return mirror.folder / name
