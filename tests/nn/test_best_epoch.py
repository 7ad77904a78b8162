"""Claims about swag_af.nn.training: which epoch's weights are kept, and what is said where no epoch has a loss."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from conftest import make_pool
from hypothesis import given
from hypothesis import strategies as st

from swag_af.data.errors import InputError
from swag_af.data.pool.assignments import random_assignment
from swag_af.filters.registry import make_filter
from swag_af.nn.training import least_of, train_while_better

NAN = math.nan


def epoch_kept(losses: Sequence[float], *, patience: int = 9, is_warm: bool = False, called: str | None = "x") -> int:
    """The epoch whose weights are left, 0 for those of the start, where epochs have these losses."""
    network = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(network.weight)
    rest = iter(losses)

    def run_epoch() -> None:
        with torch.no_grad():
            network.weight += 1

    train_while_better(
        network,
        run_epoch,
        lambda: next(rest),
        max_epochs=len(losses) - is_warm,
        patience=patience,
        is_warm=is_warm,
        called=called,
    )
    return int(network.weight.item())


@given(losses=st.lists(st.sampled_from([0.3, 0.4, 0.5, NAN, math.inf]), min_size=1, max_size=6), is_warm=st.booleans())
def test_the_best_epoch_is_the_last_of_the_least_finite_losses(losses: list[float], is_warm: bool) -> None:
    finite = [loss for loss in losses if math.isfinite(loss)]
    assert least_of(losses) == min(finite, default=math.inf)
    if not finite:
        assert epoch_kept(losses, is_warm=is_warm, called=None) == 0
        with pytest.raises(InputError, match="x: the training diverges"):
            epoch_kept(losses, is_warm=is_warm)
        return
    last = max(i for i, loss in enumerate(losses) if loss == min(finite))
    assert epoch_kept(losses, is_warm=is_warm) == last + (not is_warm)


def test_a_loss_that_is_no_number_counts_as_no_fall() -> None:
    """Behind one no later epoch could be kept, and the network of the start was, without a word."""
    assert epoch_kept([NAN, 0.5, 0.4, 0.6], patience=3) == 3
    assert epoch_kept([0.5, NAN, NAN, 0.4], patience=2) == 1


@pytest.mark.parametrize("name", ["bow", "mlp"])
def test_a_filter_that_diverges_says_so(name: str) -> None:
    pool = make_pool(0, n=40)
    columns = random_assignment(pool.counts, 5, rng=np.random.default_rng(0))
    filter = make_filter(f"{name}[learning_rate=1e20]")
    with pytest.raises(InputError, match=f"filter {name}: the training diverges.*Take a lower learning_rate"):
        filter.fit(pool.view(np.arange(40), columns), rng=np.random.default_rng(0))
