"""VCR (Zellers et al. 2019), whose answers have reasons, and its contrast sets, VCR-CS (Kim et al. 2023).

    vcr      a row is two questions: `Q->A`, which of the answers, and `QA->R`, which of the rationales, given the
             question and its right answer; a row without rationales is one. What both share is `annot_id`
    vcr-cs   a row is two questions, original and contrast, with the same answers over one image, of which others
             are right; their contrast set is `annot_id`. The released file has 159 pairs of 152 `annot_id`, as seven
             questions were rewritten twice, or labelled twice: the second of them is `val-7499:2`

Texts come as plain ones: what numbers of objects in them mean is decided in `tagged`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from swag_af.data.cells.labels import is_unlabelled
from swag_af.data.cells.values import as_list, integer
from swag_af.data.errors import RowError, told
from swag_af.data.instances.layouts.layout import Layout
from swag_af.data.instances.options import InstanceColumns
from swag_af.data.sources import Record

ANSWER, RATIONALE = "Q->A", "QA->R"
"""The stages."""


def _stages(record: Record, place: str) -> list[Record]:
    """Both questions of a row of VCR; those whose label is kept, as in the test split, have none."""
    id, question, answers = record.get("annot_id"), record.get("question"), record.get("answer_choices")
    label = record.get("answer_label")
    rows = [_staged(record, ANSWER, str(id or place), question, answers, label)]
    if record.get("rationale_choices"):
        known = f"{question} {_right(answers, label)}".strip()
        why = None if is_unlabelled(label) else record.get("rationale_label")
        rows.append(_staged(record, RATIONALE, f"{id or place}:rationale", known, record["rationale_choices"], why))
    return rows


def _staged(record: Record, stage: str, id: str, context: Any, options: Any, label: Any) -> Record:
    return {**record, "id": id, "stage": stage, "context": context, "options": options, "label": label}


def _right(answers: Any, label: Any) -> str:
    """The right answer; empty where the label says none, which is told when that row is read."""
    number = integer(label)
    texts = as_list(answers, "answer_choices")
    return str(texts[number]) if number is not None and 0 <= number < len(texts) else ""


_VARIANTS = {"original": "original", "contrast": "counter"}
"""What a variant is called in the names of the columns."""


def _pair(record: Record, place: str) -> Sequence[Record]:
    """Both questions of a row of VCR-CS; a RowError names all that is wrong with the pair."""
    answers = as_list(record.get("answer_choices"), "answer_choices")
    labels = {variant: record.get(f"{name}_answer_label") for variant, name in _VARIANTS.items()}
    questions = {variant: record.get(f"{name}_question") for variant, name in _VARIANTS.items()}
    id = record.get("annot_id")
    faults = [f"has no text under {_VARIANTS[variant]}_question" for variant, text in questions.items() if not text]
    for variant, label in labels.items():
        number = integer(label)
        if number is None or not 0 <= number < len(answers):
            column = f"{_VARIANTS[variant]}_answer_label"
            faults.append(f"has {told(label)} under {column}, where one of 0 to {len(answers) - 1} is due")
    if labels["original"] == labels["contrast"]:
        faults.append("has the same right answer to both questions, so it is no contrast")
    faults += [f"has no {column}" for column in ("img_fn", "annot_id") if not record.get(column)]
    if faults:
        raise RowError("; ".join(faults))
    return [
        {**record, "id": f"{id}:{variant}", "variant": variant, "context": text, "label": labels[variant]}
        for variant, text in questions.items()
    ]


_STAGED = InstanceColumns(
    context_column="context",
    passage_column="",
    start_column="",
    endings_column="options",
    label_column="label",
    gold_column="",
    negatives_column="",
    video_column="movie",
    media_column="img_fn",
    id_column="id",
    question_id_column="annot_id",
    stage_column="stage",
)
VCR = Layout(
    "vcr",
    ("question", "answer_choices", "annot_id", "img_fn"),
    "choices",
    _STAGED,
    _stages,
    reads=("answer_label", "rationale_choices", "rationale_label", "movie", "objects"),
    tagged=("question", "answer_choices", "rationale_choices"),
    is_sure=True,
    unique="annot_id",
)
VCR_CS = Layout(
    "vcr-cs",
    ("original_question", "counter_question", "answer_choices"),
    "choices",
    replace(
        _STAGED,
        endings_column="answer_choices",
        question_id_column="",
        stage_column="",
        contrast_set_column="annot_id",
        variant_column="variant",
    ),
    _pair,
    reads=("original_answer_label", "counter_answer_label", "annot_id", "img_fn", "movie", "objects"),
    tagged=("original_question", "counter_question", "answer_choices"),
    is_sure=True,
    numbered="annot_id",
)
