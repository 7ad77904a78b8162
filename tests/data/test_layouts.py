"""Layouts of published sets: several instances a row, contrast sets and their checks, tables without a header."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import write
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared
from test_reading import CHOICES, Rows, labelled, read, shown, write_table

from swag_af.auditing.integrity.damaged import damage_diagnostics
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.options import InstanceColumns, ReadingOptions
from swag_af.data.instances.reading import read_instances
from swag_af.data.tables.headerless import columns_without_header

# ------------------------------------------------------------------------------- VCR

VCR: dict[str, Any] = {
    "movie": "0001_A_FILM",
    "objects": ["person", "person", "chair"],
    "img_fn": "a/b@0.jpg",
    "annot_id": "val-7",
    "question": ["Why", "is", [1], "on", [2], "?"],
    "answer_choices": [[[1], "rests", "."], ["It", "isn", "'", "t", "."], [[0, 1], "eat", "."], ["He", "waits", "."]],
    "answer_label": 2,
    "rationale_choices": [["It", "is", "noon", "."], [[0], "cooks", "."], ["No", "."], ["Yes", "."]],
    "rationale_label": 1,
}


def about(instances: Instances) -> list[tuple[str, ...]]:
    return [(one.id, one.question, one.stage, one.group, one.media) for one in instances.instances]


def test_a_row_of_vcr_is_two_questions(tmp_path: Path) -> None:
    made = read(tmp_path, [VCR])
    question, right = "Why is [person2] on [chair1]?", "[person1] and [person2] eat."
    assert shown(made) == [
        (question, "", ("[person2] rests.", "It isn't.", right, "He waits."), 2),
        (f"{question} {right}", "", ("It is noon.", "[person1] cooks.", "No.", "Yes."), 1),
    ]
    assert about(made) == [
        ("val-7", "val-7", "Q->A", "0001_A_FILM", "a/b@0.jpg"),
        ("val-7:rationale", "val-7", "QA->R", "0001_A_FILM", "a/b@0.jpg"),
    ]
    assert made.notes[0].startswith("rows.jsonl: 2 instances of 1 row read as multiple choice")
    assert made.notes[0].endswith(
        ": question = question, options = answer_choices and rationale_choices, label = answer_label and "
        "rationale_label (numbers from 0), group = movie, media = img_fn, id = annot_id, "
        "question of all stages = annot_id (layout vcr)"
    )


def test_vcr_without_rationales_or_labels(tmp_path: Path) -> None:
    alone = {name: value for name, value in VCR.items() if not name.startswith("rationale")}
    test = {name: value for name, value in VCR.items() if not name.endswith("label")} | {"annot_id": "test-1"}
    made = read(tmp_path, [alone, test])
    assert [one.id for one in made.instances] == ["val-7"]
    assert "rows.jsonl: 2 of 3 rows have no label and were left out" in made.notes


def test_persons_of_vcr_have_the_same_name_in_all_texts(tmp_path: Path) -> None:
    one, other = read(tmp_path, [VCR], persons="names").instances
    assert one.context == "Why is Blake on [chair1]?"
    assert other.options[1] == "Alex cooks."


def test_vcr_names_a_question_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2 has the annot_id 'val-7' of line 1"):
        read(tmp_path, [VCR, VCR])


def test_rows_of_vcr_have_their_objects_and_those_of_a_matching_its_folds(tmp_path: Path) -> None:
    both = read(tmp_path, [VCR | {"match_fold": "val-0"}, VCR | {"annot_id": "val-8", "match_fold": 3}]).instances
    assert {one.objects for one in both} == {("person", "person", "chair")}
    assert [one.group for one in both] == ["0001_A_FILM", "0001_A_FILM", "fold 3", "fold 3"]
    assert {one.video for one in both} == {"0001_A_FILM"}


@pytest.mark.parametrize("name", ["video", "video-id", "movie"])
def test_what_a_matching_was_released_as_names_its_videos_beside_its_folds(tmp_path: Path, name: str) -> None:
    row = {
        name: "v7",
        "match_fold": 2,
        "question": "Why is he there?",
        "choices": ["He waits.", "He eats."],
        "label": 1,
    }
    made = read(tmp_path, [row])
    assert [(one.group, one.video) for one in made.instances] == [("2", "v7")]
    assert f", video = {name}" in " ".join(made.notes)


def test_labels_of_vcr_are_told_by_their_columns(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, [VCR | {"answer_label": 7, "rationale_label": "C"}])
    assert "has 7 under answer_label, where one of 4 options is due, from 0; has 'C' under rationale_label" in str(
        caught.value
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [(["person", "chair"], ("person", "chair")), ([], ()), (None, ()), ("person", ()), ([{"x": 1}], ()), ([1, 2], ())],
)
def test_names_of_objects_are_read_beside_plain_texts(tmp_path: Path, given: object, expected: tuple[str, ...]) -> None:
    """They were read beside lists of words alone, so what we write had none when it was read again."""
    row = {"objects": given, "question": "Why is [person1] there?", "choices": ["He waits.", "He eats."], "label": 1}
    assert read(tmp_path, [row]).instances[0].objects == expected


def test_any_table_with_tags_is_read(tmp_path: Path) -> None:
    row = {"objects": VCR["objects"], "question": VCR["question"], "choices": VCR["answer_choices"], "label": 3}
    made = read(tmp_path, [row])
    assert shown(made)[0][0] == "Why is [person2] on [chair1]?"
    assert shown(made)[0][2:] == (("[person2] rests.", "It isn't.", "[person1] and [person2] eat.", "He waits."), 3)
    assert made.instances[0].objects == ("person", "person", "chair")
    with pytest.raises(InputError, match="line 2 has object 9 under question, and 3 objects, from 0"):
        read(tmp_path, [row, row | {"question": ["Is", [9], "?"]}])


PAIR: dict[str, Any] = {
    **{name: VCR[name] for name in ("movie", "objects", "img_fn", "annot_id", "answer_choices")},
    "original_question": ["What", "does", [0], "do", "?"],
    "counter_question": ["What", "does", [1], "do", "?"],
    "original_answer_label": 0,
    "counter_answer_label": 3,
}


def test_a_row_of_vcr_cs_is_a_contrast_set(tmp_path: Path) -> None:
    made = read(tmp_path, [PAIR])
    assert [(one.context, one.answer) for one in made.instances] == [
        ("What does [person1] do?", 0),
        ("What does [person2] do?", 3),
    ]
    assert {one.options for one in made.instances} == {shown(read(tmp_path, [VCR]))[0][2]}
    assert [(one.id, one.contrast_set, one.variant, one.group, one.media) for one in made.instances] == [
        ("val-7:original", "val-7", "original", "0001_A_FILM", "a/b@0.jpg"),
        ("val-7:contrast", "val-7", "contrast", "0001_A_FILM", "a/b@0.jpg"),
    ]


def test_a_question_that_was_rewritten_twice_is_two_contrast_sets(tmp_path: Path) -> None:
    made = read(tmp_path, [PAIR, PAIR | {"counter_answer_label": 2}])
    assert [one.contrast_set for one in made.instances] == ["val-7", "val-7", "val-7:2", "val-7:2"]
    assert made.instances[3].id == "val-7:2:contrast"
    assert "rows.jsonl: 1 rows have the annot_id of an earlier one, and a number behind it" in made.notes


def test_all_faults_of_a_contrast_set_are_told_together(tmp_path: Path) -> None:
    bad = PAIR | {"counter_question": None, "img_fn": "", "original_answer_label": 4, "counter_answer_label": "x" * 99}
    bad |= {"original_question": ["Is", [3], "?"]}
    with pytest.raises(InputError) as caught:
        read(tmp_path, [bad, PAIR | {"counter_answer_label": 0}])
    said = str(caught.value)
    for fault in (
        "2 rows cannot be used",
        "line 1 has object 3 under original_question, and 3 objects, from 0",
        "has no text under counter_question",
        "has 4 under original_answer_label, where one of 4 options is due, from 0",
        "has no img_fn",
        "line 2 has the same right answer to both questions",
    ):
        assert fault in said
    assert "x" * 60 not in said
    assert "\n" not in said


# ------------------------------------------------------------------------------- contrast sets

SENTENCE = {"sentence": "Two dogs.", "label": "True"}


def image_rows(*identifiers: str, **more: Any) -> Rows:
    return [SENTENCE | {"identifier": one, "label": str(i % 2 == 0)} | more for i, one in enumerate(identifiers)]


def sets_of(instances: Instances) -> list[tuple[str, str, str]]:
    return [(one.id, one.contrast_set, one.variant) for one in instances.instances]


def test_a_sentence_of_nlvr2_with_its_pairs_is_a_contrast_set(tmp_path: Path) -> None:
    made = read(tmp_path, image_rows("dev-850-0-1", "dev-850-3-1", "dev-850-0-0", "dev-7-0-0"))
    assert [one.contrast_set for one in made.instances] == ["dev-850-1", "dev-850-1", "dev-850-0", "dev-7-0"]
    assert [one.media for one in made.instances] == ["dev-850-0", "dev-850-3", "dev-850-0", "dev-7-0"]
    assert "contrast sets: 3, of 1 to 2 instances" in made.notes
    assert "contrast sets: 2 have one instance only" in made.notes


def test_images_of_nlvr2_are_named_by_their_urls(tmp_path: Path) -> None:
    made = read(tmp_path, image_rows("dev-850-0-1", "dev-850-3-1", left_url="l", right_url="r"))
    assert {one.media for one in made.instances} == {"l r"}


def test_edits_of_nlvr2_stand_alone_or_with_their_originals(tmp_path: Path) -> None:
    edits = image_rows("test1-769-1-0-1", "test1-769-1-0-2", "test1-2-0-0-1")
    made = read(tmp_path, edits)
    assert sets_of(made) == [
        ("test1-769-1-0-1", "test1-769-1-0", "contrast"),
        ("test1-769-1-0-2", "test1-769-1-0", "contrast"),
        ("test1-2-0-0-1", "test1-2-0-0", "contrast"),
    ]
    assert [one.group for one in made.instances] == ["test1-769", "test1-769", "test1-2"]

    originals = write(tmp_path / "test1.jsonl", image_rows("test1-769-0-0", "test1-769-1-0"))
    both = read_instances([originals, tmp_path / "rows.jsonl"])
    assert sets_of(both)[:2] == [("test1-769-0-0", "", ""), ("test1-769-1-0", "test1-769-1-0", "original")]
    assert sets_of(both)[2:] == sets_of(made)
    assert any("1 originals were found by the ids that their edits name; the other 1" in note for note in both.notes)


BOOLQ = {
    "data": [
        {"annotator": "somebody"},
        {"title": "T", "paragraph": "Cats purr. Dogs do not.", "question": "do cats purr", "answer": "TRUE"}
        | {"perturbed_questions": [{"perturbed_q": f"do {who} purr", "answer": "false"} for who in ("dogs", "birds")]},
        {"title": "T", "paragraph": "It rains.", "question": "does it rain", "answer": "TRUE"}
        | {"perturbed_questions": []},
    ]
}


@pytest.mark.parametrize("indent", [None, 1])
def test_boolq_has_its_edits_in_one_row(tmp_path: Path, indent: int | None) -> None:
    (tmp_path / "boolq.json").write_text(json.dumps(BOOLQ, indent=indent))
    made = read_instances([tmp_path / "boolq.json"])
    assert made.classes == ("FALSE", "TRUE")
    passage = "Cats purr. Dogs do not."
    assert shown(made)[:2] == [(passage, "", ("do cats purr",), 1), (passage, "", ("do dogs purr",), 0)]
    assert sets_of(made) == [
        ("boolq:1:0", "boolq:1", "original"),
        ("boolq:1:1", "boolq:1", "contrast"),
        ("boolq:1:2", "boolq:1", "contrast"),
        ("boolq:2:0", "boolq:2", "original"),
    ]
    assert [one.group for one in made.instances] == ["boolq:1"] * 3 + ["boolq:2"]
    assert "boolq.json: the first element of `data` is about the file, and no row" in made.notes


def imdb(folder: Path, n_contrast: int = 3) -> list[Path]:
    both = {"original": ["Positive", "Negative", "Positive"], "contrast": ["Negative", "Positive", "Positive"]}
    return [
        write_table(
            folder / f"dev_{variant}.tsv",
            [{"Sentiment": label, "Text": f"{variant} {i}\nand on"} for i, label in enumerate(labels)][:n],
        )
        for (variant, labels), n in zip(both.items(), (3, n_contrast), strict=True)
    ]


def test_files_of_originals_and_contrasts_are_joined_by_row(tmp_path: Path) -> None:
    made = read_instances(imdb(tmp_path))
    assert [(one.contrast_set, one.variant, one.split, one.group) for one in made.instances] == [
        (f"dev:{i}", variant, "dev", f"dev:{i}") for variant in ("original", "contrast") for i in (1, 2, 3)
    ]
    assert "contrast sets: in 1 with two instances or more, the right answer never differs" in made.notes


def test_files_of_other_lengths_are_not_joined(tmp_path: Path) -> None:
    made = read_instances(imdb(tmp_path, 2))
    assert {one.contrast_set for one in made.instances} == {""}
    assert "dev: original and contrast have 3 and 2 labelled rows: no pairs of them" in made.notes


def test_any_table_may_name_contrast_sets(tmp_path: Path) -> None:
    words = ["Original", "contrast", "counter", ""]
    rows = [row | {"contrast_set": f"s{i // 3}", "variant": words[i]} for i, row in enumerate(labelled(0, 1, 2, 0))]
    made = read(tmp_path, rows)
    assert [(one.contrast_set, one.variant, one.group) for one in made.instances] == [
        ("s0", "original", "s0"),
        ("s0", "contrast", "s0"),
        ("s0", "contrast", "s0"),
        ("s1", "", "s1"),
    ]
    renamed = [{"pair_id": row["contrast_set"], "video": "v", **labelled(0)[0]} for row in rows]
    made = read(tmp_path, renamed, columns=InstanceColumns(contrast_set_column="pair_id", id_column=""))
    assert [(one.contrast_set, one.group) for one in made.instances] == [("s0", "v")] * 3 + [("s1", "v")]
    assert "contrast set = pair_id" in made.notes[0]
    assert {one.contrast_set for one in read(tmp_path, renamed).instances} == {""}


def test_an_unknown_variant_is_one_line(tmp_path: Path) -> None:
    rows = [row | {"set": "s", "kind": word} for row, word in zip(labelled(0, 1), ("original", "other"), strict=True)]
    columns = InstanceColumns(contrast_set_column="set", variant_column="kind")
    with pytest.raises(InputError, match="line 2 has the variant 'other', where original or contrast is due"):
        read(tmp_path, rows, columns=columns)


GIVEN = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=20)


@given(GIVEN.filter(lambda given: len(given) < 10 or len({label for _, label in given}) > 1))  # else one class only
def test_notes_on_contrast_sets_equal_a_slow_count(tmp_path_factory: Any, given: list[tuple[int, int]]) -> None:
    rows = [
        row | {"contrast_set": f"s{which}"}
        for row, (which, _) in zip(labelled(*[y for _, y in given]), given, strict=True)
    ]
    folder = tmp_path_factory.mktemp("sets")
    made = read(folder, rows, label_base="0")
    members = [[label for which, label in given if which == one] for one in {which for which, _ in given}]
    alone = sum(len(labels) == 1 for labels in members)
    same = sum(len(labels) > 1 and min(labels) == max(labels) for labels in members)
    notes = " ".join(made.notes)
    least, most = min(map(len, members)), max(map(len, members))
    sizes = f"{least} to {most}" if least < most else f"{most}"
    assert f"contrast sets: {len(members)}, of {sizes} instance{'s' if most > 1 else ''}" in notes
    assert (f"{alone} {'has' if alone == 1 else 'have'} one instance only" in notes) == (alone > 0)
    assert (f"in {same} with two instances or more, the right answer never differs" in notes) == (same > 0)


# ------------------------------------------------------------------------------- sources of gold, passages

SOURCES = [("gold", "found"), ("gen", "generated"), ("gold0-orig", "found"), ("gen-orig", "generated"), ("", "")]


def test_sources_of_gold_are_read(tmp_path: Path) -> None:
    rows = [row | {"gold-source": word} for row, (word, _) in zip(labelled(0, 1, 2, 0, 1), SOURCES, strict=True)]
    made = read(tmp_path, rows)
    assert [one.gold_source for one in made.instances] == [source for _, source in SOURCES]
    rows[0]["gold-source"] = "elsewhere"
    assert any(note.startswith("rows.jsonl: 1 row does not say whether") for note in read(tmp_path, rows).notes)


RACE = {"id": "high1.txt", "article": "He sits.", "questions": ["Who?", "What?"], "answers": ["B", "A"]} | {
    "options": [["she", "he"], ["sits", "runs", "eats"]]
}


@pytest.mark.parametrize("indent", [None, 1])
def test_a_passage_of_race_has_several_questions(tmp_path: Path, indent: int | None) -> None:
    (tmp_path / "1.txt").write_text(json.dumps(RACE, indent=indent) + "\n")
    made = read_instances([tmp_path / "1.txt"])
    assert shown(made) == [
        ("He sits. Who?", "", ("she", "he"), 1),
        ("He sits. What?", "", ("sits", "runs", "eats"), 0),
    ]
    assert [(one.id, one.group) for one in made.instances] == [("high1.txt:0", "He sits."), ("high1.txt:1", "He sits.")]
    with pytest.raises(InputError, match="line 2 has 2 questions, 2 options and 1 answers"):
        read(tmp_path, [RACE, RACE | {"answers": ["A"]}])


# ------------------------------------------------------------------------------- what is told of layouts

STARTED = {"startphrase": "A man sits. He", "ending0": "stands.", "ending1": "is blue.", "label": 0}
READ_FROM = {
    "vcr-cs": (PAIR, {"question": "original_question and counter_question", "options": "answer_choices"}),
    "vcr": (VCR | {"match_fold": 3}, {"group": "match_fold", "id": "annot_id"}),
    "nlvr2": (image_rows("dev-8-0-1")[0], {"text": "sentence", "group": "identifier", "media": "identifier"}),
    "race": (RACE, {"question": "questions", "label": "answers (letters)", "passage": "article", "id": "id"}),
    "swag": (STARTED, {"question": "startphrase", "start": "startphrase"}),
    "lm-eval": (CHOICES["lm-eval"], {"question": "arguments", "label": "target (numbers from 0)"}),
    "lm-eval of letters": (CHOICES["lm-eval with letters as options"], {"options": "doc", "id": "doc_id"}),
    "marked-pairs": ({"input": "premise: A. hypothesis: B.", "output": "yes"}, {"premise": "input"}),
}


@pytest.mark.parametrize(("row", "columns"), READ_FROM.values(), ids=READ_FROM.keys())
def test_what_was_read_is_told_by_the_columns_of_the_file(
    tmp_path: Path, row: dict[str, Any], columns: dict[str, str]
) -> None:
    """Layouts make columns of their own, `options` of VCR's answer_choices: whoever looked for them found none."""
    other = {"output": "no"} if "output" in row else {"label": "False"} if "sentence" in row else {}
    rows = [row, row | other] if other else [row]
    note = read(tmp_path, rows).notes[0].partition(": ")[2].partition(": ")[2].removesuffix(")").rpartition(" (")[0]
    told = dict(part.split(" = ") for part in note.split(", "))
    assert columns.items() <= told.items()
    named = {name for one in told.values() for name in one.partition(" (")[0].split(" and ")}
    assert {name.partition(".")[0] for name in named - {"none", "the passage"} if "..." not in name} <= {*row}


