"""Held-out truth: how well fresh filters that took no part in the filtering still find gold.

The accuracy in a run's log is that of a filter whose likes have shaped the assignment; an *audit filter* has not. It
is fitted and scored across folds of whole videos, so every context is scored once by a filter that never saw its
video, and its accuracy comes with a 95 % interval. An audit is a function of pool, assignment, filter with its
settings, folds and seed alone: it can be made at any time, of any iteration, in any order, and leaves the run's own
numbers alone.

    run/audits.jsonl    a line for each audit, by iteration, then filter; same seed, same bytes
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.errors import FormatError, InputError, SwagAfError
from swag_af.data.files import read_jsonl, read_manifest, sha256_json, write_jsonl
from swag_af.data.pool import CandidatePool
from swag_af.data.progress import Advance, progress
from swag_af.filters.contract import Filter, score_in_parts, settings_of
from swag_af.filters.registry import make_filter
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
    n_videos: int
    n_folds: int
    seed: int
    ranks: tuple[float, ...]
    """(A,) contexts whose gold comes first, second, ... by score; a tie is shared among its ranks."""
    settings: str = ""
    """The filter's settings, as `fingerprint` writes them; empty in older files and for a filter that tells none."""


@dataclass(frozen=True, slots=True)
class Audits:
    """What stands in `audits.jsonl`."""

    findings: tuple[Finding, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    """Filters that were asked for and could not be had here, and why."""


def run_audit(options: Audit) -> tuple[Run, list[Finding]]:
    """The verb `audit`: the run and what each filter finds in it at one iteration, kept with the run."""
    run = open_run(options.run)
    iteration = run.n_finished if options.iteration is None else options.iteration
    run.assignment(iteration)  # refuses an iteration that never was
    names = parse_names("--filters", options.filters)
    seed = int(read_manifest(options.run, "run")["options"]["seed"]) if options.seed is None else options.seed
    with progress("audit", len(names), "filters") as advance:
        found = audit_run(
            run, [iteration], names, n_folds=options.folds, seed=seed, device=options.device, advance=advance
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
    """What each of `filters` (names or objects) finds in `assignment` (N, A), by cross-validation over whole videos.

    The interval is Wilson's at the effective number of contexts (`interval`). It speaks of other contexts of this
    kind, not of other fits. The same seed gives the same folds and generators to every assignment and filter, so
    that before and after compare. Raises InputError, before any fit, for a filter that cannot be had.
    """
    found = []
    for entry, one in zip(filters, usable_filters(pool, filters), strict=True):
        groups = groups_of(pool, "video")
        scores = out_of_fold_scores(one, pool, assignment, fold_of(groups, n_folds, seed=seed), seed=seed)  # (N, A)
        if not np.isfinite(scores).all():
            raise InputError(f"audit filter {one.name!r}: not all scores are finite. `check_filter` tests a filter.")
        ranks = rank_shares(scores)  # (N, A)
        low, high = interval(ranks[:, 0], groups)
        found.append(
            Finding(
                iteration=None,
                filter=_name_of(entry, one),
                accuracy=round(float(ranks[:, 0].mean()), 6),
                low=round(low, 6),
                high=round(high, 6),
                chance=round(1 / assignment.shape[1], 6),
                n=len(pool),
                n_videos=int(groups.max()) + 1,
                n_folds=min(n_folds, int(groups.max()) + 1),
                seed=seed,
                ranks=tuple(round(float(value), 4) for value in ranks.sum(axis=0)),
                settings=fingerprint(one),
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
    device: str | None = None,
    forgiving: bool = False,
    advance: Advance | None = None,
) -> list[Finding]:
    """Audit `run` after each of `iterations`, but for what its folder holds already; returns all that was asked for.

    Each finding is kept as soon as it is made. Only filters that have something to find are checked, all of them before
    the first fit; a `forgiving` audit notes in the file why one had to be left out, and goes on with the others.
    """
    kept, folds = read_audits(run.path), min(n_folds, int(groups_of(run.pool, "video").max()) + 1)
    asked = list(itertools.product(iterations, filters))
    if not forgiving:
        missing = [i for i, (at, entry) in enumerate(asked) if _known(kept, at, entry, folds, seed) is None]
        usable_filters(run.pool, [filters[i] for i in sorted({i % len(filters) for i in missing})], device=device)
    found = []
    for iteration, entry in asked:
        try:
            finding = _known(kept, iteration, entry, folds, seed)
            if finding is None:
                (one,) = usable_filters(run.pool, [entry], device=device)
                (made,) = audit_pool(run.pool, run.assignment(iteration), [one], n_folds=n_folds, seed=seed)
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
                findings.append(Finding(**{**record, "ranks": tuple(record["ranks"])}))
        except (KeyError, TypeError) as error:
            raise FormatError(
                f"{path / AUDITS}: line {number} is not an audit ({error}). Delete the file and audit again."
            ) from None
    return Audits(tuple(findings), tuple(left_out))


def usable_filters(pool: CandidatePool, filters: Sequence[str | Filter], *, device: str | None = None) -> list[Filter]:
    """The filters, made, after checking that names are known, packages installed, and the pool has what they read.

    A filter may have a method `check()` that raises InputError when it cannot be fitted here. Raises InputError, naming
    every fault.
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
    if filters and groups_of(pool, "video").max() < 1:
        faults.append("all contexts are of one video: an audit fits and scores on different videos.")
    if faults:
        raise InputError(" ".join(faults))
    return made


def out_of_fold_scores(
    filter: Filter, pool: CandidatePool, assignment: np.ndarray, folds: np.ndarray, *, seed: int
) -> np.ndarray:
    """(N, A) scores of `assignment`, each row's by a filter fitted on the rows of the other `folds` (N,)."""
    scores = np.empty(assignment.shape)
    fit_rngs = _rng(seed).spawn(1 + int(folds.max()))
    for fold, fit_rng in enumerate(fit_rngs):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        filter.fit(pool.view(train, assignment[train]), rng=fit_rng)
        scores[test] = score_in_parts(filter, pool.view(test, assignment[test]))
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


def interval(hits: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of the mean of `hits` (N,), each from 0 to 1, when contexts of one of `groups` (N,) are alike.

    Wilson's interval at n divided by the design effect (the variance of the mean with whole videos drawn, over that
    with single contexts drawn; at least 1), and with Student's t at one less than the videos, as Dean and Pagano
    (2015, "Evaluating confidence interval methods for binomial proportions in clustered surveys") recommend.
    Closed, and sound at 0 and 1 and for few videos, where a bootstrap over videos is too narrow. Where every hit is
    the same, a video counts as one context.
    """
    n, n_groups, p = len(hits), int(groups.max()) + 1, float(hits.mean())
    if 0 < p < 1:
        residuals = np.bincount(groups, hits - p)  # (videos,)
        variance = n_groups / (n_groups - 1) * float((residuals**2).sum()) / n**2
        effective = n / max(1.0, variance / (p * (1 - p) / n))
    else:
        effective = float(n_groups)
    t = _t_quantile(n_groups - 1)
    centre, half = p + t**2 / (2 * effective), t * np.sqrt(p * (1 - p) / effective + (t / (2 * effective)) ** 2)
    scale = 1 + t**2 / effective
    return max(0.0, float((centre - half) / scale)), min(1.0, float((centre + half) / scale))


def _t_quantile(df: int) -> float:
    """The 0.975 quantile of Student's t, to 0.02: Abramowitz and Stegun, 26.7.5, and tables for 1 and 2."""
    if df < 3:
        return {1: 12.706, 2: 4.303}[df]
    z = 1.959964
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / df**power for power, term in enumerate(terms, start=1))


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
        lines: list[dict[str, Any]] = [asdict(f) for f in new.findings]
        lines += [{"filter": name, "left_out": reason} for name, reason in new.left_out]
        write_jsonl(path / AUDITS, lines)
    return new
