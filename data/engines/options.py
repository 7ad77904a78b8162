"""Where a verb's blocks are done, and by whom. Imports nothing heavy."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Literal, TypeVar

from swag_af.data.errors import Options, check_faults

Kind = Literal["auto", "local", "processes", "ray", "slurm"]
KINDS: tuple[Kind, ...] = ("auto", "local", "processes", "ray", "slurm")

Data = TypeVar("Data")


@dataclass(frozen=True)
class EngineOptions(Options):
    """Where the work is done; what it makes is the same everywhere."""

    engine: str = "auto"
    """local: in this process. processes: in --workers processes on this machine. ray or ray[ADDRESS]: on a Ray cluster.
    slurm: as job arrays of a Slurm cluster, started from a machine that may submit jobs; slurm[local] tries that on
    this machine. auto: processes if there is work for more than one worker, otherwise local. Folders must have the same
    path on every machine."""
    gpus_per_task: float = 0.0
    """GPUs for each worker of a cluster. On Ray, a value below 1 is a share of one GPU. Above 1, it must be a whole
    number."""
    slurm: tuple[str, ...] = ()
    """Slurm settings, NAME=VALUE, such as partition=gpu, time=120 (minutes), mem_gb=16."""

    def __post_init__(self) -> None:
        super().__post_init__()
        is_whole = re.fullmatch(r"\w+(\[[^\[\]]+\])?", self.engine) is not None
        wrong = [one for one in self.slurm if not re.fullmatch(r"[a-z]\w*=.+", one)]
        check_faults(
            [
                (
                    self.kind not in KINDS or not is_whole,
                    f"--engine {self.engine}: there are {', '.join(KINDS)}, and ray[ADDRESS]",
                ),
                (bool(self.place) and self.kind not in ("ray", "slurm"), f"--engine {self.engine}: no brackets there"),
                (
                    self.kind == "slurm" and self.place not in ("", "local"),
                    f"--engine {self.engine}: there are slurm, and slurm[local], which tries it here",
                ),
                (self.gpus_per_task < 0, f"--gpus-per-task {self.gpus_per_task}: not below 0"),
                (bool(self.slurm) and self.kind != "slurm", "--slurm is for --engine slurm"),
                (
                    self.gpus_per_task > 1 and self.gpus_per_task % 1 > 0,
                    f"--gpus-per-task {self.gpus_per_task:g}: above 1 a whole number, for no GPU is shared then",
                ),
                (self.gpus_per_task > 0 and not self.is_remote, "--gpus-per-task is for --engine ray and slurm"),
                (
                    self.kind == "slurm" and 0 < self.gpus_per_task < 1,
                    f"--gpus-per-task {self.gpus_per_task:g}: Slurm gives whole GPUs to a task. Say 1",
                ),
                *((True, f"--slurm {one}: not NAME=VALUE") for one in wrong),
                *(
                    (True, f"--slurm {name}: given twice")
                    for name, n in Counter(one.partition("=")[0] for one in self.slurm).items()
                    if n > 1
                ),
                *(
                    (True, f"--slurm {one}: {one.partition('=')[0]} is a whole number from 1 on")
                    for one in self.slurm
                    if re.match(_NOT_A_NUMBER, one)
                ),
            ]
        )

    @property
    def kind(self) -> str:
        """The word before the brackets."""
        return self.engine.partition("[")[0]

    @property
    def place(self) -> str:
        """What stands in the brackets: the address of a Ray cluster."""
        return self.engine.partition("[")[2].removesuffix("]")

    @property
    def is_remote(self) -> bool:
        """Whether the work may leave this machine."""
        return self.kind in ("ray", "slurm")


_NOT_A_NUMBER = r"(?:time|mem_gb|cpus_per_task)=(?!0*[1-9]\d*$)"
"""A setting of Slurm that is in minutes, in GB, or a count, and is given as something else, or as none of it."""


def worker_faults(workers: int | None, where: EngineOptions, flag: str = "--workers") -> list[tuple[bool, str]]:
    """What is wrong with a number of workers, for `check_faults`."""
    return [
        (workers is not None and workers < 1, f"{flag} {workers}: at least 1"),
        (
            where.kind == "local" and (workers or 1) > 1,
            f"{flag} {workers}: --engine local is this process alone. Leave one of them out",
        ),
    ]


@dataclass(frozen=True)
class Workers(Generic[Data]):
    """Who does the work of a function that has its data already, and how they get at the data; what is made is the
    same."""

    n: int | None = None
    """How many. None: as many as a cluster has room for, or a process for each core where the engine is `processes`;
    elsewhere one, or as many as the function says."""
    engine: EngineOptions = field(default_factory=EngineOptions)
    source: Callable[[], Data] | None = None
    """Reads the data again in another process: small and picklable, since it is sent there in its place. Not used for a
    run in its folder, which others open."""

    @property
    def are_asked_for(self) -> bool:
        """Whether somebody else than this process was asked, by name or by number."""
        by_number = self.engine.kind == "auto" and self.n not in (None, 1)
        return by_number or self.engine.kind not in ("auto", "local")


SLURM_FOLDER = Path(".swag-af-slurm")
"""Where submitit keeps jobs and their logs, below the folder in which the command runs: every node must see it."""
