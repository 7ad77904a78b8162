"""A code and all that `swag-af explain` says of it, from the tables beside this file."""

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from swag_af.data.errors import InputError
from swag_af.data.records import parse_record

FAMILIES = {
    "partial": "Partial inputs",
    "single": "Single features",
    "words": "Words",
    "writing": "Item writing",
    "integrity": "Integrity",
}
"""The tables, and how each family is called."""


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
    family: str = ""


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


def find_code(wanted: str) -> Code:
    """The code of that number or name, in any letter case; raises InputError with near matches when there is none."""
    known = codes()
    by_name = {code.name: code for code in known.values()}
    spelt = wanted.strip()
    if code := known.get(spelt.upper()) or by_name.get(spelt.lower()):
        return code
    near = difflib.get_close_matches(spelt.upper(), known, 1) + difflib.get_close_matches(spelt.lower(), by_name, 1)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise InputError(f"{wanted}: no such code.{hint} `swag-af explain` lists them all.")
