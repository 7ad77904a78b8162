"""Balance of labels, and answers that no label uses: positions of gold among the options, or classes."""

import math
from dataclasses import dataclass, replace

import numpy as np

from swag_af.auditing.diagnostics import Diagnostic, Status
from swag_af.auditing.integrity.shares import examples_of
from swag_af.data.errors import several
from swag_af.data.instances.instances import Instances
from swag_af.data.numbers.interval import interval
from swag_af.data.splits import renumbered

ALPHA = 0.01
"""The greatest probability, over all positions together, that balanced labels are called unbalanced."""
MATTERS = 0.03
"""How far from what is expected a share must be to matter; what is surely off by less is a hint."""
MOSTLY = 0.9
"""From this share of one class on, accuracy tells hardly anything."""
FEW = 10
"""Fewer instances of a class are few, where there should be ten times as many."""


def label_diagnostics(instances: Instances, groups: np.ndarray) -> list[Diagnostic]:
    """AF508 and AF512 of instances in `groups` (N,)."""
    if instances.kind == "classes":
        return [_balance_of_classes(instances, groups), _classes_unused(instances)]
    if not instances.has_order:
        said = "The order of options was drawn, since gold has a column of its own: nothing can be said of positions."
        balance = Diagnostic("AF508", "positions", "clear", 0.0, "share", said)
        return [balance, replace(balance, code="AF512", unit="count")]
    positions = _positions(instances, groups)
    return [_balance_of_positions(positions, instances, groups), _positions_unused(positions, instances)]


@dataclass(frozen=True)
class _Position:
    number: int
    rows: np.ndarray
    """(n,) the questions with so many options."""
    n_gold: int
    expected: float
    """How often it would be gold if gold stood anywhere."""
    z: float
    """How far `n_gold` is from that in standard deviations, with whole groups drawn."""
    p: float
    """The probability of such a deviation, in either direction."""
    log_never: float
    """The logarithm of the probability that it would never be gold, each group drawn once: it may be of copies."""

    @property
    def share(self) -> float:
        return self.n_gold / len(self.rows)

    @property
    def excess(self) -> float:
        """How far the share is above the expected one."""
        return (self.n_gold - self.expected) / len(self.rows)


def _positions(instances: Instances, groups: np.ndarray) -> list[_Position]:
    """Every position of an option, from the first."""
    found = []
    for number in range(int(instances.n_answers.max())):
        rows = np.flatnonzero(instances.n_answers > number)
        p, numbers = 1 / instances.n_answers[rows], renumbered(groups[rows])
        never = float((np.bincount(numbers, np.log1p(-p)) / np.bincount(numbers)).sum()) if (p < 1).all() else -math.inf
        is_gold = (instances.answers[rows] == number).astype(float)
        n_gold, expected, deviation = int(is_gold.sum()), float(p.sum()), float((p * (1 - p)).sum()) ** 0.5
        beyond = (n_gold - expected) / _design_effect(is_gold - p, numbers) ** 0.5
        z = beyond / deviation if deviation else 0.0
        found.append(_Position(number, rows, n_gold, expected, z, tail(instances.n_answers[rows], beyond), never))
    return found


def _design_effect(residuals: np.ndarray, groups: np.ndarray) -> float:
    """How many times larger the variance of the sum of `residuals` (n,) is with whole `groups` (n,) drawn than with
    single rows, at least 1; a single group counts as one.

    Around chance, where it is tested whether they are: around their mean a position to which no group leans by luck
    had hardly any variance, and was surely too rare.
    """
    n, n_groups = len(residuals), int(groups.max()) + 1
    alone = float((residuals**2).sum())
    if alone < 1e-9 or n_groups < 2:
        return n / n_groups
    return max(1.0, float((np.bincount(groups, residuals) ** 2).sum()) / alone)


MANY = 100.0
"""From this variance on, a sum of draws is taken to be normal."""


def tail(n_options: np.ndarray, beyond: float) -> float:
    """The probability that the number of questions, of so many options each, whose gold stands at a position by chance
    is at least `beyond` from what is expected, on that side, twice."""
    p = 1 / n_options
    variance = float((p * (1 - p)).sum())
    if variance >= MANY:
        return math.erfc(abs(beyond) / math.sqrt(2 * variance))
    from scipy.special import bdtr

    of_sum = np.ones(1)
    for n, count in zip(*np.unique(n_options, return_counts=True), strict=True):
        below = bdtr(np.arange(count + 1), count, 1 / n)
        of_sum = np.convolve(of_sum, np.diff(below, prepend=0.0))
    at = float(p.sum()) + beyond
    there = of_sum[math.ceil(at - 1e-9) :] if beyond > 0 else of_sum[: max(0, math.floor(at + 1e-9) + 1)]
    return min(1.0, 2 * float(there.sum()))


