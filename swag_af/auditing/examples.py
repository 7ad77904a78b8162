"""Instances as they are shown beside what was found."""

from collections.abc import Iterable

import numpy as np

from swag_af.auditing.diagnostics import Example
from swag_af.data.instances.instances import Instances

AT_MOST = 5
"""Examples of a diagnostic."""
_LONGEST = 300
"""Characters of a text that are shown."""


def example(instances: Instances, row: int, said: str) -> Example:
    """The instance `row`: its context, then a line for each option, gold after `*`, or the text and its class."""
    one = instances.instances[row]
    lines = [without_bullet(_short(f"{one.context} {one.start}"))]
    if instances.kind == "choices":
        lines += [f"{'*' if k == one.answer else '-'} {_short(option)}" for k, option in enumerate(one.options)]
    else:
        lines += [without_bullet(_short(one.options[0])), f"* {instances.classes[one.answer]}"]
    return Example(one.id, one.where, "\n".join(filter(None, lines)), said)


def worst(instances: Instances, rows: np.ndarray, margins: np.ndarray, said: str) -> tuple[Example, ...]:
    """Those of `rows` (n,) with the highest `margins` (n,), of equals those whose ids come first."""
    ids = [instances.instances[row].id for row in rows.tolist()]
    order: Iterable[int] = sorted(range(len(ids)), key=lambda at: (-margins[at], ids[at]))[:AT_MOST]
    return tuple(example(instances, int(rows[at]), said) for at in order)


def without_bullet(line: str) -> str:
    """A line that no page takes for an option."""
    return line.lstrip("-* ") if line[:2] in ("- ", "* ") else line


def _short(text: str) -> str:
    """`text` in one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 2]} …"
