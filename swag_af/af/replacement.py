"""Which easy distractors leave and which candidates enter, in one iteration (Zellers et al. 2018, Algorithm 1).

`replace` scores only what it needs: it walks a random permutation of each row's unassigned candidates in growing blocks
and stops at the first that pass, which is the same as drawing uniformly from all that pass. Its slow, obvious twin for
one row whose scores are all known is in `tests/slow/replacement.py`.

Letters: `n` held-out rows, `K` candidates a row, `A` assigned (gold first).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from swag_af.data.pool.assignments import apply_changes

Rule = Literal["paper", "released"]
Pick = Literal["random", "hardest"]
Score = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""`score(rows, columns)`: (r,) positions among the n rows and (r, b) candidates to (r, b) scores."""

FIRST_BLOCK, LARGEST_BLOCK = 8, 256


@dataclass(frozen=True)
class Policy:
    """Who leaves and who may enter."""

    n_easy: int = 2
    """Easy distractors that leave a row, at most."""
    rule: Rule = "paper"
    """A newcomer scores above the one that it replaces (`paper`), or above gold (`released`)."""
    pick: Pick = "random"
    """Both drawn uniformly, or the lowest out and the highest in."""
    lazy: bool = True
    """Score only what is needed; `hardest` needs every score."""


@dataclass(frozen=True)
class Keys:
    """Random numbers of rows; the smallest key goes first."""

    easy: np.ndarray
    """(n, A - 1) which easy distractor leaves first."""
    candidates: np.ndarray
    """(n, K) the order in which unassigned candidates are tried."""


class Draws:
    """Uniform keys for `n` rows, drawn as the rows come up: the keys of all would take 4 K bytes a row."""

    def __init__(self, n: int, n_candidates: int, n_assigned: int, *, rng: np.random.Generator):
        self.shape = (n, n_candidates)
        self._easy = rng.random((n, n_assigned - 1))
        self._rng, self._at = rng, 0

    def next(self, n: int) -> Keys:
        """The keys of the next `n` rows; the same however many are asked for at a time."""
        here = slice(self._at, self._at + n)
        self._at += n
        return Keys(self._easy[here], self._rng.random((n, self.shape[1]), dtype=np.float32))


@dataclass(frozen=True)
class Replacements:
    """What changed and what it took."""

    assignment: np.ndarray
    """(n, A) after the changes."""
    changes: np.ndarray
    """(m, 3): position among the n rows, column of the assignment, newcomer."""
    n_easy: int
    """Easy distractors among the n x (A - 1)."""
    n_scored: int
    """Unassigned candidates that were scored."""
    n_unassigned: int
    """Unassigned candidates of all rows, also of those that nothing leaves, which no scan scores."""


