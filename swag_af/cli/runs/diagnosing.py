"""The verb `diagnose`: a run diagnosed, its record, page and rows written, and what is printed."""

from dataclasses import asdict
from pathlib import Path

from swag_af.data.disk.files import read_json, write_json, write_jsonl, write_text
from swag_af.data.disk.manifests import check_made_by, check_manifest, read_finished
from swag_af.data.disk.replacing import check_apart, check_output, remove, remove_leftovers
from swag_af.data.disk.urls import command_for
from swag_af.data.errors import InputError, takes_options
from swag_af.diagnosing.diagnosis import check_begun, measure, subject_of
from swag_af.diagnosing.options import DiagnoseOptions
from swag_af.diagnosing.outcome import KIND, Diagnosis
from swag_af.diagnosing.told import Captioned, advice, answers, headline, not_asked, tables
from swag_af.diagnosing.words import INTERVALS, QUESTIONS, asked, status
from swag_af.reporting.pages.diagnosis import diagnosis_page
from swag_af.reporting.tables.text import table

AGAIN = "Delete the folder and diagnose the run again."
ABOUT, PAGE, ROWS, WORK = "diagnosis.json", "diagnosis.html", "rows.jsonl", "fits"


@takes_options
def diagnose(options: DiagnoseOptions) -> Diagnosis:
    """The verb `diagnose`: the diagnosis, made or, where it stands finished, read; its folder is written.

    Goes on from what a killed run left in it. Raises InputError, before any fit, for what cannot be diagnosed.
    """
    folder = folder_of(options)
    _check(options, folder)
    subject = subject_of(options)
    if (folder / ABOUT).exists():
        begun = check_manifest(read_json(folder / ABOUT), folder / ABOUT, KIND)
        check_begun(begun.get("identity") or {}, subject, folder / ABOUT)
        _check_whole(folder)
    else:
        remove_leftovers(folder)
        made, rows = measure(subject, folder / WORK)
        write_jsonl(folder / ROWS, map(asdict, rows))
        write_text(folder / PAGE, diagnosis_page(made, command=command_for("diagnose", options, but=("json",))))
        write_json(folder / ABOUT, {**made.as_record(), "identity": subject.identity()})
    remove(folder / WORK)
    if options.json is not None:
        write_json(options.json, read_json(folder / ABOUT))
    return open_diagnosis(folder)


def folder_of(options: DiagnoseOptions) -> Path:
    """Where it is written."""
    return options.out or options.run / "diagnosis"


def _check(options: DiagnoseOptions, folder: Path) -> None:
    check_made_by("diagnose", folder, ABOUT, work=WORK)
    if options.json is not None:
        check_apart("--json", options.json, (options.run, folder))
        check_output(options.json, force=True, flag="--json")


def _check_whole(folder: Path) -> None:
    """Raise InputError where the page or the rows of a diagnosis that was done are gone."""
    gone = [name for name in (PAGE, ROWS) if not ((folder / name).is_file() and (folder / name).stat().st_size)]
    if gone:
        raise InputError(
            f"{folder}: the diagnosis is done, and {', '.join(gone)} gone or empty since. Put that back, or remove the "
            "folder and diagnose again: the bytes are the same."
        )


def open_diagnosis(folder: Path) -> Diagnosis:
    """The finished diagnosis in `folder`; FormatError names the file of what is damaged."""
    return read_finished(folder / ABOUT, KIND, Diagnosis, AGAIN)


def diagnosed_lines(diagnosis: Diagnosis, folder: Path) -> list[str]:
    """The diagnosis as text: why the curve is not lower, each answer with its figures, what would help, where it is."""
    of = f"{diagnosis.n:,} contexts" + (f" of {diagnosis.n_all:,}" if diagnosis.n < diagnosis.n_all else "")
    state = "matched" if diagnosis.is_matched else f"after iteration {diagnosis.iteration}"
    lines = [
        f"{diagnosis.name}, {state}: {of}, {diagnosis.n_groups:,} groups, "
        f"{diagnosis.n_candidates:,} candidates a context, {diagnosis.n_assigned} of them assigned, gold included",
        *diagnosis.notes,
        "",
        headline(diagnosis),
        "",
        INTERVALS,
    ]
    shown = tables(diagnosis)
    for one in answers(diagnosis)[1:]:
        lines += ["", f"{QUESTIONS[one.about]} {status(diagnosis, one)}"]
        lines += [f"  Asked: {asked(diagnosis, one)}", f"  Found: {one.found}", f"  Means: {one.means}"]
        lines += _captioned(shown[one.about])
    lines += ["", "What would help?", *(f"  {line}" for line in advice(diagnosis)), *_captioned(shown["help"])]
    written = f"Written to {folder}. Open {folder / PAGE} in a browser; it needs no network."
    return [*lines, "", not_asked(diagnosis), written]


def _captioned(tables: Captioned) -> list[str]:
    return [line for caption, rows in tables for line in ("", f"  {caption}", *table(rows))]
