"""Pictures and videos that contexts name, shown above their texts: files of one folder, and nothing beyond it.

A context names them in its `media`: a path, or a list of paths, relative to the folder of `--media`. What else stands
there, such as the kinds of the objects of a picture, is shown as text.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swag_af.data.context import Context
from swag_af.data.errors import InputError, several
from swag_af.data.runs.run import Run

TYPES = {
    ".avif": "image/avif",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".mp4": "video/mp4",
    ".png": "image/png",
    ".webm": "video/webm",
    ".webp": "image/webp",
}
"""The files that pages show, by ending. No SVG, which may hold scripts."""
LONGEST = 500
"""Characters of a text beside pictures that are shown."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What a page shows with a context."""

    kinds: tuple[str, ...] = ()
    """Of each file, in order: image, video, or missing."""
    texts: tuple[tuple[str, str], ...] = ()
    """The name and text of all else: `("objects", "person, person, chair")`."""


@dataclass(frozen=True)
class Media:
    """The files of `folder` that contexts name."""

    folder: Path

    def beside(self, context: Context) -> Beside:
        """What is shown with `context`."""
        kinds = tuple("missing" if file is None else kind.partition("/")[0] for kind, file in self._files(context))
        texts = ((name, _told(value)) for name, value in context.media.items())
        return Beside(kinds, tuple((name, text) for name, text in texts if text))

    def file(self, context: Context, number: int) -> tuple[str, Path] | None:
        """The media type and the file with this number of those that `context` names; None where it is not there."""
        files = self._files(context)
        kind, file = files[number] if 0 <= number < len(files) else ("", None)
        return None if file is None else (kind, file)

    def has(self, path: str) -> bool:
        """Whether the file at `path` can be shown."""
        return self._within(path) is not None

    def _files(self, context: Context) -> list[tuple[str, Path | None]]:
        """By the ending that the context has: what a link leads to may be called otherwise."""
        named = (path for value in context.media.values() for path in _paths(value))
        return [(TYPES[Path(path).suffix.lower()], self._within(path)) for path in named]

    def _within(self, path: str) -> Path | None:
        """The file at `path`, if it is one and lies in the folder, links followed."""
        try:
            whole, folder = (self.folder / path).resolve(strict=True), self.folder.resolve()
        except (OSError, ValueError, RuntimeError):  # the last of links in a ring, up to Python 3.12
            return None
        return whole if whole.is_file() and whole.is_relative_to(folder) else None


def open_media(folder: Path, run: Run) -> tuple[Media, str | None]:
    """The media of the contexts of a run, and a line where some of their files are not in `folder`.

    Raises InputError where there is no such folder, no context names a picture or video, or none of these is there.
    """
    if not folder.is_dir():
        raise InputError(f"--media {folder}: no such folder. Name the one that the paths of the contexts begin in.")
    media = Media(folder)
    named = [[path for value in context.media.values() for path in _paths(value)] for context in run.pool.contexts]
    n_named = sum(map(bool, named))
    if not n_named:
        raise InputError(
            f"--media {folder}: no context names a picture or video ({', '.join(sorted(TYPES))}). Make the pool with "
            "--media-columns, or the matching with --media-column; or leave --media away."
        )
    missing = [(row, path) for row, paths in enumerate(named) for path in paths if not media.has(path)]
    if not missing:
        return media, None
    row, path = missing[0]
    if len(missing) == sum(map(len, named)):
        raise InputError(
            f"--media {folder}: none of the files that the contexts name is there (first: {path}). Name the folder "
            "that these paths begin in."
        )
    n_lacking = len({row for row, _ in missing})
    lacking = f"{several(n_lacking, 'context')} of {n_named:,} that name some"
    return media, f"{folder} has not all files of {lacking} (first: {path}, row {row}). Their pages say so."


def _paths(value: Any) -> Iterator[str]:
    """The paths of files that pages show, of a value of `media`."""
    yield from (one for one in _parts(value) if _is_path(one))


def _parts(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _is_path(one: Any) -> bool:
    return isinstance(one, str) and "://" not in one and Path(one).suffix.lower() in TYPES


def _told(value: Any) -> str:
    """A text, a number or a list of these in one line, without what is shown as a file; empty for anything deeper."""
    parts = [one for one in _parts(value) if not _is_path(one)]
    simple = [str(one) for one in parts if isinstance(one, str | int | float)]
    return " ".join(", ".join(simple).split())[:LONGEST] if len(simple) == len(parts) else ""
