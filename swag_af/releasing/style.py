"""How much style gives away in the questions that are released: audits of these very endings, not of the run's.

Fits and scores; what comes of it is told by `card_style`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swag_af.auditing.audit import audit_columns
from swag_af.data.errors import SwagAfError
from swag_af.data.findings import Finding, record_of
from swag_af.data.progress import Advance
from swag_af.data.run import Run
from swag_af.filters.prepare import prepare
from swag_af.filters.registry import DEFAULT_AUDIT, parse_names
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.questions import Question

FEWEST_GROUPS, FEWEST_QUESTIONS = 5, 20
"""Below these, five folds of whole groups are none, or too small to fit on."""


@dataclass(frozen=True, slots=True)
class Style:
    """What fresh filters find in the released questions."""

    findings: tuple[Finding, ...] = ()
    """Of the questions, `n_groups` their groups; `iteration` is None."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Filters that could not be had here, and why."""
    why_none: str = ""
    """Why nothing was measured at all."""

    def as_record(self) -> dict[str, Any]:
        """For the dataset's manifest: findings without each question's hit."""
        unsaid = ("iteration", "hits")
        return {
            "findings": [{k: v for k, v in record_of(f).items() if k not in unsaid} for f in self.findings],
            "left_out": dict(self.left_out),
            "why_none": self.why_none,
        }


def style_filters(run: Run, options: ReleaseOptions) -> tuple[str, ...]:
    """The names asked for; InputError, before any work, for one that was named by hand and cannot be had."""
    names = parse_names("--audit", options.audit)
    if names != DEFAULT_AUDIT:
        prepare(names, run.pool)
    return names


def measure_style(
    run: Run, questions: Sequence[Question], groups: np.ndarray, names: Sequence[str], *, seed: int, advance: Advance
) -> Style:
    """Each filter fitted and scored across five folds of the questions; those of one of `groups` (n,) stay together.

    A default filter that cannot be had is noted; so is a set too small for it.
    """
    n_groups = int(groups.max()) + 1
    if not names:
        return Style(why_none="no filter was asked for (`--audit none`)")
    if n_groups < FEWEST_GROUPS or len(questions) < FEWEST_QUESTIONS:
        return Style(
            why_none=f"{len(questions):,} questions in {n_groups:,} groups are too few to fit on some and score others "
            f"(at least {FEWEST_QUESTIONS} in {FEWEST_GROUPS})"
        )
    rows = np.array([question.example.row for question in questions])
    columns = np.array([question.columns for question in questions])  # (n, n_choices)
    found, left_out = list[Finding](), list[tuple[str, str]]()
    for name in names:
        advance(0, note=f"measuring style with {name}")
        try:
            found += audit_columns(run.pool, rows, columns, groups, [name], seed=seed)
        except (SwagAfError, ImportError) as error:
            if tuple(names) != DEFAULT_AUDIT:
                raise
            left_out.append((name, str(error)))
        advance(1)
    return Style(tuple(found), tuple(left_out), "" if found else "no filter could be fitted here")
