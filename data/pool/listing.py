"""The contexts of a pool in row order, read shard by shard when they are asked for.

A list of a million contexts takes a gigabyte; here the shards that were read as a whole last stay in memory, and no
others. Of a large pool single rows in any order are read alone.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from swag_af.data.context import Context
from swag_af.data.pool.folder import Shard

MOST_ROWS = 1 << 16
"""Contexts kept in memory, at most, beside those of the shard that is being read: all of them in a pool of so many."""


class Contexts(Sequence[Context]):
    """The contexts of `shards`, one after another. Equal to any sequence of equal contexts."""

    def __init__(self, shards: Sequence[Shard], *, most_rows: int = MOST_ROWS):
        self._shards, self._most_rows = shards, most_rows
        self._offsets = np.cumsum([0, *(shard.n_rows for shard in shards)])
        self._kept: OrderedDict[int, list[Context]] = OrderedDict()
        """By number of the shard, the one used last at the end."""
        self._last = -1
        """The row that was asked for last: whoever asks for the next one wants all of them, others not."""

    @property
    def _has_room(self) -> bool:
        """Whether all of them may stay in memory."""
        return len(self) <= self._most_rows

    def __len__(self) -> int:
        return int(self._offsets[-1])

    def __iter__(self) -> Iterator[Context]:
        for number in range(len(self._shards)):
            yield from self._of_shard(number)

    @overload
    def __getitem__(self, row: int) -> Context: ...

    @overload
    def __getitem__(self, row: slice) -> list[Context]: ...

    def __getitem__(self, row: int | slice) -> Context | list[Context]:
        if isinstance(row, slice):
            return self.of_rows(np.arange(len(self))[row])
        at = row + len(self) if row < 0 else row
        if not 0 <= at < len(self):
            raise IndexError(f"row {row} of {len(self)} contexts")
        number, before = self._number(at), self._last
        self._last = at
        if self._has_room or number in self._kept or at == before + 1:
            return self._of_shard(number)[at - int(self._offsets[number])]
        return self._shards[number].some_contexts([at - int(self._offsets[number])])[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    def of_rows(self, rows: np.ndarray) -> list[Context]:
        """The contexts of `rows` (n,), in any order; each shard is read once, and for a few rows only in part."""
        rows = np.where(rows < 0, rows + len(self), rows)
        found: list[Context] = []
        order = np.argsort(rows, kind="stable")
        numbers = np.searchsorted(self._offsets, rows[order], side="right") - 1
        for number in np.unique(numbers).tolist():
            found += self._some(number, (rows[order][numbers == number] - self._offsets[number]).tolist())
        place = np.empty_like(order)
        place[order] = np.arange(len(rows))
        return [found[i] for i in place.tolist()]

    def _some(self, number: int, rows: list[int]) -> list[Context]:
        """Those of `rows` of a shard. One of a pool that fits into memory, or mostly asked for, is kept whole."""
        is_few = not self._has_room and len(rows) < self._shards[number].n_rows / 4
        if is_few and number not in self._kept:
            return self._shards[number].some_contexts(rows)
        every = self._of_shard(number)
        return [every[row] for row in rows]

    def _number(self, row: int) -> int:
        return int(np.searchsorted(self._offsets, row, side="right")) - 1

    def _of_shard(self, number: int) -> list[Context]:
        if number not in self._kept:
            self._kept[number] = self._shards[number].contexts
            while len(self._kept) > 1 and sum(map(len, self._kept.values())) > self._most_rows:
                self._kept.popitem(last=False)
        self._kept.move_to_end(number)
        return self._kept[number]
