"""All figures of the experiment in one record, `results.json`: what is not measured yet is left out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experimenting.curves import (
    curve_of,
    design_effect,
    growth_of_jump,
    jump_of,
    jumps_by_number,
    slope_of,
    window_mean,
)
from experimenting.findings import Hits, change, finders, found, joined, last_of, of_arm, over_parts, overlap, parts_of
from experimenting.growth import GROWTH, growth_cells, growth_found, wide_cells, wide_found, wide_gaps
from experimenting.joined import FOLDER as JOINED
from experimenting.joined import joined_done, joined_found
from experimenting.nested import nested_found
from experimenting.pools import SHARES
from experimenting.record import FOURWAY, READING, KeptRun, asked_of, figures_of, keep_runs, kept_parts, kept_run
from experimenting.released import largest, released_found
from experimenting.repeats import FOLDER as REPEATS
from experimenting.repeats import repeats_done, repeats_found
from experimenting.running import ENVIRONMENT
from experimenting.seeds import seeds_found
from experimenting.sizes import BIG, BIGGER, Arm
from experimenting.starts import FOLDER as STARTS
from experimenting.starts import capitals_in_swag, start_cells, starts_found
from experimenting.steps import DEALT, DOUBLE, MANY, WEAK, WIDE, Setting, commands, nested_cells, without_places
from swag_af.data.captions.context_set import read_contexts_manifest
from swag_af.data.disk.files import read_json, read_log, write_json
from swag_af.data.errors import InputError

RESULTS = "results.json"
DIGITS = 5


def collect(setting: Setting) -> dict[str, Any]:
    """Everything that is there, written to `results.json`; runs that are there are kept in the record first."""
    setting = setting.whole()
    keep_runs(setting)
    runs = [run for name in setting.run_names() if (run := kept_run(setting, name)) is not None]
    reading = setting.out / "reading/found.json"
    growth = {name: figures_of(setting, name, found(setting)) or [] for name, found in GROWTHS.items()}
    nested = nested_found(setting)
    starts = figures_of(setting, STARTS, starts_found(setting)) or []
    of_all = figures_of(setting, JOINED, joined_found(setting))
    again = figures_of(setting, REPEATS, repeats_found(setting))
    begun = {
        "fits of the parts' questions, read all together": joined_done(setting, of_all),
        "audits with other seeds": repeats_done(setting, again),
    }
    made = {
        "size": {name: value for name, value in asdict(setting.size).items() if name != "arms"},
        "arms": {
            arm.name: asdict(arm) | {"schedule": setting.size.schedule(arm)}
            for arm in (*setting.size.together, *setting.size.arms)
        },
        "environment": [line for _, line in read_log(setting.out / ENVIRONMENT)],
        "commands": told_commands(setting),
        "contexts": (read_contexts_manifest(setting.out / "contexts.jsonl") or {}).get("drops"),
        "parts": {part: _inputs(kept) for part, kept in kept_parts(setting).items()},
        "curves": {run.name: curve_of(run, setting.size.window, found(run, "mlp", 0)) for run in runs},
        "ensemble": _ensemble(setting, runs),
        "one filter": _alone(setting, runs),
        "begun": _begun(setting, runs),
        "by number": _by_number(setting, runs),
        "nested": nested,
        "audits": _audits(setting),
        "joined": of_all,
        "repeats": again,
        "seeds": seeds_found(setting),
        "audited": len(parts_of(setting, setting.size.arms[0])),
        "compared": {arm.name: _compared(setting, arm) for arm in _changed(setting)},
        **growth,
        "wide gaps": figures_of(setting, f"{WIDE}-gaps", wide_gaps(setting)) or [],
        "starts": starts,
        "capitals": figures_of(setting, "capitals", capitals_in_swag(setting)),
        "fourway": largest(figures_of(setting, FOURWAY, released_found(setting)) or []),
        "reading": figures_of(setting, READING, read_json(reading) if reading.exists() else None),
        "done": _done(setting, growth, nested, starts)
        | {what: [made, n] for what, (made, n) in begun.items() if 0 < made < n},
    }
    rounded: dict[str, Any] = _rounded({name: one for name, one in made.items() if one is not None})
    write_json(setting.out / RESULTS, rounded)
    return rounded


def _changed(setting: Setting) -> list[Arm]:
    """The arms that differ from the one that they are held against in more than chance."""
    others = (arm for arm in setting.size.arms if not arm.seed and arm.against != arm.name)
    return [*setting.size.together, *others]


def told_commands(setting: Setting) -> dict[str, list[str]]:
    """The commands of every step, with DATA and ENCODER for what lies elsewhere."""
    made = {}
    for step, listed in commands(setting).items():
        made[step] = [without_places(setting, f"swag-af {' '.join(one.words)}") for one in listed]
    return made


def _inputs(kept: dict[str, Any]) -> dict[str, Any]:
    """How well a part's language models read, and how many of its candidates were drawn."""
    return {"contexts": len(kept["contexts"])} | {name: kept[name] for name in ("models", "candidates") if name in kept}


