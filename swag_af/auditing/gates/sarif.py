"""Diagnostics and a gate's decisions as SARIF 2.1.0, which code scanning shows beside the lines of a dataset.

One result for each diagnostic that was found, is a hint, or fails the gate, at its worst example; its other examples
are related places. A rule that was left out for its opposite has one where it fails the gate. The level is `error` for
what fails the gate, or for all that was found where there is no gate; `warning` for what was found and the gate allows;
`note` for hints. Paths are relative to the folder of the repository. Where a diagnostic has no place it stands at line
1 of the data: code scanning shows no result without one. No dates: the same audit gives the same bytes.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, errata 01, 2023.
"""

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from swag_af.auditing.codes.code import FAMILIES, Code, codes
from swag_af.auditing.diagnostics import Diagnostic, Example, mirrored
from swag_af.auditing.gates.conditions import Decision
from swag_af.auditing.gates.gate import GateResult
from swag_af.data.disk.files import write_json
from swag_af.data.display.terminal import visible

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LONGEST = 1024
"""Characters that code scanning takes as the description of a rule."""
LEVELS = {"found": "error", "hint": "note"}
"""The level of a diagnostic where there is no gate; one that is clear has no result."""
FIGURES = ("subject", "value", "unit", "low", "high", "chance", "effect", "n", "n_groups")
"""Fields of a diagnostic that a result has too."""
Json = dict[str, Any]


def write_sarif(
    path: Path, diagnostics: Sequence[Diagnostic], result: GateResult | None = None, *, data: Sequence[Path] = ()
) -> None:
    """Write `sarif` to a file."""
    write_json(path, sarif(diagnostics, result, data=data))


def sarif(
    diagnostics: Sequence[Diagnostic],
    result: GateResult | None = None,
    *,
    data: Sequence[Path] = (),
    root: Path | None = None,
) -> Json:
    """The SARIF log of an audit, whose files or folders were `data`.

    Paths become relative to `root`, the folder of the repository; the working folder when not given. A file outside it
    keeps its name alone.
    """
    places = _Places(tuple(map(Path, map(os.path.abspath, data))), Path(os.path.abspath(root or ".")))
    failed = _failed(result)
    ordered = sorted(diagnostics, key=lambda one: (one.code, one.subject))
    results = [
        _result(one, failed.get((one.code, one.subject), []), result is not None, places)
        for one in ordered
        if one.status in LEVELS or (one.code, one.subject) in failed
    ]
    mirrors = [one for one in map(mirrored, ordered) if one and (one.code, one.subject) in failed]
    results += [_result(one, failed[one.code, one.subject], True, places) for one in mirrors]
    results += [_not_computed(one, places) for one in (result.failed if result else ()) if one.diagnostic is None]
    used = sorted({one["ruleId"] for one in results} | {one.code for one in diagnostics})
    for made in results:
        made["ruleIndex"] = used.index(made["ruleId"])
    driver = {"name": "swag-af", "version": version("swag-af"), "rules": [_rule(code) for code in used]}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _failed(result: GateResult | None) -> dict[tuple[str, str], list[Decision]]:
    """The decisions that fail, by the code and the subject of their diagnostic."""
    found: dict[tuple[str, str], list[Decision]] = {}
    for one in result.failed if result else ():
        if one.diagnostic:
            found.setdefault((one.diagnostic.code, one.diagnostic.subject), []).append(one)
    return found


def _rule(code: str) -> Json:
    """What a code means; of a code without a record only its number."""
    known = codes().get(code)
    if known is None:
        return {"id": code, "shortDescription": _text(code)}
    return {
        "id": code,
        "name": known.name,
        "shortDescription": _text(known.title),
        "fullDescription": _text(_cut(known.computed)),
        "help": _help(known),
        "properties": {"tags": [FAMILIES[known.family]]},
    }


def _help(code: Code) -> Json:
    parts = {
        "What to do": code.mend,
        "How it is computed": code.computed,
        "When it misleads": code.fails,
        "Source": code.source,
    }
    plain = "\n".join(f"{title}: {text}" for title, text in parts.items())
    return {**_text(plain), "markdown": visible("\n\n".join(f"**{title}.** {text}" for title, text in parts.items()))}


