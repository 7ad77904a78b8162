"""The verbs `pool` and `tag`: source files of endings in, a pool out; other tags for an existing pool.

The rows are read once. Blocks of them wait in files beside the new pool until the vocabulary and the widest row are
known, and are then written as shards; memory grows by some 72 bytes per row and by the token types. A pool is written
whole or not at all.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.captions.options import ContextRules
from swag_af.data.cells.labelled import open_labelled
from swag_af.data.cells.labels import AS_LETTERS, AS_TEXT
from swag_af.data.cells.whole import with_whole_numbers
from swag_af.data.context import Context
from swag_af.data.disk.manifests import MANIFEST, check_replaceable, sha256_file
from swag_af.data.disk.replacing import check_output, remove, replacing
from swag_af.data.errors import ExhaustedError, Faults, InputError, RowError, several, takes_options
from swag_af.data.folds import FOLDS, FoldMap
from swag_af.data.plugins.own_code import load_function
from swag_af.data.pool.assembly import tagged
from swag_af.data.pool.folder import CONTEXT_TAGS, NO_TAGGER, finish_pool, replace_vocabulary
from swag_af.data.pool.guard import Flag
from swag_af.data.pool.in_context import remove_tables, tag_in_context
from swag_af.data.pool.options import PoolOptions, TagOptions
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.rows import NO_FOLD, EmptyRowError, Ids, Row, RowMaker, ShortRowError
from swag_af.data.pool.spool import Known, Spool, write_shards
from swag_af.data.pooling.columns import (
    Layout,
    check_negatives,
    layout_of,
    names_of_rows,
    question_of,
    records_of,
    with_bases,
)
from swag_af.data.splits import deal
from swag_af.data.tables.sources import Source, check_once
from swag_af.data.tags import Tagger, load_tagger
from swag_af.data.work.locks import alone
from swag_af.data.work.progress import Advance, note, progress

READ = "read_by_all_models"
"""Rows left out because their second sentence occurs in several folds of the models that are to read the pool."""
GENERATED_GOLD = "generated_gold"
"""Rows left out because their gold was generated, which a pool does not say of a row."""


@takes_options
def pool(options: PoolOptions) -> CandidatePool:
    """Read, guard, count, tag and write; returns the pool as opened from `options.out`.

    The tables are those of `CandidatePool.from_texts` on the same rows. Rows without a fold in any source get one by
    their group: video, or shared texts. With `options.lms`, folds are those whose models have not read the row, and
    rows that all of them have read are left out and counted. Raises InputError for sources and rows that cannot be
    used, before anything is written to `options.out`, and where another process writes there.
    """
    check_output(options.out, force=True, folder=True)
    made = Path(os.path.abspath(options.out))  # the working folder, if it is that one, is gone once it is replaced
    with alone(options.out, waits=False):
        _make(options, _opened(options))
    return CandidatePool.open(made)


def _make(options: PoolOptions, inputs: "_Inputs") -> None:
    with replacing(options.out) as folder:
        spool = Spool(folder / ".blocks")
        read_by = FoldMap.load(options.lms) if options.lms else None
        maker = RowMaker(inputs.flag, normalise=options.normalise, min_negatives=options.min_negatives)
        reading = _Reading(options, maker, read_by)
        known = _read(reading, inputs, spool)
        dealt = deal(known.shared.groups, ContextRules.n_folds, rng=np.random.default_rng(0))  # (N,)
        dealt = as_given(np.array(reading.folds), known.shared.groups, dealt)
        entries = write_shards(folder, spool, known, lambda c, rows: reading.with_folds(c, dealt[rows].tolist()))
        remove(spool.folder)
        finish_pool(folder, known.vocabulary, entries, _notes(reading, inputs, known))


@takes_options
def tag(options: TagOptions) -> CandidatePool:
    """Tag the word types of a pool, or its candidates in their sentences, with another tagger; returns the pool.

    Its identity changes with the tags: runs on the pool as it was cannot be resumed. After a kill, the pool is the old
    one or the new one; only where tags in context replace others in context, it may have neither. Tagging word types
    removes the tables of tags in context.
    """
    CandidatePool.open(options.pool)  # nothing is locked that is no pool
    if options.in_context:
        return tag_in_context(options.pool, options.tagger, workers=options.workers, engine=options.where)
    with alone(options.pool / MANIFEST, waits=False, called=options.pool):
        return _tag_types(options)


def _tag_types(options: TagOptions) -> CandidatePool:
    before = CandidatePool.open(options.pool)
    tagger = load_tagger(options.tagger) if options.tagger != NO_TAGGER else None
    vocabulary = tagged(before.vocabulary, tagger)
    changes: dict[str, Any] = {"tagger": tagger.name if tagger else NO_TAGGER}
    if "tags" in before.tables:
        tables = [table for table in before.tables if table not in CONTEXT_TAGS]
        changes |= {"tables": tables, "shards": before.shard_entries(tables), "context_tagger": None}
    replace_vocabulary(options.pool, vocabulary, changes)
    remove_tables(options.pool)
    return CandidatePool.open(options.pool)


@dataclass(frozen=True)
class _Inputs:
    """What the options name, opened and checked; nothing is written yet."""

    tagger: Tagger | None
    flag: Flag | None
    sources: list[Source]
    layouts: list[Layout]
    """One for each source."""


def _opened(options: PoolOptions) -> _Inputs:
    if not options.sources:
        raise InputError("pool: no source given. Name one or more; `swag-af pool --help` says which kinds.")
    check_once(options.sources)
    _check_out(options)
    tagger = load_tagger(options.tagger) if options.tagger != NO_TAGGER else None
    flag: Flag | None = load_function("--flag", options.flag) if options.flag else None
    names = {"label": options.columns.label_column, "id": options.columns.id_column}
    sources = open_labelled(options.sources, options.format, labels_file=options.labels_file, **names, stages=False)
    layouts = [layout_of(source, options.layout, options.columns) for source in sources]
    sources = [with_whole_numbers(one, names_of_rows(of.columns)) for one, of in zip(sources, layouts, strict=True)]
    for source, layout in zip(sources, layouts, strict=True):
        check_negatives(source, layout)
    return _Inputs(tagger, flag, sources, with_bases(layouts, sources, options.label_base))


def _check_out(options: PoolOptions) -> None:
    check_replaceable(options.out, "pool", force=options.force)
    for source in options.sources:
        if options.out.resolve() in (source.resolve(), *source.resolve().parents):
            raise InputError(f"{options.out}: {source} is in it and would be overwritten. Choose another --out.")


_DROP_EMPTY = " --drop-empty leaves out those without negatives."


@dataclass
class _Reading:
    """The rows of all sources, and what was counted on the way."""

    options: PoolOptions
    maker: RowMaker
    read_by: FoldMap | None = None
    """What the language models that are to read the pool were trained on."""
    ids: Ids = field(default_factory=Ids)
    folds: list[int] = field(default_factory=list)
    """Of each row that is kept, as given; `NO_FOLD` where it is not."""
    n_given: int = 0
    n_empty: int = 0
    n_short: int = 0
    """Rows that have negatives, but fewer than were asked for."""
    n_read: int = 0
    """Rows whose ending all models have learnt."""
    n_generated: int = 0
    """Rows whose gold was generated."""
    n_bare: int = 0
    """Rows that are kept and whose context is empty; `first_bare` is the place of the first."""
    first_bare: str = ""

    def rows(self, sources: Sequence[Source], layouts: Sequence[Layout], advance: Advance) -> Iterator[Row]:
        """Every row that can be used; raises InputError at the end of a source that has others."""
        for source, layout in zip(sources, layouts, strict=True):
            drops_empty = self.options.drop_empty or self.options.min_negatives > 0
            faults = Faults(str(source.path), "Mend those rows, or take them out.")
            for where, record in records_of(source, layout):
                try:
                    question = question_of(record, layout)
                    if question.is_generated and not self.options.keep_generated:
                        self.n_generated += 1
                    elif self._may_be_read(question.context):
                        yield self._made(question.context, question.negatives, question.features)
                        self._look_at(question.context, f"{source.path.name}, {where}")
                except EmptyRowError as fault:
                    self.n_empty += 1
                    if not drops_empty:
                        faults.advice += _DROP_EMPTY if _DROP_EMPTY not in faults.advice else ""
                        faults.add(where, fault)
                except ShortRowError:
                    self.n_short += 1
                except RowError as fault:
                    faults.add(where, fault)
                self.n_given += 1
                advance(1)
            faults.check()

    def drops(self) -> dict[str, int]:
        """Rows left out, by reason; none of zero."""
        counted = {
            "no_negatives": self.n_empty,
            "too_few_negatives": self.n_short,
            READ: self.n_read,
            GENERATED_GOLD: self.n_generated,
        }
        return {name: n for name, n in counted.items() if n}

    def with_folds(self, contexts: Sequence[Context], dealt: Sequence[int]) -> list[Context]:
        """The contexts with the folds whose models have not read them; otherwise as given, or as `dealt`."""
        return [replace(context, fold=self._fold(context, fold)) for context, fold in zip(contexts, dealt, strict=True)]

    def _fold(self, context: Context, dealt: int) -> int:
        known = self.read_by.folds_of(context) if self.read_by else ()
        return known[0] if known else dealt if context.fold == NO_FOLD else context.fold

    def _may_be_read(self, context: Context) -> bool:
        """Whether there is a model that has not learnt the row's ending; counts those where there is none."""
        is_read = self.read_by is not None and len(self.read_by.folds_of(context)) > 1
        self.n_read += is_read
        return not is_read

    def _look_at(self, context: Context, place: str) -> None:
        """Count the context, which is kept, if it has no text."""
        if not f"{context.sent1}{context.start}".strip():
            self.n_bare += 1
            self.first_bare = self.first_bare or place

    def _made(self, context: Any, negatives: list[str], features: Any) -> Row:
        row = self.maker.make(self.n_given, context, negatives, features)
        self.ids.add(row.context.id)
        self.folds.append(row.context.fold)
        return row


