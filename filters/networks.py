"""The five networks, each reading a batch and giving a representation and a logit per sequence.

Letters: `b` sequences, `T` tokens of the longest second sentence, `V` word types, `F` features. Sizes are
those of the released code of Zellers et al. 2018 (3.4). A network sees one candidate at a time, so no
position within a row can leak, and no token beyond a sequence's end, so padding cannot change a score.
"""

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import nn

from swag_af.filters.sequences import Batch
from swag_af.nn.products import Linear, filled_up, linear
from swag_af.nn.recurrent import lstm_max_pool
from swag_af.nn.threads import threads
from swag_af.nn.windows import window_max_pool

WORD_SIZE = 100
"""Width of word, indicator and symbol embeddings."""
WORD_STD = 0.1
"""Of new word embeddings. Small, because words that the fit never saw keep theirs: the noise must not decide."""
SYMBOL_STD = 1.0
"""Of new symbol embeddings, every one of which is seen: small ones make the POS LSTM learn slowly."""


class Network(nn.Module):
    """A module whose `forward(batch)` gives a representation (b, size) and a logit (b,)."""

    size: int
    head_names: tuple[str, ...] = ("",)
    """The heads that are trained, the deciding one last; a blank for a network's only head."""

    def logits(self, batch: Batch) -> dict[str, torch.Tensor]:
        """(b,) logits of the heads in `head_names`."""
        return {"": self(batch)[1]}


class PerplexityMLP(Network):
    """F features -> `width` SELU, alpha dropout, twice -> 1.

    `mean` and `std` (F,) standardise the features, which the released code does not: a length of 25 beside a
    log-likelihood of 3 makes its accuracy jump between 0.09 and 0.36 from one iteration to the next.
    """

    def __init__(self, mean: torch.Tensor, std: torch.Tensor, width: int, dropout: float = 0.2):
        super().__init__()
        self.mean: torch.Tensor
        self.std: torch.Tensor
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)
        self.hidden = nn.Sequential(
            _selu_linear(len(mean), width),
            nn.SELU(),
            nn.AlphaDropout(dropout),
            _selu_linear(width, width),
            nn.SELU(),
            nn.AlphaDropout(dropout),
        )
        self.size = width
        self.head = nn.Linear(width, 1)

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        assert batch.features is not None
        representation = self.hidden((batch.features - self.mean) / self.std)  # (b, width)
        return representation, self.head(representation).squeeze(1)


class BagOfWords(Network):
    """The mean of the word embeddings of the second sentence -> 1."""

    def __init__(self, n_words: int):
        super().__init__()
        self.embed = _embedding(n_words, WORD_STD)
        self.size = WORD_SIZE
        self.head = nn.Linear(WORD_SIZE, 1)

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        assert batch.words is not None
        total = F.embedding_bag(batch.words, self.embed.weight, mode="sum", padding_idx=0)  # (b, 100)
        representation = total / batch.lengths[:, None]
        return representation, self.head(representation).squeeze(1)


