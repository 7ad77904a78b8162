"""The pool: every context with its candidates, as a folder of memory-mapped tables.

A pool of `N` rows has `K` candidates in each row, gold first; `folder` describes its files. Opening a pool reads the
manifest and no table. This module neither samples candidates nor chooses among them.
"""

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.context import Context
from swag_af.data.disk.files import write_array, write_json
from swag_af.data.disk.manifests import MANIFEST, check_replaceable, read_manifest, sha256_json
from swag_af.data.disk.records import PoolManifest, check_record
from swag_af.data.disk.replacing import replacing
from swag_af.data.disk.urls import command, is_url, link
from swag_af.data.errors import FormatError, InputError, as_path, check_whole, several
from swag_af.data.plugins.registry import Registry
from swag_af.data.pool.assignments import check_candidates
from swag_af.data.pool.folder import (
    FEATURES,
    GUARD_TABLES,
    SHARDS,
    Limits,
    Maps,
    Shard,
    check_finite,
    finish_pool,
    guarded_hashes,
    numbered_features,
    pool_identity,
    shard_hashes,
    vocabulary_path,
    with_feature_names,
    write_shard,
)
from swag_af.data.pool.listing import Contexts
from swag_af.data.pool.view import View
from swag_af.data.vocabulary import Vocabulary
from swag_af.data.work.progress import progress

Filler = Callable[["CandidatePool", np.ndarray, np.ndarray], np.ndarray]
"""`filler(pool, rows, columns)`: the lazy features, (P, f) in the order of `pool.lazy_features`, of the P candidates
`columns` (P,) of `rows` (P,)."""


