"""The verb `explain`: what a code of an audit means, or the list of all codes."""

import shutil
import textwrap
from collections.abc import Iterator

from swag_af.auditing.codes.code import FAMILIES, MEANS, Code, codes, find_code
from swag_af.auditing.options import ExplainOptions

WIDEST = 100
"""Characters in a line, on terminals that are wider."""

STATUSES = """\
found  the data has the problem
hint   it may have: too little is sure, or what is sure need not be a fault
clear  looked for, and not found"""


def explain(options: ExplainOptions) -> str:
    """The text that the verb prints; raises InputError for an unknown code."""
    wanted = [find_code(one) for one in options.codes]
    width = min(shutil.get_terminal_size().columns, WIDEST)
    return "\n\n\n".join(_explanation(code, width) for code in wanted) if wanted else _list()


def _explanation(code: Code, width: int) -> str:
    """All that is known of a code, in paragraphs of lines of `width` characters."""
    head = f"{code.code}  {code.title}\n{code.name}, of the family {FAMILIES[code.family]}"
    parts = ["\n".join([title, *(_folded(line, width) for line in lines)]) for title, lines in _parts(code)]
    return "\n\n".join([head, *parts])


def _parts(code: Code) -> Iterator[tuple[str, list[str]]]:
    """The paragraphs, each with its title."""
    yield "What it means", [MEANS[code.family]]
    yield "How it is computed", [code.computed, *([f"It needs {code.needs}."] if code.needs else [])]
    yield "Source", [code.source]
    yield "When it misleads", [code.fails]
    yield "What to do", [code.mend]
    yield "In a gate", [f'"{condition}"' for condition in code.conditions]


def _folded(line: str, width: int) -> str:
    return textwrap.fill(
        line, width, initial_indent="  ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _list() -> str:
    """A line for each code, by family."""
    known = codes().values()
    width = max(len(code.name) for code in known)
    parts = []
    for family, title in FAMILIES.items():
        lines = [f"  {code.code}  {code.name:<{width}}  {code.title}" for code in known if code.family == family]
        parts += ["\n".join([title, *lines])] if lines else []
    return "\n\n".join([*parts, STATUSES, "`swag-af explain CODE` tells how one is computed and what to do."])
