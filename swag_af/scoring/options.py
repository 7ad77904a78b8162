"""The options of `score` and `count-check`. Imports nothing heavy."""

import re
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Literal

from swag_af.data.cells.options import LabelBase
from swag_af.data.errors import Options, check_faults
from swag_af.data.instances.options import AUTO, ReadingOptions

Metric = Literal["acc", "acc_norm", "acc_bytes"]
"""How lm-evaluation-harness chooses by log-likelihoods: as they are, or divided by characters or by bytes."""


MIN_ITEMS = 100
"""NLVR2's."""


@dataclass(frozen=True)
class PredictionOptions(Options):
    """How files of predictions, and rows of people's answers, are read. auto looks for a column by its name and
    content."""

    prediction_id: str = AUTO
    """The column with the ids of the dataset."""
    prediction_column: str = AUTO
    """The column with the answer: its number, letter or text, a class name, True or False."""
    scores_column: str = AUTO
    """Instead of answers: scores of all answers, higher for likelier ones. A list, numbered columns (score0 ...), or
    columns named after classes or letters (prob_A ...)."""
    prediction_base: LabelBase = "auto"
    """How answers are read: 0 or 1 (numbers that count from there), text (texts of options) or letters. auto decides
    from all answers."""
    class_order: str = ""
    """For classes: their names, separated by commas, in the order in which numbers and lists of scores count them:
    entailment,neutral,contradiction. Not needed for False and True, nor for classes that are numbers."""
    metric: Metric = "acc"
    """For sample logs of lm-evaluation-harness: how log-likelihoods choose. acc: as they are. acc_norm: divided by
    characters. acc_bytes: divided by bytes."""
    allow_missing: bool = False
    """Count an instance without a prediction as wrong, and report how many there are, instead of refusing the file."""
    only_predicted: bool = False
    """Score only the instances for which every file has a prediction, as after a run with a limit, and report how many
    are left out."""

    @property
    def named(self) -> dict[str, str]:
        """The columns that are named, by the flag that names them."""
        flags = ("prediction_id", "prediction_column", "scores_column")
        return {f"--{one.replace('_', '-')}": name for one in flags if (name := getattr(self, one)) != AUTO}


