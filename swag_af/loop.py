"""Adversarial Filtering: split, fit, score, replace, log; again (Zellers et al. 2018, 3.2 and Algorithm 1).

Every iteration draws a fresh split of the contexts, fits a fresh filter on the larger part under the current
assignment, records its accuracy on the smaller part, and swaps easy distractors there and only there. The
randomness of an iteration depends on (seed, iteration) alone, so a run goes on where it stopped.
"""

import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from swag_af.audit import audit_run, due_iterations, usable_filters
from swag_af.data.assignments import check_enough, random_assignment
from swag_af.data.errors import InputError
from swag_af.data.pool import CandidatePool, View
from swag_af.data.progress import Advance, progress
from swag_af.filters.contract import Filter, score_in_parts, settings_of
from swag_af.filters.registry import make_filter
from swag_af.options import DEFAULT_AUDIT, AFOptions, parse_names, parse_schedule, with_policy
from swag_af.options import Filter as FilterVerb
from swag_af.plot import plot_run
from swag_af.replacement import Replacements, draw_keys, replace
from swag_af.report import REPORT, write_report
from swag_af.runs import Run, begin_run
from swag_af.splits import check_split, groups_of, hold_out

Phases = Sequence[tuple[str | Filter, int]]

GAPS = (0.525, 0.575)
"""Pairwise accuracies up to which no, or one, distractor leaves a context under `swaps="gap"`."""


def run_filter(options: FilterVerb) -> Run:
    """The verb `filter`: open the pool, run the schedule, audit what it made, draw the curve, write the report."""
    pool = CandidatePool.open(options.pool)
    af = with_policy(options.af, options.policy)
    audit_names = parse_names("--audit", options.audit)
    if audit_names != DEFAULT_AUDIT:
        usable_filters(
            pool, audit_names, groups_of(pool, "video")
        )  # what was named by hand must be there before any work
    made = {name: make_filter(name) for name, _ in parse_schedule(options.schedule)}
    for filter in made.values():
        if hasattr(filter, "device"):
            filter.device = options.device
    phases = [(made[name], n) for name, n in parse_schedule(options.schedule)]

    def audit_what_is_due(run: Run, *, ended: bool = False, advance: Advance | None = None) -> None:
        due = due_iterations(run, options.audit_every, ended=ended)
        audit_run(run, due, audit_names, seed=af.seed, device=options.device, forgiving=True, advance=advance)

    def after_iteration(run: Run) -> None:
        if options.audit_every and run.n_finished % options.audit_every == 0:
            audit_what_is_due(run)
        _draw_now_and_then(run)

    made_by = {"verb": "filter", "options": asdict(options)}
    run = filter_pool(pool, phases, af, out=options.out, after_iteration=after_iteration, made_by=made_by)
    n_audits = len(audit_names) * len(due_iterations(run, options.audit_every, ended=True))
    with progress("audit", n_audits, "audits") as advance:
        audit_what_is_due(run, ended=True, advance=advance)
    plot_run(run, options.out)
    write_report(run, options.out / REPORT)
    return run


def _draw_now_and_then(run: Run) -> None:
    if run.path is not None and run.n_finished % 10 == 0:
        plot_run(run, run.path)
        write_report(run, run.path / REPORT)


def filter_pool(
    pool: CandidatePool,
    filter: str | Filter | Phases,
    options: AFOptions | None = None,
    *,
    out: Path | str | None = None,
    after_iteration: Callable[[Run], None] = lambda run: None,
    made_by: Mapping[str, object] | None = None,
) -> Run:
    """Filter `pool` and return the run: its assignments, texts and log.

    `filter` is a name, an object that passes `check_filter`, or phases `[(filter, iterations), ...]`; a single
    filter runs for `options.iterations`, 40 when that is not given. With `out`, the run is kept in that folder
    and goes on from what is there; a pool in memory is saved in it too. `made_by` is recorded. Raises InputError and
    ExhaustedError before any work when pool, filter and options do not fit.
    """
    options = AFOptions() if options is None else options
    phases = _phases(filter, options)
    fitters = {name: f for name, f, _ in phases}
    required = {table for one in fitters.values() for table in getattr(one, "requires", ())}
    pool.require(*sorted(required))
    if "features" in required and pool.lazy_features:
        from swag_af.lm.lazy import with_features

        pool = with_features(pool)
    check_enough(pool.counts, 1 + options.n_negatives)
    n_test, groups = round(options.test_share * len(pool)), groups_of(pool, options.split_by)
    check_split(groups, n_test, options.test_share)
    if "features" in required and not pool.lazy_features:  # reading lazy ones would compute them all
        _check_features(pool)
    for one in fitters.values():
        getattr(one, "check", lambda: None)()
    start = random_assignment(pool.counts, 1 + options.n_negatives, rng=np.random.default_rng((options.seed, 0)))
    schedule = [name for name, _, n in phases for _ in range(n)]
    total = options.iterations or len(schedule)
    run = begin_run(
        pool, start, Path(out) if out else None, _identity(pool, phases, options), n_planned=total, made_by=made_by
    )
    assignment = run.assignment()
    with progress("filter", total, "iterations", done=min(run.n_finished, total)) as advance:
        for iteration in range(1 + run.n_finished, 1 + total):
            if _has_converged(run, phases, options):
                run.plan(run.n_finished)
                break
            name = schedule[min(iteration, len(schedule)) - 1]
            assignment = _iterate(run, iteration, name, fitters[name], assignment, (groups, n_test), options)
            after_iteration(run)
            advance(1, note=f"{name} accuracy {run.accuracy(iteration):.3f}, chance {run.chance:.3f}")
    return run


