"""How far a model in training is, told by the process that trains it to the one that asked for it, wherever that is.

Whoever trains keeps a small file in the model's folder, and whoever waits looks at it now and then: folders are at the
same path on every machine, and a cluster needs to pass nothing on. It goes with the checkpoints when the model is done.
"""

import json
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from swag_af.data.work.progress import Advance, note
from swag_af.data.work.watching import every

SECONDS_APART = 1.0
"""Between two looks, and between two writings."""


class Listener(Protocol):
    """Who is told how the training of one model goes."""

    def tell(self, n: int, note: str) -> None:
        """`n` more tokens are learnt from; `note` names the model and its epoch."""

    def say(self, line: str) -> None:
        """Something is worth a line of its own: an epoch is over."""


class Shown:
    """The progress of all models. Several threads may add to it."""

    def __init__(self, n_tokens: Mapping[int, int], done: Mapping[int, int], advance: Advance):
        self._whole, self._so_far, self._advance = n_tokens, dict(done), advance
        self._lines: set[str] = set()
        self._lock = threading.Lock()

    def reach(self, fold: int, n_tokens: int, text: str, lines: Iterable[str] = ()) -> None:
        """A model has learnt from `n_tokens` in all; of the `lines`, those are shown that were not."""
        with self._lock:
            for line in lines:
                if line not in self._lines:
                    self._lines.add(line)
                    note(line)
            more = max(0, min(n_tokens, self._whole[fold]) - self._so_far[fold])  # 0 where a worker was lost
            self._so_far[fold] += more
            self._advance(more, note=text)

    def near(self, fold: int) -> Listener:
        """Whom the process that shows this tells of a model that it trains itself."""
        return _Near(self, fold, self._so_far[fold])


@dataclass
class _Near:
    """Tells the process that it is in."""

    shown: Shown
    fold: int
    n_tokens: int

    def tell(self, n: int, text: str) -> None:
        self.n_tokens += n
        self.shown.reach(self.fold, self.n_tokens, text)

    def say(self, line: str) -> None:
        note(line)


@dataclass
class Diary:
    """Tells by a file."""

    path: Path
    n_tokens: int
    """Learnt from so far: at first those of the epochs that an earlier run has finished."""
    lines: list[str] = field(default_factory=list)
    _note: str = ""
    _written: float = -math.inf

    def tell(self, n: int, note: str) -> None:
        """Written now and then."""
        self.n_tokens, self._note = self.n_tokens + n, note
        if time.monotonic() - self._written >= SECONDS_APART:
            self._write()

    def say(self, line: str) -> None:
        """Written at once."""
        self.lines.append(line)
        self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps([self.n_tokens, self._note, self.lines]), encoding="utf-8")  # in no store


@contextmanager
def followed(diaries: Mapping[int, Path], heard: Callable[[int, int, str, list[str]], None]) -> Iterator[None]:
    """Inside, `heard(fold, n_tokens, note, lines)` is called with all that the diary of a fold says, whenever that has
    changed. Another thread calls it. What it said at the beginning may be of a run that was killed, and is passed over.
    """
    before = {fold: _read(path) for fold, path in diaries.items()}

    def look() -> None:
        for fold, path in diaries.items():
            if (said := _read(path)) not in (None, before[fold]):
                before[fold] = said
                heard(fold, *said)

    with every(SECONDS_APART, look):
        yield


def _read(path: Path) -> tuple[int, str, list[str]] | None:
    """What a diary says; None where there is none, and while it is being written."""
    with suppress(FileNotFoundError, ValueError):
        n_tokens, text, lines = json.loads(path.read_bytes())
        return n_tokens, text, lines
    return None
