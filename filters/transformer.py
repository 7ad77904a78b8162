"""The transformer filter: a pretrained encoder, fine-tuned on every fit, as HellaSwag does (Zellers et al. 2019).

Reads the context and each candidate as a pair of texts, gives one logit a candidate, and learns by cross-entropy
over the A assigned candidates of a row. Encoders come from Hugging Face: a folder, or a name that is fetched.

Letters: `n` rows, `A` assigned candidates a row (gold in column 0), `q` candidates in all, `b` of them in a batch.
"""

import copy
import itertools
import math
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch

from swag_af.data.errors import InputError
from swag_af.data.pool.view import View
from swag_af.data.work.progress import note
from swag_af.filters.contract import check_fit, fields_of, unfitted
from swag_af.filters.neural import cross_entropy, faults_of_fits, stopping_split
from swag_af.filters.pretrained import (
    Head,
    check_network,
    descend,
    load_config,
    load_network,
    load_tokenizer,
    padded,
    rate_of_step,
    tokenized_pieces,
)
from swag_af.filters.strings import Inputs, check_inputs, pieces_of
from swag_af.nn.device import Precision, mixed_precision, pick_device, seeded
from swag_af.nn.pretrained import contents_of
from swag_af.nn.training import Adam, batch_size, least_of, train_while_better

HEAD: Head = "AutoModelForMultipleChoice"
"""One logit a candidate."""


@dataclass(kw_only=True)
class TransformerFilter:
    """A Hugging Face encoder with a multiple-choice head, from its pretrained weights in every fit.

    Constants: BERT's on SWAG (Devlin et al. 2019, 4.4). Its weight decay is left out: three epochs, with the best
    one kept, need none.
    """

    model: str
    """A folder that holds model and tokenizer, or a name on the Hugging Face hub."""
    max_epochs: int = 3
    """Passes over the training rows at most."""
    learning_rates: tuple[float, ...] = (2e-5,)
    """Reached after the first tenth of the steps, then falling linearly to 0. Of several, each trains from the
    pretrained weights on the same batches, and the one with the lowest loss on the stopping rows is kept."""
    batch_contexts: int = 16
    """Contexts a gradient step at most."""
    max_length: int = 128
    """Tokens of context and candidate together; what is longer loses the end of its first sentence and the beginning of
    its start, so that endings stay whole as far as there is room."""
    inputs: Inputs = "full"
    """What it reads: `ending`; `second`, start and ending, as SWAG's filters do; or `full`, the context's first
    sentence too, as the first text of a pair."""
    max_gradient_norm: float = 1.0
    """Gradients that are longer are scaled down to it."""
    stopping_share: float = 0.1
    """Share of the fitted rows (at least 8 of them) kept from training and used to stop early."""
    patience: int = 1
    """Epochs without improvement before the fit stops."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto`: cuda where there is one."""
    precision: Precision = "auto"
    """Products of the training; `auto`: bfloat16 on a GPU. Scores are float32 always: bfloat16 rounds otherwise in a
    batch of another size, and a score must not depend on what else is scored."""

    trials: list["Trial"] = field(default_factory=list, init=False, repr=False, compare=False)
    """After a fit: one for each learning rate."""
    _fitted: tuple[Any, Any] | None = field(default=None, init=False, repr=False, compare=False)
    """Network and tokenizer."""

    name: ClassVar[str] = "transformer"
    argument: ClassVar[str] = "model"
    """What stands in the brackets of `transformer[...]`."""

    def check(self) -> None:
        """Raise InputError where package or model is missing, weights are not whole, or a setting is out of range."""
        config, _ = self._load()
        check_network(self.model, config, HEAD)

    def settings(self) -> dict[str, Any]:
        """The settings, with the hashes of the model's files in place of its path."""
        return fields_of(self) | {"model": contents_of(self.model)}

    def _load(self) -> tuple[Any, Any]:
        """Configuration and tokenizer of the model, once the settings are known to be good."""
        faults = faults_of_fits(
            self,
            counts=("max_epochs", "batch_contexts", "patience"),
            above=("max_gradient_norm",),
            shares=("stopping_share",),
        )
        faults += ["learning_rates must be above 0, at least one"] if min(self.learning_rates, default=0) <= 0 else []
        faults += ["max_length must be 8 or more"] if self.max_length < 8 else []
        if faults:
            raise InputError(f"filter {self.name}: {', '.join(faults)}.")
        check_inputs(self.name, self.inputs)
        config = load_config(self.model, HEAD)
        return config, load_tokenizer(self.model, config, self.max_length)

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        """Learn to tell column 0 from the others; keeps the weights of the best epoch at the best learning rate.

        Best is the lowest loss on the stopping rows, of the fits that converged where any did; where none did, a line
        on standard error says so. Raises InputError as `check` does, and for fewer than 2 rows or 2 candidates a row.
        """
        check_fit(self.name, view, fewest=2)
        n_assigned, (config, tokenizer) = view.shape[1], self._load()
        texts = _Texts(self._read(view, tokenizer), tokenizer, n_assigned)
        device = pick_device(self.device)
        train, stop = stopping_split(view, self.stopping_share, rng=rng)
        seed, self.trials = int(rng.integers(2**63 - 1)), []
        for rate in self.learning_rates:
            with seeded(seed, device):
                network = load_network(self.model, config, HEAD).to(device)
                self.trials.append(self._train(network, texts, train, stop, rate, copy.deepcopy(rng)))
            if self.chosen is self.trials[-1]:
                self._fitted = network, tokenizer
        if not self.chosen.converged:
            note(
                f"filter transformer: the training loss is {self.chosen.training_loss:.3f}, of guessing "
                f"{math.log(n_assigned):.3f}: this fit learned nothing. Other learning_rates, or more max_epochs, may."
            )

    @property
    def chosen(self) -> "Trial":
        """The trial whose network scores."""
        return min(self.trials, key=lambda trial: trial.rank)

    def fit_record(self) -> dict[str, Any]:
        """The learning rate that was chosen, the losses that it reached, in nats, and whether that is any learning."""
        return asdict(self.chosen)

    def score(self, view: View) -> np.ndarray:
        """(n, m) float32 logits."""
        if self._fitted is None:
            raise unfitted("filter transformer")
        network, tokenizer = self._fitted
        device = pick_device(self.device)
        network.to(device)
        return _score(network, tokenizer, self._read(view, tokenizer), device).reshape(view.shape)

    def _read(self, view: View, tokenizer: Any) -> list[dict[str, list[int]]]:
        """The q candidates as token ids and what goes with them, unpadded."""
        return tokenized_pieces(tokenizer, pieces_of(view, self.inputs), as_pairs=self.inputs == "full")

    def _train(
        self, network: Any, texts: "_Texts", train: np.ndarray, stop: np.ndarray, rate: float, rng: np.random.Generator
    ) -> "Trial":
        device = next(network.parameters()).device
        adam = Adam(network, rate, weight_decay=0.0)
        n_batches = max(1, round(len(train) / batch_size(len(train), self.batch_contexts)))
        steps = itertools.count()

        def run_epoch() -> None:
            for rows in np.array_split(rng.permutation(train), n_batches):
                network.zero_grad()
                with mixed_precision(device, self.precision):
                    logits = _row_logits(network, texts, rows, device)
                now = rate * rate_of_step(next(steps), self.max_epochs * n_batches)
                loss = cross_entropy(logits)
                descend(network, loss, adam, learning_rate=now, max_gradient_norm=self.max_gradient_norm)

        held_out_losses = train_while_better(
            network,
            run_epoch,
            lambda: _mean_loss(network, texts, stop, device),
            max_epochs=self.max_epochs,
            patience=self.patience,
            called=None,  # another of the rates may do
        )
        loss = _mean_loss(network, texts, train[:_MEASURED], device)
        return Trial(rate, loss, held_out_losses, loss < (1 - LEAST_LEARNED) * math.log(texts.n_assigned))


