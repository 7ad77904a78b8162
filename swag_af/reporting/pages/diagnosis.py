"""The page of `swag-af diagnose`: why the curve of a run is not lower, in pictures and sentences. Computes nothing."""

from collections.abc import Sequence

import numpy as np

from swag_af.diagnosing.agreement import Agreement
from swag_af.diagnosing.figures import Figure
from swag_af.diagnosing.growth import Point
from swag_af.diagnosing.left import Left
from swag_af.diagnosing.outcome import Diagnosis, OfFilter
from swag_af.diagnosing.told import (
    Captioned,
    advice,
    answers,
    headline,
    not_asked,
    pair_name,
    tables,
)
from swag_af.diagnosing.trend import Trend, at
from swag_af.diagnosing.words import INTERVALS, QUESTIONS, Answer, asked, percent, status
from swag_af.reporting.charts import (
    LINES,
    POINTS,
    Frame,
    Series,
    bar,
    dot,
    figure,
    level,
    line,
    percent_ticks,
    plain_ticks,
    steps,
    whisker,
)
from swag_af.reporting.charts import Point as Mark
from swag_af.reporting.charts import percent as share
from swag_af.reporting.page import page, render

COLOURS = ("#4477aa", "#ee6677", "#228833", "#b07d00", "#aa3377", "#7d8590")


def diagnosis_page(diagnosis: Diagnosis, *, command: str = "") -> str:
    """The whole HTML file; `command` is what made the diagnosis."""
    shown, rows = _charts(diagnosis), tables(diagnosis)
    sections: dict[str, str] = {
        one.about: _section(diagnosis, one, shown[one.about], rows[one.about]) for one in answers(diagnosis)[1:]
    }
    sections["help"] = render("diagnosis_help", told=advice(diagnosis), charts=shown["help"], tables=rows["help"])
    options = {name.replace("_", " "): value for name, value in diagnosis.options.items() if value != ""}
    notes = [*diagnosis.notes, not_asked(diagnosis)]
    sections["making"] = render(
        "diagnosis_making", command=command, notes=notes, options=options, versions=dict(diagnosis.versions)
    )
    title = f"{diagnosis.name}, diagnosed"
    return page(title, _header(diagnosis), sections, COLOURS, skeleton="diagnosis", sheet="audit")


def _charts(diagnosis: Diagnosis) -> dict[str, list[str]]:
    """The pictures of each answer, and of what would help."""
    main, agreements = diagnosis.main, diagnosis.agreements
    growth, correlation = _growth_chart(diagnosis), _correlation_chart(agreements)
    if diagnosis.is_matched:
        return {"filter": [correlation], "matching": [growth], "help": []}
    return {
        "pool": [_harder_chart(main.left), _hardest_chart(main.left, diagnosis.chance)],
        "filter": [_swap_chart(agreements), correlation],
        "candidates": [growth],
        "help": [_fewer_chart(main, diagnosis.chance)],
    }


def _header(diagnosis: Diagnosis) -> dict[str, object]:
    iterations = {} if diagnosis.is_matched else {"iterations": f"{diagnosis.iteration:,}"}
    tiles = {
        "contexts": f"{diagnosis.n:,}",
        "candidates a context": f"{diagnosis.n_candidates:,}",
        **iterations,
        f"accuracy of {diagnosis.main.name}": share(diagnosis.main.left.now.value),
        "chance": share(diagnosis.chance),
    }
    if diagnosis.last_accuracy is not None:
        last = "iteration" if diagnosis.n_last == 1 else f"{diagnosis.n_last} iterations"
        tiles[f"in the run, last {last} of its last filter"] = share(diagnosis.last_accuracy)
    why = f"Why is the {'accuracy' if diagnosis.is_matched else 'curve'} not lower?"
    return {"asked": why, "verdict": headline(diagnosis), "tiles": tiles, "intervals": INTERVALS}


def _section(diagnosis: Diagnosis, answer: Answer, charts: Sequence[str], tables: Captioned) -> str:
    return render(
        "diagnosis_section",
        name=answer.about,
        question=QUESTIONS[answer.about],
        asked=asked(diagnosis, answer),
        status=status(diagnosis, answer),
        found=answer.found,
        means=answer.means,
        charts=charts,
        tables=tables,
    )


