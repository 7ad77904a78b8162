"""Claims about tasks for people elsewhere and what comes back, with people and platforms that are simulated.

The people here read the exported files as they stand, and know endings by their text: they never see the key.
"""

import csv
import html
import io
import json
import random
import re
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import HashFilter, make_contexts_of, make_pool
from hypothesis import given, settings
from hypothesis import strategies as st
from judged import make_run as make_filtered_run
from verify_people import N_ROWS, Browser, judge_next, make_client, make_desk, make_run, small_pool

import swag_af.verify
from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.cli.main import main
from swag_af.data.context import readable
from swag_af.data.errors import InputError
from swag_af.data.extras import install
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run, begin_run, open_run
from swag_af.data.tables.sources import separator_of
from swag_af.guarding.options import GuardOptions
from swag_af.guarding.verb import guard
from swag_af.judging.screening import NOBODY_SCREENED
from swag_af.judging.verdicts import (
    RATINGS,
    Item,
    Verdict,
    judge,
    make_items,
    read_verdicts,
    refill,
    with_ordered_columns,
    write_verdicts,
)
from swag_af.verify.exchange.csv import FORMULA, as_html
from swag_af.verify.exchange.tasks import Key, Reply, make_tasks, verdicts_of
from swag_af.verify.exchange.verb import PLATFORMS, export, import_verdicts
from swag_af.verify.options import ExportOptions, ImportOptions
from swag_af.verify.prospects import check_prospects

