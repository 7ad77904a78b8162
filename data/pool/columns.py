"""What the columns of a row mean: a context, its gold and its negatives, in the layouts that datasets come in.

A layout says which columns hold the context (first sentence and start, or one text with both) and which the answers
(gold and negatives, or endings and the label of the right one), as lists or as numbered columns. Those of SWAG and
HellaSwag are built in; users name the columns of any other. Reading files and making pools happen elsewhere.
"""

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from json import JSONDecodeError
from typing import Any

import numpy as np

from swag_af.data.context import Context
from swag_af.data.errors import InputError
from swag_af.data.files import json_value
from swag_af.data.pool.options import Columns
from swag_af.data.pool.rows import RowError
from swag_af.data.sources import Record, Source


@dataclass(frozen=True)
class Layout:
    """The columns of a kind of dataset."""

    name: str
    columns: Columns
    default_source: str
    """The `source` of contexts whose rows name none."""
    sources: Mapping[str, str]
    """Prefix of the video -> source, for datasets that encode the source there."""


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
            source_column="",
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
            features_column="",
        ),
        "hellaswag",
        {"activitynet~": "activitynet", "wikihow~": "wikihow"},
    ),
}
"""Published layouts: SWAG's regular and full files (Zellers et al. 2018), HellaSwag's (Zellers et al. 2019). SWAG's
`fold-ind` is a row number, not a fold."""


NO_FOLD = -1
"""The fold of a row that names none, until one is assigned."""


@dataclass(frozen=True, slots=True)
class Question:
    """A row as read: its negatives have not passed the guard yet, and its fold may be `NO_FOLD`."""

    context: Context
    negatives: list[str]
    features: Any
    """(1 + len(negatives), F) rows of numbers, gold first, or None."""


def layout_of(source: Source, wanted: str, columns: Columns) -> Layout:
    """The layout whose columns `source` has; `wanted` is `auto`, `columns` or a name of LAYOUTS.

    Columns that the user named are tried before all others. Raises InputError that lists the missing columns and
    existing ones with similar names.
    """
    own = Layout("columns", columns, "custom", {})
    if wanted != "auto":
        tried = [own if wanted == "columns" else LAYOUTS[wanted]]
    else:
        tried = [own] if columns != Columns() else [own, *LAYOUTS.values()]
    missing = {layout.name: _missing_columns(layout.columns, source.columns) for layout in tried}
    for layout in tried:
        if not missing[layout.name]:
            return layout
    nearest = min(tried, key=lambda layout: len(missing[layout.name]))
    raise _no_layout(source, nearest, missing[nearest.name])


def _missing_columns(columns: Columns, names: Sequence[str]) -> list[str]:
    """The required columns that are missing; of the two ways to mark gold, those of the way that lacks fewer."""

    def missing(name: str, *, several: bool = False) -> list[str]:
        is_there = name in names or name.partition(".")[0] in names  # `choices.text` is within `choices`
        return [] if is_there or (several and _listed(name, tuple(names))) else [name]

    by_gold = missing(columns.gold_column) + missing(columns.negatives_column, several=True)
    by_label = missing(columns.endings_column, several=True) + missing(columns.label_column)
    ways = [by_gold] if columns.gold_column and columns.negatives_column else []
    ways += [by_label] if columns.endings_column and columns.label_column else []
    if not ways:
        return ["--gold-column and --negatives-column, or --endings-column and --label-column"]
    in_one_text = columns.context_column and not missing(columns.context_column)
    texts = () if in_one_text else (columns.sent1_column, columns.start_column)
    return [name for text in texts if text for name in missing(text)] + min(ways, key=len)


def _no_layout(source: Source, layout: Layout, missing: list[str]) -> InputError:
    has = ", ".join(source.columns[:12]) + (", ..." if len(source.columns) > 12 else "")
    if layout.columns.label_column in missing and _listed(layout.columns.endings_column, source.columns):
        return InputError(
            f"{source.path}: no column {', '.join(missing)}, so nothing says which ending is gold (it has {has}). A "
            "test file whose answers are kept makes no pool; if they have another name, say --label-column NAME."
        )
    hints = []
    for name in missing:
        near = difflib.get_close_matches(name, source.columns, n=1, cutoff=0.5)
        hints += [f"{near[0]} for {name}"] if near else []
    near_misses = f" Did you mean {', '.join(hints)}?" if hints else ""
    separator = " Cells are parted by commas, or by tabs in a .tsv." if len(source.columns) == 1 else ""
    return InputError(
        f"{source.path}: no column {', '.join(missing)} (it has {has}).{near_misses}{separator} Name your columns with "
        "--sent1-column NAME and so on; `swag-af pool --help` lists them."
    )


