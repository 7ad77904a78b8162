"""Questions with options that would be read as texts with classes, their options left out.

    options in columns that no name tells, where the labels name them: by letter, by number, or as they are called
    options in a row each, with a mark at the right one: rows of one question, whose label is one class but for one row

Neither is found for sure, so both are refused with what to say, and `--kind classes` reads them as they are. Of what
might be a question or a group of rows, and is not read, a note says so (`doubts_of`).
"""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from swag_af.data.cells.labels import is_unlabelled, number_of, plain
from swag_af.data.cells.values import listed, optional
from swag_af.data.cells.words import NO_LABEL, is_placeholder, key_of
from swag_af.data.errors import InputError
from swag_af.data.instances.names import QUESTIONS, runs_of, shortly
from swag_af.data.instances.plan import BEFORE_OPTIONS, Plan
from swag_af.data.instances.repeats import may_be_group, may_be_id
from swag_af.data.tables.sources import Record, Source
from swag_af.data.text.scripts import tokenize_any

_ALONE = re.compile(r"id|url|link|image|img|path|file|label|annotator|worker|score|rating|prob|logit|parse|time|date")
"""Parts of the names of columns that are no options, however many stand side by side; `id` as the end of one."""
_OPTION = re.compile(r"answer|option|choice|candidate|response|ending|alternative|hypothesis|reply|completion")
"""Of names that say that a column holds an option."""
_NO_SENTENCE = 3
"""Up to so many tokens a text is a name or a phrase."""


def refuse_columns_of_options(
    source: Source, rows: Sequence[Record], names: Sequence[str], found: Mapping[str, str]
) -> None:
    """Raise InputError where columns that are not read stand as options would, and nine labels of ten name one."""
    label = found["label_column"]
    if label in source.class_names or _is_pair(found):
        return
    given = [one for row in rows if not _is_unlabelled(one := optional(row, label))]
    columns, what = _named_by(given, rows, names, found)
    if columns:
        named = ",".join(columns)
        raise InputError(
            f"{source.path}: {label} holds {what} as of {len(columns)} options, and {shortly(columns)} are not read. "
            f'If these are the options, say --endings-column "{named}" --label-column "{label}"; if these are texts '
            "with classes, say --kind classes."
        )


def _is_unlabelled(cell: Any) -> bool:
    """Whether a cell, as far as tables have words for it, says that there is no label."""
    return is_unlabelled(cell) or is_placeholder(str(cell)) or str(cell).lower() in NO_LABEL


def _is_pair(found: Mapping[str, str]) -> bool:
    """Whether texts are a premise and a hypothesis, which have classes: explanations of a label may be numbered too."""
    second = key_of(found.get("hypothesis_column", ""))
    return bool(found.get("premise_column")) and second not in (*QUESTIONS, "sentence")


def _read_of(names: Sequence[str], found: Mapping[str, str]) -> set[str]:
    return {name for column in found.values() for name in listed(column, tuple(names))}


def _named_by(
    labels: Sequence[Any], rows: Sequence[Record], names: Sequence[str], found: Mapping[str, str]
) -> tuple[list[str], str]:
    """The columns that labels name, and as what; none where there are none."""
    read = _read_of(names, found)
    asks = key_of(found.get("text_column") or found.get("hypothesis_column", "")) in QUESTIONS
    unread = [name for name in names if name not in read and "." not in name]
    for columns in runs_of(unread):
        as_numbers = len(columns) if not asks else max(2, len(columns) - 1)
        what = _called(labels, columns, n_letters=2, n_numbers=as_numbers)
        if what and not _stands_alone(columns[0]) and _differ(rows, columns):
            return columns, what
    for columns in _side_by_side(names, unread):
        n = len(columns)
        what = _called(labels, columns, n_letters=n, n_numbers=n if asks and n > 2 else n + 1)
        if what and all(_has_wording(rows, name) for name in columns) and _differ(rows, columns):
            return columns, what
    return [], ""


