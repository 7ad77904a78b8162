"""Fits of a diagnosis: every candidate scored out of fold by several fits of each filter, each kept on disk.

A *fit* of a filter with a seed is a cross-validation: groups are dealt into folds by that seed, and each context is
scored by the filter fitted on the other folds, so no context is scored by what was fitted on its gold, or on that of
its group. Fits of two seeds have other folds and other random numbers; they share most of the contexts that they are
fitted on, as two iterations of a run do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from swag_af.auditing.runs.crossval import rank_shares
from swag_af.data.disk.files import read_array, read_json, write_array, write_json
from swag_af.data.errors import FormatError
from swag_af.data.pool.assignments import random_assignment
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.splits import deal, hold_out
from swag_af.filters.contract import Filter, fit_filter, has_learned, record_of_fit, score_in_parts, unread_by

MANY = 99
"""Random candidates that held-out gold is compared with, at most, where it meets many."""
UNREAD = -np.inf
"""The score that is kept of a candidate that the filter could not read."""


@dataclass(frozen=True)
class Fits:
    """The sample that is diagnosed, and what scores it. Letters: `n` contexts, `K` candidates, `A` assigned."""

    pool: CandidatePool
    rows: np.ndarray
    """(n,) the rows of the pool that are diagnosed, ascending."""
    assigned: np.ndarray
    """(n, A) their assignment, gold first."""
    groups: np.ndarray
    """(n,) what no fold may part, from 0."""
    filters: Sequence[Filter]
    n_folds: int
    seed: int
    folder: Path
    """Where scores are kept."""
    ignores_guard: bool = False
    """Whether the run may assign what guards have flagged."""
    done: Callable[[str], None] = field(default=lambda note: None)
    """Called after each fit on one part, with what it was."""

    @property
    def counts(self) -> np.ndarray:
        """(n,) candidates of each context, gold included."""
        return self.pool.counts[self.rows]

    def folds(self, seed: int) -> np.ndarray:
        """(n,) the fold of each context in the fits with `seed`."""
        return deal(self.groups, self.n_folds, rng=self.rng(seed, b"folds"), largest_first=False)

    def rng(self, seed: int, what: bytes) -> np.random.Generator:
        """Random numbers that depend on the seeds and on what they are for, and on nothing that happened before."""
        return np.random.default_rng((self.seed, seed, *b"diagnose", *what))

    def scores(self, filter: int, seed: int) -> np.ndarray:
        """(n, K) out-of-fold scores of every candidate, fitted on the assigned ones; NaN where a row has none, `UNREAD`
        where it could not be read."""
        folds, out = self.folds(seed), np.empty((len(self.rows), self.pool.n_candidates))
        for fold in range(self.n_folds):
            test, train = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            out[test] = self.scores_of_all(f"scores-{filter}-{seed}-{fold}", filter, seed, train, test)
        return out

    def scores_of_all(self, name: str, filter: int, seed: int, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """(t, K) scores of every candidate of `test` (t,) after a fit on what is assigned to `train`, NaN as above."""
        present = self.present(test)  # (t, K)
        columns = np.where(present, np.arange(self.pool.n_candidates), 0)
        found = self.kept(name, filter, seed, (train, self.assigned[train]), (test, columns))
        return np.where(present, found, np.nan)

    def flagged(self, contexts: np.ndarray) -> np.ndarray:
        """(c, K) which candidates of `contexts` (c,) no assignment of the run may have."""
        if self.ignores_guard:
            return np.zeros((len(contexts), self.pool.n_candidates), bool)
        return self.pool.flagged(self.rows[contexts])

    def present(self, contexts: np.ndarray) -> np.ndarray:
        """(c, K) which candidates `contexts` (c,) have, or may get: none that are flagged, except what is assigned."""
        present = np.arange(self.pool.n_candidates) < self.counts[contexts][:, None]
        present &= ~self.flagged(contexts)
        np.put_along_axis(present, self.assigned[contexts], True, axis=1)
        return present

    def curve_point(self, filter: int, seed: int, curve: "Curve", n_train: int) -> np.ndarray:
        """(t, m) scores of the candidates that `curve` shows of held-out contexts, fitted on `n_train` contexts."""
        train = curve.train[:n_train]
        name = f"{curve.name}-{filter}-{seed}-{n_train}"
        fitted, scored = (train, curve.fitted[train]), (curve.test, curve.scored[curve.test])
        return self.kept(name, filter, seed, fitted, scored)

    def kept(
        self,
        name: str,
        filter: int,
        seed: int,
        fitted: tuple[np.ndarray, np.ndarray],
        scored: tuple[np.ndarray, np.ndarray],
    ) -> np.ndarray:
        """(t, m) scores of the contexts and candidates `scored` after a fit on `fitted`, read where they are kept.

        Random numbers come from the seeds and `name`, which is that of the file, too. What the fit says of itself is
        kept beside it.
        """
        path, about, (test, columns) = self.folder / f"{name}.npy", self._about(filter, name), scored
        one, (train, assigned) = self.filters[filter], fitted
        if not path.exists() or (hasattr(one, "fit_record") and not about.exists()):
            fit_filter(one, self.pool.view(self.rows[train], assigned), rng=self.rng(seed, name.encode()))
            scores = score_in_parts(one, self.pool.view(self.rows[test], columns))
            if hasattr(one, "fit_record"):
                write_json(about, record_of_fit(one))
            write_array(path, np.where(unread_by(one, scores), UNREAD, scores.astype(np.float64)))
        self.done(one.name)
        found = read_array(path)
        if found.shape != columns.shape:
            raise FormatError(f"{path}: {found.shape}, where {columns.shape} is due. Delete the folder {self.folder}.")
        return found

    def _about(self, filter: int, name: str) -> Path:
        """Where it is kept what a fit says of itself; `*` for all."""
        return self.folder / f"fit-{filter}-{name}.json"

    def n_unlearned(self, filter: int) -> int:
        """How many of the fits that are kept say of themselves that they learned nothing."""
        return sum(not has_learned(read_json(path)) for path in self.folder.glob(self._about(filter, "*").name))


@dataclass(frozen=True)
class Curve:
    """Contexts to fit on, contexts held out, and which candidates both are shown with, gold (or its stand-in) first."""

    name: str
    train: np.ndarray
    """(N,) contexts to fit on, whole groups one after the other in random order: the first ones make a smaller fit."""
    test: np.ndarray
    """(t,) contexts held out."""
    fitted: np.ndarray
    """(n, A) candidates that fits are shown."""
    scored: np.ndarray
    """(n, m) candidates that are scored."""


def hits_among(scores: np.ndarray) -> np.ndarray:
    """(n,) how far gold, column 0 of `scores` (n, m), scores highest: 1, 0, or 1/t where t tie; 1/m where any of a row
    could not be read, as in the loop and in audits."""
    is_tie = (scores == UNREAD).any(axis=1, keepdims=True)
    shares: np.ndarray = rank_shares(np.where(is_tie, 0.0, scores))[:, 0]
    return shares


def curves(fits: Fits, seed: int) -> dict[str, Curve]:
    """The curves of one draw: all hold out the same contexts, a fold's share of them.

    `random` shows random candidates beside gold, of those that a run may have, `assigned` the run's distractors, and
    `control`, where every row has two negatives or more, random candidates only, the first of which is declared gold.
    """
    train, test = hold_out(fits.groups, max(1, round(len(fits.rows) / fits.n_folds)), rng=fits.rng(seed, b"held out"))
    order = fits.rng(seed, b"order").permutation(int(fits.groups.max()) + 1)
    train = train[np.argsort(order[fits.groups[train]], kind="stable")]
    counts, n_assigned, flagged = fits.counts, fits.assigned.shape[1], fits.flagged(np.arange(len(fits.rows)))
    n_many = min(MANY, int((counts - flagged.sum(axis=1)).min()) - 1)
    draw = partial(random_assignment, counts, flagged=flagged if flagged.any() else None)
    shown = draw(n_assigned, rng=fits.rng(seed, b"shown"))  # (n, A)
    many = draw(1 + n_many, rng=fits.rng(seed, b"many"))  # (n, 1 + many)
    made = {
        "random": Curve("random", train, test, shown, many),
        "assigned": Curve("assigned", train, test, fits.assigned, fits.assigned),
    }
    if n_many > 1:
        negatives = draw(1 + min(n_assigned, n_many), rng=fits.rng(seed, b"control"))[:, 1:]
        made["control"] = Curve("control", train, test, negatives, negatives)
    return made


def sample(groups: np.ndarray, limit: int, *, seed: int) -> np.ndarray:
    """(n,) rows, ascending: whole `groups` (N,) drawn until there are `limit` rows; all of them for 0."""
    if not limit or limit >= len(groups):
        return np.arange(len(groups))
    return hold_out(groups, limit, rng=np.random.default_rng((seed, *b"diagnose", *b"sample")))[1]
