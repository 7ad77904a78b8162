"""How far chance goes in a run: runs over the same contexts and candidates that differ in the seed alone, which draws
another random assignment, other splits and other weights.

An interval over contexts takes the run as it is, and one over parts has other contexts too; here is neither.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from experimenting.curves import jump_of, slope_of
from experimenting.findings import finders, found, last_of, over_parts
from experimenting.record import KeptRun, is_whole, kept_run
from experimenting.steps import Setting


def seeds_found(setting: Setting) -> dict[str, Any]:
    """Of every run that was made with other seeds as well, by its name: what fresh filters find at every moment and how
    each phase changes it, jump and slope of the curve; a figure a seed, with means and intervals over them.

    Runs count that have all of their iterations and audits.
    """
    made = {}
    for name, others in _families(setting).items():
        runs = [run for one in (name, *others) if is_whole(setting, one) and (run := kept_run(setting, one))]
        if len(runs) > 1:
            made[name.removeprefix("runs/")] = _of_family(setting, runs)
    return made


def _families(setting: Setting) -> dict[str, list[str]]:
    """A run, and those that differ from it in the seed alone."""
    made: dict[str, list[str]] = {}
    for name, arm, part in setting.runs():
        if arm.seed:
            made.setdefault(f"runs/{arm.against}-{part}", []).append(name)
    return made


def _of_family(setting: Setting, runs: Sequence[KeptRun]) -> dict[str, Any]:
    size = setting.size
    moments = {"random": 0, "after the MLP": size.n_mlp, "at the end": last_of(setting, size.arms[0])}
    rows = {name: _row(runs, moments, partial(_level, name)) for name in finders(setting)}
    return {
        "runs": [run.name for run in runs],
        "contexts": len(runs[0].ids),
        "filters": {name: row for name, row in rows.items() if row},
        "fresh jump": _row(runs, moments, partial(_gap, size.joint)),
        "jump": over_parts([jump_of(run.accuracy, size.n_mlp, size.window)["value"] for run in runs]),
        "slope": over_parts([slope_of(run.accuracy[size.n_mlp :])["value"] for run in runs]),
        "later slope": over_parts([slope_of(run.accuracy[size.n_mlp + size.window :])["value"] for run in runs])
        if size.n_ensemble > size.window
        else {},
    }


PHASES = {
    "change by the MLP": ("random", "after the MLP"),
    "own change": ("after the MLP", "at the end"),
    "change": ("random", "at the end"),
}
"""Between which moments."""


def _row(
    runs: Sequence[KeptRun], moments: Mapping[str, int], level: Callable[[KeptRun, int], float | None]
) -> dict[str, Any]:
    """A level of every run at the moments at which all of them have one, and the changes between these."""
    levels = {when: [one for run in runs if (one := level(run, at)) is not None] for when, at in moments.items()}
    known = {when: each for when, each in levels.items() if len(each) == len(runs)}
    changes = {
        name: [after - before for before, after in zip(known[first], known[then], strict=True)]
        for name, (first, then) in PHASES.items()
        if {first, then} <= set(known)
    }
    return {name: over_parts(each) for name, each in (known | changes).items()}


def _level(filter: str, run: KeptRun, iteration: int) -> float | None:
    hits = found(run, filter, iteration)
    return None if hits is None else float(hits.values.mean())


def _gap(joint: str, run: KeptRun, iteration: int) -> float | None:
    """How much more a fresh filter of the second phase finds than a fresh MLP."""
    mlp, both = _level("mlp", run, iteration), _level(joint, run, iteration)
    return None if mlp is None or both is None else both - mlp
