"""ESIM, the enhanced LSTM for inference (Chen et al. 2017), its sequential form.

A bidirectional LSTM reads each text; every state is aligned to those of the other text; state, alignment, their
difference and product are projected, read by a second bidirectional LSTM, pooled by mean and maximum, and classified.
Sizes as published: 300 hidden units, dropout 0.5.

The projection of [a, b, a - b, a * b], b being a mean of the other text's states under the attention, is linear but for
the product: (W1 + W3) a + (W2 - W3) b + W4 (a * b). The first two are made once for each state of a text, before two
texts meet, and the second is averaged like the states themselves; for each word of a pair one product of four is left.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from swag_af.filters.pairs.attention import Side, distinct_words, soft_alignment
from swag_af.filters.pairs.batch import Encoded, PairNetwork, TextBatch, WordTable
from swag_af.nn.bidirectional import BiLSTM, Steps
from swag_af.nn.products import Linear, linear_of_any


class ESIM(PairNetwork):
    """Reads word by word, aligns, and reads again."""

    def __init__(self, words: WordTable, n_outputs: int = 1, *, hidden: int = 300, dropout: float = 0.5):
        super().__init__()
        self.n_outputs, self.hidden = n_outputs, hidden
        self.words = words
        self.dropout = nn.Dropout(dropout)
        self.reader = BiLSTM(words.size, hidden)
        self.project = nn.Linear(8 * hidden, hidden)
        self.composer = BiLSTM(hidden, hidden)
        self.classify = nn.Sequential(nn.Dropout(dropout), Linear(8 * hidden, hidden), nn.Tanh(), nn.Dropout(dropout))
        self.head = Linear(hidden, n_outputs)

    def encode(self, texts: TextBatch) -> Encoded:
        """A state is the reader's two directions, and what the projection takes of them for the word itself and for
        words aligned to it: (rows, 4 * hidden). Dropout is one draw for each distinct word of the batch."""
        distinct, places = distinct_words(texts)
        read = self.reader(self.dropout(self.words(distinct)), places, Steps.of(texts.lengths))  # (rows, 2 * hidden)
        own, other, difference, _ = self.project.weight.split(2 * self.hidden, dim=1)
        both = linear_of_any(read, torch.cat([own + difference, other - difference]))  # (rows, 2 * hidden)
        return Encoded(torch.cat([read, both], dim=1), texts.lengths)

    def compare(self, encoded: Encoded, first: Tensor, second: Tensor) -> Tensor:
        """(p, n_outputs) logits."""
        sides = Side.of(encoded.lengths, first), Side.of(encoded.lengths, second)
        composed = self._aligned(encoded.states, sides)  # (M of both sides, hidden)
        steps = Steps.of(torch.cat([side.lengths for side in sides]))
        pooled = self.composer.pooled(self.dropout(composed), steps)  # (2 p, 4 * hidden)
        logits: Tensor = self.head(self.classify(torch.cat(pooled.chunk(2), dim=1)))
        return logits

    def _aligned(self, states: Tensor, sides: tuple[Side, Side]) -> Tensor:
        """(M, hidden) the projected words of all first texts, then of all second ones."""
        size = 2 * self.hidden
        read, own = states[:, :size], states[:, size : size + self.hidden]
        values = torch.cat([read, states[:, size + self.hidden :]], dim=1)  # what is averaged: (rows, 3 * hidden)
        padded = sides[0].padded(values), sides[1].padded(values)
        weights = soft_alignment((padded[0][..., :size], padded[1][..., :size]), sides)
        made = []
        for side, beside, over in zip(sides, padded[::-1], weights, strict=True):
            aligned = side.ragged(over @ beside)  # (M, 3 * hidden)
            mine = side.of_words()
            product = linear_of_any(embedding(mine, read) * aligned[:, :size], self.project.weight[:, 3 * size :])
            made.append(embedding(mine, own) + aligned[:, size:] + product + self.project.bias)
        return torch.cat(made).relu()