def as_given(folds: np.ndarray, groups: np.ndarray, dealt: np.ndarray) -> np.ndarray:
    """(N,) the folds that are `dealt` (N,), but for `groups` (N,) in which some rows have one already (`folds`, (N,)):
    there it is that of the first."""
    rows = np.flatnonzero(folds != NO_FOLD)
    known, first = np.unique(groups[rows], return_index=True)
    of_group = np.full(int(groups.max()) + 1, NO_FOLD)
    of_group[known] = folds[rows][first]
    made: np.ndarray = np.where(of_group[groups] == NO_FOLD, dealt, of_group[groups])
    return made


def _read(reading: _Reading, inputs: _Inputs, spool: Spool) -> Known:
    """Read every row into the spool; raises InputError where none is left, or two have one id."""
    n_expected = sum(source.n_rows for source in inputs.sources)
    with progress("pool: reading", n_expected, "rows") as advance:
        spool.read(reading.rows(inputs.sources, inputs.layouts, advance))
    if not spool.n_rows:
        raise _nothing_left(reading)
    _check_ids(reading.ids, spool, reading.options)
    if n := reading.n_bare:
        said = several(n, "context is", "contexts are")
        note(f"Warning: {said} empty (first: {reading.first_bare}). Fill them in, or take these rows out.")
    return spool.known(inputs.tagger)


