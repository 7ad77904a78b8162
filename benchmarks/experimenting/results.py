"""All figures of the experiment in one record, `results.json`: what is not measured yet is left out."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experimenting.curves import accuracy_of, curve_of, design_effect, jump_of, over_parts, slope_of, window_mean
from experimenting.findings import Hits, difference, finders, found, last_of, of_arm, of_parts
from experimenting.growth import growth_cells, growth_found
from experimenting.released import released_found
from experimenting.running import finished_run
from experimenting.sizes import BIG, Arm
from experimenting.steps import Setting, audited, commands, encoder_audited
from swag_af.data.captions.context_set import read_contexts_manifest
from swag_af.data.errors import InputError
from swag_af.data.files import read_json, read_jsonl, write_json
from swag_af.data.findings import read_audits
from swag_af.data.manifests import read_manifest
from swag_af.data.run import Run

RESULTS = "results.json"
DIGITS = 5


def collect(setting: Setting) -> dict[str, Any]:
    """Everything that is there, written to `results.json`."""
    made = {
        "size": {name: value for name, value in asdict(setting.size).items() if name != "arms"},
        "arms": {arm.name: asdict(arm) | {"schedule": setting.size.schedule(arm)} for arm in (BIG, *setting.size.arms)},
        "environment": [line for _, line in read_jsonl(setting.out / "environment.jsonl")],
        "commands": told_commands(setting),
        **_inputs(setting),
        "curves": _curves(setting),
        "ensemble": _ensemble(setting),
        "audits": _audits(setting),
        "compared": {arm.name: _compared(setting, arm) for arm in (BIG, *setting.size.arms[1:])},
        "growth": growth_found(setting),
        "fourway": released_found(setting),
        "done": _done(setting),
    }
    if (setting.out / "reading/found.json").exists():
        made["reading"] = read_json(setting.out / "reading/found.json")
    rounded: dict[str, Any] = _rounded(made)
    write_json(setting.out / RESULTS, rounded)
    return rounded


def told_commands(setting: Setting) -> dict[str, list[str]]:
    """The commands of every step, with DATA and ENCODER for what lies elsewhere."""
    made = {}
    for step, listed in commands(setting).items():
        lines = [f"swag-af {' '.join(one.words)}".replace(str(setting.data), "DATA") for one in listed]
        made[step] = [line.replace(str(setting.encoder), "ENCODER") for line in lines]
    return made


def _inputs(setting: Setting) -> dict[str, Any]:
    """Contexts, models and candidates, as their manifests tell."""
    made: dict[str, Any] = {"contexts": (read_contexts_manifest(setting.out / "contexts.jsonl") or {}).get("drops")}
    reports = sorted((setting.out / "lms").glob("fold-*/manifest.json"))
    kept = ("held_out_perplexity", "fold_perplexity", "n_train_pairs", "best_epoch")
    folds = [read_json(path) for path in reports]
    made["models"] = [{name: fold[name] for name in kept if name in fold} for fold in folds]
    if (setting.out / "pool/manifest.json").exists() and (pool := read_manifest(setting.out / "pool", "pool"))[
        "complete"
    ]:
        made["pool"] = {name: pool[name] for name in ("n_rows", "n_candidates", "n_draws", "rejected_draws", "drops")}
    return made


def _curves(setting: Setting) -> dict[str, Any]:
    size, made = setting.size, {}
    for name in ("big", *(run for run, _, _ in setting.runs())):
        run = finished_run(setting.out, name)
        if run is not None:
            made[name] = curve_of(run, size.window, found(setting, name, "mlp", 0))
    return made


def _ensemble(setting: Setting) -> dict[str, Any]:
    """Of every arm with both phases, run by run: jump and slope from the log, and over the parts that are finished."""
    made = {}
    for name, runs in {"big": ["big"], **_runs_by_arm(setting)}.items():
        finished = {one: run for one in runs if (run := finished_run(setting.out, one)) is not None}
        if finished and len({record.filter for run in finished.values() for record in run.log}) > 1:
            made[name] = _phases(setting, finished)
    return made


def _phases(setting: Setting, runs: Mapping[str, Run]) -> dict[str, Any]:
    """Jump, slope and levels of an arm's `runs`; InputError for one whose filters change at another iteration."""
    size = setting.size
    for name, run in runs.items():
        first = sum(record.filter == run.log[0].filter for record in run.log)
        if (first, run.n_finished) != (size.n_mlp, size.n_mlp + size.n_ensemble):
            raise InputError(
                f"{setting.out / name}: {first} of its {run.n_finished} iterations are of its first filter, not "
                f"{size.n_mlp} of {size.n_mlp + size.n_ensemble} as in size {size.name}. Give its --size."
            )
    logs = [accuracy_of(run) for run in runs.values()]
    jumps = [jump_of(log, size.n_mlp, size.window) for log in logs]
    slopes = [slope_of(log[size.n_mlp :]) for log in logs]
    last = size.n_mlp + size.n_ensemble
    firsts = {"mlp begins": 1, "mlp ends": size.n_mlp - size.window + 1}
    firsts |= {"ensemble begins": size.n_mlp + 1, "ensemble ends": last - size.window + 1}
    return {
        "runs": list(runs),
        "jumps": jumps,
        "slopes": slopes,
        "jump": over_parts([one["value"] for one in jumps]),
        "slope": over_parts([one["value"] for one in slopes]),
        "levels": {level: _level(setting, runs, first) for level, first in firsts.items()},
    }


