"""Fitting and scoring shared by the neural filters; which network, the members say.

Letters: `n` rows, `A` assigned candidates a row (gold in column 0), `q` sequences. A fit never sees the rows
that will be re-assigned: it stops early on a slice of its own rows, whole groups such as videos. All randomness
comes from `rng`; torch's global generator is as it was when a call returns. On a CPU the same rng gives the same bits
(same machine, same number of threads; on many processors one and two give the same). Where other processes use the
cores a fit has fewer threads, as far as that changes no bit (`threads_alike`). On a GPU gradients are those of bf16
products; losses, weights and scores are fp32 everywhere.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, get_args

import numpy as np
import torch
import torch.nn.functional as F

from swag_af.data.errors import FormatError, InputError
from swag_af.data.pool.view import View
from swag_af.data.splits import hold_aside
from swag_af.filters.contract import check_fit, unfitted
from swag_af.filters.networks import Network
from swag_af.filters.sequences import Sequences, sequences_of
from swag_af.nn.device import Precision, mixed_precision, pick_device, seeded
from swag_af.nn.products import multiply_in_bf16
from swag_af.nn.threads import alike, team
from swag_af.nn.training import Adam, batch_size, train_while_better

MORE_EPOCHS = 1
"""Of a fit that goes on from an earlier one, which then keeps the better of what was and what is now."""
WARM_SHARE = 0.1
"""Of the learning rate, in a fit that goes on: at the whole rate Adam, begun anew, undoes more than it learns, and what
was stays better in most turns (docs/PERFORMANCE.md)."""

_TRAIN, _STOP, _COLUMNS = "rows.train", "rows.stop", "columns"


@dataclass(kw_only=True)
class FitSettings:
    """How a network is fitted, and how long. Constants: Zellers et al. 2018, released code."""

    max_epochs: int = 10
    """Passes over the training rows at most."""
    batch_contexts: int = 128
    """Contexts a gradient step at most; fewer when there are few rows, see `batch_size`."""
    learning_rate: float = 1e-3
    """Of Adam."""
    weight_decay: float = 1e-6
    """L2 penalty of the weights, within Adam."""
    max_gradient_norm: float = 1.0
    """Gradients that are longer are scaled down to it."""
    stopping_share: float = 0.1
    """Share of the fitted rows (at least 8 of them) kept from training and used to stop early."""
    patience: int = 2
    """Epochs without improvement before the fit stops."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto`: cuda where there is one."""
    precision: Precision = "auto"
    """Products of the training; `auto`: bfloat16 on a GPU. On a CPU bfloat16 is faster where there are instructions for
    it, as AMX. Scores are float32 always."""

    held_out_losses: list[float] = field(default_factory=list, init=False, repr=False, compare=False)
    """After a fit: cross-entropy of the deciding head on the stopping rows, one number an epoch, in nats."""

    name: ClassVar[str]

    @property
    def threads_alike(self) -> int:
        """Threads up to which a fit and its scores have the same bits, whatever their number."""
        return min(alike(), alike(multiply_in_bf16)) if self.precision == "bfloat16" else alike()

    def check(self) -> None:
        """Raise InputError for a setting out of its range. Whether a GPU is there is seen where the fits are."""
        widths = [one.name for one in fields(self) if one.name.endswith("width")]
        faults = faults_of_fits(
            self,
            counts=("max_epochs", "batch_contexts", "patience", *widths),
            above=("learning_rate", "max_gradient_norm"),
            shares=("stopping_share",),
        )
        faults += ["weight_decay must not be below 0"] if self.weight_decay < 0 else []
        if faults:
            raise InputError(f"filter {self.name}: {', '.join(faults)}.")


def faults_of_fits(made: Any, *, counts: Sequence[str], above: Sequence[str], shares: Sequence[str]) -> list[str]:
    """What is out of range of the settings of a fit by gradients: of `counts`, which begin with 1, of what must lie
    `above` 0, of `shares`, which are below 1, of the device, and of the precision if it has one; a line each."""
    faults = [f"{name} must be 1 or more" for name in counts if getattr(made, name) < 1]
    faults += [f"{name} must be above 0" for name in above if getattr(made, name) <= 0]
    faults += [f"{name} must be from 0 to below 1" for name in shares if not 0 <= getattr(made, name) < 1]
    known = made.device in ("auto", "cpu") or made.device.startswith("cuda")
    faults += [] if known else [f"device {made.device} is none of auto, cpu, cuda"]
    precision = getattr(made, "precision", "auto")
    known = precision in get_args(Precision)
    return faults + ([] if known else [f"precision {precision} is none of {', '.join(get_args(Precision))}"])


