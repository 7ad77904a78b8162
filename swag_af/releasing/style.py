"""How much style gives away in the released questions: audits of exactly these endings, not of those of the run.

Fits and scores only; `card_style` puts the findings into words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swag_af.auditing.runs.audit import audit_columns
from swag_af.data.errors import SwagAfError
from swag_af.data.runs.findings import Finding, record_of
from swag_af.data.runs.run import Run
from swag_af.data.work.progress import Advance
from swag_af.filters.prepare import prepare
from swag_af.filters.registry import DEFAULT_AUDIT, parse_names
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.questions import Question

FEWEST_GROUPS, FEWEST_QUESTIONS = 2, 20
"""With fewer groups there are no folds of whole ones, as in `swag-af audit`; fewer questions are too few to fit on."""


@dataclass(frozen=True, slots=True)
class Style:
    """What fresh filters find in the released questions."""

    findings: tuple[Finding, ...] = ()
    """`n` counts questions, `n_groups` their groups; `iteration` is None."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Filters that are not available here, and why."""
    why_none: str = ""
    """Why nothing was measured; empty if something was."""

    def as_record(self) -> dict[str, Any]:
        """The value for the dataset's manifest: findings without the hits of single questions."""
        unsaid = ("iteration", "hits")
        return {
            "findings": [{k: v for k, v in record_of(f).items() if k not in unsaid} for f in self.findings],
            "left_out": dict(self.left_out),
            "why_none": self.why_none,
        }


def style_filters(run: Run, options: ReleaseOptions) -> tuple[str, ...]:
    """The filters that `--audit` names; raises InputError, before any work, if one of them is not available.

    The default filters are not checked: those that are not available are left out.
    """
    names = parse_names("--audit", options.audit)
    if names != DEFAULT_AUDIT:
        prepare(names, run.pool)
    return names


def measure_style(
    run: Run, questions: Sequence[Question], groups: np.ndarray, names: Sequence[str], *, seed: int, advance: Advance
) -> Style:
    """Fit and score each filter across five folds of the questions; those of one of `groups` (n,) stay together. With
    fewer groups each is a fold.

    A default filter that is not available is noted as left out; with too few questions nothing is measured.
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
