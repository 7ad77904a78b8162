"""The accuracy curve of a run, as Figure 2 of Zellers et al. 2018 draws it: every head, and chance.

Audits are drawn beside it as points with their 95 % intervals.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.disk.replacing import replacing
from swag_af.data.errors import several
from swag_af.data.runs.findings import Audits, Finding, over_seeds, read_audits
from swag_af.data.runs.run import Run
from swag_af.data.work.progress import note
from swag_af.filters.registry import label_of

COLOURS = {
    "mlp": "#4477aa",
    "bow": "#228833",
    "cnn": "#8f8f00",
    "poslstm": "#ee6677",
    "ensemble": "#222222",
    "ngrams": "#aa3377",
    "fasttext": "#d95f0e",
    "chars": "#2a9cc4",
}
"""One colour per filter, after Paul Tol's bright and vibrant schemes: apart for the colour blind, with a contrast of
3:1 at least on white."""

OTHER_COLOURS = ("#8c510a", "#009988", "#bb5566", "#332288")
"""For any other filters, in order."""


MARKERS = "DsoP^v"
"""One shape per audit filter, in order."""


def plot_run(run: Run, folder: Path) -> list[Path]:
    """Write `curve.png` and `curve.svg` into `folder`; returns their paths. The same run gives the same bytes."""
    with drawing() as pyplot:
        figure, axes = pyplot.subplots(figsize=(9, 4.5), layout="constrained")
        audits = audit_points(run, read_audits(run.path))
        colour_of = colours([*curves(run), *audits])
        _draw(run, axes, colour_of)
        _draw_audits(run, axes, audits, colour_of)
        axes.set_ylim(bottom=0)  # once everything is drawn: it fixes the top too
        if run.log or audits:
            axes.figure.legend(frameon=False, loc="outside right center", fontsize=9)
        paths = save_curve(figure, folder)
        pyplot.close(figure)
    return paths


@contextmanager
def drawing(size: int = 10, **settings: Any) -> Iterator[Any]:
    """`pyplot`, to draw with letters of `size` points: the same figure gives the same bytes, and names of files are no
    formulas, whatever they have between two `$`."""
    import matplotlib

    matplotlib.use("Agg")
    same: dict[Any, Any] = {"svg.hashsalt": "swag-af", "text.parse_math": False, "font.size": size, **settings}
    with matplotlib.rc_context(same):
        from matplotlib import pyplot

        yield pyplot


def save_curve(figure: Any, folder: Path) -> list[Path]:
    """Write a figure as `curve.png` and `curve.svg` into `folder`; returns their paths."""
    return save_figure(figure, folder, "curve", ("png", "svg"))


def save_figure(figure: Any, folder: Path, name: str, suffixes: Sequence[str] = ("png", "svg", "pdf")) -> list[Path]:
    """Write a figure as `NAME.png` and so on into `folder`, without the time of day; returns the paths."""
    paths = []
    for suffix in suffixes:
        path = folder / f"{name}.{suffix}"
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(suffix)
        with replacing(path) as temporary, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            figure.savefig(temporary, format=suffix, dpi=150, metadata=metadata)
        unknown = [one for one in caught if "missing from font" in str(one.message)]
        for one in caught:
            if one not in unknown:
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        if unknown and suffix == suffixes[0]:
            note(f"{name}: a name has letters that the font of pictures lacks; they are drawn as boxes.")
        paths.append(path)
    return paths


def curves(run: Run) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """For every head, the iterations at which it was measured and its held-out accuracies."""
    found: dict[str, list[tuple[int, float]]] = {}
    for record in run.log:
        for head, value in record.accuracy.items():
            found.setdefault(head, []).append((record.iteration, value))
    return {
        head: (np.array([i for i, _ in points]), np.array([v for _, v in points])) for head, points in found.items()
    }


@dataclass(frozen=True)
class Turns:
    """What one head found in the iterations that one filter decided."""

    head: str
    filter: str
    """The filter, which may be the head itself, or have it in it."""
    values: np.ndarray
    """Held-out accuracies."""

    def called(self, label: Callable[[str], str] = str) -> str:
        """`mlp`, or `mlp, in ensemble`, by the `label` of each."""
        return label(self.head) + (f", in {label(self.filter)}" if self.head != self.filter else "")


def turns(run: Run, last: int | None = None) -> list[Turns]:
    """Every head's accuracies, apart by the filter that decided, in the order of the schedule: an MLP that an ensemble
    has in it is fitted on what the MLP's own iterations left. Up to the iteration `last`, to the end if None."""
    found: dict[tuple[str, str], list[float]] = {}
    for record in run.log[:last]:
        for head in sorted(record.accuracy, key=lambda head: head != record.filter):
            found.setdefault((head, record.filter), []).append(record.accuracy[head])
    return [Turns(head, name, np.array(values)) for (head, name), values in found.items()]


