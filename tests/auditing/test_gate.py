"""Claims about a gate: how its conditions are read, what they decide, and how the command line ends."""

import contextlib
import itertools
import operator
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_af.auditing.codes.code import codes
from swag_af.auditing.dataset import Checks, audit
from swag_af.auditing.diagnostics import Balanced, Diagnostic, LeftOut
from swag_af.auditing.gates.conditions import FIGURES, Comparison, parse_condition
from swag_af.auditing.gates.gate import decide, parse_gate, read_gate
from swag_af.cli.main import main
from swag_af.cli.options import ShowOptions
from swag_af.data.errors import GateError, InputError
from swag_af.data.instances.instances import Instance, Instances


def diagnostic(subject: str = "options, tfidf", **fields: Any) -> Diagnostic:
    """One with figures, of which some may be given."""
    figures = {"value": 0.343, "low": 0.28, "high": 0.376, "chance": 0.25, "effect": 0.124, "n": 500, "n_groups": 90}
    known = {"code": "AF101", "status": "found", "unit": "accuracy", "said": "Options alone give 34.3 %."}
    return Diagnostic(**{**known, **figures, "subject": subject, **fields})


def statuses(condition: str, *diagnostics: Diagnostic) -> list[str]:
    return [one.status for one in decide(parse_gate([condition]), diagnostics).decisions]


def said(condition: str, *diagnostics: Diagnostic) -> str:
    (decision,) = decide(parse_gate([condition]), diagnostics).decisions
    return decision.said


def test_a_rule_that_was_left_out_for_its_mirror_is_held_against_the_gate() -> None:
    kept = diagnostic(
        "shortest", code="AF201", value=0.6, low=0.55, high=0.65, chance=0.5, effect=0.2, mirror="longest"
    )
    assert statuses("AF201[longest] <= 45%", kept) == ["passed"]
    assert statuses("AF201[longest] <= 35%", kept) == ["failed"]
    assert statuses("AF201[shortest] <= 45%", kept) == ["failed"]
    assert statuses("AF201[middle] >= 50%", kept) == ["failed"]


@pytest.mark.parametrize("subject", ["", "[*est*]", "[shortest]"])
def test_a_bound_from_below_fails_for_the_opposite_of_a_rule_too(subject: str) -> None:
    """With two options it could not, for the better rule alone was asked: `shortest` was right in 8.25 %."""
    figures = {"value": 0.9175, "low": 0.88, "high": 0.94, "chance": 0.5, "effect": 0.835}
    kept = diagnostic("longest", code="AF201", mirror="shortest", **figures)
    for asked in (" >= 45%", ".low >= 10%", ".effect >= -50%", " >= chance - 5%"):
        assert "failed" in statuses(f"AF201{subject}{asked}", kept)
    for asked in (" <= 92%", ".high <= 94%", ".effect <= 84%", " <= chance + 42%"):
        assert "failed" not in statuses(f"AF201{subject}{asked}", kept)
    assert statuses(f"AF201{subject} not found", kept) == ["failed"]


def test_a_rule_that_is_there_is_asked_itself() -> None:
    figures = {"code": "AF201", "chance": 0.5}
    both = [
        diagnostic("longest", value=0.9, mirror="shortest", **figures),
        diagnostic("shortest", value=0.8, **figures),
    ]
    assert statuses("AF201 >= 45%", *both) == ["passed", "passed"]


@pytest.mark.parametrize(
    "made",
    [
        {"code": "AF508", "subject": "positions", "unit": "share", "value": 0.26, "chance": 0.25, "status": "clear"},
        {"code": "AF512", "subject": "positions", "unit": "count", "value": 0.0, "chance": 0.0, "status": "clear"},
    ],
    ids=["share at a position", "a count"],
)
def test_conditions_that_explain_shows_can_be_met(made: dict[str, Any]) -> None:
    one = diagnostic(made.pop("subject"), **made)
    assert {status for text in codes()[one.code].conditions for status in statuses(text, one)} == {"passed"}


THOUSANDTHS = st.integers(-1000, 3000)
OF_SHARES = st.integers(-1000, 1000)
"""Thousandths that a share can be held against; a number above 1 is refused."""
OPERATORS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "==": operator.eq}


