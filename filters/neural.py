"""Fitting and scoring shared by the neural filters; which network, the members say.

Letters: `n` rows, `A` assigned candidates a row (gold in column 0), `q` sequences. A fit never sees the rows
that will be re-assigned: it stops early on a slice of its own rows, whole groups such as videos. All randomness
comes from `rng`; torch's global generator is as it was when a call returns. On a CPU the same rng gives the same bits
(same machine, same number of threads). On a GPU gradients are those of bf16 products; losses, weights and scores are
fp32 everywhere.
"""

import contextlib
import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch.optim.adam import adam

from swag_af.data.errors import InputError
from swag_af.data.pool.pool import View
from swag_af.filters.networks import Network
from swag_af.filters.sequences import Sequences, sequences_of


@dataclass(kw_only=True)
class NeuralFilter(ABC):
    """The engine; a subclass makes the network. Constants: Zellers et al. 2018, released code."""

    max_epochs: int = 10
    """Passes over the training rows at most."""
    batch_contexts: int = 128
    """Contexts a gradient step at most; fewer when there are few rows, see `batch_size`."""
    learning_rate: float = 1e-3
    weight_decay: float = 1e-6
    max_gradient_norm: float = 1.0
    stopping_share: float = 0.1
    """Share of the fitted rows (at least 8 of them) kept from training and used to stop early."""
    patience: int = 2
    """Epochs without improvement before the fit stops."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto`: cuda where there is one."""

    held_out_losses: list[float] = field(default_factory=list, init=False, repr=False, compare=False)
    """After a fit: cross-entropy of the deciding head on the stopping rows, one number an epoch, in nats."""
    _network: Network | None = field(default=None, init=False, repr=False, compare=False)

    name: ClassVar[str]
    requires: ClassVar[tuple[str, ...]] = ()
    reads_words: ClassVar[bool] = True

    @abstractmethod
    def make_network(self, view: View, sequences: Sequences) -> Network:
        """A fresh network for the pool and the sequences of `view`."""

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        """Learn to tell column 0 from the others; keeps the weights of the best epoch.

        Raises InputError for a missing table, NaN features, fewer than 2 rows or 2 candidates a row.
        """
        n, n_assigned = view.shape
        if n < 2 or n_assigned < 2:
            raise InputError(f"a filter needs 2 rows of 2 candidates or more to fit; this view is {n} x {n_assigned}.")
        if self.max_epochs < 1 or self.batch_contexts < 1:
            raise InputError(f"filter {self.name}: max_epochs and batch_contexts must be 1 or more.")
        sequences = self._read(view)
        device = pick_device(self.device)
        train, stop = stopping_split(view, self.stopping_share, rng=rng)
        with seeded(int(rng.integers(2**63 - 1)), device):
            network = self.make_network(view, sequences).to(device)
            self._train(network, sequences, n_assigned, train, stop, rng)
        self._network = network

    def score(self, view: View) -> np.ndarray:
        """(n, m) float32 logits of the deciding head."""
        return list(self.member_scores(view).values())[-1]

    def member_scores(self, view: View) -> dict[str, np.ndarray]:
        """(n, m) float32 logits of every head by name, the deciding one last."""
        if self._network is None:
            raise InputError(f"filter {self.name} has not been fitted. Call fit(view, rng=...) first.")
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
        train: np.ndarray,
        stop: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        device = next(network.parameters()).device
        adam = Adam(network, self.learning_rate, self.weight_decay)
        n_batches = max(1, round(len(train) / batch_size(len(train), self.batch_contexts)))

        def run_epoch() -> None:
            for rows in np.array_split(rng.permutation(train), n_batches):
                network.zero_grad()
                with mixed_precision(device):
                    logits = _logits(network, sequences, rows, n_assigned, device)
                loss = torch.stack([cross_entropy(logit) for logit in logits.values()]).sum()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(network.parameters(), self.max_gradient_norm)
                adam.step()

        self.held_out_losses = train_while_better(
            network,
            run_epoch,
            lambda: _held_out_loss(network, sequences, stop, n_assigned, device),
            max_epochs=self.max_epochs,
            patience=self.patience,
        )