def _balance_of_positions(positions: list[_Position], instances: Instances, groups: np.ndarray) -> Diagnostic:
    """The share of the position that is most surely gold more often than expected."""
    most = max(positions, key=lambda one: (one.z, -one.number))
    least = min(positions, key=lambda one: (one.z, one.number))
    sure = [one for one in positions if one.p * len(positions) < ALPHA]
    status: Status = "found" if any(abs(one.excess) >= MATTERS for one in sure) else "hint" if sure else "clear"
    has, numbers = instances.answers[most.rows] == most.number, renumbered(groups[most.rows])
    low, high = interval(has.astype(float), numbers)
    expected = most.expected / len(most.rows)
    return Diagnostic(
        code="AF508",
        subject="positions",
        status=status,
        value=round(most.share, 6),
        unit="share",
        said=f"Gold is {_said(most)}, and {_said(least)}.",
        low=round(low, 6),
        high=round(high, 6),
        chance=round(expected, 6),
        effect=round((most.share - expected) / (1 - expected), 6) if expected < 1 else None,
        n=len(most.rows),
        n_groups=int(numbers.max()) + 1,
        examples=examples_of(
            instances, most.rows[has] if status != "clear" else (), lambda row: f"gold is option {most.number + 1}"
        ),
    )


def _said(one: _Position) -> str:
    n = len(one.rows)
    expected = 100 * one.expected / n
    return f"option {one.number + 1} in {100 * one.share:.1f} % of {several(n, 'question')} (expected {expected:.1f} %)"


def _balance_of_classes(instances: Instances, groups: np.ndarray) -> Diagnostic:
    """The share of the largest class."""
    n, n_classes = len(instances), len(instances.classes)
    counts = np.bincount(instances.answers, minlength=n_classes)
    largest = int(counts.argmax())
    share, numbers = counts[largest] / n, renumbered(groups)
    low, high = interval((instances.answers == largest).astype(float), numbers, of=n_classes)
    unbalanced = low > 1 / n_classes and share - 1 / n_classes >= MATTERS
    each = ", ".join(f"{name} {100 * count / n:.1f} %" for name, count in zip(instances.classes, counts, strict=True))
    return Diagnostic(
        code="AF508",
        subject="classes",
        status="found" if share >= MOSTLY else "hint" if unbalanced else "clear",
        value=round(float(share), 6),
        unit="share",
        said=f"Labels of {several(n, 'instance')}: {each}.",
        low=round(low, 6),
        high=round(high, 6),
        chance=round(1 / n_classes, 6),
        effect=round(float(share - 1 / n_classes) / (1 - 1 / n_classes), 6),
        n=n,
        n_groups=int(numbers.max()) + 1,
    )


def _positions_unused(positions: list[_Position], instances: Instances) -> Diagnostic:
    """How many positions are never gold although they should be."""
    unused = [one for one in positions if not one.n_gold and one.log_never < math.log(ALPHA / len(positions))]
    named = ", ".join(f"option {one.number + 1} of {several(len(one.rows), 'question')}" for one in unused)
    return Diagnostic(
        code="AF512",
        subject="positions",
        status="found" if unused else "clear",
        value=float(len(unused)),
        unit="count",
        said=f"Never gold: {named}." if unused else "Every position that could be expected to is gold somewhere.",
        chance=0.0,
        n=len(instances),
    )


def _classes_unused(instances: Instances) -> Diagnostic:
    """How many classes no label uses, or few do."""
    counts = np.bincount(instances.answers, minlength=len(instances.classes))
    enough = min(FEW, len(instances) / len(instances.classes) / 10)
    rare = [(name, int(n)) for name, n in zip(instances.classes, counts, strict=True) if n == 0 or n < enough]
    named = ", ".join(f"{name} ({n:,})" for name, n in rare)
    return Diagnostic(
        code="AF512",
        subject="classes",
        status="found" if any(not n for _, n in rare) else "hint" if rare else "clear",
        value=float(len(rare)),
        unit="count",
        said=f"Classes with few instances: {named}." if rare else f"All {len(counts)} classes are used.",
        chance=0.0,
        n=len(instances),
    )
