"""Options that are right in one question and wrong in another: how many, and whether folds keep them together."""

import numpy as np

from swag_af.auditing.diagnostics import Diagnostic
from swag_af.auditing.integrity.shares import examples_of, of_share
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.recycling import Recycled, recycled

MUCH = 0.1
"""From this share of the questions on, what folds part moves the accuracy of a probe. Our choice."""


def recycling_diagnostic(instances: Instances, groups: np.ndarray) -> Diagnostic:
    """AF515 of questions in `groups` (N,): found where folds of whole groups part too many of them."""
    found = recycled(instances)
    apart = found.apart(groups)
    has = np.zeros(len(instances) if instances.kind == "choices" else 0, bool)
    has[found.rows] = True
    return of_share(
        "AF515",
        "options",
        has,
        groups[: len(has)],
        said=f"questions have an option that is right in one and wrong in another{_kept(found, apart)}",
        is_hint=not is_much(apart),
        examples=examples_of(instances, np.flatnonzero(apart), lambda _: "shares an option with another fold"),
    )


def _kept(found: Recycled, apart: np.ndarray) -> str:
    """How many texts there are, and whether folds keep their questions together."""
    if not found.n_texts:
        return ""
    n = int(apart.sum())
    kept = f"{n:,} cannot be kept in one fold with all that share their options" if n else "folds keep them together"
    return f" ({found.n_texts:,} texts); {kept}"


def is_much(apart: np.ndarray) -> bool:
    """Whether `apart` (N,) marks so many questions that the accuracy of probes suffers."""
    return bool(apart.mean() >= MUCH)


def note_on_probes(instances: Instances, groups: np.ndarray) -> str:
    """A sentence for what probes of options find; empty where folds part few questions that share options."""
    found: Recycled = recycled(instances)
    if not is_much(found.apart(groups)):
        return ""
    return (
        f"{found.n_texts:,} option texts are right in one question and wrong in another, and folds cannot keep them "
        "together (AF515): a model learns to avoid right answers, so a value at or below chance says nothing here."
    )
