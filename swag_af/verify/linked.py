"""Items that give each other away: the answer of one stands in the first sentence of another (`data.text.linked`).

Whoever has opened one of two is not handed the other.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, delete, exists, insert, select

from swag_af.data.context import Context
from swag_af.data.text.linked import linked_rows, links_of
from swag_af.verify.schema import checks, items, linked, tasks

N_AT_ONCE = 1000


def keep_links(connection: Connection, contexts: Sequence[Context]) -> None:
    """Store which of the contexts have their answer in another, in place of what was stored."""
    connection.execute(delete(linked))
    numbers: dict[int, int] = {}  # by the list of those that tell a sentence, which all whose answer it is share
    lines = set[tuple[int, int, bool]]()
    for row, others in links_of(contexts).items():
        if id(others) not in numbers:
            numbers[id(others)] = len(numbers)
            lines |= {(other, numbers[id(others)], False) for other in others}
        lines.add((row, numbers[id(others)], True))
    made = [dict(zip(("row", "sentence", "is_answer"), line, strict=True)) for line in sorted(lines)]
    for i in range(0, len(made), N_AT_ONCE):
        connection.execute(insert(linked), made[i : i + N_AT_ONCE])


def rows_told_to(annotator: str) -> Select[Any]:
    """The rows linked with one that `annotator` has opened: as an item, a check or a question that was drawn."""
    mine = tasks.c.annotator == annotator
    as_item = select(tasks.c.row).where(mine, tasks.c.row.is_not(None))
    as_check = select(checks.c.row).join(tasks, tasks.c.item == checks.c.id).where(mine, checks.c.row.is_not(None))
    one, other = linked.alias("one"), linked.alias("other")
    is_linked = (one.c.is_answer != other.c.is_answer) & (one.c.row != other.c.row)
    rows = select(other.c.row).join(one, (one.c.sentence == other.c.sentence) & is_linked)
    return rows.where(one.c.row.in_(as_item.union(as_check)))


def is_told(connection: Connection, annotator: str) -> bool:
    """Whether an item is open that is kept from `annotator` because of such a row."""
    kept = exists().where(items.c.is_open, items.c.row.in_(rows_told_to(annotator)))
    return bool(connection.scalar(select(kept)))


def n_linked(connection: Connection) -> int:
    """How many contexts that are shown as items are linked with another one that is."""
    told, sentences = defaultdict[int, list[int]](list), dict[int, int]()
    for row, sentence, is_answer in connection.execute(select(linked)):
        if is_answer:
            sentences[row] = sentence
        else:
            told[sentence].append(row)
    links = {row: told[sentence] for row, sentence in sentences.items()}
    return len(linked_rows(links, set(connection.scalars(select(items.c.row)))))
