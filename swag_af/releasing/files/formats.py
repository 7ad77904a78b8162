"""The questions in further formats beside CSV: JSONL and Parquet.

    jsonl/train.jsonl ...                            what `swag-af pool` reads: sent1, start, endings, label, id, video,
                                                     group, and what is shown with the text, lists as lists
    data/train-00000-of-00001.parquet ...            the regular files' columns; the label of test is -1
    full/train-00000-of-00001.parquet ...            the full files' columns, where people judged

Parquet files are named as the Hugging Face hub expects; `swag_af.releasing.cards.hub` declares them in the card.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from swag_af.data.disk.files import write_jsonl
from swag_af.data.errors import InputError
from swag_af.data.extras import install
from swag_af.releasing.files.swag_csv import (
    FULL_SPLITS,
    full_columns,
    full_record,
    full_width,
    regular_columns,
    regular_record,
)
from swag_af.releasing.questions import FOLD, SPLITS, Question

FORMATS = ("jsonl", "parquet")
"""What can be written beside CSV."""

HUB_NAMES = {"train": "train", "val": "validation", "test": "test"}
"""The hub's names of the splits."""

KINDS = {"label": "label", FOLD: "int64"}
"""What columns of regular and full files hold; all others are texts."""

NO_LABEL = -1
"""The label of a test question in Parquet, where the true one is withheld, as in SWAG on the hub."""


def formats_wanted(names: tuple[str, ...]) -> tuple[str, ...]:
    """The formats that `--formats` names; `auto` is all of them, but Parquet only where pyarrow is installed.

    Raises InputError for an unknown name, and for `parquet` where pyarrow is not installed.
    """
    if names == ("auto",):
        return FORMATS if has_pyarrow() else ("jsonl",)
    unknown = [name for name in names if name not in FORMATS]
    if unknown:
        raise InputError(
            f"--formats {','.join(names)}: no format {unknown[0]!r}. Choose from {', '.join(FORMATS)}, or auto or "
            "none; CSV is always written."
        )
    if "parquet" in names and not has_pyarrow():
        raise InputError(f"pyarrow is not installed. Install it with: {install('publish')}")
    return tuple(name for name in FORMATS if name in names)


def has_pyarrow() -> bool:
    """Whether Parquet can be written: pyarrow is installed."""
    return find_spec("pyarrow") is not None


def write_questions_jsonl(folder: Path, questions: Sequence[Question], groups: Sequence[int]) -> None:
    """Write `jsonl/SPLIT.jsonl`, each question with its number in `groups`; test has neither labels nor the source of
    the answer."""
    numbered = list(zip(questions, groups, strict=True))
    (folder / "jsonl").mkdir()
    for split in SPLITS:
        records = (_json_record(question, group) for question, group in numbered if question.split == split)
        write_jsonl(folder / "jsonl" / f"{HUB_NAMES[split]}.jsonl", records)


def write_parquet(folder: Path, questions: Sequence[Question], *, full: bool) -> None:
    """Write `data/` and, with `full`, `full/`; a split without questions gets a file without rows."""
    columns = regular_columns(questions[0])
    for split in SPLITS:
        records: list[dict[str, Any]] = [regular_record(q) for q in questions if q.split == split]
        if split == "test":
            records = [record | {"label": NO_LABEL} for record in records]
        _write_parquet(parquet_path(folder, "data", split), columns, records)
    if full:
        n_distractors = full_width(questions)
        for split in FULL_SPLITS:
            records = [full_record(q, n_distractors) for q in questions if q.split == split]
            _write_parquet(parquet_path(folder, "full", split), full_columns(questions[0], n_distractors), records)


def parquet_path(folder: Path, kind: str, split: str) -> Path:
    """The path of a split's file, by the convention of the hub."""
    return folder / kind / f"{HUB_NAMES[split]}-00000-of-00001.parquet"


def _json_record(question: Question, group: int) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": question.id,
        "video": question.video,
        "group": group,
        "source": question.context.source,
        "row": question.example.row,
        **question.more,
        "sent1": question.sent1,
        "start": question.start,
        "endings": list(question.endings),
    }
    if question.split != "test":
        record |= {"label": question.label, "gold_source": question.example.source}
    return record


def _write_parquet(path: Path, columns: Sequence[str], records: Sequence[dict[str, Any]]) -> None:
    write_table(path, {name: KINDS.get(name, "string") for name in columns}, records)


def write_table(path: Path, columns: Mapping[str, str], records: Sequence[dict[str, Any]]) -> None:
    """Write `records` as Parquet; `columns` says of each what it holds: `string`, `int64`, `label`, or `list` of
    strings."""
    pa, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    types = {"string": pa.string(), "int64": pa.int64(), "label": pa.int64(), "list": pa.list_(pa.string())}
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    path.parent.mkdir(exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(list(records), schema=schema), path)
