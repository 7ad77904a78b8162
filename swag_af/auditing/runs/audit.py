"""Audits: how well fresh filters that took no part in the filtering still find gold.

The accuracy in the log of a run is that of the filter that shaped the assignment; an *audit filter* is independent of
it. It is fitted and scored across folds of whole groups (`CandidatePool.groups`: videos, and rows that share texts), so
every context is scored once by a filter that never saw its group, and its accuracy comes with a 95 % interval. An audit
depends only on pool, assignment, filter with its settings, folds and seed: it can be made at any time, of any
iteration, in any order, and does not change the log of the run.

    run/audits.jsonl    one line per audit, by iteration, then filter; the same seed gives the same bytes

Several seeds are several audits, each with its own folds and fits; `over_seeds` averages them. Rows and sentences
about audits are in `swag_af.auditing.runs.summary`.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from swag_af.auditing.options import AuditOptions
from swag_af.auditing.runs.crossval import audit_rng, rank_shares, scores_by_fold
from swag_af.data.disk.manifests import sha256_json
from swag_af.data.engines.options import Workers
from swag_af.data.errors import InputError, SwagAfError, takes_options, told
from swag_af.data.numbers.interval import CROSS_VALIDATED, mean_of_folds
from swag_af.data.plugins.own_code import said_of
from swag_af.data.pool.assignments import check_assignment
from swag_af.data.pool.folder import FILTER_TABLES
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.findings import AUDITS, Audits, Finding, keep, key_of, read_audits
from swag_af.data.runs.run import Run, open_run, verb_manifest
from swag_af.data.scale import run_blocks
from swag_af.data.splits import deal
from swag_af.data.work.locks import clear_lock
from swag_af.data.work.progress import Advance, progress
from swag_af.filters.contract import ADVICE, Filter, record_of_fit, settings_of
from swag_af.filters.prepare import prepare
from swag_af.filters.registry import DEFAULT_AUDIT, make_filter


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """Which audits of a run to make: each of `filters`, after each of `iterations`, with each of `seeds`."""

    iterations: Sequence[int]
    filters: Sequence[str | Filter]
    """Names or objects."""
    n_folds: int = 5
    """Parts that the groups are dealt into; as many as there are groups if those are fewer."""
    seeds: Sequence[int] = (0,)
    """Each deals folds of its own and seeds fits of its own."""
    device: str | None = None
    """Where filters with networks compute; their own setting when None."""


@takes_options
def audit_of_run(options: AuditOptions) -> tuple[Run, list[Finding]]:
    """The verb `audit` of a run folder: the run, and the finding of each filter with each seed, kept in the run folder.

    Without an iteration in the options: before the first one, and after the last. Raises InputError for several
    folders, and for options of a dataset, which `run_audit` takes.
    """
    if of_data := options.given_of("out", "compare", "gate", "junit", "sarif"):
        raise InputError(f"{', '.join(of_data)}: of a dataset, as run_audit reads one, and this is the audit of a run.")
    if len(options.data) != 1:
        raise InputError(f"{len(options.data)} folders: the audit of a run is of one. Call it for each.")
    run = open_run(options.data[0])
    run.pool.check_tables(FILTER_TABLES)
    iterations = sorted({0, run.n_finished}) if options.iteration is None else [options.iteration]
    run.assignment(iterations[-1])  # raises for an iteration that does not exist
    names = options.names(DEFAULT_AUDIT)
    _check_of_runs(names)
    seed = verb_manifest(options.data[0])["options"]["seed"] if options.seed is None else options.seed
    plan = AuditPlan(iterations, names, options.folds, range(seed, seed + options.seeds), options.device)
    workers = Workers[Run](options.workers, options.where)
    if workers.are_asked_for:
        _check_shared(names)
    kinds = [name for _ in iterations for name in names for _ in range(options.seeds)]
    with progress("audit", len(kinds), "audits", kinds=kinds) as advance:
        return run, audit_run(run, plan, advance=advance, workers=workers)


def _check_of_runs(names: Sequence[str | Filter]) -> None:
    """Raise InputError for a model that datasets alone are read by."""
    if any(isinstance(name, str) and name == "tfidf" for name in names):
        raise InputError(
            "--filters tfidf: this model reads datasets, not runs. For a run name ngrams, which is much the same."
        )


def _check_shared(names: Sequence[str]) -> None:
    """Raise InputError for a filter that asks a server, and so keeps answers in one file."""
    asking = next((name for name in names if hasattr(make_filter(name), "default_journal")), None)
    if asking is not None:
        raise InputError(
            f"{asking}: one process writes its answers. Leave --workers and --engine out; concurrency=N in its "
            "brackets asks more at a time."
        )


def audit_pool(
    pool: CandidatePool,
    assignment: np.ndarray,
    filters: Sequence[str | Filter] = DEFAULT_AUDIT,
    *,
    n_folds: int = 5,
    seed: int = 0,
) -> list[Finding]:
    """The finding of each of `filters` (names or objects) in `assignment` (N, A), cross-validated over whole groups.

    The interval is that of cross-validated hits (`mean_of_folds`), as in the audit of a dataset. The same seed gives
    the same folds and generators to every assignment and filter, so that before and after are comparable. Raises
    InputError, before any fit, for an unavailable filter, and for what is no assignment: gold, candidate 0, first in
    every row, and no candidate that a row lacks or repeats.
    """
    if not isinstance(pool, CandidatePool):
        raise InputError(
            f"pool: a {type(pool).__name__}, where CandidatePool is due. CandidatePool.open(folder) is one; "
            "open_run(folder) has its pool and its assignment."
        )
    assignment = np.asarray(assignment)
    check_assignment(assignment, pool.counts)
    if isinstance(filters, str) or not isinstance(filters, Sequence):
        raise InputError(f"filters: {told(filters)}, where a list of names or filters is due.")
    _check_of_runs(filters)
    names = [one if isinstance(one, str) else str(getattr(one, "name", "")) for one in filters]
    if twice := next((name for name, n in Counter(names).items() if n > 1), ""):
        raise InputError(f"filters: two are called {twice!r}. Give each a name of its own: `one.name = ...`.")
    for what, number, least in (("n_folds", n_folds, 2), ("seed", seed, 0)):
        if not isinstance(number, Integral) or number < least:
            raise InputError(f"{what} {number!r}: a whole number is due, {least} or more.")
    groups = pool.groups
    return audit_columns(pool, np.arange(len(pool)), assignment, groups, filters, n_folds=n_folds, seed=seed)


def audit_columns(
    pool: CandidatePool,
    rows: np.ndarray,
    columns: np.ndarray,
    groups: np.ndarray,
    filters: Sequence[str | Filter] = DEFAULT_AUDIT,
    *,
    n_folds: int = 5,
    seed: int = 0,
) -> list[Finding]:
    """`audit_pool` for any questions: candidates `columns` (n, m) of `rows` (n,), column 0 the answer.

    Questions of one of `groups` (n,), numbered from 0, stay together in one fold; a row may occur twice.
    """
    found = []
    for entry, one in zip(filters, usable_filters(pool, filters, groups), strict=True):
        n_parts = min(n_folds, _n_groups(groups))
        folds = deal(groups, n_parts, rng=audit_rng(seed), largest_first=False)
        fits: list[dict[str, Any]] = []

        def note_fit(fitted: Filter, fits: list[dict[str, Any]] = fits) -> None:
            fits.append(record_of_fit(fitted))

        scored = scores_by_fold(one, pool, columns, folds, rows=rows, seed=seed, after_fit=note_fit)
        hits, ranks = _ranked(one, scored, columns.shape)
        finding = _finding(hits, ranks, groups, n_folds=n_parts, seed=seed)
        said = tuple(said_of(one, ADVICE))
        told = tuple(fit for fit in fits if fit)
        name, settings = _name_of(entry, one), fingerprint(one)
        found.append(replace(finding, filter=name, settings=settings, said=said, fits=told))
    return found


def _ranked(
    filter: Filter, scored: Iterable[tuple[np.ndarray, np.ndarray]], shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """(n,) how much gold is at the first rank, and (m,) how often in all at each rank, of positions and their scores.

    Scores are let go of fold by fold: those of all questions would take 8 m bytes each.
    """
    hits, ranks = np.empty(shape[0]), np.zeros(shape[1])
    for test, scores in scored:
        shares = rank_shares(scores)  # (t, m)
        hits[test] = shares[:, 0]
        ranks += shares.sum(axis=0)
    return hits, ranks


def _finding(hits: np.ndarray, ranks: np.ndarray, groups: np.ndarray, *, n_folds: int, seed: int) -> Finding:
    """A finding without its filter's name; questions, whose gold is at each rank so often, cluster in `groups` (n,).

    Figures are rounded to what is kept in the file.
    """
    accuracy, low, high = mean_of_folds(hits, groups)
    return Finding(
        iteration=None,
        filter="",
        accuracy=accuracy,
        low=low,
        high=high,
        chance=round(1 / len(ranks), 6),
        n=len(hits),
        n_groups=_n_groups(groups),
        n_folds=n_folds,
        seed=seed,
        ranks=tuple(round(float(value), 4) for value in ranks),
        hits=tuple(np.round(hits, 4).tolist()),
        variance_times=CROSS_VALIDATED,
    )


def audit_run(
    run: Run,
    plan: AuditPlan,
    *,
    forgiving: bool = False,
    advance: Advance | None = None,
    workers: Workers[Run] | None = None,
) -> list[Finding]:
    """Audit `run` as planned, except for audits that its folder has already; returns all findings of the plan.

    Each is kept as soon as it is made, in the order of the plan, whatever `workers`; another process opens the run's
    folder. Only filters with audits to make are checked, all of them before the first fit; a `forgiving` audit instead
    notes in the file why a filter had to be left out, and goes on with the others.
    """
    if run.path:
        clear_lock(run.path / AUDITS)
    kept, requests, who = read_audits(run.path), _requests(run, plan), workers or Workers[Run]()
    known = [_known(kept, request) for request in requests]
    todo = [request for request, one in zip(requests, known, strict=True) if one is None]
    if not forgiving:
        usable_filters(
            run.pool,
            list({id(request.entry): request.entry for request in todo}.values()),
            run.pool.groups,
            device=plan.device,
        )
    found = []
    with run_blocks(_AuditJob(run.path, plan.device, run), todo, workers=who.n, engine=who.engine) as made:
        for request, one in zip(requests, known, strict=True):
            finding = next(made) if one is None else one
            if not isinstance(finding, Finding):
                if not forgiving:
                    raise finding
                if run.path:
                    keep(run.path, left_out=(request.name, str(finding)))
                continue
            if one is None and run.path:
                keep(run.path, finding=finding)
            found.append(finding)
            if advance is not None:
                note = f"{finding.filter} {finding.accuracy:.3f} after iteration {finding.iteration}"
                advance(1, note=note, kept=one is not None)
    return found


@dataclass(frozen=True)
class _AuditJob:
    """Audits of a run, here or in other processes, which open its folder."""

    path: Path | None
    device: str | None
    run: Run | None = None

    def open(self) -> "Callable[[_Request], Finding | SwagAfError | ImportError]":
        """Open the run; returns what makes one audit, or why there is none."""
        run = self.run
        if run is None:
            assert self.path is not None, "a run in memory is audited by the process that has it"
            run = open_run(self.path)
        return partial(_tried, run, self.device)

    def __reduce__(self) -> tuple[Any, ...]:
        return _AuditJob, (self.path, self.device)


def _tried(run: Run, device: str | None, request: "_Request") -> Finding | SwagAfError | ImportError:
    try:
        return _made(run, request, device)
    except (SwagAfError, ImportError) as error:
        return error


class _Request(NamedTuple):
    """One audit of a plan."""

    iteration: int
    entry: str | Filter
    n_folds: int
    seed: int

    @property
    def name(self) -> str:
        """The filter's."""
        return self.entry if isinstance(self.entry, str) else self.entry.name


