"""What a folder holds, to be compared with what it, or another one, holds."""

from collections.abc import Iterable
from pathlib import Path


def files_of(folder: Path, but: Iterable[str] = (), *, like: str = "*") -> dict[str, bytes]:
    """The bytes of every file below a folder by its path there, without the files and folders of these names."""
    names = frozenset(but)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob(like))
        if path.is_file() and names.isdisjoint(path.relative_to(folder).parts)
    }
