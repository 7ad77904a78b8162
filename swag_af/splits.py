"""Which contexts are held out: whole groups, so that what one video shows is never on both sides of a split."""

import numpy as np

from swag_af.data.errors import InputError
from swag_af.data.pool import CandidatePool


def groups_of(pool: CandidatePool, split_by: str) -> np.ndarray:
    """(N,) group numbers: those of the pool (`CandidatePool.groups`), or all different for `split_by="context"`."""
    return np.arange(len(pool)) if split_by == "context" else pool.groups


def hold_out(groups: np.ndarray, n_test: int, *, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows to fit on and rows held out, both ascending: whole groups at random until `n_test` rows are held out."""
    order = rng.permutation(int(groups.max()) + 1)
    sizes = np.bincount(groups)[order]
    n_groups = 1 + int(np.searchsorted(np.cumsum(sizes), n_test))
    is_out = np.zeros(len(order), bool)
    is_out[order[:n_groups]] = True
    return np.flatnonzero(~is_out[groups]), np.flatnonzero(is_out[groups])


def check_split(groups: np.ndarray, n_test: int, test_share: float) -> None:
    """Raise InputError unless any split leaves at least a row to hold out and two to fit on."""
    most = n_test + int(np.bincount(groups).max()) - 1
    if n_test < 1 or len(groups) - most < 2:
        n_groups = int(groups.max()) + 1
        of = f" of {n_groups} videos" if n_groups < len(groups) else ""
        more = "more videos, or --split-by context" if n_groups < len(groups) else "more contexts"
        raise InputError(
            f"{len(groups)} contexts{of} cannot be split {1 - test_share:g} to {test_share:g}. Use {more}."
        )
