"""Which easy distractors leave and which candidates enter, in one iteration (Zellers et al. 2018, Algorithm 1).

`replace_row` is the slow, obvious rule for one row whose scores are all known. `replace` gives the same answer
for many rows and scores only what it needs: it walks a random permutation of each row's unassigned
candidates in growing blocks and stops at the first that pass, which is the same as drawing uniformly from all
that pass. Both are handed the same random keys, so a test can ask for equality.

Letters: `n` held-out rows, `K` candidates a row, `A` assigned (gold first).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

Rule = Literal["paper", "released"]
Pick = Literal["random", "hardest"]
Score = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""`score(rows, columns)`: (r,) positions among the n rows and (r, b) candidates to (r, b) scores."""

FIRST_BLOCK, LARGEST_BLOCK = 8, 256


@dataclass(frozen=True)
class Keys:
    """The random numbers of one iteration; the smallest key goes first."""

    easy: np.ndarray
    """(n, A - 1) which easy distractor leaves first."""
    candidates: np.ndarray
    """(n, K) the order in which unassigned candidates are tried."""


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
    """Unassigned candidates that a full scan would score."""


def draw_keys(n: int, n_candidates: int, n_assigned: int, *, rng: np.random.Generator) -> Keys:
    """Uniform keys for `n` rows."""
    return Keys(rng.random((n, n_assigned - 1)), rng.random((n, n_candidates), dtype=np.float32))


def replace_row(
    scores: np.ndarray,
    assigned: np.ndarray,
    count: int,
    easy_keys: np.ndarray,
    keys: np.ndarray,
    n_easy: int,
    rule: Rule,
    pick: Pick,
) -> np.ndarray:
    """The reference: (K,) scores and an (A,) assignment to the next (A,) assignment."""
    gold = scores[0]
    easy = [j for j in range(1, len(assigned)) if scores[assigned[j]] < gold]
    easy.sort(key=lambda j: easy_keys[j - 1] if pick == "random" else scores[assigned[j]])
    leaving = sorted(easy[:n_easy], key=lambda j: (scores[assigned[j]], j))
    outside = sorted(
        set(range(count)) - set(assigned.tolist()),
        key=lambda k: (keys[k] if pick == "random" else -scores[k], k),
    )
    after = assigned.copy()
    for j in leaving:  # easiest first, so that whoever passes for the second would have passed for the first
        threshold = gold if rule == "released" else scores[assigned[j]]
        newcomer = next((k for k in outside if scores[k] > threshold and k not in after), None)
        after[j] = assigned[j] if newcomer is None else newcomer
    return after


def replace(
    assignment: np.ndarray,
    assigned_scores: np.ndarray,
    counts: np.ndarray,
    score: Score,
    keys: Keys,
    *,
    n_easy: int,
    rule: Rule,
    pick: Pick,
    lazy: bool = True,
) -> Replacements:
    """`replace_row` for every row of `assignment` (n, A), given the scores (n, A) of what is assigned.

    `pick="hardest"` needs every score and ignores `lazy`.
    """
    gold = assigned_scores[:, :1]
    easy = assigned_scores[:, 1:] < gold  # (n, A - 1)
    slots, thresholds = _leaving(assigned_scores, easy, keys.easy, n_easy, rule, pick)  # (n, n_easy) each
    order, n_outside = _outside(assignment, counts, keys.candidates)  # (n, K), (n,)
    n_scored = 0
    block = FIRST_BLOCK if lazy and pick == "random" else order.shape[1]
    if pick == "hardest":
        order, known, n_scored = _by_score(order, n_outside, np.any(slots >= 0, axis=1), score)
        newcomers, _ = _walk(
            order,
            n_outside,
            thresholds,
            lambda rows, columns: np.take_along_axis(known[rows], columns, axis=1),
            block,
        )
    else:
        newcomers, n_scored = _walk(order, n_outside, thresholds, score, block)
    rows, places = np.nonzero(newcomers >= 0)
    changes = np.stack([rows, slots[rows, places], newcomers[rows, places]], axis=1).astype(np.int32)
    return Replacements(apply_changes(assignment, changes), changes, int(easy.sum()), n_scored, int(n_outside.sum()))


