"""Claims about runs of a matching: what people touch knows them, and no answer crosses a split."""

import csv
import json
import shutil
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from swag_af.auditing.options import AuditOptions
from swag_af.auditing.runs.audit import audit_of_run
from swag_af.auditing.single.features import feature_diagnostics
from swag_af.cli.main import main
from swag_af.data.context import Context
from swag_af.data.disk.files import read_json, write_json, write_jsonl
from swag_af.data.errors import FormatError, InputError
from swag_af.data.instances.grouping import group
from swag_af.data.instances.reading import read_instances
from swag_af.data.numbers.percent import in_percent
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run, begin_run, open_run, verb_manifest
from swag_af.judging.rules import Example
from swag_af.matching.options import MatchingOptions, MatchOptions
from swag_af.matching.rows.items import NEAR_DUPLICATES, items_of
from swag_af.matching.verb import dry_run, match, open_matched
from swag_af.releasing.cards.matching import crossing
from swag_af.releasing.dataset import Dataset
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.questions import Question
from swag_af.releasing.verb import release
from swag_af.reporting.options import ReportOptions
from swag_af.reporting.tables.text import question_lines
from swag_af.reporting.verb import report

N, N_FOLDS = 420, 6


def options_of(folder: Path) -> MatchOptions:
    return MatchOptions(
        (folder / "questions.jsonl",),
        folder / "matched",
        matching=MatchingOptions(relevance="tfidf", folds=N_FOLDS, bucket_size=100),
    )


