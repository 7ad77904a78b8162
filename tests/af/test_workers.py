"""Filtering by other processes: the bytes are those of this one, whoever does the work, is lost, or goes on."""

import json
import os
import pickle
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import folders
import numpy as np
import pytest
from conftest import FeatureFilter, FitsAnew
from hypothesis import given, settings
from hypothesis import strategies as st
from killed import KilledError, break_after
from slow.replacement import replace_row

from swag_af.af import workers as af_workers
from swag_af.af.fitting import dealt_folds
from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions, FilterOptions
from swag_af.af.replacement import Draws, Policy
from swag_af.af.turns import Rules
from swag_af.cli.runs.filtering import run_filter
from swag_af.data.engines.contract import Crew, Job
from swag_af.data.engines.options import EngineOptions, Workers
from swag_af.data.errors import InputError
from swag_af.data.pool.assignments import random_assignment
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.data.runs.run import open_run
from swag_af.filters import contract, make_filter
from swag_af.filters.members import MLPFilter
from swag_af.filters.threads import bits_of, deciding_threads
from swag_af.guarding.options import GuardOptions
from swag_af.guarding.verb import guard
from swag_af.nn.threads import threads

PHASES = [("mlp", 4), ("bow", 6)]
TOGETHER = AFOptions(iterations=10, n_negatives=3, splits="together")
TWO = Workers[Any](2, EngineOptions("processes"))


files_of = partial(folders.files_of, but=("timing.jsonl",))


@given(
    st.integers(0, 999), st.sampled_from([0.2, 0.25, 0.5]), st.integers(1, 11), st.sampled_from(["paper", "released"])
)
@settings(max_examples=15)
def test_a_round_starts_from_one_assignment(pool: CandidatePool, seed: int, share: float, n: int, rule: Any) -> None:
    options = AFOptions(n, n_negatives=3, splits="together", test_share=share, seed=seed, rule=rule)
    assert np.array_equal(filter_pool(pool, FitsAnew(), options).assignment(), slow_twin(pool, options))


def slow_twin(pool: CandidatePool, options: AFOptions) -> np.ndarray:
    """(N, A) the last assignment: every fold of a round row by row, all candidates scored, then all changes at once."""
    rng = np.random.default_rng((options.seed, 0))
    after = random_assignment(pool.counts, 1 + options.n_negatives, rng=rng)
    folds = dealt_folds(pool.groups, options.test_share, seed=options.seed)
    n_folds, policy = len(np.unique(folds)), Policy(options.n_easy, options.rule)
    for iteration in range(1, 1 + int(options.iterations or 0)):
        fold = (iteration - 1) % n_folds
        if fold == 0:
            before = after.copy()
        filter, test = FeatureFilter(), np.flatnonzero(folds == fold)
        filter.fit(pool.view(np.flatnonzero(folds != fold), before[folds != fold]), rng=rng)
        *_, rng_of_keys = np.random.default_rng((options.seed, iteration)).spawn(3)
        keys = Draws(len(test), pool.n_candidates, before.shape[1], rng=rng_of_keys).next(len(test))
        for at, row in enumerate(test.tolist()):
            count = int(pool.counts[row])
            scores = filter.score(pool.view(np.array([row]), np.arange(count)[None]))[0]
            after[row] = replace_row(scores, before[row], count, keys.easy[at], keys.candidates[at], policy)
    return after


class AnyOrder:
    """A crew that is sent everything, opens its job for every block, and does blocks in random order."""

    def __init__(self, job: Job[Any, Any]):
        self.job, self.rng, self.n_blocks = pickle.dumps(job), np.random.default_rng(7), 0

    def map(self, blocks: Sequence[Any]) -> Iterator[Any]:
        self.n_blocks += len(blocks)
        sent, done = [pickle.dumps(block) for block in blocks], {}
        for number in self.rng.permutation(len(blocks)).tolist():
            done[number] = pickle.loads(self.job).open()(pickle.loads(sent[number]))
        return (done[number] for number in range(len(blocks)))


