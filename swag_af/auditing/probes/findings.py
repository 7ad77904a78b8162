"""Probes as diagnostics: each accuracy against chance, what random folds change, the instances that show it best."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from swag_af.auditing.balance import are_unequal, class_weights, said_of, weighed, without_shares
from swag_af.auditing.diagnostics import Avoiding, Balanced, Diagnostic, Example, LeftOut, Status, of_accuracy
from swag_af.auditing.examples import AT_MOST, example
from swag_af.auditing.integrity.recycled import note_on_probes
from swag_af.auditing.outcome import Probe, chance_of, over_seeds, probe_name
from swag_af.auditing.probes.consistency import CODE, REFERENCE, consistency_diagnostics, named_shares
from swag_af.auditing.probes.inputs import INPUTS
from swag_af.auditing.probes.probe import RANDOM_TOO, Task, model_label, model_name
from swag_af.auditing.ranking import hits
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instances
from swag_af.data.numbers.interval import paired_difference, rounded_mean
from swag_af.data.numbers.percent import digits_apart, in_percent, in_points

CODES = {
    "options": "AF101",
    "second-sentence": "AF102",
    "other-context": "AF103",
    "shuffled": "AF104",
    "hypothesis": "AF105",
    "text": "AF105",
    "premise": "AF106",
    "full": "AF110",
}
"""By input."""
OF_OPTIONS = ("AF101", "AF102", "AF103", "AF104", "AF110")
"""Codes of probes that learn which options are wrong."""
RANDOM, SPLIT = "AF107", "AF108"

_ABOVE = "Above chance: {said} {give} answers away."
_BELOW = (
    "Below chance, which is a finding too: who avoids what the model prefers does better than guessing. Usual causes: "
    "labels balanced within a group, the gold of other rows among the negatives, over-filtering."
)
_HIGHER = "What the instances of a group have in common gives answers away: figures on random splits are too high."
_LOWER = (
    "What the instances of a group have in common hides answers, as where labels are balanced within groups: a model "
    "learns from one that the others have another label. So random splits say too little, and this is no shortcut."
)
_UNDECIDED = "Not distinguishable from chance."
_SHUFFLED = (
    "Above chance: part of the task is solved without the order of words. A topic in common can do that, rightly."
)


def diagnostics_of(probes: Sequence[Probe], instances: Instances, groups: Groups) -> list[Diagnostic]:
    """The diagnostics of `probes`, in order of code, then subject; figures of several seeds are averaged.

    Random folds are compared with those by group of the same model and input (AF107); where every group is one
    instance they are the same, and the difference is 0. Where instances have contrast sets, AF109 beside.
    """
    each = over_seeds(probes)
    found = [_of_probe(one, _of_name(one.name, probes), instances, groups) for one in each if one.folds != "random"]
    if note := note_on_probes(instances, groups.numbers):
        found = [replace(one, said=f"{one.said} {note}") if one.code in OF_OPTIONS else one for one in found]
    found += _random_against_group(each, instances, groups)
    found += consistency_diagnostics(probes, instances, groups)
    return sorted(found, key=lambda one: (one.code, one.subject))


def left_out_of(not_made: Iterable[tuple[Task, str]], instances: Instances) -> tuple[LeftOut, ...]:
    """What `diagnostics_of` would have given of the probes that were `not_made`, in order of code, then subject."""
    in_sets = any(one.contrast_set for one in instances.instances)
    found: dict[tuple[str, str], str] = {}
    for task, why in not_made:
        subject = probe_name(task.input, model_name(task.model), task.folds, task.fitted_on, task.scored_on)
        code = {"group": CODES[task.input], "random": RANDOM, "split": SPLIT}[task.folds]
        for one in (code, CODE) if in_sets and task.folds != "random" else (code,):
            found.setdefault((one, subject), why)
    return tuple(LeftOut(code, subject, why) for (code, subject), why in sorted(found.items()))


def _of_name(name: str, probes: Sequence[Probe]) -> list[Probe]:
    """The probes of that name: one for each seed."""
    return [one for one in probes if one.name == name]


def _of_probe(one: Probe, seeds: Sequence[Probe], instances: Instances, groups: Groups) -> Diagnostic:
    """The diagnostic of `one`, the mean of the probes of several `seeds`."""
    known = INPUTS[instances.kind][one.input]
    chance = chance_of(one, instances)
    numbers = groups.take(one.rows).numbers
    code = SPLIT if one.folds == "split" else CODES[one.input]
    found = of_accuracy(code, one.name, one.hits, chance, numbers, said="", times=one.times)
    balanced, even, shown = _balanced(seeds, instances, numbers, one.times)
    is_balanced = balanced is not None and balanced.status == "found" and _side(found, one, instances) <= 0
    side = 1 if is_balanced else _side(found, one, instances)
    status, verdict = _verdict(one.input, side, known.said)
    figures = [_sentence(one, found, known.said), *([said_of(balanced)] if balanced else [])]
    said = " ".join([*figures, verdict])
    avoiding = None
    if side < 0 and instances.kind == "choices":
        avoiding = Avoiding(*rounded_mean(hits(-one.scores, instances.take(one.rows)), numbers, times=one.times))
        ends = f"{in_percent(avoiding.low)} to {in_percent(avoiding.high)}"
        said += f" The option that it finds least likely is right in {in_percent(avoiding.value)} ({ends})."
    examined = shown if is_balanced else one
    made = examples(examined, instances, below=side < 0)
    return replace(found, status=status, said=said, examples=made, balanced=balanced, even=even, avoiding=avoiding)


def _balanced(
    seeds: Sequence[Probe], instances: Instances, numbers: np.ndarray, times: float
) -> tuple[Balanced | None, Balanced | None, Probe]:
    """The accuracy with each class weighed equally, first of unequal classes, else of nearly equal ones; and the probe
    as it chooses then, with its hits in the rarest class alone, which show what was found. Of choices there is none."""
    own = instances.take(seeds[0].rows)
    weights = class_weights(own.answers, len(own.classes)) if own.kind == "classes" else None
    if weights is None:
        return None, None, seeds[0]
    (mean,) = over_seeds([without_shares(one, instances, weights) for one in seeds])
    made = weighed(mean.hits, own.answers, weights, numbers, times=times)
    if not are_unequal(weights):
        return None, made, seeds[0]
    rarest = np.where(weights[own.answers] == weights.max(), mean.hits, 0.0)
    return made, None, replace(mean, hits=rarest)


def _side(found: Diagnostic, one: Probe, instances: Instances) -> int:
    """1 above chance, -1 below it, 0 if they cannot be told apart.

    Chance for classes is the share of the largest. A model that knows nothing and names all classes is below that and
    has not learnt anything the wrong way round, so below chance is only what is below that model too.
    """
    assert found.low is not None
    assert found.high is not None
    assert found.chance is not None
    if found.low > found.chance:
        return 1
    return -1 if found.high < min(found.chance, _by_its_own_shares(one, instances)) else 0


def _by_its_own_shares(one: Probe, instances: Instances) -> float:
    """How often a guess is right that names each class as often as the model does; 1 for choices."""
    if instances.kind == "choices":
        return 1.0
    labels = instances.answers[one.rows]
    return float(named_shares(one, instances) @ np.bincount(labels, minlength=len(instances.classes)) / len(labels))


def _sentence(one: Probe, found: Diagnostic, said: str) -> str:
    ends = [figure or 0.0 for figure in (found.chance, found.low, found.high)]
    chance, low, high = (in_percent(end, digits_apart(*ends)) for end in ends)
    where = f" of {one.scored_on}, fitted on {one.fitted_on}," if one.folds == "split" else ""
    return (
        f"{model_label(one.model)}, reading {said}, is right in {in_percent(found.value)} of the instances{where} "
        f"({low} to {high}; chance {chance})."
    )


def _verdict(input: str, side: int, said: str) -> tuple[Status, str]:
    """What the accuracy means; `side` is that of chance, 1, -1, or 0 where they cannot be told apart.

    The full input is never a finding; shuffled words are a hint, since words without their order may rightly help.
    """
    if input == "full":
        return "clear", REFERENCE
    if side == 0:
        return "clear", _UNDECIDED
    if input == "shuffled":
        return "hint", _SHUFFLED if side > 0 else _BELOW
    give = "give" if "options" in said else "gives"
    return "found", _ABOVE.format(said=said, give=give) if side > 0 else _BELOW


def _random_against_group(each: Sequence[Probe], instances: Instances, groups: Groups) -> Iterator[Diagnostic]:
    """What random folds add, for every probe that was made with both, or would be the same with both."""
    whole = {(one.input, one.model): one for one in each if one.folds == "group"}
    for one in each:
        by_group = whole.get((one.input, one.model))
        if one.folds == "random" and by_group is not None:
            yield _difference(one, by_group, instances, groups)
        is_alone = one.folds == "group" and groups.n == len(instances)
        if is_alone and one.model == "tfidf" and one.input in RANDOM_TOO:
            said = "Every instance is a group of its own, so random folds are folds by group."
            alike = _difference(replace(one, folds="random"), one, instances, groups)
            yield replace(alike, low=0.0, high=0.0, said=said)


def _difference(one: Probe, by_group: Probe, instances: Instances, groups: Groups) -> Diagnostic:
    """`one` has random folds, `by_group` whole groups. That they say too little is a hint: it is no shortcut."""
    d = paired_difference(by_group.hits, one.hits, groups.numbers)
    reads = INPUTS[instances.kind][one.input].said
    status: Status = "clear"
    means = "No significant difference."
    if d.is_significant:
        status = "found" if d.mean > 0 else "hint"
        means = _HIGHER if d.mean > 0 else f"{_LOWER}{_balance(instances, groups)}"
    said = (
        f"{model_label(one.model)}, reading {reads}: {in_percent(one.hits.mean())} with random folds, "
        f"{in_percent(by_group.hits.mean())} by group; difference {in_points(d.mean, d.low, d.high)}. {means}"
    )
    return Diagnostic(
        code=RANDOM,
        subject=one.name,
        status=status,
        value=round(d.mean, 6),
        unit="share",
        said=said,
        low=round(d.low, 6),
        high=round(d.high, 6),
        chance=0.0,
        n=len(one.hits),
        n_groups=groups.n,
    )


def _balance(instances: Instances, groups: Groups) -> str:
    """How often two instances of a group have the same class, beside any two; empty of choices."""
    if instances.kind == "choices":
        return ""
    n_classes = len(instances.classes)
    counts = np.unique(groups.numbers * n_classes + instances.answers, return_counts=True)[1]
    within = _pairs(counts) / _pairs(np.bincount(groups.numbers))
    among_all = _pairs(np.bincount(instances.answers)) / _pairs(np.array([len(instances)]))
    return f" Two of a group have the same label in {in_percent(within)} of pairs, any two in {in_percent(among_all)}."


def _pairs(sizes: np.ndarray) -> int:
    """Ordered pairs of two different members, in sets of these `sizes`."""
    return int((sizes * (sizes - 1)).sum())


def examples(one: Probe, instances: Instances, *, below: bool = False) -> tuple[Example, ...]:
    """The instances that a probe solves, those first in which gold is the most probable; at most five.

    With `below`, as where accuracy is below chance, those that it misses, gold the least probable.
    """
    sign, by = -1 if below else 1, INPUTS[instances.kind][one.input].said
    which = np.flatnonzero(one.hits == 0 if below else one.hits == 1)
    ids = [instances.instances[row].id for row in one.rows[which].tolist()]
    order = sorted(range(len(which)), key=lambda at: (-sign * one.probabilities[which[at]], ids[at]))[:AT_MOST]
    return tuple(
        example(instances, int(one.rows[i]), f"gold {one.probabilities[i]:.2f} by {by}") for i in which[order].tolist()
    )
