"""What is said of a run of `match`: nothing was generated, filtered or left over, so it is up to the matching what is
found. Measures nothing.
"""

from swag_af.diagnosing.outcome import Diagnosis
from swag_af.diagnosing.words import (
    NARROWER,
    WITHIN,
    Answer,
    Status,
    above_chance,
    at_chance,
    control_said,
    no_gain,
    number,
    on_accuracy,
    told_from,
)

NO_SWAPS = (
    "The nearer to 1, the more other fits would find the same. A matching swaps nothing that they could agree on."
)


def matched_answers(diagnosis: Diagnosis) -> list[Answer]:
    """On the accuracy, the filter and the matching, in this order."""
    name = diagnosis.main.name
    correlation = number(diagnosis.agreement(name, name).correlation)
    agree = (
        f"The rank correlation of two fits of {name} over the wrong answers of a row is {correlation}; 1 is the same "
        "order, 0 is no agreement."
    )
    at = f"That is chance, {WITHIN}: there is no more than that which"
    accuracy = on_accuracy(diagnosis, _BELOW, at, "something")
    return [accuracy, Answer("filter", "unknown", agree, NO_SWAPS), _matching(diagnosis)]


_BELOW = (
    "That is below chance: the matching took answers that this filter prefers to the right ones, and whoever avoids "
    "what it prefers beats guessing."
)


def _matching(diagnosis: Diagnosis) -> Answer:
    against = diagnosis.main.growth.against
    each = "; from ".join(told_from(one, "wrong answer") for one in against)
    found = f"{diagnosis.main.name} tells gold from {each}."
    return Answer("matching", *_of_matching(diagnosis, found + control_said(diagnosis.main)))


def _of_matching(diagnosis: Diagnosis, found: str) -> tuple[Status, str, str]:
    if above_chance(diagnosis):
        means = "The wrong answers that the matching took from other rows are told from the right ones by this filter."
        return "limit", found, means
    if at_chance(diagnosis):
        return "fine", found, "At chance or below, so this filter learns nothing of gold from what the matching took."
    means = f"It is undecided whether what the matching took tells this filter anything of gold. {NARROWER}"
    return "unknown", found, means


def advice_on_matching(diagnosis: Diagnosis) -> str:
    """What another matching would change."""
    if not above_chance(diagnosis):
        return f"Another matching: {no_gain(diagnosis)}"
    return (
        "Another matching: a smaller --weight (of rationales --rationale-weight) takes answers that are nearer to the "
        "right one. A better model of --relevance takes some that suit the question better. More rows in a bucket "
        "(more data, a larger --bucket-size, fewer --folds as far as figures and splits can spare them) leave more to "
        "choose from. Not tested: what each does here. `match --sweep` compares weights; matching and diagnosing again "
        "tests the others."
    )
