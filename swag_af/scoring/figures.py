"""Accuracy, staged accuracy, consistency and sensitivity of predictions, each with its interval, its n and chance.

Where answers tie, everything is the expectation over ties broken at random, each instance by itself.

    accuracy      share of instances answered rightly
    Q->AR         share of questions with every stage right (VCR: answer, and rationale given the right answer)
    consistency   share of contrast sets with all of their instances right (Gardner et al. 2020; NLVR2, VCR-CS)
    sensitivity   of the pairs whose two predictions differ, the share with both right (Kim et al. 2023). The paper
                  prints a sum of ratios, whose denominators may be 0; it is read as the ratio of the two sums

Chance is what is right without reading (`chance`). Pairs whose two right answers are the same say nothing of
sensitivity, since both can never be right while the predictions differ: they are left out, and counted. So are, of
consistency, sets of which a row without a label was left out on reading: having the rest right is easier.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from swag_af.data.cells.words import CONTRAST, ORIGINAL, STAGES
from swag_af.data.errors import several
from swag_af.data.instances.grouping import Groups, group
from swag_af.data.instances.instances import Instances
from swag_af.data.numbers.interval import difference_of_means, interval, paired_difference, ratio_interval
from swag_af.data.splits import join_pairs, renumbered
from swag_af.scoring.chance import Chance, chance_of, drawn_answers
from swag_af.scoring.reading.predictions import Predictions

ALL_STAGES = "Q->AR"
DIGITS = 9
"""Decimals that are kept: further ones depend on the order of rows."""
FEWEST_GROUPS = 20
"""Of fewer a bootstrap is too sure: of a difference of three groups it gives p = 0.001 where all differ the same way,
and a test that turns signs of whole groups cannot give less than 0.25."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A share with its 95 % interval, or a difference of two."""

    name: str
    """`accuracy`, `Q->AR`, `consistency`, `sensitivity`, ..."""
    value: float | None
    """From 0 to 1, a difference from -1 to 1; None where nothing is to be counted."""
    low: float | None
    high: float | None
    n: int
    """Instances, questions, sets or pairs."""
    of: str = "instances"
    """What `n` counts."""
    chance: float | None = None
    """What an option at random gets; of classes, always the commonest. None where such guesses have no such figure."""
    part: str = ""
    """`split: val`, `tier: easy`; empty for all instances."""
    kind: Literal["share", "difference"] = "share"
    chance_by_shares: float | None = None
    """Of classes, what guesses get that draw each class as often as it is right; None of options."""
    n_expected: float | None = None
    """Of sensitivity, where answers tie: how many pairs differ on average, by which is divided; `n` counts those that
    may."""
    n_left_out: int = 0
    """What `n` does not count: of sensitivity, pairs with the same right answer twice; of consistency, sets of which a
    row had no label."""


def clusters_of(instances: Instances) -> Groups:
    """The groups of the dataset (`swag_af.data.instances.grouping`), those joined that share a contrast set or
    question: what is drawn as a whole when an interval asks for another sample."""
    groups = group(instances)
    joined = groups.numbers
    for names in (_names(instances, "contrast_set"), _names(instances, "question")):
        pairs = [(rows[0], row) for rows in members(names).values() for row in rows[1:]]
        joined = join_pairs(joined, np.array(pairs, np.int64).reshape(-1, 2))
    numbers = renumbered(joined)
    if int(numbers.max()) + 1 == groups.n:
        return groups
    n = several(int(numbers.max()) + 1, "group that keeps", "groups that keep")
    return Groups(numbers, f"{n} contrast sets and stages of one question together; {groups.said}")


def members(names: Sequence[str]) -> dict[str, list[int]]:
    """The rows of each name, names in order; those without one are left out."""
    found: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        if name:
            found.setdefault(name, []).append(row)
    return {name: found[name] for name in sorted(found)}


def share(
    name: str, right: np.ndarray, groups: np.ndarray, chance: Chance, *, of: str = "instances", part: str = ""
) -> Figure:
    """The mean of `right` (n,) over things that cluster in `groups` (n,), which guesses get to `chance` (n,)."""
    low, high = interval(right, groups)
    usual = float(chance.usual.mean())
    drawn = None if chance.by_shares is None else float(chance.by_shares.mean())
    made = Figure(name, float(right.mean()), low, high, len(right), of, usual, part, chance_by_shares=drawn)
    return rounded(made)


