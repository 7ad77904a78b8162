"""The folder of a pool: its tables, its shards, the manifest that lists the shards, and the vocabulary.

    pool/manifest.json              format, kind, sizes, table names, shards with their hashes, what made it
    pool/vocabulary.tsv             V token types, with their tags
    pool/shards/00000/contexts.jsonl and NAME.npy, a slice of consecutive rows each; shard.json, once all is there

Tables, by name: `tokens` (n, K, L), `lengths` (n, K), `starts` (n, S), `start_lengths` (n,), `counts` (n,)
candidates present in a ragged row; optional `groups` (n,), which rows belong together, `features` (n, K, F),
`start_tags` (n, S) and `tags` (n, K, L), the tags of `swag-af tag --in-context`, and `text` with `text_ends` (n, K),
the original spelling of custom candidates. `swag-af guard` adds `flagged` (n, K) bool, candidates that no assignment
may have, and `guard_scores` (n, K, G) float32, what each of the G guards of the manifest's `guards` says: NaN for gold,
for candidates that are not there, and for those that it was not asked about. The hashes of shards come in two then,
with these tables and without, so that a run made before can be read, though not gone on with.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from swag_af.data.context import Context
from swag_af.data.disk.files import (
    Lines,
    parse_json,
    read_array,
    read_json,
    read_records,
    write_array,
    write_json,
    write_jsonl,
)
from swag_af.data.disk.manifests import MANIFEST, read_manifest, sha256_file, sha256_json, write_manifest
from swag_af.data.disk.records import FinishedShard, check_record, parse_record
from swag_af.data.disk.replacing import move, remove_leftovers, replacing
from swag_af.data.errors import FormatError, InputError, several
from swag_af.data.tags import TAGS
from swag_af.data.vocabulary import Vocabulary

FEATURES = (
    "ending_given_context",
    "ending_alone",
    "context_given_ending",
    "context_alone",
    "last_token",
    "ending_length",
    "start_length",
    "sent1_length",
)
"""The `F` = 8 features that language models give (Zellers et al. 2018, A.3): five negative log-likelihoods per
token in nats (forward LM: first, fourth, fifth; backward LM: second, third), then three lengths in tokens.

A pool records the names of its own columns (`CandidatePool.feature_names`): its owner may have given other features."""


def numbered_features(n: int) -> tuple[str, ...]:
    """Names for `n` features whose owner gave them none."""
    return tuple(f"feature_{i}" for i in range(1, n + 1))


CONTEXT_TAGS = ("start_tags", "tags")
"""The tables of a pool whose candidates were tagged in their sentences: (n, S) and (n, K, L) uint8 codes."""

GUARD_TABLES = ("flagged", "guard_scores")
"""The tables of a pool that was guarded: (n, K) bool and (n, K, G) float32."""

NO_TAGGER = "none"
"""The tagger's name of a pool whose word types have no tags."""