@given(value=THOUSANDTHS, chance=THOUSANDTHS, bound=OF_SHARES, comparator=st.sampled_from(list(OPERATORS)))
def test_comparisons_are_those_of_whole_thousandths(value: int, chance: int, bound: int, comparator: str) -> None:
    one = diagnostic(value=value / 1000, chance=chance / 1000)
    compare = OPERATORS[comparator]
    sign = "-" if bound < 0 else "+"
    for text, limit in [
        (f"{bound / 1000}", bound),
        (f"{bound / 10}%", bound),
        (f"chance {sign} {abs(bound) / 10} %", chance + bound),
        (f"chance{sign}{abs(bound) / 1000}", chance + bound),
        ("chance", chance),
    ]:
        expected = "passed" if compare(value, limit) else "failed"
        assert statuses(f"AF101 {comparator} {text}", one) == [expected], text


@pytest.mark.parametrize("figure", FIGURES)
def test_each_figure_can_be_asked_for(figure: str) -> None:
    one = diagnostic()
    number = getattr(one, figure)
    assert statuses(f"AF101.{figure} == {number}", one) == ["passed"]
    assert statuses(f"AF101.{figure} > {number}", one) == ["failed"]


@pytest.mark.parametrize(
    ("asked", "found", "hint", "clear"),
    [("not found", "failed", "passed", "passed"), ("clear", "failed", "failed", "passed")],
)
def test_a_status_can_be_asked_for(asked: str, found: str, hint: str, clear: str) -> None:
    expected = {"found": found, "hint": hint, "clear": clear}
    for status, decided in expected.items():
        assert statuses(f"AF101 {asked}", diagnostic(status=status)) == [decided]


def test_a_condition_must_hold_for_every_subject() -> None:
    both = diagnostic(value=0.2), diagnostic("options, fasttext", value=0.4)
    assert statuses("AF101 <= 0.3", *both) == ["failed", "passed"]  # in the order of subjects
    assert statuses("AF101[options, tfidf] <= 0.3", *both) == ["passed"]
    assert statuses("AF101[*fast*] <= 0.3", *both) == ["failed"]


def test_brackets_of_a_subject_are_letters_like_others() -> None:
    one = diagnostic("options, transformer[mine.v2]")
    assert statuses("AF101[options, transformer[mine.v2]].low <= 0.3", one) == ["passed"]
    assert statuses("AF101[*[mine.v2]] clear", one) == ["failed"]
    assert statuses("AF101[options, transformer?mine.v2]] clear", one) == ["failed"]
    assert "no subject" in said("AF101[options, transformer?mine.v2]] clear", one)


@pytest.mark.parametrize("target", ["AF101", "af101", "AF1*", "*", "options-only-solvable", "options-*"])
def test_a_code_goes_by_number_by_name_and_by_pattern(target: str) -> None:
    assert "AF101" in parse_condition(f"{target} clear").codes


def test_a_shortcut_that_accuracy_hides_fails_a_gate() -> None:
    hidden = diagnostic(
        "hypothesis, tfidf",
        code="AF105",
        value=0.9,
        low=0.88,
        high=0.92,
        chance=0.9,
        effect=0.0,
        balanced=Balanced(0.8, 0.7, 0.87, 0.5, "found"),
    )
    assert statuses("AF105 not found", hidden) == ["failed"]


def test_what_was_not_computed_fails_unless_the_condition_says_otherwise() -> None:
    assert statuses("AF101 <= 0.3") == ["failed"]
    assert statuses("AF101 <= 0.3 if computed") == ["skipped"]
    assert statuses("AF101[nli] clear", diagnostic()) == ["failed"]
    assert statuses("AF101 clear  if  computed", diagnostic(status="clear")) == ["passed"]
    assert said("AF101 <= 0.3") == (
        "AF101: not computed for this data, which would need questions with options. "
        "Leave the line out, or end it with `if computed`."
    )