@dataclass(kw_only=True)
class NeuralFilter(FitSettings, ABC):
    """The engine; a subclass makes the network."""

    _network: Network | None = field(default=None, init=False, repr=False, compare=False)
    _seen: dict[str, np.ndarray] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Of the last fit: the rows that were learnt from, those that stopped it, and the candidates of each."""

    requires: ClassVar[tuple[str, ...]] = ()
    reads_words: ClassVar[bool] = True

    @abstractmethod
    def make_network(self, view: View, sequences: Sequences) -> Network:
        """A fresh network for the pool and the sequences of `view`."""

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        """Learn to tell column 0 from the others; keeps the weights of the best epoch.

        Raises InputError for a missing table, NaN features, fewer than 2 rows or 2 candidates a row.
        """
        self.fit_on(view, None, rng=rng)

    def fit_on(self, view: View, state: dict[str, np.ndarray] | None, *, rng: np.random.Generator) -> None:
        """As `fit`, or from `state`: `MORE_EPOCHS` over gold and half of the candidates, new ones first (`newest`), at
        `WARM_SHARE` of the rate; kept where they are better for the rows that stop the fit, which are those of before.
        """
        check_fit(self.name, view, fewest=2)
        self.check()
        columns, device = view.columns, pick_device(self.device)
        if state is None:
            parts = stopping_split(view, self.stopping_share, rng=rng)
        else:
            parts = self._known(state, _TRAIN), self._known(state, _STOP)
            before = self._known(state, _COLUMNS)
            view = View(view.pool, view.rows, newest(columns, before, max(2, view.shape[1] // 2), rng=rng))
        sequences = self._read(view)
        with seeded(int(rng.integers(2**63 - 1)), device), team(self.threads_alike):
            network = self.make_network(view, sequences).to(device)
            if state is not None:
                self._load(network, state)
            self._train(network, sequences, view.shape[1], parts, rng, is_warm=state is not None)
        self._network, self._seen = network, {_TRAIN: parts[0], _STOP: parts[1], _COLUMNS: columns}

    def _load(self, network: Network, state: dict[str, np.ndarray]) -> None:
        """Give the network the weights of `state`; FormatError where they are of another one."""
        for name, value in network.state_dict().items():
            weights, own = self._known(state, name), value.cpu().numpy()
            if (weights.shape, weights.dtype) != (own.shape, own.dtype):
                raise FormatError(
                    f"filter {self.name}: {name} of its state is {weights.dtype} {weights.shape}, and here {own.dtype} "
                    f"{own.shape}: other code made it, or another pool. Begin another run."
                )
        network.load_state_dict({name: torch.from_numpy(state[name]) for name in network.state_dict()})

    def _known(self, state: dict[str, np.ndarray], name: str) -> np.ndarray:
        if name not in state:
            raise FormatError(f"filter {self.name}: its state has no {name}: other code made it. Begin another run.")
        return state[name]

    def state(self) -> dict[str, np.ndarray]:
        """Weights by name, the rows that were learnt from and that stopped the fit, and the candidates of each."""
        if self._network is None:
            raise unfitted(f"filter {self.name}")
        weights = {name: value.cpu().numpy() for name, value in self._network.state_dict().items()}
        return weights | self._seen

    def restore(self, view: View, state: dict[str, np.ndarray]) -> None:
        """Be the filter whose `state()` it is, without learning; `view` is any of the pool that it was fitted on."""
        device = pick_device(self.device)
        with seeded(0, device), team(self.threads_alike):
            network = self.make_network(view, self._read(view)).to(device)
        self._load(network, state)
        network.eval()
        self._network, self._seen = network, {name: self._known(state, name) for name in (_TRAIN, _STOP, _COLUMNS)}

    def score(self, view: View) -> np.ndarray:
        """(n, m) float32 logits of the deciding head."""
        return list(self.member_scores(view).values())[-1]

    def member_scores(self, view: View) -> dict[str, np.ndarray]:
        """(n, m) float32 logits of every head by name, the deciding one last."""
        if self._network is None:
            raise unfitted(f"filter {self.name}")
        with team(self.threads_alike):
            logits = _score(self._network, self._read(view), pick_device(self.device))
        return {name or self.name: values.reshape(view.shape) for name, values in logits.items()}

    def _read(self, view: View) -> Sequences:
        view.pool.require(*self.requires)
        return sequences_of(
            view, words=self.reads_words, features="features" in self.requires, tags="tags" in self.requires
        )

    def _train(
        self,
        network: Network,
        sequences: Sequences,
        n_assigned: int,
        parts: tuple[np.ndarray, np.ndarray],
        rng: np.random.Generator,
        *,
        is_warm: bool,
    ) -> None:
        """Learn from the first of `parts`, stopped by the second."""
        train, stop = parts
        device = next(network.parameters()).device
        adam = Adam(network, self.learning_rate * (WARM_SHARE if is_warm else 1), self.weight_decay)
        n_batches = max(1, round(len(train) / batch_size(len(train), self.batch_contexts)))

        def run_epoch() -> None:
            for rows in np.array_split(rng.permutation(train), n_batches):
                network.zero_grad()
                with mixed_precision(device, self.precision):
                    logits = _logits(network, sequences, rows, n_assigned, device)
                loss = torch.stack([cross_entropy(logit) for logit in logits.values()]).sum()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(network.parameters(), self.max_gradient_norm)
                adam.step()

        self.held_out_losses = train_while_better(
            network,
            run_epoch,
            lambda: _held_out_loss(network, sequences, stop, n_assigned, device),
            max_epochs=min(self.max_epochs, MORE_EPOCHS) if is_warm else self.max_epochs,
            patience=1 if is_warm else self.patience,
            is_warm=is_warm,
            called=f"filter {self.name}",
        )


def stopping_split(view: View, share: float, *, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows that stop the fit (`stopping_size` of them), both in random order; no group on both
    sides, unless all rows are of one."""
    return hold_aside(view.groups, stopping_size(len(view), share), rng=rng)