# ------------------------------------------------------------------------------- tables without a header


def test_mmlu_is_read_without_a_header(tmp_path: Path) -> None:
    path = tmp_path / "anatomy_test.csv"
    path.write_text('"Which bone, then?",jaw,hip,hip,rib,C\nWhat is it?,1,2,3,4,A\n')
    made = read_instances([path])
    assert shown(made) == [
        ("Which bone, then?", "", ("jaw", "hip", "hip", "rib"), 2),
        ("What is it?", "", ("1", "2", "3", "4"), 0),
    ]
    assert [one.id for one in made.instances] == ["anatomy_test:1", "anatomy_test:2"]
    assert any("no header line in it: its columns are taken for question, A, B, C, D, answer" in n for n in made.notes)


def test_cola_is_read_without_a_header_and_its_quotes_are_letters(tmp_path: Path) -> None:
    path = tmp_path / "in_domain_train.tsv"
    path.write_text('gj04\t1\t\t"Go" he said.\ngj04\t0\t*\tThem "ran.\n')
    made = read_instances([path])
    assert shown(made) == [("", "", ('"Go" he said.',), 1), ("", "", ('Them "ran.',), 0)]
    assert made.classes == ("0", "1")


HEADERS = {
    "letters as names": ["the question,A,B,C,D", "Which one?,1,2,3,4"],
    "a row with another end": ["Which one?,1,2,A", "Which two?,1,2,x"],
    "a question of one word": ["question,a,b,B", "Which one?,1,2,A"],
    "a row of another length": ["Which one?,1,2,A", "Which two?,1,A"],
}


