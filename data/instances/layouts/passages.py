"""Passages with several questions in one row: RACE (Lai et al. 2017), and BoolQ's contrast sets (Gardner et al. 2020).

race             lists of questions, options and answers that belong to one `article`
boolq-contrast   a question on a paragraph, and those edited from it under `perturbed_questions`
"""

from collections.abc import Mapping, Sequence
from typing import Any

from swag_af.data.cells.values import as_list
from swag_af.data.errors import RowError, told
from swag_af.data.instances.layouts.layout import Layout
from swag_af.data.instances.options import InstanceColumns
from swag_af.data.tables.sources import Record


def _questions(record: Record, place: str) -> list[Record]:
    questions, options, answers = (as_list(record.get(name), name) for name in ("questions", "options", "answers"))
    if not len(questions) == len(options) == len(answers):
        raise RowError(f"has {len(questions)} questions, {len(options)} options and {len(answers)} answers")
    if not all(isinstance(texts, list) for texts in options):
        raise RowError("has something else than lists of texts under options")
    id = record.get("id") or record.get("example_id") or place
    return [
        {"article": record.get("article"), "question": question, "options": texts, "answer": answer, "id": f"{id}:{i}"}
        for i, (question, texts, answer) in enumerate(zip(questions, options, answers, strict=True))
    ]


def _perturbed(record: Record, place: str) -> Sequence[Record]:
    edits = record.get("perturbed_questions")
    if not isinstance(edits, list) or not all(isinstance(edit, Mapping) for edit in edits):
        raise RowError(f"has {told(edits)} under perturbed_questions, where a list of objects is due")
    asked = [
        (record.get("question"), record.get("answer")),
        *((edit.get(EDITED), edit.get("answer")) for edit in edits),
    ]
    return [_asked(record, place, i, question, answer) for i, (question, answer) in enumerate(asked)]


def _made_of_race(record: Record) -> Mapping[str, str]:
    id = next((name for name in ("id", "example_id") if record.get(name)), "")
    return {"question": "questions", "answer": "answers", "id": id}


EDITED = "perturbed_q"
"""The key of an edited question."""


def _asked(record: Record, place: str, i: int, question: Any, answer: Any) -> Record:
    return {
        "paragraph": record.get("paragraph"),
        "question": question,
        "answer": answer.strip().upper() if isinstance(answer, str) else answer,
        "id": f"{place}:{i}",
        "set": place,
        "variant": "contrast" if i else "original",
    }


RACE = Layout(
    "race",
    ("article", "questions", "options", "answers"),
    "choices",
    InstanceColumns(
        passage_column="article",
        context_column="question",
        start_column="",
        endings_column="options",
        label_column="answer",
        gold_column="",
        negatives_column="",
        id_column="id",
    ),
    _questions,
    reads=("id", "example_id"),
    made=_made_of_race,
    is_sure=True,
)
_COUNTED = dict.fromkeys(("id", "set", "variant"), "")
BOOLQ_CONTRAST = Layout(
    "boolq-contrast",
    ("paragraph", "question", "answer", "perturbed_questions"),
    "classes",
    InstanceColumns(
        premise_column="paragraph",
        hypothesis_column="question",
        text_column="",
        endings_column="",
        label_column="answer",
        id_column="id",
        contrast_set_column="set",
        variant_column="variant",
    ),
    _perturbed,
    made=lambda _: {name: f"{name} and perturbed_questions" for name in ("question", "answer")} | _COUNTED,
    is_sure=True,
)
