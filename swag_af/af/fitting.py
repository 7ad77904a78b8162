"""How each iteration comes by its split and its fitted filter: both anew, as in the paper, or folds and filters kept.

With fresh splits every iteration draws who is held out and fits a filter from scratch (Zellers et al. 2018,
Algorithm 1). In rounds the groups are dealt into folds, of which each is held out once before they are dealt anew; fits
are from scratch. With fixed ones they are dealt once. A fold has a filter of its own, which learns on from where it was
when the fold's turn comes again: it has never been fitted on its fold's rows, under any assignment.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from swag_af.data.disk.files import read_arrays
from swag_af.data.disk.replacing import remove, remove_leftovers, replacing
from swag_af.data.errors import FormatError, InputError
from swag_af.data.plugins.own_code import is_own
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.splits import deal, hold_out
from swag_af.filters.contract import Filter, LastingFilter, fit_filter, fit_filter_on, state_of

WARM = "warm"
"""The folder, within that of a run, of filters that go on."""


class Fitting(Protocol):
    """Who is held out in an iteration, and the filter that scores them."""

    def split(self, iteration: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows to fit on and rows held out, both ascending."""

    def fit(self, iteration: int, train: np.ndarray, assigned: np.ndarray, rng: np.random.Generator) -> Filter:
        """The filter of the iteration, fitted on rows `train` (n,) with their `assigned` (n, A) candidates."""

    def begin(self, n_finished: int) -> None:
        """Remove what a run that was killed after so many iterations has left of later ones."""

    def keep(self, iteration: int) -> None:
        """Put on disk what the next iterations need of this one, before it counts as finished."""

    def tidy(self, iteration: int) -> None:
        """Remove what is no longer needed, once the iteration is finished."""


Draw = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]
"""`draw(iteration, rng)`: rows to fit on and rows held out, both ascending."""


def drawn_apart(groups: np.ndarray, n_test: int) -> Draw:
    """Each split by itself: about `n_test` rows held out, whole `groups` (N,) together."""
    return lambda iteration, rng: hold_out(groups, n_test, rng=rng)


