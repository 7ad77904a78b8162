"""One iteration: split, fit, score, replace (Zellers et al. 2018, 3.2 and Algorithm 1).

What it makes depends on the pool, the options, (seed, iteration), the assignment that it is given and, where filters go
on, their states; on nothing else, so any process can do it.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from swag_af.af.fitting import Fitting, FixedFitting, FreshFitting, dealt_folds, drawn_apart, drawn_in_rounds, n_folds
from swag_af.af.measures import accuracy, peak_memory_gb, scores_by_head
from swag_af.af.options import AFOptions
from swag_af.af.replacement import Draws, Policy, Replacements, replace
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.data.runs.run import Iteration, Timing
from swag_af.filters.contract import Filter, has_learned, record_of_fit, score_in_parts, with_ties

GAPS = (0.525, 0.575)
"""Pairwise accuracies up to which no, or one, distractor leaves a context under `swaps="gap"`."""

ScoreBy = Callable[[int, Filter, View], np.ndarray]
"""`score(iteration, filter, view)`: the scores (n, m) of the candidates of `view` by the filter of the iteration."""


@dataclass(frozen=True)
class Turn:
    """An iteration to be done."""

    iteration: int
    assignment: np.ndarray
    """(N, A) that the filter learns from and that is changed."""


@dataclass(frozen=True)
class Outcome:
    """An iteration that was done."""

    record: Iteration
    timing: Timing
    changes: np.ndarray
    """(m, 3) row, column, newcomer."""


Do = Callable[[Sequence[Turn]], Iterator[Outcome]]
"""Iterations done in order, each when its outcome is taken, or before."""


def score_here(iteration: int, filter: Filter, view: View) -> np.ndarray:
    """`ScoreBy` in this process."""
    return score_in_parts(filter, view)


@dataclass(frozen=True)
class Rules:
    """What is the same in every iteration."""

    schedule: list[Filter]
    """By iteration; the last one goes on."""
    groups: np.ndarray
    """(N,) what no split may part."""
    n_test: int
    options: AFOptions
    flagged: np.ndarray | None
    """(N, K) candidates that are kept out."""

    @classmethod
    def of(cls, pool: CandidatePool, schedule: list[Filter], options: AFOptions) -> "Rules":
        """The rules of a run of `options` on `pool`."""
        flagged = pool.kept_out(ignore_guard=options.ignore_guard)
        groups = pool.groups if options.split_by == "video" else np.arange(len(pool))
        return cls(schedule, groups, round(options.test_share * len(pool)), options, flagged)

    @property
    def n_together(self) -> int:
        """Iterations of a round, which all start from the assignment before it."""
        return n_folds(self.options.test_share) if self.options.splits == "together" else 1

    def fitting(self, pool: CandidatePool, path: Path | None) -> Fitting:
        """How iterations come by split and filter; `path` is the run's folder."""
        share, seed = self.options.test_share, self.options.seed
        if self.options.goes_on:
            return FixedFitting(pool, self.schedule, dealt_folds(self.groups, share, seed=seed), path)
        is_apart = self.options.splits == "fresh"
        draw = drawn_apart(self.groups, self.n_test) if is_apart else drawn_in_rounds(self.groups, share, seed=seed)
        return FreshFitting(pool, self.schedule, draw, self.options.most_fitted)

    def do(self, pool: CandidatePool, fitting: Fitting, turn: Turn, score: ScoreBy = score_here) -> Outcome:
        """Split, fit, score and replace; what the filter learnt is kept where it goes on."""
        iteration, assignment = turn.iteration, turn.assignment
        split_rng, fit_rng, replace_rng = np.random.default_rng((self.options.seed, iteration)).spawn(3)
        train, test = fitting.split(iteration, split_rng)
        started = time.perf_counter()
        filter = fitting.fit(iteration, train, assignment[train], fit_rng)
        fitted = time.perf_counter()
        heads = scores_by_head(filter, pool.view(test, assignment[test]))

        def score_rows(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
            return score(iteration, filter, pool.view(test[rows], columns))

        # In a row with a candidate that could not be read nobody wins, as in audits; that candidate may leave, and
        # nothing leaves where it is gold.
        scores, measured = heads[filter.name], with_ties(filter, heads[filter.name])
        n_leaving = n_swaps(measured, self.options) if has_learned(record_of_fit(filter)) else 0
        result = self._replace(pool, test, assignment[test], scores, score_rows, n_leaving, rng=replace_rng)
        seconds = time.perf_counter() - started
        changes = result.changes.copy()
        changes[:, 0] = test[changes[:, 0]]
        timing = Timing(iteration, round(fitted - started, 4), round(seconds, 4), round(peak_memory_gb(), 3))
        fitting.keep(iteration)
        return Outcome(_logged(iteration, filter, heads | {filter.name: measured}, result), timing, changes)

    def _replace(
        self,
        pool: CandidatePool,
        test: np.ndarray,
        assigned: np.ndarray,
        scores: np.ndarray,
        score: Callable[[np.ndarray, np.ndarray], np.ndarray],
        n_leaving: int,
        *,
        rng: np.random.Generator,
    ) -> Replacements:
        """Swap up to `n_leaving` easy ones of each row among the `assigned` (n, A) candidates of rows `test` (n,),
        given their `scores` (n, A)."""
        options = self.options
        policy = Policy(n_leaving, options.rule, options.pick, lazy=options.scan == "lazy")
        draws = Draws(len(test), pool.n_candidates, assigned.shape[1], rng=rng)
        flagged = None if self.flagged is None else self.flagged[test]
        return replace(assigned, scores, pool.counts[test], score, draws, policy, flagged)


def _logged(iteration: int, filter: Filter, heads: Mapping[str, np.ndarray], result: Replacements) -> Iteration:
    fit = record_of_fit(filter)
    return Iteration(
        iteration=iteration,
        filter=filter.name,
        accuracy={head: round(accuracy(scores), 6) for head, scores in heads.items()},
        n_test=len(result.assignment),
        n_easy=result.n_easy,
        n_replaced=len(result.changes),
        n_scored=result.n_scored,
        n_unassigned=result.n_unassigned,
        scored_share=round(result.n_scored / max(1, result.n_unassigned), 6),
        fit=fit,
        skipped=not has_learned(fit),
    )


def n_swaps(scores: np.ndarray, options: AFOptions) -> int:
    """How many easy distractors may leave each held-out context in this iteration, given their scores (n, A).

    Under `swaps="gap"` it depends on how often gold beats a single negative: at most 0.525, none; at most 0.575, one
    (HellaSwag's Adversarial Filtering: Zellers et al. 2019).
    """
    if options.swaps == "always":
        return options.n_easy
    negatives, gold = scores[:, 1:], scores[:, :1]
    pairwise = float((gold > negatives).mean() + 0.5 * (gold == negatives).mean())
    return next((n for n, most in enumerate(GAPS) if pairwise <= most), options.n_easy)