def test_one_question_or_sentence_of_one_word_hides_no_layout() -> None:
    questions = [["Osmosis?" if i == 3 else f"What is {i}?", "a", "b", "B"] for i in range(8)]
    assert columns_without_header(questions) == ("question", "A", "B", "answer")
    assert columns_without_header(questions[3:]) == ("question", "A", "B", "answer")
    sentences = [["gj04", "1", "", "Sing!" if i == 3 else f"He sings {i}."] for i in range(8)]
    assert columns_without_header(sentences) == ("source", "label", "star", "sentence")


@pytest.mark.parametrize("lines", HEADERS.values(), ids=HEADERS.keys())
def test_a_table_that_may_have_a_header_has_one(lines: list[str]) -> None:
    assert columns_without_header(line.split(",") for line in lines) == ()


# ------------------------------------------------------------------------------- oddities that are told


def test_options_without_a_text_are_counted(tmp_path: Path) -> None:
    rows = [{"question": f"Who {i}?", "choices": ["he", None, "she"], "label": 2 * (i % 2)} for i in range(3)]
    assert "rows.jsonl: 3 options without a text were left out of their rows" in read(tmp_path, rows).notes


def test_blank_options_that_stay_are_counted_beside_those_that_were_left_out(tmp_path: Path) -> None:
    """Of a file with 4 at the ends of rows and 16 within only the 4 were told."""
    choices = (["he", "", "she"], ["she", "he", ""], ["he", "she", " "])
    rows = [{"question": f"Who {i}?", "choices": choices[i], "label": (0, 1, 2)[i]} for i in range(3)]
    found = read(tmp_path, rows)
    assert [len(one.options) for one in found.instances] == [3, 2, 3]
    assert "rows.jsonl: 1 option without a text was left out of its row" in found.notes
    assert any(note.startswith("rows.jsonl: 2 blank options stay, since others stand behind") for note in found.notes)


