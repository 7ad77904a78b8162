"""Word vectors from a file, of the words that are asked for and no others.

Three layouts, as text, gzipped or not: GloVe (`word v1 ... vD` a line), word2vec and fastText (the same behind a line
`n D`), ConceptNet Numberbatch (the latter, whose words may be `/c/en/word`; other languages are left out). A word has
the vector of its own spelling; where the file lacks that, the first one that differs in letter case alone.
"""

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import IO, cast

import numpy as np

from swag_af.data.disk.files import check_is_file
from swag_af.data.disk.manifests import sha256_file
from swag_af.data.errors import InputError
from swag_af.data.work.progress import progress

_ENGLISH, _ANY_LANGUAGE = "/c/en/", "/c/"
_GZIP, _ZIP = b"\x1f\x8b", b"PK"
_LONGEST_HEAD = 1 << 16
"""Bytes of a line beyond which a file holds no text."""
_LINES_BETWEEN = 20_000


class VectorFile:
    """A file of word vectors. Reads its head when it is made, and all of it when there are words to look for.

    Raises InputError when it is not there, or is no file of word vectors as text.
    """

    def __init__(self, path: Path):
        self.path = path
        check_is_file(path)
        with self._opened() as (lines, _):
            first, second = lines.readline(_LONGEST_HEAD), lines.readline(_LONGEST_HEAD)
        self._has_header = re.fullmatch(rb"\d+[ \t]\d+\s*", first) is not None
        fields = len((second if self._has_header else first).split()) - 1
        self.size = int(first.split()[1]) if self._has_header else fields
        """Numbers of a vector."""
        if self.size < 1 or fields < self.size:
            raise self._no_vectors("its first line is no word with numbers")
        self._numbers((second if self._has_header else first).split()[-self.size :], 1 + self._has_header)
        self._known: dict[str, np.ndarray | None] = {}

    def find(self, words: Iterable[str]) -> dict[str, np.ndarray]:
        """The vectors (D,) float32 of those of `words` that the file has; each word is looked for in it once."""
        asked = dict.fromkeys(words)
        new = [word for word in asked if word not in self._known]
        if new:
            self._known |= dict.fromkeys(new) | self._read(new)
        found = ((word, self._known[word]) for word in asked)
        return {word: vector for word, vector in found if vector is not None}

    @cached_property
    def sha256(self) -> str:
        """Of the file, as hex."""
        return sha256_file(self.path)

    def _read(self, words: list[str]) -> dict[str, np.ndarray]:
        wanted: dict[str, list[str]] = {}
        for word in words:
            wanted.setdefault(word.lower(), []).append(word)
        found: dict[str, np.ndarray] = {}
        exact: set[str] = set()
        for number, term, line in self._lines():
            for word in wanted.get(term.lower(), ()):
                if word not in found or (word == term and word not in exact):
                    fields = line.split()[1:]
                    if len(fields) > self.size:
                        continue  # a term of several words, of which this is the first
                    found[word] = self._numbers(fields, number)
                    if word == term:
                        exact.add(word)
        return found

    def _lines(self) -> Iterator[tuple[int, str, bytes]]:
        """`(line number, word, line)` of every vector, with progress in bytes of the file."""
        n_bytes = self.path.stat().st_size
        with self._opened() as (lines, raw), progress(f"read {self.path.name}", n_bytes, "bytes") as advance:
            told = 0
            for number, line in enumerate(lines, start=1):
                if number % _LINES_BETWEEN == 0:
                    advance(raw.tell() - told)
                    told = raw.tell()
                if number == 1 and self._has_header:
                    continue
                term = next(iter(line.split(None, 1)), b"").decode(errors="replace")
                if term and (term.startswith(_ENGLISH) or not term.startswith(_ANY_LANGUAGE)):  # no blank line
                    yield number, term.removeprefix(_ENGLISH), line

    @contextmanager
    def _opened(self) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """Lines of the file, and the file itself, whose place says how much of it was read."""
        with self.path.open("rb") as raw:
            magic = raw.read(2)
            raw.seek(0)
            if magic == _ZIP:
                raise InputError(f"{self.path}: a zip archive. Unpack it, and name the text file that was in it.")
            lines = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if magic == _GZIP else raw
            try:
                yield lines, raw
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise InputError(f"{self.path}: damaged gzip ({error}). Fetch it again.") from None

    def _numbers(self, fields: list[bytes], number: int) -> np.ndarray:
        """(D,) float32; InputError where `fields`, of line `number`, are not D finite numbers."""
        try:
            vector = np.array([float(field) for field in fields], np.float32)
        except ValueError:
            raise self._no_vectors(f"line {number} has what is no number") from None
        if len(vector) != self.size or not np.isfinite(vector).all():
            raise self._no_vectors(f"line {number} has not {self.size} finite numbers")
        return vector

    def _no_vectors(self, why: str) -> InputError:
        return InputError(
            f"{self.path}: not word vectors as text: {why}. Each line is a word and its numbers, as in GloVe's files; "
            "convert a binary file."
        )


def open_vectors(path: Path | str) -> VectorFile:
    """The file at `path`; while it does not change, what was found in it is kept. Raises InputError as `VectorFile`."""
    path = Path(path)
    check_is_file(path)
    stat = path.stat()
    return _opened_at(path.absolute(), stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=2)
def _opened_at(path: Path, size: int, modified: int) -> VectorFile:
    return VectorFile(path)