def columns_read(layout: Layout, names: Sequence[str]) -> list[str]:
    """The columns among `names` that the layout uses."""
    columns = layout.columns
    wanted = {getattr(columns, field.name) for field in fields(columns)}
    wanted |= {name.partition(".")[0] for name in _dotted(columns)}
    for stem in (columns.negatives_column, columns.endings_column):
        wanted |= set(_listed(stem, tuple(names)))
    return [name for name in names if name in wanted]


def question_of(record: Record, layout: Layout) -> Question:
    """The question in a row; raises RowError when the row is not a valid question."""
    columns = layout.columns
    record = _with_nested(record, columns)
    sent1, start = _context_of(record, layout)
    features = _optional(record, columns.features_column)
    if _has_gold(record, columns):
        gold = _text(record, columns.gold_column)
        negatives = _texts(record, columns.negatives_column)
        order = [0, *(1 + i for i, text in enumerate(negatives) if text is not None)]
    else:
        endings = _texts(record, columns.endings_column)
        names = _names_of_endings(record, columns.endings_column, len(endings))
        label = _label(_optional(record, columns.label_column), columns.label_column, endings, names)
        if endings[label] is None:
            raise RowError(f"has no text under ending {label}, which {columns.label_column} says is gold")
        gold = str(endings[label])
        negatives = [text for i, text in enumerate(endings) if i != label]
        order = [label, *(i for i, text in enumerate(endings) if i != label and text is not None)]
    video = _word(record, columns.video_column)
    source = _word(record, columns.source_column) or next(
        (source for prefix, source in layout.sources.items() if video.startswith(prefix)), layout.default_source
    )
    fold = _fold(_optional(record, columns.fold_column), columns.fold_column)
    context = Context(
        sent1, start, gold, _word(record, columns.id_column), video, source, NO_FOLD if fold is None else fold
    )
    given = [text for text in negatives if text is not None]
    return Question(context, given, _in_order(features, order, 1 + len(negatives)))


@lru_cache(maxsize=64)
def _dotted(columns: Columns) -> tuple[str, ...]:
    """The names of columns within columns, such as `choices.text`."""
    return tuple(name for field in fields(columns) if "." in (name := getattr(columns, field.name)))


def _with_nested(record: Record, columns: Columns) -> Record:
    """`record` with the cells that dotted names stand for, unless it has columns of these names."""
    dotted = [name for name in _dotted(columns) if name not in record]
    found = {name: value for name in dotted if (value := _nested(record, name)) is not None}
    return {**record, **found} if found else record


def _nested(record: Record, name: str) -> Any:
    """What `a.b` stands for: under `b` in the object under `a`, or in each object of a list; None if there is none."""
    value: Any = record
    for part in name.split("."):
        if isinstance(value, list):
            value = [item.get(part) if isinstance(item, Mapping) else None for item in value]
        else:
            value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _names_of_endings(record: Record, endings_column: str, n: int) -> list[str]:
    """What a row calls its endings: the `label` beside `choices.text`, as A to D or 1 to 4; empty where it is not."""
    parent, dot, _ = endings_column.rpartition(".")
    names = _nested(record, f"{parent}.label") if dot else None
    return [str(name) for name in names] if isinstance(names, list) and len(names) == n else []


def _has_gold(record: Record, columns: Columns) -> bool:
    """Whether gold has a column of its own; otherwise a label says which of the endings it is."""
    names = tuple(record)
    given = bool(columns.gold_column) and columns.gold_column in record
    return given and bool(_listed(columns.negatives_column, names) or not _listed(columns.endings_column, names))


def _context_of(record: Record, layout: Layout) -> tuple[str, str]:
    """sent1 and start; a column with both has priority if the user named it, and is the last resort in a published
    layout."""
    columns = layout.columns
    both = all(name in record for name in (columns.sent1_column, columns.start_column) if name)
    if columns.context_column and (layout.name == "columns" or not both):
        return split_context(_text(record, columns.context_column))
    return _text(record, columns.sent1_column), _text(record, columns.start_column) if columns.start_column else ""


_SENTENCE_END = re.compile(r"""(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)[.?!]+["')\]’”]*\s+(?=\S)""")


def split_context(text: str) -> tuple[str, str]:
    """`text` split after its last full sentence: `("He sits. She stands.", "A dog")`; start may be empty."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    if not ends or re.search(r"""[.?!]["')\]’”]*\s*$""", text):
        return text, ""
    return text[: ends[-1]].rstrip(), text[ends[-1] :]


