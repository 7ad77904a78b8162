"""Audits as rows and sentences: against chance, before against after, and over seeds.

The terminal, the report and the dataset card all use these, so that they agree. With `words`, as in the report and in
the running text of the card, filters have their full names and shares are percentages. Fits nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swag_af.data.errors import several
from swag_af.data.numbers.interval import Difference, paired_difference
from swag_af.data.pool.sharing import repeated_line
from swag_af.data.runs.findings import GONE_BELOW, Finding, over_seeds, read_unseen
from swag_af.data.runs.run import Run
from swag_af.filters.registry import is_pretrained, label_of

Rows = list[tuple[str, ...]]

UNDECIDED = "not significant"
BELOW_MEANS = (
    "Below chance is a finding, and no better than above it: gold can be found by avoiding what the filter prefers. "
    "Usual causes: negatives that are the gold of other rows, other texts shared between rows, or over-filtering with "
    "a filter of the same kind."
)


@dataclass(frozen=True)
class Comparison:
    """One filter's audits before the filtering and after it, by the seeds that both have."""

    filter: str
    iteration: int
    """The later audit is of the assignment after this iteration."""
    before: float
    after: float
    difference: Difference | None
    """Paired by context, over hits averaged over the seeds; None if an older file has no hits."""
    n_groups: int
    by_seed: tuple[float, ...]
    """The difference of accuracies with each seed."""
    is_same: bool = False
    """Whether no ending was swapped until then, so that both audits are of the same questions."""


def against_chance(finding: Finding) -> str:
    """`above` or `below` if the interval excludes chance, else `UNDECIDED`."""
    return "above" if finding.low > finding.chance else "below" if finding.high < finding.chance else UNDECIDED


def took_part(run: Run, name: str) -> bool:
    """Whether a filter of this name, or of one with other settings in brackets, decided or was logged in the
    filtering."""
    used = {one.partition("[")[0] for record in run.log for one in (record.filter, *record.accuracy)}
    return name.partition("[")[0] in used


def audit_rows(
    run: Run, findings: Sequence[Finding], *, words: bool = False, units: Sequence[str] = ("contexts", "groups")
) -> Rows:
    """A header, then each finding, averaged over its seeds; a filter that took part in the filtering is marked.

    `units` are the names of what was scored and of what was kept together; without any these have no columns.
    """
    averaged = over_seeds(findings)
    of_run, several = any(f.iteration is not None for f, _ in averaged), any(n > 1 for _, n in averaged)
    iteration = "after iteration" if units else "iteration"
    header = ("audit filter", iteration, "finds gold" if words else "accuracy", "95 % interval")
    rows: Rows = [(*header, "against chance", *units, "seeds")]
    for f, n_seeds in averaged:
        after = "-" if f.iteration is None else str(f.iteration)
        between = f"{share(f.low, words)} to {share(f.high, words)}"
        sizes = (f"{f.n:,}", f"{f.n_groups:,}")[: len(units)]
        values = (after, share(f.accuracy, words), between, against_chance(f), *sizes, f"{n_seeds}")
        rows.append((marked(run, f.filter, words), *values))
    left_out = {header[1]: not of_run or run.matching is not None, "seeds": not several}
    shown = [i for i, title in enumerate(rows[0]) if not left_out.get(title)]
    return [tuple(row[i] for i in shown) for row in rows]


def sizes_said(findings: Sequence[Finding], unit: str = "context") -> str:
    """`600 contexts in 450 groups`: what was scored, and what was kept together."""
    sizes = dict.fromkeys((f.n, f.n_groups) for f in findings)
    return " or ".join(f"{several(n, unit)} in {several(n_groups, 'group')}" for n, n_groups in sizes)


def comparisons(run: Run, findings: Sequence[Finding]) -> list[Comparison]:
    """Before against after, for every filter that was audited before the first iteration and after a later one.

    Of several later ones, the last.
    """
    alike: dict[tuple[Any, ...], dict[int, dict[int, Finding]]] = {}
    for f in findings:
        if f.iteration is not None:
            kind = (f.filter, f.n_folds, f.n_groups, f.settings)
            alike.setdefault(kind, {}).setdefault(f.iteration, {})[f.seed] = f
    found = []
    for kind in sorted(alike):
        before, after = alike[kind].get(0, {}), alike[kind][max(alike[kind])]
        seeds = sorted(before.keys() & after.keys())
        if max(alike[kind]) and seeds:
            found.append(_comparison(run, [before[seed] for seed in seeds], [after[seed] for seed in seeds]))
    return found