def difference(
    name: str, before: np.ndarray, after: np.ndarray, groups: np.ndarray, *, of: str = "instances", part: str = ""
) -> Figure:
    """How much more of `after` (n,) is right than of `before` (n,), paired."""
    found = paired_difference(before, after, groups)
    return rounded(Figure(name, found.mean, found.low, found.high, len(before), of, None, part, "difference"))


def rounded(figure: Figure) -> Figure:
    """The figure with `DIGITS` decimals."""
    value, low, high, chance, by_shares = (
        None if one is None else round(one, DIGITS)
        for one in (figure.value, figure.low, figure.high, figure.chance, figure.chance_by_shares)
    )
    return replace(figure, value=value, low=low, high=high, chance=chance, chance_by_shares=by_shares)


def figures_of(instances: Instances, predictions: Predictions, groups: np.ndarray) -> list[Figure]:
    """Every figure of a model that the dataset has: accuracy, then by stage, then by contrast set."""
    found = [share("accuracy", predictions.hits, groups, chance_of(instances))]
    return [*found, *_staged(instances, predictions, groups), *_contrasted(instances, predictions, groups)]


def _names(instances: Instances, field: Literal["contrast_set", "question"]) -> list[str]:
    if field == "question":
        return [one.question for one in instances.instances]
    return [one.contrast_set for one in instances.instances]


def _staged(instances: Instances, predictions: Predictions, groups: np.ndarray) -> list[Figure]:
    """Accuracy at each stage, and of the questions with all stages that any has: all of them right."""
    rows_of = members([one.stage for one in instances.instances])
    if not rows_of:
        return []
    chance = chance_of(instances)
    figures = [
        share(stage, predictions.hits[rows], groups[rows], chance.at(rows), of="questions")
        for stage, rows in sorted(rows_of.items(), key=lambda named: _order_of(named[0]))
    ]
    asked = members(_names(instances, "question"))
    whole = [rows for rows in asked.values() if {instances.instances[row].stage for row in rows} == set(rows_of)]
    if len(rows_of) > 1 and whole:
        figures.append(_all_right(ALL_STAGES, whole, predictions.hits, groups, chance, of="questions"))
    return figures


def _order_of(stage: str) -> tuple[int, str]:
    return (STAGES.index(stage) if stage in STAGES else len(STAGES), stage)


def _all_right(
    name: str, sets: Iterable[Sequence[int]], hits: np.ndarray, groups: np.ndarray, chance: Chance, *, of: str
) -> Figure:
    """The share of `sets` whose rows are all right."""
    listed = list(sets)
    starts = np.cumsum([0, *map(len, listed)])[:-1]
    rows = np.concatenate(listed).astype(np.int64)
    right = np.multiply.reduceat(hits[rows], starts)
    return share(name, right, groups[rows[starts]], chance.at(rows).all_right(starts), of=of)


def _contrasted(instances: Instances, predictions: Predictions, groups: np.ndarray) -> list[Figure]:
    """Consistency; original and contrast accuracy and their difference; sensitivity."""
    sets = members(_names(instances, "contrast_set"))
    if not sets:
        return []
    hits, chance = predictions.hits, chance_of(instances)
    whole = {name: rows for name, rows in sets.items() if name not in instances.cut_sets}
    figures = [_consistency(list(whole.values()), hits, groups, chance, n_left_out=len(sets) - len(whole))]
    variants = members([one.variant if one.contrast_set else "" for one in instances.instances])
    for variant in (ORIGINAL, CONTRAST):
        if rows := variants.get(variant):
            figures.append(share(f"{variant} accuracy", hits[rows], groups[rows], chance.at(rows), of=f"{variant}s"))
    pairs = _pairs(instances, sets, whole)
    if len(pairs) and {ORIGINAL, CONTRAST} <= set(variants):
        first, second = variants[ORIGINAL], variants[CONTRAST]
        in_set = np.full(len(hits), -1)
        for number, rows in enumerate(sets.values()):
            in_set[rows] = number
        units = ((in_set[first], in_set[second]), (groups[first], groups[second]))
        found = difference_of_means(hits[first], hits[second], *units)
        values, n = (found.mean, found.low, found.high), len(np.intersect1d(in_set[first], in_set[second]))
        figures.append(rounded(Figure("contrast less original", *values, n, "sets", None, "", "difference")))
    return [*figures, *([_sensitivity(instances, predictions, groups, pairs)] if len(pairs) else [])]


