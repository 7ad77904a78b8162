"""How often people are right: single workers, majorities of some, an expert; and how far they agree.

    majority of m    the answer that most of m annotators give, ties shared: the expectation over all draws of m of an
                     item's answers, exact. Items with fewer answers are left out (SWAG's Table 3: 1, 3, 5)
    over workers     mean and standard deviation (of the population, as NLVR2's 96.3 and 2.1 are) of the accuracies of
                     workers with enough answers; the interval is that of the mean, by Student's t, no narrower than
                     what each worker's own number of answers leaves open
    expert           one worker's accuracy
    Fleiss' kappa    over the items with the commonest number of labels, as Fleiss (1971) defines it; labels that made
                     the gold label, and those of writers, are among them

Answers of the writer of an item, and those that made its gold label, do not count towards accuracy.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np

from swag_af.data.errors import InputError
from swag_af.data.numbers.interval import t_quantile, wilson
from swag_af.judging.reliability import fleiss
from swag_af.scoring.comparison import resampled
from swag_af.scoring.figures import DIGITS, FEWEST_GROUPS, Figure, rounded, share
from swag_af.scoring.reading.judgements import Judgements

MAJORITIES = (1, 3, 5)
"""Annotators whose majority is taken (Zellers et al. 2018, Table 3)."""
DRAWS = 1000
"""Resamples of items for the interval of kappa."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One worker's accuracy."""

    worker: str
    n: int
    """Answers that count."""
    accuracy: float


@dataclass(frozen=True, slots=True)
class People:
    """What people get right."""

    said: str
    """How their answers were read."""
    n_items: int
    n_workers: int
    n_answers: int
    n_counted: int
    """Answers that count towards accuracy."""
    figures: tuple[Figure, ...]
    """Majorities, `mean over workers`, expert, Fleiss' kappa."""
    deviation: float | None
    """Of the accuracies of workers with enough answers."""
    min_items: int
    """Answers that are enough."""
    workers: tuple[Worker, ...]
    """All, those with most answers first."""


def people_of(judgements: Judgements, *, min_items: int, expert: str = "", seed: int = 0) -> People:
    """All figures; InputError for an `expert` of whom nothing counts."""
    workers = _workers(judgements)
    those = [one for one in workers if one.n >= min_items]
    enough = np.array([one.accuracy for one in those])
    figures = [one for m in MAJORITIES for one in _majority(judgements, m)]
    figures += [_over_workers(enough, np.array([one.n for one in those]))] if those else []
    figures += [_expert(judgements, expert)] if expert else []
    figures += _kappa(judgements, seed) if judgements.is_comparable else []
    return People(
        judgements.said,
        len(judgements.items),
        len(judgements.workers),
        len(judgements.answer),
        int(judgements.counts.sum()),
        tuple(figures),
        round(float(enough.std()), DIGITS) if those else None,
        min_items,
        tuple(workers),
    )


def _workers(judgements: Judgements) -> list[Worker]:
    counted = judgements.counts
    who = judgements.worker[counted]
    right = _right(judgements)[counted]
    n = np.bincount(who, minlength=len(judgements.workers))
    n_right = np.bincount(who, right, minlength=len(n))
    made = [
        Worker(name, int(n[i]), round(float(n_right[i] / n[i]), DIGITS))
        for i, name in enumerate(judgements.workers)
        if n[i]
    ]
    return sorted(made, key=lambda one: (-one.n, one.worker))


def _right(judgements: Judgements) -> np.ndarray:
    """(J,) whether an answer is right."""
    right: np.ndarray = judgements.answer == judgements.gold[judgements.item]
    return right


def _majority(judgements: Judgements, m: int) -> Iterator[Figure]:
    """How often the majority of `m` is right; nothing where no item has as many answers."""
    votes: dict[int, Counter[int]] = {}
    pairs = np.stack([judgements.item, judgements.answer], axis=1)[judgements.counts]
    for item, answer in pairs.tolist():
        votes.setdefault(item, Counter())[answer] += 1
    items = [item for item in sorted(votes) if votes[item].total() >= m]
    if not items:
        return
    golds = judgements.gold.tolist()
    right = [majority_right(_ordered(votes[item], golds[item]), m) for item in items]
    yield share(f"majority of {m}", np.array(right), judgements.groups[items], judgements.chance.at(items), of="items")


def _ordered(votes: Counter[int], gold: int) -> tuple[int, ...]:
    """How often gold was answered, then each other answer, the commonest first."""
    return (votes[gold], *sorted((n for answer, n in votes.items() if answer != gold), reverse=True))


