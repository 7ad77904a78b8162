"""Tables without a header line that are known by their rows, and the names of their columns.

MMLU   question, A, B, C, D, answer: the last cell of every row is the letter of one between
CoLA   source, label, star, sentence: the label is 0 or 1, and the star is there or not
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

_COLA = ("source", "label", "star", "sentence")
_FEWEST, _MOST = 2, 8
"""How many options a question may have."""


def columns_without_header(rows: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The names of the columns of a table without a header; none where its first row may be one."""
    rest = iter(rows)
    first = next(rest, ())
    if _is_question(first):
        return _of_questions(len(first)) if all(map(_is_question, _as_long(first, rest))) else ()
    if _is_sentence(first):
        return _COLA if all(map(_is_sentence, rest)) else ()
    return ()


def _as_long(first: Sequence[str], rest: Iterator[Sequence[str]]) -> Iterator[Sequence[str]]:
    """The rows, those of another length as empty ones."""
    return (row if len(row) == len(first) else () for row in chain((first,), rest))


def _is_question(row: Sequence[str]) -> bool:
    """Whether a row is a question with blanks in it, options, and the letter of one."""
    n = len(row) - 2
    if not _FEWEST <= n <= _MOST or " " not in row[0].strip():
        return False
    return row[-1].strip() in _letters(n)


def _of_questions(n: int) -> tuple[str, ...]:
    return ("question", *_letters(n - 2), "answer")


def _letters(n: int) -> tuple[str, ...]:
    return tuple(chr(ord("A") + i) for i in range(n))


def _is_sentence(row: Sequence[str]) -> bool:
    return len(row) == len(_COLA) and row[1] in ("0", "1") and row[2] in ("", "*") and " " in row[3].strip()