def _comparison(run: Run, before: Sequence[Finding], after: Sequence[Finding]) -> Comparison:
    """`before` and `after` are findings by the same seeds in the same order."""
    assert after[0].iteration is not None
    difference = None
    if all(len(f.hits) == len(run.pool) for f in (*before, *after)):
        hits = [np.mean([f.hits for f in found], axis=0) for found in (before, after)]  # each (N,)
        difference = paired_difference(hits[0], hits[1], run.pool.groups)
    return Comparison(
        filter=after[0].filter,
        iteration=after[0].iteration,
        before=float(np.mean([f.accuracy for f in before])),
        after=float(np.mean([f.accuracy for f in after])),
        difference=difference,
        n_groups=after[0].n_groups,
        by_seed=tuple(two.accuracy - one.accuracy for one, two in zip(before, after, strict=True)),
        is_same=not any(record.n_replaced for record in run.log[: after[0].iteration]),
    )


def comparison_sentence(comparison: Comparison, *, words: bool = False) -> str:
    """`0.254 before, 0.208 after 36 iterations: difference -0.046 (...)`, and whether that is a significant change."""
    c = comparison
    both = f"{share(c.before, words)} before, {share(c.after, words)} {_when(c.iteration)}"
    if c.is_same:
        return f"{both}; no ending was swapped, so these are the same questions."
    if c.difference is None:
        return f"{both}; not paired, since an older release kept no hits of single contexts."
    unit, sure = (" points", "95\N{NO-BREAK SPACE}%") if words else ("", "95 %")
    low, high = _change(c.difference.low, words), _change(c.difference.high, words)
    seeds = ""
    if len(c.by_seed) > 1:
        lowest, highest = _change(min(c.by_seed), words), _change(max(c.by_seed), words)
        seeds = f"; {len(c.by_seed)} seeds: {lowest} to {highest}"
    return (
        f"{both}: difference {_change(c.difference.mean, words)}{unit} ({sure} interval {low} to {high}, paired by "
        f"context, {several(c.n_groups, 'group')}{seeds})"
        + ("." if c.difference.is_significant else "; no significant change.")
    )


def comparison_lines(run: Run, findings: Sequence[Finding], *, words: bool = False) -> list[str]:
    """One sentence for each filter that was audited before and after."""
    return [
        f"{marked(run, c.filter, words)}: {comparison_sentence(c, words=words)}" for c in comparisons(run, findings)
    ]


def below_lines(run: Run, findings: Sequence[Finding], *, words: bool = False) -> list[str]:
    """One sentence for each filter whose interval is below chance, then what that means; empty if there is none."""
    below = _below(findings)
    lines = []
    for name, found in below.items():
        shown = [found[0], found[-1]] if len(found) > 1 else found
        figures = ", ".join(f"{with_interval(f, words)} {_when_of(run, f)}".strip() for f in shown)
        lines.append(f"{marked(run, name, words)} is below chance ({share(found[0].chance, words)}): {figures}.")
    return [*lines, _below_means(run)] if lines else []


def below_in_short(run: Run, findings: Sequence[Finding], *, words: bool = False) -> list[str]:
    """Which filters are below chance and what that means, as one text; empty if there is none."""
    names = [marked(run, name, words) for name in _below(findings)]
    return [f"Below chance: {', '.join(names)}. {_below_means(run)}"] if names else []


