"""Features that are computed for pools as they stand: those left for later, and those of endings made elsewhere.

`generate --features lazy` leaves two columns to be computed for the candidates that a filter asks for, when it does;
the values are those of `--features full`, bit for bit on a CPU, and are kept in the table. A pool of texts has no
such table; `features` adds it.
"""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from swag_af.data.errors import InputError
from swag_af.data.files import MANIFEST, read_manifest, write_array
from swag_af.data.folds import SEEN, FoldMap, Readable
from swag_af.data.pool.folder import FEATURES, SHARDS, check_finite, clear_pool
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.progress import Advance, progress
from swag_af.data.records import LazyPlan, parse_record
from swag_af.data.tokens import tokenize
from swag_af.data.vocabulary import PAD, SPECIAL_TOKENS
from swag_af.lm.lstm.candidates import Readers, load_readers
from swag_af.lm.lstm.checkpoints import fold_path, is_trained, open_vocabulary, trained_folds
from swag_af.lm.lstm.features import Endings, all_features, backward_features
from swag_af.lm.lstm.reader import Reader
from swag_af.lm.options import FeaturesOptions, Precision
from swag_af.nn.device import pick_device
from swag_af.nn.threads import by_threads


def features(options: FeaturesOptions) -> CandidatePool:
    """Compute every feature that is still missing; returns the pool.

    A pool of texts gets its table from the models in `options.lms`, each row from one that has not read its ending, and
    is another pool then: runs begun on it before are refused. Raises InputError for rows that every model has read.
    """
    pool = CandidatePool.open(options.pool)
    if "features" not in pool.tables:
        return _add_features(pool, options.lms)
    pool = with_features(pool, options.lms)
    missing = np.flatnonzero(pool.missing_features()) if pool.lazy_features else np.zeros(0, np.int64)
    with progress("features", len(pool), "contexts", done=len(pool) - len(missing)) as advance:
        for rows in np.array_split(missing, max(1, len(missing) // 16)):
            pool.gather("features", rows)
            advance(len(rows))
    return pool


def with_features(pool: CandidatePool, lms: Path | None = None) -> CandidatePool:
    """`pool` itself, able to compute the features that it lacks, if any were left for later.

    `lms` is the folder of its language models, by default where it was when the pool was made. Raises InputError
    when the models are not there or are others.
    """
    if pool.filler is None and pool.path is not None and pool.lazy_features and pool.missing_features().any():
        pool.filler = _Filler(pool, lms or Path(os.path.normpath(pool.path / pool.manifest["lms_path"])))
    return pool


def _add_features(pool: CandidatePool, lms: Path | None) -> CandidatePool:
    """Write a features table into every shard, then the manifest that lists it."""
    assert pool.path is not None
    clear_pool(pool.path)
    if lms is None:
        raise InputError(
            f"{pool.path}: --lms LMS says which language models are to read it; `swag-af train-lm` makes them."
        )
    pool.check_tables()
    readable, maker = _readable(pool, lms), _TableMaker(pool, lms)
    with progress("features", len(pool), "contexts") as advance:
        first = 0
        for entry in pool.manifest["shards"]:
            rows = np.arange(first, first + entry["n_rows"])
            first += entry["n_rows"]
            table = maker.table(rows, readable.folds[rows], advance)
            write_array(pool.path / SHARDS / entry["name"] / "features.npy", table)
    made_by = {
        "lms": str(lms),
        "corpus": read_manifest(lms, "lm")["corpus_sha256"],
        "n_rows_by_fold": {str(fold): int((readable.folds == fold).sum()) for fold in np.unique(readable.folds)},
        "n_foreign_rows": readable.n_foreign,
    }
    return pool.with_table("features", {"features_by": made_by})


_READ_AT_ONCE = 16
"""Rows that a thread reads together."""


class _TableMaker:
    """Computes the whole features table of a pool of texts."""

    def __init__(self, pool: CandidatePool, lms: Path):
        self.pool = pool
        self.lms = lms
        self.known = open_vocabulary(lms)
        ids = np.array(self.known.ids(pool.vocabulary.tokens))
        ids[: len(SPECIAL_TOKENS)] = np.arange(len(SPECIAL_TOKENS))
        self.ids = ids
        """(V,) of the models, by those of the pool."""
        self.device = pick_device("auto").type

    def table(self, rows: np.ndarray, folds: np.ndarray, advance: Advance) -> np.ndarray:
        """(n, K, F) float32 for `rows` (n,) of the pool, each read by the model of its entry in `folds` (n,)."""
        table = np.zeros((len(rows), self.pool.n_candidates, len(FEATURES)), np.float32)
        for fold in np.unique(folds).tolist():
            precision: Precision = "bf16" if self.device == "cuda" else "fp32"
            readers = load_readers(self.lms, fold, device=self.device, precision=precision)
            mine = np.flatnonzero(folds == fold)
            parts = np.array_split(mine, -(-len(mine) // _READ_AT_ONCE))
            for i, values in by_threads([partial(self._read, own, rows) for own in readers.crew()], parts):
                table[i, : len(values)] = values
                advance(1)
        check_finite(table, str(self.lms), rows=rows)
        return table

    def _read(
        self, readers: Readers, rows: np.ndarray, parts: Iterator[np.ndarray]
    ) -> Iterator[tuple[int, np.ndarray]]:
        for part in parts:
            texts = [self._texts(int(rows[i])) for i in part]
            for item, values in all_features(readers.forward, readers.backward, texts):
                yield int(part[item]), values

    def _texts(self, row: int) -> tuple[list[int], list[int], Endings]:
        pool, known = self.pool, self.known
        context, here = pool.contexts[row], np.array([row])
        sent1, start = known.ids(tokenize(context.sent1)), known.ids(tokenize(context.start))
        columns = np.arange(pool.counts[row])[None]
        tokens, lengths = (pool.gather(name, here, columns)[0] for name in ("tokens", "lengths"))
        return sent1, start, Endings([*sent1, *start], np.where(tokens == PAD, PAD, self.ids[tokens]), lengths)


def _readable(pool: CandidatePool, lms: Path) -> Readable:
    """Which fold's model reads each row; InputError for rows whose endings all models have learnt."""
    folds, trained = FoldMap.load(lms), trained_folds(lms)
    if not trained:
        raise InputError(f"{lms}: no fold is trained. `swag-af train-lm CONTEXTS --out {lms}` trains them.")
    readable = folds.readable(pool.contexts, trained)
    seen = np.flatnonzero(readable.folds == SEEN)
    if len(seen):
        raise InputError(
            f"{pool.path}: the second sentences of {len(seen):,} rows stand in several folds of {lms}, so every model "
            f"has learnt them (first: {pool.contexts[seen[0]].id}). `swag-af pool SOURCE --lms {lms}` makes a pool "
            "without such rows, and counts them."
        )
    untrained = sorted(set(readable.folds.tolist()) - set(trained))
    if untrained:
        raise InputError(
            f"{lms}: {int(np.isin(readable.folds, untrained).sum()):,} rows of {pool.path} may be read by the models "
            f"of folds {' '.join(map(str, untrained))} alone, which are not trained. `swag-af train-lm CONTEXTS --out "
            f"{lms} --folds {' '.join(map(str, untrained))}` trains them."
        )
    return readable


class _Filler:
    """Computes the features of the backward model for single candidates."""

    def __init__(self, pool: CandidatePool, lms: Path):
        self.lms = lms
        assert pool.path is not None
        self.plan = parse_record(pool.manifest.get("plan"), LazyPlan, f"{pool.path / MANIFEST}: plan")
        self.device = pick_device(self.plan["device"]).type
        self.readers: dict[int, Readers] = {}
        self._check_models(pool)
        self._check_folds(pool)

    def _check_models(self, pool: CandidatePool) -> None:
        """The models must be those that sampled the pool."""
        lms = self.lms
        for fold, sha256 in self.plan["lms"].items():
            found = is_trained(lms, int(fold)) and read_manifest(fold_path(lms, int(fold)), "lm-fold")
            if not found or found["weights_sha256"] != sha256:
                problem = "are others" if found else "are not there"
                raise InputError(
                    f"{pool.path}: its features are computed on demand by the language models in {lms}, and those of "
                    f"fold {fold} {problem}. Put them back, or say where they are: "
                    f"`swag-af features {pool.path} --lms FOLDER`."
                )

    def _check_folds(self, pool: CandidatePool) -> None:
        """No row may be read by a model that has learnt its ending."""
        folds = FoldMap.load(self.lms)
        wrong = [context.id for context in pool.contexts if folds.folds_of(context) != (context.fold,)]
        if wrong:
            raise InputError(
                f"{pool.path}: {len(wrong):,} rows would be read by models that have learnt their endings (first: "
                f"{wrong[0]}). Make the pool again with `swag-af generate`, which leaves such rows out."
            )

    def __call__(self, pool: CandidatePool, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """(P, 2) float32 for the candidates `columns` (P,) of `rows` (P,), in the order of `pool.lazy_features`."""
        out = np.empty((len(rows), len(pool.lazy_features)), np.float32)
        folds = np.array([pool.contexts[row].fold for row in rows.tolist()])
        for fold in np.unique(folds).tolist():
            mine = np.flatnonzero(folds == fold)
            mine = mine[np.argsort(rows[mine], kind="stable")]
            items = np.split(mine, np.flatnonzero(np.diff(rows[mine])) + 1)  # positions, one array a row

            works = [partial(self._read, pool, own.backward, rows, columns) for own in self._readers(fold).crew()]
            for item, values in by_threads(works, items):
                out[item] = values
        return out

    def _read(
        self,
        pool: CandidatePool,
        reader: Reader,
        rows: np.ndarray,
        columns: np.ndarray,
        items: Iterator[np.ndarray],
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Each of `items`, positions that share a row, and the features of the candidates there."""
        taken: list[np.ndarray] = []

        def endings() -> Iterator[Endings]:
            for item in items:
                taken.append(item)
                yield self._endings(pool, int(rows[item[0]]), columns[item])

        for i, values in backward_features(reader, endings()):
            yield taken[i], values

    def _endings(self, pool: CandidatePool, row: int, columns: np.ndarray) -> Endings:
        context, here = pool.contexts[row], np.array([row])
        ids = [i for text in (context.sent1, context.start) for i in pool.vocabulary.ids(tokenize(text))]
        tokens, lengths = (pool.gather(name, here, columns[None])[0] for name in ("tokens", "lengths"))
        return Endings(ids, tokens, lengths)

    def _readers(self, fold: int) -> Readers:
        if fold not in self.readers:
            precision = self.plan["output_precision"]
            self.readers[fold] = load_readers(self.lms, fold, device=self.device, precision=precision)
        return self.readers[fold]
