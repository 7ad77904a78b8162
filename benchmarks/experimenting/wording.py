"""Figures, intervals and differences in words."""

from collections.abc import Mapping
from typing import Any

from swag_af.filters.registry import LABELS

Rows = list[tuple[str, ...]]
"""A table, its head first."""

NAMES = LABELS | {"encoder": "a frozen pretrained encoder"}
"""Filters, as the tables call them."""


def told_parts(results: Mapping[str, Any], n: int) -> str:
    """`n` parts of all that are planned, in words."""
    planned = results["size"]["n_folds"]
    return f"All {n} parts together" if n == planned else "One part" if n == 1 else f"{n} of {planned} parts together"


def told_percent(value: float) -> str:
    """An accuracy, in per cent."""
    return f"{100 * value:.1f}"


def told_level(one: Mapping[str, Any]) -> str:
    """An accuracy, in per cent, with its interval where it has one."""
    if one.get("low") is None:
        return told_percent(one["value"])
    return f"{told_percent(one['value'])} ({told_percent(one['low'])} to {told_percent(one['high'])})"


def told_points(value: float) -> str:
    """A difference of accuracies, in points."""
    return f"{100 * value:+.1f}"


def told_change(one: Mapping[str, Any]) -> str:
    """A difference in points with its interval over contexts, where it has one."""
    value = one["mean"] if "mean" in one else one["value"]
    if one.get("low") is None:
        return told_points(value)
    return f"{told_points(value)} ({told_points(one['low'])} to {told_points(one['high'])})"


BEYOND_CONTEXTS = {"over parts": "the parts", "over seeds": "the seeds"}
"""Intervals that a difference may have beside that over contexts."""


def told_both(one: Mapping[str, Any]) -> str:
    """A difference with its interval over contexts and, where there is one, that over parts or seeds."""
    told = told_change(one)
    for key, name in BEYOND_CONTEXTS.items():
        if key in one:
            over = one[key]
            told = f"{told[:-1]}; over {name} {told_points(over['low'])} to {told_points(over['high'])})"
    return told


def told_way(figure: Mapping[str, Any], above: str, below: str, neither: str, *, over_parts: bool = True) -> str:
    """What a difference says, by its interval over contexts and, where there is one, by that over parts or seeds."""
    others = [figure[key] for key in BEYOND_CONTEXTS if key in figure and (over_parts or key != "over parts")]
    intervals = [figure, *others]
    if all(one["low"] > 0 for one in intervals):
        return above
    return below if all(one["high"] < 0 for one in intervals) else neither
