"""Claims about a dataset made of what people said: whose verdicts count, what is refused, what the files hold."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from judged import N, judged_options, make_run, release_without_curve, rows_of, say

from swag_af.cli.verbs import release as verb
from swag_af.data.captions.context_set import NearJoined
from swag_af.data.disk.manifests import read_manifest
from swag_af.data.errors import InputError
from swag_af.data.runs.run import Run
from swag_af.judging.consensus import METHODS
from swag_af.judging.people import opinions_of
from swag_af.judging.rules import LEFT_OUT
from swag_af.judging.verdicts import Item, Verdict, judge, make_items, refill, with_ordered_columns, write_verdicts
from swag_af.releasing.dataset import Dataset, assemble, shortfalls
from swag_af.releasing.options import ReleaseOptions


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("judged"))


@pytest.fixture(scope="module")
def items(run: Run) -> list[Item]:
    return make_items(run.assignment(), seed=0)


@pytest.fixture(scope="module")
def options(run: Run, tmp_path_factory: pytest.TempPathFactory) -> ReleaseOptions:
    return judged_options(run, tmp_path_factory.mktemp("verdicts"))


@pytest.fixture(scope="module")
def made(options: ReleaseOptions) -> Dataset:
    return release_without_curve(options)


def test_every_context_is_a_question_or_counted(made: Dataset) -> None:
    assert set(made.left_out) == set(LEFT_OUT)
    assert made.left_out["not_judged"] == 5
    assert len(made.questions) - made.n_generated + sum(made.left_out.values()) == N


def test_generated_answers_are_in_train_only_and_beside_their_found_question(made: Dataset) -> None:
    generated = [question for question in made.questions if question.example.is_generated]
    found = {question.example.row for question in made.of_split("train") if not question.example.is_generated}
    assert generated
    assert {question.split for question in generated} == {"train"}
    assert {question.example.row for question in generated} <= found


def test_no_ending_called_gibberish_is_in_the_dataset(made: Dataset) -> None:
    judgement_of = {judgement.item.row: judgement for judgement in judge(made.opinions.verdicts)}
    for question in made.questions:
        judgement = judgement_of[question.example.row]
        rating_of = dict(zip(judgement.item.columns, judgement.ratings, strict=True))
        shown = [question.example.answer, *question.example.distractors]
        assert "gibberish" not in {rating_of[column] for column in shown}


def test_labels_are_even_in_every_split(made: Dataset) -> None:
    for split in ("train", "val", "test"):
        counts = Counter(question.label for question in made.of_split(split))
        assert max(counts.values()) - min(counts[i] for i in range(4)) <= 1


def test_ids_of_questions_are_unique(made: Dataset) -> None:
    assert len({question.id for question in made.questions}) == len(made.questions)


def test_regular_and_full_files_hold_the_same_questions(options: ReleaseOptions, made: Dataset) -> None:
    for split in ("train", "val"):
        regular, full = rows_of(options.out / f"{split}.csv"), rows_of(options.out / f"{split}_full.csv")
        for one, other in zip(regular, full, strict=True):
            assert one[f"ending{one['label']}"] == other["gold-ending"]
            chosen = {one[f"ending{i}"] for i in range(4)}
            assert chosen == {other[name] for name in ("gold-ending", "distractor-0", "distractor-1", "distractor-2")}
            assert one["gold-source"] == ("gen" if other["gold-source"] == "gen-orig" else "gold")


def test_a_fourth_distractor_that_is_not_there_is_empty(options: ReleaseOptions, made: Dataset) -> None:
    rows = rows_of(options.out / "train_full.csv")
    assert {bool(row["distractor-3"]) for row in rows} == {True, False}
    for row in rows:
        assert (row["distractor-3"] == "") == (row["distractor-3-type"] == "")
        assert all(row[f"distractor-{i}-type"] in ("likely", "unlikely") for i in range(3))


def test_there_is_no_full_file_of_test(options: ReleaseOptions, made: Dataset) -> None:
    assert not (options.out / "test_full.csv").exists()


def test_the_manifest_and_the_card_say_what_was_left_out(options: ReleaseOptions, made: Dataset) -> None:
    manifest = read_manifest(options.out, "dataset")
    card = (options.out / "README.md").read_text()
    assert manifest["left_out"] == made.left_out
    assert manifest["human_verdicts"]["n_verdicts"] == N - 5
    assert all(f"| {LEFT_OUT[reason]} | {n} |" in card for reason, n in made.left_out.items())
    assert "No person has verified" not in card
    assert "What was said of right and of wrong endings:" in card  # texts of one's own, which nobody generated


def test_the_verb_prints_every_reason(options, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setattr("swag_af.releasing.verb.plot_run", lambda run, folder: [])
    verb(replace(options, out=tmp_path / "dataset"))
    out = capsys.readouterr().out
    assert all(reason in out for reason in LEFT_OUT.values())


def test_a_refilled_item_makes_a_question_with_its_newcomers(run, items, options, tmp_path: Path) -> None:
    ratings = ("likely", "unlikely", "unlikely", *["gibberish"] * 3)
    first = Verdict(items[0], "a", ratings, 0, 1)
    assigned = run.assignment()[0]
    again = refill(judge([first])[0], assigned, ())
    second = Verdict(again, "b", ("likely", *["unlikely"] * 5), 0, 1)
    files = write(run, tmp_path / "v.jsonl", [first, second])
    (question,) = assemble(run, replace(options, verdicts=files)).questions
    assert question.example.source == "gold0-reannot"
    assert set(question.example.distractors) == set(again.columns) - {0, again.columns[1]}
    assert set(question.example.distractors) - set(items[0].columns)


# ------------------------------------------------------------------------------- whose verdicts count


def write(run: Run, path: Path, verdicts: list[Verdict]) -> tuple[Path, ...]:
    write_verdicts(path, verdicts, run.pool.identity)
    return (path,)


def test_annotators_who_seldom_prefer_gold_are_dropped(run, items, options, tmp_path: Path) -> None:
    verdicts = [*say(items, "g", gold=1e6), *say(items, "b", seed=1, gold=1e-6)]
    files = write(run, tmp_path / "v.jsonl", verdicts)
    screened = assemble(run, replace(options, verdicts=files))
    assert screened.opinions.dropped == {"b"}
    alone = write(run, tmp_path / "alone.jsonl", [v for v in verdicts if v.annotator != "b"])
    assert screened.questions == assemble(run, replace(options, verdicts=alone)).questions
    assert assemble(run, replace(options, verdicts=files, screen=False)).opinions.dropped == set()


def test_a_dataset_of_nobody_but_screened_annotators_is_refused(run, items, options, tmp_path: Path) -> None:
    files = write(run, tmp_path / "v.jsonl", say(items, "b", gold=1e-6))
    with pytest.raises(InputError, match="--no-screen"):
        assemble(run, replace(options, verdicts=files))


def test_several_files_are_one_file(run, items, options, tmp_path: Path) -> None:
    verdicts = say(items, "ab")
    both = write(run, tmp_path / "both.jsonl", verdicts)
    parts = [write(run, tmp_path / f"{i}.jsonl", verdicts[i::2])[0] for i in range(2)]
    together = assemble(run, replace(options, verdicts=both))
    assert assemble(run, replace(options, verdicts=tuple(parts))).questions == together.questions


@pytest.mark.parametrize("method", METHODS)
def test_every_judge_makes_a_dataset_of_agreeing_annotators_alike(run, items, options, tmp_path: Path, method) -> None:
    if method != "majority":
        pytest.importorskip("crowdkit")
    verdicts = say(items[:20], "a")
    files = write(run, tmp_path / "v.jsonl", [replace(v, annotator=name) for v in verdicts for name in "abc"])
    one = assemble(run, replace(options, verdicts=files, judge=method))
    assert {q.example.row for q in one.questions} == {
        q.example.row for q in assemble(run, replace(options, verdicts=files)).questions
    }


def test_the_seed_of_the_release_breaks_ties(run, items, options, tmp_path: Path) -> None:
    verdicts = say(items, "ab", gold=1.0)
    options = replace(options, verdicts=write(run, tmp_path / "v.jsonl", verdicts), screen=False)
    found = [opinions_of(run, run.assignment(), replace(options, seed=seed)).judgements for seed in (0, 1)]
    ordered = [with_ordered_columns(verdict) for verdict in verdicts]
    assert found == [judge(ordered, seed=0), judge(ordered, seed=1)]
    assert [one.best for one in found[0]] != [one.best for one in found[1]]


# ------------------------------------------------------------------------------- what is refused


def test_the_same_verdict_in_two_files_is_refused(run, items, options, tmp_path: Path) -> None:
    files = [write(run, tmp_path / f"{i}.jsonl", say(items[:3], "a"))[0] for i in range(2)]
    with pytest.raises(InputError, match=r"1\.jsonl: a judged item 0-0 in .*0\.jsonl too"):
        assemble(run, replace(options, verdicts=tuple(files)))


def test_a_release_tells_of_contexts_shown_with_several_sets_of_endings(run, items, options, tmp_path: Path) -> None:
    spare = next(column for column in run.assignment()[0].tolist() if column not in items[0].columns)
    other = replace(items[0], columns=(*items[0].columns[:-1], spare))
    both = [*say(items, "g", gold=1e6), replace(say([other], "h")[0], best=1, second=2)]
    made = assemble(run, replace(options, verdicts=write(run, tmp_path / "v.jsonl", both)))
    (told,) = shortfalls(made)
    assert told.startswith("1 context shown with different endings")
    assert 0 not in {question.example.row for question in made.questions}


def test_a_verdict_on_a_row_that_is_not_there_is_refused(run, options, tmp_path: Path) -> None:
    files = write(run, tmp_path / "v.jsonl", say([Item(N, (0, 1, 2, 3, 4, 5))], "a"))
    with pytest.raises(InputError, match=f"row {N}"):
        assemble(run, replace(options, verdicts=files))


def test_a_verdict_on_an_ending_that_is_not_assigned_is_refused(run, options, tmp_path: Path) -> None:
    spare = next(k for k in range(1, 13) if k not in run.assignment()[0])
    files = write(run, tmp_path / "v.jsonl", say([Item(0, (0, spare))], "a"))
    with pytest.raises(InputError, match="--iteration that people were shown"):
        assemble(run, replace(options, verdicts=files))


def test_verdicts_on_another_pool_are_refused(run, items, options, tmp_path: Path) -> None:
    write_verdicts(tmp_path / "v.jsonl", say(items, "a"), "another")
    with pytest.raises(InputError, match="another pool"):
        assemble(run, replace(options, verdicts=(tmp_path / "v.jsonl",)))


def test_verdicts_that_leave_no_question_are_refused_with_the_reasons(run, options) -> None:
    with pytest.raises(InputError, match=r"not one of 60 contexts.*too few distractors"):
        assemble(run, replace(options, n_distractors=5))


def test_where_no_verdict_could_help_none_is_asked_for(run, options) -> None:
    with pytest.raises(InputError, match=r"No verdict could help.*Ask for --n-distractors 4\.$"):
        assemble(run, replace(options, n_distractors=5))


@pytest.mark.parametrize("n_whole", [0, 8])
def test_where_too_few_distractors_are_left_fewer_are_advised(
    run, items, options, tmp_path: Path, n_whole: int
) -> None:
    """Of six endings four are likely enough, gold and the second best among them: it was said to collect verdicts."""
    four, six = (("likely", *["unlikely"] * n, *["gibberish"] * (5 - n)) for n in (3, 5))
    verdicts = [Verdict(item, "a", six if i < n_whole else four, 0, 1, 9.0) for i, item in enumerate(items)]
    asked = replace(options, verdicts=write(run, tmp_path / "v.jsonl", verdicts))
    advice = f"With --n-distractors 2, {N} contexts make a question."
    if n_whole:
        assert f"{N - n_whole} contexts have too few distractors left. {advice}" in shortfalls(assemble(run, asked))
        return
    with pytest.raises(InputError, match=rf"not one of {N} contexts .* {advice}$"):
        assemble(run, asked)


def test_a_split_that_cannot_be_filled_is_told(run, options, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shortfalls(assemble(run, options)) == []

    def all_together(groups: np.ndarray, *_: object) -> NearJoined:
        return NearJoined(np.zeros(len(groups), np.int64), 0.7, 0.7, is_templated=False, n_apart=0)

    monkeypatch.setattr("swag_af.releasing.dataset.join_near_duplicates", all_together)
    (told,) = shortfalls(assemble(run, options))
    assert told.startswith("val has 0 questions")
    assert "; test has 0 questions" in told
    assert "--near-duplicates" in told
