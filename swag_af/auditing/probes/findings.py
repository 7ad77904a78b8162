"""Probes as diagnostics: each accuracy against chance, what random folds change, the instances that show it best."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from swag_af.auditing.diagnostics import Diagnostic, Example, Status, of_accuracy
from swag_af.auditing.interval import paired_difference
from swag_af.auditing.outcome import Probe
from swag_af.auditing.probes.inputs import INPUTS
from swag_af.auditing.probes.probe import RANDOM_TOO
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instance, Instances
from swag_af.filters.registry import LABELS

CODES = {
    "options": "AF101",
    "second-sentence": "AF102",
    "other-context": "AF103",
    "shuffled": "AF104",
    "hypothesis": "AF105",
    "premise": "AF106",
    "full": "AF110",
}
"""By input."""
RANDOM, SPLIT = "AF107", "AF108"

N_EXAMPLES = 5
LONGEST_SHOWN = 300
"""Characters of a text in an example."""

_ABOVE = "Above chance: {said} give answers away."
_BELOW = (
    "Below chance, which is a finding too: who avoids what the model prefers does better than guessing. Usual causes: "
    "labels balanced within a group, the gold of other rows among the negatives, over-filtering."
)
_UNDECIDED = "Not told from chance."
_SHUFFLED = (
    "Above chance: part of the task is solved without the order of words. A topic in common can do that, rightly."
)
_REFERENCE = "The task itself, to compare the others with; no artifact by itself."


def diagnostics_of(probes: Sequence[Probe], instances: Instances, groups: Groups) -> list[Diagnostic]:
    """The diagnostics of `probes`, in order of code, then subject; figures of several seeds are averaged.

    Random folds are compared with those by group of the same model and input (AF107); where every group is one
    instance they are the same, and the difference is 0.
    """
    runs = _by_name(probes)
    found = [_of_probe(run, instances, groups) for run in runs if run.probe.folds != "random"]
    found += _random_against_group(runs, instances, groups)
    return sorted(found, key=lambda one: (one.code, one.subject))


@dataclass(frozen=True)
class _Run:
    """One probe with each of its seeds, averaged."""

    probe: Probe
    """With the first seed; its figures are not used."""
    hits: np.ndarray
    """(n,)"""
    probabilities: np.ndarray
    """(n,)"""


def _by_name(probes: Sequence[Probe]) -> list[_Run]:
    named: dict[str, list[Probe]] = {}
    for one in probes:
        named.setdefault(one.name, []).append(one)
    return [
        _Run(
            alike[0],
            np.mean([one.hits for one in alike], axis=0),
            np.mean([one.probabilities for one in alike], axis=0),
        )
        for alike in named.values()
    ]


def _of_probe(run: _Run, instances: Instances, groups: Groups) -> Diagnostic:
    one = run.probe
    known = INPUTS[instances.kind][one.input]
    chance = instances.chance[one.rows]
    numbers = np.unique(groups.numbers[one.rows], return_inverse=True)[1]
    code = SPLIT if one.folds == "split" else CODES[one.input]
    found = of_accuracy(code, one.name, run.hits, chance, numbers, said="")
    side = 0 if found.status == "clear" else 1 if run.hits.mean() > chance.mean() else -1
    status, verdict = _verdict(one.input, side, known.said)
    worst = examples(run.probe.rows, run.hits, run.probabilities, instances, by=known.said, below=side < 0)
    return replace(found, status=status, said=f"{_sentence(one, found, known.said)} {verdict}", examples=worst)


def _sentence(one: Probe, found: Diagnostic, said: str) -> str:
    low, high, chance = (f"{100 * (figure or 0):.1f} %" for figure in (found.low, found.high, found.chance))
    where = f" of {one.scored_on}, fitted on {one.fitted_on}," if one.folds == "split" else ""
    return (
        f"{_label(one.model)}, reading {said}, is right in {100 * found.value:.1f} % of the instances{where} "
        f"({low} to {high}; chance {chance})."
    )


def _label(model: str) -> str:
    return "Tf-idf regression" if model == "tfidf" else LABELS.get(model, model)


def _verdict(input: str, side: int, said: str) -> tuple[Status, str]:
    """What the accuracy means; `side` is that of chance, 1, -1, or 0 where they cannot be told apart.

    The full input is never a finding; shuffled words are a hint, since words without their order may rightly help.
    """
    if input == "full":
        return "clear", _REFERENCE
    if side == 0:
        return "clear", _UNDECIDED
    if input == "shuffled":
        return "hint", _SHUFFLED if side > 0 else _BELOW
    return "found", _ABOVE.format(said=said) if side > 0 else _BELOW


def _random_against_group(runs: Sequence[_Run], instances: Instances, groups: Groups) -> Iterator[Diagnostic]:
    """What random folds add, for every probe that was made with both, or would be the same with both."""
    whole = {(run.probe.input, run.probe.model): run for run in runs if run.probe.folds == "group"}
    for run in runs:
        one, by_group = run.probe, whole.get((run.probe.input, run.probe.model))
        if one.folds == "random" and by_group is not None:
            yield _difference(run, by_group, instances, groups)
        is_alone = one.folds == "group" and groups.n == len(instances)
        if is_alone and one.model == "tfidf" and one.input in RANDOM_TOO:
            said = "Every instance is a group of its own, so random folds are folds by group."
            alike = replace(run, probe=replace(one, folds="random"))
            yield replace(_difference(alike, run, instances, groups), low=0.0, high=0.0, said=said)


def _difference(run: _Run, by_group: _Run, instances: Instances, groups: Groups) -> Diagnostic:
    """`run` has random folds, `by_group` whole groups."""
    known = INPUTS[instances.kind][run.probe.input]
    d = paired_difference(by_group.hits, run.hits, groups.numbers)
    means = "What groups have in common gives answers away, or hides them, where folds part them."
    said = (
        f"{_label(run.probe.model)}, reading {known.said}: {100 * run.hits.mean():.1f} % with random folds, "
        f"{100 * by_group.hits.mean():.1f} % by group; difference {100 * d.mean:+.1f} points "
        f"({100 * d.low:+.1f} to {100 * d.high:+.1f}). {means if d.is_significant else 'No difference can be told.'}"
    )
    return Diagnostic(
        code=RANDOM,
        subject=run.probe.name,
        status="found" if d.is_significant else "clear",
        value=round(d.mean, 6),
        unit="share",
        said=said,
        low=round(d.low, 6),
        high=round(d.high, 6),
        chance=0.0,
        n=len(run.hits),
        n_groups=groups.n,
    )


def examples(
    rows: np.ndarray,
    hits: np.ndarray,
    probabilities: np.ndarray,
    instances: Instances,
    *,
    by: str,
    below: bool = False,
) -> tuple[Example, ...]:
    """The instances among `rows` (n,) that a probe solves, those first in which gold is the most probable (n,).

    With `below`, as where accuracy is below chance, those that it misses, gold the least probable. At most five; `by`
    is what the probe reads.
    """
    solved = np.flatnonzero(hits == 0 if below else hits == 1)
    sign = 1 if below else -1
    worst = sorted(solved.tolist(), key=lambda i: (sign * probabilities[i], instances.instances[rows[i]].id))[
        :N_EXAMPLES
    ]
    return tuple(
        _example(instances.instances[rows[i]], instances, f"gold {probabilities[i]:.2f} by {by}") for i in worst
    )


def _example(one: Instance, instances: Instances, said: str) -> Example:
    """The context, then a line for each option, gold marked by a star; of classes the text, then the class."""
    context = " ".join(part for part in (one.context, one.start) if part)
    if instances.kind == "classes":
        lines = [*one.options, f"* {instances.classes[one.answer]}"]
    else:
        lines = [f"{'*' if i == one.answer else '-'} {_cut(text)}" for i, text in enumerate(one.options)]
    return Example(one.id, one.where, "\n".join(_cut(line) for line in [context, *lines] if line), said)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_SHOWN else line[: LONGEST_SHOWN - 1] + "…"
