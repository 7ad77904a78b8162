"""Options that are right in one question and wrong in another: how many, and whether folds keep them together."""

import numpy as np

from swag_af.auditing.diagnostics import Diagnostic
from swag_af.auditing.integrity.shares import examples_of, of_share
from swag_af.data.errors import several
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.recycling import Recycled, is_much, recycled


def recycling_diagnostic(instances: Instances, groups: np.ndarray) -> Diagnostic:
    """AF515 of questions in `groups` (N,): found where folds of whole groups part too many of them."""
    found = recycled(instances)
    misled = found.misled(groups)
    has = np.zeros(len(instances) if instances.kind == "choices" else 0, bool)
    has[found.rows] = True
    return of_share(
        "AF515",
        "options",
        has,
        groups[: len(has)],
        said=f"questions have an option that is right in one and wrong in another{_misled(found, misled)}",
        is_hint=not is_much(misled),
        examples=examples_of(instances, np.flatnonzero(misled), lambda _: "gold is a wrong option of other folds"),
    )


def _misled(found: Recycled, misled: np.ndarray) -> str:
    """How many texts there are, and how many questions a model of other folds misses for them."""
    if not found.n_texts:
        return ""
    n = int(misled.sum())
    apart = f"the gold of {n:,} is wrong in other folds, which the groups of the data do not prevent"
    kept = apart if n else "folds keep them together"
    return f" ({several(found.n_texts, 'text')}); {kept}"


def note_on_probes(instances: Instances, groups: np.ndarray) -> str:
    """A sentence for what probes of options find; empty where folds mislead about few questions."""
    found = recycled(instances)
    misled = found.misled(groups)
    if not is_much(misled):
        return ""
    return (
        f"The gold of {misled.sum():,} questions is a wrong option of questions in other folds (AF515), where a model "
        "learns to avoid it: a value at or below chance says nothing here."
    )
