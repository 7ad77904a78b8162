"""Claims about what is shown with the texts, in a release: any name, in every form, and taken for nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import HashFilter

from swag_af import AFOptions, CandidatePool, Context, filter_pool
from swag_af.data.instances.reading import read_instances
from swag_af.releasing.lm_eval.utils import read
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.questions import media_columns
from swag_af.releasing.verb import release

NAMES = ("image: url", "#objects", "[boxes]", "on", '"q"', "größe", "@id", "*b", "1", "null", "~", "-", "image #2")
TAKEN = ("ending_frame", "ending4", "question", "label", "id", "choices", "movie", "context", "answer_2", "video")


def released(folder: Path, media: dict[str, Any]) -> Path:
    contexts = [
        Context(
            f"Person {i} opens door {i * 7}.", "He", f"walks into room {i}.", id=f"r{i}", video=f"v{i}", media=media
        )
        for i in range(40)
    ]
    negatives = [[f"eats pie {i * 5 + k} there." for k in range(5)] for i in range(40)]
    pool = CandidatePool.from_texts(contexts, negatives, tagger="none").save(folder / "pool")
    filter_pool(pool, HashFilter(), AFOptions(iterations=1, n_negatives=3), out=folder / "run")
    return release(ReleaseOptions(folder / "run", folder / "dataset", audit="none")).options.out


def test_a_column_whose_name_another_has_already_is_not_lost() -> None:
    names = ("group", "media-group", "media-media-group", "image")
    columns = media_columns([Context("", "", "it.", media=dict.fromkeys(names, "shown"))])
    assert list(columns) == sorted(names)
    assert len(set(columns.values())) == len(names)
    assert "group" not in columns.values()


def test_columns_of_any_name_are_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The card's head named them without quotes, and load_dataset fell over it."""
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    out = released(tmp_path, {name: f"of {name}" for name in NAMES})
    loaded = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"))["train"]
    for name in NAMES:
        assert set(loaded[name]) == {f"of {name}"}


def test_columns_that_readers_would_take_for_others_have_a_name_of_their_own(tmp_path: Path) -> None:
    out = released(tmp_path, dict.fromkeys(TAKEN, "shown"))
    for question in read(out / "val.csv"):
        assert len(question["choices"]) == 4
        assert question["choices"][question["label"]].startswith("walks into room")
    for path in (out, out / "train.csv", out / "jsonl" / "train.jsonl"):
        for one in read_instances([path]).instances:
            assert one.context.startswith("Person")
            assert one.options[one.answer].startswith("walks into room")
            assert len(one.options) == 4
    (row, *_) = [json.loads(line) for line in (out / "jsonl" / "train.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {f"media-{name}" for name in TAKEN} <= set(row)
