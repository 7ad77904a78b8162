"""Rows that finished pools have already, copied into another choice of contexts (`--reuse`).

A row depends on the seed, the context's own words, the models and a few settings alone. Where these are the same, the
row that would be made is the one that is there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from swag_af.data.context import Context
from swag_af.data.errors import FormatError, InputError
from swag_af.data.manifests import differences
from swag_af.data.pool.drafts import ShardDraft
from swag_af.data.pool.folder import GUARD_TABLES, SHARDS, Shard, read_shard_entry, shard_hashes
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.progress import progress
from swag_af.lm.lstm.features import BACKWARD
from swag_af.lm.options import GenerateOptions

SAME = (
    "n_negatives",
    "min_tokens",
    "max_tokens",
    "max_draws",
    "features",
    "seed",
    "device",
    "output_precision",
    "contexts_sha256",
)
"""What must be the same beside the models: all that decides the bytes of a row."""


def open_reused(options: GenerateOptions, settings: Mapping[str, Any]) -> list[CandidatePool]:
    """The pools of `--reuse`; InputError for one whose rows are not those that `settings` give."""
    pools = []
    for path in options.reuse:
        pool = CandidatePool.open(path)
        begun = pool.manifest.get("plan", {})
        if "lms" not in begun or "features_by" in pool.manifest:
            raise InputError(
                f"--reuse {path}: its rows are not as language models of `swag-af train-lm` made them. Leave it out."
            )
        _check(path, differences(begun, {name: settings[name] for name in SAME}))
        pools.append(pool)
    return pools


def check_models(pools: Sequence[CandidatePool], lms: Mapping[str, str]) -> None:
    """Raise InputError for a pool that other models have made; `lms` are the hashes of ours, by fold."""
    for pool in pools:
        theirs = pool.manifest["plan"]["lms"]
        others = [f"models of fold {fold}" for fold in sorted(lms.keys() & theirs.keys()) if lms[fold] != theirs[fold]]
        _check(pool.path, others)


def _check(path: object, differing: Sequence[str]) -> None:
    if differing:
        raise InputError(
            f"--reuse {path}: made with other {', '.join(differing)}, so its rows are others. Leave it out."
        )


def n_reusable(pools: Sequence[CandidatePool], contexts: Sequence[Context]) -> int:
    """How many of `contexts` the pools have rows of."""
    known = {context.id for pool in pools for context in pool.contexts}
    return sum(context.id in known for context in contexts)


def take_rows(
    pools: Sequence[CandidatePool], groups: Mapping[int, Sequence[Context]], drafts: Mapping[int, ShardDraft]
) -> None:
    """Copy into `drafts` what the pools have of the contexts in `groups`, both by shard: rows, and reasons why there is
    none. Rows that stand there stay. FormatError where a shard is not what its pool says that it is."""
    places: dict[str, tuple[ShardDraft, int]] = {}
    for number, draft in drafts.items():
        done = draft.done()
        todo = (position for position in range(len(groups[number])) if position not in done)
        places |= {groups[number][position].id: (draft, position) for position in todo}
    if not pools or not places:
        return
    with progress("generate: copying rows", sum(map(len, pools)), "contexts") as advance:
        for pool in pools:
            for entry in pool.manifest["shards"]:
                _take_shard(pool, entry, places)
                advance(int(entry["n_rows"]))


def _take_shard(pool: CandidatePool, entry: Mapping[str, Any], places: dict[str, tuple[ShardDraft, int]]) -> None:
    """Copy what `places` asks for of one shard, and take it off them."""
    assert pool.path is not None
    path = pool.path / SHARDS / entry["name"]
    shard = Shard(int(entry["n_rows"]), path)
    contexts = shard.contexts
    made = read_shard_entry(pool.path, int(entry["name"])) or {}
    for name in made.get("dropped", {}).keys() & places.keys():
        draft, position = places.pop(name)
        draft.drop(position, made["dropped"][name])
    wanted = [(row, context.id) for row, context in enumerate(contexts) if context.id in places]
    if not wanted:
        return
    tables = {name: shard.load(name) for name in pool.tables if name not in GUARD_TABLES}
    if pool.lazy_features:  # as they were made; what was asked for since then is computed again
        tables["features"] = np.array(tables["features"])
        tables["features"][:, :, BACKWARD] = np.nan
    if shard_hashes(contexts, tables)["sha256"] != entry.get("unguarded_sha256", entry["sha256"]):
        raise FormatError(
            f"{path}: damaged (not what its pool says). Make that pool again, or leave it out of --reuse."
        )
    for row, name in wanted:
        draft, position = places.pop(name)
        draft.copy(position, {table: tables[table][row] for table in draft.pattern})
