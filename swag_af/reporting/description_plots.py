"""The pictures of a dataset described, as wide as a page of a paper: PNG, SVG and PDF, the same bytes each time.

verbs    the commonest verbs of each corpus, and below the share of all verbs that the commonest have (SWAG, Figure 4)
lengths  the share of sentences of each length (NLVR2, Figure 3)
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.display.brief import cut
from swag_af.describing.description import Description
from swag_af.describing.lengths import LONGEST, Curve
from swag_af.describing.verbs import Verbs
from swag_af.reporting.plot import drawing, save_figure

COLOURS = ("#4477aa", "#ee6677", "#228833", "#aa3377", "#8f8f00", "#2a9cc4", "#222222")
"""Of corpora, the set described first; after Paul Tol's bright scheme, with a contrast of 3:1 at least on white."""
MARKERS = "osD^vPX"
"""Of corpora, in order: lines are told apart without colour too."""
WIDTH = 7.0
"""Inches."""


def plot_description(description: Description, folder: Path) -> list[Path]:
    """Write the pictures that the description has something for into `folder`; returns their paths."""
    paths = []
    with drawing(8, **{"pdf.fonttype": 42}) as pyplot:
        if description.verbs and description.verbs.rows:
            verbs = description.verbs
            paths += _saved(pyplot, lambda figure: _verbs(figure, verbs), folder, "verbs", height=4.6)
        paths += _saved(pyplot, lambda figure: _lengths(figure, description.curves), folder, "lengths", height=2.8)
    return paths


def _saved(pyplot: Any, draw: Callable[[Any], None], folder: Path, name: str, *, height: float) -> list[Path]:
    figure = pyplot.figure(figsize=(WIDTH, height), layout="constrained")
    draw(figure)
    paths = save_figure(figure, folder, name)
    pyplot.close(figure)
    return paths


def _verbs(figure: Any, verbs: Verbs) -> None:
    """Bars of each verb above, commonest first; below the cumulative curves."""
    from matplotlib.ticker import NullFormatter

    above, below = figure.subplots(2, 1, height_ratios=(1.15, 1))
    at = np.arange(len(verbs.rows))
    width = 0.84 / len(verbs.corpora)
    for i, name in enumerate(verbs.corpora):
        shares = [100 * row.shares[i] for row in verbs.rows]
        above.bar(at + (i - (len(verbs.corpora) - 1) / 2) * width, shares, width, color=_colour(i), label=name)
    above.set_xticks(at, [cut(row.verb, 24) for row in verbs.rows], rotation=90)
    above.set(ylabel="share of verbs (%)", xlim=(-0.7, len(at) - 0.3))
    below.set(xlabel="verbs, the commonest first", ylabel="share of all verbs (%)", xscale="log", ylim=(0, 101))
    below.xaxis.set_major_formatter("{x:,.0f}")
    is_short = max((len(one.shares) for one in verbs.curves), default=0) < 10
    below.xaxis.set_minor_formatter("{x:,.0f}" if is_short else NullFormatter())
    for one in verbs.curves:
        ranks = np.arange(1, len(one.shares) + 1)
        colour = _colour(verbs.corpora.index(one.name))
        style, label = (":", f"{one.name}, {one.n:,} drawn") if one.drawn else ("-", f"{one.name}, {one.n:,} verbs")
        at_marks = np.unique(np.geomspace(1, len(ranks), 9).astype(int)) - 1 if len(ranks) else ranks
        marks = _marks(verbs.corpora.index(one.name), at_marks)
        below.plot(ranks, 100 * np.array(one.shares), style, color=colour, linewidth=1.4, label=label, **marks)
    _finish(above)
    _finish(below)


def _lengths(figure: Any, curves: Sequence[Curve]) -> None:
    axes = figure.subplots()
    of_curves = [100 * np.array(one.shares) for one in curves]
    last = max((int(np.flatnonzero(shares >= 0.05).max(initial=1)) for shares in of_curves), default=1)
    for i, (one, shares) in enumerate(zip(curves, of_curves, strict=True)):
        style = {"color": _colour(i), "linewidth": 1.4, **_marks(i, range(i % 3, len(shares), max(1, last // 12)))}
        axes.plot(np.arange(len(shares)), shares, label=f"{one.name}, mean {one.mean:.1f}", **style)
    axes.set(xlabel=f"tokens ({LONGEST}: or more)" if last == LONGEST else "tokens", ylabel="share of sentences (%)")
    axes.set(xlim=(0, last + 1), ylim=(0, None))
    _finish(axes)


def _finish(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    drawn = [*axes.containers, *axes.get_lines()]
    axes.legend(drawn, [one.get_label() for one in drawn], frameon=False)  # named: names that begin with _ as well


def _marks(i: int, at: Sequence[int] | np.ndarray) -> dict[str, Any]:
    """The shape that a line of corpus `i` has at some of its points, `at`."""
    points = [int(place) for place in at]
    return {"marker": MARKERS[i % len(MARKERS)], "markersize": 4, "markevery": points} if points else {}


def _colour(i: int) -> str:
    return COLOURS[i % len(COLOURS)]
