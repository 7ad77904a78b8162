"""Held-out truth: how well fresh filters that took no part in the filtering still find gold.

The accuracy in a run's log is that of a filter whose likes have shaped the assignment; an *audit filter* has not. It
is fitted and scored across folds of whole groups (`CandidatePool.groups`: videos, and rows that share texts), so every
context is scored once by a filter that never saw its group, and its accuracy comes with a 95 % interval. An audit is a
function of pool, assignment, filter with its settings, folds and seed alone: it can be made at any time, of any
iteration, in any order, and leaves the run's own numbers alone.

    run/audits.jsonl    a line for each audit, by iteration, then filter; same seed, same bytes

Several seeds are several audits, each with folds and fits of its own; `over_seeds` brings them together. What audits
come to, in rows and sentences, is told by `swag_af.findings`.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.errors import FormatError, InputError, SwagAfError
from swag_af.data.files import read_jsonl, read_manifest, sha256_json, write_jsonl
from swag_af.data.pool import CandidatePool
from swag_af.data.progress import Advance, progress
from swag_af.filters.contract import Filter, score_in_parts, settings_of
from swag_af.filters.registry import make_filter
from swag_af.intervals import interval
from swag_af.options import DEFAULT_AUDIT, Audit, parse_names
from swag_af.runs import Run, open_run
from swag_af.splits import groups_of

AUDITS = "audits.jsonl"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one audit filter found in one assignment."""

    iteration: int | None
    """The assignment audited is the one after this iteration; None when it came from no run."""
    filter: str
    accuracy: float
    """Share of the contexts whose gold scores highest among the A, 0 to 1; a tie at the top counts as a guess."""
    low: float
    """The 95 % interval of `accuracy` begins here ..."""
    high: float
    """... and ends here."""
    chance: float
    n: int
    """Contexts scored: all of them."""
    n_groups: int
    """Groups that folds keep together: of one video, or sharing texts."""
    n_folds: int
    seed: int
    ranks: tuple[float, ...]
    """(A,) contexts whose gold comes first, second, ... by score; a tie is shared among its ranks."""
    settings: str = ""
    """The filter's settings, as `fingerprint` writes them; empty in older files and for a filter that tells none."""
    hits: tuple[float, ...] = field(default=(), repr=False)
    """(N,) for every context, in order, 1 where its gold scores highest, 1/t at a tie of t, else 0; empty in older
    files."""


