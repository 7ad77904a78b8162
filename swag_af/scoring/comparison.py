"""Two sets of predictions on the same instances: two models, or one model that sees all and one that sees less.

    paired difference    with an interval over groups (`swag_af.data.numbers.interval`)
    McNemar              exact and two-sided, on instances that one has right and the other wrong; takes instances for
                         independent, and leaves out those in which answers tie. Where nothing is left, there is no test
    bootstrap            of whole groups, seeded; the same for any order of rows
    Holm                 the McNemar p-values of several comparisons, corrected together; of no test there is none

Reads no files.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from swag_af.data.splits import renumbered
from swag_af.scoring.figures import DIGITS, FEWEST_GROUPS, Figure, difference
from swag_af.scoring.reading.predictions import Predictions

DRAWS = 2000
"""Resamples of the bootstrap."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many instances are right with whom; not whole where answers tie."""

    both: float
    only_first: float
    only_second: float
    neither: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The first model beside another."""

    first: str
    second: str
    difference: Figure
    """The accuracy of the first less that of the second."""
    counts: Counts
    mcnemar: float | None
    """The exact p-value; None where `n_discordant` is 0, so that nothing is left to test."""
    n_discordant: int
    """Instances that one has right and the other wrong, without ties."""
    n_ties: int
    """Instances that are left out of the test though the two differ, since answers tie."""
    holm: float | None
    """The same p-value, corrected for all comparisons with the first that have a test."""
    bootstrap_low: float | None
    """2.5 % of the resampled differences are below it; None, as what follows, of fewer than `FEWEST_GROUPS`."""
    bootstrap_high: float | None
    """2.5 % are above it."""
    bootstrap_p: float | None
    """Twice the share of resamples with a difference of the other sign or none, at least 2 / (draws + 1)."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The first model beside what it answers where it sees less."""

    name: str
    """What it sees."""
    sighted: str
    """The model."""
    accuracy: Figure
    """Blind."""
    gap: Figure
    """The accuracy of the sighted less that of the blind."""
    counts: Counts
    """The first is the sighted one."""


def compare(first: Predictions, others: Sequence[Predictions], groups: np.ndarray, *, seed: int) -> list[Comparison]:
    """The `first` predictions beside each of the `others`, over `groups` (N,)."""
    compared = [_compared(first, other, groups, seed) for other in others]
    corrected = iter(holm([one.mcnemar for one in compared if one.mcnemar is not None]))
    return [one if one.mcnemar is None else replace(one, holm=next(corrected)) for one in compared]


def gap_of(name: str, sighted: Predictions, blind: Predictions, groups: np.ndarray, accuracy: Figure) -> Gap:
    """What is lost where less is seen, over `groups` (N,); `accuracy` is the blind one's."""
    lost = difference("sighted less blind", blind.hits, sighted.hits, groups)
    return Gap(name, sighted.name, accuracy, lost, counts_of(sighted.hits, blind.hits))


def counts_of(first: np.ndarray, second: np.ndarray) -> Counts:
    """Who has how many right, of hits (N,) and (N,)."""
    sums = (first * second, first * (1 - second), (1 - first) * second, (1 - first) * (1 - second))
    return Counts(*(round(float(one.sum()), 6) for one in sums))


def _compared(first: Predictions, other: Predictions, groups: np.ndarray, seed: int) -> Comparison:
    whole = ~(first.tied | other.tied)  # a tie without gold too: those with it are gone, and it would be sure to lose
    b = int(((first.hits > other.hits) & whole).sum())
    c = int(((first.hits < other.hits) & whole).sum())
    n_ties = int(((first.hits != other.hits) & ~whole).sum())
    p = mcnemar(b, c) if b + c else None
    enough = len(np.unique(groups)) >= FEWEST_GROUPS
    low, high, drawn_p = bootstrap(first.hits - other.hits, groups, seed=seed) if enough else (None, None, None)
    found = difference("difference", other.hits, first.hits, groups)
    counts = counts_of(first.hits, other.hits)
    return Comparison(first.name, other.name, found, counts, p, b + c, n_ties, None, low, high, drawn_p)


def mcnemar(b: int, c: int) -> float:
    """The exact two-sided p-value of `b` against `c` discordant instances, one at least: the binomial test of a fair
    coin."""
    from scipy.special import bdtr  # scipy.stats.binomtest, without its import time

    return min(1.0, 2 * float(bdtr(min(b, c), b + c, 0.5)))


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected together (Holm 1979), in their order."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    corrected, highest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = highest
    return corrected


def bootstrap(
    differences: np.ndarray, groups: np.ndarray, *, seed: int, draws: int = DRAWS
) -> tuple[float, float, float]:
    """`(low, high, p)` of the mean of `differences` (N,), whole `groups` (N,) drawn with replacement."""
    columns = np.stack([differences, np.ones(len(differences))], axis=1)
    totals = resampled(columns, groups, draws, rng=np.random.default_rng((seed, *b"bootstrap")))  # (draws, 2)
    found = np.round(totals[:, 0] / totals[:, 1], DIGITS)
    low, high = np.quantile(found, [0.025, 0.975])
    tails = [(1 + int((found * sign <= 0).sum())) / (draws + 1) for sign in (1, -1)]
    return round(float(low), DIGITS), round(float(high), DIGITS), min(1.0, 2 * min(tails))


def resampled(columns: np.ndarray, groups: np.ndarray, draws: int, *, rng: np.random.Generator) -> np.ndarray:
    """(draws, c) the sums of `columns` (N, c), whole `groups` (N,) drawn with replacement.

    Groups of the same sums are drawn together, so rows may have any order.
    """
    numbers = renumbered(groups)
    table = np.stack([np.bincount(numbers, column) for column in columns.T], axis=1)  # (groups, c)
    alike, n_alike = np.unique(np.round(table, DIGITS), axis=0, return_counts=True)
    drawn = rng.multinomial(len(table), n_alike / len(table), size=draws)  # (draws, a) how often each kind
    sums: np.ndarray = drawn @ alike
    return sums
