"""What probes that took no part find before and after, paired over the questions that both have."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swag_af.auditing.outcome import Probe
from swag_af.auditing.probes.probe import probe
from swag_af.data.errors import InputError
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instances
from swag_af.data.numbers.interval import CROSS_VALIDATED, Difference, mean_of_folds, paired_difference
from swag_af.data.work.progress import Advance


@dataclass(frozen=True, slots=True)
class Finding:
    """The accuracy of a probe with its 95 % interval."""

    accuracy: float
    low: float
    high: float
    chance: float
    n: int


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """What a probe that reads options alone finds in the questions as they were, and as they are."""

    model: str
    before: Finding
    after: Finding
    difference: Difference
    """Paired by question; where chance is another one now, of what is above chance."""
    n_paired: int


def before_and_after(
    before: Instances,
    after: Instances,
    groups: Groups,
    models: Sequence[str],
    *,
    n_folds: int,
    seed: int,
    advance: Advance,
) -> tuple[tuple[BeforeAfter, ...], tuple[str, ...]]:
    """Each model's findings, and why others have none, a line each.

    `after` is some of the questions of `before`, which are in `groups`, perhaps with other options; they stay in those
    groups. `advance` is told of each audit.
    """
    row_of = {one.id: row for row, one in enumerate(before.instances)}
    rows = np.array([row_of[one.id] for one in after.instances])
    kept = groups.take(rows)
    found, left_out = [], []
    for model in models:
        try:
            was = probe(before, "options", model, groups=groups, n_folds=n_folds, seed=seed)
            advance(1, note=f"audit by {model} before")
            now = probe(after, "options", model, groups=kept, n_folds=n_folds, seed=seed)
            advance(1, note=f"audit by {model} after")
        except InputError as fault:
            left_out.append(f"{model}: {fault}")
            continue
        found.append(_paired(model, (was, before, groups), (now, after, kept), rows))
    return tuple(found), tuple(left_out)


def _paired(
    model: str,
    was: tuple[Probe, Instances, Groups],
    now: tuple[Probe, Instances, Groups],
    rows: np.ndarray,
) -> BeforeAfter:
    """`rows` are those of the questions of `now` among those of `was`."""
    before, after = was[0].hits[rows], now[0].hits
    if not np.array_equal(was[1].chance[rows], now[1].chance):  # more options alone make a probe right less often
        before, after = before - was[1].chance[rows], after - now[1].chance
    difference = paired_difference(before, after, now[2].numbers, times=CROSS_VALIDATED)
    return BeforeAfter(model, _finding(*was), _finding(*now), difference, len(rows))


def _finding(probe: Probe, instances: Instances, groups: Groups) -> Finding:
    figures = mean_of_folds(probe.hits, groups.numbers)
    return Finding(*figures, round(float(instances.chance.mean()), 6), len(probe.hits))