@pytest.fixture
def crews(monkeypatch: pytest.MonkeyPatch) -> list[AnyOrder]:
    """The crews that were hired in place of real ones."""
    hired: list[AnyOrder] = []

    @contextmanager
    def hire(job: Job[Any, Any], *, workers: int | None, engine: EngineOptions) -> Iterator[Crew[Any, Any]]:
        hired.append(AnyOrder(job))
        yield hired[-1]

    monkeypatch.setattr(af_workers, "standing_workers", hire)
    return hired


@pytest.fixture(scope="module")
def straight(pool_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in one go, by this process."""
    out = tmp_path_factory.mktemp("straight") / "run"
    filter_pool(CandidatePool.open(pool_folder), PHASES, TOGETHER, out=out)
    return out


def test_a_round_in_any_order_has_the_same_bytes(
    pool_folder: Path, straight: Path, tmp_path: Path, crews: list[AnyOrder]
) -> None:
    out = straight.parent / "other"
    filter_pool(CandidatePool.open(pool_folder), PHASES, TOGETHER, out=out, workers=TWO)
    assert files_of(out) == files_of(straight)
    assert [crew.n_blocks for crew in crews] == [10]


@pytest.mark.parametrize("n", [4, 5])
def test_a_run_goes_on_with_another_engine(pool_folder: Path, straight: Path, n: int, crews: list[AnyOrder]) -> None:
    """Stopped in the middle of a round or between two, by workers or here."""
    out, pool = straight.parent / f"stopped{n}", CandidatePool.open(pool_folder)
    with pytest.raises(KilledError):
        filter_pool(pool, PHASES, TOGETHER, out=out, after_iteration=break_after(n, lambda run: None), workers=TWO)
    fewer = replace(TOGETHER, iterations=n + 1)
    filter_pool(pool, PHASES, fewer, out=out)
    filter_pool(pool, PHASES, TOGETHER, out=out, workers=TWO)
    assert len(crews) == 2
    assert files_of(out) == files_of(straight)


def test_processes_make_the_same_bytes_and_another_engine_goes_on(pool_folder: Path, straight: Path) -> None:
    out, pool = straight.parent / "processes", CandidatePool.open(pool_folder)
    with pytest.raises(KilledError):
        filter_pool(pool, PHASES, TOGETHER, out=out, after_iteration=break_after(7, lambda run: None), workers=TWO)
    filter_pool(pool, PHASES, TOGETHER, out=out)
    assert files_of(out) == files_of(straight)


FULL = AFOptions(iterations=3, n_negatives=3, scan="full")


@pytest.mark.parametrize("splits", ["fresh", "fixed"])
def test_workers_score_to_the_same_bytes(
    pool_folder: Path, tmp_path: Path, splits: Any, crews: list[AnyOrder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract, "SCORED_AT_ONCE", 50)
    pool, options = CandidatePool.open(pool_folder), replace(FULL, splits=splits)
    phases = [("mlp", 2), ("bow", 1)]
    for name, workers in (("here", Workers(1)), ("there", TWO)):
        filter_pool(pool, phases, options, out=tmp_path / name, workers=workers)
    assert files_of(tmp_path / "here") == files_of(tmp_path / "there")
    assert len(crews) == 1
    assert crews[0].n_blocks >= 6


def test_nobody_is_hired_for_little_or_for_filters_that_cannot_move(
    pool_folder: Path, tmp_path: Path, crews: list[AnyOrder], monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = CandidatePool.open(pool_folder)
    filter_pool(pool, "mlp", replace(FULL, iterations=1), out=tmp_path / "little", workers=TWO)
    monkeypatch.setattr(contract, "SCORED_AT_ONCE", 20)
    filter_pool(pool, FeatureFilter(), replace(FULL, iterations=1), out=tmp_path / "still", workers=TWO)
    assert not crews


@pytest.mark.parametrize("name", ["mlp", "bow", "cnn", "poslstm", "ensemble"])
def test_a_restored_filter_scores_as_the_one_that_was_fitted(pool: CandidatePool, name: str) -> None:
    view = pool.view(np.arange(len(pool)), np.tile(np.arange(4), (len(pool), 1)))
    fitted, restored = make_filter(name, max_epochs=2), make_filter(name, max_epochs=2)
    assert isinstance(fitted, contract.MovableFilter)
    assert isinstance(restored, contract.MovableFilter)
    fitted.fit(view, rng=np.random.default_rng(0))
    restored.restore(view.take(np.arange(1)), fitted.state())
    assert np.array_equal(fitted.score(view), restored.score(view))


@pytest.mark.parametrize(
    ("workers", "fault"),
    [
        (Workers(2, EngineOptions("slurm")), "wait in the queue every time"),
        (Workers(2), "needs a folder for the run"),
        (Workers(None, EngineOptions("ray")), "needs a folder for the run"),
    ],
)
def test_who_cannot_work_is_told_before_any_work(pool: CandidatePool, workers: Workers[Any], fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        filter_pool(pool, "mlp", FULL, workers=workers)


def test_features_on_demand_are_filled_in_by_one_process(
    pool_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = CandidatePool.open(pool_folder)
    pool.manifest["lazy_features"] = [pool.feature_names[0]]
    rules = Rules.of(pool, [FitsAnew()], TOGETHER)
    assert not af_workers._fills_in(pool, rules), "all are there, as after the verb `features`"
    assert not af_workers._fills_in(pool, Rules.of(pool, [make_filter("bow")], TOGETHER))
    pool.filler = lambda *_: np.zeros(0)
    monkeypatch.setattr(CandidatePool, "missing_features", lambda pool: np.arange(len(pool)) == 3)
    with pytest.raises(InputError, match="take --engine local"):
        filter_pool(pool, FitsAnew(), TOGETHER, out=tmp_path / "run", workers=TWO)
    assert not (tmp_path / "run").exists()


def test_a_pool_that_was_changed_meanwhile_is_no_workers_pool(pool_folder: Path, tmp_path: Path) -> None:
    """What was flagged since the run was opened stayed out of the blocks of workers, and not of those of the run."""
    pool = CandidatePool.open(shutil.copytree(pool_folder, tmp_path / "pool"))
    plan = af_workers._Plan(tmp_path / "pool", pool.identity, tmp_path / "run", pickle.dumps([]), TOGETHER, 1)
    assert plan.opened()[0].identity == pool.identity
    guard(GuardOptions(tmp_path / "pool", "words"))
    with pytest.raises(InputError, match="another command has changed this pool meanwhile"):
        plan.opened()


def test_runs_in_a_store_are_not_shared_with_other_machines(
    pool_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor those over a pool there."""
    monkeypatch.setattr("swag_af.data.disk.urls.ROOTS", [tmp_path / "mirrors"])
    there, on_ray = tmp_path / "mirrors" / "s3" / "bucket", Workers(2, EngineOptions("ray"))
    shutil.copytree(pool_folder, there / "pool")
    for pool, out in ((pool_folder, there / "run"), (there / "pool", tmp_path / "run")):
        with pytest.raises(InputError, match="not in a store"):
            filter_pool(CandidatePool.open(pool), "mlp", TOGETHER, out=out, workers=on_ray)


def test_a_filter_of_a_script_cannot_be_sent(
    pool: CandidatePool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FitsAnew, "__module__", "__main__")
    with pytest.raises(InputError, match="cannot import anew from a script"):
        filter_pool(pool, FitsAnew(), TOGETHER, out=tmp_path / "run", workers=TWO)


class Narrow(FitsAnew):
    """Has other bits on two threads than on one, and notes how many it had."""

    name = "narrow"
    threads_alike = 1
    seen: ClassVar[list[int]] = []

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        import torch

        self.seen.append(torch.get_num_threads())
        super().fit(view, rng=rng)


class Locked(FeatureFilter):
    """Holds what no other process can be given, as a filter does that asks a server."""

    def __init__(self) -> None:
        self.lock = threading.RLock()


def test_a_filter_that_cannot_be_sent_is_told_before_any_work(pool: CandidatePool, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"filter feature cannot be sent to other processes \(.*Take --engine local"):
        filter_pool(pool, Locked(), AFOptions(iterations=2), out=tmp_path / "run", workers=TWO)
    assert not (tmp_path / "run").exists()


def test_a_run_keeps_to_the_threads_it_began_with(pool: CandidatePool, tmp_path: Path) -> None:
    Narrow.seen.clear()
    for n_threads, iterations in ((2, 2), (1, 4), (3, 5)):
        with threads(n_threads):
            filter_pool(pool, Narrow(), AFOptions(iterations, n_negatives=3), out=tmp_path / "run")
    assert Narrow.seen == [2] * 5
    assert open_run(tmp_path / "run").threads == 2
    with threads(2):
        filter_pool(pool, Narrow(), AFOptions(1, n_negatives=3, splits="together"), out=tmp_path / "other")
    assert Narrow.seen[5:] == [1]


def test_threads_that_change_no_bit_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr("swag_af.nn.threads._is_alike", lambda product: True)
    with threads(2):
        for filter, n in ((MLPFilter(), 1), (MLPFilter(width=24), 2), (FitsAnew(), 1)):
            assert deciding_threads([filter]) == n
        with bits_of(1, [MLPFilter()]):
            assert torch.get_num_threads() == 2
        with bits_of(1, [MLPFilter()], exactly=True):
            assert torch.get_num_threads() == 1
        with bits_of(1, [MLPFilter(width=24)]):
            assert torch.get_num_threads() == 1


def test_two_filters_of_one_kind_are_called_as_they_were_typed(pool_folder: Path, tmp_path: Path) -> None:
    schedule = "bow[max_epochs=1]:2,mlp:1,bow[max_epochs=2]:1"
    run = run_filter(
        FilterOptions(pool_folder, tmp_path / "run", schedule=schedule, audit="none", af=AFOptions(n_negatives=3))
    )
    assert [one.filter for one in run.log] == ["bow[max_epochs=1]"] * 2 + ["mlp", "bow[max_epochs=2]"]


def test_the_verb_records_no_workers(pool_folder: Path, tmp_path: Path) -> None:
    af = AFOptions(2, n_negatives=3, splits="together")
    run_filter(FilterOptions(pool_folder, tmp_path / "run", "bow:2", audit="none", workers=1, af=af))
    told = json.loads((tmp_path / "run" / "manifest.json").read_text())["made_by"]["options"]
    assert not {"workers", "where"} & set(told)


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("SWAG_AF_CLUSTERS"),
    reason="with SWAG_AF_CLUSTERS=1: Ray takes a minute",
)
def test_ray_loses_a_node_and_no_byte(
    pool_folder: Path, straight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        second, done = cluster.add_node(num_cpus=1), list[int]()

        def lose_a_node(run: Any) -> None:
            done.append(run.n_finished)
            if len(done) == 3:
                cluster.remove_node(second, allow_graceful=False)

        pool, ray = CandidatePool.open(pool_folder), Workers(None, EngineOptions(f"ray[{cluster.address}]"))
        out = straight.parent / "ray"
        filter_pool(pool, PHASES, TOGETHER, out=out, after_iteration=lose_a_node, workers=ray)
        assert files_of(out) == files_of(straight)
        monkeypatch.setattr(contract, "SCORED_AT_ONCE", 20)
        for name, workers in (("here", Workers(1)), ("there", ray)):
            filter_pool(pool, "mlp", replace(FULL, iterations=2), out=tmp_path / name, workers=workers)
        assert files_of(tmp_path / "here") == files_of(tmp_path / "there")
    finally:
        cluster.shutdown()
