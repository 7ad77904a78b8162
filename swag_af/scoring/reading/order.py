"""Whether predictions that are matched by their order, or by numbers that count it, stand in the order of the dataset.

Nothing shows that they do. A column of the dataset may show that they do not: the same values in another order.
"""

from collections.abc import Sequence
from pathlib import Path

from swag_af.data.cells.order import in_another_order, is_unique, word_or_nothing
from swag_af.data.errors import InputError
from swag_af.scoring.reading.answers import HIDDEN, Cells
from swag_af.scoring.reading.forms import Table


def check_order(path: Path, table: Table, rows: Sequence[int], cells: Cells) -> str:
    """Raise InputError where what stands without ids in the order of `rows`, those without a label among them, has a
    column of the dataset in another order; else what is to be said:
    which columns show that the order is the same."""
    own = {table.answer, *table.scores, ""}
    shared = [name for name in table.source.columns if name not in own and name in cells.beside]
    if not shared:
        return ""
    read = [record for (_, record), row in zip(table.source.read(shared), rows, strict=True) if row != HIDDEN]
    same = []
    for name in shared:
        given, there = [word_or_nothing(record, name) for record in read], cells.beside[name]
        if given == there:
            same += [name] if len(set(there)) > 1 else []
        elif in_another_order(given, there):
            by = f"Say --prediction-id {name} and --id-column {name}" if is_unique(there) else "Give each its id"
            raise InputError(
                f"{path}: without ids, and its {name} stands in another order than in {cells.instances.name}. {by}, or "
                "bring them to one order."
            )
    return f", as {', '.join(same[:3])} {'says' if len(same) == 1 else 'say'}" if same else ""


def rows_by_column(table: Table, ids: Sequence[str], cells: Cells) -> list[int]:
    """The rows that `ids` mean in the column of the dataset that is called as theirs; nothing where it has none."""
    return _means(ids, cells.beside.get(table.id, ()))


def check_numbers(path: Path, table: Table, ids: Sequence[str], rows: Sequence[int], cells: Cells) -> None:
    """Raise InputError where the `ids` that were taken for those of `rows` are all in another column of the dataset,
    and of other rows."""
    if not all(map(str.isdecimal, ids)) or rows_by_column(table, ids, cells) == list(rows):
        return
    for name, there in cells.beside.items():
        meant = _means(ids, there)
        if meant and meant != list(rows):
            say = f"Say --id-column {name}" if name else "Give that column a name, and say it with --id-column"
            raise InputError(
                f"{path}: its {table.id} may count the rows of {cells.instances.name}, or be its column {name or 1}, "
                f"which means others. {say}; or give the predictions in the order of the dataset without {table.id}."
            )


def _means(ids: Sequence[str], there: Sequence[str]) -> list[int]:
    """The row of each of `ids` in a column; nothing where one is not there, or values stand there twice."""
    row_of = {value: row for row, value in enumerate(there)}
    return [row_of[id] for id in ids] if is_unique(there) and all(id in row_of for id in ids) else []