def _called(labels: Sequence[Any], columns: Sequence[str], *, n_letters: int, n_numbers: int) -> str:
    """By what nine of ten labels name the columns, where they name so many of them; empty where they do not."""
    n, places = len(columns), [_place(one) for one in labels]
    keys = [key_of(str(one)) for one in labels]
    ways: tuple[tuple[str, Sequence[object], set[Any], int], ...] = (
        ("names of columns", keys, {key_of(name) for name in columns if len(key_of(name)) > 1}, 2),
        ("letters or numbers", places, {*ascii_uppercase[:n]}, n_letters),
        ("letters or numbers", places, {*range(n)}, n_numbers),
        ("letters or numbers", places, {*range(1, n + 1)}, n_numbers),
    )
    for what, given, known, least in ways:
        named = [one for one in given if one in known]
        if labels and 10 * len(named) >= 9 * len(labels) and len(set(named)) >= least:
            return what
    return ""


def _place(label: Any) -> Hashable:
    """The number that a label is, its letter as a capital, or the label itself."""
    letter = re.fullmatch(r"\(?([A-Za-z])[.)]?", label.strip()) if isinstance(label, str) else None
    number = None if isinstance(label, bool) else number_of(label)
    return letter[1].upper() if letter else str(label) if number is None else number


def _stands_alone(name: str) -> bool:
    """Whether a numbered column is called as ids, addresses, scores and the like are."""
    stem = re.sub(r"(\d+|.)$", "", key_of(name))
    return stem.endswith("id") or any(part != "id" for part in _ALONE.findall(stem))


def _side_by_side(names: Sequence[str], unread: Sequence[str]) -> Iterator[list[str]]:
    """Each row of columns that are not read, as they stand, of two or more."""
    columns: list[str] = []
    for name in (*names, ""):
        if name in unread and name:
            columns.append(name)
            continue
        if len(columns) > 1:
            yield columns
        columns = []


def _differ(rows: Sequence[Record], columns: Sequence[str]) -> bool:
    """Whether columns hold texts, in most rows others than in the rows before, and others than those beside them."""
    cells = [tuple(optional(row, name) for name in columns) for row in rows]
    given = [[str(cell) for cell in row if cell is not None] for row in cells]
    are_texts = all(any(isinstance(cell, str) for cell in column) for column in zip(*cells, strict=True))
    n_apart = sum(len(set(row)) == len(row) for row in given)
    return are_texts and 2 * len({*map(tuple, given)}) > len(rows) and 2 * n_apart > len(rows)


def _has_wording(rows: Sequence[Record], name: str) -> bool:
    """Whether most cells of a column are texts of words: no names of files, addresses, numbers or codes."""
    return 2 * sum(is_wording(optional(row, name)) for row in rows) > len(rows)


def is_wording(cell: Any) -> bool:
    """Whether a cell is a text of a word or more, and no number, code, address or name of a file."""
    if not isinstance(cell, str) or not any(map(str.isalpha, cell)):
        return False
    return len(cell.split()) > 1 or not re.search(r"[0-9/\\_@:]|\w\.\w", cell)


def refuse_rows_of_options(
    source: Source, rows: Sequence[Record], names: Sequence[str], found: Mapping[str, str]
) -> None:
    """Raise InputError where a row seems to be one option of a question: most rows share their texts with others, a
    column that is not read tells these apart, and one of them has another of two classes; or they share a question that
    is not read, and the texts tell them apart."""
    label = found["label_column"]
    texts = [found[name] for name in ("premise_column", "text_column", "hypothesis_column") if found.get(name)]
    read = _read_of(names, found)
    unread = [name for name in names if name not in read and "." not in name and not key_of(name).endswith("id")]
    unread = [name for name in unread if _has_wording(rows, name)]
    if not unread or len({_mark(row, label) for row in rows} - {""}) != 2:
        return
    is_plain = {label, *texts, *unread} <= {*source.columns}
    asked = [([name], texts, name) for name in unread if key_of(name) in QUESTIONS]
    for shared, apart, left_out in ((texts, unread, ""), *asked):
        every = (row for _, row in source.read([label, *texts, *unread])) if is_plain else iter(rows)
        groups = _groups(every, label, shared, apart)
        column = next((name for i, name in enumerate(apart) if groups and _are_options(groups, i, name)), "")
        if column:
            raise _rows_of_options(source, label, shared[-1], column, left_out or column)


