"""The journal of a server's answers: JSON lines that are only ever added to, each on disk before it is used.

    {"format": 1, "kind": "answers"}
    {"key": "...", "model": "...", "request": {...}, "answer": {...}, "usage": {...}}
    {"key": "...", "model": "...", "request": {...}, "error": "refused_400", "said": "...", "usage": {...}}
    {"about": "...", "value": ...}

An answer that is of no use is withdrawn by a line of the last form, and asked for again. The last form also keeps what
else is worth not asking again: what a server can do. A line that has only `usage` counts tries that came to nothing. A
last line that a kill cut short is taken away when the file is next opened. One process at a time holds the file; of one
that is `Shared` others wait.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import RLock
from typing import Any, BinaryIO, TypedDict

from swag_af.data.disk.files import parse_json, whole_lines
from swag_af.data.disk.manifests import FORMAT
from swag_af.data.disk.records import parse_record
from swag_af.data.errors import InputError
from swag_af.data.work.locks import seize
from swag_af.data.work.progress import note
from swag_af.endpoints.contract import Answer, Request
from swag_af.endpoints.costs.usage import Usage
from swag_af.endpoints.shared import Shared

_WITHDRAWN = "withdrawn "
"""What is noted, with the key, of an answer that is kept no longer."""
_HEADER = {"format": FORMAT, "kind": "answers"}


class Journal:
    """Answers by request and model; on disk, or in memory only where there is no path."""

    def __init__(self, path: Path | None, shared: Shared | None = None):
        self.path = path
        self._shared = shared
        self._lock = RLock()
        self._file: BinaryIO | None = None
        self._holders = 0
        self._forget()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within it the file is ours alone, and what others added before is known; while another process holds it,
        InputError or, where it is shared, a wait."""
        with self._lock:
            if self._holders == 0 and self.path is not None:
                self._open(self.path)
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if self._holders == 0 and self._file is not None:
                    self._file.close()
                    self._file = None

    def answer(self, request: Request, model: str) -> Answer | None:
        """What was answered to this request by this model."""
        with self._lock:
            place = self._answers.get((request.key, model))
            return None if place is None else _answer_in(self._record(place))

    def value(self, about: str) -> Any:
        """What was last noted under this name; None where there is nothing."""
        with self._lock:
            place = self._values.get(about)
            return None if place is None else self._record(place)["value"]

    def named(self, value: Any) -> list[str]:
        """The names under which this was last noted, in order."""
        with self._lock:
            return sorted(name for name, place in self._values.items() if self._record(place)["value"] == value)

    def usage(self, model: str) -> Usage:
        """All that was used of this model."""
        with self._lock:
            return self._usage.get(model, Usage())

    def spent(self, model: str) -> Usage:
        """What limits count: all that was used of this model or, where the file is shared, what this process used."""
        with self._lock:
            return self.usage(model) if self._shared is None else self._shared.spent.get(model, Usage())

    def add_answer(self, request: Request, model: str, answer: Answer, usage: Usage) -> None:
        """Keep an answer, or a refusal for good."""
        self._spend(model, usage)
        came = {"error": answer.error, "said": answer.said} if answer.error else {"answer": dict(answer.body)}
        asked = {"path": request.path, **request.body}
        self._add({"key": request.key, "model": model, "request": asked, **came, "usage": asdict(usage)})

    def add_usage(self, model: str, usage: Usage) -> None:
        """Count tries that came to nothing."""
        self._spend(model, usage)
        self._add({"model": model, "usage": asdict(usage)})

    def add_value(self, about: str, value: Any) -> None:
        """Note something under a name."""
        self._add({"about": about, "value": value})

    def withdraw(self, request: Request, model: str) -> None:
        """Keep the answer to this request no longer, since it is of no use: it is asked again."""
        self.add_value(f"{_WITHDRAWN}{request.key}", model)

    def _spend(self, model: str, usage: Usage) -> None:
        with self._lock:
            if self._shared is not None:
                self._shared.spent[model] = self._shared.spent.get(model, Usage()) + usage

    def _forget(self) -> None:
        self._answers: dict[tuple[str, str], int] = {}
        """Where the line of each answer begins."""
        self._values: dict[str, int] = {}
        self._usage: dict[str, Usage] = {}
        self._lines: list[bytes] = []
        """Those of a journal in memory, where a place is a number of a line."""
        self._end = self._n_lines = 0
        """How far the file is known."""

    def _open(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise InputError(f"{path}: this is a folder, and a journal of answers is a file. Choose another.")
        file = path.open("a+b")
        try:
            if not seize(file, path):
                self._wait(file, path)
            self._file = file
            self._read_on(path)
        except BaseException:
            self._file = None
            file.close()
            raise

    def _wait(self, file: BinaryIO, path: Path) -> None:
        """Wait for a shared file, which is told once; InputError for another."""
        if self._shared is None:
            raise InputError(f"{path}: another process is writing it. Wait until it ends, or end it.")
        if not self._shared.has_told:
            note(f"{path}: another process is asking the same server. Waiting until it is done.")
            self._shared.has_told = True
        fcntl.flock(file, fcntl.LOCK_EX)

    def _read_on(self, path: Path) -> None:
        """Know what stands behind the part that is known; a last line that is cut short is taken away."""
        file = self._opened
        if os.fstat(file.fileno()).st_size < self._end:
            self._forget()  # somebody began it anew
        file.seek(self._end)
        for at, line in whole_lines(file):
            self._n_lines += 1
            self._know(_record_of(line, path, self._n_lines), at)
            self._end += len(line)
        file.truncate(self._end)
        if self._end == 0:
            self._add(_HEADER)

    @property
    def _opened(self) -> BinaryIO:
        if self._file is None:
            raise RuntimeError("a journal is used within `held` only")
        return self._file

    def _add(self, record: Mapping[str, Any]) -> None:
        """Write a line, and return when it is on disk."""
        line = json.dumps(record, ensure_ascii=False).encode() + b"\n"
        with self._lock:
            place = len(self._lines) if self.path is None else self._end
            if self.path is None:
                self._lines.append(line)
            else:
                self._opened.write(line)
                self._opened.flush()
                os.fsync(self._opened.fileno())
                self._end += len(line)
                self._n_lines += 1
            self._know(record, place)

    def _record(self, place: int) -> Any:
        if self.path is None:
            return json.loads(self._lines[place])
        self._opened.seek(place)
        return json.loads(self._opened.readline())

    def _know(self, record: Mapping[str, Any], place: int) -> None:
        if "about" in record and record["about"].startswith(_WITHDRAWN):
            self._answers.pop((record["about"].removeprefix(_WITHDRAWN), record["value"]), None)
        elif "about" in record:
            self._values[record["about"]] = place
        elif "model" in record:
            model = record["model"]
            self._usage[model] = self._usage.get(model, Usage()) + Usage(**record["usage"])
            if "key" in record:
                self._answers.setdefault((record["key"], model), place)


class _Used(TypedDict):
    """A line about tries that came to nothing."""

    model: str
    usage: Usage


class _Answered(_Used):
    """A line with an answer."""

    key: str
    answer: dict[str, None]


class _Refused(_Used):
    """A line with a refusal for good."""

    key: str
    error: str
    said: str


class _Noted(TypedDict):
    """A line with something else that is worth not asking again."""

    about: str
    value: Any


def _top(answer: Any) -> Any:
    """The names of an answer without what it says, which is large and nobody's business here."""
    return dict.fromkeys(answer) if isinstance(answer, dict) else answer


def _answer_in(record: Mapping[str, Any]) -> Answer:
    if "error" in record:
        return Answer({}, record["error"], record["said"])
    return Answer(record["answer"])


def _record_of(line: bytes, path: Path, number: int) -> dict[str, Any]:
    """A line as a record of a journal; FormatError for one of something else."""
    record = parse_json(line.decode("utf-8", "replace"), path, number)
    if record == _HEADER:
        return dict(record)
    advice = "It is no journal of answers, or damaged. Choose another file" + (
        "." if number == 1 else ", or remove that line: what it kept is asked again."
    )
    told = {name: value for name, value in record.items() if name != "request"} if isinstance(record, dict) else {}
    known = told | ({"answer": _top(told["answer"])} if "answer" in told else {})
    found = parse_record(known, _kind_of(known), f"{path}: line {number}", advice)
    return record | ({"usage": asdict(found["usage"])} if "usage" in found else {})


def _kind_of(record: Mapping[str, Any]) -> Any:
    """What a line with these names must be."""
    if "about" in record:
        return _Noted
    if "error" in record:
        return _Refused
    return _Answered if "key" in record or "answer" in record else _Used
