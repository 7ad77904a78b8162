"""Diagnostics, or a gate's decisions on them, as JUnit XML, which GitLab, Jenkins and others show as tests.

With a gate each decision is a test; without one each diagnostic is, and fails where something was found. A hint
passes, with its sentence beside it: JUnit knows no warnings; what had nothing to look at is skipped. No times or dates:
the same audit gives the same bytes.
"""

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from swag_af.auditing.codes.code import codes, is_computed
from swag_af.auditing.diagnostics import Diagnostic
from swag_af.auditing.gates.conditions import Decision
from swag_af.auditing.gates.gate import GateResult
from swag_af.data.disk.files import write_text
from swag_af.data.disk.urls import command
from swag_af.data.display.terminal import visible


def write_junit(path: Path, diagnostics: Sequence[Diagnostic], result: GateResult | None = None) -> None:
    """Write `junit` to a file."""
    write_text(path, junit(diagnostics, result))


def junit(diagnostics: Sequence[Diagnostic], result: GateResult | None = None) -> str:
    """The XML of the decisions of `result`, or of `diagnostics` where there is no gate."""
    cases = [_decision_case(one) for one in result.decisions] if result else [_case(one) for one in diagnostics]
    counts = {"tests": str(len(cases))}
    counts |= {"failures": str(sum(case.find("failure") is not None for case in cases)), "errors": "0"}
    counts |= {"skipped": str(sum(case.find("skipped") is not None for case in cases))}
    root = ET.Element("testsuites", {"name": "swag-af audit", **counts})
    suite = ET.SubElement(root, "testsuite", {"name": "data", **counts})
    suite.extend(cases)
    _indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _decision_case(decision: Decision) -> ET.Element:
    """The test of a condition and a diagnostic; its name stays the same from audit to audit."""
    one, condition = decision.diagnostic, decision.condition
    name = f"{condition.text} ({_called(one)})" if one else condition.text
    case = _test(one.code if one else condition.codes[0], name)
    if decision.status == "skipped":
        _add_skipped(case, decision.said)
    elif decision.status == "failed":
        _add_failure(case, "gate", decision.said, one)
    else:
        ET.SubElement(case, "system-out").text = legal(decision.said)
    return case


def _case(diagnostic: Diagnostic) -> ET.Element:
    case = _test(diagnostic.code, _called(diagnostic))
    if diagnostic.status == "found":
        _add_failure(case, "found", diagnostic.said, diagnostic)
    elif not is_computed(diagnostic):
        _add_skipped(case, diagnostic.said)
    else:
        ET.SubElement(case, "system-out").text = legal(f"{diagnostic.status}: {diagnostic.said}")
    return case


def _called(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.code} {diagnostic.subject}"


def _test(code: str, name: str) -> ET.Element:
    """A test without a result. Its class is the code with its name, below `audit`, by which Jenkins groups tests."""
    known = codes().get(code)
    title = f"{code} {known.name}" if known else code
    return ET.Element("testcase", {"classname": legal(f"audit.{title}"), "name": legal(name)})


def _add_skipped(case: ET.Element, said: str) -> None:
    """A test that was not made, and why: GitLab reads the content, Jenkins the attribute."""
    ET.SubElement(case, "skipped", {"message": legal(said)}).text = legal(said)


def _add_failure(case: ET.Element, kind: str, said: str, diagnostic: Diagnostic | None) -> None:
    """A failure with its sentence, the examples, and what to do."""
    failure = ET.SubElement(case, "failure", {"type": kind, "message": legal(said)})
    lines = [said]
    if diagnostic:
        for example in diagnostic.examples:
            lines += ["", f"{example.where or example.id}: {example.said}".rstrip(": "), example.text]
        known = codes().get(diagnostic.code)
        lines += ["", f"What to do: {known.mend} `{command('explain', known.code)}` tells more."] if known else []
    failure.text = legal("\n".join(lines))


def _indent(root: ET.Element) -> None:
    """Line ends between elements; what is within them stays as it is."""
    for parent in (root, *root):
        parent.text = "\n" if len(parent) else None
        for child in parent:
            child.tail = "\n"


def legal(text: str) -> str:
    """`text` with every character that XML cannot hold written out, and every one that terminals obey."""
    return visible(text).translate({0xFFFE: r"\ufffe", 0xFFFF: r"\uffff"})
