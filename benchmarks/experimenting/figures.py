"""The record as pictures: the accuracy curve, and growth with the number of contexts: of what filters find, and of the
jump."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experimenting.findings import over_parts
from experimenting.phases import is_drawn
from experimenting.readers import FEWEST_DRAWN
from experimenting.wording import NAMES
from swag_af.reporting.plot import COLOURS, MARKERS, colours, save_figure


def draw(results: Mapping[str, Any], folder: Path) -> None:
    """`curve.svg`, `growth.svg` and `jumps.svg`, those for which there is something; the same record gives the same
    bytes."""
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": "swag-af", "svg.fonttype": "none", "font.size": 10}):
        from matplotlib import pyplot

        for name, drawn in (("curve", _curve), ("growth", _growth), ("jumps", _jumps)):
            figure, axes = pyplot.subplots(figsize=(9, 4.5), layout="constrained")
            if drawn(results, axes):
                axes.spines[["top", "right"]].set_visible(False)
                axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]) if name == "jumps" else 0)
                figure.legend(frameon=False, fontsize=9, loc="outside right center")
                save_figure(figure, folder, name, ("svg",))
            pyplot.close(figure)


def _curve(results: Mapping[str, Any], axes: Any) -> bool:
    """Means of a window with their intervals: of the finished run with most contexts, or else over the parts; a thin
    line a part, a dashed one where its language models are weaker."""
    curves = results["curves"]
    parts = [curve["means"] for name, curve in curves.items() if name.startswith("runs/main-")]
    parts = [means for means in parts if len(means) == max(map(len, parts))]  # without runs that are not finished
    whole = next((name for name in ("bigger", "big") if name in results["ensemble"]), "")
    if not parts and not whole:
        return False
    if whole:
        label, means = results["arms"][whole]["about"], curves[whole]["means"]
    elif len(parts) > 1:
        over = [over_parts([one["value"] for one in of_parts]) for of_parts in zip(*parts, strict=True)]
        label, means = f"mean of {len(parts)} parts", [a | b for a, b in zip(parts[0], over, strict=True)]
    else:
        label, means = "one part", parts[0]
    for part in parts if means not in parts else ():
        axes.plot(_middles(part), _values(part), color="#bbbbbb", linewidth=1, label="a part")
    for weak in (curve["means"] for name, curve in curves.items() if name.startswith("runs/weak-")):
        axes.plot(
            _middles(weak), _values(weak), color="#555555", linestyle="--", linewidth=1, label="a part, weaker models"
        )
    values, errors = _with_errors(means)
    axes.errorbar(_middles(means), values, yerr=errors, color=COLOURS["ensemble"], label=label, capsize=2)
    _audits(results, axes, whole or "parts")
    last = results["size"]["n_mlp"]
    axes.axvline(last + 0.5, color="#888888", linestyle="--", linewidth=1)
    axes.axhline(10, color="#888888", linestyle=":", linewidth=1)
    axes.set(xlabel="iteration", ylabel="held-out accuracy, %")
    words = {"color": "#555555", "fontsize": 9, "va": "bottom"}
    axes.text(last / 2, 1, "MLP", transform=axes.get_xaxis_transform(), ha="center", **words)
    axes.text(last + 1.5, 1, results["size"]["joint"], transform=axes.get_xaxis_transform(), **words)
    axes.text(last / 2, 9.8, "chance", ha="center", **(words | {"va": "top"}))
    _label_once(axes)
    return True


def _audits(results: Mapping[str, Any], axes: Any, name: str) -> None:
    """What fresh filters find in three assignments, as points with intervals, a little apart."""
    size = results["size"]
    n = size["n_mlp"] + size["n_ensemble"]
    when = {"random": 0, "after the MLP": size["n_mlp"], "at the end": n}
    for number, filter in enumerate(("ngrams", "fasttext", "mlp", size["joint"], "encoder")):
        row = results["audits"][name].get(filter, {})
        shown = [(at + n / 100 * (number - 2), row[label]) for label, at in when.items() if label in row]
        if shown:
            x, found = zip(*shown, strict=True)
            values, errors = _with_errors(found)
            colour = colours([filter])[filter]
            style = {"fmt": MARKERS[number], "color": colour, "markersize": 5, "linewidth": 1}
            axes.errorbar(x, values, yerr=errors, label=f"fresh: {NAMES[filter]}", **style)


def _middles(means: Sequence[Mapping[str, float]]) -> list[float]:
    return [(one["first"] + one["last"]) / 2 for one in means]


def _values(figures: Sequence[Mapping[str, float]]) -> list[float]:
    return [100 * one["value"] for one in figures]


def _with_errors(figures: Sequence[Mapping[str, float]]) -> tuple[np.ndarray, np.ndarray]:
    """(n,) values in % and (2, n) how far their intervals reach below and above."""
    ends = np.array([[one["value"], one["low"], one["high"]] for one in figures]) * 100
    return ends[:, 0], np.abs(ends[:, 1:] - ends[:, :1]).T


def _label_once(axes: Any) -> None:
    """One line of the legend for all parts."""
    seen = set[str]()
    for line in axes.get_lines():
        if line.get_label() in seen:
            line.set_label("_")
        seen.add(line.get_label())


def _growth(results: Mapping[str, Any], axes: Any) -> bool:
    found = results["growth"]
    counts = sorted({one["contexts"] for one in found})
    if len(counts) < FEWEST_DRAWN:
        return False
    for filter in dict.fromkeys(one["filter"] for one in found):
        mine = [one for one in found if one["filter"] == filter]
        values, errors = _with_errors(mine)
        x = [one["contexts"] for one in mine]
        axes.errorbar(x, values, yerr=errors, color=COLOURS[filter], label=NAMES[filter], capsize=2)
    axes.axhline(10, color="#888888", linestyle=":", linewidth=1)
    axes.set(xlabel="contexts", ylabel="accuracy on a random assignment, %", xscale="log")
    axes.set_xticks(counts, [f"{n:,}" for n in counts])
    axes.minorticks_off()
    return True


def _jumps(results: Mapping[str, Any], axes: Any) -> bool:
    """The jump of every draw by the number of contexts, and the means with their intervals over the draws; beside it
    what a fresh ensemble finds beyond a fresh MLP before and after the MLP's iterations."""
    found = results.get("nested", {})
    if not is_drawn(found):
        return False
    rows = [row for row in found["rows"] if row["jump"].get("low") is not None]
    values, errors = _with_errors([row["jump"] for row in rows])
    x = [row["rows"] for row in rows]
    for row in rows:
        each = [100 * value for value in row["jump"]["each"]]
        axes.plot([row["rows"]] * len(each), each, "o", color="#bbbbbb", markersize=4, label="jump, a draw")
    axes.errorbar(x, values, yerr=errors, color=COLOURS["ensemble"], label="jump, mean of the draws", capsize=2)
    for number, (when, colour) in enumerate((("random", COLOURS["bow"]), ("after the MLP", COLOURS["mlp"])), 1):
        known = [row for row in rows if row["lead"].get(when, {}).get("low") is not None]
        leads = [(row["rows"] * 1.02**number, row["lead"][when]) for row in known]
        if leads:
            places, figures = zip(*leads, strict=True)
            values, errors = _with_errors(figures)
            style = {"fmt": f"{MARKERS[number]}--", "color": colour, "markersize": 5, "linewidth": 1, "capsize": 2}
            axes.errorbar(places, values, yerr=errors, label=f"fresh ensemble less\nfresh MLP: {when}", **style)
    axes.axhline(0, color="#888888", linestyle=":", linewidth=1)
    axes.set(xlabel="contexts", ylabel="points", xscale="log")
    axes.set_xticks(x, [f"{n:,}" for n in x])
    axes.minorticks_off()
    _label_once(axes)
    return True
