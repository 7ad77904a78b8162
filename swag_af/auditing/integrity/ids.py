"""Ids that tell the answer: `q5_3` where option 3 is right, `neutral-17` where that is the class."""

import re
from collections import Counter
from collections.abc import Callable
from string import ascii_uppercase

import numpy as np

from swag_af.auditing.diagnostics import Diagnostic
from swag_af.auditing.integrity.labels import ALPHA
from swag_af.auditing.integrity.shares import examples_of
from swag_af.data.errors import several
from swag_af.data.instances.instances import Instances
from swag_af.data.numbers.interval import interval, variance_over_groups
from swag_af.data.splits import renumbered

FEWEST = 20
"""Ids that must name an answer each, before it is asked whether it is theirs."""
MATTERS = 0.1
"""How much more often than by luck the named answer must be right. Our choice."""
_APART = re.compile(r"[\W_]+")
_PARTS = ("first", "last")


def id_diagnostic(instances: Instances, groups: np.ndarray) -> Diagnostic:
    """AF516 of instances in `groups` (N,): whether a part of the id names the right answer more often than luck."""
    tried = [
        (f"the {part} part of the id, {said}", _named(instances, part == "first", names))
        for part in _PARTS
        for said, names in _ways(instances).items()
    ]
    sure = [(said, answers) for said, answers in tried if _is_told(answers, instances, groups, ALPHA / len(tried))]
    right = {said: answers == instances.answers for said, answers in sure}
    if not sure:
        said = "No part of the ids names the right answer more often than by luck."
        return Diagnostic(
            "AF516", "ids", "clear", 0.0, "share", said, chance=0.0, n=len(instances), n_groups=_n(groups)
        )
    best, answers = max(sure, key=lambda one: int(right[one[0]].sum()))
    rows = np.flatnonzero(right[best])
    low, high = interval(right[best].astype(float), groups)
    of = several(int((answers >= 0).sum()), "id")
    return Diagnostic(
        code="AF516",
        subject="ids",
        status="hint",
        value=round(float(right[best].mean()), 6),
        unit="share",
        said=f"{best}, names the right answer in {len(rows):,} of {of} that name one.".capitalize(),
        low=round(low, 6),
        high=round(high, 6),
        chance=0.0,
        n=len(instances),
        n_groups=_n(groups),
        examples=examples_of(instances, rows, lambda row: f"id {instances.instances[row].id}"),
    )


def _n(groups: np.ndarray) -> int:
    return len(np.unique(groups))


def _ways(instances: Instances) -> dict[str, Callable[[int], str]]:
    """How an answer may be named, by what is said of it."""
    ways: dict[str, Callable[[int], str]] = {"from 0": str, "from 1": lambda number: str(number + 1)}
    if instances.kind == "classes":
        return {"by name": lambda number: instances.classes[number]} | ways
    return {"by letter": lambda number: ascii_uppercase[number] if number < len(ascii_uppercase) else ""} | ways


def _named(instances: Instances, is_first: bool, name: Callable[[int], str]) -> np.ndarray:
    """(N,) the answer that an id names at its beginning, or at its end, the longest name first; -1 where none."""
    most = int(instances.n_answers.max())
    named_so = Counter(_parts(name(number)) for number in range(most))
    numbers = {parts: number for number in range(most) if named_so[parts := _parts(name(number))] == 1}  # not C and C++
    lengths = sorted({len(parts) for parts in numbers} - {0}, reverse=True)

    def named(id: tuple[str, ...]) -> int:
        ends = (id[:n] if is_first else id[-n:] for n in lengths if n < len(id))
        return next((numbers[end] for end in ends if end in numbers), -1)

    found = np.array([named(_parts(one.id)) for one in instances.instances])
    return np.where(found < instances.n_answers, found, -1)


def _parts(text: str) -> tuple[str, ...]:
    """What stands between signs in an id, or in a name, in capitals."""
    return tuple(filter(None, _APART.split(text.upper())))


def _is_told(answers: np.ndarray, instances: Instances, groups: np.ndarray, level: float) -> bool:
    """Whether the named `answers` (N,) are right more often than if labels were dealt anew, at `level`, and by much."""
    from scipy.stats import norm

    rows = np.flatnonzero(answers >= 0)
    if len(rows) < FEWEST:
        return False
    shares = np.bincount(instances.answers[rows], minlength=int(instances.n_answers.max())) / len(rows)
    chance = shares[answers[rows]]
    beyond = (answers[rows] == instances.answers[rows]) - chance
    numbers = renumbered(groups[rows])
    if numbers.max() < 1 or beyond.mean() < MATTERS:
        return False
    variance = max(
        float((chance * (1 - chance)).sum()) / len(rows) ** 2, variance_over_groups(beyond - beyond.mean(), numbers)
    )
    return bool(variance > 0 and norm.sf(beyond.mean() / variance**0.5) < level)
