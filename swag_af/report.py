"""The report of a run: one HTML file with its curve, audits, distributions, questions, options and hashes.

Fits nothing: what fresh filters say was found by `audit` and kept with the run. Reads of the pool's tables only what is
assigned, so that memory does not grow with K. The same run gives the same bytes, but for the section `timing`.
"""

import hashlib
import platform
import shlex
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.audit import Finding, read_audits
from swag_af.data.errors import InputError
from swag_af.data.files import MANIFEST, check_output, read_manifest, write_text
from swag_af.data.pool import FEATURES, CandidatePool
from swag_af.options import Filter as FilterVerb
from swag_af.options import Report
from swag_af.plot import (
    LABELS,
    audit_places,
    audit_points,
    colours,
    curves,
    first_iterations,
    plot_run,
    smooth,
    within_phases,
)
from swag_af.release.build import display
from swag_af.report_charts import (
    Frame,
    Series,
    bar,
    dot,
    escape,
    figure,
    hover,
    level,
    line,
    percent,
    percent_ticks,
    plain_ticks,
    steps,
    ticks,
    wall,
    whisker,
)
from swag_af.report_page import facts, folded, page, paragraph, section, table
from swag_af.runs import Run, open_run
from swag_af.summary import duration, filters_that_took_part, scored_share

REPORT = "report.html"

GOLD, BEFORE, AFTER, FIRST_FILTER = 0, 1, 2, 3
"""Numbers of the colours that are always there; the filters' come behind."""
FIXED_COLOURS = ("#b07d00", "#7d8590", "#2563c9")

FEATURE_TITLES = {
    "ending_given_context": "Ending given context, nats a token",
    "ending_alone": "Ending alone, nats a token",
    "context_given_ending": "Context given ending, nats a token",
    "context_alone": "Context alone, nats a token",
    "last_token": "Last token, nats",
}
N_BINS = 24
MOST_FEATURES = 12
"""Charts of features, at most, for pools with features of their own."""
ROWS_AT_ONCE = 4096


def run_report(options: Report) -> Path:
    """The verb `report`: write it, and say where; in the run's own folder, draw the curve anew too."""
    run = open_run(options.run)
    path = options.run / REPORT if options.out is None else options.out
    if options.out is not None:
        check_output(path, force=options.force)
    if options.out is None:
        plot_run(run, options.run)
    write_report(run, path, n_questions=options.n_questions)
    return path


def write_report(run: Run, path: Path | str, *, n_questions: int = 20) -> None:
    """Write `path`: a page that needs no network and no script. The run may be unfinished, and in memory."""
    sections = [
        _summary(run),
        _curve(run),
        _audits(run),
        _work(run),
        _distributions(run),
        _questions(run, n_questions),
        _making(run),
        _timing(run),
    ]
    title = f"Adversarial Filtering of {len(run.pool):,} contexts"
    colour_of = colours(_filter_names(run))
    write_text(Path(path), page(title, "".join(sections), [*FIXED_COLOURS, *colour_of.values()]))


def _filter_names(run: Run) -> list[str]:
    return list(dict.fromkeys([*curves(run), *audit_points(run)]))


def _colour(run: Run, name: str) -> int:
    return FIRST_FILTER + _filter_names(run).index(name)


def _label(name: str) -> str:
    return LABELS.get(name, name)


def _took_part(run: Run, name: str) -> bool:
    return name.partition("[")[0] in filters_that_took_part(run)


def _manifest(run: Run) -> dict[str, Any]:
    there = run.path is not None and (run.path / MANIFEST).exists()
    return read_manifest(run.path, "run") if run.path is not None and there else {}


# ---------------------------------------------------------------------------------------------------- the numbers


