"""A job for other processes: they import this file, and not the tests with all that these need."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from swag_af.data.errors import InputError


@dataclass(frozen=True)
class Squares:
    """A job that takes its time, begun by all who are to do it; block 13 is refused."""

    seconds: float = 0.0
    together: int = 0
    """Processes that must have come before any goes on; they leave their names in the working folder."""

    def open(self) -> Callable[[int], tuple[int, int]]:
        if self.together:
            Path(f"{os.getpid()}.here").touch()

        def do(block: int) -> tuple[int, int]:
            until = time.monotonic() + 60
            while len(list(Path().glob("*.here"))) < self.together and time.monotonic() < until:
                time.sleep(0.05)
            time.sleep(self.seconds)
            if block == 13:
                raise InputError("13: not today.")
            return block * block, os.getpid()

        return do
