"""Files that are whole or not there: atomic writes, and one reader each of JSON, TOML and tables.

Readers raise an InputError of one line for whatever is wrong with a file: not there, a folder or a pipe, not UTF-8, too
deep, with numbers that no computer holds. What records must contain is in `records`.

Every writer here writes under a temporary name (`.NAME.HOST.PID.tmp`) in the same folder and renames, so a run killed
at any moment leaves either the old file or the new one. A folder takes two renames: killed between them, a run leaves
the old one aside (`.NAME.HOST.PID.old.tmp`) and none at its name, until the next command that writes it
(`check_output`) or looks for it (`check_there`) moves it back. Files that belong together are renamed one after the
other, the one that makes them count last (`replacing_all`). What a killed run left is cleared away by the next one with
the same target (`check_output`). Nothing in the project writes a file in another way, or removes one (`remove`): a
store is told of both, and so keeps what somebody else deletes here.
"""

import json
import os
import platform
import re
import shutil
import tomllib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from errno import EINVAL, ENOSYS, EOPNOTSUPP
from pathlib import Path
from typing import Any, BinaryIO, Literal, TextIO

import numpy as np

from swag_af.data.errors import FormatError, InputError, in_one_line
from swag_af.data.urls import as_told, name_of

_FIRST_NAMESPACE = 0xEFFFFFFC
"""The inode that Linux gives the namespace of processes that a machine starts with; each container has another."""


def this_host() -> str:
    """The name of this machine; in a container whose processes have numbers of their own with the inode of their
    namespace, for another container may have the same name."""
    name = re.sub(r"\W", "-", platform.node()) or "local"
    try:
        namespace = os.stat("/proc/self/ns/pid").st_ino
    except OSError:  # no Linux
        return name
    return name if namespace == _FIRST_NAMESPACE else f"{name}-{namespace}"


HOST = this_host()
"""This machine, or container, in temporary names: only it can tell whether its processes are alive."""

WATCHERS: list[Callable[[Path], None]] = []
"""Told of every file or folder that has become whole, at once: who keeps a copy elsewhere (`stores`) is one."""
REMOVAL_WATCHERS: list[Callable[[Path], None]] = []
"""Told of every file or folder that was removed on purpose; of what somebody else deletes nobody is told."""


def changed(path: Path) -> None:
    """Tell whoever watches that the file or folder at `path` is whole, or was changed in place."""
    for watcher in WATCHERS:
        watcher(path)


def remove(path: Path) -> None:
    """Delete the file or folder at `path`, if there is one, and have copies of it elsewhere deleted too."""
    path = Path(os.path.abspath(path))
    _remove(path)
    removed(path)


def removed(path: Path) -> None:
    """Tell whoever watches that the file or folder at `path` was removed on purpose."""
    for watcher in REMOVAL_WATCHERS:
        watcher(path)


def move(path: Path, to: Path) -> None:
    """Rename the file at `path`, in place of the one at `to`."""
    os.replace(path, to)
    changed(to)
    remove(path)


_WRITING: list[Path] = []
"""Temporary paths that this process writes just now."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` (file or folder) that takes its place when the block ends well.

    An existing folder is moved aside first and deleted last, or moved back when the new one cannot be put in place; by
    `check_output` or `check_there` where the process is killed in between.
    """
    path = Path(os.path.abspath(path))
    if path.is_symlink() and path.is_dir():
        path = path.resolve()  # the folder gives way to another on its own disk, and the link stays
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(path)
    old = path.with_name(f".{path.name}.{HOST}.{os.getpid()}.old.tmp")
    if temporary not in _WRITING:  # of an earlier process with this number, as in a container that was started again
        _remove(temporary)
        if old.exists() and not path.exists():
            os.replace(old, path)
    _WRITING.append(temporary)
    try:
        yield temporary
        if temporary.is_dir() and path.exists():
            os.replace(path, old)
        os.replace(temporary, path)
    finally:
        _WRITING.remove(temporary)
        if old.exists() and not path.exists():
            os.replace(old, path)
        for leftover in (temporary, old):
            _remove(leftover)
    changed(path)


