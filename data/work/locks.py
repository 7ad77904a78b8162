"""Work that only one process may do at a time, on whatever machine: others wait until it is done, or its process gone,
or are told to come again.

A lock is that of the operating system (`flock`), which file systems shared by machines pass on (NFS, Lustre with
`flock`). It goes with its process, however that ends, so nobody has to guess whether a lock is stale.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import ENOLCK, ENOSYS, EOPNOTSUPP
from pathlib import Path
from typing import BinaryIO

from swag_af.data.errors import InputError
from swag_af.data.work.progress import note

MOST_TRIES = 100
"""So often a folder may go while a lock is made in it; then it is one in which no file can be made, as `/proc`."""

OUT = "Wait until it is done, or choose another --out."


@contextmanager
def alone(
    path: Path, *, is_told: bool = True, waits: bool = True, called: Path | None = None, advice: str = OUT
) -> Iterator[None]:
    """In such a block for `path`, a file or folder that need not be there yet, is one process or thread at a time.

    Whoever has to wait says so on standard error, unless what is waited for is short and `is_told` is not set; or
    InputError is raised with `advice`, where nobody `waits`; both name what the user named, `called`. Who cannot lock,
    for want of locks in the file system, says so and goes on without. Nothing is left beside `path`.
    """
    place = _place(path)
    file = _held(path, place, called or path, is_told=is_told, refusal="" if waits else advice)
    try:
        yield
    finally:
        place.unlink(missing_ok=True)  # before it is let go: who waits for it sees that it is gone, and makes another
        file.close()


def clear_lock(path: Path) -> None:
    """Remove the lock for `path` that a killed process left, if there is one; one that somebody holds stays."""
    if _place(path).exists():
        with suppress(InputError), alone(path, is_told=False, waits=False):
            pass  # gone when it is let go


def _place(path: Path) -> Path:
    path = Path(os.path.abspath(path))  # `.` has no name
    return path.with_name(f".{path.name}.lock")


def _held(path: Path, place: Path, called: Path, *, is_told: bool, refusal: str) -> BinaryIO:
    """The lock's file, open and locked."""
    tries = 0
    while True:
        try:
            with suppress(FileExistsError):  # also where it went while it was looked at
                place.parent.mkdir(parents=True, exist_ok=True)
            file = place.open("ab")
        except FileNotFoundError:  # its folder went in between, with the work that is done
            _check_links(place)
            tries += 1
            if tries > MOST_TRIES:
                raise InputError(f"{place.parent}: no file can be made here. Choose another folder.") from None
            continue
        try:
            _lock(file, called, is_told=is_told, refusal=refusal)
        except BaseException:
            file.close()
            raise
        if _is_there(file, place):
            return file
        file.close()


def _check_links(place: Path) -> None:
    """Raise InputError where a folder above `place` is a link to nothing: no folder can be made there."""
    dangling = next((one for one in place.parents if one.is_symlink() and not one.exists()), None)
    if dangling is not None:
        raise InputError(f"{dangling}: a link to what is not there. Make the folder that it names, or remove the link.")


def _lock(file: BinaryIO, path: Path, *, is_told: bool, refusal: str) -> None:
    """Lock it; waits until whoever holds it lets it go, or raises InputError where there is a `refusal`."""
    if seize(file, path):
        return
    if refusal:
        raise InputError(f"{path}: another process is at work on this. {refusal}")
    if is_told:
        note(f"{path}: another process is at work on this. Waiting until it is done.")
    fcntl.flock(file, fcntl.LOCK_EX)


def seize(file: BinaryIO, path: Path) -> bool:
    """Lock the open `file` until it is closed, without waiting; False where another process holds it. Who cannot lock,
    for want of locks in the file system, says so and goes on without."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (ENOSYS, ENOLCK, EOPNOTSUPP):
            raise
        note(f"Warning: {path}: this file system has no locks. Let no two runs do the same work here at once.")
    return True


def _is_there(file: BinaryIO, place: Path) -> bool:
    """Whether the open `file` is still the one at `place`."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), place.stat())
    except FileNotFoundError:
        return False
