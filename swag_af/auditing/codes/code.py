"""A code and all that `swag-af explain` says of it, from the tables beside this file."""

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from swag_af.auditing.diagnostics import Diagnostic
from swag_af.data.disk.records import parse_record
from swag_af.data.errors import InputError

FAMILIES = {
    "partial": "Partial inputs",
    "single": "Single features",
    "words": "Words",
    "writing": "Item writing",
    "integrity": "Integrity",
}
"""The tables, and how each family is called."""
MEANS = {
    "partial": "What sees only a part of each instance, too little for the task, should do no better than chance. "
    "Where it does, the answers are given away by something else than what the dataset asks.",
    "single": "One plain feature of the options, such as their length, should not tell which of them is right.",
    "words": "No word of an option should say by itself whether the option is right, or which class a text is of.",
    "writing": "A flaw that textbooks of test writing warn of, and that people who know it can use to guess better.",
    "integrity": "The instances themselves, or their labels, are not what a figure on them takes for granted.",
}
"""What a finding of each family says of a dataset."""
GATES = {
    "partial": ("{code} not found", "{code} <= chance + 5%", "{code} >= chance - 5%", "{code}.low <= chance"),
    "single": ("{code} not found", "{code} <= chance + 5%"),
    "words": ("{code} not found", "{code} clear"),
    "writing": ("{code} not found", "{code} clear"),
    "integrity": ("{code} clear", "{code} <= 1%"),
}
"""Conditions of a gate that suit each family."""


@dataclass(frozen=True, slots=True)
class Code:
    """What a code stands for."""

    code: str
    """`AF101`."""
    name: str
    """`options-only-solvable`: unique, for people who do not remember numbers."""
    title: str
    """A few words: `options only solvable`."""
    computed: str
    """How its value comes about, with unit and interval."""
    source: str
    """Where the method is from: authors, year, section."""
    fails: str
    """When the value misleads."""
    mend: str
    """One sentence on what to do about a finding."""
    needs: str = ""
    """What data must have for it to be computed, where not all have it: `questions with options`."""
    family: str = ""
    is_count: bool = False
    """Whether its value is a count or a score, of which a percentage says nothing."""
    gates: tuple[str, ...] = ()
    """Conditions that suit it, where those of its family do not."""

    @property
    def conditions(self) -> list[str]:
        """Conditions of a gate that suit this code."""
        return [one.format(code=self.code) for one in self.gates or GATES[self.family]]


_LOOK_LIKE_DIGITS = str.maketrans("OIL", "011")


@cache
def codes() -> Mapping[str, Code]:
    """All codes, by `AFnnn`, in order."""
    found = {}
    for family in FAMILIES:
        path = files("swag_af.auditing.codes") / f"{family}.toml"
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        for code, record in table.items():
            found[code] = parse_record({**record, "code": code, "family": family}, Code, str(path), "Mend the table.")
    return dict(sorted(found.items()))


def is_computed(diagnostic: Diagnostic) -> bool:
    """Whether it looked at anything. Flaws of writing are looked for everywhere, and `n` counts the questions that have
    them: without any they are clear."""
    known = codes().get(diagnostic.code)
    return diagnostic.n > 0 or (known is not None and known.family == "writing")


def find_code(wanted: str) -> Code:
    """The code of that number or name, in any letter case; raises InputError with near matches when there is none."""
    known = codes()
    by_name = {code.name: code for code in known.values()}
    spelt = wanted.strip()
    if code := known.get(spelt.upper()) or by_name.get(spelt.lower()):
        return code
    number = spelt.upper()[:2] + spelt.upper()[2:].translate(_LOOK_LIKE_DIGITS)
    near = difflib.get_close_matches(number, known, 1) + difflib.get_close_matches(spelt.lower(), by_name, 1)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise InputError(f"{wanted}: no such code.{hint} `swag-af explain` lists them all.")
