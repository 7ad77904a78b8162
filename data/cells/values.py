"""Texts, lists and numbers in the cells of a row, and cells within cells; whatever cannot be read is a RowError.

Which column holds what is decided elsewhere.
"""

import ast
import difflib
import io
import math
import re
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from json import JSONDecodeError
from typing import Any

import numpy as np

from swag_af.data.disk.files import json_said, json_value
from swag_af.data.errors import RowError
from swag_af.data.tables.sources import Record, Source
from swag_af.data.text.scripts import END_MARKS
from swag_af.data.text.surface import final_mark
from swag_af.data.text.wording import SENTENCE_END


def optional(record: Record, name: str) -> Any:
    """The cell, None where there is none: no such column, an empty cell, NaN."""
    value = record.get(name) if name else None
    if value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    return value


def text_of(record: Record, name: str) -> str:
    """The text of a cell; of numbered or several columns, their texts with a blank between."""
    value = record.get(name)
    if isinstance(value, str):
        return value
    if name not in record and (names := listed(name, tuple(record))):
        return " ".join(text.strip() for part in names if (text := text_of(record, part)))
    if optional(record, name) is None:
        raise RowError(f"has no text under {name}")
    raise RowError(f"has {kind_of(value)} under {name}, where a text is due")


def word_of(record: Record, name: str) -> str:
    """The text or whole number of a cell, as a text; empty where there is none."""
    value = optional(record, name)
    if value is None:
        return ""
    number = value if isinstance(value, str) else integer(value)
    if number is None:
        raise RowError(f"has {kind_of(value)} under {name}, where a text is due")
    return str(number)


def group_of(record: Record, name: str) -> str:
    """The same of a cell that says what rows belong to, which a blank at either end does not change."""
    return word_of(record, name).strip()


