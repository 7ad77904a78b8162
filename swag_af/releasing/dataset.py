"""A dataset before it is written: questions, splits, reasons why contexts were left out, and figures for the card."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from swag_af.data.captions.context_set import NearJoined, join_near_duplicates
from swag_af.data.display.brief import brief
from swag_af.data.errors import ExhaustedError, InputError, several
from swag_af.data.runs.run import Run
from swag_af.data.splits import fill_shares, renumbered
from swag_af.data.text.linked import Links, links_of, unlinked
from swag_af.judging.options import JudgingOptions
from swag_af.judging.people import Opinions, opinions_of
from swag_af.judging.rules import LEFT_OUT, SECOND_LEFT_OUT, Example, found_examples, second_examples
from swag_af.judging.verdicts import TOO_FEW, Judgement, told_apart
from swag_af.releasing.linked import HELD_OUT, count_by_split
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.questions import SPLITS, Question, drawn_examples, make_questions
from swag_af.releasing.rationales import Rationales, rationale_run, rationales_of
from swag_af.releasing.style import FEWEST_GROUPS, Style
from swag_af.reporting.tables.text import drop_reasons

Found = Sequence[tuple[Example, Judgement | None]]
"""Examples whose answer is gold, at most one per context, each with its judgement where there are verdicts."""


@brief
@dataclass(frozen=True)
class Dataset:
    """Everything that the writers need."""

    run: Run
    options: ReleaseOptions
    iteration: int
    """The assignment after this iteration is released."""
    questions: list[Question]
    """In the order of the pool's rows, a second example after its first."""
    left_out: dict[str, int]
    """Number of contexts that make no question, by each reason in `rules.LEFT_OUT`; empty without verdicts."""
    second_left_out: dict[str, int]
    """Number of second examples left out, by each reason in `rules.SECOND_LEFT_OUT`; empty without verdicts."""
    opinions: Opinions | None
    """None without verdicts."""
    group_sizes: tuple[int, ...]
    """Sizes of the groups of contexts that must share a split, the largest first."""
    groups: tuple[int, ...]
    """The number of each question's group, from 0."""
    near: NearJoined
    """How near-duplicates were joined into these groups, with those left out later."""
    rationales: Rationales | None = None
    """The questions that ask for the rationale of an answer, where rationales were matched."""
    linked: dict[str, int] = field(default_factory=dict)
    """In each split, how many questions have their answer in the context of another; splits without any are left
    out."""
    n_unlinked: int = 0
    """Contexts that were left out so that no answer stands in another's context."""
    style: Style = field(default_factory=Style)
    """What fresh filters find in the questions; empty until it is measured."""

    @property
    def run_so_far(self) -> Run:
        """The run as it was when the iteration that is released was the last: later filters chose nothing of it."""
        return replace(self.run, log=self.run.log[: self.iteration])

    @property
    def is_unfiltered(self) -> bool:
        """Whether the wrong endings are those that a run of filters began with: at its start, or where none was
        swapped."""
        if self.run.matching is not None:
            return False
        released = np.sort(self.run.assignment(self.iteration), axis=1)
        return bool(np.array_equal(released, np.sort(self.run.start, axis=1)))

    @property
    def goes_on(self) -> bool:
        """Whether endings go on with a start, as a caption's second sentence; else they are answers, or texts."""
        return any(question.start for question in self.questions)

    @property
    def is_english(self) -> bool:
        """Whether its contexts are English as far as the pool knows: `swag-af contexts` made them, and dropped captions
        in other languages."""
        return "foreign" in (self.run.pool.manifest.get("contexts") or {})

    def of_split(self, split: str) -> list[Question]:
        """The questions of one split."""
        return [question for question in self.questions if question.split == split]

    @property
    def sizes(self) -> dict[str, int]:
        """Questions in each split."""
        counts = Counter(question.split for question in self.questions)
        return {split: counts[split] for split in SPLITS}

    @property
    def names_videos(self) -> bool:
        """Whether some questions belong to a video that the source named."""
        return any(question.video for question in self.questions)

    @property
    def kept_together(self) -> str:
        """How many groups must share a split, and of what: `12 groups of 40 videos`, or of contexts where none names a
        video."""
        of = several(len({question.context.video for question in self.questions}), "video")
        if not self.names_videos:
            of = several(sum(self.group_sizes), "context")
        return f"{several(len(self.group_sizes), 'group')} of {of}"

    @property
    def n_generated(self) -> int:
        """Number of second examples, whose answer is generated."""
        return sum(question.example.is_generated for question in self.questions)


