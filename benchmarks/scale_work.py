"""Work for `scale.py` that other processes can import: blocks of contexts that take a known time, and real products."""

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from threadpoolctl import threadpool_limits

from swag_af.data.context import Context

BLOCK_CONTEXTS = 128


@dataclass(frozen=True)
class Block:
    """Contexts of one shard with their places in it, as `generate` sends them."""

    number: int
    positions: Sequence[int]
    contexts: Sequence[Context]


def blocks_of(n: int) -> list[Block]:
    """`n` blocks of contexts of usual length: 12 words, 3, and 11."""
    contexts = [
        Context(
            " ".join(f"word{i}" for i in range(12)),
            "the old man",
            " ".join(f"word{i}" for i in range(11)),
            id=f"video-{at}-{at + 1}",
            video=f"video-{at}",
            source="activitynet",
            fold=at % 5,
        )
        for at in range(BLOCK_CONTEXTS)
    ]
    return [Block(number, range(BLOCK_CONTEXTS), contexts) for number in range(n)]


@dataclass(frozen=True)
class Work:
    """A job: `counting` until the process has used so many CPU seconds; or fp32 `products` of a fixed number, 512 wide
    with a vocabulary of 10,000 types, about so many seconds."""

    seconds: float
    kind: Literal["counting", "products"] = "counting"

    def open(self) -> Callable[[Block], tuple[Counter[str], float]]:
        """The function that does a block and says what CPU seconds it used."""
        do = {"counting": self._count, "products": self._multiply}[self.kind]

        def measured(block: Block) -> tuple[Counter[str], float]:
            begun = time.process_time()
            do()
            return Counter({"": len(block.contexts)}), time.process_time() - begun

        return measured

    def _count(self) -> None:
        until = time.process_time() + self.seconds
        while time.process_time() < until:
            pass

    def _multiply(self) -> None:
        rng = np.random.default_rng(0)
        states, weights = rng.random((256, 512), np.float32), rng.random((512, 10_000), np.float32)
        with threadpool_limits(int(os.environ["OMP_NUM_THREADS"])):  # numpy may have begun before that was set
            for _ in range(max(1, round(self.seconds / PRODUCT_SECONDS))):
                states @ weights


PRODUCT_SECONDS = 0.02
"""Of one product, roughly."""
