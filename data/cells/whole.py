"""Names that are whole numbers, which tables write as 7.0 where their column has an empty cell.

In JSON and Parquet such a cell is a number, which `values.word_of` reads; in CSV it is a text like any other, so the
column as a whole has to say it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from swag_af.data.tables.sources import Record, Records, Source

_N_SAMPLE = 200
_FLOAT = re.compile(r"\s*(\d+)\.0\s*")


def with_whole_numbers(source: Source, columns: Iterable[str]) -> Source:
    """`source` with `7` in place of `7.0` under those of `columns` where every cell that holds something is so written.

    Such tables are read once more, others to a few rows.
    """
    asked = [name for name in dict.fromkeys(columns) if name in source.columns]
    if source.format != "csv" or not asked:
        return source
    sample = [row for _, row in islice(source.read(asked), _N_SAMPLE)]
    possible = [name for name in asked if all(_may_be_whole(row, name) for row in sample)]
    whole = _whole(source, possible) if possible else []
    if not whole:
        return source

    def read(columns: Sequence[str]) -> Records:
        for where, row in source.read(columns):
            yield where, {name: _text(cell, as_whole=name in whole) for name, cell in row.items()}

    return replace(source, read=read)


def _text(cell: Any, *, as_whole: bool) -> Any:
    return _FLOAT.sub(r"\1", cell) if as_whole and isinstance(cell, str) else cell


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _may_be_whole(row: Record, name: str) -> bool:
    """Whether a cell is empty or so written; what was joined from another file may be a number, and says nothing."""
    cell = row.get(name)
    return _is_empty(cell) or isinstance(cell, int) or _FLOAT.fullmatch(str(cell)) is not None


def _whole(source: Source, possible: Sequence[str]) -> list[str]:
    """Those of `possible` in which some cell is so written, and no cell holds anything else."""
    left, seen = [*possible], set[str]()
    for _, row in source.read(possible):
        left = [name for name in left if _may_be_whole(row, name)]
        seen |= {name for name in left if isinstance(row.get(name), str) and not _is_empty(row[name])}
        if not left:
            break
    return [name for name in left if name in seen]
