"""The pool: every context with its candidates, as a folder of memory-mapped tables.

A pool of `N` rows holds `K` candidates a row, gold first. On disk:

    pool/manifest.json              format, kind, sizes, table names, shards with their hashes, what made it
    pool/vocabulary.tsv             V token types, with their tags
    pool/shards/00000/contexts.jsonl and NAME.npy, a slice of consecutive rows each

Tables, by name: `tokens` (n, K, L), `lengths` (n, K), `starts` (n, S), `start_lengths` (n,), `counts` (n,)
candidates present in a ragged row; optional `groups` (n,), which rows belong together, `features` (n, K, F),
`start_tags` (n, S) and `tags` (n, K, L), the tags of `swag-af tag --in-context`, and `text` with `text_ends` (n, K),
the original spelling of custom candidates. Opening a pool reads the manifest and no table. This module neither
samples candidates nor chooses among them.
"""

import hashlib
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property, reduce
from operator import or_
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.contexts import Context, joined_by_sentence
from swag_af.data.errors import FormatError, InputError
from swag_af.data.files import (
    MANIFEST,
    check_output,
    read_json,
    read_jsonl,
    read_manifest,
    remove_leftovers,
    replacing,
    sha256_file,
    sha256_json,
    write_array,
    write_json,
    write_jsonl,
    write_manifest,
)
from swag_af.data.guard import Flag
from swag_af.data.sharing import RowKeys, sharing
from swag_af.data.surface import SurfaceWarning, warning_lines
from swag_af.data.tables import Block, Faults, RowError, RowMaker, fill_blocks, final_ids
from swag_af.data.taggers import Tagger, load_tagger, tag_word_types
from swag_af.data.vocabulary import Vocabulary, build_vocabulary

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
"""The `F` = 8 columns of the `features` table (Zellers et al. 2018, A.3): five negative log-likelihoods per
token in nats (forward LM: first, fourth, fifth; backward LM: second, third), then three lengths in tokens."""

SHARDS = "shards"

NO_TAGGER = "none"
"""The tagger's name of a pool whose word types have no tags."""

CONTEXT_TAGS = ("start_tags", "tags")
"""The tables of a pool whose candidates were tagged in their sentences: (n, S) and (n, K, L) uint8 codes."""

Filler = Callable[["CandidatePool", np.ndarray, np.ndarray], np.ndarray]
"""`filler(pool, rows, columns)`: features left for later, (P, f) in the order of `pool.lazy_features`, for the P
candidates `columns` (P,) of `rows` (P,)."""


