"""What is said of a run of `match`: nothing was generated, filtered or left over, so it is up to the matching what is
found. Measures nothing.
"""

from swag_af.data.numbers.percent import in_percent
from swag_af.diagnosing.growth import Against
from swag_af.diagnosing.outcome import Diagnosis
from swag_af.diagnosing.words import (
    UNKNOWN,
    WITHIN,
    Answer,
    Status,
    above_chance,
    at_chance,
    control_said,
    no_gain,
    number,
    on_accuracy,
    percent,
)

NO_SWAPS = (
    "Other fits would find much the same where this is near 1. A matching swaps nothing that they could agree on."
)


def matched_answers(diagnosis: Diagnosis) -> list[Answer]:
    """On the accuracy, the filter and the matching, in this order."""
    name = diagnosis.main.name
    correlation = number(diagnosis.agreement(name, name).correlation)
    agree = f"Rank correlation of fits of {name} over the wrong answers of a row {correlation}."
    at = f"That is chance, {WITHIN}: there is no more than that which"
    accuracy = on_accuracy(diagnosis, _BELOW, at, "something")
    return [accuracy, Answer("filter", "unknown", agree, NO_SWAPS), _matching(diagnosis)]


_BELOW = (
    "That is below chance: the matching took answers that this filter prefers to the right ones, and whoever avoids "
    "what it prefers beats guessing."
)


def _matching(diagnosis: Diagnosis) -> Answer:
    against = diagnosis.main.growth.against
    each = ", ".join(_of_so_many(one) for one in against)
    found = f"Wrong answers of a row, drawn at random: {diagnosis.main.name} tells gold from {each}."
    return Answer("matching", *_of_matching(diagnosis, found + control_said(diagnosis.main)))


def _of_so_many(one: Against) -> str:
    n = "one" if one.n_negatives == 1 else f"{one.n_negatives:,}"
    return f"{n} in {percent(one.accuracy)} (guessing {in_percent(one.chance)})"


def _of_matching(diagnosis: Diagnosis, found: str) -> tuple[Status, str, str]:
    if above_chance(diagnosis):
        means = "The wrong answers that the matching took from other rows are told from the right ones by this filter."
        return "limit", found, means
    if at_chance(diagnosis):
        return "fine", found, "At chance or below, so this filter learns nothing of gold from what the matching took."
    return "unknown", found, f"{UNKNOWN} whether what the matching took tells this filter anything of gold."


def advice_on_matching(diagnosis: Diagnosis) -> str:
    """What another matching would change."""
    if not above_chance(diagnosis):
        return f"Another matching: {no_gain(diagnosis)}"
    return (
        "Another matching: a smaller --weight (of rationales --rationale-weight) takes answers that are nearer to the "
        "right one, a better model of --relevance takes some that suit the question better, and more rows in a bucket "
        "(more data, a larger --bucket-size, fewer --folds as far as figures and splits can spare them) leave more to "
        f"choose from. What each does, {UNKNOWN.lower()} before it is tried; `match --sweep` compares weights."
    )
