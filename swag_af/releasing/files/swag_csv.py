"""SWAG's own CSV files: the regular ones for training and scoring models, and the full ones with all ratings.

    train.csv, val.csv              an index, then `regular_record`; `test.csv` lacks the label, and
    test_labels.csv                 has it, by index
    train_full.csv, val_full.csv    `full_record`, without an index; only with verdicts

The columns, their order, and which files have an index are SWAG's (Zellers et al. 2018, the released data). Where wrong
answers were matched, the last before the endings or ratings is `match_fold`, by which readers keep those together that
have them in common; what is shown with the text follows it, an image by its name, a list as JSON.
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from swag_af.data.disk.files import LineFeeds, write_text
from swag_af.releasing.questions import SPLITS, Question

FULL_SPLITS = ("train", "val")
"""SWAG has no full file of the test split, which would give its answers away."""


def write_regular(folder: Path, questions: Sequence[Question]) -> None:
    """Write the files with shuffled endings."""
    for split in SPLITS:
        of_split = [question for question in questions if question.split == split]
        records = ({"": i, **regular_record(question)} for i, question in enumerate(of_split))
        columns = regular_columns(questions[0])
        _write(folder / f"{split}.csv", ["", *(columns[:-1] if split == "test" else columns)], records)
        if split == "test":
            labels = "".join(f"{i},{question.label}\n" for i, question in enumerate(of_split))
            write_text(folder / "test_labels.csv", ",label\n" + labels)


def write_full(folder: Path, questions: Sequence[Question]) -> None:
    """Write the files that have the answer in a column of its own, every distractor, and their ratings."""
    n_distractors = full_width(questions)
    columns = full_columns(questions[0], n_distractors)
    for split in FULL_SPLITS:
        records = (full_record(question, n_distractors) for question in questions if question.split == split)
        _write(folder / f"{split}_full.csv", columns, records)


def regular_columns(question: Question) -> list[str]:
    """The columns of `train.csv` after the index, where all questions are as this one."""
    endings = [f"ending{i}" for i in range(question.n_choices)]
    columns = ["video-id", "fold-ind", "startphrase", "sent1", "sent2", "gold-source"]
    return [*columns, *question.more, *endings, "label"]


def regular_record(question: Question) -> dict[str, Any]:
    """A row of `train.csv`: texts, and the label as a number."""
    return {
        "video-id": question.video,
        "fold-ind": str(question.example.row),
        "startphrase": question.startphrase,
        "sent1": question.sent1,
        "sent2": question.start,
        "gold-source": question.answer_source,
        **_more(question),
        **{f"ending{i}": ending for i, ending in enumerate(question.endings)},
        "label": question.label,
    }


def full_width(questions: Sequence[Question]) -> int:
    """Number of distractor columns in the full files: one more than a question needs (A.4), or more if one has."""
    return max(questions[0].n_choices, *(len(question.distractors) for question in questions))


def full_columns(question: Question, n_distractors: int) -> list[str]:
    """The columns of `train_full.csv`, where all questions are as this one."""
    numbers = range(n_distractors)
    texts = ["video-id", "fold-ind", "startphrase", "gold-ending", *(f"distractor-{i}" for i in numbers)]
    types = ["gold-source", *question.more, "gold-type", *(f"distractor-{i}-type" for i in numbers)]
    return [*texts, *types, "sent1", "sent2"]


def full_record(question: Question, n_distractors: int) -> dict[str, Any]:
    """A row of `train_full.csv`; a missing distractor is an empty text, and so is its type."""
    example = question.example
    texts = [*question.distractors, *[""] * n_distractors][:n_distractors]
    ratings = [*example.distractor_ratings, *[""] * n_distractors][:n_distractors]
    return {
        "video-id": question.video,
        "fold-ind": str(example.row),
        "startphrase": question.startphrase,
        "gold-ending": question.answer,
        **{f"distractor-{i}": text for i, text in enumerate(texts)},
        "gold-source": example.source,
        **_more(question),
        "gold-type": example.answer_rating or "",
        **{f"distractor-{i}-type": rating for i, rating in enumerate(ratings)},
        "sent1": question.sent1,
        "sent2": question.start,
    }


def _more(question: Question) -> dict[str, Any]:
    """`Question.more` in cells: what is shown as text, or as JSON; nothing as an empty one."""
    media = {name: cell(value) for name, value in question.media.items()}
    return question.more | media


def cell(value: Any) -> str:
    """A text as it is, nothing as an empty one, all else as JSON."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _write(path: Path, columns: Sequence[str], records: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(LineFeeds(file), columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(records)