N = 8
HOSTILE = (
    '=HYPERLINK("http://a.example","b")',
    "+1 says she.",
    "-2 is cold.",
    "@SUM(A1) is loud.",
    "<script>alert(1)</script> & more.",
    'says "${ending1}", and, leaves.',
    "naïve “quotes” — 走る.",
    "sits; then stands.",
    "runs.",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of 8 contexts with 9 hostile negatives each."""
    pool = CandidatePool.from_texts(make_contexts_of(N, n_videos=4), [list(HOSTILE)] * N)
    path = tmp_path_factory.mktemp("runs") / "run"
    start = np.tile(np.arange(9), (N, 1))
    begin_run(pool, start, path, {"pool_identity": pool.identity, "options": {}}, n_planned=0)
    return open_run(path)


def verdicts_on(run: Run, seed: int, *, annotators: int = 3) -> list[Verdict]:
    """Random verdicts of several people on every item, in order."""
    rng = random.Random(seed)
    made = []
    for item in make_items(run.assignment(), seed=0):
        for name in sorted(f"worker-{i}" for i in range(annotators)):
            ratings = tuple(rng.choice(RATINGS) for _ in item.columns)
            best, second = rng.sample(range(len(item.columns)), 2)
            given = Verdict(item, name, ratings, best, second, float(rng.randrange(1, 600)))
            made.append(with_ordered_columns(given))
    return made


class Person:
    """Answers a task as their verdict on its context says, by the text of the endings."""

    def __init__(self, run: Run, verdicts: list[Verdict], annotator: str):
        self.of_context = {}
        for verdict in verdicts:
            if verdict.annotator == annotator:
                item = verdict.item
                texts = [readable(run.pool.text(item.row, column)) for column in item.columns]
                self.of_context[run.pool.contexts[item.row].sent1] = (verdict, texts)
        self.name = annotator

    def answer(self, sent1: str, endings: list[str]) -> tuple[dict[str, str], Verdict]:
        verdict, texts = self.of_context[sent1]
        places = [texts.index(ending) for ending in endings if ending]
        answers = {f"rating{i}": verdict.ratings[place] for i, place in enumerate(places, start=1)}
        return answers | {
            "best": str(places.index(verdict.best) + 1),
            "second": str(places.index(verdict.second) + 1),
        }, verdict


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


def write_table(path: Path, rows: list[dict[str, str]], **how: Any) -> Path:
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, names, restval="", **how)
        writer.writeheader()
        writer.writerows(rows)
    return path


def endings_of(row: dict[str, str]) -> list[str]:
    return [row[name] for name in row if re.fullmatch(r"ending\d+", name)]


def from_csv(tasks: Path, people: list[Person]) -> list[Path]:
    """A file from each person, written by a spreadsheet of another country."""
    files = []
    for person in people:
        rows = []
        for row in table(tasks):
            plain = [ending.removeprefix("'") for ending in endings_of(row)]
            answers, verdict = person.answer(row["sent1"], plain)
            rows.append(row | answers | {"annotator": "", "seconds": str(verdict.seconds)})
        files.append(write_table(tasks.with_name(f"{person.name}.csv"), rows, delimiter=";"))
    return files


def from_prolific(tasks: Path, people: list[Person]) -> list[Path]:
    questions = json.loads(tasks.with_name(tasks.name + ".questions.json").read_text())["instructions"]
    rows = []
    for row in table(tasks):
        for person in people:
            plain = [ending.removeprefix("'") for ending in endings_of(row)]
            answers, verdict = person.answer(row["sent1"], plain)
            asked = {
                q["description"]: answers.get(re.search(r"\[(\w+)\]$", q["description"])[1], "") for q in questions
            }
            rows.append(
                row | asked | {"Participant ID": person.name, "status": "APPROVED", "Time taken": str(verdict.seconds)}
            )
    return [write_table(tasks.with_name("report.csv"), rows)]


def from_mturk(tasks: Path, people: list[Person], how: str = "plain") -> list[Path]:
    rows = []
    for hit, row in enumerate(table(tasks)):
        for person in people:
            answers, verdict = person.answer(row["sent1"], [html.unescape(ending) for ending in endings_of(row)])
            if how == "plain":
                written = {f"Answer.{name}": value for name, value in answers.items()}
            elif how == "radios":
                options = {name: RATINGS if name.startswith("rating") else "123456" for name in answers}
                written = {
                    f"Answer.{name}.{option}": str(option == value).lower()
                    for name, value in answers.items()
                    for option in options[name]
                }
            else:
                written = {"Answer.taskAnswers": json.dumps([{name: {v: True} for name, v in answers.items()}])}
            inputs = {f"Input.{name}": value for name, value in row.items()}
            about = {"HITId": f"H{hit}", "WorkerId": person.name, "AssignmentStatus": "Submitted"}
            rows.append(about | {"WorkTimeInSeconds": str(int(verdict.seconds))} | inputs | written)
    return [write_table(tasks.with_name("results.csv"), rows)]


def from_label_studio(tasks: Path, people: list[Person]) -> list[Path]:
    done = []
    for number, task in enumerate(json.loads(tasks.read_text(encoding="utf-8"))):
        endings = [re.sub(r"^\d\. ", "", task["data"][name]) for name in sorted(task["data"]) if "ending" in name]
        annotations = []
        for person in people:
            answers, verdict = person.answer(task["data"]["context"].partition("\n")[0], endings)
            result = [
                {"from_name": name, "to_name": "x", "type": "choices", "value": {"choices": [value]}}
                for name, value in answers.items()
            ]
            who = {"id": 1, "email": person.name}
            annotations.append({"result": result, "completed_by": who, "lead_time": verdict.seconds})
        done.append({"id": number, "data": task["data"], "annotations": annotations})
    path = tasks.with_name("export.json")
    path.write_text(json.dumps(done), encoding="utf-8")
    return [path]


RETURNS: dict[str, Callable[..., list[Path]]] = {
    "csv": from_csv,
    "prolific": from_prolific,
    "mturk": from_mturk,
    "label-studio": from_label_studio,
}


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def exported(run: Run, folder: Path, to: str, **options: Any) -> Path:
    assert run.path is not None
    return export(ExportOptions(run.path, to=to, out=folder / "tasks", **options)).files[0]


def imported(run: Run, files: list[Path], folder: Path, **options: Any) -> list[Verdict]:
    assert run.path is not None
    options = {"key": folder / "tasks.key.json", "force": True} | options
    import_verdicts(ImportOptions(run.path, tuple(files), out=folder / "verdicts.jsonl", **options))
    return read_verdicts(folder / "verdicts.jsonl", run.pool.identity)


@pytest.mark.parametrize("to", PLATFORMS)
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_what_people_answer_elsewhere_comes_back_as_their_verdicts(run: Run, to: str, seed: int) -> None:
    said = verdicts_on(run, seed)
    with tempfile.TemporaryDirectory() as name:
        tasks = exported(run, Path(name), to, seed=0)
        people = [Person(run, said, f"worker-{i}") for i in range(3)]
        assert imported(run, RETURNS[to](tasks, people), Path(name)) == said


@pytest.mark.parametrize("how", ["radios", "json"])
def test_each_way_in_which_mturk_writes_answers_is_read(run: Run, folder: Path, how: str) -> None:
    said = verdicts_on(run, 5, annotators=1)
    tasks = exported(run, folder, "mturk")
    assert imported(run, from_mturk(tasks, [Person(run, said, "worker-0")], how), folder) == said


@pytest.mark.parametrize("to", PLATFORMS)
def test_no_exported_file_but_the_key_tells_gold(run: Run, folder: Path, to: str) -> None:
    """Gold stands anywhere, and neither rows nor columns nor their hashes are told."""
    tasks = exported(run, folder, to)
    for path in folder.iterdir():
        if not path.name.endswith(".key.json"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"gold|columns|order|pool", text.replace("border", ""), flags=re.IGNORECASE)
    key = json.loads((folder / "tasks.key.json").read_text())["tasks"]
    assert len({entry["order"].index(0) for entry in key.values()}) > 2
    assert set(key) == set(re.findall(r"\bt[0-9a-f]{16}\b", tasks.read_text(encoding="utf-8")))


def test_the_same_export_is_the_same_bytes_and_another_seed_is_not(run: Run, folder: Path) -> None:
    first = exported(run, folder, "csv").read_bytes()
    assert exported(run, folder, "csv", force=True).read_bytes() == first
    assert exported(run, folder, "csv", force=True, seed=1).read_bytes() != first


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_no_id_of_a_task_can_be_read_as_a_number(run: Run) -> None:
    """A spreadsheet wrote 6e47503729617003 as another number, and nothing of the file was imported."""
    items, ids = make_items(run.assignment(), seed=0), list[str]()
    for seed in count():
        ids += [task.id for task in make_tasks(run, items, seed=seed)]
        if any(is_number(id[-16:]) for id in ids):
            break
    assert not any(map(is_number, ids))


def test_replies_to_tasks_of_an_older_release_are_imported(run: Run, folder: Path) -> None:
    """Their ids were the digits alone."""
    said = verdicts_on(run, 4, annotators=1)
    (path,) = from_csv(exported(run, folder, "csv"), [Person(run, said, "worker-0")])
    write_table(path, [row | {"task": row["task"].removeprefix("t")} for row in table_of(path)])
    key = json.loads((folder / "tasks.key.json").read_text())
    key["tasks"] = {id.removeprefix("t"): entry for id, entry in key["tasks"].items()}
    (folder / "tasks.key.json").write_text(json.dumps(key))
    assert imported(run, [path], folder) == said


@pytest.mark.parametrize("to", ["csv", "prolific", "mturk"])
def test_no_cell_begins_as_a_formula(run: Run, folder: Path, to: str) -> None:
    cells = [cell for row in table(exported(run, folder, to)) for cell in row.values()]
    assert not [cell for cell in cells if cell.startswith(FORMULA)]
    assert any("HYPERLINK" in cell for cell in cells)


def test_mturk_is_given_text_that_is_no_markup_and_no_variable(run: Run, folder: Path) -> None:
    text = exported(run, folder, "mturk").read_text(encoding="utf-8")
    assert "<" not in text
    assert "${" not in text
    assert "&lt;" in text
    assert "alert" in text


def test_a_text_of_several_lines_is_one_line_of_mturks_table() -> None:
    text = "def f(a):\n    return a"
    assert "\n" not in as_html(text)
    assert html.unescape(as_html(text)) == text


def test_the_labeling_config_asks_for_every_ending_and_names_what_the_tasks_have(run: Run, folder: Path) -> None:
    tasks = exported(run, folder, "label-studio")
    config = ElementTree.parse(folder / "tasks.config.xml")
    names = {choices.get("name") for choices in config.iter("Choices")}
    assert names == {*(f"rating{i}" for i in range(1, 7)), "best", "second"}
    shown = {text.get("value") for text in config.iter("Text")}
    assert shown == {f"${name}" for name in json.loads(tasks.read_text())[0]["data"] if name != "task"}


def test_rejected_work_is_left_out_and_counted(run: Run, folder: Path) -> None:
    said = verdicts_on(run, 3)
    (path,) = from_mturk(exported(run, folder, "mturk"), [Person(run, said, f"worker-{i}") for i in range(3)])
    rows = table_of(path)
    for row in rows:
        row["AssignmentStatus"] = "Rejected" if row["WorkerId"] == "worker-1" else "Approved"
    write_table(path, rows)
    assert run.path is not None
    done = import_verdicts(ImportOptions(run.path, (path,), folder / "tasks.key.json", folder / "verdicts.jsonl"))
    assert done.dropped == {"rejected": N}
    assert done.verdicts == [verdict for verdict in said if verdict.annotator != "worker-1"]


def test_cancelled_annotations_are_left_out(run: Run, folder: Path) -> None:
    said = verdicts_on(run, 3, annotators=2)
    (path,) = from_label_studio(
        exported(run, folder, "label-studio"), [Person(run, said, f"worker-{i}") for i in range(2)]
    )
    tasks = json.loads(path.read_text())
    for task in tasks:
        task["annotations"][0]["was_cancelled"] = True
    path.write_text(json.dumps(tasks))
    assert imported(run, [path], folder) == [verdict for verdict in said if verdict.annotator == "worker-1"]


def table_of(path: Path) -> list[dict[str, str]]:
    text = io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")
    return list(csv.DictReader(text, delimiter=separator_of(path)))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"rating2": ""}, "a rating is missing"),
        ({"second": ""}, "best or second best is missing"),
        ({"best": "1", "second": "1.0"}, "best is second best too"),
    ],
)
def test_an_incomplete_answer_is_dropped_with_its_reason(
    run: Run, folder: Path, change: dict[str, str], reason: str
) -> None:
    said = verdicts_on(run, 4, annotators=1)
    (path,) = from_csv(exported(run, folder, "csv"), [Person(run, said, "worker-0")])
    rows = table_of(path)
    rows[0] |= change
    write_table(path, rows)
    assert run.path is not None
    done = import_verdicts(ImportOptions(run.path, (path,), folder / "tasks.key.json", folder / "verdicts.jsonl"))
    assert done.dropped == {reason: 1}
    assert len(done.verdicts) == N - 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"task": "0" * 16}, r"line 2: no task '0{16}' in the key. Give the files and the key of one export\."),
        ({"rating1": "lkely"}, r"line 2: 'lkely' is none of likely, unlikely, gibberish. Correct these cells, and"),
        ({"best": "7"}, "line 2: best '7' .* Correct these cells, and import again"),
        ({"seconds": "0:45"}, "line 2: '0:45' is no number of seconds"),
        ({"seconds": "-5"}, "line 2: '-5' is no number of seconds"),
        ({"seconds": "inf"}, "line 2: 'inf' is no number of seconds"),
    ],
)
def test_a_fault_is_told_with_its_line(run: Run, folder: Path, change: dict[str, str], says: str) -> None:
    said = verdicts_on(run, 4, annotators=1)
    (path,) = from_csv(exported(run, folder, "csv"), [Person(run, said, "worker-0")])
    rows = table_of(path)
    rows[0] |= change
    write_table(path, rows)
    with pytest.raises(InputError, match=says):
        imported(run, [path], folder)


@pytest.mark.parametrize(
    ("renamed", "says"),
    [
        ({"rating1": "Rating 1"}, r"no column rating1 \(it has Rating 1\)\. "),
        ({"rating6": "Rating_6", "best": "Best"}, r"no column best, rating6 \(it has Rating_6, Best\)\. "),
        ({"task": "HIT"}, r"no column task\. "),
    ],
)
def test_a_column_under_another_name_is_named(run: Run, folder: Path, renamed: dict[str, str], says: str) -> None:
    """Of ratings it was said that all are missing, and to check that people have answered."""
    (path,) = from_csv(exported(run, folder, "csv"), [Person(run, verdicts_on(run, 4, annotators=1), "worker-0")])
    write_table(path, [{renamed.get(name, name): cell for name, cell in row.items()} for row in table_of(path)])
    with pytest.raises(InputError, match=says):
        imported(run, [path], folder)


def test_a_report_of_prolific_without_a_question_is_refused_by_its_name(run: Run, folder: Path) -> None:
    said = verdicts_on(run, 4, annotators=1)
    (path,) = from_prolific(exported(run, folder, "prolific"), [Person(run, said, "worker-0")])
    rows = [{k: v for k, v in row.items() if not k.endswith("[rating1]")} for row in table_of(path)]
    with pytest.raises(InputError, match=r"no column whose heading ends with \[rating1\]"):
        imported(run, [write_table(path, rows)], folder)


@pytest.mark.parametrize("to", PLATFORMS)
def test_replies_beside_the_texts_of_another_task_are_refused(run: Run, folder: Path, to: str) -> None:
    tasks = exported(run, folder, to)
    (path,) = RETURNS[to](tasks, [Person(run, verdicts_on(run, 4, annotators=1), "worker-0")])
    if to == "label-studio":
        given = json.loads(path.read_text())
        given[0]["data"]["ending2"] = given[0]["data"]["ending1"]
        path.write_text(json.dumps(given))
    else:
        rows = table_of(path)
        name = "Input.ending" if to == "mturk" else "ending"
        rows[0][f"{name}2"] = rows[0][f"{name}1"]
        write_table(path, rows)
    with pytest.raises(
        InputError, match=r"ending 2 is .*, where task .* has .*: cells were moved, or the text edited. Give the"
    ):
        imported(run, [path], folder)


@pytest.mark.parametrize(
    ("own", "given", "is_refused"),
    [
        (["Он бежит домой.", "Она поёт песню."], ["Она поёт песню.", "Он бежит домой."], True),
        (["走って帰る。", "歌を歌う。"], ["歌を歌う。", "走って帰る。"], True),
        (["вода", "огонь"], ["вода", "земля"], True),
        (["10.5", "105"], ["105", "10.5"], True),
        (["10.5", "11.5"], ["12.5", "11.5"], True),
        (["👍", "👎"], ["👎", "👍"], True),
        (["10.50", "1000"], ["10.5", "1e3"], False),
        (["10.5", "3.0"], ["10,5", "3"], False),
        (["1,000", "2,500.5"], ["1000", "2500.50"], False),
        (["3/4", "1/2 cup"], ["4-Mar", "½ cup"], False),
        (["Он бежит домой .", "हिन्दी"], ["он бежит  домой", "हिन्दी।"], False),
        (["cafe\u0301 ...", "STRASSE"], ["Caf\u00e9…", "Straße"], False),
        (["walks to the old barn.", "sits."], ["walks to the barn.", "sits."], False),
    ],
)
def test_texts_of_any_script_are_held_against_the_task_and_numbers_by_their_value(
    own: list[str], given: list[str], is_refused: bool
) -> None:
    key = Key("csv", "pool", {"t1": (Item(0, (0, 1)), (0, 1))})
    reply = Reply("line 2", "t1", "ann", {1: "likely", 2: "unlikely"}, "1", "2", endings=dict(enumerate(given, 1)))
    if is_refused:
        with pytest.raises(InputError, match=r"line 2: ending .* cells were moved, or the text edited"):
            verdicts_of(key, [reply], lambda row, column: own[column])
    else:
        assert len(verdicts_of(key, [reply], lambda row, column: own[column])[0]) == 1


def test_replies_without_the_texts_are_read(run: Run, folder: Path) -> None:
    said = verdicts_on(run, 4, annotators=1)
    (path,) = from_csv(exported(run, folder, "csv"), [Person(run, said, "worker-0")])
    rows = [{name: row[name] for name in row if not name.startswith("ending")} for row in table_of(path)]
    assert imported(run, [write_table(path, rows)], folder) == said


def test_an_ending_that_a_shorter_item_has_not_is_a_slip_and_no_fault() -> None:
    """Forms offer the numbers of the longest item for all; one slip refused the whole file."""
    items = {"t1": (Item(0, (0, 1, 2, 3, 4, 5)), tuple(range(6))), "t2": (Item(1, (0, 1, 2, 3)), tuple(range(4)))}
    key: Any = SimpleNamespace(tasks=items)
    ratings = dict.fromkeys(range(1, 7), "likely")
    replies = [Reply("line 2", "t1", "ann", ratings, "6", "1"), Reply("line 3", "t2", "ann", ratings, "6", "1")]
    found, dropped = verdicts_of(key, replies, lambda row, column: f"{row} {column}")
    assert [one.item.row for one in found] == [0]
    assert dropped == {"best or second best is an ending that is not there": 1}
    with pytest.raises(InputError, match="best '7' and second '1' are not from 1 to 4"):
        verdicts_of(key, [Reply("line 3", "t2", "ann", ratings, "7", "1")], lambda row, column: "")


def test_seconds_may_have_a_decimal_comma(run: Run, folder: Path) -> None:
    said = verdicts_on(run, 4, annotators=1)
    (path,) = from_csv(exported(run, folder, "csv"), [Person(run, said, "worker-0")])
    rows = [row | {"seconds": "12,5"} for row in table_of(path)]
    assert {verdict.seconds for verdict in imported(run, [write_table(path, rows)], folder)} == {12.5}


@pytest.mark.parametrize(("cell", "seconds"), [("0,234", 0.234), ("1234,567", 1234.567), ("1,23", 1.23)])
def test_a_comma_that_can_only_be_a_decimal_one_is_read(run: Run, folder: Path, cell: str, seconds: float) -> None:
    (path,) = from_csv(exported(run, folder, "csv"), [Person(run, verdicts_on(run, 4, annotators=1), "worker-0")])
    rows = [row | {"seconds": cell} for row in table_of(path)]
    assert {verdict.seconds for verdict in imported(run, [write_table(path, rows)], folder)} == {seconds}


@pytest.mark.parametrize("cell", ["1,234", "12,345", "123,456"])
def test_seconds_that_may_be_thousands_are_refused(run: Run, folder: Path, cell: str) -> None:
    """1,234 seconds were read as 1.234."""
    (path,) = from_csv(exported(run, folder, "csv"), [Person(run, verdicts_on(run, 4, annotators=1), "worker-0")])
    rows = [row | {"seconds": cell} for row in table_of(path)]
    with pytest.raises(InputError, match="may be thousands or a fraction"):
        imported(run, [write_table(path, rows)], folder)


def test_names_that_differ_in_letter_case_alone_are_warned_of(
    run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdicts = [
        replace(one, annotator=name) for name in ("Ann", "ann", "bob") for one in verdicts_on(run, 2, annotators=1)
    ]
    out, both = folder / "verdicts.jsonl", folder / "both.jsonl"
    for path, names in ((out, ("Ann", "bob")), (both, ("Ann", "ann", "bob"))):
        some = [one for one in verdicts if one.annotator in names]
        write_verdicts(path, some, run.pool.unguarded_identity)
        main(["verify", "import", str(run.path), str(path), "--out", str(folder / f"from-{path.name}")])
        warned = "letter case alone count as different people (Ann and ann)" in " ".join(
            capsys.readouterr().out.split()
        )
        assert warned == ("ann" in names)


def test_two_files_of_one_name_do_not_make_one_person_of_two(run: Run, folder: Path) -> None:
    """All that the second person had said was dropped as answered before."""
    tasks = exported(run, folder, "csv")
    files = []
    for name in ("alice", "bob"):
        (path,) = from_csv(tasks, [Person(run, verdicts_on(run, 4, annotators=1), "worker-0")])
        (folder / name).mkdir()
        rows = [row | {"annotator": ""} for row in table_of(path)]
        files.append(write_table(folder / name / "tasks.csv", rows))
    with pytest.raises(InputError, match=r"bob/tasks\.csv: has rows without an annotator.*/alice/tasks\.csv does"):
        imported(run, files, folder)
    assert {verdict.annotator for verdict in imported(run, files[:1] * 2, folder)} == {"tasks"}


@pytest.mark.parametrize("to", ["radios", "json", "label-studio", "label-studio twice"])
def test_several_answers_to_one_question_are_left_out_and_counted(run: Run, folder: Path, to: str) -> None:
    """The last of them counted on one platform, the first on another."""
    assert run.path is not None
    people = [Person(run, verdicts_on(run, 4, annotators=1), "worker-0")]
    if to.startswith("label-studio"):
        (path,) = from_label_studio(exported(run, folder, "label-studio"), people)
        tasks = json.loads(path.read_text(encoding="utf-8"))
        results = tasks[0]["annotations"][0]["result"]
        best = next(result for result in results if result["from_name"] == "best")
        if to == "label-studio":
            best["value"]["choices"] = ["1", "2"]
        else:
            results.append(best)
        path.write_text(json.dumps(tasks), encoding="utf-8")
    else:
        (path,) = from_mturk(exported(run, folder, "mturk"), people, how=to)
        rows = table_of(path)
        if to == "radios":
            rows[0] |= {"Answer.best.1": "true", "Answer.best.2": "true"}
        else:
            (given,) = json.loads(rows[0]["Answer.taskAnswers"])
            rows[0]["Answer.taskAnswers"] = json.dumps([given | {"best": {"1": True, "2": True}}])
        write_table(path, rows)
    done = import_verdicts(ImportOptions(run.path, (path,), folder / "tasks.key.json", folder / "verdicts.jsonl"))
    assert done.dropped == {"several answers to one question": 1}
    assert len(done.verdicts) == N - 1


def test_a_file_given_twice_counts_once(run: Run, folder: Path) -> None:
    said = verdicts_on(run, 4, annotators=2)
    files = from_mturk(exported(run, folder, "mturk"), [Person(run, said, f"worker-{i}") for i in range(2)])
    assert imported(run, files * 2, folder) == said


def test_files_of_verdicts_are_put_together_without_a_key(run: Run, folder: Path) -> None:
    said = verdicts_on(run, 6)
    write_verdicts(folder / "a.jsonl", said[:14], run.pool.identity)
    write_verdicts(folder / "b.jsonl", said[10:], run.pool.identity)
    assert imported(run, [folder / "b.jsonl", folder / "a.jsonl"], folder, key=None) == said


def test_two_exports_of_the_same_endings_under_other_seeds_are_brought_together(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each context was judged twice, and agreement said that none was."""
    run = make_run(small_pool(), tmp_path / "run", n_assigned=6)
    paths = []
    for name, seed in (("ann", 0), ("bob", 1)):
        said = [Verdict(item, name, ("likely",) * 6, 0, 1) for item in make_items(run.assignment(), seed=seed)]
        paths.append(folder / f"{name}.jsonl")
        write_verdicts(paths[-1], said, run.pool.identity)
    both = folder / "both.jsonl"
    main(["verify", "import", str(run.path), *map(str, paths), "--out", str(both)])
    assert f"24 verdicts of 2 people on {N_ROWS} items\n" in capsys.readouterr().out
    main(["verify", "agreement", str(both)])
    assert f"{N_ROWS} items, {N_ROWS} of them judged twice or more" in capsys.readouterr().out


def test_contexts_with_other_endings_under_other_seeds_are_told(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(small_pool(), tmp_path / "run")
    laid_out = [make_items(run.assignment(), seed=seed) for seed in (0, 1)]
    n = sum(set(one.columns) != set(other.columns) for one, other in zip(*laid_out, strict=True))
    assert n > 1
    said = [Verdict(item, "ab"[k], ("likely",) * 6, 0, 1) for k in range(2) for item in laid_out[k]]
    write_verdicts(folder / "said.jsonl", said, run.pool.identity)
    told = f"{n} contexts shown with different endings in one round"
    main(["verify", "import", str(run.path), str(folder / "said.jsonl"), "--out", str(folder / "both.jsonl")])
    assert told in capsys.readouterr().out
    main(["verify", "agreement", str(folder / "both.jsonl")])
    assert told in capsys.readouterr().out


def test_the_key_of_another_pool_is_refused(run: Run, folder: Path) -> None:
    files = from_csv(exported(run, folder, "csv"), [Person(run, verdicts_on(run, 1), "worker-0")])
    key = json.loads((folder / "tasks.key.json").read_text())
    (folder / "tasks.key.json").write_text(json.dumps(key | {"pool": "0"}))
    with pytest.raises(InputError, match="the key of another pool"):
        imported(run, files, folder)


def test_the_next_round_has_what_is_new_unfinished_or_to_be_refilled(run: Run, folder: Path) -> None:
    items = make_items(run.assignment(), seed=0)
    bad = ("likely", "likely", *["gibberish"] * 4)
    good = ("likely", "likely", "unlikely", "unlikely", "gibberish", "gibberish")
    said = [Verdict(items[0], name, bad, 0, 1) for name in "ab"]
    said += [Verdict(items[1], name, good, 0, 1) for name in "ab"]
    said += [Verdict(items[2], "a", good, 0, 1)]
    write_verdicts(folder / "said.jsonl", said, run.pool.identity)
    exported(run, folder, "csv", verdicts=folder / "said.jsonl", annotators_per_item=2)
    key = json.loads((folder / "tasks.key.json").read_text())["tasks"]
    found = {Item(entry["row"], tuple(entry["columns"]), entry["round"]) for entry in key.values()}
    refilled = refill(judge(said)[0], run.assignment()[0, 1:], items[0].columns)
    assert refilled is not None
    assert found == {refilled, with_ordered_columns(said[-1]).item, *items[3:]}


@pytest.mark.parametrize("again", ["likely", "gibberish"])
def test_a_row_of_which_any_round_makes_a_question_needs_no_more(run: Run, folder: Path, again: str) -> None:
    """The last round alone was looked at, though the release takes the first that makes a question."""
    first = make_items(run.assignment(), seed=0)[0]
    bad = Verdict(first, "a", ("likely", "likely", *["gibberish"] * 4), 0, 1)
    refilled = refill(judge([bad])[0], run.assignment()[0, 1:], first.columns)
    assert refilled is not None
    mended = [Verdict(first, name, ("likely", "likely", *["unlikely"] * 4), 0, 1) for name in "ac"]
    later = Verdict(refilled, "b", ("likely", "likely", *[again] * (len(refilled.columns) - 2)), 0, 1)
    write_verdicts(folder / "said.jsonl", [*mended, later], run.pool.identity)
    exported(run, folder, "csv", verdicts=folder / "said.jsonl", annotators_per_item=2)
    key = json.loads((folder / "tasks.key.json").read_text())["tasks"]
    assert first.row not in {entry["row"] for entry in key.values()}


def test_verdicts_of_people_who_are_screened_out_leave_their_items_to_judge(tmp_path: Path, folder: Path) -> None:
    run = make_run(small_pool(), tmp_path / "run")
    items = make_items(run.assignment(), seed=0)
    ratings = ("likely",) * 6
    said = [Verdict(item, "careless", ratings, 4, 5) for item in items]
    said += [Verdict(item, "good", ratings, 0, 1) for item in items[:4]]
    write_verdicts(folder / "said.jsonl", said, run.pool.identity)
    exported(run, folder, "csv", verdicts=folder / "said.jsonl")
    key = json.loads((folder / "tasks.key.json").read_text())["tasks"]
    assert {entry["row"] for entry in key.values()} == {item.row for item in items[4:]}


def test_earlier_verdicts_on_the_endings_of_another_iteration_are_refused(tmp_path: Path, folder: Path) -> None:
    run = make_filtered_run(tmp_path)
    items = make_items(run.assignment(0), seed=0)
    assert {item.columns for item in items} != {item.columns for item in make_items(run.assignment(), seed=0)}
    said = [Verdict(item, "a", ("likely",) * 6, 0, 1) for item in items]
    write_verdicts(folder / "said.jsonl", said, run.pool.identity)
    with pytest.raises(InputError, match=r"does not assign\. Give --iteration as it was\.$"):
        exported(run, folder, "csv", verdicts=folder / "said.jsonl", annotators_per_item=2)
    assert [path.name for path in folder.iterdir()] == ["said.jsonl"]
    exported(run, folder, "csv", verdicts=folder / "said.jsonl", annotators_per_item=2, iteration=0)
    key = json.loads((folder / "tasks.key.json").read_text())["tasks"]
    assert {tuple(entry["columns"]) for entry in key.values()} == {tuple(sorted(item.columns)) for item in items}


def test_verdicts_on_a_pool_that_was_guarded_before_it_was_filtered_are_exported(tmp_path: Path) -> None:
    make_pool().save(tmp_path / "pool")
    guard(GuardOptions(tmp_path / "pool", "words"))
    options = AFOptions(iterations=1, n_negatives=9)
    filter_pool(CandidatePool.open(tmp_path / "pool"), HashFilter(), options, out=tmp_path / "run")
    run, out = open_run(tmp_path / "run"), tmp_path / "verdicts.jsonl"
    assert run.pool.unguarded_identity != run.pool.identity
    judge_next(make_desk(run), "ann")
    main(["verify", "export", str(run.path), "--to", "verdicts", "--out", str(out)])
    assert [verdict.annotator for verdict in read_verdicts(out, run.pool.unguarded_identity)] == ["ann"]


def test_before_anybody_is_asked_it_is_said_that_verdicts_could_make_no_question(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for n_assigned, is_refused, says in (
        (3, True, "an item shows 2 negatives, of which no verdict makes a question."),
        (4, False, "an item shows 3 negatives, of which verdicts make 2 distractors at most"),
        (5, False, "An item shows 4 negatives, and a question needs 3: one that people call gibberish leaves it out."),
        (6, False, ""),
    ):
        run = make_run(small_pool(), tmp_path / f"run-{n_assigned}", n_assigned=n_assigned)
        out = folder / f"tasks-{n_assigned}.csv"
        words = ["verify", "export", str(run.path), "--out", str(out)]
        if is_refused:
            with pytest.raises(SystemExit) as stopped:
                main(words)
            assert stopped.value.code == 2
        else:
            main(words)
        said = capsys.readouterr()
        assert says in said.err + said.out
        assert ("Warning" in said.out) is (n_assigned in (4, 5))
        assert out.exists() is not is_refused


def test_before_anybody_is_asked_it_is_said_that_a_matching_has_no_spare_answers(tmp_path: Path) -> None:
    """One answer that was gibberish or best dropped the question: half of them, and nobody had said so."""
    matching = {"weight": 0.1, "relevance": "tfidf", "similarity": "lexical", "said": [], "cautions": []}
    for n_assigned, says in (
        (2, NOBODY_SCREENED),
        (4, "one that people call gibberish or best leaves it out. `swag-af match` with --n-distractors 5 shows 6"),
        (6, None),
    ):
        run = replace(make_run(small_pool(), tmp_path / f"run-{n_assigned}", n_assigned=n_assigned), matching=matching)
        told = check_prospects(run, None)
        assert told is None if says is None else says in told


def test_what_has_no_effect_on_collected_verdicts_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        ExportOptions(Path("run"), to="verdicts", iteration=3, limit=5, seed=1)
    for flag in ("--iteration", "--limit", "--seed"):
        assert f"{flag}: not with --to verdicts" in str(caught.value)


def test_what_people_answer_on_the_pages_is_exported_by_the_verb(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(small_pool(), tmp_path / "run")
    desk = make_desk(run, annotators_per_item=2, limit=5)
    for k, name in enumerate(("ann", "bob")):
        browser = Browser(make_client(desk, run), name).begin()
        for i in range(5):
            ratings = [RATINGS[(i + k + place) % 3 if place < 2 else 0] for place in range(6)]
            browser.send(ratings=ratings, best=i, second=5)
    out = folder / "verdicts.jsonl"
    main(["verify", "export", str(run.path), "--to", "verdicts", "--out", str(out)])
    assert f"{len(desk.store.verdicts())} verdicts. Written to {out}" in capsys.readouterr().out
    assert len(desk.store.verdicts()) >= 10
    collected = [with_ordered_columns(verdict) for verdict in desk.store.verdicts()]
    assert read_verdicts(out, run.pool.identity) == collected
    assert imported(run, [out], tmp_path, key=None) == collected
    before = out.read_bytes()
    for words in (["import", run.path, out, "--out", out], ["agreement", out, "--json", out]):
        with pytest.raises(SystemExit):
            main(["verify", *map(str, words), "--force"])
        assert "this is read or written as something else" in capsys.readouterr().err
    for to in ("csv", "label-studio"):
        with pytest.raises(SystemExit):
            main(["verify", "export", str(run.path), "--to", to, "--verdicts", str(out), "--out", str(out), "--force"])
    answers = run.path / "verification/answers.db"
    for words in (["backup", run.path], ["export", run.path, "--to", "verdicts"]):
        with pytest.raises(SystemExit):
            main(["verify", *map(str, words), "--out", str(answers), "--force"])
    assert out.read_bytes() == before
    assert read_verdicts(out, run.pool.identity) == [with_ordered_columns(one) for one in desk.store.verdicts()]


def test_answers_of_dequalified_people_are_counted_and_exported_where_that_is_asked(run: Run, folder: Path) -> None:
    """It was said that nobody had judged an item."""
    assert run.path is not None
    desk = make_desk(run)
    options = ExportOptions(run.path, to="verdicts", out=folder / "verdicts.jsonl")
    for name, n in (("ann", 2), ("bob", 1)):
        for _ in range(n):
            judge_next(desk, name)
        desk.qualify(name, False)
    with pytest.raises(InputError, match=r"3 answers of 2 people, all dequalified.* --all writes them"):
        export(options)
    assert export(replace(options, all=True)).n == 3
    judge_next(desk, "cid")
    done = export(replace(options, force=True))
    assert (done.n, done.warnings) == (
        1,
        ("3 answers of 2 people are left out, since these were dequalified: --all writes them.",),
    )
    with pytest.raises(InputError, match="--all: only with --to verdicts"):
        replace(options, to="csv", all=True)


def test_without_the_extra_tasks_are_exported_and_verdicts_are_refused(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("exchange", "store", "schema"):  # loaded again, and put back afterwards
        monkeypatch.setattr(swag_af.verify, name, getattr(swag_af.verify, name))
        monkeypatch.delitem(sys.modules, f"swag_af.verify.{name}")
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    main(["verify", "export", str(run.path), "--out", str(folder / "tasks.csv")])
    with pytest.raises(SystemExit):
        main(["verify", "export", str(run.path), "--to", "verdicts", "--out", str(folder / "verdicts.jsonl")])
    assert f"sqlalchemy is not installed. Install it with: {install('verify')}" in capsys.readouterr().err


def test_the_verbs_say_what_to_keep_and_what_comes_next(
    run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = verdicts_on(run, 2)
    main(["verify", "export", str(run.path), "--to", "mturk", "--out", str(folder / "tasks")])
    assert "tasks.key.json says which ending is gold" in capsys.readouterr().out
    (path,) = from_mturk(folder / "tasks", [Person(run, said, f"worker-{i}") for i in range(3)])
    out = str(folder / "verdicts.jsonl")
    main(["verify", "import", str(run.path), str(path), "--key", str(folder / "tasks.key.json"), "--out", out])
    assert f"{3 * N} verdicts of 3 people on {N} items" in capsys.readouterr().out
    main(["verify", "agreement", out, "--json", str(folder / "agreement.json")])
    assert "Krippendorff's alpha" in capsys.readouterr().out
    assert json.loads((folder / "agreement.json").read_text())["n_shared_items"] == N


def test_a_table_without_its_key_is_told_as_such(run: Run, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "answers.csv").write_text("task,best\n1,a\n", encoding="utf-8")
    assert run.path is not None
    table = str(folder / "answers.csv")
    for words in (["import", str(run.path), table, "--out", str(folder / "out.jsonl")], ["agreement", table]):
        with pytest.raises(SystemExit) as stopped:
            main(["verify", *words])
        assert stopped.value.code == 2
        assert f"verify import RUN {table} --key KEY" in capsys.readouterr().err


def test_import_without_files_is_told_in_our_own_words(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["verify", "import", str(run.path)])
    assert capsys.readouterr().err.startswith("swag-af: verify import: no files given: name what")