def pad(rows: Iterable[Sequence[int]], dtype: Any, *, width: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """`(n, max(width, longest))` ids padded with 0, and `(n,)` lengths."""
    listed = list(rows)
    lengths = np.array([len(row) for row in listed], np.int64)
    out = np.zeros((len(listed), max(width, int(lengths.max(initial=0)))), dtype)
    for i, row in enumerate(listed):
        out[i, : len(row)] = row
    return out, lengths


def smallest_uint(largest: int) -> Any:
    """The smallest unsigned type that holds `largest`."""
    return np.min_scalar_type(max(largest, 1))


def check_finite(features: np.ndarray, where: str, *, rows: np.ndarray | None = None) -> None:
    """Raise InputError naming the first row with a NaN or an infinity in (n, m, F); `rows` (n,) are their numbers."""
    bad = np.flatnonzero(~np.isfinite(features).all(axis=(1, 2)))
    if len(bad):
        first = bad[0] if rows is None else rows[bad[0]]
        raise InputError(
            f"{where}: {several(len(bad), 'row holds', 'rows hold')} NaN or infinity among the features (first: row "
            f"{first}). Leave such rows out or mend their values."
        )


SHARDS = "shards"

TEXT_TABLES = ("counts", "tokens", "text", "text_ends")
"""The tables behind the texts of candidates; the last two where original spellings are kept."""

FILTER_TABLES = (*TEXT_TABLES, "lengths", "starts", "start_lengths", "groups")
"""The tables that any filter may read; others it names in its `requires`."""

_ANEW = "Make the pool again; of one by `generate`, remove the folder of this shard, and type its command again."


@dataclass(frozen=True)
class Limits:
    """Sizes of a pool that the values in its tables must respect."""

    n_rows: int
    """`N`."""
    n_candidates: int
    """`K`."""
    n_types: int
    """`V`."""


_AXES = {
    "tokens": 3,
    "lengths": 2,
    "starts": 2,
    "start_lengths": 1,
    "counts": 1,
    "groups": 1,
    "features": 3,
    "start_tags": 2,
    "tags": 3,
    "text": 1,
    "text_ends": 2,
    "flagged": 2,
    "guard_scores": 3,
}
"""How many axes each table has."""
_KINDS = {"features": "f", "guard_scores": "f", "flagged": "b"}
"""Kinds of numbers, as numpy has them, of the tables that hold no whole ones."""
_NUMBERS = {"f": "fractions", "b": "true and false", "iu": "whole numbers"}
_ENDS_OF = {"lengths": ("tokens", -1), "start_lengths": ("starts", -1), "text_ends": ("text", 0)}
"""Tables whose values are ends in another table, and along which axis of that."""
_BLOCK = 1 << 22
"""Values looked at together, so that a large table is not read into memory whole."""


def table_fault(name: str, array: np.ndarray, n_rows: int, limits: Limits) -> str:
    """What is wrong with the table `name` of a shard of `n_rows`: axes, type or range of values; empty if nothing is.

    Reads the table once. Features are checked where they are used: those that are lazy are NaN until then.
    """
    kinds = _KINDS.get(name, "iu")
    if array.dtype.kind not in kinds:
        return f"{array.dtype} where {_NUMBERS[kinds]} were expected"
    if array.ndim != _AXES.get(name, array.ndim):
        return f"{array.ndim} axes where {_AXES[name]} were expected"
    if name != "text" and len(array) != n_rows:
        return f"{len(array):,} rows where the manifest has {n_rows:,}"
    if array.ndim > 1 and name not in ("starts", "start_tags") and array.shape[1] != limits.n_candidates:
        return f"{array.shape[1]:,} candidates where the manifest has {limits.n_candidates:,}"
    bounds = {
        "tokens": (0, limits.n_types - 1),
        "starts": (0, limits.n_types - 1),
        "counts": (1, limits.n_candidates),
        "text": (0, 255),
        "groups": (0, limits.n_rows - 1),
        "tags": (0, len(TAGS) - 1),
        "start_tags": (0, len(TAGS) - 1),
    }
    if name == "flagged" and array[:, 0].any():
        return "gold is flagged"
    if kinds != "iu" or not array.size:
        return ""
    low, high = bounds.get(name, (0, np.iinfo(np.int64).max))
    smallest, largest = extremes(array)
    return (
        f"values from {smallest} to {largest} where {low} to {high} can be" if smallest < low or largest > high else ""
    )


def extremes(array: np.ndarray) -> tuple[int, int]:
    """The smallest and the largest value of whole numbers, (0, 0) where there are none, by blocks."""
    flat = array.reshape(-1)
    blocks = [flat[at : at + _BLOCK] for at in range(0, len(flat), _BLOCK)]
    pairs = [(int(block.min()), int(block.max())) for block in blocks]
    return (min(low for low, _ in pairs), max(high for _, high in pairs)) if pairs else (0, 0)


class Maps:
    """Tables mapped into memory, the `MOST` that were used last.

    Each keeps a file open, of which systems allow a process about a thousand: a pool of a million rows has more tables.
    """

    MOST = 256

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Path, str], np.ndarray] = OrderedDict()

    def load(self, folder: Path, table: str) -> np.ndarray:
        """The table of the shard in `folder`."""
        array = self._kept.pop((folder, table), None)
        if array is None:
            array = read_array(folder / f"{table}.npy", mode="r")
        self._kept[folder, table] = array
        if len(self._kept) > self.MOST:
            self._kept.popitem(last=False)
        return array