def assemble(run: Run, options: ReleaseOptions) -> Dataset:
    """Apply the rules to the verdicts, or draw distractors where there are none; split and shuffle.

    Raises InputError for verdicts that do not fit the run, and when no question is left.
    """
    iteration = run.n_finished if options.iteration is None else options.iteration
    assignment = run.assignment(iteration)  # (N, A)
    why = rationale_run(run)
    opinions = _opinions(run, assignment, options)
    found, dropped = _found(run, assignment, opinions, options)
    joined = _groups(run, found, options)
    groups = joined.groups  # (found,)
    split_of_row = _split(found, groups, options)
    links = links_of(run.pool.contexts)
    gone = _unlinked(links, split_of_row, len(run.pool), options)
    found, groups = _without(gone, found, groups)
    split_of_row = {row: split for row, split in split_of_row.items() if row not in gone}
    second, counts = second_examples(found, split_of_row) if run.matching is None else ([], Counter[str]())
    examples = sorted([*(example for example, _ in found), *second], key=lambda one: (one.row, one.is_generated))
    group_of_row = {example.row: int(group) for (example, _), group in zip(found, groups, strict=True)}
    questions = _questions(run, examples, split_of_row, options)
    return Dataset(
        run=run,
        options=options,
        iteration=iteration,
        questions=questions,
        left_out=dropped,
        second_left_out={reason: counts[reason] for reason in SECOND_LEFT_OUT} if opinions and not run.matching else {},
        opinions=opinions,
        group_sizes=tuple(sorted(np.bincount(groups).tolist(), reverse=True)),
        groups=tuple(group_of_row[example.row] for example in examples),
        near=joined,
        rationales=_rationales(why, questions, options),
        linked=count_by_split(links, split_of_row),
        n_unlinked=len(gone),
    )


def _opinions(run: Run, assignment: np.ndarray, options: ReleaseOptions) -> Opinions | None:
    if not options.verdicts:
        return None
    judging = JudgingOptions(options.run, options.verdicts, options.judge, options.screen, options.seed)
    return opinions_of(run, assignment, judging)


def _found(
    run: Run, assignment: np.ndarray, opinions: Opinions | None, options: ReleaseOptions
) -> tuple[Found, dict[str, int]]:
    """Examples whose answer is gold, and the number of contexts left out by reason."""
    if opinions is None:
        _check_enough(run, options)
        rng = np.random.default_rng((options.seed, 0))
        examples = drawn_examples(assignment, options.n_distractors, rng=rng, of_rounds=run.matching is not None)
        return [(example, None) for example in examples], {}
    kept = run.matching is not None
    found, counts = found_examples(opinions.judgements, len(assignment), options.n_distractors, keep_second=kept)
    left_out = {reason: counts[reason] for reason in LEFT_OUT}
    if not found:
        most = opinions.most_distractors(assignment.shape[1], keep_second=kept)
        raise _nothing_found(left_out, most, fewer_distractors(opinions, len(assignment), options, kept), options)
    return [*found], left_out


def fewer_distractors(opinions: Opinions, n_rows: int, options: ReleaseOptions, keep_second: bool) -> str:
    """How many contexts make a question of fewer distractors, the most that any has: `With --n-distractors 2, 87
    contexts make a question.`; empty where that helps none."""
    for n in range(options.n_distractors - 1, 0, -1):
        found, _ = found_examples(opinions.judgements, n_rows, n, keep_second=keep_second)
        if found:
            makes = "context makes" if len(found) == 1 else "contexts make"
            return f"With --n-distractors {n}, {len(found):,} {makes} a question."
    return ""


def _groups(run: Run, found: Found, options: ReleaseOptions) -> NearJoined:
    """Groups of what is `found` that must share a split: those of the pool, joined by near-duplicates."""
    rows = np.array([example.row for example, _ in found], dtype=np.int64)
    of_pool = renumbered(run.pool.groups[rows])
    return join_near_duplicates(of_pool, [run.pool.contexts[row] for row in rows], options.near_duplicates)


def _split(found: Found, groups: np.ndarray, options: ReleaseOptions) -> dict[int, str]:
    """The split of every row that makes a question."""
    rng = np.random.default_rng((options.seed, 1))
    splits = fill_shares(groups, {"test": options.test_share, "val": options.val_share}, "train", rng=rng)
    return {example.row: split for (example, _), split in zip(found, splits, strict=True)}


def _unlinked(links: Links, split_of_row: dict[int, str], n: int, options: ReleaseOptions) -> set[int]:
    """The rows to leave out by `options.linked`, of those that make a question."""
    if options.linked == "keep":
        return set()
    is_guarded = [options.linked == "none" or split_of_row.get(row) in HELD_OUT for row in range(n)]
    return unlinked(links, [row in split_of_row for row in range(n)], is_guarded)


def _without(rows: set[int], found: Found, groups: np.ndarray) -> tuple[Found, np.ndarray]:
    """What is `found` but for these rows, and its groups (found,), numbered from 0 anew."""
    kept = [i for i, (example, _) in enumerate(found) if example.row not in rows]
    return [found[i] for i in kept], renumbered(groups[kept])


def _questions(
    run: Run, examples: list[Example], split_of_row: dict[int, str], options: ReleaseOptions
) -> list[Question]:
    placed = [(example, split_of_row[example.row]) for example in examples]
    return make_questions(run, placed, options.n_distractors, seed=options.seed)


