"""What models write around the items of a list: bullets, numbers, labels, emphasis, quotes, dots that go on, tables."""

import re
import unicodedata
from collections.abc import Sequence

from swag_af.data.text.scripts import END_MARKS

_BULLET = re.compile(r"^\s*(?:[-*•–—·◦▪‣]\s+|[・●○■□◆◇]\s*)")
_ELLIPSIS = re.compile(r"^(?:\.{3,}|…)\s*(?=\S)")
_MARK = r"[(（]?(\d{1,3}|[a-zA-Z])"
_CLOSED = r"(?:[.):]\s+|[、）：]\s*|．(?!\d)\s*)"
_NUMBERED = re.compile(
    rf"^\s*(?:([*_]{{1,3}}){_MARK}(?:\1[.):、．）：]|[.):、．）：]\1)\s+|{_MARK}{_CLOSED}|([\u2460-\u2473])\s*)"
)
"""Behind the marks of Chinese and Japanese there is no blank; ① to ⑳ are marks by themselves."""
_EMPHASIS = re.compile(r"([*_`])\1{0,2}(?=\S)")
_PAIRS = ('""', "''", "“”", "„“", "„”", "””", "‘’", "‚‘", "’’", "«»", "»«", "‹›", "›‹", "「」", "『』")
"""Quotes as they open and close."""
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_AFTER = ".,;。，；"
"""Marks that may stand behind what closes a pair; only a full stop is the item's."""
_JUDGED = r"(?:wrong|incorrect|false|untrue|not (?:true|correct|right)|correct|right|true)"
_THING = r"(?:answer|option|choice|distractor|ending)"
_LABEL = re.compile(
    rf"^[*_]{{0,3}}(?:(?:the |an? )?(?:{_JUDGED} )?{_THING}(?: (?:[a-z]|\d{{1,3}}))?(?: is)?|{_JUDGED})"
    r"(?::[*_]{0,3}|[*_]{1,3}:)\s+(?=\S)",
    re.IGNORECASE,
)
_JUDGEMENT = re.compile(
    rf"\s*\((?:(?:this|it|that|which)(?: is|'s) |it's )?(?:an? |the )?{_JUDGED}(?: {_THING})?"
    r"(?:[,;:] [^()]*|,? (?:because|since|as) [^()]*)?\)(?=\.?$)",
    re.IGNORECASE,
)
_ROW = re.compile(r"\s*\|(.*)\|\s*")
_COUNT = re.compile(r"[*_]{0,3}(?:\d{1,3}|[a-zA-Z])?[.)]?[*_]{0,3}")
_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")
_IS_MARK = re.compile(r"\d{1,3}|[a-zA-Z]")
"""A whole number or a letter, which is all that counts."""
_LONG = 3
"""Marks that count up are numbers of items, wherever they begin, if there are so many."""


def has_bullet(line: str) -> bool:
    """Whether a bullet stands before `line`."""
    return bool(_BULLET.match(line))


def wrapping_of(gold: str) -> str:
    """What gold has around the whole of it, `quotes` or `emphasis`; empty where it has neither."""
    plain = gold.strip()
    kinds = () if unwrapped(plain) == plain else ("quotes", "emphasis")
    return next((kind for kind in kinds if unwrapped(plain, keeps=kind) == plain), "")


def bare(item: str, *, keeps: str = "") -> str:
    """`item` without a bullet or an ellipsis before it, and `unwrapped`."""
    before = ""
    while item != before:
        before = item
        item = unwrapped(_ELLIPSIS.sub("", _BULLET.sub("", item.strip())), keeps=keeps)
    return item


def unwrapped(text: str, *, keeps: str = "") -> str:
    """`text` without pairs of quotes, or of the marks of emphasis, around the whole of it, but for what it `keeps`:
    `quotes` or `emphasis`, and what stands within."""
    plain, after = text.strip(), ""
    begins, last = plain[:-1], plain[-1:]
    if last in tuple(_AFTER) and plain[-2:-1] not in _AFTER and unwrapped(begins, keeps=keeps) != begins.strip():
        plain, after = begins, last
    inner = plain if keeps == "emphasis" else _without_emphasis(plain)
    inner = _without_quotes(plain) if inner == plain and keeps != "quotes" else inner
    if inner == plain:
        return plain
    inner = unwrapped(inner, keeps=keeps)
    return f"{inner}{after}" if after in (".", "。") and inner[-1:] not in END_MARKS else inner


def _without_emphasis(plain: str) -> str:
    found = _EMPHASIS.match(plain)
    inner = plain[found.end() : -found.end()] if found and plain.endswith(found[0]) else ""
    return inner if found and inner == inner.rstrip() and found[1] not in inner and inner else plain


def _without_quotes(plain: str) -> str:
    inner = plain[1:-1]
    is_pair = bool(inner.strip()) and plain[0] + plain[-1] in _PAIRS
    others = _APOSTROPHE.sub("", inner)  # within words
    return inner if is_pair and plain[0] not in others and plain[-1] not in others else plain


def numbered(item: str, *, keeps: str = "") -> tuple[str, str] | None:
    """The number or letter that stands before `item`, and the rest of it, `bare`; None where there is none."""
    found = _NUMBERED.match(item)
    if not found:
        return None
    mark = found[2] or found[3] or str(int(unicodedata.numeric(found[4])))
    return mark, bare(item[found.end() :], keeps=keeps)


def without_numbers(items: Sequence[str], *, keeps: str = "") -> list[str]:
    """`items` without the marks that count them, where all have one: others, of "E. coli" or "3. October", are
    theirs."""
    found = [pair for item in items if (pair := numbered(item, keeps=keeps))]
    counts = len(found) == len(items) and count_up([mark for mark, _ in found])
    return [rest for _, rest in found] if counts else list(items)


def without_label(text: str) -> str:
    """`text` without words that say what it is, `Wrong answer:` or `option B:` before it, `(incorrect)` behind it."""
    return _JUDGEMENT.sub("", _LABEL.sub("", text.strip()))


def cells_of(lines: Sequence[str]) -> list[str] | None:
    """Of each row of a table in Markdown the first cell that is no number or letter, without those of its header; None
    where the lines are no table."""
    rows = [[cell.strip() for cell in found[1].split("|")] for line in lines if (found := _ROW.fullmatch(line))]
    rules = [i for i, row in enumerate(rows) if all(map(_RULE.fullmatch, row))]
    if not rules and not (rows and min(map(len, rows)) > 1 and count_up([row[0].rstrip(".)") for row in rows])):
        return None
    rows = [row for i, row in enumerate(rows) if i not in rules and i + 1 not in rules]
    return [next((cell for cell in row if not _COUNT.fullmatch(cell)), "") for row in rows]


def count_up(marks: Sequence[str]) -> bool:
    """Whether marks of items, numbers or letters, count them: 1, 2, 3; a, b, c; 1, 1, 1. Texts that are neither count
    nothing."""
    if not all(map(_IS_MARK.fullmatch, marks)) or len({mark.isdecimal() for mark in marks}) != 1:
        return False
    numbers = [int(mark) if mark.isdecimal() else ord(mark.lower()) - ord("a") + 1 for mark in marks]
    ascends = numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return (ascends and (numbers[0] <= 1 or len(numbers) >= _LONG)) or set(numbers) == {1}
