"""One reader and one writer each of texts, JSON, TOML and tables, and the checks of what is to be written.

Readers raise an InputError of one line for whatever is wrong with a file: not there, a folder or a pipe, not UTF-8, too
deep, with numbers that no computer holds. What records must contain is in `records`. Writers leave the old file or the
new one (`replacing`).

Logs are files of a JSON object a line, of which a kill or a loss of power may have cut the last line short. Such a last
line does not count: what it told is done again. Damage before it is an error, as in any other file. How a log is
written is its owner's affair.
"""

import json
import os
import re
import shlex
import tomllib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from errno import EINVAL, ENOSYS, EOPNOTSUPP
from pathlib import Path
from typing import Any, BinaryIO, Literal, TextIO, TypeVar

import numpy as np

from swag_af.data.disk.records import AGAIN, parse_record
from swag_af.data.disk.replacing import check_there, discard, replacing
from swag_af.data.disk.urls import as_told, name_of
from swag_af.data.errors import FormatError, InputError, in_one_line

T = TypeVar("T")


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all, with addresses in place of the mirrors that it names."""
    with replacing(path) as temporary:
        temporary.write_text(as_told(text), encoding="utf-8")


def write_json(path: Path, value: object) -> None:
    """Write `value` as indented JSON, keys in the order given."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, default=plain) + "\n")