class CandidatePool:
    """`N` contexts with up to `K` candidates each; candidate 0 of every row is gold.

    Make one with `CandidatePool.open(folder)` or `CandidatePool.from_texts(contexts, negatives)`.
    """

    def __init__(
        self,
        manifest: Mapping[str, Any],
        vocabulary: Vocabulary | None,
        shards: Sequence["Shard"],
        path: Path | None,
    ):
        self.manifest = dict(manifest)
        self.path = path
        self._vocabulary = vocabulary
        self._shards = list(shards)
        self._offsets = np.cumsum([0, *(shard.n_rows for shard in self._shards)])
        self.n_rows = int(self._offsets[-1])
        self.n_candidates = int(self.manifest["n_candidates"])
        self.filler: Filler | None = None
        """What computes the `lazy_features` when they are first asked for."""

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return f"CandidatePool({self.n_rows} rows x {self.n_candidates} candidates, tables: {', '.join(self.tables)})"

    @classmethod
    def open(cls, path: Path | str) -> "CandidatePool":
        """The pool in folder `path`; raises FormatError when it is unfinished, damaged or of another format."""
        path = Path(path)
        manifest = read_manifest(path, "pool")
        if not manifest.get("complete"):
            done = len(list((path / SHARDS).glob("[0-9]*")))
            raise FormatError(
                f"{path}: this pool is unfinished ({done} shards so far). Run the `swag-af generate` that "
                "began it again; it goes on from there."
            )
        try:
            shards = [Shard(int(entry["n_rows"]), path / SHARDS / entry["name"]) for entry in manifest["shards"]]
            return cls(manifest, None, shards, path)
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{path / MANIFEST}: damaged ({error!r}). Make the pool again.") from None

    @classmethod
    def from_texts(
        cls,
        contexts: Sequence[Context],
        negatives: Sequence[Sequence[str]],
        *,
        features: Sequence[np.ndarray] | None = None,
        tagger: str = "auto",
        flag: Flag | None = None,
        normalise: bool = False,
    ) -> "CandidatePool":
        """A pool in memory from texts of your own; row `i` holds `contexts[i].gold`, then `negatives[i]`.

        Rows may have different numbers of negatives. Left out and counted by reason in
        `manifest["dropped_negatives"]`: blank negatives, those with the words of gold or of an earlier negative
        (`swag_af.data.guard.comparable`), and those for which `flag(context, negative)` is true. `features`, if
        given, has one (1 + len(negatives[i]), F) array a row, gold first, finite. `tagger` is a name that
        `swag_af.data.taggers.load_tagger` knows, or `none`. Raises InputError that names the rows which cannot be
        used, such as those without negatives. Files of any size: `swag-af pool`.

        Where surface form tells gold (`swag_af.data.surface`), a SurfaceWarning says so, and
        `manifest["surface"]` how far. `normalise` gives gold and negatives one form (`swag_af.data.normalise`), before
        anything compares them; they are then shown through the vocabulary.
        """
        pool = _pool_from_texts(contexts, negatives, features, tagger, flag, normalise)
        if pool.manifest["surface"]:
            told = warning_lines(pool.manifest["surface"], normalised=normalise)
            warnings.warn(" ".join(told), SurfaceWarning, stacklevel=2)
        return pool

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The token types behind the `tokens` table."""
        if self._vocabulary is not None:
            return self._vocabulary
        assert self.path is not None
        return Vocabulary.load(vocabulary_path(self.path, self.manifest["vocabulary_sha256"]))

    @cached_property
    def contexts(self) -> list[Context]:
        """The `N` contexts, in row order."""
        return [context for shard in self._shards for context in shard.contexts]

    @cached_property
    def counts(self) -> np.ndarray:
        """(N,) candidates present in each row, gold included."""
        return self.gather("counts", np.arange(self.n_rows)).astype(np.int64)

    @cached_property
    def groups(self) -> np.ndarray:
        """(N,) group numbers: equal for rows that no split should part.

        Those of one video, and those that share a sentence, or a text that is gold in the one and a negative in the
        other; as far as no group grows beyond a tenth of the rows by that.
        """
        if "groups" in self.tables:
            return self.gather("groups", np.arange(self.n_rows)).astype(np.int64)
        return joined_by_sentence(self.contexts).groups

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables at hand."""
        return tuple(self.manifest["tables"])

    @property
    def lazy_features(self) -> tuple[str, ...]:
        """The features that are NaN until they are first asked for."""
        return tuple(self.manifest.get("lazy_features", ()))

    def missing_features(self) -> np.ndarray:
        """(N,) whether any feature of the row is still to be computed."""
        return np.concatenate([np.isnan(shard.load("features")).any(axis=(1, 2)) for shard in self._shards])

    @cached_property
    def identity(self) -> str:
        """Hex SHA-256 of what the pool holds, the same in memory and on disk."""
        if self.path is None:
            return pool_identity(self.vocabulary.sha256, [shard.content_hash() for shard in self._shards])
        return pool_identity(self.manifest["vocabulary_sha256"], [entry["sha256"] for entry in self.manifest["shards"]])

    def require(self, *tables: str) -> None:
        """Raise InputError when a table is missing, saying what adds it; `tags` are those of the word types."""
        have = self.tables if "tags" not in tables or self.vocabulary.tags is None else (*self.tables, "tags")
        missing = [name for name in tables if name not in have]
        if missing:
            where, folder = (self.path, self.path) if self.path else ("this pool", "POOL")
            adds = {
                "features": f"`swag-af features {folder} --lms LMS` adds it",
                "tags": f"`swag-af tag {folder}` adds them",
            }
            saying = ", and ".join(adds.get(name, "make the pool again") for name in missing)
            what = "no part-of-speech tags" if missing == ["tags"] else f"no table {', '.join(missing)}"
            more = "" if self.path else " to a pool that was saved"
            raise InputError(f"{where}: {what}. {saying}{more}; or choose a filter that does without.")

    def gather(self, table: str, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """`table[rows]`, or `table[rows[:, None], columns]` with `columns` (n, m); reads those entries alone.

        Features that were left for later are computed and kept on the way.
        """
        self.require(table)
        values = self._gather(table, rows, columns)
        if table == "features" and self.lazy_features:
            missing = np.isnan(values).any(axis=2)  # (n, m)
            if missing.any():
                at, candidate = np.nonzero(missing)
                self._fill(rows[at], candidate if columns is None else columns[at, candidate])
                values = self._gather(table, rows, columns)
        return values

    def _gather(self, table: str, rows: np.ndarray, columns: np.ndarray | None) -> np.ndarray:
        shard_of = np.searchsorted(self._offsets, rows, side="right") - 1
        used = np.unique(shard_of) if len(rows) else np.zeros(1, np.int64)
        if len(used) == 1:
            return self._shards[used[0]].gather(table, rows - self._offsets[used[0]], columns)
        out: np.ndarray | None = None
        for i in used:
            here = shard_of == i
            values = self._shards[i].gather(
                table, rows[here] - self._offsets[i], None if columns is None else columns[here]
            )
            if out is None:
                out = np.empty((len(rows), *values.shape[1:]), values.dtype)
            out[here] = values
        assert out is not None
        return out

    def _fill(self, rows: np.ndarray, columns: np.ndarray) -> None:
        """Compute the lazy features of candidates `columns` (P,) of `rows` (P,) and write them into the table."""
        if self.filler is None:
            raise InputError(
                f"{self.path}: features {', '.join(self.lazy_features)} are computed on demand, which `swag-af filter` "
                f"does. To have them all at once: `swag-af features {self.path}`."
            )
        pairs = np.unique(np.stack((rows, columns), axis=1), axis=0)  # (P', 2)
        values = self.filler(self, pairs[:, 0], pairs[:, 1])
        which = [FEATURES.index(name) for name in self.lazy_features]
        shard_of = np.searchsorted(self._offsets, pairs[:, 0], side="right") - 1
        for i in np.unique(shard_of):
            here = shard_of == i
            at = pairs[here] - [self._offsets[i], 0]
            self._shards[i].write("features", at[:, 0], at[:, 1], which, values[here])

    def view(self, rows: np.ndarray, columns: np.ndarray) -> "View":
        """The candidates `columns` (n, m) of `rows` (n,), read table by table as they are asked for."""
        return View(self, np.asarray(rows), np.asarray(columns))

    def text(self, row: int, column: int) -> str:
        """The ending that candidate `column` of `row` stands for."""
        shard = int(np.searchsorted(self._offsets, row, side="right")) - 1
        own = self._shards[shard].original_text(row - int(self._offsets[shard]), column)
        if own is not None:
            return own
        rows, columns = np.array([row]), np.array([[column]])
        return self.vocabulary.text(self.gather("tokens", rows, columns)[0, 0].tolist())

    def texts(self, assignment: np.ndarray) -> list[list[str]]:
        """The endings of an assignment (N, A), gold first in every row."""
        return [[self.text(row, int(column)) for column in columns] for row, columns in enumerate(assignment)]

    def with_table(self, name: str, changes: Mapping[str, Any]) -> "CandidatePool":
        """The pool on disk with one more table, see `with_tables`."""
        return self.with_tables([*self.tables, name], changes)

    def with_tables(self, tables: Sequence[str], changes: Mapping[str, Any]) -> "CandidatePool":
        """The pool on disk with these tables, whose files stand in its shards already; `changes` to its manifest.

        Other tables make it another pool. Killed before the end, it stays the old one.
        """
        assert self.path is not None
        entries = self.shard_entries(tables)
        write_json(self.path / MANIFEST, {**self.manifest, **changes, "tables": list(tables), "shards": entries})
        return CandidatePool.open(self.path)

    def shard_entries(self, tables: Sequence[str]) -> list[dict[str, Any]]:
        """What the manifest says of the shards of a pool on disk that has these tables."""
        assert self.path is not None
        entries = []
        for entry in self.manifest["shards"]:
            shard = Shard(int(entry["n_rows"]), self.path / SHARDS / entry["name"])
            sha256 = shard_hash(shard.contexts, {table: shard.load(table) for table in tables})
            entries.append({**entry, "sha256": sha256})
        return entries

    def save(self, path: Path | str, *, force: bool = False) -> "CandidatePool":
        """Write the pool to folder `path` and return it as opened from there.

        Raises InputError when something stands there, unless `force` is given and it is a pool.
        """
        path = Path(path)
        check_output(path, force=force)
        if path.exists():
            read_manifest(path, "pool")
        with replacing(path) as temporary:
            entries = [
                write_shard(temporary, number, shard.contexts, {name: shard.load(name) for name in self.tables})
                for number, shard in enumerate(self._shards)
            ]
            made_by = {name: value for name, value in self.manifest.items() if name not in _OWN_KEYS}
            if self.path is not None and "lms_path" in made_by:  # relative to the pool
                made_by["lms_path"] = os.path.relpath((self.path / made_by["lms_path"]).resolve(), path.resolve())
            finish_pool(temporary, self.vocabulary, entries, made_by)
        return CandidatePool.open(path)


_OWN_KEYS = ("format", "kind", "complete", "n_rows", "n_candidates", "tables", "vocabulary_sha256", "shards")


class Shard:
    """Consecutive rows of a pool: a folder on disk, or arrays in memory."""

    def __init__(
        self,
        n_rows: int,
        path: Path | None,
        arrays: Mapping[str, np.ndarray] | None = None,
        contexts: list[Context] | None = None,
    ):
        self.n_rows = n_rows
        self.path = path
        self._arrays: dict[str, np.ndarray] = dict(arrays or {})
        self._contexts = contexts

    @cached_property
    def contexts(self) -> list[Context]:
        """The contexts of these rows."""
        if self._contexts is not None:
            return self._contexts
        assert self.path is not None
        return [Context(**record) for _, record in read_jsonl(self.path / "contexts.jsonl")]

    def load(self, table: str) -> np.ndarray:
        """The memory-mapped table of these rows."""
        if table not in self._arrays:
            assert self.path is not None
            file = self.path / f"{table}.npy"
            try:
                array = np.load(file, mmap_mode="r", allow_pickle=False)
                if table != "text" and array.shape[:1] != (self.n_rows,):
                    raise ValueError(f"shape {array.shape} for {self.n_rows} rows")
                self._arrays[table] = array
            except (FileNotFoundError, EOFError, ValueError) as error:
                raise FormatError(f"{file}: missing or damaged ({error}). Make the pool again.") from None
        return self._arrays[table]

    def gather(self, table: str, rows: np.ndarray, columns: np.ndarray | None) -> np.ndarray:
        """Copies of the entries asked for."""
        array = self.load(table)
        return np.asarray(array[rows] if columns is None else array[rows[:, None], columns])

    def write(self, table: str, rows: np.ndarray, columns: np.ndarray, which: list[int], values: np.ndarray) -> None:
        """`table[rows, columns, which] = values` (P, f) in the file; what a kill leaves unwritten stays as it was."""
        assert self.path is not None
        array = np.load(self.path / f"{table}.npy", mmap_mode="r+", allow_pickle=False)
        array[rows[:, None], columns[:, None], which] = values
        array.flush()

    def original_text(self, row: int, column: int) -> str | None:
        """The text as its owner wrote it, None when the tokens are all there is."""
        if "text_ends" not in self._arrays and (self.path is None or not (self.path / "text_ends.npy").exists()):
            return None
        ends = self.load("text_ends")
        at = row * ends.shape[1] + column
        begin = int(ends.reshape(-1)[at - 1]) if at else 0
        return self.load("text")[begin : int(ends[row, column])].tobytes().decode("utf-8")

    def content_hash(self) -> str:
        """As `shard_hash`, for rows in memory."""
        return shard_hash(self.contexts, self._arrays)


class View:
    """`n` rows x `m` candidates of a pool, what a filter fits on and scores. Tables are read when first used.

    Letters: `n` rows, `m` candidates a row, `L` tokens an ending, `S` tokens a start, `F` features.
    """

    def __init__(self, pool: CandidatePool, rows: np.ndarray, columns: np.ndarray):
        if columns.ndim != 2 or rows.shape != columns.shape[:1]:
            raise InputError(f"a view takes rows (n,) and columns (n, m), not {rows.shape} and {columns.shape}.")
        self.pool = pool
        self.rows = rows
        self.columns = columns

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def shape(self) -> tuple[int, int]:
        """`(n, m)`."""
        return self.columns.shape[0], self.columns.shape[1]

    @property
    def vocabulary(self) -> Vocabulary:
        """The token types behind `tokens` and `starts`."""
        return self.pool.vocabulary

    @cached_property
    def tokens(self) -> np.ndarray:
        """(n, m, L) token ids of the endings, 0 beyond each length."""
        return self.pool.gather("tokens", self.rows, self.columns)

    @cached_property
    def lengths(self) -> np.ndarray:
        """(n, m) tokens in each ending."""
        return self.pool.gather("lengths", self.rows, self.columns).astype(np.int64)

    @cached_property
    def starts(self) -> np.ndarray:
        """(n, S) token ids of the starts, 0 beyond each length."""
        return self.pool.gather("starts", self.rows)

    @cached_property
    def start_lengths(self) -> np.ndarray:
        """(n,) tokens in each start."""
        return self.pool.gather("start_lengths", self.rows).astype(np.int64)

    @cached_property
    def tags(self) -> np.ndarray:
        """(n, m, L) codes of the endings' tags in context, 0 beyond each length; only where the pool has the table."""
        return self.pool.gather("tags", self.rows, self.columns)

    @cached_property
    def start_tags(self) -> np.ndarray:
        """(n, S) codes of the starts' tags, likewise."""
        return self.pool.gather("start_tags", self.rows)

    @cached_property
    def features(self) -> np.ndarray:
        """(n, m, F) float32 features; raises InputError when one of them is not finite."""
        features = self.pool.gather("features", self.rows, self.columns)
        check_finite(features, f"{self.pool.path or 'this pool'}", rows=self.rows)
        return features

    @cached_property
    def groups(self) -> np.ndarray:
        """(n,) numbers that are equal for rows that no split should part (`CandidatePool.groups`)."""
        return self.pool.groups[self.rows]

    @cached_property
    def contexts(self) -> list[Context]:
        """The n contexts."""
        return [self.pool.contexts[row] for row in self.rows]

    @cached_property
    def texts(self) -> list[list[str]]:
        """n lists of m endings."""
        return [
            [self.pool.text(int(row), int(column)) for column in columns]
            for row, columns in zip(self.rows, self.columns, strict=True)
        ]

    def take(self, index: np.ndarray) -> "View":
        """The view of the rows at positions `index`."""
        return View(self.pool, self.rows[index], self.columns[index])

    def permute(self, order: np.ndarray) -> "View":
        """The same rows with their candidates in another order; `order` is (n, m)."""
        return View(self.pool, self.rows, np.take_along_axis(self.columns, order, axis=1))


def shard_path(folder: Path, number: int) -> Path:
    """Where shard `number` of the pool in `folder` stands."""
    return folder / SHARDS / f"{number:05d}"


def write_shard(
    folder: Path,
    number: int,
    contexts: Sequence[Context],
    tables: Mapping[str, np.ndarray],
    *,
    notes: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write shard `number` of the pool in `folder`, whole or not at all; returns what its `shard.json` says.

    `notes` are added to it.
    """
    path = shard_path(folder, number)
    with replacing(path) as temporary:
        temporary.mkdir(parents=True)
        write_jsonl(temporary / "contexts.jsonl", (asdict(context) for context in contexts))
        for table, array in tables.items():
            write_array(temporary / f"{table}.npy", array)
        entry = {"name": path.name, "n_rows": len(contexts), "sha256": shard_hash(contexts, tables)}
        entry |= {
            "tables": list(tables),
            "n_candidates": tables["tokens"].shape[1],
            **(notes or {}),
        }
        write_json(temporary / "shard.json", entry)
    return entry


def shard_hash(contexts: Sequence[Context], tables: Mapping[str, np.ndarray]) -> str:
    """Hex SHA-256 of contexts and tables: names, types, shapes and values."""
    found = {
        name: [array.dtype.str, list(array.shape), hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()]
        for name, array in tables.items()
    }
    return sha256_json([[asdict(context) for context in contexts], found])


def pool_identity(vocabulary_sha256: str, shards_sha256: Sequence[str]) -> str:
    """Hex SHA-256 over the hashes of what makes a pool."""
    return sha256_json([vocabulary_sha256, list(shards_sha256)])


def read_shard_entry(folder: Path, number: int) -> dict[str, Any] | None:
    """What `shard.json` of shard `number` says; None while the shard is still to be made."""
    path = shard_path(folder, number) / "shard.json"
    return read_json(path) if path.exists() else None


def finish_pool(
    folder: Path, vocabulary: Vocabulary, entries: Sequence[Mapping[str, Any]], made_by: Mapping[str, Any]
) -> None:
    """Write the vocabulary and the manifest that makes the shards a pool."""
    remove_leftovers(folder / SHARDS)
    vocabulary.save(folder / VOCABULARY)
    write_manifest(
        folder,
        "pool",
        {
            "complete": True,
            "n_rows": sum(int(entry["n_rows"]) for entry in entries),
            "n_candidates": entries[0]["n_candidates"],
            "tables": entries[0]["tables"],
            "vocabulary_sha256": vocabulary.sha256,
            "shards": [{key: entry[key] for key in ("name", "n_rows", "sha256")} for entry in entries],
            **made_by,
        },
    )


VOCABULARY = "vocabulary.tsv"
NEXT_VOCABULARY = "vocabulary.next.tsv"


def vocabulary_path(folder: Path, sha256: str) -> Path:
    """The vocabulary of the pool in `folder` whose manifest has this hash.

    `replace_vocabulary` writes the next one beside the old, then the manifest, then moves it into place. Killed before
    the last step, the next one is the pool's; killed before the second, the old one still is.
    """
    following = folder / NEXT_VOCABULARY
    return following if following.exists() and sha256_file(following) == sha256 else folder / VOCABULARY


def replace_vocabulary(folder: Path, vocabulary: Vocabulary, changes: Mapping[str, Any]) -> None:
    """Give the pool in `folder` another vocabulary, and make `changes` to its manifest; both or neither.

    `vocabulary` must have the token types of the old one: the tables hold their ids.
    """
    manifest = read_manifest(folder, "pool")
    standing = vocabulary_path(folder, manifest["vocabulary_sha256"])
    if standing.name == NEXT_VOCABULARY:  # killed before the last step of the change before this one
        os.replace(standing, folder / VOCABULARY)
    vocabulary.save(folder / NEXT_VOCABULARY)
    write_json(folder / MANIFEST, manifest | {"vocabulary_sha256": vocabulary.sha256} | dict(changes))
    os.replace(folder / NEXT_VOCABULARY, folder / VOCABULARY)


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


def _pool_from_texts(
    contexts: Sequence[Context],
    negatives: Sequence[Sequence[str]],
    features: Sequence[np.ndarray] | None,
    tagger: str,
    flag: Flag | None,
    normalise: bool,
) -> CandidatePool:
    if len(contexts) != len(negatives) or not contexts:
        raise InputError(
            f"{len(contexts)} contexts and {len(negatives)} lists of negatives: give one list a context, and "
            "at least one."
        )
    if features is not None and len(features) != len(contexts):
        raise InputError(f"features: {len(features)} arrays for {len(contexts)} rows. Give one a row.")
    named = load_tagger(tagger) if tagger != NO_TAGGER else None
    maker, rows = RowMaker(flag, normalise=normalise), []
    faults = Faults("texts", "Mend those rows, or leave them out.")
    for i, (context, row) in enumerate(zip(contexts, negatives, strict=True)):
        try:
            rows.append(maker.make(i, context, row, None if features is None else features[i]))
        except RowError as fault:
            faults.add(f"row {i}", fault)
    faults.check()
    blocks: list[Block] = []
    met: dict[str, int] = {}
    keys = RowKeys()
    vocabulary = build_vocabulary(fill_blocks(keys.noted(rows), met, blocks.append), min_count=1)
    sizes = reduce(or_, (block.sizes for block in blocks))
    ids, shared = final_ids(met, vocabulary), sharing(keys, blocks)
    groups = np.split(shared.groups, np.cumsum([len(block) for block in blocks])[:-1])
    tables = [
        block.tables(0, len(block), ids, vocabulary, sizes) | {"groups": mine}
        for block, mine in zip(blocks, groups, strict=True)
    ]
    shards = [Shard(len(block), None, made, block.contexts) for block, made in zip(blocks, tables, strict=True)]
    manifest = {
        "n_candidates": sizes.n_candidates,
        "tables": list(tables[0]),
        "tagger": named.name if named else NO_TAGGER,
        "dropped_negatives": maker.dropped_negatives(),
        "shared_texts": shared.counts,
        "surface": maker.surface.records(),
        "made_by": {"function": "CandidatePool.from_texts", "normalise": normalise},
    }
    return CandidatePool(manifest, tagged(vocabulary, named), shards, None)


def tagged(vocabulary: Vocabulary, tagger: Tagger | None) -> Vocabulary:
    """`vocabulary` with the tags that `tagger` gives its word types; without any for None."""
    if tagger is None:
        return replace(vocabulary, tags=None)
    return vocabulary.with_tags(tag_word_types(vocabulary.spellings, tagger))


def check_finite(features: np.ndarray, where: str, *, rows: np.ndarray | None = None) -> None:
    """Raise InputError naming the first row with a NaN or an infinity in (n, m, F); `rows` (n,) are their numbers."""
    bad = np.flatnonzero(~np.isfinite(features).all(axis=(1, 2)))
    if len(bad):
        first = bad[0] if rows is None else rows[bad[0]]
        raise InputError(
            f"{where}: {len(bad)} rows hold NaN or infinity among their features (first: row {first}). Leave those "
            "rows out or mend their values."
        )
