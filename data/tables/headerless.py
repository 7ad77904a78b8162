"""Tables without a header line that are known by their rows, and the names of their columns.

MMLU   question, A, B, C, D, answer: the last cell of every row is the letter of one between
CoLA   source, label, star, sentence: the label is 0 or 1, and the star is there or not
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

_COLA = ("source", "label", "star", "sentence")
_FEWEST, _MOST = 2, 8
"""How many options a question may have."""


def columns_without_header(rows: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The names of the columns of a table without a header; none where its first row may be one. Most of its texts have
    blanks."""
    rest = iter(rows)
    first = next(rest, ())
    for is_row, text, names in ((_is_question, 0, _of_questions(len(first))), (_is_sentence, 3, _COLA)):
        if is_row(first) and _is_text(first[text]) and _are_alike(chain((first,), rest), is_row, len(first), text):
            return names
    return ()


def _is_text(cell: str) -> bool:
    """Whether it is no name of a column."""
    return " " in cell.strip() or cell.strip().endswith((".", "?", "!"))


def _are_alike(rows: Iterable[Sequence[str]], is_row: Callable[[Sequence[str]], bool], length: int, text: int) -> bool:
    """Whether all rows are of a kind, and most have blanks in their cell `text`: a word may be a question, or one in a
    table of words."""
    n = n_spaced = 0
    for row in rows:
        if len(row) != length or not is_row(row):
            return False
        n, n_spaced = n + 1, n_spaced + (" " in row[text].strip())
    return 2 * n_spaced > n


def _is_question(row: Sequence[str]) -> bool:
    """Whether a row is a text, options, and the letter of one."""
    n = len(row) - 2
    return _FEWEST <= n <= _MOST and row[-1].strip() in _letters(n)


def _of_questions(n: int) -> tuple[str, ...]:
    return ("question", *_letters(n - 2), "answer")


def _letters(n: int) -> tuple[str, ...]:
    return tuple(chr(ord("A") + i) for i in range(n))


def _is_sentence(row: Sequence[str]) -> bool:
    """Whether a row is a source, a label, a star or none, and a text."""
    return len(row) == len(_COLA) and row[1] in ("0", "1") and row[2] in ("", "*")
