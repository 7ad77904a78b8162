"""Charts of a report: shapes as inline SVG that stretches with the page, the text around it as HTML.

Every SVG is 1000 by 1000 units, stretched to its frame, with strokes that keep their width; so the same chart fills a
desktop and a phone while its labels stay the size of the text. Colours come from the page's style sheet, by the classes
`s0`, `s1`, ... of the series; shapes of points and patterns of lines tell series apart where colours do not.
Independent of runs and pools.
"""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def escape(text: object) -> str:
    """Any text as HTML: markup is escaped, and characters that HTML forbids become replacement characters."""
    return html.escape(_CONTROL.sub("\ufffd", str(text)), quote=True)


def percent(share: float, digits: int = 1) -> str:
    """`0.1234` as `12.3 %`, with a no-break space."""
    return f"{100 * share:z.{digits}f}\N{NO-BREAK SPACE}%"


Point = Literal["dot", "square", "ring", "box", "target", "die"]
"""The shape of a point: round or square, each of them filled, hollow, or hollow with a core."""
POINTS: tuple[Point, ...] = ("dot", "square", "ring", "box", "target", "die")
"""Shapes that tell series apart, in the order in which they are taken."""
Line = Literal["line", "dash", "long", "short", "mixed"]
"""How a line is drawn: whole, thin and dashed, or as thick as a whole one in dashes, dots, or both."""
LINES: tuple[Line, ...] = ("line", "long", "short", "mixed")
"""Patterns that tell series apart, in order."""


@dataclass(frozen=True)
class Series:
    """An entry of the legend: name, number of the colour, and how it is drawn."""

    name: str
    colour: int
    mark: Point | Line | Literal["area", "bar"] = "line"


@dataclass(frozen=True)
class Frame:
    """The axes of a chart: ranges, names and ticks."""

    x: tuple[float, float]
    y: tuple[float, float]
    x_name: str
    y_name: str
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The position of a point in the SVG, with one decimal; points outside are moved to the edge."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return round(1000 * min(1.0, max(0.0, across)), 1), round(1000 * (1 - min(1.0, max(0.0, up))), 1)


def figure(
    caption: str,
    label: str,
    frame: Frame,
    shapes: Iterable[str],
    legend: Sequence[Series] = (),
    *,
    note: str = "",
    size: str = "",
) -> str:
    """A whole chart: caption and note, axes with ticks and shapes, legend. `label` describes it for screen readers."""
    ys = "".join(f'<span style="top:{frame.at(frame.x[0], v)[1] / 10:g}%">{escape(t)}</span>' for v, t in frame.y_ticks)
    xs = "".join(f'<span style="left:{frame.at(v, 0)[0] / 10:g}%">{escape(t)}</span>' for v, t in frame.x_ticks)
    grid = "".join(f"M0 {frame.at(0, v)[1]:g}H1000" for v, _ in frame.y_ticks)
    keys = "".join(f"<li>{_key(s)}{escape(s.name)}</li>" for s in legend)
    return (
        f'<figure class="chart {size}"><figcaption>{escape(caption)}'
        + (f"<small>{escape(note)}</small>" if note else "")
        + "</figcaption>"
        f'<div class="yname">{escape(frame.y_name)}</div>'
        f'<div class="plane"><div class="ys" aria-hidden="true">{ys}</div>'
        f'<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" role="img" aria-label="{escape(label)}">'
        f'<path class="grid" d="{grid}"/>{"".join(shapes)}</svg></div>'
        f'<div class="xs" aria-hidden="true">{xs}</div><div class="xname">{escape(frame.x_name)}</div>'
        + (f'<ul class="legend">{keys}</ul>' if keys else "")
        + "</figure>\n"
    )


def _key(series: Series) -> str:
    """The swatch of a legend: what the chart draws, in small, so that it is printed and seen wherever the chart is."""
    colour = series.colour
    if series.mark in ("area", "bar"):
        inside = f'<path class="{series.mark} s{colour}" d="M0 0H1000V1000H0Z"/>'
    elif series.mark in POINTS:
        inside = "".join(_layers("M500 500h.01", colour, series.mark))
    else:
        inside = f'<path class="{series.mark} s{colour}" d="M0 500H1000"/>'
    frame = 'viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true"'
    return f'<svg class="key {series.mark}-key" {frame}>{inside}</svg>'


