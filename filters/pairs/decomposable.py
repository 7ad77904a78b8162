"""The decomposable attention model (Parikh et al. 2016): words are aligned, compared and summed, in no order.

Every word is projected and made ready for attention by itself, so the state of a text is the states of its words, made
once for each distinct word of a batch. The first layer that compares a word with what it is aligned to is linear in
both, so its halves are computed before they meet.
"""

import torch
from torch import Tensor, nn

from swag_af.filters.pairs.attention import Side, distinct_words, soft_alignment
from swag_af.filters.pairs.batch import Encoded, PairNetwork, TextBatch, WordTable
from swag_af.nn.products import Linear


class DecomposableAttention(PairNetwork):
    """Attend, compare, aggregate; each step two layers of `hidden` ReLU units with dropout, as published (200, 0.2)."""

    def __init__(self, words: WordTable, n_outputs: int = 1, *, hidden: int = 200, dropout: float = 0.2):
        super().__init__()
        self.n_outputs, self.hidden = n_outputs, hidden
        self.words = words
        self.project = Linear(words.size, hidden, bias=False)
        self.attend = _two_layers(hidden, hidden, dropout)  # F
        self.dropout = nn.Dropout(dropout)
        self.own = Linear(hidden, hidden)  # G's first layer: what it takes of the word itself ...
        self.other = Linear(hidden, hidden, bias=False)  # ... and of what it is aligned to
        self.compared = nn.Sequential(nn.ReLU(), nn.Dropout(dropout), Linear(hidden, hidden), nn.ReLU())
        self.aggregate = _two_layers(2 * hidden, hidden, dropout)  # H
        self.head = Linear(hidden, n_outputs)

    def encode(self, texts: TextBatch) -> Encoded:
        """A state is a word's key for the attention, and both halves of its comparison: (rows, 3 * hidden)."""
        distinct, places = distinct_words(texts)
        projected = self.project(self.words(distinct))  # (Q, hidden)
        dropped = self.dropout(projected)
        of_words = torch.cat([self.attend(projected), self.own(dropped), self.other(dropped)], dim=1)
        return Encoded(nn.functional.embedding(places, of_words), texts.lengths)

    def compare(self, encoded: Encoded, first: Tensor, second: Tensor) -> Tensor:
        """(p, n_outputs) logits."""
        sides = Side.of(encoded.lengths, first), Side.of(encoded.lengths, second)
        keys, own, other = encoded.states.split(self.hidden, dim=1)  # (rows, hidden) each
        weights = soft_alignment((sides[0].padded(keys), sides[1].padded(keys)), sides)
        vectors = []
        for side, beside, over in zip(sides, sides[::-1], weights, strict=True):
            aligned = side.ragged(over @ beside.padded(other))  # (M, hidden)
            compared = self.compared(nn.functional.embedding(side.of_words(), own) + aligned)
            vectors.append(side.summed(compared))  # (p, hidden)
        logits: Tensor = self.head(self.aggregate(torch.cat(vectors, dim=1)))
        return logits


def _two_layers(n_in: int, hidden: int, dropout: float) -> nn.Sequential:
    layers = (nn.Dropout(dropout), Linear(n_in, hidden), nn.ReLU())
    return nn.Sequential(*layers, nn.Dropout(dropout), Linear(hidden, hidden), nn.ReLU())
