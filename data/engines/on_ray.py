"""Actors of a Ray cluster: each opens the job once and does blocks; a lost one costs its block and nothing else."""

import os
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from swag_af.data.engines.contract import BLOCKS_AHEAD, BlockT, Crew, Job, ResultT, Worker, cores_of, needs_folder
from swag_af.data.engines.options import EngineOptions
from swag_af.data.engines.ordered import FleetCrew, LostError
from swag_af.data.errors import InputError, SwagAfError, in_one_line
from swag_af.data.extras import install


@contextmanager
def on_ray(
    job: Job[BlockT, ResultT], blocks: Sequence[BlockT], *, workers: int | None, engine: EngineOptions
) -> Iterator[Iterator[ResultT]]:
    """The results of `blocks`, in order, by `workers` actors, or as many as the cluster has cores for."""
    with ray_crew(job, workers=min(workers or len(blocks), len(blocks)), engine=engine) as crew:
        yield crew.map(blocks)


@contextmanager
def ray_crew(
    job: Job[BlockT, ResultT], *, workers: int | None, engine: EngineOptions
) -> Iterator[Crew[BlockT, ResultT]]:
    """Actors who stay until the `with` block is left: `workers` of them, or as many as the cluster has cores for.

    Where Ray runs already in this process, that cluster is used and left as it is.
    """
    ray = _imported()
    with _connected(ray, engine.place):
        cores = min(cores_of(job), _largest_node(ray))
        fleet = _Actors(ray, job, cores, engine.gpus_per_task)
        try:
            n = _room(ray, engine, cores, workers)
            yield FleetCrew(fleet, n, ahead=BLOCKS_AHEAD * n)
        finally:
            for actor in fleet.hired:
                ray.kill(actor)


@contextmanager
def _connected(ray: Any, address: str) -> Iterator[None]:
    """In such a block Ray runs in this process; what was not running before ends with the block, however that ends."""
    if ray.is_initialized():
        yield
        return
    try:
        _connect(ray, address)
        yield
    finally:
        ray.shutdown()


class _Actors:
    """A fleet of actors. A lost one is not started again by Ray: the block goes to whoever has time."""

    def __init__(self, ray: Any, job: Job[Any, Any], cores: int, gpus: float):
        self.ray = ray
        self.job = ray.put(job)
        self.make = ray.remote(num_cpus=cores, num_gpus=gpus, max_restarts=0, max_task_retries=0)(_Actor)
        self.hired: list[Any] = []
        self.head = _Head(ray.get_runtime_context().gcs_address)

    def hire(self) -> tuple[Any, Any]:
        self.hired.append(self.make.remote(self.job, os.getcwd()))
        return self.hired[-1], self.hired[-1].is_ready.remote()

    def send(self, worker: Any, block: Any) -> Any:
        return worker.do.remote(block)

    def wait(self, sent: Sequence[Any]) -> Any:
        while True:
            done, _ = self.ray.wait(sent, num_returns=1, timeout=LOOKED_AT_EVERY)
            if self.head.has_ended():
                self.hired.clear()  # `ray.kill` would wait for the head
                raise InputError(
                    f"--engine ray: the Ray cluster at {self.head.address} has ended, or cannot be reached any more. "
                    "Start it and repeat the command, which goes on after the last finished block."
                )
            if done:
                return done[0]

    def take(self, sent: Any) -> Any:
        known = self.ray.exceptions
        try:
            return self.ray.get(sent)
        except known.RayTaskError as error:
            told = (SwagAfError, OSError, MemoryError)  # to be told as if they had been raised here
            raise (error.cause if isinstance(error.cause, told) else error) from None
        except (known.RayActorError, known.WorkerCrashedError, known.OutOfMemoryError, known.ObjectLostError) as error:
            if getattr(error, "actor_init_failed", False):  # so would another one
                raise InputError(
                    f"--engine ray: a worker cannot begin ({str(error).strip().splitlines()[-1].strip()}). The package "
                    "must be installed on every machine, and folders be at the same path."
                ) from None
            raise LostError from None

    def let_go(self, worker: Any) -> None:
        self.hired.remove(worker)
        self.ray.kill(worker)


class _Head:
    """The head of a cluster. Ray ends this process with a message of its own a minute after it has lost it."""

    def __init__(self, address: str):
        self.address = address
        self.due = 0.0
        self.n_missed: int | None = None
        """Looks in vain, one after another; None before anybody was there: the address may be of another network."""

    def has_ended(self) -> bool:
        """Whether it was there once, and nobody has listened there the last `LOOKS` times; looks again if due."""
        if time.monotonic() >= self.due:
            self.due = time.monotonic() + LOOKED_AT_EVERY
            try:
                _reach(self.address, LOOKED_FOR)
                self.n_missed = 0
            except (OSError, OverflowError):
                self.n_missed = None if self.n_missed is None else self.n_missed + 1
        return self.n_missed == LOOKS


LOOKED_AT_EVERY = 4.0
"""Seconds between two looks at the head of the cluster."""
LOOKED_FOR = 1.0
"""Seconds in which it has to answer then."""
LOOKS = 6
"""Without an answer, one after another, a cluster has ended: at least 20 s, since a network may pause, and about 30 at
most, since Ray itself ends this process after 60."""