@lru_cache(maxsize=256)
def listed(stem: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The columns among `names` that hold a list of texts.

    The one called `stem`; else those that `stem` lists, with commas between; else `stem0`, `stem-1` and so on by
    number. A last `s` of `stem` may be missing in the numbered ones: negatives, negative0.
    """
    if not stem or stem in names:
        return (stem,) if stem else ()
    several = tuple(part.strip() for part in stem.split(","))
    if len(several) > 1:
        return several if set(several) <= set(names) else ()
    return tuple(name for _, name in numbered_columns(stem, names))


def numbered_columns(stem: str, names: tuple[str, ...]) -> list[tuple[int, str]]:
    """The number and the name of each of `names` that is `stem` with a number behind it, ascending."""
    pattern = re.compile(re.escape(stem.removesuffix("s")) + r"s?[-_ ]?(\d+)")
    return sorted((int(found[1]), name) for name in names if (found := pattern.fullmatch(name)))


def numbers_of(source: Source, stem: str, names: Sequence[str]) -> tuple[int, ...]:
    """The numbers of the numbered columns of a source, of which `names` are known, ascending; none where these have no
    such. All rows of JSON are asked, since the first may leave out an option."""
    known = numbered_columns(stem, tuple(names)) if stem and stem not in names else []
    if not known or source.format not in ("json", "jsonl"):
        return tuple(number for number, _ in known)
    own = {tuple(record) for _, record in source.read(names)}
    return tuple(sorted({number for columns in own for number, _ in numbered_columns(stem, columns)}))


def with_places(record: Record, stem: str, numbers: tuple[int, ...]) -> Record:
    """`record`, with an empty cell for each numbered column of `numbers` that it lacks before its last one: lines of
    JSON may leave out an option, and those after it keep their places."""
    missing = _lacking(stem, numbers, tuple(record)) if numbers else ()
    return {**record, **dict.fromkeys(missing)} if missing else record


@lru_cache(maxsize=256)
def _lacking(stem: str, numbers: tuple[int, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    there = [] if stem in own else [number for number, _ in numbered_columns(stem, own)]
    prefix = stem.removesuffix("s")
    return tuple(f"{prefix}{number}" for number in numbers if number not in there and number < max(there, default=0))


def texts_of(record: Record, stem: str) -> list[str | None]:
    """The texts of a list or of several columns (`listed`); None for a null in a list, an empty cell of a column, and
    one of several columns that the record lacks while it has others."""
    names = listed(stem, tuple(record)) or _several(stem, record)
    if not names:
        raise RowError(f"has no {stem}")
    if names != (stem,):
        values: Any = [optional(record, name) for name in names]
    else:
        values = as_list(record[stem], stem)
    return [_item(value, i, stem) for i, value in enumerate(values)]


def seems_several(gold: Any, cell: Any, name: str) -> bool:
    """Whether the one text in `cell` seems to hold several wrong answers: a mark that parts them, or brackets with
    commas, where gold has none."""
    if not (isinstance(gold, str) and isinstance(cell, str)) or as_list(cell, name) != [cell]:
        return False
    in_brackets = _IN_BRACKETS.fullmatch(cell.strip()) and not _IN_BRACKETS.fullmatch(gold.strip())
    return bool(in_brackets) or any(mark in cell and mark not in gold for mark in (";", "|", "\n"))


_IN_BRACKETS = re.compile(r"\[.*,.*\]|\(.*,.*\)", re.DOTALL)


def _several(stem: str, record: Record) -> tuple[str, ...]:
    """The columns between commas in `stem`, if the record has any of them."""
    names = tuple(part.strip() for part in stem.split(","))
    return names if len(names) > 1 and any(name in record for name in names) else ()


def without_padding(texts: Sequence[str | None]) -> list[str | None]:
    """`texts` with None for those behind the last one that says something: lists are padded to one length with nothing,
    or with blanks."""
    n = max((i + 1 for i, text in enumerate(texts) if text and text.strip()), default=0)
    return [*texts[:n], *[None] * (len(texts) - n)]


_PLAIN = str | int | float | None


def as_list(value: Any, name: str) -> list[Any]:
    """The list in a cell: a list as it is, one in a string (JSON, or as Python writes texts), what is in an object of
    texts or numbers, or a single text."""
    if isinstance(value, str):
        try:
            parsed = json_value(value) if value.lstrip().startswith("[") else value
        except JSONDecodeError as error:
            parsed = _python_list(value)
            if parsed is None and value.lstrip()[1:].lstrip()[:1] in ('"', "'"):
                raise RowError(f"has {name} that are no JSON list ({json_said(error)}, column {error.colno})") from None
        except ValueError as error:
            raise RowError(f"has {name} that are JSON {error}") from None
        return parsed if isinstance(parsed, list) else [value]
    if value is None or isinstance(value, float):
        return []
    if isinstance(value, Mapping) and any(value.values()) and all(isinstance(v, _PLAIN) for v in value.values()):
        return list(value.values())
    if not isinstance(value, Iterable) or isinstance(value, Mapping | bytes):
        raise RowError(f"has {name} that are no list of texts")
    return list(value)


def _python_list(text: str) -> list[str | None] | None:
    """The texts of `['a', "b"]`, as a table has them whose lists were printed; None for anything else.

    So it is for an array of numpy, whose texts stand side by side without commas: Python would take them as one.
    """
    try:
        parsed = ast.literal_eval(text.strip())
        tokens = list(tokenize.generate_tokens(io.StringIO(text.strip()).readline))
    except (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
        return None
    if not isinstance(parsed, list) or not all(isinstance(one, str | None) for one in parsed):
        return None
    n_texts = sum(isinstance(one, str) for one in parsed)
    return parsed if n_texts == sum(token.type == tokenize.STRING for token in tokens) else None


def _item(value: Any, i: int, name: str) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if not isinstance(value, str):
        how = ", in quotes" if isinstance(value, int | float) else ""
        raise RowError(f"has {kind_of(value)} as number {i} of {name}, where a text is due{how}")
    return value


_KINDS = {bool: "a truth value", int: "a number", float: "a number", list: "a list", dict: "an object"}


def kind_of(value: Any) -> str:
    """What JSON calls a value."""
    return _KINDS.get(type(value), f"a {type(value).__name__}")


_NUMBERS = re.compile(r"\s*\[\s*\d{1,18}(?:\s*,\s*\d{1,18})*\s*\]\s*")


def only(value: Any) -> Any:
    """The one element of a list that has one, a list of numbers that a text spells as a list, else what is given."""
    given = json_value(value) if isinstance(value, str) and _NUMBERS.fullmatch(value) else value
    return given[0] if isinstance(given, list) and len(given) == 1 else given


def names_of_options(record: Record, stem: str, n: int) -> list[str]:
    """What a row calls its `n` options: the `label` beside `choices.text`, as A to D or 1 to 4, or the keys of an
    object; empty where it does not."""
    parent, dot, _ = stem.rpartition(".")
    names = nested(record, f"{parent}.label") if dot else record.get(stem)
    found = [str(name) for name in names] if isinstance(names, list if dot else Mapping) else []
    return found if len(found) == n else []


def with_nested(record: Record, dotted: Sequence[str]) -> Record:
    """`record` with the cells that dotted names stand for, unless it has columns of these names."""
    wanted = [name for name in dotted if name not in record]
    found = {name: value for name in wanted if (value := nested(record, name)) is not None}
    return {**record, **found} if found else record


def nested(record: Record, name: str) -> Any:
    """What `a.b` stands for: under `b` in the object under `a`, or in each object of a list; None if there is none."""
    value: Any = record
    for part in name.split("."):
        if isinstance(value, list):
            value = [item.get(part) if isinstance(item, Mapping) else None for item in value]
        else:
            value = value.get(part) if isinstance(value, Mapping) else None
    return value


def did_you_mean(missing: Iterable[str], names: Sequence[str]) -> str:
    """A sentence with the names that are nearest to those missing, whatever their letter case; empty where none is."""
    hints, folded = [], {name.casefold(): name for name in reversed(names)}
    for name in missing:
        near = [folded[key] for key in difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)]
        is_alike = bool(near) and near[0].strip() == name.strip()  # but for blanks, which nobody sees
        hints += [f"{near[0]!r} for {name!r}" if is_alike else f"{near[0]} for {name}"] if near else []
    return f" Did you mean {', '.join(hints)}?" if hints else ""


def integer(value: Any) -> int | None:
    """The whole number in a cell that holds an integer, a text or a float; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = value.strip()
        return int(value) if re.fullmatch(r"[+-]?[0-9]{1,18}", value) else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return int(value) if isinstance(value, int | np.integer) else None


def split_context(text: str) -> tuple[str, str]:
    """`text` split after its last full sentence: `("He sits. She stands.", "A dog")`; start may be empty."""
    ends = [found.end() for found in SENTENCE_END.finditer(text)]
    if not ends or final_mark(text) in END_MARKS:
        return text, ""
    return text[: ends[-1]].rstrip(), text[ends[-1] :]