def test_a_probe_that_was_left_out_fails_what_is_about_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """`AF101 <= 20%` failed by fastText, and passed where its package was missing."""
    monkeypatch.setitem(sys.modules, "fasttext", None)
    rows = [
        Instance(f"q{i}", f"What is {i}?", (f"a {i}", f"b {i}"), i % 2, contrast_set=f"s{i // 2}") for i in range(30)
    ]
    made = audit(Instances(tuple(rows), "choices"), Checks(n_folds=2))
    assert {(one.code, one.subject) for one in made.left_out} >= {
        ("AF101", "options, fasttext"),
        ("AF109", "options, fasttext"),
    }
    for text, expected in (
        ("AF101.n >= 0", ["passed", "failed"]),
        ("AF101[options, tfidf].n >= 0", ["passed"]),
        ("AF101.n >= 0 if computed", ["passed", "skipped"]),
        ("AF101[*fasttext] <= 90%", ["failed"]),
    ):
        decisions = decide(parse_gate([text]), made.diagnostics, made.left_out).decisions
        assert [one.status for one in decisions] == expected, text
    assert decisions[0].said.startswith(
        "AF101[options, fasttext]: left out. fasttext is not installed. Install it with"
    )
    assert decisions[0].said.endswith("'. Or name --filters without it, or end the line with `if computed`.")


def foreign(n: int) -> Instances:
    """Questions in Chinese, gold of which has a comma."""
    rng = np.random.default_rng(0)
    who, does, what = (
        ["老师", "医生", "农民", "司机"],
        ["打开", "搬走", "修理", "买下"],
        ["窗户", "桌子", "箱子", "地图"],
    )
    rows = []
    for i in range(n):
        texts = ["".join(map(rng.choice, (who, does, what))) for _ in range(4)]
        gold = int(rng.integers(4))
        options = tuple(f"今天{'，' if k == gold else ''}{text}。" for k, text in enumerate(texts))
        rows.append(Instance(f"q{i}", f"早上，{rng.choice(who)}不见了。接下来会发生什么？", options, gold))
    return Instances(tuple(rows), "choices")


def test_what_is_looked_for_in_english_alone_is_left_out_of_other_languages_and_is_no_headline() -> None:
    """Every character of Chinese is a noun to the tagger, and `fewest nouns` was the headline."""
    made = audit(foreign(100), Checks(models=("tfidf",), inputs=("options",), n_folds=2))
    english = {f"AF40{i}" for i in range(1, 8)} | {"AF209"}
    assert not english & {one.code for one in made.diagnostics}
    assert english | {"AF203"} == {one.code for one in made.left_out}
    assert {one.subject for one in made.diagnostics if one.code == "AF203"} >= {"most overlap", "least overlap"}
    assert made.diagnostic("AF205", "most commas").value == 1
    (line,) = made.record["left_out"]
    assert line.startswith("AF203 (content overlap), AF209, AF401, ")
    assert line.endswith("looked for in English only; these texts are not English (language zh).")
    (decision,) = decide(parse_gate(["AF209 not found"]), made.diagnostics, made.left_out).decisions
    assert decision.status == "failed"
    assert decision.said.endswith("(language zh). End the line with `if computed`.")


def test_a_condition_that_is_met_but_for_what_was_left_out_counts_as_met() -> None:
    without = [LeftOut("AF101", "options, fasttext", "no fastText")]
    result = decide(parse_gate(["AF101 <= 90% if computed"]), [diagnostic()], without)
    assert result.lines() == [
        "skipped AF101[options, fasttext]: left out. no fastText.",
        "Gate: 1 of 1 condition met.",
    ]


def test_the_codes_of_a_pattern_that_had_nothing_to_look_at_are_told() -> None:
    alone = diagnostic("one split", code="AF505", status="clear", unit="share", value=0.0, n=0)
    whole = diagnostic("labels", code="AF501", status="clear", unit="share", value=0.0)
    result = decide(parse_gate(["AF50* clear", "AF505 clear if computed"]), [alone, whole])
    assert result.passed
    (note,) = result.notes
    assert note.startswith("AF50* clear: nothing to look at in this data for AF502, AF503, AF504, AF505, ")
    assert f"note    {note}" in result.lines()


def test_splits_that_were_not_compared_pass_no_gate() -> None:
    """`AF505 clear` was met by a training file alone."""
    alone = diagnostic("one split", code="AF505", status="clear", unit="share", value=0.0, n=0)
    assert statuses("AF505 clear", alone) == statuses("AF505 <= 1%", alone) == ["failed"]
    assert statuses("AF505 clear if computed", alone) == ["skipped"]
    assert statuses("AF505 clear", diagnostic("test", code="AF505", status="clear")) == ["passed"]


