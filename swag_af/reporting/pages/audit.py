"""The page of an audit of a dataset: `audit.html`, one file to be looked at, mailed and kept.

The verdict comes first, for whoever has never heard of partial inputs; below it every check with its interval, the
worst words and questions, tiers, faults, and what each code means. Reads what is kept of an audit
(`swag_af.auditing.storing`), so that a page can be made again from the folder. Computes no figure but means by tier.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.auditing.codes.code import codes
from swag_af.auditing.comparison import Comparison, comparison_lines, comparison_rows, weighed_after
from swag_af.auditing.diagnostics import Diagnostic, Example, as_found
from swag_af.auditing.outcome import Association, Audit
from swag_af.auditing.storing import ProbeRecord, SavedAudit, saved_form
from swag_af.auditing.tiers import TIERS
from swag_af.auditing.verdict import (
    BELOW_CAUSES,
    CONSISTENCY,
    DONE,
    EQUALLY,
    NOT_ASKED,
    PARTIAL,
    SIGNIFICANT,
    between,
    family_of,
    figure,
    further,
    gained,
    ordered,
    plain_words,
    strength,
    title_of,
    verdict,
)
from swag_af.data.errors import several
from swag_af.reporting.charts import percent, percent_ticks
from swag_af.reporting.page import page, render

N_WORDS = 12
"""Words shown of each label."""
N_FINDINGS = 6
"""Findings whose examples are shown."""
MEANS = {
    "easy": "the probes settle them: to all of them together, gold is clearly the likeliest answer.",
    "middling": "the probes help, and do not settle them.",
    "hard": "the probes are no help: gold is hardly likelier than by guessing, or less so. Another shortcut may be.",
}
"""What the tiers mean, for people."""


def audit_page(audit: Audit | SavedAudit, comparison: Comparison | None = None, *, command: str = "") -> str:
    """The whole HTML file; with a `comparison`, what a repair did comes first, and the figures that it weighs by class
    stand beside accuracies. `command` is what made the audit."""
    saved = saved_form(audit)
    saved = replace(saved, diagnostics=tuple(map(as_found, saved.diagnostics)))
    weighed = weighed_after(comparison, saved.diagnostics) if comparison else []
    both = replace(saved, diagnostics=(*saved.diagnostics, *weighed))
    sections = {
        "repair": _repair(comparison),
        "shortcuts": _probes(both),
        "features": _features(both),
        "words": _words(saved),
        "writing": _writing(both),
        "examples": _examples(saved),
        "tiers": _tiers(saved),
        "integrity": _integrity(saved),
        "hints": _hints(saved),
        "codes": _codes(saved),
        "making": _making(saved, command),
    }
    shown = {name: html for name, html in sections.items() if html}
    return page(f"Audit of {_named(saved)}", _header(saved), shown, skeleton="audit")


def _named(saved: SavedAudit) -> str:
    """The name of the data: `train, val` of two files that were read, `train and 2 others` of more."""
    about = saved.about
    read = [Path(file) for file in about.files if any(note.startswith(f"{file}: ") for note in about.notes)]
    if len(read) < 2 or read[0].stem != about.name:
        return about.name
    first, *others = (str(file.with_suffix("")) for file in read)
    return f"{first}, {others[0]}" if len(others) == 1 else f"{first} and {several(len(others), 'other')}"


def _header(saved: SavedAudit) -> dict[str, object]:
    most, how = gained(saved)
    return {
        "verdict": verdict(saved),
        "tone": tone(most) if most else "clear",
        "gauge": _gauge(most, how) if most else None,
        "told": further(saved),
        "tiles": _tiles(saved),
    }


def _tiles(saved: SavedAudit) -> dict[str, str]:
    about, (most, _) = saved.about, gained(saved)
    numbers = [int(n) for n in about.n_answers]
    answers = f"{min(numbers)}" if len(numbers) == 1 else f"{min(numbers)} to {max(numbers)}"
    tiles = {DONE[about.of][0]: f"{about.n:,}", "options each" if about.of == "choices" else "classes": answers}
    tiles["groups kept together"] = f"{about.n_groups:,}"
    if most and most.effect is not None:
        tiles["gained of what guessing leaves"] = percent(most.effect, 0)
    n_made = sum(n for status, n in about.counts.items() if status != "idle")
    return tiles | {"checks that found something": f"{about.counts['found']:,} of {n_made:,}"}


def _gauge(best: Diagnostic, how: str) -> dict[str, object] | None:
    """The bar below the verdict: what guessing gets, what is gained by the best probe or feature, what is left; `how`
    it is gained."""
    if best.chance is None or best.low is None or best.high is None:
        return None
    chance, value = 100 * best.chance, 100 * best.value
    said = [("guess", f"guessing {percent(best.chance)}")]
    said.append(("gain", f"{'lost' if value < chance else 'gained'} {how} {percent(abs(best.value - best.chance))}"))
    said.append(("rest", f"left for the task {percent(1 - max(best.value, best.chance))}"))
    return {
        "tone": tone(best),
        "chance": f"{chance:.1f}",
        "from": f"{min(chance, value):.1f}",
        "gain": f"{abs(value - chance):.1f}",
        "low": f"{100 * best.low:.1f}",
        "width": f"{100 * (best.high - best.low):.1f}",
        "legend": said,
        "label": ", ".join(text for _, text in said),
    }


def tone(one: Diagnostic) -> str:
    """The class of a diagnostic's colour: above, below, hint, clear."""
    if one.status != "found":
        return one.status
    return "below" if one.chance is not None and one.value < one.chance else "above"


