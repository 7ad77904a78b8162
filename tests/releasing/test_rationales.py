"""Claims about a dataset of a matching with rationales: both questions of a row, in every form, scored in stages."""

import csv
import html
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matching.test_vcr import OBJECTS, N, figures_in, made_up_rows, options_of

import swag_af
from swag_af.cli.main import main
from swag_af.data.disk.files import read_json, read_jsonl, write_json, write_jsonl
from swag_af.data.disk.manifests import read_manifest, sha256_file
from swag_af.data.errors import InputError
from swag_af.data.instances.reading import read_instances
from swag_af.data.pool.options import Columns, PoolOptions
from swag_af.data.pooling.verb import pool
from swag_af.data.runs.run import open_run
from swag_af.guarding.options import GuardOptions
from swag_af.guarding.verb import guard
from swag_af.judging.verdicts import Verdict, make_items, write_verdicts
from swag_af.matching.options import MatchingOptions, MatchOptions
from swag_af.matching.verb import match
from swag_af.releasing.dataset import Dataset, assemble, shortfalls
from swag_af.releasing.lm_eval import rationales as lm_eval_rationales
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.rationales import rationale_run
from swag_af.releasing.verb import release
from swag_af.reporting.options import ReportOptions
from swag_af.reporting.verb import report

SPLITS = {"train": "train", "val": "validation", "test": "test"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `matched`: answers of all rows, rationales of four in five."""
    made = tmp_path_factory.mktemp("rationales")
    write_jsonl(made / "vcr.jsonl", made_up_rows())
    options = options_of(made)
    match(replace(options, matching=replace(options.matching, folds=6)))
    return made


@pytest.fixture(scope="module")
def made(folder: Path) -> Dataset:
    shares = {"val_share": 0.25, "test_share": 0.25}
    return release(ReleaseOptions(folder / "matched" / "run", folder / "dataset", audit="ngrams", **shares))


def stages(made: Dataset, split: str) -> list[dict[str, Any]]:
    return [row for _, row in read_jsonl(made.options.out / "stages" / f"{split}.jsonl")]


def test_every_rationale_is_asked_for_in_the_split_of_its_question(made: Dataset) -> None:
    assert made.rationales is not None
    split_of = {question.id: question.split for question in made.questions}
    assert len(made.rationales.questions) == N - N // 5
    assert all(split_of[question.id] == question.split for question in made.rationales.questions)
    assert all(made.sizes.values())


def test_rationales_released_by_themselves_have_the_ids_of_rationales(
    folder: Path, made: Dataset, tmp_path: Path
) -> None:
    """They had those of the answers: predictions of answers were scored on them, and their own were refused."""
    assert made.rationales is not None
    release(ReleaseOptions(folder / "matched" / "rationales" / "run", tmp_path / "alone", audit="none"))
    alone = {one.id for one in read_instances([tmp_path / "alone"]).instances}
    asked = {one.id for one in read_instances([made.options.out]).instances if one.stage == "QA->R"}
    assert alone == asked == {f"{question.id}:rationale" for question in made.rationales.questions}


def test_rationales_that_have_the_ids_of_their_answers_are_released_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs were written so before the ids told them apart."""
    monkeypatch.setattr("swag_af.matching.results.questions.rationale_id", str)
    write_jsonl(tmp_path / "vcr.jsonl", made_up_rows(60))
    match(options_of(tmp_path))
    matched = {row["annot_id"]: row for _, row in read_jsonl(tmp_path / "matched" / "matched.jsonl")}
    assert open_run(tmp_path / "matched" / "rationales" / "run").pool.contexts[0].id in matched
    dataset = release(ReleaseOptions(tmp_path / "matched" / "run", tmp_path / "dataset", audit="none"))
    rows = [row for split in ("train", "val", "test") for row in stages(dataset, split)]
    assert {row["annot_id"] for row in rows if "rationale_choices" in row} == {
        id for id, row in matched.items() if "rationale_choices" in row
    }
    for row in rows:
        assert sorted(row.get("rationale_choices", ())) == sorted(matched[row["annot_id"]].get("rationale_choices", ()))


def test_labels_of_rationales_are_as_even_as_possible(made: Dataset) -> None:
    assert made.rationales is not None
    for split in SPLITS:
        counts = np.bincount([one.label for one in made.rationales.questions if one.split == split], minlength=4)
        assert counts.max() - counts.min() <= 1


def test_wrong_rationales_are_those_that_were_matched(folder: Path, made: Dataset) -> None:
    matched = {row["annot_id"]: row for _, row in read_jsonl(folder / "matched" / "matched.jsonl")}
    for split in ("train", "val"):
        for row in stages(made, split):
            other = matched[row["annot_id"]]
            assert row["match_fold"] == other["match_fold"]
            assert ("rationale_choices" in row) == ("rationale_choices" in other)
            for name in ("answer", "rationale") if "rationale_choices" in row else ("answer",):
                assert sorted(row[f"{name}_choices"]) == sorted(other[f"{name}_choices"])
                right = other[f"{name}_choices"][other[f"{name}_label"]]
                assert row[f"{name}_choices"][row[f"{name}_label"]] == right


def test_the_questions_of_the_regular_files_are_those_of_the_stages(made: Dataset) -> None:
    for split in SPLITS:
        with (made.options.out / f"{split}.csv").open(encoding="utf-8", newline="") as file:
            regular = list(csv.DictReader(file))
        for row, one in zip(regular, stages(made, split), strict=True):
            assert one["question"] == row["startphrase"]
            assert one["answer_choices"] == [row[f"ending{i}"] for i in range(4)]


def test_nothing_of_test_tells_its_answers(made: Dataset) -> None:
    labels = [row for _, row in read_jsonl(made.options.out / "stages" / "test_labels.jsonl")]
    rows = stages(made, "test")
    assert [row["annot_id"] for row in rows] == [row["annot_id"] for row in labels]
    assert not any("label" in name for row in rows for name in row)
    for row, label in zip(rows, labels, strict=True):
        assert row["answer_choices"][label["answer_label"]] not in row["question"]


def test_without_rationales_nothing_of_them_is_written(folder: Path, tmp_path: Path) -> None:
    rows = [{k: v for k, v in row.items() if "rationale" not in k} for row in made_up_rows()]
    write_jsonl(tmp_path / "vcr.jsonl", rows)
    match(options_of(tmp_path))
    dataset = release(ReleaseOptions(tmp_path / "matched" / "run", tmp_path / "dataset", audit="none"))
    assert dataset.rationales is None
    assert not (tmp_path / "matched" / "rationales").exists()
    assert "rationales" not in read_manifest(tmp_path / "dataset", "dataset")
    assert "rationales" not in read_json(tmp_path / "matched" / "run" / "manifest.json")["matching"]
    names = {path.name for path in (tmp_path / "dataset").rglob("*")}
    assert not {name for name in names if "stages" in name or "rationales" in name}
    assert "ationale" not in (tmp_path / "dataset" / "README.md").read_text(encoding="utf-8")


def test_score_has_both_stages_of_the_folder_and_both_together(
    made: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Right answers everywhere but in every third row, right rationales in every second row that has one."""
    said, right = [], {"Q->A": [], "QA->R": [], "Q->AR": []}
    of_both = {one.question: [] for one in read_instances([made.options.out]).instances}
    for one in read_instances([made.options.out]).instances:
        of_both[one.question].append(one)
    for i, pair in enumerate(of_both.values()):
        hits = []
        for one in pair:
            hits.append(i % 3 > 0 if one.stage == "Q->A" else i % 2 > 0)
            right[one.stage].append(hits[-1])
            said.append({"id": one.id, "prediction": one.answer if hits[-1] else (one.answer + 1) % 4})
        if len(pair) == 2:
            right["Q->AR"].append(all(hits))
    write_jsonl(tmp_path / "said.jsonl", said)
    main(["score", str(made.options.out), str(tmp_path / "said.jsonl"), "--json", str(tmp_path / "score.json")])
    assert "QA->R" in capsys.readouterr().out
    found = {one["name"]: one for one in figures_in(json.loads((tmp_path / "score.json").read_text()))}
    for name, hits in right.items():
        assert found[name]["value"] == pytest.approx(np.mean(hits))
    assert found["Q->AR"]["chance"] == pytest.approx(1 / 16)


def test_verdicts_on_the_run_are_answers_to_its_release_with_rationales(made: Dataset, tmp_path: Path) -> None:
    """They were refused: rows of both questions did not say which row of the run they are."""
    assert made.run.path is not None
    verdicts = [
        Verdict(item, "a", ("likely",) * len(item.columns), best, 1 - best)
        for item in make_items(made.run.assignment(), seed=0)
        for best in [int(item.row % 3 == 0)]
    ]
    write_verdicts(tmp_path / "verdicts.jsonl", verdicts, made.run.pool.identity)
    of_run, of_release, of_some = (
        swag_af.score(swag_af.ScoreOptions(data, (), people=tmp_path / "verdicts.jsonl", min_items=1)).people
        for data in (made.run.path, made.options.out, _without_train(made.options.out, tmp_path / "some"))
    )
    assert of_run is not None
    assert of_release is not None
    assert of_some is not None
    assert of_release.figures == of_run.figures
    assert of_some.n_answers == made.sizes["val"] + made.sizes["test"]


def _without_train(dataset: Path, to: Path) -> Path:
    shutil.copytree(dataset, to)
    manifest = read_json(to / "manifest.json")
    write_json(to / "manifest.json", manifest | {"splits": manifest["splits"] | {"train": 0}})
    return to


def test_a_released_folder_is_read_with_every_split_and_every_label(made: Dataset) -> None:
    assert made.rationales is not None
    read = {(one.id, one.stage): one for one in read_instances([made.options.out]).instances}
    assert len(read) == len(made.questions) + len(made.rationales.questions)
    for question in made.questions:
        one = read[question.id, "Q->A"]
        assert (one.options, one.answer, one.split) == (question.endings, question.label, question.split)
        assert one.group == f"fold {made.run.pool.groups[question.example.row]}"
    for question in made.rationales.questions:
        one = read[f"{question.id}:rationale", "QA->R"]
        assert (one.options, one.answer, one.question) == (question.endings, question.label, question.id)


def test_where_near_duplicates_join_all_folds_it_says_what_parts_them(tmp_path: Path) -> None:
    """It said to match in two folds or more, as these were."""
    rows = made_up_rows(80)
    question, ending = "Why does the woman wait at the end of the long street ?", "by the house at the river at noon ."
    for i in range(10):
        rows[i]["question"] = question.split()
        rows[i]["answer_choices"][i % 4] += ending.split()
    write_jsonl(tmp_path / "vcr.jsonl", rows)
    options = options_of(tmp_path)
    match(replace(options, matching=replace(options.matching, folds=2)))
    run, asked = open_run(options.out / "run"), ReleaseOptions(options.out / "run", tmp_path / "dataset")
    joined, parted = (assemble(run, replace(asked, near_duplicates=least)) for least in (0.5, 1.0))
    (line,) = (line for line in shortfalls(joined) if line.startswith("style"))
    assert line.endswith(
        "near-duplicates join all folds of the matching. Raise --near-duplicates, or match without them."
    )
    assert len(joined.group_sizes) == 1
    assert len(parted.group_sizes) == 2
    assert not any(line.startswith("style") for line in shortfalls(parted))


def test_labels_of_other_rows_are_refused(made: Dataset, tmp_path: Path) -> None:
    for name in ("manifest.json", "stages/test.jsonl", "stages/train.jsonl", "stages/val.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((made.options.out / name).read_bytes())
    labels = [row for _, row in read_jsonl(made.options.out / "stages" / "test_labels.jsonl")]
    write_jsonl(tmp_path / "stages" / "test_labels.jsonl", labels[1:])
    with pytest.raises(InputError, match=f"no label of {labels[0]['annot_id']}"):
        read_instances([tmp_path])


def test_the_card_and_the_manifest_count_the_rationales(made: Dataset) -> None:
    card = (made.options.out / "README.md").read_text(encoding="utf-8")
    assert f"{N - N // 5} of the {N} questions have a second one" in card
    assert "0.01 log(1 - P(same meaning))" in card
    assert "`stages/`" in card
    record = read_manifest(made.options.out, "dataset")["rationales"]
    assert record["n_questions"] == sum(record["splits"].values()) == N - N // 5
    assert [one["filter"] for one in record["audits"]["findings"]] == ["ngrams"]


def test_what_a_row_shows_is_released_with_it(made: Dataset, tmp_path: Path) -> None:
    """Tags such as [person1] say nothing without the objects, and the question nothing without the image."""
    given = {row["annot_id"]: row for row in made_up_rows()}
    for split, name in SPLITS.items():
        with (made.options.out / f"{split}.csv").open(encoding="utf-8", newline="") as file:
            of_csv = list(csv.DictReader(file))
        of_jsonl = [row for _, row in read_jsonl(made.options.out / "jsonl" / f"{name}.jsonl")]
        assert of_csv
        for rows, id, objects in ((of_csv, None, json.dumps(OBJECTS)), (of_jsonl, "id", OBJECTS)):
            for row, question in zip(rows, made.of_split(split), strict=True):
                assert row["img_fn"] == given[row[id] if id else question.id]["img_fn"]
                assert row["objects"] == objects
        for row in stages(made, split):
            assert (row["img_fn"], row["objects"]) == (given[row["annot_id"]]["img_fn"], OBJECTS)
    read = read_instances([made.options.out])
    assert {one.media for one in read.instances} == {row["img_fn"] for row in given.values()}
    columns = Columns(media_columns="img_fn, objects")
    again = pool(PoolOptions((made.options.out,), tmp_path / "pool", columns=columns))
    assert all(one.media == {"img_fn": given[one.id]["img_fn"], "objects": OBJECTS} for one in again.contexts)
    card = (made.options.out / "README.md").read_text(encoding="utf-8")
    assert "`img_fn` and `objects` say what is shown" in card


def test_what_is_shown_is_read_by_libraries_as_it_was_given(
    made: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path was a list of letters in Parquet."""
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    given = {row["annot_id"]: row for row in made_up_rows()}
    loaded = datasets.load_dataset(str(made.options.out), "stages", cache_dir=str(tmp_path / "cache"))["train"]
    assert loaded["img_fn"] == [given[id]["img_fn"] for id in loaded["annot_id"]]
    assert loaded["objects"] == [OBJECTS] * len(loaded)


def test_a_pool_of_a_matchings_release_keeps_its_folds_together(made: Dataset, tmp_path: Path) -> None:
    """Golds are negatives of others within a fold: by films they stood on both sides of the next splits."""
    again = pool(PoolOptions((made.options.out,), tmp_path / "pool"))
    fold_of = {question.id: question.fold for question in made.questions}
    pairs = {(fold_of[one.id], int(group)) for one, group in zip(again.contexts, again.groups, strict=True)}
    assert len(pairs) == len({fold for fold, _ in pairs}) == len({group for _, group in pairs}) > 1
    films = Columns(video_column="video-id")
    by_film = pool(PoolOptions((made.options.out,), tmp_path / "films", columns=films, layout="swag"))
    assert {one.video for one in by_film.contexts} == {row["movie"] for row in made_up_rows()}


def test_a_released_folder_is_matched_again(made: Dataset, tmp_path: Path) -> None:
    options = MatchOptions(
        (made.options.out,), tmp_path / "again", matching=MatchingOptions(relevance="tfidf", folds=3)
    )
    assert match(options).answers.n == len(made.questions)


def test_people_are_said_not_to_see_what_is_shown_with_the_text(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["verify", "export", str(folder / "matched" / "run"), "--to", "csv", "--out", str(tmp_path / "tasks.csv")])
    told = " ".join(capsys.readouterr().out.split())
    assert f"{N} contexts name what is shown with the text (img_fn, objects)" in told


def test_what_a_matching_leaves_open_stands_in_the_card_and_on_the_page(
    folder: Path, made: Dataset, tmp_path: Path
) -> None:
    card = (made.options.out / "README.md").read_text(encoding="utf-8")
    page = report(ReportOptions(folder / "matched" / "run", tmp_path / "report.html")).read_text(encoding="utf-8")
    cautions = read_json(folder / "matched" / "matched.json")["cautions"]
    assert set(cautions) == {"answers", "rationales"}
    assert cautions["answers"]
    assert all(one in html.unescape(page) for one in cautions["answers"])
    for told in cautions.values():
        assert all(f"* {one}" in card for one in told)


def test_show_counts_them(made: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    main(["show", str(made.options.out)])
    assert f"{N - N // 5} ask for a rationale too" in capsys.readouterr().out


def test_load_dataset_opens_the_stages(made: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    loaded = datasets.load_dataset(str(made.options.out), "stages", cache_dir=str(tmp_path / "cache"))
    for split, name in SPLITS.items():
        rows = stages(made, split)
        assert loaded[name]["annot_id"] == [row["annot_id"] for row in rows]
        assert loaded[name]["rationale_choices"] == [row.get("rationale_choices") for row in rows]
    assert set(loaded["test"]["answer_label"]) == {-1}
    assert loaded["train"].features["answer_label"].names == ["0", "1", "2", "3"]
    regular = datasets.load_dataset(str(made.options.out), cache_dir=str(tmp_path / "cache"))
    assert {name: len(rows) for name, rows in regular.items()} == {SPLITS[k]: n for k, n in made.sizes.items()}


def test_mlcroissant_reads_both_questions(made: Dataset) -> None:
    mlc = pytest.importorskip("mlcroissant")
    described = mlc.Dataset(jsonld=str(made.options.out / "croissant.json"))
    assert not described.metadata.issues.errors
    for file in read_json(made.options.out / "croissant.json")["distribution"]:
        assert file["sha256"] == sha256_file(made.options.out / file["contentUrl"])
    records = list(described.records(record_set="stages/val"))
    for record, row in zip(records, stages(made, "val"), strict=True):
        assert [one.decode() for one in record["stages/val/answer_choices"]] == row["answer_choices"]
        assert [one.decode() for one in record["stages/val/objects"]] == OBJECTS
        assert record["stages/val/answer_label"] == row["answer_label"]


def test_the_harness_gets_question_and_answer_for_a_rationale(made: Dataset) -> None:
    tasks = made.options.out / "lm_eval"
    assert (tasks / "dataset_rationales_full.yaml").read_text().count("!function rationales.load") == 1
    assert "dataset_rationales_ending_only" in (tasks / "dataset_variants.yaml").read_text()
    space: dict[str, Any] = {"__file__": str(tasks / "rationales.py"), "__name__": "rationales"}
    exec(compile((tasks / "rationales.py").read_text(encoding="utf-8"), tasks / "rationales.py", "exec"), space)
    given = space["read"](made.options.out / "stages" / "val.jsonl")
    rows = [row for row in stages(made, "val") if "rationale_choices" in row]
    assert [one["choices"] for one in given] == [row["rationale_choices"] for row in rows]
    assert [one["query"] for one in given] == [
        f"{row['question']} {row['answer_choices'][row['answer_label']]}" for row in rows
    ]


@pytest.mark.parametrize(
    ("there", "fault"),
    [
        ({"run": "../rationales/run", "pool_identity": "another"}, "other rationales"),
        ({"run": "../nowhere/run", "pool_identity": "any"}, "is gone"),
    ],
)
def test_rationales_that_are_gone_or_others_are_refused(folder: Path, there: dict[str, str], fault: str) -> None:
    run = open_run(folder / "matched" / "run")
    assert run.matching is not None
    assert rationale_run(run) is not None
    with pytest.raises(InputError, match=fault):
        rationale_run(replace(run, matching={**run.matching, "rationales": there}))


def test_rationales_that_were_guarded_are_those_of_their_answers(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "matched", tmp_path / "matched")
    guard(GuardOptions(tmp_path / "matched" / "rationales" / "pool", "words", exclude="none"))
    found = rationale_run(open_run(tmp_path / "matched" / "run"))
    assert found is not None
    assert found.pool.identity != found.pool.unguarded_identity


def test_the_harness_reads_texts_with_other_ends_of_lines(tmp_path: Path) -> None:
    row = {"question": "Why\u2028?", "answer_choices": ["a\x85b"], "answer_label": 0, "movie": "m"}
    write_jsonl(tmp_path / "val.jsonl", [row | {"rationale_choices": ["c\u2029d"], "rationale_label": 0}] * 2)
    (first, second) = lm_eval_rationales.read(tmp_path / "val.jsonl")
    assert first == second == {"video": "m", "query": "Why\u2028? a\x85b", "choices": ["c\u2029d"], "label": 0}


def test_the_same_release_gives_the_same_bytes(made: Dataset, tmp_path: Path) -> None:
    again = replace(made.options, out=tmp_path / "dataset")
    release(again)
    for path in sorted((made.options.out / "stages").iterdir()):
        assert (tmp_path / "dataset" / "stages" / path.name).read_bytes() == path.read_bytes()
