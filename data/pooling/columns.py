"""What the columns of a row mean: a context, its gold and its negatives, in the layouts that datasets come in.

A layout says which columns hold the context (first sentence and start, or one text with both) and which the answers
(gold and negatives, or endings and the label of the right one), as lists or as numbered columns. Those of SWAG and
HellaSwag are built in; users name the columns of any other. Reading files and making pools happen elsewhere.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import lru_cache
from itertools import chain, islice, takewhile
from typing import Any

from swag_af.data.cells.labels import (
    Cells,
    base_doubt,
    base_named,
    base_of,
    check_base,
    doubt_beside,
    gold_of,
    label_cells,
)
from swag_af.data.cells.options import LabelBase
from swag_af.data.cells.values import (
    did_you_mean,
    group_of,
    integer,
    listed,
    numbers_of,
    optional,
    seems_several,
    split_context,
    text_of,
    texts_of,
    with_nested,
    with_places,
    word_of,
)
from swag_af.data.cells.words import GENERATED, GROUPS, key_of, source_of
from swag_af.data.context import Context
from swag_af.data.disk.files import json_value
from swag_af.data.disk.records import strange_number
from swag_af.data.errors import InputError, RowError, told
from swag_af.data.folds import MOST_FOLDS
from swag_af.data.instances.guessing import plan_of
from swag_af.data.instances.options import ReadingOptions
from swag_af.data.instances.plan import Plan
from swag_af.data.pool.options import Columns
from swag_af.data.pool.rows import NO_FOLD
from swag_af.data.tables.sources import Record, Records, Source
from swag_af.data.work.progress import note


@dataclass(frozen=True)
class Layout:
    """The columns of a kind of dataset."""

    name: str
    columns: Columns
    default_source: str
    """The `source` of contexts whose rows name none."""
    sources: Mapping[str, str]
    """Prefix of the video -> source, for datasets that encode the source there."""
    base: int = 0
    """From what labels that are numbers count; `AS_TEXT` where they are texts of endings."""


LAYOUTS = {
    "swag": Layout(
        "swag",
        Columns(
            start_column="sent2",
            context_column="startphrase",
            gold_column="gold-ending",
            negatives_column="distractor",
            video_column="video-id",
            fold_column="",
            gold_source_column="gold-source",
            features_column="",
        ),
        "swag",
        {"anetv_": "activitynet", "lsmdc": "lsmdc"},
    ),
    "hellaswag": Layout(
        "hellaswag",
        Columns(
            sent1_column="ctx_a",
            start_column="ctx_b",
            context_column="ctx",
            gold_column="",
            negatives_column="",
            video_column="source_id",
            id_column="",
            fold_column="",
            source_column="",
            gold_source_column="",
            features_column="",
        ),
        "hellaswag",
        {"activitynet~": "activitynet", "wikihow~": "wikihow"},
    ),
}
"""Published layouts: SWAG's regular and full files (Zellers et al. 2018), HellaSwag's (Zellers et al. 2019). SWAG's
`fold-ind` is a row number, not a fold."""


N_LOOKED_AT = 200
"""How many rows say whether a column holds what it should."""
MATCH_FOLD = "match_fold"
"""The column with the fold of a matching, in its questions and in their release."""


@dataclass(frozen=True, slots=True)
class Question:
    """A row as read: its negatives have not passed the guard yet, and its fold may be `NO_FOLD`."""

    context: Context
    negatives: list[str]
    features: Any
    """(1 + len(negatives), F) rows of numbers, gold first, or None."""
    is_generated: bool = False
    """Whether the row says that its gold was generated."""


def layout_of(source: Source, wanted: str, columns: Columns) -> Layout:
    """The layout whose columns `source` has; `wanted` is `auto`, `columns` or a name of LAYOUTS.

    Columns that the user named are tried before all others, and stand in place of those of a layout that is named, too.
    Raises InputError that lists the missing columns and existing ones with similar names.
    """
    own = Layout("columns", columns, "custom", {})
    if wanted != "auto":
        tried = [own if wanted == "columns" else _with(LAYOUTS[wanted], columns)]
    else:
        is_named = replace(columns, media_columns="") != Columns()  # what is shown beside is part of no layout
        tried = [own] if is_named else [own, *(_with(layout, columns) for layout in LAYOUTS.values())]
    missing = {layout.name: _missing_columns(layout.columns, source.columns) for layout in tried}
    for lacks in missing.values():
        lacks += _misnamed(columns, source.columns, lacks)
    for layout in tried:
        if not missing[layout.name]:
            return _in_groups(layout, columns, source)
    if len(tried) > 1 and (guessed := _guessed(source, columns)):
        return guessed

    def distance(layout: Layout) -> tuple[bool, int]:
        lacks = len(missing[layout.name])  # one of which nothing is there is not what was meant
        return layout is not own and lacks == len(_missing_columns(layout.columns, ())), lacks

    nearest = min(tried, key=distance)
    raise _no_layout(source, nearest, missing[nearest.name], columns)


def _in_groups(layout: Layout, columns: Columns, source: Source) -> Layout:
    """The layout with the column that says which rows belong together, where the user named none: in a matching's
    release its folds, in which a gold is a negative of others; else the only one that is called as groups are."""
    if columns.video_column != Columns().video_column:
        return layout
    if MATCH_FOLD in source.columns:
        return replace(layout, columns=replace(layout.columns, video_column=MATCH_FOLD))
    read = columns_read(layout, source.columns)
    called = [name for name in source.columns if key_of(name) in GROUPS and name not in read]
    if layout.columns.video_column in source.columns or not called:
        return layout
    if len(called) > 1:
        names = ", ".join(called)
        note(f"{source.path.name}: {names} are not read; --video-column NAME keeps the rows of one together")
        return layout
    note(f"{source.path.name}: rows of one {called[0]} stay together; --video-column '' parts them")
    return replace(layout, columns=replace(layout.columns, video_column=called[0]))


def _with(layout: Layout, columns: Columns) -> Layout:
    """The layout, with the columns that the user named."""
    default = Columns()
    names = [one.name for one in fields(columns)]
    named = {name: getattr(columns, name) for name in names if getattr(columns, name) != getattr(default, name)}
    return replace(layout, columns=replace(layout.columns, **named))


def _missing_columns(columns: Columns, names: Sequence[str]) -> list[str]:
    """The required columns that are missing; of the two ways to mark gold, those of the way that lacks fewer."""

    def missing(name: str, *, several: bool = False) -> list[str]:
        return [] if _is_there(name, names) or (several and listed(name, tuple(names))) else [name]

    by_gold = missing(columns.gold_column) + missing(columns.negatives_column, several=True)
    by_label = missing(columns.endings_column, several=True) + missing(columns.label_column)
    ways = [by_gold] if columns.gold_column and columns.negatives_column else []
    ways += [by_label] if columns.endings_column and columns.label_column else []
    if not ways:
        return ["--gold-column and --negatives-column, or --endings-column and --label-column"]
    texts = (columns.sent1_column, columns.start_column)
    if columns.context_column and (listed(columns.context_column, tuple(names)) or not _has_all(texts, names)):
        return missing(columns.context_column, several=True) + min(ways, key=len)
    return [name for text in texts if text for name in missing(text)] + min(ways, key=len)


def _is_there(name: str, names: Sequence[str]) -> bool:
    """Whether a column is called so, or holds what is called so: `choices.text` is within `choices`."""
    return name in names or name.partition(".")[0] in names


def _has_all(texts: Sequence[str], names: Sequence[str]) -> bool:
    return all(name in names for name in texts if name)


def _misnamed(columns: Columns, names: Sequence[str], missing: Sequence[str]) -> list[str]:
    """The columns that the user named and that are not there, beside those that are `missing` anyway: a column of
    groups or ids that is misspelt would be none."""

    def is_there(name: str) -> bool:
        return _is_there(name, names) or bool(listed(name, tuple(names)))

    default = Columns()
    named = [getattr(columns, one.name) for one in fields(columns)]
    given = [name for name, usual in zip(named, astuple(default), strict=True) if name and name != usual]
    own = [part for name in given for part in ([name] if is_there(name) else map(str.strip, name.split(",")))]
    return [name for name in own if name not in missing and not is_there(name)]


def _no_layout(source: Source, layout: Layout, missing: list[str], columns: Columns) -> InputError:
    has = ", ".join(source.columns[:12]) + (", ..." if len(source.columns) > 12 else "")
    if layout.columns.label_column in missing and listed(layout.columns.endings_column, source.columns):
        return InputError(
            f"{source.path}: no column {', '.join(missing)}, so nothing says which ending is gold (it has {has}). A "
            "test file whose answers are kept makes no pool; if they have another name, say --label-column NAME, and "
            "--labels-file FILE if they stand in a second file."
        )
    published = any(not _missing_columns(_with(one, columns).columns, source.columns) for one in LAYOUTS.values())
    also = " Where columns are named no published layout is tried: add --layout swag or hellaswag." if published else ""
    separator = " Cells are parted by commas, semicolons, tabs or bars." if len(source.columns) == 1 else ""
    likely = _flags(_likely(_plan(source)))
    named = likely or "--sent1-column NAME and so on, or with --context-column, --endings-column and --label-column"
    hint = f"{did_you_mean(missing, source.columns)}{separator}{also}"
    advice = f"{hint} Name your columns{', perhaps' if likely else ''} with {named}"
    return InputError(
        f"{source.path}: no column {', '.join(missing)} (it has {has}).{advice}; `swag-af pool --help` lists them."
    )


def _plan(source: Source) -> Plan | None:
    """How `audit` reads the questions of a source whose columns are told by their names and contents alone; None where
    it does not, or by a layout of its own."""
    try:
        plan = plan_of(source, ReadingOptions(kind="choices"))
    except InputError:
        return None
    return None if plan.tagged or plan.layout.name != "columns" else plan


def _likely(plan: Plan | None) -> dict[str, str]:
    """The names of columns in a plan, by the fields of `Columns`."""
    if plan is None:
        return {}
    one = plan.columns
    context = "sent1_column" if one.start_column else "context_column"
    found = {context: one.context_column, "start_column": one.start_column, "endings_column": one.endings_column}
    found |= {name: getattr(one, name) for name in ("label_column", "gold_column", "negatives_column")}
    return {name: column for name, column in found.items() if column}


def _flags(named: Mapping[str, str]) -> str:
    """`--context-column question --label-column answer`, to be pasted."""
    return " ".join(f"--{name.replace('_', '-')} {shlex.quote(column)}" for name, column in named.items())


def _guessed(source: Source, columns: Columns) -> Layout | None:
    """The layout of what a plan names, which is told; None where a column is left over that is no id and no group, such
    as a passage before the question."""
    plan, names = _plan(source), source.columns
    named = _likely(plan)
    if plan is None or not named.keys() & {"context_column", "sent1_column"}:
        return None
    id = plan.columns.id_column
    if columns.id_column == Columns().id_column not in names and id and key_of(id) not in GROUPS:
        named["id_column"] = id
    layout = Layout("columns", replace(columns, **named), "custom", {})
    read = columns_read(layout, names)
    if any(name not in read and key_of(name) not in GROUPS for name in names):
        return None
    note(f"{source.path.name}: read with {_flags(named)}")
    return _in_groups(layout, columns, source)


def columns_read(layout: Layout, names: Sequence[str]) -> list[str]:
    """The columns among `names` that the layout uses."""
    columns = layout.columns
    wanted = {getattr(columns, field.name) for field in fields(columns)}
    wanted |= {name.partition(".")[0] for name in _dotted(columns)}
    for stem in (columns.negatives_column, columns.endings_column, columns.context_column, columns.media_columns):
        wanted |= set(listed(stem, tuple(names)))
    return [name for name in names if name in wanted]


def records_of(source: Source, layout: Layout) -> Records:
    """The rows of a source, each with an empty ending where it lacks one before its last."""
    stem = layout.columns.endings_column
    numbers = numbers_of(source, stem, source.columns)
    for where, record in source.read(columns_read(layout, source.columns)):
        yield where, with_places(record, stem, numbers)


def check_negatives(source: Source, layout: Layout) -> None:
    """Raise InputError where the negatives of most of the first rows seem to be one text that holds several."""
    columns = layout.columns
    if listed(columns.negatives_column, source.columns) != (columns.negatives_column,):
        return
    first = [with_nested(row, _dotted(columns)) for _, row in islice(records_of(source, layout), N_LOOKED_AT)]
    n = sum(_holds_several(row, columns) for row in first)
    if n and 2 * n >= len(first):
        raise InputError(
            f"{source.path}: {columns.negatives_column} seems to hold several negatives in one text, parted by a mark. "
            "Make a list of texts of them, such as a JSON list, of one text where it is one."
        )


def _holds_several(row: Record, columns: Columns) -> bool:
    gold, negatives = columns.gold_column, columns.negatives_column
    try:
        return seems_several(optional(row, gold), optional(row, negatives), negatives)
    except RowError:
        return False


def with_bases(layouts: Sequence[Layout], sources: Sequence[Source], wanted: LabelBase) -> list[Layout]:
    """The layouts, each with the number from which its labels count: `wanted`, or what all rows of its sources say."""

    def cells(name: str) -> Cells:
        pairs = zip(sources, layouts, strict=True)
        return chain.from_iterable(_label_cells(source, layout) for source, layout in pairs if layout.name == name)

    if wanted != "auto":
        pairs = zip(sources, layouts, strict=True)
        if not any(_is_there(of.columns.label_column, source.columns) for source, of in pairs):
            raise InputError(f"--label-base {wanted}: no file has labels that are read. Leave it out.")
        return [replace(layout, base=base_named(wanted)) for layout in layouts]
    bases = {name: base_of(cells(name)) for name in {layout.name for layout in layouts}}
    for name, base in bases.items():
        check_base(base, cells(name), "labels", "--label-base")
        mine = [(source, of) for source, of in zip(sources, layouts, strict=True) if of.name == name]
        if doubt := base_doubt(base, cells(name)):
            note(f"{', '.join(source.path.name for source, _ in mine)}: {doubt}")
        elif len(mine) > 1:
            for source, of in mine:
                if doubt := doubt_beside(base, _label_cells(source, of)):
                    note(f"{source.path.name}: {doubt}")
    return [replace(layout, base=bases[layout.name]) for layout in layouts]


def _label_cells(source: Source, layout: Layout) -> Cells:
    """The labels of a source, each with its endings, up to a row whose gold has a column of its own."""
    columns = layout.columns
    records = (with_nested(row, _dotted(columns)) for _, row in records_of(source, layout))
    labelled = takewhile(lambda row: not _has_gold(row, columns), records)
    return label_cells(labelled, columns.label_column, columns.endings_column)


def question_of(record: Record, layout: Layout) -> Question:
    """The question in a row; raises RowError when the row is not a valid question."""
    columns = layout.columns
    record = with_nested(record, _dotted(columns))
    sent1, start = _context_of(record, layout)
    features = optional(record, columns.features_column)
    if _has_gold(record, columns):
        gold = text_of(record, columns.gold_column)
        negatives = texts_of(record, columns.negatives_column)
        order = [0, *(1 + i for i, text in enumerate(negatives) if text is not None)]
    else:
        label, endings = gold_of(record, columns.label_column, columns.endings_column, base=layout.base)
        gold = str(endings[label])
        negatives = [text for i, text in enumerate(endings) if i != label]
        order = [label, *(i for i, text in enumerate(endings) if i != label and text is not None)]
    video = group_of(record, columns.video_column)
    source = word_of(record, columns.source_column) or next(
        (source for prefix, source in layout.sources.items() if video.startswith(prefix)), layout.default_source
    )
    fold = _fold(optional(record, columns.fold_column), columns.fold_column)
    context = Context(
        sent1,
        start,
        gold,
        word_of(record, columns.id_column),
        video,
        source,
        NO_FOLD if fold is None else fold,
        _media(record, columns.media_columns),
    )
    given = [text for text in negatives if text is not None]
    features = _in_order(features, order, 1 + len(negatives))
    return Question(context, given, features, _is_generated(optional(record, columns.gold_source_column)))


def _is_generated(source: object) -> bool:
    """Whether the cell says so; other words say nothing of it."""
    try:
        return isinstance(source, str) and source_of(source) == GENERATED
    except RowError:
        return False


def names_of_rows(columns: Columns) -> tuple[str, ...]:
    """The columns by which a row, or what it shares with others, is called."""
    return columns.id_column, columns.video_column, columns.source_column, columns.fold_column


def _media(record: Record, names: str) -> dict[str, Any]:
    """What the columns `names` show, as it stands, JSON in a text being read; nothing of empty cells, and of columns
    that a row lacks. RowError for a number that is infinite, none or beyond 64 bits."""
    given = tuple(record)
    cells = {name: record[name] for part in names.split(",") for name in listed(part.strip(), given)}
    media = {name: _unpacked(cell) for name, cell in cells.items() if cell is not None and cell != ""}
    for name, value in media.items():
        if bad := strange_number(value, name):
            raise RowError(f"has media that cannot be kept ({bad}). Write null where there is none, or a text")
    return media


def _unpacked(cell: Any) -> Any:
    if not isinstance(cell, str) or not cell.startswith(("[", "{")):
        return cell
    try:
        return json_value(cell)
    except ValueError:
        return cell


@lru_cache(maxsize=64)
def _dotted(columns: Columns) -> tuple[str, ...]:
    """The names of columns within columns, such as `choices.text`."""
    return tuple(name for field in fields(columns) if "." in (name := getattr(columns, field.name)))


def _has_gold(record: Record, columns: Columns) -> bool:
    """Whether gold has a column of its own; otherwise a label says which of the endings it is."""
    names = tuple(record)
    given = bool(columns.gold_column) and columns.gold_column in record
    return given and bool(listed(columns.negatives_column, names) or not listed(columns.endings_column, names))


def _context_of(record: Record, layout: Layout) -> tuple[str, str]:
    """sent1 and start; a column with both has priority if the user named it, and is the last resort in a published
    layout."""
    columns = layout.columns
    both = all(name in record for name in (columns.sent1_column, columns.start_column) if name)
    if columns.context_column and (layout.name == "columns" or not both):
        return split_context(text_of(record, columns.context_column))
    start = columns.start_column
    is_null = start in record and optional(record, start) is None  # as tables write an empty one
    return text_of(record, columns.sent1_column), "" if not start or is_null else text_of(record, start)


def _fold(value: Any, name: str) -> int | None:
    if value is None:
        return None
    number = integer(value)
    if number is None or not 0 <= number < MOST_FOLDS:
        raise RowError(f"has {told(value)} under {name}, where a number from 0, below {MOST_FOLDS:,}, is due")
    return number


def _in_order(features: Any, order: list[int], n_given: int) -> Any:
    """`features` with those of gold first and without those of missing negatives."""
    if features is None:
        return None
    try:
        listed = json_value(features) if isinstance(features, str) else list(features)
    except (TypeError, ValueError):
        raise RowError("has features that are no list of lists of numbers") from None
    if not isinstance(listed, list) or len(listed) != n_given:
        n = len(listed) if isinstance(listed, list) else "no"
        raise RowError(f"has features of {n} endings, and {n_given} endings")
    return [listed[i] for i in order]
