"""A dataset before it is written: questions, splits, what was left out and why, and what is to be told of it."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from swag_af.data.captions.context_set import join_near_duplicates
from swag_af.data.errors import ExhaustedError, InputError
from swag_af.data.run import Run
from swag_af.data.splits import fill_shares
from swag_af.judging.options import JudgingOptions
from swag_af.judging.people import Opinions, opinions_of
from swag_af.judging.rules import LEFT_OUT, SECOND_LEFT_OUT, Example, found_examples, second_examples
from swag_af.judging.verdicts import Judgement
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.questions import SPLITS, Question, drawn_examples, make_questions
from swag_af.releasing.style import Style
from swag_af.reporting.text import drop_reasons


@dataclass(frozen=True)
class Dataset:
    """All that the writers need."""

    run: Run
    options: ReleaseOptions
    iteration: int
    """The assignment after this iteration is released."""
    questions: list[Question]
    """In order of the pool's rows, a second example after its first."""
    left_out: dict[str, int]
    """Contexts that make no question, by every reason of `rules.LEFT_OUT`; empty where nobody judged."""
    second_left_out: dict[str, int]
    """Second examples left out, by every reason of `rules.SECOND_LEFT_OUT`; likewise."""
    opinions: Opinions | None
    """None where nobody judged."""
    group_sizes: tuple[int, ...]
    """Contexts in each group that must share a split, the largest first."""
    groups: tuple[int, ...]
    """The number of each question's group, from 0."""
    style: Style = field(default_factory=Style)
    """What fresh filters find in the questions, once that was measured."""

    def of_split(self, split: str) -> list[Question]:
        """The questions of one split."""
        return [question for question in self.questions if question.split == split]

    @property
    def sizes(self) -> dict[str, int]:
        """Questions in each split."""
        counts = Counter(question.split for question in self.questions)
        return {split: counts[split] for split in SPLITS}

    @property
    def n_videos(self) -> int:
        """Videos that have questions."""
        return len({question.video for question in self.questions})

    @property
    def n_generated(self) -> int:
        """Second examples, whose answer is generated."""
        return sum(question.example.is_generated for question in self.questions)


def assemble(run: Run, options: ReleaseOptions) -> Dataset:
    """Apply the rules to what people said, or draw distractors where nobody was asked; split and shuffle.

    Raises InputError for verdicts that do not fit the run, and when no question is left.
    """
    iteration = run.n_finished if options.iteration is None else options.iteration
    assignment = run.assignment(iteration)  # (N, A)
    opinions = (
        opinions_of(
            run, assignment, JudgingOptions(options.run, options.verdicts, options.judge, options.screen, options.seed)
        )
        if options.verdicts
        else None
    )
    found: list[tuple[Example, Judgement | None]]
    left_out: dict[str, int] = {}
    if opinions is None:
        _check_enough(run, options)
        rng = np.random.default_rng((options.seed, 0))
        found = [(example, None) for example in drawn_examples(assignment, options.n_distractors, rng=rng)]
    else:
        judged, counts = found_examples(opinions.judgements, len(assignment), options.n_distractors)
        found, left_out = [*judged], {reason: counts[reason] for reason in LEFT_OUT}
        _check_some(found, left_out, options)
    rows = np.array([example.row for example, _ in found], dtype=np.int64)
    _, of_pool = np.unique(run.pool.groups[rows], return_inverse=True)
    groups = join_near_duplicates(of_pool, [run.pool.contexts[row] for row in rows], options.near_duplicates)
    split_of_row = _split(found, groups, options)
    second, counts = second_examples(found, split_of_row)
    second_left_out = {reason: counts[reason] for reason in SECOND_LEFT_OUT} if opinions else {}
    examples = sorted([*(example for example, _ in found), *second], key=lambda one: (one.row, one.is_generated))
    questions = make_questions(
        run,
        [(example, split_of_row[example.row]) for example in examples],
        options.n_distractors,
        rng=np.random.default_rng((options.seed, 2)),
    )
    sizes = tuple(sorted(np.bincount(groups).tolist(), reverse=True))
    group_of_row = {example.row: int(group) for (example, _), group in zip(found, groups, strict=True)}
    of_question = tuple(group_of_row[example.row] for example in examples)
    return Dataset(run, options, iteration, questions, left_out, second_left_out, opinions, sizes, of_question)


def shortfalls(dataset: Dataset) -> list[str]:
    """A sentence for each split that has less than half of what was asked for."""
    n_found = len(dataset.questions) - dataset.n_generated
    asked = {"val": dataset.options.val_share * n_found, "test": dataset.options.test_share * n_found}
    return [
        f"{split} has {dataset.sizes[split]:,} questions where {asked[split]:,.0f} were asked for: "
        f"{dataset.group_sizes[0]:,} of {n_found:,} contexts must stay together, for their videos or near-duplicates. "
        "Raise --near-duplicates, or add videos."
        for split in asked
        if asked[split] >= 1 and dataset.sizes[split] < asked[split] / 2
    ]


def _split(
    found: list[tuple[Example, Judgement | None]], groups: np.ndarray, options: ReleaseOptions
) -> dict[int, str]:
    """The split of every row that makes a question."""
    rng = np.random.default_rng((options.seed, 1))
    splits = fill_shares(groups, {"test": options.test_share, "val": options.val_share}, "train", rng=rng)
    return {example.row: split for (example, _), split in zip(found, splits, strict=True)}


def _check_enough(run: Run, options: ReleaseOptions) -> None:
    if options.n_distractors >= run.start.shape[1]:
        raise ExhaustedError(
            f"--n-distractors {options.n_distractors}: {options.run} assigns {run.start.shape[1] - 1} "
            "negatives a context. Ask for fewer."
        )


def _check_some(
    found: list[tuple[Example, Judgement | None]], left_out: dict[str, int], options: ReleaseOptions
) -> None:
    if not found:
        raise InputError(
            f"{', '.join(map(str, options.verdicts))}: not one of {sum(left_out.values()):,} contexts makes a question "
            f"({drop_reasons(left_out)}). Collect more verdicts, or ask for fewer --n-distractors."
        )
