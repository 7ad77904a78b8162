"""Claims about the codes of an audit: every record is whole, and `explain` tells all of it."""

import re
from dataclasses import fields

import pytest

from swag_af.auditing.codes.code import FAMILIES, GATES, MEANS, Code, codes, find_code
from swag_af.auditing.gates.conditions import parse_condition
from swag_af.auditing.options import ExplainOptions
from swag_af.cli.explain import explain
from swag_af.data.errors import InputError

ALL = list(codes().values())
by_code = pytest.mark.parametrize("code", ALL, ids=lambda code: code.code)


@by_code
def test_a_number_is_in_the_hundred_of_its_family(code: Code) -> None:
    hundred = 1 + list(FAMILIES).index(code.family)
    assert re.fullmatch(rf"AF{hundred}(?!00)\d\d", code.code)


@by_code
def test_a_name_is_lower_case_words_with_hyphens(code: Code) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code.name)


def test_names_and_titles_are_unique() -> None:
    for field in ("name", "title"):
        assert len({getattr(code, field) for code in ALL}) == len(ALL)


@by_code
def test_sentences_end_with_a_stop_and_have_single_blanks(code: Code) -> None:
    for field in ("computed", "source", "fails", "mend"):
        text = getattr(code, field)
        assert re.fullmatch(r"[A-Z0-9`].*[.?]", text, re.DOTALL), (field, text)
        assert " ".join(text.split()) == text, field


@by_code
def test_title_and_need_are_words_in_a_sentence(code: Code) -> None:
    assert code.title
    assert not code.title.endswith(".")
    assert not code.needs.endswith(".")


@by_code
def test_the_conditions_that_explain_shows_can_be_written_in_a_gate(code: Code) -> None:
    for text in code.conditions:
        assert parse_condition(text.format(code=code.code)).codes == (code.code,)


def test_every_family_says_what_it_means() -> None:
    assert set(FAMILIES) == set(MEANS) == set(GATES)
    assert all(text.endswith(".") for text in MEANS.values())


_TOLD = {f.name for f in fields(Code)} - {"family", "is_count", "gates"}


@by_code
@pytest.mark.parametrize("columns", ["40", "200"])
def test_explain_tells_every_field(code: Code, columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    text = explain(ExplainOptions((code.name.upper(),)))
    shown = " ".join(text.split())
    assert not [f.name for f in fields(code) if f.name in _TOLD and getattr(code, f.name) not in shown]
    assert FAMILIES[code.family] in shown
    assert max(len(line) for line in text.splitlines() if " " in line.strip()) <= max(int(columns), 60)


def test_explain_lists_all_codes_by_family() -> None:
    text = explain(ExplainOptions(()))
    assert re.findall(r"^  (AF\d+)  (\S+)", text, re.MULTILINE) == [(code.code, code.name) for code in ALL]
    assert [line for line in text.splitlines() if line in FAMILIES.values()] == [
        title for family, title in FAMILIES.items() if any(code.family == family for code in ALL)
    ]


def test_explain_says_that_what_is_sure_can_be_a_hint() -> None:
    """The definition of a hint asked for an interval that includes chance, which AF104 and AF408 contradict."""
    assert "\nhint   it may have: too little is sure, or what is sure need not be a fault\n" in explain(
        ExplainOptions(())
    )


def test_several_codes_are_told_one_after_the_other() -> None:
    text = explain(ExplainOptions((ALL[-1].code, ALL[0].name)))
    assert text.index(ALL[-1].title) < text.rindex(ALL[0].title)


@pytest.mark.parametrize(("wrong", "near"), [("AF1O1", "AF101"), ("option-only-solvable", "options-only-solvable")])
def test_an_unknown_code_is_answered_with_a_near_one(wrong: str, near: str) -> None:
    with pytest.raises(InputError, match=f"{wrong}: no such code. Did you mean .*{near}"):
        find_code(wrong)


def test_the_verb_prints_what_the_function_returns(capsys: pytest.CaptureFixture[str]) -> None:
    from swag_af.cli import verbs

    verbs.explain(ExplainOptions(("AF101",)))
    assert capsys.readouterr().out.rstrip("\n") == explain(ExplainOptions(("AF101",)))


def test_codes_are_given_without_a_flag_and_none_is_the_list() -> None:
    import tyro

    flags = (tyro.conf.PositionalRequiredArgs, tyro.conf.OmitArgPrefixes)
    assert tyro.cli(ExplainOptions, args=[], config=flags) == ExplainOptions(())
    assert tyro.cli(ExplainOptions, args=["AF101", "AF508"], config=flags) == ExplainOptions(("AF101", "AF508"))
