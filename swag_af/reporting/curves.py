"""The sections of a report that follow the iterations: the curve, what fresh filters find, and the work done.

Fits nothing and reads no table of the pool.
"""

import numpy as np

from swag_af.auditing.summary import NOT_ASKED, audit_rows, below_lines, comparison_lines
from swag_af.data.findings import Finding
from swag_af.data.run import Iteration, Run
from swag_af.reporting.charts import (
    Frame,
    Series,
    bar,
    dot,
    figure,
    hover,
    level,
    line,
    percent,
    percent_ticks,
    plain_ticks,
    ticks,
    wall,
    whisker,
)
from swag_af.reporting.page import folded, listed, paragraph, section, table
from swag_af.reporting.plot import audit_places, curves, first_iterations, room_for_audits, smooth, within_phases
from swag_af.reporting.subject import AFTER, BEFORE, Subject, label


def curve(subject: Subject) -> str:
    """Every head's accuracy by iteration, the audits beside it, and the numbers as tables."""
    run, audits = subject.run, subject.audits
    heads = curves(run)
    if not heads and not audits:
        return section("curve", "Held-out accuracy", paragraph("There is nothing to draw yet."))
    tops = [values.max() for _, values in heads.values()] + [f.high for found in audits.values() for f in found]
    aside = room_for_audits(run, audits) if audits else None
    frame = _iteration_frame(run, 1.08 * float(max(tops)), "held-out accuracy", aside=aside)
    walls = first_iterations(run)
    shapes = [wall(frame, first - 0.5) for first in walls[1:]] + [level(frame, run.chance)]
    legend = []
    for name, (iterations, values) in heads.items():
        shapes.append(line(frame, iterations, values, subject.colour(name), "thin"))
        for part in within_phases(iterations, walls):
            shapes.append(line(frame, iterations[part], smooth(values[part]), subject.colour(name)))
        legend.append(Series(label(name), subject.colour(name)))
    shapes += [hover(frame, r.iteration, 1, _spoken(r)) for r in run.log]
    for finding, i, x in audit_places(run, audits):
        shapes.append(_audit_point(frame, finding, x, subject.colour(finding.filter), hollow=i % 2 == 1))
    for i, name in enumerate(audits):
        legend.append(Series(f"{label(name)}, audit", subject.colour(name), ("dot", "ring")[i % 2]))
    note = (
        "Thin lines: every iteration, on the contexts it held out. Thick lines: means of five. Dotted: chance, "
        f"{percent(run.chance)}. "
        + ("Upright lines: another filter takes over. " if len(walls) > 1 else "")
        + ("Points: audits across folds of all contexts, with their 95 % intervals." if audits else "")
    )
    chart = figure("Held-out accuracy by iteration", _spoken_curve(subject), frame, shapes, legend, size="wide")
    return section("curve", "Held-out accuracy", paragraph(note), chart, _accuracy_table(run), _iteration_table(run))


def _iteration_frame(run: Run, top: float, y_name: str, *, aside: float | None = None, shares: bool = True) -> Frame:
    """Iterations from 1 on, or from 0 with some room `aside`."""
    last = max(2, run.n_finished)
    first, aside = (1, 0.0) if aside is None else (0, aside)
    top = top or 1.0
    at = [(float(v), f"{v:g}") for v in ticks(first, last, 6) if v == int(v)]
    y_ticks = percent_ticks(top) if shares else plain_ticks(0, top)
    return Frame((first - aside, last + aside), (0, top), "iteration", y_name, at, y_ticks)


def _audit_point(frame: Frame, finding: Finding, x: float, colour: int, *, hollow: bool) -> str:
    title = f"{label(finding.filter)}, audit after iteration {finding.iteration}: {_with_interval(finding)}"
    return whisker(frame, x, finding.low, finding.high, colour) + dot(
        frame, x, finding.accuracy, colour, hollow=hollow, title=title
    )


def _with_interval(finding: Finding) -> str:
    return f"{percent(finding.accuracy)} ({percent(finding.low)} to {percent(finding.high)})"


def _spoken(record: Iteration) -> str:
    accuracies = ", ".join(f"{label(head)} {percent(value)}" for head, value in record.accuracy.items())
    return f"iteration {record.iteration}: {accuracies}"


def _spoken_curve(subject: Subject) -> str:
    run = subject.run
    parts = [
        f"{label(head)} from {percent(values[:5].mean())} to {percent(values[-5:].mean())}"
        for head, (_, values) in curves(run).items()
    ]
    for name, findings in subject.audits.items():
        parts += [f"audit by {label(name)} after iteration {f.iteration} {_with_interval(f)}" for f in findings]
    return f"Accuracy over {run.n_finished} iterations, chance {percent(run.chance)}: " + "; ".join(parts) + "."


def _accuracy_table(run: Run) -> str:
    rows = [
        (label(head), f"{len(values)}", percent(values[:5].mean()), percent(values[-5:].mean()))
        for head, (_, values) in curves(run).items()
    ]
    header = ("filter", "iterations", "the first", "the last")
    return table(header, rows, caption="Means of five iterations") if rows else ""


def _iteration_table(run: Run) -> str:
    if not run.log:
        return ""
    heads = list(curves(run))
    header = ("iteration", *map(label, heads), "held out", "easy", "replaced", "scored")
    rows = [
        (
            str(r.iteration),
            *(percent(r.accuracy[head]) if head in r.accuracy else "" for head in heads),
            f"{r.n_test:,}",
            f"{r.n_easy:,}",
            f"{r.n_replaced:,}",
            percent(r.n_scored / max(1, r.n_unassigned), 2),
        )
        for r in run.log
    ]
    return folded("Every iteration as a table", table(header, rows))


