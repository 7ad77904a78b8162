"""Splits in rounds: each context is held out once in a round, which deals whole groups anew; fits are fresh."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import FeatureFilter

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View

OPTIONS = AFOptions(iterations=12, n_negatives=3, splits="rounds", seed=3)


class HeldOut(FeatureFilter):
    """Remembers the rows of each fit, and those held out, which are scored first."""

    def __init__(self) -> None:
        self.fitted: list[np.ndarray] = []
        self.held: list[np.ndarray] = []

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        self.fitted.append(view.rows)
        super().fit(view, rng=rng)

    def score(self, view: View) -> np.ndarray:
        if len(self.held) < len(self.fitted):
            self.held.append(view.rows)
        return super().score(view)


def test_in_a_round_each_context_is_held_out_once_and_the_next_round_deals_anew(pool: CandidatePool) -> None:
    watcher = HeldOut()
    run = filter_pool(pool, watcher, OPTIONS)
    rounds = [watcher.held[first : first + 5] for first in (0, 5)]
    assert all(np.array_equal(np.sort(np.concatenate(held)), np.arange(len(pool))) for held in rounds)
    assert len({frozenset(frozenset(rows.tolist()) for rows in held) for held in rounds}) == 2
    assert [record.n_test for record in run.log] == [len(rows) for rows in watcher.held]
    for fitted, held in zip(watcher.fitted, watcher.held, strict=True):
        assert np.array_equal(np.union1d(fitted, held), np.arange(len(pool)))
        assert not np.intersect1d(pool.groups[fitted], pool.groups[held]).size


def test_a_run_in_rounds_goes_on_in_the_midst_of_one_to_the_same_run(pool: CandidatePool, tmp_path: Path) -> None:
    whole = filter_pool(pool, FeatureFilter(), OPTIONS)
    for n in (3, 7, 12):
        gone_on = filter_pool(pool, FeatureFilter(), replace(OPTIONS, iterations=n), out=tmp_path)
    assert np.array_equal(gone_on.assignment(), whole.assignment())


def test_rounds_take_any_filter_and_a_limit_and_need_a_share_of_one_over_a_whole_number(pool: CandidatePool) -> None:
    watcher = HeldOut()
    filter_pool(pool, watcher, AFOptions(iterations=5, n_negatives=3, splits="rounds", most_fitted=10))
    assert [len(rows) for rows in watcher.fitted] == [10] * 5
    assert len(np.concatenate(watcher.held)) == len(pool)
    with pytest.raises(InputError, match="one over a whole number"):
        filter_pool(pool, FeatureFilter(), AFOptions(n_negatives=3, splits="rounds", test_share=0.3))
