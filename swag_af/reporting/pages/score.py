"""The page of `swag-af score --out`: one file with all figures, in the style of an audit's page. Computes nothing."""

from collections.abc import Iterable, Sequence
from typing import Any

from swag_af.reporting.charts import percent_ticks
from swag_af.reporting.page import page, render
from swag_af.scoring.figures import Figure
from swag_af.scoring.outcome import Score, Scores
from swag_af.scoring.told import (
    MCNEMAR,
    WORST,
    Rows,
    between,
    chance_sentence,
    comparison_rows,
    figure_rows,
    further,
    gap_rows,
    gap_sentence,
    group_rows,
    headline,
    p_rows,
    people_rows,
    people_sentences,
    percent,
    spread_sentence,
    untested,
)


def score_page(scores: Scores, *, command: str = "") -> str:
    """The whole HTML file; `command` is what made the scores."""
    compared, tests = comparison_rows(scores.comparisons), p_rows(scores.comparisons)
    sections = {
        "figures": _figures(scores.models),
        "comparison": _section(
            "comparison", "Models compared", [compared, tests], [*untested(scores.comparisons), MCNEMAR]
        ),
        "blind": _section("blind", "Where less is seen", [gap_rows(scores.gaps)], map(gap_sentence, scores.gaps)),
        "groups": _groups(scores.models),
        "people": _people(scores),
        "making": _making(scores, command),
    }
    shown = {name: html for name, html in sections.items() if html}
    return page(f"Scores on {scores.name}", _header(scores), shown, skeleton="score", sheet="audit")


def _header(scores: Scores) -> dict[str, object]:
    tiles = {"instances": f"{scores.n:,}", "groups": f"{scores.n_groups:,}", "models": f"{len(scores.models):,}"}
    for one in scores.models[0].figures if len(scores.models) == 1 else ():
        if one.value is not None and one.kind == "share":
            tiles[one.name] = f"{percent(one.value)} %"
    return {"verdict": headline(scores), "told": further(scores), "tiles": tiles}


def _section(name: str, title: str, tables: Sequence[Rows], told: Iterable[str]) -> str:
    """Tables that have more than a header, and sentences below them; empty where there is no such table."""
    filled = [rows for rows in tables if len(rows) > 1]
    if not filled:
        return ""
    return render("score_section", name=name, title=title, tables=filled, told=[one for one in told if one])


def _figures(models: Sequence[Score]) -> str:
    if not models:
        return ""
    strips = [_strip(model, one) for model in models for one in (*model.figures, *model.parts) if one.kind == "share"]
    ticks = [(100 * value, label) for value, label in percent_ticks(1.0)]
    chance = chance_sentence(models[0].figures)
    is_double = any(one.chance_by_shares is not None for one in models[0].figures)
    rows = figure_rows(models)
    told = {"chance": chance, "is_double": is_double, "n_models": len(models)}
    return render("score_figures", strips=strips, ticks=ticks, rows=rows, **told)


def _strip(model: Score, one: Figure) -> dict[str, Any]:
    """A figure as a point with its interval on an axis from 0 to 100 %."""
    low, high = one.low or 0.0, 1.0 if one.high is None else one.high
    return {
        "name": one.part or one.name,
        "model": model.model,
        "tone": _tone(one),
        "at": None if one.value is None else round(100 * one.value, 2),
        "low": round(100 * low, 2),
        "width": round(100 * (high - low), 2),
        "chances": [round(100 * chance, 2) for chance in _chances(one)],
        "value": percent(one.value),
        "between": between(one),
        "expected": _expected(one),
    }


def _chances(one: Figure) -> list[float]:
    """What guesses get: the usual ones first, then of classes those drawn by their shares."""
    return [chance for chance in (one.chance, one.chance_by_shares) if chance is not None]


def _expected(one: Figure) -> str:
    """What guesses get, as the table says it: `50.86`; of classes two, `50.86 / 50.01`, or `- / 50.00`."""
    if one.chance_by_shares is None:
        return "" if one.chance is None else percent(one.chance)
    return f"{'-' if one.chance is None else percent(one.chance)} / {percent(one.chance_by_shares)}"


def _tone(one: Figure) -> str:
    """Good where the whole interval is above all kinds of guesses, below where it is below all; else clear."""
    chances = _chances(one)
    if one.low is None or one.high is None or not chances:
        return "clear"
    return "good" if one.low > max(chances) else "below" if one.high < min(chances) else "clear"


def _groups(models: Sequence[Score]) -> str:
    spreads = [spread_sentence(model) for model in models]
    return _section("groups", "By group", [group_rows(model) for model in models], [*spreads, WORST])


def _people(scores: Scores) -> str:
    if scores.people is None:
        return ""
    workers: Rows = [("worker", "right", "answers that count")]
    workers += [(one.worker, percent(one.accuracy), f"{one.n:,}") for one in scores.people.workers]
    chance = "" if scores.models else chance_sentence(scores.people.figures)
    html = _section("people", "People", [people_rows(scores.people)], [chance, *people_sentences(scores.people)])
    return html and html + render("score_workers", rows=workers)


def _making(scores: Scores, command: str) -> str:
    record = {name.replace("_", " "): value for name, value in (scores.record or {}).items() if value != ""}
    notes = [*scores.notes, *(model.said for model in scores.models), f"Intervals are over {scores.groups}."]
    return render("score_making", command=command, notes=notes, files=scores.files, record=record)
