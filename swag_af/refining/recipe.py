"""What every recipe works with, and what it gives.

Letters: `N` questions, `r` rows among them, `k` tries.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.numbers.interval import Difference, interval, paired_difference
from swag_af.data.work.progress import Advance
from swag_af.refining.chance import Luck
from swag_af.refining.options import RefineOptions
from swag_af.refining.rewriting import Rewriter, Wanted
from swag_af.refining.voting import FilterVoter, Voter
from swag_af.refining.work import Work


@dataclass(frozen=True, slots=True)
class Share:
    """A share of questions, and its 95 % interval over groups."""

    n: int
    of: int
    low: float
    high: float

    @classmethod
    def of_flags(cls, flags: np.ndarray, groups: np.ndarray) -> "Share":
        """Of `flags` (r,), whose questions are in `groups` (r,)."""
        low, high = interval(flags.astype(np.float64), groups) if len(flags) else (0.0, 1.0)
        return cls(int(flags.sum()), len(flags), round(low, 6), round(high, 6))


@dataclass(frozen=True, slots=True)
class Version:
    """A question as it was at some time, and what was said of it: a line of `versions.jsonl`."""

    id: str
    round: int
    """0: as it was given."""
    options: tuple[str, ...]
    answer: int
    right: tuple[float, ...]
    """By judge: how many tries were right, ties as shares, answers that could not be read as none."""
    flagged: bool
    reason: str = ""
    """How a judge could tell, which the rewriter was given."""


@dataclass(frozen=True, slots=True)
class RoundCount:
    """One round of rewriting, in numbers."""

    round: int
    n_flagged: int
    """Before it."""
    n_written: int
    """For how many of them the rewriter gave answers that could be used."""
    n_mended: int
    """How many are not flagged any more."""


@dataclass(frozen=True, slots=True)
class Control:
    """Flagged questions judged once more in as many orders that were not shown before, or in new folds, as they were
    and as they are now: no figure here selected anything."""

    was: Share
    """Flagged again, as they were: what is missing from 100 % is luck, not mending."""
    now: Share | None
    """Flagged, as they are now; None where they were taken out."""
    difference: Difference | None
    """`now` less `was`, paired."""
    n_left_out: int = 0
    """Flagged questions with too few options for so many new orders."""
    anew: str = "orders"
    """What was new: orders, folds, or both."""


@dataclass(frozen=True)
class Outcome:
    """What a recipe gives."""

    instances: Instances
    """All questions as they are now, those that go too."""
    flagged: np.ndarray
    """(N,) flagged in the end."""
    first: Share
    """Flagged as they were given."""
    luck: Luck
    versions: tuple[Version, ...]
    rounds: tuple[RoundCount, ...]
    control: Control | None
    """None where nothing was flagged, no flagged question has new orders left, or a filter has one try alone."""
    n_short: int = 0
    """Questions that could not be given as many options as were wanted."""
    one_try: tuple[str, ...] = ()
    """The filters whose tries are one."""


@dataclass(frozen=True)
class Bench:
    """A refinement under way."""

    instances: Instances
    groups: Groups
    options: RefineOptions
    voters: Sequence[Voter]
    rewriter: Rewriter | None
    work: Work
    advance: Advance

    def hits(
        self, voter: int, stage: str, instances: Instances, rows: np.ndarray, k: int, shown: Sequence[str] = ()
    ) -> np.ndarray:
        """(r, k) of one voter about `rows` of `instances`; the first word of `stage` draws orders and folds, other ones
        than the stage in `shown` did, of each row.

        Fits are kept, with what they say of all of `instances`, so that no other choice of `rows` takes a fit anew; of
        judges every answer is, so that they are asked anew and nothing is sent.
        """
        made, draw, every = self.voters[voter], stage.partition(" ")[0], np.arange(len(instances))
        if isinstance(made, FilterVoter):
            kept = self.work.hits(f"{stage}-{voter}", (len(every), k), lambda: made.hits(instances, every, k, draw))
            found = kept[rows]
        else:
            found = made.hits(instances, rows, k, draw, shown)
        self.advance(1, note=f"{stage}: {made.name} {found.mean():.3f} right" if len(rows) else stage)
        return found

    def written(self, wanted: Sequence[Wanted]) -> list[tuple[str, ...]]:
        """New wrong answers for each; none for those for which too few could be used."""
        assert self.rewriter is not None  # the options see to it
        found = self.rewriter.write(wanted)
        self.advance(1, note=f"{sum(map(bool, found)):,} of {len(wanted):,} written")
        return found

    def has_unseen(self, instances: Instances, rows: np.ndarray, k: int, shown: Sequence[str]) -> np.ndarray:
        """(r,) about which of `rows` every voter can be asked in `k` ways other than those of the stage in `shown`."""
        found = [one.has_unseen(instances, rows, k, shown) for one in self.voters]
        return np.logical_and.reduce(found)

    def control(self, was: np.ndarray, now: np.ndarray | None, rows: np.ndarray, n_left_out: int) -> Control:
        """Of the flags (r,) of `rows` judged once more."""
        groups, anew = self.groups.numbers[rows], " and ".join(dict.fromkeys(one.anew for one in self.voters))
        if now is None:
            return Control(Share.of_flags(was, groups), None, None, n_left_out, anew)
        paired = paired_difference(was.astype(np.float64), now.astype(np.float64), groups)
        return Control(Share.of_flags(was, groups), Share.of_flags(now, groups), paired, n_left_out, anew)

    def versions(
        self,
        number: int,
        instances: Instances,
        rows: np.ndarray,
        right: np.ndarray,
        flags: np.ndarray,
        reasons: Sequence[str] = (),
    ) -> list[Version]:
        """A line for each of `rows`: `right` (r, judges), `flags` (r,), and the `reasons` for which it was made."""
        told = [*reasons] or [""] * len(rows)
        made = []
        for i, row in enumerate(rows.tolist()):
            one = instances.instances[row]
            counts = tuple(round(float(value), 6) for value in right[i])
            made.append(Version(one.id, number, one.options, one.answer, counts, bool(flags[i]), told[i]))
        return made


def with_wrong(one: Instance, wrong: Sequence[str]) -> Instance:
    """The question with other wrong options, as many as it has; the right one keeps its place."""
    options = list(wrong)
    options.insert(one.answer, one.options[one.answer])
    return replace(one, options=tuple(options))


def replaced(instances: Instances, rows: Sequence[int], by: Sequence[Instance]) -> Instances:
    """The set with other questions at `rows`."""
    new = dict(zip(rows, by, strict=True))
    return replace(instances, instances=tuple(new.get(i, one) for i, one in enumerate(instances.instances)))