def test_what_looked_at_nothing_passes_no_gate() -> None:
    """Pairs met `AF504 clear`, which compares options, and `AF504 <= 0%`."""
    empty = diagnostic("same text", code="AF504", status="clear", unit="share", value=0.0, n=0)
    for condition in ("AF504 clear", "AF504 <= 0%", "AF504[same*] not found", "AF504.n >= 0"):
        assert statuses(condition, empty) == ["failed"]
        assert "nothing to look at" in said(condition, empty)
    assert statuses("AF504 clear if computed", empty) == ["skipped"]
    some = diagnostic("same but for form", code="AF504", status="clear", unit="share", value=0.0)
    assert statuses("AF504 clear", empty, some) == ["passed"]
    flaw = diagnostic("hedges", code="AF405", status="clear", value=0.0, n=0)
    assert statuses("AF405 clear", flaw) == ["passed"], "every question was looked at, and none has it"


def test_a_split_may_be_called_as_its_absence_is() -> None:
    called = [diagnostic(name, code="AF505", unit="share") for name in ("one split", "one split a")]
    assert statuses("AF505 clear", *called) == ["failed", "failed"]
    assert statuses("AF505[one split a] not found", *called) == ["failed"]
    assert "clear" in said("AF505[one split a] clear", *called)


def test_an_audit_of_one_file_passes_no_gate_about_several() -> None:
    """AF513 and AF514 were clear of nothing."""
    rows = [Instance(f"q{i}", f"What is {i}?", (f"a {i}", f"b {i}"), i % 2) for i in range(30)]
    found = audit(Instances(tuple(rows), "choices"), Checks(("tfidf",), n_folds=2)).diagnostics
    for code in ("AF505", "AF513", "AF514"):
        assert {one.status for one in decide(parse_gate([f"{code} clear"]), found).decisions} == {"failed"}
        assert {one.status for one in decide(parse_gate([f"{code} clear if computed"]), found).decisions} == {"skipped"}


def test_a_subject_that_is_not_there_is_answered_with_those_that_are() -> None:
    text = said("AF101[options, tf-idf] clear", diagnostic(), diagnostic("options, fasttext"))
    assert "Did you mean options, tfidf? There are options, fasttext; options, tfidf." in text


@pytest.mark.parametrize(
    ("condition", "fields", "why"),
    [
        ("AF101.low <= 0.3", {"low": None}, "it has no low"),
        ("AF101 <= chance + 5%", {"chance": None}, "it has no chance level"),
        ("AF101 <= 5%", {"unit": "count"}, "its value is a count"),
        ("AF101.high <= 5%", {"unit": "z"}, "its value is a standard score"),
    ],
)
def test_a_figure_that_is_not_there_fails_and_says_why(condition: str, fields: dict[str, Any], why: str) -> None:
    one = diagnostic(**fields)
    assert statuses(condition, one) == ["failed"]
    assert why in said(condition, one)


def test_no_number_meets_no_bound() -> None:
    for comparator in OPERATORS:
        assert statuses(f"AF101 {comparator} 0.3", diagnostic(value=float("nan"))) == ["failed"]


@given(low=OF_SHARES, width=st.integers(0, 500), bound=OF_SHARES, at=st.floats(0, 1))
def test_a_decision_is_by_luck_where_the_ends_of_the_interval_decide_otherwise(
    low: int, width: int, bound: int, at: float
) -> None:
    one = diagnostic(value=(low + at * width) / 1000, low=low / 1000, high=(low + width) / 1000)
    (decision,) = decide(parse_gate([f"AF101 <= {bound / 1000}"]), [one]).decisions
    assert decision.by_luck == (low < bound < low + width)
    assert ("other instances" in decision.said) == decision.by_luck


def test_the_effect_has_the_interval_of_the_value_on_its_own_scale() -> None:
    text = said("AF101.effect <= 10%", diagnostic())
    assert "effect 12.4 % (95 % interval 4.0 % to 16.8 %), which is not <= 10%. The interval holds the bound" in text
    assert "interval" not in said("AF101.low <= 10%", diagnostic())


