"""The slow, obvious twins of the search for duplicates, every instance compared with every other, and of a tail."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

from slow.near_duplicates import shingles
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.text.wording import comparable, words

Shingles = frozenset[tuple[int, tuple[str, ...]]]


def of_parts(one: Instance) -> tuple[Shingles, Shingles]:
    """The shingles of context and start, and those of the options."""
    first = shingles(words(f"{one.context} {one.start}"))
    rest = {shingle for option in one.options for shingle in shingles(words(option))}
    return frozenset((0, shingle) for shingle in first), frozenset((1, shingle) for shingle in rest)


def key(one: Instance) -> object:
    texts = (comparable(one.context), comparable(one.start), sorted(map(comparable, one.options)))
    return (*texts, one.media) if texts[0] or texts[1] or any(texts[2]) else one.id


def jaccard(one: frozenset, other: frozenset) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


@dataclass
class Found:
    """The ids of the instances that have a duplicate of each kind."""

    exact_within: set[str] = field(default_factory=set)
    exact_across: set[str] = field(default_factory=set)
    exact_in_other_file: set[str] = field(default_factory=set)
    near_within: set[str] = field(default_factory=set)
    near_across: set[str] = field(default_factory=set)


def duplicates_by_all_pairs(instances: Instances, *, threshold: float, most: int) -> Found:
    """The slow twin; `most` is the number of different texts that may share a phrase that counts."""
    rows = sorted(instances.instances, key=lambda one: (one.context, one.start, sorted(one.options)))
    firsts: dict[str, Instance] = {}
    parts = [of_parts(firsts.setdefault(repr(key(one)), one)) for one in rows]
    n_having = Counter(shingle for context, options in set(parts) for shingle in context | options)
    found = Found()
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            if i == j:
                continue
            if key(one) == key(other):
                (found.exact_within if one.split == other.split else found.exact_across).add(one.id)
                if one.split == other.split and one.where.split(",")[0] != other.where.split(",")[0]:
                    found.exact_in_other_file.add(one.id)
            elif beside(instances, one) == beside(instances, other) and is_near(
                parts[i], parts[j], n_having, threshold, most
            ):
                (found.near_within if one.split == other.split else found.near_across).add(one.id)
    return found


def beside(instances: Instances, one: Instance) -> tuple[str, int]:
    return one.media, one.answer if instances.kind == "classes" else 0


def is_near(
    one: tuple[Shingles, Shingles], other: tuple[Shingles, Shingles], n_having: Counter, threshold: float, most: int
) -> bool:
    """Whether contexts, options, and all that no phrase of the set is, are similar enough."""
    mine, its = ({s for part in parts for s in part if n_having[s] <= most} for parts in (one, other))
    alike = one == other or (bool(mine | its) and jaccard(frozenset(mine), frozenset(its)) >= threshold)
    return alike and all(jaccard(a, b) >= threshold for a, b in zip(one, other, strict=True))


def tail_by_all_outcomes(n_options: Sequence[int], beyond: float) -> float:
    """Twice the probability that the number of golds at a position is so far from what is expected, on that side."""
    expected = sum(1 / n for n in n_options)
    total = 0.0
    for outcome in product((0, 1), repeat=len(n_options)):
        off = sum(outcome) - expected
        if off >= beyond - 1e-9 if beyond > 0 else off <= beyond + 1e-9:
            total += prod(1 / n if gold else 1 - 1 / n for gold, n in zip(outcome, n_options, strict=True))
    return min(1.0, 2 * total)
