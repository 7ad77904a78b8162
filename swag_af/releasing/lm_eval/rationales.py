"""Loads a dataset's questions about rationales for EleutherAI's lm-evaluation-harness.

A copy stands beside `utils.py` in every dataset that has them, as lm_eval/rationales.py. Reads `stages/` of the folder
above. Imports nothing of swag-af, so that the dataset can be scored without it.
"""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

FILES = {"train": "stages/train.jsonl", "validation": "stages/val.jsonl"}


def load(**_: object) -> dict[str, Any]:
    """The harness's `custom_dataset`: question and right answer under `query`, rationales in a list `choices`."""
    datasets: Any = import_module("datasets")  # only the harness needs it

    folder = Path(__file__).resolve().parents[1]
    return {split: datasets.Dataset.from_list(read(folder / name)) for split, name in FILES.items()}


def read(path: Path) -> list[dict[str, Any]]:
    """The questions of one file; rows without a rationale have none."""
    with path.open(encoding="utf-8", newline="\n") as lines:  # texts may hold other marks that end lines
        rows = [json.loads(line) for line in lines]
    return [
        {
            "video": row["movie"] or row["question"],
            "query": f"{row['question']} {row['answer_choices'][row['answer_label']]}",
            "choices": row["rationale_choices"],
            "label": row["rationale_label"],
        }
        for row in rows
        if row.get("rationale_choices")
    ]
