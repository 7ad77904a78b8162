"""The options of `audit`. Imports nothing heavy."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from swag_af.data.engines.options import EngineOptions, worker_faults
from swag_af.data.errors import Options, check_faults
from swag_af.data.instances.options import ReadingOptions
from swag_af.filters.registry import parse_names

AUTO = "auto"
"""Filters that depend on what is audited."""
PROBE_MODELS = ("tfidf", "fasttext")
"""The models of the probes of a dataset when none are named."""
FEWEST_DRAWS = 3
"""Random removals without which nothing is called weaker, stronger or made. An interval reckoned from two is as wide as
these two lie apart by luck: they may agree to a third of a point where sixteen have a standard deviation of two."""


@dataclass(frozen=True)
class AuditOptions(Options):
    """Find out how much of a dataset can be solved without doing its task, and what gives its answers away.

    Any multiple-choice questions, texts or pairs with classes: JSONL, CSV, Parquet, saved `datasets` folders, lm-eval
    sample logs, pools, released folders. Columns are told by their names and content, and said. What is looked for:
    models that read a part of each question (options alone, hypothesis alone ...), fitted and scored across folds of
    whole groups; single features; words; rules of item writing; duplicates, labels and damaged text. Every finding has
    a code, `swag-af explain CODE` tells about it. --out keeps all of it, with a page and a score for each question.

    Filters: tfidf (a logistic regression on words) and fasttext are the default. Any filter may be named (ngrams,
    chars, cnn, bow, poslstm, transformer[MODEL], encoder[MODEL]), or a model of your own, package.module:Class. One
    that is named and cannot be used is an error; of the default ones it is left out with a note.

    A run folder of `swag-af filter`, without --out: how well filters that took no part in the filtering find gold
    before and after it (by default ngrams, chars and fasttext), kept in the run folder for the curve and the report.
    There mlp and ensemble need a pool with features, poslstm and ensemble one with tags.

    Try:
      swag-af audit questions.jsonl
      swag-af audit train.csv val.csv --out audit
      swag-af audit demo/dataset --out audit
      swag-af audit pairs.jsonl --premise-column text --hypothesis-column claim --label-column verdict
      swag-af audit repaired.jsonl --compare old.jsonl --out audit
      swag-af audit questions.jsonl --gate pyproject.toml --sarif audit.sarif
      swag-af audit run --seeds 5
    """

    data: tuple[Path, ...]
    """Files or folders of one dataset, such as its splits; or one run folder."""
    out: Path | None = None
    """Folder for the page (audit.html), every figure, and the scores of each question. What was killed goes on from its
    last probe; an older audit of the dataset is replaced, of another one (by name, or by ids) not."""
    compare: Path | None = None
    """The dataset before a repair: what became of each finding, beside as many rows removed at random.
    Its labels stand in its own rows, also where the newer set has a --labels-file."""
    draws: int = 5
    """Random removals that --compare audits, 3 or more: two do not say how far luck goes."""
    gate: Path | None = None
    """TOML file with conditions, `gate = ["AF101 <= 30%"]`, alone or under [tool.swag-af.audit]; if one fails, the exit
    code is 1. docs/AUDIT-CI.md has the grammar."""
    junit: Path | None = None
    """Write the result as JUnit XML, for CI."""
    sarif: Path | None = None
    """Write the result as SARIF, for code scanning."""
    filters: str = AUTO
    """Models of the probes, or filters for a run: NAME,NAME."""
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    """How the files are read."""
    iteration: int | None = None
    """Of a run: audit only the assignment after this iteration (0: before any); before any and after the last when not
    given."""
    folds: int = 5
    """Parts that the groups are divided into, at most one a group; a model is fitted on all but one, and scores that
    one."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """The device for filters with networks."""
    where: EngineOptions = field(default_factory=EngineOptions)
    """Where models are fitted."""
    workers: int | None = None
    """Models fitted at once, in processes of their own, each of which opens the data. Not given: 1, or as many as a
    cluster has cores. Does not change a figure."""
    seed: int | None = None
    """Seed of the folds and the fits; 0, or that of the run, when not given."""
    seeds: int = 1
    """Repeat with this many seeds, counted from --seed: other folds, other fits. What models find in a dataset is
    averaged; single features (AF201 to AF215) are measured once, in the folds of the first seed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                (not parse_names("--filters", self.filters), "--filters none: an audit takes at least one filter"),
                (self.folds < 2, f"--folds {self.folds}: at least 2"),
                (self.seeds < 1, f"--seeds {self.seeds}: at least 1"),
                *worker_faults(self.workers, self.where),
                (
                    self.draws < FEWEST_DRAWS,
                    f"--draws {self.draws}: at least {FEWEST_DRAWS}; fewer do not say how far luck goes",
                ),
                (self.compare is None and bool(self.given_of("draws")), "--draws: only with --compare"),
                (self.seed is not None and self.seed < 0, f"--seed {self.seed}: not below 0"),
            ]
        )

    def names(self, default: Sequence[str]) -> tuple[str, ...]:
        """The filters to fit: those named, or `default`."""
        return tuple(default) if self.filters == AUTO else parse_names("--filters", self.filters)


@dataclass(frozen=True)
class ExplainOptions(Options):
    """Tell what a code of an audit means: how it is computed, its source, when it misleads, what to do.

    Without a code: the list of all of them, by family.

    Try:
      swag-af explain
      swag-af explain AF101
      swag-af explain options-only-solvable
    """

    codes: tuple[str, ...]
    """Codes, by number or by name; none lists them all."""