def audits(subject: Subject) -> str:
    """What every audit found, and where gold ranked before and after."""
    run = subject.run
    notes = [paragraph(f"{label(name)} was left out: {reason}") for name, reason in subject.left_out]
    if not subject.audits:
        hint = f"swag-af audit {run.path}" if run.path else "swag_af.audit_pool"
        none = paragraph(f"No audit has been made. To make one: {hint}.")
        return section("audits", "What fresh filters find", none, *notes)
    told = paragraph(
        "Each audit filter is fitted anew and scored across folds of whole groups, so that no context is scored by a "
        "filter that saw its group: contexts of one video, and those that share texts. The interval allows for "
        "contexts of one group being alike."
    )
    header, *rows = audit_rows(run, subject.findings, words=True)
    compared, below = (lines(run, subject.findings, words=True) for lines in (comparison_lines, below_lines))
    ranks = "".join(_rank_chart(name, findings) for name, findings in subject.audits.items())
    sub = "<h3>Gold's rank among what is assigned</h3>\n"
    flat = paragraph("Where nothing tells gold from its distractors, every rank is equally frequent (dotted).")
    return section(
        "audits",
        "What fresh filters find",
        told,
        table(header, rows),
        listed(compared),
        listed(below[:-1]),
        *map(paragraph, below[-1:]),
        paragraph(NOT_ASKED),
        *notes,
        sub,
        flat,
        f'<div class="charts">{ranks}</div>',
    )


def _rank_chart(name: str, findings: list[Finding]) -> str:
    """Bars of how often gold comes first, second, ...: at the first audit, and at the latest of another iteration."""
    first, last = findings[0], findings[-1]
    shown = [first, last] if first.iteration != last.iteration else [last]
    shares = [np.array(f.ranks) / f.n for f in shown]  # each (A,)
    n_ranks = len(shares[0])
    top = 1.08 * max(float(s.max()) for s in shares)
    at = [(float(v), f"{v:g}") for v in range(1, n_ranks + 1) if n_ranks <= 12 or v % 5 == 0 or v == 1]
    frame = Frame((0.5, n_ranks + 0.5), (0, top), "rank of gold", "contexts", at, percent_ticks(top))
    shapes, legend, spoken = [], [], []
    for i, (finding, values) in enumerate(zip(shown, shares, strict=True)):
        colour = BEFORE if finding.iteration == 0 or i < len(shown) - 1 else AFTER
        width = 0.8 / len(shown)
        said = "before filtering" if finding.iteration == 0 else f"after iteration {finding.iteration}"
        for rank, share in enumerate(values.tolist(), start=1):
            left = rank - 0.4 + i * width
            shapes.append(bar(frame, left, left + 0.92 * width, share, colour, f"rank {rank} {said}: {percent(share)}"))
        legend.append(Series(said, colour, "bar"))
        spoken.append(f"{said} gold comes first in {percent(values[0])} and last in {percent(values[-1])} of contexts")
    shapes.append(level(frame, 1 / n_ranks))
    return figure(label(name), f"Gold's rank by {label(name)}: {'; '.join(spoken)}.", frame, shapes, legend)


def work(run: Run) -> str:
    """What the iterations replaced and scored."""
    if not run.log:
        return section("work", "What each iteration did", paragraph("No iteration is finished yet."))
    at = np.array([r.iteration for r in run.log])
    n_test = np.array([max(1, r.n_test) for r in run.log])
    easy, replaced = (np.array([getattr(r, name) for r in run.log]) / n_test for name in ("n_easy", "n_replaced"))
    scored = np.array([r.n_scored / max(1, r.n_unassigned) for r in run.log])
    spoken_easy = (
        f"easy distractors from {easy[0]:.2f} to {easy[-1]:.2f}, replaced from {replaced[0]:.2f} to {replaced[-1]:.2f}"
    )
    charts = [
        _iterations_chart(
            run,
            "Easy distractors, and those replaced, in a held-out context",
            f"A held-out context, first to last iteration: {spoken_easy}.",
            [(Series("easy (scored below gold)", BEFORE, "dash"), easy), (Series("replaced", AFTER), replaced)],
            at,
            shares=False,
        ),
        _iterations_chart(
            run,
            "Unassigned candidates that had to be scored",
            f"Share of the unassigned candidates scored: {percent(scored[0])} at first, {percent(scored[-1])} at last.",
            [(Series("scored", AFTER), scored)],
            at,
            shares=True,
        ),
    ]
    total = f"{sum(r.n_replaced for r in run.log):,} replacements in all; {_n_places_changed(run)}."
    return section("work", "What each iteration did", paragraph(total), f'<div class="charts">{"".join(charts)}</div>')


def _iterations_chart(
    run: Run, title: str, label: str, lines: list[tuple[Series, np.ndarray]], at: np.ndarray, *, shares: bool
) -> str:
    top = 1.08 * max(float(values.max()) for _, values in lines)
    frame = _iteration_frame(run, top, "share" if shares else "distractors", shares=shares)
    shapes = [wall(frame, first - 0.5) for first in first_iterations(run)[1:]]
    shapes += [line(frame, at, values, series.colour, series.mark) for series, values in lines]
    for i, iteration in enumerate(at.tolist()):
        said = ", ".join(f"{s.name} {percent(v[i]) if shares else f'{v[i]:.2f}'}" for s, v in lines)
        shapes.append(hover(frame, iteration, 1, f"iteration {iteration}: {said}"))
    return figure(title, label, frame, shapes, [series for series, _ in lines])


def _n_places_changed(run: Run) -> str:
    negatives = run.start[:, 1:]
    changed = float((run.assignment()[:, 1:] != negatives).mean())
    return f"{percent(changed)} of all distractors are others than at the start"