def apply_changes(assignment: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """A copy of `assignment` with (m, 3) changes made."""
    after = assignment.copy()
    after[changes[:, 0], changes[:, 1]] = changes[:, 2]
    return after


def _leaving(
    scores: np.ndarray, easy: np.ndarray, easy_keys: np.ndarray, n_easy: int, rule: Rule, pick: Pick
) -> tuple[np.ndarray, np.ndarray]:
    """(n, n_easy) columns that may leave, easiest first, -1 where fewer do; and the score a newcomer must beat."""
    n_easy = min(n_easy, easy.shape[1])
    preference = np.where(easy, easy_keys if pick == "random" else scores[:, 1:], np.inf)
    chosen = np.argsort(preference, axis=1, kind="stable")[:, :n_easy]  # (n, n_easy)
    chosen_scores = np.where(
        np.take_along_axis(easy, chosen, axis=1), np.take_along_axis(scores[:, 1:], chosen, axis=1), np.inf
    )
    ascending = np.lexsort((chosen, chosen_scores), axis=1)
    chosen, chosen_scores = (
        np.take_along_axis(chosen, ascending, axis=1),
        np.take_along_axis(chosen_scores, ascending, axis=1),
    )
    leaves = np.isfinite(chosen_scores)
    thresholds = chosen_scores if rule == "paper" else np.where(leaves, scores[:, :1], np.inf)
    return np.where(leaves, chosen + 1, -1), thresholds


def _outside(assignment: np.ndarray, counts: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, K) candidates by key, those assigned or absent last; and how many come before them."""
    keys = np.where(np.arange(keys.shape[1]) < counts[:, None], keys, np.inf)
    np.put_along_axis(keys, assignment, np.inf, axis=1)
    return np.argsort(keys, axis=1, kind="stable"), counts - assignment.shape[1]


def _by_score(
    order: np.ndarray, n_outside: np.ndarray, wanted: np.ndarray, score: Score
) -> tuple[np.ndarray, np.ndarray, int]:
    """The rows in `wanted` scored whole: candidates by falling score, the (n, K) scores, and how many were scored."""
    known = np.full(order.shape, -np.inf)
    rows = np.flatnonzero(wanted)
    outside = np.arange(order.shape[1]) < n_outside[rows, None]
    columns = np.where(outside, order[rows], 0)
    known[rows] = _scores_by_candidate(columns, outside, score(rows, columns)) if len(rows) else known[rows]
    ranked = np.lexsort((np.broadcast_to(np.arange(order.shape[1]), order.shape), -known), axis=1)
    return ranked, known, int(n_outside[rows].sum())


def _scores_by_candidate(columns: np.ndarray, outside: np.ndarray, scores: np.ndarray) -> np.ndarray:
    out = np.full(columns.shape, -np.inf)
    rows, places = np.nonzero(outside)
    out[rows, columns[rows, places]] = scores[rows, places]
    return out


def _walk(
    order: np.ndarray, n_outside: np.ndarray, thresholds: np.ndarray, score: Score, block: int
) -> tuple[np.ndarray, int]:
    """Along each row's `order`, the first candidate above each threshold, none twice; -1 where there is none.

    Thresholds rise along the row, so a candidate that passes for a later place would have passed for an earlier
    one, and filling places in order is exact. Returns (n, n_easy) newcomers and the number scored.
    """
    newcomers = np.full(thresholds.shape, -1, np.int64)
    at, n_scored = 0, 0
    rows = np.flatnonzero(np.isfinite(thresholds).any(axis=1) & (n_outside > 0))
    while len(rows):
        reach = at + np.arange(min(block, order.shape[1] - at))
        present = reach < n_outside[rows, None]  # (r, b)
        columns = np.where(present, order[rows[:, None], reach], 0)  # gold stands in where a row has run out
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
        rows = rows[open_places.any(axis=1) & (n_outside[rows] > at)]
        block = min(2 * block, LARGEST_BLOCK)
    return newcomers, n_scored
