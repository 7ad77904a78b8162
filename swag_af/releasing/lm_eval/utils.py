"""Loads a dataset's questions for EleutherAI's lm-evaluation-harness.

A copy stands in every dataset, as lm_eval/utils.py. Reads the CSV files of the folder above, wherever that is and from
wherever the harness runs. Imports nothing of swag-af, so that the dataset can be scored without it.
"""

import csv
import hashlib
import re
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

FILES = {"train": "train.csv", "validation": "val.csv"}


def load(**_: object) -> dict[str, Any]:
    """The harness's `custom_dataset`: the splits that have labels, endings in a list `choices`."""
    datasets: Any = import_module("datasets")  # only the harness needs it

    folder = Path(__file__).resolve().parents[1]
    return {split: datasets.Dataset.from_list(read(folder / name)) for split, name in FILES.items()}


def read(path: Path) -> list[dict[str, Any]]:
    """The questions of one CSV file."""
    csv.field_size_limit(2**31 - 1)  # a passage may be longer than Python's 131,072 characters
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {
                "video": row["video-id"] or row["startphrase"],
                "query": row["startphrase"],
                "choices": [row[name] for name in row if re.fullmatch(r"ending\d+", name)],
                "label": int(row["label"]),
            }
            for row in csv.DictReader(file)
        ]


def with_shuffled_contexts(docs: Any) -> Any:
    """The harness's `process_docs`: every question gets the context of a question about another video, which has other
    words than its own.

    Always the same one. Where one video has more than half of the questions, those that cannot are left out.
    """
    videos, queries = list(docs["video"]), list(docs["query"])
    others = questions_of_other_videos(videos)
    kept = [i for i, other in enumerate(others) if videos[i] != videos[other] and queries[i] != queries[other]]
    queries = [queries[others[i]] for i in kept]
    return docs.select(kept).remove_columns("query").add_column("query", queries)


def questions_of_other_videos(videos: list[str]) -> list[int]:
    """For each question the number of another one, each taken once, of another video wherever that can be.

    The questions are put in a random but fixed order of videos, and each takes the one that stands as far on as the
    largest video has questions: too far to be of its own video, unless the ring is too short.
    """
    order = sorted(range(len(videos)), key=lambda i: (hashlib.sha256(videos[i].encode()).digest(), i))
    step = max(Counter(videos).values(), default=0)
    others = [0] * len(videos)
    for place, i in enumerate(order):
        others[i] = order[(place + step) % len(order)]
    return others
