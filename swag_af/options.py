"""The options of the verbs from `filter` on, and of `filter_pool`. Imports nothing heavy."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from swag_af.data.errors import InputError, check_faults

Schedule = tuple[tuple[str, int], ...]

DEFAULT_AUDIT = ("ngrams", "chars", "fasttext")
"""Audit filters when none are named: a logistic regression on bags of n-grams, another on the characters as they are
written, and fastText."""


@dataclass(frozen=True)
class AFOptions:
    """Adversarial Filtering (defaults: Zellers et al. 2018, Algorithm 1 and 3.2)."""

    iterations: int | None = None
    """Iterations in all; the last phase of the schedule goes on until then. Not given: the schedule's own sum."""
    n_negatives: int = 9
    """Negatives assigned to each context (the paper's k)."""
    n_easy: int = 2
    """Easy distractors replaced in each held-out context and iteration, at most."""
    rule: Literal["paper", "released"] = "paper"
    """Who may enter: paper, any candidate that scores above the easy one it replaces; released, above gold."""
    pick: Literal["random", "hardest"] = "random"
    """Draw the leaving and entering candidates uniformly, or take the lowest and the highest scored."""
    swaps: Literal["always", "gap"] = "always"
    """Replace up to --n-easy in every iteration, or, as HellaSwag does, none where gold beats a single negative at most
    52.5 % of the time, and one at most 57.5 % (Zellers et al. 2019)."""
    test_share: float = 0.2
    """Share of the contexts held out, measured and re-assigned in each iteration."""
    split_by: Literal["video", "context"] = "video"
    """Hold out whole videos, or single contexts as the paper does."""
    scan: Literal["lazy", "full"] = "lazy"
    """Score along a random permutation until enough candidates pass, or score all of them; the same draws."""
    until: float | None = None
    """Stop once the accuracy of the last phase, averaged over --window iterations, is within this of chance."""
    window: int = 10
    """Iterations over which --until averages."""
    seed: int = 0
    """The same seed, pool and filter give the same run."""

    def __post_init__(self) -> None:
        check_faults(
            [
                (self.iterations is not None and self.iterations < 1, f"--iterations {self.iterations}: at least 1"),
                (self.n_negatives < 1, f"--n-negatives {self.n_negatives}: at least 1"),
                (self.n_easy < 1, f"--n-easy {self.n_easy}: at least 1"),
                (not 0 < self.test_share < 1, f"--test-share {self.test_share}: between 0 and 1"),
                (self.until is not None and self.until < 0, f"--until {self.until}: not below 0"),
                (self.window < 1, f"--window {self.window}: at least 1"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
            ]
        )


POLICIES: dict[str, dict[str, Any]] = {
    "paper": {"rule": "paper", "pick": "random", "swaps": "always"},
    "released": {"rule": "released", "pick": "random", "swaps": "always"},
    "hardest": {"rule": "paper", "pick": "hardest", "swaps": "always"},
    "hellaswag": {"rule": "paper", "pick": "random", "swaps": "gap"},
}
"""What `--policy NAME` sets: Algorithm 1 of Zellers et al. 2018, its released code, lowest scored out and highest in,
and the swaps of Zellers et al. 2019."""


def with_policy(options: AFOptions, policy: str | None) -> AFOptions:
    """`options` with what the policy sets; InputError when they say otherwise themselves."""
    if policy is None:
        return options
    if policy not in POLICIES:
        raise InputError(f"--policy {policy}: there are {', '.join(POLICIES)}.")
    default = AFOptions()
    for name, value in POLICIES[policy].items():
        given = getattr(options, name)
        if given not in (getattr(default, name), value):
            raise InputError(f"--policy {policy} means --{name} {value}, not {given}. Give one of the two.")
    return replace(options, **POLICIES[policy])


@dataclass(frozen=True)
class Filter:
    """Filter a pool adversarially: fit, score held-out contexts, swap easy distractors, again and again.

    Leaves a run folder with the assignment after every iteration, the log, the accuracy curve as PNG and SVG, audits
    by filters that took no part, and report.html. Killed and run again, it goes on after its last finished iteration
    to the same bytes; with more --iterations, a finished run goes on.

    Try:
      swag-af filter pool --iterations 140 --out run
      swag-af filter pool --out quick --schedule mlp:20,ensemble:5
      swag-af filter pool --out released --policy released --seed 1
      swag-af filter pool --out watched --audit-every 10
    """

    pool: Path
    """The pool folder of `swag-af generate` or `swag-af pool`."""
    out: Path = Path("run")
    """The run folder."""
    schedule: str = "mlp:100,ensemble:40"
    """Filters and how many iterations each, in order: NAME:COUNT,NAME:COUNT. A filter that takes something has it in
    brackets: transformer[path/to/model]:5."""
    policy: Literal["paper", "released", "hardest", "hellaswag"] | None = None
    """Sets --rule, --pick and --swaps together."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where filters with networks compute; bits repeat on a CPU, and are not promised to on a GPU."""
    audit: str = ",".join(DEFAULT_AUDIT)
    """Fresh filters that take no part, whose accuracy is measured over folds of whole videos before and after:
    NAME,NAME, or none."""
    audit_every: int = 0
    """Audit after every so many iterations too; 0, at the end only."""
    af: AFOptions = field(default_factory=AFOptions)
    """Adversarial Filtering."""

    def __post_init__(self) -> None:
        check_faults([(self.audit_every < 0, f"--audit-every {self.audit_every}: not below 0")])
        parse_names("--audit", self.audit)


def parse_schedule(text: str) -> Schedule:
    """`"mlp:100,ensemble:40"` to `(("mlp", 100), ("ensemble", 40))`; InputError for anything else."""
    phases = []
    for part in text.split(","):
        name, _, count = part.strip().rpartition(":")
        if not name or not count.isdecimal() or int(count) < 1:
            raise InputError(
                f"--schedule {text}: {part.strip()!r} is not NAME:COUNT. Write it like mlp:100,ensemble:40."
            )
        phases.append((name, int(count)))
    return tuple(phases)


def parse_names(flag: str, text: str) -> tuple[str, ...]:
    """`"ngrams, fasttext"` to `("ngrams", "fasttext")`, `"none"` to `()`; InputError for a blank or repeated name."""
    names = tuple(part.strip() for part in text.split(","))
    if names == ("none",):
        return ()
    if not all(names) or len(set(names)) < len(names):
        raise InputError(f"{flag} {text}: a name is blank or repeated. Write it like ngrams,fasttext, or none.")
    return names


@dataclass(frozen=True)
class Audit:
    """Measure how well fresh filters still find gold, with filters that took no part in the filtering.

    Each filter is fitted and scored across folds of whole videos, before the filtering and after it; the table shows
    accuracy with a 95 % interval, and below it stands the difference, paired by context. Kept in the run folder, where
    the curve and the report find it; what is there already is not made again.

    Try:
      swag-af audit run
      swag-af audit run --seeds 5
      swag-af audit run --iteration 20 --filters cnn
    """

    run: Path
    """The run folder of `swag-af filter`."""
    filters: str = ",".join(DEFAULT_AUDIT)
    """Filters to fit: NAME,NAME."""
    iteration: int | None = None
    """Audit the assignment after this iteration alone (0: before any); before any and after the last when not given."""
    folds: int = 5
    """Parts that the videos are dealt into; a filter is fitted on all but one, and scores that one."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where filters with networks compute."""
    seed: int | None = None
    """Deals the folds and seeds the fits; the run's own when not given."""
    seeds: int = 1
    """Repeat each audit with so many seeds, counted from --seed: other folds, other fits."""

    def __post_init__(self) -> None:
        check_faults(
            [
                (not parse_names("--filters", self.filters), "--filters none: an audit takes at least one filter"),
                (self.folds < 2, f"--folds {self.folds}: at least 2"),
                (self.seeds < 1, f"--seeds {self.seeds}: at least 1"),
                (self.seed is not None and self.seed < 0, f"--seed {self.seed}: not below 0"),
            ]
        )


@dataclass(frozen=True)
class Report:
    """Write a run as one HTML file: curve, audits, distributions and questions before and after, options and hashes.

    The file needs no network and no script. `swag-af filter` leaves one in the run folder; this makes it anew,
    and without --out the curve beside it. With --verdicts it says what people said of the endings too.

    Try:
      swag-af report run
      swag-af report run --out report.html
      swag-af report run --verdicts verdicts.jsonl
    """

    run: Path
    """The run folder of `swag-af filter`."""
    out: Path | None = None
    """The file to write; report.html in the run folder when not given."""
    n_questions: int = 20
    """How many questions to show before and after."""
    verdicts: tuple[Path, ...] = ()
    """What people said: files of `swag-af verify export` or `verify import`."""
    judge: Literal["majority", "dawid-skene", "mace"] = "majority"
    """With --verdicts: how several verdicts on one item become one judgement, as in `swag-af release`."""
    screen: bool = True
    """With --verdicts: drop annotators who seldom rank gold among their two best, as `swag-af release` does."""
    iteration: int | None = None
    """With --verdicts: the iteration whose assignment people were shown; the last when not given."""
    force: bool = False
    """Replace an existing file elsewhere than in the run folder."""

    def __post_init__(self) -> None:
        alone = not self.verdicts
        check_faults(
            [
                (self.n_questions < 0, f"--n-questions {self.n_questions}: not below 0"),
                (alone and self.judge != "majority", "--judge: only with --verdicts"),
                (alone and not self.screen, "--no-screen: only with --verdicts"),
                (alone and self.iteration is not None, "--iteration: only with --verdicts"),
            ]
        )


@dataclass(frozen=True)
class Release:
    """Make a multiple-choice dataset of a run, and of what people said of its endings if they were asked.

    Writes SWAG's CSV files, JSONL, Parquet, a dataset card, Croissant metadata, and tasks for lm-evaluation-harness.
    With --verdicts, questions are made by the rules of Zellers et al. 2018 (3.5 and A.4), and every context left out
    is counted by reason. Without, distractors are drawn from each context's assigned negatives, and the card says that
    nobody has verified them. No video and no near-duplicates stand in two splits. Fresh filters measure how much style
    gives away in these very questions, and the card says what they found.

    Try:
      swag-af release run --out dataset
      swag-af release run --verdicts verdicts.jsonl --out dataset
      swag-af release run --verdicts monday.jsonl tuesday.jsonl --judge dawid-skene --formats none
      swag-af release run --out dataset --iteration 122 --seed 1
    """

    run: Path
    """The run folder of `swag-af filter`."""
    out: Path = Path("dataset")
    """The folder for the dataset."""
    verdicts: tuple[Path, ...] = ()
    """What people said: files of `swag-af verify export` or `verify import`."""
    judge: Literal["majority", "dawid-skene", "mace"] = "majority"
    """How several verdicts on one item become one judgement (the models need the extra verify)."""
    screen: bool = True
    """Drop annotators who rank gold among their two best in under 55 % of 10 items or more (Zellers et al. 2018,
    A.5)."""
    iteration: int | None = None
    """Release the assignment after this iteration, which must be the one that people were shown; the last when not
    given."""
    n_distractors: int = 3
    """Distractors a question."""
    val_share: float = 0.18
    """Share of the contexts for validation (SWAG: 20k of 113k)."""
    test_share: float = 0.18
    """Share of the contexts for testing (SWAG: 20k of 113k)."""
    near_duplicates: float = 0.7
    """Contexts this alike share a split: Jaccard similarity of token 3-grams, over 0; 1 joins equal ones only."""
    audit: str = ",".join(DEFAULT_AUDIT)
    """Fresh filters that say how much style gives away in the released questions, fitted and scored across folds of
    them: NAME,NAME, or none."""
    formats: str = "auto"
    """Written beside CSV: jsonl,parquet, or none; auto is both, but Parquet only where pyarrow is installed."""
    seed: int = 0
    """Draws splits, distractors and the order of answers, and breaks ties in what people said."""
    force: bool = False
    """Replace an existing dataset folder."""

    def __post_init__(self) -> None:
        parse_names("--audit", self.audit)
        shares = self.val_share, self.test_share
        check_faults(
            [
                (self.n_distractors < 1, f"--n-distractors {self.n_distractors}: at least 1"),
                (
                    not (min(shares) >= 0 and sum(shares) < 1),  # a share that is no number is neither
                    "--val-share and --test-share: not below 0, and less than 1 together",
                ),
                (not 0 < self.near_duplicates <= 1, f"--near-duplicates {self.near_duplicates}: over 0, and 1 at most"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
            ]
        )


@dataclass(frozen=True)
class Show:
    """Say what a context file, language model, pool, run or dataset is: its numbers, examples, what to run next.

    Try:
      swag-af show contexts.jsonl
      swag-af show run --n 10 --seed 3
    """

    path: Path
    """What to look at."""
    n: int = 3
    """How many examples to print."""
    seed: int = 0
    """Draws the examples."""

    def __post_init__(self) -> None:
        check_faults([(self.n < 0, f"--n {self.n}: not below 0"), (self.seed < 0, f"--seed {self.seed}: not below 0")])


@dataclass(frozen=True)
class Demo:
    """Run every verb on the bundled synthetic captions: contexts, models, pool, filtering, dataset.

    Takes about three minutes on two cores, and 1.3 GB. Killed and run again, it goes on; run once more, it only
    prints.

    Try:
      swag-af demo
      swag-af demo --out /tmp/demo --seed 1
    """

    out: Path = Path("demo")
    """The folder for all that the demo makes."""
    seed: int = 0
    """Seeds the captions and every verb."""

    def __post_init__(self) -> None:
        check_faults([(self.seed < 0, f"--seed {self.seed}: not below 0")])
