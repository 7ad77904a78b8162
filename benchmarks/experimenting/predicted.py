"""What Figure 2 of Zellers et al. 2018 led us to expect, and the rule by which it has come out or not.

Written before the run at the paper's size. The paper tells the figure in words: accuracy falls from around 60 % to
close to chance; filtering against the MLP does not lower the ensemble's; the ensemble's own iterations do. What counts
as around and as close are bounds of ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Prediction:
    """A figure that should lie between two bounds."""

    figure: str
    """As the record calls it."""
    told: str
    low: float
    high: float


NEAR_CHANCE = (0.05, 0.15)

PREDICTED = (
    Prediction("mlp begins", "around 60: 50 to 70", 0.5, 0.7),
    Prediction("mlp ends", "near 10: 5 to 15", *NEAR_CHANCE),
    Prediction("ensemble begins", "high again: over 15", NEAR_CHANCE[1], 1.0),
    Prediction("ensemble ends", "near 10: 5 to 15", *NEAR_CHANCE),
    Prediction("jump", "up", 0.0, 1.0),
    Prediction("slope", "down", -float("inf"), 0.0),
)


def came(prediction: Prediction, figure: Mapping[str, Any]) -> str:
    """Whether a figure came as predicted: yes or no where its whole interval says so; empty where it has none."""
    low, high = figure.get("low"), figure.get("high")
    if low is None or high is None:
        return ""
    if prediction.low <= low and high <= prediction.high:
        return "yes"
    return "no" if high < prediction.low or low > prediction.high else "inconclusive"


AS_HARD = 0.02
"""How much more filters that took no part may find in the questions of a cheaper loop that shall be the default."""


def is_as_hard(found: Sequence[Mapping[str, Any]]) -> bool:
    """Whether differences from the exact loop, one a filter, leave no room for more, over contexts and over parts."""
    intervals = [
        one for each in found for one in (each["difference"], each["difference"].get("over parts")) if one is not None
    ]
    return all(one["low"] <= 0 and one["high"] <= AS_HARD for one in intervals)
