"""A view as tensors: every candidate is one sequence, its second sentence (start + ending).

Letters: `q` sequences (n rows x m candidates, row by row), `T` tokens of the longest, `F` features.
Gathers and pads without a Python step per candidate; computes nothing that is learned.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from swag_af.data.disk.files import reserve
from swag_af.data.pool.folder import check_finite
from swag_af.data.pool.view import View


@dataclass(frozen=True)
class Sequences:
    """`q` second sentences and their features; a table that no network reads is None."""

    words: torch.Tensor | None
    """(q, T) int32 vocabulary ids of start + ending, 0 beyond each length."""
    tags: torch.Tensor | None
    """(q, T) int32 codes of their tags in context, where the pool has them."""
    lengths: torch.Tensor
    """(q,) int32 tokens of start + ending, at least 1; 1 where no network reads words."""
    start_lengths: torch.Tensor
    """(q,) int32 tokens of the start, likewise."""
    features: torch.Tensor | None
    """(q, F) float32."""

    def __len__(self) -> int:
        return len(self.lengths)

    def take(self, index: torch.Tensor, device: torch.device) -> "Batch":
        """The sequences at `index`, longest first, trimmed to the longest."""
        lengths, order = self.lengths[index].long().sort(descending=True, stable=True)
        index = index[order]
        back = torch.empty_like(order)
        back[order] = torch.arange(len(order))
        words, tags = (
            None if table is None else table[index][:, : int(lengths[0])].long().to(device)
            for table in (self.words, self.tags)
        )
        features = None if self.features is None else self.features[index].to(device)
        return Batch(
            words=words,
            tags=tags,
            lengths=lengths.to(device),
            start_lengths=self.start_lengths[index].long().to(device),
            features=features,
            alive=alive_of(lengths),
            back=back.to(device),
        )


@dataclass(frozen=True)
class Batch:
    """`b` sequences in falling order of length, as the networks read them."""

    words: torch.Tensor | None
    """(b, T) int64."""
    tags: torch.Tensor | None
    """(b, T) int64 tags in context, None where words have the tag of their type."""
    lengths: torch.Tensor
    """(b,) int64, falling."""
    start_lengths: torch.Tensor
    """(b,) int64."""
    features: torch.Tensor | None
    """(b, F) float32."""
    alive: list[int]
    """T numbers: how many sequences have a token at each position; always the first so many."""
    back: torch.Tensor
    """(b,) where each sequence that was asked for stands: `out[back]` has the caller's order."""


def sequences_of(view: View, *, words: bool, features: bool, tags: bool = False) -> Sequences:
    """The n * m sequences of a view; reads only the tables asked for. Raises InputError for NaN features.

    `tags` are read where the pool has them in context; otherwise the vocabulary's stand. The view is read some rows at
    a time, and tensors of more than `MOST_IN_MEMORY` bytes are in a file, so that memory does not grow with n.
    """
    lengths = start_lengths = torch.ones(1, dtype=torch.int32).expand(view.columns.size)
    tensors: dict[str, torch.Tensor | None] = {"words": None, "features": None, "tags": None}
    if words:
        lengths, start_lengths = _lengths(view)
        width = int(lengths.max())
        tensors["words"] = _filled(view, width, np.int32, lambda part: _merged(part, part.starts, part.tokens, width))
        if tags and "tags" in view.pool.tables:
            tensors["tags"] = _filled(
                view, width, np.int32, lambda part: _merged(part, part.start_tags, part.tags, width)
            )
    if features:
        n_features = view.take(np.arange(1)).features.shape[2]
        tensors["features"] = _filled(view, n_features, np.float32, _flat_features)
    return Sequences(lengths=lengths, start_lengths=start_lengths, **tensors)


READ_AT_ONCE = 1 << 16
"""Sequences that are read from the pool together."""

MOST_IN_MEMORY = 1 << 27
"""Bytes of a tensor of sequences; a larger one is in a file, whose pages the system takes back when it needs them."""


def room(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array of zeros: in memory, or mapped from a file without a name in the folder for temporary ones.

    Raises OSError that names the folder where its disk has no room.
    """
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if n_bytes <= MOST_IN_MEMORY:
        return np.zeros(shape, dtype)
    with tempfile.TemporaryFile() as file:
        reserve(file, n_bytes, Path(tempfile.gettempdir()))
        return np.memmap(file, dtype, mode="w+", shape=shape)


def _parts(view: View) -> Iterator[tuple[View, slice]]:
    """Each part of a view and the places of its sequences. A view keeps what it has read, so many are taken anew."""
    n_parts, at = max(1, -(-view.columns.size // READ_AT_ONCE)), 0
    for rows in np.array_split(np.arange(len(view)), n_parts):
        part = view if n_parts == 1 else view.take(rows)
        yield part, slice(at, at + part.columns.size)
        at += part.columns.size


def _lengths(view: View) -> tuple[torch.Tensor, torch.Tensor]:
    """(q,) int32 tokens of start + ending, at least 1, and of the start."""
    lengths, start_lengths = (room((view.columns.size,), np.int32) for _ in range(2))
    for part, here in _parts(view):
        start_lengths[here] = np.repeat(part.start_lengths, view.shape[1])
        lengths[here] = np.maximum(part.start_lengths[:, None] + part.lengths, 1).reshape(-1)
    return torch.from_numpy(lengths), torch.from_numpy(start_lengths)


def _filled(view: View, width: int, dtype: Any, of_part: Callable[[View], np.ndarray]) -> torch.Tensor:
    """(q, width) of what `of_part` makes of each part."""
    table = room((view.columns.size, width), dtype)
    for part, here in _parts(view):
        table[here] = of_part(part)
    return torch.from_numpy(table)


def _flat_features(view: View) -> np.ndarray:
    """(q, F)."""
    check_finite(view.features, "features")
    return view.features.reshape(view.columns.size, -1)


def _merged(view: View, starts: np.ndarray, endings: np.ndarray, width: int) -> np.ndarray:
    """(q, width) int32 of what `starts` (n, S) and `endings` (n, m, L) say of each token, 0 beyond each length."""
    n, m = view.shape
    begin = view.start_lengths[:, None]  # (n, 1)
    total = begin + view.lengths  # (n, m)
    at = np.arange(width)
    merged = np.zeros((n, m, width), np.int32)
    merged[(at >= begin[:, :, None]) & (at < total[:, :, None])] = endings[
        np.arange(endings.shape[2]) < view.lengths[:, :, None]
    ]
    shared = min(starts.shape[1], width)
    merged[:, :, :shared] += np.where(at[:shared] < begin, starts[:, :shared], 0)[:, None].astype(np.int32)
    return merged.reshape(n * m, width)


def alive_of(lengths: torch.Tensor) -> list[int]:
    """How many of sequences of falling `lengths` (b,) have a token at each position."""
    ended = torch.bincount(lengths, minlength=int(lengths[0]) + 1)[:-1].cumsum(0)  # sequences of length <= t
    return (len(lengths) - ended).tolist()
