"""The `features` table of a pool, shard by shard: killed at any moment, the next run goes on at the next shard.

    pool/scoring.json   beside the manifest while the work is in progress: who scores, and which columns there will be

Until the last shard is done, the pool has no such table. Who computes the values is the caller's business: the paper's
models fold by fold (`swag_af.lm.lstm.lazy`), any `Scorer` here.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.disk.files import read_json, write_array, write_json
from swag_af.data.disk.manifests import MANIFEST, differences
from swag_af.data.disk.replacing import remove
from swag_af.data.engines.options import EngineOptions
from swag_af.data.errors import InputError
from swag_af.data.plugins.own_code import source_of
from swag_af.data.pool.folder import SHARDS, check_finite, clear_pool
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.scale import Job, run_blocks
from swag_af.data.text.scripts import tokenize_any
from swag_af.data.work.locks import alone, clear_lock
from swag_af.data.work.progress import progress
from swag_af.lm.contract import deciding
from swag_af.lm.scorers.contract import COLUMNS, LENGTHS, Scorer, answers_of, columns_of, record_of
from swag_af.lm.scorers.registry import SCORERS, make_scorer
from swag_af.nn.threads import pair, threads

PLAN = "scoring.json"
_SOURCE = "source_sha256"
"""Of the file of somebody's own scorer."""

Block = tuple[int, np.ndarray]
"""A fold, and rows of the pool that its model reads; of a model without folds always 0."""

_BLOCK_ROWS = 16
_BLOCK_ENDINGS = 512