def test_a_figure_that_is_near_the_bound_is_told_with_as_many_decimals_as_show_it() -> None:
    """It was `71.5 %, which is not <= 71.5%`."""
    one = diagnostic(value=0.715157, low=0.70, high=0.73)
    assert "71.52 % (95 % interval 70.0 % to 73.0 %), which is not <= 71.5%" in said("AF101 <= 71.5%", one)


def test_what_is_said_has_the_figures() -> None:
    assert said("AF101 <= chance + 20%", diagnostic()) == (
        "AF101 options only solvable [options, tfidf]: 34.3 % (95 % interval 28.0 % to 37.6 %), "
        "which is <= chance + 20% (45.0 %)."
    )
    assert "AF101 options only solvable [s]: 12, which is not == 0." in said(
        "AF101 == 0", diagnostic("s", value=12, unit="count", low=None, high=None)
    )
    assert "found, where the gate asks for `clear`. Options alone" in said("AF101 clear", diagnostic())


def test_the_order_of_diagnostics_does_not_matter() -> None:
    gate = parse_gate(["* not found", "AF101 <= 0.3"])
    some = [diagnostic(subject, value=value) for subject, value in (("a", 0.1), ("b", 0.4), ("c", 0.2))]
    assert len({decide(gate, order) for order in itertools.permutations(some)}) == 1


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("AF1O1 <= 0.3", "no such code. Did you mean AF101"),
        ("options-only-solvabel clear", "Did you mean options-only-solvable"),
        ("AF9* clear", "no code is like AF9*"),
        ("AF101.lwo <= 0.3", "Did you mean low?"),
        ("AF101 cleer", "Did you mean clear?"),
        ("AF101 not foud", "Did you mean not found?"),
        ("AF101 =< 0.3", "asks for nothing"),
        ("AF101 <= 0,3", "is no bound"),
        ("AF101 <= nan", "is no bound"),
        ("AF101 <= chances + 3%", "is no bound"),
        ("AF101 <=", "asks for nothing"),
        ("AF101", "asks for nothing"),
        ("", "not a condition"),
        ("<= 0.3", "not a condition"),
        ("AF301 <= 5%", "the value of AF301 is a count"),
        ("AF5* <= 1%", "the value of AF512 is a count"),
        ("AF101.n <= 3%", "Compare it with a number"),
        ("AF101.n_groups >= chance", "Compare it with a number"),
        ("AF101.effect <= chance", "effect is 0 at chance"),
        ("AF101.low clear", "Leave `.low` out"),
        ("AF101 <= 30", "its value is a share, at most 1, and 30 is no bound. Write 30%."),
        ("AF10* > 300", "300 is no bound. Write a smaller one."),
        ("AF101.high <= chance + 130%", "130% is no bound"),
        ("AF101.effect <= 5", "Write 5%"),
    ],
)
def test_what_is_no_condition_is_one_line_with_its_place(text: str, fault: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_gate([text], ["gate.toml, line 3"])
    assert str(raised.value).startswith(f"gate.toml, line 3: {text!r}: ")
    assert fault in str(raised.value)
    assert "\n" not in str(raised.value)


@given(st.text(max_size=30))
def test_any_text_is_a_condition_or_an_input_error(text: str) -> None:
    with contextlib.suppress(InputError):
        assert parse_condition(text).codes


def test_a_comparison_says_what_was_written() -> None:
    condition = parse_condition("AF101[options, *].high  <=  chance - 5% if computed", "here")
    assert condition.asked == Comparison("high", "<=", -0.05, True, True, "<= chance - 5%")
    assert (condition.subject, condition.if_computed, condition.where) == ("options, *", True, "here")


def written(folder: Path, text: str, name: str = "gate.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "head"), [("pyproject.toml", "[tool.swag-af.audit]"), ("gate.toml", ""), ("x.toml", "[tool.other]\n[x]")]
)
def test_a_gate_stands_in_pyproject_or_alone(tmp_path: Path, name: str, head: str) -> None:
    gate = 'gate = [\n  # "AF1* clear"\n  "AF101 <= 30%",\n  "AF1* clear",\n]\n'
    text = f"{gate}{head}\n" if head.startswith("[tool.other]") else f"{head}\n{gate}"
    path = written(tmp_path, text, name)
    first = text.splitlines().index('  "AF101 <= 30%",') + 1
    assert [(one.text, one.where) for one in read_gate(path).conditions] == [
        ("AF101 <= 30%", f"{path}, line {first}"),
        ("AF1* clear", f"{path}, line {first + 1}"),
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "no gate in it"),
        ("[tool]\nswag-af = 3", "no gate in it"),
        ("[tool.swag-af.audit]\nfolds = 3", "no gate in it"),
        ('gate = "AF101 clear"', "expected array, got str"),
        ("gate = [3]", "expected str, got int"),
        ("gate = []", "no conditions"),
        ('gate = ["AF101 clear", "AF101  clear"]', "'AF101 clear' is there twice"),
        ('gate = ["AF101 <= 90%", "AF101 <= 90 %"]', "'AF101 <= 90 %' is there twice, as 'AF101 <= 90%'"),
        ('gate = ["AF101.value<=0.9", "AF101 <= 90 %"]', "'AF101 <= 90 %' is there twice, as 'AF101.value<=0.9'"),
        ("gate = [", "not valid TOML"),
    ],
)
def test_a_file_without_a_gate_is_one_line(tmp_path: Path, text: str, fault: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError, match=fault) as raised:
        read_gate(path)
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, 'gate = [\n"AF1O1 clear",\n"AF101 clear",\n"AF101 <= x"\n]')
    with pytest.raises(InputError, match=r"gate\.toml, line 2: .*gate\.toml, line 4: "):
        read_gate(path)


