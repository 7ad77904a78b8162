"""Claims about the verbs `pool` and `tag`: every layout and format loads, faults are one line, nothing is half made."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HashFilter
from folders import write
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import shared

from swag_af import AFOptions, CandidatePool, Context, filter_pool, open_run
from swag_af.cli.main import main
from swag_af.data.cells.values import split_context
from swag_af.data.disk.files import read_json
from swag_af.data.errors import FormatError, InputError
from swag_af.data.extras import install
from swag_af.data.instances.reading import read_instances
from swag_af.data.plugins.own_code import load_function
from swag_af.data.pool import rows as tables
from swag_af.data.pool import spool as spooling
from swag_af.data.pool.options import Columns, PoolOptions, TagOptions
from swag_af.data.pooling import verb as build
from swag_af.data.pooling.verb import pool, tag
from swag_af.data.work.locks import alone

ROWS: list[dict[str, Any]] = [
    {"sent1": "A cook waits.", "start": "She", "gold": "stirs the soup.", "negatives": ["flies off.", "sings."]},
    {
        "sent1": "A dog barks.",
        "start": "The dog",
        "gold": "runs, then sits.",
        "negatives": ['says "no".', "o\tp", "é."],
    },
    {"sent1": "Two men row.", "start": "", "gold": "They win.", "negatives": ["THEY WIN", "lose, badly", "lose,badly"]},
]
KEPT = [
    ["stirs the soup.", "flies off.", "sings."],
    ["runs, then sits.", 'says "no".', "o\tp", "é."],
    ["They win.", "lose, badly"],
]


def write_rows(path: Path, rows: list[dict[str, Any]], newline: str = "\n") -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + newline for row in rows)
    path.write_bytes(text.encode())
    return path


def write_list(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(rows, indent=2), encoding="utf-8")
    return path


def write_csv(path: Path, rows: list[dict[str, Any]], names: list[str] | None = None, **settings: Any) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names or list(rows[0]), restval="", **settings)
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def write_datasets(folder: Path, rows: list[dict[str, Any]], **state: object) -> Path:
    """What `datasets.save_to_disk` writes of these rows, in two files."""
    pyarrow = pytest.importorskip("pyarrow")
    folder.mkdir(parents=True)
    table = pyarrow.Table.from_pylist(rows)
    names = [f"data-0000{i}-of-00002.arrow" for i in range(2)]
    for name, part in zip(names, (table.slice(0, 1), table.slice(1)), strict=True):
        with pyarrow.OSFile(str(folder / name), "wb") as file, pyarrow.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(part)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": n} for n in names]} | state))
    (folder / "dataset_info.json").write_text("{}")
    return folder


def numbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The negatives of each row in columns of their own."""
    return [
        {name: value for name, value in row.items() if name != "negatives"}
        | {f"negative{i}": text for i, text in enumerate(row["negatives"])}
        for row in rows
    ]


def build_pool(source: Path, **settings: Any) -> CandidatePool:
    return pool(PoolOptions((source,), source.parent / "pool", **({"tagger": "none"} | settings)))


def texts_of(made: CandidatePool) -> list[list[str]]:
    return [[made.text(row, k) for k in range(count)] for row, count in enumerate(made.counts)]


def contents(made: CandidatePool) -> dict[str, object]:
    """All that a pool holds, whatever its shards."""
    rows = np.arange(len(made))
    arrays = {name: made.gather(name, rows) for name in made.tables if name not in ("text", "text_ends")}
    return {
        "arrays": {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()},
        "vocabulary": made.vocabulary.sha256,
        "contexts": made.contexts,
        "texts": texts_of(made),
        "dropped": made.manifest["dropped_negatives"],
    }


# ------------------------------------------------------------------------------- formats

NAMES = ["sent1", "start", "gold", "negative0", "negative1", "negative2"]
FORMATS: dict[str, Callable[[Path], Path]] = {
    "jsonl": lambda folder: write_rows(folder / "rows.jsonl", ROWS),
    "jsonl of another name": lambda folder: write_rows(folder / "rows.txt", ROWS),
    "jsonl with CRLF, blank lines and a BOM": lambda folder: write_bom(folder / "rows.jsonl"),
    "csv with numbered columns": lambda folder: write_csv(folder / "rows.csv", numbered(ROWS), NAMES),
    "csv with JSON lists": lambda folder: write_csv(folder / "rows.csv", with_json_lists()),
    "csv with a BOM and CRLF": lambda folder: with_bom(write_csv(folder / "rows.csv", numbered(ROWS), NAMES)),
    "one JSON list": lambda folder: write_list(folder / "rows.json", ROWS),
    "tsv": lambda folder: write_csv(folder / "rows.tsv", numbered(ROWS), NAMES, delimiter="\t"),
    "parquet": lambda folder: write_parquet(folder / "rows.parquet", ROWS),
    "parquet with numbered columns": lambda folder: write_parquet(folder / "rows", padded(numbered(ROWS))),
    "datasets": lambda folder: write_datasets(folder / "saved", ROWS),
}


def write_bom(path: Path) -> Path:
    return with_bom(write_rows(path, ROWS, newline="\r\n\r\n"))


def with_bom(path: Path) -> Path:
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    return path


def with_json_lists() -> list[dict[str, Any]]:
    return [row | {"negatives": json.dumps(row["negatives"])} for row in ROWS]


def padded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: row.get(name) for name in NAMES} for row in rows]


def test_a_base_of_labels_without_labels_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("sent1,start,gold,negative0\nA man sits.,He,eats.,runs.\n")
    with pytest.raises(InputError, match="--label-base 1: no file has labels that are read"):
        pool(PoolOptions((tmp_path / "rows.csv",), tmp_path / "pool", label_base="1", tagger="none"))


def test_a_base_of_labels_within_an_object_is_used(tmp_path: Path) -> None:
    """It was refused, since no column is called `answer.label`."""
    row = {"question": "What next?", "choices": ["runs.", "eats.", "sings."], "answer": {"label": 1}}
    columns = Columns(context_column="question", endings_column="choices", label_column="answer.label")
    made = build_pool(write_rows(tmp_path / "rows.jsonl", [row]), columns=columns, label_base="1")
    assert made.contexts[0].gold == "runs."


