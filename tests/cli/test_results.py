"""The verb `show` of what `score`, `baselines`, `describe` and `train-nli` leave."""

import html
import json
import shutil
from pathlib import Path

import pytest

from swag_af.cli.main import main
from swag_af.cli.options import ShowOptions
from swag_af.cli.showing.show import show
from swag_af.data.disk.files import write_jsonl
from swag_af.data.errors import FormatError, InputError

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


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.csv"])
def test_of_a_file_that_it_does_not_read_show_says_what_to_type(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"kind": "novel"}\n')
    with pytest.raises(FormatError, match=f"not a file that show reads.*`swag-af audit {tmp_path / name}`"):
        told(tmp_path / name)


def test_a_page_is_opened_in_a_browser(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>")
    with pytest.raises(FormatError, match=r"not a file that show reads\. Open it in a browser\.$"):
        told(tmp_path / "page.html")


@pytest.mark.parametrize(("about", "name"), [({}, "matched.jsonl"), ({"format": 1, "kind": "baselines"}, "table.csv")])
def test_of_a_file_of_a_folder_of_ours_show_names_the_folder(tmp_path: Path, about: object, name: str) -> None:
    (tmp_path / ("manifest.json" if about else "matched.json")).write_text(json.dumps(about))
    (tmp_path / name).write_text('{"question": "who?", "answer_choices": ["a", "b"]}\n')
    with pytest.raises(FormatError, match=f"not a file that show reads. `swag-af show {tmp_path}` shows the folder"):
        told(tmp_path / name)


def test_a_file_deeper_in_a_folder_of_ours_is_no_file_of_its_own(tmp_path: Path, pool_folder: Path) -> None:
    """The contexts of a shard were those of somebody else, and of a release a line lacked gold."""
    for path in (pool_folder / "shards/00000/contexts.jsonl", pool_folder / "shards/00000", pool_folder / "shards"):
        with pytest.raises(FormatError, match=f"`swag-af show {pool_folder}` shows the folder that it is in"):
            told(path)
    (tmp_path / "manifest.json").write_text('{"format": 1, "kind": "baselines"}')
    (tmp_path / "jsonl").mkdir()
    row = {"sent1": "A man sits.", "start": "He", "endings": ["stands up.", "sleeps."], "label": 0}
    (tmp_path / "jsonl/train.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(FormatError, match=f"`swag-af show {tmp_path}` shows the folder that it is in"):
        told(tmp_path / "jsonl/train.jsonl")
    (tmp_path / "jsonl/mine.jsonl").write_text('{"sent1": "A man sits.", "start": "He"}\n')
    with pytest.raises(InputError, match="has no text under gold"):
        told(tmp_path / "jsonl/mine.jsonl")


def test_a_file_beside_a_run_is_not_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "manifest.json").write_text("{}")
    (tmp_path / "quiz.csv").write_text("a,b\n")
    with pytest.raises(FormatError, match=r"show reads\. If it is a dataset"):
        told(tmp_path / "quiz.csv")


def test_a_line_of_contexts_that_is_no_json_is_still_named(tmp_path: Path) -> None:
    (tmp_path / "contexts.jsonl").write_text('{"sent1": \n')
    with pytest.raises(InputError, match="line 1"):
        told(tmp_path / "contexts.jsonl")


def test_how_a_file_is_read_is_part_of_what_to_run_next(tmp_path: Path) -> None:
    rows = [f"what is {i}?,is a{i},was b{i},{'AB'[i % 2]}\n" for i in range(20)]
    (tmp_path / "q.csv").write_text("".join(["item stem,opt_A,opt_B,correct\n", *rows]))
    write_jsonl(tmp_path / "p.jsonl", [{"prediction": i % 2} for i in range(20)])
    q, column = str(tmp_path / "q.csv"), ["--context-column", "item stem"]
    json_out, page = tmp_path / "s.json", tmp_path / "s.html"
    main(["score", q, str(tmp_path / "p.jsonl"), *column, "--json", str(json_out), "--out", str(page)])
    main(["describe", q, *column, "--topics", "0", "--out", str(tmp_path / "d")])
    for path in (json_out, tmp_path / "d"):
        assert told(path)[-1].startswith("Next: swag-af audit q.csv --context-column 'item stem'")
    for path in (page, tmp_path / "d" / "describe.html"):
        assert "--context-column 'item stem'" in html.unescape(path.read_text())