def test_wrong_options_that_say_only_a_dash_or_na_stay_and_are_counted(tmp_path: Path) -> None:
    """As options of their own they told the right one, and nothing was said of them."""
    choices = (["he", "-", "NA"], ["she", "he", " - "], ["-", "he", "no"], ["Na", "he", "na na"])
    rows = [{"question": f"Who {i}?", "choices": choices[i], "label": 0} for i in range(4)]
    found = read(tmp_path, rows)
    assert [len(one.options) for one in found.instances] == [3, 3, 3, 3]
    told = (
        'rows.jsonl: 3 options that are wrong say only "-", "NA" or such, and stay: if they stand for no option, empty'
    )
    assert any(note.startswith(told) for note in found.notes)
    rows = [{**row, "choices": choices[3]} for row in rows]
    assert not any("say only" in note for note in read(tmp_path, rows).notes)


SAYS_NOTHING = ("-", "NA", "n/a", "N/A", "#N/A", "<NA>", "null", "NULL", "NaN", "undefined", "TBD", "[deleted]", " - ")
SAYS_SOMETHING = ("na", "Na", "none", "None of these", "?", "unknown", "no", "n", "-5", "null and void")


@pytest.mark.parametrize("text", [*SAYS_NOTHING, f"{'nan':>20}", *SAYS_SOMETHING])
def test_what_reading_notes_as_no_answer_is_what_the_audit_notes(tmp_path: Path, text: str) -> None:
    """Each had a list of its own: `-` and `n/a` were noted by reading alone, `TBD` and `<NA>` by the audit alone."""
    rows = [{"question": f"Who is {i}?", "choices": ["he", text, f"she {i}"], "label": 2 * (i % 2)} for i in range(4)]
    found = read(tmp_path, rows)
    (audited,) = (one for one in damage_diagnostics(found, np.arange(4)) if one.subject == "placeholders")
    is_noted = any("4 options that are wrong say only" in note for note in found.notes)
    assert is_noted == (audited.status != "clear") == (text not in SAYS_SOMETHING)


