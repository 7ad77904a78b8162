"""Columns whose values repeat: what says which rows belong together, and what is no id.

All rows are asked, where a column of the source is: the first ones of a table in no order may each be of another group.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from swag_af.data.cells.order import word_or_nothing
from swag_af.data.cells.words import MORE_GROUPS, key_of
from swag_af.data.tables.sources import Record, Source

_ID = re.compile(r".*(?:[_\-. ]id|ID|[a-z]Id)|id")
_OF_OTHERS = re.compile(r"annotator|worker|user|author|rater|label|class|categor|type|topic|tag|answer|option|model")
"""Parts of the names of ids of what is no group of questions."""
_MAY_NAME = re.compile(r"(?!-?\d*\.\d+$)[^\s:/]{1,40}")
"""What may be an id: no text of several words, no number with a point, no address."""
_FEWEST_IDS = 10


def counted(source: Source, rows: Sequence[Record], name: str) -> Counter[str]:
    """How many rows have each value of a column that is not empty."""
    every: Iterable[Record] = (row for _, row in source.read([name])) if name in source.columns else rows
    counts = Counter(word_or_nothing(row, name) for row in every)
    del counts[""]
    return counts


def makes_groups(counts: Counter[str]) -> bool:
    """Whether a tenth of the rows, at least, share their value with another, and not all of them one."""
    shared = sum(n for n in counts.values() if n > 1)
    return len(counts) > 1 and 10 * shared >= counts.total()


def first_unique(names: Sequence[str], count: Callable[[str], Counter[str]]) -> str:
    """The first column of several whose values do not repeat, else the first; empty where there is none."""
    if len(names) < 2:
        return "".join(names)
    return next((name for name in names if all(n == 1 for n in count(name).values())), names[0])


def may_be_id(source: Source, rows: Sequence[Record], unread: Iterable[str]) -> str:
    """What is to be said of the first column that is not read and has a short word of its own in each row; empty where
    there is none, and of a few rows, which anything tells apart."""
    for name in unread:
        words = [word_or_nothing(row, name) for row in rows]
        is_id = len(set(words)) == len(words) >= _FEWEST_IDS and all(map(_MAY_NAME.fullmatch, words))
        if name and is_id and max(counted(source, rows, name).values()) == 1:
            return f"{name} is another in each row: if it names the row, say --id-column {name}"
    return ""


def may_be_group(source: Source, rows: Sequence[Record], unread: Iterable[str]) -> str:
    """What is to be said of the first column that is not read, is called as ids are, and has groups of rows, one to a
    hundred of these at least; empty where there is none."""
    for name in unread:
        key = key_of(name)
        is_id = key in MORE_GROUPS or (_ID.fullmatch(name) and not _OF_OTHERS.search(key))
        counts = counted(source, rows, name) if is_id and name in source.columns else Counter[str]()
        if makes_groups(counts) and 100 * len(counts) >= counts.total():
            of_rows = f"{len(counts):,} in {counts.total():,} rows"
            return f"rows share their {name}, {of_rows}: if those of one belong together, say --video-column {name}"
    return ""