class Shard:
    """Consecutive rows of a pool: a folder on disk, or arrays in memory."""

    def __init__(
        self,
        n_rows: int,
        path: Path | None,
        arrays: Mapping[str, np.ndarray] | None = None,
        contexts: list[Context] | None = None,
        limits: "Callable[[], Limits] | None" = None,
        maps: Maps | None = None,
    ):
        self.n_rows = n_rows
        self.path = path
        self._arrays: dict[str, np.ndarray] = dict(arrays or {})
        self._contexts = contexts
        self._limits = limits
        """The sizes that tables in files are checked against when they are first used."""
        self._maps = maps or Maps()
        """What is open of all shards of a pool."""
        self._checked: set[str] = set()
        self._lines: Lines | None = None

    @property
    def contexts(self) -> list[Context]:
        """The contexts of these rows, read anew each time from a shard on disk."""
        if self._contexts is not None:
            return self._contexts
        file = self._contexts_file
        made = list(read_records(file, Context, _ANEW))
        if len(made) != self.n_rows:
            raise FormatError(f"{file}: {len(made):,} contexts where the manifest has {self.n_rows:,}. {_ANEW}")
        return made

    def some_contexts(self, rows: Sequence[int]) -> list[Context]:
        """The contexts of `rows`; of those on disk no others are read, once it is known where each begins."""
        if self._contexts is not None:
            return [self._contexts[row] for row in rows]
        file = self._contexts_file
        self._lines = self._lines or Lines(file)
        if len(self._lines) != self.n_rows:
            raise FormatError(f"{file}: {len(self._lines):,} contexts where the manifest has {self.n_rows:,}. {_ANEW}")
        return [
            parse_record(parse_json(line, file, number), Context, f"{file}: line {number}", _ANEW)
            for number, line in self._lines.at(rows)
        ]

    @property
    def _contexts_file(self) -> Path:
        return self._folder / "contexts.jsonl"

    @property
    def _folder(self) -> Path:
        """Where these rows are on disk; FormatError where that is gone."""
        assert self.path is not None
        if not self.path.is_dir():
            raise FormatError(
                f"{self.path}: this shard of the pool is gone. Put its folder back, or make the pool again; "
                "`generate`, typed again, makes this shard alone."
            )
        return self.path

    def load(self, table: str) -> np.ndarray:
        """The memory-mapped table of these rows."""
        if table in self._arrays:
            return self._arrays[table]
        assert self.path is not None
        array = self._maps.load(self.path if table in self._checked else self._folder, table)
        if self._limits is not None and table not in self._checked:
            fault = table_fault(table, array, self.n_rows, self._limits())
            if fault := fault or self._beyond(table, array):
                raise FormatError(f"{self.path / table}.npy: damaged ({fault}). {_ANEW}")
            self._checked.add(table)
        return array

    def _beyond(self, table: str, array: np.ndarray) -> str:
        """Which values of the table `array` lie beyond the end of another table; empty if none do."""
        if table not in _ENDS_OF:
            return ""
        other, axis = _ENDS_OF[table]
        assert self.path is not None
        most, largest = read_array(self.path / f"{other}.npy", mode="r").shape[axis], extremes(array)[1]
        return f"values up to {largest} where {other}.npy ends at {most}" if largest > most else ""

    def gather(self, table: str, rows: np.ndarray, columns: np.ndarray | None) -> np.ndarray:
        """Copies of the entries asked for."""
        array = self.load(table)
        return np.asarray(array[rows] if columns is None else array[rows[:, None], columns])

    def taken(self, table: str, rows: np.ndarray) -> np.ndarray:
        """The table of `rows` (n,), rising, alone; ends of texts count from the first of them."""
        if table not in ("text", "text_ends"):
            return self.load(table)[rows]
        ends = self.load("text_ends").astype(np.int64)  # (n_rows, K)
        lengths = np.diff(ends.reshape(-1), prepend=0).reshape(ends.shape)[rows]
        if table == "text_ends":
            return np.cumsum(lengths).reshape(lengths.shape).astype(self.load(table).dtype)
        begins = np.concatenate([[0], ends[:-1, -1]])[rows]
        pieces = [self.load("text")[a:b] for a, b in zip(begins.tolist(), ends[rows, -1].tolist(), strict=True)]
        return np.concatenate(pieces)

    def write(self, table: str, rows: np.ndarray, columns: np.ndarray, which: list[int], values: np.ndarray) -> None:
        """`table[rows, columns, which] = values` (P, f) in the file; after a kill, values not yet written are as
        before."""
        assert self.path is not None
        array = read_array(self.path / f"{table}.npy", mode="r+")
        array[rows[:, None], columns[:, None], which] = values
        cast(np.memmap, array).flush()

    @cached_property
    def _keeps_texts(self) -> bool:
        return "text_ends" in self._arrays or (self.path is not None and (self.path / "text_ends.npy").exists())

    def original_text(self, row: int, column: int) -> str:
        """The text as given by the user, empty where only its tokens are stored."""
        if not self._keeps_texts:
            return ""
        ends = self.load("text_ends")
        at = row * ends.shape[1] + column
        begin = int(ends.reshape(-1)[at - 1]) if at else 0
        try:
            return self.load("text")[begin : int(ends[row, column])].tobytes().decode("utf-8")
        except UnicodeDecodeError:
            raise FormatError(f"{self.path}: text.npy and text_ends.npy do not belong together. {_ANEW}") from None

    def original_texts(self, rows: np.ndarray, columns: np.ndarray) -> list[str]:
        """As `original_text`, of candidates `columns` (q,) of `rows` (q,): plain arrays are sliced, not their maps."""
        if not self._keeps_texts:
            return [""] * len(rows)
        ends = np.asarray(self.load("text_ends")).reshape(-1)
        at = rows * self.load("text_ends").shape[1] + columns
        begins = np.where(at, ends[at - 1], 0)
        text = np.asarray(self.load("text")).data
        try:
            return [
                str(text[begin:end], "utf-8") for begin, end in zip(begins.tolist(), ends[at].tolist(), strict=True)
            ]
        except UnicodeDecodeError:
            raise FormatError(f"{self.path}: text.npy and text_ends.npy do not belong together. {_ANEW}") from None

    def content_hash(self) -> str:
        """The hash of all of it, as `shard_hashes` has it, for rows in memory."""
        return shard_hashes(self.contexts, self._arrays)["sha256"]


