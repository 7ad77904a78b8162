"""Vectors of texts on disk, so that a machine encodes no text twice: one SQLite file for all encoders and processes.

    $SWAG_AF_CACHE/vectors-1.sqlite    else $XDG_CACHE_HOME/swag-af/..., else ~/.cache/swag-af/...

A vector is found by a hash of the encoder that made it and of the text, so nothing in the file can be out of date. What
is older makes room for what is new. A file that cannot be read or written is said once and done without: results are
the same bits with it and without. `SWAG_AF_CACHE=none` keeps nothing. It may be deleted whenever nothing runs.
"""

import hashlib
import sqlite3
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from swag_af.data.disk.cache import VARIABLE
from swag_af.data.work.progress import note

MOST_BYTES = 2 * 2**30
"""Of the file: 1.2 million vectors of 384 numbers."""


@dataclass
class VectorCache:
    """The vectors of one encoder in the file of all of them."""

    folder: Path
    encoder: str
    """What identifies the encoder and whatever else decides the bits of a vector."""
    dim: int
    """D, numbers a vector."""
    most_bytes: int = MOST_BYTES
    _is_usable: bool = field(default=True, init=False)

    def find(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """The vectors (D,) float32 of those of `texts` that are kept."""
        text_of = {self._key(text): text for text in texts}
        found: dict[str, np.ndarray] = {}
        with self._open() as file:
            for key, crc, blob in _rows(file, list(text_of)) if file else ():
                if len(blob) == 4 * self.dim and zlib.crc32(blob) == crc:
                    found[text_of[key]] = np.frombuffer(blob, np.float32)
        return found

    def keep(self, vectors: Mapping[str, np.ndarray]) -> None:
        """Add the vector (D,) of each text; the oldest go where the file would be too large."""
        rows = []
        for text, vector in vectors.items():
            blob = np.ascontiguousarray(vector, np.float32).tobytes()
            rows.append((self._key(text), zlib.crc32(blob), blob))
        with self._open() as file:
            if file:
                file.executemany("INSERT OR REPLACE INTO vectors (key, crc, vector) VALUES (?, ?, ?)", rows)
                self._make_room(file)

    def _make_room(self, file: sqlite3.Connection) -> None:
        """Delete the oldest tenth while more is in use than may be; freed pages are used again."""
        while (used := _bytes_used(file)) > self.most_bytes:
            (n,) = file.execute("SELECT count(*) FROM vectors").fetchone()
            oldest = "SELECT id FROM vectors ORDER BY id LIMIT ?"
            file.execute(f"DELETE FROM vectors WHERE id IN ({oldest})", (max(1, n // 10),))
            if _bytes_used(file) >= used and n <= 1:
                return

    def _key(self, text: str) -> bytes:
        return hashlib.blake2b(f"{self.encoder}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection | None]:
        """The file within one transaction; None where it is of no use, which is told the first time."""
        file = self._connected() if self._is_usable else None
        if file is None:
            yield None
            return
        with closing(file):
            try:
                with file:
                    yield file
            except sqlite3.Error as error:
                self._give_up(error)

    def _connected(self) -> sqlite3.Connection | None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = sqlite3.connect(self._path, timeout=_SECONDS_WAITING)
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)
            return None
        try:
            _set_up(file)
        except sqlite3.Error as error:
            file.close()
            self._give_up(error)
            return None
        return file

    @property
    def _path(self) -> Path:
        return self.folder / "vectors-1.sqlite"

    def _give_up(self, error: Exception) -> None:
        self._is_usable = False
        note(
            f"{self._path}: vectors of texts cannot be kept there ({error}); {VARIABLE} names another folder, or none."
        )


_TABLE = "CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, key BLOB UNIQUE, crc INTEGER, vector BLOB)"
_PRAGMAS = ("PRAGMA page_size=16384", "PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL")
"""Pages of ten vectors or so, of which little stays empty; others read while one writes; a kill loses no more than what
was being written."""
_SELECT = "SELECT key, crc, vector FROM vectors WHERE key IN"
_ASKED_AT_ONCE = 500
_SECONDS_WAITING = 30.0
"""For another process that writes."""


def _set_up(file: sqlite3.Connection) -> None:
    """Tried again while another process makes the file: SQLite does not wait by itself where both change its mode."""
    until = time.monotonic() + _SECONDS_WAITING
    while True:
        try:
            for statement in (*_PRAGMAS, _TABLE):
                file.execute(statement)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _rows(file: sqlite3.Connection, keys: list[bytes]) -> Iterator[tuple[bytes, int, bytes]]:
    """Key, checksum and vector of those of `keys` that are there."""
    for at in range(0, len(keys), _ASKED_AT_ONCE):
        part = keys[at : at + _ASKED_AT_ONCE]
        yield from file.execute(f"{_SELECT} ({','.join('?' * len(part))})", part)


def _bytes_used(file: sqlite3.Connection) -> int:
    pages, free, size = (
        file.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size