def test_a_line_that_cannot_be_found_is_told_by_its_number(tmp_path: Path) -> None:
    path = written(tmp_path, 'gate = ["AF101 \\u003c= 0.3"]')
    assert read_gate(path).conditions[0].where == f"{path}, condition 1"


def test_the_lines_of_a_result_are_what_fails_what_is_luck_and_a_count(tmp_path: Path) -> None:
    gate = read_gate(written(tmp_path, 'gate = ["AF101 <= 35%", "AF101 <= 90%", "AF101 clear", "AF101.n >= 100"]'))
    result = decide(gate, [diagnostic()])
    shown = result.lines()
    assert [line.split()[0] for line in shown] == ["passed", "failed", "Gate"]
    assert shown[-1] == f"Gate {tmp_path / 'gate.toml'}: 3 of 4 conditions met, 1 not met."
    assert not result.passed
    met = decide(parse_gate(["AF101 <= 90%"]), [diagnostic()])
    assert met.passed
    assert met.lines() == ["Gate: 1 of 1 condition met."]
    met.check()
    skipped = decide(parse_gate(["AF101 <= 90%", "AF101[x] clear if computed"]), [diagnostic()])
    assert skipped.lines()[-1] == "Gate: 1 of 2 conditions met, 1 skipped."
    skipped.check()


def test_a_failed_gate_ends_with_1_and_a_wrong_one_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, 'gate = ["AF101 clear"]')

    def check(options: ShowOptions) -> None:
        decide(read_gate(options.path), [diagnostic()]).check()

    monkeypatch.setattr("swag_af.cli.verbs.show", check)
    with pytest.raises(SystemExit) as ended:
        main(["show", str(path)])
    assert ended.value.code == 1
    assert capsys.readouterr().err.count("\n") == 1
    path.write_text('gate = ["AF101 cleer"]')
    with pytest.raises(SystemExit) as ended:
        main(["show", str(path)])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_failed_gate_names_what_fails() -> None:
    result = decide(parse_gate(["AF101 clear", "AF101 <= 30%", "AF101 <= 90%"]), [diagnostic()])
    with pytest.raises(GateError, match=r"the gate fails: AF101 clear; AF101 <= 30%\. `swag-af explain AF101`"):
        result.check()


def test_of_many_codes_those_whose_shares_a_bound_is_beyond_fail_and_say_so() -> None:
    """Among codes of counts the bound may be right, so that the line can be used."""
    (decision,) = decide(parse_gate(["AF* <= 30"]), [diagnostic(value=0.2, chance=0.25)]).decisions
    assert decision.status == "failed"
    assert "Write 30%." in decision.said
