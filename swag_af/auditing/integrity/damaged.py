"""Blank, cut-off and wrongly encoded text. Says what is suspicious; `swag_af.data.captions.repair` mends captions."""

import html
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from swag_af.auditing.diagnostics import Diagnostic
from swag_af.auditing.integrity.shares import examples_of, of_share
from swag_af.data.cells.words import is_placeholder
from swag_af.data.instances.instances import Instances
from swag_af.data.text.scripts import END_MARKS
from swag_af.data.text.surface import final_mark, is_unseen
from swag_af.data.text.wording import comparable

ALPHA = 1e-4
"""The greatest probability that as many texts are of the greatest length by chance."""

_FEW, _CHARACTERS, _WORDS = 5, 30, 10  # texts at a limit; the least limit, in characters and in words
_UNFINISHED = re.compile(r"(?:\s(?:a|an|the|and|or|but|my|your|their|our|every)|[,(\[{\\]|\w-)\s*$")
_REFERENCE = re.compile(r"&(?:#\d{2,7}|#x[0-9a-f]{2,6}|[a-z]{2,31}\d*);", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_DIRECTIONS = frozenset("\u200e\u200f\u061c")
"""Marks of direction: texts with letters that run from right to left are written with them."""
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f\u034f")
"""Joiners and variation selectors: Persian, Hindi and emoji are written with them."""
_ALIKE = re.compile(
    "[\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405\u03bf\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7]"
)
"""Letters of Cyrillic and Greek that look like Latin ones: those of *aeopcyxijsdhABEKMHOPCTYXIJS* and a few more."""
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_LETTERS = re.compile(r"[^\W\d_]+")
_LAST_CYRILLIC = "\u052f"


@dataclass(frozen=True)
class _Field:
    """One kind of text."""

    name: str
    texts: tuple[str, ...]
    """(t,)"""
    rows: np.ndarray
    """(t,) the instance of each."""

    def having(self, has: Callable[[str], bool], n: int) -> np.ndarray:
        """(n,) whether an instance has a text of this kind that `has` it."""
        found = np.zeros(n, bool)
        known: dict[str, bool] = {}
        for text, row in zip(self.texts, self.rows.tolist(), strict=True):
            if text not in known:
                known[text] = has(text)
            if known[text]:
                found[row] = True
        return found


def damage_diagnostics(instances: Instances, groups: np.ndarray) -> list[Diagnostic]:
    """AF509, AF510 and AF511 of instances in `groups` (N,)."""
    texts, everyone = instances.texts, np.arange(len(instances))
    answers = _Field("options" if instances.kind == "choices" else "texts", texts.options, texts.rows)
    context, start = _Field("contexts", texts.contexts, everyone), _Field("starts", texts.starts, everyone)
    whole = (answers, context) if instances.kind == "classes" else (answers,)  # of choices, options may end the context
    return [
        *_blank(instances, groups, answers, context),
        _at_limit(instances, groups, (answers, context)),
        _unfinished(instances, groups, whole),
        *_encoding(instances, groups, (answers, context, start)),
    ]


def _blank(instances: Instances, groups: np.ndarray, answers: _Field, context: _Field) -> list[Diagnostic]:
    """AF509 of options or texts, of contexts where the set has contexts, and of what stands for a missing text."""
    n = len(instances)
    blank = context.having(_is_blank, n)
    n_with = n if blank.sum() < n else 0
    no_text = "have nan, null or the like as a text"
    missing = answers.having(is_placeholder, n) | context.having(is_placeholder, n)
    return [
        _flagged("AF509", answers.name, answers.having(_is_blank, n), instances, groups, "have a blank text"),
        _flagged(
            "AF509",
            "contexts",
            blank[:n_with],
            instances,
            groups,
            "have no context, though others have",
            is_hint=bool(blank.mean() > 0.5),
        ),
        _flagged("AF509", "placeholders", missing, instances, groups, no_text, is_hint=True),
    ]


def _at_limit(instances: Instances, groups: np.ndarray, fields: tuple[_Field, ...]) -> Diagnostic:
    """AF510: texts that end where many others do, at the greatest length, and without a final mark."""
    has, limits = np.zeros(len(instances), bool), []
    for field in fields:
        texts = list(dict.fromkeys(field.texts))
        for unit, least, lengths in (
            ("characters", _CHARACTERS, np.array([len(text) for text in texts])),
            ("words", _WORDS, np.array([len(text.split()) for text in texts])),
        ):
            cut = {texts[i] for i in _piled_up(texts, lengths, least).tolist()}
            if cut:
                has |= field.having(cut.__contains__, len(instances))
                limits.append(f"{len(cut):,} {field.name} of {lengths.max():,} {unit}")
    said = "have a text that may be cut off at a limit of length" + (f": {'; '.join(limits)}" if limits else "")
    return _flagged("AF510", "length limit", has, instances, groups, said)


def _piled_up(texts: list[str], lengths: np.ndarray, least: int) -> np.ndarray:
    """The texts of the greatest length that are not finished, if so many have it that a limit must have cut them.

    How many would have it by chance: as many as have each of the lengths just below, on average, at least one.
    """
    from scipy.stats import poisson

    longest = int(lengths.max(initial=0))
    at = np.flatnonzero(lengths == longest)
    below = lengths[(lengths < longest) & (lengths >= 0.9 * longest)]
    expected = max(1.0, len(below) / max(1, longest - int(np.ceil(0.9 * longest))))
    open_ones = np.array([i for i in at.tolist() if final_mark(texts[i]) not in END_MARKS], np.int64)
    too_many = len(at) >= max(_FEW, 3 * expected) and poisson.sf(len(at) - 1, expected) < ALPHA
    return open_ones if longest >= least and too_many and 2 * len(open_ones) >= len(at) else at[:0]


def _unfinished(instances: Instances, groups: np.ndarray, fields: tuple[_Field, ...]) -> Diagnostic:
    """AF510: texts whose last word wants another."""
    has = np.logical_or.reduce([field.having(is_unfinished, len(instances)) for field in fields])
    return _flagged(
        "AF510", "unfinished", has, instances, groups, "have a text whose last word wants another", is_hint=True
    )


def is_unfinished(text: str) -> bool:
    """Whether a text of four words or more ends in an article, a conjunction, an open bracket, a comma, a hyphen or a
    backslash."""
    return _UNFINISHED.search(text) is not None and len(text.split()) >= 4


def _encoding(instances: Instances, groups: np.ndarray, fields: tuple[_Field, ...]) -> list[Diagnostic]:
    """AF511, one for each way in which characters go wrong."""
    diagnostics = []
    for subject, is_hint, has_it, said in (
        ("mojibake", False, is_mojibake, "have letters of a wrong encoding (é as Ã©)"),
        ("replacement characters", False, lambda text: "\ufffd" in text, "have U+FFFD, where a letter was lost"),
        ("lone surrogates", False, lambda text: bool(_SURROGATE.search(text)), "have half a character"),
        ("control characters", False, _has_control, "have control characters"),
        ("invisible characters", False, _has_invisible, "have invisible characters, such as zero-width blanks"),
        ("character references", True, _has_reference, "have HTML entities (&amp; &quot; &#39;)"),
    ):
        has = np.logical_or.reduce([field.having(has_it, len(instances)) for field in fields])
        diagnostics.append(_flagged("AF511", subject, has, instances, groups, said, is_hint=is_hint))
    return [*diagnostics, _mixed(instances, groups, fields)]


def _mixed(instances: Instances, groups: np.ndarray, fields: tuple[_Field, ...]) -> Diagnostic:
    """AF511: words of Latin letters with one of another script that looks the same; the examples show which."""
    n = len(instances)
    has = np.logical_or.reduce([field.having(lambda text: bool(mixed_word(text)), n) for field in fields])
    said = "have a word of Latin letters with a Cyrillic or Greek one that looks the same"
    shown = examples_of(instances, np.flatnonzero(has), lambda row: _shown_mixed(fields, row))
    return of_share("AF511", "mixed scripts", has, groups[:n], said=said, is_hint=True, examples=shown)


def _shown_mixed(fields: tuple[_Field, ...], row: int) -> str:
    """The first such word of an instance."""
    texts = (field.texts[at] for field in fields for at in np.flatnonzero(field.rows == row).tolist())
    return next(word for text in texts if (word := mixed_word(text)))


def mixed_word(text: str) -> str:
    """The first word of Latin letters with one of another script that looks like one, these in brackets: `c[а]t`."""
    if text.isascii() or not _ALIKE.search(text):
        return ""
    words = (found[0] for found in _LETTERS.finditer(text))
    mixed = (word for word in words if _ALIKE.search(word) and _LATIN.search(word))
    return next((_ALIKE.sub(r"[\g<0>]", word) for word in mixed), "")


def _flagged(
    code: str,
    subject: str,
    has: np.ndarray,
    instances: Instances,
    groups: np.ndarray,
    said: str,
    *,
    is_hint: bool = False,
) -> Diagnostic:
    """The diagnostic of instances that `has` marks, the first few as examples."""
    examples = examples_of(instances, np.flatnonzero(has), lambda row: "")
    return of_share(code, subject, has, groups[: len(has)], said=said, is_hint=is_hint, examples=examples)


def _is_blank(text: str) -> bool:
    return not comparable(text)


def is_mojibake(text: str) -> bool:
    """Whether letters are of a wrong encoding, by the rules of ftfy."""
    if text.isascii():
        return False
    import ftfy.badness

    return bool(ftfy.badness.is_bad(text))


def _has_reference(text: str) -> bool:
    """Whether there is an entity that stands for a character."""
    return "&" in text and any(html.unescape(found[0]) != found[0] for found in _REFERENCE.finditer(text))


def _has_control(text: str) -> bool:
    return not text.isprintable() and any(unicodedata.category(c) == "Cc" and not c.isspace() for c in text)


def _has_invisible(text: str) -> bool:
    """Whether there is an invisible character that no script or emoji of the text is written with."""
    if text.isprintable():
        return False
    unseen = {c for c in text if is_unseen(c) and unicodedata.category(c) != "Cc"}
    if unseen & _DIRECTIONS and any(unicodedata.bidirectional(c) in ("R", "AL") for c in text if c.isalpha()):
        unseen -= _DIRECTIONS
    if unseen & _JOINERS and any(map(_is_joined, text)):
        unseen -= _JOINERS
    return bool(unseen)


def _is_joined(c: str) -> bool:
    """Whether a character is of those that joiners and variation selectors stand beside: of a script that is neither
    Latin, Greek nor Cyrillic, or a symbol."""
    category = unicodedata.category(c)
    return (category[0] in "LM" and c > _LAST_CYRILLIC and c not in _JOINERS) or category[0] == "S" or c in "‼⁉"