def stopping_size(n: int, share: float) -> int:
    """How many of `n` fitted rows stop the fit: the share, at least 8, at most half."""
    return min(max(8, round(share * n)), n // 2)


def newest(columns: np.ndarray, before: np.ndarray, n_kept: int, *, rng: np.random.Generator) -> np.ndarray:
    """(n, n_kept) of the candidates `columns` (n, A): gold, then those that were not among `before` (n, A), then
    others; at random among the new and among the others."""
    is_new = (columns[:, :, None] != before[:, None, :]).all(axis=2)  # (n, A)
    keys = rng.random(columns.shape) - is_new
    keys[:, 0] = -np.inf
    return np.take_along_axis(columns, np.argsort(keys, axis=1)[:, :n_kept], axis=1)


def _logits(
    network: Network, sequences: Sequences, rows: np.ndarray, n_assigned: int, device: torch.device
) -> dict[str, torch.Tensor]:
    """(len(rows), A) logits of every head."""
    index = torch.from_numpy((rows[:, None] * n_assigned + np.arange(n_assigned)).reshape(-1))
    batch = sequences.take(index, device)
    return {name: logit[batch.back].reshape(len(rows), n_assigned) for name, logit in network.logits(batch).items()}


def cross_entropy(logits: torch.Tensor) -> torch.Tensor:
    """Mean over rows of gold's negative log share among the A candidates."""
    return F.cross_entropy(logits.float(), torch.zeros(len(logits), dtype=torch.long, device=logits.device))


@torch.inference_mode()
def _held_out_loss(
    network: Network, sequences: Sequences, rows: np.ndarray, n_assigned: int, device: torch.device
) -> float:
    """Cross-entropy of the deciding head: at 50 rows it is far smoother than accuracy, which moves by 2 %."""
    network.eval()
    total = 0.0
    for part in np.array_split(rows, -(-len(rows) // 128)):
        *_, decision = _logits(network, sequences, part, n_assigned, device).values()
        total += float(cross_entropy(decision)) * len(part)
    return total / len(rows)


SCORED_AT_ONCE = 2048
"""Sequences a chunk: bounds the memory of scoring."""


@torch.inference_mode()
def _score(network: Network, sequences: Sequences, device: torch.device) -> dict[str, np.ndarray]:
    """(q,) logits of every head; chunks of like length, so that little is padded."""
    out = {name: np.empty(len(sequences), np.float32) for name in network.head_names}
    order = sequences.lengths.argsort(descending=True, stable=True)
    for index in order.split(SCORED_AT_ONCE):
        batch = sequences.take(index, device)
        for name, logit in network.logits(batch).items():
            out[name][index.numpy()] = logit[batch.back].cpu().numpy()
    return out
