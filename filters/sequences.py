"""A view as tensors: every candidate is one sequence, its second sentence (start + ending).

Letters: `q` sequences (n rows x m candidates, row by row), `T` tokens of the longest, `F` features.
Gathers and pads without a Python step per candidate; computes nothing that is learned.
"""

from dataclasses import dataclass

import numpy as np
import torch

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
    """(q,) int64 tokens of start + ending, at least 1."""
    start_lengths: torch.Tensor
    """(q,) int64 tokens of the start."""
    features: torch.Tensor | None
    """(q, F) float32."""

    def __len__(self) -> int:
        return len(self.lengths)

    def take(self, index: torch.Tensor, device: torch.device) -> "Batch":
        """The sequences at `index`, longest first, trimmed to the longest."""
        lengths, order = self.lengths[index].sort(descending=True, stable=True)
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
            start_lengths=self.start_lengths[index].to(device),
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

    `tags` are read where the pool has them in context; otherwise the vocabulary's stand.
    """
    n, m = view.shape
    tensors: dict[str, torch.Tensor | None] = {"words": None, "features": None, "tags": None}
    start_lengths = lengths = np.ones(n * m, np.int64)
    if words:
        lengths = np.maximum(view.start_lengths[:, None] + view.lengths, 1).reshape(-1)
        start_lengths = np.repeat(view.start_lengths, m)
        tensors["words"] = torch.from_numpy(_second_sentences(view, view.starts, view.tokens))
        if tags and "tags" in view.pool.tables:
            tensors["tags"] = torch.from_numpy(_second_sentences(view, view.start_tags, view.tags))
    if features:
        check_finite(view.features, "features")
        flat = view.features.reshape(n * m, -1).astype(np.float32, copy=False)  # (q, F)
        tensors["features"] = torch.from_numpy(flat)
    return Sequences(lengths=torch.from_numpy(lengths), start_lengths=torch.from_numpy(start_lengths), **tensors)


def _second_sentences(view: View, starts: np.ndarray, endings: np.ndarray) -> np.ndarray:
    """(q, T) int32 of what `starts` (n, S) and `endings` (n, m, L) say of each token, 0 beyond each length."""
    n, m = view.shape
    begin = view.start_lengths[:, None]  # (n, 1)
    total = begin + view.lengths  # (n, m)
    width = max(int(total.max(initial=1)), 1)
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