def _check_features(pool: CandidatePool, n_rows: int = 512) -> None:
    """Read the features once, `n_rows` at a time: a view refuses NaN and names the row, here before any work."""
    every = np.arange(pool.n_candidates)
    for at in range(0, len(pool), n_rows):
        rows = np.arange(at, min(at + n_rows, len(pool)))
        _ = pool.view(rows, np.broadcast_to(every, (len(rows), len(every)))).features


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


def _identity(pool: CandidatePool, phases: list[tuple[str, Filter, int]], options: AFOptions) -> dict[str, object]:
    """What a resumed run must have in common; how long to go on may change."""
    free = ("iterations", "until", "window", "scan")
    firsts = np.cumsum([1, *(n for *_, n in phases)]).tolist()
    return {
        "pool_identity": pool.identity,
        "phases": [[name, first] for (name, *_), first in zip(phases, firsts, strict=False)],
        "filters": {name: settings_of(one) for name, one, _ in phases},
        "options": {name: value for name, value in asdict(options).items() if name not in free},
    }


def _has_converged(run: Run, phases: list[tuple[str, Filter, int]], options: AFOptions) -> bool:
    if options.until is None:
        return False
    first_of_last = sum(n for *_, n in phases[:-1])
    if run.n_finished - first_of_last < options.window:
        return False
    recent = [run.accuracy(i) for i in range(run.n_finished - options.window + 1, run.n_finished + 1)]
    return float(np.mean(recent)) <= run.chance + options.until


def _iterate(
    run: Run,
    iteration: int,
    name: str,
    filter: Filter,
    assignment: np.ndarray,
    held_out: tuple[np.ndarray, int],
    options: AFOptions,
) -> np.ndarray:
    """One round of split, fit, score, replace; returns the next assignment. `held_out` is what `hold_out` takes."""
    split_rng, fit_rng, replace_rng = np.random.default_rng((options.seed, iteration)).spawn(3)
    train, test = hold_out(*held_out, rng=split_rng)
    started = time.perf_counter()
    filter.fit(run.pool.view(train, assignment[train]), rng=fit_rng)
    fitted = time.perf_counter()
    assigned = run.pool.view(test, assignment[test])
    heads = scores_by_head(filter, assigned)
    n_easy = n_swaps(heads[filter.name], options)
    result = _replace(run.pool, test, assignment[test], heads[filter.name], filter, n_easy, options, replace_rng)
    changes = result.changes.copy()
    changes[:, 0] = test[changes[:, 0]]
    record = {
        "iteration": iteration,
        "filter": filter.name,
        "accuracy": {head: round(accuracy(scores), 6) for head, scores in heads.items()},
        "n_test": len(test),
        "n_easy": result.n_easy,
        "n_replaced": len(changes),
        "n_scored": result.n_scored,
        "n_unassigned": result.n_unassigned,
        "scored_share": round(result.n_scored / max(1, result.n_unassigned), 6),
    }
    timing = {
        "iteration": iteration,
        "fit_seconds": round(fitted - started, 4),
        "seconds": round(time.perf_counter() - started, 4),
        "peak_memory_gb": round(peak_memory_gb(), 3),
    }
    run.append(record, timing, changes)
    assignment = assignment.copy()
    assignment[test] = result.assignment
    return assignment


def _replace(
    pool: CandidatePool,
    test: np.ndarray,
    assigned: np.ndarray,
    scores: np.ndarray,
    filter: Filter,
    n_easy: int,
    options: AFOptions,
    rng: np.random.Generator,
) -> Replacements:
    def score(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return score_in_parts(filter, pool.view(test[rows], columns))

    return replace(
        assigned,
        scores,
        pool.counts[test],
        score,
        draw_keys(len(test), pool.n_candidates, assigned.shape[1], rng=rng),
        n_easy=n_easy,
        rule=options.rule,
        pick=options.pick,
        lazy=options.scan == "lazy",
    )


def n_swaps(scores: np.ndarray, options: AFOptions) -> int:
    """How many easy distractors may leave each held-out context in this iteration, given their scores (n, A).

    Under `swaps="gap"` it hangs on how often gold beats a single negative: at most 0.525, none; at most 0.575, one
    (HellaSwag's Adversarial Filtering: Zellers et al. 2019).
    """
    if options.swaps == "always":
        return options.n_easy
    negatives, gold = scores[:, 1:], scores[:, :1]
    pairwise = float((gold > negatives).mean() + 0.5 * (gold == negatives).mean())
    return next((n for n, most in enumerate(GAPS) if pairwise <= most), options.n_easy)


def scores_by_head(filter: Filter, view: View) -> dict[str, np.ndarray]:
    """(n, m) scores of every head that the filter tells of, the deciding one under the filter's name."""
    members = getattr(filter, "member_scores", None)
    heads = dict(members(view)) if members is not None else {}
    if filter.name not in heads:
        heads[filter.name] = filter.score(view)
    return heads


def accuracy(scores: np.ndarray) -> float:
    """Share of rows whose gold (column 0) scores highest; a tie at the top counts as a guess among the tied."""
    best = scores == scores.max(axis=1, keepdims=True)  # (n, A)
    return float((best[:, 0] / best.sum(axis=1)).mean())


def peak_memory_gb() -> float:
    """The largest resident size of this process so far, in gigabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e9 if sys.platform == "darwin" else peak * 1024 / 1e9
