"""Any dataset as instances: layouts, columns that are looked for, labels of every form, splits, our own folders."""

import csv
import itertools
import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HashFilter
from folders import write
from hypothesis import given
from hypothesis import strategies as st
from judged import make_run
from shared_data import shared

from swag_af import AFOptions, CandidatePool, filter_pool
from swag_af.auditing.integrity.duplicates import duplicate_diagnostics
from swag_af.cli.main import main
from swag_af.data.context import Context
from swag_af.data.disk.files import write_jsonl
from swag_af.data.errors import InputError
from swag_af.data.instances.grouping import group
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.instances.options import InstanceColumns, ReadingOptions
from swag_af.data.instances.reading import names_of, read_instances
from swag_af.data.instances.rows import drawn_order
from swag_af.data.tables.sources import open_source, separator_of
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.verb import release

Rows = list[dict[str, Any]]


def write_table(path: Path, rows: Rows, separator: str = "") -> Path:
    delimiter = separator or ("\t" if path.suffix == ".tsv" else ",")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def read(path: Path, rows: Rows, **settings: Any) -> Instances:
    return read_instances([write(path / "rows.jsonl", rows)], ReadingOptions(**settings))


def shown(instances: Instances) -> list[tuple[str, str, tuple[str, ...], int]]:
    return [(one.context, one.start, one.options, one.answer) for one in instances.instances]


WALL = ("What could be put on a wall?", "", ("paint", "carpet", "curtains"), 2)
CHOICES = {
    "question, choices, label": {"question": WALL[0], "choices": WALL[2], "label": 2},
    "endings in a JSON list": {"question": WALL[0], "endings": json.dumps(WALL[2]), "answer": "curtains"},
    "ARC": {"id": "q", "question": WALL[0], "choices": {"text": WALL[2], "label": ["1", "2", "3"]}, "answerKey": "3"},
    "OpenBookQA": {
        "question_stem": WALL[0],
        "choices": {"text": WALL[2], "label": ["A", "B", "C"]},
        "answerKey": "C",
    },
    "CommonsenseQA as released": {
        "answerKey": "C",
        "question": {
            "question_concept": "wall",
            "stem": WALL[0],
            "choices": [{"label": name, "text": text} for name, text in zip("ABC", WALL[2], strict=True)],
        },
    },
    "TruthfulQA of the hub": {
        "question": WALL[0],
        "mc1_targets": {"choices": WALL[2], "labels": [0, 0, 1]},
        "mc2_targets": {"choices": WALL[2], "labels": [1, 0, 1]},
    },
    "NExT-QA": {"video": "7", "frame_count": 3, "question": WALL[0], "answer": 2}
    | {"qid": 1, "type": "CH"}
    | {f"a{i}": text for i, text in enumerate(WALL[2])},
    "SIQA": {"context": WALL[0]} | {f"answer{x}": t for x, t in zip("ABC", WALL[2], strict=True)} | {"label": "3"},
    "MedMCQA": {"question": WALL[0]} | {f"op{x}": t for x, t in zip("abc", WALL[2], strict=True)} | {"cop": 2},
    "columns of letters": {"Question": WALL[0], **dict(zip("ABC", WALL[2], strict=True)), "Answer": "C"},
    "MedQA": {
        "question": WALL[0],
        "answer": "curtains",
        "options": dict(zip("ABC", WALL[2], strict=True)),
        "answer_idx": "C",
    },
    "lm-eval": {"doc_id": 4, "doc": {"question": WALL[0]}, "target": "2"}
    | {"arguments": [[WALL[0], f" {text}"] for text in WALL[2]], "resps": [[[-1, False]]] * 3},
    "lm-eval of later releases": {
        "doc_id": 4,
        "doc": {"q": WALL[0]},
        "target": 2,
        "arguments": {f"gen_args_{i}": {"arg_0": WALL[0], "arg_1": text} for i, text in enumerate(WALL[2])},
    },
    "lm-eval with requests for each option by itself": {
        "doc_id": 4,
        "doc": {},
        "target": 2,
        "arguments": [*([WALL[0], text] for text in WALL[2]), *(["", text] for text in WALL[2])],
    },
    "lm-eval with letters as options": {
        "doc_id": 4,
        "doc": {"question": WALL[0], "choices": WALL[2]},
        "target": "2",
        "arguments": [["A long prompt", f" {letter}"] for letter in "ABC"],
    },
}


@pytest.mark.parametrize("row", CHOICES.values(), ids=CHOICES.keys())
def test_layouts_of_multiple_choice_are_read_without_a_flag(tmp_path: Path, row: dict[str, Any]) -> None:
    made = read(tmp_path, [row])
    assert made.kind == "choices"
    assert made.has_order
    assert shown(made) == [WALL]


def test_winogrande_is_read_from_logs_of_lm_eval(tmp_path: Path) -> None:
    """Its requests end alike, and so tell nothing of which is right; `answer` counts from 1."""
    rows = []
    for i in range(6):
        doc = {"sentence": f"The box {i} is in the van since _ is big.", "option1": "box", "option2": "van"}
        asked = [[f"The box {i} is in the van since {one}", " is big."] for one in ("box", "van")]
        rows.append({"doc_id": i, "doc": doc | {"answer": str(1 + i % 2)}, "target": "is big.", "arguments": asked})
    texts = [tuple(f"The box {i} is in the van since {one} is big." for one in ("box", "van")) for i in range(6)]
    assert shown(read(tmp_path, rows)) == [("", "", texts[i], i % 2) for i in range(6)]
    del rows[0]["doc"]["answer"]
    with pytest.raises(InputError, match=r"no number of the right one under doc\.answer"):
        read(tmp_path, rows)


DOCS: dict[str, tuple[dict[str, Any], str]] = {
    "capitals": ({"Question": "Who?", "Choices": ["so", "no"]}, "Who?"),
    "lettered columns": ({"Question": "Who?", "A": "so", "B": "no"}, "Who?"),
    "MedMCQA": ({"question": "Who?", "opa": "so", "opb": "no", "cop": 1}, "Who?"),
    "SIQA": ({"context": "Who?", "answer": "B", "answerA": "so", "answerB": "no"}, "Who?"),
    "another name": ({"input": "Who?", "choices": {"text": ["so", "no"], "label": ["A", "B"]}}, "Who?"),
    "a passage": ({"article": "Bo is here.", "question": "Who?", "options": ["so", "no"]}, "Bo is here. Who?"),
    "nested": ({"question": {"stem": "Who?", "choices": [{"text": "so"}, {"text": "no"}]}}, "Who?"),
}


@pytest.mark.parametrize(("doc", "context"), DOCS.values(), ids=DOCS.keys())
def test_logs_whose_requests_are_letters_have_the_question_of_the_dataset(
    tmp_path: Path, doc: dict[str, Any], context: str
) -> None:
    """It was empty where its key was no `question`, and without its passage."""
    asked = [["A long prompt", " A"], ["A long prompt", " B"]]
    rows = [{"doc_id": i, "doc": doc, "target": i % 2, "arguments": asked} for i in range(6)]
    assert shown(read(tmp_path, rows)) == [(context, "", ("so", "no"), i % 2) for i in range(6)]


@pytest.mark.parametrize(
    ("doc", "lacks"), [({"asked": "Who?", "choices": ["a", "b"]}, "question"), ({"q": "a"}, "options")]
)
def test_logs_of_letters_without_a_question_are_refused(tmp_path: Path, doc: dict[str, Any], lacks: str) -> None:
    asked = [["A long prompt", " A"], ["A long prompt", " B"]]
    rows = [{"doc_id": i, "doc": doc, "target": i % 2, "arguments": asked} for i in range(6)]
    with pytest.raises(InputError, match=rf"no {lacks} under doc \(it has .*--context-column doc\.NAME"):
        read(tmp_path, rows)
    if lacks == "question":
        columns = InstanceColumns(context_column="doc.asked", endings_column="doc.choices", label_column="target")
        made = read(tmp_path, rows, layout="columns", kind="choices", columns=columns)
        assert shown(made) == [("Who?", "", ("a", "b"), i % 2) for i in range(6)]


def test_logs_of_questions_with_fewer_options_may_be_padded(tmp_path: Path) -> None:
    """`datasets` gives every row the requests of all, and null where there is none."""
    rows = [
        {"doc_id": 0, "doc": {}, "target": 1}
        | {"arguments": {f"gen_args_{k}": {"arg_0": "Who?", "arg_1": f" {k}"} for k in range(2)} | {"gen_args_2": pad}}
        for pad in (None, {"arg_0": None, "arg_1": None})
    ]
    assert shown(read(tmp_path, rows, kind="choices")) == [("Who?", "", ("0", "1"), 1)] * 2


def test_piqa_is_read(tmp_path: Path) -> None:
    made = read(tmp_path, [{"goal": "To sit", "sol1": "stand", "sol2": "use a chair", "label": i} for i in (1, 0)])
    assert shown(made) == [("To sit", "", ("stand", "use a chair"), 1), ("To sit", "", ("stand", "use a chair"), 0)]


@pytest.mark.parametrize(("suffix", "separator"), [(".csv", ","), (".csv", ";"), (".csv", "\t"), (".tsv", "\t")])
def test_tables_are_read(tmp_path: Path, suffix: str, separator: str) -> None:
    rows = [{"question": "Who?", "a0": "he", "a1": "she, too", "a2": "", "answer": 1, "video": "v"}]
    made = read_instances([write_table(tmp_path / f"rows{suffix}", rows, separator)])
    assert shown(made) == [("Who?", "", ("he", "she, too"), 1)]
    assert made.instances[0] == Instance(
        "rows:2", "Who?", ("he", "she, too"), 1, group="v", where=f"rows{suffix}, line 2"
    )


@pytest.mark.parametrize(
    ("lines", "separator"),
    [
        ("text\nhe runs; he stops, then\n", ","),
        ("he runs; he stops\nthen she runs\n", ","),
        ("id;answer\n1;well, yes\n", ";"),
        ('"a;b",c\n1,2\n', ","),
        ("a;b,c\n1;2,3\n", ","),
        ("id|answer\n1|well, yes\n", "|"),
        ("question,options,answer\nWho,he|she,A\n", ","),
        ("sep=;\na,b,c;d\n1,2,3;4\n", ";"),
        ("", ","),
    ],
)
def test_separators_are_told_from_the_first_two_rows(tmp_path: Path, lines: str, separator: str) -> None:
    (tmp_path / "a.csv").write_text(lines)
    assert separator_of(tmp_path / "a.csv") == separator


@pytest.mark.parametrize(
    ("separator", "said"), [(";", "cells parted by semicolons"), ("|", "cells parted by bars"), (",", ""), ("\t", "")]
)
@pytest.mark.parametrize("first", ["", "sep={}\n", "SEP={}\r\n"])
def test_a_first_line_that_says_the_separator_is_no_row(tmp_path: Path, first: str, separator: str, said: str) -> None:
    """As Excel writes it; it was the header, and bars were no separator."""
    rows = [{"question": f"Who is {i}?", "a0": "he, she", "a1": "they; or", "answer": i % 2} for i in range(4)]
    path = write_table(tmp_path / "rows.csv", rows, separator)
    path.write_bytes("\ufeff".encode() + first.format(separator).encode() + path.read_bytes())
    made = read_instances(path)
    assert [one.context for one in made.instances] == [row["question"] for row in rows]
    assert [one.where for one in made.instances] == [f"rows.csv, line {2 + bool(first) + i}" for i in range(4)]
    assert ("rows.csv: " + said in made.notes) == bool(said)
    assert open_source(path).n_rows == 4


