"""Iterations and scores by other processes, of this machine or of a Ray cluster; the bytes are those of this one.

With `splits="together"` the iterations of a round do not wait for each other: a worker is handed the assignment, does
one, leaves the state of its filter in the run's folder, and hands back the changes. With the other splits each
iteration needs the one before it, so they are done here, and workers score: where there are candidates for more than
one call (`parts_of`), a worker is handed what the filter learnt, rows and columns, and hands back scores. The members
of the ensemble are one network, every step of which needs them all: they are fitted in one process.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.af.fitting import Fitting, filter_of
from swag_af.af.options import NO_SLURM, AFOptions
from swag_af.af.turns import Do, Outcome, Rules, ScoreBy, Turn, score_here
from swag_af.data.disk.urls import command, is_url, url_of
from swag_af.data.engines.contract import Crew
from swag_af.data.engines.options import Workers
from swag_af.data.errors import InputError, in_one_line
from swag_af.data.pool.assignments import apply_changes
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.data.runs.run import Run
from swag_af.data.scale import standing_workers
from swag_af.filters.contract import (
    Filter,
    MovableFilter,
    parts_of,
    restore_filter,
    score_in_parts,
    scores_of,
    state_of,
)
from swag_af.filters.threads import bits_of, deciding_threads, default_workers


def check_workers(pool: CandidatePool, rules: Rules, workers: Workers[Any], out: Path | None) -> None:
    """Raise InputError where others were asked to work, by name or number, and cannot."""
    if not workers.are_asked_for:
        return
    told = f"--engine {workers.engine.engine} --workers {workers.n or 'as many as there is room for'}"
    if workers.engine.kind == "slurm":
        raise InputError(f"{NO_SLURM}.")
    check_folders(workers, (pool.path, out))
    if out is None:
        raise InputError(f"{told}: work elsewhere needs a folder for the run. Give out=.")
    if _fills_in(pool, rules):
        raise InputError(
            f"{pool.path}: its features are computed when they are first used, by one process. Complete them with "
            f"`{command('features', pool.path)}`, or take --engine local."
        )
    own = dict.fromkeys(one.name for one in rules.schedule if type(one).__module__ == "__main__")
    if own:
        raise InputError(
            f"{told}: other processes cannot import {', '.join(own)} from a script. Put the class into a module."
        )
    for one in {id(one): one for one in rules.schedule}.values():
        _check_sent(one, told)


def check_folders(workers: Workers[Any], folders: Iterable[Path | None]) -> None:
    """Raise InputError where workers elsewhere are asked for, and one of the `folders` is in a store."""
    if workers.engine.is_remote and any(path and (is_url(path) or url_of(path)) for path in folders):
        raise InputError(
            f"--engine {workers.engine.engine}: workers read the pool and leave filters in the run's folder, which "
            "must be on a disk that all see, not in a store. Take --engine processes, or folders on a common disk."
        )


def _check_sent(filter: Filter, told: str) -> None:
    """Raise InputError for a filter that cannot be sent to another process, as one that asks a server."""
    try:
        pickle.dumps(filter)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise InputError(
            f"{told}: filter {filter.name} cannot be sent to other processes ({in_one_line(error)}). Take --engine "
            "local and --workers 1."
        ) from None


def threads_of(rules: Rules) -> int:
    """The number of threads whose bits a new run has: one where a worker does a whole iteration."""
    return 1 if rules.n_together > 1 else deciding_threads(rules.schedule)


@contextmanager
def doing(run: Run, rules: Rules, fitting: Fitting, workers: Workers[Any], total: int) -> Iterator[Iterator[Outcome]]:
    """The iterations of `run` until `total`, each done when it is taken, or before; to be appended before the next is.

    Workers, where there are any, are gone when the `with` block is left.
    """
    threads = run.threads or threads_of(rules)
    workers = _workers_of(run, rules, workers)
    if workers.n == 1 or run.path is None or run.pool.path is None:
        yield _outcomes(run, rules, partial(_here, run.pool, rules, fitting, threads, score_here), total)
        return
    plan = _Plan(run.pool.path, run.pool.identity, run.path, pickle.dumps(rules.schedule), rules.options, threads)
    if rules.n_together > 1:
        with standing_workers(_IterationJob(plan), workers=workers.n, engine=workers.engine) as crew:
            yield _outcomes(run, rules, crew.map, total)
        return
    with ExitStack() as stack:
        scoring = _Scoring(plan, workers, stack)
        yield _outcomes(run, rules, partial(_here, run.pool, rules, fitting, threads, scoring), total)


def _outcomes(run: Run, rules: Rules, do: Do, total: int) -> Iterator[Outcome]:
    assignment = run.assignment()
    at = run.n_finished
    while at < total:
        first = at - at % rules.n_together  # finished iterations when the round began
        start = assignment if first == at else run.assignment(first)
        end = min(first + rules.n_together, total)
        for outcome in do([Turn(iteration, start) for iteration in range(at + 1, end + 1)]):
            yield outcome
            assignment = apply_changes(assignment, outcome.changes)
        at = end


def _here(
    pool: CandidatePool, rules: Rules, fitting: Fitting, threads: int, score: ScoreBy, turns: Sequence[Turn]
) -> Iterator[Outcome]:
    for turn in turns:
        with bits_of(threads, rules.schedule):
            outcome = rules.do(pool, fitting, turn, score)
        yield outcome


def _workers_of(run: Run, rules: Rules, asked: Workers[Any]) -> Workers[Any]:
    """How many there are to be: one, this process, where nobody asked and there is no work for more."""
    engine, n, can = asked.engine, asked.n, run.path is not None and not _fills_in(run.pool, rules)
    if engine.kind == "local" or not (asked.are_asked_for or (can and rules.n_together > 1)):
        return Workers(1)
    if n is None and engine.kind != "ray":
        n = default_workers(rules.schedule)
    if rules.n_together > 1:
        n = min(n or rules.n_together, rules.n_together)
    return replace(asked, n=n)


def _fills_in(pool: CandidatePool, rules: Rules) -> bool:
    """Whether filters ask for features that are still to be computed."""
    asked = any("features" in getattr(one, "requires", ()) for one in rules.schedule)
    return asked and bool(pool.lazy_features) and bool(pool.missing_features().any())


@dataclass(frozen=True)
class _Plan:
    """A run, as another process opens it."""

    pool: Path
    identity: str
    """Of the pool, when the run was opened."""
    run: Path
    schedule: bytes
    """The filters before their first fit, pickled: which are the same object stays known."""
    options: AFOptions
    threads: int

    def opened(self) -> tuple[CandidatePool, list[Filter]]:
        """The pool and the filters; InputError where the pool has been changed since, by a guard or a tagger."""
        pool = CandidatePool.open(self.pool)
        if pool.identity != self.identity:
            raise InputError(
                f"{self.pool}: another command has changed this pool meanwhile, so {self.run} cannot go on with it. "
                "Undo that, or filter into another --out."
            )
        return pool, pickle.loads(self.schedule)


@dataclass(frozen=True)
class _IterationJob:
    """Whole iterations."""

    plan: _Plan

    def open(self) -> Callable[[Turn], Outcome]:
        pool, schedule = self.plan.opened()
        rules = Rules.of(pool, schedule, self.plan.options)
        fitting = rules.fitting(pool, self.plan.run)

        def do(turn: Turn) -> Outcome:
            with bits_of(self.plan.threads, schedule, exactly=True):
                return rules.do(pool, fitting, turn)

        return do


@dataclass(frozen=True)
class _ScoreBlock:
    """Candidates to be scored by the filter of an iteration."""

    iteration: int
    state: dict[str, np.ndarray]
    rows: np.ndarray
    """(n,)"""
    columns: np.ndarray
    """(n, m)"""


@dataclass(frozen=True)
class _ScoringJob:
    """Scores (n, m) of blocks."""

    plan: _Plan

    def open(self) -> Callable[[_ScoreBlock], np.ndarray]:
        pool, schedule = self.plan.opened()
        latest = [0]

        def score(block: _ScoreBlock) -> np.ndarray:
            view, filter = pool.view(block.rows, block.columns), filter_of(schedule, block.iteration)
            assert isinstance(filter, MovableFilter)
            with bits_of(self.plan.threads, schedule, exactly=True):
                if latest[0] != block.iteration:
                    restore_filter(filter, view.take(np.arange(1)), block.state)
                    latest[0] = block.iteration
                return scores_of(filter, view)

        return score


class _Scoring:
    """Scores by workers, who come when there is something for more than one of them."""

    def __init__(self, plan: _Plan, workers: Workers[Any], stack: ExitStack):
        self._plan, self._workers, self._stack = plan, workers, stack
        self._learnt: tuple[int, dict[str, np.ndarray]] = 0, {}

    @cached_property
    def _crew(self) -> Crew[_ScoreBlock, np.ndarray]:
        job, asked = _ScoringJob(self._plan), self._workers
        return self._stack.enter_context(standing_workers(job, workers=asked.n, engine=asked.engine))

    def __call__(self, iteration: int, filter: Filter, view: View) -> np.ndarray:
        parts = parts_of(view)
        if len(parts) == 1 or not isinstance(filter, MovableFilter):
            return score_in_parts(filter, view)
        if self._learnt[0] != iteration:
            self._learnt = iteration, state_of(filter)
        blocks = [_ScoreBlock(iteration, self._learnt[1], part.rows, part.columns) for part in parts]
        return np.concatenate(list(self._crew.map(blocks)))
