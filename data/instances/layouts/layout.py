"""What a layout is: the columns by which a kind of file is known, and how its rows become plain ones.

A plain row is one instance. Its columns are read as those of any other file are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from swag_af.data.instances.instances import Kind
from swag_af.data.instances.options import InstanceColumns
from swag_af.data.tables.sources import Record

Expand = Callable[[Record, str], Sequence[Record]]
"""`expand(row, place)`: the plain rows of a row whose place is called `val:7`; raises RowError if it has another
layout, or is damaged."""


def as_it_is(record: Record, place: str) -> Sequence[Record]:
    """The row itself."""
    return (record,)


def one_each(mend: Callable[[Record], Record]) -> Expand:
    """Makes one plain row of each."""
    return lambda record, _: (mend(record),)


@dataclass(frozen=True)
class Layout:
    """One kind of file; columns that it does not name are looked for."""

    name: str
    requires: tuple[str, ...] = ()
    """Columns by which it is known."""
    kind: Kind | None = None
    """None where the columns say it."""
    columns: InstanceColumns = field(default_factory=InstanceColumns)
    """Of the plain rows."""
    expand: Expand = as_it_is
    reads: tuple[str, ...] = ()
    """Further columns that `expand` looks at, where a file has them."""
    made: Callable[[Record], Mapping[str, str]] = lambda _: {}
    """Of the columns of plain rows that `expand` makes, those of the file that they are made of, by a row of it:
    `input`, or `answers and rationales`; empty of what is counted, or what is in no column."""
    tagged: tuple[str, ...] = ()
    """Columns that hold lists of words and numbers of objects (`swag_af.data.instances.tagged`)."""
    is_sure: bool = False
    """Whether its columns tell it without a look at the rows, so that damaged rows are told as such."""
    unique: str = ""
    """The column that no two rows share."""
    video: str = ""
    """The column of plain rows that says what they ask about, where their group may be the fold of a matching."""
    numbered: str = ""
    """The column whose repeats are told apart by a number, `val-35` and `val-35:2`, and counted."""


COLUMNS = Layout("columns")
"""Columns as they are."""