class CNN(Network):
    """Words and a "start or ending" indicator, filters of four widths, max-pool over whole windows -> 1.

    A sequence shorter than a filter is one window, filled up with zeros.
    """

    WIDTHS = (2, 3, 4, 5)
    N_FILTERS = 128

    def __init__(self, n_words: int):
        super().__init__()
        self.embed = _embedding(n_words, WORD_STD)
        self.indicate = nn.Embedding(2, WORD_SIZE)  # start, ending
        nn.init.normal_(self.indicate.weight, std=WORD_STD)
        self.filters = nn.Parameter(torch.empty(2 * WORD_SIZE, sum(self.WIDTHS) * self.N_FILTERS))
        self.size = self.N_FILTERS * len(self.WIDTHS)
        self.bias = nn.Parameter(torch.empty(self.size))
        self.head = nn.Linear(self.size, 1)
        self._initialise()

    def _initialise(self) -> None:
        """Uniform within one over the root of a filter's inputs, as `torch.nn.Conv1d`."""
        bounds = [(2 * WORD_SIZE * width) ** -0.5 for width in self.WIDTHS]
        sizes = [width * self.N_FILTERS for width in self.WIDTHS]
        with torch.no_grad():
            for filters, bias, bound in zip(
                self.filters.split(sizes, dim=1), self.bias.split(self.N_FILTERS), bounds, strict=True
            ):
                filters.uniform_(-bound, bound)
                bias.uniform_(-bound, bound)

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        assert batch.words is not None
        distinct, ids = _distinct(2 * batch.words + _indicator(batch), 2 * len(self.embed.weight))
        inputs = torch.cat([self.embed(distinct // 2), self.indicate(distinct % 2)], dim=1)
        inputs = filled_up(F.pad(inputs, (0, 0, 1, 0)))  # (1 + D or more, 200): row 0 is zero
        table = linear(inputs, self.filters.T).view(len(inputs), -1, self.N_FILTERS)  # (1 + D or more, 14, 128)
        pooled = window_max_pool(table, ids, batch.lengths, self.WIDTHS)  # (b, 512)
        representation = (pooled + self.bias).relu()
        return representation, self.head(representation).squeeze(1)


class PosLSTM(Network):
    """Common words and tags of the rest -> bidirectional LSTM, recurrent dropout, max-pool -> 1.

    `symbols` (V,) gives each word type its symbol: 0 padding, then the common words, then from `first_tag` on the
    tags. Where a batch has tags in context, those stand in place of the types'. As few symbols x 2 indicators make
    few distinct inputs, the input side of the gates is computed once per input.
    """

    HIDDEN = 200

    def __init__(self, symbols: torch.Tensor, n_symbols: int, first_tag: int = 1, dropout: float = 0.3):
        super().__init__()
        self.first_tag = first_tag
        self.symbols: torch.Tensor
        self.register_buffer("symbols", symbols)
        self.embed = _embedding(n_symbols, SYMBOL_STD)
        self.indicate = nn.Embedding(2, WORD_SIZE)  # start, ending
        nn.init.normal_(self.indicate.weight, std=SYMBOL_STD)
        self.input = nn.Parameter(torch.empty(2, 2 * WORD_SIZE, 4 * self.HIDDEN))
        self.recurrent = nn.Parameter(torch.empty(2, self.HIDDEN, 4 * self.HIDDEN))
        self.bias = nn.Parameter(torch.zeros(2, 1, 4 * self.HIDDEN))
        self.dropout = dropout
        self.size = 2 * self.HIDDEN
        self.head = nn.Linear(self.size, 1)
        orthogonal_gates(self.input, self.recurrent, self.bias)

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        assert batch.words is not None
        both = torch.cat(
            [
                self.embed.weight.repeat_interleave(2, dim=0),
                self.indicate.weight.repeat(len(self.embed.weight), 1),
            ],
            dim=1,
        )  # (Q, 200): symbol x indicator
        table = both @ self.input + self.bias  # (2, Q, 4H)
        symbols = self.symbols[batch.words]  # (b, T)
        if batch.tags is not None:
            symbols = torch.where(symbols >= self.first_tag, self.first_tag + batch.tags, symbols)
        inputs = by_step(2 * symbols + _indicator(batch), batch.lengths)  # (2, M)
        mask = None
        if self.training and self.dropout:
            mask = torch.full((2, len(batch.words), self.HIDDEN), 1 - self.dropout, device=table.device)
            mask = torch.bernoulli(mask) / (1 - self.dropout)
        pooled = lstm_max_pool(table, self.recurrent, inputs, batch.alive, mask)  # (2, b, H)
        representation = torch.cat([pooled[0], pooled[1]], dim=1)
        return representation, self.head(representation).squeeze(1)


class Ensemble(Network):
    """The representations of the four others, concatenated -> `width` SELU -> 1; all five are trained."""

    def __init__(self, members: Mapping[str, Network], width: int = 2048):
        super().__init__()
        self.members = nn.ModuleDict(members)
        self.head_names = (*members, "ensemble")
        self.hidden = nn.Sequential(_selu_linear(sum(member.size for member in members.values()), width), nn.SELU())
        self.size = width
        self.head = nn.Linear(width, 1)

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        return self._join([member(batch)[0] for member in self.members.values()])

    def logits(self, batch: Batch) -> dict[str, torch.Tensor]:
        outputs = {name: member(batch) for name, member in self.members.items()}
        _, decision = self._join([representation for representation, _ in outputs.values()])
        return {name: logit for name, (_, logit) in outputs.items()} | {"ensemble": decision}

    def _join(self, representations: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        representation = self.hidden(torch.cat(representations, dim=1))  # (b, width)
        return representation, self.head(representation).squeeze(1)


def orthogonal_gates(input: torch.Tensor, recurrent: torch.Tensor, bias: torch.Tensor) -> None:
    """Orthogonal blocks and a forget bias of 1, as AllenNLP's augmented LSTM (released code).

    `input` (d, I, 4H), `recurrent` (d, H, 4H) and `bias` (d, 1, 4H) are written. On one thread: LAPACK's bits depend on
    their number.
    """
    hidden = recurrent.shape[1]
    with torch.no_grad(), threads(1):
        for weights in (input, recurrent):
            for block in weights.split(hidden, dim=2):
                for direction in block:
                    direction.copy_(nn.init.orthogonal_(torch.empty(direction.shape)))
        bias[..., hidden : 2 * hidden] = 1.0


def _embedding(n: int, std: float) -> nn.Embedding:
    embedding = nn.Embedding(n, WORD_SIZE, padding_idx=0)
    nn.init.normal_(embedding.weight, std=std)
    with torch.no_grad():
        embedding.weight[0] = 0
    return embedding


def _selu_linear(n_in: int, n_out: int) -> nn.Linear:
    """Weights of variance 1 / n_in, which keep SELU units normalised (Klambauer et al. 2017)."""
    layer = Linear(n_in, n_out)
    nn.init.normal_(layer.weight, std=n_in**-0.5)
    nn.init.zeros_(layer.bias)
    return layer


def _indicator(batch: Batch) -> torch.Tensor:
    """(b, T): 0 for tokens of the start, 1 for those of the ending."""
    assert batch.words is not None
    at = torch.arange(batch.words.shape[1], device=batch.words.device)
    return (at >= batch.start_lengths[:, None]).long()


def _distinct(ids: torch.Tensor, n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(D,) distinct values of `ids`, under `n`, and `ids` as 1 + places in them; 0 and 1 (padding) as 0."""
    present = torch.zeros(n, dtype=torch.bool, device=ids.device)
    present[ids] = True
    present[:2] = False
    distinct = present.nonzero().squeeze(1)
    place = torch.zeros(n, dtype=torch.long, device=ids.device)
    place[distinct] = torch.arange(1, len(distinct) + 1, device=ids.device)
    return distinct, place[ids]


def by_step(ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """(2, M) `ids` (b, T) of sequences of falling `lengths` (b,) step by step, only real tokens: read forward, and read
    backward from each end."""
    at = torch.arange(ids.shape[1], device=ids.device)
    real = (at < lengths[:, None]).T  # (T, b)
    backward = (lengths[:, None] - 1 - at).clamp(min=0)  # (b, T)
    return torch.stack([ids.T[real], ids.gather(1, backward).T[real]])
