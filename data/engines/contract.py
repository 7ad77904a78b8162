"""A job is work in blocks. It is small and picklable, and opens what it needs in the process that does the work."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Generic, Protocol, TypeVar

BlockT = TypeVar("BlockT")
ResultT = TypeVar("ResultT")
BlockIn = TypeVar("BlockIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)


class Job(Protocol[BlockIn, ResultOut]):
    """Work in blocks. Picklable, as are its blocks and results: paths and names, not tables or models."""

    def open(self) -> Callable[[BlockIn], ResultOut]:
        """Open what the work needs; returns the function that does one block. Called once in each process."""


def cores_of(job: Job[BlockT, ResultT]) -> int:
    """Cores that each worker of a cluster is asked for: those that the job names in `cores`, or one."""
    return int(getattr(job, "cores", 1))


def needs_folder(job: Job[BlockT, ResultT]) -> bool:
    """Whether workers elsewhere need the caller's working folder, from which paths may lead: not where the job says in
    `needs_folder` that it brings its own."""
    return bool(getattr(job, "needs_folder", True))


class Worker(Generic[BlockT, ResultT]):
    """The job of a process, opened when its first block comes."""

    def __init__(self, job: Job[BlockT, ResultT]):
        self._job = job

    @cached_property
    def do(self) -> Callable[[BlockT], ResultT]:
        """Do one block."""
        return self._job.open()


class Crew(Protocol[BlockIn, ResultOut]):
    """Workers who have opened a job and stay."""

    def map(self, blocks: Sequence[BlockIn]) -> Iterator[ResultOut]:
        """The results of `blocks`, in order; of a list at a time."""


ENDED = (
    "a process that did part of the work ended before it was done, perhaps for want of memory. Run the command again "
    "with fewer --workers."
)
"""What is said where a process did not come back."""

NEVER_READY = (
    "none of the last processes that were started elsewhere got as far as its work. Look at the cluster: is the "
    "package installed on all its machines, and are they left running?"
)
"""What is said where processes are lost one after another before they begin."""

BLOCKS_AHEAD = 4
"""For each process, blocks sent before the result of the first is taken: memory does not grow with their number."""