def test_labels_that_say_that_there_is_none_name_no_column(tmp_path: Path) -> None:
    """`-` was one, and the columns of options were left out."""
    rows = [{"text": f"It rains on day {i}.", "red": f"r {i}", "blue": f"b {i}", "label": "red"} for i in range(8)]
    for i, word in enumerate(("None", "?", "unknown", "na", "n/a", "-")):
        rows[i]["label"] = word
    rows[6]["label"] = "blue"
    with pytest.raises(InputError, match="label holds names of columns as of 2 options"):
        read(tmp_path, rows)


def test_a_list_of_one_answer_is_that_answer_and_of_several_is_refused(tmp_path: Path) -> None:
    assert read(tmp_path, labelled([0], [2], "[1]", ["B"], ["z"])).answers.tolist() == [0, 2, 1, 1, 2]
    for several in ([0, 2], "[0, 2]", ["A", "C"]):
        with pytest.raises(InputError, match=r"line 2 has the list .* where one answer is due.*several right answers"):
            read(tmp_path, labelled(0, several))


FREE: dict[str, dict[str, Any]] = {
    "TriviaQA": {"question": "Who?", "answer": {"value": "Bo", "aliases": ["Bo", "B. O."], "type": "Person"}},
    "lists of answers": {"question": "Who?", "answer": ["Bo", "B. O."]},
    "texts": {"question": "Who?", "answer": "Bo"},
}