def train_while_better(
    network: torch.nn.Module,
    run_epoch: Callable[[], None],
    held_out_loss: Callable[[], float],
    *,
    max_epochs: int,
    patience: int,
) -> list[float]:
    """Train until the held-out loss has not fallen for `patience` epochs; keep the best weights, return the losses."""
    losses: list[float] = []
    best, best_epoch = copy.deepcopy(network.state_dict()), 0
    for epoch in range(max_epochs):
        network.train()
        run_epoch()
        losses.append(held_out_loss())
        if losses[-1] <= min(losses):
            best, best_epoch = copy.deepcopy(network.state_dict()), epoch
        elif epoch - best_epoch >= patience:
            break
    network.load_state_dict(best)
    network.eval()
    return losses


class Adam:
    """Adam (Kingma & Ba 2015) by torch's own fused kernel, without `torch.optim.Optimizer`.

    That class imports torch's compiler when the first one is made: 3 to 5 seconds of every run, for nothing.
    """

    def __init__(self, network: torch.nn.Module, learning_rate: float, weight_decay: float):
        self.parameters: list[torch.Tensor] = list(network.parameters())
        self.first = [torch.zeros_like(p) for p in self.parameters]
        self.second = [torch.zeros_like(p) for p in self.parameters]
        self.steps = [torch.zeros((), device=p.device) for p in self.parameters]
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay

    @torch.no_grad()
    def step(self) -> None:
        """One update by the gradients at hand."""
        gradients = [p.grad for p in self.parameters if p.grad is not None]
        assert len(gradients) == len(self.parameters)
        adam(
            self.parameters,
            gradients,
            self.first,
            self.second,
            [],
            self.steps,
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self.learning_rate,
            weight_decay=self.weight_decay,
            eps=1e-8,
            maximize=False,
        )


def stopping_split(view: View, share: float, *, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows that stop the fit, both in random order; no group is on both sides.

    Videos are held in random order until the slice has `stopping_size` rows, but for one that would make it more than
    half of all. Rows that are all of one group are parted by row.
    """
    _, first, groups = np.unique(view.groups, return_index=True, return_inverse=True)
    groups = first.argsort().argsort()[groups] if len(first) > 1 else np.arange(len(view))  # by their first rows
    order, sizes = rng.permutation(int(groups.max()) + 1), np.bincount(groups)
    wanted, n_held, held = stopping_size(len(view), share), 0, np.zeros(len(sizes), bool)
    for group in order:
        if n_held < wanted and n_held + sizes[group] <= len(view) // 2:
            held[group] = True
            n_held += sizes[group]
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    rows = np.argsort(place[groups], kind="stable")  # groups in their order
    return rows[~held[groups[rows]]], rows[held[groups[rows]]]


def stopping_size(n: int, share: float) -> int:
    """How many of `n` fitted rows stop the fit: the share, at least 8, at most half."""
    return min(max(8, round(share * n)), n // 2)


def batch_size(n_train: int, most: int) -> int:
    """Contexts a step: `most`, or so few that an epoch has 128 steps, but 16 at least.

    At 360 rows an epoch of 128-context batches is 3 steps, and after ten epochs the POS LSTM is right 0.21 of
    the time, with 16 0.27 (docs/DECISIONS.md); the released code skips a last batch that is not full, hence all
    of them when there are few rows. Batches here differ in size by one at most, none is skipped.
    """
    return min(most, max(16, n_train // 128))


def pick_device(name: str) -> torch.device:
    """The torch device behind `auto`, `cpu` or `cuda`."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise InputError("device cuda: this machine has none that torch can use. Take device cpu or auto.")
    return torch.device(name)


def mixed_precision(device: torch.device, precision: str = "auto") -> contextlib.AbstractContextManager[object]:
    """Products in bf16, which needs no scaling of losses; `auto`: on a GPU alone, and on a CPU nothing changes.

    For training alone: bf16 rounds otherwise in a batch of another size, and no score may hang on its company.
    """
    enabled = precision == "bfloat16" or (precision == "auto" and device.type == "cuda")
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled)


@contextlib.contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Torch's generators seeded inside, and as they were afterwards."""
    with torch.random.fork_rng(devices=[torch.cuda.current_device()] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


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
