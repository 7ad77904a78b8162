"""How far the luck of fits goes: what the filters that take part find in runs on all parts, and in what the runs on the
parts leave, audited again with other seeds, which draw other folds and begin from other weights.

An interval over contexts takes folds and fits as they are, and holds nothing of what another seed would give.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experimenting.findings import Hits, difference, found
from experimenting.joined import joined_hits, moments, parts_together
from experimenting.record import KeptRun, kept_run, whole_run
from experimenting.sizes import BIG, Size
from experimenting.steps import Setting, rows_of, seconds_of_fit
from swag_af.auditing.runs.audit import audit_columns
from swag_af.data.disk.files import read_json, write_json
from swag_af.data.numbers.interval import t_quantile
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.work.progress import progress

FOLDER = "repeats"
PARTS = "parts"
"""Stands for what the runs on the parts leave, beside names of runs on all parts."""
PHASES = {"by the MLP": ("random", "after the MLP"), "by the ensemble": ("after the MLP", "at the end")}
"""Between which moments."""


@dataclass(frozen=True)
class Repeat:
    """One audit with another seed."""

    of: str
    """A run on all parts together, or PARTS."""
    filter: str
    iteration: int
    seed: int


def took_part(size: Size) -> tuple[str, ...]:
    """The filters of the runs."""
    return (size.joint, "mlp")


def repeats(setting: Setting) -> list[Repeat]:
    """All that are asked for, one seed after the other, so that those that are there are whole ones: of the parts where
    their runs are worked on, and `big` is."""
    size = setting.size
    asked = [arm.name for arm in setting.together()]
    asked += [PARTS] if BIG.name in asked and any(arm.name == "main" for _, arm, _ in setting.runs()) else []
    return [
        Repeat(of, filter, at, seed)
        for of in asked
        for seed in range(1, 1 + size.n_repeats)
        for at in moments(size).values()
        for filter in took_part(size)
    ]


def repeats_seconds(setting: Setting) -> float:
    """CPU seconds, forecast: five fits each."""
    size = setting.size
    rows = {arm.name: rows_of(size, arm) for arm in size.together}
    return sum(5 * seconds_of_fit(one.filter, rows.get(one.of, size.n_contexts)) for one in repeats(setting))


def measure_repeats(setting: Setting) -> None:
    """Make the audits that are not there. InputError where a run is not finished."""
    asked = repeats(setting)
    todo = [one for one in asked if not _path(setting, one).exists()]
    if not todo:
        return
    subjects: dict[str, tuple[CandidatePool, Callable[[int], np.ndarray]]] = {}
    with progress("repeats", len(asked), "audits", done=len(asked) - len(todo)) as advance:
        for one in todo:
            if one.of not in subjects:
                subjects[one.of] = _subject(setting, one.of)
            pool, assignment = subjects[one.of]
            columns = assignment(one.iteration)
            (audit,) = audit_columns(pool, np.arange(len(pool)), columns, pool.groups, [one.filter], seed=one.seed)
            write_json(_path(setting, one), {"hits": list(audit.hits)})
            advance(1, note=f"{one.of}, {one.filter}, after iteration {one.iteration}: {audit.accuracy:.3f}")


def _subject(setting: Setting, of: str) -> tuple[CandidatePool, Callable[[int], np.ndarray]]:
    """What is audited: a pool, and its assignment after an iteration."""
    if of == PARTS:
        return parts_together(setting)
    run = whole_run(setting, of)
    return run.pool, run.assignment


Seeds = Sequence[Hits]
"""The same audit seed by seed, that of the other audits first."""


def repeats_found(setting: Setting) -> dict[str, Any] | None:
    """Of runs on all parts and of what the parts' runs leave, filter by filter: what every seed finds at every moment;
    as means over seeds, how each phase changes it and, of the latter, how much more `big` leaves."""
    known = {
        (of, filter): seeds
        for of in (*(arm.name for arm in setting.size.together), PARTS)
        for filter in took_part(setting.size)
        if (seeds := _by_moment(setting, of, filter))
    }
    of_filter = {filter: [one for key, one in known.items() if key[1] == filter] for filter in took_part(setting.size)}
    luck = {filter: luck_of(audited) for filter, audited in of_filter.items() if audited}
    made: dict[str, Any] = {}
    for (of, filter), seeds in known.items():
        row: dict[str, Any] = {"seeds": {when: [_mean(hits) for hits in one] for when, one in seeds.items()}}
        row |= {
            phase: change_of_means(seeds[before], seeds[after], luck[filter])
            for phase, (before, after) in PHASES.items()
        }
        if of == PARTS and (of_big := known.get((BIG.name, filter))):
            row["big less this"] = {
                when: change_of_means(one, of_big[when], luck[filter]) for when, one in seeds.items()
            }
        made.setdefault(of, {})[filter] = row
    return made | {"luck": {name: one.deviation for name, one in luck.items()}} if made else None


def repeats_done(setting: Setting, figures: Mapping[str, Any] | None) -> list[int]:
    """How many audits are there, or in the `figures` of a record, and of how many that are asked."""
    asked, rows = repeats(setting), [row for of, row in (figures or {}).items() if of != "luck"]
    told = sum(len(seeds) - 1 for row in rows for one in row.values() for seeds in one["seeds"].values())
    return [max(told, sum(_path(setting, one).exists() for one in asked)), len(asked)]


@dataclass(frozen=True)
class Luck:
    """How far the accuracy of one audit goes from seed to seed, pooled over what is audited."""

    deviation: float
    """Standard deviation of one audit."""
    freedom: int
    """Degrees of freedom of that estimate."""


def change_of_means(before: Seeds, after: Seeds, luck: Luck) -> dict[str, Any]:
    """How much higher the mean over seeds is in `after`, with its interval over contexts, paired, and the one over
    seeds: Student's t with the pooled deviation."""
    made = difference(mean_of(before), mean_of(after))
    half = t_quantile(luck.freedom) * luck.deviation * (1 / len(before) + 1 / len(after)) ** 0.5
    return made | {"over seeds": {"low": made["mean"] - half, "high": made["mean"] + half}}


