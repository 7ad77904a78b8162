"""Both questions of a row in one record, as VCR has them: which answer, and which rationale, given the right one.

    stages/train.jsonl, val.jsonl      `annot_id, movie, match_fold, question, answer_choices, answer_label,
                                       rationale_choices, rationale_label`, the last two where there is a rationale;
                                       `objects` and `img_fn` where the rows have them
    stages/test.jsonl                  the same without labels, and the labels under `annot_id` in
    stages/test_labels.jsonl
    stages/train-00000-of-00001.parquet ...    the same; labels of test are -1

`swag-af score` reads the folder, and any file of these (layout `vcr`). No text of the second question holds the right
answer of the first, so that those of test tell nothing. Written only where rationales were matched.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from swag_af.data.disk.files import write_jsonl
from swag_af.releasing.dataset import Dataset
from swag_af.releasing.files.formats import NO_LABEL, parquet_path, write_table
from swag_af.releasing.files.swag_csv import cell
from swag_af.releasing.questions import FOLD, SPLITS, Question

FOLDER = "stages"
LABELS = ("answer_label", "rationale_label")


def stage_columns(questions: Sequence[Question]) -> dict[str, str]:
    """The columns of the files, and what each holds: VCR's, and those of what `questions` show with their text."""
    choices = {f"{stage}_{kind[0]}": kind[1] for stage in ("answer", "rationale") for kind in _OF_STAGE}
    return {
        "annot_id": "string",
        "movie": "string",
        FOLD: "int64",
        **_media(questions),
        "question": "string",
        **choices,
    }


_OF_STAGE = (("choices", "list"), ("label", "label"))


def _media(questions: Sequence[Question]) -> dict[str, str]:
    cells = {name: [question.media[name] for question in questions] for name in questions[0].media}
    return {name: "list" if all(map(_is_list, of_name)) else "string" for name, of_name in cells.items()}


def _is_list(value: object) -> bool:
    return value is None or (isinstance(value, list | tuple) and all(isinstance(one, str) for one in value))


def columns_shown(columns: Iterable[str], split: str) -> list[str]:
    """Those of `columns` that a split's file has: test has no labels."""
    return [name for name in columns if split != "test" or name not in LABELS]


def stage_records(dataset: Dataset, split: str) -> list[dict[str, Any]]:
    """A record for each question of `split`, with its labels; that of its rationale in it, where there is one."""
    assert dataset.rationales is not None
    why = {question.id: question for question in dataset.rationales.questions}
    records = []
    for question in dataset.of_split(split):
        record: dict[str, Any] = {
            "annot_id": question.id,
            "movie": question.video,
            **question.more,
            "question": question.startphrase,
            "answer_choices": list(question.endings),
            "answer_label": question.label,
        }
        asked = why.get(question.id)
        if asked is not None:
            record |= {"rationale_choices": list(asked.endings), "rationale_label": asked.label}
        records.append(record)
    return records


def write_stages(folder: Path, dataset: Dataset, formats: tuple[str, ...]) -> None:
    """Write the folder `stages`; nothing without rationales."""
    if dataset.rationales is None:
        return
    (folder / FOLDER).mkdir()
    columns = stage_columns(dataset.questions)
    for split in SPLITS:
        records = stage_records(dataset, split)
        if split == "test":
            labels = [_only(record, ("annot_id", *LABELS)) for record in records]
            write_jsonl(folder / FOLDER / "test_labels.jsonl", labels)
        shown = [_only(record, columns_shown(columns, split)) for record in records]
        write_jsonl(folder / FOLDER / f"{split}.jsonl", shown)
        if "parquet" in formats:
            table = [record | dict.fromkeys(LABELS, NO_LABEL) for record in records] if split == "test" else records
            write_table(parquet_path(folder, FOLDER, split), columns, [_in_cells(record, columns) for record in table])


def _in_cells(record: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """The record with a text under each column that holds texts."""
    return {
        name: cell(value) if columns[name] == "string" else list(value) if columns[name] == "list" and value else value
        for name, value in record.items()
    }


def _only(record: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: record[name] for name in names if name in record}
