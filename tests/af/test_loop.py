"""The loop, where the run folder is not in question: accuracy, filters, options, and what filtering does."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from conftest import FeatureFilter, HashFilter

from swag_af.af.loop import check_filtering, filter_pool
from swag_af.af.measures import accuracy
from swag_af.af.options import AFOptions, FilterOptions
from swag_af.auditing.runs.summary import took_part
from swag_af.cli.runs.filtering import run_filter
from swag_af.data.captions.options import ContextRules, ContextsOptions
from swag_af.data.errors import InputError, SwagAfError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import open_run
from swag_af.filters import contract, make_filter
from swag_af.lm.options import GenerateOptions, LMOptions, TrainLMOptions
from swag_af.releasing.options import ReleaseOptions


def test_accuracy_counts_a_tie_as_a_guess():
    assert accuracy(np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0]])) == pytest.approx((1 + 0 + 0.5) / 3)


def test_filtering_by_a_fixed_score_lowers_its_accuracy(pool):
    run = filter_pool(pool, FeatureFilter(), AFOptions(iterations=60, n_negatives=3))
    first, last = ([run.accuracy(i) for i in part] for part in (range(1, 11), range(51, 61)))
    assert np.mean(last) < np.mean(first)


def test_no_call_of_a_filter_has_more_candidates_than_are_scored_at_once(pool, monkeypatch):
    """The held-out rows were scored in one call, whose memory grew with the pool."""
    sizes, score = [], HashFilter.score
    monkeypatch.setattr(HashFilter, "score", lambda self, view: sizes.append(view.columns.size) or score(self, view))
    whole = filter_pool(pool, HashFilter(), AFOptions(iterations=3, n_negatives=4))
    assert max(sizes) > 30
    sizes.clear()
    monkeypatch.setattr(contract, "SCORED_AT_ONCE", 20)
    parted = filter_pool(pool, HashFilter(), AFOptions(iterations=3, n_negatives=4))
    assert max(sizes) <= 30  # whole rows, so some may be a little over
    assert (parted.assignment() == whole.assignment()).all()


def test_lazy_scans_score_less_than_full_ones(pool):
    lazy, full = (
        filter_pool(pool, HashFilter(), AFOptions(iterations=5, n_negatives=4, scan=scan)) for scan in ("lazy", "full")
    )
    assert sum(r.n_scored for r in lazy.log) < sum(r.n_scored for r in full.log)


@pytest.mark.parametrize("rule", ["paper", "released"])
def test_the_hardest_newcomers_beat_those_drawn_at_random(pool, rule):
    def mean_score(pick: str) -> float:
        run = filter_pool(pool, FeatureFilter(), AFOptions(iterations=10, n_negatives=3, rule=rule, pick=pick))
        chosen = pool.gather("features", np.arange(len(pool)), run.assignment())
        return float(chosen[:, 1:].sum(axis=2).mean())

    assert mean_score("hardest") > mean_score("random")


def test_nan_in_the_features_is_refused_before_any_work(pool_folder, tmp_path):
    copy = tmp_path / "pool"
    shutil.copytree(pool_folder, copy)
    table = copy / "shards" / "00000" / "features.npy"
    features = np.load(table)
    features[4, 2, 1] = np.nan
    np.save(table, features)
    with pytest.raises(InputError, match="row 4"):
        filter_pool(CandidatePool.open(copy), FeatureFilter(), AFOptions(n_negatives=3), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_filters_of_one_kind_are_logged_as_they_were_typed(pool):
    """They were one filter in the log, whose curve went from the first to the second."""
    names = ["ngrams[longest=1]", "ngrams[longest=2]"]
    run = filter_pool(pool, [(name, 1) for name in names], AFOptions(n_negatives=3))
    assert [(one.filter, list(one.accuracy)) for one in run.log] == [(name, [name]) for name in names]
    assert all(took_part(run, name) for name in (*names, "ngrams", "ngrams[longest=3]"))
    assert not took_part(run, "chars")


def test_two_filters_of_one_name_are_refused(pool):
    with pytest.raises(InputError, match="called 'hash'"):
        filter_pool(pool, [(HashFilter(), 2), (HashFilter(), 1)], AFOptions(n_negatives=4))


@pytest.mark.parametrize(
    "make",
    [
        lambda: ContextRules(n_folds=1),
        lambda: ContextsOptions((), seed=-1),
        lambda: LMOptions(epochs=0),
        lambda: LMOptions(recurrent_dropout=1.0),
        lambda: TrainLMOptions(Path("c"), seed=-1),
        lambda: GenerateOptions(Path("c"), limit=0),
        lambda: GenerateOptions(Path("c"), min_tokens=9, max_tokens=5),
        lambda: AFOptions(window=0),
        lambda: AFOptions(iterations=2.5),
        lambda: AFOptions(iterations="3"),
        lambda: LMOptions(recurrent_dropout=True),
        lambda: ReleaseOptions(Path("r"), val_share=0.6, test_share=0.6),
    ],
)
def test_options_out_of_range_are_refused_when_made(make):
    with pytest.raises(InputError, match="--"):
        make()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: AFOptions(window=5), "--window: only with --until"),
        (lambda: FilterOptions(Path("p"), within=0.1, unseen_every=5), "--within: only with --until-unseen"),
        (lambda: FilterOptions(Path("p"), unseen_every=5), "--unseen-every: only with --until-unseen"),
        (lambda: GenerateOptions(Path("c"), limit_by="video"), "--limit-by: only with --limit"),
    ],
)
def test_options_of_another_that_is_not_given_are_refused(make, said):
    with pytest.raises(InputError, match=said):
        make()


@pytest.mark.parametrize(
    ("filter", "said"),
    [
        (["bow"], "a schedule is a list of pairs"),
        (("bow", 2), "a schedule is a list of pairs"),
        (HashFilter, "this is a class. Give an object of it"),
        ([("bow", True)], "no whole number of iterations"),
        ("bow:0", "COUNT is 1 or more"),
    ],
)
def test_what_is_no_schedule_is_told(pool, filter, said):
    with pytest.raises(SwagAfError, match=said):
        filter_pool(pool, filter, AFOptions(iterations=1, n_negatives=3))


def test_a_schedule_may_be_written_as_on_the_command_line(pool):
    options = AFOptions(n_negatives=3)
    written, listed = (filter_pool(pool, one, options) for one in ("ngrams:1,bow:1", [("ngrams", 1), ("bow", 1)]))
    assert written.log == listed.log
    assert [one.filter for one in written.log] == ["ngrams", "bow"]


@pytest.mark.parametrize("given", ["", 3, HashFilter()])
def test_what_is_no_path_is_told_before_any_work(pool, given):
    with pytest.raises(InputError, match=r"out: .*, where the path of a folder is due"):
        filter_pool(pool, "bow", AFOptions(iterations=1, n_negatives=3), out=given)
    for opened in (open_run, CandidatePool.open):
        with pytest.raises(InputError, match="where the path of a folder is due"):
            opened(given)


@pytest.mark.parametrize("given", [{"after_iteration": 3}, {"is_enough": None}, {"workers": 2}])
def test_what_is_no_hook_is_told_before_any_work(pool, given):
    with pytest.raises(InputError, match=f"{next(iter(given))}: a .* is due"):
        filter_pool(pool, HashFilter(), AFOptions(iterations=1, n_negatives=3), **given)


def test_a_filter_that_has_no_name_is_told():
    with pytest.raises(InputError, match="filter None: a name is due"):
        make_filter(None)


@pytest.mark.parametrize("given", [None, 3, HashFilter()])
def test_an_option_that_is_a_path_takes_no_object(given):
    with pytest.raises(InputError, match=r"--pool .*: the path of a file or a folder is due"):
        FilterOptions(given)


@dataclass
class Clipped(HashFilter):
    clip: float = float("inf")


def test_a_setting_that_is_infinite_makes_a_run_that_opens(pool, tmp_path):
    filter_pool(pool, Clipped(), AFOptions(iterations=1, n_negatives=3), out=tmp_path / "run")
    assert open_run(tmp_path / "run").n_finished == 1


class Looked(HashFilter):
    """Counts how often it is asked whether it can work."""

    n_checks = 0

    def check(self) -> None:
        Looked.n_checks += 1


def test_the_verb_makes_filters_ready_no_more_often_than_needed(pool_folder: Path, tmp_path: Path) -> None:
    """A third time, which loads the configuration of a model, was for checks of numbers and splits."""
    options = AFOptions(n_negatives=3)
    run_filter(FilterOptions(pool_folder, tmp_path / "run", f"{__name__}:Looked:1", audit="none", af=options))
    assert Looked.n_checks == 2
    with pytest.raises(SwagAfError, match="no row has 900 negatives"):
        check_filtering(CandidatePool.open(pool_folder), Looked(), AFOptions(n_negatives=900))
    assert Looked.n_checks == 2
