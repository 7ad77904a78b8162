"""Options that repeat another of their question, or gold: the same text, or the same but for form."""

import re
from collections.abc import Sequence
from functools import partial
from itertools import combinations

import numpy as np

from swag_af.auditing.diagnostics import Diagnostic
from swag_af.auditing.integrity.shares import examples_of, of_share
from swag_af.data.instances.instances import Instances
from swag_af.data.text.scripts import composed
from swag_af.data.text.wording import comparable

FORM = ", letter case, articles and Unicode forms aside"

_ARTICLE = re.compile(r"^\s*(?:an?|the)\s+(?=\w)", re.IGNORECASE)
_BLANKS = re.compile(r"\s+")
_QUOTES = str.maketrans("’‘“”", "''\"\"")


def repeated_diagnostics(instances: Instances, groups: np.ndarray) -> list[Diagnostic]:
    """AF503 and AF504 of questions in `groups` (N,), each for the same text and for the same but for form.

    Of classes there are no options to compare.
    """
    rows = instances.instances if instances.kind == "choices" else ()
    groups = groups[: len(rows)]
    diagnostics = []
    for subject, find, form in (("same text", same_pairs, ""), ("same but for form", pairs_but_for_form, FORM)):
        pairs = [find(one.options) for one in rows]
        of_gold = [[pair for pair in found if one.answer in pair] for one, found in zip(rows, pairs, strict=True)]
        for code, said, found in (
            ("AF503", "questions have an option twice", pairs),
            ("AF504", "questions have an option that equals gold", of_gold),
        ):
            has = np.array([bool(some) for some in found], bool)
            examples = examples_of(instances, np.flatnonzero(has), partial(_why, found))
            ends = said + form
            diagnostics.append(of_share(code, subject, has, groups, said=ends, is_hint=bool(form), examples=examples))
    return diagnostics


def same_pairs(options: Sequence[str]) -> list[tuple[int, int]]:
    """The pairs `i < j` of `options` that are the same text; blank ones are none."""
    return _pairs([same_text(option) for option in options])


def pairs_but_for_form(options: Sequence[str]) -> list[tuple[int, int]]:
    """The pairs `i < j` of `options` that differ as texts, but only in their form; blank ones are none."""
    same = set(same_pairs(options))
    return [pair for pair in _pairs([same_form(option) for option in options]) if pair not in same]


def _pairs(keys: Sequence[str]) -> list[tuple[int, int]]:
    if len(set(keys)) == len(keys):
        return []
    return [(i, j) for i, j in combinations(range(len(keys)), 2) if keys[i] and keys[i] == keys[j]]


def _why(pairs: Sequence[Sequence[tuple[int, int]]], row: int) -> str:
    return "; ".join(f"options {i + 1} and {j + 1}" for i, j in pairs[row][:3])


def same_text(option: str) -> str:
    """Equal for options that are the same text: blanks, quote marks and a final full stop aside; "" for a blank one."""
    text = option if option.isascii() else composed(option).translate(_QUOTES)
    bare = _BLANKS.sub(" ", text).strip()
    return bare.rstrip(".").rstrip() or bare


def same_form(option: str) -> str:
    """Equal for options that are the same but for letter case, a first article, blanks and Unicode forms."""
    return comparable(_ARTICLE.sub("", option)) or comparable(option)
