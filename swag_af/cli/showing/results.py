"""What `show` says of what `score`, `baselines`, `describe` and `train-nli` leave: main figures, what to run next."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from swag_af.baselines.outcome import KIND as BASELINES
from swag_af.baselines.outcome import RESULT, Baselines, open_baselines
from swag_af.cli.datasets.describing import ABOUT, PAGE
from swag_af.cli.options import ShowOptions
from swag_af.cli.showing.found import UNFINISHED, the_file
from swag_af.data.disk.files import read_json, read_jsonl
from swag_af.data.disk.manifests import MANIFEST, read_finished
from swag_af.data.disk.urls import command, flags
from swag_af.data.errors import InputError
from swag_af.data.instances.options import InstanceColumns, ReadingOptions
from swag_af.describing.description import Description
from swag_af.describing.tables import tables_of
from swag_af.filters.nli.options import BEGUN, WORK
from swag_af.filters.nli.options import KIND as NLI
from swag_af.reporting.tables.table3 import accuracy_rows, baseline_lines
from swag_af.reporting.tables.text import table
from swag_af.scoring.outcome import Scores
from swag_af.scoring.told import figure_rows, further, headline, people_rows

DESCRIPTION, SCORE = "description", "score"
_READING = {field.name for kind in (ReadingOptions, InstanceColumns) for field in fields(kind)}
_MAIN = ("counts", "lengths", "verbs", "topics")
_MOST = 10
"""Rows of a table."""


def kind_of_result(path: Path) -> str | None:
    """Whether the folder is of `describe`, `baselines` or `train-nli`, finished or not; None where it is none."""
    if (path / ABOUT).is_file():
        return DESCRIPTION
    begun = next((at for at in (path / MANIFEST, path / WORK / BEGUN) if at.is_file()), None)
    kind = _kind_in(read_json(begun)) if begun else ""
    return kind if kind in (BASELINES, NLI) else None


def kind_of_record(path: Path) -> str | None:
    """Which record of a result the file is; None where it is none of them."""
    try:
        _, first = next(iter(read_jsonl(path)), (0, {}))
        kind = _kind_in(first)
    except InputError:
        kind = _kind_in(_whole(path))
    return kind if kind in (BASELINES, DESCRIPTION, SCORE) else None


def _whole(path: Path) -> Any:
    """What a file holds that is no JSON lines; nothing where it is no JSON either."""
    try:
        return read_json(path)
    except InputError:
        return None


def _kind_in(record: Any) -> str:
    return str(record.get("kind", "")) if isinstance(record, dict) else ""


def show_nli(path: Path, options: ShowOptions) -> list[str]:
    """The accuracy on held-out pairs, of all and of each class."""
    if not (path / MANIFEST).is_file():
        return [*UNFINISHED]
    from swag_af.cli.runs.nli import following, model_lines
    from swag_af.filters.nli.folder import open_nli

    model = open_nli(path)
    return [*model_lines(model), "", following(model)]


def show_baselines(path: Path, options: ShowOptions) -> list[str]:
    """The accuracy of each model on each input, from the folder or its record."""
    if path.is_dir() and not (path / RESULT).is_file():
        return [*UNFINISHED]
    found = open_baselines(path) if path.is_dir() else read_finished(path, BASELINES, Baselines)
    lines = baseline_lines(found)[:1]
    for trained_on in found.trained_on:
        lines += ["", f"accuracy in %, trained on {trained_on}", *table(accuracy_rows(found, trained_on))]
    return [
        *lines,
        "",
        f"Next: {command('audit', 'DATA')}, with the files of {found.name}: what gives its answers away",
    ]


def show_description(path: Path, options: ShowOptions) -> list[str]:
    """Counts, lengths, the commonest verbs and topics, from the folder or its record."""
    made = read_finished(path / ABOUT if path.is_dir() else path, DESCRIPTION, Description)
    lines = [f"{made.name}, {made.n:,} instances", *(f"warning: {warning}" for warning in made.warnings)]
    for one in tables_of(made):
        if one.name in _MAIN:
            header, *rows = one.shown()
            more = [f"  ... and {len(rows) - _MOST} more"] if len(rows) > _MOST else []
            lines += ["", one.caption, *table([header, *rows[:_MOST]]), *more]
    page = path / PAGE
    lines += ["", f"Page: {page}, for a browser"] if page.is_file() else []
    following = command("audit", the_file(made.files), *flags(made.reading))
    return [*lines, "", f"Next: {following}, to see what gives its answers away"]


def show_score(path: Path, options: ShowOptions) -> list[str]:
    """What each model and what people get right."""
    scores = read_finished(path, SCORE, Scores)
    lines = [f"{scores.name}, {scores.n:,} instances in {scores.groups}", "", headline(scores), *further(scores)]
    lines += ["", *table(figure_rows(scores.models))] if scores.models else []
    lines += ["", *table(people_rows(scores.people))] if scores.people else []
    reading = {name: value for name, value in (scores.record or {}).items() if name in _READING}
    following = command("audit", next(iter(scores.files), "DATA"), *flags(reading), "--out", "audit")
    return [*lines, "", f"Next: {following}; then --audit audit scores each tier apart"]


SHOWERS: dict[str, Callable[[Path, ShowOptions], list[str]]] = {
    NLI: show_nli,
    BASELINES: show_baselines,
    DESCRIPTION: show_description,
    SCORE: show_score,
}
"""By kind, what says it."""
