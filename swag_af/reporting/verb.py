"""The report of a run: one HTML file with its curve, audits, distributions, questions, options and hashes.

Fits nothing: what fresh filters say was found by `audit` and kept with the run. The same run gives the same bytes, but
for the section `timing`, as long as the versions that are installed stay the same: the page names them.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from swag_af.auditing.summary import below_in_short, comparison_told, comparisons, took_part
from swag_af.data.files import check_output, write_text
from swag_af.data.run import Run, open_run
from swag_af.reporting.charts import escape, percent
from swag_af.reporting.contents import distributions, questions
from swag_af.reporting.curves import audits, curve, work
from swag_af.reporting.making import making, timing
from swag_af.reporting.options import ReportOptions
from swag_af.reporting.page import facts, page, paragraph
from swag_af.reporting.people import People, how_to_include, people, people_of
from swag_af.reporting.plot import first_iterations, plot_run
from swag_af.reporting.subject import Subject, label, subject_of

REPORT = "report.html"


def report(options: ReportOptions) -> Path:
    """The verb `report`: write it, and say where; in the run's own folder, draw the curve anew too."""
    run = open_run(options.run)
    if options.out is not None:
        check_output(options.out, force=options.force)
    said = people_of(run, options)
    if options.out is None:
        plot_run(run, options.run)
    path = options.out or options.run / REPORT
    write_report(run, path, n_questions=options.n_questions, said=said)
    return path


def write_report(run: Run, path: Path | str, *, n_questions: int = 20, said: People | None = None) -> None:
    """Write `path`: a page that needs no network and no script. The run may be unfinished, and in memory.

    `said` is what people said of its endings (`report_people.people_of`), where they were asked.
    """
    subject = subject_of(run)
    sections = {
        "curve": curve(subject),
        "audits": audits(subject),
        "work": work(run),
        "distributions": distributions(run),
        "questions": questions(subject, n_questions),
        **({"people": people(subject, said)} if said else {}),
        "making": making(subject),
        "timing": timing(run),
    }
    title = f"Adversarial Filtering of {len(run.pool):,} contexts"
    body = _summary(subject, said, list(sections)) + "".join(sections.values())
    write_text(Path(path), page(title, body, subject.colours))


def _summary(subject: Subject, said: People | None, places: Sequence[str]) -> str:
    run = subject.run
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
    links = "".join(f'<li><a href="#{place}">{place}</a></li>' for place in places)
    lines = "".join(f"<li>{escape(sentence)}</li>" for sentence in [*_verdict(subject), *([said.line] if said else [])])
    command = None if said else how_to_include(run.path)
    asked = "People have been asked to judge these endings. To say here what they said:"
    hint = f"{paragraph(asked)}<pre><code>{escape(command)}</code></pre>\n" if command else ""
    return (
        f"<header>\n<h1>Adversarial Filtering of {len(run.pool):,} contexts</h1>\n"
        f'<ul class="lede">{lines}</ul>\n{hint}{facts(tiles, kind="tiles")}'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n</header>\n'
    )


def _verdict(subject: Subject) -> list[str]:
    """What happened, a line a phase and a line an audit filter."""
    run = subject.run
    if not run.log:
        return ["No iteration is finished yet: every distractor is still one drawn at random."]
    lines = []
    for first, end in pairwise([*first_iterations(run), run.n_finished + 1]):
        name = label(run.log[first - 1].filter)
        own = [run.accuracy(i) for i in range(first, end)]
        if len(own) == 1:
            lines.append(f"Iteration {first}, {name}: held-out accuracy {percent(own[0])}.")
            continue
        some = min(5, len(own) // 2)
        lines.append(
            f"Iterations {first} to {end - 1}, {name}: held-out accuracy from {percent(float(np.mean(own[:some])))} to "
            f"{percent(float(np.mean(own[-some:])))}."
        )
    for compared in comparisons(run, subject.findings):
        if not took_part(run, compared.filter):
            told = comparison_told(compared, words=True)
            lines.append(f"A fresh {label(compared.filter)} that took no part finds gold in {told}")
    return [*lines, *below_in_short(run, subject.findings, words=True)]