@pytest.mark.parametrize(
    ("names", "label"),
    [
        (("option_a", "option_b", "option_c"), "option_{0}"),
        (("Option 1", "Option 2", "Option 3"), "Option {1}"),
        (("option1", "option2", "option3"), "Option_{1}"),
        (("sol0", "sol1", "sol2"), " sol{2} "),
    ],
)
def test_labels_may_be_the_names_of_the_columns_of_options(tmp_path: Path, names: tuple[str, ...], label: str) -> None:
    """They were refused, row by row."""
    rows = [
        {"question": f"Who is {i}?"}
        | {name: f"{name} is {i}" for name in names}
        | {"label": label.format("abc"[i % 3], 1 + i % 3, i % 3)}
        for i in range(9)
    ]
    made = read(tmp_path, rows)
    assert made.answers.tolist() == [0, 1, 2] * 3
    assert {one.names for one in made.instances} == {()}
    assert "label = label (names)" in made.notes[0]


def test_the_text_of_an_option_goes_before_the_name_of_its_column(tmp_path: Path) -> None:
    rows = [
        {"question": f"Who is {i}?", "option1": "option2", "option2": f"none {i}", "label": "option2"} for i in range(9)
    ]
    assert read(tmp_path, rows).answers.tolist() == [0] * 9


def test_semicolons_are_told(tmp_path: Path) -> None:
    rows = [{"question": "Who?", "a0": "he", "a1": "she", "answer": 1}]
    made = read_instances([write_table(tmp_path / "rows.csv", rows, ";")])
    assert any("cells parted by semicolons" in note for note in made.notes)


def test_a_missing_option_moves_the_label(tmp_path: Path) -> None:
    made = read(tmp_path, [{"question": "Who?", "choices": ["he", None, "she", "they"], "label": 2}])
    assert shown(made) == [("Who?", "", ("he", "she", "they"), 1)]


def test_json_by_columns_is_read_as_pandas_and_datasets_write_it(tmp_path: Path) -> None:
    rows = [{"question": f"{WALL[0]} {i}", "choices": list(WALL[2]), "label": i % 3} for i in range(12)]
    names = list(rows[0])
    expected = shown(read(tmp_path, rows))
    by_number = {name: {str(i): row[name] for i, row in enumerate(rows)} for name in names}
    for content in (by_number, {name: [row[name] for row in rows] for name in names}):
        for indent in (None, 2):
            path = tmp_path / "columns.json"
            path.write_text(json.dumps(content, indent=indent), encoding="utf-8")
            assert shown(read_instances([path], ReadingOptions())) == expected


@pytest.mark.parametrize(
    "content",
    [
        {f"q{i}": {"question": WALL[0], "choices": WALL[2], "label": 2} for i in range(3)},
        {split: [{"question": WALL[0], "choices": WALL[2], "label": 2}] * 3 for split in ("train", "dev")},
        {"question": {"0": WALL[0], "1": WALL[0]}, "label": {"0": 2}},
    ],
)
def test_objects_by_id_or_by_split_are_no_columns(tmp_path: Path, content: dict[str, Any]) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert open_source(path).n_rows == 1


def test_one_json_list_and_parquet_are_read(tmp_path: Path) -> None:
    rows = [{"question": "Who?", "choices": ["he", "she"], "label": i} for i in (0, 1)]
    (tmp_path / "rows.json").write_text(json.dumps(rows, indent=1))
    expected = shown(read(tmp_path, rows))
    assert shown(read_instances([tmp_path / "rows.json"])) == expected
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(rows), tmp_path / "rows.parquet")
    assert shown(read_instances([tmp_path / "rows.parquet"])) == expected


# ------------------------------------------------------------------------------- contexts, groups, gold columns

SENTENCES = {
    "SWAG": {"video-id": "anetv_1", "startphrase": "He sits. He", "sent1": "He sits.", "sent2": "He"}
    | {"gold-source": "gold", "ending0": "eats.", "ending1": "flies.", "label": 0},
    "SWAG in one text": {"startphrase": "He sits. He", "endings": ["eats.", "flies."], "label": 0},
    "HellaSwag": {"ind": 3, "ctx_a": "He sits.", "ctx_b": "He", "ctx": "He sits. He", "source_id": "anetv_1"}
    | {"endings": ["eats.", "flies."], "label": "0", "split": "val"},
    "HellaSwag in one text": {"ind": 3, "ctx": "He sits. He", "endings": ["eats.", "flies."], "label": 0},
    "rows of a pool": {"sent1": "He sits.", "start": "He", "endings": ["eats.", "flies."], "label": 0},
}


@pytest.mark.parametrize("row", SENTENCES.values(), ids=SENTENCES.keys())
def test_starts_are_told_from_contexts(tmp_path: Path, row: dict[str, Any]) -> None:
    made = read(tmp_path, [row])
    assert shown(made) == [("He sits.", "He", ("eats.", "flies."), 0)]
    assert made.instances[0].group == ("anetv_1" if "anetv_1" in row.values() else "")