def drawn_in_rounds(groups: np.ndarray, test_share: float, *, seed: int) -> Draw:
    """Splits without replacement: in a round of `n_folds` iterations each row is held out once, and the next round
    deals whole `groups` (N,) anew."""

    def draw(iteration: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        n_round, fold = divmod(iteration - 1, n_folds(test_share))
        held = dealt_folds(groups, test_share, seed=seed, n_round=n_round) == fold
        return np.flatnonzero(~held), np.flatnonzero(held)

    return draw


class FreshFitting:
    """A fresh fit in every iteration, on `most` rows at most of those that `draw` does not hold out."""

    def __init__(self, pool: CandidatePool, schedule: Sequence[Filter], draw: Draw, most: int | None = None):
        self.pool, self.schedule, self.draw, self.most = pool, schedule, draw, most

    def split(self, iteration: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        train, test = self.draw(iteration, rng)
        if self.most is not None and self.most < len(train):
            train = np.sort(rng.choice(train, self.most, replace=False))
        return train, test

    def fit(self, iteration: int, train: np.ndarray, assigned: np.ndarray, rng: np.random.Generator) -> Filter:
        filter = filter_of(self.schedule, iteration)
        fit_filter(filter, self.pool.view(train, assigned), rng=rng)
        return filter

    def begin(self, n_finished: int) -> None:
        """Nothing is left."""

    def keep(self, iteration: int) -> None:
        """Nothing is kept."""

    def tidy(self, iteration: int) -> None:
        """Nothing was kept."""


class FixedFitting:
    """Folds that stay, and one filter a fold that learns on."""

    def __init__(self, pool: CandidatePool, schedule: Sequence[Filter], folds: np.ndarray, path: Path | None):
        self.pool, self.schedule, self.folds, self.path = pool, schedule, folds, path
        self.n_folds = int(folds.max()) + 1
        self.states: dict[tuple[int, int], dict[str, np.ndarray]] = {}
        """Of each filter of the schedule and fold, in memory where there is no folder."""

    def begin(self, n_finished: int) -> None:
        """Remove what a run that was killed after so many iterations has left of later ones."""
        if self.path is not None and (self.path / WARM).exists():
            remove_leftovers(self.path / WARM)
            for done, path in self._states():
                if done > n_finished:
                    remove(path)
            self.tidy(n_finished)

    def split(self, iteration: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        held = self.folds == self._fold(iteration)
        return np.flatnonzero(~held), np.flatnonzero(held)

    def fit(self, iteration: int, train: np.ndarray, assigned: np.ndarray, rng: np.random.Generator) -> Filter:
        filter = filter_of(self.schedule, iteration)
        assert isinstance(filter, LastingFilter)
        view = self.pool.view(train, assigned)
        fit_filter_on(filter, view, self._state(iteration), rng=rng)
        return filter

    def keep(self, iteration: int) -> None:
        filter = filter_of(self.schedule, iteration)
        assert isinstance(filter, LastingFilter)
        state = state_of(filter)
        if self.path is None:
            self.states[self._key(iteration)] = state
            return
        path = self._path(iteration)
        path.parent.mkdir(exist_ok=True)
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **state)

    def tidy(self, iteration: int) -> None:
        """Remove states that a later one has replaced; those of later iterations may be there already."""
        if self.path is None or not (self.path / WARM).exists():
            return
        latest = {self._key(done): self._path(done) for done in range(1, iteration + 1)}
        for done, path in self._states():
            if path not in latest.values() and done <= iteration:
                remove(path)

    def _states(self) -> list[tuple[int, Path]]:
        """The iterations whose states are on disk; files of other names are not ours."""
        assert self.path is not None
        found = [path for path in (self.path / WARM).glob("*.npz") if re.fullmatch(r"[0-9]{4,}", path.stem)]
        return [(int(path.stem), path) for path in found if path.is_file()]

    def _state(self, iteration: int) -> dict[str, np.ndarray] | None:
        """What the filter of this fold had learnt when its turn came last; None where it never did."""
        key = self._key(iteration)
        before = [done for done in range(1, iteration) if self._key(done) == key]
        if not before:
            return None
        if self.path is None:
            return self.states[key]
        path = self._path(before[-1])
        if not path.exists():
            raise FormatError(
                f"{path}: missing, so this run cannot go on as it began. Put the file back, or begin another run."
            )
        return read_arrays(path, "Put the file back, or begin another run.")

    def _fold(self, iteration: int) -> int:
        return (iteration - 1) % self.n_folds

    def _key(self, iteration: int) -> tuple[int, int]:
        """Which of the schedule's filters, by its first place in it, and which fold."""
        filter = filter_of(self.schedule, iteration)
        return next(i for i, one in enumerate(self.schedule) if one is filter), self._fold(iteration)

    def _path(self, iteration: int) -> Path:
        assert self.path is not None
        return self.path / WARM / f"{iteration:04d}.npz"


def filter_of(schedule: Sequence[Filter], iteration: int) -> Filter:
    """The filter of an iteration (1, 2, ...); the last one goes on."""
    return schedule[min(iteration, len(schedule)) - 1]


def n_folds(test_share: float) -> int:
    """How many folds there are where they are dealt."""
    return round(1 / test_share)


def dealt_folds(groups: np.ndarray, test_share: float, *, seed: int, n_round: int = 0) -> np.ndarray:
    """(N,) the fold of each row, whole `groups` (N,) together, `1 / test_share` of them; those that stay are of round
    0."""
    n, n_groups = n_folds(test_share), int(groups.max()) + 1
    if abs(n * test_share - 1) > 0.01 or not 2 <= n <= n_groups:
        raise InputError(
            f"--splits rounds, fixed, together, with --test-share {test_share:g}: {n_groups} groups cannot be dealt "
            f"into {1 / test_share:g} folds. Take a share that is one over a whole number, such as 0.2."
        )
    return deal(groups, n, rng=np.random.default_rng((seed, 0, 1, n_round) if n_round else (seed, 0, 1)))


def check_lasting(schedule: Sequence[Filter]) -> None:
    """Raise InputError unless all filters of the schedule can learn on from where they were."""
    others = dict.fromkeys(one.name for one in schedule if not isinstance(one, LastingFilter))
    if others:
        is_own_one = any(is_own(one) for one in schedule if one.name in others)
        how = " A class of your own can where it has `fit_on` and `state` (swag_af.filters.contract)."
        raise InputError(
            f"--splits fixed, together: {', '.join(others)} cannot go on from an earlier fit; mlp, bow, cnn, poslstm "
            f"and ensemble can. Take those, or leave --splits fresh.{how if is_own_one else ''}"
        )