@pytest.mark.parametrize("row", FREE.values(), ids=FREE.keys())
def test_right_answers_alone_are_no_choice(tmp_path: Path, row: dict[str, Any]) -> None:
    rows = [json.loads(json.dumps(row).replace("Bo", f"Bo {i}")) for i in range(12)]
    with pytest.raises(
        InputError, match=r"right answers alone, and no wrong answers to choose .*--negatives-column NAME"
    ):
        read(tmp_path, rows)


LONG = "9" * 5_000
CELLS: dict[str, tuple[Rows, dict[str, Any]]] = {
    "label": ([*labelled(0), *labelled(LONG)], {}),
    "a number": ([*labelled(0), *labelled(int("9" * 4_000))], {}),
    "a list": ([*labelled(0), *labelled([LONG, LONG])], {}),
    "identifier": (image_rows("dev-1-1-1", LONG), {"layout": "nlvr2"}),
    "id": ([row | {"id": LONG} for row in labelled(0, 1)], {"columns": InstanceColumns(id_column="id")}),
    "classes": ([{"text": f"t {i}", "label": f"{i}{LONG}"} for i in range(150)], {}),
}


@pytest.mark.parametrize(("rows", "settings"), CELLS.values(), ids=CELLS.keys())
def test_messages_cut_what_cells_hold(tmp_path: Path, rows: Rows, settings: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, rows, **settings)
    assert not re.search(r"9{61}", str(caught.value))
    assert len(str(caught.value).replace(str(tmp_path), "")) < 400


