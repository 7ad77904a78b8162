"""Tiers of instances, easy to hard, by what partial-input probes make of them together.

The scores of the probes, each out of fold, are stacked: a conditional logit over the answers of an instance gives each
probe one weight, not below 0, and each class an intercept, so that gold is likeliest over all instances (Breiman 1996,
"Stacked regressions", with non-negative weights). So a probe that is too sure of itself is toned down, one that found
nothing has weight 0 and makes nobody easy by luck, and to add it changes no tier. The stacked probability of gold is
compared with the one that needs no text (`baseline`): that is information about gold, for it or against, the pointwise
V-information of Ethayarajh, Choi and Swayamdipta (2022, "Understanding dataset difficulty with V-usable information").

    easy       the probes answer at least half of the question: the probability of gold is at least the square root of
               the baseline (of four options 50 %, of two 71 %)
    hard       they answer less than a tenth of it, or mislead (of four options below 29 %, of two below 54 %)
    middling   all between

Where no probe finds anything, every instance is hard, whatever single probes hit by luck. How many probes solve an
instance (`solved_by`) is given beside the tier, and is subject to that luck: two probes at a chance of one half both
hit a quarter of the instances or more.

Left out are probes that read all words, in order or shuffled, since what they find may be the task.

When it misleads. *Hard for these probes is not hard*: a stronger reader of the same partial input may solve it, and
people may find it trivial. *Regression to the mean*: those probes are below chance on the hard tier by construction,
since it was chosen by their errors; whether a hard subset is free of artifacts, only probes that had no part in
choosing it can say, and a subset without the easy tier may have new artifacts, the opposite of the old ones, as
GoldenSwag's shortest option. *Few instances*: under some hundreds, the weights fit noise. The cuts are conventions; the
probability is kept beside the tier.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from swag_af.auditing.outcome import Probe, over_seeds
from swag_af.auditing.ranking import gold_probabilities, softmax
from swag_af.data.instances.instances import Instances

TIERS = ("easy", "middling", "hard")
EASY, HARD = 0.5, 0.1
"""Shares of the information that the question asks for: from the first on it is easy, below the other hard."""
WHOLE = ("full", "shuffled")
"""Inputs with all words."""
HEAVIEST = 20.0
"""The largest weight of a probe, whose scores have standard deviation 1."""
_SMALLEST = 1e-12
"""Of probabilities, so that there is a logarithm."""


@dataclass(frozen=True)
class Tiers:
    """The tier of every instance, and how it came about."""

    numbers: np.ndarray
    """(N,) 0 easy, 1 middling, 2 hard."""
    probability: np.ndarray
    """(N,) of gold, by the probes together."""
    solved_by: np.ndarray
    """(N,) how many of the probes are right more than half of the time, over seeds and ties, which are shared."""
    weights: Mapping[str, float]
    """The weight of each probe, by its name, on scores of standard deviation 1."""


def tiers_of(probes: Sequence[Probe], instances: Instances) -> Tiers | None:
    """The tiers by those of `probes` that are `partial`; None where there are none.

    The order of instances and of probes does not matter.
    """
    used = sorted(partial(over_seeds(probes)), key=lambda probe: probe.name)
    if not used:
        return None
    scores = np.array([_standard(probe.scores, instances) for probe in used])  # (P, M)
    weights, stacked = _stacked(scores, instances)  # (P,), (M,)
    probability = np.clip(np.round(gold_probabilities(stacked, instances), 4), _SMALLEST, 1)  # (N,)
    return Tiers(
        numbers=numbers_of(probability, baseline(instances)),
        probability=probability,
        solved_by=np.sum([probe.hits > 0.5 for probe in used], axis=0),
        weights={probe.name: round(float(weight), 3) for probe, weight in zip(used, weights, strict=True)},
    )


def numbers_of(probability: np.ndarray, without: np.ndarray) -> np.ndarray:
    """(N,) the number of the tier where gold has this `probability` (N,), and `without` (N,) by no text."""
    share = answered(probability, without)
    numbers: np.ndarray = np.where(share >= EASY, 0, np.where(share >= HARD, 1, 2))
    return numbers


def answered(probability: np.ndarray, without: np.ndarray) -> np.ndarray:
    """(N,) the share of the information on gold that is there: 1 all, 0 none, below 0 where gold is less probable than
    `without` (N,) any text."""
    shares: np.ndarray = 1 - np.log(probability) / np.log(without)
    return shares


def partial(probes: Sequence[Probe]) -> list[Probe]:
    """Those that read a part of each instance and scored every one across folds of whole groups.

    Folds of single instances and published splits are left out: the same probes once more, on fewer or on leaks.
    """
    return [probe for probe in probes if probe.input not in WHOLE and probe.folds == "group"]


def baseline(instances: Instances) -> np.ndarray:
    """(N,) the probability of gold without any text: 1 / options; of classes, the share of its class in the set."""
    if instances.kind == "classes":
        shares: np.ndarray = np.bincount(instances.answers) / len(instances)
        return np.minimum(shares[instances.answers], 1 - _SMALLEST)
    return np.minimum(1 / instances.n_answers, 1 - _SMALLEST)


def _standard(scores: np.ndarray, instances: Instances) -> np.ndarray:
    """(M,) `scores` (M,) less their mean within each instance, in standard deviations."""
    means = np.add.reduceat(scores, instances.offsets[:-1]) / instances.n_answers  # (N,)
    centred = scores - np.repeat(means, instances.n_answers)
    deviation = float(centred.std())
    return centred / deviation if deviation > 0 else centred


def _stacked(scores: np.ndarray, instances: Instances) -> tuple[np.ndarray, np.ndarray]:
    """Weights (P,) from 0 to `HEAVIEST` at which gold is likeliest for `scores` (P, M), and the log-odds (M,).

    Classes have intercepts beside. The likelihood is concave: one answer, up to probes that say the same.
    """
    from scipy.optimize import minimize

    parts = np.concatenate([scores, _class_columns(instances)])  # (P + classes, M)
    is_gold = instances.is_gold

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        shares = softmax(weights @ parts, instances)  # (M,)
        n = len(instances)
        return -float(np.log(np.maximum(shares[is_gold], _SMALLEST)).sum()) / n, parts @ (shares - is_gold) / n

    n_probes, n_classes = len(scores), len(parts) - len(scores)
    start = np.concatenate([np.full(n_probes, 0.1), np.zeros(n_classes)])
    bounds = [(0.0, HEAVIEST)] * n_probes + [(-HEAVIEST, HEAVIEST)] * n_classes
    tight = {"ftol": 1e-14, "gtol": 1e-9, "maxiter": 500}  # so that the order of rows does not show
    found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options=tight).x
    return found[:n_probes], found @ parts


def _class_columns(instances: Instances) -> np.ndarray:
    """(classes, M) 1 at each answer that is the class; (0, M) of choices."""
    if instances.kind == "choices":
        return np.zeros((0, int(instances.offsets[-1])))
    return np.tile(np.eye(len(instances.classes)), len(instances))
