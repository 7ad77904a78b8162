"""The slow, obvious twins of scores: everything counted one by one."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from swag_af.data.instances.instances import Instances


def prints_as(k: int, n: int, printed: str) -> str:
    """How `k` of `n` prints as that percentage: `rounded` (a half either way), `cut`, or `no`."""
    unit = Fraction(1, 10 ** len(printed.partition(".")[2]))
    share, value = Fraction(100 * k, n), Fraction(printed)
    if abs(share - value) <= unit / 2:
        return "rounded"
    return "cut" if (share // unit) * unit == value else "no"


def by_luck(n: int, digits: int, *, cut: bool) -> float:
    """The share of all percentages of so many decimals that are shares of `n`, as rounded or, with `cut`, as cut."""
    fits = {"rounded", "cut"} if cut else {"rounded"}
    printed = [f"{number / 10**digits:.{digits}f}" for number in range(100 * 10**digits + 1)]
    return sum(any(prints_as(k, n, one) in fits for k in range(n + 1)) for one in printed) / len(printed)


def majority_right(votes: Sequence[int], m: int) -> float:
    """The share of all draws of `m` annotators whose majority is answer 0, ties shared; `votes` by answer."""
    annotators = [answer for answer, n in enumerate(votes) for _ in range(n)]
    right = []
    for drawn in combinations(annotators, m):
        counts = [drawn.count(answer) for answer in range(len(votes))]
        top = [answer for answer, n in enumerate(counts) if n == max(counts)]
        right.append(1 / len(top) if 0 in top else 0.0)
    return float(np.mean(right))


def fleiss_kappa(labels: Sequence[Sequence[int]]) -> float:
    """Fleiss 1971, of items with equally many labels."""
    n = len(labels[0])
    agreeing = np.mean([sum(a == b for a, b in combinations(of, 2)) / (n * (n - 1) / 2) for of in labels])
    flat = [label for of in labels for label in of]
    chance = sum((flat.count(label) / len(flat)) ** 2 for label in set(flat))
    return float((agreeing - chance) / (1 - chance))


def over_ties(instances: Instances, shares: np.ndarray, rows: Sequence[int]) -> list[tuple[tuple[int, ...], float]]:
    """Every way in which the answers of `rows` may be chosen, and how probable it is."""
    of = [np.flatnonzero(shares[instances.offsets[row] : instances.offsets[row + 1]]).tolist() for row in rows]
    ways = list(product(*of))
    return [(way, 1 / len(ways)) for way in ways]


def consistency(instances: Instances, shares: np.ndarray, sets: Sequence[Sequence[int]]) -> float:
    """The share of sets with all right, expected over ties."""
    golds = instances.answers
    each = [sum(p for way, p in over_ties(instances, shares, rows) if way == tuple(golds[list(rows)])) for rows in sets]
    return float(np.mean(each))


def sensitivity(instances: Instances, shares: np.ndarray, pairs: Sequence[Sequence[int]]) -> tuple[float, float]:
    """How many pairs differ in the text that was chosen, and how many of them are right, expected over ties; pairs
    whose right answers are the same text are left out."""
    differing = both = 0.0
    for rows in pairs:
        golds = {instances.instances[row].options[instances.instances[row].answer] for row in rows}
        if len(golds) < len(rows):
            continue
        for way, p in over_ties(instances, shares, rows):
            texts = [instances.instances[row].options[i] for row, i in zip(rows, way, strict=True)]
            differing += p * (texts[0] != texts[1])
            both += p * (
                texts[0] != texts[1] and all(instances.answers[row] == i for row, i in zip(rows, way, strict=True))
            )
    return differing, both


def right_by_drawing(golds: Sequence[int], shares: Sequence[float]) -> float:
    """How probable it is that classes drawn by their shares are all right: every draw, one by one."""
    found = 0.0
    for drawn in product(range(len(shares)), repeat=len(golds)):
        found += float(np.prod([shares[i] for i in drawn])) * (list(drawn) == list(golds))
    return found
