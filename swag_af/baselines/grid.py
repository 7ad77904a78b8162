"""The grid of a dataset: which cells there are, those that are missing made, in one process or in several.

    data -> groups -> parts -> cells -> (a file for each) -> figures

Rows and options are first put in an order that their texts decide, so permuting either changes no figure. A folder
belongs to one set of data, parted in one way; models, inputs and seeds may be added to it.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.auditing.probes.folds import sort
from swag_af.baselines.belonging import about, check_begun
from swag_af.baselines.cells import (
    Cell,
    add_timing,
    check_settings,
    missing,
    path_of,
    read_cells,
    read_timing,
    write_cell,
)
from swag_af.baselines.fitting import Bench, check_inputs, column_of, inputs_of, why_blank
from swag_af.baselines.models import CONCEPTNET, Row, rows_asked
from swag_af.baselines.options import BaselinesOptions
from swag_af.baselines.outcome import KIND, QUESTIONS, RESULT, Baselines, Blank, ordered
from swag_af.baselines.parts import parts_of, trainings
from swag_af.baselines.published import PEOPLE
from swag_af.baselines.summary import Summary
from swag_af.data.disk.files import write_json, write_jsonl
from swag_af.data.disk.manifests import FORMAT, MANIFEST, check_made_by, write_manifest
from swag_af.data.disk.replacing import remove, remove_leftovers, remove_leftovers_of
from swag_af.data.errors import InputError
from swag_af.data.instances.grouping import Groups, group
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.options import AUTO
from swag_af.data.instances.reading import read_instances
from swag_af.data.scale import run_blocks
from swag_af.data.work.progress import progress
from swag_af.filters.registry import parse_names


@dataclass
class Grid:
    """All cells that are asked for, of data that was read."""

    options: BaselinesOptions
    instances: Instances
    groups: Groups

    @classmethod
    def of(cls, options: BaselinesOptions) -> "Grid":
        """Read the data and check everything; raises InputError before any work."""
        remove_leftovers_of(options.out / MANIFEST)
        check_made_by("baselines", options.out, MANIFEST)
        instances = read_instances(options.data, options.reading)
        grid = cls(options, instances, group(instances))
        _ = grid.bench
        check_inputs(grid.inputs, instances.texts)
        if not grid.cells:
            raise _no_model(instances.name, grid.blanks, grid.asked[1])
        if (options.out / MANIFEST).is_file():
            check_begun(options.out, grid.about)
            check_settings(options.out, grid.asked[0])
        return grid

    @cached_property
    def bench(self) -> Bench:
        """Where cells are fitted."""
        in_order = sort(self.instances, self.groups.numbers)
        parts = parts_of(in_order.instances, in_order.groups, self.options)
        return Bench(self.instances, in_order, parts, trainings(in_order.instances, parts, self.options))

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The columns."""
        if self.options.inputs == AUTO:
            return inputs_of(self.instances.texts)
        return tuple(dict.fromkeys(map(column_of, parse_names("--inputs", self.options.inputs))))

    @cached_property
    def asked(self) -> tuple[list[Row], list[str]]:
        """The rows, and what was left out of the default ones."""
        return rows_asked(self.options, self.instances)

    @cached_property
    def cells(self) -> list[Cell]:
        """Every cell that is asked for and can be there, models first, seeds last."""
        seeds = range(self.options.seed, self.options.seed + self.options.seeds)
        return [
            Cell(row, input, trained_on, seed)
            for row in self.asked[0]
            for input in self.inputs
            if not why_blank(row, input, self.instances.texts)
            for trained_on in self.bench.trainings
            for seed in (seeds if row.draws else seeds[:1])
        ]

    @cached_property
    def blanks(self) -> list[Blank]:
        """The places that have no cell, as far as is known before any work."""
        found = [
            Blank(row.label, input, why_blank(row, input, self.instances.texts))
            for row in self.asked[0]
            for input in self.inputs
        ]
        return [one for one in found if one.reason]

    @cached_property
    def about(self) -> dict[str, Any]:
        """What a folder belongs to."""
        return about(self.instances, self.bench, self.options)

    def make(self, cell: Cell) -> tuple[float, str]:
        """Fit, score and write one cell; `(CPU seconds, why there is none)`, the second empty where there is one."""
        started = time.process_time()
        try:
            scores, said = self.bench.scores(cell)
        except InputError as fault:
            return time.process_time() - started, str(fault)
        named = {str(part): values for part, values in scores.items()}
        write_cell(self.options.out, cell, len(self.bench.trainings[cell.trained_on]), named, said)
        return time.process_time() - started, ""