def _level(setting: Setting, runs: Mapping[str, Run], first: int) -> dict[str, Any]:
    """The mean of a window over several runs, with their interval; of a single run with its own."""
    window, means = setting.size.window, []
    for name, run in runs.items():
        hits = found(setting, name, "mlp", 0)
        means.append(window_mean(run, first, window, 1.0 if hits is None else design_effect(hits)))
    together = over_parts([one["value"] for one in means])
    return together if len(runs) > 1 else means[0] | together


def _runs_by_arm(setting: Setting) -> dict[str, list[str]]:
    made: dict[str, list[str]] = {}
    for run, arm, _ in setting.runs():
        made.setdefault(arm.name, []).append(run)
    return made


def _audits(setting: Setting) -> dict[str, Any]:
    """What fresh filters find before, between the phases and after: in the big run, and in all parts together."""
    size = setting.size
    main = size.arms[0]
    when = {"random": 0, "after the MLP": size.n_mlp, "at the end": last_of(setting, main)}
    made: dict[str, Any] = {}
    for name, arm in {"big": BIG, "parts": main}.items():
        rows = {filter: _row(setting, arm, filter, when) for filter in finders(setting)}
        made[name] = {filter: row for filter, row in rows.items() if row}
        made[name] |= _fresh_jumps(setting, arm)
    return made


def _fresh_jumps(setting: Setting, arm: Arm) -> dict[str, Any]:
    """The jump by fresh filters; the control, the same at random, before any iteration; and the first less the second,
    paired by context."""
    gaps = {"fresh jump": setting.size.n_mlp, "fresh jump, at random": 0}
    found = {name: _gap(setting, arm, at) for name, at in gaps.items()}
    made: dict[str, Any] = {name: one.difference for name, one in found.items() if one is not None}
    after, before = found.values()
    if after is not None and before is not None:
        made["fresh jump, beyond random"] = difference(before.hits, after.hits)
    return made


def _row(setting: Setting, arm: Arm, filter: str, when: dict[str, int]) -> dict[str, Any]:
    """One filter at several iterations, the change over all of them, and that of the second phase."""
    hits = {label: of_arm(setting, arm, filter, at) for label, at in when.items()}
    known = {label: one for label, one in hits.items() if one is not None}
    row: dict[str, Any] = {label: one.figure() for label, one in known.items()}
    if {"random", "at the end"} <= set(known):
        row["change"] = difference(known["random"], known["at the end"])
    if len(known) == len(when):
        row["change by the MLP"] = difference(known["random"], known["after the MLP"])
        row["own change"] = difference(known["after the MLP"], known["at the end"])
    return row


@dataclass(frozen=True)
class _Gap:
    """How much more a fresh filter of the second phase finds than a fresh MLP."""

    difference: dict[str, Any]
    hits: Hits
    """Context by context, -1 to 1."""


def _gap(setting: Setting, arm: Arm, iteration: int, n_parts: int | None = None) -> _Gap | None:
    """The gap in the assignments after an iteration; None where that was not asked."""
    mlp, joint = (of_arm(setting, arm, filter, iteration, n_parts) for filter in ("mlp", setting.size.joint))
    if mlp is None or joint is None:
        return None
    return _Gap(difference(mlp, joint), Hits(mlp.ids, mlp.groups, joint.values - mlp.values))


