"""The measurement: run opened, contexts sampled, fits made or read where they are kept, figures drawn from them."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.auditing.runs.audit import usable_filters
from swag_af.data.disk.files import read_json
from swag_af.data.disk.manifests import BEGUN, as_read, begin_folder, check_same, read_manifest, sha256_json
from swag_af.data.disk.urls import command
from swag_af.data.errors import InputError, several
from swag_af.data.plugins.own_code import said_of
from swag_af.data.pool.folder import FILTER_TABLES
from swag_af.data.runs.run import Run, open_run
from swag_af.data.splits import renumbered
from swag_af.data.work.progress import note, progress
from swag_af.diagnosing.agreement import Agreement, agreements
from swag_af.diagnosing.figures import blocks
from swag_af.diagnosing.fits import Curve, Fits, curves, sample
from swag_af.diagnosing.growth import BOTH, CurveName, Growth, Hits, growth_of, sizes_of
from swag_af.diagnosing.left import (
    THIRDS,
    Measured,
    by_others,
    count_harder,
    hardest,
    left_of,
    measured_of,
    now_of,
    tie_rng,
    unread_of,
)
from swag_af.diagnosing.options import DiagnoseOptions
from swag_af.diagnosing.outcome import Diagnosis, FewerPoint, OfFilter
from swag_af.diagnosing.trend import trend_of
from swag_af.filters.contract import ADVICE, Filter, answerers_of, settings_of
from swag_af.filters.registry import parse_names, parse_schedule

OWN_FILTER = "No --filters given: diagnosed by the filter of the run's last phase,"
ORDERED_AT_ONCE = 1 << 17
"""Candidates that are put in order together."""
LAST = 5
"""Iterations of the last filter at most whose mean is the run's own accuracy at the end."""


@dataclass(frozen=True)
class Subject:
    """A run that is diagnosed: everything checked, nothing fitted."""

    run: Run
    names: tuple[str, ...]
    filters: Sequence[Filter]
    answered_by: Mapping[str, Any]
    """By name, what answers behind the address of filters that have one, as it was when they were checked."""
    rows: np.ndarray
    """(n,) the rows of the pool that are diagnosed."""
    groups: np.ndarray
    """(n,) from 0."""
    options: DiagnoseOptions
    notes: tuple[str, ...]
    ignores_guard: bool
    """Whether what guards flag now is not out: the run was told to ignore it, or they flagged something else then."""

    @property
    def n_folds(self) -> int:
        """As many as asked for, and no more than there are groups."""
        return min(self.options.folds, int(self.groups.max()) + 1)

    def identity(self) -> dict[str, Any]:
        """What decides the bytes, so that no folder is gone on with for another run or other options."""
        settings = {name: _settings(one) for name, one in zip(self.names, self.filters, strict=True)}
        has_unread = any(hasattr(one, "unscored") for one in self.filters)
        return {
            "pool": self.run.pool.identity,
            "assignment": sha256_json(self.run.assignment().tolist()),
            "filters": sha256_json({name: repr(values) for name, values in settings.items()}),
            **({"answered_by": self.answered_by} if self.answered_by else {}),
            **({"unread": "ties"} if has_unread else {}),
            "options": recorded(self.options),
            "swag_af": version("swag-af"),
        }


def check_begun(begun: Mapping[str, Any], subject: Subject, path: Path) -> None:
    """Raise InputError where the file at `path` says that a diagnosis was `begun` of another run, pool or options than
    those of `subject`; of a pool that is the same but for its guards, how to have it back."""
    identity = subject.identity()
    if [name for name, value in as_read(identity).items() if begun.get(name) != value] == ["pool"]:
        pool, advice = subject.run.pool, "Guard it as it was, "
        assert pool.path is not None, "a run that was opened has its pool on disk"
        place = pool.path.resolve()  # the run says where from its own folder: run/../pool
        if begun["pool"] == pool.unguarded_identity:
            advice = f"`{command('guard', place, '--by', 'none')}` makes it what it was; run that, "
        raise InputError(
            f"{path}: begun when {place} had other guards, or none: `swag-af guard` changed the pool since. {advice}"
            f"choose another --out, or remove {path.parent}."
        )
    check_same(begun, identity, path, "--out")


