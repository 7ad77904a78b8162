"""Assignments: an integer array `(N, A)` of candidate indices, gold (0) in column 0, negatives in the others.

Draws the first one and checks any; which negatives are replaced is decided by the AF loop.
"""

import numpy as np

from swag_af.data.errors import ExhaustedError, InputError


def random_assignment(counts: np.ndarray, n_assigned: int, *, rng: np.random.Generator) -> np.ndarray:
    """(N, A) int32: gold and `n_assigned - 1` distinct negatives a row, drawn uniformly.

    `counts` (N,) says how many candidates each row has. Raises ExhaustedError when a row has too few.
    """
    check_enough(counts, n_assigned)
    assignment = np.zeros((len(counts), n_assigned), np.int32)
    for row, count in enumerate(counts):
        assignment[row, 1:] = 1 + rng.choice(count - 1, n_assigned - 1, replace=False)
    return assignment


def check_enough(counts: np.ndarray, n_assigned: int) -> None:
    """Raise ExhaustedError when a row has fewer than `n_assigned` candidates."""
    if n_assigned < 2:
        raise InputError(f"{n_assigned} assigned candidates a row: there must be gold and at least one negative.")
    short = np.flatnonzero(counts < n_assigned)
    if len(short):
        raise ExhaustedError(
            f"{len(short)} rows have fewer than {n_assigned - 1} negatives (first: row {short[0]} with "
            f"{counts[short[0]] - 1}). "
            f"Ask for fewer negatives a context (--n-negatives), or make the pool without those rows: swag-af pool "
            f"--min-negatives {n_assigned - 1}."
        )


def check_assignment(assignment: np.ndarray, counts: np.ndarray) -> None:
    """Raise InputError unless gold comes first, every entry exists and no row repeats one."""
    if assignment.ndim != 2 or len(assignment) != len(counts):
        raise InputError(f"an assignment is (N, A); this one is {assignment.shape} for {len(counts)} rows.")
    if (assignment[:, 0] != 0).any():
        raise InputError("column 0 of an assignment is gold, candidate 0 of its row; this one has another.")
    if (assignment < 0).any() or (assignment >= counts[:, None]).any():
        raise InputError("the assignment names a candidate that its row does not have.")
    ordered = np.sort(assignment, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        raise InputError("the assignment names a candidate twice in one row.")


def apply_changes(assignment: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """A copy of `assignment` with (m, 3) changes made."""
    after = assignment.copy()
    after[changes[:, 0], changes[:, 1]] = changes[:, 2]
    return after