@pytest.mark.parametrize("write", FORMATS.values(), ids=FORMATS.keys())
def test_every_format_gives_the_same_pool(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    made = build_pool(write(tmp_path))
    assert texts_of(made) == KEPT
    assert [(c.sent1, c.start) for c in made.contexts] == [(row["sent1"], row["start"]) for row in ROWS]
    assert made.manifest["dropped_negatives"] == {"blank": 0, "equal_to_gold": 1, "repeated": 1, "flagged": 0}


@pytest.mark.parametrize("name", ["mine.json", "mine.jsonl"])
def test_a_column_that_the_first_row_lacks_is_read(name: str, tmp_path: Path) -> None:
    """Of lines, those of the first alone were known: rows of one video were parted, without a word."""
    rows = [{**ROWS[0], "sent1": f"Cook {i} waits."} | ({"video_id": f"v{i % 2}"} if i else {}) for i in range(9)]
    path = tmp_path / name
    path.write_text(json.dumps(rows) if name.endswith("json") else "".join(f"{json.dumps(row)}\n" for row in rows))
    made = pool(PoolOptions(sources=(path,), out=tmp_path / "pool", tagger="none"))
    assert [context.video for context in made.contexts] == ["row-0", *(f"v{i % 2}" for i in range(1, 9))]


def test_what_datasets_saves_loads(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_list(ROWS).save_to_disk(tmp_path / "saved")
    assert texts_of(build_pool(tmp_path / "saved")) == KEPT


# ------------------------------------------------------------------------------- layouts

SWAG = [
    {"": i, "video-id": f"anetv_{i}", "fold-ind": "7", "startphrase": "He sits. He", "sent1": "He sits.", "sent2": "He"}
    | {"gold-source": "gold"}
    | {f"ending{k}": f"does thing {k} of {i}." for k in range(4)}
    | {"label": i % 4}
    for i in range(6)
]
SWAG_FULL = [
    {"video-id": f"lsmdc{i}", "fold-ind": "7", "startphrase": "He sits. He", "gold-ending": f"stands {i}."}
    | {f"distractor-{k}": f"does thing {k} of {i}." for k in range(4)}
    | {"gold-source": "gold0-orig", "gold-type": "likely"}
    | {f"distractor-{k}-type": "unlikely" for k in range(4)}
    | {"sent1": "He sits.", "sent2": "He"}
    for i in range(3)
]
HELLASWAG = [
    {"ind": 10 + i, "activity_label": "Rowing", "ctx_a": "They sit.", "ctx_b": "the men", "ctx": "They sit. the men"}
    | {"split": "val", "split_type": "indomain", "label": (0, "1", 2.0)[i], "endings": [f"row {k}." for k in range(4)]}
    | {"source_id": ("activitynet~v_a", "wikihow~7", "activitynet~v_a")[i]}
    for i in range(3)
]


def test_swag_files_load_with_the_label_as_gold(tmp_path: Path) -> None:
    made = build_pool(write_csv(tmp_path / "val.csv", SWAG))
    assert made.contexts[2] == Context(
        "He sits.", "He", "does thing 2 of 2.", "row-2", "anetv_2", "activitynet", made.contexts[2].fold
    )
    assert texts_of(made)[2] == [f"does thing {k} of 2." for k in (2, 0, 1, 3)]
    assert made.counts.tolist() == [4] * 6


def test_full_swag_files_load(tmp_path: Path) -> None:
    made = build_pool(write_csv(tmp_path / "val_full.csv", SWAG_FULL))
    assert texts_of(made)[1] == ["stands 1.", *(f"does thing {k} of 1." for k in range(4))]
    assert {(c.source, c.sent1, c.start) for c in made.contexts} == {("lsmdc", "He sits.", "He")}


def test_hellaswag_files_load_and_keep_videos_together(tmp_path: Path) -> None:
    made = build_pool(write_rows(tmp_path / "val.jsonl", HELLASWAG))
    assert [texts[0] for texts in texts_of(made)] == ["row 0.", "row 1.", "row 2."]
    assert [(c.source, c.video) for c in made.contexts] == [
        ("activitynet", "activitynet~v_a"),
        ("wikihow", "wikihow~7"),
        ("activitynet", "activitynet~v_a"),
    ]
    assert made.contexts[0].fold == made.contexts[2].fold


def test_columns_that_are_named_stand_in_place_of_those_of_a_named_layout(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "val.jsonl", [row | {"topic": f"t{i // 2}"} for i, row in enumerate(HELLASWAG)])
    made = build_pool(path, layout="hellaswag", columns=Columns(video_column="topic"))
    assert [context.video for context in made.contexts] == ["t0", "t0", "t1"]
    with pytest.raises(InputError, match=r"no column topics.*topic"):
        build_pool(path, layout="hellaswag", columns=Columns(video_column="topics"), force=True)


def test_a_published_dataset_saved_by_datasets_loads(tmp_path: Path) -> None:
    saved = write_datasets(tmp_path / "saved", [row | {"label": str(row["label"])[0]} for row in HELLASWAG])
    assert [texts[0] for texts in texts_of(build_pool(saved))] == ["row 0.", "row 1.", "row 2."]


def test_the_released_dataset_of_a_run_loads_as_a_pool_with_the_labels_of_its_test(
    tmp_path: Path, pool_folder: Path
) -> None:
    filter_pool(
        CandidatePool.open(pool_folder), HashFilter(), AFOptions(iterations=1, n_negatives=4), out=tmp_path / "r"
    )
    main(["release", str(tmp_path / "r"), "--out", str(tmp_path / "dataset"), "--test-share", "0.2"])
    made = build_pool(tmp_path / "dataset")
    expected = []
    for split in ("train", "val", "test"):
        rows = list(csv.DictReader((tmp_path / "dataset" / f"{split}.csv").open(encoding="utf-8", newline="")))
        labels = list(csv.DictReader((tmp_path / "dataset" / "test_labels.csv").open(encoding="utf-8", newline="")))
        keys = [row["label"] for row in (labels if split == "test" else rows)]
        expected += [row[f"ending{key}"] for row, key in zip(rows, keys, strict=True)]
    assert [context.gold for context in made.contexts] == expected
    assert len(made) == 30


def test_columns_of_any_name_load(tmp_path: Path) -> None:
    rows = [
        {
            "sent1": "Not this.",
            "start": "nor this",
            "question": "It rains. She",
            "choices": ["sleeps.", "sings.", "runs."],
            "answer": 1,
            "n": "q7",
        }
    ]
    columns = Columns(context_column="question", endings_column="choices", label_column="answer", id_column="n")
    made = build_pool(write_rows(tmp_path / "q.jsonl", rows), columns=columns)
    assert made.contexts[0] == Context("It rains.", "She", "sings.", "q7", "q7", "custom", 0)
    assert texts_of(made) == [["sings.", "sleeps.", "runs."]]


@pytest.mark.parametrize(
    ("columns", "near"),
    [
        ({"video_column": "passge"}, "passage for passge"),
        ({"id_column": "kee"}, "key for kee"),
        ({"context_column": "questoin"}, "question for questoin"),
        ({"label_column": "anwser", "endings_column": "gold"}, "no column anwser"),
    ],
)
def test_a_column_that_is_named_and_not_there_is_told(tmp_path: Path, columns: dict[str, str], near: str) -> None:
    """A misspelt group was none, without a word: each passage of a release stood in several splits."""
    rows = [{**row, "passage": f"p{i // 4}", "key": i, "question": "Why?"} for i, row in enumerate(ROWS)]
    assert near in refused(write_rows(tmp_path / "rows.jsonl", rows), columns=Columns(**columns))


def test_marks_within_a_list_or_in_gold_too_part_no_negatives(tmp_path: Path) -> None:
    rows = [
        GOOD | {"negatives": '["flies; off.", "sings."]'},
        GOOD | {"gold": "stirs; sits.", "negatives": "flies; sings."},
        GOOD | {"negatives": "(sings)"},
    ]
    assert build_pool(write_rows(tmp_path / "rows.jsonl", rows)).counts.tolist() == [3, 2, 2]


def test_endings_may_stand_without_a_start(tmp_path: Path) -> None:
    rows = [{name: value for name, value in row.items() if name != "start"} for row in ROWS]
    made = build_pool(write_rows(tmp_path / "rows.jsonl", rows), columns=Columns(start_column=""))
    assert {context.start for context in made.contexts} == {""}


def test_several_sources_of_several_layouts_make_one_pool(tmp_path: Path) -> None:
    sources = write_rows(tmp_path / "a.jsonl", ROWS), write_csv(tmp_path / "b.csv", SWAG)
    made = pool(PoolOptions(sources, tmp_path / "pool", tagger="none"))
    assert [context.id for context in made.contexts] == [f"row-{i}" for i in range(9)]
    assert made.counts.tolist() == [3, 4, 2, *[4] * 6]
    assert [entry["layout"] for entry in made.manifest["made_by"]["sources"]] == ["columns", "swag"]


def test_a_source_named_twice_is_refused_whatever_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its rows stood twice in the pool."""
    monkeypatch.chdir(tmp_path)
    source = write_rows(tmp_path / "rows.jsonl", ROWS)
    with pytest.raises(InputError, match=r"^rows\.jsonl: named twice\. Name each source once\.$"):
        pool(PoolOptions((source, Path("rows.jsonl")), tmp_path / "pool", tagger="none"))
    assert not (tmp_path / "pool").exists()


def test_empty_contexts_are_counted_and_the_first_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [*ROWS, *(row | {"sent1": " ", "start": ""} for row in ROWS[:2])]
    path = write_rows(tmp_path / "rows.jsonl", rows)
    build_pool(path)
    warning = "Warning: 2 contexts are empty (first: rows.jsonl, line 4). Fill them in, or take these rows out.\n"
    assert warning in capsys.readouterr().err
    build_pool(write_rows(path, ROWS), force=True)
    assert "empty" not in capsys.readouterr().err


SPLITS = {
    "He sits. She": ("He sits.", "She"),
    "He sits! Then he waits? A man in black": ("He sits! Then he waits?", "A man in black"),
    "He sits. She stands.": ("He sits. She stands.", ""),
    "Nobody": ("Nobody", ""),
    "He meets Mr. Smith. Mr. Smith": ("He meets Mr. Smith.", "Mr. Smith"),
    'He says "stop." The car': ('He says "stop."', "The car"),
    "": ("", ""),
    "他坐下。她站着。他看": ("他坐下。她站着。", "他看"),
    "他说：「停！」 她走": ("他说：「停！」", "她走"),
    "他坐下。她站着。": ("他坐下。她站着。", ""),
}


@pytest.mark.parametrize(("text", "parts"), SPLITS.items())
def test_a_context_in_one_text_is_parted_after_its_last_sentence(text: str, parts: tuple[str, str]) -> None:
    assert split_context(text) == parts


# ------------------------------------------------------------------------------- the same pool as from lists

WORDS = st.text(st.characters(codec="utf-8"), max_size=12)
USUAL = WORDS.map("the {}".format)
GIVEN = st.lists(st.tuples(WORDS, USUAL, st.lists(USUAL | WORDS, min_size=1, max_size=5)), min_size=1, max_size=6)
ODD = st.lists(st.tuples(WORDS, WORDS, st.lists(WORDS, max_size=5)), min_size=1, max_size=6)


@settings(max_examples=50)
@given(rows=GIVEN | ODD, block=st.integers(1, 9), shard=st.integers(1, 200), form=st.sampled_from(["jsonl", "csv"]))
def test_the_verb_makes_what_from_texts_makes(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, list[str]]],
    block: int,
    shard: int,
    form: str,
) -> None:
    folder = tmp_path_factory.mktemp("same")
    contexts = [Context("A.", start, gold, video=f"v{i % 2}", fold=i % 3) for i, (start, gold, _) in enumerate(rows)]
    records = [
        {"sent1": c.sent1, "start": c.start, "gold": c.gold, "video": c.video, "fold": c.fold, "negatives": row[2]}
        for c, row in zip(contexts, rows, strict=True)
    ]
    if form == "csv":
        source = write_csv(folder / "a.csv", [r | {"negatives": json.dumps(r["negatives"])} for r in records])
    else:
        source = write_rows(folder / "a.jsonl", records)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tables, "BLOCK_CANDIDATES", block)
        patched.setattr(spooling, "_SHARD_BYTES", shard)
        try:
            made = build_pool(source)
        except InputError as error:
            n = re.search(r"(\d+) rows cannot", str(error))
            with pytest.raises(InputError, match=f"{n[1]} rows" if n else "texts: row"):
                CandidatePool.from_texts(contexts, [row[2] for row in rows], tagger="none")
            assert not (folder / "pool").exists()
            return
    assert contents(made) == contents(CandidatePool.from_texts(contexts, [row[2] for row in rows], tagger="none"))


def test_a_small_pool_has_the_identity_of_the_same_texts_in_memory(tmp_path: Path) -> None:
    rows = [row | {"fold": 0} for row in ROWS]
    made = build_pool(write_rows(tmp_path / "rows.jsonl", rows), tagger="rules")
    contexts = [Context(row["sent1"], row["start"], row["gold"]) for row in rows]
    lists = [row["negatives"] for row in rows]
    assert made.identity == CandidatePool.from_texts(contexts, lists, tagger="rules").identity


def test_what_is_shown_with_the_text_stays_with_it(tmp_path: Path) -> None:
    shown: list[dict[str, Any]] = [
        {"image": "a.jpg", "objects": ["cup", "cup"], "frame": 3},
        {"image": "", "objects": "[not JSON", "frame": None},
        {"image": "[b].jpg", "objects": '{"cup": 2}', "frame": 0},
    ]
    rows = [row | of_row for row, of_row in zip(ROWS, shown, strict=True)]
    columns = Columns(media_columns="image,objects,frame")
    made = build_pool(write_rows(tmp_path / "rows.jsonl", rows), columns=columns)
    kept = [context.media for context in made.contexts]
    assert kept == [shown[0], {"objects": "[not JSON"}, {"image": "[b].jpg", "objects": {"cup": 2}, "frame": 0}]
    (tmp_path / "lacking").mkdir()
    lacking = [rows[0], {name: value for name, value in rows[1].items() if name != "image"}, rows[2]]
    again = build_pool(write_rows(tmp_path / "lacking" / "rows.jsonl", lacking), columns=columns)
    assert [context.media for context in again.contexts] == kept
    (tmp_path / "odd").mkdir()
    for number, fault in ((float("nan"), "nan is not a finite number"), (1 << 64, "a whole number beyond 64 bits")):
        said = refused(
            write_rows(tmp_path / "odd" / "rows.jsonl", [rows[0] | {"frame": [1.0, number]}]), columns=columns
        )
        assert f"line 1 has media that cannot be kept (frame[1]: {fault})" in said
    (tmp_path / "without").mkdir()
    without = build_pool(write_rows(tmp_path / "without" / "rows.jsonl", rows))
    assert not any(context.media for context in without.contexts)


def test_columns_of_media_may_be_named_beside_a_published_layout(tmp_path: Path) -> None:
    rows = [{**row, "image": f"{i}.jpg"} for i, row in enumerate(SWAG)]
    made = build_pool(write_csv(tmp_path / "train.csv", rows), columns=Columns(media_columns="image"))
    assert [context.media["image"] for context in made.contexts] == [row["image"] for row in rows]
    (tmp_path / "other").mkdir()
    said = refused(write_csv(tmp_path / "other" / "train.csv", rows), columns=Columns(media_columns="image,thing"))
    assert "no column thing (it has" in said


@pytest.mark.parametrize("layout", ["gold", "label"])
def test_features_follow_their_endings(tmp_path: Path, layout: str) -> None:
    values = np.arange(8).reshape(4, 2).tolist()
    if layout == "gold":
        row = {"gold": "a b.", "negatives": ["c.", "A B.", "d."], "features": values}
        expected = [values[0], values[1], values[3]]
    else:
        row = {"endings": ["c.", "A B", "d.", "a b."], "label": 3, "features": values}
        expected = [values[3], values[0], values[2]]
    made = build_pool(write_rows(tmp_path / "a.jsonl", [{"sent1": "It is.", "start": "It"} | row]))
    assert made.gather("features", np.arange(1)).tolist() == [expected]


def test_folds_are_dealt_by_video_where_no_row_has_one(tmp_path: Path) -> None:
    made = build_pool(write_rows(tmp_path / "a.jsonl", [ROWS[0] | {"video": f"v{i // 2}"} for i in range(80)]))
    folds = [context.fold for context in made.contexts]
    assert folds[::2] == folds[1::2]
    assert set(folds) == {0, 1, 2, 3, 4}


def test_an_ending_of_any_length_sets_the_pools_own_width(tmp_path: Path) -> None:
    long = "word " * 60_000 + "."
    made = build_pool(write_csv(tmp_path / "a.csv", numbered([ROWS[0] | {"negatives": ["short.", long]}])))
    assert made.gather("lengths", np.arange(1)).tolist() == [[4, 2, 60_001]]
    assert made.text(0, 2) == long


# ------------------------------------------------------------------------------- bad input


def refused(source: Path, **settings: Any) -> str:
    """What the verb says; nothing may stand where the pool would."""
    with pytest.raises(InputError) as told:
        build_pool(source, **settings)
    assert "\n" not in str(told.value)
    assert not (source.parent / "pool").exists()
    assert not list(source.parent.glob(".*"))
    return str(told.value)


GOOD = ROWS[0]
LABELLED = {"sent1": "A.", "start": "B", "endings": ["c.", "d."], "label": 0}
BAD_ROWS = {
    "no gold": ([GOOD, GOOD | {"gold": None}], "rows.jsonl: line 2 has no text under gold"),
    "blank gold": ([GOOD, GOOD | {"gold": " \u200b"}], "line 2 has an empty gold ending"),
    "a negative that is no text": (
        [GOOD, GOOD | {"negatives": ["a.", True]}],
        "line 2 has a truth value as number 1 of negatives, where a text is due, in quotes",
    ),
    "negatives in one text": (
        [GOOD | {"negatives": "flies off; sings."}, GOOD],
        "rows.jsonl: negatives seems to hold several negatives in one text",
    ),
    "negatives as a tuple is printed": ([GOOD | {"negatives": "('flies off.', 'sings.')"}], "several negatives in one"),
    "negatives in an object": ([GOOD, GOOD | {"negatives": {"a": ["b"]}}], "line 2 has negatives that are no list"),
    "negatives that are numbers in an object": (
        [GOOD, GOOD | {"negatives": {"a": 1, "b": 2}}],
        "line 2 has a number as number 0 of negatives, where a text is due, in quotes",
    ),
    "no negatives": ([GOOD, GOOD | {"negatives": []}], "line 2 has no negatives. .*--drop-empty"),
    "none left": ([GOOD, GOOD | {"negatives": [GOOD["gold"].upper()]}], "line 2 has no negatives that differ"),
    "a number for gold": ([GOOD | {"gold": 7}], "line 1 has a number under gold, where a text is due"),
    "columns of pandas": ([GOOD | {"sent1": {"0": "A."}}], "line 1 has an object under sent1, where a text is due"),
    "two faults": (
        [GOOD | {"gold": 3}, GOOD, GOOD | {"start": 4}],
        r"2 rows cannot be used \(first: line 1 .*; line 3 ",
    ),
    "label out of range": ([LABELLED, LABELLED | {"label": 2}], "line 2 has label 2, and 2 endings"),
    "negative label": ([LABELLED, LABELLED | {"label": -2}], "line 2 has label -2, and 2 endings"),
    "label of a test file": ([LABELLED, LABELLED | {"label": -1}], "line 2 has no label, as in a test file"),
    "empty label": ([LABELLED | {"label": ""}], "line 1 has no label, as in a test file"),
    "label in words": (
        [LABELLED | {"label": "first"}],
        "line 1 has 'first' under label, where a number is due, a letter",
    ),
    "gold missing among endings": ([LABELLED | {"endings": [None, "d."]}], "line 1 has no text under ending 0"),
    "half a fold": ([GOOD | {"fold": 1.5}], "line 1 has 1.5 under fold"),
    "fold below 0": ([GOOD | {"fold": -1}], "line 1 has -1 under fold"),
    "a fold that no array holds": (
        [GOOD | {"fold": 10**20}],
        "line 1 has 100000000000000000000 under fold, where a number from 0, below 1,000,000, is due",
    ),
    "a fold of a million": ([GOOD | {"fold": 1_000_000}], "line 1 has 1000000 under fold"),
    "an id that is a list": ([GOOD | {"id": ["a"]}], "line 1 has a list under id"),
    "the same id twice": ([GOOD | {"id": i} for i in ("a", "b", "c", "b")], "1 row has the id .*'b', rows 1 and 3"),
    "half a surrogate pair": ([GOOD | {"negatives": ["\ud83d"]}], "line 1 .*half a surrogate pair under negatives"),
    "features of too few": ([GOOD | {"features": [[1.0]]}], "line 1 has features of 1 endings, and 3"),
    "features of NaN": (
        [GOOD | {"features": [[float("nan")]] * 3}],
        "line 1 has NaN, infinity or a number beyond float32",
    ),
    "features of text": ([GOOD | {"features": ["a", "b", "c"]}], "line 1 has features that are no table"),
    "features of two widths": (
        [GOOD | {"features": [[1.0]] * 3}, GOOD | {"features": [[1.0, 2.0]] * 3}],
        "line 2 has 2 features a candidate, and the rows before it have 1",
    ),
    "features in some rows": ([GOOD | {"features": [[1.0]] * 3}, GOOD], "line 2 has 0 features a candidate"),
}


@pytest.mark.parametrize(("rows", "said"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_rows_that_make_no_question_are_named(tmp_path: Path, rows: list[dict], said: str) -> None:
    write(tmp_path / "rows.jsonl", rows)
    assert re.search(said, refused(tmp_path / "rows.jsonl"))


def test_a_file_that_is_wrong_throughout_is_not_read_to_its_end(tmp_path: Path) -> None:
    line = refused(write_rows(tmp_path / "rows.jsonl", [GOOD, *[GOOD | {"gold": ""}] * 500]))
    assert "100 rows or more cannot be used" in line


BAD_FILES = {
    "empty": ("rows.jsonl", "", "no rows in it"),
    "header only": ("rows.csv", "sent1,start,gold,negative0\n", "no rows in it"),
    "broken line": ("rows.jsonl", json.dumps(GOOD) + "\n{'a': 1}\n", "line 2 is not valid JSON"),
    "cut off": ("rows.jsonl", '{"sent1": "a"\n', r"line 1 is not valid JSON \(Expecting ',' delimiter, column 14\)"),
    "near-miss names": (
        "rows.csv",
        "sent_1,start,golds,negative0\na,b,c,d\n",
        r"no column sent1, gold \(it has sent_1, .*Did you mean sent_1 for sent1, golds for gold\?",
    ),
    "a question with options": (
        "rows.csv",
        "question,a0,a1,a2,answer,hint\nWhy?,b,c,d,1,so\n",
        "perhaps with --context-column question --endings-column a --label-column answer; `swag-af pool --help`",
    ),
    "options in an object": (
        "rows.jsonl",
        '{"question": "Why?", "choices": {"text": ["b", "c"], "label": ["X", "Y"]}, "answerKey": "Y", "hint": ""}\n',
        "perhaps with --context-column question --endings-column choices.text --label-column answerKey",
    ),
    "two columns that may be the answer": (
        "rows.csv",
        "question,a0,a1,answer,label\nWhy?,b,c,0,1\n",
        "perhaps with --context-column question --endings-column a --label-column label",
    ),
    "a question without options": (
        "rows.csv",
        "question,answer\nWhy?,b\n",
        "columns with --sent1-column NAME and so on, or with --context-column, --endings-column and --label-column; `",
    ),
    "another separator": ("rows.csv", "sent1^start^gold\na^b^c\n", "parted by commas, semicolons, tabs or bars"),
    "a test file": ("test.csv", "startphrase,sent1,sent2,ending0,ending1\na,b,c,d,e\n", "no column label, .*test file"),
    "no negatives column": ("rows.csv", "sent1,start,gold\na,b,c\n", "no column negatives"),
    "the same column twice": ("rows.csv", "sent1,start,gold,gold\na,b,c,d\n", "names 'gold' more than once"),
    "cells too many": ("rows.csv", "sent1,start,gold,negative0\na,b,c,d,e\n", "line 2 has 5 cells, and the header 4"),
    "cells too few": ("rows.csv", "sent1,start,gold,negative0\na,b,c\n", "line 2 has 3 cells"),
    "an open quote": ("rows.csv", 'sent1,start,gold,negative0\na,b,c,"d\n', "line 2 is not readable as UTF-8 CSV"),
    "a broken list": (
        "rows.csv",
        'sent1,start,gold,negatives\na,b,c,"[""d"" ""e""]"\n',
        "line 2 has negatives that are no",
    ),
    "a JSON list of other things": ("rows.json", json.dumps([GOOD, 3]), "row 1 of its list is not a JSON object"),
    "a deep list": (
        "rows.csv",
        f"sent1,start,gold,negatives\na,b,c,{'[' * 5_000}\n",
        "line 2 has negatives that are JSON nested too deeply",
    ),
    "a list with a number of thousands of digits": (
        "rows.csv",
        f"sent1,start,gold,negatives\na,b,c,[{'1' * 5_000}]\n",
        "line 2 has negatives that are JSON with a number of too many digits",
    ),
    "deep features": (
        "rows.csv",
        f"sent1,start,gold,negatives,features\na,b,c,d,{'[' * 5_000}\n",
        "line 2 has features that are no list of lists",
    ),
    "unknown": ("rows.dat", "nothing", "cannot tell its format"),
    "compressed": ("rows.jsonl.zip", "PK\x03\x04", "rows.jsonl.zip: compressed. Unpack it first"),
    "not Parquet": ("rows.parquet", "PAR1 but no more", "damaged or of another format"),
}


@pytest.mark.parametrize(("name", "content", "said"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_files_that_cannot_be_read_are_one_line(tmp_path: Path, name: str, content: str, said: str) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_text(content)
    line = refused(tmp_path / name)
    assert line.startswith(f"{tmp_path / name}: ")
    assert re.search(said, line)


def test_text_that_is_not_utf8_is_one_line(tmp_path: Path) -> None:
    for name in ("rows.csv", "rows.jsonl"):
        (tmp_path / name).write_bytes(b'{"sent1": "\xe9"}\n')
        assert "UTF-8" in refused(tmp_path / name)


def test_a_missing_value_in_parquet_is_named_by_its_row(tmp_path: Path) -> None:
    rows = [LABELLED | {"label": 1.0, "sent1": "A."}, LABELLED | {"label": float("nan"), "sent1": "B."}]
    assert "row 1 has no label" in refused(write_parquet(tmp_path / "rows.parquet", rows))


def test_every_split_of_a_dictionary_of_splits_is_read(tmp_path: Path) -> None:
    for split, rows in {"train": ROWS[:2], "test": ROWS[1:]}.items():
        write_datasets(tmp_path / "saved" / split, rows)
    (tmp_path / "saved" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert texts_of(build_pool(tmp_path / "saved")) == [*KEPT[:2], *KEPT[1:]]


def test_damaged_arrow_files_are_one_line(tmp_path: Path) -> None:
    saved = write_datasets(tmp_path / "saved", ROWS)
    (saved / "data-00001-of-00002.arrow").write_bytes(b"nothing of the kind")
    assert "data-00001-of-00002.arrow: damaged" in refused(saved)
    (saved / "data-00001-of-00002.arrow").unlink()
    assert "data-00001-of-00002.arrow: damaged" in refused(saved)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "folder").mkdir()
    assert "Name the files in it, or check" in refused(tmp_path / "folder")
    (tmp_path / "folder/jsonl").mkdir()
    (tmp_path / "folder/jsonl/train.jsonl").write_text("{}")
    said = refused(tmp_path / "folder")
    assert "no state.json here" in said
    assert "Name the files in it (jsonl/train.jsonl), or check" in said
    assert "not a file, for csv" in refused(tmp_path / "folder", format="csv")
    assert "no such file" in refused(tmp_path / "none")


def test_without_pyarrow_the_install_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "rows.parquet").write_text("PAR1")
    assert install("parquet") in refused(tmp_path / "rows.parquet")


def test_an_existing_pool_is_replaced_only_with_force(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", ROWS)
    first = build_pool(source)
    with pytest.raises(InputError, match="--force"):
        build_pool(source)
    write_rows(source, ROWS[:1])
    assert len(build_pool(source, force=True)) == 1 != len(first)


def test_two_processes_do_not_make_one_pool(tmp_path: Path) -> None:
    """Both ended well, and the pool of one of them was gone."""
    source = write_rows(tmp_path / "rows.jsonl", [GOOD])
    with alone(tmp_path / "pool"), pytest.raises(InputError, match="another process is at work on this"):
        build_pool(source)
    build_pool(source)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pool", "rows.jsonl"]


def test_a_file_of_nobodys_columns_is_told_which_are_looked_for(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", [{"a": "1", "b": "2"}])
    with pytest.raises(InputError, match=r"no column sent1, start, gold, negatives \(it has a, b\)"):
        build_pool(source)


@pytest.mark.parametrize("force", [False, True])
def test_what_is_no_pool_is_never_replaced(tmp_path: Path, force: bool) -> None:
    source = write_rows(tmp_path / "rows.jsonl", ROWS)
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / "thesis").write_text("one")
    with pytest.raises((InputError, FormatError)):
        build_pool(source, force=force)
    assert (tmp_path / "pool" / "thesis").read_text() == "one"


def test_a_pool_may_be_replaced_from_within(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder that the command ran in gave way to the new one, in which no pool was found then."""
    write_rows(tmp_path / "rows.jsonl", ROWS)
    build_pool(tmp_path / "rows.jsonl")
    monkeypatch.chdir(tmp_path / "pool")
    main(["pool", "../rows.jsonl", "--out", ".", "--force", "--tagger", "none"])
    assert "Written to .. Next: " in capsys.readouterr().out
    assert len(CandidatePool.open(tmp_path / "pool")) == len(ROWS)


# ------------------------------------------------------------------------------- the guard


def test_a_function_of_the_users_is_asked_about_every_negative(tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text("def sings(context, negative):\n    return 'sing' in negative\n")
    made = build_pool(write_rows(tmp_path / "rows.jsonl", ROWS), flag=f"{tmp_path / 'checks.py'}:sings")
    assert made.manifest["dropped_negatives"]["flagged"] == 1
    assert "sings." not in texts_of(made)[0]


@pytest.mark.parametrize("file", ["checks.py", "json.py"])
def test_a_flag_may_stand_in_a_file_of_dataclasses(tmp_path: Path, file: str) -> None:
    """They look up the module in which they stand, where annotations are texts."""
    (tmp_path / file).write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n\n@dataclass\nclass Rule:\n"
        "    word: str\n\ndef sings(context, negative):\n    return Rule('sing').word in negative\n"
    )
    assert load_function("--flag", f"{tmp_path / file}:sings")(Context("A man.", "He", "sits."), "sings.")
    assert sys.modules["json"] is json, "a module of the same name stays"


def test_a_file_of_a_flag_that_cannot_be_run_leaves_no_module(tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text("1 / 0\n")
    with pytest.raises(InputError, match=r"checks.py failed \(ZeroDivisionError"):
        load_function("--flag", f"{tmp_path / 'checks.py'}:f")
    assert str(tmp_path / "checks.py") not in sys.modules


BAD_FLAGS = {
    "checks.py": "not FILE.py:NAME",
    "nowhere.py:f": "importing nowhere.py failed",
    "no.such.module:f": "importing no.such.module failed",
    "json:missing": "json has no function missing",
    "json:__name__": "json has no function __name__",
}


@pytest.mark.parametrize(("name", "said"), BAD_FLAGS.items())
def test_a_flag_that_is_no_function_is_named(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_function("--flag", name)


def test_rows_without_negatives_are_dropped_and_counted_when_asked(tmp_path: Path) -> None:
    rows = [ROWS[0], ROWS[0] | {"negatives": []}, ROWS[1], ROWS[0] | {"negatives": ["Stirs the soup"]}]
    made = build_pool(write_rows(tmp_path / "rows.jsonl", rows), drop_empty=True)
    assert [context.id for context in made.contexts] == ["row-0", "row-2"]
    assert made.manifest["drops"] == {"no_negatives": 2}
    assert made.manifest["dropped_negatives"]["equal_to_gold"] == 0


def test_rows_with_too_few_negatives_are_dropped_and_counted_when_asked(tmp_path: Path) -> None:
    """As `filter` needs so many in every row; what was read of the others leaves no trace but the count."""
    rows = [ROWS[0] | {"negatives": [f"eats {k} stones" for k in range(n)], "id": f"of-{n}"} for n in (4, 1, 0, 3, 2)]
    source = write_rows(tmp_path / "rows.jsonl", rows)
    made = build_pool(source, min_negatives=3)
    assert [context.id for context in made.contexts] == ["of-4", "of-3"]
    assert made.manifest["drops"] == {"no_negatives": 1, "too_few_negatives": 2}
    alone = pool(
        PoolOptions((write_rows(tmp_path / "alone.jsonl", [rows[0], rows[3]]),), tmp_path / "alone", tagger="none")
    )
    assert made.manifest["surface"] == alone.manifest["surface"]


CHOICES = ["walks away.", "eats a stone.", "sings."]
STEM = {"question_stem": "The man gets up. He"}
BY_NAME = Columns(context_column="question_stem", endings_column="choices.text", label_column="answerKey")


@pytest.mark.parametrize("key", ["C", "3"])
@pytest.mark.parametrize("as_list", [False, True])
def test_nested_choices_are_read_by_dotted_names_and_their_own_labels(tmp_path: Path, key: str, as_list: bool) -> None:
    """Labels of 1 to 4 are names there, not numbers from 0."""
    names = ["A", "B", "C"] if key == "C" else ["1", "2", "3"]
    choices: object = {"text": CHOICES, "label": names}
    if as_list:
        choices = [{"text": text, "label": name} for text, name in zip(CHOICES, names, strict=True)]
    source = write_rows(tmp_path / "rows.jsonl", [STEM | {"choices": choices, "answerKey": key}])
    made = build_pool(source, columns=BY_NAME)
    assert made.contexts[0].gold == "sings."
    assert made.contexts[0].start == "He"


@pytest.mark.parametrize(
    ("question", "options", "label"),
    [
        ("question", {"choices": CHOICES}, "label"),
        ("stem", {"choices": {"text": CHOICES, "label": ["A", "B", "C"]}}, "answerKey"),
        ("goal", {f"sol{i}": text for i, text in enumerate(CHOICES)}, "label"),
    ],
)
def test_questions_with_options_are_read_as_the_flags_that_would_be_advised_say(
    question: str, options: dict[str, Any], label: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such files were refused with the flags that read them, where other verbs read them by themselves."""
    rows = [
        {question: f"What does man {i} do?", **options, label: "ABC"[i % 3] if label == "answerKey" else i % 3}
        for i in range(4)
    ]
    source = write_rows(
        tmp_path / "rows.jsonl", [{**row, "id": f"q{i}", "video_id": "v"} for i, row in enumerate(rows)]
    )
    endings = "choices.text" if label == "answerKey" else "sol" if question == "goal" else "choices"
    made = build_pool(source)
    said = f"rows.jsonl: read with --context-column {question} --endings-column {endings} --label-column {label}"
    assert said in capsys.readouterr().err
    columns = Columns(context_column=question, endings_column=endings, label_column=label)
    assert made.identity == build_pool(source, columns=columns, force=True).identity
    assert set(made.groups.tolist()) == {0}


OTHER_NAMES = {
    "ctx and options": (
        {"ctx": "What?", "options": CHOICES, "gold_label": 1},
        "context ctx endings options label gold_label",
    ),
    "an id": (
        {"qid": "q", "query": "What?", "alternatives": CHOICES, "correct_index": 1},
        "id qid context query endings alternatives",
    ),
    "letters": ({"problem": "What?", **dict(zip("ABC", CHOICES, strict=True)), "key": "B"}, "endings A,B,C label key"),
    "wrong answers": (
        {"question": "What?", "correct_answer": CHOICES[1], "incorrect_answers": [CHOICES[0], CHOICES[2]]},
        "context question gold correct_answer negatives incorrect_answers",
    ),
}


@pytest.mark.parametrize(("row", "said"), OTHER_NAMES.values(), ids=OTHER_NAMES.keys())
def test_names_that_audit_reads_are_read_here_too(
    row: dict[str, Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pool knew a dozen names; audit, of the same file, a hundred."""
    rows = [
        {name: f"{cell} {i}" if name in ("qid", "ctx", "query") else cell for name, cell in row.items()}
        for i in range(3)
    ]
    made = build_pool(write_rows(tmp_path / "rows.jsonl", rows))
    assert {context.gold for context in made.contexts} == {CHOICES[1]}
    assert [context.id for context in made.contexts] == [f"q {i}" if "qid" in row else f"row-{i}" for i in range(3)]
    told = capsys.readouterr().err
    words = said.split()
    assert all(f"--{name}-column {column}" in told for name, column in zip(words[::2], words[1::2], strict=True))


def test_a_column_that_is_left_over_is_no_reason_to_say_nothing_of_the_others(tmp_path: Path) -> None:
    row = {"passage": "A b.", "ques": "What?", "alternatives": CHOICES, "correct_index": 1}
    said = "perhaps with --context-column ques --endings-column alternatives --label-column correct_index;"
    assert said in refused(write_rows(tmp_path / "rows.jsonl", [row]))


@pytest.mark.parametrize("label", ["B", "b", "eats a stone.", " eats a stone. ", 1, "1"])
def test_gold_may_be_given_by_letter_text_or_number(tmp_path: Path, label: object) -> None:
    row = {"sent1": "A man sits.", "start": "He", "endings": CHOICES, "label": label}
    assert build_pool(write_rows(tmp_path / "rows.jsonl", [row])).contexts[0].gold == "eats a stone."


@pytest.mark.parametrize("label", ["(B)", "b.", "B)", [0, 1, 0], "[0, 1, 0]"])
def test_gold_may_be_given_by_a_letter_in_marks_or_by_a_list_of_marks(tmp_path: Path, label: object) -> None:
    row = {"sent1": "A man sits.", "start": "He", "endings": CHOICES, "label": label}
    assert build_pool(write_rows(tmp_path / "rows.jsonl", [row])).contexts[0].gold == "eats a stone."


def labelled(*labels: object) -> list[dict[str, Any]]:
    return [
        {"sent1": f"A man {i}.", "start": "He", "endings": CHOICES, "label": label} for i, label in enumerate(labels)
    ]


def golds(made: CandidatePool) -> list[int]:
    return [CHOICES.index(context.gold) for context in made.contexts]


def test_labels_that_can_only_count_from_1_do(tmp_path: Path) -> None:
    made = build_pool(write_rows(tmp_path / "rows.jsonl", labelled(1, 3, "2", 1)))
    assert golds(made) == [0, 2, 1, 0]
    assert made.manifest["made_by"]["sources"][0]["labels_from"] == 1


def test_all_sources_of_a_layout_say_from_where_labels_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write_rows(tmp_path / "a.jsonl", labelled(1, 2)), write_rows(tmp_path / "b.jsonl", labelled(3))
    assert golds(pool(PoolOptions(files, tmp_path / "pool", tagger="none"))) == [0, 1, 2]
    said = capsys.readouterr().err
    assert "a.jsonl: its labels could count from 0 as well, and only those of other files say" in said
    assert "b.jsonl: its labels" not in said


def test_where_labels_count_from_may_be_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write_rows(tmp_path / "rows.jsonl", labelled(1, 2))
    assert golds(build_pool(source)) == [1, 2]
    assert "rows.jsonl: its labels could count from 1 as well, with --label-base 1" in capsys.readouterr().err
    assert golds(build_pool(source, label_base="1", force=True)) == [0, 1]
    assert golds(build_pool(write_rows(tmp_path / "sure.jsonl", labelled(0, 2)), force=True)) == [0, 2]
    assert "labels" not in capsys.readouterr().err


def test_labels_that_count_from_neither_are_refused(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", labelled(0, 3))
    assert "line 2 has label 3, and 3 endings, which count from 0" in refused(source)


LABEL_FILES = {
    "lines": ("labels.lst", "2\n0\n1\n"),
    "a table": ("labels.csv", "n,answer\n0,2\n1,0\n2,1\n"),
    "ids in another order": ("labels.csv", "label,id\n0,q1\n1,q2\n2,q0\n"),
    "JSON lines": ("labels.jsonl", '{"label": 2}\n{"label": 0}\n{"label": 1}\n'),
}


def unlabelled() -> list[dict[str, Any]]:
    return [{"id": f"q{i}"} | {k: v for k, v in row.items() if k != "label"} for i, row in enumerate(labelled(*"012"))]


@pytest.mark.parametrize(("name", "content"), LABEL_FILES.values(), ids=LABEL_FILES.keys())
def test_labels_may_stand_in_a_second_file(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    made = build_pool(write_rows(tmp_path / "rows.jsonl", unlabelled()), labels_file=tmp_path / name)
    assert golds(made) == [2, 0, 1]
    assert set(made.manifest["made_by"]["sources"][0]["sha256"]) == {"rows.jsonl", name}


BAD_LABEL_FILES = {
    "too few": ("l.lst", "0\n1\n", "2 labels, and .*rows.jsonl has 3 rows"),
    "too many": ("l.lst", "0\n1\n2\n0\n", "4 labels, and .*rows.jsonl has 3 rows"),
    "another id": ("l.csv", "id,label\nq0,0\nq1,1\nq3,1\n", r"no label of 1 row of .*rows.jsonl \(first: q2\)"),
    "an id twice": ("l.csv", "id,label\nq0,0\nq1,1\nq1,1\n", "1 id in it twice"),
    "no such column": ("l.csv", "id,a,b\nq0,0,1\nq1,1,1\nq2,1,1\n", "no column label.*has id, a, b.*--label-column"),
}


@pytest.mark.parametrize(("name", "content", "said"), BAD_LABEL_FILES.values(), ids=BAD_LABEL_FILES.keys())
def test_labels_that_do_not_fit_are_refused(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_text(content)
    assert re.search(said, refused(write_rows(tmp_path / "rows.jsonl", unlabelled()), labels_file=tmp_path / name))


def test_a_file_of_labels_belongs_to_one_source(tmp_path: Path) -> None:
    (tmp_path / "l.lst").write_text("0\n")
    sources = tuple(write_rows(tmp_path / name, unlabelled()) for name in ("a.jsonl", "b.jsonl"))
    with pytest.raises(InputError, match="labels of one source, and 2 are named"):
        pool(PoolOptions(sources, tmp_path / "pool", tagger="none", labels_file=tmp_path / "l.lst"))


def test_sentences_and_endings_may_have_a_column_each(tmp_path: Path) -> None:
    """As in StoryCloze: four sentences, two endings, and the number of the right one from 1."""
    rows = [
        {"id": f"s{i}"}
        | {f"Sentence{k}": f"Sentence {k}." for k in range(1, 5)}
        | {"Quiz1": "Good.", "Quiz2": "Bad.", "Right": right}
        for i, right in enumerate([2, 1])
    ]
    columns = Columns(context_column="Sentence", endings_column="Quiz", label_column="Right")
    made = build_pool(write_csv(tmp_path / "rows.csv", rows), columns=columns)
    assert texts_of(made) == [["Bad.", "Good."], ["Good.", "Bad."]]
    assert made.contexts[0].sent1 == "Sentence 1. Sentence 2. Sentence 3. Sentence 4."


def test_columns_that_are_named_one_by_one_are_a_list(tmp_path: Path) -> None:
    rows = [{"sent1": "It rains.", "start": "She", "gold": "swims.", "wrong": "flies.", "worse": ""}]
    made = build_pool(write_csv(tmp_path / "rows.csv", rows), columns=Columns(negatives_column="wrong, worse"))
    assert texts_of(made) == [["swims.", "flies."]]


def test_a_label_that_means_two_endings_is_refused(tmp_path: Path) -> None:
    row = {"sent1": "A man says.", "start": "", "endings": ["B", "A", "C"], "label": "A"}
    assert "several of its endings" in refused(write_rows(tmp_path / "rows.jsonl", [row]))


def test_no_row_with_enough_negatives_is_refused(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", [ROWS[0]])
    with pytest.raises(Exception, match="none of its 1 rows has 9 negatives left"):
        build_pool(source, min_negatives=9)


def test_no_row_left_is_refused(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", [ROWS[0] | {"negatives": []}])
    with pytest.raises(Exception, match="none of its 1 rows has a negative left"):
        build_pool(source, drop_empty=True)
    assert not (tmp_path / "pool").exists()


# ------------------------------------------------------------------------------- filtering, showing, killing


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """40 ragged rows on disk."""
    rows = [
        {
            "sent1": f"Room {i}.",
            "start": "He",
            "gold": f"paints {i}.",
            "negatives": [f"eats {k}." for k in range(5 + i % 4)],
        }
        for i in range(40)
    ]
    return write_rows(tmp_path / "many.jsonl", rows)


def test_two_iterations_run_on_such_a_pool(many: Path, tmp_path: Path) -> None:
    run = filter_pool(build_pool(many), HashFilter(), AFOptions(iterations=2, n_negatives=3), out=tmp_path / "run")
    assert (run.n_finished, run.assignment().shape) == (2, (40, 4))
    assert all(row[0] == f"paints {i}." for i, row in enumerate(run.texts()))


def test_the_verb_says_what_it_made_and_the_command_it_names_runs(
    many: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["pool", str(many), "--out", "pool", "--tagger", "rules"])
    out = capsys.readouterr().out
    assert "40 contexts, 260 negatives, 5 to 8 a context" in out
    assert "negatives left out: none" in out
    assert "Next: swag-af filter pool --schedule bow:40 --n-negatives 2 --out run" in out
    main(["filter", "pool", "--schedule", "bow:1", "--n-negatives", "2", "--out", "run"])
    assert open_run(tmp_path / "run").n_finished == 1


def test_such_a_pool_is_shown(many: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build_pool(many)
    main(["show", str(many.parent / "pool")])
    out = capsys.readouterr().out
    assert "40 contexts x 9 candidates" in out
    assert "tags: none" in out


def test_more_negatives_than_there_are_is_said_by_the_filtering(many: Path) -> None:
    with pytest.raises(Exception, match="fewer than 6 negatives"):
        filter_pool(build_pool(many), HashFilter(), AFOptions(iterations=1, n_negatives=6))


@pytest.mark.parametrize("step", ["write_shard", "finish_pool", "build_vocabulary"])
def test_an_interrupt_leaves_nothing_and_the_same_command_works_again(
    many: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(build if step == "finish_pool" else spooling, step, interrupt)
        build_pool(many)
    assert sorted(path.name for path in many.parent.iterdir()) == ["many.jsonl"]
    assert len(build_pool(many)) == 40


def test_a_kill_leaves_nothing_that_opens_and_the_same_command_clears_up(many: Path, tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path\n"
        "from swag_af.data.pooling import verb as build; from swag_af.data.pool.options import PoolOptions\n"
        "build.finish_pool = lambda *_: (print('now', flush=True), time.sleep(60))\n"
        "build.pool(PoolOptions((Path(sys.argv[1]),), Path(sys.argv[2]), tagger='none'))"
    )
    out = tmp_path / "pool"
    process = subprocess.Popen([sys.executable, "-c", code, str(many), str(out)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "now\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with pytest.raises(InputError, match="no such folder"):
        CandidatePool.open(out)
    assert list(tmp_path.glob(".pool.*.tmp"))
    assert len(build_pool(many)) == 40
    assert not list(tmp_path.glob(".*"))


def test_a_pool_that_does_not_fit_the_disk_is_refused(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spooling.shutil, "disk_usage", lambda _: type("usage", (), {"free": 100}))
    assert "longest ending 3 tokens" in refused(many)


def test_the_texts_of_a_pool_must_fit_the_disk_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tokens alone were counted, so that a pool of long words filled the disk."""
    path = write_rows(tmp_path / "rows.jsonl", [row | {"gold": "Swim" * 1000} for row in ROWS])
    monkeypatch.setattr(spooling.shutil, "disk_usage", lambda _: type("usage", (), {"free": 4000}))
    assert "the pool takes" in refused(path)


# ------------------------------------------------------------------------------- tagging again


@pytest.fixture
def untagged(many: Path) -> Path:
    """The same as a pool without tags."""
    build_pool(many)
    return many.parent / "pool"


def test_tagging_gives_the_pool_that_would_have_been_tagged_at_once(untagged: Path, many: Path) -> None:
    tagged = tag(TagOptions(untagged, "rules"))
    at_once = pool(PoolOptions((many,), many.parent / "other", tagger="rules"))
    assert tagged.identity == at_once.identity
    assert tagged.manifest["tagger"] == "rules"
    assert tagged.vocabulary.tags is not None


def test_tagging_as_before_gives_the_pool_as_it_was(untagged: Path) -> None:
    before = CandidatePool.open(untagged).identity
    assert tag(TagOptions(untagged, "rules")).identity != before
    assert tag(TagOptions(untagged, "none")).identity == before


def test_runs_on_the_pool_as_it_was_are_refused_in_one_line(untagged: Path, tmp_path: Path) -> None:
    options = AFOptions(iterations=1, n_negatives=2)
    filter_pool(CandidatePool.open(untagged), HashFilter(), options, out=tmp_path / "run")
    tag(TagOptions(untagged, "rules"))
    with pytest.raises(InputError, match="another pool"):
        filter_pool(CandidatePool.open(untagged), HashFilter(), options, out=tmp_path / "run")
    tag(TagOptions(untagged, "none"))
    assert open_run(tmp_path / "run").n_finished == 1


def test_an_unknown_tagger_changes_nothing(untagged: Path) -> None:
    before = read_json(untagged / "manifest.json")
    with pytest.raises(InputError, match="Did you mean rules"):
        tag(TagOptions(untagged, "rule"))
    assert read_json(untagged / "manifest.json") == before


@pytest.mark.parametrize("n_renames", range(4))
def test_killed_between_any_two_renames_the_pool_is_the_old_one_or_the_new(
    untagged: Path, monkeypatch: pytest.MonkeyPatch, n_renames: int
) -> None:
    old = CandidatePool.open(untagged).identity
    done, rename = [], os.replace

    def stop(*paths: Any) -> None:
        if len(done) == n_renames:
            raise KeyboardInterrupt
        done.append(paths)
        rename(*paths)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", stop)
        if n_renames < 3:
            with pytest.raises(KeyboardInterrupt):
                tag(TagOptions(untagged, "rules"))
        else:
            tag(TagOptions(untagged, "rules"))
    found = CandidatePool.open(untagged)
    assert found.manifest["vocabulary_sha256"] == found.vocabulary.sha256
    assert (found.vocabulary.tags is None) == (found.manifest["tagger"] == "none") == (found.identity == old)
    again = tag(TagOptions(untagged, "none"))
    assert again.identity == old
    assert again.vocabulary.tags is None
    assert not (untagged / "vocabulary.next.tsv").exists()


def test_the_verb_tag_says_how_many_word_types_have_each_tag(
    untagged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["tag", str(untagged), "--tagger", "rules"])
    out = capsys.readouterr().out
    assert "tagged by rules" in out
    assert "NUM" in out
    assert "Next: swag-af filter" in out


# ------------------------------------------------------------------------------- scale and real data


@pytest.mark.slow
def test_memory_grows_by_the_keys_of_a_row_and_not_by_its_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Live Python and numpy memory, traced, at its peak: what finds shared sentences takes some 200 bytes a row."""
    import tracemalloc

    monkeypatch.setattr(tables, "BLOCK_CANDIDATES", 1 << 9)
    peaks = {}
    for n in (20, 250, 1_000):  # the first also loads what is loaded once
        source = write_rows(tmp_path / f"{n}.jsonl", [ROWS[0] | {"sent1": f"{i}."} for i in range(n)])
        tracemalloc.start()
        pool(PoolOptions((source,), tmp_path / f"pool-{n}", tagger="none"))
        peaks[n] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert (peaks[1_000] - peaks[250]) / 750 < 500


REAL = {
    "swag": ("swag/swag_questions.jsonl", "swag"),
    "hellaswag": ("hellaswag/hellaswag_val_rows_0-4999.jsonl", "hellaswag"),
}


@pytest.mark.real
@pytest.mark.parametrize(("name", "layout"), REAL.values(), ids=REAL.keys())
def test_every_row_of_a_real_dataset_loads(tmp_path: Path, name: str, layout: str) -> None:
    path = shared(name)
    made = pool(PoolOptions((path,), tmp_path / "pool", tagger="none"))
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert made.manifest["made_by"]["sources"][0]["layout"] == layout
    assert [context.gold for context in made.contexts] == [r["endings"][r["label"]] for r in records]
    joined = [f"{context.sent1} {context.start}".split() for context in made.contexts]
    assert joined == [r.get("startphrase", r.get("ctx")).split() for r in records]
    assert made.counts.tolist() == [len(r["endings"]) for r in records]


def test_a_start_that_is_null_is_empty_as_tables_write_it(tmp_path: Path) -> None:
    """All rows of a table whose starts were empty were refused, with advice that did not help."""
    rows = [GOOD | {"id": f"r{i}", "start": start} for i, start in enumerate((None, "", "He"))]
    pool = build_pool(write_rows(tmp_path / "rows.jsonl", rows))
    assert [context.start for context in pool.contexts] == ["", "", "He"]


def test_the_column_of_a_gold_that_is_blank_is_named(tmp_path: Path) -> None:
    """It was `A,B,C,D 1`."""
    path = tmp_path / "q.csv"
    path.write_text("question,A,B,C,answer\nWhat?,a,b,c,A\nWho?,d,,f,B\nWhere?,g,h,i,C\n")
    with pytest.raises(InputError, match="line 3 has no text under B, which answer says is gold"):
        read_instances(path)