def shard_path(folder: Path, number: int) -> Path:
    """The folder of shard `number` of the pool in `folder`."""
    return folder / SHARDS / f"{number:05d}"


def write_shard(
    folder: Path,
    number: int,
    contexts: Sequence[Context],
    tables: Mapping[str, np.ndarray],
    *,
    notes: Mapping[str, Any] | None = None,
    timing: Mapping[str, float] | None = None,
    lazy: Sequence[int] = (),
) -> dict[str, Any]:
    """Write shard `number` of the pool in `folder`, whole or not at all; returns the content of its `shard.json`.

    `notes` are added to it; `timing`, which differs from run to run, is written to `timing.json`. The columns `lazy` of
    its features are no part of its hash.
    """
    path = shard_path(folder, number)
    with replacing(path) as temporary:
        temporary.mkdir(parents=True)
        write_jsonl(temporary / "contexts.jsonl", (context.record() for context in contexts))
        for table, array in tables.items():
            write_array(temporary / f"{table}.npy", array)
        entry = {"name": path.name, "n_rows": len(contexts), **shard_hashes(contexts, tables, lazy)}
        entry |= {
            "tables": list(tables),
            "n_candidates": tables["tokens"].shape[1],
            **(notes or {}),
        }
        write_json(temporary / "shard.json", entry)
        if timing is not None:
            write_json(temporary / "timing.json", timing)
    return entry


def clear_pool(folder: Path) -> None:
    """Remove from the pool in `folder` what killed runs that were changing it left (`remove_leftovers`)."""
    for path in (folder, *(folder / SHARDS).glob("[0-9]*")):
        remove_leftovers(path)


def shard_hashes(
    contexts: Sequence[Context], tables: Mapping[str, np.ndarray], lazy: Sequence[int] = ()
) -> dict[str, str]:
    """`sha256`, hex, of contexts and tables: names, types, shapes and values; with `GUARD_TABLES` also
    `unguarded_sha256`, the same without them.

    The columns `lazy` of the features count as not yet computed, whatever was asked for so far.
    """
    found = _hashes_of(
        {name: _as_made(name, array, lazy) for name, array in tables.items() if name not in GUARD_TABLES}
    )
    return guarded_hashes(sha256_json([[context.record() for context in contexts], found]), tables)


