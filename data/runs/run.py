"""A run: the first assignment, what every iteration replaced, and the log. On disk, or in memory.

    run/manifest.json            format, kind, pool and its identity, options, schedule
    run/start.npy                (N, A) the random assignment before iteration 1
    run/replacements/0001.npy    (m, 3) row, column, newcomer
    run/log.jsonl                one line a finished iteration: accuracies, counts; same seed, same bytes
    run/timing.jsonl             seconds and memory of the same iterations, which differ from run to run
    run/warm/0007.npz            with splits that stay: what the filter of a fold has learnt in that iteration

An iteration is finished once its line is in the log; a last line that is cut short does not count. Any iteration's
assignment is the first one with the replacements up to it applied, so a finished run can be cut anywhere (SWAG released
its 22nd ensemble iteration).

A run of `swag-af match` has no iterations: its wrong answers were matched, not filtered, and `Run.matching` says how.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from swag_af.data.disk.files import mend_log, read_array, read_log, read_records, write_array, write_jsonl
from swag_af.data.disk.manifests import MANIFEST, check_same, read_manifest, write_manifest
from swag_af.data.disk.records import FilteredRun, MatchedRun, Matching, check_record
from swag_af.data.disk.replacing import remove_leftovers
from swag_af.data.disk.urls import ROOTS, command, is_url, link
from swag_af.data.errors import FormatError, InputError, as_path, check_whole
from swag_af.data.pool.assignments import apply_changes, check_assignment
from swag_af.data.pool.pool import CandidatePool

BEGUN = ("pool", "start.npy")
"""What stands in the folder of a run before its manifest, and so may be there of one that was killed."""


@dataclass(frozen=True, slots=True)
class Iteration:
    """One finished iteration, a line of `log.jsonl`."""

    iteration: int
    """The number of the iteration, from 1."""
    filter: str
    """The filter whose scores decided."""
    accuracy: dict[str, float]
    """Held-out accuracy of each head, 0 to 1; the deciding head under the filter's name."""
    n_test: int
    """Contexts held out."""
    n_easy: int
    """Easy distractors in the held-out contexts."""
    n_replaced: int
    n_scored: int
    """Unassigned candidates that were scored ..."""
    n_unassigned: int
    """... of so many."""
    scored_share: float
    fit: dict[str, Any] = field(default_factory=dict)
    """What the fit says of itself, such as the learning rate that it chose; in the file where there is something."""
    skipped: bool = False
    """Whether the fit learned nothing, so that nothing was replaced; in the file where it is so."""


@dataclass(frozen=True, slots=True)
class Timing:
    """What the same iteration took, a line of `timing.jsonl`."""

    iteration: int
    fit_seconds: float = 0.0
    seconds: float = 0.0
    peak_memory_gb: float = 0.0
    """The largest resident size of the process so far."""


_Record = TypeVar("_Record", Iteration, Timing)


