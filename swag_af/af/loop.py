"""Adversarial Filtering: split, fit, score, replace, log; again (Zellers et al. 2018, 3.2 and Algorithm 1).

Every iteration draws a fresh split of the contexts, fits a fresh filter on the larger part under the current
assignment, records its accuracy on the smaller part, and swaps easy distractors there and only there (`fitting` has
another way, with folds that stay). The randomness of an iteration depends on (seed, iteration) alone, so a run goes on
where it stopped.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from swag_af.af.fitting import check_lasting, dealt_folds
from swag_af.af.options import AFOptions
from swag_af.data.disk.manifests import MANIFEST, check_ours
from swag_af.data.engines.options import Workers
from swag_af.data.errors import InputError, as_path, check_kind
from swag_af.data.plugins.own_code import is_own
from swag_af.data.pool.assignments import check_enough, random_assignment
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import BEGUN, Run, begin_run
from swag_af.data.splits import check_split
from swag_af.data.work.progress import progress
from swag_af.filters.contract import Filter, answerers_of, check_is_filter, settings_of
from swag_af.filters.registry import MOST_ITERATIONS, make_filter, parse_schedule

if TYPE_CHECKING:  # whoever only imports the loop loads little
    from swag_af.af.turns import Rules

Phases = Sequence[tuple[str | Filter, int]]

FREE = ("iterations", "until", "window", "scan")
"""Options that may change when a run goes on: how long, and how candidates are looked for, with the same draws."""


def filter_pool(
    pool: CandidatePool,
    filter: str | Filter | Phases,
    options: AFOptions | None = None,
    *,
    out: Path | str | None = None,
    after_iteration: Callable[[Run], None] = lambda run: None,
    is_enough: Callable[[Run], bool] = lambda run: False,
    made_by: Mapping[str, object] | None = None,
    workers: Workers[Any] | None = None,
) -> Run:
    """Filter `pool` and return the run: its assignments, texts and log.

    `filter` is a name, an object that passes `check_filter`, or phases `[(filter, iterations), ...]`, of names also as
    `--schedule` takes them, `"mlp:100,ensemble:40"`; a single filter runs for `options.iterations`, 40 when that is not
    given. With `out`, the run is kept in that folder and goes on from what is there; a pool in memory is saved in it
    too. `is_enough`, asked before each iteration but the first, ends the run. `made_by` is recorded. Audits, curve and
    report are left to others: `run_filter`, which is the verb, makes them too. `workers` say who does it, and change
    nothing that is made. Raises InputError and ExhaustedError before any work when pool, filter and options do not fit,
    fewer iterations are asked for than are done, or another process is filtering into `out`.
    """
    from swag_af.af.workers import check_workers
    from swag_af.data.work.locks import alone

    _check_types(pool, options, workers, after_iteration, is_enough)
    options, workers, path = options or AFOptions(), workers or Workers(1), None if out is None else as_path("out", out)
    phases = _phases(filter, options)
    rules = _rules(pool, phases, options)
    check_workers(pool, rules, workers, path)
    total = options.iterations or len(rules.schedule)
    if path is not None:
        check_ours("filter", path, *BEGUN)
    with alone(path / MANIFEST, waits=False, called=path) if path else nullcontext():
        run = _begun(pool, phases, rules, path, total, made_by)
        _go_on(run, phases, rules, workers, total, after_iteration, is_enough)
    return run


def check_filtering(pool: CandidatePool, filter: str | Filter | Phases, options: AFOptions) -> None:
    """Raise InputError for whatever `filter_pool` would refuse of these before any work, but for what `prepare` finds
    in the filters."""
    _rules_of(pool, _phases(filter, options), options)


def _check_types(pool: object, options: object, workers: object, after_iteration: object, is_enough: object) -> None:
    every = {"pool": (pool, CandidatePool), "options": (options, AFOptions), "workers": (workers, Workers)}
    for what, (given, due) in every.items():
        if given is not None or what == "pool":
            check_kind(what, given, due)
    for what, hook in {"after_iteration": after_iteration, "is_enough": is_enough}.items():
        if not callable(hook):
            raise InputError(f"{what}: a {type(hook).__name__}, where a function of the run is due.")


_FEW_PHASES = 5
"""So many have a time left each, for an ensemble's iteration takes a hundred times an MLP's; of more, all together."""


def _go_on(
    run: Run,
    phases: list[tuple[str, Filter, int]],
    rules: "Rules",
    workers: Workers[Any],
    total: int,
    after_iteration: Callable[[Run], None],
    is_enough: Callable[[Run], bool],
) -> None:
    """Do what is left of `total` iterations, or of those until it is enough."""
    from swag_af.af.workers import doing

    fitting = rules.fitting(run.pool, run.path)
    fitting.begin(run.n_finished)
    stages = [(name, n) for name, _, n in phases] if len(phases) <= _FEW_PHASES else []
    with (
        progress("filter", total, "iterations", done=min(run.n_finished, total), stages=stages) as advance,
        doing(run, rules, fitting, workers, total) as outcomes,
    ):
        for iteration in range(1 + run.n_finished, 1 + total):
            if _has_converged(run, phases, rules.options) or (run.n_finished and is_enough(run)):
                run.plan(run.n_finished)
                break
            outcome = next(outcomes)
            run.append(outcome.record, outcome.timing, outcome.changes)
            fitting.tidy(iteration)
            after_iteration(run)
            advance(1, note=f"{outcome.record.filter} accuracy {run.accuracy(iteration):.3f}, chance {run.chance:.3f}")


def _phases(filter: str | Filter | Phases, options: AFOptions) -> list[tuple[str, Filter, int]]:
    """`(name, filter, iterations)` a phase; a name used twice must mean one filter."""
    if isinstance(filter, str) and re.search(r":\d+\s*$", filter):
        listed: Phases = parse_schedule(filter)
    elif isinstance(filter, Sequence) and not isinstance(filter, str):
        listed = filter
    else:
        listed = [(filter, options.iterations or 40)]
    made: dict[str, Filter] = {}
    phases = []
    if not all(isinstance(one, Sequence) and not isinstance(one, str) and len(one) == 2 for one in listed):
        raise InputError('a schedule is a list of pairs of a filter and a number of iterations: [("mlp", 100)].')
    for entry, n in listed:
        if not isinstance(entry, str):
            check_is_filter(entry, type(entry).__name__)
        one = (made.get(entry) or make_filter(entry)) if isinstance(entry, str) else entry
        name = entry if isinstance(entry, str) else one.name
        if made.setdefault(name, one) is not one:
            raise InputError(
                f"two filters of one schedule are called {name!r}. Give each a name of its own: `one.name = ...`."
            )
        phases.append((name, one, n))
    name_apart(made)
    if not phases or not all(isinstance(n, Integral) and not isinstance(n, bool) and n >= 1 for *_, n in phases):
        raise InputError("the schedule is empty, or a phase has no whole number of iterations.")
    if sum(n for *_, n in phases) >= MOST_ITERATIONS:
        raise InputError(f"a schedule has fewer than {MOST_ITERATIONS:,} iterations. Ask for fewer.")
    return [(name, one, int(n)) for name, one, n in phases]


def name_apart(made: Mapping[str, Filter]) -> None:
    """Call filters of one kind as they were typed, such as two encoders: one name in the log would make them one."""
    kinds = Counter(one.name for one in made.values())
    for name, one in made.items():
        if kinds[one.name] > 1 and one.name != name:
            one.name = name


def _rules(pool: CandidatePool, phases: list[tuple[str, Filter, int]], options: AFOptions) -> "Rules":
    """What every iteration needs, after all checks that can be made before any work; the filters are made ready."""
    from swag_af.filters.prepare import prepare

    rules = _rules_of(pool, phases, options)
    prepare({name: one for name, one, _ in phases}.values(), pool)
    return rules


def _rules_of(pool: CandidatePool, phases: list[tuple[str, Filter, int]], options: AFOptions) -> "Rules":
    """The same, after checks of splits and numbers alone."""
    from swag_af.af.turns import Rules

    _check_reads_candidates(phases)
    rules = Rules.of(pool, [one for _, one, n in phases for _ in range(n)], options)
    check_enough(pool.counts, 1 + options.n_negatives, rules.flagged)
    check_split(rules.groups, rules.n_test, options.test_share)
    if options.goes_on:
        check_lasting([one for _, one, _ in phases])
    if options.splits != "fresh":
        dealt_folds(rules.groups, options.test_share, seed=options.seed)
    return rules


def _begun(
    pool: CandidatePool,
    phases: list[tuple[str, Filter, int]],
    rules: "Rules",
    path: Path | None,
    total: int,
    made_by: Mapping[str, object] | None,
) -> Run:
    """A new run, or the one in `path` that goes on."""
    from swag_af.af.workers import threads_of

    rng = np.random.default_rng((rules.options.seed, 0))
    start = random_assignment(pool.counts, 1 + rules.options.n_negatives, rng=rng, flagged=rules.flagged)
    identity, threads = _identity(pool, phases, rules.options), threads_of(rules)
    return begin_run(pool, start, path, identity, n_planned=total, made_by=made_by, threads=threads)


def _check_reads_candidates(phases: list[tuple[str, Filter, int]]) -> None:
    """Raise InputError for a filter that reads the candidates of a row together: newcomers are scored without them."""
    for name, one, _ in phases:
        if getattr(one, "reads_rows", False) and is_own(one):
            raise InputError(
                f"filter {name}: it reads the candidates of a row together (`reads_rows`), which audits can use and a "
                "loop cannot: newcomers are scored without them. Name it in --audit, or take another for the loop."
            )
        if getattr(one, "reads_rows", False):
            raise InputError(
                f"filter {name}: with by=letter it reads all candidates of a row together, which audits can use and a "
                "loop cannot. Take by=likelihood or by=yes."
            )


def _identity(pool: CandidatePool, phases: list[tuple[str, Filter, int]], options: AFOptions) -> dict[str, object]:
    """What a resumed run must have in common; how long to go on may change."""
    not_recorded = [
        *(["splits"] if options.splits == "fresh" else []),
        *([] if "flagged" in pool.tables else ["ignore_guard"]),
    ]
    free = (*FREE, *not_recorded)
    answered_by = answerers_of({name: one for name, one, _ in phases})
    firsts = np.cumsum([1, *(n for *_, n in phases)]).tolist()
    return {
        "pool_identity": pool.identity,
        **({"unguarded_identity": pool.unguarded_identity} if "flagged" in pool.tables else {}),
        "phases": [[name, first] for (name, *_), first in zip(phases, firsts, strict=False)],
        "filters": {name: settings_of(one) for name, one, _ in phases},
        **({"answered_by": answered_by} if answered_by else {}),
        "options": {name: value for name, value in asdict(options).items() if name not in free},
    }


def _has_converged(run: Run, phases: list[tuple[str, Filter, int]], options: AFOptions) -> bool:
    if options.until is None:
        return False
    last = run.log[sum(n for *_, n in phases[:-1]) :]
    recent = [run.accuracy(one.iteration) for one in last if not one.skipped][-options.window :]
    return len(recent) == options.window and float(np.mean(recent)) <= run.chance + options.until
