"""How far models get, as a picture: a panel for each input, accuracies with intervals, chance, the paper's figures."""

from pathlib import Path
from typing import Any

from swag_af.baselines.outcome import Baselines
from swag_af.reporting.plot import COLOURS, drawing, save_figure

NAME = "baselines"
_OURS, _OTHER, _PAPER = COLOURS["mlp"], COLOURS["poslstm"], "#222222"


def plot_baselines(found: Baselines, folder: Path) -> list[Path]:
    """Write `baselines.png` and `.svg` into `folder`; returns their paths. The same figures give the same bytes."""
    with drawing(9) as pyplot:
        size = (2.2 + 2.6 * len(found.inputs), 1.4 + 0.3 * len(found.models))
        figure, panels = pyplot.subplots(
            1, len(found.inputs), figsize=size, layout="constrained", sharex=True, sharey=True
        )
        for input, axes in zip(found.inputs, [panels] if len(found.inputs) == 1 else panels, strict=True):
            _draw(found, input, axes)
        handles = {label: handle for axes in figure.axes for handle, label in zip(*_legend(axes), strict=True)}
        figure.legend(handles.values(), handles.keys(), frameon=False, loc="outside lower center", ncols=4)
        figure.suptitle(f"{found.name}: accuracy on {found.main}, 95 % intervals", x=0.01, ha="left", fontsize=10)
        paths = save_figure(figure, folder, NAME, ("png", "svg"))
        pyplot.close(figure)
    return paths


def _legend(axes: Any) -> Any:
    return axes.get_legend_handles_labels()


def _draw(found: Baselines, input: str, axes: Any) -> None:
    """One panel: models from top to bottom, kinds of training side by side."""
    n = len(found.trained_on)
    for k, (trained_on, colour) in enumerate(zip(found.trained_on, (_OURS, _OTHER), strict=False)):
        shift = 0.22 * (k - (n - 1) / 2)
        label = "ours" if n == 1 else f"ours, trained on {trained_on}"
        for row, model in enumerate(found.models):
            one = found.figure(model, input, trained_on, found.main)
            if one is None:
                continue
            low, high = 100 * (one.accuracy - one.low), 100 * (one.high - one.accuracy)
            spread = [[max(0.0, low)], [max(0.0, high)]]
            axes.errorbar(
                [100 * one.accuracy], [row + shift], xerr=spread, fmt="o", color=colour, markersize=4, label=label
            )
            if one.paper is not None and k == 0:
                mark = "the paper, on SWAG"
                axes.plot([100 * one.paper], [row], "D", markersize=5, markerfacecolor="none", color=_PAPER, label=mark)
    chance = next(one.chance for one in found.figures if one.part == found.main)
    axes.axvline(100 * chance, color="#777777", linestyle=":", label="chance")
    axes.set_yticks(range(len(found.models)), found.models)
    axes.set_ylim(len(found.models) - 0.4, -0.6)
    axes.set(xlabel="%", title=input)
    axes.spines[["top", "right"]].set_visible(False)
