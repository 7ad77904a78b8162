"""What the manifest of a pool of texts counts over its rows, counted again for those that are left."""

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.rows import Block, Row, fill_blocks, must_be_kept
from swag_af.data.pool.sharing import RowKeys, sharing
from swag_af.data.splits import renumbered
from swag_af.data.text.lengths import LengthHits
from swag_af.data.text.surface import SurfaceCounts


def recounted(pool: CandidatePool, rows: np.ndarray) -> dict[str, Any]:
    """Of the `rows` (n,) alone, what of `shared_texts` and `surface` the manifest of the whole pool has."""
    surface, keys, lengths = SurfaceCounts(), RowKeys(), LengthHits()
    is_normalised = (pool.manifest.get("made_by") or {}).get("normalise", False)

    def kept() -> Iterator[Row]:
        for row in rows.tolist():
            texts = tuple(pool.texts_of_row(row))
            is_kept = not is_normalised or must_be_kept(texts)
            surface.add(texts if is_kept else [text.lower() for text in texts])
            yield Row(pool.contexts[row], texts, None)

    blocks: list[Block] = []
    deque(fill_blocks(keys.noted(kept()), {}, blocks.append, lengths), maxlen=0)
    shared = sharing(keys, blocks, renumbered(pool.groups[rows]))
    found = {"shared_texts": shared.counts, "surface": [*surface.records(), *lengths.records(shared.groups)]}
    return {name: one for name, one in found.items() if name in pool.manifest}
