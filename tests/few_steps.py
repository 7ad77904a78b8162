"""Models of annotators fitted in fewer steps, for tests of what must hold after any number: a step costs as much as its
tables do, of however few rows."""

from collections.abc import Callable
from typing import Any

import pytest
from crowdkit import aggregation


def fit_in_fewer_steps(patch: pytest.MonkeyPatch, divisor: int) -> None:
    """Where the models are made from now on, in one of `divisor` steps."""

    def shortened(model: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *, n_iter, **settings: model(n_iter=n_iter // divisor, **settings)

    for name in ("MACE", "DawidSkene"):
        patch.setattr(aggregation, name, shortened(getattr(aggregation, name)))
