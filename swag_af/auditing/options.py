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

    Reads any multiple-choice questions, and texts or pairs with classes: JSONL, CSV, Parquet, saved `datasets` folders,
    lm-eval sample logs, pools, released folders. Columns are recognised by name and content, and the program says which
    it read.

    Checks:
    * probes: models that read a part of each question (options alone, hypothesis alone ...)
    * single features, words, and rules of item writing
    * duplicates, labels and damaged text

    Probes are fitted and scored across folds of whole groups. Every finding has a code, which `swag-af explain CODE`
    explains. --out keeps all findings, with a page and a score for each question.

    Filters: tfidf (a logistic regression on words) and fasttext are the default. Any filter may be named (ngrams,
    chars, cnn, bow, poslstm, transformer[MODEL], encoder[MODEL]), or your own model, package.module:Class. A named
    filter that cannot be used is an error; a default one is left out with a note.

    For a run folder of `swag-af filter`, without --out: measures how well filters that took no part in the filtering
    find gold before and after it (by default ngrams, chars and fasttext). The result is kept in the run folder for the
    curve and the report. Here mlp and ensemble need a pool with features, poslstm and ensemble one with tags.

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
    """Folder for the page (audit.html), every figure, and the scores of each question. A killed audit continues from
    its last probe. An older audit of the same dataset is replaced; one of another dataset (by name, or by ids) is
    not."""
    compare: Path | None = None
    """The dataset before a repair. Shows what became of each finding, beside removing as many rows at random. Its
    labels are read from its own rows, even if the newer set has a --labels-file."""
    draws: int = 5
    """With --compare: random removals to audit, 3 or more. Two do not show how far luck goes."""
    gate: Path | None = None
    """TOML file with conditions, `gate = ["AF101 <= 30%"]`, at the top or under [tool.swag-af.audit]. If one fails, the
    exit code is 1. docs/AUDIT-CI.md has the grammar."""
    junit: Path | None = None
    """Write the result as JUnit XML, for CI."""
    sarif: Path | None = None
    """Write the result as SARIF, for code scanning."""
    filters: str = AUTO
    """Models for the probes of a dataset, or filters for a run: NAME,NAME."""
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    """How the files are read."""
    iteration: int | None = None
    """For a run: audit only the assignment after this iteration (0: before the first). If not given: before the first
    and after the last."""
    folds: int = 5
    """Parts that the groups are divided into, at most one per group. A model is fitted on all parts but one, and scores
    that one."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where filters with networks compute."""
    where: EngineOptions = field(default_factory=EngineOptions)
    """Where models are fitted."""
    workers: int | None = None
    """Models fitted at once, each in its own process, which opens the data. If not given: 1; with --engine
    processes, one for each core; on a cluster, as many as it has room for (Slurm: 16). Does not change a figure."""
    seed: int | None = None
    """Seed of the folds and the fits. If not given: 0, or that of the run."""
    seeds: int = 1
    """Repeat with this many seeds, counted from --seed, each with other folds and fits. What models find in a dataset
    is averaged. Single features (AF201 to AF215) are measured once, in the folds of the first seed."""

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
    """Explain a code of an audit: how it is computed, its source, when it misleads, what to do.

    Without a code, lists all codes by family.

    Try:
      swag-af explain
      swag-af explain AF101
      swag-af explain options-only-solvable
    """

    codes: tuple[str, ...]
    """Codes, by number or by name. If none is given, all are listed."""
