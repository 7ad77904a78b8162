"""From files of verdicts to judgements: read, checked against the run, screened, and combined.

Collecting verdicts and figures of agreement happen elsewhere (`swag_af.verify`, `swag_af.judging.agreement`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from swag_af.data.errors import InputError, several
from swag_af.data.runs.run import Run
from swag_af.judging.consensus import judge_by
from swag_af.judging.options import JudgingOptions
from swag_af.judging.rules import most_distractors
from swag_af.judging.screening import counted_of, told_rule
from swag_af.judging.verdicts import N_ENDINGS, Item, Judgement, Verdict, check_assigned, read_verdicts


@dataclass(frozen=True, slots=True)
class Opinions:
    """All verdicts, the annotators that were dropped, and the judgements of the others."""

    verdicts: list[Verdict]
    """As read, those of screened annotators too."""
    dropped: frozenset[str]
    """Annotators whose verdicts do not count."""
    judgements: list[Judgement]

    @property
    def n_annotators(self) -> int:
        """Annotators, dropped ones too."""
        return len({verdict.annotator for verdict in self.verdicts})

    @property
    def told(self) -> str:
        """How many annotators there were whose verdicts count, and how many others."""
        n = self.n_annotators - len(self.dropped)
        others = f" (and {len(self.dropped):,} more, whose verdicts do not count)" if self.dropped else ""
        return f"{several(n, 'annotator')}{others}"

    @property
    def counted(self) -> list[Verdict]:
        """The verdicts that the judgements come from."""
        return [verdict for verdict in self.verdicts if verdict.annotator not in self.dropped]

    def most_distractors(self, n_assigned: int, *, keep_second: bool) -> int:
        """The most distractors of a question, whatever people say of the endings that they are shown, or were, where a
        run assigns `n_assigned` endings a context, gold among them; 0 where no verdict makes a question."""
        judged = max(len(judgement.item.columns) for judgement in self.judgements)
        shown = max(judged, min(N_ENDINGS, n_assigned))
        return most_distractors(shown - 1, keep_second=keep_second)


def opinions_of(run: Run, assignment: np.ndarray, options: JudgingOptions) -> Opinions:
    """Read, check and combine; InputError for verdicts on another pool, row or assignment, or given twice."""
    verdicts = _read_all(options.verdicts, run.pool.unguarded_identity)
    _check_shown(verdicts, assignment, options)
    counted, dropped = counted_of(verdicts, screen=options.screen)
    if not counted:
        raise InputError(
            f"{', '.join(map(str, options.verdicts))}: screening drops all annotators, for ranking gold among their "
            f"two best in {told_rule(verdicts)}. Look at their verdicts, or keep them with --no-screen."
        )
    return Opinions(verdicts, dropped, judge_by(options.judge, counted, seed=options.seed))


def _read_all(paths: Sequence[Path], pool_identity: str) -> list[Verdict]:
    verdicts: list[Verdict] = []
    file_of: dict[tuple[Item, str], Path] = {}
    for path in paths:
        for verdict in read_verdicts(path, pool_identity):
            given = verdict.item, verdict.annotator
            if given in file_of:
                raise InputError(
                    f"{path}: {verdict.annotator} judged item {verdict.item.id} in {file_of[given]} too. Remove one of "
                    "them, or put the files together with `swag-af verify import`, which counts the first."
                )
            file_of[given] = path
            verdicts.append(verdict)
    return verdicts


def _check_shown(verdicts: Sequence[Verdict], assignment: np.ndarray, options: JudgingOptions) -> None:
    """Every ending judged must be one that the released iteration assigns."""
    for item in sorted({verdict.item for verdict in verdicts}, key=lambda item: (item.row, item.round, item.columns)):
        if not 0 <= item.row < len(assignment):
            raise InputError(
                f"{_named(options)}: item {item.id} is of row {item.row}, and {options.run} has {len(assignment):,} "
                "contexts. Give the verdicts of this run."
            )
        check_assigned([item], assignment, _named(options), options.run, "Give the --iteration that people were shown.")


def _named(options: JudgingOptions) -> str:
    return ", ".join(map(str, options.verdicts))
