"""One judgement per item from several annotators' verdicts: by majority, or by a model of annotator reliability.

    majority       `verdicts.judge`
    dawid-skene    a confusion matrix for every annotator (Dawid and Skene 1979), fitted by crowd-kit
    mace           a probability that an annotator knows, or else guesses (Hovy et al. 2013), fitted by crowd-kit

The models see endings, never which of them is gold: they trust annotators who agree with others, not those who prefer
gold. Screening does the opposite (`screening`). Where no item was judged twice, the models give the majority's
judgements. Figures of agreement are in `agreement`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from swag_af.data.errors import InputError
from swag_af.data.extras import needing
from swag_af.judging.verdicts import RATINGS, Item, Judgement, Verdict, in_order, judge, rank_endings

if TYPE_CHECKING:
    import pandas as pd

Method = Literal["majority", "dawid-skene", "mace"]
METHODS: tuple[Method, ...] = get_args(Method)

RANKS = ("best", "second", "neither")
"""The three labels of Table 2's ranking: every ending of an item has one of them (Zellers et al. 2018)."""


def judge_by(method: str, verdicts: Sequence[Verdict], *, seed: int = 0) -> list[Judgement]:
    """One judgement per item, by one of METHODS, in order of row and round.

    A model is fitted twice: to the ratings of all endings, and to their ranks (best, second, neither). An ending's
    rating is the most probable one, its likelihood P(likely) - P(gibberish); best and second best are the endings with
    most expected points, two for P(best) and one for P(second). Ties are broken as in `verdicts.judge`, by `seed`.
    """
    _check(method)
    labels = labels_of(verdicts)
    if method == "majority" or not labels.shared.any():
        return judge(verdicts, seed=seed)
    ratings = _posterior(method, labels, labels.rating, seed=seed)  # (E, 3)
    ranks = _posterior(method, labels, labels.rank, seed=seed)  # (E, 3)
    n_annotators = Counter(verdict.item for verdict in verdicts)
    judgements, end = [], 0
    for item in labels.items:
        start, end = end, end + len(item.columns)
        judgements.append(_judgement(item, ratings[start:end], ranks[start:end], n_annotators[item], seed))
    return judgements


def worker_skills(verdicts: Sequence[Verdict], method: str, *, seed: int = 0) -> dict[str, float]:
    """By annotator: the share of labels, ratings and ranks together, that are correct according to the method.

    Only items with another annotator count; annotators without any are left out. Chance level is well above 0:
    most endings are neither best nor second.
    """
    _check(method)
    labels = labels_of(verdicts)
    if not labels.shared.any():
        return {}
    true = np.zeros(len(labels.rating))  # (R,) how probably each label is right, summed over both kinds
    for values in (labels.rating, labels.rank):
        true += _posterior(method, labels, values, seed=seed)[labels.ending, values]
    n = np.bincount(labels.annotator, weights=labels.shared, minlength=len(labels.annotators))
    share = np.bincount(labels.annotator, weights=true * labels.shared / 2, minlength=len(n)) / np.maximum(n, 1)
    return {name: round(float(share[i]), 9) for i, name in enumerate(labels.annotators) if n[i]}


@dataclass(frozen=True)
class Labels:
    """Verdicts as arrays, one entry per ending that an annotator judged: R entries, over E endings."""

    items: list[Item]
    annotators: list[str]
    item: np.ndarray
    """(R,) place in `items`."""
    ending: np.ndarray
    """(R,) the ending's number in the order of `items` and their columns."""
    place: np.ndarray
    """(R,) place in the item's columns; 0 is gold."""
    annotator: np.ndarray
    """(R,) place in `annotators`."""
    rating: np.ndarray
    """(R,) place in RATINGS."""
    rank: np.ndarray
    """(R,) place in RANKS."""
    shared: np.ndarray
    """(R,) whether another annotator judged the item too."""

    @property
    def n_endings(self) -> int:
        """E."""
        return sum(len(item.columns) for item in self.items)


def labels_of(verdicts: Sequence[Verdict]) -> Labels:
    """The arrays; items in order of row and round, annotators in order of name."""
    items = in_order({verdict.item for verdict in verdicts})
    annotators = sorted({verdict.annotator for verdict in verdicts})
    item_number = {item: i for i, item in enumerate(items)}
    annotator_number = {name: i for i, name in enumerate(annotators)}
    code = {rating: i for i, rating in enumerate(RATINGS)}
    sizes = np.array([len(item.columns) for item in items], dtype=np.int64)
    item = np.array([item_number[verdict.item] for verdict in verdicts], dtype=np.int64)  # (V,)
    annotator = np.array([annotator_number[verdict.annotator] for verdict in verdicts], dtype=np.int64)  # (V,)
    best = np.array([verdict.best for verdict in verdicts], dtype=np.int64)  # (V,)
    second = np.array([verdict.second for verdict in verdicts], dtype=np.int64)  # (V,)
    m = sizes[item]  # (V,)
    of = np.repeat(np.arange(len(m)), m)  # (R,) the verdict
    place = np.arange(len(of)) - np.repeat(np.cumsum(m) - m, m)  # (R,)
    return Labels(
        items=items,
        annotators=annotators,
        item=item[of],
        ending=(np.cumsum(sizes) - sizes)[item[of]] + place,
        place=place,
        annotator=annotator[of],
        rating=np.fromiter((code[rating] for verdict in verdicts for rating in verdict.ratings), np.int64, len(of)),
        rank=np.where(place == best[of], 0, np.where(place == second[of], 1, 2)),
        shared=(np.bincount(item, minlength=len(items)) > 1)[item[of]],
    )


