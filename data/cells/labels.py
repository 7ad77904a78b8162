"""Which of the options of a row a label means: a number from 0 or from 1, a letter, a name, the text, a list of marks.

Reads no files; columns are chosen elsewhere.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from swag_af.data.cells.values import (
    as_list,
    integer,
    listed,
    names_of_options,
    only,
    optional,
    texts_of,
    without_padding,
)
from swag_af.data.cells.words import key_of
from swag_af.data.errors import InputError, RowError, told
from swag_af.data.tables.sources import Record
from swag_af.data.text.scripts import composed
from swag_af.data.text.wording import compatible

UNLABELLED = (None, "", "-", "-1", -1)
"""What stands for no label: an empty cell, SNLI's mark of no majority, the -1 of test files, also as `-1.0`."""


AS_TEXT = -1
"""In place of a number from which labels count: labels such as 42 are texts of options."""
AS_LETTERS = -2
"""Likewise: labels such as B are letters, also where an option of a row is called B."""


def is_unlabelled(value: Any) -> bool:
    """Whether a cell says that the row has no label; NaN says so, too."""
    if isinstance(value, str):
        return plain(value) in UNLABELLED
    return value is None or value != value or (not isinstance(value, bool | list) and value == -1)


def is_minus_one(value: Any) -> bool:
    """Whether a cell is the -1 of test files, or a class that is called so; `-1.0` is one too, as of `number_of`."""
    return number_of(value) == -1


def lacks_label(value: Any, options: Sequence[str | None], base: int) -> bool:
    """Whether a row has no label, where `base` is as in `index_of`: `-1` may be the text of one of its `options`."""
    is_text = base == AS_TEXT and isinstance(value, str) and value.strip() in _stripped(options)
    return is_unlabelled(value) and not is_text


def number_of(value: Any, options: Sequence[str | None] = ()) -> int | None:
    """The whole number in a cell; `1.0` in a text is one too, as tables write it, unless one of `options` is called
    so."""
    given = only(value)
    if isinstance(given, str) and given.strip() in _stripped(options):
        return integer(given)
    return integer(plain(given) if isinstance(given, str) else given)


def plain(text: str) -> str:
    """`1.0` as `1`, for tables with empty cells write whole numbers so; any other text without the blanks around it."""
    return re.sub(r"^([+-]?[0-9]{1,18})[.]0+$", r"\1", text.strip())


def gold_of(record: Record, label: str, options: str, *, base: int = 0) -> tuple[int, list[str | None]]:
    """`(i, options)`: the options of a row, and which of them is right by the column `label`.

    Raises RowError where the row has no label, or one that is none of its options.
    """
    texts = texts_of(record, options)
    value, names = label_of(record, label, options, texts)
    i = index_of(value, label, texts, what=options, names=names, base=base)
    if texts[i] is None:
        columns = listed(options, tuple(record))
        where = columns[i] if i < len(columns) and options not in record else f"{options.removesuffix('s')} {i}"
        raise RowError(f"has no text under {where}, which {label} says is gold")
    return i, texts


def label_of(record: Record, label: str, options: str, texts: Sequence[str | None]) -> tuple[Any, list[str]]:
    """The label of a row, as the row writes what it means (`as_written`), and what it calls its options (`texts`)."""
    value = optional(record, label)
    names = names_beside(record, options, texts, value)
    return as_written(value, texts, names), names


def as_written(value: Any, texts: Iterable[str | None], names: Iterable[str] = ()) -> Any:
    """A text as the row writes it, where none of its `texts` and `names` is that one as it is, and one is, once both
    are composed; else a wide letter or number, as Chinese and Japanese tables have them, in ASCII."""
    if not isinstance(value, str) or value.isascii():
        return value
    text, known = value.strip(), {one.strip() for one in (*texts, *names) if one is not None}
    if text in known:
        return value
    same = [one for one in known if composed(one) == composed(text)]
    if len(same) == 1:
        return same[0]
    narrow = compatible(text)
    return narrow if _LETTER.fullmatch(narrow) or integer(narrow) is not None else value


def names_beside(record: Record, options: str, texts: Sequence[str | None], value: Any) -> list[str]:
    """What a row calls its options; where it does not, and a label is no text of one and the name of a column of them,
    the names of these columns, that one as the label writes it. Letters and numbers are no names."""
    found = names_of_options(record, options, len(texts))
    called = value.strip() if isinstance(value, str) else ""
    if found or not called or len(key_of(called)) < 2 or integer(called) is not None or called in _stripped(texts):
        return found
    columns = listed(options, tuple(record))
    same = [key_of(column) == key_of(called) for column in columns]
    if len(columns) != len(texts) or len(columns) < 2 or sum(same) != 1:
        return found
    return [called if is_it else column for column, is_it in zip(columns, same, strict=True)]


