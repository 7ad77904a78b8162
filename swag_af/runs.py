"""A run: the first assignment, what every iteration replaced, and the log. On disk, or in memory.

    run/manifest.json            format, kind, pool and its identity, options, schedule
    run/start.npy                (N, A) the random assignment before iteration 1
    run/replacements/0001.npy    (m, 3) row, column, newcomer
    run/log.jsonl                one line a finished iteration: accuracies, counts; same seed, same bytes
    run/timing.jsonl             seconds and memory of the same iterations, which differ from run to run

An iteration is finished once its line is in the log. Any iteration's assignment is the first one with the
replacements up to it made, so a finished run can be cut anywhere (SWAG released its 22nd ensemble iteration).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.assignments import check_assignment
from swag_af.data.errors import FormatError, InputError
from swag_af.data.files import (
    read_jsonl,
    read_manifest,
    remove_leftovers,
    write_array,
    write_jsonl,
    write_manifest,
)
from swag_af.data.pool import CandidatePool
from swag_af.replacement import apply_changes


@dataclass
class Run:
    """The state and history of one filtering run. Make one with `begin`, or `open_run(folder)`."""

    pool: CandidatePool
    start: np.ndarray
    """(N, A) the assignment before the first iteration."""
    path: Path | None = None
    log: list[dict[str, Any]] = field(default_factory=list)
    """One record a finished iteration."""
    timing: list[dict[str, Any]] = field(default_factory=list)
    replacements: list[np.ndarray] = field(default_factory=list)
    """(m, 3) row, column, newcomer, one array a finished iteration."""

    @property
    def n_finished(self) -> int:
        """How many iterations are done."""
        return len(self.log)

    @property
    def chance(self) -> float:
        """The accuracy of guessing among the A candidates."""
        return 1 / self.start.shape[1]

    def assignment(self, iteration: int | None = None) -> np.ndarray:
        """(N, A) candidate indices, gold first, after `iteration` (0: before any; None: the last)."""
        iteration = self.n_finished if iteration is None else iteration
        if not 0 <= iteration <= self.n_finished:
            raise InputError(f"iteration {iteration}: this run has 0 to {self.n_finished}.")
        assignment = self.start
        for changes in self.replacements[:iteration]:
            assignment = apply_changes(assignment, changes)
        return assignment

    def texts(self, iteration: int | None = None) -> list[list[str]]:
        """N lists of A endings, gold first."""
        return self.pool.texts(self.assignment(iteration))

    def accuracy(self, iteration: int) -> float:
        """Held-out accuracy of the deciding filter at `iteration` (1, 2, ...), 0 to 1."""
        record = self.log[iteration - 1]
        return float(record["accuracy"][record["filter"]])

    def append(self, record: dict[str, Any], timing: dict[str, Any], changes: np.ndarray) -> None:
        """Finish an iteration; on disk the log line is written last, which makes it so."""
        self.log.append(record)
        self.timing.append(timing)
        self.replacements.append(changes)
        if self.path is not None:
            write_array(_replacements_path(self.path, len(self.log)), changes)
            write_jsonl(self.path / "timing.jsonl", self.timing)
            write_jsonl(self.path / "log.jsonl", self.log)


def begin_run(
    pool: CandidatePool, start: np.ndarray, path: Path | None, identity: Mapping[str, Any], *, n_planned: int
) -> Run:
    """A new run, or the one in `path` to go on with when it was begun with the same pool and options.

    `identity` is what both must share; `n_planned` iterations are meant to be done in all.

    Raises InputError when `path` holds a run of another pool or other options.
    """
    if path is None:
        return Run(pool, start)
    place = str(pool.path.resolve()) if pool.path else None
    content = {"pool": place, "n_rows": len(pool), "n_candidates": pool.n_candidates, **identity}
    if not (path / "manifest.json").exists():
        write_array(path / "start.npy", start)
        write_manifest(path, "run", content | {"n_planned": n_planned})
        return Run(pool, start, path)
    manifest = read_manifest(path, "run")
    differing = [name for name, value in identity.items() if manifest.get(name) != value]
    if "pool_identity" in differing:
        raise InputError(
            f"{path}: this run belongs to another pool ({manifest.get('pool')}). Choose another --out, or "
            "pass that pool."
        )
    if differing:
        parts = [f"{name} {_differences(manifest.get(name), identity[name])}" for name in differing]
        raise InputError(
            f"{path}: begun with other {'; '.join(parts)}. Repeat the first command, or choose another --out."
        )
    write_manifest(path, "run", content | {"n_planned": n_planned})
    return _load(path, pool)


def open_run(path: Path | str) -> Run:
    """The run in folder `path`, finished or not, with its pool."""
    path = Path(path)
    manifest = read_manifest(path, "run")
    if manifest["pool"] is None:
        raise InputError(f"{path}: its pool was in memory only. Open it with begin_run and that pool.")
    pool_path = Path(manifest["pool"])
    if not pool_path.exists():
        raise InputError(f"{path}: its pool {pool_path} is gone. Move it back, or make it again with the same command.")
    pool = CandidatePool.open(pool_path)
    if pool.identity != manifest["pool_identity"]:
        raise InputError(f"{path}: {pool_path} now holds another pool than the one filtered here. Filter it anew.")
    return _load(path, pool)


def _load(path: Path, pool: CandidatePool) -> Run:
    remove_leftovers(path)
    remove_leftovers(path / "replacements")
    log_path, timing_path = path / "log.jsonl", path / "timing.jsonl"
    log = [record for _, record in read_jsonl(log_path)] if log_path.exists() else []
    timing = [record for _, record in read_jsonl(timing_path)] if timing_path.exists() else []
    try:
        start = np.load(path / "start.npy", allow_pickle=False)
        replacements = [np.load(_replacements_path(path, i), allow_pickle=False) for i in range(1, 1 + len(log))]
    except (OSError, ValueError) as error:
        raise FormatError(f"{path}: damaged ({error}). Filter anew into another --out.") from None
    check_assignment(start, pool.counts)
    return Run(pool, start, path, log, timing[: len(log)], replacements)


def run_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a run folder."""
    return read_manifest(path, "run")


def _replacements_path(path: Path, iteration: int) -> Path:
    return path / "replacements" / f"{iteration:04d}.npy"


def _differences(old: Any, new: Any) -> str:
    if isinstance(old, dict) and isinstance(new, dict):
        return ", ".join(f"{name} ({old.get(name)}, now {new[name]})" for name in new if old.get(name) != new[name])
    return f"({old}, now {new})"