def mean_of(seeds: Seeds) -> Hits:
    """Hits as means over seeds."""
    return Hits(seeds[0].ids, seeds[0].groups, np.mean([one.values for one in seeds], axis=0))


def luck_of(audited: Sequence[Mapping[str, Seeds]]) -> Luck:
    """The deviation within what is audited, which is taken to be the same at every moment."""
    values = [[_mean(hits) for hits in seeds] for one in audited for seeds in one.values()]
    freedom = sum(len(one) - 1 for one in values)
    squares = sum(float(((np.array(one) - np.mean(one)) ** 2).sum()) for one in values)
    return Luck((squares / freedom) ** 0.5, freedom)


def _mean(hits: Hits) -> float:
    return float(hits.values.mean())


def _by_moment(setting: Setting, of: str, filter: str) -> dict[str, list[Hits]]:
    """The seeds that were asked at every moment; empty where there is one, or none."""
    run = kept_run(setting, BIG.name if of == PARTS else of)
    if run is None:
        return {}
    seeds = {when: list(_seeds(setting, run, of, filter, at)) for when, at in moments(setting.size).items()}
    n = min(len(one) for one in seeds.values())
    return {when: one[:n] for when, one in seeds.items()} if n > 1 else {}


def _seeds(setting: Setting, run: KeptRun, of: str, filter: str, at: int) -> Iterator[Hits]:
    """What each seed finds, up to the first that is not there; the contexts are those of `run`."""
    first = joined_hits(setting, run, filter, at) if of == PARTS else found(run, filter, at)
    if first is None:
        return
    yield first
    for seed in range(1, 1 + setting.size.n_repeats):
        path = _path(setting, Repeat(of, filter, at, seed))
        if not path.exists():
            return
        yield Hits(run.ids, run.groups, np.array(read_json(path)["hits"]))


def _path(setting: Setting, one: Repeat) -> Path:
    return setting.out / FOLDER / f"{one.of}-{one.iteration}-{one.filter}-{one.seed}.json"
