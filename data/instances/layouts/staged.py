"""VCR (Zellers et al. 2019), whose answers have reasons, and its contrast sets, VCR-CS (Kim et al. 2023).

    vcr      a row is two questions: `Q->A`, which of the answers, and `QA->R`, which of the rationales, given the
             question and its right answer; a row without rationales is one. What both share is `annot_id`. So are the
             questions that `swag-af match` writes, where answers are right in one row and wrong in others of the
             same fold: the group is the fold (`match_fold`, a number there; VCR's are called val-0) and not the movie
    vcr-cs   a row is two questions, original and contrast, with the same answers over one image, of which others
             are right; their contrast set is `annot_id`. The released file has 159 pairs of 152 `annot_id`: six
             questions were rewritten twice, one was labelled twice; the second is `val-7499:2` and so on

Texts come as plain ones: what numbers of objects in them mean is decided in `tagged`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from swag_af.data.cells.labels import is_unlabelled
from swag_af.data.cells.values import as_list, integer
from swag_af.data.errors import RowError, told
from swag_af.data.instances.layouts.layout import Layout
from swag_af.data.instances.options import InstanceColumns
from swag_af.data.tables.sources import Record

ANSWER, RATIONALE = "Q->A", "QA->R"
"""The stages."""


def rationale_id(id: str) -> str:
    """The id of the question that asks for the rationale of the answer to the question `id`."""
    return f"{id}:rationale"


def _stages(record: Record, place: str) -> Sequence[Record]:
    """Both questions of a row of VCR; those whose label is kept, as in the test split, have none."""
    id, question, label = str(record.get("annot_id") or place), record.get("question"), record.get("answer_label")
    answers = as_list(record.get("answer_choices"), "answer_choices")
    rationales, why = record.get("rationale_choices"), record.get("rationale_label")
    faults = _label_faults(label, "answer_label", len(answers))
    record = {**record, "group": _group(record)}
    rows = [{**record, "id": id, "stage": ANSWER, "context": question, "options": answers, "label": label}]
    if rationales:
        faults += _label_faults(why, "rationale_label", len(as_list(rationales, "rationale_choices")))
        hidden = is_unlabelled(label)
        right = "" if hidden or faults else answers[integer(label) or 0]
        asked = {"context": f"{question} {right}", "options": rationales, "label": None if hidden else why}
        rows.append({**record, "id": rationale_id(id), "stage": RATIONALE, **asked})
    if faults:
        raise RowError("; ".join(faults))
    return rows


def _group(record: Record) -> Any:
    """The movie; the fold where `swag-af match` made the row."""
    return f"fold {record['match_fold']}" if _is_matched(record) else record.get("movie")


def _is_matched(record: Record) -> bool:
    return isinstance(record.get("match_fold"), int)


def _made_of_vcr(record: Record) -> Mapping[str, str]:
    has_why = bool(record.get("rationale_choices"))
    return {
        "context": "question",
        "options": f"answer_choices{' and rationale_choices' * has_why}",
        "label": f"answer_label{' and rationale_label' * has_why}",
        "group": "match_fold" if _is_matched(record) else "movie",
        "id": "annot_id",
        "stage": "",
    }


def _label_faults(label: Any, column: str, n: int) -> list[str]:
    """What is wrong with the number of the right one of `n`; nothing where there is no label."""
    number = integer(label)
    if is_unlabelled(label) or (number is not None and 0 <= number < n):
        return []
    return [f"has {told(label)} under {column}, where one of {n} options is due, from 0"]


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
        column = f"{_VARIANTS[variant]}_answer_label"
        faults += [f"has no {column}"] if is_unlabelled(label) else _label_faults(label, column, len(answers))
    if labels["original"] == labels["contrast"] and not is_unlabelled(labels["original"]):
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
    ("question", "answer_choices", "annot_id"),
    "choices",
    replace(_STAGED, video_column="group"),
    _stages,
    reads=("answer_label", "rationale_choices", "rationale_label", "movie", "match_fold", "objects", "img_fn"),
    made=_made_of_vcr,
    tagged=("question", "answer_choices", "rationale_choices"),
    is_sure=True,
    unique="annot_id",
    video="movie",
)
_MADE_OF_VCR_CS = {
    "context": "original_question and counter_question",
    "label": "original_answer_label and counter_answer_label",
    "id": "annot_id",
    "variant": "",
}
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
    made=lambda _: _MADE_OF_VCR_CS,
    tagged=("original_question", "counter_question", "answer_choices"),
    is_sure=True,
    numbered="annot_id",
)
