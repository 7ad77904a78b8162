"""What audits found, as hits by context: alone, paired between two assignments, and over several parts of the pool."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from experimenting.record import KeptRun, is_whole, kept_run
from experimenting.sizes import Arm
from experimenting.steps import Setting
from swag_af.data.numbers.interval import (
    effective_groups,
    interval,
    paired_difference,
    t_quantile,
    variance_over_groups,
)
from swag_af.filters.registry import parse_schedule


def finders(setting: Setting) -> tuple[str, ...]:
    """The filters that audit, in the order of the tables."""
    return (*setting.size.unseen, "mlp", setting.size.joint, "encoder")


@dataclass(frozen=True)
class Hits:
    """How far each context's gold came first, and what must not be parted."""

    ids: tuple[str, ...]
    """(n,) names of the contexts."""
    groups: np.ndarray
    """(n,) from 0."""
    values: np.ndarray
    """(n,) from 0 to 1, means over seeds."""

    def figure(self) -> dict[str, Any]:
        """The mean with its 95 % interval, groups drawn again."""
        low, high = interval(self.values, self.groups)
        return {"value": float(self.values.mean()), "low": low, "high": high, "n": len(self.values)}


def joined(parts: Sequence[Hits]) -> Hits:
    """The hits of several parts of a pool, which share no group."""
    firsts = np.cumsum([0, *(int(part.groups.max()) + 1 for part in parts)])[:-1]
    groups = np.concatenate([first + part.groups for first, part in zip(firsts, parts, strict=True)])
    ids = tuple(name for part in parts for name in part.ids)
    return Hits(ids, groups, np.concatenate([part.values for part in parts]))


def difference(before: Hits, after: Hits) -> dict[str, Any]:
    """How much higher `after` is than `before`, paired by the contexts that both have, with its 95 % interval."""
    row_of = {name: row for row, name in enumerate(before.ids)}
    pairs = [(row_of[name], row) for row, name in enumerate(after.ids) if name in row_of]
    mine, its = np.array(pairs).T
    groups = np.unique(after.groups[its], return_inverse=True)[1]
    return asdict(paired_difference(before.values[mine], after.values[its], groups)) | {"n": len(pairs)}


def overlap(pairs: Sequence[tuple[Hits, Hits]]) -> dict[str, Any]:
    """How often two readers of the same contexts both find gold, in each of several parts, and how much more often than
    independent ones would, with its 95 % interval, groups drawn again."""
    more = [
        Hits(one.ids, one.groups, (one.values - one.values.mean()) * (other.values - other.values.mean()))
        for one, other in pairs
    ]
    beyond = joined(more)
    half = (
        t_quantile(effective_groups(np.bincount(beyond.groups)) - 1)
        * variance_over_groups(beyond.values - beyond.values.mean(), beyond.groups) ** 0.5
    )
    mean = float(beyond.values.mean())
    both = np.concatenate([one.values * other.values for one, other in pairs])
    return {"both": float(both.mean()), "beyond": {"value": mean, "low": mean - half, "high": mean + half}}


def over_parts(values: list[float]) -> dict[str, Any]:
    """The mean over parts, which share no video, with its 95 % interval by Student's t: one figure a part."""
    n = len(values)
    half = t_quantile(n - 1) * float(np.std(values, ddof=1)) / n**0.5 if n > 1 else float("nan")
    mean = float(np.mean(values))
    return (
        {"value": mean, "low": mean - half, "high": mean + half, "n": n, "each": values}
        if n > 1
        else {"value": mean, "n": 1, "each": values}
    )


def change(before: Sequence[Hits], after: Sequence[Hits]) -> dict[str, Any]:
    """The same of several parts: over all contexts and, where both have the same parts, over these, a figure a part."""
    made = difference(joined(before), joined(after))
    if len(before) == len(after) > 1:
        each = [difference(one, other)["mean"] for one, other in zip(before, after, strict=True)]
        made["over parts"] = over_parts(each)
    return made


def found(run: KeptRun, filter: str, iteration: int) -> Hits | None:
    """What a fresh filter finds in the assignment of a run after an iteration; None where that was not asked."""
    values = run.hits.get((filter, iteration))
    return None if values is None else Hits(run.ids, run.groups, values)


def last_of(setting: Setting, arm: Arm) -> int:
    """The last iteration of an arm."""
    return sum(n for _, n in parse_schedule(setting.size.schedule(arm)))


def parts_of(setting: Setting, arm: Arm) -> list[int]:
    """The parts on which the run of an arm is there, with all of its audits."""
    return [part for out, one, part in setting.runs() if one.name == arm.name and is_whole(setting, out)]


def of_arm(setting: Setting, arm: Arm, filter: str, iteration: int, parts: Sequence[int]) -> list[Hits] | None:
    """What a fresh filter finds after an iteration of an arm, in each of `parts`; None where that was not asked.

    Before the first iteration all arms on one pool have the assignment of the first. A run on all parts together has
    one pool, and no parts.
    """
    if arm in setting.size.together:
        run = kept_run(setting, arm.name)
        return None if run is None or (one := found(run, filter, iteration)) is None else [one]
    name = arm.begins_as if iteration == 0 else arm.name
    runs = [kept_run(setting, f"runs/{name}-{part}") for part in parts]
    known = [one for run in runs if run is not None and (one := found(run, filter, iteration)) is not None]
    return known if known and len(known) == len(runs) else None