def _compared(setting: Setting, arm: Arm) -> dict[str, Any]:
    """What fresh filters find at the end of an arm, and how much more than at the end of the one it is held against,
    paired by context, on the parts that both have; and what the ensemble adds to the MLP's end in each."""
    size = setting.size
    other = next(one for one in size.arms if one.name == arm.against)
    n_parts = min(arm.parts, other.parts, size.n_parts)
    made: dict[str, Any] = {"against": other.name, "parts": n_parts}
    for filter in finders(setting):
        mine = of_arm(setting, arm, filter, last_of(setting, arm), n_parts)
        its = of_arm(setting, other, filter, last_of(setting, other), n_parts)
        if mine is not None and its is not None:
            made[filter] = {"mine": mine.figure(), "its": its.figure(), "difference": difference(its, mine)}
            if (over := _over_parts(setting, (arm, other), filter, n_parts)) is not None:
                made[filter]["over parts"] = over
    for which, one in (("mine", arm), ("its", other)):
        if (jump := _gap(setting, one, size.n_mlp, n_parts)) is not None:
            made[f"fresh jump, {which}"] = jump.difference
        at_start = of_arm(setting, one, "mlp", 0, n_parts)
        if at_start is not None:
            made[f"mlp at random, {which}"] = at_start.figure()
    return made


def _over_parts(setting: Setting, arms: tuple[Arm, Arm], filter: str, n_parts: int) -> dict[str, Any] | None:
    """How much more a fresh filter finds at the end of the first arm than at the end of the second, a figure a part."""
    mine, its = (of_parts(setting, arm, filter, last_of(setting, arm), n_parts) for arm in arms)
    if not mine or not its or len(mine) < 2 or arms[0].name == BIG.name:
        return None
    return over_parts([difference(before, after)["mean"] for before, after in zip(its, mine, strict=True)])


def _done(setting: Setting) -> dict[str, list[int]]:
    """How much is there of all that was planned: two numbers."""
    size = setting.size
    runs = ["big", *(run for run, _, _ in setting.runs())]
    asked = {run: _asked(setting.out / run) for run in runs}
    fresh = [(run, f, at) for run, at, _ in audited(setting) for f in (*size.unseen, "mlp", size.joint)]
    pretrained = [(run, "encoder", at) for run, at, _ in encoder_audited(setting)]
    cells = growth_cells(setting)
    kept = sum(len(one["draws"]) for one in growth_found(setting))
    return {
        "runs": [sum(finished_run(setting.out, run) is not None for run in runs), len(runs)],
        "audits": [sum((f, at) in asked[run] for run, f, at in fresh), len(fresh)],
        "audits by a pretrained encoder": [sum((f, at) in asked[run] for run, f, at in pretrained), len(pretrained)],
        "fits of growth": [kept, len(cells)],
    }


def _asked(run: Path) -> set[tuple[str, int | None]]:
    """The audits of a run: filter, its brackets aside, and iteration."""
    return {(one.filter.partition("[")[0], one.iteration) for one in read_audits(run).findings}


def shown(results: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a record that its tables and pictures are made of."""
    main = {name: one for name, one in results["curves"].items() if name == "big" or name.startswith("runs/main-")}
    return dict(results) | {
        "arms": {name: {"about": arm["about"]} for name, arm in results["arms"].items()},
        "commands": {step: listed[:1] for step, listed in results["commands"].items()},
        "curves": {name: {"means": curve["means"]} for name, curve in main.items()},
        "ensemble": {name: one for name, one in results["ensemble"].items() if name in ("big", "main")},
    }


def as_lines(results: Mapping[str, Any]) -> str:
    """A record as JSON, an entry of each part a line."""
    parts = []
    for name, part in results.items():
        if isinstance(part, dict):
            entries, ends = [f"{json.dumps(key)}: {json.dumps(one)}" for key, one in part.items()], "{}"
        else:
            entries, ends = [json.dumps(one) for one in part or ()], "[]"
        parts.append(f"{json.dumps(name)}: {ends[0]}\n" + ",\n".join(entries) + f"\n{ends[1]}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


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