def write_jsonl(path: Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one JSON object a line; returns how many."""
    n = 0
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False, default=plain) + "\n")
            n += 1
    return n


class LineFeeds:
    """What a `csv.writer` writes its rows to so that each ends in a line feed alone.

    Told so itself, the writer of Python 3.11 and 3.12 leaves a text with a carriage return unquoted: two rows.
    """

    def __init__(self, file: TextIO):
        self._file = file

    def write(self, row: str) -> int:
        """Write one row, which ends as the writer's dialect says."""
        return self._file.write(row.removesuffix("\r\n") + "\n")


def write_array(path: Path, array: np.ndarray) -> None:
    """Write one `.npy` table (never a pickle)."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.save(file, array, allow_pickle=False)


def empty_array(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.memmap:
    """A new `.npy` table at `path`, mapped to be filled: under its own name, which only a temporary one may be.

    Raises OSError where the disk has no room for it, and leaves no file then.
    """
    try:
        table: np.memmap = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
        with path.open("r+b") as file:
            reserve(file, path.stat().st_size, path)
    except OSError:
        discard(path)
        raise
    return table


def reserve(file: BinaryIO, n_bytes: int, called: Path) -> None:
    """Take room on the disk for a file that is written through a map, or raise OSError that names what is `called`.

    Without it a disk that fills up meanwhile ends the process by SIGBUS, without a word. Where the system or the file
    system cannot take room ahead, none is taken.
    """
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file.fileno(), 0, n_bytes)
    except OSError as error:
        if error.errno not in (EOPNOTSUPP, EINVAL, ENOSYS):
            raise OSError(error.errno, error.strerror, str(called)) from None


def read_text(path: Path) -> str:
    """The UTF-8 text in `path`, without a byte order mark; InputError when it is no file, or not text."""
    check_is_file(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path, error) from None
    check_no_nul(path, text)
    return text


@contextmanager
def named_by(flag: str) -> Iterator[None]:
    """Errors about a file say by which option it was named: `--consent FILE: no such file.`"""
    try:
        yield
    except InputError as error:
        raise InputError(f"{flag} {error}") from None


def read_json(path: Path) -> Any:
    """The JSON value in `path`; InputError names the line at which a damaged file cannot be read."""
    return parse_json(read_text(path), path)


def read_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """`(line number, object)` for every line that is not blank."""
    for number, line in read_lines(path):
        if not line.strip():
            continue
        yield number, object_of(line, path, number)


def read_records(path: Path, kind: type[T], advice: str = AGAIN, *, is_log: bool = False) -> Iterator[T]:
    """Every line of `path` that is not blank as an instance of `kind`; FormatError, which goes on with `advice`, for
    one that is none. Of a log, which is being added to, the last may be cut short."""
    for number, record in read_log(path) if is_log else read_jsonl(path):
        yield parse_record(record, kind, f"{path}: line {number}", advice)


def object_of(line: str, path: Path, number: int) -> dict[str, Any]:
    """The JSON object in line `number` of `path`; InputError where it is none."""
    record = parse_json(line, path, number)
    if not isinstance(record, dict):
        raise InputError(f"{path}: line {number} is not a JSON object. Write one {{...}} a line.")
    return record


def read_lines(path: Path, *, newline: Literal["", "\n"] = "") -> Iterator[tuple[int, str]]:
    """`(line number, line)` of the UTF-8 text in `path`, each with its line end; one line at a time is in memory.

    With `newline="\\n"` a lone carriage return is a character of its line, not the end of it.
    """
    check_is_file(path)
    with path.open(encoding="utf-8-sig", newline=newline) as file:
        lines = enumerate(file, start=1)
        while True:
            try:
                number, line = next(lines)
            except StopIteration:
                return
            except UnicodeDecodeError as error:
                raise not_utf8(path, error) from None
            if number == 1:
                check_no_nul(path, line)
            yield number, line


class Lines:
    """The lines of a UTF-8 file that are not blank; in memory is where they begin and end, 20 bytes a line."""

    def __init__(self, path: Path):
        check_is_file(path)
        self._path = path
        content = path.read_bytes()
        ends = 1 + np.flatnonzero(np.frombuffer(content, np.uint8) == ord("\n"))
        ends = ends if content.endswith(b"\n") or not content else np.append(ends, len(content))
        first = len(BOM_UTF8) if content.startswith(BOM_UTF8) else 0
        spans = np.stack([np.concatenate([[first], ends])[: len(ends)], ends], axis=1)
        is_there = [bool(content[begin:end].strip()) for begin, end in spans.tolist()]
        self._numbers = (1 + np.flatnonzero(is_there)).astype(np.uint32)  # (n,) as an editor counts
        self._spans = spans[is_there].astype(np.int64)  # (n, 2) bytes

    def __len__(self) -> int:
        return len(self._spans)

    def at(self, rows: Sequence[int]) -> Iterator[tuple[int, str]]:
        """`(line number, line)` of each of `rows`, which count lines that are not blank from 0; InputError for one that
        is not UTF-8."""
        with self._path.open("rb") as file:
            for row in rows:
                begin, end = self._spans[row].tolist()
                file.seek(begin)
                try:
                    yield int(self._numbers[row]), file.read(end - begin).decode("utf-8")
                except UnicodeDecodeError as error:
                    error.start += begin
                    raise not_utf8(self._path, error) from None


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


def read_toml(path: Path) -> dict[str, Any]:
    """The table in the TOML file `path`."""
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{path}: not valid TOML (nested too deeply). Flatten it.") from None
    except ValueError as error:  # also a number with thousands of digits
        raise InputError(f"{path}: not valid TOML ({in_one_line(error, 120)}). Mend that line.") from None


DEEPEST = 64
"""JSON that is nested deeper than this is damaged, or an attack."""


def parse_json(text: str, path: object, line: int | None = None) -> Any:
    """The JSON value of `text`, which is in `path`, or in a line of it; InputError says what is wrong and where.

    Beside what is not JSON, values are refused that nothing could be done with: nested deeper than `DEEPEST`, numbers
    of thousands of digits, text that cannot be written as UTF-8, objects with two values under one name.
    """
    at = "" if line is None else f"line {line} is "
    try:
        return json_value(text)
    except json.JSONDecodeError as error:
        place = f" at line {error.lineno}, column {error.colno} ({json_said(error)})"
        column = error.colno if error.lineno == 1 else len(text.rstrip("\r\n")) + 1  # cut off: at the end of the line
        place = place if line is None else f" ({json_said(error)}, column {column})"
        again = " or write the file again" if line is None else ""
        raise InputError(f"{path}: {at}not valid JSON{place}. Mend that line{again}.") from None
    except ValueError as error:
        raise InputError(f"{path}: {at}JSON {error}. Mend it, or write the file again.") from None


def json_said(error: json.JSONDecodeError) -> str:
    """What is wrong, without the end of a sentence that Python goes on with a place: `Unterminated string starting at`,
    `Invalid control character at`."""
    return error.msg.removesuffix(" at").removesuffix(" starting").rstrip(": ")


def json_value(text: str) -> Any:
    """The JSON value of `text`, say of a cell; JSONDecodeError, or another ValueError where `parse_json` refuses."""
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except (json.JSONDecodeError, _RepeatedNameError):
        raise
    except ValueError:
        raise ValueError("with a number of too many digits") from None
    if fault := _json_fault(text, value):
        raise ValueError(fault)
    return value


class _RepeatedNameError(ValueError):
    """An object has two values under one name, of which a reader would lose the first without a word."""


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        repeated = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        raise _RepeatedNameError(f"in which {repeated!a} stands twice in one object")
    return made


_DECODER = json.JSONDecoder(object_pairs_hook=_object_of)

_SUSPECT = re.compile(r"\\u[dD][89a-fA-F]")
"""The escapes of halves of a character, which need a closer look: two of them are one character."""


def _json_fault(text: str, value: Any) -> str:
    """What makes a JSON value useless; empty if nothing does."""
    if text.count("[") + text.count("{") > DEEPEST and _is_deep(value):
        return f"nested deeper than {DEEPEST}"
    if _SUSPECT.search(text):
        for name, inner in value.items() if isinstance(value, dict) else [("", value)]:
            if re.search("[\ud800-\udfff]", json.dumps([name, inner], ensure_ascii=False)):
                under = f" under {name}" if name else ""
                return f"with half a surrogate pair{ascii(under)[1:-1]}"
    return ""


def _is_deep(value: Any) -> bool:
    layer = [value]
    for _ in range(DEEPEST):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return bool(layer)


_NPY, _NPZ = b"\x93NUMPY", b"PK"


def read_array(path: Path, *, mode: Literal["copy", "r", "r+"] = "copy") -> np.ndarray:
    """The `.npy` table in `path`, memory-mapped unless `mode` is `copy`; FormatError when it is none."""
    if not path.exists():
        raise FormatError(f"{path}: missing. Make it again, or put the file back.")
    check_is_file(path)
    with path.open("rb") as file:
        if file.read(len(_NPY)) != _NPY:
            raise FormatError(f"{path}: not a .npy table. Make it again, or put the right file back.")
    try:
        array = np.load(path, mmap_mode="r" if mode == "copy" else mode, allow_pickle=False)
    except PermissionError:
        raise
    except Exception as error:  # a damaged header is evaluated, and fails in a dozen ways
        raise FormatError(
            f"{path}: damaged ({in_one_line(error, 120)}). Make it again, or put the right file back."
        ) from None
    return np.array(array) if mode == "copy" else array


def read_arrays(path: Path, advice: str = "Make it again, or put the right file back.") -> dict[str, np.ndarray]:
    """The tables of the `.npz` archive in `path`, by name, all in memory; FormatError when it is none, or damaged."""
    if not path.exists():
        raise FormatError(f"{path}: missing. {advice}")
    check_is_file(path)
    with path.open("rb") as file:
        if file.read(len(_NPZ)) != _NPZ:
            raise FormatError(f"{path}: not an .npz archive. {advice}")
    try:
        with np.load(path, allow_pickle=False) as kept:
            return {name: kept[name] for name in kept.files}
    except PermissionError:
        raise
    except Exception as error:  # as in read_array, and in the archive around it
        raise FormatError(f"{path}: damaged ({in_one_line(error, 120)}). {advice}") from None


def check_is_file(path: Path) -> None:
    """Raise InputError unless there is a regular file at `path`: a pipe would be waited for, perhaps for ever."""
    check_there(path, "no such file. Check the path.")
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; a file was expected.")
    if not path.is_file():
        raise InputError(f"{path}: a pipe or a device; a file was expected. Write what it gives to a file first.")


def check_no_nul(path: Path, text: str) -> None:
    """Raise InputError when `text`, from `path`, contains NUL: UTF-16 may look like UTF-8 otherwise."""
    if "\0" in text:
        raise InputError(f"{path}: NUL characters, so this is no UTF-8 text. {_converted(path, 'utf-16')}")


def not_utf8(path: Path, error: UnicodeDecodeError) -> InputError:
    """What is said of a file that is no text; the error tells the byte."""
    encoding = "utf-16" if b"\0" in error.object else ""
    return InputError(f"{path}: not UTF-8 text (byte {error.start}). {_converted(path, encoding)}")


def _converted(path: Path, encoding: str) -> str:
    """How to make a file UTF-8: from its `encoding`, or where that is empty from the one of Windows in the West."""
    convert = shlex.join(["iconv", "-f", encoding or "cp1252", "-t", "utf-8", name_of(path)])
    which = "" if encoding else "; -f names the encoding that it has, cp1252 that of Windows in the West"
    return f"Convert it, say with `{convert} > NEW`{which}."


def plain(value: object) -> object:
    """What JSON holds in the place of a path or of a value of numpy; TypeError for what has none."""
    if isinstance(value, Path):
        return name_of(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a manifest")
