"""The record as pictures: the accuracy curve, and growth with the number of contexts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experimenting.tables import NAMES
from swag_af.reporting.plot import COLOURS, save_figure


def draw(results: Mapping[str, Any], folder: Path) -> None:
    """`curve.svg` and `growth.svg`, those for which there is something; the same record gives the same bytes."""
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": "swag-af", "font.size": 10}):
        from matplotlib import pyplot

        for name, drawn in (("curve", _curve), ("growth", _growth)):
            figure, axes = pyplot.subplots(figsize=(8, 4), layout="constrained")
            if drawn(results, axes):
                axes.spines[["top", "right"]].set_visible(False)
                axes.set_ylim(bottom=0)
                axes.legend(frameon=False, fontsize=9)
                save_figure(figure, folder, name, ("svg",))
            pyplot.close(figure)


def _curve(results: Mapping[str, Any], axes: Any) -> bool:
    """Means of a window with intervals for the big run; a thin line a part."""
    curves = results["curves"]
    for name, curve in curves.items():
        if name.startswith("runs/main-"):
            means = curve["means"]
            middle = [(one["first"] + one["last"]) / 2 for one in means]
            axes.plot(middle, [100 * one["value"] for one in means], color="#bbbbbb", linewidth=1, label="a part")
    if "big" in curves:
        means = curves["big"]["means"]
        middle = [(one["first"] + one["last"]) / 2 for one in means]
        values = np.array([[one["value"], one["low"], one["high"]] for one in means]) * 100
        errors = np.abs(values[:, 1:] - values[:, :1]).T
        axes.errorbar(middle, values[:, 0], yerr=errors, color=COLOURS["ensemble"], label="the big run", capsize=2)
        axes.axvline(results["size"]["n_mlp"] + 0.5, color="#888888", linestyle="--", linewidth=1)
        axes.axhline(10, color="#888888", linestyle=":", linewidth=1)
    axes.set(xlabel="iteration", ylabel="held-out accuracy, %")
    _label_once(axes)
    return bool(curves)


def _label_once(axes: Any) -> None:
    """One line of the legend for all parts."""
    seen = set[str]()
    for line in axes.get_lines():
        if line.get_label() in seen:
            line.set_label("_")
        seen.add(line.get_label())


def _growth(results: Mapping[str, Any], axes: Any) -> bool:
    found = results["growth"]
    for filter in dict.fromkeys(one["filter"] for one in found):
        mine = [one for one in found if one["filter"] == filter]
        values = np.array([[one["value"], one["low"], one["high"]] for one in mine]) * 100
        errors = np.abs(values[:, 1:] - values[:, :1]).T
        x = [one["contexts"] for one in mine]
        axes.errorbar(x, values[:, 0], yerr=errors, color=COLOURS[filter], label=NAMES[filter], capsize=2)
    axes.axhline(10, color="#888888", linestyle=":", linewidth=1)
    axes.set(xlabel="contexts", ylabel="accuracy on a random assignment, %", xscale="log")
    return bool(found)
