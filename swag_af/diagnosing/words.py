"""What sentences of a diagnosis are made of: an answer, figures with their intervals, what is not known. Says nothing
of a run.
"""

from dataclasses import dataclass
from typing import Literal

from swag_af.data.numbers.percent import from_to, in_percent, in_points
from swag_af.diagnosing.figures import MARGIN, Figure
from swag_af.diagnosing.outcome import Diagnosis, OfFilter

Status = Literal["limit", "open", "fine", "unknown"]
"""It holds the curve up; it leaves room to go on; it is not the reason; the figures do not say."""
UNKNOWN = "We do not know"
WITHIN = f"to within {100 * MARGIN:g} points"


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found on one question."""

    about: Literal["curve", "pool", "filter", "candidates", "matching"]
    status: Status
    found: str
    """The figures, in a sentence."""
    means: str
    """What that means, in a sentence or two."""


def found_now(diagnosis: Diagnosis) -> str:
    """How often gold is found, beside guessing."""
    main, guessing = diagnosis.main, f"guessing finds {in_percent(diagnosis.chance)}."
    return f"Fresh fits of {main.name} find gold in {percent(main.left.now)} of the contexts; {guessing}"


def on_accuracy(diagnosis: Diagnosis, below: str, at: str, what: str) -> Answer:
    """On the accuracy: what is above chance, else a sentence where it is `below`, one that begins with `at` where it is
    near, or that nothing is known of `what` there may be."""
    now, chance = diagnosis.main.left.now, diagnosis.chance
    if now.low > chance:
        gap = f"{100 * (now.value - chance):z.1f} points above chance are to be explained."
        return Answer("curve", "open", found_now(diagnosis), gap)
    if now.high < chance:
        means = below
    elif now.is_near(chance):
        means = f"{at} this filter finds."
    else:
        means = f"That is {not_told(now, chance)} whether there is {what} that this filter finds."
    return Answer("curve", "fine" if at_chance(diagnosis) else "unknown", found_now(diagnosis), means)


def above_chance(diagnosis: Diagnosis) -> bool:
    """Whether the curve is surely above chance."""
    return diagnosis.main.left.now.low > diagnosis.chance


def at_chance(diagnosis: Diagnosis) -> bool:
    """Whether the curve is surely at chance or below; where it is not above either, nothing is sure."""
    now, chance = diagnosis.main.left.now, diagnosis.chance
    return now.high < chance or now.is_near(chance)


def no_gain(diagnosis: Diagnosis) -> str:
    """What is to be gained of a filter that is not surely above chance."""
    name = diagnosis.main.name
    if at_chance(diagnosis):
        others = "What filters of other kinds find, the run's audits say."
        return f"{name} is at chance or below, {WITHIN}: by it nothing more is to be gained. {others}"
    return f"{name} is {not_told(diagnosis.main.left.now, diagnosis.chance)} whether there is anything to gain."


def not_told(figure: Figure, chance: float) -> str:
    """What an interval says that holds chance and is too wide for more; the sentence goes on with `whether`."""
    most = max(figure.high - chance, chance - figure.low)
    return f"not distinguishable from chance; the interval allows up to {100 * most:.1f} points: {UNKNOWN.lower()}"


def control_said(main: OfFilter) -> str:
    """What is found with a random candidate in the place of gold, after a space; empty where there is no control."""
    control = main.growth.control
    if control is None:
        return ""
    said = (
        f" With a random candidate in the place of gold: {percent(control.accuracy)}, guessing "
        f"{in_percent(control.chance)}."
    )
    if control.accuracy.excludes(control.chance):
        said += " That is off chance, as one control in twenty is by luck; if it stays so, candidates are not random."
    return said


def negative(figure: Figure) -> Figure:
    """The figure of what is less by as much; 0 stays 0, and is no -0."""
    return Figure(0.0 - figure.value, 0.0 - figure.high, 0.0 - figure.low)


def percent(figure: Figure | None) -> str:
    """A share with its interval: `12.3 % (10.1 to 14.6)`; a dash where there is none."""
    if figure is None:
        return "–"
    return f"{in_percent(figure.value)} ({from_to(figure.low, figure.high)})"


def points(figure: Figure) -> str:
    """A difference of shares: `1.2 points (0.3 to 2.1)`."""
    return f"{100 * figure.value:z.1f} points ({from_to(figure.low, figure.high)})"


def change(figure: Figure) -> str:
    """The same with its sign."""
    return in_points(figure.value, figure.low, figure.high)


def number(figure: Figure | None) -> str:
    """A correlation: `0.42 (0.40 to 0.44)`."""
    return "–" if figure is None else f"{figure.value:z.2f} ({figure.low:z.2f} to {figure.high:z.2f})"
