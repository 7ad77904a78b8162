"""Held-out truth: how well fresh filters that took no part in the filtering still find gold.

The accuracy in a run's log is that of a filter whose likes have shaped the assignment; an *audit filter* has not. It
is fitted and scored across folds of whole groups (`CandidatePool.groups`: videos, and rows that share texts), so every
context is scored once by a filter that never saw its group, and its accuracy comes with a 95 % interval. An audit is a
function of pool, assignment, filter with its settings, folds and seed alone: it can be made at any time, of any
iteration, in any order, and leaves the run's own numbers alone.

    run/audits.jsonl    a line for each audit, by iteration, then filter; same seed, same bytes

Several seeds are several audits, each with folds and fits of its own; `over_seeds` brings them together. What audits
come to, in rows and sentences, is told by `swag_af.auditing.summary`.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from swag_af.auditing.crossval import audit_rng, out_of_fold_scores, rank_shares
from swag_af.auditing.interval import interval
from swag_af.auditing.options import AuditOptions
from swag_af.data.errors import InputError, SwagAfError
from swag_af.data.files import read_manifest, sha256_json
from swag_af.data.findings import Audits, Finding, keep, key_of, read_audits
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.progress import Advance, progress
from swag_af.data.run import Run, open_run
from swag_af.data.splits import deal
from swag_af.filters.contract import Filter, settings_of
from swag_af.filters.prepare import prepare
from swag_af.filters.registry import DEFAULT_AUDIT, make_filter, parse_names


def audit(options: AuditOptions) -> tuple[Run, list[Finding]]:
    """The verb `audit`: the run and what each filter finds in it with each seed, kept with the run.

    Without an iteration: before the first one, and after the last.
    """
    run = open_run(options.run)
    iterations = sorted({0, run.n_finished}) if options.iteration is None else [options.iteration]
    run.assignment(iterations[-1])  # refuses an iteration that never was
    names = parse_names("--filters", options.filters)
    seed = int(read_manifest(options.run, "run")["options"]["seed"]) if options.seed is None else options.seed
    with progress("audit", len(names) * len(iterations) * options.seeds, "audits") as advance:
        found = audit_run(
            run,
            iterations,
            names,
            n_folds=options.folds,
            seed=seed,
            n_seeds=options.seeds,
            device=options.device,
            advance=advance,
        )
    return run, found


def audit_pool(
    pool: CandidatePool,
    assignment: np.ndarray,
    filters: Sequence[str | Filter] = DEFAULT_AUDIT,
    *,
    n_folds: int = 5,
    seed: int = 0,
) -> list[Finding]:
    """What each of `filters` (names or objects) finds in `assignment` (N, A), by cross-validation over whole groups.

    The interval is Wilson's at the effective number of contexts (`interval`). It speaks of other contexts of this
    kind, not of other fits. The same seed gives the same folds and generators to every assignment and filter, so
    that before and after compare. Raises InputError, before any fit, for a filter that cannot be had.
    """
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

    Questions of one of `groups` (n,), numbered from 0, are fitted on or scored together; a row may come twice.
    """
    found = []
    for entry, one in zip(filters, usable_filters(pool, filters, groups), strict=True):
        n_parts = min(n_folds, int(groups.max()) + 1)
        folds = deal(groups, n_parts, rng=audit_rng(seed), largest_first=False)
        scores = out_of_fold_scores(one, pool, columns, folds, rows=rows, seed=seed)  # (n, m)
        if not np.isfinite(scores).all():
            raise InputError(f"audit filter {one.name!r}: not all scores are finite. `check_filter` tests a filter.")
        ranks = rank_shares(scores)  # (n, m)
        hits = ranks[:, 0]
        low, high = interval(hits, groups)
        found.append(
            Finding(
                iteration=None,
                filter=_name_of(entry, one),
                accuracy=round(float(hits.mean()), 6),
                low=round(low, 6),
                high=round(high, 6),
                chance=round(1 / columns.shape[1], 6),
                n=len(rows),
                n_groups=int(groups.max()) + 1,
                n_folds=min(n_folds, int(groups.max()) + 1),
                seed=seed,
                ranks=tuple(round(float(value), 4) for value in ranks.sum(axis=0)),
                settings=fingerprint(one),
                hits=tuple(np.round(hits, 4).tolist()),
            )
        )
    return found