@dataclass(frozen=True)
class ScoreOptions(Options):
    """Score predictions: accuracy, Q->AR, consistency, sensitivity, blind against sighted, models compared, people.

    PREDICTIONS are JSONL or CSV files of ids with answers or scores of options, or sample logs of
    lm-evaluation-harness. Each file is one model. The first is compared with every other. Figures have 95 % intervals
    over groups, and chance beside them. Contrast sets (VCR-CS, NLVR2) and stages (VCR) have figures of their own.

    Try:
      swag-af score questions.jsonl predictions.jsonl --out score.html
      swag-af score questions.jsonl ours.jsonl theirs.csv --audit audit --json score.json
      swag-af score vcr.jsonl model.jsonl --blind no-image=blind.jsonl options=options.jsonl
      swag-af score vcr.jsonl --mask persons --write-masked masked.jsonl
      swag-af score dev.json --people dev.json
    """

    data: Path
    """The dataset: a file or folder with the right answers."""
    predictions: tuple[Path, ...]
    """Files of predictions, one per model."""
    also: tuple[Path, ...] = ()
    """More files of the same dataset, such as the contrast examples beside the originals."""
    blind: tuple[str, ...] = ()
    """NAME=FILE: predictions of the first model when it saw less, such as options only, no image, masked persons."""
    audit: Path | None = None
    """A folder of `swag-af audit --out`, to score by tier, easy to hard."""
    people: Path | None = None
    """Answers of people: rows of id, worker and answer; verdicts of `swag-af verify`; or NLVR2's own file."""
    expert: str = ""
    """The worker of --people who is the expert."""
    min_items: int = MIN_ITEMS
    """With --people: judgements that a worker needs to count in mean and deviation over workers (NLVR2: 100)."""
    write_masked: Path | None = None
    """Write the questions that --mask changes, without labels, to this JSONL file, for a model to answer."""
    json: Path | None = None
    """Write all figures to this file."""
    out: Path | None = None
    """Write the page to this HTML file."""
    predicted: PredictionOptions = field(default_factory=PredictionOptions)
    """How predictions are read. auto looks for a column by name and content."""
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    """How the dataset is read."""
    seed: int = 0
    """Seed of the bootstrap."""
    force: bool = False
    """Replace existing files of --json, --out and --write-masked."""

    def __post_init__(self) -> None:
        super().__post_init__()
        predicted = self.predicted
        named = [blind.partition("=") for blind in self.blind]
        names = [name for name, _, _ in named]
        check_faults(
            [
                (self.min_items < 1, f"--min-items {self.min_items}: at least 1"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
                (not all(name and file for name, _, file in named), "--blind: NAME=FILE, as no-image=blind.jsonl"),
                (len(set(names)) < len(names), "--blind: each NAME once"),
                (
                    bool(self.blind) and not self.predictions,
                    "--blind: only with PREDICTIONS, of a model that sees all",
                ),
                (
                    predicted.allow_missing and predicted.only_predicted,
                    "--allow-missing, --only-predicted: count what is missing as wrong, or leave it out, not both",
                ),
                (
                    predicted.only_predicted and not self.predictions,
                    "--only-predicted: only with PREDICTIONS",
                ),
                (self.min_items != MIN_ITEMS and self.people is None, "--min-items: only with --people"),
                (bool(self.expert) and self.people is None, "--expert: only with --people"),
                (
                    bool(self.write_masked) and not self.reading.mask,
                    "--write-masked: only with --mask",
                ),
                (
                    not (self.predictions or self.people or self.write_masked),
                    "no predictions: name a file of them, or say --people FILE or --write-masked FILE"
                    + (" (--also takes every file behind it: name the predictions before it)" if self.also else ""),
                ),
            ]
        )

    @property
    def blinds(self) -> dict[str, Path]:
        """The file of each blind input."""
        return {name: Path(file) for name, _, file in (blind.partition("=") for blind in self.blind)}


@dataclass(frozen=True)
class CountCheckOptions(Options):
    """Check whether printed percentages can be whole counts of N things, and which other N would fit.

    The GRIM test (Brown and Heathers 2017) for percentages. A percentage fits as rounded or, if its decimals were cut,
    as cut. With --sensitivity the last percentage is read as a consistency k/N: the sensitivity must then be k/m for a
    whole m from k to N.

    Try:
      swag-af count-check 62.89 41.5 21.38 --n 159 --sensitivity 50.75
      swag-af count-check 61.18 42.76 20.39 --n 159
    """

    percentages: tuple[str, ...]
    """The percentages as printed, with all their decimals."""
    n: int = 0
    """N, the number of things that they are said to be shares of."""
    sensitivity: str = ""
    """A share of the pairs whose two predictions differ, as printed."""
    near: int = 10
    """Also try other numbers up to this far from N."""

    def __post_init__(self) -> None:
        numbers = self.percentages if isinstance(self.percentages, list | tuple) else (self.percentages,)
        object.__setattr__(self, "percentages", tuple(str(one) if isinstance(one, Real) else one for one in numbers))
        super().__post_init__()
        given = [*self.percentages, *([self.sensitivity] if self.sensitivity else [])]
        strange = [text for text in given if not is_percentage(text)]
        check_faults(
            [
                (not self.percentages, "no percentages: write them as printed, 62.89 41.5"),
                (
                    not 1 <= self.n <= LARGEST_COUNT,
                    f"--n {self.n or 'N'}: how many things they are shares of, from 1 to {LARGEST_COUNT:,}",
                ),
                (not 0 <= self.near <= 1000, f"--near {self.near}: from 0 to 1,000"),
                (bool(strange), f"{', '.join(strange[:3])}: no percentage from 0 to 100 with up to six decimals"),
            ]
        )


LARGEST_COUNT = 1_000_000


def is_percentage(text: str) -> bool:
    """Whether it is a number from 0 to 100 with up to six decimals, as printed, with or without its sign."""
    number = without_sign(text)
    return bool(re.fullmatch(r"\d{1,3}(\.\d{0,6})?", number)) and float(number) <= 100


def without_sign(text: str) -> str:
    """`85.2` of `85.2%` and `85.2 %`."""
    return text.strip().removesuffix("%").rstrip()
