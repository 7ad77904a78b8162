"""What the removal mended, and what it made: the checks of an audit before and after, beside random removals.

Whatever chose the rows falls by construction, and below chance too: rows that it got right are gone, those that it got
wrong, some by bad luck, stay (regression to the mean). A model that learns from what is left learns the opposite. So a
check below chance afterwards that was not so before is an artifact that the pruning made.
"""

from collections.abc import Sequence
from dataclasses import replace

from swag_af.auditing.comparison import Change, Comparison, chance_said, change_sentence
from swag_af.auditing.options import FEWEST_DRAWS
from swag_af.auditing.verdict import EQUALLY, figure
from swag_af.data.instances.instances import Instances
from swag_af.filters.registry import REGISTRY, parse_names
from swag_af.pruning.features import REPRESENTATIONS
from swag_af.pruning.options import PruneOptions

BY_CONSTRUCTION = (
    "It had a part in choosing the rows, or reads what chose them: a fall is by construction (regression to the mean), "
    "and no proof that less is given away."
)
SAME_WORDS = (
    "It reads the same words as what chose the rows: a fall is no independent witness; models of another kind and "
    "single features tell more."
)
UNTOLD = (
    "Below chance, where it was not before; beside {n} random removals it cannot be told whether the pruning made it."
)
BELOW = "Below chance, where it was not: made by the pruning. Who does the opposite does better than by guessing."

PARTED = (
    "Of {of} contrast sets {n} lost some of their instances and not all, and {whole} are whole. What is left of a set "
    "is easier to have right as a whole: figures of sets (AF109, consistency) are not those of before."
)

OUTSIDE = "Outside its own interval, inside the one for all checks together: not significant."

TOO_FEW = (
    "No verdict: {n} random removals do not say how far luck goes. With --draws {least} or more it is told what is "
    "weaker, stronger or below chance by the pruning."
)


def took_part(options: PruneOptions, inputs: Sequence[str], models: Sequence[str]) -> tuple[str, ...]:
    """The names of the probes that chose the rows, or that read the same words by another model of the same kind, or
    the vectors of the same pretrained model, whatever the settings."""
    if options.by == "probes":
        chose, read = list(models), {REGISTRY.parted(one) for one in models}
    else:
        chose, read = _ALIKE.get(options.features, []), {REPRESENTATIONS.parted(options.features)}
    audited = parse_names("--audit-models", options.audit_models)
    chose = [*chose, *(one for one in audited if REGISTRY.parted(one)[1] and REGISTRY.parted(one) in read)]
    return tuple(f"{one}, {model}" for one in inputs for model in dict.fromkeys(chose))


_ALIKE = {"tfidf-svd": ["tfidf"], "fasttext": ["fasttext"]}
"""The models of probes that read what these features are made of, in the same way."""
_BAGS = ("tfidf", "fasttext", "ngrams", "bow")
"""The models that see which words and pairs of words there are, and nothing else."""


def note_on(subject: str, took: Sequence[str]) -> str:
    """What must be said of a probe, whichever way it went, a blank before it; `took` names those that took part."""
    input, _, model = subject.partition(", ")
    words_chose = any(name.partition(", ")[0] == input and name.partition(", ")[2] in _BAGS for name in took)
    if subject in took:
        return f" {BY_CONSTRUCTION}"
    return f" {SAME_WORDS}" if words_chose and model in _BAGS else ""


def parted_by(instances: Instances, kept: Sequence[int]) -> str:
    """How many contrast sets lost some of their instances and not all, in a sentence; empty where there are none."""
    stay = set(kept)
    sets: dict[str, list[bool]] = {}
    for row, one in enumerate(instances.instances):
        if one.contrast_set:
            sets.setdefault(one.contrast_set, []).append(row in stay)
    n_parted = sum(any(members) and not all(members) for members in sets.values())
    n_whole = sum(all(members) for members in sets.values())
    return PARTED.format(n=f"{n_parted:,}", of=f"{len(sets):,}", whole=f"{n_whole:,}") if n_parted else ""


def made(comparison: Comparison) -> list[Change]:
    """The accuracies found below chance after and not before, the furthest below first."""
    found = [one for one in comparison.changes if is_made(one)]
    return sorted(found, key=lambda one: one.after.value - (one.chance or 0.0))


def is_made(change: Change) -> bool:
    """Whether an accuracy was found below chance after, was not before, and random removal does not do that, however
    many checks could be told of."""
    by_luck = change.control is not None and change.after.value >= change.control.low
    return fell_below(change) and change.outcome not in ("untold", "same") and not by_luck


