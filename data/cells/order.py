"""What columns show of the order of rows: whether two tables that have no ids in common stand in the same one.

Nothing shows that they do. The same values in another order show that they do not.
"""

from collections import Counter
from collections.abc import Sequence

from swag_af.data.cells.values import word_of
from swag_af.data.errors import RowError
from swag_af.data.tables.sources import Record


def word_or_nothing(record: Record, name: str) -> str:
    """The text or whole number of a cell; empty where it holds anything else."""
    try:
        return word_of(record, name)
    except RowError:
        return ""


def is_unique(values: Sequence[str]) -> bool:
    """Whether there are values, none of them empty or there twice."""
    return 0 < len(set(values)) == len(values) and "" not in values


def in_another_order(given: Sequence[str], there: Sequence[str]) -> bool:
    """Whether a column has the values of another table's in another order: all of them; or most of its own stand there
    once, and most of these in another row."""
    if len(given) != len(there) or given == there:
        return False
    if Counter(given) == Counter(there):
        return True
    n_there = Counter(there)
    row_of = {value: row for row, value in enumerate(there) if value and n_there[value] == 1}
    known = [(row, row_of[value]) for row, value in enumerate(given) if value in row_of]
    return 2 * len(known) > len(given) and 2 * sum(row != own for row, own in known) > len(known)


def is_count(values: Sequence[str]) -> bool:
    """Whether a column counts the rows, from 0 or from 1, in the order in which they stand."""
    return bool(values) and list(values) in ([*map(str, range(len(values)))], [*map(str, range(1, len(values) + 1))])


def counts_otherwise(values: Sequence[str]) -> bool:
    """Whether a column holds nothing but numbers, which do not rise from row to row: as pandas writes the index of rows
    that were sorted anew."""
    words = [one.strip() for one in values]
    return all(one.isdecimal() for one in words) and words != sorted(words, key=int)
