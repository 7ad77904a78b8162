"""A gate: the conditions that a dataset must meet, from a TOML file, and what an audit says to each of them.

    [tool.swag-af.audit]            in pyproject.toml; in a file of its own, without this line
    gate = ["AF101 <= 30%", "AF501 clear", "AF102 not found if computed"]

How a condition is written stands in `swag_af.auditing.gates.conditions`. A gate is read, with all its faults, before
the audit is made. It fails if one condition fails for one diagnostic; then the command line ends with code 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swag_af.auditing.codes.code import is_computed
from swag_af.auditing.diagnostics import Diagnostic, LeftOut, mirrored
from swag_af.auditing.gates.conditions import (
    Comparison,
    Condition,
    Decision,
    decide_one,
    left_out,
    meaning,
    not_computed,
    parse_condition,
)
from swag_af.data.disk.files import read_text, read_toml
from swag_af.data.disk.records import parse_record
from swag_af.data.disk.urls import command
from swag_af.data.errors import GateError, InputError, several

TABLE = ("tool", "swag-af", "audit")
"""Where `gate` stands in pyproject.toml."""
HOW = 'Write gate = ["AF101 <= 30%", "AF501 clear"] under [tool.swag-af.audit] in pyproject.toml, or in a TOML alone.'


@dataclass(frozen=True, slots=True)
class Gate:
    """The conditions of one file."""

    conditions: tuple[Condition, ...]
    path: str = ""
    """The file; empty for conditions that were given in Python."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """What an audit says to each condition of a gate."""

    decisions: tuple[Decision, ...]
    """In the order of the conditions, then of codes and subjects."""
    path: str = ""
    """The file of the gate."""
    notes: tuple[str, ...] = ()
    """Of conditions with a `*`, the codes that they are about and that were not looked for, a line each."""

    @property
    def failed(self) -> tuple[Decision, ...]:
        """The decisions that fail the gate."""
        return tuple(one for one in self.decisions if one.status == "failed")

    @property
    def passed(self) -> bool:
        """Whether no decision fails."""
        return not self.failed

    def lines(self) -> list[str]:
        """What the terminal shows: each failure, each decision by luck, each note, and how many conditions are met."""
        shown = [one for one in self.decisions if one.status != "passed" or one.by_luck]
        n_failed = len({one.condition for one in self.failed})
        n = len({one.condition for one in self.decisions})
        n_skipped = n - len({one.condition for one in self.decisions if one.status != "skipped"})
        count = f"{n - n_failed - n_skipped:,} of {several(n, 'condition')} met"
        count += f", {n_failed:,} not met" if n_failed else ""
        count += f", {n_skipped:,} skipped" if n_skipped else ""
        said = [*(f"{one.status:<8}{one.said}" for one in shown), *(f"{'note':<8}{one}" for one in self.notes)]
        return [*said, f"Gate{_of(self.path)}: {count}."]

    def check(self) -> None:
        """Raise GateError, with which the command line ends with code 1, unless the gate is passed."""
        if self.passed:
            return
        failing = list(dict.fromkeys(one.condition.text for one in self.failed))
        raise GateError(
            f"the gate{_of(self.path)} fails: {'; '.join(failing)}. "
            f"`{command('explain', self.failed[0].condition.codes[0])}` tells what to do."
        )


def _of(path: str) -> str:
    return f" {path}" if path else ""


def read_gate(path: Path) -> Gate:
    """The gate in a TOML file: `gate` under [tool.swag-af.audit], or at its top.

    Raises one InputError for all faults of all conditions, each with its line.
    """
    table = read_toml(path)
    inner: Any = table
    for name in TABLE:
        inner = inner.get(name, {}) if isinstance(inner, Mapping) else {}
    found = inner if isinstance(inner, Mapping) and "gate" in inner else table
    if "gate" not in found:
        raise InputError(f"{path}: no gate in it. {HOW}")
    texts = parse_record(found["gate"], list[str], f"{path}: gate", HOW, error=InputError)
    lines = read_text(path).splitlines()
    return parse_gate(texts, [_place(path, lines, number, text) for number, text in enumerate(texts, 1)], str(path))


def parse_gate(texts: Sequence[str], places: Sequence[str] | None = None, path: str = "") -> Gate:
    """The gate of conditions as they are written; `places` say where each stands.

    Raises one InputError for all faults, also where there is no condition, or one twice.
    """
    if not texts:
        raise InputError(f"{path or 'gate'}: no conditions, so nothing could fail. {HOW}")
    conditions, faults = [], []
    for text, where in zip(texts, places or [f"condition {i}" for i in range(1, len(texts) + 1)], strict=True):
        try:
            conditions.append(parse_condition(text, where))
        except InputError as error:
            faults.append(str(error))
    faults += [f"{path or 'gate'}: {told} Leave one out." for told in _repeated(conditions)]
    if faults:
        raise InputError(" ".join(faults))
    return Gate(tuple(conditions), path)


def _repeated(conditions: Sequence[Condition]) -> list[str]:
    """What is to be said of conditions that ask the same, however they are written."""
    first: dict[Condition, Condition] = {}
    said = []
    for one in conditions:
        before = first.setdefault(meaning(one), one)
        also = "" if before.text == one.text else f", as {before.text!r}"
        said += [f"{one.text!r} is there twice{also}."] if before is not one else []
    return list(dict.fromkeys(said))


def _place(path: Path, lines: Sequence[str], number: int, text: str) -> str:
    """`pyproject.toml, line 12`; the number of the condition where its line is not to be found."""
    for line, content in enumerate(lines, 1):
        if not content.lstrip().startswith("#") and any(f"{mark}{text}{mark}" in content for mark in "\"'"):
            return f"{path}, line {line}"
    return f"{path}, condition {number}"


def decide(gate: Gate, diagnostics: Sequence[Diagnostic], without: Sequence[LeftOut] = ()) -> GateResult:
    """What `diagnostics`, those of an audit, and those that it is `without`, say to every condition of `gate`.

    A condition must hold for every diagnostic that it is about, and for the opposite of a rule (`mirrored`) where that
    was left out and it is about it: a bound from below may fail for that alone. One that is about none of them, or only
    about what had nothing to look at, fails, and so does one that is about what was left out, unless it says `if
    computed`.
    """
    ordered = sorted(filter(is_computed, diagnostics), key=lambda one: (one.code, one.subject))
    decisions, notes = list[Decision](), list[str]()
    for condition in gate.conditions:
        made = [decide_one(condition, one) for one in _about(condition, ordered)]
        if lacking := [one for one in without if condition.is_about(one)]:
            made.append(left_out(condition, lacking))
        decisions += made or [not_computed(condition, diagnostics, ordered)]
        looked_for = {*(one.code for one in ordered), *(one.code for one in without)}
        idle = [code for code in condition.codes if code not in looked_for]
        if made and idle:
            notes.append(f"{condition.text}: nothing to look at in this data for {', '.join(idle)}.")
    return GateResult(tuple(decisions), gate.path, tuple(notes))


def _about(condition: Condition, ordered: Sequence[Diagnostic]) -> list[Diagnostic]:
    """What `condition` is about, mirrors of rules that were left out among them.

    A mirror has the status of its rule: where one is asked for, the rule says enough.
    """
    those = [one for one in ordered if condition.is_about(one)]
    if those and not isinstance(condition.asked, Comparison):
        return those
    there = {(one.code, one.subject) for one in ordered}
    mirrors = [one for one in map(mirrored, ordered) if one and (one.code, one.subject) not in there]
    those += [one for one in mirrors if condition.is_about(one)]
    return sorted(those, key=lambda one: (one.code, one.subject))
