"""Relevance by a cross-encoder, which reads query and response together: VCR's own (Zellers et al. 2019b, appendix C).

A pretrained encoder reads `[CLS] query [SEP] response [SEP]` and says in two classes whether the response is the
query's own. Every pair is read anew, so a bucket of `n` rows takes `n * n` readings: work for a GPU.

Letters: `n` queries, `m` responses, `b` pairs of a batch.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F

from swag_af.data.errors import InputError
from swag_af.data.work.progress import progress
from swag_af.filters.contract import fields_of, unfitted
from swag_af.filters.neural import faults_of_fits, stopping_size
from swag_af.filters.pretrained import (
    Head,
    check_network,
    descend,
    load_config,
    load_network,
    load_tokenizer,
    padded,
    rate_of_step,
    tokenized,
)
from swag_af.matching.contract import SHARE_TRUE, training_pairs
from swag_af.matching.own import check_kinds
from swag_af.nn.device import Precision, mixed_precision, pick_device, seeded
from swag_af.nn.pretrained import contents_of
from swag_af.nn.training import Adam, train_while_better

HEAD: Head = "AutoModelForSequenceClassification"
PAIRS_PER_QUERY = round(1 / SHARE_TRUE)
SCORED_AT_ONCE = 256
"""Pairs a batch: bounds the memory of scoring."""

Pairs = tuple[Sequence[str], Sequence[str]]
"""The queries and the responses of pairs, as many of each."""


@dataclass(kw_only=True)
class CrossEncoder:
    """A Hugging Face encoder with two classes, from its pretrained weights in every fit.

    Constants are VCR's. An epoch here has four pairs of every query, one of them true, which VCR leaves open; the best
    epoch on held-out queries is kept, which it does not say either.
    """

    model: str
    """A folder that holds model and tokenizer, or a name on the Hugging Face hub."""
    max_epochs: int = 3
    """Passes over the queries at most."""
    learning_rate: float = 2e-5
    """Reached after the first tenth of the steps, then falling linearly to 0."""
    batch_pairs: int = 32
    """Pairs a gradient step."""
    max_length: int = 128
    """Tokens of query and response together; what is longer loses tokens at the end of its longer part."""
    max_gradient_norm: float = 1.0
    held_out: float = 0.1
    """Share of the queries (at least 8, at most half) kept from training and used to choose the epoch."""
    patience: int = 1
    """Epochs without improvement before training stops."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto`: cuda where there is one."""
    precision: Precision = "auto"
    """Products of the training; `auto`: bfloat16 on a GPU. Scores are float32 always, since none may depend on what
    else is scored."""

    held_out_losses: list[float] = field(default_factory=list, init=False, repr=False, compare=False)
    """After a fit: cross-entropy on held-out pairs, one number an epoch, in nats."""
    _fitted: tuple[Any, Any] | None = field(default=None, init=False, repr=False, compare=False)
    """Network and tokenizer."""

    name: ClassVar[str] = "cross"
    fewest: ClassVar[int] = 20
    """Queries to learn from, at least."""
    argument: ClassVar[str] = "model"
    """What stands in the brackets of `cross[...]`."""
    n_measured: ClassVar[int] = 48
    """Rows that a dry run learns from and scores."""

    def check(self) -> None:
        """Raise InputError where package or model is missing, weights are not whole, or a setting is out of range."""
        config, _ = self._load()
        check_network(self.model, config, HEAD)

    def settings(self) -> dict[str, Any]:
        """The settings, with the hashes of the model's files in place of its path."""
        return fields_of(self) | {"model": contents_of(self.model)}

    def _check_settings(self) -> None:
        check_kinds(self, "relevance cross")
        faults = faults_of_fits(
            self,
            counts=("max_epochs", "batch_pairs", "patience"),
            above=("learning_rate", "max_gradient_norm"),
            shares=("held_out",),
        )
        faults += ["max_length must be 8 or more"] if self.max_length < 8 else []
        if faults:
            raise InputError(f"relevance cross: {', '.join(faults)}.")

    def _load(self) -> tuple[Any, Any]:
        """Configuration and tokenizer of the model, once the settings are known to be good."""
        self._check_settings()
        config = load_config(self.model, HEAD)
        config.num_labels = 2
        tokenizer = load_tokenizer(self.model, config, self.max_length)
        if tokenizer.pad_token is None:
            raise InputError(f"{self.model}: its tokenizer cannot pad. Name an encoder, as BERT is one.")
        return config, tokenizer

    def fit(self, queries: Sequence[str], responses: Sequence[str], *, rng: np.random.Generator) -> None:
        """As `Relevance` says. Raises InputError as `check` does, and for fewer than 20 queries."""
        if len(queries) < self.fewest:
            raise InputError(f"relevance cross: {len(queries)} queries to learn from, at least {self.fewest}.")
        config, tokenizer = self._load()
        device = pick_device(self.device)
        order = rng.permutation(len(queries))
        n_held = stopping_size(len(queries), self.held_out)
        sides = queries, responses
        with seeded(int(rng.integers(2**63 - 1)), device):
            network = load_network(self.model, config, HEAD).to(device)
            self._train(network, tokenizer, sides, order[n_held:], order[:n_held], rng)
        self._fitted = network, tokenizer

    def _train(
        self,
        network: Any,
        tokenizer: Any,
        sides: Pairs,
        train: np.ndarray,
        held: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        adam = Adam(network, self.learning_rate, weight_decay=0.0)
        n_batches = max(1, round(PAIRS_PER_QUERY * len(train) / self.batch_pairs))
        held_pairs = _pairs_of(held, rng)
        steps = itertools.count()

        def run_epoch() -> None:
            pairs = rng.permutation(_pairs_of(train, rng))
            for part in np.array_split(pairs, n_batches):
                network.zero_grad()
                with mixed_precision(network.device, self.precision):
                    loss = _loss(network, tokenizer, sides, part)
                rate = self.learning_rate * rate_of_step(next(steps), self.max_epochs * n_batches)
                descend(network, loss, adam, learning_rate=rate, max_gradient_norm=self.max_gradient_norm)
                advance(len(part))

        with progress("cross", self.max_epochs * PAIRS_PER_QUERY * len(train), "pairs learned") as advance:
            self.held_out_losses = train_while_better(
                network,
                run_epoch,
                lambda: _held_out_loss(network, tokenizer, sides, held_pairs),
                max_epochs=self.max_epochs,
                patience=self.patience,
                called="relevance cross",
            )

    def score(self, queries: Sequence[str], responses: Sequence[str]) -> np.ndarray:
        """As `Relevance` says; pairs of like length together."""
        if self._fitted is None:
            raise unfitted("relevance cross", "queries, responses")
        network, tokenizer = self._fitted
        n, m = len(queries), len(responses)
        made = np.empty(n * m, np.float32)
        order = _by_length(tokenizer, queries, responses)
        with progress("cross", n * m, "pairs") as advance, torch.inference_mode():
            for at in range(0, n * m, SCORED_AT_ONCE):
                index = order[at : at + SCORED_AT_ONCE]
                pairs = np.stack(np.divmod(index, m), axis=1)
                logits = _logits(network, tokenizer, (queries, responses), pairs)
                made[index] = logits.float().softmax(dim=1)[:, 1].cpu().numpy()
                advance(len(index))
        return made.reshape(n, m)


def _pairs_of(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(PAIRS_PER_QUERY * len(rows), 2) the queries and responses of pairs to learn from, among `rows`."""
    first, second = training_pairs(len(rows), rng=rng, per_query=PAIRS_PER_QUERY)
    return np.stack([rows[first], rows[second]], axis=1)


def _by_length(tokenizer: Any, queries: Sequence[str], responses: Sequence[str]) -> np.ndarray:
    """(n * m,) the pairs in an order of falling length; pair `i * m + j` is query i with response j."""
    n_tokens = [
        np.array([len(tokens["input_ids"]) for tokens in tokenized(tokenizer, texts)], np.int32)
        for texts in (queries, responses)
    ]
    return np.argsort(-(n_tokens[0][:, None] + n_tokens[1]).ravel(), kind="stable")


def _logits(network: Any, tokenizer: Any, sides: Pairs, pairs: np.ndarray) -> torch.Tensor:
    """(b, 2) of the `pairs` (b, 2) of a query and a response."""
    texts = [[side[row] for row in rows] for side, rows in zip(sides, pairs.T.tolist(), strict=True)]
    logits: torch.Tensor = network(**padded(tokenizer, tokenized(tokenizer, *texts), network.device)).logits
    return logits


def _loss(network: Any, tokenizer: Any, sides: Pairs, pairs: np.ndarray) -> torch.Tensor:
    """The mean cross-entropy of `pairs` (b, 2), which are true where query and response are of one row."""
    truth = torch.from_numpy((pairs[:, 0] == pairs[:, 1]).astype(np.int64)).to(network.device)
    return F.cross_entropy(_logits(network, tokenizer, sides, pairs).float(), truth)


@torch.inference_mode()
def _held_out_loss(network: Any, tokenizer: Any, sides: Pairs, pairs: np.ndarray) -> float:
    network.eval()
    parts = np.array_split(pairs, -(-len(pairs) // SCORED_AT_ONCE))
    return sum(float(_loss(network, tokenizer, sides, part)) * len(part) for part in parts) / len(pairs)
