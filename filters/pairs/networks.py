"""The simpler networks of two texts: bags of words, and BiLSTMs pooled by maximum.

Letters: `t` distinct texts, `p` pairs, `d` distinct words of a batch, `E` numbers of a word vector, `H` hidden units a
direction, `O` outputs. Plain twins that read one pair after another stand in `tests/slow/pairs.py`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from swag_af.filters.networks import by_step, orthogonal_gates
from swag_af.filters.pairs.batch import Encoded, PairNetwork, TextBatch, WordTable
from swag_af.nn.products import filled_up, linear
from swag_af.nn.recurrent import lstm_max_pool


class Bilinear(nn.Module):
    """`u W v` and a bias for each of `O` outputs."""

    def __init__(self, size: int, n_outputs: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_outputs * size, size))
        self.bias = nn.Parameter(torch.zeros(n_outputs))
        nn.init.normal_(self.weight, std=size**-0.5)

    def forward(self, u: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """(p, O) of `u` (p, size) and `v` (p, size)."""
        turned = linear(u, self.weight).view(len(u), len(self.bias), -1)  # (p, O, size)
        return (turned * v[:, None]).sum(2) + self.bias


class DualBow(PairNetwork):
    """`softmax(c W v)` over the endings, each side the mean of its word vectors (Zellers et al. 2018, 4.2 d)."""

    def __init__(self, words: WordTable, n_outputs: int, dropout: float):
        super().__init__()
        self.words, self.n_outputs = words, n_outputs
        self.dropout = nn.Dropout(dropout)
        self.head = Bilinear(words.size, n_outputs)

    def encode(self, texts: TextBatch) -> Encoded:
        total = F.embedding_bag(texts.words, self.words.table, mode="sum", padding_idx=0)  # (t, E)
        return _one_each(self.dropout(total / texts.lengths[:, None]))

    def compare(self, encoded: Encoded, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.head(encoded.states[first], encoded.states[second])
        return logits


class BiLSTMMax(nn.Module):
    """A BiLSTM over word vectors, its outputs pooled by maximum over the words: (t, 2H).

    The input side of the gates is computed once a distinct word of the batch. Dropout falls on those distinct words,
    and on the outputs with one mask a text.
    """

    def __init__(self, n_inputs: int, hidden: int, dropout: float):
        super().__init__()
        self.hidden = hidden
        self.input = nn.Parameter(torch.empty(2, n_inputs, 4 * hidden))
        self.recurrent = nn.Parameter(torch.empty(2, hidden, 4 * hidden))
        self.bias = nn.Parameter(torch.zeros(2, 1, 4 * hidden))
        self.dropout = nn.Dropout(dropout)
        orthogonal_gates(self.input, self.recurrent, self.bias)

    def forward(self, words: WordTable, texts: TextBatch) -> torch.Tensor:
        """(t, 2H)."""
        distinct, place = texts.words.unique(return_inverse=True)  # (d,), (t, T)
        vectors = filled_up(self.dropout(words(distinct)))  # (d or more, E)
        table = torch.stack([linear(vectors, one.T) for one in self.input]) + self.bias  # (2, d, 4H)
        mask = self.dropout(table.new_ones(2, len(place), self.hidden)) if self.training else None
        pooled = lstm_max_pool(table, self.recurrent, by_step(place, texts.lengths), texts.alive, mask)  # (2, t, H)
        return torch.cat([pooled[0], pooled[1]], dim=1)


class InferSentBilinear(PairNetwork):
    """`u W v` of two pooled BiLSTMs that share their weights (4.2 e, bilinear)."""

    def __init__(self, words: WordTable, n_outputs: int, hidden: int, dropout: float):
        super().__init__()
        self.words, self.n_outputs = words, n_outputs
        self.encoder = BiLSTMMax(words.size, hidden, dropout)
        self.dropout = nn.Dropout(dropout)
        self.head = Bilinear(2 * hidden, n_outputs)

    def encode(self, texts: TextBatch) -> Encoded:
        return _one_each(self.encoder(self.words, texts))

    def compare(self, encoded: Encoded, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        states = self.dropout(encoded.states)
        logits: torch.Tensor = self.head(states[first], states[second])
        return logits


class InferSentMLP(PairNetwork):
    """An MLP on `[u, v, |u - v|, u * v]` of two pooled BiLSTMs (4.2 e; the features of Conneau et al. 2017)."""

    def __init__(self, words: WordTable, n_outputs: int, hidden: int, width: int, dropout: float):
        super().__init__()
        self.words, self.n_outputs = words, n_outputs
        self.encoder = BiLSTMMax(words.size, hidden, dropout)
        self.hidden = nn.Linear(8 * hidden, width)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(width, n_outputs)

    def encode(self, texts: TextBatch) -> Encoded:
        return _one_each(self.encoder(self.words, texts))

    def compare(self, encoded: Encoded, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        u, v = encoded.states[first], encoded.states[second]
        features = self.dropout(torch.cat([u, v, (u - v).abs(), u * v], dim=1))  # (p, 8H)
        logits: torch.Tensor = self.head(self.dropout(linear(features, self.hidden.weight, self.hidden.bias).relu()))
        return logits


class LSTMSequence(PairNetwork):
    """A pooled BiLSTM over all of one text, and a linear layer (4.1 c). What is first of a pair is not read."""

    def __init__(self, words: WordTable, n_outputs: int, hidden: int, dropout: float):
        super().__init__()
        self.words, self.n_outputs = words, n_outputs
        self.encoder = BiLSTMMax(words.size, hidden, dropout)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(2 * hidden, n_outputs)

    def encode(self, texts: TextBatch) -> Encoded:
        return _one_each(self.encoder(self.words, texts))

    def compare(self, encoded: Encoded, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.head(self.dropout(encoded.states[second]))
        return logits


def _one_each(states: torch.Tensor) -> Encoded:
    """Texts that are one vector each."""
    return Encoded(states, torch.ones(len(states), dtype=torch.long, device=states.device))