@contextmanager
def replacing_all(*paths: Path) -> Iterator[list[Path]]:
    """Temporary paths for files that belong together, none of which is replaced before the block has written them all.

    The last of `paths` is the commit point: its old file is removed first and its new one comes last, so where it is,
    all files are complete. The block writes its temporary file last, too. A run that is stopped between the renames, by
    a kill or by an error, leaves this file, by which `check_outputs` knows the set as unfinished.
    """
    paths = tuple(Path(os.path.abspath(path)) for path in paths)
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
    temporaries = [_temporary(path) for path in paths]
    try:
        yield temporaries
    except BaseException:
        for temporary in temporaries:
            _remove(temporary)
        raise
    for path in paths:  # not earlier: they show that the set is unfinished, and ours do so from now on
        remove_leftovers_of(path)
    remove(paths[-1])
    for temporary, path in zip(temporaries, paths, strict=True):
        os.replace(temporary, path)
        changed(path)


def remove_leftovers(folder: Path) -> None:
    """Delete the temporary files that killed processes of this machine left in `folder`.

    A folder that was moved aside is moved back if nothing took its place. The files of running processes are kept, and
    those of other machines and containers, which may share the folder.
    """
    for path, found in _temporaries(folder, r"(?P<name>.+?)"):
        _clear(path, path.with_name(found["name"]), int(found["process"]))


def remove_leftovers_of(target: Path) -> None:
    """As `remove_leftovers`, but only what was to become `target`; nothing else in its folder is touched."""
    for path, found in _temporaries(target.parent, re.escape(target.name)):
        _clear(path, target, int(found["process"]))
    # and those for its temporary files, where a writer was given one
    for path, found in _temporaries(target.parent, rf"\.{re.escape(target.name)}\.{re.escape(HOST)}\.\d+\.tmp"):
        _clear(path, target, int(found["process"]))


def check_there(path: Path, said: str = "no such file or folder. Check the path.") -> None:
    """Raise InputError with what is `said` where nothing is at `path`.

    A folder, this one or one above it, that a killed run had moved aside is moved back first; where it cannot be known
    that the run has ended, as on another machine, or the folder may not be written, the message names it.
    """
    if path.exists():
        return
    left = _bring_back(path)
    if not path.exists():
        aside = f" {left[0]} was there before a run began to replace it: rename it if none is at work." if left else ""
        raise InputError(f"{path}: {said}{aside}")


def _bring_back(path: Path) -> list[Path]:
    """Move back what was moved aside, as `check_there` says; what stays aside, of whatever machine."""
    try:
        place = Path(os.path.realpath(path))
    except ValueError:  # no name of a file, such as one with NUL
        return []
    while not place.parent.exists():
        place = place.parent
    for old, found in _temporaries(place.parent, re.escape(place.name)):
        if old.name.endswith(".old.tmp"):
            with suppress(OSError):  # of a disk that is only read, or where another process is quicker
                _clear(old, place, int(found["process"]))
    pattern = re.compile(rf"\.{re.escape(place.name)}\.[\w-]+\.\d+\.old\.tmp")
    return sorted(one for one in place.parent.glob(".*.old.tmp") if pattern.fullmatch(one.name))


def part_of(path: Path) -> Path:
    """Where this process keeps what it fetches of the file at `path` until it is whole; nobody is told of it."""
    return path.with_name(f".{path.name}.{HOST}.{os.getpid()}.part")


def remove_parts(folder: Path, *, deep: bool) -> None:
    """Delete what killed processes of this machine had fetched in part in `folder`, and in those within it where
    `deep`."""
    pattern = re.compile(rf"\..+\.{re.escape(HOST)}\.(\d+)\.part")
    for place, folders, names in os.walk(folder):
        folders[:] = folders if deep else []
        for name in names:
            if (found := pattern.fullmatch(name)) and not _is_alive(int(found[1])):
                _remove(Path(place) / name)


def _temporaries(folder: Path, name: str) -> list[tuple[Path, re.Match[str]]]:
    """The temporary files of this machine in `folder` whose own names match the pattern `name`."""
    pattern = re.compile(rf"\.{name}\.{re.escape(HOST)}\.(?P<process>\d+)(?:\.old)?\.tmp")
    return [(path, found) for path in folder.glob(".*.tmp") if (found := pattern.fullmatch(path.name))]