def line(frame: Frame, xs: np.ndarray, ys: np.ndarray, colour: int, kind: str = "line") -> str:
    """A line through the points; `kind` is a pattern, or thin. A single point is a dot."""
    if len(xs) == 1:
        return dot(frame, float(xs[0]), float(ys[0]), colour) if kind == "line" else ""
    points = [frame.at(x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]
    return f'<path class="{kind} s{colour}" d="M{"L".join(f"{x:g} {y:g}" for x, y in points)}"/>'


def steps(frame: Frame, edges: np.ndarray, heights: np.ndarray, colour: int, kind: str = "line") -> str:
    """The outline of a histogram over `edges` (b + 1,), or with `kind` area its filled shape."""
    base = frame.at(float(edges[0]), 0)
    path = f"M{base[0]:g} {base[1]:g}"
    for left, right, height in zip(edges[:-1].tolist(), edges[1:].tolist(), heights.tolist(), strict=True):
        (x0, y), (x1, _) = frame.at(left, height), frame.at(right, height)
        path += f"L{x0:g} {y:g}L{x1:g} {y:g}"
    return f'<path class="{kind} s{colour}" d="{path}L{frame.at(float(edges[-1]), 0)[0]:g} {base[1]:g}"/>'


def bar(frame: Frame, left: float, right: float, height: float, colour: int, title: str) -> str:
    """A bar from 0 to `height` with the tooltip `title`."""
    (x0, y), (x1, floor) = frame.at(left, height), frame.at(right, 0)
    return (
        f'<rect class="bar s{colour}" x="{x0:g}" y="{y:g}" width="{x1 - x0:.1f}" height="{floor - y:.1f}">'
        f"<title>{escape(title)}</title></rect>"
    )


def dot(frame: Frame, x: float, y: float, colour: int, mark: Point = "dot", *, title: str = "") -> str:
    """A point that keeps its shape, `mark`, however the chart is stretched."""
    parts = "".join(_layers("M{:g} {:g}h.01".format(*frame.at(x, y)), colour, mark))
    return f"<g><title>{escape(title)}</title>{parts}</g>" if title else parts


def _layers(at: str, colour: int, mark: str) -> list[str]:
    """What a point is drawn of, each upon the one before: ends of a line of no length, round or square."""
    kind = " square" if mark in ("square", "box", "die") else ""
    names = {"ring": ["hole"], "box": ["hole"], "target": ["wide hole", f"core s{colour}"]}
    names["die"] = names["target"]
    drawn = ["halo", f"dot s{colour}", *names.get(mark, [])]
    return [f'<path class="{name}{kind}" d="{at}"/>' for name in drawn]


def whisker(frame: Frame, x: float, low: float, high: float, colour: int) -> str:
    """A vertical line for an interval."""
    (at, bottom), (_, top) = frame.at(x, low), frame.at(x, high)
    return f'<path class="whisker s{colour}" d="M{at:g} {bottom:g}V{top:g}"/>'


def level(frame: Frame, y: float) -> str:
    """A dotted horizontal line across the chart, for chance."""
    return f'<path class="level" d="M0 {frame.at(0, y)[1]:g}H1000"/>'


def wall(frame: Frame, x: float) -> str:
    """A vertical line where a phase begins."""
    return f'<path class="wall" d="M{frame.at(x, 0)[0]:g} 0V1000"/>'


def hover(frame: Frame, x: float, title: str) -> str:
    """An invisible strip of width 1 with the tooltip `title`."""
    x0, x1 = frame.at(x - 0.5, 0)[0], frame.at(x + 0.5, 0)[0]
    place = f'x="{x0:g}" y="0" width="{x1 - x0:.1f}" height="1000"'
    return f'<rect class="hover" {place}><title>{escape(title)}</title></rect>'


def ticks(low: float, high: float, n: int = 5) -> np.ndarray:
    """About `n` round numbers from `low` to `high`."""
    rough = max(high - low, 1e-9) / max(1, n - 1)
    size = 10.0 ** np.floor(np.log10(rough))
    step = size * next(factor for factor in (1, 2, 5, 10) if factor * size >= 0.999 * rough)
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return np.round(np.arange(first, last + 1) * step, 10)


def plain_ticks(low: float, high: float, n: int = 5) -> list[tuple[float, str]]:
    """Ticks with their values as labels: `0.5`, `20`."""
    return [(float(v), f"{v:g}") for v in ticks(low, high, n)]


def percent_ticks(high: float, n: int = 5) -> list[tuple[float, str]]:
    """Ticks of a share from 0 to `high`, with percentages as labels."""
    return [(float(v) / 100, f"{v:g}\N{NO-BREAK SPACE}%") for v in ticks(0, 100 * high, n)]
