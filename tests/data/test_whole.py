"""Names that are whole numbers, in tables that have an empty cell under them."""

from pathlib import Path

import pytest
from folders import write
from test_reading import write_table

from swag_af.data.captions.readers import read_videos
from swag_af.data.cells.whole import with_whole_numbers
from swag_af.data.instances.options import ReadingOptions
from swag_af.data.instances.reading import read_instances
from swag_af.data.pool.options import PoolOptions
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pooling.verb import pool
from swag_af.data.tables.sources import open_source


def test_a_column_is_whole_where_every_cell_that_says_something_is(tmp_path: Path) -> None:
    rows = [{"a": "1.0", "b": "1.0", "c": "", "d": "1.0"}, {"a": "", "b": "1.5", "c": "", "d": "v2"}]
    source = open_source(write_table(tmp_path / "rows.csv", [*rows, rows[0] | {"a": "20.0"}]))
    read = [row for _, row in with_whole_numbers(source, "abcd").read(source.columns)]
    assert [row["a"] for row in read] == ["1", "", "20"]
    assert [[row[name] for name in "bcd"] for row in read] == [
        ["1.0", "", "1.0"],
        ["1.5", "", "v2"],
        ["1.0", "", "1.0"],
    ]


def test_one_late_cell_says_that_a_column_holds_no_whole_numbers(tmp_path: Path) -> None:
    rows = [{"a": f"{i}.0", "b": "x"} for i in range(300)] + [{"a": "300.5", "b": "x"}]
    source = open_source(write_table(tmp_path / "rows.csv", rows))
    assert next(with_whole_numbers(source, "a").read(["a"]))[1]["a"] == "0.0"


QUESTIONS = [{"question": f"Q {i}?", "option1": f"a{i}", "option2": f"b{i}", "label": i % 2} for i in range(4)]


def test_groups_of_two_files_are_one_where_pandas_made_floats_of_one(tmp_path: Path) -> None:
    """`1.0` in one file was another video than `1` in the next."""
    train = [row | {"video_id": video} for row, video in zip(QUESTIONS, ("1.0", "2.0", "", "3.0"), strict=True)]
    val = [row | {"video_id": video} for row, video in zip(QUESTIONS, "1234", strict=True)]
    paths = [write_table(tmp_path / "train.csv", train), write_table(tmp_path / "val.csv", val)]
    assert [one.group for one in read_instances(paths).instances] == ["1", "2", "", "3", "1", "2", "3", "4"]


@pytest.mark.parametrize("ids", ["0.0 1.0 2.0 3.0", "0 1 2 3"])
def test_labels_of_a_file_go_by_ids_that_pandas_made_floats(tmp_path: Path, ids: str) -> None:
    questions = [{name: one for name, one in row.items() if name != "label"} for row in QUESTIONS]
    path = write(tmp_path / "rows.jsonl", [row | {"id": i} for i, row in enumerate(questions)])
    labels = [{"id": id, "label": i % 2} for i, id in enumerate(ids.split())]
    found = read_instances(path, ReadingOptions(labels_file=write_table(tmp_path / "labels.csv", labels)))
    assert found.answers.tolist() == [0, 1, 0, 1]


def test_videos_and_folds_may_be_floats(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    videos = pyarrow.table({"video": [1.0, 1.0, 2.0], "sentence": ["A dog runs.", "It stops.", "A cat."]})
    parquet.write_table(videos, tmp_path / "rows.parquet")
    assert [video.id for video in read_videos(tmp_path / "rows.parquet")] == ["1", "2"]
    rows = [{"video": video, "sentence": "A dog runs."} for video in ("1.0", "1.0", "2.0")]
    assert [video.id for video in read_videos(write_table(tmp_path / "rows.csv", rows))] == ["1", "2"]
    given = [
        {"sent1": f"A dog {word}.", "start": "It", "gold": f"{word} on.", "negatives": '["stops.", "sits."]'}
        | {"id": f"{i}.0", "video": f"{i}.0", "fold": f"{i % 2}.0"}
        for i, word in enumerate(("runs", "barks", "eats", "swims"))
    ]
    pool(PoolOptions((write_table(tmp_path / "given.csv", given),), tmp_path / "pool", tagger="none"))
    contexts = CandidatePool.open(tmp_path / "pool").contexts
    assert [(one.id, one.video, one.fold) for one in contexts] == [(f"{i}", f"{i}", i % 2) for i in range(4)]
