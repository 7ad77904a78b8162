"""Relevance by a dual encoder that is trained here: a vector for each query, one for each response, and their product.

Each side is encoded once, so all pairs of a bucket cost one product of matrices. The words of a text are averaged with
weights that are learned for each word, and passed through a layer of each side's own.

Letters: `V` words, `D` numbers a vector, `t` texts, `w` words in all of them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import ClassVar

import numpy as np
import torch
from torch import nn

from swag_af.data.errors import InputError
from swag_af.data.text.wording import END, words_of
from swag_af.data.work.progress import progress
from swag_af.filters.contract import unfitted
from swag_af.filters.neural import faults_of_fits, stopping_size
from swag_af.matching.contract import training_pairs
from swag_af.matching.own import check_kinds
from swag_af.nn.device import pick_device, seeded
from swag_af.nn.products import multiply
from swag_af.nn.threads import team
from swag_af.nn.training import Adam, batch_size, train_while_better


@dataclass(kw_only=True)
class DualEncoder:
    """Two encoders of bags of words, learned from true pairs and random ones (Zellers et al. 2019b, appendix C, has one
    true response in four)."""

    size: int = 128
    """Numbers of a word vector and of an encoded text."""
    min_count: int = 2
    """Words met less often stand for nothing."""
    max_epochs: int = 20
    """Passes over the queries at most; the best on held-out queries is kept."""
    patience: int = 2
    """Epochs without improvement before training stops."""
    batch_queries: int = 128
    """Queries in a step at most, each with one true response and three of others; fewer when there are few."""
    learning_rate: float = 2e-3
    """Adam's step size."""
    weight_decay: float = 1e-5
    """Adam's weight decay."""
    dropout: float = 0.3
    """Share of the words of a text that are left out in training, drawn anew each time."""
    held_out: float = 0.1
    """Share of the queries (at least 8, at most half) that stop the training."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto`: cuda where there is one."""

    held_out_losses: list[float] = field(default_factory=list, init=False, repr=False, compare=False)
    """After a fit: binary cross-entropy on held-out pairs, one number an epoch, in nats."""
    _fitted: "tuple[_Towers, dict[str, int]] | None" = field(default=None, init=False, repr=False, compare=False)

    name: ClassVar[str] = "encoder"
    fewest: ClassVar[int] = 20
    """Queries to learn from, at least."""

    def check(self) -> None:
        """Raise InputError for settings out of range."""
        check_kinds(self, "relevance encoder")
        counts = ("size", "min_count", "max_epochs", "patience")
        faults = faults_of_fits(self, counts=counts, above=("learning_rate",), shares=("dropout", "held_out"))
        faults += ["batch_queries must be 2 or more"] if self.batch_queries < 2 else []
        faults += ["weight_decay must not be below 0"] if self.weight_decay < 0 else []
        if faults:
            raise InputError(f"relevance encoder: {', '.join(faults)}.")
        pick_device(self.device)

    def fit(self, queries: Sequence[str], responses: Sequence[str], *, rng: np.random.Generator) -> None:
        """As `Relevance` says. Raises InputError for fewer than 20 queries."""
        if len(queries) < self.fewest:
            raise InputError(f"relevance encoder: {len(queries)} queries to learn from, at least {self.fewest}.")
        number = _vocabulary([*queries, *responses], self.min_count)
        sides = Texts.of(queries, number), Texts.of(responses, number)
        order = rng.permutation(len(queries))
        n_held = stopping_size(len(queries), self.held_out)
        device = pick_device(self.device)
        with seeded(int(rng.integers(2**63 - 1)), device), team(1):
            towers = _Towers(len(number) + 1, self.size, self.dropout).to(device)
            self._train(towers, sides, order[n_held:], order[:n_held], rng)
        self._fitted = towers, number

    def _train(
        self,
        towers: "_Towers",
        sides: "tuple[Texts, Texts]",
        train: np.ndarray,
        held: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        adam = Adam(towers, self.learning_rate, self.weight_decay)
        first, second = training_pairs(len(held), rng=rng)
        held_pairs = held[first], held[second]

        def run_epoch() -> None:
            rows = rng.permutation(train)
            for part in np.array_split(rows, max(1, len(rows) // batch_size(len(rows), self.batch_queries))):
                first, second = training_pairs(len(part), rng=rng)
                towers.zero_grad()
                towers.loss(*sides, part[first], part[second]).backward()
                adam.step()
                advance(len(part))

        def held_out_loss() -> float:
            towers.eval()
            with torch.inference_mode():
                return float(towers.loss(*sides, *held_pairs))

        with progress("encoder", self.max_epochs * len(train), "queries learned at most") as advance:
            self.held_out_losses = train_while_better(
                towers,
                run_epoch,
                held_out_loss,
                max_epochs=self.max_epochs,
                patience=self.patience,
                called="relevance encoder",
            )

    def score(self, queries: Sequence[str], responses: Sequence[str]) -> np.ndarray:
        """As `Relevance` says."""
        if self._fitted is None:
            raise unfitted("relevance encoder", "queries, responses")
        towers, number = self._fitted
        with torch.inference_mode(), team(1):
            q = towers.queries(Texts.of(queries, number))  # (n, D)
            r = towers.responses(Texts.of(responses, number))  # (m, D)
            logits = multiply(q * towers.scale, r, towers.bias.repeat(len(r)))  # (n, m)
            scores: np.ndarray = logits.sigmoid_().float().cpu().numpy()
        return scores


def _vocabulary(texts: Sequence[str], min_count: int) -> dict[str, int]:
    """Numbers from 1 of the words that occur `min_count` times, in the order of the alphabet."""
    counts = Counter(words_of(texts))
    del counts[END]
    return {word: i for i, word in enumerate(sorted(w for w, n in counts.items() if n >= min_count), start=1)}


@dataclass(frozen=True)
class Texts:
    """`t` texts as numbers of words, one after another; a text without a known word has the word 0."""

    words: torch.Tensor
    """(w,) int64."""
    offsets: torch.Tensor
    """(t + 1,) int64 where each text begins."""

    @staticmethod
    def of(texts: Sequence[str], number: dict[str, int]) -> "Texts":
        """The texts by the words that have a number in `number`, from 1."""
        numbered = {**number, END: -1}
        ids = np.fromiter(map(numbered.get, words_of(texts), repeat(0)), np.int64)
        ends = np.flatnonzero(ids < 0)
        known = np.diff(np.cumsum(ids > 0)[ends], prepend=0)  # (t,)
        ids[ends[known > 0]] = -2
        kept = (ids > 0) | (ids == -1)  # -1: the end of a text without a known word, which stands for the word 0
        offsets = np.concatenate([[0], np.cumsum(np.maximum(known, 1))])
        return Texts(torch.from_numpy(np.maximum(ids[kept], 0)), torch.from_numpy(offsets))

    def take(self, rows: np.ndarray) -> "Texts":
        """The texts `rows`, in that order."""
        index = torch.from_numpy(rows)
        begins, sizes = self.offsets[index], self.offsets[index + 1] - self.offsets[index]
        ends = torch.cumsum(sizes, 0)
        at = torch.arange(int(ends[-1])) + torch.repeat_interleave(begins - (ends - sizes), sizes)
        return Texts(self.words[at], torch.cat([torch.zeros(1, dtype=torch.int64), ends]))


class _Towers(nn.Module):
    """The two encoders; vectors of words are shared."""

    def __init__(self, n_words: int, size: int, dropout: float):
        super().__init__()
        self.embed = nn.Embedding(n_words, size)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.importance = nn.Parameter(torch.zeros(n_words))
        self.query, self.response = nn.Linear(size, size), nn.Linear(size, size)
        self.scale = nn.Parameter(torch.ones(()) * size**0.5)
        self.bias = nn.Parameter(-torch.ones(()))  # one in four is true
        self.dropout = dropout

    def queries(self, texts: Texts) -> torch.Tensor:
        """(t, D) unit vectors."""
        return self._encode(texts, self.query)

    def responses(self, texts: Texts) -> torch.Tensor:
        """(t, D) likewise."""
        return self._encode(texts, self.response)

    def loss(self, queries: Texts, responses: Texts, first: np.ndarray, second: np.ndarray) -> torch.Tensor:
        """The binary cross-entropy of the pairs of queries `first` and responses `second`, true where they are one."""
        q, r = self.queries(queries.take(first)), self.responses(responses.take(second))
        logits = self.scale * (q * r).sum(1) + self.bias
        truth = torch.from_numpy(first == second).to(logits)
        return nn.functional.binary_cross_entropy_with_logits(logits, truth)

    def _encode(self, texts: Texts, layer: nn.Linear) -> torch.Tensor:
        device = self.scale.device
        ids, offsets = texts.words.to(device), texts.offsets[:-1].to(device)
        weights = self.importance[ids].exp()
        if self.training and self.dropout:
            weights = weights * torch.bernoulli(torch.full_like(weights, 1 - self.dropout))
        mean = nn.functional.embedding_bag(ids, self.embed.weight, offsets, mode="sum", per_sample_weights=weights)
        return nn.functional.normalize(layer(torch.tanh(mean)), dim=1)
