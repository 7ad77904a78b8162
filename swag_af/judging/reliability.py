"""How far annotators agree, in numbers: Krippendorff's alpha, Fleiss' kappa, pairs that agree, shares of labels.

Every figure is a function of sums over items, so that a bootstrap over items costs a matrix product. A million ratings
take seconds. Shares of labels and of pairs are ratios of sums and need none: their intervals are `ratio_interval`, with
items as groups. Which of them are printed, and the paper's figures, are in `agreement`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from swag_af.data.numbers.interval import ratio_interval
from swag_af.judging.consensus import RANKS, Labels
from swag_af.judging.verdicts import RATINGS

N_BOOTSTRAPS = 500
MIN_BOOTSTRAP_ITEMS = 30
"""With fewer shared items alpha and kappa have no interval, for a bootstrap over few is too sure
(`benchmarks/intervals.py --verdicts`)."""


@dataclass(frozen=True)
class Figure:
    """A number with its 95 % interval over the items that it is made of; None where it is not defined, and no interval
    of one item. Alpha and kappa have one of enough items that are not all alike.

    The annotators are as they are in every draw, so that the interval does not hold for others, who may differ.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


def figures_of(labels: Labels, *, seed: int) -> dict[str, Figure]:
    """Every figure of `labels` by its name, with an interval where there are items enough: of agreement those that two
    annotators or more have judged."""
    sums = _sums_of_items(labels)
    shared = sums["rating_pairs"][:, 1] > 0  # (I,)
    of_chance = {name: sums[name][shared] for kind in _KINDS for name in _names_of(kind)}
    ratios = {name: _ratio_figure(part, whole) for name, part, whole in _ratios(sums)}
    return _bootstrapped(of_chance, seed=seed) | ratios


def krippendorff(coincidences: np.ndarray, metric: str = "nominal") -> np.ndarray:
    """Alpha of coincidence matrices (..., C, C), nominal or ordinal; nan where all labels are the same.

    Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability".
    """
    n_c = coincidences.sum(axis=-1)  # (..., C)
    n = n_c.sum(axis=-1)  # (...)
    distances = _distances(n_c, metric)  # (..., C, C)
    observed = (coincidences * distances).sum(axis=(-2, -1))
    expected = (n_c[..., :, None] * n_c[..., None, :] * distances).sum(axis=(-2, -1))
    return 1 - _ratio((n - 1) * observed, expected)


def coincidences_of(votes: np.ndarray) -> np.ndarray:
    """(E, C, C) coincidences of units (E, C) that count how often each label was given; 0 where less than twice."""
    m = votes.sum(axis=1)  # (E,)
    pairs = votes[:, :, None] * votes[:, None, :] - votes[:, :, None] * np.eye(votes.shape[1])  # (E, C, C)
    return pairs / np.maximum(m - 1, 1)[:, None, None]


