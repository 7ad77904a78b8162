"""Figure 13 of VCR for one's own data: how hard questions are at each lambda, for models and for people."""

from collections.abc import Sequence
from pathlib import Path

from swag_af.matching.points import Point
from swag_af.reporting.plot import colours, drawing, save_figure

LABELS = {
    "people": "people",
    "relevance": "the relevance model",
    "options_alone": "tf-idf on the options alone",
}


def plot_sweep(points: Sequence[Point], *, chance: float, asked: float | None, folder: Path) -> list[Path]:
    """Write `sweep.png` and `sweep.svg` into `folder`; the same points give the same bytes."""
    with drawing() as pyplot:
        figure, axes = pyplot.subplots(figsize=(8, 4.2), layout="constrained")
        of_name = colours(list(LABELS))
        for name, colour in of_name.items():
            found = [(point.weight, getattr(point, name)) for point in points if getattr(point, name) is not None]
            if not found:
                continue
            x, y = [weight for weight, _ in found], [100 * one.value for _, one in found]
            low = [100 * max(0.0, one.value - one.low) for _, one in found]
            high = [100 * max(0.0, one.high - one.value) for _, one in found]
            axes.errorbar(x, y, [low, high], color=colour, marker="o", markersize=4, capsize=3, label=LABELS[name])
        axes.axhline(100 * chance, color="#777777", linestyle=":", label="chance")
        for guessed in sorted({one.people_chance for one in points if one.people_chance} - {chance}):
            axes.axhline(100 * guessed, color=of_name["people"], linestyle=":", label="chance of people")
        if asked is not None:
            axes.axhline(100 * asked, color="#777777", linestyle="--", linewidth=1, label="asked of people")
        smallest = min((point.weight for point in points if point.weight > 0), default=0.01)
        axes.set_xscale("symlog", linthresh=smallest)
        weights = [point.weight for point in points]
        axes.set_xlim(-0.4 * smallest if min(weights) == 0 else 0.8 * smallest, 1.3 * max(weights))
        axes.set_xticks(weights, [f"{weight:g}" for weight in weights])
        axes.set_xticks([], minor=True)
        axes.set(
            xlabel="lambda: weight of difference in meaning beside relevance", ylabel="accuracy (%)", ylim=(0, 100)
        )
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(frameon=False, loc="outside right center", fontsize=9)
        paths = save_figure(figure, folder, "sweep", ("png", "svg"))
        pyplot.close(figure)
    return paths