def _below(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """The findings that are below chance, by filter."""
    below: dict[str, list[Finding]] = {}
    for finding, _ in over_seeds(findings):
        if against_chance(finding) == "below":
            below.setdefault(finding.filter, []).append(finding)
    return below


def _below_means(run: Run) -> str:
    return BELOW_MEANS + _likely_cause(run.pool.manifest)


def _likely_cause(manifest: Mapping[str, Any]) -> str:
    """A sentence on texts that rows share, from the pool's manifest; empty if they share none."""
    shared = manifest.get("shared_texts") or {}
    n_rows, n_golds = shared.get("n_rows", 0), shared.get("n_golds_among_negatives", 0)
    if not n_rows and not n_golds:
        return ""
    if shared.get("kept_together"):
        kept = "though such rows are kept together"
    elif (n_apart := shared.get("n_rows_apart_by_gold", n_rows)) == n_rows:
        kept = "and such rows are not kept together"
    else:
        kept = f"and {n_apart:,} of these are not kept together with all others that have the same"
    return (
        f" Likely here: {several(n_golds, 'negative is', 'negatives are')} the gold of another row, "
        f"{several(n_rows, 'row shares', 'rows share')} texts, {kept}."
    )


def marked(run: Run, name: str, words: bool = False) -> str:
    """A filter's name, marked if it took part in the filtering, or could end it."""
    shown = label_of(name) if words else name
    if any(check.filter == name for check in read_unseen(run.path)):
        return f"{shown} (decided when to end)"
    return f"{shown} (took part)" if took_part(run, name) else shown


def unseen_lines(run: Run, *, words: bool = False) -> list[str]:
    """Which filter could end the run, how its last check went, and that its figure was selected upon; empty where none
    could."""
    checks = read_unseen(run.path)
    if not checks:
        return []
    last, shown = checks[-1], label_of(checks[-1].filter) if words else checks[-1].filter
    figures = f"{share(last.accuracy, words)}, interval {share(last.low, words)} to {share(last.high, words)}"
    figures += f" ({GONE_BELOW})" if last.is_below else ""
    return [
        f"{shown} takes no part and could end the run: within {share(last.within, words)} of chance "
        f"({share(last.chance, words)}), by both ends of its interval, at two checks in a row. After iteration "
        f"{last.iteration:,}, the last of {several(len(checks), 'check')}: {figures}. What it finds at the end was "
        "selected upon, so it says less than filters that decided nothing."
    ]


def not_asked(findings: Sequence[Finding]) -> str:
    """What audits that found this have not asked."""
    size = "larger " if any(is_pretrained(f.filter) for f in findings) else ""
    return (
        f"Not asked: what {size}pretrained models find, what reads context and ending together more closely than these "
        "filters, whether people can answer. The questions of a release are fewer of these endings; it measures its "
        "own."
    )


def repeated_lines(run: Run) -> list[str]:
    """That many negatives of the pool stand in several contexts, where they do."""
    line = repeated_line(run.pool.manifest.get("shared_texts") or {})
    return [f"{line} Dataset audits find that as AF211."] if line else []


def said_lines(findings: Sequence[Finding]) -> list[str]:
    """What filters had to tell of their scores, by iteration."""
    return [
        f"{line}{'' if f.iteration is None else f', after iteration {f.iteration:,}'}"
        for f in findings
        for line in f.said
    ]


def with_interval(finding: Finding, words: bool = False) -> str:
    """`0.254 (0.201 to 0.307)`, or with `words` in per cent."""
    return f"{share(finding.accuracy, words)} ({share(finding.low, words)} to {share(finding.high, words)})"


def share(value: float, words: bool = False) -> str:
    """`0.254`, or with `words` `25.4 %` with a no-break space."""
    return f"{100 * value:.1f}\N{NO-BREAK SPACE}%" if words else f"{value:.3f}"


def _change(value: float, words: bool) -> str:
    """A number with its sign, with `words` a typographic minus; zero is always positive."""
    scaled, digits = (100 * value, 1) if words else (value, 3)
    written = f"{round(scaled, digits) + 0.0:+.{digits}f}"
    return written.replace("-", "\N{MINUS SIGN}") if words else written


def _when_of(run: Run, finding: Finding) -> str:
    """Empty where there are no iterations to be before or after."""
    return "" if run.matching else _when(finding.iteration)


def _when(iteration: int | None) -> str:
    if iteration is None:
        return ""
    return "before" if iteration == 0 else f"after {iteration:,} iteration{'s' if iteration > 1 else ''}"