def index_of(
    value: Any, label: str, options: Sequence[str | None], *, what: str, names: Sequence[str] = (), base: int = 0
) -> int:
    """Which of `options` is right: by what the row calls them (`names`), by number from `base` (unless it is `AS_TEXT`;
    0 where it is `AS_LETTERS`), by letter, by its text, by a list of that alone, or by a list that marks it among
    zeros. A truth value means `True` or `Yes`, `False` or `No` where the two options are so called, and otherwise
    counts as 0 or 1.

    `label` and `what` are the columns of label and options, for errors.
    """
    value = only(value)
    if lacks_label(value, options, base):
        raise RowError(f"has no {label}, as in a test file whose answers are kept")
    if (called := plain(str(value)) if isinstance(value, float) else str(value).strip()) in names:
        return names.index(called)
    if isinstance(value, list) or (isinstance(value, str) and re.fullmatch(r"\s*\[[01.,\s]+\]\s*", value)):
        return _marked(as_list(value, label), label, len(options))
    if isinstance(value, bool) and len(options) == 2:
        return _truth(value, options)
    number = None if base == AS_TEXT else number_of(value, options)
    if base == AS_TEXT and isinstance(value, int | float) and not isinstance(value, bool):
        value = plain(str(value))
    if number is None and isinstance(value, str):
        i = _spelt(value.strip(), label, options, what, base)
        if i is not None:
            return i
    if number is None:
        raise RowError(
            f"has {told(value)} under {label}, where a number is due, a letter (A for the first ending), or its text"
        )
    if names and None not in map(integer, names):
        raise RowError(f"has {label} {told(number)}, and {what} called {', '.join(names)}: give these names or letters")
    first = max(base, 0)
    if not 0 <= number - first < len(options):
        is_text = str(value).strip() in _stripped(options)
        as_well = "; it is the text of one, so these may be texts, not numbers" if is_text else ""
        there = f"{len(options)} {what}, which count" if len(options) != 1 else f"1 text under {what}, which counts"
        raise RowError(f"has {label} {told(number)}, and {there} from {first}{as_well}")
    return number - first


_TRUTH = ({"false", "no"}, {"true", "yes"})


def _truth(value: bool, options: Sequence[str | None]) -> int:
    """Which of two options a truth value means: the one that says so, of others the first for False."""
    said = [[(option or "").strip().lower() in words for option in options] for words in _TRUTH]
    return said[value].index(True) if all(sum(one) == 1 for one in said) else int(value)


def _marked(marks: Sequence[Any], label: str, n: int) -> int:
    if len(marks) != n or not all(integer(mark) in (0, 1) or isinstance(mark, bool) for mark in marks):
        raise RowError(
            f"has the list {told(list(marks))} under {label}, where one answer is due, or a mark, 0 or 1, for each of "
            f"its {n} options. Of questions with several right answers, choose one or leave them out"
        )
    right = [i for i, mark in enumerate(marks) if integer(mark) == 1 or mark is True]
    if len(right) != 1:
        raise RowError(f"has {len(right)} marks under {label} for {n} options, where one is due")
    return right[0]


_LETTER = re.compile(r"\(([A-Za-z])\)|([A-Za-z])[.)]?")


def _spelt(text: str, label: str, options: Sequence[str | None], what: str, base: int) -> int | None:
    """The option that a letter, unless labels are texts, or a whole option stands for, the first of equal ones; None if
    neither, RowError if they are not the same and nothing says which is meant."""
    same = [i for i, option in enumerate(options) if option is not None and option.strip() == text]
    found = _LETTER.fullmatch(text) if base != AS_TEXT else None
    letter = ord((found[1] or found[2]).upper()) - ord("A") if found else -1
    is_letter = 0 <= letter < len(options)
    if is_letter and (base == AS_LETTERS or letter in same):
        return letter
    if is_letter and same:
        raise RowError(
            f"has {told(text)} under {label}, which may stand for several of its {what}: by letter, or as the text of "
            "one. Say which with --label-base letters or text, of predictions with --prediction-base"
        )
    return letter if is_letter else min(same, default=None)


Cells = Iterable[tuple[Any, Sequence[str | None], Sequence[str]]]
"""`(label, options, their names)` of rows."""


def label_cells(records: Iterable[Record], label: str, options: str) -> Cells:
    """The label and the options of every row that has options, as `base_of` takes them."""
    for record in records:
        try:
            texts = texts_of(record, options)
        except RowError:
            continue  # told when the row itself is read
        value, names = label_of(record, label, options, texts)
        yield value, texts, names


def base_of(cells: Cells) -> int:
    """From what numbers count: 0 if all rows allow it, else 1 if they do, else `AS_TEXT` if all are texts of options.

    So nothing that could be read from 0 is read from 1: that takes a label as large as its number of options, and no 0.
    A row allows what gives it an option with a text; blanks and nulls behind the last that says something are none.
    Where neither number is allowed by all rows, nor texts, some are damaged, and the places of a row are looked at.
    Two things besides tell of numbers: where other labels are texts of options, numbers that all are such texts are
    texts; and among letters (ARC's A to D, or 1 to 4) they count from 1 where they can. Letters that are texts of
    options too are letters where all others are. Looks no further than the first number that settles it; 0 where
    nothing fits.
    """
    forms, fits, says = set[_Form](), {0, 1}, {0, 1}
    for value, texts, names in cells:
        form = _form_of(value, texts, names)
        forms.add(form)
        number = number_of(value, texts) if form in _NUMBERS else None
        if number is None:
            continue
        fits &= {base for base in (0, 1) if 0 <= number - base < len(texts)}
        says &= {base for base in (0, 1) if _says(texts, number - base)}
        if 1 not in fits and "number" in forms:
            return 0
    return _settled(forms, fits, says)