def _repair(comparison: Comparison | None) -> str:
    if comparison is None:
        return ""
    rows, others = comparison_rows(comparison), comparison_rows(comparison, told=False)
    return render(
        "audit_comparison",
        told=comparison_lines(comparison),
        rows=rows if len(rows) > 1 else [],
        others=others if len(others) > 1 else [],
        n_draws=comparison.n_draws,
        n_compared=f"{len(comparison.changes):,}",
    )


def _probes(saved: SavedAudit) -> str:
    ours = [one for one in saved.diagnostics if family_of(one) == "partial"]
    made = by_value(one for one in ours if one.code in PARTIAL)
    whole = by_value(one for one in ours if one.code == CONSISTENCY)
    others = [one for one in ours if one.code not in (*PARTIAL, CONSISTENCY)]
    references = by_value(others)
    marks, reference_marks, set_marks = axis(made), axis(references), axis(whole)
    return render(
        "audit_probes",
        rows=estimates(made, marks),
        ticks=marks.ticks,
        causes=BELOW_CAUSES if any(tone(one) == "below" for one in made) else "",
        sets=estimates(whole, set_marks),
        set_ticks=set_marks.ticks,
        references=estimates(references, reference_marks),
        reference_ticks=reference_marks.ticks,
        differences=check_rows(one for one in others if one not in references),
        groups=saved.about.groups[:1].upper() + saved.about.groups[1:],
    )


def _features(saved: SavedAudit) -> str:
    ours = [one for one in saved.diagnostics if family_of(one) == "single"]
    if not ours:
        return ""
    telling, clear = (by_value(one for one in ours if (one.status == "clear") is so) for so in (False, True))
    marks, other_marks = axis(telling), axis(clear)
    return render(
        "audit_features",
        rows=estimates(telling, marks),
        ticks=marks.ticks,
        others=estimates(clear, other_marks),
        other_ticks=other_marks.ticks,
        differences=check_rows(one for one in ours if one not in telling and one not in clear),
    )


@dataclass(frozen=True)
class Axis:
    """A common axis of shares, from 0."""

    end: float

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """The place of each tick, and its label."""
        return [(self.at(value), label) for value, label in percent_ticks(self.end)]

    def at(self, value: float) -> float:
        """The place of a value, in percent of the width; what lies beyond the axis is at its end."""
        return round(100 * min(max(value / self.end, 0.0), 1.0), 2)


def axis(diagnostics: Sequence[Diagnostic]) -> Axis:
    """The axis on which all of these have room."""
    furthest = max((max(one.high or one.value, one.chance or 0.0) for one in diagnostics), default=1.0)
    return Axis(min(1.0, max(0.1, np.ceil(furthest * 10.5) / 10)))


def estimates(diagnostics: Iterable[Diagnostic], on: Axis) -> list[dict[str, Any]]:
    """Rows of the table of intervals; places are in percent of the width of the axis."""
    return [_estimate(one, on) for one in diagnostics]


def _estimate(one: Diagnostic, on: Axis) -> dict[str, Any]:
    low, high = one.value if one.low is None else one.low, one.value if one.high is None else one.high
    return {
        "code": one.code,
        "subject": _subject(one),
        "tone": tone(one),
        "said": one.said,
        "at": on.at(one.value),
        "low": on.at(low),
        "width": round(on.at(high) - on.at(low), 2),
        "chance": None if one.chance is None else on.at(one.chance),
        "value": figure(one.value, one.unit),
        "between": between(one),
        "expected": figure(one.chance, one.unit),
    }