def fell_below(change: Change) -> bool:
    """Whether an accuracy was found below chance after and not before, whatever did it."""
    if change.unit != "accuracy" or change.chance is None or change.after.status != "found":
        return False
    was_below = change.before.status == "found" and change.before.value < _chance_before(change)
    return change.after.value < change.chance and not was_below


def _chance_before(change: Change) -> float:
    return (change.chance or 0.0) if change.chance_before is None else change.chance_before


def made_lines(comparison: Comparison, took: Sequence[str]) -> list[str]:
    """A sentence for each artifact that the pruning made, and for what fell below chance and may be luck; one that says
    so where nothing fell, or where there are too few draws to tell."""
    if has_too_few_draws(comparison):
        return [TOO_FEW.format(n=comparison.n_draws, least=FEWEST_DRAWS)]
    told = [(one, BELOW) for one in made(comparison)]
    untold = UNTOLD.format(n=comparison.n_draws)
    told += [(one, untold) for one in comparison.changes if fell_below(one) and not is_made(one)]
    lines = [f"{sentence(one)} {said}{note_on(one.subject, took)}" for one, said in told]
    weighed = EQUALLY if any(one.balanced for one in comparison.changes) else ""
    return lines or [f"Nothing fell below chance by the pruning{weighed}."]


def told_by(comparison: Comparison, took: Sequence[str]) -> list[str]:
    """A sentence for each probe by group, before and after; those that took part last, and marked."""
    probes = [one for one in comparison.changes if one.code in PROBES]
    order = sorted(probes, key=lambda one: one.subject in took)
    return [f"{sentence(one)}{note_on(one.subject, took)}" for one in order]


def sentence(change: Change) -> str:
    """That of `change_sentence`; and another one where it lies outside its own interval, and is not significant."""
    c = change
    is_outside = c.control is not None and not c.control.low <= c.after.value <= c.control.high
    return f"{change_sentence(c)} {OUTSIDE}" if is_outside and c.outcome == "same" else change_sentence(c)


def counted_line(comparison: Comparison) -> str:
    """What the number of random removals says by itself, whatever their values are spread like; empty where they are so
    many that a change beyond all of them is luck 1 time in 20 or less."""
    n = comparison.n_draws
    if not FEWEST_DRAWS <= n < _COUNTED:
        return ""
    return (
        "Intervals take random removals to be spread normally. By count alone what lies beyond all "
        f"{n} of them is luck 1 time in {n + 1}, of each check: --draws {_COUNTED} makes that 1 in {1 + _COUNTED}."
    )


_COUNTED = 19
"""Random removals from which a value beyond all of them is luck 1 time in 20."""


def left_line(comparison: Comparison) -> str:
    """The probe or single feature that is surely furthest above chance after the pruning."""
    leaks = _leaks(comparison)
    above = [one for one in leaks if one.after.status == "found" and one.after.value > (one.chance or 0.0)]
    worst = max(above, key=lambda one: one.after.value - (one.chance or 0.0), default=None)
    if worst is None:
        return "No probe and no single feature is surely above chance after the pruning."
    before, after = figure(worst.before.value, worst.unit), figure(worst.after.value, worst.unit)
    return f"The largest leak that stays: {worst.called}, {after} after, {before} before{chance_said(worst)}."


def uncalled_line(comparison: Comparison) -> str:
    """That nothing was surely above chance before, where it is so; else nothing."""
    before = [one for one in _leaks(comparison) if one.before.status == "found"]
    if any(one.before.value > _chance_before(one) for one in before):
        return ""
    return "No probe and no single feature was surely above chance before: nothing called for pruning."


def _leaks(comparison: Comparison) -> list[Change]:
    """The accuracies of probes and single features."""
    return [one for one in comparison.changes if one.code[:3] in _LEAKS and one.unit == "accuracy"]


_LEAKS = ("AF1", "AF2")
"""How the codes of probes and of single features begin."""


def without_hasty(comparison: Comparison) -> Comparison:
    """The same, with no outcome told that too few random removals decided."""
    if not has_too_few_draws(comparison):
        return comparison
    changes = (replace(one, outcome="untold") if one.control else one for one in comparison.changes)
    return replace(comparison, changes=tuple(changes))


def has_too_few_draws(comparison: Comparison) -> bool:
    """Whether there are random removals, and fewer than a verdict takes."""
    return 0 < comparison.n_draws < FEWEST_DRAWS


PROBES = ("AF101", "AF102", "AF105")
"""What models find in the options, the second sentence, the hypothesis."""