def fleiss(mean_agreement: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Kappa of the mean over units of the share of agreeing pairs, and how often each label (..., C) was given.

    Fleiss 1971; units with two labels or more count, and may differ in their number.
    """
    chance = (_ratio(counts, counts.sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    return _ratio(mean_agreement - chance, 1 - chance)


def agreement_with_others(labels: Labels, values: np.ndarray) -> np.ndarray:
    """(annotators,) share of the pairs with another annotator's label that agree; nan without any."""
    votes = np.bincount(labels.ending * 3 + values, minlength=labels.n_endings * 3).reshape(-1, 3)  # (E, 3)
    same = votes[labels.ending, values] - 1  # (R,)
    others = votes.sum(axis=1)[labels.ending] - 1  # (R,)
    return _ratio(np.bincount(labels.annotator, weights=same), np.bincount(labels.annotator, weights=others))


def _sums_of_items(labels: Labels) -> dict[str, np.ndarray]:
    """For each item what the figures are made of: name -> (I, d), to be summed over items."""
    item_of = np.repeat(np.arange(len(labels.items)), [len(item.columns) for item in labels.items])  # (E,)
    sums: dict[str, np.ndarray] = {}
    for kind, values, n_labels in (
        ("rating", labels.rating, 3),
        ("rank", labels.rank, 3),
        ("top2", (labels.rank == 2).astype(int), 2),
    ):
        votes = np.bincount(labels.ending * n_labels + values, minlength=labels.n_endings * n_labels)
        votes = votes.reshape(-1, n_labels)  # (E, C)
        m = votes.sum(axis=1)  # (E,)
        agreeing = (votes * (votes - 1)).sum(axis=1) / 2
        pairs = m * (m - 1) / 2
        of_ending = {
            "coincidences": coincidences_of(votes).reshape(len(votes), -1),
            "pairs": np.stack([agreeing, pairs], axis=1),
            "agreement": np.stack([_ratio(agreeing, pairs, 0.0), m > 1], axis=1),
            "counts": votes * (m > 1)[:, None],
        }
        sums |= {f"{kind}_{name}": _sum_by(item_of, value) for name, value in of_ending.items()}
    for kind, chosen in (("found", labels.place == 0), ("generated", labels.place > 0)):
        for name, values in (("ranks", labels.rank), ("ratings", labels.rating)):
            of_label = np.eye(3)[values] * chosen[:, None]  # (R, 3)
            sums[f"{kind}_{name}"] = _sum_by(labels.item, of_label)
    return sums


def _sum_by(group: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(groups, d) sums of the rows of `values` (n, d)."""
    return np.stack([np.bincount(group, weights=column) for column in values.T], axis=1)


_KINDS = ("rating", "rank")


def _names_of(kind: str) -> list[str]:
    """The sums that alpha and kappa are made of."""
    return [f"{kind}_{name}" for name in ("coincidences", "agreement", "counts")]


def _bootstrapped(sums: Mapping[str, np.ndarray], *, seed: int) -> dict[str, Figure]:
    """Alpha and kappa of `sums` (I, d) over items, with a bootstrap over these where there are enough."""
    n = len(next(iter(sums.values())))
    values = _corrected_for_chance({name: table.sum(axis=0, keepdims=True) for name, table in sums.items()})
    n_bootstraps = N_BOOTSTRAPS if n >= MIN_BOOTSTRAP_ITEMS else 0
    rng = np.random.default_rng(seed)
    drawn: dict[str, list[np.ndarray]] = {name: [] for name in sums}
    table = np.concatenate(list(sums.values()), axis=1)  # (I, D)
    ends = np.cumsum([part.shape[1] for part in sums.values()])[:-1]
    for _ in range(n_bootstraps):
        weights = np.bincount(rng.integers(n, size=n), minlength=n)  # (I,)
        for name, total in zip(sums, np.split(weights @ table, ends), strict=True):
            drawn[name].append(total)
    stacked = {name: np.stack(rows) for name, rows in drawn.items()} if n_bootstraps else {}
    resampled = _corrected_for_chance(stacked) if stacked else {}
    return {name: _figure(float(value[0]), resampled.get(name)) for name, value in values.items()}


def _figure(value: float, resampled: np.ndarray | None) -> Figure:
    if np.isnan(value):
        return Figure(None)
    defined = np.empty(0) if resampled is None else resampled[~np.isnan(resampled)]
    if not len(defined) or np.ptp(defined) < 1e-12:
        return Figure(value)
    low, high = np.quantile(defined, [0.025, 0.975])
    return Figure(value, float(low), float(high))


def _corrected_for_chance(totals: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Every alpha and kappa (B,) of sums (B, d)."""
    figures = {}
    for kind in _KINDS:
        matrices = totals[f"{kind}_coincidences"].reshape(-1, 3, 3)
        agreement = totals[f"{kind}_agreement"]
        figures[f"{kind}_alpha"] = krippendorff(matrices, "nominal")
        figures[f"{kind}_alpha_ordinal"] = krippendorff(matrices, "ordinal")
        figures[f"{kind}_kappa"] = fleiss(_ratio(agreement[:, 0], agreement[:, 1]), totals[f"{kind}_counts"])
    return figures


def _ratios(sums: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Every figure that is a ratio of sums over items: its name, and the two (I,) that are summed."""
    for kind in (*_KINDS, "top2"):
        agreeing, pairs = sums[f"{kind}_pairs"].T
        yield f"{kind}_pairwise", agreeing, pairs
    for kind in ("found", "generated"):
        for name, labels in (("ranks", RANKS), ("ratings", RATINGS)):
            counts = sums[f"{kind}_{name}"]  # (I, 3)
            yield from ((f"{kind}_{label}", counts[:, i], counts.sum(axis=1)) for i, label in enumerate(labels))
    ranks = sums["found_ranks"]
    top2 = ranks[:, [RANKS.index("best"), RANKS.index("second")]].sum(axis=1)
    yield "gold_in_top2", top2, ranks.sum(axis=1)


def _ratio_figure(part: np.ndarray, whole: np.ndarray) -> Figure:
    if not whole.any():
        return Figure(None)
    value = float(part.sum() / whole.sum())
    return (
        Figure(value, *ratio_interval(part, whole, np.arange(len(whole)))) if (whole > 0).sum() > 1 else Figure(value)
    )


def _distances(n_c: np.ndarray, metric: str) -> np.ndarray:
    """(..., C, C) squared distances of labels that were given `n_c` (..., C) times."""
    size = n_c.shape[-1]
    if metric == "nominal":
        return np.broadcast_to(1 - np.eye(size), (*n_c.shape, size))
    middle = np.cumsum(n_c, axis=-1) - n_c / 2  # labels of a kind share the middle of their ranks
    return (middle[..., :, None] - middle[..., None, :]) ** 2


def _ratio(part: np.ndarray, whole: np.ndarray, empty: float = np.nan) -> np.ndarray:
    """`part / whole`, and `empty` where whole is 0."""
    part, whole = np.broadcast_arrays(np.asarray(part, dtype=float), np.asarray(whole, dtype=float))
    return np.divide(part, whole, out=np.full(part.shape, empty), where=whole > 0)