@dataclass(eq=False)
class Run:
    """The state and history of one filtering run, or one matching. Make one with `begin_run`, or `open_run(folder)`."""

    pool: CandidatePool
    start: np.ndarray
    """(N, A) the assignment before the first iteration. Read-only."""
    path: Path | None = None
    log: list[Iteration] = field(default_factory=list)
    """One record a finished iteration."""
    timing: list[Timing] = field(default_factory=list)
    replacements: list[np.ndarray] = field(default_factory=list)
    """(m, 3) row, column, newcomer, one array a finished iteration."""
    matching: Matching | None = None
    """How the wrong answers were matched, where nothing is filtered; None for a run of filters."""
    threads: int | None = None
    """The number of threads whose bits its filters have; None where that was not recorded."""

    def __post_init__(self) -> None:
        self.start = self.start.view()  # the caller's own stays as it is
        self.start.setflags(write=False)

    def __repr__(self) -> str:
        rows, ways = self.start.shape
        by = ", ".join(dict.fromkeys(record.filter for record in self.log))
        done = f"{len(self.log):,} iterations" + (f" by {by}" if by else "")
        return f"Run({rows:,} rows x {ways} endings, {done}{f', in {self.path}' if self.path else ''})"

    @property
    def is_matched(self) -> bool:
        """Whether wrong answers are right ones of other rows of the same group, filtered afterwards or not."""
        return self.matching is not None or self.pool.is_matched

    @property
    def n_finished(self) -> int:
        """How many iterations are finished."""
        return len(self.log)

    @property
    def n_planned(self) -> int:
        """How many iterations were asked for in all: more than are finished where the run was killed."""
        if self.path is None:
            return self.n_finished
        return int(read_manifest(self.path, "run").get("n_planned", self.n_finished))

    @property
    def chance(self) -> float:
        """The accuracy of guessing among the A candidates."""
        return 1 / self.start.shape[1]

    def assignment(self, iteration: int | None = None) -> np.ndarray:
        """(N, A) candidate indices, gold first, after `iteration` (0: before any; None: the last); the caller's own."""
        iteration = self.n_finished if iteration is None else iteration
        check_whole(iteration=iteration)
        if not 0 <= iteration <= self.n_finished:
            raise InputError(f"iteration {iteration}: this run has 0 to {self.n_finished}.")
        assignment = self.start.copy()
        for changes in self.replacements[:iteration]:
            assignment = apply_changes(assignment, changes)
        return assignment

    def texts(self, iteration: int | None = None) -> list[list[str]]:
        """N lists of A endings, gold first."""
        return self.pool.texts(self.assignment(iteration))

    def accuracy(self, iteration: int) -> float:
        """Held-out accuracy of the deciding filter at `iteration` (1, 2, ...), 0 to 1; before any there is none."""
        check_whole(iteration=iteration)
        if not 1 <= iteration <= self.n_finished:
            raise InputError(f"iteration {iteration}: this run has accuracies of 1 to {self.n_finished}.")
        record = self.log[iteration - 1]
        return record.accuracy[record.filter]

    @property
    def scored_share(self) -> float:
        """Share of the unassigned candidates of held-out rows that were scored, over the whole run, 0 to 1."""
        return sum(r.n_scored for r in self.log) / max(1, sum(r.n_unassigned for r in self.log))

    def append(self, record: Iteration, timing: Timing, changes: np.ndarray) -> None:
        """Finish an iteration; on disk the log line is written last, and makes the iteration count.

        Raises InputError where the run is gone from the disk: it is not begun again in the middle.
        """
        self.check_is_there()
        self.log.append(record)
        self.timing.append(timing)
        self.replacements.append(changes)
        if self.path is not None:
            write_array(_replacements_path(self.path, len(self.log)), changes)
            write_jsonl(self.path / "timing.jsonl", map(asdict, self.timing))
            write_jsonl(self.path / "log.jsonl", map(_line, self.log))

    def check_is_there(self) -> None:
        """Raise InputError where the folder was removed or moved since the run was opened."""
        if self.path is not None and not (self.path / MANIFEST).is_file():
            raise InputError(
                f"{self.path}: removed or moved while the run was at work. Move it back and run the same command "
                "again, or begin anew in another --out."
            )

    def plan(self, n_planned: int) -> None:
        """Record in the manifest how many iterations are planned in all."""
        if self.path is not None:
            manifest = read_manifest(self.path, "run")
            write_manifest(
                self.path,
                "run",
                {k: v for k, v in manifest.items() if k not in ("format", "kind")} | {"n_planned": n_planned},
            )


def begin_run(
    pool: CandidatePool,
    start: np.ndarray,
    path: Path | None,
    identity: Mapping[str, Any],
    *,
    n_planned: int,
    made_by: Mapping[str, Any] | None = None,
    matching: Matching | None = None,
    threads: int | None = None,
) -> Run:
    """A new run, or the one in `path` to resume when it was begun with the same pool and options.

    `identity` is what both must share; `n_planned` iterations are meant to be done in all; `matching` is there where
    nothing is filtered. Filters of a new run have the bits of `threads`; a run that goes on keeps its own. A pool in
    memory is saved in the run's folder, so that the run can be opened again. A run that nothing was done of, as of a
    filter that failed in its first fit, is begun anew. Raises InputError when `path` holds another run of another pool
    or other options, or one with more iterations than are planned.
    """
    if path is None:
        return Run(pool, start, matching=matching, threads=threads)
    remove_leftovers(path)
    manifest = read_manifest(path, "run") if (path / MANIFEST).exists() else None
    begun = manifest is not None and not _is_untouched(path, manifest)
    if manifest is not None and begun:
        _check_identity(path, manifest, identity)
        _check_not_done(path, n_planned)
        threads = manifest.get("threads")
    if pool.path is None:
        pool = CandidatePool.open(path / "pool") if begun else _saved(pool, path / "pool")
    assert pool.path is not None
    if not begun:
        write_array(path / "start.npy", start)
    content = {
        "pool": link(pool.path, path),
        "n_rows": len(pool),
        "n_candidates": pool.n_candidates,
        **identity,
        "n_planned": n_planned,
        "made_by": made_by,
        **({"matching": matching} if matching else {}),
        **({"threads": threads} if threads else {}),
    }
    write_manifest(path, "run", content)
    for name in ("log.jsonl", "timing.jsonl"):
        mend_log(path / name)
    run = _load(path, pool, matching) if begun else Run(pool, start, path, matching=matching)
    return replace(run, threads=threads)


