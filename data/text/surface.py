"""Surface form that reveals gold: letter case, blanks, quotes, final marks, invisible characters.

Filters read lower-cased tokens, and a release prints texts as they were given, so a habit of the person who typed the
gold endings would go unnoticed. `SurfaceCounts` reads each row as it is made and keeps only counts; its findings are
rules, such as "choose the ending that begins with a capital", that find gold significantly and considerably more often
than chance. `normalise` removes such differences.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from swag_af.data.numbers.percent import from_to, in_percent
from swag_af.data.text.scripts import COMMAS, END_MARKS, has_no_end_mark

TYPOGRAPHIC_QUOTES = "‘’‚‛“”„‟«»"
CLOSERS = " \t\r\n\u00a0\"')]}’”»」』】》〉）"
"""Characters that may follow the final mark of a text."""
MARKS = frozenset(".!?")
IGNORABLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u3164\uffa0") | set(
    map(chr, range(0xFE00, 0xFE10))
)
"""Invisible letters and accents: fillers, joiners and variation selectors."""

_LETTER = re.compile(r"[^\W_]")
_OTHER_BLANK = re.compile(r"[^\S ]")
_QUOTE = re.compile(f"[{TYPOGRAPHIC_QUOTES}]")
_DASH = re.compile(r"[–—―]|--|\s-\s")
_REFERENCE = re.compile(r"&#?\w+;")
_PARTED = re.compile(r" (?:n't|N'T|'(?:s|m|d|re|ve|ll)\b)|-[LR][RSC]B-|``|''| [,;:?!.](?=\s|$)")
_PARTS = (
    " ,",
    " .",
    " ;",
    " :",
    " ?",
    " !",
    "n't",
    "N'T",
    " '",
    "''",
    "``",
    "B-",
)  # a text without any of these was not tokenised


def begins_with_capital(text: str) -> bool:
    """Whether the first letter or digit is a capital."""
    first = _LETTER.search(text)
    return first is not None and first[0].isupper()


def final_mark(text: str) -> str:
    """The last character before closing quotes, brackets and blanks; "" when there is none."""
    return text.rstrip(CLOSERS)[-1:]


def is_finished(text: str) -> bool:
    """Whether it ends as a sentence does: with a mark, or in a script whose sentences end without one."""
    last = final_mark(text)
    return last in END_MARKS or has_no_end_mark(last)


def ends_otherwise(text: str) -> bool:
    """Whether it ends with a mark of another script than Latin."""
    return not text.isascii() and final_mark(text) in END_MARKS - MARKS


def has_other_commas(text: str) -> bool:
    """Whether there are commas of another script than Latin."""
    return not text.isascii() and not COMMAS.isdisjoint(text.replace(",", ""))


def has_blank_before_mark(text: str) -> bool:
    """Whether a blank precedes the final . ! or ?"""
    end = text.rstrip(CLOSERS)[-2:]
    return end[-1:] in MARKS and end[:-1].isspace()


def has_other_blanks(text: str) -> bool:
    """Whether there are tabs, line ends, or blanks of other widths, unbroken ones among them."""
    return not text.isprintable() and _OTHER_BLANK.search(text) is not None


def has_typographic_quotes(text: str) -> bool:
    """Whether a quote or apostrophe is curly, low, or an angle."""
    return not text.isascii() and _QUOTE.search(text) is not None


def has_unseen(text: str) -> bool:
    """Whether there are control characters, or invisible ones such as zero-width blanks and soft hyphens."""
    return not (text.isascii() and text.isprintable()) and any(map(is_unseen, text))


def is_unseen(character: str) -> bool:
    """Whether a character is invisible, and is no blank."""
    if character.isspace() or (character.isascii() and character.isprintable()):
        return False
    return unicodedata.category(character) in ("Cf", "Cc") or character in IGNORABLE


def is_foreign(text: str) -> bool:
    """Whether there is a character outside ASCII."""
    return not text.isascii()


def is_decomposed(text: str) -> bool:
    """Whether a letter and its accent are two characters although there is a single one for both."""
    return not unicodedata.is_normalized("NFC", text)


def is_parted(text: str) -> bool:
    """Whether the text looks tokenised: `does n't`, `-LRB-`, ``` `` ```, a blank before a mark within the text."""
    for part in _PARTS:
        if part in text:
            return _PARTED.search(text) is not None
    return False


FEATURES: dict[str, Callable[[str], bool]] = {
    "begins with a capital": begins_with_capital,
    "is all lower case": str.islower,
    "is all upper case": str.isupper,
    "begins with blanks": lambda text: text[:1].isspace(),
    "ends with blanks": lambda text: text[-1:].isspace(),
    "has double blanks": lambda text: "  " in text,
    "has tabs, line ends or unusual blanks": has_other_blanks,
    "has typographic quotes": has_typographic_quotes,
    "has double quotes": lambda text: '"' in text,
    "has dashes": lambda text: _DASH.search(text) is not None,
    "has character references": lambda text: "&" in text and _REFERENCE.search(text) is not None,
    "has capitals within": lambda text: any(map(str.isupper, text[1:])),
    "ends with . ! or ?": lambda text: final_mark(text) in MARKS,
    "ends with a full stop, ! or ? of another script": ends_otherwise,
    "has commas of another script": has_other_commas,
    "ends with several dots": lambda text: text.rstrip().endswith(("..", "…")),
    "ends with a full stop": lambda text: final_mark(text) == ".",
    "ends with an exclamation mark": lambda text: final_mark(text) == "!",
    "ends with a question mark": lambda text: final_mark(text) == "?",
    "has blanks before its final mark": has_blank_before_mark,
    "has invisible or control characters": has_unseen,
    "has characters outside ASCII": is_foreign,
    "has accents apart from their letters": is_decomposed,
    "has words or marks parted by a tokeniser": is_parted,
}
"""The features counted in every ending, by the words in which findings name them."""

_OF_PLAIN = {
    name: has
    for name, has in FEATURES.items()
    if has
    not in (
        has_other_blanks,
        has_other_commas,
        has_typographic_quotes,
        has_unseen,
        is_foreign,
        is_decomposed,
        ends_otherwise,
    )
}
"""Features in which a row of printable ASCII can differ."""

FALSE_ALARM = 0.001
"""The greatest probability of any finding in a pool whose candidates are exchangeable."""
MATTERS = 0.03
"""How far above chance the accuracy of a rule over all rows must be to be reported."""


@dataclass(frozen=True, slots=True)
class SurfaceFinding:
    """A rule that finds gold."""

    feature: str
    rule: str
    """`has`: choose among the candidates that have the feature; `lacks`: among those that lack it. Ties are shared."""
    accuracy: float
    """Over all rows, 0 to 1; a row whose candidates do not differ in it counts as a guess."""
    chance: float
    n_rows: int
    n_differing: int
    """Rows whose candidates differ in it."""
    z: float
    """Standard deviations above what exchangeable candidates would give."""
    low: float | None = None
    """Of the 95 % interval of the accuracy, rows clustered in groups; None where it is not kept, as of old pools."""
    high: float | None = None

    def __str__(self) -> str:
        verb, _, rest = self.feature.partition(" ")
        said = self.feature if self.rule == "has" else f"{_NEGATED.get(verb, verb)} {rest}"
        between = "" if self.low is None or self.high is None else f" ({from_to(self.low, self.high)})"
        return (
            f"choosing the ending that {said} finds gold in {in_percent(self.accuracy)}{between} of "
            f"{self.n_rows:,} rows (chance {in_percent(self.chance)}; endings differ in it in {self.n_differing:,})"
        )


_NEGATED = {"begins": "does not begin", "ends": "does not end", "is": "is not", "has": "has no"}


class SurfaceWarning(UserWarning):
    """Warns that surface form separates gold from its negatives."""


class SurfaceCounts:
    """For every feature how often candidates differed in it, and how often gold was one that had it."""

    def __init__(self) -> None:
        self.n_rows: Counter[int] = Counter()
        """Rows by their number of candidates."""
        self.n_met: dict[str, Counter[tuple[int, int, bool]]] = {name: Counter() for name in FEATURES}
        """Rows that differ, by (candidates, candidates that have the feature, whether gold does)."""

    def add(self, texts: Sequence[str]) -> None:
        """Count a row, gold first."""
        m = len(texts)
        self.n_rows[m] += 1
        joined = "".join(texts)
        features = _OF_PLAIN if joined.isascii() and joined.isprintable() else FEATURES
        for name, has in features.items():
            found = [*map(has, texts)]
            t = sum(found)
            if 0 < t < m:
                self.n_met[name][m, t, found[0]] += 1

    def findings(self) -> list[SurfaceFinding]:
        """The rules that find gold, the best first."""
        found = []
        for feature, met in self.n_met.items():
            lacking = {(m, m - t, not gold): c for (m, t, gold), c in met.items()}
            found += [finding_of(feature, rule, of, self.n_rows) for rule, of in (("has", met), ("lacks", lacking))]
        return sorted(filter(None, found), key=lambda finding: -finding.accuracy)

    def records(self) -> list[dict[str, Any]]:
        """The findings as a manifest keeps them."""
        return [asdict(finding) for finding in self.findings()]


Met = Mapping[tuple[int, int, bool], int]
"""Rows whose candidates differ, by (candidates, those that a rule chooses among, whether gold is one of them)."""


def finding_of(feature: str, rule: str, met: Met, n_rows: Mapping[int, int]) -> SurfaceFinding | None:
    """What a rule finds, where that is significant and considerable; `n_rows` are all rows, by their candidates."""
    n = sum(n_rows.values())
    excess, variance, bound = _moments(met)
    if excess < MATTERS * n or _log_tail(excess, variance, bound) > _LOG_ALLOWED:
        return None
    chance = sum(c / m for m, c in sorted(n_rows.items())) / max(1, n)
    z = excess / math.sqrt(variance)
    told = (round(chance + excess / n, 6), round(chance, 6), n, sum(met.values()), round(z, 2))
    return SurfaceFinding(feature, rule, *told)


def _moments(counts: Met) -> tuple[float, float, float]:
    """Hits beyond chance, their variance, and the most that one row can give, where candidates are exchangeable.

    Of m candidates t are chosen among: gold is one of them with probability t/m, and then found with 1/t.
    """
    excess = variance = bound = 0.0
    for (m, t, gold), c in sorted(counts.items()):
        excess += c * (gold / t - 1 / m)
        variance += c * (1 / (t * m) - 1 / m**2)
        bound = max(bound, 1 / t - 1 / m)
    return excess, variance, bound


N_LENGTHS = 4
"""Rules of length, which `swag_af.data.text.lengths` has."""
_LOG_ALLOWED = math.log(FALSE_ALARM / (2 * len(FEATURES) + N_LENGTHS))  # Bonferroni: two rules a feature


def _log_tail(excess: float, variance: float, bound: float) -> float:
    """The logarithm of Bennett's bound on the probability of such an excess (1962, "Probability inequalities").

    It holds for any number of rows, where a normal tail does not, and is the larger of the two: what passes has a z
    beyond the one that Bonferroni would ask for.
    """
    if excess <= 0 or not variance:
        return 0.0
    u = bound * excess / variance
    return -variance / bound**2 * ((1 + u) * math.log1p(u) - u)
