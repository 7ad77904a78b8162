"""The diagnosis: everything measured, in one record. Computes little, writes nothing."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from swag_af.data.disk.manifests import FORMAT
from swag_af.data.display.brief import brief
from swag_af.data.errors import UnknownNameError
from swag_af.diagnosing.agreement import Agreement
from swag_af.diagnosing.figures import Figure
from swag_af.diagnosing.growth import Growth
from swag_af.diagnosing.left import Left
from swag_af.diagnosing.trend import Trend

KIND = "diagnosis"


@dataclass(frozen=True, slots=True)
class FewerPoint:
    """What taking the hardest candidates would do if rows had fewer of them."""

    n_candidates: int
    """Candidates a context, gold included, at most: a random part of the pool."""
    accuracy: Figure
    """By another fit than the one that chose."""


@dataclass(frozen=True, slots=True)
class OfFilter:
    """What was measured of one filter."""

    name: str
    left: Left
    fewer: tuple[FewerPoint, ...]
    """By the number of candidates a context."""
    growth: Growth
    more_contexts_random: Trend
    """Of telling gold from random candidates."""
    more_contexts_assigned: Trend
    """Of telling gold from the run's distractors."""
    more_candidates: Trend
    unread: float = 0.0
    """The share of contexts of which the filter could not read gold or a distractor, mean over its fits: ties."""
    n_fits: int = 0
    """How often it was fitted, on some part of the contexts ..."""
    n_unlearned: int = 0
    """... and how many of these fits say that they learned nothing: their `converged` is false."""


@brief
@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why the curve of a run is not lower."""

    name: str
    """Of the run's folder."""
    iteration: int
    """The assignment diagnosed is the one after this iteration."""
    n: int
    """Contexts diagnosed ..."""
    n_all: int
    """... of so many."""
    n_groups: int
    n_candidates: int
    """Candidates a context, gold included, at most."""
    n_assigned: int
    last_accuracy: float | None
    """The run's own held-out accuracy: mean of its last iterations; None where nothing was filtered."""
    n_last: int
    """How many these are: five at most, all by the last filter."""
    filters: tuple[OfFilter, ...]
    agreements: tuple[Agreement, ...]
    options: Mapping[str, Any]
    notes: tuple[str, ...]
    versions: Mapping[str, str]
    is_matched: bool = False
    """Whether wrong answers are right ones of other rows, all of which are shown: nothing was generated or filtered."""

    @property
    def chance(self) -> float:
        """The accuracy of guessing among the A candidates."""
        return 1 / self.n_assigned

    @property
    def has_spares(self) -> bool:
        """Whether any context may have candidates that are not assigned."""
        return self.n_candidates > self.n_assigned

    @property
    def main(self) -> OfFilter:
        """The filter that is diagnosed."""
        return self.filters[0]

    def agreement(self, one: str, other: str) -> Agreement:
        """That of the filters called `one` and `other`, or of one's own fits; UnknownNameError where it was not
        measured."""
        found = {agreement.of: agreement for agreement in self.agreements}
        if (one, other) not in found:
            raise UnknownNameError(f"{one} and {other}: not measured in this diagnosis.")
        return found[one, other]

    def as_record(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {"format": FORMAT, "kind": KIND, "chance": round(self.chance, 6), **asdict(self)}