def _consistency(
    whole: Sequence[Sequence[int]], hits: np.ndarray, groups: np.ndarray, chance: Chance, *, n_left_out: int
) -> Figure:
    """The share of the `whole` sets that are right; None where there are none."""
    if not whole:
        return Figure("consistency", None, None, None, 0, "sets", n_left_out=n_left_out)
    return replace(_all_right("consistency", whole, hits, groups, chance, of="sets"), n_left_out=n_left_out)


def _pairs(instances: Instances, sets: dict[str, list[int]], whole: dict[str, list[int]]) -> np.ndarray:
    """(p, 2) rows of an original and each of its contrasts; where no variants are told and all `whole` sets have two,
    those."""
    of = [one.variant for one in instances.instances]
    found = [
        (first, second)
        for rows in sets.values()
        for first in rows
        for second in rows
        if of[first] == ORIGINAL and of[second] == CONTRAST
    ]
    are_named = any(of[row] for rows in sets.values() for row in rows)
    if not are_named and all(len(rows) == 2 for rows in whole.values()):
        found = [(rows[0], rows[1]) for rows in whole.values()]
    return np.array(found, np.int64).reshape(-1, 2)


def _sensitivity(instances: Instances, predictions: Predictions, groups: np.ndarray, pairs: np.ndarray) -> Figure:
    """Of the pairs whose predictions differ, the share with both right; n counts those that may differ."""
    told = ~_same_gold(instances, pairs)
    left_out, pairs = int((~told).sum()), pairs[told]
    differing, both = differing_pairs(instances, predictions.shares, pairs)
    may = differing > 0
    usual, by_shares = _chance_of_sensitivity(instances, pairs)
    none = Figure(
        "sensitivity", None, None, None, 0, "pairs that differ", usual, "", "share", by_shares, n_left_out=left_out
    )
    if not may.any():
        return rounded(none)
    low, high = ratio_interval(both[may], differing[may], groups[pairs[may, 0]])
    n, expected = int(may.sum()), round(float(differing.sum()), DIGITS)
    made = replace(none, value=float(both.sum() / differing.sum()), low=low, high=high, n=n)
    return rounded(made if expected == n else replace(made, n_expected=expected))


def _same_gold(instances: Instances, pairs: np.ndarray) -> np.ndarray:
    """(p,) whether the two right answers of a pair are the same answer."""
    golds = instances.answers.tolist()
    return np.array([(golds[i], golds[j]) in same_answers(instances, i, j) for i, j in pairs.tolist()], bool)


def _chance_of_sensitivity(instances: Instances, pairs: np.ndarray) -> tuple[float | None, float | None]:
    """What guesses get that are drawn: of options at random, or of classes by their shares; the other is None, since
    always the commonest class never differs."""
    differing, both = differing_pairs(instances, drawn_answers(instances), pairs)
    drawn = float(both.sum() / differing.sum()) if differing.any() else None
    return (drawn, None) if instances.kind == "choices" else (None, drawn)


def differing_pairs(instances: Instances, shares: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(p,) how far the two predictions of each pair differ, and how far they differ and are both right.

    Predictions are the same where they are the `same_answers`. A pair with a missing prediction differs and is wrong:
    none gains by silence.
    """
    differing, both = np.zeros((2, len(pairs)))
    offsets = instances.offsets.tolist()
    for p, (first, second) in enumerate(pairs.tolist()):
        one, other = instances.instances[first], instances.instances[second]
        a, b = shares[offsets[first] : offsets[first + 1]], shares[offsets[second] : offsets[second + 1]]
        same = same_answers(instances, first, second)
        is_there = a.sum() * b.sum()
        differing[p] = is_there - sum(a[i] * b[j] for i, j in same) if is_there else 1.0
        both[p] = 0.0 if (one.answer, other.answer) in same else a[one.answer] * b[other.answer]
    return np.where(differing < 1e-12, 0.0, differing), both


def same_answers(instances: Instances, first: int, second: int) -> set[tuple[int, int]]:
    """The numbers of answers of two rows that are the same answer: the same class, or the same text of an option.

    Where options were edited, the same number, unless the dataset has no order of them: then numbers were drawn.
    """
    one, other = instances.instances[first].options, instances.instances[second].options
    if instances.kind == "classes":
        return {(i, i) for i in range(len(instances.classes))}
    if instances.has_order and set(one) != set(other):
        return {(i, i) for i in range(min(len(one), len(other)))}
    return {(i, j) for i, text in enumerate(one) for j, also in enumerate(other) if text == also}