@dataclass(frozen=True, slots=True)
class Audits:
    """What stands in `audits.jsonl`."""

    findings: tuple[Finding, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    """Filters that were asked for and could not be had here, and why."""


def run_audit(options: Audit) -> tuple[Run, list[Finding]]:
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
    groups = groups_of(pool, "video")
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
        folds = fold_of(groups, n_folds, seed=seed)
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


def over_seeds(findings: Iterable[Finding]) -> list[tuple[Finding, int]]:
    """Findings that differ in nothing but their seed as one, with the number of seeds; by filter, then iteration.

    Accuracy, interval, ranks and hits are means over the seeds; `seed` is the first one.
    """
    alike: dict[tuple[Any, ...], list[Finding]] = {}
    for one in findings:
        at = -1 if one.iteration is None else one.iteration
        alike.setdefault((one.filter, at, one.n_folds, one.n_groups, one.settings), []).append(one)
    return [(_mean_of(alike[key]), len(alike[key])) for key in sorted(alike)]


def _mean_of(findings: Sequence[Finding]) -> Finding:
    """Of one kind."""
    if len(findings) == 1:
        return findings[0]
    lacks_hits = any(not f.hits for f in findings)  # an older file's
    return replace(
        min(findings, key=lambda f: f.seed),
        accuracy=float(np.mean([f.accuracy for f in findings])),
        low=float(np.mean([f.low for f in findings])),
        high=float(np.mean([f.high for f in findings])),
        ranks=tuple(np.mean([f.ranks for f in findings], axis=0).tolist()),
        hits=() if lacks_hits else tuple(np.mean([f.hits for f in findings], axis=0).tolist()),
    )


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
    groups = groups_of(run.pool, "video")
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
                kept = _keep(run.path, kept, finding=finding)
        except (SwagAfError, ImportError) as error:
            if not forgiving:
                raise
            name = entry if isinstance(entry, str) else entry.name
            kept = _keep(run.path, kept, left_out=(name, str(error)))
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
    return next((finding for finding in kept.findings if _key(finding) in keys), None)


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


def read_audits(path: Path | None) -> Audits:
    """The audits kept in the run folder `path`, in order; none where there is no file."""
    if path is None or not (path / AUDITS).exists():
        return Audits()
    findings, left_out = [], []
    for number, record in read_jsonl(path / AUDITS):
        try:
            if "left_out" in record:
                left_out.append((str(record["filter"]), str(record["left_out"])))
            else:
                record.setdefault("n_groups", record.pop("n_videos", 0))  # its name in older files
                lists = {"ranks": tuple(record["ranks"]), "hits": tuple(record.get("hits", ()))}
                findings.append(Finding(**{**record, **lists}))
        except (KeyError, TypeError) as error:
            raise FormatError(
                f"{path / AUDITS}: line {number} is not an audit ({error}). Delete the file and audit again."
            ) from None
    return Audits(tuple(findings), tuple(left_out))


def usable_filters(
    pool: CandidatePool,
    filters: Sequence[str | Filter],
    groups: np.ndarray | None = None,
    *,
    device: str | None = None,
) -> list[Filter]:
    """The filters, made, after checking that names are known, packages installed, and the pool has what they read.

    A filter may have a method `check()` that raises InputError when it cannot be fitted here. With `groups` (n,), there
    must be two to fit and score on. Raises InputError, naming every fault.
    """
    made, faults = [], []
    for entry in filters:
        try:
            one = make_filter(entry) if isinstance(entry, str) else entry
            if hasattr(one, "check"):
                one.check()
            pool.require(*getattr(one, "requires", ()))
            if "features" in getattr(one, "requires", ()) and pool.lazy_features:
                from swag_af.lm.lazy import with_features

                with_features(pool)
            if device is not None and hasattr(one, "device"):
                one.device = device
            made.append(one)
        except InputError as error:
            faults.append(str(error))
    if filters and groups is not None and groups.max() < 1:
        faults.append(
            "all contexts are of one group (video, or shared texts): an audit fits on some groups and scores others."
        )
    if faults:
        raise InputError(" ".join(faults))
    return made


def out_of_fold_scores(
    filter: Filter,
    pool: CandidatePool,
    columns: np.ndarray,
    folds: np.ndarray,
    *,
    seed: int,
    rows: np.ndarray | None = None,
) -> np.ndarray:
    """(n, m) scores of `columns`, each row's by a filter fitted on the rows of the other `folds` (n,).

    `rows` (n,) says which of the pool's they are; all of them, in order, when not given.
    """
    rows = np.arange(len(columns)) if rows is None else rows
    scores = np.empty(columns.shape)
    fit_rngs = _rng(seed).spawn(1 + int(folds.max()))
    for fold, fit_rng in enumerate(fit_rngs):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        filter.fit(pool.view(rows[train], columns[train]), rng=fit_rng)
        scores[test] = score_in_parts(filter, pool.view(rows[test], columns[test]))
    return scores


def fold_of(groups: np.ndarray, n_folds: int, *, seed: int) -> np.ndarray:
    """(N,) a fold for every row, whole `groups` (N,) together; each group goes to the fold with the fewest rows."""
    sizes = np.bincount(groups)
    filled = np.zeros(min(n_folds, len(sizes)), np.int64)
    fold = np.empty(len(sizes), np.int64)
    for group in _rng(seed).permutation(len(sizes)):
        fold[group] = filled.argmin()
        filled[fold[group]] += sizes[group]
    return fold[groups]


def rank_shares(scores: np.ndarray) -> np.ndarray:
    """(N, A): how far gold (column 0 of `scores` (N, A)) stands at each rank, best first; rows sum to 1.

    A tie over t candidates gives 1/t to each rank that they share; column 0 is what `loop.accuracy` averages.
    """
    above = (scores > scores[:, :1]).sum(axis=1, keepdims=True)  # (N, 1)
    tied = (scores == scores[:, :1]).sum(axis=1, keepdims=True)  # gold among them
    rank = np.arange(scores.shape[1])
    return np.where((rank >= above) & (rank < above + tied), 1 / tied, 0.0)


def _rng(seed: int) -> np.random.Generator:
    """A stream of its own, that no iteration of the loop draws from."""
    return np.random.default_rng((seed, *b"audit"))


def _name_of(entry: str | Filter, made: Filter) -> str:
    """A filter's own name, with the brackets it was asked for with: `transformer[one]` is not `transformer[two]`."""
    return entry if isinstance(entry, str) and "[" in entry else made.name


def _key(finding: Finding) -> tuple[Any, ...]:
    return finding.iteration, finding.filter, finding.n_folds, finding.seed, finding.settings


def _keep(
    path: Path | None, kept: Audits, *, finding: Finding | None = None, left_out: tuple[str, str] | None = None
) -> Audits:
    """`kept` and one more, sorted, and written to the run folder if there is one."""
    findings = {_key(f): f for f in (*kept.findings, *([finding] if finding else []))}
    reasons = dict([*kept.left_out, *([left_out] if left_out else [])])
    if finding:
        reasons.pop(finding.filter, None)
    new = Audits(tuple(findings[key] for key in sorted(findings)), tuple(sorted(reasons.items())))
    if path is not None:
        lines = [record_of(f) for f in new.findings]
        lines += [{"filter": name, "left_out": reason} for name, reason in new.left_out]
        write_jsonl(path / AUDITS, lines)
    return new


def record_of(finding: Finding) -> dict[str, Any]:
    """A finding for JSON; hits that are whole are written without a point."""
    return asdict(finding) | {"hits": [int(hit) if hit in (0, 1) else hit for hit in finding.hits]}