def _harder_chart(left: Left) -> str:
    """How many contexts have 0, 1, 2-3, ... harder candidates: above the easiest distractor, above gold."""
    shown = {"above the easiest distractor": left.histogram, "above gold": left.histogram_gold}
    n_bins = max(map(len, shown.values()))
    names = ["0", "1", *(f"{1 << k}–{(2 << k) - 1}" for k in range(1, n_bins - 1))][:n_bins]
    top = 1.1 * max(map(max, shown.values()))
    step = 1 if n_bins <= 5 else 2
    at_x = [(float(i), name) for i, name in enumerate(names) if (n_bins - 1 - i) % step == 0]
    frame = Frame((-0.6, n_bins - 0.4), (0, top), "unassigned candidates", "contexts", at_x, percent_ticks(top))
    shapes = [
        bar(frame, i - 0.4 + 0.4 * colour, i + 0.4 * colour, value, colour, f"{names[i]} {what}: {share(value)}")
        for colour, (what, values) in enumerate(shown.items())
        for i, value in enumerate(values)
    ]
    low, middle, high = (f"{value:g}" for value in left.quantiles[1:4])
    note = f"Above the easiest distractor, half of the contexts have {low} to {high}, median {middle}."
    legend = [Series(what, colour, "bar") for colour, what in enumerate(shown)]
    return figure("Harder candidates that are left", note, frame, shapes, legend, note=note)


def _hardest_chart(left: Left, chance: float) -> str:
    """Accuracy now, and if every context took its hardest candidates."""
    shown = {"now": left.now, "chosen and judged by one fit": left.same_fit}
    shown |= {"judged by another fit": left.other_fit, "a third: now": left.fresh_now}
    shown |= {"a third: fitted on the hardest": left.fresh_hardest}
    note = "Judged by the fit that chose them it is too low. Two of the fits have a third of the contexts."
    return _dots("Accuracy if the hardest were taken", note, shown, chance, "accuracy")


def _swap_chart(agreements: Sequence[Agreement]) -> str:
    shown = {pair_name(one): one.swaps for one in agreements if one.swaps is not None}
    note = "Of the swaps that one fit would make, the share that another finds right; dotted, a coin."
    return _dots("Swaps that another fit agrees with", note, shown, 0.5, "swaps")


def _dots(caption: str, note: str, shown: dict[str, Figure], at_level: float, y_name: str) -> str:
    """A point with its interval for each of `shown`, numbered below, named in the legend."""
    top = min(1.0, 1.15 * max([at_level, *(one.high for one in shown.values())]))
    numbers = [(float(i), str(i)) for i in range(1, len(shown) + 1)]
    frame = Frame((0.4, len(shown) + 0.6), (0, top), "", y_name, numbers, percent_ticks(top))
    shapes, legend = [level(frame, at_level)], []
    for i, (name, one) in enumerate(shown.items()):
        colour, mark = i % len(COLOURS), POINTS[i % len(POINTS)]
        shapes += [whisker(frame, i + 1, one.low, one.high, colour)]
        shapes += [dot(frame, i + 1, one.value, colour, mark, title=f"{name}: {percent(one)}")]
        legend.append(Series(f"{i + 1}: {name}", colour, mark))
    spoken = "; ".join(f"{name} {percent(one)}" for name, one in shown.items())
    return figure(caption, f"{caption}: {spoken or 'none'}.", frame, shapes, legend, note=note)


def _correlation_chart(agreements: Sequence[Agreement]) -> str:
    """How contexts spread over rank correlations, of each kind of pair."""
    edges = np.linspace(-1, 1, 21)
    top = 1.1 * max(max(one.correlations) for one in agreements) or 1.0
    frame = Frame((-1, 1), (0, top), "rank correlation", "contexts", plain_ticks(-1, 1), percent_ticks(top))
    shapes, legend = [], []
    for i, one in enumerate(agreements):
        colour, pattern = i % len(COLOURS), LINES[i % len(LINES)]
        shapes.append(steps(frame, edges, np.array(one.correlations), colour, pattern))
        legend.append(Series(pair_name(one), colour, pattern))
    note = "Of two fits' scores of a context's candidates. 0: no agreement; 1: the same order."
    return figure("Agreement on the order of candidates", note, frame, shapes, legend, note=note)


