"""What audits found, as hits by context: alone, paired between two assignments, and over several parts of the pool."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from experimenting.sizes import BIG, Arm
from experimenting.steps import Setting, encoder_name
from swag_af.data.findings import over_seeds, read_audits
from swag_af.data.interval import interval, paired_difference
from swag_af.data.run import open_run
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


def joined(parts: list[Hits]) -> Hits:
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


def found(setting: Setting, run: str, filter: str, iteration: int) -> Hits | None:
    """What a fresh filter, its brackets aside, finds in the assignment of a run after an iteration; None where that
    was not asked."""
    path = setting.out / run
    if not (path / "manifest.json").exists():
        return None
    asked = [
        one
        for one, _ in over_seeds(read_audits(path).findings)
        if (one.filter.partition("[")[0], one.iteration) == (filter, iteration)
    ]
    if not asked:
        return None
    pool, ours = open_run(path).pool, encoder_name(setting)
    finding = next((one for one in asked if one.filter == ours), asked[0])  # of two encoders, the one that was named
    return Hits(tuple(context.id for context in pool.contexts), pool.groups, np.array(finding.hits))


def last_of(setting: Setting, arm: Arm) -> int:
    """The last iteration of an arm."""
    return sum(n for _, n in parse_schedule(setting.size.schedule(arm)))


def of_parts(setting: Setting, arm: Arm, filter: str, iteration: int, n_parts: int | None = None) -> list[Hits] | None:
    """What a fresh filter finds after an iteration of an arm, in each of its parts, or the first `n_parts`; None where
    one of them is not there.

    Before the first iteration all arms on one pool have the assignment of the main one.
    """
    runs = [out for out, one, _ in setting.runs() if one.name == arm.name][:n_parts]
    if iteration == 0 and not arm.begins_anew:
        runs = [run.replace(f"runs/{arm.name}-", "runs/main-") for run in runs]
    known = [part for run in runs if (part := found(setting, run, filter, iteration)) is not None]
    return known if known and len(known) == len(runs) else None


def of_arm(setting: Setting, arm: Arm, filter: str, iteration: int, n_parts: int | None = None) -> Hits | None:
    """The same in all parts together; of the big run, which has one pool, in that."""
    if arm.name == BIG.name:
        return found(setting, BIG.name, filter, iteration)
    parts = of_parts(setting, arm, filter, iteration, n_parts)
    return None if parts is None else joined(parts)