_Form = Literal["called", "called a text", "number", "number and text", "letter", "letter and text", "text", "other"]
"""What a label is; `called` are those by the name of an option, and rows without one. `and text`: of an option, too."""
_NUMBERS: tuple[_Form, ...] = ("number", "number and text")


def _form_of(value: Any, texts: Sequence[str | None], names: Sequence[str]) -> _Form:
    said = str(value).strip()
    is_text = not isinstance(value, bool) and said in _stripped(texts)
    if is_unlabelled(value) or said in names:  # an option may be called "-1" or "-"
        return "called a text" if is_text and isinstance(value, str) else "called"
    if number_of(value, texts) is not None:
        return "number and text" if is_text else "number"
    if isinstance(value, str) and _LETTER.fullmatch(said):
        return "letter and text" if is_text else "letter"
    return "text" if is_text else "other"


def _settled(forms: set[_Form], fits: set[int], says: set[int]) -> int:
    """As `base_of`, by the forms of all labels, and the bases by which all numbers are places in their rows (`fits`),
    and such that have a text (`says`)."""
    numbers, all_texts = forms & {*_NUMBERS}, "number" not in forms
    rules = (
        (AS_TEXT, all_texts and forms & {"number and text", "called a text"} and forms & {"text", "letter and text"}),
        (1, numbers and "letter" in forms and (1 in says or (1 in fits and 0 not in says))),
        (AS_LETTERS, {"letter", "letter and text"} <= forms and not numbers and "text" not in forms),
        (0, 0 in says),
        (1, 1 in says),
        (AS_TEXT, all_texts),
        (1, 1 in fits and 0 not in fits),
        (0, True),
    )
    return next(base for base, is_so in rules if is_so)


def _says(options: Sequence[str | None], i: int) -> bool:
    """Whether there is an option with this number from 0."""
    texts = without_padding(options)
    return 0 <= i < len(texts) and texts[i] is not None


def base_named(wanted: str) -> int:
    """What a flag says: a number, or that labels are texts or letters."""
    return {"text": AS_TEXT, "letters": AS_LETTERS}.get(wanted) or int(wanted)


def check_base(base: int, cells: Cells, called: str, flag: str) -> None:
    """Raise InputError where labels are numbers by `base`, and most of them as well the text of one option of their
    row: a single row that is otherwise does not say what all others mean."""
    if base == AS_TEXT:
        return
    n, n_texts = _texts_among(cells)
    if 2 * n_texts > n:
        which = "each is" if n_texts == n else f"{n_texts:,} of {n:,} are"
        raise InputError(
            f"{called}: {which} the text of an option, and could be its number as well. Say {flag} text, or {flag} "
            f"{base} if they are numbers that count from {base}."
        )


def _texts_among(cells: Cells) -> tuple[int, int]:
    """How many labels are numbers, and how many of them stand as texts among the options of their rows, once."""
    n = n_texts = 0
    for value, texts, names in cells:
        if is_unlabelled(value) or str(value).strip() in names or number_of(value, texts) is None:
            continue
        n += 1
        n_texts += isinstance(value, str) and _stripped(texts).count(value.strip()) == 1
    return n, n_texts


def base_doubt(base: int, cells: Cells) -> str:
    """What to say where labels that are taken to count from `base` might count from another number as well; empty where
    they cannot."""
    return _DOUBTS[base] if base in _DOUBTS and fits_both(cells) else ""


def doubt_beside(base: int, cells: Cells) -> str:
    """What to say of labels of one file that might count otherwise, were it not for those of others, which `base` is
    told by; empty where they cannot."""
    if base not in (0, 1) or not fits_both(cells):
        return ""
    return (
        f"its labels could count from {1 - base} as well, and only those of other files say that they count from "
        f"{base}: if they do not, read it alone with --label-base {1 - base}"
    )


_DOUBTS = {
    0: "its labels could count from 1 as well, with --label-base 1: there is no 0",
    1: "its labels that are numbers stand among letters and are taken to count from 1; with --label-base 0 they do not",
}
"""By the number from which labels are taken to count, where another is possible."""


def fits_both(cells: Cells) -> bool:
    """Whether the labels that are numbers may count from 0 as well as from 1: there is no 0, none is the largest that
    counting from 1 allows, and either way all have a text. False where there are none."""
    n = 0
    for value, texts, names in cells:
        if is_unlabelled(value) or str(value).strip() in names:
            continue
        number = number_of(value, texts)
        if number is None:
            continue
        if not (_says(texts, number) and _says(texts, number - 1)):
            return False
        n += 1
    return n > 0


def _stripped(texts: Iterable[str | None]) -> list[str]:
    return [text.strip() for text in texts if text is not None]
