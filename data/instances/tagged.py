"""Texts that are lists of words and of numbers of objects, as in VCR, as plain text.

    ["What", "is", [0], "doing", "?"]      with the row's objects person, tie, person, chair
    tags    What is [person1] doing?       the number counts objects of one kind from 1, so 2 is [person2], 3 [chair1]
    names   What is Alex doing?            persons have neutral names, other objects their tags

Whoever has a number has the same name in all texts of a row, and nobody else has it. Several objects in one place are
joined: `[0, 2]` is "[person1] and [person2]". A row names the kinds of its objects in the column `objects`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from swag_af.data.errors import told
from swag_af.data.tables.sources import Record
from swag_af.data.tokens import detokenize

OBJECTS = "objects"
"""The column of the kinds of objects, in the order in which they are numbered from 0."""
CHOICES = ("answer_choices", "rationale_choices")
"""Columns of VCR that hold several texts, so that texts of one word each are no words of one text."""
NAMES = (
    *("Alex", "Blake", "Cameron", "Dakota", "Ellis", "Finley", "Hayden", "Jordan", "Kai", "Logan", "Morgan", "Nico"),
    *("Oakley", "Quincy", "Reese", "Taylor", "Yael", "Adair", "Corey", "Devon", "Emery", "Flynn", "Harley", "Jamie"),
    *("Kelly", "Leslie", "Marley", "Rowan", "Tracy", "Zion"),
)
"""Names that do not tell a gender, for persons 1, 2 ...; the 31st is `Alex2`, and so on."""
PERSON_TAG = re.compile(r"\[person([1-9]\d*)\]")
"""A person in a text."""

Persons = Literal["tags", "names"]


def tagged_columns(rows: Sequence[Record]) -> tuple[str, ...]:
    """The columns that hold lists of words, some with numbers of objects, in files whose rows have `objects`."""
    with_objects = [row for row in rows if isinstance(row.get(OBJECTS), list)]
    columns = dict.fromkeys(name for row in with_objects for name in row if name != OBJECTS)
    return tuple(name for name in columns if any(_has_tag(row.get(name)) for row in with_objects))


def _has_tag(value: Any) -> bool:
    """Whether a text, or one of a list of texts, has words and a number of an object."""
    if not isinstance(value, list):
        return False
    has_words = any(isinstance(word, str) for word in value)
    return (has_words and any(map(_is_tag, value))) or any(isinstance(text, list) and _has_tag(text) for text in value)


def _is_tag(word: Any) -> bool:
    return isinstance(word, list) and bool(word) and all(type(number) is int for number in word)


def with_texts(row: Record, columns: Iterable[str], persons: Persons = "tags") -> tuple[Record, list[str]]:
    """The row with a text, or a list of texts, in each of `columns`, and what is wrong with the numbers in them.

    What is a text already stays as it is.
    """
    tags = tags_of(kinds_in(row))
    faults: list[str] = []
    texts = {
        name: _rendered(row[name], tags, name, faults) if isinstance(row[name], list) else row[name]
        for name in columns
        if isinstance(row.get(name), list | str)
    }
    if persons == "names":
        texts = {name: _each(with_names, value) for name, value in texts.items()}
    return {**row, **texts}, list(dict.fromkeys(faults))


def kinds_in(row: Record) -> tuple[str, ...]:
    """The kinds of the row's objects in the order of their numbers; none where it names none."""
    given = row.get(OBJECTS)
    return tuple(map(str, given)) if isinstance(given, list) else ()


def has_names(row: Record) -> bool:
    """Whether what the row has as its objects is a list of names, and not of anything else that is called so."""
    given = row.get(OBJECTS)
    return isinstance(given, list) and all(isinstance(kind, str) for kind in given)


def tags_of(objects: Iterable[Any]) -> list[str]:
    """What each object is called: no two alike, the same for the same objects before it."""
    seen: Counter[str] = Counter()
    tags = []
    for kind in (str(kind).replace(" ", "") for kind in objects):
        seen[kind] += 1
        tags.append(f"[{kind}{seen[kind]}]")
    return tags


def _each(change: Callable[[str], str], value: Any) -> Any:
    """A text changed, or each text of a list."""
    if isinstance(value, list):
        return [_each(change, text) for text in value]
    return change(value) if isinstance(value, str) else value


def with_names(text: str) -> str:
    """The text with names in place of the tags of persons."""
    return PERSON_TAG.sub(lambda found: person_name(int(found[1])), text)


def person_name(number: int) -> str:
    """The neutral name of the person with this number, from 1."""
    again, at = divmod(number - 1, len(NAMES))
    return f"{NAMES[at]}{again + 1}" if again else NAMES[at]


def _rendered(value: list[Any], tags: Sequence[str], column: str, faults: list[str]) -> Any:
    """A text; or texts, where the value holds lists that are no tags, or texts of several words."""
    if any(isinstance(text, list) and not _is_tag(text) for text in value):
        return [text_of_words(text, tags, column, faults) if isinstance(text, list) else text for text in value]
    if all(isinstance(text, str) for text in value) and (column in CHOICES or any(" " in text for text in value)):
        return value
    return text_of_words(value, tags, column, faults)


def text_of_words(words: Sequence[Any], tags: Sequence[str], column: str, faults: list[str]) -> str:
    """The text of a list of words and of numbers of objects, which have these tags.

    Clitics and parts of compounds that stand apart, `can ' t` and `co - workers`, become one word. `faults` gets what
    is wrong, as of the column `column`.
    """
    spelt = [word if isinstance(word, str) else _called(word, tags, column, faults) for word in words]
    return detokenize(_glued(spelt))


def _called(tag: Any, tags: Sequence[str], column: str, faults: list[str]) -> str:
    """`[person1], [person2] and [chair1]`."""
    if not _is_tag(tag):
        faults.append(f"has {told(tag)} among the words of {column}, where a word is due, or a list of numbers")
        return ""
    unknown = [number for number in tag if not 0 <= number < len(tags)]
    faults += [f"has object {told(number)} under {column}, and {len(tags)} objects, from 0" for number in unknown]
    called = [tags[number] for number in tag if number not in unknown]
    return " and ".join(filter(None, (", ".join(called[:-1]), *called[-1:])))


_CLITICS = frozenset({"s", "t", "m", "d", "re", "ve", "ll"})


def _glued(words: Sequence[str]) -> list[str]:
    """The words, those around `'` before a clitic and around a single `-` made one."""
    out: list[str] = []
    at = 0
    while at < len(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        is_clitic = words[at] == "'" and after.lower() in _CLITICS
        if out and (is_clitic or (words[at] == "-" and after[:1].isalnum() and out[-1][-1:].isalnum())):
            out[-1] += words[at] + after
            at += 2
        else:
            out.append(words[at])
            at += 1
    return out
