"""A release is scored by whatever names its questions: ids, rows of the pool, the order of its files, its people."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HashFilter
from folders import write

import swag_af
from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.cli.main import main
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.judging.verdicts import Verdict, make_items, write_verdicts
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.verb import release


@pytest.fixture(scope="module")
def folder(pool_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in `run` and its release in `dataset`, whose rows stand in another order than the pool's."""
    path = tmp_path_factory.mktemp("scored")
    options = AFOptions(iterations=2, n_negatives=6)
    filter_pool(CandidatePool.open(pool_folder), HashFilter(), options, out=path / "run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("swag_af.releasing.verb.plot_run", lambda run, folder: [])
        release(ReleaseOptions(path / "run", path / "dataset", val_share=0.3, test_share=0.2))
    return path


def labelled(dataset: Path) -> list[dict[str, Any]]:
    """Every question of the release, in the order of its files, with its label."""
    rows = []
    for name in ("train", "validation", "test"):
        rows += [json.loads(line) for line in (dataset / "jsonl" / f"{name}.jsonl").read_text().splitlines()]
    labels = [line.split(",")[1] for line in (dataset / "test_labels.csv").read_text().splitlines()[1:]]
    for row, label in zip(rows[-len(labels) :], labels, strict=True):
        row["label"] = int(label)
    return rows


def accuracy(dataset: Path, path: Path, *flags: str) -> float:
    out = path.with_suffix(".scores.json")
    main(["score", str(dataset), str(path), "--json", str(out), "--force", *flags])
    found = json.loads(out.read_text())["models"][0]["figures"][0]
    return float(found["value"])


def rows_by(dataset: Path, key: str, column: str, *, order: int = 1) -> Iterable[dict[str, Any]]:
    return [{column: row[key], "prediction": row["label"]} for row in labelled(dataset)[::order]]


@pytest.mark.parametrize("column", ["row", "fold-ind"])
@pytest.mark.parametrize("order", [1, -1])
def test_the_rows_of_the_pool_name_questions_and_count_nothing(
    folder: Path, column: str, order: int, tmp_path: Path
) -> None:
    """They were taken for places in the files: of a perfect model a quarter was right."""
    path = write(tmp_path / "p.jsonl", rows_by(folder / "dataset", "row", column, order=order))
    assert accuracy(folder / "dataset", path) == 1
    assert accuracy(folder / "dataset", path, "--prediction-id", column) == 1


def test_the_ids_of_its_json_lines_name_questions(folder: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", rows_by(folder / "dataset", "id", "id", order=-1))
    assert accuracy(folder / "dataset", path) == 1


def test_numbers_that_a_column_of_the_dataset_has_in_another_order_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "p.jsonl", rows_by(folder / "dataset", "row", "qid"))
    with pytest.raises(SystemExit, match="2"):
        main(["score", str(folder / "dataset"), str(path)])
    assert "be its column fold-ind, which means others" in capsys.readouterr().err
    assert accuracy(folder / "dataset", path, "--id-column", "fold-ind") == 1


def test_predictions_in_another_order_than_a_text_of_the_dataset_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without ids they were matched by order, though `startphrase` stood beside them."""
    train = folder / "dataset" / "train.csv"
    questions = labelled(folder / "dataset")[: len(train.read_text().splitlines()) - 1]
    made = [{"sent1": row["sent1"], "prediction": row["label"]} for row in questions]
    assert accuracy(train, write(tmp_path / "p.jsonl", made[::-1])) == 1, "it names each question"
    first, second = made[0]["sent1"], made[1]["sent1"]
    twice = [row | {"sent1": row["sent1"].replace(second, first)} for row in made]
    data = tmp_path / "twice.csv"
    data.write_text(train.read_text().replace(second, first))
    assert accuracy(data, write(tmp_path / "same.jsonl", twice)) == 1
    with pytest.raises(SystemExit, match="2"):
        main(["score", str(data), str(write(tmp_path / "other.jsonl", twice[::-1]))])
    assert "its sent1 stands in another order than in twice" in capsys.readouterr().err


def test_people_of_the_run_stand_beside_models_of_the_release(folder: Path, tmp_path: Path) -> None:
    run = swag_af.open_run(folder / "run")
    path = tmp_path / "verdicts.jsonl"
    verdicts = [
        Verdict(item, "a", ("likely",) * len(item.columns), int(item.row % 2), 2)
        for item in make_items(run.assignment(), seed=0)
    ]
    write_verdicts(path, verdicts, run.pool.identity)
    out = tmp_path / "scores.json"
    main(["score", str(folder / "dataset"), "--people", str(path), "--json", str(out)])
    figures = {one["name"]: one["value"] for one in json.loads(out.read_text())["people"]["figures"]}
    rows = np.array([row["row"] for row in labelled(folder / "dataset")])
    assert figures["majority of 1"] == pytest.approx((rows % 2 == 0).mean(), abs=1e-6)
    with pytest.raises(InputError, match="verdicts on the items of a run"):
        swag_af.score(swag_af.ScoreOptions(folder / "dataset" / "train.csv", (), people=path))