def _summary(run: Run) -> str:
    manifest = _manifest(run)
    planned = manifest.get("n_planned", run.n_finished)
    done = f"{run.n_finished:,}" if planned <= run.n_finished else f"{run.n_finished:,} of {planned:,}"
    tiles = {
        "contexts": f"{len(run.pool):,}",
        "candidates each": f"{run.pool.n_candidates:,}",
        "assigned, gold included": f"{run.start.shape[1]}",
        "iterations": done,
        "chance": percent(run.chance),
    }
    if run.log:
        tiles["candidates met that were scored"] = percent(scored_share(run))
    places = ("curve", "audits", "work", "distributions", "questions", "making", "timing")
    links = "".join(f'<li><a href="#{place}">{place}</a></li>' for place in places)
    said = "".join(f"<li>{escape(sentence)}</li>" for sentence in _verdict(run))
    return (
        f"<header>\n<h1>Adversarial Filtering of {len(run.pool):,} contexts</h1>\n"
        f'<ul class="lede">{said}</ul>\n{facts(tiles, kind="tiles")}'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n</header>\n'
    )


def _verdict(run: Run) -> list[str]:
    """What happened, a line a phase and a line an audit filter."""
    if not run.log:
        return ["No iteration is finished yet: every distractor is still one drawn at random."]
    lines = []
    for first, end in pairwise([*first_iterations(run), run.n_finished + 1]):
        name = _label(run.log[first - 1]["filter"])
        own = [run.accuracy(i) for i in range(first, end)]
        if len(own) == 1:
            lines.append(f"Iteration {first}, {name}: held-out accuracy {percent(own[0])}.")
            continue
        some = min(5, len(own) // 2)
        lines.append(
            f"Iterations {first} to {end - 1}, {name}: held-out accuracy from {percent(float(np.mean(own[:some])))} to "
            f"{percent(float(np.mean(own[-some:])))}."
        )
    for name, findings in audit_points(run).items():
        start, last = findings[0], findings[-1]
        if not _took_part(run, name) and start.iteration == 0 and last.iteration:
            lines.append(
                f"A fresh {_label(name)} that took no part finds gold {percent(start.accuracy)} of the time "
                f"before, and {percent(last.accuracy)} ({percent(last.low)} to {percent(last.high)}) after iteration "
                f"{last.iteration}."
            )
    return lines


def _timing(run: Run) -> str:
    """All that differs from one making of the same run to the next."""
    if not run.timing:
        return section("timing", "Timing", paragraph("Nothing has been timed yet."))
    seconds = [t["seconds"] for t in run.timing]
    values = {
        "all iterations": duration(sum(seconds)),
        "an iteration, median": f"{np.median(seconds):.2f} s",
        "of it fitting, in all": duration(sum(t.get("fit_seconds", 0.0) for t in run.timing)),
        "peak memory": f"{max(t.get('peak_memory_gb', 0.0) for t in run.timing):.2f} GB",
    }
    return section("timing", "Timing", facts(values, kind="tiles"), paragraph("Audits are not counted in."))


# ------------------------------------------------------------------------------------------------------ the curve


def _curve(run: Run) -> str:
    heads, audits = curves(run), audit_points(run)
    if not heads and not audits:
        return section("curve", "Held-out accuracy", paragraph("There is nothing to draw yet."))
    tops = [values.max() for _, values in heads.values()] + [f.high for found in audits.values() for f in found]
    frame = _iteration_frame(run, 1.08 * float(max(tops)), "held-out accuracy", with_start=bool(audits))
    walls = first_iterations(run)
    shapes = [wall(frame, first - 0.5) for first in walls[1:]] + [level(frame, run.chance)]
    legend = []
    for name, (iterations, values) in heads.items():
        shapes.append(line(frame, iterations, values, _colour(run, name), "thin"))
        for part in within_phases(iterations, walls):
            shapes.append(line(frame, iterations[part], smooth(values[part]), _colour(run, name)))
        legend.append(Series(_label(name), _colour(run, name)))
    shapes += [hover(frame, r["iteration"], 1, _spoken(r)) for r in run.log]
    for finding, i, x in audit_places(run):
        shapes.append(_audit_point(frame, finding, x, _colour(run, finding.filter), hollow=i % 2 == 1))
    for i, name in enumerate(audits):
        legend.append(Series(f"{_label(name)}, audit", _colour(run, name), ("dot", "ring")[i % 2]))
    note = (
        "Thin lines: every iteration, on the contexts it held out. Thick lines: means of five. Dotted: chance, "
        f"{percent(run.chance)}. "
        + ("Upright lines: another filter takes over. " if len(walls) > 1 else "")
        + ("Points: audits across folds of all contexts, with their 95 % intervals." if audits else "")
    )
    chart = figure("Held-out accuracy by iteration", _spoken_curve(run), frame, shapes, legend, size="wide")
    return section("curve", "Held-out accuracy", paragraph(note), chart, _accuracy_table(run), _iteration_table(run))


def _iteration_frame(run: Run, top: float, y_name: str, *, with_start: bool = False, shares: bool = True) -> Frame:
    """Iterations from 1 on, or `with_start` from 0 with some room on both sides."""
    last = max(2, run.n_finished)
    first = 0 if with_start else 1
    aside = 0.014 * (1 + len(audit_points(run))) * last if with_start else 0.0
    top = top or 1.0
    at = [(float(v), f"{v:g}") for v in ticks(first, last, 6) if v == int(v)]
    y_ticks = percent_ticks(top) if shares else plain_ticks(0, top)
    return Frame((first - aside, last + aside), (0, top), "iteration", y_name, at, y_ticks)


def _audit_point(frame: Frame, finding: Finding, x: float, colour: int, *, hollow: bool) -> str:
    title = f"{_label(finding.filter)}, audit after iteration {finding.iteration}: {_with_interval(finding)}"
    return whisker(frame, x, finding.low, finding.high, colour) + dot(
        frame, x, finding.accuracy, colour, hollow=hollow, title=title
    )


def _with_interval(finding: Finding) -> str:
    return f"{percent(finding.accuracy)} ({percent(finding.low)} to {percent(finding.high)})"


def _spoken(record: Mapping[str, Any]) -> str:
    accuracies = ", ".join(f"{_label(head)} {percent(value)}" for head, value in record["accuracy"].items())
    return f"iteration {record['iteration']}: {accuracies}"


def _spoken_curve(run: Run) -> str:
    parts = [
        f"{_label(head)} from {percent(values[:5].mean())} to {percent(values[-5:].mean())}"
        for head, (_, values) in curves(run).items()
    ]
    for name, findings in audit_points(run).items():
        parts += [f"audit by {_label(name)} after iteration {f.iteration} {_with_interval(f)}" for f in findings]
    return f"Accuracy over {run.n_finished} iterations, chance {percent(run.chance)}: " + "; ".join(parts) + "."


def _accuracy_table(run: Run) -> str:
    rows = [
        (_label(head), f"{len(values)}", percent(values[:5].mean()), percent(values[-5:].mean()))
        for head, (_, values) in curves(run).items()
    ]
    header = ("filter", "iterations", "the first", "the last")
    return table(header, rows, caption="Means of five iterations") if rows else ""


def _iteration_table(run: Run) -> str:
    if not run.log:
        return ""
    heads = list(curves(run))
    header = ("iteration", *map(_label, heads), "held out", "easy", "replaced", "scored")
    rows = [
        (
            str(r["iteration"]),
            *(percent(r["accuracy"][head]) if head in r["accuracy"] else "" for head in heads),
            f"{r['n_test']:,}",
            f"{r['n_easy']:,}",
            f"{r['n_replaced']:,}",
            percent(r["n_scored"] / max(1, r["n_unassigned"]), 2),
        )
        for r in run.log
    ]
    return folded("Every iteration as a table", table(header, rows))


# ----------------------------------------------------------------------------------------------------- the audits


def _audits(run: Run) -> str:
    audits, left_out = audit_points(run), read_audits(run.path).left_out
    notes = [paragraph(f"{_label(name)} was left out: {reason}") for name, reason in left_out]
    if not audits:
        hint = f"swag-af audit {run.path}" if run.path else "swag_af.audit_pool"
        none = paragraph(f"No audit has been made. To make one: {hint}.")
        return section("audits", "What fresh filters find", none, *notes)
    told = paragraph(
        "Each audit filter is fitted anew and scored across folds of whole videos, so that no context is scored by a "
        "filter that saw its video. The interval allows for contexts of one video being alike."
    )
    header = ("audit filter", "after iteration", "finds gold", "95 % interval", "against chance", "contexts", "videos")
    rows = [
        (
            _label(name) + (" (took part)" if _took_part(run, name) else ""),
            str(f.iteration),
            percent(f.accuracy),
            f"{percent(f.low)} to {percent(f.high)}",
            "above" if f.low > f.chance else "below" if f.high < f.chance else "at chance",
            f"{f.n:,}",
            f"{f.n_videos:,}",
        )
        for name, findings in audits.items()
        for f in findings
    ]
    ranks = "".join(_rank_chart(run, name, findings) for name, findings in audits.items())
    sub = "<h3>Gold's rank among what is assigned</h3>\n"
    flat = paragraph("Where nothing tells gold from its distractors, every rank is equally frequent (dotted).")
    return section(
        "audits",
        "What fresh filters find",
        told,
        table(header, rows),
        *notes,
        sub,
        flat,
        f'<div class="charts">{ranks}</div>',
    )


def _rank_chart(run: Run, name: str, findings: list[Finding]) -> str:
    """Bars of how often gold comes first, second, ...: before the filtering, and as of the latest audit."""
    shown = [f for f in (findings[0], findings[-1]) if f.ranks][: len(findings)]
    shares = [np.array(f.ranks) / f.n for f in shown]  # each (A,)
    n_ranks = len(shares[0])
    top = 1.08 * max(float(s.max()) for s in shares)
    at = [(float(v), f"{v:g}") for v in range(1, n_ranks + 1) if n_ranks <= 12 or v % 5 == 0 or v == 1]
    frame = Frame((0.5, n_ranks + 0.5), (0, top), "rank of gold", "contexts", at, percent_ticks(top))
    shapes, legend, spoken = [], [], []
    for i, (finding, values) in enumerate(zip(shown, shares, strict=True)):
        colour = BEFORE if finding.iteration == 0 else AFTER
        width = 0.8 / len(shown)
        said = "before filtering" if finding.iteration == 0 else f"after iteration {finding.iteration}"
        for rank, share in enumerate(values.tolist(), start=1):
            left = rank - 0.4 + i * width
            shapes.append(bar(frame, left, left + 0.92 * width, share, colour, f"rank {rank} {said}: {percent(share)}"))
        legend.append(Series(said, colour, "bar"))
        spoken.append(f"{said} gold comes first in {percent(values[0])} and last in {percent(values[-1])} of contexts")
    shapes.append(level(frame, 1 / n_ranks))
    return figure(_label(name), f"Gold's rank by {_label(name)}: {'; '.join(spoken)}.", frame, shapes, legend)


# ------------------------------------------------------------------------------------------------------- the work


def _work(run: Run) -> str:
    if not run.log:
        return section("work", "What each iteration did", paragraph("No iteration is finished yet."))
    at = np.array([r["iteration"] for r in run.log])
    n_test = np.array([max(1, r["n_test"]) for r in run.log])
    easy, replaced = (np.array([r[name] for r in run.log]) / n_test for name in ("n_easy", "n_replaced"))
    scored = np.array([r["n_scored"] / max(1, r["n_unassigned"]) for r in run.log])
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
    total = f"{sum(r['n_replaced'] for r in run.log):,} replacements in all; {_n_places_changed(run)}."
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


# ---------------------------------------------------------------------------------------------- the distributions


@dataclass(frozen=True)
class Quantity:
    """Something measured of every assigned candidate: gold's (N,), the distractors' (N, A - 1) before and after."""

    title: str
    gold: np.ndarray
    before: np.ndarray
    after: np.ndarray
    is_count: bool = False


def _distributions(run: Run) -> str:
    quantities = [_lengths(run)]
    try:
        quantities += _features(run)
        note = "" if len(quantities) > 1 else "The pool has no features, so there are no perplexities to compare. "
    except InputError as error:
        note = f"Perplexities are left out: {error} "
    told = paragraph(
        f"{note}Gold against its distractors, before filtering and after iteration {run.n_finished}. The percentages "
        "say how often gold has the lower value than a distractor of its own context, a tie counted half: at "
        "50\N{NO-BREAK SPACE}%, the value alone does not tell them apart."
    )
    charts = "".join(_distribution_chart(quantity) for quantity in quantities)
    return section("distributions", "Gold against distractors", told, f'<div class="charts">{charts}</div>')


def _lengths(run: Run) -> Quantity:
    before, after = (_gathered(run.pool, "lengths", a).astype(float) for a in (run.start, run.assignment()))  # (N, A)
    return Quantity("Length, tokens", before[:, 0], before[:, 1:], after[:, 1:], is_count=True)


def _features(run: Run) -> list[Quantity]:
    """Every feature that differs within a row; those of context and start alone do not, and lengths are shown already.

    Raises InputError where features were left for later and cannot be computed here.
    """
    if "features" not in run.pool.tables:
        return []
    before, after = (
        _gathered(run.pool, "features", a).astype(float) for a in (run.start, run.assignment())
    )  # (N, A, F)
    ours = "lms" in run.pool.manifest.get("plan", {}) and before.shape[2] == len(FEATURES)
    names = FEATURES if ours else tuple(f"Feature {i}" for i in range(1, before.shape[2] + 1))
    found = []
    for i, name in enumerate(names):
        here, there = before[:, :, i], after[:, :, i]
        differs = (here != here[:, :1]).any() or (there != there[:, :1]).any()
        if differs and name != "ending_length":
            found.append(Quantity(FEATURE_TITLES.get(name, name), here[:, 0], here[:, 1:], there[:, 1:]))
    return found[:MOST_FEATURES]


def _gathered(pool: CandidatePool, table: str, assignment: np.ndarray) -> np.ndarray:
    """`table` at `assignment` (N, A), read some rows at a time."""
    starts = range(0, len(assignment), ROWS_AT_ONCE)
    rows = [np.arange(at, min(at + ROWS_AT_ONCE, len(assignment))) for at in starts]
    return np.concatenate([pool.gather(table, some, assignment[some]) for some in rows])


def _distribution_chart(quantity: Quantity) -> str:
    groups = (quantity.gold.ravel(), quantity.before.ravel(), quantity.after.ravel())
    edges = _edges(np.concatenate(groups), is_count=quantity.is_count)
    shares = [np.histogram(np.clip(g, edges[0], edges[-1]), edges)[0] / max(1, g.size) for g in groups]
    top = 1.08 * max(float(s.max()) for s in shares)
    low, high = float(edges[0]), float(edges[-1])
    inside = (low + 0.5, high - 0.5) if quantity.is_count else (low, high)
    frame = Frame((low, high), (0, top), "", "share of endings", plain_ticks(*inside), percent_ticks(top, 4))
    shapes = [
        steps(frame, edges, shares[0], GOLD, "area"),
        steps(frame, edges, shares[1], BEFORE, "dash"),
        steps(frame, edges, shares[2], AFTER),
    ]
    below, after = _gold_lower(quantity.gold, quantity.before), _gold_lower(quantity.gold, quantity.after)
    means = ", ".join(f"{n} {g.mean():.2f}" for n, g in zip(("gold", "before", "after"), groups, strict=True))
    spoken = f"{quantity.title}; means: {means}. Gold is lower {percent(below)} before, {percent(after)} after."
    note = f"gold lower: {percent(below, 0)} before, {percent(after, 0)} after"
    legend = [Series("gold", GOLD, "area"), Series("before", BEFORE, "dash"), Series("after", AFTER)]
    return figure(quantity.title, spoken, frame, shapes, legend, note=note)


def _edges(values: np.ndarray, *, is_count: bool) -> np.ndarray:
    """Bin edges from the 0.5th to the 99.5th percentile; what lies outside is counted in the last bins."""
    low, high = np.quantile(values, [0.005, 0.995]).tolist()
    if is_count and high - low < 60:
        return np.arange(low, high + 2) - 0.5
    return np.linspace(low, high if high > low else low + 1, N_BINS + 1)


def _gold_lower(gold: np.ndarray, others: np.ndarray) -> float:
    gold = gold[:, None]
    return float((gold < others).mean() + 0.5 * (gold == others).mean())


# -------------------------------------------------------------------------------------------------- the questions


def _questions(run: Run, n: int) -> str:
    seed = int(_manifest(run).get("options", {}).get("seed", 0))
    rows = np.random.default_rng((seed, *b"report")).permutation(len(run.pool))[:n]
    after = run.assignment()
    shown = "".join(_question(run, int(row), run.start[row], after[row]) for row in rows)
    told = paragraph(
        f"{len(rows)} contexts drawn at random, as first assigned and after iteration {run.n_finished}. ★ gold; "
        "− left, and + came in its place; = stayed. On a wide page the one that left stands beside its successor."
    )
    return section("questions", "Questions before and after", told, shown)


def _question(run: Run, row: int, before: np.ndarray, after: np.ndarray) -> str:
    def item(kind: str, said: str, column: int, tag: str = "li") -> str:
        text = escape(run.pool.text(row, column))
        return f'<{tag} class="{kind}"><span class="unseen">{said}: </span><bdi>{text}</bdi></{tag}>\n'

    context = run.pool.contexts[row]
    items = [item("gold", "gold", int(before[0]))]
    places = sorted(range(1, len(before)), key=lambda place: before[place] == after[place])  # those that changed first
    for place in places:
        old, new = int(before[place]), int(after[place])
        if old == new:
            items.append(item("stays", "stayed", old))
        else:
            pair = item("left", "left", old, "div") + item("came", "came", new, "div")
            items.append(f'<li class="swap">{pair}</li>\n')
    phrase = " ".join(display(context))
    return (
        f'<article class="question">\n<h3><bdi>{escape(phrase)}</bdi></h3>\n<ol>\n{"".join(items)}</ol>\n</article>\n'
    )


# ------------------------------------------------------------------------------------------------ how it was made


def _making(run: Run) -> str:
    manifest = _manifest(run)
    made_by = manifest.get("made_by") or {}
    if made_by.get("verb") == "filter":
        how = f"<pre><code>{escape(command_of(FilterVerb, 'filter', made_by['options']))}</code></pre>\n"
    else:
        how = paragraph("Made in Python by swag_af.filter_pool with these options.")
    phases = ", ".join(f"{name} from iteration {first}" for name, first in manifest.get("phases", []))
    options = {"phases": phases or "-", **manifest.get("options", {})}
    filters = {
        name: ", ".join(f"{key} {value}" for key, value in settings.items()) or "-"
        for name, settings in manifest.get("filters", {}).items()
    }
    return section(
        "making",
        "How it was made",
        how,
        "<h3>Options</h3>\n",
        facts({name.replace("_", " "): value for name, value in options.items()}),
        "<h3>Hashes (SHA-256)</h3>\n",
        facts(_hashes(run)),
        "<h3>Versions that wrote this page</h3>\n",
        facts(_versions()),
        folded("Settings of the filters", facts(filters)) if filters else "",
    )


def command_of(dataclass: type, verb: str, options: Mapping[str, Any]) -> str:
    """The command line that says `options`, as `asdict` gives them; what has its default value is not said."""
    words = ["swag-af", verb]
    for name, value, default in _flat(dataclass, options):
        flag = f"--{name.replace('_', '-')}"
        if default is MISSING:
            words.append(shlex.quote(str(value)))
        elif isinstance(value, bool) and value != default:
            words.append(flag if value else flag.replace("--", "--no-", 1))
        elif value is not None and str(value) != str(default):
            words += [flag, shlex.quote(str(value))]
    return " ".join(words)


def _flat(dataclass: type, options: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Name, value and default of every option, those of nested dataclasses among them."""
    found: list[tuple[str, Any, Any]] = []
    for field in fields(dataclass):
        if field.name not in options:
            continue
        value, kind = options[field.name], field.type
        if isinstance(kind, type) and is_dataclass(kind):
            found += _flat(kind, value)
        else:
            found.append((field.name, value, field.default))
    return found


def _hashes(run: Run) -> dict[str, object]:
    pool = run.pool
    hashes: dict[str, object] = {"pool": pool.identity, "vocabulary": pool.vocabulary.sha256}
    for fold, sha256 in sorted(pool.manifest.get("plan", {}).get("lms", {}).items()):
        hashes[f"language models of fold {fold}"] = sha256
    hashes["first assignment"] = _sha256(run.start)
    hashes[f"assignment after iteration {run.n_finished}"] = _sha256(run.assignment())
    return hashes


def _sha256(assignment: np.ndarray) -> str:
    """Of the values as little-endian int32, row by row."""
    return hashlib.sha256(np.ascontiguousarray(assignment, dtype="<i4").tobytes()).hexdigest()


def _versions() -> dict[str, object]:
    found: dict[str, object] = {"Python": platform.python_version()}
    for package in ("swag-af", "numpy", "torch", "scikit-learn", "fasttext"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