# ------------------------------------------------------------------------------- real data


def real(path: str) -> Instances:
    return read_instances([shared(path)], ReadingOptions())


@pytest.mark.real
def test_nlvr2_has_the_published_accuracy_and_consistency_of_all_true() -> None:
    made = real("nlvr2/dev.json")
    sets: dict[str, list[bool]] = {}
    for one in made.instances:
        sets.setdefault(one.contrast_set, []).append(made.classes[one.answer] == "True")
    assert len(sets) == 2_018
    assert round(100 * float(np.mean([label for labels in sets.values() for label in labels])), 2) == 50.86
    assert round(100 * float(np.mean([all(labels) for labels in sets.values()])), 2) == 3.87


@pytest.mark.real
def test_vcr_cs_has_its_pairs_images_and_movies() -> None:
    made = real("vcr_cs/vcr_cs_val.jsonl")
    sets = {one.contrast_set for one in made.instances}
    assert (len(made), len(sets), len({name.split(":")[0] for name in sets})) == (318, 159, 152)
    assert len({one.media for one in made.instances}) == 143
    assert len({one.group for one in made.instances}) == 16
    assert not any(
        re.search(r" '|' [smt]\b|\[\d", text) for one in made.instances for text in (one.context, *one.options)
    )


def test_a_set_with_two_originals_is_told(tmp_path: Path) -> None:
    """Two files that number their sets anew had theirs joined, and nothing was said."""
    rows = [
        {"contrast_set": f"s{i}", "variant": variant, "question": f"{variant} {i}?", "options": ["a", "b"]}
        | {"label": int(variant == "contrast")}
        for i in range(2)
        for variant in ("original", "contrast")
    ]
    paths = [tmp_path / name for name in ("one.jsonl", "two.jsonl")]
    for path in paths:
        write(path, ({**row, "question": path.stem + row["question"]} for row in rows))
    said = "contrast sets: 2 with several originals; are different sets of two files called alike?"
    assert said in read_instances(paths).notes
    assert said not in read_instances(paths[:1]).notes
