"""The accuracy curve of a run: how high the ensemble begins above the MLP's end, and how it goes on from there."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experimenting.findings import Hits
from experimenting.record import KeptRun
from swag_af.data.numbers.interval import effective_groups, t_quantile, variance_over_groups, wilson


def curve_of(run: KeptRun, window: int, finding: Hits | None) -> dict[str, Any]:
    """Held-out accuracy of the filter that re-assigns in every iteration, and means of `window` iterations."""
    effect = 1.0 if finding is None else design_effect(finding)
    points = [window_mean(run, first, window, effect) for first in range(1, len(run.accuracy) - window + 2, window)]
    accuracy = run.accuracy.round(6).tolist()
    return {"accuracy": accuracy, "filters": run.filters, "means": points, "design_effect": effect}


def window_mean(run: KeptRun, first: int, window: int, effect: float) -> dict[str, Any]:
    """The mean accuracy of `window` iterations from `first` on.

    The interval is Wilson's for the contexts that these iterations held out at least once, with the design `effect` of
    an audit's hits by group.
    """
    mean = float(run.accuracy[first - 1 : first - 1 + window].mean())
    seen = len(run.ids) * (1 - (1 - run.n_test / len(run.ids)) ** window)
    low, high = wilson(mean, seen / effect, effective_groups(np.bincount(run.groups)))
    return {"first": first, "last": first + window - 1, "value": mean, "low": low, "high": high}


def design_effect(hits: Hits) -> float:
    """The variance of the mean with whole groups drawn, over that with contexts drawn; at least 1."""
    p, n = float(hits.values.mean()), len(hits.values)
    if not 0 < p < 1:
        return 1.0
    return max(1.0, variance_over_groups(hits.values - p, hits.groups) / (p * (1 - p) / n))


def jump_of(accuracy: np.ndarray, n_first: int, window: int) -> dict[str, float]:
    """How much higher the `window` iterations behind the first `n_first` are than the `window` before, and its
    standard error: that of two means of iterations, each of which holds out other contexts. Of fewer behind, those that
    there are."""
    before, after = accuracy[n_first - window : n_first], accuracy[n_first : n_first + window]
    error = float(np.sqrt(sum(part.var(ddof=1) / len(part) for part in (before, after))))
    return {"value": float(after.mean() - before.mean()), "error": error}


def slope_of(accuracy: np.ndarray) -> dict[str, float]:
    """The slope of a line through the accuracies (n,) by least squares, for ten iterations, and its standard error."""
    n = len(accuracy)
    x = np.arange(n) - (n - 1) / 2
    slope = float(x @ accuracy / (x @ x))
    rest = accuracy - accuracy.mean() - slope * x
    error = float(np.sqrt((rest @ rest) / max(1, n - 2) / (x @ x)))
    return {"value": 10 * slope, "error": 10 * error}


def jumps_by_number(runs: Sequence[KeptRun], n_first: int, window: int) -> list[dict[str, Any]]:
    """Number of contexts and jump of finished runs, fewest contexts first, with the means on both sides of it."""
    made = []
    for run in sorted(runs, key=lambda run: (len(run.ids), run.name)):
        before, after = run.accuracy[n_first - window : n_first], run.accuracy[n_first : n_first + window]
        levels = {"before": float(before.mean()), "after": float(after.mean())}
        made.append({"run": run.name, "contexts": len(run.ids), **levels, **jump_of(run.accuracy, n_first, window)})
    return made


def growth_of_jump(jumps: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """How much the jump grows when the contexts are twice as many: the slope of a line through the runs by least
    squares, with its 95 % interval as if they were independent; None for fewer than four runs, or one number."""
    x = np.log2([one["contexts"] for one in jumps])
    y = np.array([one["value"] for one in jumps])
    if len(jumps) < 4 or np.ptp(x) < 0.5:
        return None
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    rest = y - y.mean() - slope * x
    half = t_quantile(len(y) - 2) * float(np.sqrt((rest @ rest) / (len(y) - 2) / (x @ x)))
    return {"value": slope, "low": slope - half, "high": slope + half, "n": len(y)}
