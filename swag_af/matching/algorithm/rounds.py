"""Rounds of matching: in each, every query of a bucket gets one response and every response goes to one query.

A round is a maximum-weight perfect matching (`scipy.optimize.linear_sum_assignment`, a form of the Jonker-Volgenant
algorithm that VCR used), so it is exact: no other round is worth more. Rounds one after another are the paper's way;
they are not the best set of rounds together. A slow twin stands in `tests/slow/matching.py`.
"""

from dataclasses import dataclass

import numpy as np

from swag_af.data.errors import InputError
from swag_af.matching.models.weights import Worth


@dataclass(frozen=True)
class Matched:
    """Which responses each query of a bucket got."""

    assigned: np.ndarray
    """(n, rounds) the rows whose responses each query got, in the order of the rounds."""
    loss: np.ndarray
    """(rounds,) how much more the best matching is worth at most; 0 where it is the best."""


class InfeasibleError(InputError):
    """There is no round in which every query gets a response that it may have."""

    def __init__(self, rows: np.ndarray, round_number: int):
        self.rows = rows
        """Rows of the bucket that cannot all be served."""
        super().__init__(
            f"round {round_number}: {len(rows)} queries cannot all get a response that is not their own, not one they "
            "have, and not the same text."
        )


GRAIN = 2.0**-24
"""What worths are rounded to where the best alone are kept: sums of whole numbers are exact, and with others scipy's
matching of sparse tables may go on for ever, each step gaining what rounding takes away."""


def match_rounds(worth: Worth, n_rounds: int, *, top: int | None = None, first: np.ndarray | None = None) -> Matched:
    """`n_rounds` rounds of a bucket, after those of `first` (n, t) if some are there already.

    `top` keeps only so many of the best responses for each query, and of the best queries for each response, in place
    of all: quicker for large buckets, and the loss says how much worth that may have cost. Where questions yield, all
    are kept: those of the same question are never among the best. Raises InfeasibleError with the rows that are in the
    way.
    """
    assigned = np.zeros((len(worth), 0), np.int64) if first is None else first
    losses = []
    for number in range(assigned.shape[1], n_rounds):
        matrix = worth.matrix(assigned)
        few = None if worth.yields else top
        chosen, loss = _best(matrix, number + 1) if few is None else _best_of_top(matrix, few, number + 1)
        losses.append(loss)
        assigned = np.concatenate([assigned, chosen[:, None]], axis=1)
    return Matched(assigned, np.array(losses))


def _best(matrix: np.ndarray, number: int) -> tuple[np.ndarray, float]:
    """(n,) the column of each row in the perfect matching of `matrix` (n, n) that is worth most, and no loss.

    The best of each column is taken off it first, which changes no choice and halves the time: a response that is worth
    little to everybody is no longer looked for along many paths (column reduction, Jonker and Volgenant 1987).
    """
    from scipy.optimize import linear_sum_assignment

    best = matrix.max(axis=0, keepdims=True)
    try:
        return np.asarray(linear_sum_assignment(np.where(np.isfinite(best), best, 0) - matrix)[1]), 0.0
    except ValueError:
        raise InfeasibleError(stuck_rows(matrix > -np.inf), number) from None


def _best_of_top(matrix: np.ndarray, top: int, number: int) -> tuple[np.ndarray, float]:
    """The same among the `top` best columns of each row and rows of each column, and one matching that is possible.

    The loss is measured against the sum of the best column of each row and of the best row of each column, whichever
    is less: no matching is worth more than either.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n = len(matrix)
    kept = np.zeros((n, n), bool)
    most = min(top, n)
    np.put_along_axis(kept, np.argpartition(-matrix, most - 1, axis=1)[:, :most], True, axis=1)
    np.put_along_axis(kept, np.argpartition(-matrix, most - 1, axis=0)[:most], True, axis=0)
    allowed = matrix > -np.inf
    kept[np.arange(n), _any_matching(allowed, number)] = True
    kept &= allowed
    costs = np.round((matrix[kept].max(initial=0) + 1 - matrix[kept]) / GRAIN)  # above 0: no entry of the table is 0
    _, columns = min_weight_full_bipartite_matching(csr_array((costs, np.nonzero(kept)), shape=(n, n)))
    bound = min(matrix.max(axis=1).sum(), matrix.max(axis=0).sum())
    return np.asarray(columns, np.int64), float(bound - matrix[np.arange(n), columns].sum())


def _any_matching(allowed: np.ndarray, number: int) -> np.ndarray:
    """(n,) a column for each row such that all are `allowed` (n, n) and none is taken twice."""
    columns = _largest_matching(allowed)
    if (columns < 0).any():
        raise InfeasibleError(stuck_rows(allowed), number)
    return columns


def _largest_matching(allowed: np.ndarray) -> np.ndarray:
    """(n,) a column for as many rows as possible, -1 for the others (Hopcroft and Karp 1973)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    return np.asarray(maximum_bipartite_matching(csr_array(allowed), perm_type="column"), np.int64)


def stuck_rows(allowed: np.ndarray) -> np.ndarray:
    """Rows that have fewer columns among them than they are, ascending; none where all can be matched.

    Hall's condition: from a row that the largest matching leaves out, whoever is reached over alternating paths.
    """
    columns = _largest_matching(allowed)
    row_of = np.full(allowed.shape[1], -1)
    row_of[columns[columns >= 0]] = np.flatnonzero(columns >= 0)
    reached = columns < 0  # (n,)
    while True:
        on_the_way = row_of[allowed[reached].any(axis=0)]
        more = reached.copy()
        more[on_the_way[on_the_way >= 0]] = True
        if (more == reached).all():
            return np.flatnonzero(reached)
        reached = more
