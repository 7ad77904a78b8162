"""The mirrors of this process: opened when an address is met, told of every file that is written or removed there."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import Field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from swag_af.data.disk.cache import cache_folder
from swag_af.data.disk.replacing import REMOVAL_WATCHERS, WATCHERS
from swag_af.data.disk.urls import RECORDS_ONLY, ROOTS, is_url, normal_url, url_of, urls_in
from swag_af.data.errors import InputError
from swag_af.data.stores.mirror import Mirror

OptionsT = TypeVar("OptionsT")

_OPEN: dict[str, Mirror] = {}


@contextmanager
def mirrored(options: OptionsT, written: Sequence[str] = ("out",)) -> Iterator[OptionsT]:
    """`options`, a dataclass, with mirrors in place of the addresses among its paths.

    What is there is fetched first, and what a command that was killed here had written to one of the options `written`
    is sent. Files are sent as they are written in the block, and what is left at its end.
    """
    try:
        yield _with_mirrors(options, written)
        for mirror in all_open():
            mirror.finish()
    finally:
        close()


def local(url: str | Path, *, records_only: bool = False) -> Path:
    """The path that stands for `url`, its files fetched when it is first met."""
    url = normal_url(url)
    if "/" not in url.partition("://")[2]:
        raise InputError(f"{url}: a whole bucket, all of which would be fetched. Name a folder in it, {url}/FOLDER.")
    if url not in _OPEN:
        mirror = Mirror(url, _root(), records_only=records_only)
        mirror.pull()
        _OPEN[url] = mirror
        if _tell_changed not in WATCHERS:
            WATCHERS.append(_tell_changed)
            REMOVAL_WATCHERS.append(_tell_removed)
    return _OPEN[url].path


def refresh(path: Path) -> None:
    """Fetch what other machines have sent since; nothing where `path` stands for no address."""
    mirror = mirror_of(path)
    if mirror is not None:
        mirror.pull()


def followed(folder: Path, link: str) -> Path:
    """The path that a record in `folder` names, as `swag_af.data.disk.urls.link` wrote it, fetched where it is in a
    store."""
    if is_url(link):
        return local(link)
    path = folder / link
    url = url_of(Path(os.path.normpath(path.absolute())))
    return path if url is None or mirror_of(path) is not None else local(url)


def mirror_of(path: Path) -> Mirror | None:
    """The mirror that `path` is in, the innermost one; None for a path of this machine."""
    return _innermost([mirror for mirror in _OPEN.values() if mirror.has(path)])


def holder_of(path: Path) -> Mirror | None:
    """As `mirror_of`, of hidden files as well."""
    return _innermost([mirror for mirror in _OPEN.values() if mirror.holds(path)])


def _innermost(mirrors: Sequence[Mirror]) -> Mirror | None:
    return max(mirrors, key=lambda mirror: len(mirror.folder.parts), default=None)


def opened(url: str) -> Mirror:
    """The mirror of `url`, which was met before."""
    return _OPEN[url]


def all_open() -> list[Mirror]:
    """The mirrors of this process."""
    return list(_OPEN.values())


def close() -> None:
    """Forget the mirrors: the next one to be opened looks at the store again. What is not sent stays here, and is sent
    by the next one to write there."""
    _OPEN.clear()
    if _tell_changed in WATCHERS:
        WATCHERS.remove(_tell_changed)
        REMOVAL_WATCHERS.remove(_tell_removed)


def _tell_changed(path: Path) -> None:
    mirror = mirror_of(path)
    if mirror is not None:
        mirror.changed(path)


def _tell_removed(path: Path) -> None:
    mirror = mirror_of(path)
    if mirror is not None:
        mirror.removed(path)


def _root() -> Path:
    """Where mirrors are kept: in the cache, or where nothing is to be kept in a folder that goes with the process."""
    if not ROOTS:
        cache = cache_folder()
        if cache is None:
            ROOTS.append(Path(tempfile.mkdtemp(prefix="swag-af-")).resolve())
            atexit.register(shutil.rmtree, ROOTS[0], ignore_errors=True)
        else:
            ROOTS.append((cache / "mirrors").resolve())
    return ROOTS[0]


def _with_mirrors(options: Any, written: Sequence[str] = ()) -> Any:
    changes = {}
    for field in fields(options):
        value = getattr(options, field.name)
        changed = _with_mirror(value, field)
        if changed is not value:
            changes[field.name] = changed
            for url in urls_in(value) if field.name in written else ():
                opened(url).send_left()
    return replace(options, **changes) if changes else options


def _with_mirror(value: Any, field: "Field[Any]") -> Any:
    if not urls_in(value):
        return value
    if isinstance(value, tuple):
        return tuple(_with_mirror(one, field) for one in value)
    if isinstance(value, Path):
        return local(value, records_only=field.metadata == RECORDS_ONLY)
    return _with_mirrors(value)
