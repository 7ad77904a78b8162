"""What a generator is, in four sentences; `checking` tests them on anyone's class.

    1. The constructor stores settings and does nothing else.
    2. `generate` answers every context once: with as many endings as were asked for, or with the reason why not.
    3. The endings of a context are distinct, readable, and none has the words of its gold.
    4. They depend on the context and the seed alone: not on what else is generated, nor in which order.

The third makes them negatives, the fourth lets a killed run go on and many machines share the work. No generator lives
here, and nothing of torch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from swag_af.data.context import Context


@dataclass(frozen=True, slots=True)
class Generated:
    """What a generator answers for one context."""

    position: int
    """Which of the contexts that it was given, from 0."""
    endings: tuple[str, ...] = ()
    """As many as were asked for, distinct; none where there is a `reason`."""
    reason: str = ""
    """Why there are no endings, in words that can be counted: `too_few_distinct_endings`."""


@runtime_checkable
class Generator(Protocol):
    """Something that continues contexts with endings of its own.

    Optional is `argument`, the name of the setting that stands in brackets where the generator is named:
    `lstm[path/to/lms]` (`swag_af.data.registry`).
    """

    name: str

    def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Generated]:
        """An answer for every context, as it is done."""
        ...