def _check(method: str) -> None:
    if method not in METHODS:
        raise InputError(f"no way to agree called {method!r}. Choose from {', '.join(METHODS)}.")


def _judgement(item: Item, ratings: np.ndarray, ranks: np.ndarray, n_annotators: int, seed: int) -> Judgement:
    likelihoods = _rounded(ratings[:, 0] - ratings[:, 2]).tolist()
    points = _rounded(2 * ranks[:, 0] + ranks[:, 1]).tolist()
    best, second, *_ = rank_endings(item, points, likelihoods, seed=seed)
    rated = tuple(RATINGS[_likeliest(row)] for row in ratings)
    return Judgement(item, rated, tuple(likelihoods), best, second, n_annotators, seed)


def _rounded(values: np.ndarray) -> np.ndarray:
    """Rounded, so that values that differ by rounding errors only are ties, which are broken by rule."""
    return np.round(values, 9)


def _likeliest(probabilities: np.ndarray) -> int:
    """The most probable rating; of three equally probable ones the middle one, of two the worse one."""
    tied = np.flatnonzero(probabilities == probabilities.max())
    return int(tied[len(tied) // 2])


def _posterior(method: str, labels: Labels, values: np.ndarray, *, seed: int = 0) -> np.ndarray:
    """(E, 3) the probability of each of three labels for each ending.

    MACE's fixed initialisation trusts some annotators more than others, by their numbers. It is therefore fitted with
    reversed numbers too, and the two are averaged, so that the numbering decides no tie.
    """
    if method == "majority":
        votes = np.bincount(labels.ending * 3 + values, minlength=labels.n_endings * 3).reshape(-1, 3)  # (E, 3)
        return votes / votes.sum(axis=1, keepdims=True)
    numbers = _by_hash(labels.items, seed)  # (E,)
    tasks = numbers[labels.ending]  # (R,)
    workers = _by_labels(labels.annotator, tasks, values)  # (R,)
    ways = (workers, workers.max() - workers) if method == "mace" else (workers,)
    found = np.mean([_fitted(method, tasks, way, values, labels.n_endings) for way in ways], axis=0)
    return _rounded(found)[numbers]  # (E, 3)


def _fitted(method: str, tasks: np.ndarray, workers: np.ndarray, values: np.ndarray, n_endings: int) -> np.ndarray:
    """(E, 3) a model's probabilities, by the numbers of the endings in `tasks` (R,)."""
    order = np.lexsort((tasks, workers, values))  # (R,)
    _, workers = _by_appearance(workers[order])
    probabilities = _fit(method, tasks[order], workers, values[order])
    return probabilities.reindex(index=range(n_endings), columns=range(3), fill_value=0.0).to_numpy()


def _by_hash(items: Sequence[Item], seed: int) -> np.ndarray:
    """(E,) each ending's number when an item's are in the order in which ties go (`verdicts.rank_endings`).

    Places and columns must not: gold would be first among the endings, and annotators who prefer it first among all.
    """
    numbers, start = [], 0
    for item in items:
        numbers.append(start + np.argsort(rank_endings(item, seed=seed)))
        start += len(item.columns)
    return np.concatenate(numbers)


def _by_labels(annotator: np.ndarray, tasks: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(R,) the annotators' numbers, in the order of their labels.

    The result of a model depends on the numbering, and must not depend on names: annotators with equal labels are
    interchangeable.
    """
    order = np.lexsort((values, tasks, annotator))
    ends = np.cumsum(np.bincount(annotator))[:-1]
    labels = [part.tolist() for part in np.split(3 * tasks[order] + values[order], ends)]
    number = np.empty(len(labels), dtype=np.int64)
    number[sorted(range(len(labels)), key=labels.__getitem__)] = np.arange(len(labels))
    return number[annotator]


def _by_appearance(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values, and each value's number among them, in order of first appearance.

    crowd-kit 1.4's MACE numbers workers and labels by first appearance, but its counts of them in sorted order: the
    two must agree.
    """
    distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return distinct[order], rank[inverse]


def _fit(method: str, tasks: np.ndarray, workers: np.ndarray, values: np.ndarray) -> "pd.DataFrame":
    with needing("verify"):
        import pandas as pd
        from crowdkit.aggregation import MACE, DawidSkene
    data = pd.DataFrame({"task": tasks, "worker": workers, "label": values})
    if method == "dawid-skene":
        return DawidSkene(n_iter=100).fit_predict_proba(data)
    return MACE(n_restarts=1, n_iter=50).fit_predict_proba(data)  # its restarts all begin with the same numbers
