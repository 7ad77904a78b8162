"""What the removal mended, and what it made: the checks of an audit before and after, beside random removals.

Whatever chose the rows falls by construction, and below chance too: rows that it got right are gone, those that it got
wrong, some by bad luck, stay (regression to the mean). A model that learns from what is left learns the opposite. So a
check below chance afterwards that was not so before is an artifact that the pruning made.
"""

from collections.abc import Sequence

from swag_af.auditing.comparison import Change, Comparison, change_sentence
from swag_af.pruning.options import PruneOptions

BY_CONSTRUCTION = (
    "It had a part in choosing the rows, or reads what chose them, so it falls by construction (regression to the "
    "mean): no proof that less is given away."
)
SAME_WORDS = (
    "It reads the same words as what chose the rows, so its fall is no independent witness; models of another kind and "
    "single features tell more."
)
BELOW = "Below chance, where it was not: made by the pruning. Who does the opposite does better than by guessing."


def took_part(options: PruneOptions, inputs: Sequence[str], models: Sequence[str]) -> tuple[str, ...]:
    """The names of the probes that chose the rows, or that read the same words by another model of the same kind."""
    chose = list(models) if options.by == "probes" else _ALIKE.get(options.features, [])
    return tuple(f"{one}, {model}" for one in inputs for model in chose)


_ALIKE = {"tfidf-svd": ["tfidf"], "fasttext": ["fasttext"]}
"""The models of probes that read what these features are made of, in the same way."""
_BAGS = ("tfidf", "fasttext", "ngrams", "bow")
"""The models that see which words and pairs of words there are, and nothing else."""


def note_on(subject: str, took: Sequence[str]) -> str:
    """What must be said of a probe's fall, a blank before it; `took` are the names of those that took part."""
    input, _, model = subject.partition(", ")
    words_chose = any(name.partition(", ")[0] == input and name.partition(", ")[2] in _BAGS for name in took)
    if subject in took:
        return f" {BY_CONSTRUCTION}"
    return f" {SAME_WORDS}" if words_chose and model in _BAGS else ""


def made(comparison: Comparison) -> list[Change]:
    """The accuracies found below chance after and not before, the furthest below first."""
    found = [one for one in comparison.changes if is_made(one)]
    return sorted(found, key=lambda one: one.after.value - (one.chance or 0.0))


def is_made(change: Change) -> bool:
    """Whether an accuracy was found below chance after, was not before, and random removal does not do that."""
    if change.unit != "accuracy" or change.chance is None or change.after.status != "found":
        return False
    was_below = change.before.status == "found" and change.before.value < change.chance
    by_luck = change.control is not None and change.after.value >= change.control.low
    return change.after.value < change.chance and not was_below and not by_luck


def made_lines(comparison: Comparison, took: Sequence[str]) -> list[str]:
    """A sentence for each artifact that the pruning made; one that says so where it made none."""
    found = made(comparison)
    if not found:
        return ["Nothing fell below chance by the pruning."]
    return [f"{change_sentence(one)} {BELOW}{note_on(one.subject, took)}" for one in found]


def told_by(comparison: Comparison, took: Sequence[str]) -> list[str]:
    """A sentence for each probe by group, before and after; those that took part last, and marked."""
    probes = [one for one in comparison.changes if one.code in _PROBES]
    order = sorted(probes, key=lambda one: one.subject in took)
    return [f"{change_sentence(one)}{note_on(one.subject, took)}" for one in order]


_PROBES = ("AF101", "AF102", "AF105")
"""What models find in the options, the second sentence, the hypothesis."""
