"""The card of a dataset whose wrong answers were matched: what takes the place of the words about filtering.

And what is said of rationales, where they were matched too.
"""

from swag_af.data.errors import several
from swag_af.data.records import Matching
from swag_af.releasing.card_style import style_in_short, style_rows
from swag_af.releasing.dataset import Dataset
from swag_af.releasing.stages import FOLDER
from swag_af.reporting.markdown import bullets, markdown_table

PAPER = "[Zellers et al. 2019](https://arxiv.org/abs/1811.10830)"


def introduction(dataset: Dataset) -> str:
    """What the dataset is, in two sentences."""
    n_choices = 1 + dataset.options.n_distractors
    return (
        f"{len(dataset.questions):,} multiple-choice questions of {n_choices} answers. The wrong answers were chosen "
        f"by Adversarial Matching ({PAPER}): each is the right answer of another question, relevant to this one, and "
        "different in meaning from its own right answer."
    )


def matching_section(matching: Matching) -> list[str]:
    """How it was matched and what came of it, from the record of the run."""
    return [
        *bullets(matching["said"]),
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
        "",
        style_in_short(why.run, why.style),
        *(["", *markdown_table(style_rows(why.run, why.style))] if why.style.findings else []),
    ]


def columns(dataset: Dataset) -> str:
    """What the columns hold."""
    if any(question.start for question in dataset.questions):
        of_texts = (
            "`startphrase` is `sent1` and `sent2` together; `sent2` is the beginning of the second sentence, which an "
            "ending finishes, and empty where the endings are answers to `sent1`. "
        )
    else:
        of_texts = "`sent1` is the question, and so is `startphrase`; `sent2` is empty, and the endings are answers. "
    return of_texts + (
        "`fold-ind` is the number of the question in the pool. `gold-source` is `gold`: all answers were found in the "
        "source."
    )


def splits_of(dataset: Dataset) -> str:
    """Why no answer crosses the splits."""
    n_groups = len(dataset.group_sizes)
    return (
        "Answers were matched within folds of whole groups (videos, documents), and a split is made of whole folds: no "
        "group stands in two splits, and no row's answer is right in one split and wrong in another. Folds that hold "
        "questions whose lower-cased tokens (question and right answer) have a Jaccard similarity of 3-grams of "
        f"{dataset.options.near_duplicates:g} or more count as one. That makes {several(n_groups, 'fold')}; the "
        f"largest has {several(dataset.group_sizes[0], 'question')}."
    )
