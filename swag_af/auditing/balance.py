"""Accuracy with each class weighed equally, where classes are unequal: what accuracy hides behind the largest class.

Of a class that one text in ten has, a perfect shortcut may name it in half of the texts that have it and be wrong as
often elsewhere: the largest class stays the best guess everywhere, and accuracy is that of a guess. So, where classes
are not nearly equal, the mean of the recalls is told beside: each class weighs the same, whoever knows nothing gets 1
in the number of classes, and what is chosen is what the input speaks for, not what is frequent.
"""

from dataclasses import replace

import numpy as np

from swag_af.auditing.diagnostics import Balanced, Diagnostic, balanced_form
from swag_af.auditing.outcome import Probe
from swag_af.auditing.ranking import gold_probabilities, hits
from swag_af.data.instances.instances import Instances
from swag_af.data.numbers.interval import DIGITS, ratio_interval
from swag_af.data.numbers.percent import digits_apart, in_percent

UNEQUAL = 1.25
"""How many times as large as its equal share the largest class is from which classes are unequal. Our choice."""
FEWEST = 5
"""Instances that a class must have to count: the recall of fewer says nothing. Our choice."""


def class_weights(labels: np.ndarray, n_classes: int) -> np.ndarray | None:
    """(C,) how much an instance of each class counts if classes are to count equally; None where fewer than two count.

    Of the rarest class 1; of one with fewer than `FEWEST` of `labels` (N,) 0, as if it were none.
    """
    counts = np.bincount(labels, minlength=n_classes)
    counted = counts >= FEWEST
    those = counts[counted]
    return np.where(counted, those.min() / np.maximum(counts, 1), 0.0) if len(those) > 1 else None


def are_unequal(weights: np.ndarray) -> bool:
    """Whether of the classes that `weights` (C,) count the largest exceeds `UNEQUAL` times its equal share."""
    sizes = 1 / weights[weights > 0]
    return bool(sizes.max() * len(sizes) > UNEQUAL * sizes.sum())


def weighed(
    hits: np.ndarray, labels: np.ndarray, weights: np.ndarray, groups: np.ndarray, *, times: float = 1.0
) -> Balanced:
    """The mean recall of `hits` (N,) over the classes that `weights` (C,) count, found where surely above chance.

    Its interval is that of so many instances as there would be if each class had as many as the rarest; `groups` (N,)
    are numbered from 0, `times` is that of `interval`.
    """
    each = weights[labels]
    low, high = ratio_interval(each * hits, each, groups, times=times)
    value, chance = float(each @ hits / each.sum()), 1 / int(np.count_nonzero(weights))
    value, low, high, chance = (round(figure, DIGITS) for figure in (value, low, high, chance))
    return Balanced(value, low, high, chance, "found" if low > chance else "clear")


def said_of(one: Balanced) -> str:
    """A sentence: `Each class weighed equally, 71.2 % are right (64.0 % to 77.5 %; chance 50.0 %).`"""
    digits = digits_apart(one.chance, one.low, one.high)
    low, high, chance = (in_percent(end, digits) for end in (one.low, one.high, one.chance))
    return f"Each class weighed equally, {in_percent(one.value)} are right ({low} to {high}; chance {chance})."


def equally(*ones: Diagnostic) -> list[Diagnostic | None]:
    """Each of `ones` with every class weighed equally, where any is told so, so that they can be compared.

    Of nearly equal classes whose weighed figure is not known, as in a saved audit, accuracy is that figure. None where
    there is no such figure, as of a class with too few instances.
    """
    n_classes = next((round(1 / one.balanced.chance) for one in ones if one.balanced), 0)
    return [_weighed_form(one, n_classes) if n_classes else one for one in ones]


def _weighed_form(one: Diagnostic, n_classes: int) -> Diagnostic | None:
    if one.balanced is not None:
        return replace(balanced_form(one), status="clear" if one.balanced.status == "clear" else one.status)
    if round((one.chance or 1.0) * n_classes, 4) > UNEQUAL:
        return None
    even = one.even
    if even is None or round(1 / even.chance) != n_classes:
        return one
    is_clear = even.low <= even.chance <= even.high
    return replace(balanced_form(replace(one, balanced=even)), status="clear" if is_clear else one.status)


def without_shares(probe: Probe, instances: Instances, weights: np.ndarray) -> Probe:
    """`probe` with the hits and probabilities that it has if the classes that `weights` (C,) count are as likely.

    Its log-probabilities are shifted from the shares that classes had where it was fitted (Saerens, Latinne and
    Decaestecker 2002); those that count nothing are not chosen.
    """
    n_classes = len(instances.classes)
    fitted = instances.splits()[probe.fitted_on] if probe.folds == "split" else np.arange(len(instances))
    counts = np.bincount(instances.answers[fitted], minlength=n_classes)
    shift = np.where(weights > 0, -np.log(np.maximum(counts, 1) / len(fitted)), -np.inf)  # (C,)
    scores = (probe.scores.reshape(-1, n_classes) + shift).ravel()
    own = instances.take(probe.rows)
    return replace(probe, hits=hits(scores, own), probabilities=gold_probabilities(scores, own), scores=scores)
