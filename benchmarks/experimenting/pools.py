"""Pools made of the parts: all of them together, whole groups of one, fewer candidates, and likelihoods by models that
have read gold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from experimenting.steps import DEALT, DEEP, TIMES, WEAK, Setting, pool_of_all
from swag_af.data.context import Context
from swag_af.data.disk.replacing import replacing
from swag_af.data.disk.urls import link
from swag_af.data.errors import InputError
from swag_af.data.pool.folder import SHARDS, Shard, finish_pool, write_shard
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.splits import deal
from swag_af.lm.lstm.checkpoints import trained_folds
from swag_af.lm.lstm.scorer import LSTMScorer
from swag_af.lm.scorers.table import score_pool

N_ROWS = 200
"""Contexts of a shard of a pool that is made here."""

SHARES = {"half": 2, "quarter": 4}


def make_variants(setting: Setting) -> None:
    """The variants of parts that single arms filter; those that are there stay."""
    for _, arm, number in setting.runs():
        if arm.pool == DEALT:
            make_dealt(setting, number)
        elif arm.pool not in ("", *TIMES, WEAK):
            make_variant(setting, arm.pool, setting.out / f"parts/{number}")


def make_dealt(setting: Setting, part: int) -> None:
    """A part's share of the contexts of `deep`, unless it is there."""
    path = setting.out / f"parts/{part}-{DEALT}"
    if not path.exists():
        pool = CandidatePool.open(setting.out / DEEP)
        pool.save(path, rows=dealt_rows(pool.groups, setting.size.part_rows, part))


def dealt_rows(groups: np.ndarray, n: int, part: int) -> np.ndarray:
    """(m,) the rows that are dealt to a part, about `n`: whole `groups` (N,) in random order, `n` rows a part."""
    order = np.random.default_rng(list(DEALT.encode())).permutation(int(groups.max()) + 1)
    sizes = np.bincount(groups)[order]
    parts = (np.cumsum(sizes) - sizes) // n
    return np.flatnonzero(np.isin(groups, order[parts == part]))


def join_parts(setting: Setting) -> None:
    """`pool`, `pool-many`: the rows of all parts, or of those of the arm, one part after another; those that are there
    stay."""
    for arm in setting.together():
        path = setting.out / pool_of_all(arm.pool)
        if not path.exists():
            _join([setting.out / setting.pool_of(arm, number) for number in setting.size.parts_of(arm)], path)


def _join(folders: Sequence[Path], path: Path) -> None:
    """Shard by shard, features that are not computed yet as they are."""
    parts = [CandidatePool.open(folder) for folder in folders]
    first = parts[0]
    padded = [name for name in _PADDED if name in first.tables]
    widths = {name: max(part.gather(name, _FIRST).shape[-1] for part in parts) for name in padded}
    made_by: dict[str, Any] = {"tagger": first.manifest["tagger"]}
    if first.lazy_features:
        plan = {name: first.manifest["plan"][name] for name in ("device", "output_precision")}
        plan["lms"] = {fold: weights for part in parts for fold, weights in part.manifest["plan"]["lms"].items()}
        lms = (folders[0] / first.manifest["lms_path"]).resolve()
        made_by |= {"plan": plan, "lazy_features": list(first.lazy_features), "lms_path": link(lms, path)}
    with replacing(path) as temporary:
        entries: list[dict[str, Any]] = []
        for folder, part in zip(folders, parts, strict=True):
            for entry in part.manifest["shards"]:
                shard = Shard(entry["n_rows"], folder / SHARDS / entry["name"])
                tables = {name: _widened(shard.load(name), widths.get(name, 0)) for name in first.tables}
                entries.append(write_shard(temporary, len(entries), shard.contexts, tables, lazy=part.lazy_columns))
        finish_pool(temporary, first.vocabulary, entries, made_by)


_FIRST = np.zeros(1, int)
_PADDED = ("tokens", "tags", "starts", "start_tags")
"""Tables with an entry a token, padded to the longest text of a pool."""


def _widened(table: np.ndarray, width: int) -> np.ndarray:
    """A table with zeros at the end of its last axis, up to `width`; as it is where it is not narrower."""
    missing = max(0, width - table.shape[-1])
    return np.pad(table, [(0, 0)] * (table.ndim - 1) + [(0, missing)]) if missing else table


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

    return _save([pool], narrowed, pool.tables, path)


_WIDE = ("tokens", "lengths", "tags", "features")
"""Tables with an entry a candidate."""


def save_plain(pool: CandidatePool, path: Path) -> CandidatePool:
    """The pool without its features, saved to `path`."""
    return _save([pool], dict, [name for name in pool.tables if name != "features"], path)


def _save(
    pools: Sequence[CandidatePool],
    change: Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]],
    names: Sequence[str],
    path: Path,
) -> CandidatePool:
    """The rows of `pools`, which share a vocabulary, with the tables `names`, changed, saved to `path`."""
    with replacing(path) as temporary:
        entries: list[dict[str, Any]] = []
        for pool in pools:
            for at in range(0, len(pool), N_ROWS):
                rows = np.arange(at, min(at + N_ROWS, len(pool)))
                tables = change({name: pool.gather(name, rows) for name in names})
                contexts = [pool.contexts[row] for row in rows.tolist()]
                entries.append(write_shard(temporary, len(entries), contexts, tables))
        finish_pool(temporary, pools[0].vocabulary, entries, {"tagger": pools[0].manifest["tagger"]})
    return CandidatePool.open(path)


@dataclass
class GoldReader(LSTMScorer):
    """The paper's models, each row read by one that has learnt its gold: what no pool of ours may have. For the arm
    that asks what such likelihoods do to the curve, and for nothing else."""

    name: ClassVar[str] = "gold-reader"

    def folds_of(self, contexts: Sequence[Context]) -> np.ndarray:
        """(n,) a fold whose model has learnt each."""
        reader = {fold: reads_gold_of(fold, Path(self.lms)) for fold in {context.fold for context in contexts}}
        return np.array([reader[context.fold] for context in contexts])

    def record(self) -> dict[str, Any]:
        """As of the models; marked."""
        return super().record() | {"has_read_gold": True}


def reads_gold_of(fold: int, lms: Path) -> int:
    """The next trained fold, whose model has learnt the golds of `fold`: all but its own; InputError for none."""
    folds = trained_folds(lms)
    if len(folds) < 2:
        raise InputError(f"{lms}: one fold's models. Train another fold's, which have learnt these golds.")
    return folds[(folds.index(fold) + 1) % len(folds)]
