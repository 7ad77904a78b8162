"""Contexts and texts in memory to the parts of a pool: manifest, vocabulary, shards."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from swag_af.data.context import Context
from swag_af.data.errors import InputError
from swag_af.data.pool.folder import NO_TAGGER, Shard
from swag_af.data.pool.guard import Flag
from swag_af.data.pool.rows import Block, Faults, RowError, RowMaker, fill_blocks, final_ids
from swag_af.data.pool.sharing import RowKeys, sharing
from swag_af.data.tags import Tagger, load_tagger, tag_word_types
from swag_af.data.vocabulary import Vocabulary, build_vocabulary


def parts_from_texts(
    contexts: Sequence[Context],
    negatives: Sequence[Sequence[str]],
    features: Sequence[np.ndarray] | None,
    tagger: str,
    flag: Flag | None,
    normalise: bool,
) -> tuple[dict[str, Any], Vocabulary, list[Shard]]:
    """Manifest, vocabulary and shards of `CandidatePool.from_texts`."""
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
    return manifest, tagged(vocabulary, named), shards


def tagged(vocabulary: Vocabulary, tagger: Tagger | None) -> Vocabulary:
    """`vocabulary` with the tags that `tagger` gives its word types; without any for None."""
    if tagger is None:
        return replace(vocabulary, tags=None)
    return vocabulary.with_tags(tag_word_types(vocabulary.spellings, tagger))