def run_grid(options: BaselinesOptions) -> tuple[Grid, Baselines]:
    """Make the cells that are missing in `options.out`, and sum up all that are there in `baselines.json`.

    Raises InputError before any work for what cannot be read or used.
    """
    grid = Grid.of(options)
    _begin(grid)
    blanks = _make_missing(grid)
    found = _summed(grid, blanks)
    write_json(options.out / RESULT, {"format": FORMAT, "kind": KIND, **asdict(found)})
    return grid, found


def _begin(grid: Grid) -> None:
    """The folder, with what says what it belongs to, and which questions are scored."""
    out = grid.options.out
    remove_leftovers(out)
    remove_leftovers(out / "cells")
    if not (out / MANIFEST).is_file():
        write_manifest(out, KIND, grid.about)
    if not (out / QUESTIONS).is_file():
        _write_questions(grid)


def _write_questions(grid: Grid) -> None:
    out, bench = grid.options.out, grid.bench
    instances = bench.sorted.instances.instances
    rows = ((part, row) for part, rows in bench.parts.scored.items() for row in rows.tolist())
    given = grid.instances.instances
    write_jsonl(
        out / QUESTIONS,
        (
            {
                "id": instances[row].id,
                "part": part,
                "answer": given[int(bench.sorted.rows[row])].answer,
                "n_answers": int(bench.sorted.instances.n_answers[row]),
                "group": int(bench.sorted.groups[row]),
            }
            for part, row in rows
        ),
    )


def _leave(out: Path) -> None:
    """Remove what `_begin` wrote, since nothing came of it."""
    for name in (QUESTIONS, MANIFEST):  # whose folder it is goes last
        remove(out / name)
    if not any(out.iterdir()):
        remove(out)


def _no_model(name: str, blanks: Sequence[Blank], left_out: Sequence[str] = ()) -> InputError:
    reasons = dict.fromkeys(
        [f"{one.model}: {one.reason}" for one in blanks] + [one.removeprefix("left out: ") for one in left_out]
    )
    return InputError(f"{name}: no model could be fitted ({'; '.join(reasons)}). Choose other --models or --inputs.")


@dataclass(frozen=True)
class _FitJob:
    """Cells in another process, which reads the data again."""

    options: BaselinesOptions

    def open(self) -> Callable[[Cell], tuple[float, str]]:
        """Read the data; returns what makes one cell."""
        return Grid.of(self.options).make


def _make_missing(grid: Grid) -> list[Blank]:
    """The cells that have no file yet; returns the places where there can be none."""
    blanks, out = list(grid.blanks), grid.options.out
    todo = missing(out, grid.cells)
    costs = Costs(grid, todo)
    with progress("baselines", PER_MILLE, "‰ of the work") as advance, _results(grid, todo) as results:
        for cell, (seconds, reason) in zip(todo, results, strict=True):
            blank = Blank(cell.row.label, cell.input, reason)
            blanks += [blank] if reason and blank not in blanks else []
            if not reason:
                add_timing(out, {cell.key: round(seconds, 3)})
            advance(costs.done(cell, seconds), note=str(cell))
    return blanks


@contextmanager
def _results(grid: Grid, todo: Sequence[Cell]) -> Iterator[Iterator[tuple[float, str]]]:
    where = grid.options.where
    if not where.is_remote and (grid.options.jobs in (None, 1) or len(todo) < 2):
        yield map(grid.make, todo)
        return
    with run_blocks(_FitJob(grid.options), todo, workers=grid.options.jobs, engine=where) as results:
        yield results


PER_MILLE = 1000
SECONDS_OF = {"random": 0.1, "majority": 0.1, "shortest": 0.2, "longest": 0.2, "tfidf": 1.0, "fasttext": 3.0}
"""CPU seconds of a cell for a million characters read, until one of the model has been measured."""
_OTHERS = 60.0
_FIXED = 0.2
"""Seconds that a cell takes however little it reads."""