def recorded(options: DiagnoseOptions) -> dict[str, Any]:
    """The options that decide figures: no paths of the machine, and no device."""
    apart = ("run", "out", "json", "device")
    return {one.name: getattr(options, one.name) for one in fields(options) if one.name not in apart}


def subject_of(options: DiagnoseOptions) -> Subject:
    """The run, the sample and the filters; raises InputError, before any fit, for what cannot be diagnosed."""
    run = open_run(options.run)
    manifest = read_manifest(options.run, "run")
    names = parse_names("--filters", options.filters) if options.filters else (_last_filter(run, manifest),)
    run.pool.check_tables(FILTER_TABLES)
    rows = sample(run.pool.groups, options.limit, seed=options.seed)
    groups = renumbered(run.pool.groups[rows])
    _check_parts(run, groups, options)
    made = usable_filters(run.pool, names, groups, device=options.device)
    if by_row := [name for name, one in zip(names, made, strict=True) if getattr(one, "reads_rows", False)]:
        raise InputError(
            f"filter {by_row[0]}: its scores depend on what else is shown, so those of single candidates say nothing. "
            "Name another with --filters."
        )
    notes = (() if options.filters else (f"{OWN_FILTER} {names[0]}.",)) + _notes(names, made, manifest)
    if len(rows) < len(run.pool):
        notes += (f"A sample of {len(rows):,} of {len(run.pool):,} contexts: filters fitted on fewer find less.",)
    told = _guards_since(run, manifest)
    notes += (told,) if told else ()
    ignores_guard = _ignored_guard(manifest) or bool(told)
    answered_by = answerers_of(dict(zip(names, made, strict=True)))
    return Subject(run, names, made, answered_by, rows, groups, options, notes, ignores_guard)


def _ignored_guard(manifest: Mapping[str, Any]) -> bool:
    return bool(manifest.get("options", {}).get("ignore_guard"))


def _guards_since(run: Run, manifest: Mapping[str, Any]) -> str:
    """What became of the guards of the pool after the run began, and what that is to the figures; empty where they are
    the same."""
    if run.pool.identity == manifest["pool_identity"]:
        return ""
    if "unguarded_identity" not in manifest:  # which stands there where the pool was guarded already
        return "The pool was guarded after the run began; what guards flag now could be assigned then, and counts."
    became = "changed" if "flagged" in run.pool.tables else "removed"
    if _ignored_guard(manifest):
        return f"The guards of the pool were {became} after the run began, which ignored them; all candidates count."
    return (
        f"The guards of the pool were {became} after the run began; what they flagged then is not known any more, so "
        "all candidates count, and some of them may have been out of the run."
    )


def _last_filter(run: Run, manifest: Mapping[str, Any]) -> str:
    """The filter of the phase that the run has come to, as `swag-af filter` was given it: `encoder[path/to/model]`."""
    if run.matching is not None:
        raise InputError(
            f"{run.path}: this run was matched, not filtered, so it has no filter of its own. Name some: --filters "
            "ngrams."
        )
    name, first = _last_phase(run, manifest)
    if not name:
        raise InputError(f"{run.path}: it is not recorded by which filter. Name some: --filters ngrams.")
    return _as_given(manifest).get(first, name)


def _as_given(manifest: Mapping[str, Any]) -> dict[int, str]:
    """The filters of `--schedule`, brackets and all, by their first iteration; none where somebody's script filtered.

    The phases of a manifest have the names that filters have themselves: `encoder`.
    """
    made_by = manifest.get("made_by") or {}
    if made_by.get("verb") != "filter":
        return {}
    schedule = parse_schedule(str(made_by.get("options", {}).get("schedule")))
    firsts = itertools.accumulate((n for _, n in schedule), initial=1)
    return {first: name for first, (name, _) in zip(firsts, schedule, strict=False)}


def _last_phase(run: Run, manifest: Mapping[str, Any]) -> tuple[str, int]:
    """The filter of the phase that the run has come to, and its first iteration; no name where none is recorded."""
    begun = [(str(name), int(first)) for name, first in manifest.get("phases", []) if first <= max(1, run.n_finished)]
    return begun[-1] if begun else ("", 1)


