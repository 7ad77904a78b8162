"""What guessing alone would flag: two kinds of guessers, since one that holds to an opinion is right in every order or
in none.

Letters: `N` questions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Luck:
    """The share of questions that a model without any knowledge would have flagged."""

    anew: float
    """It guesses anew in each try; one whose tries are one, in that one alone."""
    steady: float
    """It guesses once for a question, and says the same in every try."""


def tail(n: int, p: np.ndarray | float, at_least: int) -> np.ndarray:
    """The probability of `at_least` successes or more in `n` tries of probability `p`, elementwise."""
    from scipy.special import bdtrc

    p = np.asarray(p, np.float64)
    if not 0 < at_least <= n:
        return np.full_like(p, float(at_least <= 0))
    return np.asarray(bdtrc(at_least - 1, n, p))


def luck_of_orders(chance: np.ndarray, n: int, at_least: int) -> Luck:
    """Of one judge: questions with `chance` (N,) of being guessed, right in `at_least` of `n` orders or more."""
    return Luck(float(tail(n, chance, at_least).mean()), float(chance.mean()))


def luck_of_votes(chance: np.ndarray, n: int, at_least: int, votes: int, repeats: Sequence[bool]) -> Luck:
    """Of a panel of which `votes` models are each right in `at_least` of `n` tries or more, independently; a model that
    `repeats` itself is right in all of them or in none."""
    anew = tail(n, chance, at_least)
    return Luck(
        float(_enough(votes, [chance if one else anew for one in repeats]).mean()),
        float(_enough(votes, [chance] * len(repeats)).mean()),
    )


def _enough(votes: int, chances: Sequence[np.ndarray]) -> np.ndarray:
    """(N,) the probability of `votes` or more, of models that vote with `chances` (N,) of their own."""
    shares = np.zeros((1 + len(chances), len(chances[0])))  # by the number of votes
    shares[0] = 1
    for chance in chances:
        shares[1:] = shares[1:] * (1 - chance) + shares[:-1] * chance
        shares[0] *= 1 - chance
    return np.asarray(shares[votes:].sum(axis=0))
