"""The sections of a report that follow the iterations: the accuracy curve, the audits, and the work done.

Fits nothing and reads no table of the pool.
"""

import numpy as np

from swag_af.auditing.runs.summary import (
    audit_rows,
    below_lines,
    comparison_lines,
    not_asked,
    repeated_lines,
    said_lines,
    unseen_lines,
    with_interval,
)
from swag_af.data.disk.urls import command
from swag_af.data.errors import several
from swag_af.data.runs.findings import Finding
from swag_af.data.runs.run import Iteration, Run
from swag_af.filters.registry import label_of
from swag_af.reporting.charts import (
    POINTS,
    Frame,
    Point,
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
from swag_af.reporting.page import render
from swag_af.reporting.plot import (
    audit_places,
    curves,
    ends,
    first_iterations,
    room_for_audits,
    smooth,
    turns,
    within_phases,
)
from swag_af.reporting.sections.subject import AFTER, BEFORE, Subject


def curve(subject: Subject) -> str:
    """The accuracy of every head by iteration, the audits beside it, and the numbers as tables."""
    run = subject.run
    return render(
        "curve",
        chart=_accuracy_chart(subject) if curves(run) or subject.audits else "",
        chance=run.chance,
        n_phases=len(first_iterations(run)),
        has_audits=bool(subject.audits),
        means=_mean_rows(run),
        iterations=_iteration_rows(run),
    )


def _accuracy_chart(subject: Subject) -> str:
    run, heads, audits = subject.run, curves(subject.run), subject.audits
    tops = [values.max() for _, values in heads.values()] + [f.high for found in audits.values() for f in found]
    aside = room_for_audits(run, audits) if audits else None
    frame = _iteration_frame(run, 1.08 * float(max(tops)), "held-out accuracy", aside=aside)
    shapes = [wall(frame, first - 0.5) for first in first_iterations(run)[1:]] + [level(frame, run.chance)]
    for name, (iterations, values) in heads.items():
        shapes += _head_lines(frame, iterations, values, subject.colour(name), first_iterations(run))
    shapes += [hover(frame, r.iteration, _spoken(r)) for r in run.log]
    for finding, i, x in audit_places(run, audits):
        shapes.append(_audit_point(frame, finding, x, subject.colour(finding.filter), POINTS[i % len(POINTS)]))
    legend = [Series(label_of(name), subject.colour(name)) for name in heads]
    for i, name in enumerate(audits):
        legend.append(Series(f"{label_of(name)}, audit", subject.colour(name), POINTS[i % len(POINTS)]))
    return figure("Held-out accuracy by iteration", _spoken_curve(subject), frame, shapes, legend, size="wide")


def _head_lines(frame: Frame, iterations: np.ndarray, values: np.ndarray, colour: int, phases: list[int]) -> list[str]:
    """A thin line through every iteration's accuracy, and thick ones through the means of five within each phase."""
    thin = line(frame, iterations, values, colour, "thin")
    parts = within_phases(iterations, phases)
    return [thin, *(line(frame, iterations[part], smooth(values[part]), colour) for part in parts)]


def _iteration_frame(run: Run, top: float, y_name: str, *, aside: float | None = None, shares: bool = True) -> Frame:
    """Iterations from 1 on, or from 0 with the margin `aside` for audits at both ends."""
    last = max(2, run.n_finished)
    first, aside = (1, 0.0) if aside is None else (0, aside)
    top = top or 1.0
    at = [(float(v), f"{v:g}") for v in ticks(first, last, 6) if v == int(v)]
    y_ticks = percent_ticks(top) if shares else plain_ticks(0, top)
    return Frame((first - aside, last + aside), (0, top), "iteration", y_name, at, y_ticks)


def _audit_point(frame: Frame, finding: Finding, x: float, colour: int, mark: Point) -> str:
    title = (
        f"{label_of(finding.filter)}, audit after iteration {finding.iteration}: {with_interval(finding, words=True)}"
    )
    return whisker(frame, x, finding.low, finding.high, colour) + dot(
        frame, x, finding.accuracy, colour, mark, title=title
    )


def _spoken(record: Iteration) -> str:
    accuracies = ", ".join(f"{label_of(head)} {percent(value)}" for head, value in record.accuracy.items())
    return f"iteration {record.iteration}: {accuracies}"


def _spoken_curve(subject: Subject) -> str:
    run = subject.run
    parts = [f"{one.called(label_of)} from {' to '.join(map(percent, ends(one.values)))}" for one in turns(run)]
    for name, findings in subject.audits.items():
        parts += [
            f"audit by {label_of(name)} after iteration {f.iteration} {with_interval(f, words=True)}" for f in findings
        ]
    return (
        f"Accuracy over {several(run.n_finished, 'iteration')}, chance {percent(run.chance)}: " + "; ".join(parts) + "."
    )


def _mean_rows(run: Run) -> list[tuple[str, ...]]:
    """Each head's name in each filter's turns, their number, and mean accuracy at their beginning and end (`ends`)."""
    return [(one.called(label_of), f"{len(one.values)}", *map(percent, ends(one.values))) for one in turns(run)]


def _iteration_rows(run: Run) -> list[tuple[str, ...]]:
    """A header, then each iteration; empty before the first one."""
    if not run.log:
        return []
    heads = list(curves(run))
    rows: list[tuple[str, ...]] = [("iteration", *map(label_of, heads), "held out", "easy", "replaced", "scored")]
    for r in run.log:
        accuracies = (percent(r.accuracy[head]) if head in r.accuracy else "" for head in heads)
        scored = percent(r.n_scored / max(1, r.n_unassigned), 2)
        counts = (f"{r.n_test:,}", f"{r.n_easy:,}", f"{r.n_replaced:,}")
        rows.append((str(r.iteration), *accuracies, *counts, scored))
    return rows


def audits(subject: Subject) -> str:
    """The findings of every audit, and the ranks of gold before and after."""
    run, findings = subject.run, subject.findings
    return render(
        "audits",
        command=command("audit", run.path) if run.path else "swag_af.audit_pool",
        rows=audit_rows(run, findings, words=True),
        compared=comparison_lines(run, findings, words=True),
        below=below_lines(run, findings, words=True),
        told=[*repeated_lines(run), *unseen_lines(run, words=True), *said_lines(findings)],
        not_asked=not_asked(findings),
        left_out=[(label_of(name), reason) for name, reason in subject.left_out],
        charts=[_rank_chart(name, found, _whens(run, found)) for name, found in subject.audits.items()],
    )


def _whens(run: Run, findings: list[Finding]) -> list[str]:
    """When each finding's assignment was, in words."""
    if run.matching:
        return ["matched"] * len(findings)
    return ["before filtering" if f.iteration == 0 else f"after iteration {f.iteration}" for f in findings]


def _rank_chart(name: str, findings: list[Finding], whens: list[str]) -> str:
    """Bars of how often gold ranks first, second, ...: at the first audit, and at the last if of another iteration."""
    first, last = findings[0], findings[-1]
    shown = [first, last] if first.iteration != last.iteration else [last]
    shares = [np.array(f.ranks) / f.n for f in shown]  # each (A,)
    n_ranks = len(shares[0])
    top = 1.08 * max(float(s.max()) for s in shares)
    at = [(float(v), f"{v:g}") for v in range(1, n_ranks + 1) if n_ranks <= 12 or v % 5 == 0 or v == 1]
    frame = Frame((0.5, n_ranks + 0.5), (0, top), "rank of gold", "contexts", at, percent_ticks(top))
    shapes, legend, spoken = [], [], []
    for i, (finding, values, when) in enumerate(zip(shown, shares, (whens[0], whens[-1])[-len(shown) :], strict=True)):
        colour = BEFORE if finding.iteration == 0 or i < len(shown) - 1 else AFTER
        width = 0.8 / len(shown)
        for rank, share in enumerate(values.tolist(), start=1):
            left = rank - 0.4 + i * width
            shapes.append(bar(frame, left, left + 0.92 * width, share, colour, f"rank {rank} {when}: {percent(share)}"))
        legend.append(Series(when, colour, "bar"))
        spoken.append(f"{when} gold comes first in {percent(values[0])} and last in {percent(values[-1])} of contexts")
    shapes.append(level(frame, 1 / n_ranks))
    return figure(label_of(name), f"Gold's rank by {label_of(name)}: {'; '.join(spoken)}.", frame, shapes, legend)


def work(run: Run) -> str:
    """How many distractors the iterations replaced, and how many candidates they scored."""
    return render(
        "work",
        n_replaced=sum(r.n_replaced for r in run.log),
        changed=float((run.assignment()[:, 1:] != run.start[:, 1:]).mean()),
        charts=[_easy_chart(run), _scored_chart(run)] if run.log else [],
    )


def _easy_chart(run: Run) -> str:
    n_test = np.array([max(1, r.n_test) for r in run.log])
    easy, replaced = (np.array([getattr(r, name) for r in run.log]) / n_test for name in ("n_easy", "n_replaced"))
    return _iterations_chart(
        run,
        "Easy distractors, and those replaced, in a held-out context",
        f"A held-out context, first to last iteration: easy distractors from {easy[0]:.2f} to {easy[-1]:.2f}, "
        f"replaced from {replaced[0]:.2f} to {replaced[-1]:.2f}.",
        [(Series("easy (scored below gold)", BEFORE, "dash"), easy), (Series("replaced", AFTER), replaced)],
        shares=False,
    )


def _scored_chart(run: Run) -> str:
    scored = np.array([r.n_scored / max(1, r.n_unassigned) for r in run.log])
    return _iterations_chart(
        run,
        "Unassigned candidates that had to be scored",
        f"Share of the unassigned candidates scored: {percent(scored[0])} at first, {percent(scored[-1])} at last.",
        [(Series("scored", AFTER), scored)],
        shares=True,
    )


def _iterations_chart(run: Run, title: str, label: str, lines: list[tuple[Series, np.ndarray]], *, shares: bool) -> str:
    """Lines over the iterations; each array (iterations,) holds shares or numbers of distractors."""
    at = np.array([r.iteration for r in run.log])
    top = 1.08 * max(float(values.max()) for _, values in lines)
    frame = _iteration_frame(run, top, "share" if shares else "distractors", shares=shares)
    shapes = [wall(frame, first - 0.5) for first in first_iterations(run)[1:]]
    shapes += [line(frame, at, values, series.colour, series.mark) for series, values in lines]
    for i, iteration in enumerate(at.tolist()):
        figures = ", ".join(f"{s.name} {percent(v[i]) if shares else f'{v[i]:.2f}'}" for s, v in lines)
        shapes.append(hover(frame, iteration, f"iteration {iteration}: {figures}"))
    return figure(title, label, frame, shapes, [series for series, _ in lines])
