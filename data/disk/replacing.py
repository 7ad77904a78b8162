"""Files and folders that are whole or not there: written under a temporary name, and renamed.

Every writer here writes under a temporary name (`.NAME.HOST.PID.tmp`) in the same folder and renames, so a run killed
at any moment leaves either the old file or the new one. A folder takes two renames: killed between them, a run leaves
the old one aside (`.NAME.HOST.PID.old.tmp`) and none at its name, until the next command that writes it
(`check_output`) or looks for it (`check_there`) moves it back. Files that belong together are renamed one after the
other, the one that makes them count last (`replacing_all`). What a killed run left is cleared away by the next one with
the same target (`check_output`). Nothing in the project writes a file in another way, or removes one (`remove`): a
store is told of both, and so keeps what somebody else deletes here.
"""

import os
import platform
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, ENOENT, EPERM, EROFS
from pathlib import Path

from swag_af.data.errors import InputError

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
    discard(path)
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
def replacing(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A temporary path beside `path` (file or folder) that takes its place when the block ends well; a `private` file
    is there, for its owner alone, before anything is in it.

    Where `path` is a link, what it names is replaced. An existing folder is moved aside first and deleted last, or
    moved back when the new one cannot be put in place; by `check_output` or `check_there` where the process is killed
    in between.
    """
    path = _followed(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(path)
    old = path.with_name(f".{path.name}.{HOST}.{os.getpid()}.old.tmp")
    if temporary not in _WRITING:  # of an earlier process with this number, as in a container that was started again
        discard(temporary)
        if old.exists() and not path.exists():
            os.replace(old, path)
        discard(old)
    _WRITING.append(temporary)
    try:
        if private:
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield temporary
        if temporary.is_dir() and path.exists():
            os.replace(path, old)
        os.replace(temporary, path)
    finally:
        _WRITING.remove(temporary)
        if old.exists() and not path.exists():
            os.replace(old, path)
        elif old.exists() and not temporary.exists():  # a name from which nobody brings back what is half deleted
            os.replace(old, temporary)
        for leftover in (temporary, old):
            discard(leftover)
    changed(path)


def _followed(path: Path) -> Path:
    """`path`, absolute; of a link what it names, which gives way to another on its own disk, and the link stays."""
    path = Path(os.path.abspath(path))
    return Path(os.path.realpath(path)) if path.is_symlink() else path


@contextmanager
def replacing_all(*paths: Path) -> Iterator[list[Path]]:
    """Temporary paths for files that belong together, none of which is replaced before the block has written them all.

    The last of `paths` is the commit point: its old file is removed first and its new one comes last, so where it is,
    all files are complete. The block writes its temporary file last, too. A run that is stopped between the renames, by
    a kill or by an error, leaves this file, by which `check_outputs` knows the set as unfinished.
    """
    paths = tuple(map(_followed, paths))
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
    temporaries = [_temporary(path) for path in paths]
    try:
        yield temporaries
    except BaseException:
        for temporary in temporaries:
            discard(temporary)
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
                discard(Path(place) / name)


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
        discard(path)


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{HOST}.{os.getpid()}.tmp")


def becomes(path: Path) -> Path:
    """What a temporary `path`, or one in a temporary folder, is called when it is whole; any other as it is."""
    pattern = re.compile(rf"\.(.+)\.{re.escape(HOST)}\.\d+(?:\.old)?\.tmp")
    parts = list(path.parts)
    for i in range(len(parts)):
        while found := pattern.fullmatch(parts[i]):
            parts[i] = found[1]
    return Path(*parts)


def discard(path: Path) -> None:
    """Delete the file or folder at `path`, if there is one, and tell nobody: it never was whole."""
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


def check_apart(flag: str, path: Path, others: Iterable[Path | None], *, written: Iterable[Path | None] = ()) -> None:
    """Raise InputError where what `flag` names would replace one of the files `others`, or lie in one of these folders,
    or be one of those that are `written` besides; None is nothing."""
    place = path.resolve()
    apart, besides = ([one.resolve() for one in some if one is not None] for some in (others, written))
    if place in (*apart, *besides) or any(one.is_dir() and one in place.parents for one in apart):
        raise InputError(f"{flag} {path}: this is read or written as something else. Name another file.")


def check_output(path: Path, *, force: bool = False, folder: bool = False, flag: str = "--out") -> None:
    """Stop before any work when `path` already exists and is not to be replaced, or can be no file, or no `folder`,
    or may not be written. `flag` is the option that names it.

    What killed runs left of it is cleared away first (`remove_leftovers_of`).
    """
    remove_leftovers_of(_followed(path))
    if path.is_symlink() and not path.exists():
        raise InputError(f"{path}: a link to what is not there. Make what it names, or remove the link.")
    if path.exists() and path.is_dir() != folder:
        found, planned = ("folder", "file") if path.is_dir() else ("file", "folder")
        raise InputError(f"{path}: this is a {found}, and a {planned} is to be written. Choose another {flag}.")
    if path.exists() and not force:
        raise InputError(f"{path}: already exists. Choose another {flag}, or replace it with --force.")
    above = next(parent for parent in _followed(path).parents if parent.exists())
    if not above.is_dir():
        raise InputError(f"{path}: {above} is a file, not a folder. Choose another {flag}.")
    where = path if path.is_dir() else above
    if not os.access(where, os.W_OK | os.X_OK) or not _takes_files(where):
        raise InputError(f"{path}: you may not write to {where}. Choose another {flag}.")


def _takes_files(folder: Path) -> bool:
    """Whether a file can be made in `folder`: one without a name is. Its mode says nothing to root, nor of /sys."""
    from tempfile import TemporaryFile  # not above: `--help` need not wait for it

    try:
        with TemporaryFile(dir=folder):
            return True
    except OSError as error:  # a full disk is told when it is written to
        return error.errno not in (EACCES, EPERM, EROFS, ENOENT)


def check_outputs(*paths: Path, force: bool = False) -> None:
    """As `check_output`, for files that `replacing_all` writes together, in its order.

    The commit point comes last, and the file that the user named before it.

    A set that a killed run left unfinished may be replaced: its commit point is not there, but the temporary file of a
    process that has ended is, or one that an earlier call in this process left. Files without either are somebody
    else's.
    """
    commit = _followed(paths[-1])
    left = {int(found["process"]) for _, found in _temporaries(commit.parent, re.escape(commit.name))}
    if not commit.exists() and any(process == os.getpid() or not _is_alive(process) for process in left):
        return
    for path in (*reversed(paths[:-1]), paths[-1]):
        check_output(path, force=force)