def _requests(run: Run, plan: AuditPlan) -> list[_Request]:
    n_folds = min(plan.n_folds, _n_groups(run.pool.groups))
    every = itertools.product(plan.iterations, plan.filters, plan.seeds)
    return [_Request(iteration, entry, n_folds, seed) for iteration, entry, seed in every]


def _known(kept: Audits, request: _Request) -> Finding | None:
    """The finding that is asked for, if it is there already; its filter need not be usable here any more.

    A line of an older file, which has no settings, counts for a filter asked for by name, which has its defaults. So
    does any line where the settings cannot be told, as of a model that is gone: nothing says that it was another one.
    """
    iteration, entry, n_folds, seed = request
    try:
        one = make_filter(entry) if isinstance(entry, str) else entry
    except InputError:
        return None
    key = (iteration, _name_of(entry, one), n_folds, seed)
    try:
        settings = {fingerprint(one), ""} if isinstance(entry, str) else {fingerprint(one)}
    except InputError:
        settings = {key_of(finding)[-1] for finding in kept.findings}
    return next((one for one in kept.findings if key_of(one)[:-1] == key and key_of(one)[-1] in settings), None)


def _made(run: Run, request: _Request, device: str | None) -> Finding:
    iteration, entry, n_folds, seed = request
    (one,) = usable_filters(run.pool, [entry], run.pool.groups, device=device)
    (found,) = audit_pool(run.pool, run.assignment(iteration), [one], n_folds=n_folds, seed=seed)
    return replace(found, iteration=iteration, filter=_name_of(entry, one))


