"""A simulated cluster: the scheduler of the Ray engine (`swag_af.data.engines.ordered`) on a clock that is not real.

Nothing is computed: how long a block takes is drawn from measured times, and nodes are lost at a rate. What the
simulation does not know: a shared disk or network that grows slow when many write, and cores that slow each other down.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swag_af.data.engines.contract import BLOCKS_AHEAD
from swag_af.data.engines.ordered import LostError, in_order


@dataclass(frozen=True)
class Nodes:
    """The machines, each with one worker."""

    n: int
    start_seconds: float = 0.0
    """Until a new worker has its first block."""
    driver_seconds: float = 0.0
    """Of the one process that sends blocks and takes results, for each block; blocks wait for it one after another."""
    losses_per_hour: float = 0.0
    """Of each node; the times are exponential. Another one takes its place at once."""


@dataclass(frozen=True)
class Simulated:
    """What a run took."""

    seconds: float
    efficiency: float
    """Seconds of blocks that were finished, over those of all nodes until the end."""
    n_lost: int
    """Blocks that were done again."""


def simulate(measured: np.ndarray, n_blocks: int, nodes: Nodes, *, rng: np.random.Generator) -> Simulated:
    """A run of `n_blocks`, each of which takes one of the `measured` (m,) seconds, drawn with replacement.

    Raises InputError as the engine does, where one block was lost too often.
    """
    fleet = SimulatedFleet(rng.choice(measured, n_blocks), nodes, rng)
    for _ in in_order(fleet, range(n_blocks), min(nodes.n, n_blocks), ahead=BLOCKS_AHEAD * nodes.n):
        pass
    return Simulated(fleet.now, fleet.useful / (nodes.n * fleet.now), fleet.n_lost)


@dataclass(eq=False)
class _Sent:
    """What is waited for."""

    at: float
    seconds: float = 0.0
    is_lost: bool = False


@dataclass
class SimulatedFleet:
    """Workers who are done with block `i` after `seconds[i]`, unless their node is lost before."""

    seconds: Sequence[float] | np.ndarray
    nodes: Nodes
    rng: np.random.Generator
    now: float = 0.0
    useful: float = 0.0
    n_lost: int = 0
    _ends: list[float] = field(default_factory=list)
    """By worker, when its node is lost."""

    def hire(self) -> tuple[int, _Sent]:
        """A worker on a new node, ready after `start_seconds`."""
        begun, rate = self.now + self.nodes.start_seconds, self.nodes.losses_per_hour / 3600
        self._ends.append(begun + self.rng.exponential(1 / rate) if rate else np.inf)
        return len(self._ends) - 1, _Sent(begun)

    def send(self, worker: int, block: int) -> _Sent:
        """The driver's time passes, and the block begins."""
        self.now += self.nodes.driver_seconds
        done, lost = self.now + float(self.seconds[block]), self._ends[worker]
        return _Sent(min(done, max(lost, self.now)), float(self.seconds[block]), is_lost=lost < done)

    def wait(self, sent: Sequence[Any]) -> _Sent:
        """The first that is done; the clock goes on to there."""
        first: _Sent = min(sent, key=lambda one: one.at)
        self.now = max(self.now, first.at)
        return first

    def take(self, sent: _Sent) -> None:
        """Count what was done."""
        if sent.is_lost:
            self.n_lost += 1
            raise LostError
        self.useful += sent.seconds

    def let_go(self, worker: int) -> None:
        """Its node is lost, and nothing left of it."""
