"""Where work runs: here, in processes of this machine, on a cluster, or as one of several runs that share a folder.

Results come in the order of the blocks, so a caller writes the same bytes wherever the work was done, and a caller that
writes each result before it takes the next can be killed and resumed.

A cluster that starts its own runs (a job array, several machines on one file system) needs no engine: each run gets its
`part`, and the run that finds all parts done joins them.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

from swag_af.data.disk.urls import ROOTS
from swag_af.data.engines.contract import BlockT, Crew, Job, ResultT, Worker
from swag_af.data.engines.options import EngineOptions
from swag_af.data.engines.processes import in_processes, process_crew, usable_cores
from swag_af.data.errors import InputError

Part = tuple[int, int]
"""`(i, n)`: this run is number `i`, counted from 0, of `n` that share the work."""

Item = TypeVar("Item")


def parse_part(text: str) -> Part | None:
    """`2/8`, the second of eight, as (1, 8); None for what is not written so."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        return None
    return int(found[1]) - 1, int(found[2])


def share(items: Sequence[Item], part: Part | None) -> Sequence[Item]:
    """Every n-th item from the i-th on, for `part` `(i, n)`; all of them for None."""
    i, n = part or (0, 1)
    return items[i::n]


@contextmanager
def run_blocks(
    job: Job[BlockT, ResultT],
    blocks: Sequence[BlockT],
    *,
    workers: int | None = 1,
    part: Part | None = None,
    engine: EngineOptions | None = None,
) -> Iterator[Iterator[ResultT]]:
    """The results of this run's share of `blocks`, in order, computed as they are taken.

    With more than one of `workers`, that many processes are started, or workers of the cluster that `engine` names.
    None means as many as a cluster has room for, a process for each core where `engine` is `processes`, otherwise this
    process. They are gone when the `with` block is left, at once where an error
    or a signal leaves it, and end when this process is killed. An error in a block is raised where its result is taken,
    and InputError where a process ended by itself, for want of memory for example.
    """
    mine = share(blocks, part)
    engine = engine or EngineOptions()
    workers = _asked_for(workers, engine)
    if not mine or is_here(len(mine), workers, engine):
        yield map(job.open(), mine) if mine else iter(())
        return
    if engine.is_remote and ROOTS:
        from swag_af.data.stores.travelling import arrived, sent

        with _elsewhere(sent(job), mine, workers, engine) as travelled:
            yield arrived(travelled)
        return
    with _elsewhere(job, mine, workers, engine) as results:
        yield results


def check_engine(engine: EngineOptions) -> None:
    """Raise InputError where no work could be sent to a cluster from here, for who asks before anything is written."""
    if engine.kind == "slurm":
        from swag_af.data.engines.on_slurm import check_slurm

        check_slurm(engine)
    if engine.kind == "ray":
        from swag_af.data.engines.on_ray import check_ray

        check_ray(engine)


def is_here(n_blocks: int, workers: int | None, engine: EngineOptions | None) -> bool:
    """Whether this process does so many blocks by itself."""
    engine = engine or EngineOptions()
    workers = _asked_for(workers, engine)
    return engine.kind == "local" or (not engine.is_remote and (workers in (None, 1) or n_blocks < 2))


def _asked_for(workers: int | None, engine: EngineOptions) -> int | None:
    """How many: where `processes` are asked for by name and nobody says, one for each core."""
    return len(usable_cores()) if workers is None and engine.kind == "processes" else workers


def _elsewhere(
    job: Job[BlockT, ResultT], blocks: Sequence[BlockT], workers: int | None, engine: EngineOptions
) -> AbstractContextManager[Iterator[ResultT]]:
    if engine.kind == "ray":
        from swag_af.data.engines.on_ray import on_ray

        return on_ray(job, blocks, workers=workers, engine=engine)
    if engine.kind == "slurm":
        from swag_af.data.engines.on_slurm import on_slurm

        return on_slurm(job, blocks, workers=workers, engine=engine)
    return in_processes(job, blocks, min(workers or 1, len(blocks)))


@contextmanager
def standing_workers(
    job: Job[BlockT, ResultT], *, workers: int | None = 1, engine: EngineOptions | None = None
) -> Iterator[Crew[BlockT, ResultT]]:
    """Workers who stay for many lists of blocks: the job is opened once in each, however often `map` is called.

    As of `run_blocks`, they are `workers` processes, or those of the Ray cluster that `engine` names, and gone when the
    `with` block is left. Raises InputError for Slurm, whose tasks end with their blocks.
    """
    engine = engine or EngineOptions()
    if engine.kind == "slurm":
        raise InputError(
            f"--engine {engine.engine}: its tasks end with their blocks, and here each block needs the result of the "
            "one before. Start processes within one job (--engine processes --workers N), or take --engine ray."
        )
    if engine.kind == "ray":
        from swag_af.data.engines.on_ray import ray_crew

        with ray_crew(job, workers=workers, engine=engine) as crew:
            yield crew
    elif engine.kind == "local" or workers in (None, 1):
        yield _Here(job)
    else:
        with process_crew(job, workers or 1) as crew:
            yield crew


class _Here(Worker[BlockT, ResultT]):
    """This process, as a crew of one."""

    def map(self, blocks: Sequence[BlockT]) -> Iterator[ResultT]:
        return map(self.do, blocks)