def _as_made(name: str, array: np.ndarray, lazy: Sequence[int]) -> np.ndarray:
    """Features (n, K, F) as they are before any of the columns `lazy` is asked for; another table as it is."""
    if not lazy or name != "features":
        return array
    made = np.array(array)
    made[:, :, list(lazy)] = np.nan
    return made


def guarded_hashes(unguarded: str, tables: Mapping[str, np.ndarray]) -> dict[str, str]:
    """The hashes of a shard whose hash without `GUARD_TABLES` is known, and which has those among `tables`."""
    of_guards = _hashes_of({name: tables[name] for name in GUARD_TABLES if name in tables})
    if not of_guards:
        return {"sha256": unguarded}
    return {"sha256": sha256_json([unguarded, of_guards]), "unguarded_sha256": unguarded}


def _hashes_of(tables: Mapping[str, np.ndarray]) -> dict[str, list[Any]]:
    return {
        name: [array.dtype.str, list(array.shape), hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()]
        for name, array in tables.items()
    }


def read_shard_entry(folder: Path, number: int) -> dict[str, Any] | None:
    """The content of `shard.json` of shard `number`; None while the shard is not made yet."""
    path = shard_path(folder, number) / "shard.json"
    if not path.exists():
        return None
    entry: dict[str, Any] = read_json(path)
    check_record(entry, FinishedShard, path, "Remove its folder and run the same command again.")
    return entry


def pool_identity(vocabulary_sha256: str, shards_sha256: Sequence[str]) -> str:
    """Hex SHA-256 over the hashes of vocabulary and shards."""
    return sha256_json([vocabulary_sha256, list(shards_sha256)])


_OF_SHARD = ("name", "n_rows", "sha256", "unguarded_sha256")
"""What a manifest says of a shard."""

VOCABULARY = "vocabulary.tsv"


NEXT_VOCABULARY = "vocabulary.next.tsv"


def finish_pool(
    folder: Path, vocabulary: Vocabulary, entries: Sequence[Mapping[str, Any]], made_by: Mapping[str, Any]
) -> None:
    """Write the vocabulary and the manifest, which turn the shards into a pool; `made_by` is added to the manifest.

    A `features` table has the columns `FEATURES`, unless `made_by` lists other `feature_names`.
    """
    remove_leftovers(folder / SHARDS)
    vocabulary.save(folder / VOCABULARY)
    manifest = {
        "complete": True,
        "n_rows": sum(int(entry["n_rows"]) for entry in entries),
        "n_candidates": entries[0]["n_candidates"],
        "tables": entries[0]["tables"],
        "vocabulary_sha256": vocabulary.sha256,
        "shards": [{key: entry[key] for key in _OF_SHARD if key in entry} for entry in entries],
        **made_by,
    }
    write_manifest(folder, "pool", with_feature_names(manifest, manifest.get("feature_names", FEATURES)))


def with_feature_names(manifest: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """`manifest` with the names of its feature columns, if it lists a `features` table; without any otherwise."""
    others = {key: value for key, value in manifest.items() if key != "feature_names"}
    return others | ({"feature_names": list(names)} if "features" in manifest["tables"] else {})


def vocabulary_path(folder: Path, sha256: str) -> Path:
    """The vocabulary of the pool in `folder` whose manifest has this hash.

    `replace_vocabulary` writes the new vocabulary beside the old one, then the manifest, then moves the vocabulary into
    place. After a kill before the last step, the new one belongs to the pool; before the second step, the old one does.
    """
    following = folder / NEXT_VOCABULARY
    return following if following.exists() and sha256_file(following) == sha256 else folder / VOCABULARY


def replace_vocabulary(folder: Path, vocabulary: Vocabulary, changes: Mapping[str, Any]) -> None:
    """Give the pool in `folder` another vocabulary, and make `changes` to its manifest; both or neither.

    `vocabulary` must have the token types of the old one: the tables hold their ids.
    """
    clear_pool(folder)
    manifest = read_manifest(folder, "pool")
    standing = vocabulary_path(folder, manifest["vocabulary_sha256"])
    if standing.name == NEXT_VOCABULARY:  # an earlier change was killed before its last step
        move(standing, folder / VOCABULARY)
    vocabulary.save(folder / NEXT_VOCABULARY)
    write_json(folder / MANIFEST, manifest | {"vocabulary_sha256": vocabulary.sha256} | dict(changes))
    move(folder / NEXT_VOCABULARY, folder / VOCABULARY)
