"""What sentences of a diagnosis are made of: an answer, figures with their intervals, what is undecided. Says nothing
of a run.
"""

from dataclasses import dataclass
from typing import Literal

from swag_af.data.numbers.percent import from_to, in_percent, in_points
from swag_af.diagnosing.figures import MARGIN, Figure
from swag_af.diagnosing.growth import Against
from swag_af.diagnosing.outcome import Diagnosis, OfFilter

Status = Literal["limit", "open", "fine", "unknown"]
"""It holds the curve up; it leaves room to go on; it is not the reason; the figures do not say."""
WITHIN = f"to within {100 * MARGIN:g} points"
NARROWER = "More contexts would narrow the interval."
INTERVALS = (
    "In brackets are 95 % intervals, over contexts in whole groups. Something is said to be at chance only where its "
    f"whole interval is {WITHIN.removeprefix('to ')} of it."
)
"""How to read the figures."""
QUESTIONS = {
    "pool": "Has the pool harder candidates left?",
    "filter": "Do independent fits agree?",
    "candidates": "What do the candidates give away?",
    "matching": "What does the matching give away?",
}
_FITS = "A fit is the filter trained once, on some of the contexts; it scores the others."
_ASKED = {
    "pool": (
        f"{_FITS} A candidate is harder than another if a fit scores it higher. Are there unassigned ones that are "
        "harder than the distractors, so that a swap is possible? How often would gold still be found if every context "
        "took its hardest candidates?"
    ),
    "filter": (
        "A swap takes out an easy distractor, one that scores below gold, for a harder candidate. Would "
        "another fit make the same swaps? If not, what one fit gains is noise to the next."
    ),
    "candidates": (
        "How often does a fit find gold among random candidates of the pool, before any filtering? What it tells by "
        "then is the style of whatever wrote them."
    ),
    "matching": "How often does a fit find gold among the wrong answers that the matching took from other rows?",
}
_STATUSES = {
    "limit": "It holds the curve up.",
    "open": "There is room to go on.",
    "fine": "This is not the reason.",
    "unknown": "Undecided.",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found on one question."""

    about: Literal["curve", "pool", "filter", "candidates", "matching"]
    status: Status
    found: str
    """The figures, in a sentence."""
    means: str
    """What that means, in a sentence or two."""


def asked(diagnosis: Diagnosis, answer: Answer) -> str:
    """What was asked, in a few sentences, with the words that are used in the answer."""
    if diagnosis.is_matched and answer.about == "filter":
        return f"{_FITS} Do two fits put the wrong answers of a row in the same order?"
    return _ASKED[answer.about]


def status(diagnosis: Diagnosis, answer: Answer) -> str:
    """What comes of it for the curve, in a few words."""
    said = _STATUSES[answer.status]
    return said.replace("curve", "accuracy") if diagnosis.is_matched else said


def found_now(diagnosis: Diagnosis) -> str:
    """How often gold is found, beside guessing."""
    main, guessing = diagnosis.main, f"guessing finds {in_percent(diagnosis.chance)}."
    return f"Fresh fits of {main.name} find gold in {percent(main.left.now)} of the contexts; {guessing}"


def on_accuracy(diagnosis: Diagnosis, below: str, at: str, what: str) -> Answer:
    """On the accuracy: what is above chance, else a sentence where it is `below`, one that begins with `at` where it is
    near, or that nothing is known of `what` there may be."""
    now, chance = diagnosis.main.left.now, diagnosis.chance
    if now.low > chance:
        gap = f"That is {100 * (now.value - chance):z.1f} points above chance."
        return Answer("curve", "open", found_now(diagnosis), gap)
    if now.high < chance:
        means = below
    elif now.is_near(chance):
        means = f"{at} this filter finds."
    else:
        means = f"That is {not_told(now, chance)}. So it is undecided whether there is {what} that this filter finds."
        means = f"{means} {NARROWER}"
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
        by_it = f"{name} finds gold as often as by chance or less, {WITHIN}, so by it nothing more is to be gained."
        return f"{by_it} What filters of other kinds find, the run's audits say."
    return f"not tested, since {name} is {not_told(diagnosis.main.left.now, diagnosis.chance)}. {NARROWER}"


def not_told(figure: Figure, chance: float) -> str:
    """What an interval says that holds chance and is too wide for more."""
    most = max(figure.high - chance, chance - figure.low)
    return f"not distinguishable from chance: the interval allows up to {100 * most:.1f} points"


def control_said(main: OfFilter) -> str:
    """What is found with a random candidate in the place of gold, after a space; empty where there is no control."""
    control = main.growth.control
    if control is None:
        return ""
    said = (
        f" As a control, a random candidate is put in the place of gold: it is found in {percent(control.accuracy)}, "
        f"where guessing finds {in_percent(control.chance)}."
    )
    if control.accuracy.excludes(control.chance):
        said += (
            " That is off chance, as one control in twenty is by luck. If it stays so with another --seed, candidates "
            "are not in random order."
        )
    return said


def told_from(one: Against, what: str) -> str:
    """`9 random candidates in 20.8 % (17.7 to 24.3), where guessing gets 10.0 %`, in words that follow `from`; `what`
    is what they are."""
    n = f"one {what}" if one.n_negatives == 1 else f"{one.n_negatives:,} {what}s"
    return f"{n} in {percent(one.accuracy)}, where guessing gets {in_percent(one.chance)}"


def negative(figure: Figure) -> Figure:
    """The figure of what is less by as much; 0 stays 0, and is no -0."""
    return Figure(0.0 - figure.value, 0.0 - figure.high, 0.0 - figure.low)


def percent(figure: Figure | None) -> str:
    """A share with its interval: `12.3 % (10.1 to 14.6)`; a dash where there is none."""
    if figure is None:
        return "–"
    return f"{in_percent(figure.value)} ({from_to(figure.low, figure.high)})"


def cell(figure: Figure | None) -> str:
    """The same in a table whose caption says that it is in per cent: `12.3 (10.1–14.6)`."""
    if figure is None:
        return "–"
    return f"{100 * figure.value:z.1f} ({from_to(figure.low, figure.high).replace(' to ', '–')})"


def points(figure: Figure) -> str:
    """A difference of shares: `1.2 points (0.3 to 2.1)`."""
    return f"{100 * figure.value:z.1f} points ({from_to(figure.low, figure.high)})"


def change(figure: Figure) -> str:
    """The same with its sign."""
    return in_points(figure.value, figure.low, figure.high)


def number(figure: Figure | None) -> str:
    """A correlation: `0.42 (0.40 to 0.44)`."""
    return "–" if figure is None else f"{figure.value:z.2f} ({figure.low:z.2f} to {figure.high:z.2f})"