def blocks_of(rows: np.ndarray, folds: np.ndarray, n_rows: int = _BLOCK_ROWS) -> list[Block]:
    """`rows` (n,) in blocks of one of `folds` (n,) each, fold by fold."""
    blocks = []
    for fold in np.unique(folds).tolist():
        mine = rows[folds == fold]
        blocks += [(fold, part) for part in np.array_split(mine, -(-len(mine) // n_rows))]
    return blocks


@dataclass(frozen=True)
class Plan:
    """A table that is to be."""

    names: tuple[str, ...]
    """Its F columns."""
    made_by: dict[str, Any]
    """Who scores, for the manifest's `features_by`; a run that goes on must have the same."""
    folds: np.ndarray
    """(N,) the fold whose model reads each row."""
    block_rows: int = _BLOCK_ROWS


def add_table(
    pool: CandidatePool,
    plan: Plan,
    job: Job[Block, np.ndarray],
    *,
    workers: int | None = 1,
    engine: EngineOptions | None = None,
) -> CandidatePool:
    """Compute the table of a pool on disk that has none, each block by `job` as (n, K, F); returns the pool with it.

    Raises InputError where a value is not finite, and while another process is at work on it.
    """
    assert pool.path is not None
    with alone(pool.path / MANIFEST, waits=False, called=pool.path):
        return _added(pool, plan, job, workers, engine)


def _added(
    pool: CandidatePool,
    plan: Plan,
    job: Job[Block, np.ndarray],
    workers: int | None,
    engine: EngineOptions | None,
) -> CandidatePool:
    assert pool.path is not None
    clear_pool(pool.path)
    pool.check_unchanged()
    pool.check_tables()
    _begin(pool.path, plan)
    todo = _shards_to_do(pool, plan)
    blocks = [block for _, mine in todo for block in mine]
    n_done = len(pool) - sum(len(rows) for _, rows in blocks)
    with (
        progress("features", len(pool), "contexts", done=n_done) as advance,
        run_blocks(job, blocks, workers=workers, engine=engine) as made,
    ):
        for path, mine in todo:
            rows = np.sort(np.concatenate([some for _, some in mine]))
            table = np.zeros((len(rows), pool.n_candidates, len(plan.names)), np.float32)
            for _, some in mine:
                table[some - rows[0]] = next(made)
                advance(len(some))
            check_finite(table, f"{pool.path}, scored by {plan.made_by.get('scorer', 'its models')}", rows=rows)
            _check_nats(table, pool.path, plan)
            write_array(path, table)
    made_pool = pool.with_table("features", {"features_by": plan.made_by, "feature_names": list(plan.names)})
    remove(pool.path / PLAN)
    return made_pool


def _check_nats(table: np.ndarray, path: Path, plan: Plan) -> None:
    """Raise InputError for likelihoods above certainty: such as logarithms whose sign was left as it is."""
    of = [i for i, name in enumerate(plan.names) if name in COLUMNS]
    if (table[:, :, of] < -ROUNDING).any():
        raise InputError(
            f"{path}, scored by {plan.made_by.get('scorer', 'its models')}: values below 0. Give nats a token, the "
            "negative of mean logarithms."
        )


ROUNDING = 1e-4
"""How far below 0 the nats of a certain token may be by rounding."""


def end(folder: Path) -> None:
    """Nothing is in progress any more; a run that is killed after its last step but this leaves its plan and lock."""
    clear_lock(folder / MANIFEST)
    remove(folder / PLAN)


def _begin(folder: Path, plan: Plan) -> None:
    """Record who scores; InputError where another scorer has scored a shard. What a class has left in the shards that
    was edited since is deleted."""
    done = list((folder / SHARDS).glob("[0-9]*/features.npy"))
    content = {"feature_names": list(plan.names), "features_by": plan.made_by}
    begun = read_json(folder / PLAN) if (folder / PLAN).exists() else {}
    if isinstance(begun.get("features_by"), dict):
        was = deciding(begun["features_by"]) | {"feature_names": begun.get("feature_names")}
        now = deciding(plan.made_by) | {"feature_names": list(plan.names)}
        others = differences(was, dict.fromkeys(was) | now)
        if not others:
            return
        if done and any(not other.startswith(f"{_SOURCE} ") for other in others):
            raise InputError(
                f"{folder}: its features were begun by a scorer with other {', '.join(others)}. Repeat the first "
                f"command, or remove {folder / PLAN} to begin anew."
            )
    for path in done:
        remove(path)
    write_json(folder / PLAN, content)


def _shards_to_do(pool: CandidatePool, plan: Plan) -> list[tuple[Path, list[Block]]]:
    """The tables that are not written yet, each with its rows in blocks."""
    assert pool.path is not None
    first, todo = 0, []
    for entry in pool.manifest["shards"]:
        rows = np.arange(first, first + int(entry["n_rows"]))
        path = pool.path / SHARDS / entry["name"] / "features.npy"
        if not path.exists():
            todo.append((path, blocks_of(rows, plan.folds[rows], plan.block_rows)))
        first += len(rows)
    return todo


def scored(pool: CandidatePool, scorer: Scorer, rows: np.ndarray) -> np.ndarray:
    """(n, K, F) float32 of `rows` (n,): the scorer's columns, then the three lengths in our tokens; 0 where a row has
    fewer candidates."""
    n_given = len(columns_of(scorer))
    table = np.zeros((len(rows), pool.n_candidates, n_given + len(LENGTHS)), np.float32)
    contexts = [pool.contexts[row] for row in rows.tolist()]
    endings = [pool.texts_of_row(row) for row in rows.tolist()]
    for out, values in zip(table, answers_of(scorer, contexts, endings, n_given), strict=True):
        out[: len(values), :n_given] = values
    is_there = np.arange(pool.n_candidates) < pool.counts[rows][:, None]  # (n, K)
    sent1 = np.array([len(tokenize_any(context.sent1)) for context in contexts])
    starts = pool.gather("start_lengths", rows).astype(np.int64)
    lengths = pool.gather("lengths", rows).astype(np.int64)  # (n, K)
    of_context = [np.broadcast_to(one[:, None], lengths.shape) for one in (starts, sent1)]
    table[:, :, n_given:] = np.stack([lengths, *of_context], axis=2) * is_there[:, :, None]
    return table


def score_pool(
    pool: CandidatePool,
    name: str,
    *,
    workers: int | None = None,
    engine: EngineOptions | None = None,
    settings: dict[str, Any] | None = None,
) -> CandidatePool:
    """The pool on disk with the table that the scorer called `name` gives; raises InputError as the scorer does."""
    assert pool.path is not None
    job = _ScoreJob(pool.path, name, settings or {}, pool, make_scorer(name, **(settings or {})))
    assert job.scorer is not None
    with SCORERS.blaming(name, "columns"):
        columns = columns_of(job.scorer)
    with SCORERS.blaming(name, "record"):
        made_by = {"scorer": job.scorer.name, "foreign": True, **record_of(job.scorer), "columns": list(columns)}
    made_by |= {_SOURCE: sha256} if (sha256 := source_of(job.scorer)) else {}  # of somebody's own class
    n_rows = max(_BLOCK_ROWS, _BLOCK_ENDINGS // pool.n_candidates)
    plan = Plan((*columns, *LENGTHS), made_by, np.zeros(len(pool), np.int64), n_rows)
    return add_table(pool, plan, job, workers=workers, engine=engine)


@dataclass(frozen=True)
class _ScoreJob:
    """Scoring a pool, in blocks of rows."""

    path: Path
    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    pool: CandidatePool | None = None
    """Pool and scorer, where this process has opened them; another process opens them again, and works on one
    thread."""
    scorer: Scorer | None = None

    def open(self) -> Callable[[Block], np.ndarray]:
        pool = self.pool or CandidatePool.open(self.path)
        scorer = self.scorer or make_scorer(self.name, **self.settings)

        def score(block: Block) -> np.ndarray:
            with pair() if self.scorer else threads(1), SCORERS.blaming(self.name, "score"):
                return scored(pool, scorer, block[1])

        return score

    def __reduce__(self) -> tuple[Any, ...]:
        return _ScoreJob, (self.path, self.name, self.settings)