def _is_untouched(path: Path, manifest: Mapping[str, Any]) -> bool:
    """Whether the run in `path` has iterations planned, and nothing but what `begin_run` writes."""
    made = {one.name for one in path.iterdir() if not one.name.startswith(".")}
    return bool(manifest.get("n_planned")) and made <= {MANIFEST, *BEGUN}


def _check_identity(path: Path, manifest: Mapping[str, Any], identity: Mapping[str, Any]) -> None:
    if manifest.get("pool_identity") != identity["pool_identity"]:
        raise InputError(
            f"{path}: this run belongs to another pool ({manifest.get('pool')}), or to this one before `swag-af guard` "
            "or `tag` changed it. Choose another --out, or pass that pool."
        )
    was, now = ({"schedule": _told(phases)} for phases in (manifest.get("phases", ()), identity["phases"]))
    check_same(was, now, path, "--out")
    for name in ("filters", "options"):
        begun = manifest.get(name, {})
        now = dict.fromkeys(begun) | identity[name]  # either may leave out what is not used
        check_same(begun, now, path, "--out", sources={f"{one}: source": f"filter {one}" for one in now})
    answered_by = manifest.get("answered_by", {})  # which older runs do not say
    now = identity.get("answered_by", {})
    check_same(answered_by, {name: now.get(name) for name in answered_by}, path, "--out")


def _told(phases: Sequence[tuple[str, int]]) -> str:
    """Filters and their first iterations in words; how long the last one goes on is not said, and may change."""
    return ", ".join(f"{name} from iteration {first}" for name, first in phases)


def _check_not_done(path: Path, n_planned: int) -> None:
    """Raise InputError when the run in `path` has more iterations than are asked for: none can be taken back."""
    log = path / "log.jsonl"
    n_done = sum(1 for _ in read_log(log)) if log.exists() else 0
    if n_done > n_planned:
        raise InputError(
            f"{path}: {n_done} iterations are done, and {n_planned} in all are asked for. Ask for {n_done} or more "
            f"with --iterations; `{command('release', path, '--iteration', n_planned)}` and `audit` likewise take an "
            "earlier assignment of this run; or choose another --out."
        )


def _saved(pool: CandidatePool, path: Path) -> CandidatePool:
    """The pool in the folder of its run, also where a killed run had saved it; InputError for another one there."""
    if path.exists() and CandidatePool.open(path).identity != pool.identity:
        raise InputError(f"{path}: another pool than the one that is filtered. Choose another folder for the run.")
    return pool.save(path, force=True)


def open_run(path: Path | str) -> Run:
    """The run in folder `path`, finished or not, with its pool, which may have been guarded since."""
    path = as_path("run", path)
    manifest = read_manifest(path, "run")
    pool_path = _followed(path, manifest["pool"])
    if not pool_path.exists():
        raise InputError(f"{path}: its pool {pool_path} is gone. Move it back, or make it again with the same command.")
    pool = CandidatePool.open(pool_path)
    if pool.unguarded_identity != manifest.get("unguarded_identity", manifest["pool_identity"]):
        raise InputError(f"{path}: {pool_path} now holds another pool than the one filtered here. Filter it anew.")
    return replace(_load(path, pool, manifest.get("matching")), threads=manifest.get("threads"))


def _followed(path: Path, pool: str) -> Path:
    """The pool that the manifest of the run in `path` names, fetched where it is in a store."""
    if not ROOTS and not is_url(pool):
        return path / pool
    from swag_af.data.stores.opened import followed

    return followed(path, pool)


