"""Rationales of a matched run: questions that ask why the right answer is right, in the splits of those they belong to.

VCR's second stage, QA->R (Zellers et al. 2019b). Texts, labels and splits only; `stages` writes them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from swag_af.data.errors import InputError
from swag_af.data.instances.layouts.staged import rationale_id
from swag_af.data.runs.run import Run, open_run
from swag_af.releasing.questions import Question, drawn_examples, make_questions
from swag_af.releasing.style import Style


@dataclass(frozen=True)
class Rationales:
    """The questions that ask for the rationale of an answer."""

    run: Run
    """The run of the rationales that were matched."""
    questions: list[Question]
    """In the order of the questions they belong to, under the same ids."""
    style: Style = field(default_factory=Style)
    """What fresh filters find in them; empty until it is measured."""


def rationale_run(run: Run) -> Run | None:
    """The run of the rationales that were matched with the answers of `run`; None where there are none.

    Raises InputError where it is gone, or another.
    """
    named = run.matching.get("rationales") if run.matching else None
    if named is None or run.path is None:
        return None
    path = run.path / named["run"]
    if not path.exists():
        raise InputError(f"{run.path}: the run of its rationales, {path}, is gone. Move it back, or match again.")
    found = open_run(path)
    if found.pool.unguarded_identity != named["pool_identity"]:
        raise InputError(f"{path}: of other rationales than those of {run.path}. Match again into another --out.")
    return found


def rationales_of(run: Run, beside: Sequence[Question], n_distractors: int, *, seed: int) -> Rationales:
    """A question for each of `beside` whose right answer has a rationale in `run`, in the same split.

    Distractors are those of the first rounds, labels are even in each split. An answer that was generated has no
    rationale. Rows of `run` have the id of a rationale, or in older runs that of its question.
    """
    rows = {context.id: row for row, context in enumerate(run.pool.contexts)}
    found = [rows.get(rationale_id(one.id), rows.get(one.id)) for one in beside]
    asked = [
        (row, one) for row, one in zip(found, beside, strict=True) if row is not None and not one.example.is_generated
    ]
    rng = np.random.default_rng((seed, 3))
    examples = drawn_examples(run.assignment(), n_distractors, rng=rng, of_rounds=True)
    made = make_questions(run, [(examples[row], one.split) for row, one in asked], n_distractors, seed=seed)
    named = [
        replace(why, context=replace(why.context, id=one.id, video=one.context.video))
        for why, (_, one) in zip(made, asked, strict=True)
    ]
    return Rationales(run, named)