def write_questions(path: Path) -> None:
    rng = np.random.default_rng(0)
    words = [f"{a}{b}" for a in ("ba", "do", "ki", "lu", "me", "no") for b in ("ra", "st", "ven", "wick", "lo", "per")]
    rows = []
    for i in range(N):
        query = " ".join(rng.choice(words, 7))
        answer = " ".join([*rng.choice(query.split(), 2), *rng.choice(words, 5)])
        rows.append({"query": f"Why does {query} {i}?", "response": f"It {answer}.", "movie": f"m{i % 60}"})
    write_jsonl(path, rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `questions.jsonl` and `matched`; a module shares it."""
    made = tmp_path_factory.mktemp("matching")
    write_questions(made / "questions.jsonl")
    match(options_of(made))
    return made


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return open_run(folder / "matched" / "run")


@pytest.fixture(scope="module")
def dataset(folder: Path) -> Dataset:
    return release(ReleaseOptions(folder / "matched" / "run", folder / "dataset", audit="none", formats="jsonl"))


def test_a_run_says_that_it_was_matched(run: Run) -> None:
    assert run.matching is not None
    assert (run.matching["relevance"], run.matching["similarity"], run.matching["weight"]) == ("tfidf", "lexical", 0.1)
    assert run.n_finished == 0
    assert run.path is not None
    assert verb_manifest(run.path)["options"]["seed"] == 0


def test_groups_of_the_pool_are_the_folds_of_the_matching(run: Run) -> None:
    assert int(run.pool.groups.max()) + 1 == N_FOLDS
    assert run.pool.manifest["shared_texts"]["kept_together"]
    fold_of = {run.pool.text(row, 0): fold for row, fold in enumerate(run.pool.groups.tolist())}
    for row, texts in enumerate(run.texts()):
        assert {fold_of[text] for text in texts} == {int(run.pool.groups[row])}


def test_no_answer_and_no_group_crosses_the_splits(dataset: Dataset) -> None:
    assert all(dataset.sizes.values())
    splits, groups = defaultdict(set), defaultdict(set)
    for question in dataset.questions:
        groups[question.context.video].add(question.split)
        for ending in question.endings:
            splits[ending].add(question.split)
    assert all(len(found) == 1 for found in (*splits.values(), *groups.values()))


def test_style_of_a_matching_in_few_folds_is_measured_and_said_to_be_coarse(tmp_path: Path) -> None:
    write_questions(tmp_path / "questions.jsonl")
    command = ["match", str(tmp_path / "questions.jsonl"), "--relevance", "tfidf", "--folds", "3"]
    main([*command, "--out", str(tmp_path / "matched")])
    main(["release", str(tmp_path / "matched" / "run"), "--out", str(tmp_path / "dataset"), "--formats", "none"])
    card = (tmp_path / "dataset" / "README.md").read_text(encoding="utf-8")
    assert "With 3 groups only large effects can be found" in card


def test_two_workers_leave_the_bytes_of_one(folder: Path, tmp_path: Path) -> None:
    options = options_of(folder)
    match(replace(options, out=tmp_path / "two", workers=2))
    names = sorted(path.relative_to(options.out) for path in options.out.rglob("*") if path.is_file())
    made = sorted(path.relative_to(tmp_path / "two") for path in (tmp_path / "two").rglob("*") if path.is_file())
    assert Path("matched.jsonl") in made
    assert set(made) <= set(names)
    for name in made:
        assert (tmp_path / "two" / name).read_bytes() == (options.out / name).read_bytes()


def test_a_split_is_made_of_whole_folds(run: Run, dataset: Dataset) -> None:
    splits = defaultdict(set)
    for question in dataset.questions:
        splits[int(run.pool.groups[question.example.row])].add(question.split)
    assert all(len(found) == 1 for found in splits.values())


def test_the_card_says_what_was_matched_and_which_models_stand_in(dataset: Dataset) -> None:
    card = (dataset.options.out / "README.md").read_text(encoding="utf-8")
    assert "Adversarial Matching" in card
    assert "Adversarial Filtering" not in card
    assert "stands in" in card
    assert "tfidf" in card
    assert "lexical" in card
    assert "curve" not in card
    assert not list(dataset.options.out.glob("curve*"))
    assert "adversarial-matching" in card


def test_a_question_without_a_start_is_released_as_it_is(dataset: Dataset) -> None:
    with (dataset.options.out / "train.csv").open(encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    assert row["startphrase"] == row["sent1"]
    assert row["sent1"].endswith("?")
    assert row["sent2"] == ""


def test_show_report_and_audit_know_a_matching(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "matched" / "run"
    _, findings = audit_of_run(AuditOptions((path,), filters="ngrams"))
    assert [finding.n_groups for finding in findings] == [N_FOLDS]
    assert report(ReportOptions(path)) == path / "report.html"
    page = (path / "report.html").read_text(encoding="utf-8")
    assert "Adversarial Matching of 420 questions" in page
    assert "filtering" not in page.lower().replace("--", "")
    assert not (path / "curve.png").exists()
    for shown in (path, path.parent):
        main(["show", str(shown)])
        said = capsys.readouterr().out
        assert "matched and not filtered" in said
        assert "on different groups: folds of the matching; chance is" in said
        assert "swag-af release" in said


def test_a_matching_is_shown_in_the_order_of_its_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Gold was a) in each."""
    main(["show", str(folder / "matched"), "--n", "8"])
    shown = capsys.readouterr().out
    records = [json.loads(line) for line in (folder / "matched" / "matched.jsonl").read_text().splitlines()]
    told = ["\n".join(question_lines(r["question"], r["answer_choices"], r["answer_label"])) for r in records]
    assert sum(text in shown for text in told) == 8
    assert "  * a)" in shown
    assert any(f"  * {letter})" in shown for letter in "bcd")


def test_how_often_overlap_tells_the_right_option_is_said_as_an_audit_finds_it(
    folder: Path, dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    """Terminal and card named no shortcut where the least overlap found half."""
    instances = read_instances([folder / "matched" / "matched.jsonl"])
    groups = group(instances)
    made = open_matched(folder / "matched").answers
    for subject, (share, low, high) in (("least", made.least_overlap), ("most", made.most_overlap)):
        found = feature_diagnostics(instances, groups, features=["content overlap"])
        (value,) = [one.value for one in found if one.subject == f"{subject} content overlap"]
        assert share == pytest.approx(value, abs=1e-5)
        assert low <= share <= high
    command = ["match", str(folder / "questions.jsonl"), "--out", str(folder / "matched"), "--relevance", "tfidf"]
    main([*command, "--folds", str(N_FOLDS), "--bucket-size", "100"])
    said = f"with the least content overlap with the question is right in {in_percent(made.least_overlap[0])}"
    assert said in " ".join(capsys.readouterr().out.split())
    assert said in (folder / "dataset" / "README.md").read_text()
    assert dataset.run.matching is not None


@pytest.mark.parametrize("verb", ["audit", "describe", "report", "release", "score"])
def test_a_folder_of_a_matching_is_told_where_its_run_is(
    verb: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "matched"
    write_jsonl(tmp_path / "predictions.jsonl", [{"id": "a", "prediction": 0}])
    more = {"release": ["--out", str(tmp_path / "d")], "score": [str(tmp_path / "predictions.jsonl")]}
    with pytest.raises(SystemExit) as stopped:
        main([verb, str(path), *more.get(verb, [])])
    assert stopped.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"its run is {path / 'run'}, its questions {path / 'matched.jsonl'}" in said


def test_the_verb_prints_what_it_made_and_again_only_prints(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "matched" / "matched.jsonl").read_bytes()
    command = ["match", str(folder / "questions.jsonl"), "--out", str(folder / "matched"), "--relevance", "tfidf"]
    main([*command, "--folds", str(N_FOLDS), "--bucket-size", "100"])
    said = capsys.readouterr().out
    for part in (
        "query = query",
        f"420 rows in {N_FOLDS} folds",
        "pairs scored",
        "luck: 50.0",
        "* ",
        "swag-af release",
    ):
        assert part in said
    assert "pronouns" not in said, "these answers have none, and nothing is to be said of them"
    assert (folder / "matched" / "matched.jsonl").read_bytes() == before


def test_a_dry_run_writes_nothing_and_counts_the_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_questions(tmp_path / "questions.jsonl")
    options = options_of(tmp_path)
    (estimated,) = dry_run(options)
    assert not options.out.exists()
    assert estimated.seconds > 0
    assert estimated.memory_bytes > 1e8
    assert match(options).about["pairs"] == estimated.n_pairs
    main(
        ["match", str(tmp_path / "questions.jsonl"), "--relevance", "tfidf", "--out", str(tmp_path / "x"), "--dry-run"]
    )
    assert "Nothing was written" in capsys.readouterr().out
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("setting", "said"), [({"rationale_weight": 3.0}, "has no rationales"), ({"share_named": 0.1}, "has a tag")]
)
def test_a_setting_of_what_the_data_has_not_is_refused(tmp_path: Path, setting: dict[str, Any], said: str) -> None:
    """It changed nothing, and said nothing."""
    write_questions(tmp_path / "questions.jsonl")
    asked = options_of(tmp_path)
    options = replace(asked, matching=replace(asked.matching, **setting))
    with pytest.raises(InputError, match=said):
        match(options)
    with pytest.raises(InputError, match=said):
        dry_run(options)
    assert not (options.out / "matched.json").exists()


def test_near_duplicates_are_in_one_group_as_a_release_has_them() -> None:
    assert ReleaseOptions.near_duplicates == NEAR_DUPLICATES
    texts = [f"why is the {word} on the large table near the open door?" for word in ("cup", "cup", "saw")]
    items = items_of([*texts, "where do they go now?"], ["it was put there by her."] * 3 + ["to the sea."])
    groups = items.groups.tolist()
    assert groups[0] == groups[1]
    assert groups[3] not in groups[:3]


def test_a_release_of_fewer_answers_has_each_wrong_equally_often(folder: Path, tmp_path: Path) -> None:
    """Drawn row by row some are wrong more often than others, and an answer that is an option seldom is right."""
    run = folder / "matched" / "run"
    made = release(ReleaseOptions(run, tmp_path / "dataset", n_distractors=2, audit="none", formats="jsonl"))
    golds = Counter(question.answer for question in made.questions)
    wrong = Counter(text for question in made.questions for text in question.distractors)
    assert wrong == {text: 2 * n for text, n in golds.items()}
    first = [question.columns[1] for question in made.questions]
    assert set(first) == {1, 2}


def test_what_to_run_after_a_pool_of_a_matching_is_a_release(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(folder / "matched", tmp_path / "m")
    main(["show", str(tmp_path / "m" / "pool")])
    assert f"Next: swag-af release {tmp_path}/m/run --out dataset" in capsys.readouterr().out
    main(["guard", str(tmp_path / "m" / "pool")])
    assert f"Next: swag-af release {tmp_path}/m/run --out dataset" in capsys.readouterr().out
    flags = ["--schedule", "bow:1", "--n-negatives", "2", "--audit", "none", "--ignore-guard"]
    main(["filter", str(tmp_path / "m" / "pool"), "--out", str(tmp_path / "run"), *flags])
    assert "Warning: most negatives are golds of other contexts." in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "jsonl/train.jsonl", "data/train-00000-of-00001.parquet"])
def test_readers_of_a_release_keep_the_folds_of_the_matching(folder: Path, tmp_path: Path, name: str) -> None:
    """Without them an audit learns from rows in which the answers of others are wrong, and avoids these."""
    made = release(ReleaseOptions(folder / "matched" / "run", tmp_path / "dataset", audit="none"))
    read = read_instances([tmp_path / "dataset" / name])
    of_train = [question for question in made.questions if question.split == "train" or not name]
    fold_of = {f"{question.startphrase} {question.answer}": str(question.fold) for question in of_train}
    assert {f"{one.context} {one.options[one.answer]}": one.group for one in read.instances} == fold_of
    assert len(set(fold_of.values())) > 1


def test_a_release_of_a_pool_that_was_filtered_says_that_it_was_matched_first(folder: Path, tmp_path: Path) -> None:
    pool = folder / "matched" / "pool"
    main(["guard", str(pool), "--out", str(tmp_path / "guarded")])
    flags = ["--schedule", "bow:1", "--n-negatives", "2", "--audit", "none", "--ignore-guard"]
    main(["filter", str(tmp_path / "guarded"), "--out", str(tmp_path / "run"), *flags])
    made = release(ReleaseOptions(tmp_path / "run", tmp_path / "dataset", n_distractors=2, audit="none"))
    card = (tmp_path / "dataset" / "README.md").read_text(encoding="utf-8")
    assert "Adversarial Matching" in card
    assert "Adversarial Filtering" in card
    assert "no answer is right in one split and wrong in another" in card
    assert {question.fold for question in made.questions} == set(range(N_FOLDS))


def test_answers_that_cross_the_splits_are_counted() -> None:
    context, example = Context("Why?", "", "so.", id="a"), Example(0, 0, (1,), "gold")
    one = Question(context, "Why?", "", "So it is.", ("no.",), example, 2, "train")
    assert crossing([one, replace(one, split="val", answer="it was.", distractors=("so it is",))]) == 1
    assert crossing([one, replace(one, answer="it was.", distractors=("so it is",))]) == 0


def test_show_of_a_matching_that_was_killed_says_how_it_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "matched" / "work").mkdir(parents=True)
    write_json(tmp_path / "matched" / "work" / "identity.json", {})
    with pytest.raises(SystemExit):
        main(["show", str(tmp_path / "matched")])
    assert "begun by `swag-af match`, and not finished" in capsys.readouterr().err


