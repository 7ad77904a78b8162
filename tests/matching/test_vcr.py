"""Claims about VCR's own files: matched end to end, read again, scored in stages; and the bands of VCR-CS."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared_data import shared

from swag_af.cli.main import main
from swag_af.data.disk.files import read_jsonl, write_jsonl
from swag_af.data.errors import InputError
from swag_af.data.instances.options import ReadingOptions
from swag_af.data.instances.reading import read_instances
from swag_af.matching.algorithm.buckets import pronoun_class
from swag_af.matching.options import MatchingOptions, MatchOptions
from swag_af.matching.rows.items import Items
from swag_af.matching.rows.reading import items_of_instances, read_items
from swag_af.matching.rows.tags import objects_of, share_of_tags_named, tags_in
from swag_af.matching.verb import Matched, dry_run, match, parts_of, plans_of

N, N_FOLDS = 240, 4
OBJECTS = ["person", "person", "person", "potted plant", "chair", "chair"]
WORDS = [f"{a}{b}" for a in ("ba", "do", "ki", "lu", "me", "no") for b in ("ra", "st", "ven", "wick", "lo", "per")]
VCR_CS = "vcr_cs/vcr_cs_val.jsonl"


def made_up_rows(n: int = N) -> list[dict[str, Any]]:
    """Rows as VCR's: lists of words and of numbers of objects; every fifth without rationales."""
    rng = np.random.default_rng(0)
    rows = []

    def text(k: int) -> list[Any]:
        words: list[Any] = [str(word) for word in rng.choice(WORDS, k)]
        words[int(rng.integers(k))] = [int(rng.integers(len(OBJECTS)))]
        return [*words, "."]

    for i in range(n):
        rows.append(
            {
                "annot_id": f"val-{i:03}",
                "movie": f"film {i % 40}",
                "img_fn": f"film{i % 40}/{i}.jpg",
                "match_fold": "val-0",
                "objects": OBJECTS,
                "question": ["Why", "does", [i % 3], *text(5)[:-1], "?"],
                "answer_choices": [text(6) for _ in range(4)],
                "answer_label": i % 4,
            }
        )
        if i % 5:
            rows[-1] |= {"rationale_choices": [text(9) for _ in range(4)], "rationale_label": (i + 1) % 4}
    return rows


def options_of(folder: Path, **changed: Any) -> MatchOptions:
    matching = MatchingOptions(relevance="tfidf", folds=N_FOLDS, bucket_size=100, **changed)
    return MatchOptions((folder / "vcr.jsonl",), folder / "matched", matching=matching)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("vcr")
    write_jsonl(made / "vcr.jsonl", made_up_rows())
    return made


@pytest.fixture(scope="module")
def matched(folder: Path) -> Matched:
    return match(options_of(folder))


@pytest.fixture(scope="module")
def rows(matched: Matched) -> list[dict[str, Any]]:
    return [row for _, row in read_jsonl(matched.path / "matched.jsonl")]


def test_a_row_of_vcr_brings_objects_image_movie_and_rationale(folder: Path) -> None:
    items = read_items([folder / "vcr.jsonl"])
    one = items.rows[1]
    assert one.objects == tuple(OBJECTS)
    assert (one.media, one.context.video) == ("film1/1.jpg", "film 1")
    assert one.query.startswith("Why does [person2]")
    assert one.rationale
    assert not items.rows[0].rationale


def test_tags_of_recycled_texts_become_any_object_of_the_row(matched: Matched, rows: list[dict[str, Any]]) -> None:
    theirs, reached = set(objects_of(OBJECTS)), set()
    for row in rows:
        assert row["objects"] == OBJECTS
        texts = [*row["answer_choices"], *row.get("rationale_choices", [])]
        for text in texts:
            assert set(tags_in(text)) <= theirs
            reached |= set(tags_in(text)) - set(tags_in(row["question"]))
    assert reached == theirs
    assert matched.answers.tags_named is not None
    assert matched.rationales is not None


def test_all_texts_of_a_row_come_from_its_fold(rows: list[dict[str, Any]]) -> None:
    fold_of = {row["annot_id"]: row["match_fold"] for row in rows}
    for row in rows:
        sources = [*row["answer_sources"], *row.get("rationale_sources", [])]
        assert {fold_of[source] for source in sources} == {row["match_fold"]}


