"""Ending a run by a filter of a kind that takes no part in it (`swag-af filter --until-unseen NAME --within X`).

Every so many iterations it is audited: fitted and scored across folds of whole groups of the current assignment, so
that it sees no context that it scores. The run ends when the whole 95 % interval of its accuracy is within X of chance,
above and below, at two such checks in a row: an interval allows for the contexts being some and not all, and twice for
a fit or a sample that was lucky. Far below chance is not near it: who avoids what such a filter prefers beats guessing.
A check is an audit that the run folder keeps, so whoever resumes decides alike.

Deciding is selecting: the audit by this filter at the end is the one that was low enough, and is told as such.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from swag_af.auditing.runs.audit import AuditPlan, audit_run
from swag_af.data.errors import InputError, several
from swag_af.data.numbers.interval import CROSS_VALIDATED, effective_groups, interval, wilson
from swag_af.data.runs.findings import GONE_BELOW, UnseenCheck, read_unseen, write_unseen
from swag_af.data.runs.run import Run
from swag_af.data.work.progress import note, progress
from swag_af.filters.contract import Filter
from swag_af.filters.registry import make_filter

IN_A_ROW = 2
"""Checks that must be near chance one after another."""


@dataclass(frozen=True)
class UnseenRule:
    """When a filter that takes no part ends a run."""

    filter: str
    within: float
    """How far the ends of its interval may be from chance."""
    every: int
    """Iterations between two checks."""
    seed: int = 0
    device: str | None = None
    n_folds: int = 5

    def is_enough(self, run: Run) -> bool:
        """Whether the last checks of `run` were all near chance; those that are due and missing are made and kept."""
        if run.n_finished % self.every:
            return False
        due = range(self.every, run.n_finished + 1, self.every)
        plan = AuditPlan(due, [self.filter], self.n_folds, [self.seed], self.device)
        with progress(f"check by {self.filter}", len(due), "checks") as advance:
            found = audit_run(run, plan, advance=advance)
        decided = {check.iteration: check for check in read_unseen(run.path)}  # by an earlier checkout's intervals, say
        checks = [
            decided.get(iteration) or UnseenCheck(f.filter, iteration, f.accuracy, f.low, f.high, f.chance, self.within)
            for iteration, f in zip(due, found, strict=True)
        ]
        if run.path is not None:
            write_unseen(run.path, checks)
        for line in (_said(checks[-1]), *found[-1].said):
            note(line)
        return has_ended(checks)

    def check(self, schedule: Iterable[Filter]) -> None:
        """Raise InputError where a filter of the `schedule` is of the same kind, or has a head of that kind."""
        mine = type(make_filter(self.filter))
        for one in schedule:
            kinds = [type(one), *(type(make_filter(name)) for name in getattr(one, "heads", ()))]
            if mine in kinds:
                raise InputError(
                    f"--until-unseen {self.filter}: {one.name} of the schedule is of that kind or has it as a head, so "
                    "it is not unseen. Name a filter of another kind."
                )

    def warn(self, groups: np.ndarray, chance: float) -> None:
        """What a check costs, and whether it can ever end a run of contexts in `groups` (N,)."""
        n = len(groups)
        note(
            f"Every {several(self.every, 'iteration')} {self.filter} is fitted {self.n_folds} times on four fifths of "
            f"{n:,} contexts, and scores each once; --within {self.within:g} must hold {IN_A_ROW} times in a row."
        )
        reach, most = _reaches(groups, chance)
        if self.within < most:
            alike = f", and up to {most:.3f} where those of a group are alike" if most > reach else ""
            note(
                f"Warning: with {n:,} contexts the interval of a filter at chance ends {reach:.3f} above it{alike}, so "
                f"--within {self.within:g} {'is' if self.within < reach else 'may be'} met by luck only. Take more "
                f"contexts, or --within {most:.3f} or more."
            )


def _reaches(groups: np.ndarray, chance: float) -> tuple[float, float]:
    """How far above `chance` the interval ends of a filter that is there, if contexts in `groups` (N,) are drawn one by
    one, and if all of a group are right or wrong together."""
    least = interval(np.full(len(groups), chance), groups, times=CROSS_VALIDATED)[1]
    n_groups = effective_groups(np.bincount(groups))
    return least - chance, max(least, wilson(chance, n_groups / CROSS_VALIDATED, n_groups)[1]) - chance


def has_ended(checks: Iterable[UnseenCheck]) -> bool:
    """Whether the last `IN_A_ROW` of all checks, by iteration, were near chance."""
    last = list(checks)[-IN_A_ROW:]
    return len(last) == IN_A_ROW and all(check.is_near for check in last)


def _said(check: UnseenCheck) -> str:
    near = "near" if check.is_near else "not near"
    said = (
        f"check by {check.filter} after iteration {check.iteration:,}: {check.accuracy:.3f}, interval {check.low:.3f} "
        f"to {check.high:.3f}, {near} enough to chance {check.chance:.3f}"
    )
    return f"{said}; {GONE_BELOW}" if check.is_below else said
