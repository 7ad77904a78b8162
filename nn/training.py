"""Training a small network: epochs until the held-out loss stops falling, Adam, and sizes of batches."""

import copy
import math
from collections.abc import Callable, Iterable

import torch
from torch.optim.adam import adam

from swag_af.data.errors import InputError


def train_while_better(
    network: torch.nn.Module,
    run_epoch: Callable[[], None],
    held_out_loss: Callable[[], float],
    *,
    max_epochs: int,
    patience: int,
    is_warm: bool = False,
    called: str | None,
) -> list[float]:
    """Train until the held-out loss has not fallen for `patience` epochs; keep the best weights, return the losses.

    A network that `is_warm` has learnt before: the loss that it comes with is the first of all, and may stay the best.
    Raises InputError where no loss is a number, as of a training that diverges, and names what is `called` so; where
    that is None, the network is as it was then.
    """
    network.eval()
    losses = [held_out_loss()] if is_warm else []
    best, best_epoch = copy.deepcopy(network.state_dict()), -1 if is_warm else 0
    for epoch in range(max_epochs):
        network.train()
        run_epoch()
        before = least_of(losses)
        losses.append(held_out_loss())
        if math.isfinite(losses[-1]) and losses[-1] <= before:
            best, best_epoch = copy.deepcopy(network.state_dict()), epoch
        elif epoch - best_epoch >= patience:
            break
    if called is not None and losses and not math.isfinite(least_of(losses)):
        raise InputError(
            f"{called}: the training diverges, no loss of an epoch is a number. Take a lower learning_rate."
        )
    network.load_state_dict(best)
    network.eval()
    return losses


def least_of(losses: Iterable[float]) -> float:
    """The least of those that are finite; infinity where none is."""
    return min(filter(math.isfinite, losses), default=math.inf)


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


def batch_size(n_train: int, most: int) -> int:
    """Contexts a step: `most`, or so few that an epoch has 128 steps, but 16 at least.

    At 360 rows an epoch of 128-context batches is 3 steps, and after ten epochs the POS LSTM is right 0.21 of
    the time, with 16 0.27 (docs/DECISIONS.md); the released code skips a last batch that is not full, hence all
    of them when there are few rows. Batches here differ in size by one at most, none is skipped.
    """
    return min(most, max(16, n_train // 128))
