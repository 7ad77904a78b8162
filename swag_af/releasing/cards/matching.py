"""The card of a dataset whose wrong answers were matched: what takes the place of the words about filtering.

And what is said of rationales, where they were matched too.
"""

from collections.abc import Sequence

from swag_af.data.disk.records import Matching
from swag_af.data.errors import several
from swag_af.data.text.wording import option_key
from swag_af.releasing.cards.style import style_in_short, style_rows
from swag_af.releasing.dataset import Dataset
from swag_af.releasing.files.stages import FOLDER
from swag_af.releasing.questions import Question
from swag_af.reporting.tables.markdown import bullets, markdown_table

PAPER = "[Zellers et al. 2019](https://arxiv.org/abs/1811.10830)"


def introduction(dataset: Dataset) -> str:
    """What the dataset is, in two sentences, or three where some of the answers were filtered out."""
    n_choices = 1 + dataset.options.n_distractors
    told = (
        f"{len(dataset.questions):,} multiple-choice questions of {n_choices} answers. The wrong answers were chosen "
        f"by Adversarial Matching ({PAPER}): each is the right answer of another question, relevant to this one, and "
        "different in meaning from its own right answer."
    )
    return told if dataset.run.matching or dataset.is_unfiltered else f"{told} {_FILTERED}"


_FILTERED = (
    "Of those that were matched, Adversarial Filtering ([Zellers et al. 2018](https://arxiv.org/abs/1808.05326)) kept "
    "some, so that an answer may be wrong more often than another, which can tell the right one (AF211 of "
    "`swag-af audit`)."
)


def matching_section(matching: Matching) -> list[str]:
    """How it was matched and what came of it, from the record of the run."""
    return [
        *bullets(matching["said"]),
        *_left_open(matching),
        "",
        "Right and wrong answers are the same texts, so that answers alone tell little by design. What a model of "
        "meaning would call equal to the right answer, and these models do not, may stand among the wrong ones.",
    ]


def rationales_section(dataset: Dataset) -> list[str]:
    """How many rationales are asked for, how they were matched, what style gives away in them; nothing without any."""
    why = dataset.rationales
    if why is None or why.run.matching is None:
        return []
    asked = f"{len(why.questions):,} of the {len(dataset.questions):,} questions have a second one"
    return [
        "### Rationales",
        "",
        f"{asked}: which of {1 + dataset.options.n_distractors} rationales says why the right answer is right (QA->R). "
        f"`{FOLDER}/` has both. The rationales were matched likewise, within the folds of the answers; no person has "
        "judged them.",
        "",
        *bullets(why.run.matching["said"]),
        *_left_open(why.run.matching),
        "",
        style_in_short(why.run, why.style),
        *(["", *markdown_table(style_rows(why.run, why.style))] if why.style.findings else []),
    ]


def _left_open(matching: Matching) -> list[str]:
    """What the matching could not do, and what was to be looked at; nothing where nothing is known."""
    cautions = matching.get("cautions", [])
    return ["", "What this leaves open, and what would help:", "", *bullets(cautions)] if cautions else []


def columns(dataset: Dataset) -> str:
    """What the columns hold."""
    if any(question.start for question in dataset.questions):
        of_texts = (
            "`startphrase` is `sent1` and `sent2` together; `sent2` is the beginning of the second sentence, which an "
            "ending finishes, and empty where the endings are answers to `sent1`. "
        )
    else:
        of_texts = "`sent1` is the question, and so is `startphrase`; `sent2` is empty, and the endings are answers. "
    n = dataset.n_generated
    return of_texts + (
        "`fold-ind` is the number of the question in the pool. `match_fold` is the fold of the matching: a model or an "
        "audit that learns from some questions should be asked about those of other folds. `gold-source` is `gold` "
        + (f"or, of {n:,}, `gen`, where people ranked a wrong answer above it." if n else "everywhere.")
    )


def splits_of(dataset: Dataset) -> str:
    """Why answers do not cross the splits, and how many do."""
    n_groups, n_crossing = len(dataset.group_sizes), crossing(dataset.questions)
    crosses = (
        f"of {several(n_crossing, 'question')} the right answer is a wrong one in another split, since rows share it"
        if n_crossing
        else "no answer is right in one split and wrong in another"
    )
    return (
        "Answers were matched within folds of whole groups (videos, documents), and a split is made of whole folds: no "
        f"group stands in two splits, and {crosses}. Folds that hold "
        "questions whose lower-cased tokens (question and right answer) have a Jaccard similarity of 3-grams of "
        f"{dataset.near.told} count as one. "
        f"That makes {several(n_groups, 'fold')}; the "
        f"largest has {several(dataset.group_sizes[0], 'question')}."
    )


def crossing(questions: Sequence[Question]) -> int:
    """How many questions have a right answer that is a wrong one in another split, but for case and punctuation."""
    splits_with: dict[int, set[str]] = {}
    for question in questions:
        for text in question.endings:
            if text != question.answer:
                splits_with.setdefault(option_key(text), set()).add(question.split)
    return sum(bool(splits_with.get(option_key(one.answer), set()) - {one.split}) for one in questions)
