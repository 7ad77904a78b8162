"""Pools made of the big one: parts of whole groups, parts of parts, fewer candidates, and likelihoods by models that
have read gold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from experimenting.steps import Setting
from swag_af.data.context import Context
from swag_af.data.files import replacing
from swag_af.data.pool.folder import finish_pool, write_shard
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.splits import deal
from swag_af.lm.lstm.checkpoints import trained_folds
from swag_af.lm.lstm.scorer import LSTMScorer
from swag_af.lm.scorers.table import score_pool

N_ROWS = 200
"""Contexts of a shard of a pool that is made here."""

SHARES = {"half": 2, "quarter": 4}


def make_parts(setting: Setting) -> None:
    """`parts/0` ... of the pool, and the variants of them that an arm filters; those that are there stay."""
    size, parts = setting.size, setting.out / "parts"
    pool = CandidatePool.open(setting.out / "pool")
    part_of = deal(pool.groups, size.n_parts, rng=np.random.default_rng(0))  # (N,)
    for number in range(size.n_parts):
        if not (parts / f"{number}").exists():
            pool.save(parts / f"{number}", rows=np.flatnonzero(part_of == number))
    for _, arm, number in setting.runs():
        if arm.pool:
            make_variant(setting, arm.pool, parts / f"{number}")


def make_variant(setting: Setting, variant: str, part: Path) -> CandidatePool:
    """One variant of a part, beside it; the one that is there, if it is whole."""
    path = part.with_name(f"{part.name}-{variant}")
    if path.exists() and "features" in CandidatePool.open(path).tables:
        return CandidatePool.open(path)
    if variant in SHARES:
        pool = CandidatePool.open(part)
        kept = deal(pool.groups, SHARES[variant], rng=np.random.default_rng(1)) == 0
        return pool.save(path, rows=np.flatnonzero(kept))
    if variant == "few":
        return save_narrow(CandidatePool.open(part), setting.size.n_few, path)
    if not path.exists():
        save_plain(make_variant(setting, "few", part), path)
    scorer = f"{GoldReader.__module__}:{GoldReader.__name__}"
    return score_pool(CandidatePool.open(path), scorer, workers=1, settings={"lms": str(setting.out / "lms")})


def save_narrow(pool: CandidatePool, n_candidates: int, path: Path) -> CandidatePool:
    """The pool with gold and the first negatives alone, `n_candidates` in all, saved to `path`."""

    def narrowed(tables: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        cut = {name: array[:, :n_candidates] if name in _WIDE else array for name, array in tables.items()}
        return cut | {"counts": np.minimum(cut["counts"], np.uint32(n_candidates))}

    return _save(pool, narrowed, pool.tables, path)


_WIDE = ("tokens", "lengths", "tags", "features")
"""Tables with an entry a candidate."""


def save_plain(pool: CandidatePool, path: Path) -> CandidatePool:
    """The pool without its features, saved to `path`."""
    return _save(pool, dict, [name for name in pool.tables if name != "features"], path)


def _save(
    pool: CandidatePool,
    change: Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]],
    names: Sequence[str],
    path: Path,
) -> CandidatePool:
    with replacing(path) as temporary:
        entries: list[dict[str, Any]] = []
        for at in range(0, len(pool), N_ROWS):
            rows = np.arange(at, min(at + N_ROWS, len(pool)))
            tables = change({name: pool.gather(name, rows) for name in names})
            contexts = [pool.contexts[row] for row in rows.tolist()]
            entries.append(write_shard(temporary, len(entries), contexts, tables))
        finish_pool(temporary, pool.vocabulary, entries, {"tagger": pool.manifest["tagger"]})
    return CandidatePool.open(path)


@dataclass
class GoldReader(LSTMScorer):
    """The paper's models, each row read by one that has learnt its gold: what no pool of ours may have. For the arm
    that asks what such likelihoods do to the curve, and for nothing else."""

    name: ClassVar[str] = "gold-reader"

    def folds_of(self, contexts: Sequence[Context]) -> np.ndarray:
        """(n,) the next fold's: its model learnt from all folds but its own."""
        folds = trained_folds(Path(self.lms))
        return np.array([folds[(folds.index(context.fold) + 1) % len(folds)] for context in contexts])

    def record(self) -> dict[str, Any]:
        """As of the models; marked."""
        return super().record() | {"has_read_gold": True}
