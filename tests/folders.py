"""Files of rows, and what a folder holds, to be compared with what it held, or with another one."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """A JSONL file of these rows."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def files_of(folder: Path, but: Iterable[str] = (), *, like: str = "*") -> dict[str, bytes]:
    """The bytes of every file below a folder by its path there, without the files and folders of these names."""
    names = frozenset(but)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob(like))
        if path.is_file() and names.isdisjoint(path.relative_to(folder).parts)
    }