def test_groups_are_the_same_whatever_the_columns_of_sentences_are_called(tmp_path: Path) -> None:
    """Linked captions stayed together only under names that part a context from the start of the next sentence."""
    story = [f"A man with hat {i} climbs hill number {i} in boots." for i in range(41)]
    said = [f"{story[i]} A man" for i in range(40) if i % 4 != 3]
    endings = [[f"barks at moon {i} with dog {i}.", story[i + 1][6:]] for i in range(40) if i % 4 != 3]
    names = [("ctx", "endings", "label"), ("context", "endings", "gold"), ("question", "choices", "label")]
    tables = [[dict(zip(named, (*row, 1), strict=True)) for row in zip(said, endings, strict=True)] for named in names]
    first, *others = (group(read(tmp_path, rows)).numbers.tolist() for rows in tables)
    assert others == [first] * 2
    assert len(set(first)) == len({(number, i // 3) for i, number in enumerate(first)}) == 10


GOLDS = {
    "SWAG in full": {"sent1": "He sits.", "sent2": "He", "startphrase": "He sits. He", "gold-ending": "eats."}
    | {"distractor-0": "flies.", "distractor-1": "swims.", "distractor-0-type": "unlikely"},
    "pool": {"sent1": "He sits.", "start": "He", "gold": "eats.", "negatives": ["flies.", "swims."]},
    "SciQ": {"question": "What?", "correct_answer": "eats."} | {"distractor1": "flies.", "distractor2": "swims."},
    "TruthfulQA": {"question": "What?", "best_answer": "eats.", "incorrect_answers": ["flies.", "swims."]},
}


@pytest.mark.parametrize("row", GOLDS.values(), ids=GOLDS.keys())
def test_gold_of_its_own_column_gets_a_drawn_place(tmp_path: Path, row: dict[str, Any]) -> None:
    made = read(tmp_path, [row])
    one = made.instances[0]
    assert not made.has_order
    assert one.options[one.answer] == "eats."
    assert sorted(one.options) == ["eats.", "flies.", "swims."]
    assert "the order of options was drawn" in made.notes[0]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=6, unique=True), st.data())
def test_the_drawn_order_is_the_same_whichever_is_gold(texts: list[str], data: st.DataObject) -> None:
    first = data.draw(st.permutations(texts))
    options, gold = drawn_order(first)
    assert options == drawn_order(texts)[0]
    assert options[gold] == first[0]


def test_drawn_places_of_gold_are_even() -> None:
    places = [drawn_order([f"gold {i}", f"one {i}", f"two {i}", f"three {i}"])[1] for i in range(2_000)]
    counts = np.bincount(places, minlength=4)
    assert np.abs(counts - 500).max() < 5 * np.sqrt(2_000 * 0.25 * 0.75)


def test_gold_stands_before_a_copy_of_it_as_often_as_behind() -> None:
    drawn = [drawn_order([f"gold {i}", f"gold {i}", f"one {i}"]) for i in range(2_000)]
    n_before = sum(options.index(options[gold]) == gold for options, gold in drawn)
    assert 900 < n_before < 1_100
    assert all(options[gold] == f"gold {i}" for i, (options, gold) in enumerate(drawn))


def test_passages_come_before_questions_and_are_groups(tmp_path: Path) -> None:
    """As in RACE."""
    rows = [{"article": text, "question": "Who?", "options": ["he", "she"], "answer": "A"} for text in ("One.", "Two.")]
    made = read(tmp_path, rows)
    assert [(one.context, one.group) for one in made.instances] == [("One. Who?", "One."), ("Two. Who?", "Two.")]


def test_sentences_in_columns_are_one_context(tmp_path: Path) -> None:
    """As in StoryCloze, whose labels count from 1."""
    row = {f"InputSentence{i}": f"He {i}." for i in range(1, 5)} | {
        "RandomFifthSentenceQuiz1": "Good.",
        "RandomFifthSentenceQuiz2": "Bad.",
    }
    made = read(tmp_path, [row | {"AnswerRightEnding": 2}, row | {"AnswerRightEnding": 1}])
    assert shown(made)[0] == ("He 1. He 2. He 3. He 4.", "", ("Good.", "Bad."), 1)
    assert "(numbers from 1)" in made.notes[0]


# ------------------------------------------------------------------------------- labels


def labelled(*labels: object, n: int = 3) -> Rows:
    return [{"question": f"Which {i}?", "choices": list("xyz")[:n], "label": label} for i, label in enumerate(labels)]


def test_one_odd_row_does_not_say_what_all_other_labels_mean(tmp_path: Path) -> None:
    """With it texts were read as numbers, and 30 golds were others; out of range, they were texts all the same."""
    tens = [{"question": f"Ten {i}?", "choices": ["10", "20", "30", "40"], "label": "20"} for i in range(6)]
    ones = [{"question": f"One {i}?", "choices": ["1", "2", "3", "4"], "label": "2"} for i in range(6)]
    odd = [{"question": "Odd?", "choices": ["3 apples", "4 apples", "5 apples", "6 apples"], "label": "3"}]
    assert set(read(tmp_path, [*tens, *ones]).answers.tolist()) == {1}
    with pytest.raises(InputError, match=r"12 of 13 are the text of an option.*--label-base text"):
        read(tmp_path, [*tens, *ones, *odd])
    numbers = [{"question": f"{i}?", "choices": ["a", "b", "c"], "label": "1"} for i in range(9)]
    with pytest.raises(InputError, match="has label 20, and 4 choices, which count from 0; it is the text of one"):
        read(tmp_path, [*numbers, tens[0]])
    assert set(read(tmp_path, [row | {"label": int(row["label"])} for row in tens]).answers.tolist()) == {1}


@pytest.mark.parametrize("column", ["qid", "Question-ID", "id"])
def test_labels_of_a_second_file_go_by_the_ids_that_both_have(tmp_path: Path, column: str) -> None:
    """They went by the order of the rows, but for a column called `id`, and nothing said so."""
    rows = [{column: f"q{i}", "question": f"Which {i}?", "choices": ["x", "y"]} for i in range(6)]
    path = write(tmp_path / "q.jsonl", rows)
    labels = write(tmp_path / "labels.jsonl", [{column: f"q{i}", "label": i % 2} for i in reversed(range(6))])
    found = read_instances([path], ReadingOptions(labels_file=labels))
    assert found.answers.tolist() == [0, 1] * 3
    assert any(f"labels of labels.jsonl joined by {column}" in note for note in found.notes)
    plain = write(tmp_path / "plain.jsonl", [{"label": i % 2} for i in range(6)])
    found = read_instances([path], ReadingOptions(labels_file=plain))
    assert found.answers.tolist() == [0, 1] * 3
    assert any("labels of plain.jsonl in the order of the rows" in note for note in found.notes)
    twice = write(tmp_path / "twice.jsonl", [*rows[:5], rows[0]])
    with pytest.raises(InputError, match=r"the id q0 a second time, and .*labels\.jsonl has one label of it"):
        read_instances([twice], ReadingOptions(labels_file=labels))


QUESTIONS = [{"id": i + 1, "question": f"Which is number {i}?", "choices": ["x", "y", "z"]} for i in range(12)]
SHUFFLED = [(5 * i + 1) % 12 for i in range(12)]
"""Places of the questions, in another order than theirs."""


@pytest.mark.parametrize("called", ["ID", "Id", "i-d", "qid", "nr", "Question"])
def test_labels_of_a_second_file_go_by_ids_however_it_calls_them(tmp_path: Path, called: str) -> None:
    """They went by the order of the rows, and golds were wrong."""
    path = write(tmp_path / "q.jsonl", QUESTIONS)
    labels = write_table(tmp_path / "labels.csv", [{called: i + 1, "Label": "ABC"[i % 3]} for i in SHUFFLED])
    made = read_instances([path], ReadingOptions(labels_file=labels))
    assert made.answers.tolist() == [0, 1, 2] * 4
    assert f"q.jsonl: labels of labels.csv joined by id, there {called}" in made.notes


def test_labels_go_by_any_column_that_is_named_as_ids_and_has_their_values(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", QUESTIONS)
    rows = [{"text": QUESTIONS[i]["question"], "label": "ABC"[i % 3]} for i in SHUFFLED]
    options = ReadingOptions(
        labels_file=write_table(tmp_path / "labels.csv", rows), columns=InstanceColumns(id_column="question")
    )
    assert read_instances([path], options).answers.tolist() == [0, 1, 2] * 4


OTHER_ORDERS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "its questions": (
        [{"question": QUESTIONS[i]["question"]} for i in SHUFFLED],
        "its question stands in another order than in .*q.jsonl. Say --id-column question, or bring the two to one",
    ),
    "its questions, one of them changed": (
        [{"Question": "Why?" if i == 3 else QUESTIONS[i]["question"]} for i in SHUFFLED],
        "its Question stands in another order than in .*q.jsonl. Say --id-column question",
    ),
    "its questions by another name": (
        [{"text": QUESTIONS[i]["question"]} for i in SHUFFLED],
        "its text has, in another order, the question of .*q.jsonl. Say --id-column question",
    ),
    "an index without a name": (
        [{"": i + 100} for i in SHUFFLED],
        "its column without a name counts rows in another order than they stand in.* Sort",
    ),
}


@pytest.mark.parametrize(("rows", "said"), OTHER_ORDERS.values(), ids=OTHER_ORDERS.keys())
def test_labels_in_another_order_without_ids_are_refused(tmp_path: Path, rows: list[dict[str, Any]], said: str) -> None:
    """They went by the order of the rows, and golds were wrong."""
    path = write(tmp_path / "q.jsonl", QUESTIONS)
    labels = write_table(tmp_path / "labels.csv", [row | {"label": "ABC"[i % 3]} for i, row in enumerate(rows)])
    with pytest.raises(InputError, match=f"labels.csv: .*{said}"):
        read_instances([path], ReadingOptions(labels_file=labels))


def test_a_column_of_labels_that_counts_rows_may_be_their_ids_in_another_order(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", [QUESTIONS[i] for i in SHUFFLED])
    labels = write_table(tmp_path / "labels.csv", [{"n": i + 1, "label": "ABC"[i % 3]} for i in range(12)])
    with pytest.raises(
        InputError, match=r"its n may count the rows, or be the id of .*q.jsonl, which means others. Call"
    ):
        read_instances([path], ReadingOptions(labels_file=labels))


def test_a_column_in_the_same_order_says_that_labels_stand_so(tmp_path: Path) -> None:
    rows = [{"video": f"v{i // 2}", "qid": i % 2, **row} for i, row in enumerate(QUESTIONS)]
    path = write(tmp_path / "q.jsonl", [{k: v for k, v in row.items() if k != "id"} for row in rows])
    given = [{"Video": row["video"], "qid": row["qid"], "label": "ABC"[i % 3]} for i, row in enumerate(rows)]
    made = read_instances([path], ReadingOptions(labels_file=write_table(tmp_path / "labels.csv", given)))
    assert made.answers.tolist() == [0, 1, 2] * 4
    assert "q.jsonl: labels of labels.csv in the order of the rows, as video, qid say" in made.notes
    other = write_table(tmp_path / "other.csv", [given[i] for i in SHUFFLED])
    with pytest.raises(InputError, match=r"stands in another order than in .*q.jsonl. Give each row an id in both"):
        read_instances([path], ReadingOptions(labels_file=other))


def test_a_quotation_in_a_table_of_tabs_swallows_no_rows(tmp_path: Path) -> None:
    """It began in one row and ended in a later one: the rows between were a single premise."""
    path = tmp_path / "pairs.tsv"
    lines = ["premise\thypothesis\tlabel", '"I will go\tHe said so\t1', 'I may stay"\tHe left\t0', "We sit\tWe rest\t1"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = read_instances([path], ReadingOptions())
    assert len(found) == 3
    assert found.instances[0].context == '"I will go'
    path.write_text('premise\thypothesis\tlabel\n"He said ""no"""\tHe refused\t1\n"a\nb"\tc\t0\n', encoding="utf-8")
    found = read_instances([path], ReadingOptions())
    assert found.instances[0].context == 'He said "no"'


def test_a_pair_of_texts_is_no_question_and_many_answers_in_one_text_are_no_single_one(tmp_path: Path) -> None:
    pairs = [{"a": f"He runs {i}.", "b": f"He moves {i}.", "label": i % 2} for i in range(12)]
    with pytest.raises(InputError):
        read(tmp_path, pairs)
    assert len(read(tmp_path, [{"question": f"Who {i}?", **row} for i, row in enumerate(pairs)])) == 12
    many = [
        {
            "Question": f"What {i}?",
            "Best Answer": "Nothing happens",
            "Incorrect Answers": f"You die {i}; You grow; You glow",
        }
        for i in range(8)
    ]
    with pytest.raises(InputError, match="Incorrect Answers seems to hold several wrong answers in one text"):
        read(tmp_path, many)
    named = InstanceColumns(negatives_column="Incorrect Answers")
    assert len(read(tmp_path, many, columns=named).instances[0].options) == 2


def test_labels_count_from_1_where_all_rows_say_so(tmp_path: Path) -> None:
    assert read(tmp_path, labelled(1, 3, 2)).answers.tolist() == [0, 2, 1]
    assert read(tmp_path, labelled(1, 2, 2)).answers.tolist() == [1, 2, 2]
    assert read(tmp_path, labelled(1, 2, 2), label_base="1").answers.tolist() == [0, 1, 1]
    with pytest.raises(InputError, match="line 2 has label 3, and 3 choices, which count from 0"):
        read(tmp_path, labelled(0, 3, 1))


ANSWERED = {
    "numbered, and which": {"question": "Why?", "answer1": "so", "answer2": "no", "answer3": "ah", "answer": "1"},
    "with blanks": {"Question": "Why?", "Answer 1": "so", "Answer 2": "no", "Answer 3": "ah", "Answer": "B"},
    "answer and distractors": {"question": "Why?", "answer": "no", "distractors": ["so", "ah"]},
    "answer and numbered distractors": {"question": "Why?", "answer": "no", "distractor1": "so", "distractor2": "ah"},
    "answer and wrong answers": {"question": "Why?", "answer": "no", "incorrect_answers": ["so", "ah"]},
}


@pytest.mark.parametrize("form", ANSWERED)
@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_an_answer_beside_others_makes_no_classes(tmp_path: Path, form: str, suffix: str) -> None:
    """They were read as texts with classes, and the options not at all."""
    mark = itertools.count()
    rows = [
        json.loads(re.sub('"(so|ah)"', lambda found: f'"{found[1]} {next(mark)}"', json.dumps(ANSWERED[form])))
        for _ in range(24)
    ]
    if suffix == ".csv":
        rows = [{name: json.dumps(one) if isinstance(one, list) else one for name, one in row.items()} for row in rows]
    path = (write if suffix == ".jsonl" else write_table)(tmp_path / f"rows{suffix}", rows)
    made = read_instances([path])
    assert made.kind == "choices"
    assert {one.options[one.answer] for one in made.instances} == {"no"}
    assert {len(one.options) for one in made.instances} == {3}


def asked(names: tuple[str, ...], labels: list[Any], text: str = "question", **more: str) -> Rows:
    """A question a row, with other texts in each of the columns `names`."""
    return [
        {text: f"Why is it {i}?"} | {name: f"{name} of {i} it is" for name in names} | more | {"label": label}
        for i, label in enumerate(labels)
    ]


NUMBERED = ("c0", "c1", "c2", "c3")
NAMED_BY_LABELS: dict[str, tuple[tuple[str, ...], list[Any]]] = {
    "numbers, some nan": (NUMBERED, ["nan" if i % 9 == 4 else i % 4 for i in range(60)]),
    "letters, some ?": (NUMBERED, ["?" if i % 9 == 4 else "ABCD"[i % 4] for i in range(60)]),
    "letters, some of none": (NUMBERED, ["ABCDE"[4 if i % 12 == 5 else i % 4] for i in range(60)]),
    "letters of three alone": (NUMBERED, ["ABC"[i % 3] for i in range(60)]),
    "numbers of three alone": (NUMBERED, [i % 3 for i in range(60)]),
    "names": (NUMBERED, [NUMBERED[i % 4] for i in range(60)]),
    "names in another spelling": (("Reply A", "Reply B"), [("reply_a", "reply_b")[i % 2] for i in range(60)]),
    "numbers of ordinals": (("first", "second", "third"), [1 + i % 3 for i in range(60)]),
    "letters of columns side by side": (("red", "second", "last"), ["ABC"[i % 3] for i in range(60)]),
    "numbers of columns side by side": (("red", "second", "last"), [i % 3 for i in range(60)]),
}


@pytest.mark.parametrize(("names", "labels"), NAMED_BY_LABELS.values(), ids=NAMED_BY_LABELS.keys())
def test_columns_that_most_labels_name_make_no_texts_with_classes(
    tmp_path: Path, names: tuple[str, ...], labels: list[Any]
) -> None:
    """Where the labels were not exactly as many letters or numbers, questions were texts, and options not read."""
    path = write_table(tmp_path / "rows.csv", asked(names, labels))
    with pytest.raises(InputError, match=f"label holds .* as of {len(names)} options, and {', '.join(names)} are not"):
        read_instances(path)
    assert read_instances(path, ReadingOptions(kind="classes")).kind == "classes"


ARE_CLASSES: dict[str, Rows] = {
    "explanations of pairs": [
        row | {"premise": f"They sit {i}.", "hypothesis": f"They rest {i}."}
        for i, row in enumerate(asked(("explanation_1", "explanation_2", "explanation_3"), [0, 1, 2] * 9, "nr"))
    ],
    "ids of the texts of pairs": [
        {"qid1": f"{i}1", "qid2": f"{i}2", "question1": f"Why {i}?", "question2": f"How {i}?", "is_duplicate": i % 2}
        for i in range(24)
    ],
    "a title and a summary": asked(("title", "summary"), [0, 1] * 12, "text"),
    "a title, a place and a summary": asked(("title", "place", "summary"), [0, 1, 2] * 9, "text"),
    "several comments of two classes": asked(("comment1", "comment2", "comment3"), [0, 1] * 12, "text"),
    "scores of each class": [
        row | {"score0": f"{i}.5", "score1": f"{i}.25"} for i, row in enumerate(asked((), [0, 1] * 12))
    ],
    "what each annotator said": [
        row | {f"label{k}": ("one", "two")[(i + k) % 2] for k in (0, 1, 2)}
        for i, row in enumerate(asked((), [0, 1, 2] * 9, "text"))
    ],
}


@pytest.mark.parametrize("rows", ARE_CLASSES.values(), ids=ARE_CLASSES.keys())
def test_texts_with_classes_may_have_other_columns(tmp_path: Path, rows: Rows) -> None:
    assert read_instances(write_table(tmp_path / "rows.csv", rows)).kind == "classes"


def long_rows(name: str, text: str = "question", marks: Any = (0, 1), n: int = 30, order: int = 1) -> Rows:
    """A row for each of three options of `n` questions, every `order`-th of them in turn."""
    rows = [
        {text: f"Why is it {i // 3}?", name: f"since it is {i}", "label": marks[i % 3 == i // 3 % 3]}
        for i in range(3 * n)
    ]
    return [rows[order * i % len(rows)] for i in range(len(rows))]


@pytest.mark.parametrize(
    "rows",
    [
        long_rows("option"),
        long_rows("answer_text", "text"),
        long_rows("words", "sentence", (False, True)),
        long_rows("reply", marks=("no", "yes")),
        long_rows("target_text", n=400, order=7),
    ],
    ids=["option", "answer_text", "any name", "words as marks", "in no order"],
)
def test_a_row_for_each_option_makes_no_texts_with_classes(tmp_path: Path, rows: Rows) -> None:
    """Questions were texts that repeat, and their options were not read."""
    text, name, _ = rows[0]
    path = write(tmp_path / "rows.jsonl", rows)
    with pytest.raises(
        InputError, match=f"one row an option, it seems: rows of one {text} differ in {name}, which is not"
    ):
        read_instances(path)
    pairs = ReadingOptions(columns=InstanceColumns(premise_column=text, hypothesis_column=name))
    assert read_instances(path, pairs).instances[0].options == (rows[0][name],)
    assert read_instances(path, ReadingOptions(kind="classes")).kind == "classes"


def test_a_row_for_each_option_is_told_where_the_option_is_read_and_not_the_question(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="rows of one question differ in text, question is not read"):
        read(tmp_path, long_rows("text"))


TEXTS_AGAIN: dict[str, Rows] = {
    "of several annotators": [
        {"text": f"It is {i // 5}.", "label": int(i // 5 % 2 == 0), "comment": f"I say so {i}"} for i in range(60)
    ],
    "of three classes": [row | {"label": i % 3} for i, row in enumerate(long_rows("words"))],
    "with one column alike": [row | {"words": "all the same"} for row in long_rows("words")],
    "few of them": [{"text": f"It is {max(i, 6)}.", "label": i % 2, "comment": f"I say so {i}"} for i in range(60)],
    "with other files": [row | {"words": f"shots/{i}.png"} for i, row in enumerate(long_rows("words"))],
}


@pytest.mark.parametrize("rows", TEXTS_AGAIN.values(), ids=TEXTS_AGAIN.keys())
def test_texts_with_classes_may_stand_there_again(tmp_path: Path, rows: Rows) -> None:
    assert read(tmp_path, rows).kind == "classes"


def chosen(**more: Any) -> dict[str, Any]:
    return more | {"choices": ["a fox", "a hen", f"an owl of {more}"], "label": 1}


@pytest.mark.parametrize("name", ["q", "Ques", "question_text", "utterance", "Dialogue", "scenario"])
def test_questions_are_read_by_more_names(tmp_path: Path, name: str) -> None:
    """They were not, and findings were those of options alone."""
    rows = [chosen(**{name: f"Who is there {i}?"}) | {"label": i % 3} for i in range(9)]
    assert [one.context for one in read(tmp_path, rows).instances] == [f"Who is there {i}?" for i in range(9)]


def test_a_number_of_questions_is_no_question(tmp_path: Path) -> None:
    rows = [chosen(q=str(i), text=f"Who is there {i}?") | {"label": i % 3} for i in range(9)]
    assert "question = text," in read(tmp_path, rows).notes[0]
    both = read(tmp_path, [row | {"q": f"Who {i}?"} for i, row in enumerate(rows)])
    assert "passage = text, question = q," in both.notes[0]


def test_options_without_a_question_say_which_column_may_be_it(tmp_path: Path) -> None:
    rows = [chosen(asked_of=f"Who is there {i}?", form="an open one") | {"label": i % 3} for i in range(9)]
    said = "no question is read, and asked_of has another text in nearly every row: if it is the question, say "
    assert f"rows.jsonl: {said}--context-column asked_of" in read(tmp_path, rows).notes
    none = read(tmp_path, rows, columns=InstanceColumns(context_column=""))
    several = read(tmp_path, [row | {"told": f"It is {i}."} for i, row in enumerate(rows)])
    files = read(tmp_path, [row | {"asked_of": f"shots/{i}.wav"} for i, row in enumerate(rows)])
    named = read(tmp_path, rows, columns=InstanceColumns(context_column="asked_of"))
    for made in (none, several, files, named):
        assert not any("no question is read" in note for note in made.notes)


def test_a_second_column_of_labels_that_means_other_options_is_told(tmp_path: Path) -> None:
    """One was taken, and the other was among what is not read."""
    rows = [chosen(question=f"Who is there {i}?", difficulty=i % 2) | {"label": i % 3} for i in range(9)]
    letters = [row | {"correct": "abc"[2 - i % 3]} for i, row in enumerate(rows)]
    said = "correct could be the label, too, and means another option in 6 of the first 9 rows: "
    advice = "if it says which is right, say --label-column correct"
    assert read(tmp_path, letters).notes[1:] == (f"rows.jsonl: {said}{advice}",)
    same = [row | {"correct": "abc"[i % 3]} for i, row in enumerate(rows)]
    from_1 = [row | {"correct": 1 + i % 3} for i, row in enumerate(rows)]
    words = [row | {"correct": "by most"} for row in rows]
    empty = [row | {"correct": None} for row in rows]
    for others in (same, from_1, words, empty):
        assert len(read(tmp_path, others).notes) == 1
    assert len(read(tmp_path, letters, columns=InstanceColumns(label_column="label")).notes) == 1


def test_a_file_whose_labels_may_count_otherwise_is_told_beside_one_whose_labels_do_not(tmp_path: Path) -> None:
    """The other one decided, and nothing was said of those that it decided for."""
    train = write(tmp_path / "train.jsonl", [chosen(question=f"Who {i}?") | {"label": i % 3} for i in range(9)])
    test = write(tmp_path / "test.jsonl", [chosen(question=f"Why {i}?") | {"label": 1 + i % 2} for i in range(9)])
    said = "test.jsonl: its labels could count from 1 as well, and only those of other files say that they count from 0"
    notes = read_instances([train, test]).notes
    assert [note for note in notes if "could count" in note] == [
        f"{said}: if they do not, read it alone with --label-base 1"
    ]
    assert not any(
        "could count" in note for note in read_instances([train, test], ReadingOptions(label_base="0")).notes
    )
    from_1 = write(tmp_path / "three.jsonl", [chosen(question=f"How {i}?") | {"label": 1 + i % 3} for i in range(9)])
    notes = read_instances([from_1, test]).notes
    assert [note for note in notes if "could count" in note] == [
        said.replace("from 1", "from 2").replace("from 0", "from 1").replace("from 2", "from 0")
        + ": if they do not, read it alone with --label-base 0"
    ]


@pytest.mark.parametrize("name", ["movie_id", "clip", "Clip-ID", "source_doc", "doc_id", "dialogue_id"])
def test_columns_that_repeat_may_be_groups_by_more_names(tmp_path: Path, name: str) -> None:
    """They were not read, and doc_id was taken for an id."""
    rows = [chosen(question=f"Who is there {i}?", **{name: i // 3}) | {"label": i % 3} for i in range(12)]
    made = read(tmp_path, rows)
    assert [one.group for one in made.instances] == [str(i // 3) for i in range(12)]
    assert f"group = {name}" in made.notes[0]
    assert len(made.notes) == 1
    once = read(tmp_path, [row | {name: i} for i, row in enumerate(rows)])
    assert "group = none" in once.notes[0]
    assert ("id = doc_id" in once.notes[0]) == (name == "doc_id")
    with_id = read(tmp_path, [row | {"uid": f"u{i}"} for i, row in enumerate(rows)])
    assert f"group = {name}, id = uid" in with_id.notes[0]


def test_ids_are_in_a_column_whose_values_do_not_repeat(tmp_path: Path) -> None:
    rows = [chosen(question=f"Who is there {i}?", id=i // 2, uid=f"u{i}") | {"label": i % 3} for i in range(300)]
    assert "id = uid" in read(tmp_path, rows).notes[0]
    late = read(tmp_path, [row | {"id": min(i, 290)} for i, row in enumerate(rows)])
    assert "id = uid" in late.notes[0]
    first = read(tmp_path, [row | {"id": i} for i, row in enumerate(rows)])
    assert "id = id" in first.notes[0]


def test_files_of_one_set_have_one_group(tmp_path: Path) -> None:
    """In a small split nothing repeats: its rows would be in no group, and its clips those of another split."""
    rows = [chosen(question=f"Who is there {i}?", doc_id=i // 3) | {"label": i % 3} for i in range(12)]
    train, test = write(tmp_path / "train.jsonl", rows[:9]), write(tmp_path / "test.jsonl", rows[8:10])
    made = read_instances([train, test])
    assert [one.group for one in made.instances] == [*"000111222", "2", "3"]
    assert all("group = doc_id" in note and " id =" not in note for note in made.notes if "read as" in note)


def test_a_column_that_rows_share_is_told_where_there_is_no_group(tmp_path: Path) -> None:
    rows = [chosen(question=f"Who is there {i}?", site_id=f"s{i // 3}") | {"label": i % 3} for i in range(12)]
    said = "rows share their site_id, 4 in 12 rows: if those of one belong together, say --video-column site_id"
    assert f"rows.jsonl: {said}" in read(tmp_path, rows).notes
    others = {
        "it is said that there is none": read(tmp_path, rows, columns=InstanceColumns(video_column="")),
        "there is a group": read(tmp_path, [row | {"video": "v"} for row in rows]),
        "each has its own": read(tmp_path, [row | {"site_id": i} for i, row in enumerate(rows)]),
        "all have one": read(tmp_path, [row | {"site_id": 1} for row in rows]),
        "it is that of a person": read(tmp_path, [row | {"worker_id": row.pop("site_id")} for row in map(dict, rows)]),
        "it is no id": read(tmp_path, [row | {"solid": row.pop("site_id")} for row in map(dict, rows)]),
    }
    assert not {why for why, made in others.items() if any("rows share" in note for note in made.notes)}


@pytest.mark.parametrize("name", ["choices", "alternatives", "answers", "candidates"])
def test_options_that_cannot_be_read_are_no_texts_with_classes(tmp_path: Path, name: str) -> None:
    rows = [{"question": f"Why {i}?", name: "so|no|ah", "label": i % 3} for i in range(24)]
    with pytest.raises(InputError, match=f"{name} holds no options that can be read"):
        read(tmp_path, rows)
    assert read(tmp_path, rows, kind="classes").kind == "classes"


@pytest.mark.parametrize(
    ("names", "label"),
    [
        (("ans1", "ans2", "ans3"), "{1}"),
        (("ans0", "ans1", "ans2"), "{0}.0"),
        (("A)", "B)", "C)"), "{2}"),
        (("choice one", "choice two", "choice three"), "{0}"),
        (("response_a", "response_b", "response_c"), "({2})"),
    ],
)
def test_columns_that_stand_as_options_would_make_no_texts_with_classes(
    tmp_path: Path, names: tuple[str, ...], label: str
) -> None:
    rows = [
        {"question": f"Why {i}?", **{name: f"{name} {i}" for name in names}}
        | {"label": label.format(i % 3, 1 + i % 3, "ABC"[i % 3])}
        for i in range(24)
    ]
    path = write_table(tmp_path / "rows.csv", rows)
    with pytest.raises(InputError, match="holds letters or numbers as of 3 options") as told:
        read_instances([path])
    said = str(told.value)
    assert f'--endings-column "{",".join(names)}" --label-column "label"' in said
    named = InstanceColumns(endings_column=",".join(names), label_column="label")
    made = read_instances([path], ReadingOptions(columns=named))
    assert [one.options[one.answer] for one in made.instances] == [f"{names[i % 3]} {i}" for i in range(24)]
    assert read_instances([path], ReadingOptions(kind="classes")).kind == "classes"


def test_what_annotators_said_is_no_run_of_options(tmp_path: Path) -> None:
    said = [("a", "b", "a"), ("b", "b", "c"), ("c", "a", "c")]
    rows = [
        {"text": f"Fine {i}."} | {f"judge{k}": said[i % 3][k] for k in range(3)} | {"label": "abc"[i % 3]}
        for i in range(24)
    ]
    assert read(tmp_path, rows).classes == ("a", "b", "c")


def test_blanks_around_the_names_of_a_header_are_none_of_them(tmp_path: Path) -> None:
    """The columns B, C and D were not seen, and the questions taken for texts with classes."""
    path = tmp_path / "rows.csv"
    lines = [f'"Is it {i}, or not?", x{i}, y{i}, z{i}, w{i}, {"ABCD"[i % 4]}' for i in range(24)]
    path.write_text("\n".join(["question, A, B, C, D, answer", *lines]))
    made = read_instances([path])
    assert [one.options[one.answer].strip() for one in made.instances] == [f"{'xyzw'[i % 4]}{i}" for i in range(24)]
    path.write_text("question, A,A ,B,answer\nq,x,y,z,A\n")
    with pytest.raises(InputError, match=r"its header names 'A' more than once\. Rename one"):
        read_instances([path])


def test_numbers_beside_a_text_are_no_options_where_no_label_names_one(tmp_path: Path) -> None:
    rows = [{"text": f"Fine {i}.", "a": i, "b": i / 2, "label": ("pos", "neg")[i % 2]} for i in range(24)]
    assert read(tmp_path, rows).classes == ("neg", "pos")
    named = [row | {"label": i % 2} for i, row in enumerate(rows)]
    assert read(tmp_path, named, kind="classes").classes == ("0", "1")


@pytest.mark.parametrize("labels", [(-1, 0, 1), ("-1", "0", "1"), (-1.0, 0.0, 1.0), ("-1.0", "0.0", "1.0")])
def test_minus_one_may_be_a_class(tmp_path: Path, labels: tuple[Any, ...]) -> None:
    rows = [{"text": f"He says {i}.", "label": labels[i % 3]} for i in range(30)]
    made = read(tmp_path, rows)
    assert (len(made), made.classes) == (20, ("0", "1"))
    assert any("10 of these have -1: if that is a class, say --label-base text" in note for note in made.notes)
    made = read(tmp_path, rows, label_base="text")
    assert (len(made), made.classes) == (30, ("-1", "0", "1"))


def test_minus_one_of_a_table_with_empty_cells_is_no_label(tmp_path: Path) -> None:
    """It was a class of its own, and no option of a question."""
    rows = [{"question": f"q {i}", "a": f"x {i}", "b": f"y {i}", "label": ("0.0", "1.0", "-1.0", "")[i % 4]}
            for i in range(40)]  # fmt: skip
    assert read_instances([write_table(tmp_path / "rows.csv", rows)]).answers.tolist() == [0, 1] * 10


def test_one_question_about_letters_does_not_say_that_labels_are_texts(tmp_path: Path) -> None:
    rows = [
        {"question": f"Why {i}?", "choices": [f"a{i}", f"b{i}", "no", "so"], "label": "ABCD"[i % 4]} for i in range(40)
    ]
    rows[7] = {"question": "Which vitamin?", "choices": ["A", "C", "B", "D"], "label": "B"}
    assert read(tmp_path, rows).instances[7].answer == 1
    assert read(tmp_path, rows, label_base="letters").instances[7].answer == 1
    with pytest.raises(InputError, match="line 1 has 'A' under label"):
        read(tmp_path, rows, label_base="text")
    of_texts = [one | {"label": one["choices"][0]} for one in rows]
    of_texts[7]["label"] = "B"
    with pytest.raises(
        InputError, match=r"by letter, or as the text of one\. Say which with --label-base letters or text"
    ):
        read(tmp_path, of_texts)
    assert read(tmp_path, of_texts, label_base="text").instances[7].answer == 2


@pytest.mark.parametrize("pad", ["", " ", None])
def test_lists_that_are_padded_have_no_more_options(tmp_path: Path, pad: str | None) -> None:
    rows = [{"question": f"Why {i}?", "choices": [f"a{i}", f"b{i}", pad, pad], "label": i % 2} for i in range(20)]
    rows += [{"question": "Why not?", "choices": ["", "so"], "label": 1}]
    made = read(tmp_path, rows)
    assert {one.options for one in made.instances[:20]} == {(f"a{i}", f"b{i}") for i in range(20)}
    assert made.instances[20].options == ("", "so"), "a blank before others is one that the audit tells of"


def test_a_right_answer_without_text_is_refused(tmp_path: Path) -> None:
    rows = [
        {"question": f"Why {i}?", "correct_answer": f"a{i}" if i else "", "distractors": ["b", "c"]} for i in range(9)
    ]
    with pytest.raises(InputError, match="line 1 has no text under correct_answer, which is the right answer"):
        read(tmp_path, rows)


def test_originals_and_contrasts_are_paired_by_their_ids(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    first = [{"id": f"r{i}", "text": f"Film {i} is good.", "label": ("no", "yes")[i % 2]} for i in range(40)]
    second = [
        one | {"text": one["text"].replace("good", "bad"), "label": ("yes", "no")[i % 2]} for i, one in enumerate(first)
    ]
    paths = [
        write(tmp_path / f"dev_{name}.jsonl", rows)
        for name, rows in (("original", first), ("contrast", [second[i] for i in rng.permutation(40)]))
    ]
    made = read_instances(paths)
    film = {one.contrast_set: set[str]() for one in made.instances}
    for one in made.instances:
        film[one.contrast_set].add(" ".join(one.options[0].split()[:2]))
    assert len(film) == 40
    assert {len(names) for names in film.values()} == {1}
    write(paths[1], [one | {"id": f"other {i}"} for i, one in enumerate(second)])
    assert any("have other ids: pairs are rows of one number" in note for note in read_instances(paths).notes)


def test_contrast_sets_stay_whole_however_large(tmp_path: Path) -> None:
    rows = [
        {
            "question": f"Why {i}?",
            "choices": [f"so {i}", "no"],
            "label": i % 2,
            "contrast_set": f"s{i // 12}",
            "video": f"v{i}",
        }
        for i in range(60)
    ]
    made = read(tmp_path, rows)
    assert {one.contrast_set for one in made.instances} == {f"s{i}" for i in range(5)}
    assert group(made).n == 5


def test_all_files_say_where_labels_begin(tmp_path: Path) -> None:
    files = [write(tmp_path / "a.jsonl", labelled(1, 2)), write(tmp_path / "b.jsonl", labelled(3))]
    assert read_instances(files).answers.tolist() == [0, 1, 2]


def test_answers_that_are_numbers_may_be_texts(tmp_path: Path) -> None:
    rows = [{"question": f"{i} + 1", "choices": [str(i + 1), str(i)], "answer": str(i + 1)} for i in range(9)]
    made = read(tmp_path, rows)
    assert made.answers.tolist() == [0] * 9
    assert "label = answer (texts)" in made.notes[0]


def test_rows_without_a_label_are_left_out_and_counted(tmp_path: Path) -> None:
    made = read(tmp_path, labelled(0, -1, None, "", 2))
    assert made.answers.tolist() == [0, 2]
    assert "rows.jsonl: 3 of 5 rows have no label and were left out" in made.notes


def test_a_file_without_labels_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"rows.jsonl: none of its rows has a label under label.*--labels-file"):
        read(tmp_path, labelled(-1, -1))
    rows = [{name: value for name, value in row.items() if name != "label"} for row in labelled(0, 1)]
    with pytest.raises(InputError, match=r"no column says which of choices is right.*--labels-file"):
        read(tmp_path, rows)


def test_labels_may_stand_in_a_second_file(tmp_path: Path) -> None:
    (tmp_path / "labels.lst").write_text("2\n0\n")
    made = read(tmp_path, [row | {"label": -1} for row in labelled(0, 0)], labels_file=tmp_path / "labels.lst")
    assert made.answers.tolist() == [2, 0]
    assert set(made.files) == {"rows.jsonl", "labels.lst"}
    rows = [row | {"id": f"q{i}"} for i, row in enumerate(labelled(-1, -1))]
    others = write(tmp_path / "labels.jsonl", [{"id": id, "label": 1} for id in ("q0", "elsewhere")])
    with pytest.raises(InputError, match=r"labels\.jsonl: no label of 1 row of .*rows\.jsonl \(first: q1\)"):
        read(tmp_path, rows, labels_file=others)


# ------------------------------------------------------------------------------- classes

PAIR = {"premise": "A man sits.", "hypothesis": "He stands.", "label": "contradiction"}
OTHER = {"premise": "A man sits.", "hypothesis": "He rests.", "label": "entailment"}
CLASSES: dict[str, Rows] = {
    "pairs": [PAIR, OTHER],
    "SNLI as released": [
        {"sentence1": row["premise"], "sentence2": row["hypothesis"], "gold_label": row["label"]}
        | {"annotator_labels": ["neutral"], "pairID": "4#0r1n"}
        for row in (PAIR, OTHER)
    ],
    "marked pairs": [
        {"task": "mnli", "input": f"premise: {row['premise']} [SEP] hypothesis: {row['hypothesis']}"}
        | {"output": row["label"], "options": ["contradiction", "entailment", "neutral"]}
        for row in (PAIR, OTHER)
    ],
}


@pytest.mark.parametrize("rows", CLASSES.values(), ids=CLASSES.keys())
def test_layouts_of_pairs_are_read_without_a_flag(tmp_path: Path, rows: Rows) -> None:
    made = read(tmp_path, rows)
    assert (made.kind, made.classes) == ("classes", ("contradiction", "entailment"))
    assert shown(made) == [("A man sits.", "", ("He stands.",), 0), ("A man sits.", "", ("He rests.",), 1)]


def test_classes_are_numbers_in_order_or_names_and_no_majority_is_left_out(tmp_path: Path) -> None:
    made = read(tmp_path, [PAIR | {"label": label} for label in (10, 2, "-", -1, 2.0)])
    assert made.classes == ("2", "10")
    assert made.answers.tolist() == [1, 0, 0]
    assert "2 of 5 rows have no label" in made.notes[1]


def test_classes_that_are_one_number_have_one_order_whichever_row_comes_first(tmp_path: Path) -> None:
    """The numbers of the classes depended on it."""
    rows = [PAIR | {"label": label} for label in ("1", "01", "2.5", "2.50")]
    classes = [read(tmp_path, order).classes for order in (rows, rows[::-1])]
    assert classes == [("01", "1", "2.5", "2.50")] * 2


def test_names_of_classes_that_datasets_recorded_are_used(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    names = datasets.ClassLabel(names=["entailment", "neutral", "contradiction"])
    features = datasets.Features(
        {"premise": datasets.Value("string"), "hypothesis": datasets.Value("string"), "label": names}
    )
    rows = [PAIR | {"label": label} for label in (2, 0, -1)]
    saved = datasets.Dataset.from_list(rows, features=features)
    saved.save_to_disk(tmp_path / "saved")
    saved.to_parquet(tmp_path / "rows.parquet")
    for path in ("saved", "rows.parquet"):
        assert read_instances([tmp_path / path]).classes == ("contradiction", "entailment")


def test_names_of_classes_are_known_beside_a_feature_that_is_a_list(tmp_path: Path) -> None:
    """`datasets` before 4 writes a list of objects as a list; it hid the names of all classes."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    number = {"dtype": "int32", "_type": "Value"}
    features = {"spans": [{"start": number}], "label": {"names": ["neg", "pos"], "_type": "ClassLabel"}}
    rows = [{"text": f"Text {i}.", "spans": [{"start": i}], "label": i % 2} for i in range(30)]
    described = {"huggingface": json.dumps({"info": {"features": features}})}
    table = pyarrow.Table.from_pylist(rows).replace_schema_metadata(described)
    parquet.write_table(table, tmp_path / "rows.parquet")
    assert read_instances([tmp_path / "rows.parquet"]).classes == ("neg", "pos")


def test_nlvr2_is_grouped_by_its_sets_of_images(tmp_path: Path) -> None:
    rows = [
        {"sentence": "Two dogs.", "label": label, "identifier": f"dev-{i}-{j}-0", "synset": "dog"}
        for i, j, label in ((850, 0, "True"), (850, 2, "False"), (7, 0, "True"))
    ]
    made = read(tmp_path, rows)
    assert made.classes == ("False", "True")
    assert [(one.id, one.group) for one in made.instances] == [
        ("dev-850-0-0", "dev-850"),
        ("dev-850-2-0", "dev-850"),
        ("dev-7-0-0", "dev-7"),
    ]
    assert [one.options for one in made.instances] == [("Two dogs.",)] * 3


def test_options_that_never_differ_are_classes(tmp_path: Path) -> None:
    rows = [{"text": f"Text {i}.", "choices": ["no", "yes"], "label": i % 2} for i in range(12)]
    made = read(tmp_path, rows)
    assert (made.kind, made.classes) == ("classes", ("no", "yes"))
    assert made.answers.tolist() == [0, 1] * 6
    assert read(tmp_path, rows[:4]).kind == "choices"
    assert read(tmp_path, rows, columns=InstanceColumns(endings_column="")).classes == ("0", "1")


def test_a_column_of_options_that_cannot_be_read_makes_no_texts_with_classes(tmp_path: Path) -> None:
    """`a|b|c` was left out, and the questions were classified by the numbers of their answers: nothing was found."""
    rows = [{"id": i, "question": f"Who is it {i}?", "choices": f"a{i}|b{i}|c{i}", "answer": i % 3} for i in range(60)]
    write_jsonl(tmp_path / "data.jsonl", rows)
    with pytest.raises(InputError, match=r"choices holds no options that can be read.*--kind classes"):
        read_instances([tmp_path / "data.jsonl"])
    assert read_instances([tmp_path / "data.jsonl"], ReadingOptions(kind="classes")).kind == "classes"


def test_labels_that_are_no_classes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="150 classes"):
        read(tmp_path, [{"text": f"t {i}", "label": f"l {i}"} for i in range(150)])


# ------------------------------------------------------------------------------- columns that are named


def test_named_columns_come_before_guesses(tmp_path: Path) -> None:
    row = {"question": "Not this", "q": "Who?", "choices": ["a", "b"], "set": ["he", "she"], "label": 0, "key": "she"}
    columns = InstanceColumns(context_column="q", endings_column="set", label_column="key", id_column="q")
    made = read(tmp_path, [row], columns=columns)
    assert shown(made) == [("Who?", "", ("he", "she"), 1)]
    assert made.instances[0].id == "Who?"
    assert "question = q, options = set, label = key (texts)" in made.notes[0]


def test_a_text_may_be_named_and_a_kind(tmp_path: Path) -> None:
    row = {"premise": "A", "hypothesis": "B", "body": "C", "choices": ["x", "y"], "label": 0}
    rows = [row, row | {"label": 1}]
    made = read(tmp_path, rows, kind="classes", columns=InstanceColumns(text_column="body", endings_column=""))
    assert [(one.context, one.options) for one in made.instances] == [("", ("C",))] * 2
    assert read(tmp_path, rows, kind="choices").kind == "choices"


def test_an_empty_name_says_that_there_is_none(tmp_path: Path) -> None:
    rows = [row | {"video": "v", "id": "one"} for row in labelled(0, 1)]
    made = read(tmp_path, rows, columns=InstanceColumns(video_column="", id_column=""))
    assert [(one.id, one.group) for one in made.instances] == [("rows:1", ""), ("rows:2", "")]


def test_ids_that_repeat_are_replaced_unless_they_were_named(tmp_path: Path) -> None:
    rows = [row | {"id": "one"} for row in labelled(0, 1)]
    made = read(tmp_path, rows)
    assert [one.id for one in made.instances] == ["rows:1", "rows:2"]
    assert "the ids of the rows repeat, so file and line stand for them" in made.notes
    with pytest.raises(InputError, match="the id 'one' occurs twice"):
        read(tmp_path, rows, columns=InstanceColumns(id_column="id"))


# ------------------------------------------------------------------------------- several sources


def test_several_files_are_splits(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{name}.jsonl", labelled(0, 1)) for name in ("train", "test-00000-of-00001")]
    made = read_instances(files, name="set")
    assert {name: rows.tolist() for name, rows in made.splits().items()} == {"train": [0, 1], "test": [2, 3]}
    assert made.name == "set"
    assert made.files == {path.name: sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_split_of_a_row_comes_before_its_file(tmp_path: Path) -> None:
    rows = [row | {"split": split} for row, split in zip(labelled(0, 1), ("val", "test"), strict=True)]
    assert list(read(tmp_path, rows).splits()) == ["val", "test"]


def test_files_of_one_name_are_told_by_their_folders(tmp_path: Path) -> None:
    assert names_of([Path("/x/a/val.csv"), Path("/x/b/val.csv")]) == ["a/val.csv", "b/val.csv"]
    with pytest.raises(InputError, match="named twice"):
        names_of([Path("/x/val.csv"), Path("/x/val.csv")])


def test_a_dataset_named_twice_is_refused_by_another_name_too(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", labelled(0, 1))
    (link := tmp_path / "again.jsonl").symlink_to(path)
    with pytest.raises(InputError, match="named twice"):
        read_instances([path, link])


def test_every_split_of_a_saved_dictionary_is_read_but_those_without_labels(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    splits = {"train": labelled(0, 1), "validation": labelled(2), "test": labelled(-1, -1)}
    datasets.DatasetDict({name: datasets.Dataset.from_list(rows) for name, rows in splits.items()}).save_to_disk(
        tmp_path / "saved"
    )
    made = read_instances([tmp_path / "saved"])
    assert {name: rows.tolist() for name, rows in made.splits().items()} == {"train": [0, 1], "validation": [2]}
    assert "test: 2 of 2 rows have no label and were left out" in made.notes


def test_questions_and_classes_are_not_read_together(tmp_path: Path) -> None:
    files = [write(tmp_path / "a.jsonl", labelled(0, 1)), write(tmp_path / "b.jsonl", [PAIR, OTHER])]
    with pytest.raises(InputError, match=r"a.jsonl holds questions with options, .*b.jsonl texts with classes"):
        read_instances(files)


# ------------------------------------------------------------------------------- what is ours


def test_a_pool_is_read_with_all_its_candidates(pool_folder: Path) -> None:
    pool = CandidatePool.open(pool_folder)
    made = read_instances([pool_folder])
    assert not made.has_order
    assert made.n_answers.tolist() == pool.counts.tolist()
    assert [one.options[one.answer] for one in made.instances] == [pool.text(row, 0) for row in range(len(pool))]
    assert [one.id for one in made.instances] == [context.id for context in pool.contexts]
    named = [one.group for one in made.instances]
    assert len(set(zip(named, pool.groups.tolist(), strict=True))) == len(set(named))


def test_rows_of_a_pool_that_differ_in_their_image_alone_are_several(tmp_path: Path) -> None:
    contexts = [
        Context("What is on the table?", "", "a cup", id=f"q{i}", media={"image": f"{i}.jpg"} if i else {})
        for i in range(3)
    ]
    CandidatePool.from_texts(contexts, [["a dish", "a spoon"]] * 3).save(tmp_path / "pool")
    made = read_instances([tmp_path / "pool"])
    assert [one.media for one in made.instances] == ["", '{"image": "1.jpg"}', '{"image": "2.jpg"}']


def test_runs_and_released_folders_are_read(tmp_path: Path, pool_folder: Path) -> None:
    run = filter_pool(
        CandidatePool.open(pool_folder), HashFilter(), AFOptions(iterations=2, n_negatives=4), out=tmp_path / "run"
    )
    made = read_instances([tmp_path / "run"])
    assert [sorted(one.options) for one in made.instances] == [sorted(texts) for texts in run.texts()]
    assert "after iteration 2" in made.notes[0]

    main(["release", str(tmp_path / "run"), "--out", str(tmp_path / "dataset"), "--test-share", "0.2"])
    released = read_instances([tmp_path / "dataset"])
    assert list(released.splits()) == ["train", "val", "test"]
    assert {one.options[one.answer] for one in released.instances} == {context.gold for context in run.pool.contexts}
    assert {one.group for one in released.instances} == {context.video for context in run.pool.contexts}
    assert released.has_order
    assert set(released.files) == {"train.csv", "val.csv", "test.csv", "test_labels.csv"}


def grouped_pool(folder: Path, rows: list[tuple[str, str]], groups: list[int]) -> Path:
    """A pool of a row for each text and video, in these groups."""
    contexts = [Context(f"Men sit {text}.", "They", f"eat {text}.", video=video) for text, video in rows]
    negatives = [[f"drink {text}.", f"sleep {text}."] for text, _ in rows]
    CandidatePool.from_grouped_texts(contexts, negatives, np.array(groups)).save(folder)
    return folder


def test_groups_of_two_pools_are_one_where_they_share_a_video_or_a_row(tmp_path: Path) -> None:
    """Groups are numbers in a pool, and the same number was the same group; so was a row that has no video."""
    one = grouped_pool(tmp_path / "one", [("a", "v1"), ("b", "v2"), ("c", ""), ("d", "v4"), ("e", "")], [0, 1, 2, 3, 4])
    two = grouped_pool(tmp_path / "two", [("p", "v5"), ("q", "v2"), ("r", ""), ("s", "v1"), ("e", "")], [0, 1, 2, 1, 3])
    found = read_instances([one, two])
    assert [sorted(rows) for rows in groups_of(found)] == [["a", "b", "q", "s"], ["c"], ["d"], ["e", "e"], ["p"], ["r"]]
    assert {one.group for one in found.instances} >= {"v1", "v4", "v5"}
    shared = next(one for one in duplicate_diagnostics(found, group(found).numbers) if one.subject == "one, groups")
    assert shared.value == 3 / 5


def groups_of(instances: Instances) -> list[list[str]]:
    """The letters of the contexts of each named group."""
    rows: dict[str, list[str]] = {}
    for one in instances.instances:
        rows.setdefault(one.group, []).append(one.context[-2])
    return sorted(rows.values())


def test_what_is_not_read_is_told(tmp_path: Path) -> None:
    row = {"nr": 1, "clip": "v", "item stem": "why?", "choices": ["a b", "c d"], "label": 0, "meta": {"by": "x"}}
    write_jsonl(tmp_path / "rows.jsonl", [row] * 3)
    (note,) = read_instances([tmp_path / "rows.jsonl"]).notes
    assert "multiple choice: question = none, options = choices, label = label (numbers from 0)" in note
    assert note.endswith("; not read: nr, clip, item stem, meta, meta.by")
    named = ReadingOptions(columns=InstanceColumns(context_column="item stem", video_column="clip"))
    (note,) = read_instances([tmp_path / "rows.jsonl"], named).notes
    assert "question = item stem" in note
    assert note.endswith("; not read: nr, meta, meta.by")


# ------------------------------------------------------------------------------- bad input

BAD: dict[str, tuple[Rows, dict[str, Any], str]] = {
    "nothing of a dataset": ([{"a": 1, "b": 2}], {}, "no columns that look like questions .it has a, b"),
    "one option": (
        [*labelled(0), labelled(0, n=1)[0]],
        {},
        "line 2 has 1 option, where two or more are due",
    ),
    "an option as the label": (
        [{"question": "why?", "opt_A": "a b", "opt_B": "c d", "opt_C": "e f", "correct": "B"}] * 4,
        {"columns": InstanceColumns(label_column="opt_A")},
        "opt_A is one of the options .opt_A, opt_B, opt_C. and cannot say which is right",
    ),
    "labels out of range": (
        [*labelled(*[0] * 9), *labelled(7, 8, 9, 9)],
        {},
        r"4 rows cannot be used \(first: line 10 .*; line 11 .*; line 12 ",
    ),
    "a column that is not there": (
        labelled(0),
        {"columns": InstanceColumns(context_column="questoin")},
        "no column questoin .*Did you mean question for questoin",
    ),
    "another layout": (
        [{"sentence": "s", "identifier": "7", "label": "True"}],
        {"layout": "nlvr2"},
        "a row has '7' under identifier, .*not of the layout nlvr2",
    ),
    "an option that is no text": (
        [*labelled(0, 1), labelled(0)[0] | {"choices": ["x", 3]}],
        {},
        "line 3 has a number as number 1 of choices, where a text is due, in quotes",
    ),
    "options that are no texts": (
        [{"question": "1 + 1", "choices": [1, 2], "label": 1}],
        {},
        "the first row has a number as number 0 of choices, where a text is due, in quotes",
    ),
    "options that are numbers in columns": (
        [{"question": f"{i} + 1", "A": i, "B": float("nan"), "C": i + 1.0, "answer": "AC"[i % 2]} for i in range(24)],
        {},
        "the first row has a number as number 0 of A,B,C, where a text is due, in quotes. .*say --kind classes",
    ),
    "options that are numbers in columns, asked for": (
        [{"question": f"{i} + 1", "A": i, "B": i + 1, "answer": "AB"[i % 2]} for i in range(24)],
        {"kind": "choices"},
        "the first row has a number as number 0 of A,B, where a text is due, in quotes. Make texts of them[.]",
    ),
    "options that are numbers in numbered columns": (
        [{"question": f"{i} + 1", "option1": f"{i}", "option2": i + 1, "answer": 1 + i % 2} for i in range(24)],
        {},
        "a number as number 1 of option, where a text is due, in quotes",
    ),
    "options that are numbers in an object": (
        [{"question": f"{i} + 1", "options": {"A": "none", "B": i or "no"}, "answer": "AB"[i % 2]} for i in range(24)],
        {},
        "a row has a number as number 1 of options, where a text is due, in quotes",
    ),
    "options that are numbers but for the first row": (
        [{"question": f"{i} + 1", "options": [i, 1] if i else ["no", "yes"], "answer": i % 2} for i in range(24)],
        {},
        "a row has a number as number 0 of options, where a text is due, in quotes",
    ),
    "answers in free text": (
        [{"question": f"Who {i}?", "answer": f"He {i}."} for i in range(30)],
        {},
        "answer seems to hold right answers alone, and no wrong answers to choose from .*--negatives-column NAME",
    ),
    "a log of generations": (
        [{"doc_id": 0, "doc": {}, "target": "x", "arguments": [["prompt", {"until": []}]]}],
        {"layout": "lm-eval"},
        "no log of multiple choice",
    ),
}


@pytest.mark.parametrize(("rows", "settings", "said"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_read_is_one_line(tmp_path: Path, rows: Rows, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as told:
        read(tmp_path, rows, **settings)
    assert "\n" not in str(told.value)
    assert "rows" in str(told.value).partition(": ")[0]
    assert re.search(said, str(told.value))


def test_one_file_is_given_as_its_text_its_path_or_in_a_list(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text('{"question": "which?", "choices": ["this one", "that one"], "label": 1}\n')
    assert read_instances(str(path)) == read_instances(path) == read_instances([str(path)])


def test_no_file_is_an_error() -> None:
    with pytest.raises(InputError, match="no file given"):
        read_instances([])


# ------------------------------------------------------------------------------- real data

REAL = {
    "goldenswag": ("mcq/goldenswag.jsonl", "choices", 1_525),
    "nextqa": ("mcq/nextqa_val.csv", "choices", 4_996),
    "openbookqa": ("mcq/openbookqa.jsonl", "choices", 2_000),
    "piqa": ("mcq/piqa.jsonl", "choices", 2_000),
    "truthfulqa": ("mcq/truthfulqa_mc1.jsonl", "choices", 817),
    "hellaswag": ("hellaswag/hellaswag_val_rows_0-4999.jsonl", "choices", 5_000),
    "swag pairs": ("swag/swag_pairs.jsonl", "choices", 1_485),
    "swag": ("swag/swag_questions.jsonl", "choices", 760),
    "snli": ("snli/snli_pairs.jsonl", "classes", 73_601),
    "mnli": ("mnli/mnli_dev_matched.jsonl", "classes", 9_815),
    "nlvr2": ("nlvr2/dev.json", "classes", 6_982),
}


@pytest.mark.real
@pytest.mark.parametrize(("path", "kind", "n"), REAL.values(), ids=REAL.keys())
def test_real_datasets_are_read_without_a_flag(path: str, kind: str, n: int) -> None:
    made = read_instances([shared(path)])
    assert (made.kind, len(made)) == (kind, n)
    assert all(one.options and all(option.strip() for option in one.options) for one in made.instances)
    assert all(one.context.strip() for one in made.instances) == (path != "nlvr2/dev.json")


def test_labels_that_could_count_from_1_too_are_said(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    rows = [
        {"question": f"q{i}", "choices": [f"a{i}", f"b{i}", f"c{i}", f"d{i}"], "label": 1 + i % 3} for i in range(9)
    ]
    write(path, rows)
    assert any("--label-base 1" in note for note in read_instances([path]).notes)
    rows[0]["label"] = 0
    write(path, rows)
    assert not any("--label-base 1" in note for note in read_instances([path]).notes)


def test_options_in_another_order_in_each_row_are_options(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    orders = [["0", "1", "2", "3"], ["2", "0", "3", "1"], ["3", "2", "1", "0"]]
    rows = [{"question": f"how many {i}?", "options": orders[i % 3], "answer": orders[i % 3][0]} for i in range(12)]
    write(path, rows)
    assert read_instances([path], ReadingOptions(label_base="0")).kind == "choices"


def test_a_number_that_is_the_text_of_an_option_is_that_option(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    rows = [{"question": "q", "choices": ["red", "blue"], "answer": "blue"}] * 3
    rows.append({"question": "how many", "choices": ["170", "12"], "answer": "170"})
    write(path, rows)
    assert read_instances([path]).answers.tolist() == [1, 1, 1, 0]


def test_one_group_for_all_is_no_group() -> None:
    rows = [Instance(f"q{i}", f"context {i} of its own", ("a", "b"), 0, group="all") for i in range(5)]
    found = group(Instances(tuple(rows), "choices"))
    assert found.n == 5
    assert "the dataset names one for all, 'all', which parts nothing" in found.said


def test_lists_as_python_prints_them_are_lists(tmp_path: Path) -> None:
    """So a table has them that was made of lists; they were taken for texts with classes."""
    rows = [{"question": f"Which {i}?", "choices": str([f"one {i}", f"it's {i}"]), "label": i % 2} for i in range(30)]
    found = read_instances([write_table(tmp_path / "rows.csv", rows)])
    assert found.kind == "choices"
    assert found.instances[3].options == ("one 3", "it's 3")
    rows = [row | {"choices": "['side' 'by side']"} for row in rows]  # an array of numpy, whose texts have no commas
    with pytest.raises(InputError, match=r"has choices that are no JSON list .* Make a list of texts"):
        read_instances([write_table(tmp_path / "rows.csv", rows)])


def test_labels_of_a_table_with_empty_cells_are_numbers(tmp_path: Path) -> None:
    rows = [
        {"question": f"Which {i}?", "a": f"x {i}", "b": f"y {i}", "label": "1.0" if i % 3 else ""} for i in range(9)
    ]
    found = read_instances([write_table(tmp_path / "rows.csv", rows)])
    assert found.answers.tolist() == [1] * 6
    assert "label = label (numbers" in found.notes[0]
    said = [{"text": f"Text {i}.", "label": f"{i % 3}.0"} for i in range(30)]
    assert read_instances([write_table(tmp_path / "said.csv", said)]).classes == ("0", "1", "2")


def test_numbers_among_letters_count_from_1_and_it_is_said(tmp_path: Path) -> None:
    options = [f"option {i}" for i in range(4)]
    rows = [{"question": f"Which {i}?", "choices": options[i % 3 :] + options[: i % 3]} for i in range(10)]
    given = [row | {"answerKey": "123"[i % 3] if i % 5 == 0 else "ABCD"[i % 4]} for i, row in enumerate(rows)]
    found = read(tmp_path, given)
    assert found.answers.tolist() == [i % 3 if i % 5 == 0 else i % 4 for i in range(10)]
    assert "stand among letters and are taken to count from 1" in " ".join(found.notes)


def test_an_option_may_be_called_as_a_missing_label(tmp_path: Path) -> None:
    rows = [
        {"question": f"Solve {i}.", "choices": ["5", "-1", "7", "12"], "answer": ["-1", "7"][i % 2]} for i in range(4)
    ]
    rows = [row | {"choices": row["choices"][i:] + row["choices"][:i]} for i, row in enumerate(rows)]
    found = read(tmp_path, rows)
    assert [one.options[one.answer] for one in found.instances] == ["-1", "7", "-1", "7"]


def test_rows_without_an_id_take_no_id_from_others(tmp_path: Path) -> None:
    rows = [{"id": f"q{i}", "question": f"Which {i}?", "choices": ["x", f"y {i}"], "label": 0} for i in range(6)]
    rows = [row | ({"id": ""} if i in (2, 4) else {}) for i, row in enumerate(rows)]
    found = read(tmp_path, rows)
    assert [one.id for one in found.instances] == ["q0", "q1", "rows:3", "q3", "rows:5", "q5"]
    assert "repeat" not in " ".join(found.notes)


def test_a_class_that_is_called_as_a_missing_label_is_told(tmp_path: Path) -> None:
    rows = [{"text": f"Text {i}.", "label": "+-"[i % 2]} for i in range(30)]
    with pytest.raises(InputError, match=r"one class only, '[+]'; rows whose label is empty, - or -1 have none"):
        read(tmp_path, rows)


def test_labels_that_are_texts_are_read_as_the_flag_says(tmp_path: Path) -> None:
    rows = [{"question": f"How many {i}?", "choices": ["2", "3", "1", "4"], "label": "1"} for i in range(6)]
    with pytest.raises(InputError, match="--label-base text"):
        read(tmp_path, rows)
    assert read(tmp_path, rows, label_base="text").answers.tolist() == [2] * 6
    assert read(tmp_path, rows, label_base="1").answers.tolist() == [0] * 6


def test_contrast_sets_that_pandas_wrote_as_floats_are_sets(tmp_path: Path) -> None:
    """They were not read, and their figures were missing without a word."""
    rows = [
        {"question": f"Why {i}?", "choices": [f"so {i}", "no"], "label": i % 2, "contrast_set": float(i // 2)}
        for i in range(12)
    ]
    assert len({one.contrast_set for one in read(tmp_path, rows).instances}) == 6


@pytest.mark.parametrize("sources", [5, [5], ["a.jsonl", None], object()])
def test_what_is_no_path_is_told_as_such(sources: Any) -> None:
    with pytest.raises(InputError, match=r"^sources: .*, where a path is due, or a list of paths\.$"):
        read_instances(sources)


def test_classes_that_differ_in_letter_case_alone_are_told(tmp_path: Path) -> None:
    """Predictions in one letter case were wrong where the label had the other, and nothing said why."""
    labels = ["Neutral", *["neutral", "entailment"] * 10]
    rows = [{"premise": f"p {i}", "hypothesis": f"h {i}", "label": label} for i, label in enumerate(labels)]
    made = read_instances([write(tmp_path / "rows.jsonl", rows)])
    assert made.classes == ("Neutral", "entailment", "neutral")
    said = "Neutral (1 row), neutral (10 rows) differ in letter case alone and are 2 classes: if they are one, write "
    assert f"{said}them alike in the file" in made.notes


def test_a_rare_class_that_is_called_nearly_as_a_common_one_is_told(tmp_path: Path) -> None:
    """One misspelt label was a class of its own, and no note said so."""

    def notes(rare: str, common: str, n: int = 20) -> list[str]:
        labels = [rare, *[common] * n, *["Unclear"] * n]
        rows = [{"premise": f"p {i}", "hypothesis": f"h {i}", "label": label} for i, label in enumerate(labels)]
        return [one for one in read(tmp_path, rows).notes if "did you mean" in one]

    for rare in ("Suports", "Supportss", "Sapports", "Supprots", "suports"):
        assert notes(rare, "Supports") == [f"1 row has {rare}: did you mean Supports (20 rows)? Mend it in the file"]
    for rare, common in (("Refutes", "Supports"), ("supports", "Supports"), ("C", "B"), ("level 1", "level 2")):
        assert notes(rare, common) == []
    assert notes("Suports", "Supports", n=19) == []


def test_a_single_text_beside_another_asks_whether_they_are_a_pair(tmp_path: Path) -> None:
    """Whoever named the premise as the text, as the error for such a table said, audited it alone."""
    rows = [
        {"pid": f"n{i:05d}", "said": f"Some people stood by {i // 3} trees.", "claimed": f"There are {i} people."}
        | {"verdict": i % 2, "by": f"Ann {i}", "score": str(i / 7)}
        for i in range(12)
    ]
    with pytest.raises(InputError, match="of pairs, with --premise-column, --hypothesis-column and --label-column"):
        read(tmp_path, rows)
    asked = "if said and claimed are a pair, say --premise-column said --hypothesis-column claimed"
    for text, unread in (("said", "claimed"), ("claimed", "said")):
        named = InstanceColumns(text_column=text, label_column="verdict")
        assert f"rows.jsonl: {unread} is not read: {asked}" in read(tmp_path, rows, columns=named).notes
    pair = InstanceColumns(premise_column="said", hypothesis_column="claimed", label_column="verdict")
    alone = InstanceColumns(text_column="said", label_column="verdict", premise_column="")
    for others in (read(tmp_path, rows, columns=pair), read(tmp_path, rows, columns=alone)):
        assert not any("are a pair" in note for note in others.notes)
    assert "premise = said, hypothesis = claimed, label = verdict" in read(tmp_path, rows, columns=pair).notes[0]


def test_a_column_that_names_each_row_is_told_where_there_are_no_ids(tmp_path: Path) -> None:
    """Rows that were kept could be found again by file and line alone."""
    rows = [chosen(question=f"Who is {i}?", score=str(i / 7), pid=f"n{i:05d}") | {"label": i % 3} for i in range(12)]
    said = "pid is another in each row: if it names the row, say --id-column pid"
    assert f"rows.jsonl: {said}" in read(tmp_path, rows).notes
    others = {
        "it is said that there is none": read(tmp_path, rows, columns=InstanceColumns(id_column="")),
        "there are ids": read(tmp_path, [row | {"id": i} for i, row in enumerate(rows)]),
        "it repeats": read(tmp_path, [*rows[:-1], rows[-1] | {"pid": "n00000"}]),
        "they are few": read(tmp_path, rows[:5]),
    }
    for why, made in others.items():
        assert not any("names the row" in note for note in made.notes), why


def test_labels_in_a_file_beside_a_test_are_told_of_with_the_ways_to_read_them(tmp_path: Path) -> None:
    rows = [{name: value for name, value in row.items() if name != "label"} for row in labelled(0, 1)]
    (tmp_path / "rows_labels.csv").write_text(",label\n0,0\n1,1\n")
    with pytest.raises(InputError, match=r"Read rows.jsonl alone with --labels-file .*rows_labels.csv"):
        read(tmp_path, rows)
    assert read(tmp_path, rows, labels_file=tmp_path / "rows_labels.csv").answers.tolist() == [0, 1]


def test_of_a_release_the_folder_is_named_too(tmp_path: Path) -> None:
    release(ReleaseOptions(make_run(tmp_path).path, tmp_path / "dataset"))
    test = tmp_path / "dataset" / "test.csv"
    with pytest.raises(InputError, match=r"test_labels.csv beside it has labels. Name the folder, .*dataset, .*alone"):
        read_instances(test)
    assert len(read_instances(tmp_path / "dataset").instances) > len(
        read_instances(test, ReadingOptions(labels_file=test.with_name("test_labels.csv"))).instances
    )


def test_files_whose_labels_count_from_different_numbers_are_told_so_not_called_damaged(tmp_path: Path) -> None:
    """To take out the rows that do not fit would have left all others off by one."""

    def numbered(first: int) -> Rows:
        return [{"question": f"q{first}{i}", "choices": ["a", "b", "c"], "label": i % 3 + first} for i in range(9)]

    paths = write(tmp_path / "train.jsonl", numbered(0)), write(tmp_path / "test.jsonl", numbered(1))
    for order in (paths, paths[::-1]):
        with pytest.raises(InputError) as raised:
            read_instances(order)
        said = str(raised.value)
        assert "test.jsonl: its labels under label seem to count from 1, and those of" in said
        assert "train.jsonl from 0" in said
        assert "take them out" not in said
    assert len(read_instances([paths[1]])) == 9


def test_labels_on_a_scale_are_in_the_order_of_their_size_and_said_to_be_classes(tmp_path: Path) -> None:
    rows = [{"text": f"t{i}", "label": (1.5, 0, 0.5, 1)[i % 4]} for i in range(20)]
    made = read(tmp_path, rows)
    assert made.classes == ("0", "0.5", "1", "1.5")
    assert "0.5, 1.5: labels that are no whole numbers are classes as others: is that meant?" in made.notes
    whole = read(tmp_path, [{"text": f"t{i}", "label": (10, 9)[i % 2]} for i in range(20)])
    assert whole.classes == ("9", "10")
    assert not any("whole numbers" in note for note in whole.notes)


def test_of_one_option_the_noun_is_singular(tmp_path: Path) -> None:
    rows = [{"question": f"q{i}", "choices": ["a", "b", "c"], "label": 2} for i in range(5)]
    notes = read(tmp_path, [*rows, {"question": "q", "choices": ["a", None, "c"], "label": 2}]).notes
    assert any("1 option without a text was left out of its row" in note for note in notes)
    with pytest.raises(InputError, match="has 1 option, where two or more are due"):
        read(tmp_path, [*rows, {"question": "q", "choices": ["a"], "label": 0}])
    with pytest.raises(InputError, match="has label 3, and 1 text under choices, which counts from 0"):
        read(tmp_path, [*rows, {"question": "q", "choices": ["a"], "label": 3}], label_base="0")
