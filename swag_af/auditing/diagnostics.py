"""A diagnostic: what one check of an audit found, under a code, with its interval, examples and what to do.

Every check that was made gives one, also where it found nothing, so that a gate can ask for its value. What the codes
mean stands in `swag_af.auditing.codes`.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from swag_af.data.numbers.interval import rounded_mean
from swag_af.data.numbers.percent import digits_apart, in_percent

Status = Literal["found", "hint", "clear"]
"""`found`: the data has the problem; `hint`: it may have, since too little is sure, or since what is sure need not be a
fault; `clear`: it was looked for and not found."""
Unit = Literal["accuracy", "share", "count", "z"]
"""What a value is: an accuracy against chance, a share of the instances, a count, a standard score."""


ONE_SPLIT = "one split"
"""The subject of what compares splits, where there is only one: nothing was compared."""


@dataclass(frozen=True, slots=True)
class Example:
    """An instance that shows what was found."""

    id: str
    where: str
    """Its place in the file."""
    text: str
    """Context and options in a line or a few, gold marked by the caller."""
    said: str = ""
    """Why it is shown: `gold 0.97 by the options alone`."""


@dataclass(frozen=True, slots=True)
class Balanced:
    """An accuracy with each class weighed equally: the mean of their recalls."""

    value: float
    low: float
    high: float
    """The 95 % interval."""
    chance: float
    """1 in the number of classes."""
    status: Status
    """Of this figure alone; below chance is `clear`."""


@dataclass(frozen=True, slots=True)
class Avoiding:
    """How often the option is right that a model finds least likely: what somebody gets who avoids what it prefers."""

    value: float
    low: float
    high: float
    """The 95 % interval."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What a check found."""

    code: str
    """`AF101`."""
    subject: str
    """What was looked at, unique for its code: `options, tfidf`; `longest`; `train against test`."""
    status: Status
    value: float
    unit: Unit
    said: str
    """One sentence with the figures, for people."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval, where there is one."""
    chance: float | None = None
    """The value that would be no finding."""
    effect: float | None = None
    """(value - chance) / (1 - chance): the share of what chance leaves that was gained; below 0 where below chance."""
    n: int = 0
    """Instances looked at."""
    n_groups: int = 0
    """Groups that they are in."""
    examples: tuple[Example, ...] = ()
    """The worst, at most five."""
    mirror: str = ""
    """Where every question has two options, the subject of the opposite rule, which is right where this one is not and
    is left out; empty for all else."""
    balanced: Balanced | None = None
    """Where classes are unequal: the same with each class weighed equally. The status is that of the two figures that
    says more."""
    even: Balanced | None = None
    """Where classes are nearly equal: what `balanced` is elsewhere. It is compared with that, and never told or
    saved."""
    avoiding: Avoiding | None = None
    """Of a probe that chooses and is surely below chance: what avoiding its choice gets."""

    @property
    def stands_on_balanced(self) -> bool:
        """Whether its status is that of the balanced figure, since accuracy is not surely above chance."""
        is_above = self.low is not None and self.chance is not None and self.low > self.chance
        if self.balanced is None or is_above or self.status == "clear":
            return False
        return self.balanced.status == "found" or self.balanced.status == self.status == "hint"

    @property
    def tells_balanced(self) -> bool:
        """Whether its value is the balanced one: `as_found`."""
        return self.balanced is not None and self.chance == self.balanced.chance


def balanced_form(one: Diagnostic) -> Diagnostic:
    """`one` with its balanced figures in the place of those of accuracy, where it has some."""
    if one.balanced is None:
        return one
    b = one.balanced
    effect = round((b.value - b.chance) / (1 - b.chance), 6)
    return replace(one, value=b.value, low=b.low, high=b.high, chance=b.chance, effect=effect)


def as_found(one: Diagnostic) -> Diagnostic:
    """`one` with the figures that its status stands on: the balanced ones where only these are surely above chance."""
    return balanced_form(one) if one.stands_on_balanced else one


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A diagnostic that a check would have given which could not be made here."""

    code: str
    subject: str
    why: str
    """A line that says what is missing and what to do: `fasttext is not installed. Install it with: ...`"""


def mirrored(one: Diagnostic) -> Diagnostic | None:
    """The diagnostic of the opposite rule, which was left out for `one`; None where there is none.

    It has no examples, and the status of `one`, since both are found or neither.
    """
    if not one.mirror:
        return None
    low, high, chance = (None if bound is None else round(1 - bound, 6) for bound in (one.high, one.low, one.chance))
    return replace(
        one,
        subject=one.mirror,
        mirror=one.subject,
        value=round(1 - one.value, 6),
        low=low,
        high=high,
        chance=chance,
        effect=None if one.effect is None else -one.effect,
        said=f"The opposite of `{one.subject}`: {one.said}",
        examples=(),
    )


def of_accuracy(
    code: str,
    subject: str,
    hits: np.ndarray,
    chance: np.ndarray,
    groups: np.ndarray,
    *,
    said: str,
    examples: tuple[Example, ...] = (),
    times: float = 1.0,
) -> Diagnostic:
    """The diagnostic of an accuracy: found where the interval of `hits` (N,) leaves out the mean of `chance` (N,).

    Below chance is a finding as well as above. `groups` (N,) are numbered from 0. `said` may hold `{value}`, `{low}`,
    `{high}` and `{chance}`, which become percentages; what others wrote is `literal` in it. `times` is that of
    `interval`.
    """
    expected = round(float(chance.mean()), 6)
    value, low, high = rounded_mean(hits, groups, times=times)
    digits = digits_apart(expected, low, high)
    ends = {"low": low, "high": high, "chance": expected}
    figures = {"value": in_percent(value), **{name: in_percent(end, digits) for name, end in ends.items()}}
    return Diagnostic(
        code=code,
        subject=subject,
        status="clear" if low <= expected <= high else "found",
        value=value,
        unit="accuracy",
        said=said.format(**figures),
        low=low,
        high=high,
        chance=expected,
        effect=round((value - expected) / (1 - expected), 6) if expected < 1 else None,
        n=len(hits),
        n_groups=int(groups.max()) + 1,
        examples=examples,
    )


def literal(text: str) -> str:
    """`text` for a `said`, in which braces of its own stand for themselves."""
    return text.replace("{", "{{").replace("}", "}}")
