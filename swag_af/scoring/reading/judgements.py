"""Answers of people: who answered what to which instance.

    rows         JSONL or CSV of id, worker and answer; a row an answer. Their columns are found as those of predictions
    verdicts     those of `swag-af verify`: the best ending of an item is its answer, and gold the right one
    NLVR2        `validation` and `extra_validations`, workers to labels, and `writer`. The label of `validation` was
                 made the gold label, so it shows agreement, and nobody's accuracy (Suhr et al. 2019, section 5)

An answer counts towards accuracy unless its worker wrote the instance, or it made the gold label.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from swag_af.data.cells.values import word_of
from swag_af.data.cells.whole import with_whole_numbers
from swag_af.data.disk.manifests import read_manifest
from swag_af.data.errors import Faults, InputError, RowError, several, told
from swag_af.data.instances.options import AUTO
from swag_af.data.instances.own import kind_of
from swag_af.data.runs.run import open_run
from swag_af.data.splits import renumbered
from swag_af.data.tables.sources import Record, Source, open_source
from swag_af.judging.verdicts import read_verdicts
from swag_af.scoring.chance import Chance, chance_of
from swag_af.scoring.options import PredictionOptions
from swag_af.scoring.reading.answers import HIDDEN, Cells
from swag_af.scoring.reading.gold import check_not_gold
from swag_af.scoring.reading.tables import IDS, answers_in, id_column

WORKERS = ("worker", "annotator", "worker_id", "WorkerId", "annotator_id", "user", "participant")
"""Names of the column of workers."""
NLVR2 = ("identifier", "validation", "extra_validations")
VERDICTS = ("row", "columns", "annotator", "ratings", "best", "second")


@dataclass(frozen=True)
class Judgements:
    """`J` answers of people to `I` items."""

    said: str
    """How they were read."""
    items: tuple[str, ...]
    """(I,) ids of the items that anybody answered, in order."""
    workers: tuple[str, ...]
    """In order."""
    gold: np.ndarray
    """(I,) the number of the right answer."""
    chance: Chance
    """(I,) how often guesses are right, the same for people as for models."""
    groups: np.ndarray
    """(I,) clusters of items."""
    item: np.ndarray
    """(J,) place in `items`."""
    worker: np.ndarray
    """(J,) place in `workers`."""
    answer: np.ndarray
    """(J,) the number of the answer."""
    counts: np.ndarray
    """(J,) whether it counts towards accuracy."""
    is_comparable: bool = True
    """Whether the same number is the same answer in all items, as agreement beyond chance takes it."""


class _One(NamedTuple):
    """An answer of somebody."""

    item: str
    worker: str
    answer: int
    counts: bool = True


def read_judgements(
    path: Path,
    cells: Cells,
    data: Path,
    groups: np.ndarray,
    *,
    options: PredictionOptions | None = None,
    are_alone: bool = True,
) -> Judgements:
    """The answers in the file at `path` to instances read from `data`, which cluster in `groups` (N,).

    Unless they `are_alone`, a column that the `options` name and that this file lacks is one of the models' files.
    Raises InputError for whatever cannot be read, for unknown ids, and for a worker who answers an item twice.
    """
    source = open_source(path)
    if _has_verdicts(source):
        return _of_verdicts(path, data, cells, groups)
    is_nlvr2 = set(NLVR2) <= set(source.columns)
    faults = Faults(str(path), "Mend those rows, or take them out.")
    if is_nlvr2:
        found, said = list(_of_nlvr2(source, cells, faults)), "labels of NLVR2: those of validation made the gold label"
    else:
        found, said = _of_rows(source, cells, _own(source, options or PredictionOptions(), are_alone), faults)
    faults.check()
    if not is_nlvr2:
        _check_once(path, found)
    if not found:
        raise InputError(f"{path}: no answer to a row with a label. Give answers to rows that have one.")
    items = sorted({one.item for one in found})
    rows = np.array([cells.rows[item] for item in items], np.int64)
    chance, gold = chance_of(cells.instances).at(rows), cells.instances.answers[rows]
    made = _judgements(f"{path.name}: {said}", items, found, gold, chance, groups[rows])
    return replace(made, is_comparable=cells.instances.kind == "classes" or cells.instances.has_order)


def are_verdicts(path: Path) -> bool:
    """Whether the file at `path` has verdicts on the items of a run, and not answers to instances."""
    return _has_verdicts(open_source(path))


def _has_verdicts(source: Source) -> bool:
    return set(VERDICTS) <= set(source.columns)


def _judgements(
    said: str, items: list[str], found: list[_One], gold: np.ndarray, chance: Chance, groups: np.ndarray
) -> Judgements:
    workers = sorted({one.worker for one in found})
    places, numbers = ({name: i for i, name in enumerate(names)} for names in (items, workers))
    return Judgements(
        said,
        tuple(items),
        tuple(workers),
        gold,
        chance,
        renumbered(groups),
        np.array([places[one.item] for one in found], np.int64),
        np.array([numbers[one.worker] for one in found], np.int64),
        np.array([one.answer for one in found], np.int64),
        np.array([one.counts for one in found], bool),
    )


def _own(source: Source, options: PredictionOptions, are_alone: bool) -> PredictionOptions:
    """The options that mean this file."""
    if are_alone:
        return options
    id, answer = (
        name if name in source.columns else AUTO for name in (options.prediction_id, options.prediction_column)
    )
    return replace(options, prediction_id=id, prediction_column=answer)


def _of_rows(source: Source, cells: Cells, options: PredictionOptions, faults: Faults) -> tuple[list[_One], str]:
    """The answers, and how they were read."""
    id, worker, answer = _columns(source, cells, options)
    writer = "writer" if "writer" in source.columns else ""
    read: list[tuple[str, str, str, Any, bool]] = []
    n_left_out = 0
    for place, record in with_whole_numbers(source, [id, worker, writer]).read([id, worker, answer, writer]):
        try:
            who = _worker(record, worker)
            counts = not writer or word_of(record, writer) != who
            item = word_of(record, id)
            if cells.row(item) == HIDDEN:
                n_left_out += 1
                continue
            read.append((place, _known(item, cells), who, record.get(answer), counts))
        except RowError as fault:
            faults.add(place, fault)
    rows = [cells.rows[item] for _, item, _, _, _ in read]
    base, said = cells.base([value for _, _, _, value, _ in read], rows, options.prediction_base)
    found = []
    for (place, item, who, value, counts), row in zip(read, rows, strict=True):
        try:
            found.append(_One(item, who, _one_answer(value, row, answer, base, cells), counts))
        except RowError as fault:
            faults.add(place, fault)
    if len(found) == len(rows):
        is_right = np.array([one.answer for one in found]) == cells.instances.answers[rows]
        check_not_gold(source, answer, [id, *WORKERS, "writer"], is_right, cells, options)
    of_hidden = several(n_left_out, "answer is", "answers are")
    said += f"; {of_hidden} to rows without a label, left out" if n_left_out else ""
    return found, f"ids in {id}, workers in {worker}, answers in {answer}{said}"


def _one_answer(value: Any, row: int, column: str, base: int, cells: Cells) -> int:
    """The number of the answer that somebody gave; RowError where equal options have its text."""
    answers = cells.answers(value, row, column, base)
    if len(answers) > 1:
        raise RowError(f"has {told(value)} under {column}, the text of several of its options: give a number or letter")
    return answers[0]


def _columns(source: Source, cells: Cells, options: PredictionOptions) -> tuple[str, str, str]:
    """Those of ids, of workers and of answers."""
    id = id_column(with_whole_numbers(source, source.columns), cells, options, may_repeat=True)
    workers = [name for name in WORKERS if name in source.columns]
    if not id or not workers:
        what, names, do = (
            ("workers", WORKERS, "Rename the one that it is") if id else ("ids", IDS, "Say --prediction-id NAME")
        )
        raise InputError(
            f"{source.path}: no column of {what}, called {', '.join(names[:3])} ... (it has "
            f"{', '.join(source.columns[:12])}). {do}."
        )
    others = tuple(name for name in source.columns if name not in (id, workers[0], "writer"))
    answer, _ = answers_in(source, others, cells, options, may_be_scores=False)
    return id, workers[0], answer


def _worker(record: Record, column: str) -> str:
    if name := word_of(record, column):
        return name
    raise RowError(f"has no {column}")


def _known(id: str, cells: Cells) -> str:
    """The id, as the dataset writes it."""
    row = cells.row(id)
    if row < 0:
        raise RowError(f"has the id {id!r}, which is not in {cells.instances.name}")
    return cells.instances.instances[row].id


def _of_nlvr2(source: Source, cells: Cells, faults: Faults) -> Iterator[_One]:
    for place, record in source.read([*NLVR2, "writer"]):
        try:
            item = _known(word_of(record, "identifier"), cells)
            for column in ("validation", "extra_validations"):
                for worker, label in _labels(record.get(column), column).items():
                    number = cells.answer(label, cells.rows[item], column, cells.by_name)
                    own = worker == word_of(record, "writer")
                    yield _One(item, worker, number, column != "validation" and not own)
        except RowError as fault:
            faults.add(place, fault)


def _labels(value: Any, column: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise RowError(f"has no labels by worker under {column}")
    return value


def _check_once(path: Path, found: list[_One]) -> None:
    seen: set[tuple[str, str]] = set()
    double = []
    for one in found:
        double += [one] if (one.item, one.worker) in seen else []
        seen.add((one.item, one.worker))
    if double:
        raise InputError(
            f"{path}: {several(len(double), 'answer')} of a worker to an item that they answered before (first: "
            f"{double[0].worker} to {double[0].item}). Keep one of each."
        )


def _of_verdicts(path: Path, data: Path, cells: Cells, groups: np.ndarray) -> Judgements:
    """The best endings; every item has endings of its own, of which the first column is gold.

    `data` is the run that people were shown, with groups of its own, or a release of it, whose questions alone count
    and cluster as in `groups`. Raises InputError where it is neither.
    """
    kind = kind_of(data)
    if kind == "run":
        pool = open_run(data).pool
        verdicts, of_rows = read_verdicts(path, pool.unguarded_identity), dict(enumerate(pool.groups.tolist()))
    elif kind == "dataset" and (rows := cells.beside.get("fold-ind")) and all(map(str.isdecimal, rows)):
        every = read_verdicts(path, read_manifest(data, "dataset")["pool_identity"])
        of_rows = dict(zip(map(int, rows), groups.tolist(), strict=True))
        verdicts = [one for one in every if one.item.row in of_rows]
    else:
        raise InputError(
            f"{path}: verdicts on the items of a run. Give that run, or the folder of a release of it, as the dataset."
        )
    found = [_One(one.item.id, one.annotator, one.item.columns[one.best]) for one in verdicts]
    sizes = {one.item.id: len(one.item.columns) for one in verdicts}
    clusters = {one.item.id: of_rows[one.item.row] for one in verdicts}
    if not found:
        raise InputError(f"{path}: no verdict on a question of {data}. Give the verdicts that it was made from.")
    items = sorted(sizes)
    gold, chance = np.zeros(len(items), np.int64), Chance(np.array([1 / sizes[item] for item in items]))
    of_items = np.array([clusters[item] for item in items], np.int64)
    made = _judgements(f"{path.name}: verdicts, the best ending", items, found, gold, chance, of_items)
    return replace(made, is_comparable=False)