def ends(values: np.ndarray) -> tuple[float, float]:
    """The mean accuracy at the beginning and at the end: of five iterations each, or of half of fewer than ten.

    What every table and sentence calls the first and the last accuracy; the two have no iteration in common, unless
    there is only one.
    """
    some = max(1, min(5, len(values) // 2))
    return float(values[:some].mean()), float(values[-some:].mean())


def audit_points(run: Run, kept: Audits) -> dict[str, list[Finding]]:
    """For every audit filter its findings among those `kept`, by iteration, up to the run's last one.

    Findings of several seeds are averaged.
    """
    found: dict[str, list[Finding]] = {}
    for finding, _ in over_seeds(kept.findings):
        if finding.iteration is not None and finding.iteration <= run.n_finished:
            found.setdefault(finding.filter, []).append(finding)
    return found


AUDITS_APART = 0.014
"""Distance between audits of one iteration, as a share of the iterations."""


def audit_places(run: Run, audits: dict[str, list[Finding]]) -> list[tuple[Finding, int, float]]:
    """Every audit to be drawn, the number of its filter, and its x: beside its iteration, clear of the curves.

    `audits` are `audit_points`. Those of one iteration are side by side: to the left of iteration 0, to the right of
    any other.
    """
    apart = AUDITS_APART * max(2, run.n_finished)
    places = []
    for i, findings in enumerate(audits.values()):
        for finding in findings:
            iteration = finding.iteration or 0
            aside = (i + 1) * apart if iteration else (i - len(audits)) * apart
            places.append((finding, i, iteration + aside))
    return places


def room_for_audits(run: Run, audits: dict[str, list[Finding]]) -> float:
    """The margin, in iterations, that `audit_places` needs before the first iteration and after the last."""
    return AUDITS_APART * (1 + len(audits)) * max(2, run.n_finished)


def colours(names: Sequence[str]) -> dict[str, str]:
    """A colour for each of `names`: its own in `COLOURS`, or else the next of `OTHER_COLOURS`."""
    unknown = [name for name in dict.fromkeys(names) if name not in COLOURS]
    others = {name: OTHER_COLOURS[i % len(OTHER_COLOURS)] for i, name in enumerate(unknown)}
    return {name: COLOURS.get(name) or others[name] for name in names}


def first_iterations(run: Run) -> list[int]:
    """The iterations at which a phase begins: the first, and every one with another filter than the one before."""
    filters = [record.filter for record in run.log]
    return [i + 1 for i in range(len(filters)) if i == 0 or filters[i] != filters[i - 1]]


def smooth(values: np.ndarray) -> np.ndarray:
    """Centred moving average over five values, fewer at the ends."""
    ones = np.ones(min(5, len(values) - 1 + len(values) % 2))
    return np.convolve(values, ones, "same") / np.convolve(np.ones(len(values)), ones, "same")


def _draw(run: Run, axes: object, colour_of: dict[str, str]) -> None:
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    phases = first_iterations(run)
    for head, (iterations, values) in curves(run).items():
        colour = colour_of[head]
        axes.plot(iterations, 100 * values, color=colour, linewidth=0.6, alpha=0.35)
        for part in within_phases(iterations, phases):
            label = label_of(head) if part.start == 0 else None
            marker = "o" if len(values[part]) == 1 else ""  # a line of one point is not seen
            axes.plot(
                *(iterations[part], 100 * smooth(values[part])),
                color=colour,
                linewidth=2,
                marker=marker,
                markersize=4,
                label=label,
            )
    axes.axhline(100 * run.chance, color="#777777", linestyle="--", linewidth=1)
    axes.annotate(
        "chance",
        (1, 100 * run.chance),
        xytext=(4, 3),
        textcoords="offset points",
        color="#555555",
        fontsize=9,
    )
    for first in phases[1:]:
        axes.axvline(first - 0.5, color="#bbbbbb", linewidth=1)
    axes.set(xlabel="iteration", ylabel="held-out accuracy (%)", xlim=(1, max(2, run.n_finished)))
    axes.locator_params(axis="x", integer=True)
    axes.set_title(
        f"Adversarial Filtering of {several(len(run.pool), 'context')} × {several(run.pool.n_candidates, 'candidate')}",
        loc="left",
        fontsize=11,
    )
    axes.spines[["top", "right"]].set_visible(False)


def _draw_audits(run: Run, axes: object, audits: dict[str, list[Finding]], colour_of: dict[str, str]) -> None:
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    seen = set[str]()
    for finding, i, x in audit_places(run, audits):
        name, middle = finding.filter, finding.accuracy
        axes.errorbar(
            [x],
            [100 * middle],
            yerr=[[max(0.0, 100 * (middle - finding.low))], [max(0.0, 100 * (finding.high - middle))]],
            color=colour_of[name],
            fmt=MARKERS[i % len(MARKERS)],
            markersize=5,
            markeredgecolor="white",
            markeredgewidth=0.6,
            elinewidth=1.3,
            capsize=2.5,
            zorder=5,
            label=None if name in seen else f"{label_of(name)}, audit",
        )
        seen.add(name)
    if audits:
        aside = room_for_audits(run, audits)
        axes.set_xlim(-aside, max(2, run.n_finished) + aside)


def within_phases(iterations: np.ndarray, phases: list[int]) -> list[slice]:
    """Slices of a head's points, one per phase, so that averages do not cross phases."""
    breaks = np.searchsorted(iterations, [*phases, np.inf]).tolist()
    return [slice(begin, end) for begin, end in pairwise(breaks) if end > begin]