def test_rationales_are_in_the_folds_of_their_answers(folder: Path) -> None:
    parts = parts_of(read_items([folder / "vcr.jsonl"]), options_of(folder).matching)
    plans = plans_of(parts, options_of(folder).matching)
    (_, answers, _), (_, why, _) = parts
    fold_of = {item.context.id: fold for item, fold in zip(answers.rows, plans["answers"].folds, strict=True)}
    assert len(why) == N - N // 5
    assert [fold_of[item.context.id] for item in why.rows] == plans["rationales"].folds.tolist()


def test_what_was_matched_is_read_as_vcr_in_the_groups_of_its_folds(
    matched: Matched, rows: list[dict[str, Any]]
) -> None:
    read = read_instances([matched.path / "matched.jsonl"])
    assert "(layout vcr)" in read.notes[0]
    by_stage = {(one.question, one.stage): one for one in read.instances}
    assert len(by_stage) == len(read) == N + N - N // 5
    for row in rows:
        answer = by_stage[row["annot_id"], "Q->A"]
        assert answer.options == tuple(row["answer_choices"])
        assert answer.answer == row["answer_label"]
        assert (answer.group, answer.media) == (f"fold {row['match_fold']}", row["img_fn"])
        if "rationale_label" in row:
            why = by_stage[row["annot_id"], "QA->R"]
            assert why.context == f"{row['question']} {answer.options[answer.answer]}"
            assert why.answer == row["rationale_label"]
            assert why.group == answer.group


def test_a_matching_may_be_matched_again(matched: Matched) -> None:
    again = items_of_instances(read_instances([matched.path / "matched.jsonl"]))
    first = read_items([matched.path.parent / "vcr.jsonl"])
    assert [(one.query, one.response, one.rationale, one.objects) for one in again.rows] == [
        (one.query, one.response, one.rationale, one.objects) for one in first.rows
    ]


def test_persons_of_a_matching_have_their_names_in_all_texts(matched: Matched) -> None:
    path = matched.path / "matched.jsonl"
    for one in read_instances([path], ReadingOptions(persons="names")).instances:
        assert "[person" not in " ".join([one.context, *one.options])


def test_answers_of_one_word_stay_apart(tmp_path: Path) -> None:
    row = {"annot_id": "a", "question": "Is it?", "answer_choices": ["Yes.", "No."], "answer_label": 1, "objects": []}
    write_jsonl(tmp_path / "q.jsonl", [row])
    (one,) = read_instances([tmp_path / "q.jsonl"]).instances
    assert one.options == ("Yes.", "No.")