def _clear(path: Path, target: Path, process: int) -> None:
    """Remove the temporary `path` unless `process` is alive, or move it back if it is an old `target` moved aside."""
    if _is_alive(process):
        return
    if path.name.endswith(".old.tmp") and not target.exists():
        os.replace(path, target)
    else:
        _remove(path)


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{HOST}.{os.getpid()}.tmp")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return process > 0


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all, with addresses in place of the mirrors that it names."""
    with replacing(path) as temporary:
        temporary.write_text(as_told(text), encoding="utf-8")


def check_apart(flag: str, path: Path, others: Iterable[Path | None], *, written: Iterable[Path | None] = ()) -> None:
    """Raise InputError where what `flag` names would replace one of the files `others`, or lie in one of these folders,
    or be one of those that are `written` besides; None is nothing."""
    place = path.resolve()
    apart, besides = ([one.resolve() for one in some if one is not None] for some in (others, written))
    if place in (*apart, *besides) or any(one.is_dir() and one in place.parents for one in apart):
        raise InputError(f"{flag} {path}: this is read or written as something else. Name another file.")


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
        _remove(path)
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
    of thousands of digits, text that cannot be written as UTF-8.
    """
    at = "" if line is None else f"line {line} is "
    try:
        return json_value(text)
    except json.JSONDecodeError as error:
        place = f" at line {error.lineno}, column {error.colno} ({error.msg})"
        column = error.colno if error.lineno == 1 else len(text.rstrip("\r\n")) + 1  # cut off: at the end of the line
        place = place if line is None else f" ({error.msg}, column {column})"
        again = " or write the file again" if line is None else ""
        raise InputError(f"{path}: {at}not valid JSON{place}. Mend that line{again}.") from None
    except ValueError as error:
        raise InputError(f"{path}: {at}JSON {error}. Mend it, or write the file again.") from None


def json_value(text: str) -> Any:
    """The JSON value of `text`, say of a cell; JSONDecodeError, or another ValueError where `parse_json` refuses."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError:
        raise
    except ValueError:
        raise ValueError("with a number of too many digits") from None
    if fault := _json_fault(text, value):
        raise ValueError(fault)
    return value


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


def check_output(path: Path, *, force: bool = False, folder: bool = False, flag: str = "--out") -> None:
    """Stop before any work when `path` already exists and is not to be replaced, or can be no file, or no `folder`,
    or may not be written. `flag` is the option that names it.

    What killed runs left of it is cleared away first (`remove_leftovers_of`).
    """
    remove_leftovers_of(Path(os.path.abspath(path)))
    if path.is_symlink() and not path.exists():
        raise InputError(f"{path}: a link to what is not there. Make what it names, or remove the link.")
    if path.exists() and path.is_dir() != folder:
        found, planned = ("folder", "file") if path.is_dir() else ("file", "folder")
        raise InputError(f"{path}: this is a {found}, and a {planned} is to be written. Choose another {flag}.")
    if path.exists() and not force:
        raise InputError(f"{path}: already exists. Choose another {flag}, or replace it with --force.")
    above = next(parent for parent in path.absolute().parents if parent.exists())
    if not above.is_dir():
        raise InputError(f"{path}: {above} is a file, not a folder. Choose another {flag}.")
    where = path if path.is_dir() else above
    if not os.access(where, os.W_OK | os.X_OK):
        raise InputError(f"{path}: you may not write to {where}. Choose another {flag}.")


def check_outputs(*paths: Path, force: bool = False) -> None:
    """As `check_output`, for files that `replacing_all` writes together, in its order.

    The commit point comes last, and the file that the user named before it.

    A set that a killed run left unfinished may be replaced: its commit point is not there, but the temporary file of a
    process that has ended is, or one that an earlier call in this process left. Files without either are somebody
    else's.
    """
    commit = Path(os.path.abspath(paths[-1]))
    left = {int(found["process"]) for _, found in _temporaries(commit.parent, re.escape(commit.name))}
    if not commit.exists() and any(process == os.getpid() or not _is_alive(process) for process in left):
        return
    for path in (*reversed(paths[:-1]), commit):
        check_output(path, force=force)


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
        raise InputError(
            f"{path}: NUL characters, so this is no UTF-8 text. Convert it, say with `iconv -f utf-16 -t utf-8`."
        )


def not_utf8(path: Path, error: UnicodeDecodeError) -> InputError:
    """What is said of a file that is no text; the error tells the byte."""
    return InputError(f"{path}: not UTF-8 text (byte {error.start}). Convert it, say with `iconv -t utf-8`.")


def plain(value: object) -> object:
    """What JSON holds in the place of a path or of a value of numpy; TypeError for what has none."""
    if isinstance(value, Path):
        return name_of(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a manifest")
