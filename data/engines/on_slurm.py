"""Job arrays of a Slurm cluster through submitit: every task does a chunk of blocks, and is submitted again when lost.

A task keeps its results in submitit's folder, which every node must see. Chunks are a few for each worker, so that a
lost task costs little and the first results come early.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from traceback import format_exc
from typing import Any

from swag_af.data.disk.replacing import remove
from swag_af.data.engines.contract import BlockT, Job, ResultT, cores_of
from swag_af.data.engines.options import SLURM_FOLDER, EngineOptions
from swag_af.data.errors import InputError, SwagAfError, in_one_line
from swag_af.data.extras import install

CHUNKS = 4
"""Tasks for each worker."""
TRIES = 3
"""Times that a task is submitted whose node or process is lost, before the run stops."""
MINUTES = 240
"""That a task may take, where --slurm time= does not say."""
DEFAULT_WORKERS = 16
"""Tasks of the array that run at a time, where --workers does not say."""


_UNNAMED = SLURM_FOLDER / "%j"
"""Where the folder of each job is named; submitit makes one of this very name, too."""


@dataclass(frozen=True)
class _Chunk:
    """Blocks that one task does."""

    job: Job[Any, Any]
    blocks: Sequence[Any]

    def __call__(self) -> list[Any] | Exception:
        """The results, or what the user is to be told, or a bug with its traceback.

        Submitit would pass on texts alone, and as of tasks that were lost.
        """
        from submitit.core.utils import UncompletedJobError

        try:
            do = self.job.open()
            return [do(block) for block in self.blocks]
        except (SwagAfError, OSError, MemoryError) as error:
            return error
        except UncompletedJobError:  # Slurm takes the task off its node
            raise
        except Exception:
            return RuntimeError(f"in a task of Slurm:\n{format_exc()}")


@contextmanager
def on_slurm(
    job: Job[BlockT, ResultT], blocks: Sequence[BlockT], *, workers: int | None, engine: EngineOptions
) -> Iterator[Iterator[ResultT]]:
    """The results of `blocks`, in order; at most `workers` tasks run at a time. Tasks end when the block is left."""
    workers = workers or DEFAULT_WORKERS
    size = max(1, -(-len(blocks) // (CHUNKS * workers)))
    chunks = [_Chunk(job, blocks[at : at + size]) for at in range(0, len(blocks), size)]
    executor = _executor(engine, workers, cores_of(job))
    with _submitting(engine):
        if engine.place:  # only Slurm itself holds the others back
            tasks = [executor.submit(one) for one in chunks[:workers]]
        else:
            tasks = executor.map_array(_Chunk.__call__, chunks)
    try:
        yield _results(executor, tasks, chunks, engine)
    finally:
        for task in tasks:
            if not task.done():
                task.cancel()
        if _UNNAMED.is_dir() and not any(_UNNAMED.iterdir()):
            remove(_UNNAMED)


@contextmanager
def _submitting(engine: EngineOptions) -> Iterator[None]:
    """What Slurm does not take, a partition that is not there or a time over its limit, as an InputError."""
    from submitit.core.utils import FailedJobError

    try:
        yield
    except FailedJobError as error:
        raise InputError(
            f"--engine {engine.engine}: Slurm does not take the job ({in_one_line(error, 200)}). Look at --slurm "
            f"{' '.join(engine.slurm) or 'NAME=VALUE'} and --workers."
        ) from None


def check_slurm(engine: EngineOptions) -> None:
    """Raise InputError where no job of this kind could be submitted from here: without submitit, without Slurm, or with
    a setting that it does not know."""
    if engine.place and engine.gpus_per_task and not _has_gpu():
        raise InputError(
            f"--gpus-per-task {engine.gpus_per_task:g}: {engine.engine} is this machine, which has no GPU."
        )
    is_new = not SLURM_FOLDER.exists()
    try:
        _executor(engine, 1, 1)
    finally:
        if is_new and SLURM_FOLDER.exists() and not any(SLURM_FOLDER.iterdir()):
            remove(SLURM_FOLDER)  # submitit has made it, and there may never be a job


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def _executor(engine: EngineOptions, workers: int, cores: int) -> Any:
    try:
        import submitit
    except ImportError:
        raise InputError(f"--engine slurm needs a package: {install('slurm')}.") from None
    try:
        executor = submitit.AutoExecutor(folder=_UNNAMED, cluster=engine.place or "slurm")
    except (RuntimeError, ValueError) as error:
        raise InputError(
            f"--engine {engine.engine}: {in_one_line(error).rstrip('?.')}. Run it where sbatch can be called."
        ) from None
    named = dict(setting.split("=", 1) for setting in engine.slurm)
    plain = {"time": "timeout_min", "mem_gb": "mem_gb", "cpus_per_task": "cpus_per_task"}
    settings = {plain.get(k, f"slurm_{k}"): int(v) if v.isdecimal() else v for k, v in named.items()}
    asked = {"cpus_per_task": cores, "name": "swag-af", "timeout_min": MINUTES, "slurm_array_parallelism": workers}
    if engine.gpus_per_task:
        asked["gpus_per_node"] = int(engine.gpus_per_task)
    try:
        executor.update_parameters(**asked | settings)
    except (AssertionError, NameError) as error:
        said = str(error).partition(". Valid arguments")[0]
        raise InputError(
            f"--slurm {' '.join(engine.slurm)}: {said}. Say partition=gpu, time=120 (minutes), mem_gb=16."
        ) from None
    return executor


def _results(executor: Any, tasks: list[Any], chunks: Sequence[_Chunk], engine: EngineOptions) -> Iterator[Any]:
    """The results, in order; for each task that is done one that was held back is submitted, and added to `tasks`."""
    from submitit.core.utils import UncompletedJobError

    for number, chunk in enumerate(chunks):
        for n_left in reversed(range(TRIES)):
            try:
                made = tasks[number].result()
                break
            except UncompletedJobError:  # the task left no answer: its node failed, or it was taken off it
                if not n_left:
                    raise InputError(_lost(tasks[number], engine)) from None
                with _submitting(engine):
                    tasks[number] = executor.submit(chunk)
        if isinstance(made, Exception):
            raise made
        if len(tasks) < len(chunks):
            with _submitting(engine):
                tasks.append(executor.submit(chunks[len(tasks)]))
        for path in (tasks[number].paths.submitted_pickle, tasks[number].paths.result_pickle):
            remove(path)  # logs stay; now, for who has all results asks for no more
        yield from made


def _lost(task: Any, engine: EngineOptions) -> str:
    """What is said of a task that has left no answer in any of its tries."""
    minutes = dict(setting.split("=", 1) for setting in engine.slurm).get("time", MINUTES)
    return (
        f"--engine {engine.engine}: a task ended {TRIES} times without an answer: lost, without memory, over its time "
        f"of {minutes} minutes (--slurm time=), or without this package on its node. Its last words are in "
        f"{task.paths.stderr}."
    )