def test_a_damaged_record_of_a_matching_is_refused(folder: Path, tmp_path: Path) -> None:
    manifest = read_json(folder / "matched" / "run" / "manifest.json")
    write_json(tmp_path / "manifest.json", {**manifest, "matching": {"weight": "heavy"}})
    with pytest.raises(FormatError, match="matching"):
        open_run(tmp_path)


def test_a_matching_whose_figures_are_damaged_is_told_in_a_line(folder: Path, tmp_path: Path) -> None:
    """It was a traceback."""
    about = read_json(folder / "matched" / "matched.json")
    write_json(tmp_path / "matched.json", {**about, "answers": {"n": "many"}})
    with pytest.raises(FormatError, match=r"matched\.json: n: expected int.* Make it again"):
        open_matched(tmp_path)


@pytest.mark.parametrize("gone", ["pool/manifest.json", "run/manifest.json", "matched.jsonl"])
def test_a_matching_of_which_something_is_gone_is_not_called_written(folder: Path, tmp_path: Path, gone: str) -> None:
    options = replace(options_of(folder), out=tmp_path / "matched")
    shutil.copytree(options_of(folder).out, options.out)
    assert match(options).path == options.out
    (options.out / gone).write_text("")
    with pytest.raises(InputError, match=f"{gone} gone or empty since"):
        match(options)


def test_groups_that_are_given_are_kept_and_counted() -> None:
    contexts = [Context(f"Why {i}?", "", f"since {i}.", id=str(i)) for i in range(4)]
    negatives = [["since 1."], ["since 0."], ["since 3."], ["since 0."]]
    for groups, n_apart in (([0, 0, 1, 1], 3), ([0, 0, 0, 0], 0)):
        pool = CandidatePool.from_grouped_texts(contexts, negatives, np.array(groups))
        assert pool.groups.tolist() == groups
        assert pool.manifest["shared_texts"]["kept_together"] is (n_apart == 0)
        assert pool.manifest["shared_texts"]["n_rows_apart_by_gold"] == n_apart
        assert pool.manifest["shared_texts"]["n_golds_among_negatives"] == 4


def test_a_run_in_memory_may_be_a_matching() -> None:
    pool = CandidatePool.from_texts([Context("Why?", "", "so.", id="a")], [["no."]])
    matching = {"weight": 0.1, "relevance": "tfidf", "similarity": "lexical", "said": ["It was."]}
    assert begin_run(pool, np.array([[0, 1]]), None, {}, n_planned=0, matching=matching).matching == matching
