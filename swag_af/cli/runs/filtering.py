"""The verb `filter`: the loop of `af`, with audits, curve and report made by its `after_iteration` callback."""

from collections.abc import Iterable
from dataclasses import asdict

from swag_af.af.loop import check_filtering, filter_pool, name_apart
from swag_af.af.options import AFOptions, FilterOptions, with_policy
from swag_af.af.workers import check_folders
from swag_af.auditing.runs.audit import AuditPlan, audit_run, due_iterations, usable_filters
from swag_af.auditing.runs.unseen import UnseenRule
from swag_af.data.engines.options import Workers
from swag_af.data.errors import several, takes_options
from swag_af.data.plugins.own_code import said_of
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run
from swag_af.data.work.progress import Advance, note, progress
from swag_af.filters.contract import ADVICE, Filter
from swag_af.filters.prepare import check_devices, place, prepare
from swag_af.filters.registry import DEFAULT_AUDIT, make_filter, parse_names, parse_schedule
from swag_af.reporting.verb import REPORT, write_report


def check_options(options: FilterOptions) -> None:
    """Raise InputError for what `run_filter` refuses whatever pool is read; the rest is checked where it is read."""
    with_policy(options.af, options.policy)
    made = {name: make_filter(name) for name, _ in parse_schedule(options.schedule)}
    for one in made.values():
        place(one, options.device)
    if not options.where.is_remote:
        check_devices(made.values())
    audit_names = parse_names("--audit", options.audit)
    for name in audit_names if audit_names != DEFAULT_AUDIT else ():
        make_filter(name)
    _unseen_rule(options, made.values())
    check_folders(Workers(options.workers, options.where), (options.pool, options.out))


@takes_options
def run_filter(options: FilterOptions) -> Run:
    """The verb `filter`: open the pool, run the schedule, audit what it made, draw the curve, write the report."""
    pool = CandidatePool.open(options.pool)
    pool.check_tables()
    pool.check_hashes()
    af = with_policy(options.af, options.policy)
    audit_names = _audit_names(options, pool)
    phases = _phases(options, pool)
    check_filtering(pool, phases, af)  # before any warning
    _warn_of_rows_without_spares(pool, af)
    _warn_of_recycled_golds(pool, by_context=af.split_by == "context")
    _warn_of_folds_that_stay(af)
    rule = _unseen_rule(options, [one for one, _ in phases])
    if rule:
        rule.warn(pool.groups, 1 / (1 + af.n_negatives))

    def audit_what_is_due(run: Run, *, ended: bool = False, advance: Advance | None = None) -> None:
        due = due_iterations(run, options.audit_every, ended=ended)
        plan = AuditPlan(due, audit_names, seeds=[af.seed], device=options.device)
        audit_run(run, plan, forgiving=True, advance=advance)

    def after_iteration(run: Run) -> None:
        if options.audit_every and run.n_finished % options.audit_every == 0:
            audit_what_is_due(run)
        _draw_now_and_then(run)

    told = {name: value for name, value in asdict(options).items() if name not in ("where", "workers")}
    run = filter_pool(
        pool,
        phases,
        af,
        out=options.out,
        after_iteration=after_iteration,
        is_enough=rule.is_enough if rule else lambda run: False,
        made_by={"verb": "filter", "options": told},
        workers=Workers(options.workers, options.where),
    )
    for line in dict.fromkeys(line for one, _ in phases for line in said_of(one, ADVICE)):
        note(line)
    run.check_is_there()
    kinds = [name for _ in due_iterations(run, options.audit_every, ended=True) for name in audit_names]
    with progress("audit", len(kinds), "audits", kinds=kinds) as advance:
        audit_what_is_due(run, ended=True, advance=advance)
    run.check_is_there()
    write_report(run, options.out / REPORT)
    return run


def _phases(options: FilterOptions, pool: CandidatePool) -> list[tuple[Filter, int]]:
    """The schedule, its filters ready for `pool`."""
    made = {name: make_filter(name) for name, _ in parse_schedule(options.schedule)}
    prepare(made.values(), pool, device=options.device)
    if not options.where.is_remote:
        check_devices(made.values())  # before the run is begun
    name_apart(made)
    return [(made[name], n) for name, n in parse_schedule(options.schedule)]


def _audit_names(options: FilterOptions, pool: CandidatePool) -> tuple[str, ...]:
    """The filters of the audits; the one that may end the run among them, so that its end has one too.

    Raises InputError, before any work, for one that was named and cannot be used.
    """
    names = parse_names("--audit", options.audit)
    unseen = tuple({options.until_unseen} - {"", *names})
    usable_filters(pool, (*(names if names != DEFAULT_AUDIT else ()), *unseen), pool.groups)
    return (*names, *unseen)


def _unseen_rule(options: FilterOptions, schedule: Iterable[Filter]) -> UnseenRule | None:
    """What may end the run; InputError where it is not unseen."""
    if not options.until_unseen:
        return None
    rule = UnseenRule(options.until_unseen, options.within, options.unseen_every, options.af.seed, options.device)
    rule.check(schedule)
    return rule


def _warn_of_rows_without_spares(pool: CandidatePool, af: AFOptions) -> None:
    """One line on standard error when rows have no negative left that could replace an assigned one."""
    n_negatives, available = af.n_negatives, pool.counts if af.ignore_guard else pool.n_eligible
    n = int((available == 1 + n_negatives).sum())  # fewer is an error, raised before
    if n:
        which = (
            "no row of the pool has"
            if n == len(pool)
            else f"{n:,} of {len(pool):,} rows {'has' if n == 1 else 'have'} no"
        )
        what = "a negative beyond" if n == len(pool) else "negative beyond"
        note(
            f"Warning: {which} {what} the {n_negatives} assigned, so nothing can be swapped there; accuracies are "
            "measured all the same. Lower --n-negatives, or give more negatives a row."
        )


def _warn_of_recycled_golds(pool: CandidatePool, *, by_context: bool) -> None:
    """A line on standard error when negatives are golds of rows that splits may part from theirs, and one when most are
    golds of other rows: replacing some makes it matter how often a text is an option."""
    shared = pool.manifest.get("shared_texts") or {}
    n = shared.get("n_golds_among_negatives", 0)
    n_apart = shared["n_rows"] if by_context and n else shared.get("n_rows_apart_by_gold", shared.get("n_rows", 0))
    if n and (by_context or not shared.get("kept_together")):
        note(
            f"Warning: {several(n, 'negative is', 'negatives are')} the gold of another context, and splits part "
            f"{n_apart:,} of {len(pool):,} contexts from others with the same text. A filter that has met a gold as a "
            "negative avoids it, so accuracies below chance mean nothing good."
        )
    if 2 * n > int(pool.counts.sum()) - len(pool):
        note(
            "Warning: most negatives are golds of other contexts. Filtering takes some of them more often than others, "
            "so an option that stands in few questions is likelier right, which no filter here looks at. See AF211 in "
            "`swag-af audit` of the release; `swag-af match` takes each equally often, and needs no filter."
        )


def _warn_of_folds_that_stay(af: AFOptions) -> None:
    """One line on standard error where the run's own accuracy is no measure of its questions."""
    if af.goes_on:
        note(
            f"--splits {af.splits}: each fold's endings are chosen again and again against one filter that learns on; "
            "accuracies told here can fall below chance, and do not say how hard the questions are. The audits do."
        )


def _draw_now_and_then(run: Run) -> None:
    if run.path is not None and run.n_finished % 10 == 0:
        run.check_is_there()
        write_report(run, run.path / REPORT)
