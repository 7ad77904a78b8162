"""Adversarial Filtering: split, fit, score, replace, log; again (Zellers et al. 2018, 3.2 and Algorithm 1).

Every iteration draws a fresh split of the contexts, fits a fresh filter on the larger part under the current
assignment, records its accuracy on the smaller part, and swaps easy distractors there and only there (`fitting` has
another way, with folds that stay). The randomness of an iteration depends on (seed, iteration) alone, so a run goes on
where it stopped.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.af.fitting import Fitting, FixedFitting, FreshFitting, check_lasting, fixed_folds
from swag_af.af.measures import accuracy, peak_memory_gb, scores_by_head
from swag_af.af.options import AFOptions
from swag_af.af.replacement import Policy, Replacements, draw_keys, replace
from swag_af.data.errors import InputError
from swag_af.data.pool.assignments import check_enough, random_assignment
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.progress import progress
from swag_af.data.run import Iteration, Run, Timing, begin_run
from swag_af.data.splits import check_split
from swag_af.filters.contract import Filter, record_of_fit, score_in_parts, settings_of
from swag_af.filters.prepare import prepare
from swag_af.filters.registry import make_filter

Phases = Sequence[tuple[str | Filter, int]]

GAPS = (0.525, 0.575)
"""Pairwise accuracies up to which no, or one, distractor leaves a context under `swaps="gap"`."""


def filter_pool(
    pool: CandidatePool,
    filter: str | Filter | Phases,
    options: AFOptions | None = None,
    *,
    out: Path | str | None = None,
    after_iteration: Callable[[Run], None] = lambda run: None,
    is_enough: Callable[[Run], bool] = lambda run: False,
    made_by: Mapping[str, object] | None = None,
) -> Run:
    """Filter `pool` and return the run: its assignments, texts and log.

    `filter` is a name, an object that passes `check_filter`, or phases `[(filter, iterations), ...]`; a single
    filter runs for `options.iterations`, 40 when that is not given. With `out`, the run is kept in that folder
    and goes on from what is there; a pool in memory is saved in it too. `is_enough`, asked before each iteration but
    the first, ends the run. `made_by` is recorded. Audits, curve and report are left to others: `run_filter`, which is
    the verb, makes them too. Raises InputError and ExhaustedError before any work when pool, filter and options do not
    fit, or fewer iterations are asked for than are done.
    """
    options = AFOptions() if options is None else options
    phases = _phases(filter, options)
    loop = _loop(pool, phases, options)
    rng = np.random.default_rng((options.seed, 0))
    start = random_assignment(pool.counts, 1 + options.n_negatives, rng=rng, flagged=loop.flagged)
    total = options.iterations or len(loop.schedule)
    run = begin_run(
        pool, start, Path(out) if out else None, _identity(pool, phases, options), n_planned=total, made_by=made_by
    )
    assignment = run.assignment()
    fitting = loop.fitting(run)
    with progress("filter", total, "iterations", done=min(run.n_finished, total)) as advance:
        for iteration in range(1 + run.n_finished, 1 + total):
            if _has_converged(run, phases, options) or (run.n_finished and is_enough(run)):
                run.plan(run.n_finished)
                break
            assignment = loop.iterate(run, fitting, iteration, assignment)
            after_iteration(run)
            done = run.log[-1]
            advance(1, note=f"{done.filter} accuracy {run.accuracy(iteration):.3f}, chance {run.chance:.3f}")
    return run


def _phases(filter: str | Filter | Phases, options: AFOptions) -> list[tuple[str, Filter, int]]:
    """`(name, filter, iterations)` a phase; a name used twice must mean one filter."""
    listed: Phases = [(filter, options.iterations or 40)] if isinstance(filter, str | Filter) else filter
    made: dict[str, Filter] = {}
    phases = []
    for entry, n in listed:
        one = (made.get(entry) or make_filter(entry)) if isinstance(entry, str) else entry
        name = entry if isinstance(entry, str) else one.name
        if made.setdefault(name, one) is not one:
            raise InputError(f"two filters of one schedule are called {name!r}. Give each a name of its own.")
        phases.append((name, one, n))
    if not phases or any(n < 1 for *_, n in phases):
        raise InputError("the schedule is empty, or a phase has no iterations.")
    return phases


def _loop(pool: CandidatePool, phases: list[tuple[str, Filter, int]], options: AFOptions) -> "_Loop":
    """What every iteration needs, after all checks that can be made before any work."""
    _check_reads_candidates(phases)
    flagged = pool.flagged(np.arange(len(pool))) if _is_guarded(pool, options) else None
    check_enough(pool.counts, 1 + options.n_negatives, flagged)
    n_test = round(options.test_share * len(pool))
    groups = pool.groups if options.split_by == "video" else np.arange(len(pool))
    check_split(groups, n_test, options.test_share)
    prepare({name: one for name, one, _ in phases}.values(), pool)
    if options.splits == "fixed":
        check_lasting([one for _, one, _ in phases])
        fixed_folds(groups, options.test_share, seed=options.seed)
    return _Loop([one for _, one, n in phases for _ in range(n)], groups, n_test, options, flagged)


def _is_guarded(pool: CandidatePool, options: AFOptions) -> bool:
    """Whether flagged candidates are kept out."""
    return "flagged" in pool.tables and not options.ignore_guard


def _check_reads_candidates(phases: list[tuple[str, Filter, int]]) -> None:
    """Raise InputError for a filter that reads the candidates of a row together: newcomers are scored without them."""
    for name, one, _ in phases:
        if getattr(one, "reads_rows", False):
            raise InputError(
                f"filter {name}: with by=letter it reads all candidates of a row together, which audits can use and a "
                "loop cannot. Take by=likelihood or by=yes."
            )


@dataclass(frozen=True)
class _Loop:
    """What is the same in every iteration."""

    schedule: list[Filter]
    """By iteration; the last one goes on."""
    groups: np.ndarray
    """(N,) what no split may part."""
    n_test: int
    options: AFOptions
    flagged: np.ndarray | None
    """(N, K) candidates that are kept out."""

    def fitting(self, run: Run) -> Fitting:
        """How the iterations of `run` come by split and filter."""
        if self.options.splits == "fresh":
            return FreshFitting(run.pool, self.schedule, self.groups, self.n_test, self.options.most_fitted)
        folds = fixed_folds(self.groups, self.options.test_share, seed=self.options.seed)
        return FixedFitting(run.pool, self.schedule, folds, run.path, run.n_finished)

    def iterate(self, run: Run, fitting: Fitting, iteration: int, assignment: np.ndarray) -> np.ndarray:
        """One round of split, fit, score, replace, log; returns the next assignment (N, A)."""
        split_rng, fit_rng, replace_rng = np.random.default_rng((self.options.seed, iteration)).spawn(3)
        train, test = fitting.split(iteration, split_rng)
        started = time.perf_counter()
        filter = fitting.fit(iteration, train, assignment[train], fit_rng)
        fitted = time.perf_counter()
        heads = scores_by_head(filter, run.pool.view(test, assignment[test]))
        result = self._replace(run.pool, test, assignment[test], heads[filter.name], filter, rng=replace_rng)
        seconds = time.perf_counter() - started
        changes = result.changes.copy()
        changes[:, 0] = test[changes[:, 0]]
        timing = Timing(iteration, round(fitted - started, 4), round(seconds, 4), round(peak_memory_gb(), 3))
        fitting.keep(iteration)
        run.append(_logged(iteration, filter, heads, result), timing, changes)
        fitting.tidy(iteration)
        assignment = assignment.copy()
        assignment[test] = result.assignment
        return assignment

    def _replace(
        self,
        pool: CandidatePool,
        test: np.ndarray,
        assigned: np.ndarray,
        scores: np.ndarray,
        filter: Filter,
        *,
        rng: np.random.Generator,
    ) -> Replacements:
        """Swap easy ones among the `assigned` (n, A) candidates of rows `test` (n,), given their `scores` (n, A)."""

        def score(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
            return score_in_parts(filter, pool.view(test[rows], columns))

        options = self.options
        n = n_swaps(scores, options) if has_learned(record_of_fit(filter)) else 0
        policy = Policy(n, options.rule, options.pick, lazy=options.scan == "lazy")
        keys = draw_keys(len(test), pool.n_candidates, assigned.shape[1], rng=rng)
        flagged = None if self.flagged is None else self.flagged[test]
        return replace(assigned, scores, pool.counts[test], score, keys, policy, flagged)


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


def has_learned(fit: Mapping[str, Any]) -> bool:
    """Whether a fit that says `fit` of itself learned anything; one that says nothing did."""
    return bool(fit.get("converged", True))


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


def _identity(pool: CandidatePool, phases: list[tuple[str, Filter, int]], options: AFOptions) -> dict[str, object]:
    """What a resumed run must have in common; how long to go on may change."""
    not_recorded = [
        *(["splits"] if options.splits == "fresh" else []),
        *([] if "flagged" in pool.tables else ["ignore_guard"]),
    ]
    free = ("iterations", "until", "window", "scan", *not_recorded)
    firsts = np.cumsum([1, *(n for *_, n in phases)]).tolist()
    return {
        "pool_identity": pool.identity,
        **({"unguarded_identity": pool.unguarded_identity} if "flagged" in pool.tables else {}),
        "phases": [[name, first] for (name, *_), first in zip(phases, firsts, strict=False)],
        "filters": {name: settings_of(one) for name, one, _ in phases},
        "options": {name: value for name, value in asdict(options).items() if name not in free},
    }


def _has_converged(run: Run, phases: list[tuple[str, Filter, int]], options: AFOptions) -> bool:
    if options.until is None:
        return False
    last = run.log[sum(n for *_, n in phases[:-1]) :]
    recent = [run.accuracy(one.iteration) for one in last if not one.skipped][-options.window :]
    return len(recent) == options.window and float(np.mean(recent)) <= run.chance + options.until
