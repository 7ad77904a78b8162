"""How many instances of each class a repair leaves, and whether it takes more of one class than of others."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swag_af.data.disk.records import Count
from swag_af.data.errors import several
from swag_af.data.instances.instances import Instances
from swag_af.data.numbers.percent import in_percent

LOPSIDED = 0.05
"""Removal is lopsided where the share of a class moves by more than this ..."""
LEVEL = 0.001
"""... and luck parts classes so unequally less often than this, by a chi-square test. Our choices."""
_SAID = 8
"""So many classes have their counts told."""


@dataclass(frozen=True, slots=True)
class ClassCount:
    """Instances of one class."""

    name: str
    before: Count
    after: Count


def class_counts(before: Instances, after: Instances) -> tuple[ClassCount, ...]:
    """Of each class, in the order of `before`; none of choices."""
    if before.kind != "classes":
        return ()
    names = dict.fromkeys([*before.classes, *after.classes])
    old, new = (_counts(one) for one in (before, after))
    return tuple(ClassCount(name, old.get(name, 0), new.get(name, 0)) for name in names)


def _counts(instances: Instances) -> dict[str, int]:
    counts = np.bincount(instances.answers, minlength=len(instances.classes))
    return dict(zip(instances.classes, counts.tolist(), strict=True))


def classes_lines(counts: Sequence[ClassCount]) -> list[str]:
    """The counts in a sentence, and in another one that removal is lopsided, where it is."""
    if not counts:
        return []
    most = sorted(counts, key=lambda one: -one.before)
    told = "; ".join(f"{one.name} {one.before:,} before, {one.after:,} after" for one in most[:_SAID])
    more = f"; {several(len(most) - _SAID, 'class', 'classes')} more" if len(most) > _SAID else ""
    warning = lopsided_line(counts)
    return [f"Classes: {told}{more}.", *([warning] if warning else [])]


def lopsided_line(counts: Sequence[ClassCount]) -> str:
    """That more of one class was removed than of others, where it surely was; else nothing."""
    counted = [one for one in counts if one.before]
    before, after = np.array([(one.before, one.after) for one in counted], np.int64).reshape(-1, 2).T
    if len(counted) < 2 or (after > before).any() or not 0 < after.sum() < before.sum():
        return ""
    moved = after / after.sum() - before / before.sum()
    if np.abs(moved).max() <= LOPSIDED or _p_value(np.array([before - after, after])) >= LEVEL:
        return ""
    worst = int(moved.argmin())
    n, gone, rest = before[worst], (before - after)[worst], before.sum() - before[worst]
    others = int((before - after).sum() - gone)
    return (
        f"Warning: removal is lopsided. Of {counted[worst].name} {gone:,} of {n:,} instances went "
        f"({in_percent(gone / n)}), of the rest {others:,} of {rest:,} ({in_percent(others / rest)}). Classes have "
        "other shares now, which by itself moves accuracy, chance and what models learn."
    )


def _p_value(table: np.ndarray) -> float:
    from scipy.stats import chi2_contingency

    return float(chi2_contingency(table).pvalue)
