"""Logs: files of a JSON object a line, of which a kill or a loss of power may have cut the last line short.

Such a last line does not count: what it told is done again. Damage before it is an error, as in any other file. How a
log is written is its owner's affair.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from swag_af.data.files import check_is_file, json_value, not_utf8, object_of, replacing


def read_log(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """`(line number, object)` for every line that is not blank, but for a last one that is cut short; InputError for
    any other that is no JSON object."""
    check_is_file(path)
    with path.open("rb") as file:
        for number, (at, line) in enumerate(whole_lines(file), start=1):
            if not line.strip():
                continue
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                error.start += at
                raise not_utf8(path, error) from None
            yield number, object_of(text, path, number)


def mend_log(path: Path) -> None:
    """Take away a last line that is cut short, if there is such a file and such a line."""
    if not path.exists():
        return
    with path.open("rb") as file:
        content = b"".join(line for _, line in whole_lines(file))
    if len(content) < path.stat().st_size:
        with replacing(path) as temporary:
            temporary.write_bytes(content)


def whole_lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Where each line from the place of `file` on begins, and the line with its end.

    The last one is left out where its end is missing, or it is no JSON.
    """
    at, size = file.tell(), os.fstat(file.fileno()).st_size
    while line := file.readline():
        is_last = at + len(line) >= size
        if not line.endswith(b"\n") or (is_last and line.strip() and not _is_json(line)):
            return
        yield at, line
        at += len(line)


def _is_json(line: bytes) -> bool:
    try:
        json_value(line.decode("utf-8-sig"))
    except ValueError:
        return False
    return True
