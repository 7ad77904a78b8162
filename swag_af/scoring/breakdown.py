"""Accuracy by split, by tier of an audit, by mask, and by group: the worst, the best, and how much groups differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from swag_af.auditing.storing import open_audit
from swag_af.auditing.tiers import TIERS
from swag_af.data.errors import InputError, several
from swag_af.data.instances.instances import Instances
from swag_af.scoring.chance import chance_of
from swag_af.scoring.figures import DIGITS, Figure, members, share
from swag_af.scoring.reading.predictions import Predictions

SMALLEST = 5
"""Groups with fewer instances are not told one by one."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How much the accuracies of groups differ."""

    n: int
    """Groups with `SMALLEST` instances or more."""
    n_named: int
    """All groups that the dataset names."""
    deviation: float
    """The standard deviation of their accuracies."""
    by_luck: float
    """What it would be, were all instances equally hard whatever their group: the worst of many is low by luck, too."""


def tiers_in(audit: Path, instances: Instances) -> list[str]:
    """(N,) the tier of each instance in the folder of an audit; InputError where it is one of other instances."""
    questions = {one.id: one for one in open_audit(audit).questions}
    lacking = [one.id for one in instances.instances if one.id not in questions]
    if lacking:
        raise InputError(
            f"--audit {audit}: {len(lacking):,} ids of {instances.name} are not in it (first: "
            f"{', '.join(lacking[:3])}). Give the audit of this dataset."
        )
    found = [questions[one.id] for one in instances.instances]
    wrong = [one.id for one, other in zip(instances.instances, found, strict=True) if one.answer != other.gold]
    if wrong:
        raise InputError(
            f"--audit {audit}: {several(len(wrong), 'instance has', 'instances have')} another right answer there "
            f"(first: {', '.join(wrong[:3])}). Audit this dataset, read in the same way."
        )
    if any(one.tier is None for one in found):
        raise InputError(f"--audit {audit}: no tiers in it, for want of probes. Audit the data with --filters tfidf.")
    return [str(one.tier) for one in found]


def by_part(
    kind: str, parts: Sequence[str], instances: Instances, predictions: Predictions, groups: np.ndarray
) -> list[Figure]:
    """The accuracy in each part that `parts` (N,) name, tiers of an audit from easy to hard, others by name; a part
    that is all there is says nothing more, unless it is a tier."""
    rows_of = members(parts)
    if len(rows_of) < 2 and kind != "tier":
        return []
    chance = chance_of(instances)
    place = {tier: i for i, tier in enumerate(TIERS)} if kind == "tier" else {}
    names = sorted(rows_of, key=lambda name: (place.get(name, len(place)), str(name)))
    return [
        share("accuracy", predictions.hits[rows_of[name]], groups[rows_of[name]], chance.at(rows_of[name]), part=part)
        for name, part in ((name, f"{kind}: {name}") for name in names)
    ]


def by_group(instances: Instances, predictions: Predictions) -> list[Figure]:
    """The accuracy in each named group of `SMALLEST` instances or more, the worst first.

    Within a group instances count one by one.
    """
    rows_of = members([one.group for one in instances.instances])
    chance = chance_of(instances)
    figures = [
        share("accuracy", predictions.hits[rows], np.arange(len(rows)), chance.at(rows), part=f"group: {name}")
        for name, rows in rows_of.items()
        if len(rows) >= SMALLEST
    ]
    return sorted(figures, key=lambda one: (one.value or 0.0, one.part))


def spread_of(groups: Sequence[Figure], hits: np.ndarray, n_named: int) -> Spread | None:
    """How much the accuracies of `groups`, some of `n_named`, differ; None of one group.

    `hits` (N,) are those of all instances, which vary less where ties share them than where each is right or wrong.
    """
    if len(groups) < 2:
        return None
    values = np.array([one.value for one in groups], float)
    sizes = np.array([one.n for one in groups])
    by_luck = float(np.sqrt((hits.var() / sizes).mean()))
    return Spread(len(groups), n_named, round(float(values.std(ddof=1)), DIGITS), round(by_luck, DIGITS))
