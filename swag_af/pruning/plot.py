"""The size curve as a picture: each probe on what was pruned, with its interval, and on as many instances at random,
with the range of these sets."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.pruning.curve import Point
from swag_af.reporting.plot import colours, drawing, save_curve


def plot_curve(points: Sequence[Point], took_part: Collection[str], folder: Path, *, title: str) -> list[Path]:
    """Write `curve.png` and `curve.svg` into `folder`; the same points give the same bytes.

    Probes of `took_part` are marked: they fall by construction.
    """
    from matplotlib.ticker import MaxNLocator

    with drawing() as pyplot:
        figure, axes = pyplot.subplots(figsize=(9, 4.5), layout="constrained")
        colour_of = colours([one.probe for one in points])
        for probe, colour in colour_of.items():
            marked = f"{probe} (took part)" if probe in took_part else probe
            _draw([one for one in points if one.probe == probe], axes, colour, marked)
        chance = sorted({(one.n, one.chance) for one in points if one.of == "pruned"})
        axes.plot([n for n, _ in chance], [100 * c for _, c in chance], color="#777777", linestyle=":", label="chance")
        axes.invert_xaxis()
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))  # no parts of instances
        axes.set(xlabel="instances left", ylabel="accuracy, out of fold (%)")
        axes.set_title(title, loc="left", fontsize=11)
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(frameon=False, loc="outside right center", fontsize=9)
        paths = save_curve(figure, folder)
        pyplot.close(figure)
    return paths


def _draw(points: Sequence[Point], axes: Any, colour: str, label: str) -> None:
    pruned = sorted((one for one in points if one.of == "pruned"), key=lambda one: one.n)
    sizes = [one.n for one in pruned]
    axes.plot(sizes, [100 * one.accuracy for one in pruned], color=colour, marker="o", markersize=4, label=label)
    axes.fill_between(
        sizes, [100 * one.low for one in pruned], [100 * one.high for one in pruned], color=colour, alpha=0.15, lw=0
    )
    drawn = [_at_random(points, one) for one in pruned]
    axes.fill_between(sizes, [min(v) for v in drawn], [max(v) for v in drawn], lw=0, **_HATCHED, edgecolor=colour)
    axes.plot(
        sizes,
        [float(np.mean(values)) for values in drawn],
        color=colour,
        linestyle="--",
        linewidth=1,
        label=f"{label.split(' (')[0]}, random removal: mean, range",
    )


_HATCHED: dict[str, Any] = {"facecolor": "none", "hatch": "///", "alpha": 0.3}


def _at_random(points: Sequence[Point], one: Point) -> list[float]:
    """The accuracies (%) of the random sets as large as that of `one`; its own where that is the whole set."""
    values = [other.accuracy for other in points if other.of == "random" and other.n == one.n]
    return [100 * value for value in values or [one.accuracy]]
