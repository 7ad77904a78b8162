"""A cell of the grid: one model on one input, fitted on one set of rows with one seed; its file, and which are there.

    cells/MODEL--INPUT--TRAINED--SEED.json   the score of every option of validation and test, and the settings
    timing.json                              CPU seconds of each, which vary

A file is written whole and renamed, so it is complete where it is. The same cell has the same bytes.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.baselines.models import Row, settings_key
from swag_af.data.disk.files import read_json, write_json
from swag_af.data.disk.manifests import FORMAT, check_manifest
from swag_af.data.disk.records import Count, parse_record
from swag_af.data.errors import InputError

CELLS, TIMING = "cells", "timing.json"
KIND = "baseline-cell"
_DIGITS = 9
"""Of a score: enough to have a float32 back."""


@dataclass(frozen=True)
class Cell:
    """What is to be fitted and scored."""

    row: Row
    input: str
    """As the table calls it: `ending`, `second-sentence`, `full` ..."""
    trained_on: str
    """`all`, `found` or `found+generated`."""
    seed: int

    @property
    def key(self) -> str:
        """Its name as a file."""
        parts = (_slug(self.row.label), self.input, _slug(self.trained_on), str(self.seed), settings_key(self.row))
        return "--".join(parts)

    def __str__(self) -> str:
        return f"{self.row.label}, {self.input}, {self.trained_on}, seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Scored:
    """A file of `cells`."""

    model: str
    """The label of its row."""
    name: str
    """The name that was asked for, brackets aside."""
    vectors: str
    """The name of the file of word vectors that it read; empty without one."""
    input: str
    trained_on: str
    seed: Count
    n_fitted: Count
    """Training rows."""
    settings: dict[str, Any]
    scores: dict[str, tuple[float, ...]]
    """By part, of every option of its rows in the order of `questions.jsonl`, options as the data has them."""
    said: tuple[str, ...] = ()
    """What the model has to tell of the scores, such as how many answers of a server could not be read."""


def write_cell(
    folder: Path, cell: Cell, n_fitted: int, scores: dict[str, np.ndarray], said: tuple[str, ...] = ()
) -> Scored:
    """Write the file of `cell`, with the `scores` (a,) of each part, and what was `said` of them where anything was."""
    rounded = {part: tuple(float(f"{x:.{_DIGITS}g}") for x in values.tolist()) for part, values in scores.items()}
    row = cell.row
    what = row.label, row.base, row.vectors_read
    made = Scored(*what, cell.input, cell.trained_on, cell.seed, n_fitted, row.settings, rounded, said)
    kept = {name: value for name, value in asdict(made).items() if name != "said" or value}
    write_json(path_of(folder, cell), {"format": FORMAT, "kind": KIND, **kept})
    return made


def path_of(folder: Path, cell: Cell) -> Path:
    """Where the file of `cell` stands in the folder of a grid."""
    return folder / CELLS / f"{cell.key}.json"


def read_cells(folder: Path) -> list[Scored]:
    """Every cell of a folder, in the order of their names; raises FormatError for a damaged file."""
    return [_read_cell(path) for path in _paths(folder)]


def check_settings(folder: Path, rows: Sequence[Row]) -> None:
    """Raise InputError where cells that are there have other settings than others of their row, or than that of `rows`
    which is asked for: one row of the table cannot show both."""
    settings = {row.label: row.settings for row in rows}
    of_each = {(path.name.partition("--")[0], path.stem.rpartition("--")[2]): path for path in _paths(folder)}
    for (slug, key), path in of_each.items():
        one = _read_cell(path)
        known = settings.setdefault(one.model, one.settings)
        differing = sorted(name for name in {*known, *one.settings} if known.get(name) != one.settings.get(name))
        if differing:
            said = ", ".join(_difference(name, one.settings.get(name), known.get(name)) for name in differing)
            raise InputError(
                f"{folder}: cells of {one.model} have different {said}, which one row cannot show. Repeat the first "
                f"command, choose another --out, or remove {CELLS}/{slug}--*--{key}.json."
            )


_FLAGS = {"max_epochs": "--epochs", "epochs": "--epochs"}
_FILES = {"vectors": "--vectors", "conceptnet": "--conceptnet"}


def _difference(name: str, there: Any, asked: Any) -> str:
    """A setting that differs, with its flag: `max_epochs (--epochs; 1 there, now 2)`."""
    if name in _FILES:
        return f"{name} (another file for {_FILES[name]})"
    flag = f"{_FLAGS[name]}; " if name in _FLAGS else ""
    return name if name == "files" else f"{name} ({flag}{there} there, now {asked})"


def _paths(folder: Path) -> list[Path]:
    return sorted((folder / CELLS).glob("*.json"))


def _read_cell(path: Path) -> Scored:
    return parse_record(check_manifest(read_json(path), path, KIND), Scored, path, _AGAIN)


_AGAIN = "Remove the file and run the command again, which makes it anew."


def read_timing(folder: Path) -> dict[str, float]:
    """CPU seconds by the names of cells; empty where none is known."""
    path = folder / TIMING
    return parse_record(read_json(path), dict[str, float], path, _AGAIN) if path.is_file() else {}


def add_timing(folder: Path, seconds: dict[str, float]) -> None:
    """Keep CPU seconds of cells, beside those that are known."""
    write_json(folder / TIMING, dict(sorted({**read_timing(folder), **seconds}.items())))


def missing(folder: Path, cells: Sequence[Cell]) -> list[Cell]:
    """Those that have no file yet."""
    return [cell for cell in cells if not path_of(folder, cell).exists()]


def _slug(text: str) -> str:
    """Letters, digits, dots and hyphens of a name, the last 60."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")[-60:]
