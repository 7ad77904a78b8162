"""Endings in the raw text of a language model: a continuation, a JSON list, or lines with numbers."""

import ast
import json
import re
import warnings
from collections.abc import Iterator

from swag_af.data.text.sentences import sentences_of
from swag_af.data.text.thoughts import without_thoughts
from swag_af.data.tokens import normalise_blanks
from swag_af.lm.prompting.marks import bare, cells_of, count_up, has_bullet, numbered, without_numbers
from swag_af.lm.prompting.prompt import Prompt

_ANSWERS = ("answer", "text", "ending", "option", "choice", "distractor", "wrong_answer", "value")
"""Under what name an object has an answer, where it has other things beside it."""
_FENCE = re.compile(r"^\s*```\w*\s*|\s*```\s*$")
_BRACKETED = re.compile(r"(?m)^[ \t]*\[(\d{1,3})\]:?[ \t]+(?=[^\s,\]}])")
"""A number in brackets before a line, which is no list of JSON."""
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_NO_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')


def endings_in(text: str, prompt: Prompt, *, is_cut: bool = False, keeps: str = "") -> list[str]:
    """What could be endings in one text that came back, in order; what a model thinks before it answers is left out.

    Of a prompt that is continued, one: up to the end of its sentence or its line. Of one that asks for a list, the
    strings and numbers of the first JSON list, an object's list or strings too, and one string of each object in a
    list; where there is none, or it is cut off, the strings or lines that are whole. What stands around items, such as
    numbers and quotes, is no part of them, but for the marks that gold has too: it `keeps` its `wrapping_of`. `is_cut`:
    the model had no room to end, so the last line may be part of one.
    """
    text = without_thoughts(text)
    if prompt.way == "continue":
        first = next(filter(str.strip, text.splitlines()), "")
        return [first_sentence(first) if prompt.ends == "sentence" else normalise_blanks(first)]
    plain = _BRACKETED.sub(r"\1. ", _FENCE.sub("", text.strip()))
    strings = _listed(plain)
    if strings is not None:
        strings = without_numbers([bare(one, keeps=keeps) for one in strings], keeps=keeps)
    else:
        strings = [] if plain[:1] in ("[", "{") else _lines(plain, is_cut=is_cut, keeps=keeps)
    return [normalise_blanks(one) for one in strings]


def first_sentence(text: str) -> str:
    """`text` up to and with the mark that ends its first sentence."""
    return next(iter(sentences_of(normalise_blanks(text))), "")


def is_whole_list(text: str) -> bool:
    """Whether `text` ends with the bracket that closes its first list; brackets within strings close none."""
    begin, plain = text.find("["), text.rstrip()
    if begin < 0 or not plain.endswith("]"):
        return False
    outside = _STRING.sub("", plain[begin:])
    return '"' not in outside and outside.count("[") <= outside.count("]")


def _listed(text: str) -> list[str] | None:
    """The strings and numbers of the first JSON value in `text` that has words, or is a list of several numbers; None
    where there is none."""
    at_first: list[str] | None = None
    for begin in (0, *(found.start() for found in re.finditer(r"[\[{]", text) if found.start())):
        strings = _json_strings(text[begin:])
        if strings is None:
            continue
        if begin == 0 or len(strings) > 1 or any(map(_has_letters, strings)):
            return strings
        at_first = strings if at_first is None else at_first
    return at_first


def _has_letters(text: str) -> bool:
    return any(map(str.isalpha, text))


def _json_strings(text: str) -> list[str] | None:
    """The strings and numbers of a JSON value at the beginning of `text`; of a list that is cut off or broken, the
    strings, or objects, that are whole; None where there is no JSON, or brackets in each other without end."""
    try:
        return _strings_at(text)
    except RecursionError:
        return None


def _strings_at(text: str) -> list[str] | None:
    if text.startswith('"'):
        return _in_a_row(text)
    if text[:1] not in ("[", "{"):
        return None
    try:
        value, _ = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return (_quoted_otherwise(text) or _whole_ones(text)) if text.startswith("[") else None
    return _strings_of(value)


