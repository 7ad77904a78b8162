"""Claims about the folder of an audit: it holds all that a page and a gate need, and is whole or absent."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_up_audits import audit, integrity, probe, questions, word

from swag_af.auditing import storing
from swag_af.auditing.diagnostics import Balanced
from swag_af.auditing.outcome import Audit
from swag_af.auditing.storing import ABOUT, DIAGNOSTICS, QUESTIONS, WORDS, open_audit, read_diagnostics, save_audit
from swag_af.auditing.storing import saved_form as saved_form_of
from swag_af.data.errors import FormatError, InputError, SwagAfError


@pytest.fixture(scope="module")
def made() -> Audit:
    data = questions(40)
    some = np.arange(0, 40, 3)
    split = replace(probe(data.take(some), 0.5), rows=some, folds="split", fitted_on="train", scored_on="test")
    probes = [probe(data, 0.7), probe(data, 0.4, input="shuffled"), probe(data, 0.8, input="full"), split]
    return replace(
        audit(data, probes[:3], features={"longest": 0.3}, others=[integrity()], words=[word("no", 5.0)]),
        probes=tuple(probes),
    )


def test_what_is_read_again_is_what_was_kept(made: Audit, tmp_path: Path) -> None:
    save_audit(made, tmp_path / "audit")
    assert open_audit(tmp_path / "audit") == saved_form_of(made)
    assert read_diagnostics(tmp_path / "audit") == made.diagnostics
    assert sorted(path.name for path in (tmp_path / "audit").iterdir()) == sorted(
        [ABOUT, DIAGNOSTICS, QUESTIONS, WORDS]
    )


def test_balanced_figures_are_kept_and_have_no_field_where_there_are_none(made: Audit, tmp_path: Path) -> None:
    first, *others = made.diagnostics
    first = replace(first, balanced=Balanced(0.8, 0.7, 0.87, 0.5, "found"))
    save_audit(replace(made, diagnostics=(first, *others)), tmp_path / "audit")
    assert read_diagnostics(tmp_path / "audit") == (first, *others)
    lines = [json.loads(line) for line in (tmp_path / "audit" / DIAGNOSTICS).read_text(encoding="utf-8").splitlines()]
    assert ["balanced" in line for line in lines] == [True, *[False] * len(others)]


def test_the_same_audit_gives_the_same_bytes(made: Audit, tmp_path: Path) -> None:
    for name in ("one", "other"):
        save_audit(made, tmp_path / name, {"page.html": "<p>é"})
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes()


def test_a_line_for_each_question_tells_what_each_probe_made_of_it(made: Audit, tmp_path: Path) -> None:
    save_audit(made, tmp_path / "audit")
    lines = [json.loads(line) for line in (tmp_path / "audit" / QUESTIONS).read_text(encoding="utf-8").splitlines()]
    assert [line["id"] for line in lines] == [one.id for one in made.instances.instances]
    for row, line in enumerate(lines):
        for one in made.probes:
            assert (one.name in line["hits"]) == (row in one.rows)
        partial = [one for one in made.probes if one.input not in ("full", "shuffled") and one.folds == "group"]
        assert line["solved_by"] == sum(one.hits[row] == 1 for one in partial)
        assert line["probability"]["options, tfidf"] == pytest.approx(made.probes[0].probabilities[row], abs=1e-6)
        assert line["group"] == made.groups.numbers[row]


def test_without_probes_nobody_has_a_tier(tmp_path: Path) -> None:
    save_audit(audit(questions(10), [], features={"longest": 0.3}), tmp_path / "audit")
    kept = open_audit(tmp_path / "audit")
    assert kept.about.tiers == {}
    assert {question.tier for question in kept.questions} == {None}


def test_a_new_audit_replaces_an_old_one_and_nothing_else(made: Audit, tmp_path: Path) -> None:
    save_audit(made, tmp_path / "audit", {"extra.html": ""})
    save_audit(made, tmp_path / "audit")
    assert not (tmp_path / "audit" / "extra.html").exists()
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work")
    with pytest.raises(InputError, match="not made by audit"):
        save_audit(made, tmp_path / "thesis")
    assert (tmp_path / "thesis" / "chapter.tex").exists()


@pytest.mark.parametrize("there", [False, True])
def test_a_failure_half_way_leaves_what_was_there(
    made: Audit, tmp_path: Path, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "audit"
    if there:
        save_audit(made, folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()} if there else {}

    def broken(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(storing, "write_json", broken)
    with pytest.raises(OSError, match="disk full"):
        save_audit(made, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before if there else not folder.exists()
    assert [path.name for path in tmp_path.iterdir()] == (["audit"] if there else [])


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (ABOUT, '"kind": "audit"', '"kind": "pool"'),
        (ABOUT, '"format": 1', '"format": 2'),
        (ABOUT, '"n": 40', '"n": "forty"'),
        (ABOUT, '"chance": 0.25,', ""),
        (DIAGNOSTICS, '"found"', '"fond"'),
        (DIAGNOSTICS, '"value": ', '"value": Infinity, "was": '),
        (DIAGNOSTICS, '{"code"', '["code"'),
        (WORDS, '"z": 5.0', '"z": null'),
        (QUESTIONS, '"hits": {', '"hits": {"x": "y", '),
    ],
)
def test_what_is_damaged_is_named_in_a_line(made: Audit, tmp_path: Path, name: str, old: str, new: str) -> None:
    save_audit(made, tmp_path / "audit")
    path = tmp_path / "audit" / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SwagAfError, match=name) as found:
        open_audit(tmp_path / "audit")
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("name", [DIAGNOSTICS, QUESTIONS])
def test_a_file_that_is_cut_off_is_named(made: Audit, tmp_path: Path, name: str) -> None:
    save_audit(made, tmp_path / "audit")
    path = tmp_path / "audit" / name
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
    with pytest.raises(FormatError, match=f"{name}: .* lines for"):
        open_audit(tmp_path / "audit")


def test_no_folder_and_another_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        open_audit(tmp_path / "nowhere")
    with pytest.raises(FormatError, match=r"no audit\.json here"):
        open_audit(tmp_path)


def test_half_a_character_is_written_out(tmp_path: Path) -> None:
    data = questions(4)
    odd = replace(data, instances=(replace(data.instances[0], id="q\ud800"), *data.instances[1:]))
    save_audit(audit(odd, [probe(odd, 0.5)], others=[integrity(text="\udfff")]), tmp_path / "audit")
    kept = open_audit(tmp_path / "audit")
    assert kept.questions[0].id == "q\\ud800"
    assert kept.diagnostics[-1].examples[0].text == "\\udfff"
