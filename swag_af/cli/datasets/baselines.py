"""The verb `baselines`: cells, figures, tables and picture; and what it prints. Cells are made below."""

from collections.abc import Sequence

from swag_af.baselines.cells import Cell, missing
from swag_af.baselines.grid import Costs, Grid, run_grid
from swag_af.baselines.options import BaselinesOptions
from swag_af.baselines.outcome import RESULT, Baselines
from swag_af.data.disk.files import read_json, write_json
from swag_af.data.disk.replacing import check_apart, check_output
from swag_af.data.errors import InputError, takes_options
from swag_af.data.work.progress import duration
from swag_af.reporting.tables.table3 import baseline_lines, write_tables
from swag_af.reporting.tables.table3_plot import plot_baselines
from swag_af.reporting.tables.text import table


@takes_options
def run_baselines(options: BaselinesOptions) -> Baselines:
    """The verb `baselines`: make what is missing in the folder, and read all of it back.

    Raises InputError, before any work, for what cannot be read or used.
    """
    if options.json is not None:
        files = (options.vectors, options.conceptnet, options.reading.labels_file)
        check_apart("--json", options.json, (*options.data, *files, options.out))
        check_output(options.json, force=True, flag="--json")
    if options.dry_run:
        raise InputError(
            "dry_run makes nothing. In Python, `swag_af.baselines.grid.Grid.of(options).cells` lists cells."
        )
    _, found = run_grid(options)
    write_tables(found, options.out)
    plot_baselines(found, options.out)
    if options.json is not None:
        write_json(options.json, read_json(options.out / RESULT))
    return found


def baselines_lines(options: BaselinesOptions) -> list[str]:
    """What is printed: the cells that are planned, or all that was found."""
    if options.dry_run:
        return planned_lines(Grid.of(options))
    found = run_baselines(options)
    where = f"Written to {options.out}: baselines.json, table.txt, .csv, .md and .tex, baselines.png; cells has scores."
    return [*baseline_lines(found), "", where]


def planned_lines(grid: Grid) -> list[str]:
    """The cells of each model, and about how long they take."""
    todo = missing(grid.options.out, grid.cells)
    costs = Costs(grid, todo)
    labels = dict.fromkeys(cell.row.label for cell in grid.cells)
    rows = [_planned(label, [c for c in grid.cells if c.row.label == label], todo, costs) for label in labels]
    total = sum(map(costs.of, todo))
    jobs = grid.options.jobs or 1
    at_once = f", {duration(total / jobs)} in {jobs} processes" if jobs > 1 else ""
    sizes = ", ".join(f"{part} {len(rows):,}" for part, rows in grid.bench.parts.scored.items())
    return [
        f"{grid.instances.name}: {grid.bench.parts.said} (train {len(grid.bench.parts.train):,}, {sizes})",
        *filter(None, [grid.bench.parts.warning]),
        "",
        *table([("model", "cells", "to make", "time", "known from"), *rows]),
        "",
        *(f"blank: {one.model}, {one.input}: {one.reason}" for one in grid.blanks),
        *grid.asked[1],
        f"{len(todo):,} of {len(grid.cells):,} cells to make, about {duration(total)} of CPU{at_once}.",
        "Nothing was written.",
    ]


def _planned(label: str, cells: Sequence[Cell], todo: Sequence[Cell], costs: Costs) -> tuple[str, ...]:
    mine = [cell for cell in cells if cell in todo]
    known = "measured" if costs.is_measured(cells[0]) else "a guess"
    return label, f"{len(cells):,}", f"{len(mine):,}", duration(sum(map(costs.of, mine))), known