def _check_parts(run: Run, groups: np.ndarray, options: DiagnoseOptions) -> None:
    """Raise InputError unless every way to part the groups leaves two contexts to fit on, and one to score."""
    n, n_groups, largest = len(groups), int(groups.max()) + 1, int(np.bincount(groups).max())
    held = max(1, round(n / options.folds)) + largest - 1
    if n_groups < 2 * THIRDS or n - held < 2:
        limit = "a larger --limit, or " if n < len(run.pool) else ""
        take = f"Take {limit}a run of more videos."
        if run.is_matched:
            take = f"The groups are the folds of the matching: take {limit}a run matched in more --folds."
        raise InputError(
            f"{several(n, 'context')} of {several(n_groups, 'group')}, the largest of {largest}, are too few to fit on "
            f"some groups and score others. {take}"
        )


def _notes(names: Sequence[str], filters: Sequence[Filter], manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """What differs from the run's own filters; of a run that was matched, by what."""
    if matching := manifest.get("matching"):
        by = (f"{which} {matching[which].partition('[')[0]}" for which in ("relevance", "similarity"))
        return (f"The run was matched, not filtered: {', '.join(by)}, weight {matching['weight']:g}.",)
    notes, known = [], manifest.get("filters", {})
    for name, one in zip(names, filters, strict=True):
        theirs, ours = known.get(name, known.get(one.name)), as_read(_settings(one))
        if theirs is not None:
            differing = [key for key in ours if theirs.get(key) != ours[key]]
            if differing:
                notes.append(f"{name} has other settings than in the run: {', '.join(differing)}.")
        else:
            notes.append(f"{name} took no part in the run.")
    return tuple(notes)


def _settings(filter: Filter) -> dict[str, Any]:
    return {name: value for name, value in settings_of(filter).items() if name != "device"}


@dataclass(frozen=True)
class RowRecord:
    """A line of `rows.jsonl`: one context, means over the fits of the first filter."""

    row: int
    """In the pool."""
    id: str
    n_harder: float
    """Unassigned candidates above the easiest assigned one."""
    accuracy: float
    """How far gold scores highest in the run's assignment."""
    accuracy_hardest: float
    """The same among the hardest candidates, by another fit than the one that chose them."""


def measure(subject: Subject, folder: Path) -> tuple[Diagnosis, list[RowRecord]]:
    """The diagnosis, and what it says of each context.

    Scores are kept in `folder` as soon as they are there; what a killed run with the same options left is gone on with.
    What filters have to tell of the scores made now goes to the standard error. Raises InputError where the folder was
    begun for something else.
    """
    if (folder / BEGUN).exists():
        check_begun(read_json(folder / BEGUN), subject, folder / BEGUN)
    begin_folder(folder, subject.identity())
    run, n_seeds = subject.run, subject.options.seeds
    assigned = run.assignment()[subject.rows].astype(np.int64)
    fits = Fits(
        run.pool,
        subject.rows,
        assigned,
        subject.groups,
        subject.filters,
        subject.n_folds,
        subject.options.seed,
        folder,
        ignores_guard=subject.ignores_guard,
    )
    draws = [curves(fits, draw) for draw in range(n_seeds)]
    with progress("diagnose", len(subject.filters) * _n_parts(fits, draws), "fits") as advance:
        fits = replace(fits, done=lambda note: advance(1, note=note))
        measured = [measured_of(fits, at, n_seeds) for at in range(len(subject.filters))]
        grown = [growth_of(fits, at, draws) for at in range(len(subject.filters))]
    for line in dict.fromkeys(line for one in subject.filters for line in said_of(one, ADVICE)):
        note(line)
    n_fits = _n_parts(fits, draws)
    found = [_of_filter(subject, fits, at, measured[at], grown[at], n_fits) for at in range(len(subject.filters))]
    agreed = agreements(subject.names, [one.scores for one in measured], assigned, subject.groups)
    return _diagnosis(subject, tuple(found), tuple(agreed)), _row_records(subject, measured[0], assigned)


def _n_parts(fits: Fits, draws: Sequence[Mapping[str, Curve]]) -> int:
    """How many fits a filter takes."""
    of_curves = sum(len(BOTH) * len(sizes_of(draws)) + ("control" in made) for made in draws)
    return (fits.n_folds + 3 * THIRDS) * len(draws) + of_curves


def _of_filter(
    subject: Subject, fits: Fits, at: int, measured: Measured, grown: tuple[Growth, dict[CurveName, Hits]], n_fits: int
) -> OfFilter:
    growth, hits = grown
    fewer = fewer_candidates(fits, measured)
    points = (FewerPoint(n, figure) for n, figure in zip(fewer.sizes, fewer.figures(), strict=True))
    return OfFilter(
        name=subject.names[at],
        left=left_of(measured, fits.assigned, subject.groups),
        fewer=tuple(points),
        growth=growth,
        more_contexts_random=trend_of(hits["random"], rng=fits.rng(at, b"random")),
        more_contexts_assigned=trend_of(hits["assigned"], rng=fits.rng(at, b"assigned")),
        more_candidates=trend_of(fewer, rng=fits.rng(at, b"fewer")),
        unread=unread_of(measured, fits.assigned),
        n_fits=n_fits,
        n_unlearned=fits.n_unlearned(at),
    )


def fewer_candidates(fits: Fits, measured: Measured, *, at_once: int = ORDERED_AT_ONCE) -> Hits:
    """Hits if contexts took their hardest candidates of a random part of the pool, by other fits than chose them.

    The parts have K candidates, K / 2, ... and A at least, the smaller within the larger; a row that has fewer has all.
    Contexts are looked at some at a time: about `at_once` candidates.
    """
    n_assigned, n_candidates = fits.assigned.shape[1], fits.pool.n_candidates
    sizes = sorted({n_assigned, *(n_candidates >> k for k in range(8) if n_candidates >> k > n_assigned)})
    values = np.empty((len(fits.rows), len(sizes)))
    for i, size in enumerate(sizes):
        chosen = []
        for seed, scores in enumerate(measured.scores):
            orders, keys = fits.rng(seed, b"fewer"), tie_rng(fits, seed)
            parts = []
            for rows in blocks(*scores.shape, at_once=at_once):  # which draw the same numbers as all rows together
                part = _part(scores[rows], orders.random(scores[rows].shape), size)
                parts.append(hardest(part, n_assigned, keys.random(part.shape)))
            chosen.append(np.concatenate(parts))
        values[:, i] = by_others(measured.scores, chosen)
    return Hits(tuple(sizes), values, fits.groups, np.zeros(len(values), np.int64))


def _part(scores: np.ndarray, order: np.ndarray, size: int) -> np.ndarray:
    """(n, K) `scores` (n, K) with NaN for all but gold and the `size` - 1 negatives that come first by `order`."""
    order = np.where(np.isnan(scores), np.inf, order)
    order[:, 0] = -1.0
    rank = np.argsort(np.argsort(order, axis=1, kind="stable"), axis=1, kind="stable")
    return np.where(rank < size, scores, np.nan)


def _diagnosis(subject: Subject, filters: tuple[OfFilter, ...], agreed: tuple[Agreement, ...]) -> Diagnosis:
    run = subject.run
    _, first = _last_phase(run, read_manifest(subject.options.run, "run"))
    last = [run.accuracy(i) for i in range(max(first, run.n_finished - LAST + 1), run.n_finished + 1)]
    return Diagnosis(
        name=subject.options.run.resolve().name,
        iteration=run.n_finished,
        n=len(subject.rows),
        n_all=len(run.pool),
        n_groups=int(subject.groups.max()) + 1,
        n_candidates=run.pool.n_candidates,
        n_assigned=run.start.shape[1],
        last_accuracy=round(float(np.mean(last)), 6) if last else None,
        n_last=len(last),
        filters=filters,
        agreements=agreed,
        options=recorded(subject.options),
        notes=subject.notes,
        versions={name: version(name) for name in ("swag-af", "numpy", "scipy")},
        is_matched=run.is_matched and run.pool.n_candidates == run.start.shape[1],
    )


def _row_records(subject: Subject, measured: Measured, assigned: np.ndarray) -> list[RowRecord]:
    harder = np.mean([count_harder(scores, assigned).above_easiest for scores in measured.scores], axis=0)
    now, other = now_of(measured, assigned), by_others(measured.scores, measured.chosen)
    ids = [subject.run.pool.contexts[row].id for row in subject.rows.tolist()]
    columns = (np.round(one, 4).tolist() for one in (harder, now, other))
    return [RowRecord(*values) for values in zip(subject.rows.tolist(), ids, *columns, strict=True)]