class Costs:
    """What cells cost in CPU seconds: as measured, on another input or with another seed too; else guessed."""

    def __init__(self, grid: Grid, todo: Sequence[Cell]):
        self._read = {input: _characters(grid, input) for input in grid.inputs}
        self._rates: dict[str, list[float]] = {}
        self._left = list(todo)
        self._spent, self._told = 0.0, 0
        timing = read_timing(grid.options.out)
        for cell in grid.cells:
            if cell.key in timing and path_of(grid.options.out, cell).exists():
                self._learn(cell, timing[cell.key])

    def of(self, cell: Cell) -> float:
        """About how many CPU seconds a cell takes."""
        known = self._rates.get(cell.row.label)
        rate = float(np.mean(known)) if known else SECONDS_OF.get(cell.row.name, _OTHERS)
        return _FIXED + rate * self._read[cell.input] / 1e6

    def is_measured(self, cell: Cell) -> bool:
        """Whether a cell of its model has been measured."""
        return cell.row.label in self._rates

    def done(self, cell: Cell, seconds: float) -> int:
        """How many more per mille of the work are done, now that `cell` is and took so many `seconds`."""
        self._left.remove(cell)
        self._learn(cell, seconds)
        self._spent += seconds
        left = sum(map(self.of, self._left))
        share = self._spent / (self._spent + left) if self._left else 1.0
        more = max(0, int(PER_MILLE * share) - self._told)  # never back, where a model turns out to be slower
        self._told += more
        return more

    def _learn(self, cell: Cell, seconds: float) -> None:
        rate = max(0.0, seconds - _FIXED) / (self._read[cell.input] / 1e6)
        self._rates.setdefault(cell.row.label, []).append(rate)


def _characters(grid: Grid, input: str) -> int:
    """How many a model reads of all rows."""
    texts = grid.instances.texts
    n = sum(map(len, texts.options)) + 1
    width = np.diff(texts.offsets) if texts.kind == "choices" else np.ones(len(texts))
    before = {"ending": (), "hypothesis": (), "text": (), "second-sentence": (texts.starts,)}
    for pieces in before.get(input, (texts.starts, texts.contexts)):
        n += int(np.array(list(map(len, pieces))) @ width)
    return n


def _summed(grid: Grid, blanks: Sequence[Blank]) -> Baselines:
    bench = grid.bench
    summary = Summary(bench, read_cells(grid.options.out), [row.label for row in grid.asked[0]], grid.inputs)
    figures = tuple(summary.figures())
    if not figures:
        _leave(grid.options.out)
        raise _no_model(grid.instances.name, blanks)
    there = {(one.model, one.input) for one in figures}
    return Baselines(
        name=grid.instances.name,
        of=grid.instances.kind,
        parts=bench.parts.said,
        groups=grid.groups.said,
        models=tuple(dict.fromkeys(one.model for one in figures)),
        inputs=tuple(ordered([one.input for one in figures], grid.inputs)),
        trained_on=tuple(dict.fromkeys(one.trained_on for one in figures)),
        main=bench.parts.main,
        figures=figures,
        blanks=tuple(one for one in blanks if (one.model, one.input) not in there),
        differences=tuple(summary.differences()),
        orders=tuple(summary.orders()),
        papers=tuple(summary.papers()),
        people=dict(PEOPLE),
        notes=(*grid.instances.notes, *bench.parts.notes, *grid.asked[1], *_coverage(summary), *_said(summary)),
        warning=bench.parts.warning,
    )


def _coverage(summary: Summary) -> Iterator[str]:
    """In how many questions the ConceptNet rule has anything to go by."""
    bench = summary.bench
    for one in summary.cells:
        if one.name != CONCEPTNET:
            continue
        for part, rows in bench.parts.scored.items():
            sizes = bench.given.n_answers[bench.sorted.rows[rows]]
            starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
            n = int((np.maximum.reduceat(np.array(one.scores[part]), starts) > 0).sum())
            yield (
                f"conceptnet: {n:,} of {len(rows):,} questions of {part} ({n / len(rows):.1%}) have an option with a "
                "causal relation (the paper on SWAG: 30.4 %)"
            )


def _said(summary: Summary) -> Iterator[str]:
    """What models have to tell of their scores, such as answers of a judge that could not be read; what several seeds
    tell alike once."""
    yield from dict.fromkeys(
        f"{line}; it read {one.input}, trained on {one.trained_on}" for one in summary.cells for line in one.said
    )
