"""A folder of an object store, through fsspec. Keys come from the environment, as the store's own package reads them.

A put is whole or not there, which is why stores need no renaming. What a store refuses is told in one line.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from glob import has_magic
from logging import NullHandler, getLogger
from pathlib import Path
from threading import Timer
from typing import Any

from swag_af.data.disk.urls import PROTOCOLS
from swag_af.data.errors import InputError, in_one_line
from swag_af.data.extras import install
from swag_af.data.work.progress import note

getLogger("gcsfs").addHandler(NullHandler())  # where nobody listens to it, it would print each error with a traceback

SILENT = 20.0
"""After so many seconds without an answer it is said once that one is waited for: the packages of stores try again for
minutes, and say nothing."""


@dataclass(frozen=True)
class Entry:
    """A file in a store."""

    size: int
    """Bytes."""
    tag: str
    """Another one where the content is another: the store's ETag, or its like."""


class Store:
    """The folder at `url`. Names are relative to it, with slashes."""

    def __init__(self, url: str):
        self.url = url
        self.protocol, _, self.root = url.partition("://")
        self._was_told = False

    def entries(self, under: str = "", *, deep: bool = True) -> dict[str, Entry]:
        """The files in the folder `under`, by name, and in those within it where `deep`; none where there is none."""
        place = f"{self.root}/{under}".rstrip("/")
        with self._told():
            self.files.invalidate_cache()
            try:
                found = self._found(place, deep)
            except FileNotFoundError:
                self._check_bucket()
                return {}
        return {
            path[len(self.root) + 1 :]: Entry(int(about["size"]), _tag(about))
            for path, about in found.items()
            if about["type"] == "file" and path != place and not path.endswith("/")  # as consoles mark a folder
        }

    def _found(self, place: str, deep: bool) -> dict[str, dict[str, Any]]:
        if deep:
            found = self.files.find(place, detail=True)
        else:
            found = {about["name"]: about for about in self.files.ls(place, detail=True, refresh=True)}
        return {path.lstrip("/"): about for path, about in found.items()}

    def fetch(self, names: Mapping[str, Path]) -> None:
        """Write each file to its local path."""
        with self._told():
            self.files.get([f"{self.root}/{name}" for name in names], [str(path) for path in names.values()])

    def put(self, names: Mapping[str, Path]) -> None:
        """Write each local file under its name, several at a time, in any order."""
        with self._told():
            self.files.put([str(path) for path in names.values()], [f"{self.root}/{name}" for name in names])

    def put_new(self, name: str, path: Path) -> bool:
        """Write a local file under `name` unless there is one; whether there was none."""
        with self._told():
            try:
                self.files.put_file(str(path), f"{self.root}/{name}", mode="create")
            except FileExistsError:
                return False
        return True

    def delete(self, names: Sequence[str]) -> None:
        """Remove the files: these, whatever fsspec might take their names for patterns of."""
        paths = [f"{self.root}/{name}" for name in names]
        plain = [path for path in paths if not has_magic(path)]
        with self._told():
            if plain:
                self.files.rm(plain)
            for path in paths:
                if has_magic(path):
                    self.files.rm_file(path)

    @cached_property
    def files(self) -> Any:
        """fsspec's file system of the protocol."""
        import fsspec

        with self._told():
            return fsspec.filesystem(self.protocol, use_listings_cache=False)

    def _check_bucket(self) -> None:
        bucket = self.root.partition("/")[0]
        if not self.files.exists(bucket):
            raise FileNotFoundError("no such bucket")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Whatever the store, its package or the network refuses, as an InputError; a note where it takes long."""
        waiting = Timer(SILENT, self._tell_of_waiting)
        waiting.daemon = True
        waiting.start()
        try:
            yield
        except InputError:
            raise
        except ImportError:
            extra = PROTOCOLS[self.protocol]
            raise InputError(f"{self.url}: needs a package: {install(extra)}.") from None
        except Exception as error:  # each store's package has its own kinds
            raise InputError(f"{self.url}: {_fault(error)}") from None
        finally:
            waiting.cancel()

    def _tell_of_waiting(self) -> None:
        if not self._was_told:
            self._was_told = True
            note(
                f"{self.url}: nothing is finished there after {SILENT:.0f} s; waiting. If the network or the store is "
                "down, Ctrl-C and the same command later: what was sent is whole."
            )


def _fault(error: Exception) -> str:
    said = in_one_line(error, 160).rstrip(".")
    if isinstance(error, PermissionError) or "Credentials" in type(error).__name__:
        return f"the store does not let you ({said}). Check the keys in the environment, and their rights."
    if isinstance(error, FileNotFoundError):
        return f"not in the store ({said}). Check the bucket and the path."
    return (
        f"the store does not answer as it should ({type(error).__name__}: {said}). What was sent before is whole: "
        "run the same command again when it does."
    )


def _tag(about: Mapping[str, Any]) -> str:
    names = ("ETag", "etag", "generation", "created")
    return str(next((about[name] for name in names if about.get(name)), about["size"]))
