"""Questions as they are released: text, shuffled answers, labels as even as their number allows.

Writes no files.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any

import numpy as np

from swag_af.data.context import Context, display, readable
from swag_af.data.pooling.columns import MATCH_FOLD
from swag_af.data.runs.run import Run
from swag_af.data.secrets import secret_rng
from swag_af.data.tokens import one_after_another
from swag_af.judging.rules import Example

SPLITS = ("train", "val", "test")
FOLD = MATCH_FOLD
"""The column of `Question.fold`, which readers take for a group."""


@dataclass(frozen=True, slots=True)
class Question:
    """One multiple-choice question as it is released."""

    context: Context
    sent1: str
    """The first sentence, `readable`, with a capital at its beginning."""
    start: str
    """The beginning of the second sentence likewise."""
    answer: str
    """`readable`, as the distractors are."""
    distractors: tuple[str, ...]
    """Least likely first where there are verdicts; possibly more than the `n_choices` - 1 that are shown, in another
    order: one that rises tells which ending does not belong to it."""
    example: Example
    n_choices: int
    split: str
    label: int = 0
    order: tuple[int, ...] = ()
    """In which the shown `distractors` stand; as they are where not given."""
    fold: int | None = None
    """That of the matching in which the distractors are answers of other questions; None where none was made."""
    media: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What is shown with the text, by column: the same columns in every question of a dataset, None where a question
    lacks one."""
    suffix: str = ""
    """Behind the id of the context, where that is another question's."""

    @property
    def endings(self) -> tuple[str, ...]:
        """The `n_choices` endings to choose from, with the answer at index `label`."""
        chosen = [self.distractors[i] for i in self.order or range(self.n_choices - 1)]
        return (*chosen[: self.label], self.answer, *chosen[self.label :])

    @property
    def more(self) -> dict[str, Any]:
        """The columns beside SWAG's: the fold of a matching, and what is shown with the text; none where there is
        neither."""
        return {**({} if self.fold is None else {FOLD: self.fold}), **self.media}

    @property
    def columns(self) -> tuple[int, ...]:
        """The pool's candidates behind `endings`, the answer first."""
        return (self.example.answer, *self.example.distractors[: self.n_choices - 1])

    @property
    def startphrase(self) -> str:
        """The context in one text."""
        return one_after_another(self.sent1, self.start).strip()

    @property
    def id(self) -> str:
        """The id of the context, with the suffix of a second example; unique in the dataset."""
        return f"{self.context.id}{self.suffix}"

    @property
    def video(self) -> str:
        """The context's video, empty where its source named none: a pool gives it the id then, which as a name would
        tell readers that the question belongs with no other."""
        return "" if self.context.video == self.context.id else self.context.video

    @property
    def answer_source(self) -> str:
        """`gold` or `gen`: whether the answer was found or generated."""
        return "gen" if self.example.is_generated else "gold"


def make_questions(
    run: Run, examples: Sequence[tuple[Example, str]], n_distractors: int, *, seed: int
) -> list[Question]:
    """A question for each example, which comes with its split; in the same order, labels uniform in each split.

    Labels and orders depend on `seed` and the pool's content: who has the release, which names the seed, could draw
    them again.
    """
    shown: dict[int, tuple[str, str]] = {}
    columns = media_columns([run.pool.contexts[example.row] for example, _ in examples])
    ids = {context.id for context in run.pool.contexts}
    questions = []
    for example, split in examples:
        context = run.pool.contexts[example.row]
        if example.row not in shown:
            shown[example.row] = display(context)
        sent1, start = shown[example.row]
        texts = [readable(run.pool.text(example.row, column)) for column in (example.answer, *example.distractors)]
        made = Question(
            context,
            sent1,
            start,
            texts[0],
            tuple(texts[1:]),
            example,
            1 + n_distractors,
            split,
            fold=int(run.pool.groups[example.row]) if run.is_matched else None,
            media={column: context.media.get(name) for name, column in columns.items()},
            suffix=_free_suffix(context.id, ids) if example.is_generated else "",
        )
        questions.append(made)
    return with_even_labels(questions, rng=secret_rng(run.pool.secret, f"labels {seed}"))


def _free_suffix(id: str, taken: Set[str]) -> str:
    """What a second question has behind the id of its context, so that no other context has it: `-gen`, or `-gen2`."""
    names = chain(("-gen",), (f"-gen{n}" for n in count(2)))
    return next(name for name in names if f"{id}{name}" not in taken)


def media_columns(contexts: Sequence[Context]) -> dict[str, str]:
    """The column of each thing that some of `contexts` show, by its name: `img_fn`, or `media-NAME` where readers would
    take NAME for another column: SWAG's, VCR's, or a question or its options by another name; with `media-` once more
    where another has that name."""
    names = sorted({str(name) for context in contexts for name in context.media})
    columns = {}
    for name in names:
        column = name
        while _TAKEN.fullmatch(column) or (column != name and column in names):
            column = f"media-{column}"
        columns[name] = column
    return columns


_TAKEN = re.compile(
    r"|id|video|source|row|start|endings|label|video-id|fold-ind|startphrase|sent[12]|gold-(?:source|type|ending)"
    rf"|gold_source|{FOLD}|(?:ending|distractor|negative|option|choice|answer)[-_]?.*|gold|group|split"
    r"|context|question|query|prompt|passage|premise|hypothesis|sentence\d?|text|annot_id|movie|rationale_.*"
)


def drawn_examples(
    assignment: np.ndarray, n_distractors: int, *, rng: np.random.Generator, of_rounds: bool = False
) -> list[Example]:
    """Without verdicts: an example for each row of `assignment` (N, A), distractors drawn from the assigned ones.

    `of_rounds`: the columns are rounds of a matching, and the first are taken, in any order. In a round every answer is
    wrong once; drawn row by row, some would be wrong more often than others, and an answer that is seen seldom right.
    """
    last = 1 + n_distractors if of_rounds else assignment.shape[1]
    return [
        Example(row, 0, tuple(int(column) for column in rng.permutation(columns[1:last])[:n_distractors]), "gold")
        for row, columns in enumerate(assignment)
    ]


def with_even_labels(questions: Sequence[Question], *, rng: np.random.Generator) -> list[Question]:
    """The questions with new random labels and orders: in each split, the counts of any two labels differ by at most 1,
    and any order of the wrong endings is as likely as any other."""
    labelled = [replace(one, order=tuple(rng.permutation(one.n_choices - 1).tolist())) for one in questions]
    for split in SPLITS:
        of_split = [i for i, question in enumerate(questions) if question.split == split]
        if of_split:
            labels = rng.permutation(np.arange(len(of_split)) % questions[of_split[0]].n_choices)
            for i, label in zip(of_split, labels.tolist(), strict=True):
                labelled[i] = replace(labelled[i], label=label)
    return labelled
