"""What one lambda does to questions: how often models and people are right."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Accuracy:
    """An accuracy and its 95 % interval, by groups."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Point:
    """What one lambda does."""

    weight: float
    relevance: Accuracy
    """Of the relevance model that the questions were made against: far below chance is what it is for."""
    options_alone: Accuracy
    """Of a tf-idf regression that sees the options alone, learned on other folds of the matching."""
    similarity: float
    """Mean probability that a wrong answer means the same as the right one."""
    people: Accuracy | None
    """Of people whose best choice is the right answer; None before any were asked."""
    people_chance: float | None = None
    """How often people who guess are right: they are shown some of the endings, where there are many."""
    loss: float = 0.0
    """How much worth a row was lost at most, where not all pairs were matched (`--top`)."""
