"""Assignments: an integer array `(N, A)` of candidate indices, gold (0) in column 0, negatives in the others.

Draws the first one and checks any; which negatives are replaced is decided by the AF loop.
"""

import numpy as np

from swag_af.data.disk.urls import command
from swag_af.data.errors import ExhaustedError, InputError


def random_assignment(
    counts: np.ndarray, n_assigned: int, *, rng: np.random.Generator, flagged: np.ndarray | None = None
) -> np.ndarray:
    """(N, A) int32: gold and `n_assigned - 1` distinct negatives a row, drawn uniformly.

    `counts` (N,) says how many candidates each row has, `flagged` (N, K) which of them are not to be drawn; where none
    is, the draws are those without it. Raises ExhaustedError when a row has too few.
    """
    check_enough(counts, n_assigned, flagged)
    assignment = np.zeros((len(counts), n_assigned), np.int32)
    for row, count in enumerate(counts):
        free = np.arange(1, count) if flagged is None else 1 + np.flatnonzero(~flagged[row, 1:count])
        assignment[row, 1:] = free[rng.choice(len(free), n_assigned - 1, replace=False)]
    return assignment


def check_enough(counts: np.ndarray, n_assigned: int, flagged: np.ndarray | None = None) -> None:
    """Raise ExhaustedError when a row has fewer than `n_assigned` candidates that are not `flagged` (N, K)."""
    if n_assigned < 2:
        raise InputError(f"{n_assigned} assigned candidates a row: there must be gold and at least one negative.")
    n_flagged = np.zeros_like(counts) if flagged is None else flagged.sum(axis=1)
    left = counts - n_flagged
    short = np.flatnonzero(left < n_assigned)
    if not len(short):
        return
    if len(short) == len(counts) and not n_flagged.any():
        raise ExhaustedError(
            f"no row has {n_assigned - 1:,} negatives; the most that one has is {left.max() - 1:,}. Ask for fewer "
            "negatives a context (--n-negatives)."
        )
    first = short[0]
    without = f" beside {n_flagged[first]} flagged ones" if n_flagged[short].any() else ""
    instead = (
        f"{command('guard', '--min-negatives', n_assigned - 1, '--out')}; or filter with --ignore-guard"
        if n_flagged[short].any()
        else f"{command('pool', '--min-negatives', n_assigned - 1)} of the file, or in Python leave them out"
    )
    raise ExhaustedError(
        f"{len(short):,} of {len(counts):,} rows have fewer than {n_assigned - 1} negatives (first: row {first} with "
        f"{left[first] - 1}{without}). Ask for fewer negatives a context (--n-negatives), or make the pool without "
        f"those rows: {instead}."
    )


def check_assignment(assignment: np.ndarray, counts: np.ndarray) -> None:
    """Raise InputError unless gold comes first, every entry exists and no row repeats one."""
    if assignment.ndim != 2 or len(assignment) != len(counts):
        raise InputError(f"an assignment is (N, A); this one is {assignment.shape} for {len(counts)} rows.")
    if (assignment[:, 0] != 0).any():
        raise InputError("column 0 of an assignment is gold, candidate 0 of its row; this one has another.")
    check_candidates(assignment, counts)
    ordered = np.sort(assignment, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        raise InputError("the assignment names a candidate twice in one row.")


def check_candidates(assignment: np.ndarray, counts: np.ndarray) -> None:
    """Raise InputError unless every entry is a candidate of its row."""
    if assignment.dtype.kind not in "iu":
        raise InputError(f"an assignment has whole numbers, of candidates; this one has {assignment.dtype}.")
    if (assignment < 0).any() or (assignment >= counts[:, None]).any():
        raise InputError("the assignment names a candidate that its row does not have.")


def apply_changes(assignment: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """A copy of `assignment` with (m, 3) changes made."""
    after = assignment.copy()
    after[changes[:, 0], changes[:, 1]] = changes[:, 2]
    return after
