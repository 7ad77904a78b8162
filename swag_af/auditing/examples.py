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
    context = " ".join(filter(None, map(_short, (one.context, one.start))))
    options = [_short(text) or "(blank)" for text in one.options]
    if instances.kind == "choices":
        last = [f"{'*' if k == one.answer else '-'} {option}" for k, option in enumerate(options)]
    else:
        last = [_without_bullet(options[0]), f"* {instances.classes[one.answer]}"]
    return Example(one.id, one.where, "\n".join(filter(None, (_without_bullet(context), *last))), said)


def worst(instances: Instances, rows: np.ndarray, margins: np.ndarray, said: str) -> tuple[Example, ...]:
    """Those of `rows` (n,) with the highest `margins` (n,), of equals those whose ids come first."""
    ids = [instances.instances[row].id for row in rows.tolist()]
    order: Iterable[int] = sorted(range(len(ids)), key=lambda at: (-margins[at], ids[at]))[:AT_MOST]
    return tuple(example(instances, int(rows[at]), said) for at in order)


def _without_bullet(line: str) -> str:
    """A line that no page takes for an option."""
    return line.lstrip("-* ") if line[:2] in ("- ", "* ") else line


def _short(text: str) -> str:
    """`text` in one line, cut where it is long; half characters as escapes, since no file can hold them."""
    line = " ".join(text.encode("utf-8", "backslashreplace").decode().split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 2]} …"