def _result(one: Diagnostic, failed: Sequence[Decision], has_gate: bool, places: "_Places") -> Json:
    """The result of a diagnostic, with the decisions that it fails."""
    allowed = has_gate and one.status == "found"
    level = "error" if failed else "warning" if allowed else LEVELS[one.status]
    said = [decision.said for decision in failed if one.said not in decision.said]
    worst, others = one.examples[:1], one.examples[1:]
    figures = {name: getattr(one, name) for name in FIGURES}
    made: Json = {
        "ruleId": one.code,
        "level": level,
        "message": _text(" ".join([one.said, *said, *(f"For example: {example.text}" for example in worst)])),
        "locations": [places.of_example(worst[0] if worst else None)],
        "partialFingerprints": _fingerprints(one.code, one.subject),
        "properties": {name: _plain(figure) for name, figure in figures.items() if figure is not None},
    }
    if one.balanced:
        made["properties"]["balanced"] = asdict(one.balanced)
    if others:
        related = enumerate(others, 1)
        made["relatedLocations"] = [{"id": i, **places.of_example(example, named=True)} for i, example in related]
    return made


def _not_computed(decision: Decision, places: "_Places") -> Json:
    """The result of a condition that the audit has no figure for, at its line in the gate."""
    code = decision.condition.codes[0]
    return {
        "ruleId": code,
        "level": "error",
        "message": _text(decision.said),
        "locations": [places.of(decision.condition.where)],
        "partialFingerprints": _fingerprints(code, decision.condition.text),
    }


def _fingerprints(*parts: str) -> dict[str, str]:
    """What code scanning knows a result by, although its figures and examples change; under the name that it reads."""
    digest = hashlib.sha256("\n".join(parts).encode(errors="surrogatepass")).hexdigest()
    return {"primaryLocationLineHash": f"{digest[:16]}:1"}


_PLACE = re.compile(r"(?P<file>.+?), (?:line (?P<line>[\d,]+)|\w+ [\d,]+)")
"""`val.jsonl, line 7` at the beginning of a place; of a row or a condition the number is no line."""


@dataclass(frozen=True)
class _Places:
    """Where in a repository the places are that examples name."""

    data: tuple[Path, ...]
    """Absolute, as `root`."""
    root: Path

    def of_example(self, example: Example | None, *, named: bool = False) -> Json:
        """The location of an example, with its text where it is `named`; of none, the beginning of the data."""
        location = self.of(example.where if example else "")
        if example and named:
            location["message"] = _text(f"{example.text} {example.said}".strip())
        return location

    def of(self, where: str) -> Json:
        """The location that `val.jsonl, line 7` names; the beginning of the data where it names no file."""
        found = _PLACE.match(where)
        line = int(found["line"].replace(",", "")) if found and found["line"] else 1
        uri = quote(visible(self._path(found["file"] if found else "")))
        artifact = {"uri": uri, "uriBaseId": "%SRCROOT%"}
        return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": max(line, 1)}}}

    def _path(self, name: str) -> str:
        """The path, relative to the root, of the file that an example calls `name`, or of the data where it is "".

        The name may begin with folders that the data ends with, and end with a file within it: `en/test.jsonl` is
        `data/en/test.jsonl`, and in the folder `data/en` the file `test.jsonl`.
        """
        parts = Path(name).parts
        named = [
            one.joinpath(*parts[n:])
            for n in range(len(parts), -1, -1)
            for one in self.data
            if one.parts[len(one.parts) - n :] == parts[:n]
        ]
        there = [path for path in named if path in self.data or path.exists()]
        path = Path(os.path.abspath([*there, Path(name or "data")][0]))
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.name


def _text(text: str) -> Json:
    """A message; no text of the data becomes a link or a placeholder, which SARIF writes `[text](target)` and `{0}`."""
    return {"text": visible(text).replace("](", "] (").replace("{", "{{").replace("}", "}}")}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2].rsplit(' ', 1)[0]} …"


def _plain(figure: float | str) -> float | str:
    return visible(figure) if isinstance(figure, str) else figure
