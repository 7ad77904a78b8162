"""Rows that finished pools have already, copied into another choice of contexts (`--reuse`).

A row depends on the seed, the context's own words, the models and a few settings alone. Where these are the same, the
row that would be made is the one that is there. Contexts without one are asked about again. A pool of lazy features
takes rows that have more of them than it asks for: their values are those that would be computed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from swag_af.data.context import Context
from swag_af.data.disk.manifests import differences
from swag_af.data.errors import FormatError, InputError
from swag_af.data.pool.drafts import ShardDraft
from swag_af.data.pool.folder import GUARD_TABLES, SHARDS, Shard, shard_hashes
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.work.progress import progress
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
        has_more = options.features == "lazy" and begun.get("features") == "full"
        same = [name for name in SAME if not (has_more and name == "features")]
        _check(path, differences(begun, {name: settings[name] for name in same}))
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
        raise InputError(f"--reuse {path}: made with other {', '.join(differing)}; its rows are others. Leave it out.")


def reusable(pools: Sequence[CandidatePool], contexts: Sequence[Context]) -> set[int]:
    """The positions of those of `contexts` that the pools have rows of."""
    known = {context for pool in pools for context in pool.contexts}
    return {position for position, context in enumerate(contexts) if context in known}


Places = dict[Context, list[tuple[ShardDraft, int]]]
"""Where the row of a context is due. The whole context, as pools name it, is the key."""


def take_rows(
    pools: Sequence[CandidatePool], groups: Mapping[int, Sequence[Context]], drafts: Mapping[int, ShardDraft]
) -> None:
    """Copy into `drafts` what the pools have of the contexts in `groups`, both by shard; rows that stand there stay.

    FormatError where a shard is not what its pool says that it is.
    """
    places: Places = {}
    for number, draft in drafts.items() if pools else ():
        done = draft.done()
        for position, context in enumerate(groups[number]):
            if position not in done:
                places.setdefault(context, []).append((draft, position))
    if not places:
        return
    with progress("generate: copying rows", sum(map(len, pools)), "contexts") as advance:
        for pool in pools:
            for entry in pool.manifest["shards"]:
                _take_shard(pool, entry, places)
                advance(int(entry["n_rows"]))


def _take_shard(pool: CandidatePool, entry: Mapping[str, Any], places: Places) -> None:
    """Copy what `places` asks for of one shard, and take it off them."""
    assert pool.path is not None
    path = pool.path / SHARDS / entry["name"]
    shard = Shard(int(entry["n_rows"]), path)
    contexts = shard.contexts
    if places.keys().isdisjoint(contexts):
        return
    tables = {name: shard.load(name) for name in pool.tables if name not in GUARD_TABLES}
    made = shard_hashes(contexts, tables, pool.lazy_columns)["sha256"]
    if made != entry.get("unguarded_sha256", entry["sha256"]):
        raise FormatError(f"{path}: damaged (not what its pool says). Leave it out of --reuse, or make it again.")
    for row, context in enumerate(contexts):
        for draft, position in places.pop(context, ()):
            draft.copy(position, {name: tables[name][row] for name in draft.pattern})