@cache
def majority_right(votes: tuple[int, ...], m: int) -> float:
    """How often most of `m` drawn of all annotators, without replacement, are right; ties are shared.

    `votes` counts the annotators who gave the right answer, then those of each other answer; `m` is not above their
    sum.
    """
    right = 0.0
    for drawn, ways in _draws(votes, m):
        most = max(drawn)
        right += ways / drawn.count(most) if drawn[0] == most else 0.0
    return right / comb(sum(votes), m)


def _draws(votes: Sequence[int], m: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """How many of each answer are among `m` drawn, and in how many ways."""
    if not votes:
        if m == 0:
            yield (), 1
        return
    for n in range(min(votes[0], m) + 1):
        for rest, ways in _draws(votes[1:], m - n):
            yield (n, *rest), comb(votes[0], n) * ways


def _over_workers(accuracies: np.ndarray, n_answers: np.ndarray) -> Figure:
    """The mean, and its interval; of one worker from 0 to 1.

    Workers may agree by luck: the variance between `accuracies` (W,) counts as no less than that of shares of
    `n_answers` (W,). Where all are right in everything, or in nothing, each worker counts as one answer (`interval`).
    """
    n, mean = len(accuracies), float(accuracies.mean())
    if n < 2:
        return rounded(Figure("mean over workers", mean, 0.0, 1.0, n, "workers"))
    within = float((accuracies * (1 - accuracies) / n_answers).mean())
    half = t_quantile(n - 1) * (max(float(accuracies.var(ddof=1)), within) / n) ** 0.5
    low, high = (max(0.0, mean - half), min(1.0, mean + half)) if half else wilson(mean, n, n)
    return rounded(Figure("mean over workers", mean, low, high, n, "workers"))


def _expert(judgements: Judgements, expert: str) -> Figure:
    own = judgements.counts & (judgements.worker == _number(judgements, expert))
    if not own.any():
        raise InputError(f"--expert {expert}: none of their answers counts. Name a worker who answers others' items.")
    items = judgements.item[own]
    right = _right(judgements)[own].astype(float)
    return share("expert", right, judgements.groups[items], judgements.chance.at(items), of="items")


def _number(judgements: Judgements, worker: str) -> int:
    if worker not in judgements.workers:
        known = ", ".join(judgements.workers[:6])
        more = f" and {len(judgements.workers) - 6:,} more" if len(judgements.workers) > 6 else ""
        raise InputError(f"--expert {worker}: no such worker (there are {known}{more}). Check the name.")
    return judgements.workers.index(worker)


def _kappa(judgements: Judgements, seed: int) -> list[Figure]:
    """Fleiss' kappa on the items with the commonest number of labels, two at least, and its bootstrap over groups."""
    size = (len(judgements.items), int(judgements.answer.max()) + 1)
    votes = np.zeros(size)
    np.add.at(votes, (judgements.item, judgements.answer), 1)  # (I, C)
    n_labels = votes.sum(axis=1)
    several = Counter(n_labels[n_labels > 1].tolist())
    if not several:
        return []
    m = max(several, key=lambda n: (several[n], n))
    votes, groups = votes[n_labels == m], judgements.groups[n_labels == m]
    agreeing = (votes * (votes - 1)).sum(axis=1) / (m * (m - 1))  # (i,)
    sums = np.concatenate([agreeing[:, None], np.ones((len(votes), 1)), votes], axis=1)  # (i, 2 + C)
    value = float(_kappas(sums.sum(axis=0, keepdims=True))[0])
    if np.isnan(value):
        return []
    low, high = _interval(sums, groups, seed)
    return [rounded(Figure("Fleiss' kappa", value, low, high, len(votes), f"items with {m:.0f} labels"))]


def _kappas(sums: np.ndarray) -> np.ndarray:
    """(B,) of sums (B, 2 + C) over items: agreement, 1, how often each label was given."""
    return fleiss(sums[:, 0] / sums[:, 1], sums[:, 2:])


def _interval(sums: np.ndarray, groups: np.ndarray, seed: int) -> tuple[float | None, float | None]:
    """The 95 % interval with whole groups drawn; none of fewer than `FEWEST_GROUPS`, or where a resample has one label
    alone."""
    found = _kappas(resampled(sums, groups, DRAWS, rng=np.random.default_rng((seed, *b"kappa"))))
    if len(np.unique(groups)) < FEWEST_GROUPS or np.isnan(found).any():
        return None, None
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)