def fingerprint(filter: object) -> str:
    """Twelve hexadecimal digits identifying a filter's settings, except for its device; "" when it has none."""
    return fingerprint_of(settings_of(filter))


def fingerprint_of(settings: Mapping[str, Any]) -> str:
    """The same of the `settings` themselves."""
    told = {name: repr(value) for name, value in settings.items() if name != "device"}
    return sha256_json(told)[:12] if told else ""


def due_iterations(run: Run, every: int, *, ended: bool) -> list[int]:
    """Iterations that `--audit-every` asks to audit by now: 0, every n-th, and the last one once the run has ended.

    With `every` 0: none until the end, then the first and the last.
    """
    due = set(range(0, run.n_finished + 1, every)) if every else set()
    return sorted(due | ({0, run.n_finished} if ended else set()))


def usable_filters(
    pool: CandidatePool, filters: Sequence[str | Filter], groups: np.ndarray, *, device: str | None = None
) -> list[Filter]:
    """The filters, ready for `pool` (`prepare`).

    Raises InputError, naming every fault, for filters that cannot be used here, and where `groups` (n,) are all one: an
    audit fits on some groups and scores others.
    """
    one_group = (
        "all contexts are of one group (video, or shared texts): an audit fits on some groups and scores others."
    )
    faults = [one_group] if filters and groups.max() < 1 else []
    try:
        made = prepare(filters, pool, device=device)
    except InputError as error:
        faults.insert(0, str(error))
    if faults:
        raise InputError(" ".join(faults))
    return made


def _name_of(entry: str | Filter, made: Filter) -> str:
    """A filter's own name, or the name with brackets that was asked for: `transformer[one]`."""
    return entry if isinstance(entry, str) and "[" in entry else made.name


def _n_groups(groups: np.ndarray) -> int:
    """`groups` (n,) are numbered from 0."""
    return int(groups.max()) + 1
