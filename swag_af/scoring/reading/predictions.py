"""Files of predictions, a model each, brought to the order of the instances.

Missing, double and unknown ids are told together, the first three of each named.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from swag_af.auditing.ranking import hits
from swag_af.data.cells.order import is_unique
from swag_af.data.cells.values import word_of
from swag_af.data.errors import Faults, InputError, RowError, several, told
from swag_af.data.instances.instances import Instances
from swag_af.data.work.progress import progress
from swag_af.scoring.options import Metric, PredictionOptions
from swag_af.scoring.reading.answers import HIDDEN, UNKNOWN, Cells, shares_of_choices, shares_of_scores
from swag_af.scoring.reading.forms import Table
from swag_af.scoring.reading.gold import check_not_gold
from swag_af.scoring.reading.order import check_numbers, check_order, rows_by_column
from swag_af.scoring.reading.tables import log_scores, open_table


@dataclass(frozen=True)
class Predictions:
    """What one model answered."""

    name: str
    shares: np.ndarray
    """(M,) 1 at the answer that was chosen, 1/t at each of t with the highest score or the text given, else 0."""
    hits: np.ndarray
    """(N,) the share at gold."""
    tied: np.ndarray
    """(N,) whether several answers have the highest score, or the text given."""
    n_missing: int = 0
    """Instances without a prediction, which count as wrong."""
    said: str = ""
    """How the file was read."""
    is_log: bool = False
    """Whether log-likelihoods of a sample log of lm-evaluation-harness were read."""
    unused: tuple[str, ...] = ()
    """The flags that name no column of the file."""

    @property
    def n_tied(self) -> int:
        """Instances in which several answers have it."""
        return int(self.tied.sum())

    def take(self, instances: Instances, rows: np.ndarray) -> "Predictions":
        """Those of the instances `rows` alone, of `instances`, to which they were made."""
        entries = np.concatenate([np.arange(instances.offsets[row], instances.offsets[row + 1]) for row in rows])
        return _of_shares(instances.take(rows), self.shares[entries], self.name, self.said, self.is_log)


def predictions_of(
    instances: Instances,
    given: np.ndarray | Sequence[Any],
    *,
    name: str = "model",
    said: str = "",
    is_log: bool = False,
) -> Predictions:
    """Predictions from an array: (N,) whole numbers of answers, -1 for none; or (M,) scores, the higher the likelier,
    also as a list of them for each instance.

    Raises InputError where the array has another shape, or numbers that are none of the answers.
    """
    listed = list(given) if isinstance(given, Sequence) or getattr(given, "dtype", None) == np.dtype(object) else []
    if any(isinstance(one, str) for one in listed):
        raise InputError("predictions: texts are given, where numbers of answers or scores of all are due.")
    lengths = [len(one) for one in listed if isinstance(one, Sequence | np.ndarray)]
    is_ragged = len(set(lengths)) > 1
    if is_ragged and lengths != instances.n_answers.tolist():
        raise InputError("predictions: lists of other lengths than there are answers, or not one for each instance.")
    numbers = np.concatenate(list(map(_numbers, listed))) if is_ragged else _numbers(listed or given)
    chosen = not is_ragged and numbers.ndim == 1 and np.issubdtype(numbers.dtype, np.integer)
    shares = shares_of_choices(numbers, instances) if chosen else shares_of_scores(numbers, instances)
    return _of_shares(instances, shares, name, said, is_log)


def _numbers(given: object) -> np.ndarray:
    """Whole numbers as they are, others as floats, NaN where None stands; InputError for anything else."""
    try:
        made = np.asarray(given)
        if made.dtype.kind in "iu":
            return made
        if made.dtype.kind in "bf" or all(isinstance(one, Real | None) for one in made.flat):
            return made.astype(np.float64)
    except (ValueError, OverflowError):  # lists beside numbers; a number that is too large
        pass
    raise InputError("predictions: numbers of answers or scores of all are due, and some are no such numbers.")


def _of_shares(instances: Instances, shares: np.ndarray, name: str, said: str, is_log: bool) -> Predictions:
    is_given = given_in(instances, shares)
    highest = np.maximum.reduceat(shares, instances.offsets[:-1])
    right = np.where(is_given, hits(shares, instances), 0.0)  # (N,)
    return Predictions(name, shares, right, is_given & (highest < 1), int((~is_given).sum()), said, is_log)


def given_in(instances: Instances, shares: np.ndarray) -> np.ndarray:
    """(N,) whether there is a prediction, of shares (M,)."""
    given: np.ndarray = np.add.reduceat(shares, instances.offsets[:-1]) > 0
    return given


def read_predictions(path: Path, cells: Cells, options: PredictionOptions, *, name: str) -> Predictions:
    """The predictions of the file at `path`; InputError for whatever cannot be read, and for ids that do not fit."""
    table = open_table(path, cells, options)
    faults = Faults(str(path), "Mend those rows, or take them out.")
    read = list(_read(table, options.metric, faults))
    if table.id:
        rows, how = _rows_of(read, cells, table)
    else:
        rows, how = _in_order(path, len(read), cells)
        how += check_order(path, table, rows, cells)
    read, rows, left_out = _labelled(path, read, rows)
    how += left_out
    if table.id and not table.may_count:
        check_numbers(path, table, [one.id for one in read], rows, cells)
    _check_ids(path, [one.id for one in read], rows, cells, options)
    base, counted = _base(read, rows, cells, options) if table.answer else (0, "")
    array = (
        _answers(read, rows, table, cells, base, faults, may_miss=options.allow_missing or options.only_predicted)
        if table.answer
        else _scores(read, rows, table, cells, options, faults)
    )
    faults.check()
    said = f"{path.name}: {table.said}{counted}{how}"
    made = predictions_of(cells.instances, array, name=name, said=said, is_log=table.is_log)
    is_right = made.hits[given_in(cells.instances, made.shares)] > 0
    check_not_gold(table.source, table.answer, [table.id], is_right, cells, options)
    return replace(made, unused=table.unused)


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


def _labelled(path: Path, read: list[_Row], rows: list[int]) -> tuple[list[_Row], list[int], str]:
    """The same without predictions of rows that have no label, and what is to be said of these."""
    kept = [(one, row) for one, row in zip(read, rows, strict=True) if row != HIDDEN]
    n = len(rows) - len(kept)
    if not kept:
        raise InputError(f"{path}: all its predictions are of rows without a label. Give those of rows that have one.")
    said = f"; {several(n, 'prediction is', 'predictions are')} of rows without a label, left out" if n else ""
    return [one for one, _ in kept], [row for _, row in kept], said


def _in_order(path: Path, n: int, cells: Cells) -> tuple[list[int], str]:
    """The rows of predictions without ids: those of the dataset, where it has no ids either and as many instances, or
    as many rows, those without a label too."""
    data, ids = cells.instances.name, [one.id for one in cells.instances.instances[:3]]
    if cells.has_ids:
        raise InputError(f"{path}: predictions without ids, and {data} has some ({_first(ids)}). Give each its id.")
    said = "; without ids, matched by the order of the dataset"
    if n == len(cells.places):
        return cells.places, said
    if n != len(cells.instances):
        have = f"{several(n, 'prediction')} without ids for {several(len(cells.instances), 'instance')} of {data}"
        raise InputError(
            f"{path}: {have}. Give one for each, in the order of the dataset, or give each its id ({_first(ids)})."
        )
    return list(range(n)), said


def _rows_of(read: Sequence[_Row], cells: Cells, table: Table) -> tuple[list[int], str]:
    """The row of each id, where it is no instance's `HIDDEN` or `UNKNOWN`; where not all are known, they may count the
    rows from 0.

    So it is of `doc_id` in a log; and, where the dataset has no ids of its own, of numbers of which one is 0. Where a
    log's may mean several rows, the texts of its answers say which; others are refused then.
    """
    ids = [one.id for one in read]
    found = [cells.row(id) for id in ids]
    are_known = UNKNOWN not in found
    if not are_known and not table.may_count and (meant := rows_by_column(table, ids, cells)):
        return meant, f"; matched by {table.id}, a column of the dataset"
    counted = _counted(ids, cells)
    if not (table.may_count or (not are_known and not cells.has_ids and "0" in ids)) or not counted:
        return found, ""
    readings = [*([found] if are_known else []), *(one for one in counted if one != found)]
    meant = readings[0] if len(readings) == 1 else _by_text_of(readings, read, cells, table)
    return meant, "" if meant == found else f"; its {table.id} count the rows of the dataset from 0"


def _counted(ids: Sequence[str], cells: Cells) -> list[list[int]]:
    """The rows that ids are which count from 0: all rows of the files, or those with a label; one list where both are
    the same, nothing where they are no such numbers."""
    n = len(cells.instances)
    numbers = [int(id) for id in ids if id.isdecimal()]
    if not numbers or len(numbers) < len(ids) or max(numbers) >= len(cells.places):
        return []
    of_files = [cells.places[number] for number in numbers]
    return [of_files] if max(numbers) >= n or numbers == of_files else [numbers, of_files]


def _by_text_of(readings: Sequence[list[int]], read: Sequence[_Row], cells: Cells, table: Table) -> list[int]:
    """The reading of ids, of several, whose rows have the answers that a log names by their texts; InputError where
    nothing tells."""
    logged = [one.value if isinstance(one.value, dict) else {} for one in read]
    named = [
        sum(row >= 0 and cells.names_all(value, row) for value, row in zip(logged, rows, strict=True))
        for rows in readings
    ]
    if named.count(max(named)) == 1:
        return readings[named.index(max(named))]
    data, path = cells.instances.name, table.source.path
    if cells.instances.unlabelled:
        raise InputError(
            f"{path}: its {table.id} count rows, but {data} has rows without a label, which were left out, so that "
            "some may mean others. Give ids, or a prediction for each instance, in their order and without "
            f"{table.id}."
        )
    raise InputError(
        f"{path}: its {table.id} may be ids of {data} or count its rows, which are others, and nothing in it tells "
        "which. Give the dataset in the order of the log, or other ids to its rows."
    )


def _check_ids(path: Path, ids: Sequence[str], rows: Sequence[int], cells: Cells, options: PredictionOptions) -> None:
    """Raise InputError that names ids that are unknown, double or, unless allowed, missing."""
    n_of = Counter(rows)
    missing = [one.id for row, one in enumerate(cells.instances.instances) if row not in n_of]
    unknown = [id for id, row in zip(ids, rows, strict=True) if row == UNKNOWN]
    data = cells.instances.name
    if len(unknown) == len(ids):
        raise InputError(
            f"{path}: none of its ids is in {data} (it has {_first(unknown)}; {data} has {_first(missing)}). Give the "
            f"predictions for this dataset, or name the column with --prediction-id.{_of_own_ids(unknown, cells)}"
        )
    may_miss = options.allow_missing or options.only_predicted
    double = [id for id, row in zip(ids, rows, strict=True) if row >= 0 and n_of[row] > 1]
    faults = (
        ([] if may_miss else missing, "id of {data} is missing", "ids of {data} are missing"),
        (list(dict.fromkeys(double)), "id occurs twice", "ids occur twice"),
        (list(dict.fromkeys(filter(None, unknown))), "id is not in {data}", "ids are not in {data}"),
    )
    wrong = [
        f"{len(those):,} {(one if len(those) == 1 else more).format(data=data)} (first: {_first(those)})"
        for those, one, more in faults
        if those
    ]
    n_without = sum(not id for id, row in zip(ids, rows, strict=True) if row < 0)
    wrong += [f"{several(n_without, 'row has', 'rows have')} no id"] if n_without else []
    if wrong:
        hint = (
            " --allow-missing counts those that are missing as wrong, --only-predicted leaves them out."
            if missing and not may_miss
            else ""
        )
        raise InputError(f"{path}: {'; '.join(wrong)}. Mend the file.{hint}")


def _of_own_ids(ids: Sequence[str], cells: Cells) -> str:
    """What may be meant where ids were made for the dataset, or a column of it has those of the predictions."""
    data, asked = cells.instances.name, set(ids)
    for column, there in cells.beside.items():
        if 2 * len(asked & set(there)) <= len(asked):
            continue
        if is_unique(there):
            return f" They are in its column {column}: say --id-column {column}."
        if not cells.has_ids and (twice := next((id for id, n in Counter(there).items() if id and n > 1), "")):
            why = f"{told(twice)} is there twice, so that file and line stand for ids. Make them unique"
            return f" They are in its column {column}, but {why}."
    if cells.has_ids:
        return ""
    if not all(id.isdecimal() for id in ids):
        return (
            f" The rows of {data} have no ids, so that file and line stand for them; of a release of "
            "ours, jsonl/train.jsonl and jsonl/validation.jsonl have ids."
        )
    return (
        f" Numbers may count its rows: from 0 to {len(cells.instances) - 1:,}, with 0 among them. Where the dataset "
        "has a column of ids, say --id-column NAME."
    )


def _first(ids: Sequence[str]) -> str:
    return ", ".join(ids[:3])


def _base(read: Sequence[_Row], rows: Sequence[int], cells: Cells, options: PredictionOptions) -> tuple[int, str]:
    """From what numbers of answers count, and what is to be said of that."""
    return cells.base([one.value for one in read], rows, options.prediction_base)


def _answers(
    read: Sequence[_Row], rows: Sequence[int], table: Table, cells: Cells, base: int, faults: Faults, *, may_miss: bool
) -> np.ndarray:
    """(M,) 1 for each answer that is chosen, 0 for the others of its instance, NaN where there is none; numbers count
    from `base`."""
    chosen = np.full(int(cells.instances.offsets[-1]), np.nan)
    starts = cells.instances.offsets.tolist()
    for one, row in zip(read, rows, strict=True):
        try:
            if not (may_miss and cells.has_none(one.value, row, base)):
                answers = cells.answers(one.value, row, table.answer, base)
                chosen[starts[row] : starts[row + 1]] = 0.0
                chosen[[starts[row] + i for i in answers]] = 1.0
        except RowError as fault:
            faults.add(one.place, fault)
    return chosen


def _by_text(value: Mapping[str, Any], cells: Cells, row: int, options: PredictionOptions) -> bool:
    """Whether the continuations of a log say by their texts which answers they are, not by their order.

    Those that are letters, or texts that a task has changed, stand in the order of the options.
    """
    if cells.instances.kind == "classes":
        return not options.class_order
    return cells.names_all(value, row)


def _scores(
    read: Sequence[_Row], rows: Sequence[int], table: Table, cells: Cells, options: PredictionOptions, faults: Faults
) -> np.ndarray:
    """(M,) the scores of all answers, NaN where there is no prediction."""
    scores = np.full(int(cells.instances.offsets[-1]), np.nan)
    starts = cells.instances.offsets.tolist()
    for one, row in zip(read, rows, strict=True):
        try:
            value = one.value
            if table.is_log and isinstance(value, dict) and not _by_text(value, cells, row, options):
                value = list(value.values())
            scores[starts[row] : starts[row + 1]] = cells.scores(value, row, table.scores[0])
        except RowError as fault:
            faults.add(one.place, fault)
    return scores
