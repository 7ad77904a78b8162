"""What networks of pairs read: every distinct text of a batch once, and which two of them each pair is made of.

Letters: `t` distinct texts, `T` words of the longest, `p` pairs, `D` numbers a state.
A first sentence that stands before four endings is one text here, so it is encoded once, not four times.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

UNKNOWN, N_SPECIAL = 1, 2
"""Row 0 of a table of word vectors is padding and zero; row 1 is any word that the table lacks."""


class WordTable(nn.Module):
    """The table of word vectors: `V` rows of `E` numbers, and behind them those that only the texts at hand need."""

    def __init__(self, start: torch.Tensor, *, tune: bool = True):
        """`start` (V, E), row 0 zero; without `tune` they stay as they are."""
        super().__init__()
        self.weight: torch.Tensor
        self.more: torch.Tensor
        if tune:
            self.weight = nn.Parameter(start)
        else:
            self.register_buffer("weight", start)
        self.register_buffer("more", start[:0], persistent=False)

    @property
    def size(self) -> int:
        """E, the numbers of a vector."""
        return self.weight.shape[1]

    @property
    def table(self) -> torch.Tensor:
        """(V + more, E)."""
        return torch.cat([self.weight, self.more]) if len(self.more) else self.weight

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        """(..., E) the vectors of `words` (...); row 0 gets no gradient."""
        return F.embedding(words, self.table, padding_idx=0)


@dataclass(frozen=True)
class TextBatch:
    """`t` distinct texts in falling order of length."""

    words: torch.Tensor
    """(t, T) int64 rows of the table of word vectors, 0 beyond each length."""
    lengths: torch.Tensor
    """(t,) int64, falling, at least 1: an empty text is one unknown word."""
    alive: list[int]
    """T numbers: how many texts have a word at each position; always the first so many."""


@dataclass(frozen=True)
class PairBatch:
    """`p` pairs of texts."""

    texts: TextBatch
    first: torch.Tensor
    """(p,) int64 the place among `texts` of what each pair has first: first sentence, start or premise."""
    second: torch.Tensor
    """(p,) likewise of what follows: second sentence, ending or hypothesis."""


@dataclass(frozen=True)
class Encoded:
    """Texts as a network knows them before two of them meet; can be kept, and met with others later."""

    states: torch.Tensor
    """(rows, D) the states of each text in order, one after another; one row a text where a text is one vector."""
    lengths: torch.Tensor
    """(t,) int64 rows of each text."""


class PairNetwork(nn.Module, ABC):
    """A network whose work on one text alone is apart from its work on two."""

    words: WordTable
    """Which vector each word of a `TextBatch` has."""
    n_outputs: int
    """1, a logit that says how gold-like the pair is; or a logit for each class."""

    @abstractmethod
    def encode(self, texts: TextBatch) -> Encoded:
        """The texts, each by itself."""

    @abstractmethod
    def compare(self, encoded: Encoded, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """(p, n_outputs) logits of the pairs whose texts are `first` (p,) and `second` (p,) among `encoded`."""

    def forward(self, batch: PairBatch) -> torch.Tensor:
        """(p, n_outputs) logits; padding and what else is in the batch change none of them beyond rounding."""
        return self.compare(self.encode(batch.texts), batch.first, batch.second)
