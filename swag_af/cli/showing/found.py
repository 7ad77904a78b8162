"""What `show` says of the folders of `audit`, `prune`, `diagnose` and `refine`: findings, the worst, what is next."""

from collections.abc import Collection
from pathlib import Path

from swag_af.auditing.comparison import read_comparison
from swag_af.auditing.diagnostics import Example
from swag_af.auditing.storing import ABOUT as AUDIT
from swag_af.auditing.storing import open_audit
from swag_af.auditing.verdict import headline
from swag_af.cli.datasets.pruning import summary_lines
from swag_af.cli.datasets.refining import summary_lines as refined_summary
from swag_af.cli.options import ShowOptions
from swag_af.cli.runs.diagnosing import ABOUT as DIAGNOSED
from swag_af.cli.runs.diagnosing import AGAIN, ROWS, diagnosed_lines, open_diagnosis
from swag_af.data.disk.files import read_records
from swag_af.data.disk.manifests import BEGUN
from swag_af.data.disk.urls import command, flags
from swag_af.data.numbers.percent import in_percent
from swag_af.diagnosing.diagnosis import RowRecord
from swag_af.pruning.folder import ABOUT as PRUNED
from swag_af.pruning.folder import AFTER, BEFORE, KEPT, WORK, PrunedRow, open_pruned
from swag_af.refining.folder import ABOUT as REFINED
from swag_af.refining.folder import QUESTIONS, Version, open_refined
from swag_af.refining.folder import WORK as REFINING
from swag_af.reporting.tables.text import audited_lines

PAGE = "audit.html"
UNFINISHED = ("not finished", "", "Next: the command that began it goes on from here")
"""All that is said of a folder whose verb was stopped."""


def kind_of_found(path: Path) -> str | None:
    """Whether the folder is an `audit`, a `prune` or a `refine`, finished or not, or a finished `diagnose`; None where
    it is none of them."""
    if (path / AUDIT).is_file():
        return "audit"
    if (path / DIAGNOSED).is_file():
        return "diagnosis"
    if (path / REFINED).is_file() or (path / REFINING / BEGUN).is_file():
        return "refine"
    return "prune" if (path / PRUNED).is_file() or (path / WORK / BEGUN).is_file() else None


def the_file(files: Collection[str]) -> str:
    """The name of the file that data was read from; DATA where it was several, which are perhaps those of a folder."""
    return next(iter(files)) if len(files) == 1 else "DATA"


def show_audit(path: Path, options: ShowOptions) -> list[str]:
    """The verdict, what was found, before against after, the worst examples of what the verdict is about."""
    saved = open_audit(path)
    best, reading = headline(saved), saved.about.reading
    files = [name for name in saved.about.files if name != reading.get("labels_file")]
    shown = [_example(one) for one in (best.examples if best else ())[: options.n]]
    code = best.code if best else "AF101"
    page = [f"Page: {path / PAGE}, for a browser", ""] if (path / PAGE).is_file() else []
    pruning = command("prune", the_file(files), *flags(reading), "--out", "pruned")
    following = f"Next: {command('explain', code)}; or {pruning}"
    return [*audited_lines(saved, read_comparison(path)), "", *_parted(shown), *page, following]


def show_pruned(path: Path, options: ShowOptions) -> list[str]:
    """How many went and why, what was mended and made, the most predictable of what went."""
    if not (path / PRUNED).is_file():
        return [*UNFINISHED]
    pruned = open_pruned(path)
    gone = sorted((row for row in pruned.rows if not row.kept), key=lambda row: (row.round or 0, row.id))
    shown = [_row(row) for row in gone[: options.n]]
    name, of = (AFTER, "what is kept") if (path / AFTER / PAGE).is_file() else (BEFORE, "the data")
    following = f"{command('show', path / name)}, the audit of {of}"
    first = ["The first that went:", *shown, ""] if shown else []
    kept = f"The ids that are kept: {path / KEPT}"
    page = f"Page: {path / name / PAGE}, for a browser"
    return [*summary_lines(pruned), "", *first, kept, "", page, "", f"Next: {following}"]


def show_diagnosis(path: Path, options: ShowOptions) -> list[str]:
    """Why the curve is not lower, every figure, and the contexts with the fewest harder candidates; of a matched run,
    which has none left, those in which gold was found most often."""
    rows = list(read_records(path / ROWS, RowRecord, AGAIN))
    diagnosis = open_diagnosis(path)
    if diagnosis.is_matched:
        rows.sort(key=lambda row: (-row.accuracy, row.row))
        head = "The contexts in which gold was found most often:"
        first = [f"  {row.id}: by {in_percent(row.accuracy)} of the fits" for row in rows[: options.n]]
    else:
        rows.sort(key=lambda row: (row.n_harder, row.row))
        head = "The contexts with the fewest harder candidates left:"
        first = [f"  {row.id}: {row.n_harder:g} harder candidates" for row in rows[: options.n]]
    return [*diagnosed_lines(diagnosis, path), *(["", head, *first] if first else [])]


def show_refined(path: Path, options: ShowOptions) -> list[str]:
    """What was flagged beside luck, rounds, control and audits, and the first questions that were rewritten."""
    if not (path / REFINED).is_file():
        return [*UNFINISHED]
    refined = open_refined(path)
    first = [line for one in [one for one in refined.versions if one.round][: options.n] for line in _version(one)]
    written = ["The first that were rewritten:", *first, ""] if first else []
    return [*refined_summary(refined), "", *written, f"Next: {command('audit', path / QUESTIONS)}"]


def _version(one: Version) -> list[str]:
    said = " ".join(one.reason.split())
    head = f"  {one.id}, round {one.round}, {'still' if one.flagged else 'not'} flagged; the judge had said: {said}"
    return [head, *(f"    {'*' if i == one.answer else ' '} {text}" for i, text in enumerate(one.options))]


def _example(one: Example) -> list[str]:
    head = ", ".join(filter(None, (one.where, one.id, one.said)))
    return [head, *(f"  {line}" for line in one.text.split("\n"))]


def _parted(examples: list[list[str]]) -> list[str]:
    return [line for lines in examples for line in (*lines, "")]


def _row(row: PrunedRow) -> str:
    return f"  {row.id} ({row.where or 'no place'}): predictability {row.predictability or 0:.2f} in round {row.round}"
