"""The report of a run: one HTML file with its curve, audits, distributions, questions, options and hashes.

Fits nothing: audits are made by `swag_af.auditing` and read from the run folder. The same run gives the same bytes,
except for the section `timing`, as long as the installed versions, which the page lists, stay the same.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np

from swag_af.auditing.runs.summary import below_in_short, comparison_sentence, comparisons, marked, took_part
from swag_af.data.disk.files import write_text
from swag_af.data.disk.replacing import check_apart, check_output
from swag_af.data.errors import check_kind, takes_options
from swag_af.data.pool.folder import GUARD_TABLES, TEXT_TABLES
from swag_af.data.runs.run import Run, open_run
from swag_af.filters.registry import label_of
from swag_af.reporting.charts import percent
from swag_af.reporting.options import ReportOptions
from swag_af.reporting.page import page
from swag_af.reporting.plot import ends, first_iterations, plot_run
from swag_af.reporting.sections.endings import distributions, questions
from swag_af.reporting.sections.guards import guards
from swag_af.reporting.sections.iterations import audits, curve, work
from swag_af.reporting.sections.provenance import provenance, timing
from swag_af.reporting.sections.subject import Subject, subject_of
from swag_af.reporting.sections.verification import Verification, how_to_include, verification, verification_of
from swag_af.reporting.tables.text import skipped_lines

REPORT = "report.html"


@takes_options
def report(options: ReportOptions) -> Path:
    """The verb `report`: write the page and return its path; in the folder of a run of filters, draw its curve."""
    run = open_run(options.run)
    run.pool.check_tables((*TEXT_TABLES, *GUARD_TABLES, "lengths"))
    if options.out is not None:
        check_apart("--out", options.out, options.verdicts)
        check_output(options.out, force=options.force)
    verified = verification_of(run, options)
    path = options.out or options.run / REPORT
    write_report(run, path, n_questions=options.n_questions, verified=verified)
    return path


def write_report(run: Run, path: Path | str, *, n_questions: int = 20, verified: Verification | None = None) -> None:
    """Write `path`: a page that needs no network and no script. The run may be unfinished, and in memory.

    In the run's own folder, its curve is drawn beside the page, as the verbs `filter` and `report` leave it.
    `verified` is what annotators judged of its endings, if there are verdicts (`verification_of`).
    """
    check_kind("run", run, Run)
    check_output(Path(path), force=True, flag="path")
    if run.matching is None and run.path is not None and Path(path).parent.resolve() == run.path.resolve():
        plot_run(run, run.path)
    subject = subject_of(run)
    by_iteration = {"curve": curve, "audits": audits, "work": lambda subject: work(subject.run)}
    sections = {
        **{name: write(subject) for name, write in by_iteration.items() if run.matching is None or name == "audits"},
        **({"guards": guards(run)} if "flagged" in run.pool.tables else {}),
        "distributions": distributions(run),
        "questions": questions(subject, n_questions),
        **({"people": verification(subject, verified)} if verified else {}),
        "making": provenance(subject),
        **({} if run.matching else {"timing": timing(run)}),
    }
    title = f"Adversarial {'Matching' if run.matching else 'Filtering'} of {len(run.pool):,} {_rows(run)}"
    write_text(Path(path), page(title, _header(subject, verified), sections, subject.colours))


def _rows(run: Run) -> str:
    return "questions" if run.matching else "contexts"


def _header(subject: Subject, verified: Verification | None) -> dict[str, object]:
    """The values of the page's header: result in sentences, numbers, how to add verdicts that were collected."""
    run = subject.run
    return {
        "results": [*_results(subject), *([verified.line] if verified else [])],
        "tiles": _tiles(subject),
        "command_for_verdicts": None if verified else how_to_include(run.path),
    }


def _tiles(subject: Subject) -> dict[str, str]:
    run = subject.run
    if run.matching:
        tiles = {
            "questions": f"{len(run.pool):,}",
            "answers each": f"{run.start.shape[1]}",
            "folds of the matching": f"{int(run.pool.groups.max()) + 1}",
            "lambda": f"{run.matching['weight']:g}",
        }
        return tiles | {"chance": percent(run.chance)}
    planned = subject.manifest.get("n_planned", run.n_finished)
    done = f"{run.n_finished:,}" if planned <= run.n_finished else f"{run.n_finished:,} of {planned:,}"
    tiles = {
        "contexts": f"{len(run.pool):,}",
        "candidates each": f"{run.pool.n_candidates:,}",
        "assigned, gold included": f"{run.start.shape[1]}",
        "iterations": done,
        "chance": percent(run.chance),
    }
    if run.log:
        tiles["candidates met that were scored"] = percent(run.scored_share)
    return tiles


def _results(subject: Subject) -> list[str]:
    """The result: how it was matched; or a sentence for each phase, and one for each audit filter that took no part."""
    run = subject.run
    if run.matching:
        said = [*run.matching["said"], *run.matching.get("cautions", [])]
        return [*said, *below_in_short(run, subject.findings, words=True)]
    if not run.log:
        return ["No iteration is finished yet: every distractor is still one drawn at random."]
    lines = []
    for first, end in pairwise([*first_iterations(run), run.n_finished + 1]):
        name = label_of(run.log[first - 1].filter)
        own = np.array([run.accuracy(i) for i in range(first, end)])
        if len(own) == 1:
            lines.append(f"Iteration {first}, {name}: held-out accuracy {percent(own[0])}.")
            continue
        at_ends = " to ".join(map(percent, ends(own)))
        lines.append(f"Iterations {first} to {end - 1}, {name}: held-out accuracy from {at_ends}.")
    lines += skipped_lines(run)
    for compared in comparisons(run, subject.findings):
        if not took_part(run, compared.filter):
            change = comparison_sentence(compared, words=True)
            lines.append(
                f"Fresh fits of {marked(run, compared.filter, True)}, which took no part, find gold in {change}"
            )
    return [*lines, *below_in_short(run, subject.findings, words=True)]
