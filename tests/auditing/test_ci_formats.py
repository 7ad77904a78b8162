"""Claims about what continuous integration reads: JUnit XML and SARIF, of any text, with and without a gate."""

import html
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree as ET

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_af.auditing.codes.code import codes
from swag_af.auditing.diagnostics import Diagnostic, Example, LeftOut, Status
from swag_af.auditing.gates.gate import GateResult, decide, parse_gate
from swag_af.auditing.gates.junit import junit, legal, write_junit
from swag_af.auditing.gates.sarif import LONGEST, sarif, write_sarif
from swag_af.data.display.terminal import visible

EXAMPLES = (
    Example("q7", "val.jsonl, line 7", "What? a | *b*", "gold 0.97"),
    Example("q1001", "val.jsonl, line 1,001", "Why? *a* | b", "gold 0.95"),
)


def diagnostic(subject: str, status: Status, *examples: Example, code: str = "AF101") -> Diagnostic:
    said = f"{subject} give 40 %."
    return Diagnostic(code, subject, status, 0.4, "accuracy", said, 0.3, 0.5, 0.25, n=90, examples=examples)


THREE = [
    diagnostic("options, tfidf", "found", *EXAMPLES),
    diagnostic("options, fasttext", "hint"),
    diagnostic("options, bow", "clear"),
]


def decided(*conditions: str) -> GateResult:
    return decide(parse_gate(conditions, [f"conf/gate.toml, line {i}" for i in range(1, len(conditions) + 1)]), THREE)


def cases(text: str) -> dict[str, ET.Element]:
    """The tests of a JUnit file by their names, which must be unique, after a look at its counts."""
    root = ET.fromstring(text)
    (suite,) = root
    found = {case.get("name", ""): case for case in suite}
    assert len(found) == len(suite)
    for element in (root, suite):
        assert int(element.get("tests", "")) == len(found)
        assert int(element.get("failures", "")) == len(list(suite.iter("failure")))
        assert int(element.get("skipped", "")) == len(list(suite.iter("skipped")))
        assert element.get("errors") == "0"
    assert {child.tag for case in suite for child in case} <= {"failure", "skipped", "system-out"}
    assert all(case.get("classname") for case in suite)
    return found


def test_what_was_left_out_fails_in_both_formats() -> None:
    gate = parse_gate(["AF101[*t*] not found"], ["conf/gate.toml, line 1"])
    result = decide(gate, THREE[1:], [LeftOut("AF101", "options, other", "other is not installed.")])
    (failure,) = [one for case in cases(junit(THREE, result)).values() for one in case.iter("failure")]
    assert "AF101[options, other]: left out. other is not installed." in failure.get("message", "")
    (error,) = [one for one in sarif(THREE[1:], result)["runs"][0]["results"] if one["level"] == "error"]
    assert "other is not installed" in error["message"]["text"]


def test_without_a_gate_what_was_found_is_a_failed_test() -> None:
    found = cases(junit(THREE))
    assert [name for name, case in found.items() if case.find("failure") is not None] == ["AF101 options, tfidf"]
    assert found["AF101 options, bow"].findtext("system-out") == "clear: options, bow give 40 %."
    text = found["AF101 options, tfidf"].findtext("failure") or ""
    assert "val.jsonl, line 7: gold 0.97\nWhat? a | *b*" in text
    assert f"What to do: {codes()['AF101'].mend}" in text


def test_what_had_nothing_to_look_at_is_skipped_but_for_flaws_of_writing() -> None:
    """Copies across splits were a passed test where there was one split."""
    idle = [replace(diagnostic("pairs", "clear", code=code), n=0) for code in ("AF401", "AF505")]
    found = cases(junit(idle))
    assert {name: [child.tag for child in case] for name, case in found.items()} == {
        "AF401 pairs": ["system-out"],
        "AF505 pairs": ["skipped"],
    }


def test_with_a_gate_each_decision_is_a_test() -> None:
    found = cases(junit(THREE, decided("AF101 not found", "AF101[nli] clear if computed", "AF101[x] clear")))
    assert {name: [child.tag for child in case] for name, case in found.items()} == {
        "AF101 not found (AF101 options, bow)": ["system-out"],
        "AF101 not found (AF101 options, fasttext)": ["system-out"],
        "AF101 not found (AF101 options, tfidf)": ["failure"],
        "AF101[nli] clear if computed": ["skipped"],
        "AF101[x] clear": ["failure"],
    }


def test_a_name_does_not_change_with_the_figures() -> None:
    later = [replace(one, value=one.value / 2, said="less.", examples=()) for one in THREE]
    assert list(cases(junit(later))) == list(cases(junit(THREE)))


ANY = st.text(st.characters(codec=None), max_size=20) | st.sampled_from(
    ["]]>", "<a b='c'>&amp;", "\x00\x1b[2J", "\ud800", "\ufffe\uffff", "\r\n\t", "\N{RIGHT-TO-LEFT OVERRIDE}", "[x](1)"]
)


