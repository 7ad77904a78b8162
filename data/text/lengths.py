"""Length that reveals gold: how often the longest ending is gold, or the shortest, in characters and in tokens.

Models write longer than people, or shorter, and no common surface form takes that away. As in `surface`, rows are read
one by one, and what is found is a rule that finds gold significantly and considerably more often than chance. For the
intervals 16 bytes a row are kept, since groups are known only once all rows are read.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from swag_af.data.numbers.interval import interval
from swag_af.data.text.surface import SurfaceFinding, finding_of

RULES = {
    "has the most characters": ("characters", max),
    "has the fewest characters": ("characters", min),
    "has the most tokens": ("tokens", max),
    "has the fewest tokens": ("tokens", min),
}
"""By the words in which findings name them: what is counted, and which number is chosen."""


class LengthHits:
    """For every rule how far it finds gold in each row, ties shared."""

    def __init__(self) -> None:
        self.n_rows: Counter[int] = Counter()
        """Rows by their number of candidates."""
        self._met: dict[str, Counter[tuple[int, int, bool]]] = {name: Counter() for name in RULES}
        self._hits = {name: array("f") for name in RULES}

    def add(self, characters: Sequence[int], tokens: Sequence[int]) -> None:
        """Count a row by the lengths of its candidates, gold first."""
        m = len(characters)
        self.n_rows[m] += 1
        lengths = {"characters": characters, "tokens": tokens}
        for name, (unit, choose) in RULES.items():
            mine = lengths[unit]
            chosen = choose(mine)
            t, gold = mine.count(chosen), mine[0] == chosen
            self._hits[name].append(gold / t)
            if t < m:
                self._met[name][m, t, gold] += 1

    def findings(self, groups: np.ndarray) -> list[SurfaceFinding]:
        """The rules that find gold, the best first; rows cluster in `groups` (N,)."""
        found = []
        for name, met in self._met.items():
            if finding := finding_of(name, "has", met, self.n_rows):
                low, high = interval(np.frombuffer(self._hits[name], np.float32).astype(float), groups)
                if low > finding.chance:
                    found.append(replace(finding, low=round(low, 6), high=round(high, 6)))
        return sorted(found, key=lambda finding: -finding.accuracy)

    def records(self, groups: np.ndarray) -> list[dict[str, Any]]:
        """The findings as a manifest keeps them."""
        return [asdict(finding) for finding in self.findings(groups)]


def warning_lines(records: Iterable[Mapping[str, Any]], *, normalised: bool) -> list[str]:
    """A line for each finding of form and for the best one of length, then one that says what can be done.

    `records` are those of a manifest; nothing is said where nothing was found.
    """
    findings = [SurfaceFinding(**record) for record in records]
    form = [finding for finding in findings if finding.feature not in RULES]
    length = [finding for finding in findings if finding.feature in RULES][:1]
    if not findings:
        return []
    advice = [*([_of_form(normalised=normalised)] if form else []), *([_OF_LENGTH] if length else [])]
    said = " ".join(["A dataset of these texts can be answered by their surface.", *advice])
    return [*(f"{finding}." for finding in (*form, *length)), said]


def _of_form(*, normalised: bool) -> str:
    if normalised:
        return "Form tells gold in one surface form too: look at how gold endings and negatives were made."
    return "`swag-af pool --normalise`, in Python from_texts(..., normalise=True), gives all endings one surface form."


_OF_LENGTH = (
    "No form changes length: make wrong endings as long as gold ones (--min-tokens and --max-tokens of `generate`, or"
    " a prompt that says how long), and see in AF201 of `swag-af audit` whether a release still has it."
)
