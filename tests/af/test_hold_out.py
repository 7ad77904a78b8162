"""Splits keep videos whole, and HellaSwag's swaps stop near chance."""

import numpy as np
import pytest
from conftest import FeatureFilter, make_contexts_of
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions, with_policy
from swag_af.af.turns import n_swaps
from swag_af.data.disk.files import read_json, write_json
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.splits import check_split, hold_out


@settings(max_examples=200)
@given(st.lists(st.integers(0, 9), min_size=4, max_size=60), st.floats(0.05, 0.9), st.integers(0, 2**32 - 1))
def test_a_split_holds_whole_groups_and_no_more_than_it_must(members, share, seed):
    groups = np.unique(members, return_inverse=True)[1]
    n_test = round(share * len(groups))
    try:
        check_split(groups, n_test, share)
    except InputError:
        return
    train, test = hold_out(groups, n_test, rng=np.random.default_rng(seed))
    assert sorted([*train, *test]) == list(range(len(groups)))
    assert not set(groups[train]) & set(groups[test])
    assert n_test <= len(test) < n_test + np.bincount(groups).max()
    assert len(train) >= 2


def test_every_group_is_held_out_about_as_often_as_any_other():
    groups, out = np.arange(20), np.zeros(20)
    for seed in range(2000):
        out[hold_out(groups, 4, rng=np.random.default_rng(seed))[1]] += 1
    assert (np.abs(out / 2000 - 0.2) < 5 * np.sqrt(0.16 / 2000)).all()


def test_contexts_without_a_video_are_groups_of_their_own():
    contexts = [*make_contexts_of(4, n_videos=2), *make_contexts_of(2, n_videos=2)]
    for context in contexts[4:]:
        object.__setattr__(context, "video", "")
        object.__setattr__(context, "id", "x" + context.id)
    pool = CandidatePool({"n_candidates": 2, "tables": []}, None, [], None)
    pool.__dict__["contexts"], pool.n_rows = contexts, 6
    groups = pool.groups
    assert groups[0] == groups[2] != groups[1] == groups[3]
    assert len({*groups}) == 4


def test_fits_learn_from_so_many_rows_at_most_and_all_held_out_ones_are_scored(pool):
    class Watcher(FeatureFilter):
        fitted, scored = [], []

        def fit(self, view, *, rng):
            self.fitted.append(view.rows)
            super().fit(view, rng=rng)

        def score(self, view):
            self.scored.append(view.rows)
            return super().score(view)

    def held_out(most_fitted):
        Watcher.fitted, Watcher.scored = [], []
        run = filter_pool(pool, Watcher(), AFOptions(iterations=3, n_negatives=3, most_fitted=most_fitted))
        assert not any(np.intersect1d(pool.groups[a], pool.groups[run_rows(run, i)]).size for i, a in numbered())
        return [record.n_test for record in run.log], [len(rows) for rows in Watcher.fitted], Watcher.fitted

    def numbered():
        return list(enumerate(Watcher.fitted))

    def run_rows(run, i):
        return np.unique(run.replacements[i][:, 0])

    n_test, n_fitted, _ = held_out(None)
    assert all(fitted + tested == len(pool) for fitted, tested in zip(n_fitted, n_test, strict=True))
    assert held_out(len(pool))[:2] == (n_test, n_fitted)
    few = held_out(10)
    assert few[:2] == (n_test, [10] * 3)
    assert all(np.array_equal(np.unique(rows), rows) for rows in few[2])
    assert all(np.array_equal(a, b) for a, b in zip(held_out(10)[2], few[2], strict=True))
    assert not np.array_equal(few[2][0], few[2][1])


def test_a_run_goes_on_with_the_limit_that_it_began_with(pool, tmp_path):
    def limited(most_fitted, iterations):
        options = AFOptions(iterations=iterations, n_negatives=3, most_fitted=most_fitted)
        return filter_pool(pool, FeatureFilter(), options, out=tmp_path / "run")

    limited(10, 1)
    with pytest.raises(InputError, match=r"most_fitted \(10, now not given\)"):
        limited(None, 2)
    assert limited(10, 2).n_finished == 2
    manifest = read_json(tmp_path / "run" / "manifest.json")
    del manifest["options"]["most_fitted"]  # as before there was a limit
    write_json(tmp_path / "run" / "manifest.json", manifest)
    assert limited(None, 3).n_finished == 3


@pytest.mark.parametrize("more", [{"most_fitted": 1}, {"most_fitted": 9, "splits": "fixed"}])
def test_odd_limits_are_told_in_one_line(more):
    with pytest.raises(InputError, match="--most-fitted"):
        AFOptions(**more)


def test_the_loop_never_measures_a_video_that_it_fitted_on(pool):
    class Watcher(FeatureFilter):
        def fit(self, view, *, rng):
            self.fitted = {context.video for context in view.contexts}
            super().fit(view, rng=rng)

        def score(self, view):
            assert not self.fitted & {context.video for context in view.contexts}
            return super().score(view)

    filter_pool(pool, Watcher(), AFOptions(iterations=5, n_negatives=3))
    with pytest.raises(AssertionError):
        filter_pool(pool, Watcher(), AFOptions(iterations=5, n_negatives=3, split_by="context"))


def test_a_pool_of_one_video_says_how_it_can_be_split_all_the_same():
    with pytest.raises(InputError, match="--split-by context"):
        check_split(np.array([0, 0, 0, 0, 1]), 1, 0.2)


@pytest.mark.parametrize(("n_wins", "expected"), [(500, 0), (525, 0), (526, 1), (575, 1), (576, 3), (1000, 3)])
def test_swaps_stop_near_chance_as_in_hellaswag(n_wins, expected):
    scores = np.zeros((1000, 2))
    scores[:, 0] = np.where(np.arange(1000) < n_wins, 1.0, -1.0)
    assert n_swaps(scores, AFOptions(n_easy=3, swaps="gap")) == expected
    assert n_swaps(scores, AFOptions(n_easy=3)) == 3


def test_a_tie_is_half_a_win():
    assert n_swaps(np.zeros((10, 4)), AFOptions(swaps="gap")) == 0


def test_a_policy_sets_three_options_together():
    assert with_policy(AFOptions(seed=3), "hellaswag") == AFOptions(seed=3, swaps="gap")
    assert with_policy(AFOptions(), "released") == AFOptions(rule="released")
    assert with_policy(AFOptions(pick="hardest"), "hardest") == AFOptions(pick="hardest")
    assert with_policy(AFOptions(pick="hardest"), None) == AFOptions(pick="hardest")


def test_a_policy_and_an_option_that_contradict_are_refused():
    with pytest.raises(InputError, match="--policy hellaswag means --rule paper, not released"):
        with_policy(AFOptions(rule="released"), "hellaswag")


@pytest.mark.parametrize("pick", ["random", "hardest"])
def test_a_run_with_nothing_to_swap_changes_nothing(pool, pick, monkeypatch):
    monkeypatch.setattr("swag_af.af.turns.GAPS", (1.0, 1.0))
    options = AFOptions(iterations=3, n_negatives=3, swaps="gap", pick=pick)
    run = filter_pool(pool, FeatureFilter(), options)
    np.testing.assert_array_equal(run.assignment(), run.start)
    assert all(record.n_replaced == 0 for record in run.log)