class _Actor:
    """A worker, with methods that Ray can call."""

    def __init__(self, job: Job[Any, Any], folder: str):
        if needs_folder(job) or os.path.isdir(folder):
            os.chdir(folder)  # the caller's, so that relative paths mean the same
        self._worker = Worker(job)

    def is_ready(self) -> bool:
        return True

    def do(self, block: Any) -> Any:
        return self._worker.do(block)


def check_ray(engine: EngineOptions) -> None:
    """Raise InputError where the package is missing, nobody listens at the address, or, where tasks are to have GPUs,
    the cluster has too few for one: only then it is connected to, which takes seconds."""
    ray = _imported()
    _check_reached(_address(engine.place))
    if engine.gpus_per_task:
        with _connected(ray, engine.place):
            _room(ray, engine, 1, 1)


def _imported() -> Any:
    try:
        import ray
    except ImportError:
        raise InputError(f"--engine ray needs a package: {install('ray')}.") from None
    return ray


def _connect(ray: Any, address: str) -> None:
    """Find the cluster, or start one on this machine where no address is given and none is in RAY_ADDRESS."""
    address = _address(address)
    _check_reached(address)
    threads = {"env_vars": {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}}
    local = {} if address else {"include_dashboard": False}
    before = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address=address or "local", runtime_env=threads, log_to_driver=False, logging_level="error", **local)
    except Exception as error:
        if _is_of_token(error):
            raise _no_token(address) from None
        told = isinstance(error, ConnectionError | ValueError | RuntimeError)
        if not told and type(error) is not Exception:  # a plain one: Ray's own processes take too long to start
            raise
        raise (_no_cluster(address, error) if address else _not_started(error)) from None
    if before is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, before)  # Ray has put its own in place


def _address(given: str) -> str:
    return given or os.environ.get("RAY_ADDRESS", "")


def _check_reached(address: str) -> None:
    """Raise InputError where nobody listens at an address of host and port, given or found by `auto`: Ray would try for
    a quarter of an hour."""
    if address and not re.fullmatch(rf"auto|local|{_AT}", address):
        raise InputError(f"--engine ray[{address}]: no address. Write HOST:PORT, ray://HOST:PORT, or auto.")
    try:
        _reach(_found(address), REACHED_IN)
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, error) from None


def _reach(address: str, seconds: float) -> None:
    """Raise OSError or OverflowError where nobody listens at an address of host and port."""
    if found := re.fullmatch(_AT, address):
        socket.create_connection((found[1].strip("[]"), int(found[2])), timeout=seconds).close()


def _found(address: str) -> str:
    """Where `auto` leads: perhaps to a cluster that has ended, but was never told to; any other address as it is.

    Raises ConnectionError where it leads nowhere.
    """
    if address != "auto":
        return address
    try:
        from ray._private.services import get_ray_address_from_environment
    except ImportError:  # Ray promises no such place, and another version may have none: then it tries for itself
        return address
    return str(get_ray_address_from_environment("auto", None))


_AT = r"(?:ray://)?([^/:]+|\[[^\]]+\]):(\d{1,5})"
"""A host, or an IPv6 address in brackets, and a port."""
REACHED_IN = 20.0
"""Seconds in which a cluster has to answer."""


def _is_of_token(error: BaseException | None) -> bool:
    """Whether a cluster refuses who has no token, or another one: Ray says so below errors of other names, in text."""
    while error is not None:
        if "AuthenticationError" in f"{type(error).__name__}: {error}":
            return True
        error = error.__cause__ or error.__context__
    return False


def _no_token(address: str) -> InputError:
    return InputError(
        f"--engine ray{address and f'[{address}]'}: the Ray cluster asks for a token, and was given none that it "
        "knows. Set RAY_AUTH_MODE=token, and put its token into ~/.ray/auth_token or RAY_AUTH_TOKEN: on the machine "
        "where it was started `ray get-auth-token` prints it."
    )


def _no_cluster(address: str, error: Exception) -> InputError:
    if address.startswith("ray://"):
        return InputError(
            f"--engine ray[{address}]: no server of Ray's client answers there ({in_one_line(error)}). Its port is "
            "10001 unless `ray start` was told another one; it opens some seconds after the cluster has started, and "
            "only with `pip install 'ray[client]'` there. On a machine of the cluster give HOST:6379 instead."
        )
    return InputError(
        f"--engine ray[{address}]: no Ray cluster answers there ({in_one_line(error)}). Start one "
        "with `ray start --head`."
    )


def _not_started(error: Exception) -> InputError:
    return InputError(
        f"--engine ray: Ray could not be started on this machine ({in_one_line(error)}). Type the same again when less "
        "else runs here, or start one with `ray start --head` and name its address: --engine ray[ADDRESS]."
    )


def _largest_node(ray: Any) -> int:
    """Cores of the machine that has most of them: an actor that asked for more would wait for ever."""
    return max([1, *(int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"])])


def _room(ray: Any, engine: EngineOptions, cores: int, workers: int | None) -> int:
    """Actors of so many `cores` that the cluster has cores and GPUs for, at most `workers`."""
    there = ray.cluster_resources()
    room = int(there.get("CPU", 1)) // cores
    if engine.gpus_per_task:
        room = min(room, int(there.get("GPU", 0) / engine.gpus_per_task))
    if room < 1:
        raise InputError(
            f"--gpus-per-task {engine.gpus_per_task:g}: the Ray cluster has {there.get('GPU', 0):g} GPUs and "
            f"{there.get('CPU', 0):g} cores. Ask for less."
        )
    return min(room, workers or room)