def _ensemble(setting: Setting, runs: Sequence[KeptRun]) -> dict[str, Any]:
    """Of every arm whose second phase begins where that of the main runs does, run by run: jump and slope from the log,
    and over the parts that are finished; of a run that is not, nothing."""
    made = {}
    together = [arm.name for arm in setting.size.together]
    arm_of = {name: arm.name for name, arm in _arms(setting).items()}
    arms = [*together, *(arm.name for arm in setting.size.arms if not arm.seed)]
    for name in arms:
        mine = [run for run in runs if arm_of[run.name] == name and run.is_finished and len(set(run.filters)) > 1]
        if mine:
            made[name] = _phases(setting, mine)
    return made


def _alone(setting: Setting, runs: Sequence[KeptRun]) -> dict[str, Any]:
    """Of every arm with one filter from the first iteration to the last: its last iterations, run by run and over the
    parts that are finished."""
    made: dict[str, Any] = {}
    for arm in setting.size.arms:
        names = {f"runs/{arm.name}-{part}" for part in setting.size.parts_of(arm)}
        mine = [run for run in runs if run.name in names and run.is_finished and len(set(run.filters)) == 1]
        if mine and not arm.seed:
            first = len(mine[0].filters) - setting.size.window + 1
            made[arm.name] = {"runs": [run.name for run in mine], "ends": _level(setting.size.window, mine, first)}
    return made


