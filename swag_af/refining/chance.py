"""What guessing alone would flag: two kinds of guessers, since one that holds to an opinion is right in every order or
in none.

Letters: `N` questions.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Luck:
    """The share of questions that a model without any knowledge would have flagged."""

    anew: float
    """It guesses anew in each try."""
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


def luck_of_votes(chance: np.ndarray, n: int, at_least: int, panel: tuple[int, int]) -> Luck:
    """Of a `panel` (votes needed, models): each right in `at_least` of `n` tries or more, independently."""
    votes, models = panel
    anew = tail(models, tail(n, chance, at_least), votes)
    return Luck(float(anew.mean()), float(tail(models, chance, votes).mean()))
