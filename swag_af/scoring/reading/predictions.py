"""Files of predictions, a model each, brought to the order of the instances.

Missing, double and unknown ids are told together, the first three of each named.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from swag_af.auditing.ranking import hits
from swag_af.data.cells.labels import base_of
from swag_af.data.cells.values import word_of
from swag_af.data.errors import Faults, InputError, RowError
from swag_af.data.instances.instances import Instances
from swag_af.data.progress import progress
from swag_af.scoring.options import Metric, PredictionOptions
from swag_af.scoring.reading.answers import Cells, shares_of_choices, shares_of_scores
from swag_af.scoring.reading.tables import Table, log_scores, open_table


@dataclass(frozen=True)
class Predictions:
    """What one model answered."""

    name: str
    shares: np.ndarray
    """(M,) 1 at the answer that was chosen, 1/t at each of t with the highest score, else 0."""
    hits: np.ndarray
    """(N,) the share at gold."""
    n_missing: int = 0
    """Instances without a prediction, which count as wrong."""
    n_tied: int = 0
    """Instances in which several answers have the highest score."""
    said: str = ""
    """How the file was read."""


def predictions_of(instances: Instances, given: np.ndarray, *, name: str = "model", said: str = "") -> Predictions:
    """Predictions from an array: (N,) whole numbers of answers, -1 for none; or (M,) scores, the higher the likelier.

    Raises InputError where the array has another shape, or numbers that are none of the answers.
    """
    chosen = np.issubdtype(given.dtype, np.integer)
    shares = shares_of_choices(given, instances) if chosen else shares_of_scores(given, instances)
    said_anything = np.add.reduceat(shares, instances.offsets[:-1]) > 0  # (N,)
    highest = np.maximum.reduceat(shares, instances.offsets[:-1])
    right = np.where(said_anything, hits(shares, instances), 0.0)  # (N,)
    n_tied = int((said_anything & (highest < 1)).sum())
    return Predictions(name, shares, right, int((~said_anything).sum()), n_tied, said)


def read_predictions(path: Path, cells: Cells, options: PredictionOptions, *, name: str) -> Predictions:
    """The predictions of the file at `path`; InputError for whatever cannot be read, and for ids that do not fit."""
    table = open_table(path, cells.rows, options)
    faults = Faults(str(path), "Mend those rows, or take them out.")
    read = list(_read(table, options.metric, faults))
    rows, how = _rows_of([one.id for one in read], cells, table)
    _check_ids(path, [one.id for one in read], rows, cells, options.allow_missing)
    given = _answers if table.answer else _scores
    array = given(read, rows, table, cells, options, faults)
    faults.check()
    return predictions_of(cells.instances, array, name=name, said=f"{path.name}: {table.said}{how}")


class _Row(NamedTuple):
    """A row of a file of predictions."""

    place: str
    id: str
    value: Any
    """The cell with its answer or its scores."""


def _read(table: Table, metric: Metric, faults: Faults) -> Iterator[_Row]:
    with progress(f"read {table.source.path.name}", table.source.n_rows, "predictions") as advance:
        for place, record in table.rows():
            try:
                value = log_scores(record, table.scores[0], metric) if table.is_log else table.value(record)
                yield _Row(place, word_of(record, table.id), value)
            except RowError as fault:
                faults.add(place, fault)
            advance(1)
    faults.check()


def _rows_of(ids: Sequence[str], cells: Cells, table: Table) -> tuple[list[int], str]:
    """The row of each id, -1 where it is unknown; where not all `doc_id` of a log are ids, they count the rows."""
    found = [cells.rows.get(id, -1) for id in ids]
    n = len(cells.instances)
    if table.is_log and -1 in found and all(id.isdecimal() and int(id) < n for id in ids):
        return [int(id) for id in ids], "; its doc_id count the rows of the dataset"
    return found, ""


def _check_ids(path: Path, ids: Sequence[str], rows: Sequence[int], cells: Cells, allow_missing: bool) -> None:
    """Raise InputError that names ids that are unknown, double or, unless allowed, missing."""
    n_of = Counter(ids)
    given = set(rows)
    missing = [one.id for row, one in enumerate(cells.instances.instances) if row not in given]
    unknown = [id for id, row in zip(ids, rows, strict=True) if row < 0]
    data = cells.instances.name
    if len(unknown) == len(ids):
        raise InputError(
            f"{path}: none of its ids is in {data} (it has {_first(unknown)}; {data} has {_first(missing)}). Give the "
            "predictions for this dataset, or name the column with --prediction-id."
        )
    faults = {
        f"ids of {data} are missing": [] if allow_missing else missing,
        "ids occur twice": [id for id, n in n_of.items() if n > 1],
        f"ids are not in {data}": list(dict.fromkeys(unknown)),
    }
    told = [f"{len(wrong):,} {what} (first: {_first(wrong)})" for what, wrong in faults.items() if wrong]
    if told:
        hint = " --allow-missing counts those that are missing as wrong." if missing and not allow_missing else ""
        raise InputError(f"{path}: {'; '.join(told)}. Mend the file.{hint}")


def _first(ids: Sequence[str]) -> str:
    return ", ".join(ids[:3])


def _answers(
    read: Sequence[_Row], rows: Sequence[int], table: Table, cells: Cells, options: PredictionOptions, faults: Faults
) -> np.ndarray:
    """(N,) the answer chosen in each instance, -1 for none."""
    chosen = np.full(len(cells.instances), -1, np.int64)
    given = ((one.value, cells.texts(row), cells.instances.classes) for one, row in zip(read, rows, strict=True))
    base = base_of(given) if options.prediction_base == "auto" else int(options.prediction_base)
    for one, row in zip(read, rows, strict=True):
        try:
            chosen[row] = cells.answer(one.value, row, table.answer, base)
        except RowError as fault:
            faults.add(one.place, fault)
    return chosen


def _scores(
    read: Sequence[_Row], rows: Sequence[int], table: Table, cells: Cells, options: PredictionOptions, faults: Faults
) -> np.ndarray:
    """(M,) the scores of all answers, NaN where there is no prediction."""
    scores = np.full(int(cells.instances.offsets[-1]), np.nan)
    starts = cells.instances.offsets.tolist()
    by_text = cells.instances.kind == "classes" and not options.class_order  # a log names them; options are in order
    for one, row in zip(read, rows, strict=True):
        try:
            value = one.value
            if table.is_log and isinstance(value, dict) and not by_text:
                value = list(value.values())
            scores[starts[row] : starts[row + 1]] = cells.scores(value, row, table.scores[0])
        except RowError as fault:
            faults.add(one.place, fault)
    return scores
