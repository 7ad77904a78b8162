"""The rows of a pool's shards, made in blocks: here, or in processes that share the work (`swag_af.data.scale`).

A block is some contexts of one shard and one fold. Whoever works on it stores each row as it is done, so that a killed
run goes on at the next row; what comes back are counts.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from swag_af.data.context import Context
from swag_af.data.pool.drafts import ShardDraft
from swag_af.data.pool.folder import FEATURES, check_finite, smallest_uint
from swag_af.data.vocabulary import Vocabulary
from swag_af.lm.lstm.candidates import Row
from swag_af.lm.lstm.features import BACKWARD
from swag_af.lm.lstm.generator import LSTMGenerator
from swag_af.lm.lstm.reader import LIVE_TILES, TILE
from swag_af.lm.lstm.sampling import GivenUp, Types
from swag_af.lm.options import GenerateOptions, Precision
from swag_af.nn.products import multiply
from swag_af.nn.threads import pair, threads


@dataclass(frozen=True)
class Block:
    """Contexts of one shard and one fold, with their places in the shard. The model of the fold has read none."""

    number: int
    positions: Sequence[int]
    contexts: Sequence[Context]


def blocks_of(
    number: int, group: Sequence[Context], settled: set[int], options: GenerateOptions, device: str
) -> list[Block]:
    """The contexts of shard `number` that are still to be made, in blocks that keep the engine filled."""
    of_fold: dict[int, list[int]] = {}
    for position, context in enumerate(group):
        if position not in settled:
            of_fold.setdefault(context.fold, []).append(position)
    live_rows = options.live_rows or LIVE_TILES[device] * TILE[device]
    n = max(1, _FILLS * live_rows // (1 + options.n_negatives))
    parts = [part for _, mine in sorted(of_fold.items()) for part in np.array_split(mine, -(-len(mine) // n))]
    return [Block(number, part.tolist(), [group[position] for position in part]) for part in parts]


_FILLS = 2
"""Times that a block fills the engine: at its end tiles are part empty, and a large block keeps the others waiting."""


@dataclass(frozen=True)
class RowsJob:
    """Making rows, in blocks; the result counts its rows by the reason why there is none, `""` for those kept."""

    options: GenerateOptions
    device: str
    precision: Precision
    types: Types
    """Which token types end sentences, and which may be sampled: those of all golds of the contexts file, which no
    process but the one that is started reads."""
    is_alone: bool = True
    """Whether this process makes all rows, and may use several threads."""

    def open(self) -> Callable[[Block], Counter[str]]:
        return _Rows(self).make

    def __reduce__(self) -> tuple[Any, ...]:
        return RowsJob, (replace(self.options, reuse=()), self.device, self.precision, self.types, False)


def generator_of(
    options: GenerateOptions, golds: Sequence[Context], device: str, precision: Precision
) -> LSTMGenerator:
    """The paper's generator with the settings of the options."""
    bounds = options.min_tokens, options.max_tokens, options.max_draws
    return LSTMGenerator(options.lms, golds, *bounds, options.live_rows, device, precision)


class _Rows:
    """The generator of a process."""

    def __init__(self, job: RowsJob):
        options = job.options
        self.options = options
        self.is_alone = job.is_alone
        self.generator = generator_of(options, (), job.device, job.precision)
        self.generator.types = job.types  # instead of golds
        self.tables = row_tables(options, self.generator.vocabulary)

    def make(self, block: Block) -> Counter[str]:
        """Store every row of the block."""
        made = Counter[str]()
        draft = ShardDraft(self.options.out, block.number, self.tables)
        given_up: dict[int, GivenUp] = {}
        with pair(multiply) if self.is_alone else threads(1):
            for i, row in self._rows(block.contexts, given_up):
                made["" if isinstance(row, Row) else row] += 1
                if isinstance(row, str):
                    counts = asdict(given_up[i]) if i in given_up else {}
                    draft.drop(block.positions[i], row, **counts)
                else:
                    rejected = asdict(row.rejected)
                    draft.keep(block.positions[i], self._tables(row), n_draws=row.n_draws, rejected=rejected)
        return made

    def _rows(self, contexts: Sequence[Context], given_up: dict[int, GivenUp]) -> Iterator[tuple[int, Row | str]]:
        options = self.options
        lazy = options.features == "lazy"
        items = enumerate(contexts)
        return self.generator.unread_rows(items, options.n_negatives, seed=options.seed, lazy=lazy, given_up=given_up)

    def _tables(self, row: Row) -> Mapping[str, np.ndarray]:
        known = np.delete(row.features, BACKWARD, axis=1) if self.options.features == "lazy" else row.features
        check_finite(known[None], f"{self.options.lms}")
        made = {"tokens": row.tokens, "lengths": row.lengths, "features": row.features}
        return {name: made[name].astype(pattern.dtype) for name, pattern in self.tables.items()}


def row_tables(options: GenerateOptions, vocabulary: Vocabulary) -> dict[str, np.ndarray]:
    """The tables of one row, as a pattern: K candidates of up to L tokens, gold first."""
    K, L = 1 + options.n_negatives, options.max_tokens
    return {
        "tokens": np.zeros((K, L), vocabulary.id_dtype),
        "lengths": np.zeros(K, smallest_uint(L)),
        "features": np.zeros((K, len(FEATURES)), np.float32),
    }
