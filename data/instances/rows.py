"""The rows of a source to questions with options, or to texts with their classes; what one lacks is a RowError."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from hashlib import blake2b
from string import ascii_uppercase
from typing import Any, NamedTuple

from swag_af.data.cells.labels import (
    AS_TEXT,
    Cells,
    gold_of,
    is_minus_one,
    is_unlabelled,
    label_cells,
    lacks_label,
    plain,
)
from swag_af.data.cells.values import (
    group_of,
    integer,
    kind_of,
    listed,
    names_of_options,
    optional,
    text_of,
    texts_of,
    with_nested,
    with_places,
    without_padding,
    word_of,
)
from swag_af.data.cells.words import is_placeholder, source_of, variant_of
from swag_af.data.errors import Faults, RowError, several, told
from swag_af.data.instances.instances import Instance
from swag_af.data.instances.plan import Plan, plain_rows
from swag_af.data.instances.tagged import OBJECTS, has_names, kinds_in
from swag_af.data.tables.sources import Record, Source


class Found(NamedTuple):
    """An instance before the classes of its set are known."""

    id: str
    """As its row says; empty where it says none."""
    context: str
    options: tuple[str, ...]
    answer: int | str
    """The number of the right option, or the name of the class."""
    start: str = ""
    group: str = ""
    split: str = ""
    where: str = ""
    media: str = ""
    contrast_set: str = ""
    variant: str = ""
    question: str = ""
    stage: str = ""
    gold_source: str = ""
    objects: tuple[str, ...] = ()
    places: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    video: str = ""


class Hidden(NamedTuple):
    """A row without a label."""

    id: str
    """As it says; empty where it says none."""
    where: str
    contrast_set: str
    before: int
    """How many instances of its source stand before it."""


UNLABELLED = "rows have no label and were left out"
MINUS_ONE = "of these have -1: if that is a class, say --label-base text"
NO_TEXT = "options without a text were left out of their rows"
BLANK = "blank options stay, since others stand behind them or the label says that they are right (AF509)"
UNSAID = 'options that are wrong say only "-", "NA" or such, and stay: if they stand for no option, empty these cells'
UNKNOWN_SOURCE = "rows do not say whether gold was found or generated in a word that is known"
REPEATED = "rows have the {} of an earlier one, and a number behind it"
"""What a source may have that is told, and how often."""
_OF_ONE = {
    NO_TEXT: "option without a text was left out of its row",
    BLANK: "blank option stays, since others stand behind it or the label says that it is right (AF509)",
    UNSAID: 'option that is wrong says only "-", "NA" or such, and stays: if it stands for no option, empty this cell',
    UNKNOWN_SOURCE: "row does not say whether gold was found or generated in a word that is known",
}


def counted(n: int, what: str) -> str:
    """`2 options without a text were left out of their rows`, and the like of one."""
    return f"{n:,} {_OF_ONE.get(what, what) if n == 1 else what}"


def found_in(source: Source, plan: Plan, name: str, tally: Counter[str], hidden: list[Hidden]) -> Iterator[list[Found]]:
    """What every row holds, none if it has no label; raises InputError at the end for rows of no use.

    `name` is what the source is called; `tally` counts what is to be told of it, and `hidden` gets the rows
    without a label.
    """
    faults = Faults(str(source.path), "Mend those rows, or take them out.")
    shared: dict[str, str] = {}
    unique: dict[str, str] = {}
    repeats = Counter[str]()
    n = 0
    for where, row in rows_of(source, plan, name):
        found: list[Found] = []
        try:
            _check_unique(row, plan.layout.unique, where, unique)
            numbered = _numbered(row, plan.layout.numbered, repeats, tally)
            for plain in _plain(numbered, plan, where):
                if _lacks_label(plain, plan):
                    hidden.append(_hidden(plain, plan, where, n + len(found), tally))
                else:
                    found.append(_found(plain, plan, where, shared, tally))
        except RowError as fault:
            faults.add(where.rpartition(", ")[2], fault)
        n += len(found)
        yield found
    faults.check()


def rows_of(source: Source, plan: Plan, name: str) -> Iterator[tuple[str, Record]]:
    """`("val.jsonl, line 7", row)` of every row, with the columns of its layout and those within others."""
    columns = [column for column in (*asdict(plan.columns).values(), plan.video()) if column]
    dotted = [column for column in columns if "." in column]
    asked = {column.partition(".")[0] for column in columns} | {*plan.layout.requires, *plan.layout.reads, OBJECTS}
    asked |= {part for column in columns for part in listed(column, source.columns)}
    for where, row in source.read([column for column in source.columns if column in asked]):
        whole = with_places(row, plan.columns.endings_column, plan.numbers)
        yield f"{name}, {where}", with_nested(whole, dotted) if dotted else whole


def _plain(row: Record, plan: Plan, where: str) -> Sequence[Record]:
    return plain_rows(row, plan.layout, plan.tagged, plan.persons, place_of(where))


def place_of(where: str) -> str:
    """`val:7` of `val.jsonl, line 7`."""
    name, _, place = where.rpartition(", ")
    return f"{re.sub(r'[.][A-Za-z]+$', '', name)}:{place.rpartition(' ')[2]}"


def has_own_ids(instances: Iterable[Instance]) -> bool:
    """Whether ids were given; else file and line stand for them."""
    return not all(f"{one.id}:".startswith(f"{place_of(one.where)}:") for one in instances)


def _check_unique(row: Record, column: str, where: str, seen: dict[str, str]) -> None:
    """Raise RowError where an earlier row has the same under `column`; `seen` says which."""
    value = word_of(row, column) if column else ""
    place = where.rpartition(", ")[2]
    if value and seen.setdefault(value, place) != place:
        raise RowError(f"has the {column} {told(value)} of {seen[value]}")


def _numbered(row: Record, column: str, repeats: Counter[str], tally: Counter[str]) -> Record:
    """The row with a number behind what is under `column` where earlier rows have the same; `repeats` counts them."""
    value = word_of(row, column) if column else ""
    if not value:
        return row
    repeats[value] += 1
    if repeats[value] == 1:
        return row
    tally[REPEATED.format(column)] += 1
    return {**row, column: f"{value}:{repeats[value]}"}


def labels_in(source: Source, plan: Plan) -> Cells:
    """The labels of a source, each with its options; none where gold has a column of its own."""
    columns = plan.columns
    if not columns.label_column or not columns.endings_column:
        return iter(())
    rows = (plain for where, row in rows_of(source, plan, "") for plain in _undamaged(row, plan, where))
    return label_cells(rows, columns.label_column, columns.endings_column)


def _undamaged(row: Record, plan: Plan, where: str) -> Sequence[Record]:
    try:
        return _plain(row, plan, where)
    except RowError:
        return ()  # told when the row is read


def _hidden(row: Record, plan: Plan, where: str, before: int, tally: Counter[str]) -> Hidden:
    """What is kept of a plain row without a label."""
    columns = plan.columns
    tally[UNLABELLED] += 1
    tally[MINUS_ONE] += plan.kind == "classes" and is_minus_one(optional(row, columns.label_column))
    return Hidden(word_of(row, columns.id_column), where, group_of(row, columns.contrast_set_column), before)


def _found(row: Record, plan: Plan, where: str, shared: dict[str, str], tally: Counter[str]) -> Found:
    """What a plain row with a label holds."""
    found = _question(row, plan, tally) if plan.kind == "choices" else _classified(row, plan)
    return _about(found, row, plan, where, shared, tally)


def _lacks_label(row: Record, plan: Plan) -> bool:
    columns = plan.columns
    if not columns.label_column:
        return False
    label = optional(row, columns.label_column)
    if not is_unlabelled(label) or not columns.endings_column:
        return is_unlabelled(label) and not (plan.base == AS_TEXT and is_minus_one(label))
    return lacks_label(label, texts_of(row, columns.endings_column), plan.base)


def _question(row: Record, plan: Plan, tally: Counter[str]) -> Found:
    """A question; where gold has a column of its own, the order of its options is drawn."""
    columns = plan.columns
    if "endings_column" in plan.guessed:
        _check_last_option(row, columns.endings_column)
    passage = columns.passage_column if optional(row, columns.passage_column) is not None else ""
    context = _joined(row, passage, columns.context_column)
    start = text_of(row, columns.start_column) if columns.start_column else ""
    id, places, names = word_of(row, columns.id_column), tuple[int, ...](), tuple[str, ...]()
    if columns.gold_column:
        texts, right = without_padding(texts_of(row, columns.negatives_column)), text_of(row, columns.gold_column)
        if not right.strip():
            raise RowError(f"has no text under {columns.gold_column}, which is the right answer")
        given = [text for text in texts if text is not None]
        options, gold = drawn_order((right, *given))
    else:
        gold, texts = gold_of(row, columns.label_column, columns.endings_column, base=plan.base)
        texts = [*texts[: gold + 1], *without_padding(texts[gold + 1 :])]
        gold -= sum(text is None for text in texts[:gold])
        options = tuple(text for text in texts if text is not None)
        there = tuple(i for i, text in enumerate(texts) if text is not None)
        places = there if there != tuple(range(len(there))) else ()
        names = _own_names(row, columns.endings_column, len(texts))
    tally[NO_TEXT] += sum(text is None for text in texts)
    tally[BLANK] += sum(not text.strip() for text in options)
    tally[UNSAID] += sum(is_placeholder(text) for i, text in enumerate(options) if i != gold)
    if len(options) < 2:
        raise RowError(f"has {several(len(options), 'option')}, where two or more are due")
    return Found(id, context, options, gold, start, places=places, names=names)


def _check_last_option(row: Record, options: str) -> None:
    """Raise RowError where the row has one more lettered column than all of the first rows: `D` after `A,B,C`."""
    last = options.rpartition(",")[2]
    following = last[:-1] + chr(ord(last[-1]) + 1) if last != options else ""
    if isinstance(optional(row, following), str):
        raise RowError(
            f"has {following}, and the first rows no such option: say --endings-column {options},{following}"
        )


def _own_names(row: Record, options: str, n: int) -> tuple[str, ...]:
    """What a row calls its `n` options where that says more than their order: no numbers, and not A, B and so on."""
    names = tuple(name.strip() for name in names_of_options(row, options, n))
    is_order = [name.upper() for name in names] == list(ascii_uppercase[:n])
    return () if is_order or any(integer(name) is not None for name in names) else names


def drawn_order(texts: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """`(options, gold)`: the texts, gold first, in an order drawn by a hash of all of them, whichever is gold; of those
    equal to gold the hash says which it is."""
    salt = blake2b("\0".join(sorted(texts)).encode(), digest_size=16).digest()
    drawn = [blake2b(text.encode(), digest_size=8, key=salt).digest() for text in texts]
    order = sorted(range(len(texts)), key=drawn.__getitem__)
    options = tuple(texts[i] for i in order)
    equal = [place for place, text in enumerate(options) if text == texts[0]]
    return options, equal[salt[0] % len(equal)]


def _classified(row: Record, plan: Plan) -> Found:
    columns = plan.columns
    text = text_of(row, columns.hypothesis_column or columns.text_column)
    premise = text_of(row, columns.premise_column) if columns.premise_column else ""
    if columns.endings_column:
        gold, names = gold_of(row, columns.label_column, columns.endings_column, base=plan.base)
        if tuple(names) != plan.class_options:
            raise RowError(
                f"has other {columns.endings_column} than the first rows, which were taken for classes, since they all "
                "have the same. Say --kind choices, if they are options"
            )
        label = str(names[gold])
    else:
        label = class_name(optional(row, columns.label_column), plan.class_names)
    return Found(word_of(row, columns.id_column), premise, (text,), label)


def class_name(value: Any, names: Sequence[str] = ()) -> str:
    """The name of a class, whether it is a text, a truth value or a number, from 0 in `names` if there are any.

    `1.0` is `1`, in a text too.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int | float):
        raise RowError(f"has {kind_of(value)} as label, where a class is due")
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names):
        return names[value]
    return plain(str(value))


