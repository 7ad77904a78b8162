"""Answers on disk, one context a line, each flushed before the next is asked for.

    pool/journal/00001-of-00004.jsonl    {"plan": {"seed": 0, "n_negatives": 15, ...}}
                                         {"row": 17, "endings": [...], "n_drawn": 12, "rejected": {"too_short": 3}}
                                         {"row": 21, "reason": "too_few_distinct_endings", ...}

Each of several runs that share the work appends to a file of its own, and all files together say which contexts are
answered. The first line says what decides them, so that a file of another pool is refused. The last line of a killed
run may be cut off: then it does not count. Answers are not held in memory, only where they stand.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from swag_af.data.disk.files import parse_json, whole_lines
from swag_af.data.disk.manifests import differences
from swag_af.data.disk.records import Count, Counts, parse_record
from swag_af.data.disk.replacing import remove
from swag_af.data.errors import InputError, SwagAfError, told
from swag_af.data.scale import Part
from swag_af.data.work.locks import seize
from swag_af.lm.contract import MEASURED, Generated

_ROW = re.compile(rb'\{"row": (\d{1,9})[,}]')
_PLAN = b'{"plan": '
_T = TypeVar("_T")


@dataclass(frozen=True)
class _Begun:
    """The first line of a file; those of older releases have none."""

    plan: dict[str, Any]


@dataclass(frozen=True)
class Kept:
    """What is kept of one context: a `Generated` for its row."""

    row: Count
    """Which of the contexts, from 0."""
    endings: tuple[str, ...] = ()
    reason: str = ""
    n_drawn: Count = 0
    rejected: Counts = field(default_factory=dict)


class Journal:
    """The answers in a folder, as far as there are any; InputError where a file has those of another `plan`."""

    def __init__(self, folder: Path, plan: Mapping[str, Any] | None = None):
        self.folder = folder
        self.plan = plan or {}
        self._files: list[Path] = []
        self._places: dict[int, tuple[int, int]] = {}
        self.read_again()

    def read_again(self) -> None:
        """Note where the answers stand now, also those of other runs."""
        self._files = sorted(self.folder.glob("*.jsonl"))
        self._places.clear()
        for number, path in enumerate(self._files):
            for at, line in _lines_of(path):
                if line.startswith(_PLAN):
                    self._check_plan(_parsed(line, path, at, _Begun).plan, path)
                    continue
                found = _ROW.match(line)
                row = int(found[1]) if found else _parsed(line, path, at, Kept).row
                self._places.setdefault(row, (number, at))

    def __contains__(self, row: int) -> bool:
        return row in self._places

    def answers(self, rows: Iterator[int] | range) -> Iterator[Kept | None]:
        """What is kept of each of `rows`, in that order; None for those that are not answered."""
        files: dict[int, BinaryIO] = {}
        try:
            for row in rows:
                number, at = self._places.get(row, (-1, -1))
                if number < 0:
                    yield None
                    continue
                if number not in files:
                    files[number] = self._files[number].open("rb")
                files[number].seek(at)
                yield _parsed(files[number].readline(), self._files[number], at, Kept)
        finally:
            for file in files.values():
                file.close()

    def _check_plan(self, begun: Mapping[str, Any], path: Path) -> None:
        measured = {f"generator.abilities.{name}" for name in MEASURED}  # which older plans have
        names = [name for name in begun if name not in measured]
        others = differences(begun, dict.fromkeys(names) | dict(self.plan)) if self.plan else []
        if others:
            raise InputError(
                f"{path}: its answers are for another pool, with other {', '.join(others)}. Take the file away, and "
                "run the same command again."
            )

    def remove(self) -> None:
        """Delete it, once the pool is there."""
        remove(self.folder)


class Writer:
    """Appends answers to the file of one run."""

    def __init__(self, file: BinaryIO):
        self._file = file

    def keep(self, row: int, answer: Generated) -> None:
        """Put an answer on disk, before this returns."""
        record = {"row": row, "endings": answer.endings, "reason": answer.reason}
        record |= {"n_drawn": answer.n_drawn, "rejected": dict(answer.rejected)}
        line = json.dumps({name: value for name, value in record.items() if value or name == "row"}, ensure_ascii=False)
        self._file.write(line.encode() + b"\n")
        self._file.flush()


@contextmanager
def writing(folder: Path, part: Part | None, plan: Mapping[str, Any] | None = None) -> Iterator[Writer]:
    """The file of this run, held until the block ends, begun with the `plan` that decides its answers; InputError where
    another process holds it."""
    folder.mkdir(parents=True, exist_ok=True)
    i, n = part or (0, 1)
    with (folder / f"{i + 1:05d}-of-{n:05d}.jsonl").open("ab") as file:
        if not seize(file, Path(file.name)) or any(map(_is_held, _shared_otherwise(folder, n))):
            raise InputError(
                f"{folder.parent}: another process is generating this. Wait for it, or share the work with --shard, "
                "by all processes in as many parts."
            )
        size = sum(len(line) for _, line in _lines_of(Path(file.name)))
        file.truncate(size)
        if plan and not size:
            file.write(json.dumps({"plan": plan}, ensure_ascii=False).encode() + b"\n")
            file.flush()
        yield Writer(file)


def _shared_otherwise(folder: Path, n: int) -> list[Path]:
    """The files of runs that share the work in another number of parts than `n`."""
    return [path for path in sorted(folder.glob("*-of-*.jsonl")) if not path.name.endswith(f"-of-{n:05d}.jsonl")]


def _is_held(path: Path) -> bool:
    """Whether another process writes it now."""
    with path.open("ab") as file:
        return not seize(file, path)


def _lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Where each whole line begins, and the line."""
    with path.open("rb") as file:
        yield from whole_lines(file)


def _parsed(line: bytes, path: Path, at: int, kind: type[_T]) -> _T:
    """The line of `path` that begins at byte `at`; InputError for one that is damaged."""
    try:
        text = line.decode("utf-8").rstrip("\n")
        return parse_record(parse_json(text, path), kind, path)
    except (UnicodeDecodeError, SwagAfError):
        shown = line[:40].decode("utf-8", "replace")
        number = path.read_bytes()[:at].count(b"\n") + 1
        raise InputError(
            f"{path}: line {number} is damaged, {told(shown)}. Remove it, and run the same command again."
        ) from None
