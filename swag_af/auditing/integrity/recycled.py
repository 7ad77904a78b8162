"""Options that are right in one question and wrong in another: how many, and whether folds keep them together."""

import numpy as np

from swag_af.auditing.diagnostics import Diagnostic
from swag_af.auditing.integrity.shares import examples_of, of_share
from swag_af.data.errors import several
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.recycling import MUCH, Recycled, recycled


def recycling_diagnostic(instances: Instances, groups: np.ndarray) -> Diagnostic:
    """AF515 of questions in `groups` (N,): found where folds of whole groups part more of them than luck would."""
    found = recycled(instances)
    misled = found.misled(groups)
    has = np.zeros(len(instances) if instances.kind == "choices" else 0, bool)
    has[found.rows] = True
    return of_share(
        "AF515",
        "options",
        has,
        groups[: len(has)],
        said=f"questions have an option that is right in one and wrong in another{_misled(found, misled, groups)}",
        is_hint=not found.misleads(groups),
        examples=examples_of(instances, np.flatnonzero(misled), lambda _: "gold is a wrong option of other folds"),
    )


def _misled(found: Recycled, misled: np.ndarray, groups: np.ndarray) -> str:
    """How many texts there are, and how many questions a model of other folds misses for them."""
    if not found.n_texts:
        return ""
    n, by_luck = int(misled.sum()), ""
    if misled.mean() >= MUCH:
        by_luck = f" (of about {found.misled_by_luck(groups) * len(misled):,.0f} by luck alone)"
    apart = f"the gold of {n:,} is mostly wrong in other folds, which the groups of the data do not prevent{by_luck}"
    kept = apart if n else "folds keep them together"
    return f" ({several(found.n_texts, 'text')}); {kept}"


def note_on_probes(instances: Instances, groups: np.ndarray) -> str:
    """A sentence for what probes of options find; empty where folds mislead about no more questions than luck would."""
    found = recycled(instances)
    if not found.misleads(groups):
        return ""
    return (
        f"The gold of {found.misled(groups).sum():,} questions is mostly wrong in other folds (AF515), where a model "
        "learns to avoid it: a value at or below chance does not say that style tells nothing."
    )
