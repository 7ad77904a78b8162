"""The options of `match`. Imports nothing heavy."""

from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from swag_af.data.engines.options import EngineOptions, worker_faults
from swag_af.data.errors import Options, check_faults
from swag_af.data.instances.options import ReadingOptions

AUTO = "auto"


@dataclass(frozen=True)
class PairColumns:
    """Which column holds what in a file of queries and responses only. auto looks for it by its name."""

    query_column: str = AUTO
    """The query: question, prompt or context."""
    response_column: str = AUTO
    """The right answer to the query."""
    rationale_column: str = AUTO
    """Why the answer is right. Matched like answers, after question and answer."""
    group_column: str = AUTO
    """What must stay in one fold: movie, video, document. A row without one is its own group."""
    objects_column: str = AUTO
    """The kinds of the row's objects in order: person, person, chair. Tags stand for them, numbered within each kind
    from 1: [person1], [person2], [chair1]."""


@dataclass(frozen=True)
class MatchingOptions(Options):
    """What is matched with what, and how."""

    n_distractors: int = 3
    """Wrong answers of each query. Each takes a round of matching."""
    weight: float = 0.1
    """Lambda: how much a difference in meaning from the right answer counts, beside relevance. Larger is easier, for
    people and for machines."""
    rationale_weight: float = 0.01
    """The same for rationales, if the data has them."""
    relevance: str = "encoder"
    """Model of which response answers which query: tfidf, encoder (trained here), cross[MODEL], filter[NAME] (a filter
    that reads two texts, such as esim), or package.module:Class."""
    similarity: str = "lexical"
    """Model of which responses mean the same: lexical, nli[FOLDER], or package.module:Class."""
    folds: int = 11
    """Parts, in whole groups, that are matched separately. Relevance in one part is learned from the others."""
    bucket_size: int = 3_000
    """Rows that are matched with each other, at most. All pairs of them are scored."""
    smallest_bucket: int = 50
    """Rows of one kind, at least; kinds with fewer rows join others. A smaller value keeps pronouns and kinds of
    questions apart in small data, and leaves each row less to choose from."""
    buckets: str = AUTO
    """What keeps rows apart. auto: pronouns of the response and kind of question. none: nothing. Or a function,
    FILE.py:NAME or MODULE:NAME, which gets queries and responses and returns a word for each row."""
    top: int | None = None
    """Match only this many of the best responses of each query. The loss in weight is printed. If not given: all."""
    share_named: float = 0.6
    """How often a tag of a recycled text is replaced by one that the query or its right answer names, if one is
    left."""
    seed: int = 0
    """Seed of the folds, the training and the tags."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                (self.n_distractors < 1, f"--n-distractors {self.n_distractors}: at least 1"),
                (not self.weight >= 0, f"--weight {self.weight:g}: not below 0"),
                (not self.rationale_weight >= 0, f"--rationale-weight {self.rationale_weight:g}: not below 0"),
                (self.folds < 2, f"--folds {self.folds}: at least 2"),
                (self.bucket_size < 100, f"--bucket-size {self.bucket_size}: at least 100"),
                (self.smallest_bucket < 2, f"--smallest-bucket {self.smallest_bucket}: at least 2"),
                (
                    2 * self.smallest_bucket > self.bucket_size,
                    f"--smallest-bucket {self.smallest_bucket}: at most half of --bucket-size {self.bucket_size}",
                ),
                (self.top is not None and self.top < 2, f"--top {self.top}: at least 2"),
                (not 0 <= self.share_named <= 1, f"--share-named {self.share_named:g}: from 0 to 1"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
            ]
        )


@dataclass(frozen=True)
class SweepOptions(Options):
    """Several values of lambda side by side, to choose one by (Figure 13 of VCR)."""

    sweep: tuple[float, ...] = ()
    """Match at each of these values of lambda, instead of --weight, and plot how hard the questions are."""
    sample: int | None = None
    """Use only this many rows, in whole groups drawn at random. If not given: all."""
    shown: int = 100
    """Questions of each value that people are shown by `swag-af verify serve OUT/people/run`, mixed and blind."""
    verdicts: tuple[Path, ...] = ()
    """What people answered (`swag-af verify export`). Run the same command again with these files."""
    human_accuracy: float = 0.9
    """The accuracy that people should reach. The smallest lambda that reaches it is recommended."""

    def __post_init__(self) -> None:
        super().__post_init__()
        values = self.sweep
        check_faults(
            [
                (any(not 0 <= value < inf for value in values), "--sweep: values of lambda are numbers, not below 0"),
                (len({f"{value:g}" for value in values}) < len(values), "--sweep: each value once, to six digits"),
                (len(values) == 1, "--sweep: two values or more; for one, --weight"),
                (self.sample is not None and self.sample < 100, f"--sample {self.sample}: at least 100"),
                (self.shown < 1, f"--shown {self.shown}: at least 1"),
                (bool(self.verdicts) and not values, "--verdicts: only with --sweep"),
                (self.sample is not None and not values, "--sample: only with --sweep; a matching takes all rows"),
                (self.shown != SweepOptions.shown and not values, "--shown: only with --sweep"),
                (
                    self.human_accuracy != SweepOptions.human_accuracy and not values,
                    "--human-accuracy: only with --sweep",
                ),
                (not 0 < self.human_accuracy <= 1, f"--human-accuracy {self.human_accuracy:g}: above 0, 1 at most"),
            ]
        )


@dataclass(frozen=True)
class MatchOptions(Options):
    """Make multiple-choice questions: right answers become wrong answers of other questions.

    Adversarial Matching (Zellers et al. 2019b, VCR): a maximum-weight matching between relevance to the query and
    difference from its right answer. Every answer is right once and wrong as often as there are distractors, so one by
    itself reveals nothing; the options of a question together may, so audit the result. No generator, no GPU and no
    people are needed.

    Reads rows of query and response (JSONL, CSV, Parquet, saved datasets), contexts of `swag-af contexts`, VCR and
    VCR-CS, and any multiple-choice questions, whose wrong answers are replaced. Writes a folder with the questions, a
    pool and a run, on which `show`, `report`, `verify` and `release` work. If killed, the same command continues after
    its last bucket and round (with --top, its last bucket), to the same bytes.

    Try:
      swag-af match questions.jsonl --out matched
      swag-af match contexts.jsonl --out matched --weight 0.3
      swag-af match questions.jsonl --out matched --dry-run
      swag-af match questions.jsonl --out sweep --sweep 0.01 0.03 0.1 0.3 1
    """

    data: tuple[Path, ...]
    """Files of one dataset."""
    out: Path = Path("matched")
    """The folder for everything that is made."""
    matching: MatchingOptions = field(default_factory=MatchingOptions)
    """What is matched with what, and how."""
    pairs: PairColumns = field(default_factory=PairColumns)
    """Column names, for files that have only queries and responses. auto looks for a column by its name."""
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    """How the files are read."""
    sweeping: SweepOptions = field(default_factory=SweepOptions)
    """Compare several values of lambda."""
    where: EngineOptions = field(default_factory=EngineOptions)
    """Where folds are matched."""
    workers: int | None = None
    """Folds matched at once, each in its own process. Memory grows with their number; the bytes stay the same. If not
    given: 1; with --engine processes, one for each core; on a cluster, as many as it has room for (Slurm: 16)."""
    dry_run: bool = False
    """Only print how many pairs would be scored, the memory and the time."""

    def __post_init__(self) -> None:
        super().__post_init__()
        matching, usual, is_sweep = self.matching, MatchingOptions, bool(self.sweeping.sweep)
        check_faults(
            [
                *worker_faults(self.workers, self.where),
                (
                    is_sweep and matching.weight != usual.weight,
                    f"--weight {matching.weight:g}: not with --sweep, which has its own values",
                ),
                (
                    is_sweep and matching.rationale_weight != usual.rationale_weight,
                    f"--rationale-weight {matching.rationale_weight:g}: not with --sweep, which matches no rationales",
                ),
            ]
        )
