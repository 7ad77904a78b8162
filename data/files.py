"""Files that are whole or not there: atomic writes, JSON with good errors, manifests, hashes.

Every writer here writes under a temporary name (`.NAME.HOST.PID.tmp`) in the same folder and renames, so a run killed
at any moment leaves either the old file or the new one. Files that belong together are renamed one after the other, the
one that makes them count last (`replacing_all`). What a killed run left is cleared away by the next one with the same
target (`check_output`). Nothing in the project writes a file in another way.
"""

import hashlib
import json
import os
import platform
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.errors import FormatError, InputError

FORMAT = 1
"""The version that every manifest carries; a reader stops at a newer one."""

MANIFEST = "manifest.json"

HOST = re.sub(r"\W", "-", platform.node()) or "local"
"""This machine, in temporary names: only it can tell whether its processes are alive."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` (file or folder) that takes its place when the block ends well.

    An existing folder is moved aside first and deleted last, or moved back when the new one cannot be put in place.
    """
    path = Path(os.path.abspath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(path)
    old = path.with_name(f".{path.name}.{HOST}.{os.getpid()}.old.tmp")
    try:
        yield temporary
        if temporary.is_dir() and path.exists():
            os.replace(path, old)
        os.replace(temporary, path)
    finally:
        if old.exists() and not path.exists():
            os.replace(old, path)
        for leftover in (temporary, old):
            _remove(leftover)


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
    paths[-1].unlink(missing_ok=True)
    for temporary, path in zip(temporaries, paths, strict=True):
        os.replace(temporary, path)


def remove_leftovers(folder: Path) -> None:
    """Delete the temporary files that killed processes of this machine left in `folder`.

    A folder that was moved aside is moved back if nothing took its place. The files of running processes are kept, and
    those of other machines, which may share the folder.
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
    """Write `text` as UTF-8, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: object) -> None:
    """Write `value` as indented JSON, keys in the order given."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, default=_plain) + "\n")


def write_jsonl(path: Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one JSON object a line; returns how many."""
    n = 0
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False, default=_plain) + "\n")
            n += 1
    return n


def write_array(path: Path, array: np.ndarray) -> None:
    """Write one `.npy` table (never a pickle)."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.save(file, array, allow_pickle=False)


def read_json(path: Path) -> Any:
    """The JSON value in `path`; FormatError names the line at which a damaged file cannot be read."""
    text = _read(path)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}: not valid JSON at line {error.lineno}, column {error.colno} ({error.msg}). "
            "Mend that line or write the file again."
        ) from None


def read_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """`(line number, object)` for every line that is not blank."""
    _check_is_file(path)
    with path.open(encoding="utf-8-sig") as file:
        lines = enumerate(file, start=1)
        while True:
            try:
                number, line = next(lines)
            except StopIteration:
                return
            except UnicodeDecodeError as error:
                raise _not_utf8(path, error) from None
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except json.JSONDecodeError as error:
                raise InputError(
                    f"{path}: line {number} is not valid JSON ({error.msg}, column {error.colno}). Mend that line."
                ) from None
            if not isinstance(record, dict):
                raise InputError(f"{path}: line {number} is not a JSON object. Write one {{...}} a line.")
            yield number, record


def write_manifest(folder: Path, kind: str, content: Mapping[str, Any]) -> None:
    """Write `folder/manifest.json`: format version and kind first, then `content`."""
    write_json(folder / MANIFEST, {"format": FORMAT, "kind": kind, **content})


def read_manifest(folder: Path, kind: str) -> dict[str, Any]:
    """The manifest of `folder`, of this `kind` and of a format version that this release reads."""
    path = folder / MANIFEST
    if not folder.exists():
        raise InputError(f"{folder}: no such folder. Check the path; `swag-af --help` lists what makes a {kind}.")
    if not path.exists():
        raise FormatError(f"{folder}: no {MANIFEST} here, so this is not a {kind}. Check the path.")
    return check_manifest(read_json(path), path, kind)


def check_manifest(manifest: Any, path: Path, kind: str | None = None) -> dict[str, Any]:
    """`manifest` itself when its format and kind are right; FormatError otherwise."""
    if not isinstance(manifest, dict) or "format" not in manifest or "kind" not in manifest:
        raise FormatError(f"{path}: not a manifest of swag-af. Check the path.")
    if manifest["format"] != FORMAT:
        raise FormatError(
            f"{path}: format {manifest['format']}, and this release reads format {FORMAT}. "
            "Update swag-af, or make the folder again with this release."
        )
    if kind is not None and manifest["kind"] != kind:
        raise FormatError(f"{path}: this is a {manifest['kind']}, not a {kind}. `swag-af show` says what it is for.")
    return manifest


def sha256_file(path: Path) -> str:
    """Hex SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_json(value: object) -> str:
    """Hex SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=_plain).encode()).hexdigest()


def check_same(begun: Mapping[str, Any], now: Mapping[str, Any], path: Path, flag: str) -> None:
    """Raise InputError naming what differs between how `path` was begun and what is asked for now."""
    differing = [f"{name} ({begun.get(name)}, now {now[name]})" for name in now if begun.get(name) != now[name]]
    if differing:
        raise InputError(
            f"{path}: begun with other {', '.join(differing)}. Repeat the first command, or choose another {flag}."
        )


def check_output(path: Path, *, force: bool = False) -> None:
    """Stop before any work when `path` already exists and is not to be replaced.

    What killed runs left of it is cleared away first (`remove_leftovers_of`).
    """
    remove_leftovers_of(Path(os.path.abspath(path)))
    if path.exists() and not force:
        raise InputError(f"{path}: already exists. Choose another --out, or replace it with --force.")


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


def _read(path: Path) -> str:
    _check_is_file(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, error) from None


def _check_is_file(path: Path) -> None:
    if not path.exists():
        raise InputError(f"{path}: no such file. Check the path.")
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; a file was expected.")


def _not_utf8(path: Path, error: UnicodeDecodeError) -> InputError:
    return InputError(f"{path}: not UTF-8 text (byte {error.start}). Convert it, say with `iconv -t utf-8`.")


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a manifest")