FEATURE_READERS = Registry("feature reader", {"lstm": "swag_af.lm.lstm.lazy:with_features"})
"""By the generator of a pool: the function that enables a pool to compute the features that it lacks."""


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
        self._maps = Maps()
        self._add_shards(shards)
        self.n_candidates = int(self.manifest["n_candidates"])
        self._has_checked_features = False
        self.filler: Filler | None = None
        """Computes the `lazy_features` when they are first used."""

    def _add_shards(self, shards: Sequence["Shard"]) -> None:
        self._shards = list(shards)
        self._offsets = np.cumsum([0, *(shard.n_rows for shard in self._shards)])
        self.n_rows = int(self._offsets[-1])

    def _limits(self) -> Limits:
        """What the values in the tables must respect."""
        return Limits(self.n_rows, self.n_candidates, len(self.vocabulary))

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return f"CandidatePool({self.n_rows} rows x {self.n_candidates} candidates, tables: {', '.join(self.tables)})"

    @classmethod
    def open(cls, path: Path | str) -> "CandidatePool":
        """The pool in folder `path`; raises FormatError when it is unfinished, damaged or of another format."""
        path = as_path("pool", path)
        manifest = read_manifest(path, "pool")
        if not manifest.get("complete"):
            done = len(list((path / SHARDS).glob("[0-9]*")))
            raise FormatError(
                f"{path}: this pool is unfinished ({done} shards so far). Run the `swag-af generate` that "
                "began it again; it goes on from there."
            )
        check_record(manifest, PoolManifest, path / MANIFEST, "Make the pool again.")
        pool = cls(manifest, None, [], path)
        pool._add_shards(
            [
                Shard(entry["n_rows"], path / SHARDS / entry["name"], limits=pool._limits, maps=pool._maps)
                for entry in manifest["shards"]
            ]
        )
        if len(pool) != manifest["n_rows"]:
            raise FormatError(
                f"{path / MANIFEST}: n_rows: {manifest['n_rows']}, and the shards have {len(pool)}. Make the pool "
                "again."
            )
        return pool

    @classmethod
    def from_texts(
        cls,
        contexts: Sequence[Context],
        negatives: Sequence[Sequence[str]],
        *,
        features: Sequence[np.ndarray] | None = None,
        feature_names: Sequence[str] | None = None,
        tagger: str = "auto",
        flag: Callable[[Context, str], bool] | None = None,
        normalise: bool = False,
    ) -> "CandidatePool":
        """A pool in memory from your own texts; row `i` has `contexts[i].gold`, then `negatives[i]`.

        Rows may have different numbers of negatives. Left out and counted by reason in `manifest["dropped_negatives"]`:
        blank negatives, those with the words of gold or of an earlier negative (see
        `swag_af.data.text.wording.comparable`), and those for which `flag(context, negative)` is true. `features`, if
        given, has one (1 + len(negatives[i]), F) array for each row, gold first, finite; F is your choice, the same in
        every row, and `feature_names` are the names of the F columns (numbered if not given). `tagger` is a name that
        `swag_af.data.tags.load_tagger` knows, or `none`. Raises InputError that names the rows which cannot be used,
        such as those without negatives. For files of any size use `swag-af pool`.

        Where negatives are golds of other rows, or more than a tenth of the rows share a sentence so common that splits
        part them, a SharedTextWarning says so (`swag_af.data.pool.sharing`). Where surface form reveals gold
        (`swag_af.data.text.surface`), a SurfaceWarning says so, and `manifest["surface"]` how much. `normalise` gives
        gold and negatives one form (`swag_af.data.text.normalise`), before anything compares them; they are then shown
        through the vocabulary.
        """
        from swag_af.data.pool.assembly import parts_from_texts

        pool = cls(*parts_from_texts(contexts, negatives, features, feature_names, tagger, flag, normalise), None)
        pool._warn_of_surface(normalised=normalise)
        return pool

    @classmethod
    def from_grouped_texts(
        cls, contexts: Sequence[Context], negatives: Sequence[Sequence[str]], groups: np.ndarray
    ) -> "CandidatePool":
        """A pool in memory as of `from_texts`, whose rows are in `groups` (N,) and in no others.

        `groups` are numbers, from 0, of rows that no split may separate.
        """
        from swag_af.data.pool.assembly import parts_from_texts

        pool = cls(*parts_from_texts(contexts, negatives, None, None, "auto", None, False, groups), None)
        pool._warn_of_surface(normalised=False)
        return pool

    def _warn_of_surface(self, *, normalised: bool) -> None:
        """To whoever made the pool from texts: a SurfaceWarning where surface form reveals gold, a SharedTextWarning
        where negatives are golds of rows that splits part from theirs, where splits part many rows that share a
        sentence, and where many negatives stand in several rows."""
        from swag_af.data.pool.sharing import SharedTextWarning, n_parted, repeated_line
        from swag_af.data.text.lengths import warning_lines
        from swag_af.data.text.surface import SurfaceWarning

        if self.manifest["surface"]:
            told = warning_lines(self.manifest["surface"], normalised=normalised)
            warnings.warn(" ".join(told), SurfaceWarning, stacklevel=3)
        shared = self.manifest.get("shared_texts", {})
        if (n := shared.get("n_golds_among_negatives", 0)) and not shared.get("kept_together"):
            warnings.warn(
                f"{several(n, 'negative is', 'negatives are')} the gold of another row, and splits part such rows. A "
                "filter that has met a gold as a negative avoids it, so accuracies below chance mean nothing good.",
                SharedTextWarning,
                stacklevel=3,
            )
        if shared.get("n_rows_apart_by_sentence") and (n := n_parted(self.contexts, self.groups)) > len(self) / 10:
            warnings.warn(
                f"{n:,} of {len(self):,} rows share a sentence, and so many that splits part them: what a filter finds "
                "may be what it has met. Where these are questions about one passage, name it: "
                "Context(..., video=...).",
                SharedTextWarning,
                stacklevel=3,
            )
        if line := repeated_line(shared):
            warnings.warn(line, SharedTextWarning, stacklevel=3)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The token types behind the `tokens` table."""
        if self._vocabulary is not None:
            return self._vocabulary
        assert self.path is not None
        sha256 = self.manifest["vocabulary_sha256"]
        return Vocabulary.load(vocabulary_path(self.path, sha256), sha256)

    @cached_property
    def contexts(self) -> Contexts:
        """The `N` contexts, in row order; few are in memory."""
        return Contexts(self._shards)

    @cached_property
    def counts(self) -> np.ndarray:
        """(N,) candidates present in each row, gold included. Read-only."""
        return _fixed(self.gather("counts", np.arange(self.n_rows)).astype(np.int64))

    def flagged(self, rows: np.ndarray) -> np.ndarray:
        """(n, K) whether each candidate of `rows` (n,) may be in no assignment; none where the pool was not guarded."""
        if "flagged" not in self.tables:
            return np.zeros((len(rows), self.n_candidates), bool)
        return self.gather("flagged", rows)

    def kept_out(self, *, ignore_guard: bool) -> np.ndarray | None:
        """(N, K) whether each candidate may be in no assignment; None where no guard is asked, or has been there."""
        if ignore_guard or "flagged" not in self.tables:
            return None
        return self.flagged(np.arange(self.n_rows))

    @cached_property
    def n_eligible(self) -> np.ndarray:
        """(N,) candidates of each row that an assignment may have, gold included. Read-only."""
        return _fixed(self.counts - self.flagged(np.arange(self.n_rows)).sum(axis=1))

    @cached_property
    def groups(self) -> np.ndarray:
        """(N,) group numbers: equal for rows that no split should separate. Read-only.

        Rows of one video, and rows that share a sentence, or a text that is gold in one and a negative in the other,
        unless that would make a group of more than a tenth of the rows.
        """
        if "groups" in self.tables:
            return _fixed(self.gather("groups", np.arange(self.n_rows)).astype(np.int64))
        from swag_af.data.captions.context_set import joined_by_sentence

        return _fixed(joined_by_sentence(self.contexts).groups)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables that the pool has."""
        return tuple(self.manifest["tables"])

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the F columns of the `features` table, in order; none without the table.

        For pools made before names were recorded: `FEATURES`, or numbered names where the features came with the texts.
        """
        if "features" not in self.tables:
            return ()
        if "feature_names" in self.manifest:
            return tuple(self.manifest["feature_names"])
        is_of_texts = "dropped_negatives" in self.manifest and "features_by" not in self.manifest
        n = self._shards[0].load("features").shape[2]
        return numbered_features(n) if is_of_texts or n != len(FEATURES) else FEATURES

    @property
    def features_told(self) -> str:
        """Who gave the likelihoods, where somebody else did than made the candidates: a sentence for people."""
        by = self.manifest.get("features_by", {})
        if "features" not in self.tables or "scorer" not in by or "columns" not in by:
            return ""
        who = f"{by['scorer']} ({by['model']})" if "model" in by else str(by["scorer"])
        foreign = ", a foreign model, which may have read these texts" if by.get("foreign", True) else ""
        lacking = [name for name in FEATURES[:5] if name not in by["columns"]]
        cannot = f" It cannot give {', '.join(lacking)}." if lacking else ""
        return f"Likelihoods by {who}{foreign}.{cannot}"

    @property
    def lazy_features(self) -> tuple[str, ...]:
        """The features that are NaN until they are first used."""
        return tuple(self.manifest.get("lazy_features", ()))

    @property
    def lazy_columns(self) -> tuple[int, ...]:
        """Where they stand in the `features` table."""
        return tuple(self.feature_names.index(name) for name in self.lazy_features)

    def check_features(self) -> None:
        """Raise InputError unless every feature is finite, or can be computed when it is used.

        Reads the table once; lazy features are not computed.
        """
        if self.lazy_features:
            generator = self.manifest.get("generator", {"name": "lstm"})
            self.filler = self.filler or FEATURE_READERS.find(generator["name"])(self).filler
        elif not self._has_checked_features:
            every, at_once = np.arange(self.n_candidates), 512
            for at in range(0, len(self), at_once):
                rows = np.arange(at, min(at + at_once, len(self)))
                _ = self.view(rows, np.broadcast_to(every, (len(rows), len(every)))).features
            self._has_checked_features = True

    def check_tables(self, tables: Collection[str] | None = None) -> None:
        """Raise FormatError or InputError unless the contexts, the vocabulary and `tables` (None: all) can be used.

        Reads all of them once: before work of hours, a fault is found in minutes. Tables that the pool lacks are no
        fault.
        """
        for _ in self.contexts:  # each line is checked as it is read
            pass
        wanted = [table for table in self.tables if tables is None or table in tables]
        for shard in self._shards:
            for table in wanted:
                shard.load(table)
        if "features" in wanted and not self.lazy_features:
            self.check_features()

    def check_hashes(self) -> None:
        """Raise FormatError unless contexts and tables of every shard on disk have the hash that the manifest gives.

        Reads all of them and hashes them, of which `check_tables` does the first alone. Lazy features are in no hash.
        """
        if self.path is None:
            return
        takes_long = len(self) * self.n_candidates > _CANDIDATES_OF_SECONDS
        with progress("hashes", len(self), "rows") if takes_long else nullcontext(int) as advance:
            for shard, entry in zip(self._shards, self.manifest["shards"], strict=True):
                tables = {table: shard.load(table) for table in self.tables}
                found = shard_hashes(shard.contexts, tables, self.lazy_columns)
                if any(found.get(name) != entry.get(name) for name in ("sha256", "unguarded_sha256")):
                    raise FormatError(
                        f"{shard.path}: damaged (its contexts or tables are not those that {MANIFEST} has the hash "
                        "of). Put a copy of this folder in its place, or make the pool again; of one by `generate`, "
                        "remove this folder, and type its command again."
                    )
                advance(shard.n_rows)

    def missing_features(self) -> np.ndarray:
        """(N,) whether any feature of the row is still to be computed."""
        return np.concatenate([np.isnan(shard.load("features")).any(axis=(1, 2)) for shard in self._shards])

    @cached_property
    def identity(self) -> str:
        """Hex SHA-256 of the content of the pool, the same in memory and on disk."""
        if self.path is None:
            return pool_identity(self.vocabulary.sha256, [shard.content_hash() for shard in self._shards])
        return pool_identity(self.manifest["vocabulary_sha256"], [entry["sha256"] for entry in self.manifest["shards"]])

    @property
    def is_matched(self) -> bool:
        """Whether `swag-af match` made it: its groups are the folds in which golds became negatives of other rows."""
        return (self.manifest.get("made_by") or {}).get("verb") == "match"

    @property
    def is_generated(self) -> bool:
        """Whether `swag-af generate` wrote its negatives; otherwise they are texts of one's own, or golds of others."""
        return "n_draws" in self.manifest or "generator" in self.manifest

    @property
    def unguarded_identity(self) -> str:
        """The identity that the pool has without `GUARD_TABLES`: the same before and after `swag-af guard`."""
        if "flagged" not in self.tables or self.path is None:
            return self.identity
        hashes = [entry.get("unguarded_sha256") for entry in self.manifest["shards"]]
        if None in hashes:
            raise FormatError(f"{self.path / MANIFEST}: shards: unguarded_sha256 is missing. Make the pool again.")
        return pool_identity(self.manifest["vocabulary_sha256"], hashes)

    @cached_property
    def secret(self) -> str:
        """A hash of the content without `GUARD_TABLES` that, unlike the identity, stands in nothing that is published:
        by it is drawn what nobody may foretell (`swag_af.data.secrets`)."""
        if self.path is None:
            hashes = [shard.content_hash() for shard in self._shards]
        else:
            hashes = [entry.get("unguarded_sha256", entry["sha256"]) for entry in self.manifest["shards"]]
        return sha256_json(["secret", *hashes])

    def require(self, *tables: str) -> None:
        """Raise InputError when a table is missing, saying what adds it; `tags` may be those of the word types."""
        have = self.tables if "tags" not in tables or self.vocabulary.tags is None else (*self.tables, "tags")
        missing = [name for name in tables if name not in have]
        if missing:
            where, folder = (self.path, self.path) if self.path else ("this pool", "POOL")
            adds = {
                "features": f"`{command('features', folder, '--lms', 'LMS')}` adds it, or --scorer hf[MODEL]",
                "tags": f"`{command('tag', folder)}` adds them",
            }
            saying = ", and ".join(adds.get(name, "make the pool again") for name in missing)
            what = "no part-of-speech tags" if missing == ["tags"] else f"no table {', '.join(missing)}"
            more = "" if self.path else " to a pool that was saved"
            raise InputError(f"{where}: {what}. {saying}{more}; or choose filters that do without, such as ngrams.")

    def gather(self, table: str, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """`table[rows]`, or `table[rows[:, None], columns]` with `columns` (n, m); reads those entries alone.

        Lazy features are computed and stored first.
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

    def feature(self, name: str, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """(n, m) the feature called `name` of the candidates `columns` (n, m) of `rows` (n,).

        Others, which may have been left for later, are not computed. InputError where the pool has no such feature.
        """
        self.require("features")
        if name not in self.feature_names:
            raise InputError(
                f"{self.path or 'this pool'}: no feature {name!r} among its {', '.join(self.feature_names)}."
            )
        read = self.gather if name in self.lazy_features else self._gather
        values = read("features", rows, columns)[:, :, [self.feature_names.index(name)]]
        check_finite(values, f"{self.path or 'this pool'}", rows=rows)
        return values[:, :, 0]

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
                f"does. To have them all at once: `{command('features', self.path)}`."
            )
        pairs = np.unique(np.stack((rows, columns), axis=1), axis=0)  # (P', 2)
        values = self.filler(self, pairs[:, 0], pairs[:, 1])
        which = list(self.lazy_columns)
        shard_of = np.searchsorted(self._offsets, pairs[:, 0], side="right") - 1
        for i in np.unique(shard_of):
            here = shard_of == i
            at = pairs[here] - [self._offsets[i], 0]
            self._shards[i].write("features", at[:, 0], at[:, 1], which, values[here])

    def view(self, rows: np.ndarray, columns: np.ndarray) -> View:
        """The candidates `columns` (n, m) of `rows` (n,); each table is read when it is first used."""
        return View(self, np.asarray(rows), np.asarray(columns))

    def text(self, row: int, column: int) -> str:
        """The text of candidate `column` of `row`, both from 0; InputError where there is none."""
        check_whole(row=row, candidate=column)
        if not 0 <= row < len(self):
            raise InputError(f"row {row}: the pool has {len(self):,}, from 0.")
        if not 0 <= column < self.counts[row]:
            raise InputError(f"candidate {column} of row {row}: it has {self.counts[row]:,}, from 0, which is gold.")
        shard = int(np.searchsorted(self._offsets, row, side="right")) - 1
        own = self._shards[shard].original_text(row - int(self._offsets[shard]), column)
        if own:
            return own
        rows, columns = np.array([row]), np.array([[column]])
        return self.vocabulary.text(self.gather("tokens", rows, columns)[0, 0].tolist())

    def texts(self, assignment: np.ndarray) -> list[list[str]]:
        """The endings of an assignment (N, A), gold first; InputError where a row has no such candidate, and for more
        or fewer rows, of which `texts_of` has the texts."""
        assignment = np.asarray(assignment)
        if assignment.ndim != 2 or len(assignment) != len(self):
            raise InputError(
                f"assignment: of shape {assignment.shape}, where ({len(self)}, A) is due. Of some rows "
                "texts_of(rows, columns) has the texts."
            )
        check_candidates(assignment, self.counts)
        return self.texts_of(np.arange(len(assignment)), assignment)

    def texts_of(self, rows: np.ndarray, columns: np.ndarray) -> list[list[str]]:
        """The texts of candidates `columns` (n, m) of `rows` (n,), by row; empty where a row has fewer. As `text`, for
        many."""
        found: list[list[str]] = [[]] * len(rows)
        rows, columns, m = np.asarray(rows), np.asarray(columns), np.shape(columns)[1]
        if columns.min(initial=0) < 0 or rows.min(initial=0) < 0 or rows.max(initial=0) >= len(self):
            raise InputError(
                f"a row or a candidate that is not there: the pool has {len(self):,} rows; all count from 0."
            )
        is_there = columns < self.counts[rows][:, None]  # (n, m)
        columns = np.where(is_there, columns, 0)
        shard_of = np.searchsorted(self._offsets, rows, side="right") - 1
        for i in np.unique(shard_of):
            here = np.flatnonzero(shard_of == i)
            own = np.repeat(rows[here] - self._offsets[i], m)  # (q,)
            texts = self._shards[i].original_texts(own, columns[here].reshape(-1))
            if not all(texts):
                tokens = self.gather("tokens", rows[here], columns[here])  # (k, m, L)
                made = tokens.reshape(len(own), tokens.shape[2]).tolist()
                texts = [text or self.vocabulary.text(ids) for text, ids in zip(texts, made, strict=True)]
            for k, place in enumerate(here.tolist()):
                found[place] = texts[k * m : (k + 1) * m]
        for i, j in np.argwhere(~is_there).tolist():
            found[i][j] = ""
        return found

    def texts_of_row(self, row: int) -> list[str]:
        """The texts of all candidates of `row`, gold first; InputError where there is no such row."""
        if not 0 <= row < len(self):
            raise InputError(f"row {row}: the pool has {len(self):,}, from 0.")
        return self.texts_of(np.array([row]), np.arange(self.counts[row])[None])[0]

    def with_table(self, name: str, changes: Mapping[str, Any]) -> "CandidatePool":
        """The pool on disk with one more table, see `with_tables`."""
        return self.with_tables([*self.tables, name], changes)

    def with_tables(self, tables: Sequence[str], changes: Mapping[str, Any]) -> "CandidatePool":
        """The pool on disk with these tables, whose files are already in its shards; `changes` go into its manifest.

        Other tables give it another identity. After a kill, it is still the old pool. A new `features` table has the
        columns `FEATURES`, unless `changes` lists other `feature_names`. InputError where another process has changed
        the pool since it was opened.
        """
        assert self.path is not None
        self.check_unchanged()
        entries = self.shard_entries(tables)
        self.check_unchanged()  # once more: hashes of large tables take minutes
        manifest = {**self.manifest, **changes, "tables": list(tables), "shards": entries}
        names = changes.get("feature_names") or self.feature_names or FEATURES
        write_json(self.path / MANIFEST, with_feature_names(manifest, names))
        return CandidatePool.open(self.path)

    def check_unchanged(self) -> None:
        """Raise InputError where the pool on disk is not what was opened: what it has since would be lost."""
        assert self.path is not None
        now = read_manifest(self.path, "pool")
        if any(now.get(name) != self.manifest.get(name) for name in ("tables", "shards", "vocabulary_sha256")):
            raise InputError(
                f"{self.path}: another command has changed this pool meanwhile. What was finished is kept: run the "
                "same command again."
            )

    def with_arrays(self, arrays: Mapping[str, np.ndarray], changes: Mapping[str, Any]) -> "CandidatePool":
        """The pool with the tables `arrays` (N, ...) in memory beside those on disk, and `changes` to its manifest."""
        tables = [*(table for table in self.tables if table not in arrays), *arrays]
        shards = []
        for begin, shard in zip(self._offsets[:-1].tolist(), self._shards, strict=True):
            here = {name: array[begin : begin + shard.n_rows] for name, array in arrays.items()}
            shards.append(Shard(shard.n_rows, shard.path, here, limits=self._limits, maps=self._maps))
        return CandidatePool({**self.manifest, **changes, "tables": tables}, self._vocabulary, shards, self.path)

    def write_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Write the tables `arrays` (N, ...) into the shards on disk; `with_tables` makes them part of the pool."""
        for begin, shard in zip(self._offsets[:-1].tolist(), self._shards, strict=True):
            assert shard.path is not None
            for name, array in arrays.items():
                write_array(shard.path / f"{name}.npy", array[begin : begin + shard.n_rows])

    def shard_entries(self, tables: Sequence[str]) -> list[dict[str, Any]]:
        """The manifest's entries for the shards of a pool on disk with these tables.

        What `GUARD_TABLES` are added to, or taken from, keeps the hash that it had.
        """
        assert self.path is not None
        is_same = set(tables) - set(GUARD_TABLES) == set(self.tables) - set(GUARD_TABLES)
        entries = []
        for entry in self.manifest["shards"]:
            shard = Shard(int(entry["n_rows"]), self.path / SHARDS / entry["name"], limits=self._limits)
            guards = {table: shard.load(table) for table in GUARD_TABLES if table in tables}
            if is_same:
                hashes = guarded_hashes(entry.get("unguarded_sha256", entry["sha256"]), guards)
            else:
                hashes = shard_hashes(shard.contexts, {table: shard.load(table) for table in tables}, self.lazy_columns)
            others = {key: value for key, value in entry.items() if key != "unguarded_sha256"}
            entries.append(others | hashes)
        return entries

    def save(
        self,
        path: Path | str,
        *,
        force: bool = False,
        rows: np.ndarray | None = None,
        changes: Mapping[str, Any] | None = None,
    ) -> "CandidatePool":
        """Write the pool to folder `path` and return it as opened from there.

        With `rows` (n,), rising numbers or a mask (N,), the pool has these alone, and nothing is said of what was
        counted over all; `changes` go into its manifest. Raises InputError for other rows, and when something exists
        there, unless `force` is given and it is a pool.
        """
        path = as_path("path", path)
        rows = None if rows is None else self._chosen(np.asarray(rows))
        check_replaceable(path, "pool", force=force)
        with replacing(path) as temporary:
            entries: list[dict[str, Any]] = []
            for contexts, tables in self._parts(rows):
                entries.append(write_shard(temporary, len(entries), contexts, tables, lazy=self.lazy_columns))
            others = _OWN_KEYS if rows is None else (*_OWN_KEYS, *_OF_ALL_ROWS)
            made_by = {name: value for name, value in self.manifest.items() if name not in others}
            made_by["feature_names"] = list(self.feature_names)
            lms = made_by.get("lms_path", "")
            if self.path is not None and lms and not is_url(lms):  # relative to the pool
                made_by["lms_path"] = link((self.path / lms).resolve(), path)
            finish_pool(temporary, self.vocabulary, entries, made_by | dict(changes or {}))
        return CandidatePool.open(path)

    def _chosen(self, rows: np.ndarray) -> np.ndarray:
        """(n,) the numbers of chosen rows."""
        numbers = np.flatnonzero(rows) if rows.dtype == bool and rows.shape == (len(self),) else rows
        if numbers.ndim != 1 or not len(numbers) or numbers.dtype.kind not in "iu" or (np.diff(numbers) <= 0).any():
            raise InputError(
                f"rows: {rows.dtype} {rows.shape}, where rising numbers are due, or a mask ({len(self)},)."
            )
        if numbers[0] < 0 or numbers[-1] >= len(self):
            raise InputError(f"rows: from {numbers[0]} to {numbers[-1]}; the pool has {len(self):,}, from 0.")
        return numbers

    def _parts(self, rows: np.ndarray | None) -> Iterator[tuple[list[Context], dict[str, np.ndarray]]]:
        """Contexts and tables of every shard; with `rows` (n,), of those rows, and of no shard that has none."""
        numbers = None if rows is None or "groups" not in self.tables else np.unique(self.groups[rows])
        for begin, shard in zip(self._offsets[:-1].tolist(), self._shards, strict=True):
            if rows is None:
                yield shard.contexts, {name: shard.load(name) for name in self.tables}
                continue
            kept = rows[(rows >= begin) & (rows < begin + shard.n_rows)] - begin
            tables = {name: shard.taken(name, kept) for name in self.tables if len(kept)}
            if numbers is not None and tables:
                tables["groups"] = np.searchsorted(numbers, tables["groups"]).astype(tables["groups"].dtype)
            if tables:
                contexts = shard.contexts
                yield [contexts[row] for row in kept.tolist()], tables


_CANDIDATES_OF_SECONDS = 50_000_000
"""So many take more than a few seconds to be hashed, and progress is shown."""

_OF_ALL_ROWS = ("shared_texts", "surface")
"""What is counted over all rows of a pool of texts (`swag_af.data.pool.recount`)."""
_OWN_KEYS = ("format", "kind", "complete", "n_rows", "n_candidates", "tables", "vocabulary_sha256", "shards")


def _fixed(array: np.ndarray) -> np.ndarray:
    """`array`, which is kept and handed out, so that nobody writes into it."""
    array.setflags(write=False)
    return array