def replace(
    assignment: np.ndarray,
    assigned_scores: np.ndarray,
    counts: np.ndarray,
    score: Score,
    draws: Draws,
    policy: Policy,
    flagged: np.ndarray | None = None,
) -> Replacements:
    """The next of every row of `assignment` (n, A), given the scores (n, A) of what is assigned.

    Candidates that are `flagged` (n, K) do not enter, and are not scored. Rows are independent, and are looked at some
    at a time: a candidate takes 12 bytes of keys and orders, in all up to 65 (`hardest`).
    """
    parts = np.array_split(np.arange(len(assignment)), max(1, -(-draws.shape[0] * draws.shape[1] // ORDERED_AT_ONCE)))
    done = []
    for rows in parts:
        here = partial(_score_part, score, rows)
        mine, kept = draws.next(len(rows)), None if flagged is None else flagged[rows]
        done.append(_replace_part(assignment[rows], assigned_scores[rows], counts[rows], here, mine, policy, kept))
    return _joined(done, parts)


ORDERED_AT_ONCE = 1 << 22
"""Candidates whose orders are in memory together."""


def _score_part(score: Score, part: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The scores of rows that are counted within `part` (p,) of all rows."""
    return score(part[rows], columns)


def _joined(done: list[Replacements], parts: list[np.ndarray]) -> Replacements:
    """One result of those of `parts` of the rows."""
    first = [np.array([rows[0] if len(rows) else 0, 0, 0], np.int32) for rows in parts]
    return Replacements(
        np.concatenate([part.assignment for part in done]),
        np.concatenate([part.changes + begin for part, begin in zip(done, first, strict=True)]),
        sum(part.n_easy for part in done),
        sum(part.n_scored for part in done),
        sum(part.n_unassigned for part in done),
    )


def _replace_part(
    assignment: np.ndarray,
    assigned_scores: np.ndarray,
    counts: np.ndarray,
    score: Score,
    keys: Keys,
    policy: Policy,
    flagged: np.ndarray | None,
) -> Replacements:
    easy = assigned_scores[:, 1:] < assigned_scores[:, :1]  # (n, A - 1)
    slots, thresholds = _leaving(assigned_scores, easy, keys.easy, policy)  # (n, n_easy) each
    outside = _outside(assignment, counts, keys.candidates, flagged)
    if policy.pick == "hardest":
        outside, score, n_scored = _by_score(outside, np.any(slots >= 0, axis=1), score)
        newcomers, _ = _walk(outside, thresholds, score, outside.order.shape[1])
    else:
        first_block = FIRST_BLOCK if policy.lazy else outside.order.shape[1]
        newcomers, n_scored = _walk(outside, thresholds, score, first_block)
    rows, places = np.nonzero(newcomers >= 0)
    changes = np.stack([rows, slots[rows, places], newcomers[rows, places]], axis=1).astype(np.int32)
    after, n_unassigned = apply_changes(assignment, changes), int(outside.n.sum())
    return Replacements(after, changes, int(easy.sum()), n_scored, n_unassigned)


@dataclass(frozen=True)
class _Outside:
    """The unassigned candidates of each row, in the order in which they are tried."""

    order: np.ndarray
    """(n, K); those assigned, absent or flagged come last."""
    n: np.ndarray
    """(n,) how many come before them."""


def _leaving(
    scores: np.ndarray, easy: np.ndarray, easy_keys: np.ndarray, policy: Policy
) -> tuple[np.ndarray, np.ndarray]:
    """(n, n_easy) columns that may leave, -1 where fewer do; and the scores that newcomers must beat, rising.

    Of `paper` the easiest first, whose threshold is the lowest. Of `released`, where all thresholds are gold's, as they
    were drawn: were the easiest first there, the hardest of all would never leave where one newcomer is to be had.
    """
    n_easy = min(policy.n_easy, easy.shape[1])
    preference = np.where(easy, easy_keys if policy.pick == "random" else scores[:, 1:], np.inf)
    chosen = np.argsort(preference, axis=1, kind="stable")[:, :n_easy]  # (n, n_easy)
    chosen_scores = np.where(
        np.take_along_axis(easy, chosen, axis=1), np.take_along_axis(scores[:, 1:], chosen, axis=1), np.inf
    )
    if policy.rule == "released":
        leaves = np.isfinite(chosen_scores)
        return np.where(leaves, chosen + 1, -1), np.where(leaves, scores[:, :1], np.inf)
    ascending = np.lexsort((chosen, chosen_scores), axis=1)
    chosen, chosen_scores = (
        np.take_along_axis(chosen, ascending, axis=1),
        np.take_along_axis(chosen_scores, ascending, axis=1),
    )
    return np.where(np.isfinite(chosen_scores), chosen + 1, -1), chosen_scores


def _outside(assignment: np.ndarray, counts: np.ndarray, keys: np.ndarray, flagged: np.ndarray | None) -> _Outside:
    keys = np.where(np.arange(keys.shape[1]) < counts[:, None], keys, np.inf)
    np.put_along_axis(keys, assignment, np.inf, axis=1)
    if flagged is not None:
        keys[flagged] = np.inf
    return _Outside(np.argsort(keys, axis=1, kind="stable"), np.isfinite(keys).sum(axis=1))


def _by_score(outside: _Outside, wanted: np.ndarray, score: Score) -> tuple[_Outside, Score, int]:
    """The rows in `wanted` scored whole: candidates by falling score, their scores, and how many were scored."""
    order, known = outside.order, np.full(outside.order.shape, -np.inf)
    rows = np.flatnonzero(wanted)
    present = np.arange(order.shape[1]) < outside.n[rows, None]
    columns = np.where(present, order[rows], 0)
    known[rows] = _scores_by_candidate(columns, present, score(rows, columns)) if len(rows) else known[rows]
    ranked = np.lexsort((np.broadcast_to(np.arange(order.shape[1]), order.shape), -known), axis=1)

    def look_up(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return np.take_along_axis(known[rows], columns, axis=1)

    return _Outside(ranked, outside.n), look_up, int(outside.n[rows].sum())


def _scores_by_candidate(columns: np.ndarray, outside: np.ndarray, scores: np.ndarray) -> np.ndarray:
    out = np.full(columns.shape, -np.inf)
    rows, places = np.nonzero(outside)
    out[rows, columns[rows, places]] = scores[rows, places]
    return out


def _walk(outside: _Outside, thresholds: np.ndarray, score: Score, block: int) -> tuple[np.ndarray, int]:
    """Along the order of each row, the first candidate above each threshold, none twice; -1 where there is none.

    Looks at `block` candidates at first, then at twice as many.
    Thresholds rise along the row, so a candidate that passes for a later place would have passed for an earlier
    one, and filling places in order is exact. Returns (n, n_easy) newcomers and the number scored.
    """
    newcomers = np.full(thresholds.shape, -1, np.int64)
    at, n_scored = 0, 0
    rows = np.flatnonzero(np.isfinite(thresholds).any(axis=1) & (outside.n > 0))
    while len(rows):
        reach = at + np.arange(min(block, outside.order.shape[1] - at))
        present = reach < outside.n[rows, None]  # (r, b)
        columns = np.where(present, outside.order[rows[:, None], reach], 0)  # gold stands in where a row has run out
        scores = np.where(present, score(rows, columns), -np.inf)
        n_scored += int(present.sum())
        for place in range(thresholds.shape[1]):
            passing = scores > thresholds[rows, place, None]
            found = passing.any(axis=1) & (newcomers[rows, place] < 0)
            first = passing.argmax(axis=1)
            newcomers[rows[found], place] = columns[found, first[found]]
            scores[found, first[found]] = -np.inf
        at += len(reach)
        open_places = np.isfinite(thresholds[rows]) & (newcomers[rows] < 0)
        rows = rows[open_places.any(axis=1) & (outside.n[rows] > at)]
        block = min(2 * block, LARGEST_BLOCK)
    return newcomers, n_scored
