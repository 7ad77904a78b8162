"""The loop and the run folder: resume, exactness over a whole run, and what is refused before any work."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import FeatureFilter, HashFilter, make_pool

from swag_af.data.assignments import check_assignment
from swag_af.data.errors import ExhaustedError, InputError
from swag_af.loop import accuracy, filter_pool
from swag_af.options import AFOptions, parse_schedule
from swag_af.runs import open_run

OPTIONS = AFOptions(iterations=6, n_negatives=4)
SAME = ("start.npy", "log.jsonl", *(f"replacements/{i:04d}.npy" for i in range(1, 7)))


def bytes_of(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in SAME}


class Dying(HashFilter):
    """Dies at its n-th fit."""

    def __init__(self, at: int):
        self.left = at

    def fit(self, view, *, rng):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        super().fit(view, rng=rng)


@pytest.mark.parametrize("at", [1, 3, 6])
def test_a_killed_run_resumes_to_the_same_bytes(pool, tmp_path, at):
    filter_pool(pool, HashFilter(), OPTIONS, out=tmp_path / "straight")
    with pytest.raises(KeyboardInterrupt):
        filter_pool(pool, Dying(at), OPTIONS, out=tmp_path / "killed")
    filter_pool(pool, HashFilter(), OPTIONS, out=tmp_path / "killed")
    assert bytes_of(tmp_path / "straight") == bytes_of(tmp_path / "killed")


def test_a_run_killed_between_the_files_of_an_iteration_resumes_to_the_same_bytes(pool, tmp_path):
    filter_pool(pool, HashFilter(), OPTIONS, out=tmp_path / "straight")
    shutil.copytree(tmp_path / "straight", tmp_path / "killed")
    lines = (tmp_path / "killed" / "log.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "killed" / "log.jsonl").write_text(
        "".join(lines[:-2])
    )  # replacements and timing are there, the line not
    filter_pool(pool, HashFilter(), OPTIONS, out=tmp_path / "killed")
    assert bytes_of(tmp_path / "straight") == bytes_of(tmp_path / "killed")
    assert len((tmp_path / "killed" / "timing.jsonl").read_text().splitlines()) == 6


def test_a_finished_run_goes_on_as_if_it_had_been_longer(pool, tmp_path):
    filter_pool(pool, HashFilter(), AFOptions(iterations=3, n_negatives=4), out=tmp_path / "longer")
    filter_pool(pool, HashFilter(), OPTIONS, out=tmp_path / "longer")
    filter_pool(pool, HashFilter(), OPTIONS, out=tmp_path / "straight")
    assert bytes_of(tmp_path / "straight") == bytes_of(tmp_path / "longer")


@pytest.mark.parametrize("rule", ["paper", "released"])
@pytest.mark.parametrize("pick", ["random", "hardest"])
def test_over_a_whole_run_gold_stays_nothing_repeats_and_only_held_out_rows_change(pool, rule, pick):
    run = filter_pool(pool, HashFilter(), AFOptions(iterations=8, n_negatives=4, rule=rule, pick=pick))
    for iteration in range(1, 9):
        before, after = run.assignment(iteration - 1), run.assignment(iteration)
        check_assignment(after, pool.counts)
        changed = (before != after).sum(axis=1)
        assert changed.max() <= 2
        assert (changed > 0).sum() <= run.log[iteration - 1]["n_test"] == 6
    assert any(record["n_replaced"] for record in run.log)


def test_lazy_and_full_scans_make_the_same_run_and_lazy_scores_less(pool):
    lazy, full = (
        filter_pool(pool, HashFilter(), AFOptions(iterations=5, n_negatives=4, scan=s)) for s in ("lazy", "full")
    )
    np.testing.assert_array_equal(lazy.assignment(), full.assignment())
    assert sum(r["n_scored"] for r in lazy.log) < sum(r["n_scored"] for r in full.log)


def test_the_same_seed_gives_the_same_run_and_another_does_not(pool):
    one, two = (filter_pool(pool, HashFilter(), OPTIONS) for _ in range(2))
    other = filter_pool(pool, HashFilter(), AFOptions(iterations=6, n_negatives=4, seed=1))
    np.testing.assert_array_equal(one.assignment(), two.assignment())
    assert not np.array_equal(one.start, other.start)


def test_filtering_by_a_fixed_score_drives_its_accuracy_to_the_floor(pool):
    run = filter_pool(pool, FeatureFilter(), AFOptions(iterations=60, n_negatives=3))
    assert np.mean([run.accuracy(i) for i in range(51, 61)]) < np.mean([run.accuracy(i) for i in range(1, 11)])


def test_accuracy_counts_a_tie_as_a_guess():
    assert accuracy(np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0]])) == pytest.approx((1 + 0 + 0.5) / 3)


def test_until_stops_near_chance_and_says_how_far_it_meant_to_go(pool, tmp_path):
    options = AFOptions(iterations=50, n_negatives=4, until=1.0, window=3)
    run = filter_pool(pool, HashFilter(), options, out=tmp_path / "run")
    assert run.n_finished == 3
    assert '"n_planned": 3' in (tmp_path / "run" / "manifest.json").read_text()


def test_phases_follow_each_other_and_the_last_goes_on(pool):
    run = filter_pool(pool, [(HashFilter(), 2), (FeatureFilter(), 1)], AFOptions(iterations=5, n_negatives=4))
    assert [record["filter"] for record in run.log] == ["hash", "hash", "feature", "feature", "feature"]


def test_two_filters_of_one_name_are_refused(pool):
    with pytest.raises(InputError, match="called 'hash'"):
        filter_pool(pool, [(HashFilter(), 2), (HashFilter(), 1)], OPTIONS)


def test_a_run_of_another_pool_is_refused(pool, tmp_path):
    filter_pool(pool, HashFilter(), OPTIONS, out=tmp_path / "run")
    with pytest.raises(InputError, match="another pool"):
        filter_pool(make_pool(1), HashFilter(), OPTIONS, out=tmp_path / "run")


def test_a_run_begun_with_other_options_is_refused_by_name(pool, tmp_path):
    filter_pool(pool, HashFilter(), OPTIONS, out=tmp_path / "run")
    with pytest.raises(InputError, match=r"seed \(0, now 1\)"):
        filter_pool(pool, HashFilter(), AFOptions(iterations=6, n_negatives=4, seed=1), out=tmp_path / "run")


def test_more_negatives_than_there_are_is_refused_before_any_fit(pool, tmp_path):
    with pytest.raises(ExhaustedError, match="fewer than 40 negatives"):
        filter_pool(pool, Dying(1), AFOptions(n_negatives=40), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_opened_run_is_the_run(pool_folder, tmp_path):
    from swag_af.data.pool import CandidatePool

    made = filter_pool(CandidatePool.open(pool_folder), HashFilter(), OPTIONS, out=tmp_path / "run")
    opened = open_run(tmp_path / "run")
    np.testing.assert_array_equal(opened.assignment(), made.assignment())
    np.testing.assert_array_equal(opened.assignment(2), made.assignment(2))
    assert opened.texts() == made.texts()


def test_a_run_of_a_pool_in_memory_can_be_opened_and_moved(pool, tmp_path):
    made = filter_pool(pool, HashFilter(), OPTIONS, out=tmp_path / "here" / "run")
    shutil.move(tmp_path / "here", tmp_path / "there")
    assert open_run(tmp_path / "there" / "run").texts() == made.texts()


def test_a_run_has_no_iteration_beyond_its_last(pool):
    run = filter_pool(pool, HashFilter(), OPTIONS)
    with pytest.raises(InputError, match="0 to 6"):
        run.assignment(7)


def test_schedules_are_parsed():
    assert parse_schedule("mlp:100, ensemble:40") == (("mlp", 100), ("ensemble", 40))
    assert parse_schedule("my.module:Class:3") == (("my.module:Class", 3),)


@pytest.mark.parametrize("text", ["", "mlp", "mlp:", "mlp:0", "mlp:x", "mlp:3,", ":3"])
def test_a_schedule_that_cannot_be_read_is_refused(text):
    with pytest.raises(InputError, match="NAME:COUNT"):
        parse_schedule(text)


def test_every_fault_of_the_options_is_told_at_once():
    with pytest.raises(InputError, match=r"--n-easy 0.*--test-share 2"):
        AFOptions(n_easy=0, test_share=2)