def _about(found: Found, row: Record, plan: Plan, where: str, shared: dict[str, str], tally: Counter[str]) -> Found:
    """The same with its group, split, place and sets; equal contexts are one text in memory."""
    columns = plan.columns
    contrast_set = group_of(row, columns.contrast_set_column)
    group = group_of(row, columns.video_column)
    if not group and columns.passage_column and not columns.video_column:
        group = "" if optional(row, columns.passage_column) is None else text_of(row, columns.passage_column)
    group = group or contrast_set
    return found._replace(
        context=shared.setdefault(found.context, found.context),
        group=shared.setdefault(group, group),
        split=group_of(row, columns.split_column),
        where=where,
        media=word_of(row, columns.media_column),
        contrast_set=contrast_set,
        variant=variant_of(word_of(row, columns.variant_column)),
        question=group_of(row, columns.question_id_column),
        stage=word_of(row, columns.stage_column),
        gold_source=_source(row, columns.source_column, tally),
        video=group_of(row, plan.video()),
        objects=kinds_in(row) if plan.tagged or has_names(row) else (),
    )


def _source(row: Record, column: str, tally: Counter[str]) -> str:
    """Where gold is from; counted where the row says it in an unknown word."""
    try:
        return source_of(word_of(row, column))
    except RowError:
        tally[UNKNOWN_SOURCE] += 1
        return ""


def _joined(row: Record, *names: str) -> str:
    return " ".join(text for name in names if name and (text := text_of(row, name).strip()))