def _optional(record: Record, name: str) -> Any:
    """The cell, None where there is none: no such column, an empty cell, NaN."""
    value = record.get(name) if name else None
    if value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    return value


def _text(record: Record, name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise RowError(f"has no text under {name}")
    return value


def _word(record: Record, name: str) -> str:
    value = _optional(record, name)
    if value is None:
        return ""
    number = value if isinstance(value, str) else _integer(value)
    if number is None:
        raise RowError(f"has a {type(value).__name__} under {name}, where a text is due")
    return str(number)


@lru_cache(maxsize=256)
def _listed(stem: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that hold a list of texts: the one called `stem`, else `stem0`, `stem-1` and so on by number.

    A last `s` of `stem` may be missing in the numbered ones: negatives, negative0.
    """
    if not stem or stem in names:
        return (stem,) if stem else ()
    pattern = re.compile(re.escape(stem.removesuffix("s")) + r"s?[-_ ]?(\d+)")
    numbered = ((found, name) for name in names if (found := pattern.fullmatch(name)))
    return tuple(name for _, name in sorted((int(found[1]), name) for found, name in numbered))


def _texts(record: Record, stem: str) -> list[str | None]:
    """The texts of a list or of numbered columns; None for a null in a list, an empty cell of a numbered column."""
    names = _listed(stem, tuple(record))
    if not names:
        raise RowError(f"has no {stem}")
    if names != (stem,):
        values: Any = [_optional(record, name) for name in names]
    else:
        values = _as_list(record[stem], stem)
    return [_item(value, i, stem) for i, value in enumerate(values)]


def _as_list(value: Any, name: str) -> list[Any]:
    """The list in a cell: a list as it is, a JSON list in a string, or a single text."""
    if isinstance(value, str):
        try:
            parsed = json_value(value) if value.lstrip().startswith("[") else value
        except JSONDecodeError as error:
            if value.lstrip()[1:].lstrip()[:1] in ('"', "'"):
                raise RowError(f"has {name} that are no JSON list ({error.msg}, column {error.colno})") from None
            parsed = value  # a text that begins with a bracket
        except ValueError as error:
            raise RowError(f"has {name} that are JSON {error}") from None
        return parsed if isinstance(parsed, list) else [value]
    if value is None or isinstance(value, float):
        return []
    if not isinstance(value, Iterable) or isinstance(value, Mapping | bytes):
        raise RowError(f"has {name} that are no list of texts")
    return list(value)


def _item(value: Any, i: int, name: str) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if not isinstance(value, str):
        raise RowError(f"has a {type(value).__name__} as number {i} of {name}, where a text is due")
    return value


def _label(value: Any, name: str, endings: Sequence[str | None], names: Sequence[str]) -> int:
    """Which ending is gold: by what the row calls its endings, by number from 0, by letter, or by its own text."""
    n = len(endings)
    if str(value).strip() in names:
        return names.index(str(value).strip())
    number = _integer(value)
    if number is None and isinstance(value, str):
        number = _spelt_label(value.strip(), name, endings)
    if number is None and value is not None:
        raise RowError(
            f"has {value!r} under {name}, where a number is due, a letter (A for the first ending), or its text"
        )
    if number is None or number == -1:
        raise RowError(f"has no {name}, as in a test file whose answers are kept")
    if not 0 <= number < n:
        raise RowError(f"has {name} {number}, and {n} endings, which count from 0")
    return number


def _spelt_label(text: str, name: str, endings: Sequence[str | None]) -> int | None:
    """The ending that a letter or a whole ending stands for; None if neither, RowError if they are not the same."""
    meant = {i for i, ending in enumerate(endings) if ending is not None and ending.strip() == text}
    letter = ord(text.upper()) - ord("A") if re.fullmatch("[A-Za-z]", text) else -1
    if 0 <= letter < len(endings):
        meant.add(letter)
    if len(meant) > 1:
        raise RowError(f"has {text!r} under {name}, which may stand for several of its endings")
    return min(meant, default=None)


def _fold(value: Any, name: str) -> int | None:
    if value is None:
        return None
    number = _integer(value)
    if number is None or number < 0:
        raise RowError(f"has {value!r} under {name}, where a number not below 0 is due")
    return number


def _integer(value: Any) -> int | None:
    """The whole number in a cell that holds an integer, a text or a float; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = value.strip()
        return int(value) if re.fullmatch(r"[+-]?[0-9]{1,18}", value) else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return int(value) if isinstance(value, int | np.integer) else None


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