def verb_manifest(path: Path) -> dict[str, Any]:
    """The manifest of the run in folder `path`, with the options that `swag-af filter`, or `match`, records."""
    manifest = read_manifest(path, "run")
    kind: Any = MatchedRun if "matching" in manifest else FilteredRun
    check_record(manifest, kind, path / MANIFEST, _ANEW)
    return manifest


def _load(path: Path, pool: CandidatePool, matching: Matching | None) -> Run:
    remove_leftovers(path)
    remove_leftovers(path / "replacements")
    log, timing = _records(path / "log.jsonl", Iteration), _records(path / "timing.jsonl", Timing)
    timing += [Timing(i) for i in range(1 + len(timing), 1 + len(log))]  # of a copy without them
    start = _read_start(path / "start.npy", pool)
    files = [_replacements_path(path, i) for i in range(1, 1 + len(log))]
    replacements = [_read_replacements(file, start, pool.counts) for file in files]
    _check_distinct(start, zip(files, replacements, strict=True))
    return Run(pool, start, path, log, timing[: len(log)], replacements, matching)


def _read_start(path: Path, pool: CandidatePool) -> np.ndarray:
    """(N, A) the first assignment."""
    start = read_array(path)
    try:
        if start.dtype.kind not in "iu":
            raise InputError(f"an assignment holds whole numbers, not {start.dtype}.")
        check_assignment(start, pool.counts)
    except InputError as error:
        raise FormatError(f"{path}: damaged: {error} {_ANEW}") from None
    return start


def _read_replacements(path: Path, start: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(m, 3) row, column, newcomer of one iteration, each within the first assignment `start` and the pool."""
    changes = read_array(path)
    if changes.ndim != 2 or changes.shape[1] != 3 or changes.dtype.kind not in "iu":
        raise FormatError(
            f"{path}: damaged (whole numbers (m, 3) expected, not {changes.dtype} {changes.shape}). {_ANEW}"
        )
    rows, columns, newcomers = changes.T.astype(np.int64)
    is_wrong = (rows < 0) | (rows >= len(start)) | (columns < 1) | (columns >= start.shape[1]) | (newcomers < 1)
    is_wrong |= newcomers >= counts[np.where(is_wrong, 0, rows)]
    if is_wrong.any():
        first = int(np.flatnonzero(is_wrong)[0])
        raise FormatError(
            f"{path}: damaged (entry {first}, {changes[first].tolist()}, is no row, column and newcomer of this run). "
            f"{_ANEW}"
        )
    return changes


def _check_distinct(start: np.ndarray, replacements: Iterable[tuple[Path, np.ndarray]]) -> None:
    """Raise FormatError where one of the `replacements`, by file, leaves a candidate twice in a row."""
    now = start.copy()
    for path, changes in replacements:
        now[changes[:, 0], changes[:, 1]] = changes[:, 2]
        rows = np.unique(changes[:, 0])
        assigned = np.sort(now[rows], axis=1)
        if (repeated := (assigned[:, 1:] == assigned[:, :-1]).any(axis=1)).any():
            raise FormatError(f"{path}: damaged (a candidate is twice in row {rows[repeated][0]}). {_ANEW}")


def _records(path: Path, kind: type[_Record]) -> list[_Record]:
    """The lines of a log, none where there is no file; fields of other releases are ignored."""
    if not path.exists():
        return []
    records = list(read_records(path, kind, _ANEW, is_log=True))
    for i, record in enumerate(records, start=1):
        if record.iteration != i:
            raise FormatError(f"{path}: line {i}: iteration {record.iteration} where {i} was expected. {_ANEW}")
        if isinstance(record, Iteration) and record.filter not in record.accuracy:
            raise FormatError(f"{path}: line {i}: accuracy: none for the filter {record.filter!r}. {_ANEW}")
    return records


def _line(record: Iteration) -> dict[str, Any]:
    """A line of the log; what is empty in most filters' is left out."""
    return {name: value for name, value in asdict(record).items() if value or name not in ("fit", "skipped")}


_ANEW = "Filter anew into another --out."


def _replacements_path(path: Path, iteration: int) -> Path:
    return path / "replacements" / f"{iteration:04d}.npy"