def _in_a_row(text: str) -> list[str] | None:
    """The strings one after another at the beginning of `text`; None where they are parts of several lines."""
    found, at = list[str](), 0
    while text[at : at + 1] == '"':
        try:
            string, at = _DECODER.raw_decode(text, at)
        except ValueError:
            break
        found.append(string)
        at += len(text) - at - len(text[at:].lstrip(" \t\r\n,;"))
    is_all = text[at : at + 1] in ("", '"') or "\n" not in text.strip()
    return found if found and is_all else None


class _Number(str):
    """A number of JSON, as it is written."""


_DECODER = json.JSONDecoder(parse_int=_Number, parse_float=_Number, strict=False)


def _quoted_otherwise(text: str) -> list[str] | None:
    """The strings of a list as Python writes it, with single quotes; None where it is none."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of escapes that mean nothing
            value = ast.literal_eval(text[: text.rindex("]") + 1])
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return _strings_of(value) or None


def _whole_ones(text: str) -> list[str] | None:
    """What is whole of a list that is not: its objects, where it is one of objects, or else its strings."""
    if text[1:].lstrip().startswith("{"):
        return [one for value in _objects(text) for one in _one_of(value)] or None
    found = re.findall(_STRING.pattern + r"(?=\s*[,\]])", text)
    return [string for one in found if (string := _decoded(one)) is not None] or None


def _objects(text: str) -> Iterator[dict[str, object]]:
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield value
        at = text.find("{", end)


def _decoded(found: str) -> str | None:
    """A string of JSON; a backslash that means nothing there is one."""
    try:
        value: str = json.loads(_NO_ESCAPE.sub(r"\\\\", found), strict=False)
    except ValueError:
        return None
    return value


def _strings_of(value: object) -> list[str]:
    """Of an object its lists, where it has some: what stands beside them are words about them. Else its answer, or all
    its strings."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        named = _named(value)
        lists = [one for one in value.values() if isinstance(one, list)]
        value = lists or ([named] if named is not None else list(value.values()))
    if not isinstance(value, list):
        return []
    return [text for one in value for text in (_one_of(one) if isinstance(one, dict) else _strings_of(one))]


def _one_of(value: dict[str, object]) -> list[str]:
    """The answer of an object in a list: by its name, else the first string, else a number."""
    named = _named(value)
    texts = [one for one in value.values() if isinstance(one, str)]
    first = next((one for one in texts if not isinstance(one, _Number)), next(iter(texts), None))
    one = first if named is None else named
    return _strings_of(value) if one is None else [one]


def _named(value: dict[str, object]) -> str | None:
    lowered = {str(name).lower(): one for name, one in value.items()}
    return next((one for name in _ANSWERS if isinstance(one := lowered.get(name), str)), None)


def _lines(text: str, *, is_cut: bool, keeps: str) -> list[str]:
    """The lines of `text` that have a number or a bullet before them, without it, or the rows of a table; where there
    are none, all lines but those that lead to others, and none of a text that is cut off."""
    lines = [line for line in text.splitlines() if line.strip()]
    lines = lines[:-1] if is_cut else lines
    cells = cells_of(lines)
    if cells is not None:
        return [bare(cell, keeps=keeps) for cell in cells]
    counted = [pair for line in lines if (pair := numbered(bare(line), keeps=keeps))]
    is_alone = len(counted) == 1 and len(lines) > 2
    if count_up([mark for mark, _ in counted]) and not is_alone:
        return [rest for _, rest in counted]
    dotted = [bare(line, keeps=keeps) for line in lines if has_bullet(line)]
    if dotted:
        return dotted
    plain = [bare(line, keeps=keeps) for line in lines]
    return [] if is_cut else [line for line in plain[:-1] if not line.endswith((":", "："))] + plain[-1:]
