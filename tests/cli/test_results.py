"""The verb `show` of what `score`, `baselines`, `describe` and `train-nli` leave."""

import json
import shutil
from pathlib import Path

import pytest

from swag_af.cli.main import main
from swag_af.cli.options import ShowOptions
from swag_af.cli.show import show
from swag_af.data.errors import FormatError, InputError
from swag_af.data.files import write_jsonl

DOES = ("rides a bike", "paints walls", "lifted the box", "is washing dishes")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what each of the verbs leaves."""
    root = tmp_path_factory.mktemp("results")
    questions = [
        {"id": f"q{i}", "question": f"Who {DOES[i % 4]} by house {i}?", "choices": [f"She {v} at {i}." for v in DOES]}
        | {"label": i % 4}
        for i in range(80)
    ]
    pairs = [
        {"premise": f"A dog {DOES[i % 4]} by {i}.", "hypothesis": f"It {DOES[i % 3]}.", "label": "yn"[i % 2]}
        for i in range(60)
    ]
    write_jsonl(root / "q.jsonl", questions)
    write_jsonl(root / "pairs.jsonl", pairs)
    write_jsonl(root / "p.jsonl", [{"id": one["id"], "prediction": 1} for one in questions])
    q, size = str(root / "q.jsonl"), ["--hidden", "16", "--epochs", "1", "--device", "cpu"]
    for words in (
        ["score", q, str(root / "p.jsonl"), "--json", str(root / "s.json")],
        ["baselines", q, "--models", "random,length", "--seeds", "1", "--out", str(root / "b")],
        ["describe", q, "--topics", "0", "--out", str(root / "d")],
        ["train-nli", str(root / "pairs.jsonl"), "--out", str(root / "nli"), *size],
    ):
        main(words)
    return root


def told(path: Path) -> list[str]:
    return show(ShowOptions(path)).splitlines()


@pytest.mark.parametrize(
    ("name", "kind", "said", "after"),
    [
        ("s.json", "score", "p is right on 25.00 % of 80 instances", "swag-af audit q.jsonl"),
        ("b", "baselines", "  longest", "swag-af audit DATA"),
        ("b/baselines.json", "baselines", "  longest", "swag-af audit DATA"),
        ("d", "description", "  unique endings", "swag-af audit q.jsonl"),
        ("d/describe.json", "description", "  unique endings", "swag-af audit q.jsonl"),
        ("nli", "nli", "Trained on ", "swag-af audit questions.jsonl --filters 'nli["),
    ],
)
def test_a_result_is_shown_with_its_main_figures_and_what_to_run_next(
    made: Path, name: str, kind: str, said: str, after: str
) -> None:
    lines = told(made / name)
    assert lines[0] == f"{made / name}: {kind}"
    assert any(line.startswith(said) for line in lines)
    assert lines[-1].startswith(f"Next: {after}")


def test_the_page_of_a_description_is_named(made: Path) -> None:
    assert f"Page: {made / 'd' / 'describe.html'}, for a browser" in told(made / "d")


@pytest.mark.parametrize(("name", "gone"), [("b", "baselines.json"), ("nli", "manifest.json")])
def test_what_is_not_finished_says_so(made: Path, tmp_path: Path, name: str, gone: str) -> None:
    copy = tmp_path / name
    shutil.copytree(made / name, copy)
    (copy / gone).unlink()
    if name == "nli":
        (copy / "work").mkdir()
        (copy / "work" / "begun.json").write_text(json.dumps({"kind": "nli", "identity": {}}))
    kind = {"b": "baselines", "nli": "nli"}[name]
    assert told(copy) == [
        f"{copy}: {kind}",
        *("", "not finished", "", "Next: the command that began it goes on from here"),
    ]


def test_a_record_of_which_a_field_is_wrong_is_told_by_file_and_field(made: Path, tmp_path: Path) -> None:
    record = json.loads((made / "s.json").read_text())
    (tmp_path / "s.json").write_text(json.dumps(record | {"n": "many"}))
    with pytest.raises(FormatError, match=r"s\.json: n: .*Make it again"):
        told(tmp_path / "s.json")
    (tmp_path / "s.json").write_text(json.dumps(record | {"format": 99}, indent=2))
    with pytest.raises(FormatError, match="format 99"):
        told(tmp_path / "s.json")


def test_files_of_others_are_still_read_as_contexts(made: Path, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{\n  "kind": "novel"\n}')
    for path in (tmp_path / "x.json", made / "p.jsonl"):
        with pytest.raises(InputError, match="line 1"):
            told(path)
