"""The released dataset: SWAG's files, no video in two splits, answers that their place does not give away."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import HashFilter

from swag_af.data.errors import FormatError, InputError
from swag_af.data.pool import CandidatePool
from swag_af.loop import filter_pool
from swag_af.options import AFOptions, Release, Show
from swag_af.release import release, split_by_video
from swag_af.runs import open_run
from swag_af.show import show

COLUMNS = ["video-id", "fold-ind", "startphrase", "sent1", "sent2", "gold-source", *(f"ending{i}" for i in range(4))]


@pytest.fixture(scope="module")
def run_folder(pool_folder, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    filter_pool(CandidatePool.open(pool_folder), HashFilter(), AFOptions(iterations=4, n_negatives=5), out=out)
    return out


@pytest.fixture(scope="module")
def dataset(run_folder, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("datasets") / "dataset"
    release(Release(run_folder, out, val_share=0.2, test_share=0.2))
    return out


def read(dataset: Path) -> dict[str, pd.DataFrame]:
    return {split: pd.read_csv(dataset / f"{split}.csv", index_col=0) for split in ("train", "val", "test")}


def test_columns_are_swags(dataset):
    tables = read(dataset)
    for split in ("train", "val"):
        assert list(tables[split].columns) == [*COLUMNS, "label"]
        assert (dataset / f"{split}.csv").read_text().startswith(",video-id,")
    assert list(tables["test"].columns) == COLUMNS


def test_gold_stands_at_its_label_among_assigned_negatives(dataset, run_folder):
    run, tables = open_run(run_folder), read(dataset)
    tables["test"]["label"] = pd.read_csv(dataset / "test_labels.csv", index_col=0)["label"]
    assigned = run.texts()
    for _, row in pd.concat(tables.values()).iterrows():
        endings = [row[f"ending{i}"] for i in range(4)]
        assert endings[row["label"]] == assigned[row["fold-ind"]][0]
        assert len(set(endings)) == 4
        assert set(endings) <= set(assigned[row["fold-ind"]])


def test_no_video_stands_in_two_splits_and_no_row_is_lost(dataset, pool):
    tables = read(dataset)
    videos = [set(table["video-id"]) for table in tables.values()]
    assert sum(map(len, videos)) == len(set.union(*videos))
    assert sum(map(len, tables.values())) == len(pool)


def test_labels_are_as_even_as_can_be(run_folder, tmp_path):
    labels = [q.label for q in release(Release(run_folder, tmp_path / "d"))]
    assert np.ptp(np.bincount(labels, minlength=4)) <= 1


def test_splits_take_their_share():
    videos = [f"v{i}" for i in range(400) for _ in range(1 + i % 3)]
    split_of = split_by_video(videos, 0.2, 0.1, rng=np.random.default_rng(0))
    shares = {split: np.mean([split_of[v] == split for v in videos]) for split in ("train", "val", "test")}
    assert shares == pytest.approx({"train": 0.7, "val": 0.2, "test": 0.1}, abs=0.01)


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(run_folder, tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        release(Release(run_folder, tmp_path / name, seed=seed))
    files = {name: (tmp_path / name / "train.csv").read_bytes() for name in "abc"}
    assert files["a"] == files["b"] != files["c"]


def test_an_earlier_iteration_can_be_released(run_folder, tmp_path):
    questions = release(Release(run_folder, tmp_path / "d", iteration=0))
    start = open_run(run_folder).texts(0)
    assert all(set(q.endings) <= set(start[q.number]) for q in questions)


def test_the_card_says_that_nobody_has_verified(dataset):
    card = (dataset / "README.md").read_text()
    assert "No person has verified" in card
    assert "30 multiple-choice questions" in card


def test_force_replaces_a_dataset_and_nothing_else(run_folder, dataset, tmp_path):
    with pytest.raises(InputError, match="already exists"):
        release(Release(run_folder, dataset))
    with pytest.raises(FormatError, match="not a dataset"):
        release(Release(run_folder, run_folder, force=True))
    (tmp_path / "mine").mkdir()
    with pytest.raises(FormatError, match="not a dataset"):
        release(Release(run_folder, tmp_path / "mine", force=True))
    release(Release(run_folder, tmp_path / "d"))
    release(Release(run_folder, tmp_path / "d", seed=5, force=True))
    assert [p.name for p in tmp_path.glob(".*")] == []


@pytest.mark.parametrize("kind", ["pool", "run", "dataset", "contexts"])
def test_show_tells_numbers_examples_and_what_to_run_next(kind, request, contexts_file):
    paths = {"pool": "pool_folder", "run": "run_folder", "dataset": "dataset"}
    path = contexts_file if kind == "contexts" else request.getfixturevalue(paths[kind])
    told = show(Show(path, n=2))
    assert told.startswith(f"{path}: {kind}")
    assert "Next: " in told
    assert told.count("  * a) ") + told.count("  * b) ") + told.count("  * c) ") + told.count("  * d) ") == 2


def test_show_of_an_unknown_folder_is_refused(tmp_path):
    with pytest.raises(FormatError, match="knows context files"):
        show(Show(tmp_path))
