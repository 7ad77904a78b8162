"""Clusters: results are those of this process, in order, whoever does the work and whoever is lost on the way."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from squares import Squares

from swag_af.af.options import FilterOptions
from swag_af.auditing.options import AuditOptions
from swag_af.cli.main import main
from swag_af.data.captions.options import ContextsOptions
from swag_af.data.disk.files import write_text
from swag_af.data.disk.replacing import remove
from swag_af.data.engines import on_ray
from swag_af.data.engines.options import EngineOptions
from swag_af.data.engines.ordered import TRIES, FleetCrew, LostError, in_order
from swag_af.data.errors import InputError
from swag_af.data.pool.options import TagOptions
from swag_af.data.scale import check_engine, run_blocks
from swag_af.data.stores.travelling import sent
from swag_af.lm.options import FeaturesOptions, GenerateOptions, TrainLMOptions
from swag_af.matching.options import MatchOptions


class FakeFleet:
    """Workers who finish in random order, and are lost at random, each block at most `TRIES - 1` times."""

    def __init__(self, seed: int, lost: float):
        self.rng, self.lost = np.random.default_rng(seed), lost
        self.n_hired = self.n_sent = 0
        self.busy: set[int] = set()
        self.times = Counter[int]()
        self.let_go_of: list[int] = []

    def hire(self) -> tuple[int, tuple[int, None]]:
        self.n_hired += 1
        return self.n_hired, (self.n_hired, None)

    def send(self, worker: int, block: int) -> tuple[int, int]:
        assert worker not in self.busy
        self.busy.add(worker)
        return worker, block

    def wait(self, sent: Sequence[tuple[int, Any]]) -> tuple[int, Any]:
        return sent[int(self.rng.integers(len(sent)))]

    def take(self, sent: tuple[int, Any]) -> Any:
        worker, block = sent
        self.busy.discard(worker)
        if block is not None and self.times[block] < TRIES - 1 and self.rng.random() < self.lost:
            self.times[block] += 1
            raise LostError
        return None if block is None else block * block

    def let_go(self, worker: int) -> None:
        assert worker not in self.let_go_of
        self.let_go_of.append(worker)


@given(st.integers(0, 40), st.integers(1, 6), st.integers(0, 999), st.sampled_from([0.0, 0.3, 1.0]))
@settings(max_examples=60)
def test_results_come_in_order_whoever_is_lost(n: int, n_workers: int, seed: int, lost: float) -> None:
    fleet = FakeFleet(seed, lost)
    assert list(in_order(fleet, range(n), n_workers, ahead=2 * n_workers)) == [i * i for i in range(n)]


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=6),
    *(st.integers(1, 4), st.integers(0, 999), st.sampled_from([0.0, 0.3])),
)
@settings(max_examples=60)
def test_a_crew_does_one_list_after_another(lists: list[tuple[int, int]], n: int, seed: int, lost: float) -> None:
    """Of each list some results are taken; what was sent beyond them disturbs no later list."""
    fleet = FakeFleet(seed, lost)
    crew = FleetCrew(fleet, n, ahead=2 * n)
    for number, (n_blocks, n_taken) in enumerate(lists):
        blocks = range(100 * number, 100 * number + n_blocks)
        assert list(islice(crew.map(blocks), n_taken)) == [i * i for i in blocks][:n_taken]
    assert fleet.n_hired == n + sum(fleet.times.values())
    assert len(fleet.let_go_of) == sum(fleet.times.values())


class NotedFleet(FakeFleet):
    """Remembers what was sent; a block may end all its workers."""

    def __init__(self, deadly: int = -1):
        super().__init__(0, 0.0)
        self.deadly, self.sent = deadly, list[int]()

    def send(self, worker: int, block: int) -> tuple[int, int]:
        self.sent.append(block)
        return super().send(worker, block)

    def take(self, sent: tuple[int, Any]) -> Any:
        result = super().take(sent)
        if sent[1] == self.deadly:
            raise LostError
        return result


def test_no_block_is_sent_far_ahead_of_the_one_that_is_waited_for() -> None:
    fleet = NotedFleet()
    for number, _ in enumerate(in_order(fleet, range(50), 3, ahead=5)):
        assert max(fleet.sent) < number + 5


def test_a_block_that_ends_every_worker_stops_the_run() -> None:
    fleet = NotedFleet(deadly=2)
    with pytest.raises(InputError, match="ended before it was done"):
        list(in_order(fleet, range(4), 2, ahead=8))
    assert fleet.sent.count(2) == TRIES


class NeverReady(FakeFleet):
    """Workers who are lost before they have done anything, but for every `one_in`-th."""

    def __init__(self, one_in: int):
        super().__init__(0, 0.0)
        self.one_in = one_in

    def take(self, sent: tuple[int, Any]) -> Any:
        if sent[1] is None and sent[0] % self.one_in:
            raise LostError
        return super().take(sent)


@pytest.mark.parametrize("n", [1, 3])
def test_workers_who_never_get_ready_are_not_hired_without_end(n: int) -> None:
    fleet = NeverReady(1 << 30)
    with pytest.raises(InputError, match="got as far as its work"):
        list(in_order(fleet, range(4), n, ahead=8))
    assert fleet.n_hired == TRIES * n + n - 1
    assert list(in_order(NeverReady(TRIES), range(4), n, ahead=8)) == [0, 1, 4, 9]


class Places(FakeFleet):
    """Workers of whom some are never ready, and others are lost at a block, as a table or chance has it."""

    def __init__(self, seed: int, lost: float, never: float, *, long: bool = False):
        super().__init__(seed, lost)
        self.never, self.long, self.ready = never, long, set[int]()

    def wait(self, sent: Sequence[tuple[int, Any]]) -> tuple[int, Any]:
        starts = [one for one in sent if one[1] is None]
        return starts[0] if self.long and starts else super().wait(sent)

    def take(self, sent: tuple[int, Any]) -> Any:
        worker, block = sent
        if block is None and worker > 1 and self.rng.random() < self.never:
            raise LostError
        self.ready.add(worker)
        return super().take(sent)

    def let_go(self, worker: int) -> None:
        super().let_go(worker)
        self.ready.discard(worker)


@pytest.mark.parametrize(("n_workers", "n_blocks"), [(2, 3), (2, 30), (5, 1), (5, 40)])
def test_places_where_nobody_gets_ready_end_no_run_in_which_somebody_works(n_workers: int, n_blocks: int) -> None:
    """One such place ended it while another worker was at a long block: no process got as far as its work, it said."""
    fleet = Places(0, 0.0, 1.0, long=True)
    assert list(in_order(fleet, range(n_blocks), n_workers, ahead=8)) == [i * i for i in range(n_blocks)]
    assert TRIES * n_workers <= fleet.n_hired <= n_workers * (TRIES + 1 + n_blocks), "once for each block, from then on"


@given(
    *(st.integers(0, 30), st.integers(1, 5), st.integers(0, 999), st.booleans()),
    *(st.sampled_from([0.0, 0.1, 1.0]), st.sampled_from([0.5, 0.9, 1.0])),
)
@settings(max_examples=100)
def test_a_run_is_given_up_only_where_nobody_is_ready(
    n: int, n_workers: int, seed: int, long: bool, lost: float, never: float
) -> None:
    fleet, made, is_given_up = Places(seed, lost, never, long=long), list[int](), False
    try:
        made.extend(in_order(fleet, range(n), n_workers, ahead=2 * n_workers))
    except InputError:
        is_given_up = True
    assert made == [i * i for i in range(len(made))]
    assert len(made) == n or is_given_up
    assert not (is_given_up and fleet.ready)
    assert not is_given_up or len(fleet.let_go_of) >= TRIES * n_workers


def test_who_refuses_a_block_stays_for_the_next_list() -> None:
    class Refusing(FakeFleet):
        def take(self, sent: tuple[int, Any]) -> Any:
            result = super().take(sent)
            if sent[1] == 13:
                raise InputError("13: not today.")
            return result

    crew = FleetCrew(Refusing(0, 0.0), 1, ahead=4)
    with pytest.raises(InputError, match="13: not today"):
        list(crew.map([12, 13]))
    assert list(crew.map([3])) == [9]


HEARD = signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
"""Whether a process that imports this heard Ctrl-C while it did."""


class Hearing:
    """A job that tells of it."""

    def open(self) -> Callable[[int], bool]:
        return lambda block: HEARD


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Other processes find the job of these tests; they leave their files in `tmp_path`."""
    known = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(Path(__file__).parent), known])))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("engine", "fault"),
    [
        ({"engine": "cloud"}, "there are auto, local"),
        ({"engine": "local[here]"}, "no brackets"),
        *(({"engine": f"ray{end}"}, "there are auto, local") for end in ("[", "[auto", "]", "[]", "[a]b", " ")),
        ({"gpus_per_task": -1}, "gpus-per-task"),
        ({"engine": "ray", "gpus_per_task": 1.5}, r"--gpus-per-task 1\.5: above 1 a whole number"),
        ({"gpus_per_task": 1}, "--gpus-per-task is for --engine ray and slurm"),
        ({"engine": "slurm", "gpus_per_task": 0.5}, r"--gpus-per-task 0\.5: Slurm gives whole GPUs"),
        ({"slurm": ("time=3",)}, "for --engine slurm"),
        ({"engine": "slurm", "slurm": ("fast",)}, "NAME=VALUE"),
        ({"engine": "slurm[here]"}, r"there are slurm, and slurm\[local\]"),
        (
            {"engine": "slurm", "slurm": ("mem_gb=4", "time=two hours")},
            "--slurm time=two hours: time is a whole number",
        ),
        ({"engine": "slurm", "slurm": ("time=10", "time=20")}, "--slurm time: given twice"),
        ({"engine": "slurm", "slurm": ("time=0",)}, "--slurm time=0: time is a whole number from 1 on"),
    ],
)
def test_odd_engines_are_told_in_one_line(engine: dict[str, Any], fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        EngineOptions(**engine)


@pytest.mark.parametrize("gpus", [0, 0.25, 1, 2.0])
def test_gpus_are_whole_or_the_share_of_one(gpus: float) -> None:
    assert EngineOptions("ray", gpus_per_task=gpus).gpus_per_task == gpus


@pytest.mark.parametrize(
    "make",
    [
        partial(ContextsOptions, (Path("c.json"),)),
        partial(TrainLMOptions, Path("c.jsonl")),
        partial(GenerateOptions, Path("c.jsonl")),
        partial(FeaturesOptions, Path("pool")),
        partial(MatchOptions, (Path("d.jsonl"),)),
        partial(FilterOptions, Path("pool")),
        partial(AuditOptions, (Path("d.jsonl"),)),
        partial(TagOptions, Path("pool"), in_context=True),
    ],
)
def test_this_process_alone_is_one_worker(make: Callable[..., Any]) -> None:
    """More were asked for, and none came, without a word."""
    for workers in (None, 1):
        make(where=EngineOptions("local"), workers=workers)
    with pytest.raises(InputError, match="--workers 3: --engine local is this process alone"):
        make(where=EngineOptions("local"), workers=3)
    with pytest.raises(InputError, match="--workers 0: at least 1"):
        make(workers=0)


def test_local_is_this_process() -> None:
    with run_blocks(Squares(), range(3), workers=4, engine=EngineOptions("local")) as results:
        assert list(results) == [(i * i, os.getpid()) for i in range(3)]


@pytest.mark.usefixtures("importable")
def test_slurm_by_its_local_executor() -> None:
    pytest.importorskip("submitit")
    with run_blocks(Squares(), range(3), workers=2, engine=EngineOptions("slurm[local]")) as results:
        made = list(results)
    assert [square for square, _ in made] == [i * i for i in range(3)]
    assert os.getpid() not in {process for _, process in made}
    with (
        pytest.raises(InputError, match="13: not today"),
        run_blocks(Squares(), range(12, 15), workers=1, engine=EngineOptions("slurm[local]")) as results,
    ):
        list(results)


@pytest.mark.usefixtures("importable")
def test_of_slurms_local_executor_no_more_tasks_run_than_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them were submitted at once, and each is a process."""
    executor = pytest.importorskip("submitit").AutoExecutor
    running, submit = [], executor.submit

    def counted(self: Any, *work: Any) -> Any:
        job = submit(self, *work)
        running.append(sum(not one.done() for one in tasks) + 1)
        tasks.append(job)
        return job

    tasks: list[Any] = []
    monkeypatch.setattr(executor, "submit", counted)
    with run_blocks(Squares(), range(8), workers=1, engine=EngineOptions("slurm[local]")) as results:
        assert [square for square, _ in results] == [n * n for n in range(8)]
    assert len(tasks) == 4
    assert max(running) == 1


def test_slurm_where_there_is_none_says_so() -> None:
    pytest.importorskip("submitit")
    with (
        pytest.raises(InputError, match="sbatch"),
        run_blocks(Squares(), range(3), workers=1, engine=EngineOptions("slurm")) as results,
    ):
        list(results)


@pytest.mark.parametrize(
    "words",
    [
        "generate contexts.jsonl --lms lms --out pool --engine slurm",
        "train-lm contexts.jsonl --out lms --engine slurm[local] --slurm partitoin=gpu",
        "match contexts.jsonl --out matched --engine slurm[local] --slurm time=abc",
    ],
)
def test_an_engine_that_cannot_be_used_leaves_no_folder(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A begun folder would ask for the same command again, which cannot work."""
    pytest.importorskip("submitit")
    monkeypatch.chdir(tmp_path)
    line = '{"sent1": "A man stands.", "start": "He", "gold": "walks away."}\n'
    (tmp_path / "contexts.jsonl").write_text(line * 3, encoding="utf-8")
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(SystemExit) as end:
        main(words.split())
    assert end.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@dataclass(frozen=True)
class Mistaken:
    """A job with a bug."""

    def open(self) -> Callable[[int], float]:
        return lambda block: 1 / block


@pytest.mark.usefixtures("importable")
def test_a_bug_in_a_task_of_slurm_has_its_traceback() -> None:
    pytest.importorskip("submitit")
    with (
        pytest.raises(RuntimeError, match="ZeroDivisionError"),
        run_blocks(Mistaken(), [0], workers=1, engine=EngineOptions("slurm[local]")) as results,
    ):
        list(results)


@pytest.mark.usefixtures("importable")
@pytest.mark.parametrize("setting", ["partitoin=gpu", "time=1:00", "mem_gb=16G"])
def test_a_setting_that_slurm_does_not_take_is_told(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("submitit")
    (Path.cwd() / "srun").write_text("#!/bin/sh\n")
    (Path.cwd() / "srun").chmod(0o755)
    monkeypatch.setenv("PATH", f"{Path.cwd()}:{os.environ['PATH']}")  # a machine that may submit jobs
    with (
        pytest.raises(InputError, match=f"--slurm {setting}: .*{setting.partition('=')[0][:4]}"),
        run_blocks(Squares(), range(3), workers=1, engine=EngineOptions("slurm", slurm=(setting,))) as results,
    ):
        list(results)


@dataclass(frozen=True)
class Writing:
    """A job that writes a file, and removes the one before."""

    folder: Path

    def open(self) -> Callable[[int], int]:
        def do(block: int) -> int:
            write_text(self.folder / f"{block}.txt", "made")
            remove(self.folder / f"{block - 1}.txt")
            return block

        return do


@pytest.mark.usefixtures("importable")
def test_who_watches_files_is_told_of_those_of_other_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A store would not hear of them before the command ends."""
    told: list[tuple[str, str]] = []
    monkeypatch.setattr("swag_af.data.disk.replacing.WATCHERS", [lambda path: told.append(("written", path.name))])
    monkeypatch.setattr(
        "swag_af.data.disk.replacing.REMOVAL_WATCHERS", [lambda path: told.append(("removed", path.name))]
    )
    with run_blocks(Writing(tmp_path), range(1, 4), workers=2, engine=EngineOptions("processes")) as results:
        for i in results:
            assert told[-2:] == [("written", f"{i}.txt"), ("removed", f"{i - 1}.txt")], "before the result is used"
    assert len(told) == 6


@dataclass(frozen=True)
class Full:
    """A job on a machine whose disk is full."""

    def open(self) -> Callable[[int], float]:
        raise OSError(28, "No space left on device", "here.npy")


@pytest.mark.usefixtures("importable")
def test_what_the_system_of_a_task_refuses_is_no_bug(tmp_path: Path) -> None:
    """The command line tells an OSError in one line."""
    pytest.importorskip("submitit")
    with (
        pytest.raises(OSError, match=r"No space left on device: .here\.npy."),
        run_blocks(Full(), [0], workers=1, engine=EngineOptions("slurm[local]")) as results,
    ):
        list(results)


def test_what_the_system_of_an_actor_refuses_is_no_bug() -> None:
    exceptions = pytest.importorskip("ray.exceptions")

    def get(sent: Any) -> Any:
        raise exceptions.RayTaskError("do", "a traceback", OSError(28, "No space left on device", "here.npy"))

    actors = object.__new__(on_ray._Actors)
    actors.ray = SimpleNamespace(exceptions=exceptions, get=get)
    with pytest.raises(OSError, match=r"No space left on device: .here\.npy."):
        actors.take(None)


def test_an_address_where_nobody_listens_is_refused_at_once() -> None:
    """Ray tried for 14 minutes."""
    pytest.importorskip("ray")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        engine = EngineOptions(f"ray[127.0.0.1:{taken.getsockname()[1]}]")
        with (
            pytest.raises(InputError, match="no Ray cluster answers there"),
            run_blocks(Squares(), [1], workers=1, engine=engine) as results,
        ):
            list(results)


def test_a_cluster_that_has_ended_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`auto` goes by a file that a cluster leaves that was killed, and Ray tried for 14 minutes."""
    pytest.importorskip("ray")
    monkeypatch.setattr("ray._private.services._find_address_from_flag", lambda flag: set())  # of other tests
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    for left, told in (("", "Could not find any running Ray instance"), ("127.0.0.1:9", "Connection refused")):
        if left:
            (tmp_path / "ray").mkdir()
            (tmp_path / "ray" / "ray_current_cluster").write_text(left)
        with (
            pytest.raises(InputError, match=rf"ray\[auto\]: no Ray cluster answers there \(.*{told}.*ray start --head"),
            run_blocks(Squares(), [1], workers=1, engine=EngineOptions("ray[auto]")) as results,
        ):
            list(results)


def test_a_ray_that_cannot_be_started_here_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was called a bug of ours: under load Ray gives up on its own processes, by a plain Exception."""

    def init(**_: Any) -> None:
        raise Exception("The current node timed out during startup.\nIt may be that the machine is busy.")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(InputError, match=r"^--engine ray: Ray could not be started .*timed out.*Type the same again"):
        on_ray._connect(SimpleNamespace(init=init), "")


def test_a_cluster_that_asks_for_a_token_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was said that none answers there: Ray names the token two errors below the one that it raises, in text."""
    exceptions = pytest.importorskip("ray.exceptions")
    monkeypatch.setattr(on_ray, "_check_reached", lambda address: None)  # there is one

    def refused(**_: Any) -> None:
        try:
            raise RuntimeError(f"Failed to connect to GCS. Last connection error: {ASKED}")
        except RuntimeError as error:
            raise ConnectionError("Failed to connect to Ray cluster at 10.0.0.1:6379") from error

    def without(**_: Any) -> None:
        raise exceptions.AuthenticationError("Token authentication is enabled but no token was found")

    for init, address, said in (
        (refused, "auto", r"ray\[auto\]"),
        (without, "auto", r"ray\[auto\]"),
        (without, "", "ray"),
    ):
        monkeypatch.delenv("RAY_ADDRESS", raising=False)
        with pytest.raises(InputError, match=rf"^--engine {said}: .* asks for a token.* Set RAY_AUTH_MODE=token"):
            on_ray._connect(SimpleNamespace(init=init), address)


ASKED = "ray.exceptions.AuthenticationError: RPC error: InvalidAuthToken: Authentication token is missing or incorrect"
"""The end of the traceback that Ray 2.60 quotes."""


def test_an_actor_that_cannot_be_reached_gives_its_cores_back() -> None:
    exceptions = pytest.importorskip("ray.exceptions")

    def get(sent: Any) -> Any:
        raise exceptions.ActorUnavailableError("The actor is temporarily unavailable", b"\0" * 16)

    killed: list[str] = []
    actors = object.__new__(on_ray._Actors)
    actors.ray = SimpleNamespace(exceptions=exceptions, get=get, kill=killed.append)
    actors.hired = ["away", "here"]
    with pytest.raises(LostError):
        actors.take(None)
    actors.let_go("away")
    assert (killed, actors.hired) == (["away"], ["here"])


@pytest.mark.usefixtures("importable")
def test_results_that_are_taken_leave_no_pickles_of_slurm() -> None:
    pytest.importorskip("submitit")
    with run_blocks(Squares(), range(3), workers=1, engine=EngineOptions("slurm[local]")) as results:
        assert [next(results)[0] for _ in range(3)] == [0, 1, 4]  # who has all results asks for no more
    assert not list(Path(".swag-af-slurm").rglob("*.pkl"))


@pytest.mark.usefixtures("importable")
def test_what_slurm_does_not_take_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    utils = pytest.importorskip("submitit.core.utils")

    def refuse(*_: Any) -> Any:
        raise utils.FailedJobError("sbatch: error: invalid partition specified: typo")

    monkeypatch.setattr("submitit.AutoExecutor.submit", refuse)
    engine = EngineOptions("slurm[local]", slurm=("partition=typo",))
    with (
        pytest.raises(InputError, match=r"Slurm does not take the job .*invalid partition.*Look at --slurm partition"),
        run_blocks(Squares(), range(3), workers=1, engine=engine) as results,
    ):
        list(results)


@dataclass(frozen=True)
class Elsewhere:
    """A job that no other process can open: it is not there to be read."""

    def open(self) -> Callable[[int], int]:
        return abs

    def __reduce__(self) -> tuple[Any, ...]:
        return open, ("not-on-this-machine",)


@dataclass(frozen=True)
class Unpicklable:
    """A job that cannot be sent."""

    held: Any = field(default_factory=threading.Lock)

    def open(self) -> Callable[[int], int]:
        return abs


@pytest.mark.slow
def test_a_job_that_cannot_be_sent_leaves_no_ray_behind() -> None:
    ray = pytest.importorskip("ray")
    with pytest.raises(TypeError), run_blocks(Unpicklable(), [1], workers=1, engine=EngineOptions("ray")):
        pass
    assert not ray.is_initialized()


class FakeRay:
    """Ray as far as a crew sees it, which fails in one place."""

    def __init__(self, fails_at: str, *, runs: bool):
        self.fails_at, self.runs, self.killed = fails_at, runs, 0
        self.remote = lambda **_: lambda kind: SimpleNamespace(remote=self.hire)

    def is_initialized(self) -> bool:
        return self.runs

    def init(self, **_: Any) -> None:
        self.runs = True
        self.reach("init")

    def shutdown(self) -> None:
        self.runs = False

    def nodes(self) -> list[Any]:
        return []

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(gcs_address="127.0.0.1:9")

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2}

    def put(self, job: Any) -> Any:
        return self.reach("put")

    def hire(self, *_: Any) -> Any:
        self.reach("hire")
        return SimpleNamespace(is_ready=SimpleNamespace(remote=lambda: object()))

    def kill(self, actor: Any) -> None:
        self.killed += 1

    def reach(self, place: str) -> None:
        if place == self.fails_at:
            raise TypeError(place)


@pytest.mark.parametrize("ran_before", [True, False])
@pytest.mark.parametrize("fails_at", ["init", "put", "hire", "block", "never"])
def test_ray_runs_after_a_crew_only_where_it_ran_before(
    fails_at: str, ran_before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = FakeRay(fails_at, runs=ran_before)
    monkeypatch.setattr(on_ray, "_imported", lambda: ray)
    fails = fails_at != "never" and not (fails_at == "init" and ran_before)
    told = pytest.raises(TypeError, match=fails_at) if fails else nullcontext()
    with told, on_ray.ray_crew(Squares(), workers=2, engine=EngineOptions("ray")):
        ray.reach("block")
    assert ray.runs == ran_before
    assert ray.killed == (0 if fails and fails_at != "block" else 2)


@pytest.mark.slow
@pytest.mark.usefixtures("importable")
def test_ray_loses_a_node_and_no_result() -> None:
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        second = cluster.add_node(num_cpus=1)
        engine = EngineOptions(f"ray[{cluster.address}]")
        made = []
        with run_blocks(
            Squares(0.1, together=2), [i for i in range(41) if i != 13], workers=None, engine=engine
        ) as results:
            for result in results:
                made.append(result)
                if len(made) == 8:
                    cluster.remove_node(second, allow_graceful=False)
        assert [square for square, _ in made] == [i * i for i in range(41) if i != 13]
        assert len({process for _, process in made}) == 2
        with (
            pytest.raises(InputError, match="13: not today"),
            run_blocks(Squares(), [12, 13], engine=engine) as results,
        ):
            list(results)
        with (
            pytest.raises(InputError, match=r"cannot begin \(.*No such file or directory.*\)\. The package"),
            run_blocks(Elsewhere(), [12, 13], engine=engine) as unmade,
        ):
            list(unmade)
    finally:
        cluster.shutdown()


HEAD_IS_LOST = """
import sys
from ray.cluster_utils import Cluster
from swag_af.data.engines import on_ray
from swag_af.data.engines.options import EngineOptions
from swag_af.data.errors import InputError
from swag_af.data.scale import run_blocks
from squares import Squares

on_ray.LOOKED_AT_EVERY = 1.0
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
try:
    with run_blocks(Squares(0.2), range(20, 999), engine=EngineOptions(f"ray[{cluster.address}]")) as results:
        next(results)
        cluster.head_node.kill_gcs_server(check_alive=False)
        cluster.head_node.kill_raylet(check_alive=False)
        list(results)
except InputError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("importable")
def test_a_cluster_that_ends_during_work_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray ended the process after a minute, with a message of its own and code 1."""
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_worker_niceness", "0")
    ended = subprocess.run([sys.executable, "-c", HEAD_IS_LOST], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 2
    last = ended.stderr.splitlines()[-1]
    assert re.fullmatch(
        r"--engine ray: the Ray cluster at [\d.]+:\d+ has ended.* goes on after the last .*block\.", last
    )


def test_a_pause_of_the_network_ends_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a head that was never seen, behind a network that is not ours, is not taken for one that has ended."""
    monkeypatch.setattr(on_ray, "LOOKED_AT_EVERY", 0.0)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        head, unseen = on_ray._Head(address), on_ray._Head(address)
        assert not any(unseen.has_ended() for _ in range(2 * on_ray.LOOKS)), "nobody listens yet"
        listening.listen(9)
        assert not head.has_ended()
    assert not any(head.has_ended() for _ in range(on_ray.LOOKS - 1))
    with socket.create_server(("127.0.0.1", int(address.rpartition(":")[2]))):
        assert not head.has_ended()
    assert [head.has_ended() for _ in range(on_ray.LOOKS)] == [False] * (on_ray.LOOKS - 1) + [True]


@pytest.mark.parametrize("travels", [True, False])
def test_only_a_job_that_travels_works_where_the_folder_of_the_caller_is_not(
    travels: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("swag_af.data.stores.travelling.WATCHERS", [])
    (tmp_path / "shared").mkdir()
    job = sent(Squares()) if travels else Squares()
    with nullcontext() if travels else pytest.raises(FileNotFoundError):
        assert on_ray._Actor(job, str(tmp_path / "gone")).do(3)
    assert Path.cwd() == tmp_path
    on_ray._Actor(job, str(tmp_path / "shared"))
    assert Path.cwd() == tmp_path / "shared"


def test_an_address_of_rays_client_where_nobody_listens_is_told_as_such() -> None:
    """It was said that no cluster answers there, while one did: the client's port opens some seconds later."""
    pytest.importorskip("ray")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        place = f"ray://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(InputError, match=r"no server of Ray's client answers .*10001 .*some seconds.*HOST:6379"):
            check_engine(EngineOptions(f"ray[{place}]"))


@pytest.mark.usefixtures("importable")
def test_processes_that_are_asked_for_by_name_are_as_many_as_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most verbs took one, whatever the machine."""
    monkeypatch.setattr("swag_af.data.scale.usable_cores", lambda: {0, 1, 2})
    for n_blocks, n in ((2, 2), (4, 3)):
        job = Squares(together=n)
        for left in Path().glob("*.here"):
            left.unlink()
        with run_blocks(job, range(n_blocks), workers=None, engine=EngineOptions("processes")) as results:
            assert len({process for _, process in results} - {os.getpid()}) == n
    for engine, workers in (("processes", 1), ("auto", None), ("local", None)):
        with run_blocks(Squares(), range(2), workers=workers, engine=EngineOptions(engine)) as results:
            assert {process for _, process in results} == {os.getpid()}


@pytest.mark.usefixtures("importable")
def test_processes_hear_no_interrupt_while_they_begin() -> None:
    """Each printed a traceback of what it was importing."""
    with run_blocks(Hearing(), [1, 2], workers=2) as heard:
        assert list(heard) == [False, False]
    assert HEARD
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_places_that_are_none_are_told_before_any_work() -> None:
    """Ray was asked first, once the folder was begun; tasks without a GPU took a minute, and a traceback each."""
    pytest.importorskip("ray")
    pytest.importorskip("submitit")
    with pytest.raises(InputError, match=r"--engine ray\[nonsense\]: no address\. Write HOST:PORT"):
        check_engine(EngineOptions("ray[nonsense]"))
    if not pytest.importorskip("torch").cuda.is_available():
        with pytest.raises(InputError, match=r"--gpus-per-task 1: slurm\[local\] is this machine, which has no GPU"):
            check_engine(EngineOptions("slurm[local]", gpus_per_task=1))