def _rows_of_options(source: Source, label: str, question: str, option: str, left_out: str) -> InputError:
    which = "which" if left_out == option else left_out
    return InputError(
        f"{source.path}: one row an option, it seems: rows of one {question} differ in {option}, {which} is not "
        f"read, and {label} marks one of them. Make one row of each {question}, with a list of its options and the "
        f"number of the right one; or, if these are pairs with classes, say --premise-column {question} "
        f"--hypothesis-column {option}; if {left_out} is no part of the text, say --kind classes."
    )


_Group = list[tuple[str, tuple[int, ...]]]
"""Of every row its class, and a hash of each of the columns that may tell it apart."""


def _groups(rows: Iterator[Record], label: str, texts: Sequence[str], apart: Sequence[str]) -> list[_Group]:
    """The rows of each text that several have; nothing where they are half of all rows or fewer."""
    by_text: dict[int, _Group] = {}
    n = 0
    for row in rows:
        if not (mark := _mark(row, label)):
            continue
        own = tuple(hash(str(optional(row, name))) for name in apart)
        by_text.setdefault(hash(tuple(str(optional(row, name)) for name in texts)), []).append((mark, own))
        n += 1
    groups = [group for group in by_text.values() if len(group) > 1]
    return groups if 2 * sum(map(len, groups)) > n else []


def _are_options(groups: Sequence[_Group], column: int, name: str) -> bool:
    """Whether a column tells the rows of a text apart, of which one has a class of its own in three groups of four; in
    half of them both classes stand, where the column is called as options are."""
    apart = sum(len({own[column] for _, own in group}) == len(group) for group in groups)
    marks = [[mark for mark, _ in group] for group in groups]
    classes = {mark for group in marks for mark in group}
    n_one = max(sum(group.count(one) == 1 for group in marks) for one in classes)
    n_both = sum(len(set(group)) > 1 for group in marks)
    by_name = bool(_OPTION.search(key_of(name))) and 2 * n_both > len(groups)
    return 4 * apart >= 3 * len(groups) and (4 * n_one >= 3 * len(groups) or by_name)


def _mark(row: Record, label: str) -> str:
    value = optional(row, label)
    return "" if is_unlabelled(value) or not isinstance(value, str | int | float) else plain(str(value))


def doubts_of(plan: Plan, source: Source, rows: Sequence[Record]) -> Iterator[str]:
    """What is to be said of columns that the plan does not read: the one text that may be the question, where it has
    none, or the other text of a pair, what may name the rows, and what they share, where they have no group; nothing
    where the user said that there is none."""
    unread = [name for name in plan.unread() if name in source.columns]
    if plan.kind == "choices" and not any(getattr(plan.columns, name) for name in BEFORE_OPTIONS):
        texts = [name for name in unread if _has_wording(rows, name)]
        varied = [name for name in texts if 10 * len({str(optional(row, name)) for row in rows}) >= 9 * len(rows)]
        if "context_column" in plan.guessed and len(varied) == 1:
            yield (
                f"no question is read, and {varied[0]} has another text in nearly every row: if it is the question, "
                f"say --context-column {varied[0]}"
            )
    if plan.kind == "classes" and "premise_column" in plan.guessed and not plan.columns.premise_column:
        yield from filter(None, [_may_be_pair(plan, rows, unread)])
    if "id_column" in plan.guessed and not plan.columns.id_column:
        yield from filter(None, [may_be_id(source, rows, unread)])
    if "video_column" in plan.guessed and not plan.has_group():
        yield from filter(None, [may_be_group(source, rows, unread)])


def _may_be_pair(plan: Plan, rows: Sequence[Record], unread: Sequence[str]) -> str:
    """What is to be said of the first column of sentences beside a text that stands alone; empty where there is none.
    A premise may have several hypotheses, so a quarter of its cells must differ."""
    text = plan.columns.text_column or plan.columns.hypothesis_column
    for name in unread:
        cells = [cell for row in rows if isinstance(cell := optional(row, name), str)]
        n_long = sum(len(tokenize_any(cell)) > _NO_SENTENCE for cell in cells)
        if _has_wording(rows, name) and 2 * n_long > len(rows) and 4 * len(set(cells)) > len(rows):
            first, second = sorted((text, name), key=plan.names.index)
            return (
                f"{name} is not read: if {first} and {second} are a pair, say --premise-column {first} "
                f"--hypothesis-column {second}"
            )
    return ""