def _begun(setting: Setting, runs: Sequence[KeptRun]) -> dict[str, Any]:
    """Of runs that have half a window of their second phase, and not all of it: its iterations so far, and the jump in
    the first of them; beside it that of the finished runs which it is held against, in as many."""
    size = setting.size
    begun = [
        run
        for run in runs
        if not run.is_finished
        and len(set(run.filters[: size.n_mlp])) < len(set(run.filters))
        and len(run.filters) >= size.n_mlp + max(2, size.window // 2)
    ]
    return {run.name: _told_begun(setting, run, runs) for run in begun}


def _told_begun(setting: Setting, run: KeptRun, runs: Sequence[KeptRun]) -> dict[str, Any]:
    size = setting.size
    n = min(len(run.filters), size.n_mlp + size.window)
    arm = _arms(setting)[run.name]
    parts = size.parts_of(arm) if arm in size.together else [run.name.rpartition("-")[2]]
    others = {f"runs/{arm.against}-{part}" for part in parts} - {run.name}
    return {
        "iterations": len(run.filters) - size.n_mlp,
        "planned": run.n_planned - size.n_mlp,
        "window": n - size.n_mlp,
        "jump": jump_of(run.accuracy[:n], size.n_mlp, size.window),
        "beside": {
            one.name: jump_of(one.accuracy[:n], size.n_mlp, size.window)
            for one in runs
            if one.name in others and one.is_finished
        },
    }


def _arms(setting: Setting) -> dict[str, Arm]:
    """The arm of every run."""
    return {out: arm for out, arm, _ in setting.runs()} | {arm.name: arm for arm in setting.size.together}


def _by_number(setting: Setting, runs: Sequence[KeptRun]) -> dict[str, Any]:
    """The jump of every finished run that differs from the main ones in its contexts or its seed alone."""
    size = setting.size
    main = size.schedule(size.arms[0])
    arm_of = _arms(setting)
    alike = [
        run
        for run in runs
        if (arm := arm_of[run.name]).pool in ("", DOUBLE, MANY, *SHARES)
        and not arm.flags
        and size.schedule(arm) == main
        and run.is_finished
    ]
    jumps = jumps_by_number(alike, size.n_mlp, size.window)
    return {"jumps": jumps, "in twice as many": growth_of_jump(jumps)}


def _phases(setting: Setting, runs: Sequence[KeptRun]) -> dict[str, Any]:
    """Jump, slope and levels of an arm's `runs`; InputError for one whose filters change at another iteration."""
    size = setting.size
    for run in runs:
        first, n = run.filters.count(run.filters[0]), len(run.filters)
        if (first, n) != (size.n_mlp, size.n_mlp + size.n_ensemble):
            raise InputError(
                f"{setting.out / run.name}: {first} of its {n} iterations are of its first filter, not {size.n_mlp} of "
                f"{size.n_mlp + size.n_ensemble} as in size {size.name}. Give its --size."
            )
    jumps = [jump_of(run.accuracy, size.n_mlp, size.window) for run in runs]
    slopes = [slope_of(run.accuracy[size.n_mlp :]) for run in runs]
    last = size.n_mlp + size.n_ensemble
    firsts = {"mlp begins": 1, "mlp ends": size.n_mlp - size.window + 1}
    firsts |= {"ensemble begins": size.n_mlp + 1, "ensemble ends": last - size.window + 1}
    after_jump = size.n_mlp + size.window
    later = [slope_of(run.accuracy[after_jump:]) for run in runs] if last - after_jump > 2 else []
    return {
        "runs": [run.name for run in runs],
        "jumps": jumps,
        "slopes": slopes,
        "later slopes": later,
        "jump": over_parts([one["value"] for one in jumps]),
        "slope": over_parts([one["value"] for one in slopes]),
        "first": [float(run.accuracy[0]) for run in runs],
        "levels": {level: _level(size.window, runs, first) for level, first in firsts.items()},
    }


def _level(window: int, runs: Sequence[KeptRun], first: int) -> dict[str, Any]:
    """The mean of a window over several runs, with their interval; of a single run with its own."""
    means = []
    for run in runs:
        hits = found(run, "mlp", 0)
        means.append(window_mean(run, first, window, 1.0 if hits is None else design_effect(hits)))
    together = over_parts([one["value"] for one in means])
    return together if len(runs) > 1 else means[0] | together


def _audits(setting: Setting) -> dict[str, Any]:
    """What fresh filters find before, between the phases and after: in the runs on all parts together, in the parts, in
    those of twice the contexts, of weaker models, and of other contexts with fewer candidates."""
    size = setting.size
    main = size.arms[0]
    when = {"random": 0, "after the MLP": size.n_mlp, "at the end": last_of(setting, main)}
    made: dict[str, Any] = {}
    others = {arm.name: arm for arm in size.arms if arm.name in (DOUBLE, WEAK, DEALT)}
    together = {arm.name: arm for arm in size.together}
    for name, arm in (together | {"parts": main} | others).items():
        parts = parts_of(setting, arm)
        rows = {filter: _row(setting, arm, filter, when, parts) for filter in finders(setting)}
        made[name] = {filter: row for filter, row in rows.items() if row}
        made[name] |= _fresh_jumps(setting, arm, parts)
        pairs = [of_arm(setting, arm, filter, 0, parts) for filter in ("mlp", "encoder")]
        if pairs[0] and pairs[1]:
            made[name]["mlp and encoder"] = overlap(list(zip(pairs[0], pairs[1], strict=True)))
    return made


def _fresh_jumps(setting: Setting, arm: Arm, parts: Sequence[int]) -> dict[str, Any]:
    """The jump by fresh filters; the control, the same at random, before any iteration; and the first less the second,
    paired by context."""
    gaps = {"fresh jump": setting.size.n_mlp, "fresh jump, at random": 0}
    found = {name: _gap(setting, arm, at, parts) for name, at in gaps.items()}
    made: dict[str, Any] = {name: one.difference for name, one in found.items() if one is not None}
    after, before = found.values()
    if after is not None and before is not None:
        made["fresh jump, beyond random"] = change(before.hits, after.hits)
    return made


def _row(setting: Setting, arm: Arm, filter: str, when: dict[str, int], parts: Sequence[int]) -> dict[str, Any]:
    """One filter at several iterations, the change over all of them, and that of the second phase."""
    hits = {label: of_arm(setting, arm, filter, at, parts) for label, at in when.items()}
    known = {label: one for label, one in hits.items() if one is not None}
    row: dict[str, Any] = {label: joined(one).figure() for label, one in known.items()}
    if {"random", "at the end"} <= set(known):
        row["change"] = change(known["random"], known["at the end"])
    if len(known) == len(when):
        row["change by the MLP"] = change(known["random"], known["after the MLP"])
        row["own change"] = change(known["after the MLP"], known["at the end"])
    return row


@dataclass(frozen=True)
class _Gap:
    """How much more a fresh filter of the second phase finds than a fresh MLP."""

    difference: dict[str, Any]
    hits: list[Hits]
    """Part by part and context by context, -1 to 1."""


def _gap(setting: Setting, arm: Arm, iteration: int, parts: Sequence[int]) -> _Gap | None:
    """The gap in the assignments after an iteration; None where that was not asked."""
    mlp, joint = (of_arm(setting, arm, filter, iteration, parts) for filter in ("mlp", setting.size.joint))
    if mlp is None or joint is None:
        return None
    hits = [Hits(one.ids, one.groups, both.values - one.values) for one, both in zip(mlp, joint, strict=True)]
    return _Gap(change(mlp, joint), hits)


def _compared(setting: Setting, arm: Arm) -> dict[str, Any]:
    """What fresh filters find at the end of an arm, and how much more than at the end of the one it is held against,
    paired by context, on the parts that both have; the same when the MLP's iterations are over, and what the ensemble
    adds to the MLP's end in each."""
    size = setting.size
    other = next(one for one in size.arms if one.name == arm.against)
    parts = parts_of(setting, other)
    parts = sorted(set(parts) & set(size.parts_of(arm) if arm in size.together else parts_of(setting, arm)))
    made: dict[str, Any] = {"against": other.name, "parts": len(parts), "after the MLP": {}}
    for filter in finders(setting):
        for into, mine_at, its_at in (
            (made, last_of(setting, arm), last_of(setting, other)),
            (made["after the MLP"], size.n_mlp, size.n_mlp),
        ):
            mine = of_arm(setting, arm, filter, mine_at, parts)
            its = of_arm(setting, other, filter, its_at, parts)
            if mine is not None and its is not None:
                levels = {"mine": joined(mine).figure(), "its": joined(its).figure()}
                into[filter] = levels | {"difference": change(its, mine)}
    for which, one in (("mine", arm), ("its", other)):
        if (jump := _gap(setting, one, size.n_mlp, parts)) is not None:
            made[f"fresh jump, {which}"] = jump.difference
        at_start = of_arm(setting, one, "mlp", 0, parts)
        if at_start is not None:
            made[f"mlp at random, {which}"] = joined(at_start).figure()
    return made


GROWTHS = {GROWTH: growth_found, WIDE: wide_found}
"""What is measured by number of contexts."""


def _done(
    setting: Setting,
    growth: Mapping[str, Sequence[Mapping[str, Any]]],
    nested: Mapping[str, Any],
    starts: Sequence[Mapping[str, Any]],
) -> dict[str, list[int]]:
    """How much is there of all that was planned: two numbers."""
    runs = setting.run_names()
    planned = {run: asked_of(setting, run) for run in runs}
    kept = {run: one for run in runs if (one := kept_run(setting, run)) is not None}
    made = {run: planned[run] & set(one.hits) for run, one in kept.items()}
    n_fits = sum(len(one["draws"]) for figures in growth.values() for one in figures)
    begun = {run: one for run, one in kept.items() if not one.is_finished}
    return {
        **{f"iterations of `{run}`": [len(one.filters), one.n_planned] for run, one in begun.items()},
        "runs": [len(kept) - len(begun), len(runs)],
        "audits": [sum(map(len, made.values())), sum(map(len, planned.values()))],
        "runs over nested contexts": [
            sum(len(row["draws"]) for row in nested.get("rows", [])),
            len(nested_cells(setting)),
        ],
        "fits of growth": [n_fits, len(growth_cells(setting)) + len(wide_cells(setting))],
        "fits of where the curve begins": [
            sum(len(one["draws"]) for one in starts),
            len(start_cells(setting)),
        ],
    }


def shown(results: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a record that its tables and pictures are made of."""
    drawn = (BIG.name, BIGGER.name, "runs/main-", "runs/weak-")
    curves = {name: one for name, one in results["curves"].items() if name.startswith(drawn)}
    return dict(results) | {
        "arms": {name: {"about": arm["about"]} for name, arm in results["arms"].items()},
        "commands": {step: listed[:1] for step, listed in results["commands"].items()},
        "curves": {name: {"means": curve["means"]} for name, curve in curves.items()},
    }


def _rounded(value: Any) -> Any:
    """Floats with as many digits as are kept."""
    if isinstance(value, float):
        return round(value, DIGITS) if np.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list | tuple) else value


def read_results(path: Path) -> dict[str, Any]:
    """A record as it was written."""
    made: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return made