def _subject(one: Diagnostic) -> str:
    """What was looked at, and how classes are weighed in its figures."""
    return f"{one.subject}{EQUALLY if one.tells_balanced else ''}"


def by_value(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The accuracies, highest first; other values have no place on their axis and are left out."""
    placed = [one for one in diagnostics if one.unit == "accuracy"]
    return sorted(placed, key=lambda one: (-one.value, one.code, one.subject))


def _words(saved: SavedAudit) -> str:
    ours = [one for one in saved.diagnostics if family_of(one) == "words"]
    if not ours and not saved.associations:
        return ""
    telling = [one for one in saved.associations if one.q < SIGNIFICANT]
    tables = _word_tables(telling)
    n_more = len(telling) - sum(len(rows) for _, rows in tables)
    n_is = "questions in which some options contain the word and others do not"
    n_is = n_is if saved.about.of == "choices" else "texts that contain the word"
    return render("audit_words", tables=tables, n_is=n_is, n_more=n_more, rows=check_rows(ours))


def _word_tables(telling: Sequence[Association]) -> list[tuple[str, list[tuple[str, ...]]]]:
    """For each label the words that go with it most, and where there is one label only those that go against it."""
    labels = sorted({one.label for one in telling})
    tables = [(f"with {label}", [one for one in telling if one.label == label and one.z > 0]) for label in labels]
    if len(labels) == 1:
        tables.append((f"against {labels[0]}", [one for one in telling if one.z < 0]))
    return [(title, [_word_row(one) for one in plain_words(words)[:N_WORDS]]) for title, words in tables if words]


def _word_row(one: Association) -> tuple[str, ...]:
    return one.shown, percent(one.share, 0), percent(one.chance, 0), f"{one.n:,}", f"{one.z:+z.1f}"


def check_rows(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Rows of the table of checks."""
    return [
        {
            "code": one.code,
            "title": title_of(one.code),
            "subject": _subject(one),
            "tone": tone(one),
            "value": figure(one.value if one.n else None, one.unit),  # of nothing there is none
            "said": one.said,
            "examples": [shown(example) for example in one.examples],
        }
        for one in ordered(list(diagnostics))
    ]


def shown(example: Example) -> dict[str, Any]:
    """An example as context and options: lines that begin with `* ` or `- ` are options, of which `* ` is gold."""
    context: list[str] = []
    options: list[tuple[str, bool]] = []
    for line in example.text.split("\n"):
        if line[:2] in ("* ", "- "):
            options.append((line[2:], line[0] == "*"))
        elif options:
            options[-1] = (f"{options[-1][0]}\n{line}", options[-1][1])
        else:
            context.append(line)
    return {"context": context, "options": options, "said": example.said, "where": example.where, "id": example.id}


def _writing(saved: SavedAudit) -> str:
    about = (
        "Flaws that textbooks of test writing warn of. Each is measured here: how often what the rule picks is right, "
        "among the questions where it applies. A rule that picks no better than chance is no finding."
    )
    return _family(saved, "writing", "Item writing", about, "No rule of item writing tells gold from the rest.")


def _integrity(saved: SavedAudit) -> str:
    about = "Duplicates, leaks across splits, odd labels, damaged text. Each example names its place in the file."
    return _family(saved, "integrity", "Integrity", about, "Nothing was found.")


def _family(saved: SavedAudit, family: str, title: str, about: str, nothing: str) -> str:
    """A section with a table of the checks of a family; empty where none was made."""
    ours = [one for one in saved.diagnostics if family_of(one) == family]
    if not ours:
        return ""
    rows, others = (check_rows(one for one in ours if (one.status == "clear") is so) for so in (False, True))
    return render("audit_checks", name=family, title=title, about=about, rows=rows, others=others, nothing=nothing)


def _hints(saved: SavedAudit) -> str:
    """Hints of families that have no table of checks."""
    hints = [one for one in saved.diagnostics if one.status == "hint" and family_of(one) in ("partial", "single")]
    if not hints:
        return ""
    about = (
        "What need not be a fault: too little is sure, or what is found may rightly help, as words in random order do."
    )
    return render(
        "audit_checks", name="hints", title="Hints", about=about, rows=check_rows(hints), others=[], nothing=""
    )


def _examples(saved: SavedAudit) -> str:
    """The examples of the strongest findings that concern answers, one for each code."""
    strongest: dict[str, Diagnostic] = {}
    findings = [one for one in saved.diagnostics if one.status == "found" and one.examples]
    for one in sorted(findings, key=lambda one: (-strength(one), one.code, one.subject)):
        if one.code in PARTIAL or family_of(one) == "single":
            strongest.setdefault(one.code, one)
    chosen = list(strongest.values())[:N_FINDINGS]
    return render("audit_examples", findings=check_rows(chosen)) if chosen else ""


_ROOM = 0.1
"""The share of a bar in which its name can be read."""


def _tiers(saved: SavedAudit) -> str:
    about = saved.about
    if not about.tiers:
        return ""
    shares = {name: about.tiers[name] / about.n for name in TIERS}
    tiers = [
        {"name": name, "n": about.tiers[name], "share": percent(share, 0), "means": MEANS[name]}
        | {"has_room": share >= _ROOM}
        for name, share in shares.items()
    ]
    label = ", ".join(f"{tier['name']} {tier['share']}" for tier in tiers)
    probes = [probe for probe in about.probes if probe.n == about.n]
    header = ["probe", *TIERS, "all"]
    return render("audit_tiers", tiers=tiers, label=label, header=header, rows=_by_tier(saved, probes))


def _by_tier(saved: SavedAudit, probes: Sequence[ProbeRecord]) -> list[tuple[str, ...]]:
    """How often gold comes first by each probe, in each tier and in all; a star marks those that weigh in the tiers."""
    tiers = np.array([question.tier for question in saved.questions])
    masks = [tiers == name for name in TIERS] + [np.ones(len(tiers), bool)]
    rows = []
    for probe in probes:
        hits = np.array([question.hits[probe.name] for question in saved.questions])
        means = [percent(float(hits[mask].mean())) if mask.any() else "–" for mask in masks]
        rows.append((f"{probe.name}{' *' if saved.about.weights.get(probe.name) else ''}", *means))
    return rows


def _codes(saved: SavedAudit) -> str:
    used = {one.code for one in saved.diagnostics}
    return render("audit_codes", codes=[code for name, code in codes().items() if name in used])


def _making(saved: SavedAudit, command: str) -> str:
    about = saved.about
    return render(
        "audit_making",
        command=command,
        not_asked=NOT_ASKED,
        notes=about.notes,
        files=about.files or {"no file": "made in memory"},
        record=record_lines(about.record),
        probes={probe.name: _made(probe, about.weights) for probe in about.probes},
    )


def _made(probe: ProbeRecord, weights: Mapping[str, float]) -> str:
    how = f"fitted on {probe.fitted_on}, scored on {probe.scored_on}" if probe.folds == "split" else ""
    how = how or f"{probe.n_folds} folds of {'whole groups' if probe.folds == 'group' else 'single instances'}"
    weight = f", weight {weights[probe.name]:g} in the tiers" if probe.name in weights else ""
    return f"{how}, seed {probe.seed}, {probe.n:,} scored{weight}"


def record_lines(record: Mapping[str, Any]) -> list[str]:
    """What decided the figures, a sentence each; what this release does not know by its names and values."""
    others = dict(record)
    checks, release, left_out = (others.pop(name, None) for name in ("checks", "swag_af", "left_out"))
    lines = [f"Made with swag-af {release}."] if release else []
    if checks:
        inputs = checks.get("inputs")
        reads = f"They read {_and(inputs)}." if inputs else "tfidf reads all that applies, others the main input."
        seeds = f"seed{'s' if len(checks['seeds']) > 1 else ''} {_and([str(seed) for seed in checks['seeds']])}"
        lines += [
            f"Models of the probes: {_and(checks['models'])}. {reads}",
            f"Cross-validation in {checks['n_folds']} folds, with {seeds}.",
        ]
    if left_out is not None:
        lines += [f"Left out: {one}" for one in left_out] or ["No probe had to be left out."]
    return [*lines, *(f"{name}: {value}" for name, value in _flat(others).items())]


def _and(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _flat(record: Mapping[str, Any], above: str = "") -> dict[str, object]:
    """Nested values by the path of their names."""
    found: dict[str, object] = {}
    for name, value in record.items():
        named = f"{above} {name}".strip().replace("_", " ")
        found |= _flat(value, named) if isinstance(value, Mapping) else {named: value}
    return found