def _rationales(why: Run | None, questions: list[Question], options: ReleaseOptions) -> Rationales | None:
    if why is None:
        return None
    _check_enough(why, options)
    made = rationales_of(why, questions, options.n_distractors, seed=options.seed)
    return made if made.questions else None


def _check_enough(run: Run, options: ReleaseOptions) -> None:
    if options.n_distractors >= run.start.shape[1]:
        raise ExhaustedError(
            f"--n-distractors {options.n_distractors}: {run.path or options.run} assigns {run.start.shape[1] - 1} "
            "negatives a context. Ask for fewer."
        )


def _nothing_found(left_out: dict[str, int], most: int, fewer: str, options: ReleaseOptions) -> InputError:
    """That no context makes a question, of which `most` distractors can be had at all; `fewer` is what helps."""
    advice = fewer or "Collect more verdicts, or ask for fewer --n-distractors."
    if most < options.n_distractors:
        other = f"Ask for --n-distractors {most}" if most else f"Filter with --n-negatives {TOO_FEW} or more"
        advice = f"No verdict could help: items show too few negatives for {options.n_distractors}. {other}."
    return InputError(
        f"{', '.join(map(str, options.verdicts))}: not one of {sum(left_out.values()):,} contexts makes a question "
        f"({drop_reasons(left_out)}). {advice}"
    )


def told_iterations(run: Run) -> str:
    """How many iterations a run has, and how many more it would have had if it had not ended before its time."""
    n, planned = run.n_finished, run.n_planned
    return f"{n}" if n >= planned else f"{n} ({planned} were planned: the run is not finished)"


def shortfalls(dataset: Dataset) -> list[str]:
    """A sentence for splits that are off by more than a quarter of what was asked for, one for a run that is not
    finished, one where style cannot be measured for want of groups, one on contexts that were shown with different
    endings in one round, and one where not all near-duplicates that were asked for share a split."""
    run = dataset.run
    short = [
        f"iteration {dataset.iteration} is released, and {run.n_finished} of {run.n_planned} that were planned are "
        "finished: the command that began the run goes on from there."
    ]
    apart = told_apart(verdict.item for verdict in dataset.opinions.counted) if dataset.opinions else None
    return [
        *(short if run.n_finished < run.n_planned else []),
        *_few_distractors(dataset),
        *_small_splits(dataset),
        *_one_group(dataset),
        *([apart] if apart else []),
        *(
            []
            if dataset.near.is_as_asked
            else [f"near-duplicates share a split from a similarity of {dataset.near.told}."]
        ),
    ]


def _one_group(dataset: Dataset) -> list[str]:
    """What parts the questions of a matching, of two folds at least, where all must stay together."""
    if not dataset.run.is_matched or len(dataset.group_sizes) >= FEWEST_GROUPS:
        return []
    if len({int(dataset.run.pool.groups[question.example.row]) for question in dataset.questions}) == 1:
        return ["style cannot be measured: all questions are of one fold of the matching. Collect verdicts on others."]
    return [
        "style cannot be measured: near-duplicates join all folds of the matching. Raise --near-duplicates, or match "
        "without them."
    ]


def _few_distractors(dataset: Dataset) -> list[str]:
    """What fewer distractors would give, where most contexts that people accept have too few of them."""
    n, opinions, kept = dataset.left_out.get("too_few_distractors", 0), dataset.opinions, bool(dataset.run.matching)
    if opinions is None or n <= len(dataset.questions) - dataset.n_generated:
        return []
    fewer = fewer_distractors(opinions, len(dataset.run.pool), dataset.options, kept)
    return [f"{several(n, 'context')} have too few distractors left. {fewer}"]


def _small_splits(dataset: Dataset) -> list[str]:
    n_found = len(dataset.questions) - dataset.n_generated
    shares = {"val": dataset.options.val_share, "test": dataset.options.test_share}
    shares["train"] = 1 - sum(shares.values())
    found = Counter(question.split for question in dataset.questions if not question.example.is_generated)
    off = [
        f"{split} has {several(found[split], 'question')} where {share * n_found:,.0f} were asked for"
        for split, share in shares.items()
        if share * n_found >= 1 and abs(found[split] - share * n_found) > share * n_found / 4
    ]
    why = f"in the largest of {several(len(dataset.group_sizes), 'group')} {dataset.group_sizes[0]:,} of {n_found:,}"
    return [f"{'; '.join(off)}: {why} {_why_together(dataset)}"] if off else []


def _why_together(dataset: Dataset) -> str:
    if dataset.run.is_matched:
        return (
            "questions must stay together, since their answers were matched with each other, or they are "
            "near-duplicates. Match in more --folds, or raise --near-duplicates."
        )
    return "contexts must stay together, for their videos or near-duplicates. Raise --near-duplicates, or add videos."