def test_score_has_both_stages_and_both_together(
    matched: Matched, rows: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Right answers everywhere, right rationales in every second row that has one."""
    said, right = [], []
    for i, row in enumerate(rows):
        said.append({"id": row["annot_id"], "prediction": row["answer_label"]})
        if "rationale_label" in row:
            right.append(i % 2)
            said.append({"id": f"{row['annot_id']}:rationale", "prediction": (row["rationale_label"] + 1 - i % 2) % 4})
    write_jsonl(tmp_path / "said.jsonl", said)
    made = tmp_path / "score.json"
    main(["score", str(matched.path / "matched.jsonl"), str(tmp_path / "said.jsonl"), "--json", str(made)])
    shown = capsys.readouterr().out
    assert all(stage in shown for stage in ("Q->A", "QA->R", "Q->AR"))
    found = {one["name"]: one for one in figures_in(json.loads(made.read_text(encoding="utf-8")))}
    assert found["Q->A"]["value"] == 1
    assert found["QA->R"]["value"] == found["Q->AR"]["value"] == pytest.approx(np.mean(right))
    assert found["Q->AR"]["chance"] == pytest.approx(1 / 16)


def figures_in(record: Any) -> list[dict[str, Any]]:
    """All figures of a record, wherever they are."""
    if isinstance(record, dict):
        own = [record] if {"name", "value", "chance"} <= set(record) else []
        return own + [one for value in record.values() for one in figures_in(value)]
    return [one for value in record for one in figures_in(value)] if isinstance(record, list) else []


def test_the_rationales_have_a_lambda_of_their_own(folder: Path, matched: Matched, rows: list[dict[str, Any]]) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "vcr.jsonl").write_bytes((folder / "vcr.jsonl").read_bytes())
    other = match(options_of(folder / "other", rationale_weight=3.0))
    others = [row for _, row in read_jsonl(other.path / "matched.jsonl")]
    assert [row["answer_choices"] for row in others] == [row["answer_choices"] for row in rows]
    assert [row.get("rationale_sources") for row in others] != [row.get("rationale_sources") for row in rows]
    assert other.rationales is not None
    assert matched.rationales is not None
    assert other.rationales.similarity < matched.rationales.similarity


def test_a_dry_run_is_not_matched_by_mistake(folder: Path, tmp_path: Path) -> None:
    options = MatchOptions((folder / "vcr.jsonl",), tmp_path / "m", matching=options_of(folder).matching, dry_run=True)
    with pytest.raises(InputError, match=r"dry_run\(options\)"):
        match(options)
    assert not options.out.exists()
    assert [one.name for one in dry_run(options)] == ["answers", "rationales"]


# ------------------------------------------------------------------------------- VCR-CS


def pair_of(i: int) -> dict[str, Any]:
    return {
        "annot_id": f"val-{i}",
        "movie": "film",
        "img_fn": "a.jpg",
        "objects": OBJECTS,
        "original_question": ["What", "does", [0], "do", "?"],
        "counter_question": ["What", "does", [1], "do", "?"],
        "answer_choices": [[[k], *["is", "at", "place"], str(10 * i + k), "."] for k in range(4)],
        "original_answer_label": 1,
        "counter_answer_label": 3,
    }


def test_of_contrast_sets_the_originals_are_matched(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "cs.jsonl", [pair_of(1), pair_of(2)])
    items = read_items([tmp_path / "cs.jsonl"])
    assert [(item.query, item.response) for item in items.rows] == [
        ("What does [person1] do?", f"[person2] is at place {i}1.") for i in (1, 2)
    ]
    assert items.notes[-1] == "2 contrast questions were left out, whose originals are matched"


@pytest.fixture(scope="module")
def originals() -> Items:
    return read_items([shared(VCR_CS)])


def test_the_bands_are_those_of_the_distractors_of_vcr_cs(originals: Items) -> None:
    """A tag counts as often as it stands. The issue says 68.9 and 88.9 %: the first is cut off, the second one text
    away."""
    made = read_instances([shared(VCR_CS)])
    tags, pronouns = np.zeros(2, int), []
    for one in (one for one in made.instances if one.variant == "original"):
        right = one.options[one.answer]
        for text in (text for i, text in enumerate(one.options) if i != one.answer):
            tags += share_of_tags_named(text, one.context, right)
            pronouns.append(pronoun_class(text) == pronoun_class(right))
    assert tags.tolist() == [220, 319]
    assert (sum(pronouns), len(pronouns)) == (425, 477)
    assert len(originals) == 159


def test_its_answers_matched_anew_name_as_many_tags_and_have_no_fewer_pronouns(
    originals: Items, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "matched"
    command = ["match", str(shared(VCR_CS)), "--out", str(out), "--relevance", "tfidf"]
    main([*command, "--folds", "2", "--smallest-bucket", "14"])
    assert "159 contrast questions were left out" in capsys.readouterr().out
    tags, pronouns, n_films = np.zeros(2, int), [], defaultdict(set)
    for _, row in read_jsonl(out / "matched.jsonl"):
        right = row["answer_choices"][row["answer_label"]]
        n_films[row["movie"]].add(row["match_fold"])
        for text in (text for text in row["answer_choices"] if text != right):
            tags += share_of_tags_named(text, row["question"], right)
            pronouns.append(pronoun_class(text) == pronoun_class(right))
    assert all(len(folds) == 1 for folds in n_films.values())
    assert tags[0] / tags[1] == pytest.approx(0.689, abs=0.03)
    assert np.mean(pronouns) > 0.889 - 0.03