def audit_run(
    run: Run,
    iterations: Iterable[int],
    filters: Sequence[str | Filter],
    *,
    n_folds: int = 5,
    seed: int = 0,
    n_seeds: int = 1,
    device: str | None = None,
    forgiving: bool = False,
    advance: Advance | None = None,
) -> list[Finding]:
    """Audit `run` after each of `iterations`, but for what its folder holds already; returns all that was asked for.

    Each audit is made `n_seeds` times, with `seed` and those that follow it, and kept as soon as it is made. Only
    filters that have something to find are checked, all of them before the first fit; a `forgiving` audit notes in the
    file why one had to be left out, and goes on with the others.
    """
    groups = run.pool.groups
    kept, folds = read_audits(run.path), min(n_folds, int(groups.max()) + 1)
    asked = list(itertools.product(iterations, filters, range(seed, seed + n_seeds)))
    if not forgiving:
        missing = {id(entry): entry for at, entry, s in asked if _known(kept, at, entry, folds, s) is None}
        usable_filters(run.pool, list(missing.values()), groups, device=device)
    found = []
    for iteration, entry, one_seed in asked:
        try:
            finding = _known(kept, iteration, entry, folds, one_seed)
            if finding is None:
                (one,) = usable_filters(run.pool, [entry], groups, device=device)
                (made,) = audit_pool(run.pool, run.assignment(iteration), [one], n_folds=n_folds, seed=one_seed)
                finding = replace(made, iteration=iteration, filter=_name_of(entry, one))
                kept = keep(run.path, kept, finding=finding)
        except (SwagAfError, ImportError) as error:
            if not forgiving:
                raise
            name = entry if isinstance(entry, str) else entry.name
            kept = keep(run.path, kept, left_out=(name, str(error)))
            continue
        found.append(finding)
        if advance is not None:
            advance(1, note=f"{finding.filter} {finding.accuracy:.3f} after iteration {iteration}")
    return found


def _known(kept: Audits, iteration: int, entry: str | Filter, n_folds: int, seed: int) -> Finding | None:
    """The finding that was asked for, if it is there already; its filter need not be usable here any more.

    A line of an older file, which knows no settings, stands for a filter asked for by name: that has its defaults.
    """
    try:
        one = make_filter(entry) if isinstance(entry, str) else entry
    except InputError:
        return None
    settings = (fingerprint(one), "") if isinstance(entry, str) else (fingerprint(one),)
    keys = [(iteration, _name_of(entry, one), n_folds, seed, known) for known in settings]
    return next((finding for finding in kept.findings if key_of(finding) in keys), None)


def fingerprint(filter: Filter) -> str:
    """Twelve hexadecimal digits that stand for a filter's settings, but for where it computes; "" when it has none."""
    settings = {name: value for name, value in settings_of(filter).items() if name != "device"}
    return sha256_json({name: repr(value) for name, value in settings.items()})[:12] if settings else ""


def due_iterations(run: Run, every: int, *, ended: bool) -> list[int]:
    """Iterations that `--audit-every` asks to audit by now: 0 and every n-th, and the last one once the run has ended.

    With `every` 0: none until the end, then the first and the last.
    """
    due = set(range(0, run.n_finished + 1, every)) if every else set()
    return sorted(due | ({0, run.n_finished} if ended else set()))


def usable_filters(
    pool: CandidatePool, filters: Sequence[str | Filter], groups: np.ndarray, *, device: str | None = None
) -> list[Filter]:
    """The filters, ready for `pool` (`prepare`), and two of `groups` (n,) at least to fit on and to score.

    Raises InputError, naming every fault.
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
    """A filter's own name, with the brackets it was asked for with: `transformer[one]` is not `transformer[two]`."""
    return entry if isinstance(entry, str) and "[" in entry else made.name
