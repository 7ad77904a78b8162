"""Tables and lists as Markdown."""

from collections.abc import Sequence


def markdown_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as a table, the first one its header; all columns but the first to the right where they hold numbers."""
    header, *body = rows
    numeric = [all(_is_numeric(row[i]) for row in body) and i > 0 for i in range(len(header))]
    rule = "|" + "|".join("---:" if right else "---" for right in numeric) + "|"
    return [_line(header), rule, *map(_line, body)]


def bullets(items: Sequence[str]) -> list[str]:
    """A list."""
    return [f"* {item}" for item in items]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.splitlines()).replace("|", "\\|") for cell in cells) + " |"


def _is_numeric(cell: str) -> bool:
    return not cell or cell[0].isdigit() or cell[0] == "-"
