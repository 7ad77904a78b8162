"""Claims about a dataset that nobody has judged: SWAG's files, whole videos, even labels, the answer where the label
says. Those of people's rules, of other formats and of the harness have files of their own."""

import csv
import io
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import folders
import numpy as np
import pytest
from conftest import HashFilter

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.data.context import Context
from swag_af.data.disk.manifests import read_manifest, sha256_file
from swag_af.data.errors import ExhaustedError, InputError
from swag_af.data.instances.grouping import group
from swag_af.data.instances.reading import read_instances
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run, open_run
from swag_af.judging.rules import Example
from swag_af.releasing.dataset import Dataset, shortfalls
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.questions import SPLITS, Question, make_questions, with_even_labels
from swag_af.releasing.verb import release

SWAG_COLUMNS = ",video-id,fold-ind,startphrase,sent1,sent2,gold-source,ending0,ending1,ending2,ending3,label"
"""The header of SWAG's train.csv."""


@pytest.fixture(scope="module")
def run(pool_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three iterations on the pool on disk."""
    options = AFOptions(iterations=3, n_negatives=6)
    return filter_pool(
        CandidatePool.open(pool_folder), HashFilter(), options, out=tmp_path_factory.mktemp("runs") / "run"
    )


@pytest.fixture(scope="module")
def made(run: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[ReleaseOptions, Dataset]:
    """A dataset with three splits."""
    options = ReleaseOptions(run.path, tmp_path_factory.mktemp("datasets") / "dataset", val_share=0.3, test_share=0.2)
    return options, release(options)


@pytest.fixture
def no_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    """The curve takes most of the time; `made` draws it once."""
    monkeypatch.setattr("swag_af.releasing.verb.plot_run", lambda run, folder: [])


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_every_row_of_the_pool_is_a_question(made, run: Run) -> None:
    options, dataset = made
    assert [question.example.row for question in dataset.questions] == list(range(len(run.pool)))
    assert sum(len(rows_of(options.out / f"{split}.csv")) for split in SPLITS) == len(run.pool)


def test_no_video_stands_in_two_splits(made) -> None:
    options, _ = made
    videos = [{row["video-id"] for row in rows_of(options.out / f"{split}.csv")} for split in SPLITS]
    assert all(videos)
    assert sum(map(len, videos)) == len(set().union(*videos))


def test_labels_are_as_even_as_possible_in_every_split(made) -> None:
    _, dataset = made
    for split in SPLITS:
        counts = Counter(question.label for question in dataset.of_split(split))
        assert sorted(counts) == [0, 1, 2, 3]
        assert max(counts.values()) - min(counts.values()) <= 1


def test_train_and_val_have_the_columns_of_swag(made) -> None:
    options, _ = made
    for split in ("train", "val"):
        assert (options.out / f"{split}.csv").read_text().splitlines()[0] == SWAG_COLUMNS


def test_gold_is_at_its_label(made, run: Run) -> None:
    options, _ = made
    for split in ("train", "val"):
        for row in rows_of(options.out / f"{split}.csv"):
            assert row[f"ending{row['label']}"] == run.pool.text(int(row["fold-ind"]), 0)
            assert row["gold-source"] == "gold"


def test_distractors_are_assigned_negatives(made, run: Run) -> None:
    _, dataset = made
    texts = run.texts()
    for question in dataset.questions:
        distractors = [e for i, e in enumerate(question.endings) if i != question.label]
        assert set(distractors) <= set(texts[question.example.row][1:])


def test_the_four_endings_of_a_question_are_distinct(made) -> None:
    _, dataset = made
    assert {len(set(question.endings)) for question in dataset.questions} == {4}


def test_a_question_is_written_as_its_context_says(made, run: Run) -> None:
    options, _ = made
    for index, row in enumerate(rows_of(options.out / "train.csv")):
        context = run.pool.contexts[int(row["fold-ind"])]
        assert (row[""], row["video-id"]) == (str(index), context.video)
        assert (row["sent1"], row["sent2"]) == (context.sent1, context.start)
        assert row["startphrase"] == f"{context.sent1} {context.start}"


def test_the_test_split_keeps_its_labels_apart(made, run: Run) -> None:
    options, _ = made
    questions, labels = rows_of(options.out / "test.csv"), rows_of(options.out / "test_labels.csv")
    assert list(questions[0]) == SWAG_COLUMNS.split(",")[:-1]
    assert [row[""] for row in questions] == [row[""] for row in labels]
    for question, answer in zip(questions, labels, strict=True):
        assert question[f"ending{answer['label']}"] == run.pool.text(int(question["fold-ind"]), 0)


def test_the_rules_of_judging_are_for_verdicts_only() -> None:
    with pytest.raises(InputError) as caught:
        ReleaseOptions(Path("run"), judge="mace", screen=False)
    for flag in ("--judge", "--no-screen"):
        assert f"{flag}: only with --verdicts" in str(caught.value)


files_of = partial(folders.files_of, but=("manifest.json",))
"""All files but the manifest, which names the folder."""


def test_the_same_seed_gives_the_same_bytes(made, tmp_path: Path) -> None:
    options, _ = made
    release(replace(options, out=tmp_path / options.out.name))
    assert files_of(tmp_path / options.out.name) == files_of(options.out)


def test_another_seed_gives_other_splits_and_labels(made, tmp_path: Path, no_curve: None) -> None:
    options, dataset = made
    others = release(replace(options, out=tmp_path / "other", seed=1))
    assert [q.split for q in others.questions] != [q.split for q in dataset.questions]
    assert [q.label for q in others.questions] != [q.label for q in dataset.questions]


def test_labels_cannot_be_drawn_again_from_what_is_published(made, run: Run) -> None:
    """Seed and sizes stand in the manifest: the labels of test followed from them."""
    options, dataset = made
    rng = np.random.default_rng((options.seed, 2))
    for split in SPLITS:
        labels = [question.label for question in dataset.of_split(split)]
        assert rng.permutation(np.arange(len(labels)) % 4).tolist() != labels
    assert run.pool.secret == CandidatePool.open(run.pool.path).secret != run.pool.identity
    published = b"".join(path.read_bytes() for path in options.out.rglob("*") if path.is_file())
    assert run.pool.identity.encode() in published
    hashes = [run.pool.secret, *(entry["sha256"] for entry in run.pool.manifest["shards"])]
    assert not [one for one in hashes if one.encode() in published]


def test_the_order_of_wrong_endings_says_nothing() -> None:
    """They stood from unlikely to likely, so an ending that did not fit in was gold."""
    question = Question(
        Context("A.", "b", "c"), "A.", "B", "gold", tuple("1234"), Example(0, 0, (1, 2, 3, 4), ""), 4, "val"
    )
    made = with_even_labels([question] * 2400, rng=np.random.default_rng(0))
    orders = Counter((one.label, "".join(text for text in one.endings if text != "gold")) for one in made)
    assert {order for _, order in orders} == {"123", "132", "213", "231", "312", "321"}
    assert min(orders[label, order] for label in range(4) for order in ("123", "321", "213")) > 60
    assert all(one.endings[one.label] == "gold" for one in made)


def test_the_card_has_the_accuracies_up_to_what_is_released(made, tmp_path: Path, no_curve: None) -> None:
    """Of an earlier iteration it had those of the whole run."""
    for iteration in (0, 1, 2):
        release(replace(made[0], out=tmp_path / f"{iteration}", iteration=iteration))
        card = (tmp_path / f"{iteration}" / "README.md").read_text(encoding="utf-8")
        rows = [line for line in card.splitlines() if line.startswith("| hash |")]
        assert [row.split("|")[2].strip() for row in rows[:1]] == [str(iteration)] * (iteration > 0)
        assert "in all iterations; the curve shows all, too." in card


def test_any_iteration_can_be_released(made, run: Run, tmp_path: Path, no_curve: None) -> None:
    options, _ = made
    questions = release(replace(options, out=tmp_path / "first", iteration=0)).questions
    assert all(set(q.endings) <= set(texts) for q, texts in zip(questions, run.texts(0), strict=True))
    assert read_manifest(tmp_path / "first", "dataset")["iteration"] == 0


def test_the_card_of_the_start_speaks_of_no_filter(run: Run, tmp_path: Path, no_curve: None) -> None:
    """The start of a run of `bow` said that wrong endings were chosen, and that the audit's `bow` took part."""
    from_bow = filter_pool(run.pool, "bow", AFOptions(iterations=2, n_negatives=6), out=tmp_path / "run")
    for iteration, told in ((0, False), (2, True)):
        out = tmp_path / f"{iteration}"
        release(ReleaseOptions(from_bow.path, out, audit="bow", iteration=iteration))
        card = (out / "README.md").read_text(encoding="utf-8")
        assert ("chosen by Adversarial Filtering" in card) == told == ("took part" in card)
        assert ("drawn at random: these are the questions before any filtering" in card) != told


def odd_run(folder: Path, gold: str) -> Run:
    """A run of forty contexts, thirty of one video, whose golds begin so."""
    contexts = [
        Context("He opens\n  it.", "He", f"{gold} {i}.", id=f"c{i}", video=f"v{max(0, i - 29)}") for i in range(40)
    ]
    negatives = [[f"sees {k}\r{i}." for k in range(6)] for i in range(40)]
    pool = CandidatePool.from_texts(contexts, negatives)
    return filter_pool(pool, HashFilter(), AFOptions(iterations=1, n_negatives=5), out=folder / "run")


@pytest.mark.filterwarnings("ignore")
def test_data_without_videos_are_not_said_to_have_some(tmp_path: Path, no_curve: None) -> None:
    """The ids of contexts stand for videos there, and were counted as such."""
    named = odd_run(tmp_path / "named", "takes it")
    contexts = [replace(context, video="") for context in named.pool.contexts]
    negatives = [row[1:] for row in named.pool.texts(np.tile(np.arange(7), (40, 1)))]
    pool = CandidatePool.from_texts(contexts, negatives)
    unnamed = filter_pool(pool, HashFilter(), AFOptions(iterations=1, n_negatives=5), out=tmp_path / "unnamed/run")
    for run, unit, videos in ((named, "11 videos", True), (unnamed, "40 contexts", False)):
        out = run.path.parent / "dataset" if run.path else tmp_path
        dataset = release(ReleaseOptions(run.path, out, audit="none", val_share=0.1, test_share=0.1))
        assert dataset.kept_together.endswith(f" of {unit}")
        card = (out / "README.md").read_text(encoding="utf-8")
        assert f"{dataset.kept_together}; the largest has" in card
        assert ("| split | questions | videos |" in card) == ("No video stands in two splits" in card) == videos
        assert (any(row["video-id"] for row in rows_of(out / "train.csv"))) == videos


@pytest.mark.filterwarnings("ignore")
def test_what_is_asked_with_the_same_words_is_one_group_in_a_release_of_data_without_videos(
    tmp_path: Path, no_curve: None
) -> None:
    """Ids stood for videos in its files, so that an audit learnt a question's own words from its other rows."""
    asked = [(Context(f"What did the {'abcdefghij'[i // 4]}{i // 4} see?", "", f"thing {i}"), i) for i in range(40)]
    pool = CandidatePool.from_texts([one for one, _ in asked], [[f"no {i} {k}" for k in range(4)] for _, i in asked])
    filter_pool(pool, HashFilter(), AFOptions(iterations=1, n_negatives=3), out=tmp_path / "run")
    out = tmp_path / "made"
    release(ReleaseOptions(tmp_path / "run", out, audit="none", near_duplicates=1.0, val_share=0.2, test_share=0.2))
    for path in (out, out / "jsonl" / "train.jsonl", out / "train.csv"):
        found = read_instances([path])
        assert group(found).n == len({one.context for one in found.instances}) < len(found.instances)


@pytest.mark.filterwarnings("ignore")
def test_a_run_that_swapped_nothing_is_not_said_to_have_chosen(tmp_path: Path, no_curve: None) -> None:
    contexts = [Context(f"He sees door {i}.", "He", f"opens door {i}.") for i in range(40)]
    pool = CandidatePool.from_texts(contexts, [[f"eats pie {i} {k}." for k in range(4)] for i in range(40)])
    for n, swapped in ((4, False), (3, True)):
        run = filter_pool(pool, HashFilter(), AFOptions(iterations=4, n_negatives=n), out=tmp_path / f"run-{n}")
        assert run.path is not None
        dataset = release(ReleaseOptions(run.path, tmp_path / f"made-{n}", audit="none"))
        assert dataset.is_unfiltered != swapped
        card = (tmp_path / f"made-{n}" / "README.md").read_text(encoding="utf-8")
        assert ("chosen by Adversarial Filtering" in card) == swapped
        assert ("Filtering swapped none of the wrong endings" in card) != swapped


def test_ids_are_unique_whatever_ids_the_contexts_have(run: Run) -> None:
    """A second question of `a` had the id of the context `a-gen`."""
    contexts = list(run.pool.contexts)
    names = ["a", "a-gen", "a-gen-gen", "a-gen2", *(context.id for context in contexts[4:])]
    named = [replace(context, id=name) for context, name in zip(contexts, names, strict=True)]
    pool = CandidatePool.from_texts(named, [row[1:] for row in run.pool.texts(run.start)])
    examples = [(Example(row, answer, (2, 3, 4), "gold"), "train") for row in range(8) for answer in (0, 1)]
    ids = [one.id for one in make_questions(replace(run, pool=pool), examples, 3, seed=0)]
    assert len(set(ids)) == len(ids) == 16
    assert ids[::2] == names[:8]


@pytest.mark.filterwarnings("ignore")
def test_carriage_returns_make_no_row_and_line_breaks_no_paragraph(tmp_path: Path, no_curve: None) -> None:
    run = odd_run(tmp_path, "takes it out.\n\n# Heading\n\n")
    dataset = release(ReleaseOptions(run.path, tmp_path / "made", audit="none", val_share=0.1, test_share=0.1))
    for split in SPLITS:
        with (tmp_path / "made" / f"{split}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["ending0"] for row in rows] == [one.endings[0] for one in dataset.of_split(split)]
        assert {row["sent1"] for row in rows} <= {"He opens\n  it."}, "as it was written"
    card = (tmp_path / "made" / "README.md").read_text(encoding="utf-8")
    assert "\n# Heading" not in card
    assert card.count("\r") == 0


@pytest.mark.filterwarnings("ignore")
def test_of_a_test_split_alone_the_card_shows_no_answer_and_names_what_is_missing(
    tmp_path: Path, no_curve: None
) -> None:
    run = odd_run(tmp_path, "takes it out")
    options = ReleaseOptions(run.path, tmp_path / "made", audit="none", formats="none", val_share=0, test_share=0.99)
    dataset = release(options)
    assert dataset.sizes == {"train": 0, "val": 0, "test": 40}
    card = (tmp_path / "made" / "README.md").read_text(encoding="utf-8")
    assert "> (0) " in card
    assert "**(" not in card
    assert "data_files" not in card
    dataset = release(replace(options, out=tmp_path / "other", val_share=0.45, test_share=0.45))
    assert any("train has 0 questions where 4 were asked for" in line for line in shortfalls(dataset))


def test_a_run_that_is_not_finished_is_released_as_such(made, run: Run, tmp_path: Path, no_curve: None) -> None:
    assert shortfalls(made[1]) == []
    killed = run.path.with_name("killed")
    shutil.copytree(run.path, killed)
    open_run(killed).plan(60)
    dataset = release(replace(made[0], run=killed, out=tmp_path / "early", audit="none"))
    assert "3 of 60 that were planned are finished" in shortfalls(dataset)[0]
    card = (tmp_path / "early" / "README.md").read_text(encoding="utf-8")
    assert "after iteration 3 of 3 (60 were planned: the run is not finished) is released" in card


def test_five_distractors_give_six_endings(made, tmp_path: Path, no_curve: None) -> None:
    options, _ = made
    questions = release(replace(options, out=tmp_path / "six", n_distractors=5)).questions
    assert {len(set(question.endings)) for question in questions} == {6}
    assert "ending5" in rows_of(tmp_path / "six" / "train.csv")[0]


def test_more_distractors_than_assigned_are_refused(made, tmp_path: Path) -> None:
    options, _ = made
    with pytest.raises(ExhaustedError, match="assigns 6 negatives"):
        release(replace(options, out=tmp_path / "many", n_distractors=7))
    assert not (tmp_path / "many").exists()


@pytest.mark.parametrize(
    "shares",
    [
        {"val_share": -0.1},
        {"val_share": float("nan")},
        {"val_share": 0.5, "test_share": 0.5},
        {"n_distractors": 0},
        {"near_duplicates": 0.0},
    ],
)
def test_options_that_make_no_dataset_are_refused(shares: dict) -> None:
    with pytest.raises(InputError):
        ReleaseOptions(Path("run"), **shares)


def test_the_card_says_that_nobody_verified_the_distractors(made) -> None:
    options, _ = made
    card = (options.out / "README.md").read_text()
    assert "No person has verified these distractors" in card
    assert read_manifest(options.out, "dataset")["human_verdicts"] is None


def test_the_card_says_what_shares_a_split_as_far_as_anybody_looked(made, tmp_path: Path) -> None:
    """Of pools without groups of their own, nobody has looked for golds among the negatives of others."""
    options, dataset = made
    card = (options.out / "README.md").read_text(encoding="utf-8")
    assert "is a candidate negative of the other (both as far as a tenth of the contexts" in card
    pool = dataset.run.pool
    without = CandidatePool.open(
        pool.save(tmp_path / "pool").with_tables([t for t in pool.tables if t != "groups"], {}).path
    )
    run = filter_pool(without, HashFilter(), AFOptions(iterations=1, n_negatives=6), out=tmp_path / "run")
    release(replace(options, run=run.path, out=tmp_path / "dataset", audit="none"))
    card = (tmp_path / "dataset" / "README.md").read_text(encoding="utf-8")
    assert "share a sentence (as far as a tenth of the contexts" in card
    assert "candidate negative of the other" not in card


def test_the_card_has_the_numbers_of_its_files(made) -> None:
    options, dataset = made
    card = (options.out / "README.md").read_text()
    for split in SPLITS:
        assert f"| {split} | {len(rows_of(options.out / f'{split}.csv'))} |" in card
    assert f"{len(dataset.questions)} multiple-choice questions of 4 endings" in card
    for file in re.findall(r"`(\w+\.\w+)`|`(\w+/)`|\((\w+\.png)\)", card):
        assert (options.out / "".join(file)).exists()


def test_the_manifest_has_the_hashes_of_the_files(made) -> None:
    options, _ = made
    hashes = read_manifest(options.out, "dataset")["sha256"]
    assert set(hashes) == set(files_of(options.out))
    assert all(sha256_file(options.out / name) == value for name, value in hashes.items())


@pytest.mark.parametrize("name", ["LICENSE", "README.md"])
def test_what_a_publisher_added_or_filled_in_is_not_replaced(made, tmp_path: Path, no_curve: None, name: str) -> None:
    """The card asks for a contact; with --force it was written anew, and a licence beside it was gone."""
    mine = replace(made[0], out=tmp_path / "mine")
    release(mine)
    with (mine.out / name).open("a") as file:
        file.write("Ask us.\n")
    with pytest.raises(InputError, match=f"{name} in it was added or edited since it was made"):
        release(replace(mine, force=True))
    assert (mine.out / name).read_text().endswith("Ask us.\n")


def test_an_existing_dataset_is_replaced_only_by_force(made, tmp_path: Path, no_curve: None) -> None:
    options, _ = made
    mine = replace(options, out=tmp_path / "mine")
    release(mine)
    with pytest.raises(InputError, match="--force"):
        release(mine)
    before = files_of(mine.out)
    release(replace(mine, force=True, seed=3))
    assert files_of(mine.out) != before


def test_what_a_killed_release_left_is_taken_away(made, tmp_path: Path, no_curve: None) -> None:
    options, _ = made
    script = "import os; from swag_af.data.disk.replacing import HOST; print(f'.mine.{HOST}.{os.getpid()}.tmp')"
    name = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
    (tmp_path / name).mkdir()
    release(replace(options, out=tmp_path / "mine"))
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_run_is_left_as_it_was(made, run: Run) -> None:
    assert open_run(run.path).texts() == run.texts()
