"""Features that are computed for pools as they stand: those left for later, and those of endings made elsewhere.

`generate --features lazy` leaves two columns to be computed for the candidates that a filter asks for, when it does;
the values are those of `--features full`, bit for bit on a CPU, and are kept in the table. A pool of texts has no
such table; `features` adds it.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.disk.manifests import MANIFEST, read_manifest
from swag_af.data.disk.records import LazyPlan, parse_record
from swag_af.data.disk.replacing import changed
from swag_af.data.disk.urls import command, name_of
from swag_af.data.errors import InputError, several
from swag_af.data.folds import FoldMap
from swag_af.data.pool.folder import FEATURES, SHARDS
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.scale import run_blocks
from swag_af.data.stores.opened import followed, mirror_of
from swag_af.data.tokens import tokenize
from swag_af.data.vocabulary import PAD, SPECIAL_TOKENS, UNK, Vocabulary
from swag_af.data.work.locks import alone
from swag_af.data.work.progress import note, progress
from swag_af.lm.lstm.books import MOST_UNKNOWN
from swag_af.lm.lstm.candidates import Readers, load_readers
from swag_af.lm.lstm.checkpoints import check_fold, fold_path, is_trained, open_vocabulary, options_of
from swag_af.lm.lstm.features import Endings, all_features, backward_features
from swag_af.lm.lstm.scorer import LSTMScorer, precision_on, readable_by
from swag_af.lm.lstm.workers import n_workers
from swag_af.lm.options import FeaturesOptions
from swag_af.lm.scorers.table import Block, Plan, add_table, blocks_of, end
from swag_af.nn.device import pick_device
from swag_af.nn.products import multiply
from swag_af.nn.threads import pair, threads


def lstm_features(options: FeaturesOptions) -> CandidatePool:
    """Compute every feature that is still missing by the paper's models; returns the pool.

    A pool of texts gets its table from the models in `options.lms`, each row from one that has not read its ending.
    Raises InputError for rows that every model has read, and while another process is at work on the pool.
    """
    pool = CandidatePool.open(options.pool)
    if "features" not in pool.tables:
        return _add_features(pool, options)
    _check_same_models(pool, options.lms)
    end(options.pool)
    pool = with_features(pool, options.lms)
    if isinstance(pool.filler, _Filler):
        with alone(options.pool / MANIFEST, waits=False, called=options.pool):
            _fill(pool, pool.filler, options)
    return pool


def _fill(pool: CandidatePool, filler: "_Filler", options: FeaturesOptions) -> None:
    """Compute what is missing in the table of a pool on disk."""
    missing = np.flatnonzero(pool.missing_features())
    if options.where.is_remote and mirror_of(options.pool) is not None:
        raise InputError(
            f"{options.pool}: features left for later are written into its tables, which workers elsewhere do not "
            "share. Leave --engine out, or make the pool with --features full."
        )
    blocks = blocks_of(missing, np.array([pool.contexts[row].fold for row in missing.tolist()], np.int64))
    workers = _workers(options, filler.lms, filler.plan["device"], len(missing) * pool.n_candidates)
    with (
        progress("features", len(pool), "contexts", done=len(pool) - len(missing)) as advance,
        run_blocks(_FillJob(options.pool, filler.lms, pool), blocks, workers=workers, engine=options.where) as done,
    ):
        for n_rows in done:
            advance(n_rows)
    if n_lost := int(CandidatePool.open(options.pool).missing_features().sum()):
        raise InputError(
            f"{options.pool}: the features of {several(n_lost, 'context')} that workers wrote are not there: a disk "
            "that machines share has lost them. Run the same command again, on one machine."
        )
    for table in sorted(options.pool.glob(f"{SHARDS}/*/features.npy")):
        changed(table)


def _check_same_models(pool: CandidatePool, lms: Path | None) -> None:
    """Raise InputError where models are named, and features that are there are not theirs."""
    if lms is None or (pool.lazy_features and pool.missing_features().any()):  # whose models are checked elsewhere
        return
    made_by, sampled_by = pool.manifest.get("features_by"), pool.manifest.get("plan", {}).get("lms", {})
    record = LSTMScorer(lms).record()
    if made_by:
        known = {"scorer": LSTMScorer.name, "corpus": record["corpus"], "weights": record["weights"]}
        is_same = all(made_by.get(name) == value for name, value in known.items())
    else:
        is_same = bool(sampled_by) and sampled_by.items() <= record["weights"].items()
    if not is_same:
        raise InputError(
            f"{pool.path}: has features already, and not by the models in {lms}. "
            f"{pool.features_told or 'They came with its candidates.'} Make the pool again to have others, under "
            "another name: runs belong to one pool."
        )


def _workers(options: FeaturesOptions, lms: Path, device: str, n_endings: int) -> int | None:
    """On a cluster those asked for, or as many as it has room for."""
    if options.where.is_remote:
        return options.workers
    lm = options_of(read_manifest(lms, "lm"), lms)
    return n_workers(options.workers, pick_device(device).type, n_endings, len(open_vocabulary(lms)), lm)


@dataclass(frozen=True)
class _FillJob:
    """Computing and storing the features that were left for later, in blocks; the result is how many rows one has."""

    path: Path
    lms: Path
    pool: CandidatePool | None = None
    """The pool, where this process has opened it; another process opens it again, and works on one thread."""

    def open(self) -> Callable[[Block], int]:
        pool = self.pool or with_features(CandidatePool.open(self.path), self.lms)
        filler = pool.filler
        if not isinstance(filler, _Filler):  # the others had stored all before this process came
            return lambda block: len(block[1])

        def fill(block: Block) -> int:
            fold, rows = block
            filler.keep_only(fold)
            with pair(multiply) if self.pool else threads(1):
                pool.gather("features", rows)
            return len(rows)

        return fill

    def __reduce__(self) -> tuple[Any, ...]:
        return _FillJob, (self.path, self.lms)


def with_features(pool: CandidatePool, lms: Path | None = None) -> CandidatePool:
    """`pool` itself, able to compute the features that it lacks, if any were left for later.

    `lms` is the folder of its language models, by default where it was when the pool was made. Raises InputError
    when the models are not there or are others.
    """
    if pool.filler is None and pool.path is not None and pool.lazy_features and pool.missing_features().any():
        pool.filler = _Filler(pool, lms or Path(os.path.normpath(followed(pool.path, pool.manifest["lms_path"]))))
    return pool


def _add_features(pool: CandidatePool, options: FeaturesOptions) -> CandidatePool:
    """The pool of texts with its table, each row read by a model that may."""
    lms = options.lms
    assert pool.path is not None
    if lms is None:
        raise InputError(
            f"{pool.path}: --lms LMS says which language models are to read it; `swag-af train-lm` makes them. "
            "--scorer hf[PATH] has it read by any causal model."
        )
    readable = readable_by(pool.contexts, lms, str(pool.path))
    for fold in np.unique(readable.folds).tolist():
        check_fold(lms, fold)  # before anything is written
    unknown = unknown_share(pool.vocabulary, open_vocabulary(lms))
    if unknown > MOST_UNKNOWN:
        note(
            f"Warning: {100 * unknown:.0f} % of the tokens of {pool.path} are unknown to the models of {lms}, which "
            "read one as any other, so these likelihoods tell little. Take models of texts that are more alike, or "
            "another --scorer."
        )
    made_by = {
        "scorer": LSTMScorer.name,
        "lms": name_of(lms),
        **{key: value for key, value in LSTMScorer(lms).record().items() if key in ("corpus", "weights")},
        **_where_computed(options),
        "n_rows_by_fold": {str(fold): int((readable.folds == fold).sum()) for fold in np.unique(readable.folds)},
        "n_foreign_rows": readable.n_foreign,
        "unknown_share": round(unknown, 4),
    }
    workers = _workers(options, lms, "auto", len(pool) * pool.n_candidates)
    plan = Plan(FEATURES, made_by, readable.folds)
    return add_table(pool, plan, _TableJob(pool.path, lms, pool), workers=workers, engine=options.where)


def unknown_share(vocabulary: Vocabulary, known: Vocabulary) -> float:
    """The share, from 0 to 1, of the tokens that `vocabulary` counts which are none of the `known` ones."""
    is_unknown = np.array(known.ids(vocabulary.tokens)) == UNK  # (V,)
    return float(vocabulary.counts[is_unknown].sum() / max(1, vocabulary.counts.sum()))


def _where_computed(options: FeaturesOptions) -> dict[str, str]:
    """The device and precision of the models, which decide the last digits: a run goes on in those that it began in."""
    device = pick_device("auto").type
    if options.where.is_remote:
        device = "cuda" if options.where.gpus_per_task else "cpu"
    return {"device": device, "output_precision": precision_on(device)}


@dataclass(frozen=True)
class _TableJob:
    """Computing the features of a pool of texts, in blocks."""

    path: Path
    lms: Path
    pool: CandidatePool | None = None
    """The pool, where this process has opened it; another process opens it again, and works on one thread."""

    def open(self) -> Callable[[Block], np.ndarray]:
        maker = _TableMaker(self.pool or CandidatePool.open(self.path), self.lms)

        def table(block: Block) -> np.ndarray:
            with pair(multiply) if self.pool else threads(1):
                return maker.table(*block)

        return table

    def __reduce__(self) -> tuple[Any, ...]:
        return _TableJob, (self.path, self.lms)


class _TableMaker:
    """Computes features of all candidates of a pool of texts."""

    def __init__(self, pool: CandidatePool, lms: Path):
        self.pool = pool
        self.scorer = LSTMScorer(lms)
        self.known = self.scorer.vocabulary
        ids = np.array(self.known.ids(pool.vocabulary.tokens))
        ids[: len(SPECIAL_TOKENS)] = np.arange(len(SPECIAL_TOKENS))
        self.ids = ids
        """(V,) of the models, by those of the pool."""

    def table(self, fold: int, rows: np.ndarray) -> np.ndarray:
        """(n, K, F) float32 for `rows` (n,) of the pool, read by the model of `fold`."""
        table = np.zeros((len(rows), self.pool.n_candidates, len(FEATURES)), np.float32)
        readers = self.scorer.readers_of(fold)
        texts = [self._texts(row) for row in rows.tolist()]
        for i, values in all_features(readers.forward, readers.backward, texts):
            table[i, : len(values)] = values
        return table

    def _texts(self, row: int) -> tuple[list[int], list[int], Endings]:
        pool, known = self.pool, self.known
        context, here = pool.contexts[row], np.array([row])
        sent1, start = known.ids(tokenize(context.sent1)), known.ids(tokenize(context.start))
        columns = np.arange(pool.counts[row])[None]
        tokens, lengths = (pool.gather(name, here, columns)[0] for name in ("tokens", "lengths"))
        return sent1, start, Endings([*sent1, *start], np.where(tokens == PAD, PAD, self.ids[tokens]), lengths)


class _Filler:
    """Computes the features of the backward model for single candidates."""

    def __init__(self, pool: CandidatePool, lms: Path):
        self.lms = lms
        assert pool.path is not None
        self.plan = parse_record(pool.manifest.get("plan"), LazyPlan, f"{pool.path / MANIFEST}: plan")
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
                    f"`{command('features', pool.path, '--lms', 'FOLDER')}`."
                )

    def _check_folds(self, pool: CandidatePool) -> None:
        """No row may be read by a model that has learnt its ending."""
        folds = FoldMap.load(self.lms)
        wrong = [context.id for context in pool.contexts if folds.folds_of(context) != (context.fold,)]
        if wrong:
            raise InputError(
                f"{pool.path}: {several(len(wrong), 'row')} would be read by models that have learnt the endings "
                f"(first: {wrong[0]}). Make the pool again with `swag-af generate`, which leaves such rows out."
            )

    def __call__(self, pool: CandidatePool, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """(P, 2) float32 for the candidates `columns` (P,) of `rows` (P,), in the order of `pool.lazy_features`."""
        out = np.empty((len(rows), len(pool.lazy_features)), np.float32)
        each, of_each = np.unique(rows, return_inverse=True)
        folds = np.array([context.fold for context in pool.contexts.of_rows(each)])[of_each]  # (P,)
        with pair(multiply):
            for fold in np.unique(folds).tolist():
                mine = np.flatnonzero(folds == fold)
                mine = mine[np.argsort(rows[mine], kind="stable")]
                items = np.split(mine, np.flatnonzero(np.diff(rows[mine])) + 1)  # positions, one array a row
                texts = (self._endings(pool, int(rows[item[0]]), columns[item]) for item in items)
                for i, values in backward_features(self._readers(fold).backward, texts):
                    out[items[i]] = values
        return out

    def keep_only(self, fold: int) -> None:
        """Forget the models of other folds, for whoever works fold by fold."""
        for other in self.readers.keys() - {fold}:
            del self.readers[other]

    def _endings(self, pool: CandidatePool, row: int, columns: np.ndarray) -> Endings:
        context, here = pool.contexts[row], np.array([row])
        ids = [i for text in (context.sent1, context.start) for i in pool.vocabulary.ids(tokenize(text))]
        tokens, lengths = (pool.gather(name, here, columns[None])[0] for name in ("tokens", "lengths"))
        return Endings(ids, tokens, lengths)

    def _readers(self, fold: int) -> Readers:
        if fold not in self.readers:
            precision = self.plan["output_precision"]
            device = pick_device(self.plan["device"]).type  # where the work is done
            self.readers[fold] = load_readers(self.lms, fold, device=device, precision=precision)
        return self.readers[fold]
