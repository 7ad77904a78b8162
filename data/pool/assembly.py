"""Contexts and texts in memory to the parts of a pool: manifest, vocabulary, shards."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from swag_af.data.context import Context
from swag_af.data.errors import Faults, InputError, RowError, check_kind, several, told
from swag_af.data.pool.folder import NO_TAGGER, Shard, with_feature_names
from swag_af.data.pool.guard import Flag
from swag_af.data.pool.rows import Block, Row, RowMaker, fill_blocks, final_ids, is_list
from swag_af.data.pool.sharing import RowKeys, sharing
from swag_af.data.tags import Tagger, load_tagger, tag_word_types
from swag_af.data.text.lengths import LengthHits
from swag_af.data.vocabulary import Vocabulary, build_vocabulary


def parts_from_texts(
    contexts: Sequence[Context],
    negatives: Sequence[Sequence[str]],
    features: Sequence[np.ndarray] | None,
    feature_names: Sequence[str] | None,
    tagger: str,
    flag: Flag | None,
    normalise: bool,
    groups: np.ndarray | None = None,
) -> tuple[dict[str, Any], Vocabulary, list[Shard]]:
    """Manifest, vocabulary and shards of `CandidatePool.from_texts`."""
    _check_given(contexts, negatives, features, feature_names)
    check_kind("normalise", normalise, bool)
    contexts, negatives = list(contexts), list(negatives)  # columns of tables count rows by their labels
    features = None if features is None else list(features)
    groups = None if groups is None else np.array(groups)  # the caller may change it
    _check_groups(groups, len(contexts))
    named = load_tagger(tagger) if tagger != NO_TAGGER else None
    maker, keys = RowMaker(flag, normalise=normalise, feature_names=feature_names), RowKeys()
    lengths = LengthHits()
    rows = _made_rows(maker, contexts, negatives, features)
    blocks: list[Block] = []
    types: dict[str, int] = {}
    vocabulary = build_vocabulary(fill_blocks(keys.noted(rows), types, blocks.append, lengths), min_count=1)
    shared = sharing(keys, blocks, groups)
    tables = _tables_of(blocks, final_ids(types, vocabulary), vocabulary, shared.groups)
    manifest = {
        "n_candidates": tables[0]["tokens"].shape[1],
        "tables": list(tables[0]),
        "tagger": named.name if named else NO_TAGGER,
        "dropped_negatives": maker.dropped_negatives(),
        "shared_texts": shared.counts,
        "surface": [*maker.surface.records(), *lengths.records(shared.groups)],
        "made_by": {"function": "CandidatePool.from_texts", "normalise": normalise},
    }
    shards = [Shard(len(block), None, made, block.contexts) for block, made in zip(blocks, tables, strict=True)]
    return with_feature_names(manifest, maker.feature_names), tagged(vocabulary, named), shards


def _is_name(given: object) -> bool:
    """Whether it is a text with something in it."""
    return isinstance(given, str) and bool(given.strip())


def _is_listed(given: object) -> bool:
    """Whether it is a list, an array or a column of a table, and no table."""
    return is_list(given) and not hasattr(given, "columns")


def _check_given(
    contexts: Sequence[Context],
    negatives: Sequence[Sequence[str]],
    features: Sequence[np.ndarray] | None,
    feature_names: Sequence[str] | None,
) -> None:
    for what, given in (("contexts", contexts), ("negatives", negatives)):
        if not _is_listed(given):
            raise InputError(f"{what}: a {type(given).__name__}, where a list is due, an entry a row.")
    strange = next((i for i, one in enumerate(contexts) if not isinstance(one, Context)), None)
    if strange is not None:
        what = type(list(contexts)[strange]).__name__
        raise InputError(f"contexts, row {strange}: a {what}, where a swag_af.Context(sent1, start, gold) is due.")
    if len(contexts) != len(negatives) or not len(contexts):
        raise InputError(
            f"{len(contexts)} contexts and {len(negatives)} lists of negatives: give one list a context, and "
            "at least one."
        )
    _check_ids(one.id for one in contexts if one.id not in ("", None))
    if features is not None and not _is_listed(features):
        raise InputError(f"features: a {type(features).__name__}, where a list is due, an array a row.")
    if features is not None and len(features) != len(contexts):
        raise InputError(f"features: {len(features)} arrays for {len(contexts)} rows. Give one a row.")
    if feature_names is not None and features is None:
        raise InputError("feature_names are given without features. Give both, or neither.")
    if feature_names is not None and not (_is_listed(feature_names) and all(map(_is_name, feature_names))):
        raise InputError(f"feature_names {told(feature_names)}: a list of names is due, one a column.")
    if feature_names is not None and len(set(feature_names)) != len(feature_names):
        raise InputError(f"feature_names: {', '.join(feature_names)} has a name twice. Give every column its own.")


def _check_groups(groups: np.ndarray | None, n: int) -> None:
    if groups is None:
        return
    if groups.shape != (n,) or groups.dtype.kind not in "iu" or set(np.unique(groups)) != set(range(groups.max() + 1)):
        raise InputError(f"groups: {groups.dtype} {groups.shape}, where a number a row ({n},) is due, from 0 on.")


def _made_rows(
    maker: RowMaker,
    contexts: Sequence[Context],
    negatives: Sequence[Sequence[str]],
    features: Sequence[np.ndarray] | None,
) -> list[Row]:
    """The rows; raises one InputError for all that cannot be used."""
    rows, faults = [], Faults("texts", "Mend those rows, or leave them out.")
    for i, (context, row) in enumerate(zip(contexts, negatives, strict=True)):
        try:
            rows.append(maker.make(i, context, row, None if features is None else features[i]))
        except RowError as fault:
            faults.add(f"row {i}", fault)
    faults.check()
    _check_ids(row.context.id for row in rows)
    return rows


def _check_ids(ids: Iterable[str]) -> None:
    """Raise InputError where two rows have one id, given or made of the row's number."""
    repeated = [name for name, n in Counter(ids).items() if n > 1]
    if repeated:
        told = several(len(repeated), "id is", "ids are")
        raise InputError(f"contexts: {told} of several rows (first: {repeated[0]!r}). Give each its own, or none.")


def _tables_of(
    blocks: Sequence[Block], ids: np.ndarray, vocabulary: Vocabulary, groups: np.ndarray
) -> list[dict[str, np.ndarray]]:
    """The tables of each block, all of the same widths; `groups` (N,) are those of all rows."""
    sizes = reduce(or_, (block.sizes for block in blocks))
    parts = np.split(groups, np.cumsum([len(block) for block in blocks])[:-1])
    return [
        block.tables(0, len(block), ids, vocabulary, sizes) | {"groups": mine}
        for block, mine in zip(blocks, parts, strict=True)
    ]


def tagged(vocabulary: Vocabulary, tagger: Tagger | None) -> Vocabulary:
    """`vocabulary` with the tags that `tagger` gives its word types; without tags for None."""
    if tagger is None:
        return replace(vocabulary, tags=None)
    return vocabulary.with_tags(tag_word_types(vocabulary.spellings, tagger))