LEAST_LEARNED = 1e-3
"""Share of log A by which the training loss must lie below it: more than rounding, less than the least of lessons."""
_MEASURED = 256
"""Training rows whose loss is measured, at most; they are in random order."""


@dataclass(frozen=True)
class Trial:
    """What a fit with one learning rate reached."""

    learning_rate: float
    training_loss: float
    """Cross-entropy of training rows under the weights that were kept, in nats; log A is guessing."""
    held_out_losses: list[float]
    """On the stopping rows, one number an epoch."""
    converged: bool
    """Whether the training loss is below that of guessing (Zellers et al. 2019 leave out fits that are not)."""

    @property
    def rank(self) -> tuple[bool, float]:
        """The least is the best: one that has learned, then the least loss; one that is no number comes last."""
        return not self.converged, least_of(self.held_out_losses)


@dataclass(frozen=True)
class _Texts:
    """The candidates of the fitted rows."""

    candidates: list[dict[str, list[int]]]
    """q of them, those of row 0 first."""
    tokenizer: Any
    n_assigned: int


def _row_logits(network: Any, texts: _Texts, rows: np.ndarray, device: torch.device) -> torch.Tensor:
    """(len(rows), A)."""
    n = texts.n_assigned
    batch = [texts.candidates[row * n + column] for row in rows for column in range(n)]
    return _logits(network, texts.tokenizer, batch, device).reshape(len(rows), n)


def _logits(network: Any, tokenizer: Any, batch: list[dict[str, list[int]]], device: torch.device) -> torch.Tensor:
    """(b,) logits. Each candidate is a question of one choice: the softmax over a row is taken outside."""
    inputs = {name: values[:, None] for name, values in padded(tokenizer, batch, device).items()}  # (b, 1, T)
    logits: torch.Tensor = network(**inputs).logits  # (b, 1)
    return logits[:, 0]


@torch.inference_mode()
def _mean_loss(network: Any, texts: _Texts, rows: np.ndarray, device: torch.device) -> float:
    network.eval()
    total = 0.0
    for part in np.array_split(rows, -(-len(rows) // 16)):
        total += float(cross_entropy(_row_logits(network, texts, part, device))) * len(part)
    return total / len(rows)


SCORED_AT_ONCE = 256
"""Candidates a batch: bounds the memory of scoring."""


@torch.inference_mode()
def _score(network: Any, tokenizer: Any, candidates: list[dict[str, list[int]]], device: torch.device) -> np.ndarray:
    """(q,) float32; batches of like length, so that little is padded."""
    out = np.empty(len(candidates), np.float32)
    order = np.argsort([-len(candidate["input_ids"]) for candidate in candidates], kind="stable")
    for at in range(0, len(order), SCORED_AT_ONCE):
        index = order[at : at + SCORED_AT_ONCE]
        out[index] = _logits(network, tokenizer, [candidates[i] for i in index], device).cpu().numpy()
    return out
