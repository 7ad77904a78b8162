"""A row of a source to a question with options, or to a text with its class; what it lacks is a RowError."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from hashlib import blake2b
from typing import Any, NamedTuple

from swag_af.data.cells.labels import Cells, gold_of, is_unlabelled, label_cells
from swag_af.data.cells.values import listed, optional, text_of, texts_of, with_nested, word_of
from swag_af.data.errors import Faults, RowError
from swag_af.data.instances.guessing import Plan
from swag_af.data.sources import Record, Source


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


def rows_of(source: Source, plan: Plan, name: str) -> Iterator[tuple[str, Record]]:
    """`("val.jsonl, line 7", row)` of every row, with the columns of its layout and those within others.

    `name` is what the source is called.
    """
    columns = [column for column in asdict(plan.columns).values() if column]
    dotted = [column for column in columns if "." in column]
    asked = {column.partition(".")[0] for column in columns} | set(plan.layout.requires)
    asked |= {part for column in columns for part in listed(column, source.columns)}
    for where, row in source.read([column for column in source.columns if column in asked]):
        yield f"{name}, {where}", with_nested(row, dotted) if dotted else row


def found_in(source: Source, plan: Plan, name: str) -> Iterator[Found | None]:
    """What every row holds, None for those without a label; raises InputError at the end for rows of no use."""
    faults = Faults(str(source.path), "Mend those rows, or take them out.")
    shared: dict[str, str] = {}
    for where, row in rows_of(source, plan, name):
        try:
            mended = plan.layout.mend(row)
            if plan.columns.label_column and is_unlabelled(optional(mended, plan.columns.label_column)):
                yield None
            else:
                found = _question(mended, plan) if plan.kind == "choices" else _classified(mended, plan)
                yield _about(found, mended, plan, where, shared)
        except RowError as fault:
            faults.add(where.rpartition(", ")[2], fault)
    faults.check()


def labels_in(source: Source, plan: Plan) -> Cells:
    """The labels of a source, each with its options; none where gold has a column of its own."""
    columns = plan.columns
    if not columns.label_column or not columns.endings_column:
        return iter(())
    rows = (row for found in rows_of(source, plan, "") for row in _mended(found[1], plan))
    return label_cells(rows, columns.label_column, columns.endings_column)


def _mended(row: Record, plan: Plan) -> list[Record]:
    try:
        return [plan.layout.mend(row)]
    except RowError:
        return []  # told when the row is read


def _question(row: Record, plan: Plan) -> Found:
    """A question; where gold has a column of its own, the order of its options is drawn."""
    columns = plan.columns
    context = _joined(row, columns.passage_column, columns.context_column)
    start = text_of(row, columns.start_column) if columns.start_column else ""
    id = word_of(row, columns.id_column)
    if columns.gold_column:
        given = [text for text in texts_of(row, columns.negatives_column) if text is not None]
        options, gold = drawn_order((text_of(row, columns.gold_column), *given))
    else:
        gold, texts = gold_of(row, columns.label_column, columns.endings_column, base=plan.base)
        gold -= sum(text is None for text in texts[:gold])
        options = tuple(text for text in texts if text is not None)
    if len(options) < 2:
        raise RowError(f"has {len(options)} options, where two or more are due")
    return Found(id, context, options, gold, start)


def drawn_order(texts: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """`(options, gold)`: the texts, gold first, in an order drawn by a hash of all of them, whichever is gold."""
    salt = blake2b("\0".join(sorted(texts)).encode(), digest_size=16).digest()
    drawn = [blake2b(text.encode(), digest_size=8, key=salt).digest() for text in texts]
    order = sorted(range(len(texts)), key=drawn.__getitem__)
    return tuple(texts[i] for i in order), order.index(0)


def _classified(row: Record, plan: Plan) -> Found:
    columns = plan.columns
    text = text_of(row, columns.hypothesis_column or columns.text_column)
    premise = text_of(row, columns.premise_column) if columns.premise_column else ""
    if columns.endings_column:
        gold, names = gold_of(row, columns.label_column, columns.endings_column, base=plan.base)
        label = str(names[gold])
    else:
        label = class_name(optional(row, columns.label_column), plan.class_names)
    return Found(word_of(row, columns.id_column), premise, (text,), label)


def class_name(value: Any, names: Sequence[str] = ()) -> str:
    """The name of a class, whether it is a text, a truth value or a number, from 0 in `names` if there are any.

    `1.0` is `1`.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int | float):
        raise RowError(f"has a {type(value).__name__} as label, where a class is due")
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names):
        return names[value]
    return str(value).strip()


def _about(found: Found, row: Record, plan: Plan, where: str, shared: dict[str, str]) -> Found:
    """The same with its group, split and place; equal contexts are one text in memory."""
    columns = plan.columns
    group = word_of(row, columns.video_column)
    if not group and columns.passage_column and not columns.video_column:
        group = text_of(row, columns.passage_column)
    return found._replace(
        context=shared.setdefault(found.context, found.context),
        group=shared.setdefault(group, group),
        split=word_of(row, columns.split_column),
        where=where,
        media=word_of(row, columns.media_column),
    )


def _joined(row: Record, *names: str) -> str:
    return " ".join(text for name in names if name and (text := text_of(row, name).strip()))