def _nothing_left(reading: _Reading) -> ExhaustedError:
    enough = f"{most} negatives" if (most := reading.options.min_negatives) > 1 else "a negative"
    why = f"has {enough} left" if not reading.n_read else f"may be read by any model, or has {enough} left"
    generated = "" if not reading.n_generated else " where gold was found; --keep-generated keeps the others"
    return ExhaustedError(f"{reading.options.sources[0]}: none of its {reading.n_given} rows {why}{generated}.")


def _check_ids(ids: Ids, spool: Spool, options: PoolOptions) -> None:
    """Raise InputError when two rows have one id."""
    pairs = ids.repeats()
    if not pairs:
        return
    named = spool.ids_of({row for pair in pairs for row in pair})
    repeated = [(a, b) for a, b in pairs if named[a] == named[b]]
    if repeated:
        first, second = repeated[0]
        raise InputError(
            f"{', '.join(str(source) for source in options.sources)}: "
            f"{several(len(repeated), 'row has', 'rows have')} the id of an earlier one (first: "
            f"{named[second]!r}, rows {first} and {second}). Give each its own, or number them all with --id-column ''."
        )


def _notes(reading: _Reading, inputs: _Inputs, known: Known) -> dict[str, Any]:
    """What the manifest records beside the shards."""
    return {
        "tagger": inputs.tagger.name if inputs.tagger else NO_TAGGER,
        "dropped_negatives": reading.maker.dropped_negatives(),
        "surface": [*reading.maker.surface.records(), *known.lengths],
        "drops": reading.drops(),
        "shared_texts": known.shared.counts,
        "made_by": _made_by(reading.options, inputs.sources, inputs.layouts),
        "feature_names": reading.maker.feature_names,
    }


def _made_by(options: PoolOptions, sources: Sequence[Source], layouts: Sequence[Layout]) -> dict[str, Any]:
    return {
        "verb": "pool",
        "sources": [_entry(source, layout) for source, layout in zip(sources, layouts, strict=True)],
        "columns": asdict(options.columns),
        "flag": options.flag,
        "lms": None if options.lms is None else {"name": options.lms.name, "sha256": sha256_file(options.lms / FOLDS)},
        "drop_empty": options.drop_empty,
        "normalise": options.normalise,
        **({"min_negatives": options.min_negatives} if options.min_negatives else {}),
        **({"keep_generated": True} if options.keep_generated else {}),
    }


def _entry(source: Source, layout: Layout) -> dict[str, Any]:
    """What the manifest says of a source: the hash of a file, or of each file of a folder."""
    hashes = source.hashes()
    one_file = len(hashes) == 1 and source.path.is_file()
    return {
        "name": source.path.name,
        "format": source.format,
        "layout": layout.name,
        "sha256": hashes[source.path.name] if one_file else hashes,
        **(
            {"labels_from": {AS_TEXT: "texts", AS_LETTERS: "letters"}.get(layout.base, layout.base)}
            if layout.base
            else {}
        ),
    }
