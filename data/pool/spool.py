"""Rows of text that wait in files until the vocabulary and the widest row are known, and become shards then.

Memory grows by 56 bytes per row, 8 for each further sentence that one has, and by the token types only. Where rows come
from, source files or generators, is said elsewhere.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.context import Context
from swag_af.data.disk.files import read_jsonl
from swag_af.data.errors import InputError
from swag_af.data.pool.assembly import tagged
from swag_af.data.pool.folder import write_shard
from swag_af.data.pool.rows import Block, Row, Sizes, fill_blocks, final_ids
from swag_af.data.pool.sharing import RowKeys, Sharing, sharing
from swag_af.data.tags import Tagger
from swag_af.data.text.lengths import LengthHits
from swag_af.data.vocabulary import Vocabulary, build_vocabulary
from swag_af.data.work.progress import progress

_SHARD_BYTES = 1 << 26
"""The `tokens` table of a shard has at most this many bytes, unless one row has more."""


@dataclass(frozen=True)
class Known:
    """What is known once every row has been read."""

    ids: np.ndarray
    """(token types,) the id in the vocabulary of each type, by the order in which types were first seen."""
    vocabulary: Vocabulary
    shared: Sharing
    lengths: list[dict[str, Any]]
    """What length alone tells, as the manifest keeps it beside other surface form."""


class Spool:
    """Blocks that wait in files until the vocabulary is known."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.n_blocks = 0
        self.n_rows = 0
        self.sizes = Sizes()
        self.n_text_bytes = 0
        """Of the candidates whose original spelling is kept."""
        self.lengths = LengthHits()
        """How far length alone finds gold."""
        self._types = dict[str, int]()
        self._keys = RowKeys()
        self._vocabulary: Vocabulary | None = None
        folder.mkdir(parents=True)

    def read(self, rows: Iterable[Row]) -> None:
        """Take every row, once."""
        noted = self._keys.noted(rows)
        self._vocabulary = build_vocabulary(fill_blocks(noted, self._types, self._keep, self.lengths), min_count=1)

    def _keep(self, block: Block) -> None:
        """Write the next block."""
        block.save(self._path(self.n_blocks))
        self.n_blocks += 1
        self.n_rows += len(block)
        self.sizes |= block.sizes
        self.n_text_bytes += len(block.column("text"))

    def known(self, tagger: Tagger | None) -> Known:
        """What the rows make known, one at least; the token types are tagged."""
        assert self._vocabulary is not None
        ids = final_ids(self._types, self._vocabulary)
        self._types.clear()
        shared = sharing(self._keys, self.blocks())
        return Known(ids, tagged(self._vocabulary, tagger), shared, self.lengths.records(shared.groups))

    def blocks(self) -> Iterator[Block]:
        """The blocks in order, one in memory at a time."""
        for number in range(self.n_blocks):
            yield Block.load(self._path(number))

    def ids_of(self, rows: set[int]) -> dict[int, str]:
        """The ids of these rows."""
        contexts = (pair for i in range(self.n_blocks) for pair in read_jsonl(self._path(i).with_suffix(".jsonl")))
        return {row: record["id"] for row, (_, record) in enumerate(contexts) if row in rows}

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06d}"


Finished = Callable[[Sequence[Context], slice], Sequence[Context]]
"""`finished(contexts, rows)`: the contexts of `rows` as the pool is to have them."""


def write_shards(folder: Path, spool: Spool, known: Known, finished: Finished) -> list[dict[str, Any]]:
    """Every block as one shard or several of bounded size; returns the content of each `shard.json`."""
    sizes = spool.sizes
    row_bytes = sizes.n_candidates * sizes.n_tokens * np.dtype(known.vocabulary.id_dtype).itemsize
    text_ends_bytes = 8 * spool.n_rows * sizes.n_candidates if sizes.has_texts else 0
    _check_disk(folder, spool.n_rows * row_bytes + spool.n_text_bytes + text_ends_bytes, sizes)
    n_rows, first = max(1, _SHARD_BYTES // max(1, row_bytes)), 0
    entries: list[dict[str, Any]] = []
    with progress("pool: writing", spool.n_rows, "rows") as advance:
        for block in spool.blocks():
            for begin in range(0, len(block), n_rows):
                end = min(begin + n_rows, len(block))
                here = slice(first + begin, first + end)
                contexts = finished(block.contexts[begin:end], here)
                groups = {"groups": known.shared.groups[here]}
                tables = block.tables(begin, end, known.ids, known.vocabulary, sizes) | groups
                entries.append(write_shard(folder, len(entries), contexts, tables))
                advance(end - begin)
            first += len(block)
    return entries


def _check_disk(folder: Path, n_bytes: int, sizes: Sizes) -> None:
    """Raise InputError when tokens and texts, by far the most of most pools, will not fit on the disk."""
    free = shutil.disk_usage(folder).free
    if n_bytes > free:
        raise InputError(
            f"{folder.parent}: the pool takes {n_bytes / 1e9:.1f} GB there, and {free / 1e9:.1f} GB are free. Its "
            f"widest row has {sizes.n_candidates} candidates and its longest ending {sizes.n_tokens} tokens, and every "
            "row gets that room. Make space, or shorten or take out the few that are longer than all others."
        )
