"""All that came of a grid: figures, blanks, differences, orders; and its reader. Computes nothing.

baselines.json   all of it; written when every cell is there
manifest.json    the data, by hash, and how it was parted; written first
questions.jsonl  the rows that are scored, in the order of the cells' scores
cells            a file for each cell (`cells`); timing.json has their seconds
table.txt, .csv, .md, .tex, baselines.png, .svg   for people, and for a paper
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from swag_af.data.disk.manifests import read_finished
from swag_af.data.disk.records import Count
from swag_af.data.display.brief import brief

RESULT = "baselines.json"
QUESTIONS = "questions.jsonl"
KIND = "baselines"


@dataclass(frozen=True, slots=True)
class Figure:
    """An accuracy: one row, one column and one part of the table."""

    model: str
    input: str
    trained_on: str
    part: str
    accuracy: float
    """The mean over seeds, 0 to 1; of tied options the share."""
    deviation: float | None
    """The standard deviation over seeds, n - 1 below; None where there is one seed, or nothing is drawn."""
    low: float
    high: float
    """The 95 % interval of the mean, questions being drawn by whole groups; seeds are averaged first."""
    chance: float
    n: Count
    n_groups: Count
    n_seeds: Count
    n_fitted: Count
    """Training rows."""
    paper: float | None = None
    """What a paper has in the same row and column, on SWAG."""


@dataclass(frozen=True, slots=True)
class Blank:
    """A place of the table where there can be no figure."""

    model: str
    input: str
    reason: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Two rows on the same questions."""

    first: str
    second: str
    input: str
    trained_on: str
    part: str
    mean: float
    """Of the first less the second, -1 to 1."""
    low: float
    high: float

    @property
    def is_beyond_chance(self) -> bool:
        """Whether its own 95 % interval leaves out 0."""
        return not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class Order:
    """How far rows are in the paper's order: Kendall's tau-b of their accuracies and the paper's."""

    input: str
    """A column; `fullest` for each row in the fullest column where both have it."""
    trained_on: str
    part: str
    n: Count
    """How many rows the paper has too."""
    tau: float
    low: float
    high: float
    """The middle 95 % of bootstrap draws of whole groups of questions: of other questions, not of other models."""
    p: float
    """The share of the orders that rows can have which is as far from none, in either direction; ties kept."""


@dataclass(frozen=True, slots=True)
class PaperRow:
    """Which row of a paper stands beside a row of ours."""

    model: str
    name: str
    source: str


@brief
@dataclass(frozen=True, slots=True)
class Baselines:
    """A finished grid."""

    name: str
    """Of the data."""
    of: str
    """choices or classes."""
    parts: str
    """How training, validation and test rows came about."""
    groups: str
    models: tuple[str, ...]
    inputs: tuple[str, ...]
    trained_on: tuple[str, ...]
    """Rows, columns, and kinds of training."""
    main: str
    """The part that models are compared on."""
    figures: tuple[Figure, ...]
    blanks: tuple[Blank, ...]
    differences: tuple[Difference, ...]
    orders: tuple[Order, ...]
    papers: tuple[PaperRow, ...]
    people: dict[str, float]
    """Accuracies of people on SWAG, as a paper has them."""
    notes: tuple[str, ...]
    warning: str = ""
    """What is to be known before any figure; empty where there is nothing."""

    def figure(self, model: str, input: str, trained_on: str, part: str) -> Figure | None:
        """One figure; None where that place is blank."""
        asked = (model, input, trained_on, part)
        return next((one for one in self.figures if place(one) == asked), None)

    @property
    def scored(self) -> tuple[str, ...]:
        """The parts that were scored, validation first."""
        return tuple(part for part in ("validation", "test") if any(one.part == part for one in self.figures))


def place(one: Figure) -> tuple[str, str, str, str]:
    """Where a figure stands."""
    return one.model, one.input, one.trained_on, one.part


def open_baselines(folder: Path) -> Baselines:
    """What a folder of `baselines` holds; FormatError names what is wrong with it."""
    return read_finished(folder / RESULT, KIND, Baselines, "Run `swag-af baselines` again.")


def ordered(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """`names` without repeats, those of `wanted` first and in its order, others by letter."""
    return [one for one in wanted if one in names] + sorted(set(names) - set(wanted))