def _growth_chart(diagnosis: Diagnosis) -> str:
    """Accuracy by number of contexts, against random candidates and the run's distractors; the laws beyond.

    The random candidates of a matched run are its distractors.
    """
    main, chance = diagnosis.main, diagnosis.chance
    growth = main.growth
    shown = {"random candidates": (growth.random, main.more_contexts_random)}
    shown |= {"the run's distractors": (growth.assigned, main.more_contexts_assigned)}
    if diagnosis.is_matched:
        del shown["random candidates"]
    sizes = [point.n for point in growth.random]
    every = [point for points, _ in shown.values() for point in points]
    frame = _doubling_frame(sizes, every, chance, "contexts fitted on")
    shapes = [level(frame, chance)]
    for colour, (points, trend) in enumerate(shown.values()):
        shapes += _curve(frame, [(point.n, point.accuracy) for point in points], trend, colour, POINTS[colour])
    legend = [Series(name, colour, POINTS[colour]) for colour, name in enumerate(shown)]
    if growth.control and growth.control.chance == round(chance, 6):
        accuracy = growth.control.accuracy
        shapes.append(whisker(frame, np.log2(sizes[-1]), accuracy.low, accuracy.high, 5))
        title = f"control: {percent(accuracy)}"
        shapes.append(dot(frame, np.log2(sizes[-1]), accuracy.value, 5, "ring", title=title))
        legend.append(Series("control", 5, "ring"))
    note = "Gold against as many negatives as the run assigns. Dashed: a power law, where it is known to rise or fall."
    return figure("Accuracy by number of contexts", note, frame, shapes, legend, note=note)


def _fewer_chart(main: OfFilter, chance: float) -> str:
    sizes = [point.n_candidates for point in main.fewer]
    points = [Point(one.n_candidates, one.accuracy) for one in main.fewer]
    frame = _doubling_frame(sizes, points, chance, "candidates a context")
    curve = _curve(frame, [(one.n, one.accuracy) for one in points], main.more_candidates, 2)
    note = "If every context took the hardest of a random part of the pool; by another fit than the one that chose."
    return figure("Accuracy by size of the pool", note, frame, [level(frame, chance), *curve], note=note)


def _doubling_frame(sizes: Sequence[int], points: Sequence[Point], chance: float, x_name: str) -> Frame:
    """A logarithmic axis up to twice the largest size."""
    top = min(1.0, 1.15 * max([chance, *(point.accuracy.high for point in points)]))
    shown = [*sizes[:: 2 if len(sizes) > 4 else 1], 2 * sizes[-1]]
    at_x = [(float(np.log2(size)), f"{size:,}") for size in shown]
    return Frame(
        (float(np.log2(sizes[0])) - 0.3, float(np.log2(sizes[-1])) + 1.2),
        (0, top),
        x_name,
        "accuracy",
        at_x,
        percent_ticks(top),
    )


def _curve(
    frame: Frame, points: Sequence[tuple[int, Figure]], trend: Trend, colour: int, mark: Mark = "dot"
) -> list[str]:
    """A line through the points, with intervals; dashed to twice the largest where the trend is known."""
    xs = np.log2([float(n) for n, _ in points])
    shapes = [line(frame, xs, np.array([one.value for _, one in points]), colour)] if len(points) > 1 else []
    for x, (n, one) in zip(xs.tolist(), points, strict=True):
        shapes.append(whisker(frame, x, one.low, one.high, colour))
        shapes.append(dot(frame, x, one.value, colour, mark, title=f"{n:,}: {percent(one)}"))
    if trend.law is not None and trend.direction:
        beyond = np.linspace(xs[0], xs[-1] + 1, 30)
        laws = np.repeat([trend.law], len(beyond), axis=0)
        shapes.append(line(frame, beyond, at(laws, 2.0**beyond), colour, "dash"))
    return shapes