@given(said=ANY, subject=ANY, text=ANY, where=ANY)
def test_any_text_is_read_back_from_junit(said: str, subject: str, text: str, where: str) -> None:
    one = Diagnostic("AF101", subject, "found", 1.0, "count", said, examples=(Example("q", where, text, said),))
    made = junit([one])
    ((title, case),) = cases(made).items()
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == legal(said)
    assert title == legal(f"AF101 {subject}")
    assert legal(text) in (failure.text or "")
    made.encode("utf-8")


@given(ANY)
def test_only_what_xml_cannot_hold_and_terminals_obey_is_written_out(text: str) -> None:
    kept = "".join(c for c in text if visible(c) == c and c not in "\ufffe\uffff")
    assert legal(kept) == kept
    assert ET.fromstring(f"<a>{html.escape(legal(text))}</a>").text in (legal(text), None)


# The parts of the schema of SARIF 2.1.0 that we write: names, what is required, and that nothing else is allowed.


class Strict(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """An object of the schema, of which all say `additionalProperties: false`."""


class Message(Strict):
    text: str


class Help(Message):
    markdown: str


class ArtifactLocation(Strict):
    uri: str
    uri_base_id: str


class Region(Strict):
    start_line: int


class PhysicalLocation(Strict):
    artifact_location: ArtifactLocation
    region: Region


class Location(Strict):
    physical_location: PhysicalLocation
    id: int = -1
    message: Message | None = None


class Result(Strict):
    message: Message
    rule_id: str
    rule_index: int
    level: Literal["none", "note", "warning", "error"]
    locations: list[Location]
    partial_fingerprints: dict[str, str]
    properties: dict[str, Any] = {}
    related_locations: list[Location] = []


class Rule(Strict):
    id: str
    short_description: Message
    name: str = ""
    full_description: Message | None = None
    help: Help | None = None
    properties: dict[str, Any] = {}


class Driver(Strict):
    name: str
    version: str
    rules: list[Rule]


class Tool(Strict):
    driver: Driver


class Run(Strict):
    tool: Tool
    results: list[Result]


class Log(Strict):
    schema: str = msgspec.field(name="$schema")
    version: Literal["2.1.0"]
    runs: list[Run]


def checked(made: dict[str, Any]) -> Run:
    """The run of a SARIF log that has the form of the schema, and whose parts agree."""
    (run,) = msgspec.json.decode(json.dumps(made), type=Log).runs
    rules = run.tool.driver.rules
    assert len({rule.id for rule in rules}) == len(rules)
    assert len({str(one.partial_fingerprints) for one in run.results}) == len(run.results)
    for one in run.results:
        assert rules[one.rule_index].id == one.rule_id
        assert len(one.locations) == 1
        for location in (*one.locations, *one.related_locations):
            place = location.physical_location
            assert place.region.start_line >= 1
            assert place.artifact_location.uri.isascii()
            assert not place.artifact_location.uri.startswith(("/", ".."))
    return run


def levels(made: dict[str, Any]) -> dict[str, str]:
    return {one.properties.get("subject", ""): one.level for one in checked(made).results}


def test_without_a_gate_found_is_an_error_and_a_hint_a_note() -> None:
    assert levels(sarif(THREE)) == {"options, tfidf": "error", "options, fasttext": "note"}


def test_with_a_gate_only_what_fails_it_is_an_error() -> None:
    assert levels(sarif(THREE, decided("AF101 <= 90%"))) == {"options, tfidf": "warning", "options, fasttext": "note"}
    assert levels(sarif(THREE, decided("AF101[options, bow] <= 30%"))) == {
        "options, bow": "error",
        "options, tfidf": "warning",
        "options, fasttext": "note",
    }


def test_a_rule_that_was_left_out_for_its_opposite_is_an_error_where_it_fails() -> None:
    """The command line ended with 1, and code scanning showed no error."""
    kept = replace(diagnostic("shortest", "found", *EXAMPLES, code="AF201"), mirror="longest")
    failing = decide(parse_gate(["AF201[longest] not found"]), [kept])
    assert not failing.passed
    assert levels(sarif([kept], failing)) == {"shortest": "warning", "longest": "error"}
    assert levels(sarif([kept], decide(parse_gate(["AF201[longest] <= 90%"]), [kept]))) == {"shortest": "warning"}


def test_what_was_not_computed_stands_at_its_line_of_the_gate() -> None:
    run = checked(sarif(THREE, decided("AF101 >= 0", "AF101[x] clear")))
    (one,) = (one for one in run.results if not one.properties)
    place = one.locations[0].physical_location
    assert (place.artifact_location.uri, place.region.start_line) == ("conf/gate.toml", 2)
    assert "no subject 'x'" in one.message.text


def test_a_result_stands_at_its_worst_example_and_names_the_others(tmp_path: Path) -> None:
    data = tmp_path / "my data" / "val.jsonl"
    made = checked(sarif(THREE, data=[data], root=tmp_path))
    found = next(one for one in made.results if one.related_locations)
    places = [one.physical_location for one in (*found.locations, *found.related_locations)]
    assert {place.artifact_location.uri for place in places} == {"my%20data/val.jsonl"}
    assert [place.region.start_line for place in places] == [7, 1001]
    assert "What? a | *b*" in found.message.text
    assert found.related_locations[0].message == Message("Why? *a* | b gold 0.95")


@pytest.mark.parametrize(
    ("where", "data", "expected"),
    [
        ("val.jsonl, line 7", ["d/train.jsonl", "d/val.jsonl"], ("d/val.jsonl", 7)),
        ("val.jsonl, line 7 and train.jsonl, line 9", ["d/train.jsonl", "d/val.jsonl"], ("d/val.jsonl", 7)),
        ("val.parquet, row 7", ["val.parquet"], ("val.parquet", 1)),
        ("inner.jsonl, line 3", ["folder"], ("folder/inner.jsonl", 3)),
        ("en/test.jsonl, line 7", ["data/de/test.jsonl", "data/en/test.jsonl"], ("data/en/test.jsonl", 7)),
        ("folder/inner.jsonl, line 3", ["other", "up/folder"], ("up/folder/inner.jsonl", 3)),
        ("folder, row 3", ["other", "up/folder"], ("up/folder", 1)),
        ("st.jsonl, line 7", ["data/test.jsonl"], ("st.jsonl", 7)),
        ("d/other.jsonl, line 3", ["x.jsonl"], ("d/other.jsonl", 3)),
        ("", ["d/x.jsonl", "y.jsonl"], ("d/x.jsonl", 1)),
        ("question 12", ["x.jsonl"], ("x.jsonl", 1)),
        ("", [], ("data", 1)),
        ("val.jsonl, line 7", ["../elsewhere/val.jsonl"], ("val.jsonl", 7)),
    ],
)
def test_places_become_paths_of_the_repository(
    where: str, data: list[str], expected: tuple[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("folder", "up/folder"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "inner.jsonl").write_text("")
    monkeypatch.chdir(tmp_path)
    one = diagnostic("s", "found", Example("q", where, "text"))
    place = checked(sarif([one], data=list(map(Path, data)))).results[0].locations[0].physical_location
    assert (place.artifact_location.uri, place.region.start_line) == expected


def test_a_fingerprint_stays_when_figures_examples_and_the_gate_change() -> None:
    def fingerprints(made: dict[str, Any]) -> dict[str, dict[str, str]]:
        return {one.properties["subject"]: one.partial_fingerprints for one in checked(made).results}

    later = [replace(one, value=0.3, said="Less.", examples=EXAMPLES[1:]) for one in reversed(THREE)]
    assert fingerprints(sarif(THREE)) == fingerprints(sarif(later)) == fingerprints(sarif(later, decided("* clear")))


def test_rules_are_the_codes_that_were_computed_with_all_that_is_known_of_them() -> None:
    (rule,) = checked(sarif(THREE[2:])).tool.driver.rules
    code = codes()["AF101"]
    assert (rule.id, rule.name, rule.short_description.text) == (code.code, code.name, code.title)
    assert rule.help is not None
    assert all(text in rule.help.text and text in rule.help.markdown for text in (code.mend, code.fails, code.source))


def test_a_description_that_is_too_long_is_cut_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    long = replace(codes()["AF101"], computed="word " * 400)
    monkeypatch.setattr("swag_af.auditing.gates.sarif.codes", lambda: {"AF101": long})
    (rule,) = checked(sarif(THREE[:1])).tool.driver.rules
    assert rule.full_description is not None
    assert rule.full_description.text.endswith("word …")
    assert LONGEST - 10 < len(rule.full_description.text) <= LONGEST


def test_a_code_without_a_record_is_a_rule_all_the_same() -> None:
    checked(sarif([diagnostic("s", "found", code="AF999")]))


@given(said=ANY, subject=ANY, text=ANY, where=ANY)
def test_any_text_is_written_as_sarif(said: str, subject: str, text: str, where: str) -> None:
    examples = (Example("q", where, text, said), Example("r", f"{where}, line 3", text))
    one = Diagnostic("AF101", subject, "found", 1.0, "count", said, n=2, examples=examples)
    made = sarif([one], decide(parse_gate(["AF101 == 0"]), [one]))
    json.dumps(made, ensure_ascii=False).encode("utf-8")
    (result,) = checked(made).results
    assert "](" not in result.message.text
    assert "{" not in result.message.text.replace("{{", "")  # `{0}` would be the place of an argument
    plain = result.message.text.replace("{{", "{").replace("}}", "}")
    assert visible(text).replace("](", "] (") in plain


def test_the_order_of_diagnostics_changes_no_byte_of_sarif() -> None:
    assert json.dumps(sarif(THREE)) == json.dumps(sarif(THREE[::-1]))


def test_both_files_are_written_as_they_are_made(tmp_path: Path) -> None:
    result = decided("AF101 not found")
    write_junit(tmp_path / "j.xml", THREE, result)
    write_sarif(tmp_path / "s.sarif", THREE, result)
    assert (tmp_path / "j.xml").read_text(encoding="utf-8") == junit(THREE, result)
    assert json.loads((tmp_path / "s.sarif").read_text(encoding="utf-8")) == sarif(THREE, result)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["j.xml", "s.sarif"]
