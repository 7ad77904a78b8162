"""What the verb `guard` prints."""

from collections.abc import Sequence

import numpy as np

from swag_af.cli.following import command_for
from swag_af.data.context import phrase
from swag_af.data.errors import several
from swag_af.data.pool.guarded import (
    NO_LONGER,
    ROWS_DROPPED,
    GuardCounts,
    counts_before,
    guard_counts,
    guard_rows,
    guards_of,
    marks,
)
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.work.progress import duration
from swag_af.guarding.estimate import Estimate
from swag_af.guarding.options import GuardOptions
from swag_af.reporting.tables.text import table

N_EXAMPLES = 3
"""Marked endings of each guard that are shown."""
MANY = 0.05
"""Share of the candidates from which on a guard seems to keep out what is wrong."""
N_ROWS = 512
"""Rows in which examples are looked for at a time."""


def guarded_lines(pool: CandidatePool, options: GuardOptions) -> list[str]:
    """What each guard marks, examples by seed, rows left out or short, what to run next."""
    counts = guard_counts(pool)
    if counts is None:
        following = f"{options.pool}: no guard says anything of it. Next: {command_for(options.pool, pool)}"
        return [*_no_longer(pool), following]
    dropped, before = pool.manifest.get(ROWS_DROPPED, 0), counts_before(pool)
    lines = [
        *table(guard_rows({"of the pool": counts} if before is None else {"of all": before, "of those kept": counts})),
        "",
        *_examples(pool),
        *([f"{several(dropped, 'context')} left out in all, with too few negatives left"] if dropped else []),
        *_no_longer(pool),
        *_too_many(counts),
        f"Negatives left: {int(pool.n_eligible.min()) - 1:,} in the row with fewest.",
    ]
    return [*lines, f"Written to {pool.path}. Next: {_following(pool, options)}"]


def _following(pool: CandidatePool, options: GuardOptions) -> str:
    """What to run next; where a row has nothing left, the guard that leaves such rows out."""
    n_without = int((pool.n_eligible < 2).sum())
    if not n_without:
        return command_for(options.out or options.pool, pool)
    return (
        f"{several(n_without, 'row has', 'rows have')} no negative left and cannot be filtered: the same command with "
        f"--min-negatives 1 and another --out leaves {'it' if n_without == 1 else 'them'} out"
    )


def _no_longer(pool: CandidatePool) -> list[str]:
    """What earlier guards kept out and those of now do not, and what would keep it out again."""
    free = pool.manifest.get(NO_LONGER) or {}
    if not free:
        return []
    told = "; ".join(f"{name}, {several(n, 'candidate')}" for name, n in free.items())
    excludes = {one["name"]: one["excludes"] for one in guards_of(pool)}
    marking = [name for name in free if not excludes.get(name, True)]
    weaker = [name for name in free if excludes.get(name)]
    advice = [
        *(["name all guards in one --by"] if any(name not in excludes for name in free) else []),
        *([f"name {', '.join(marking)} in --exclude"] if marking else []),
        *([f"lower --thresholds of {', '.join(weaker)}, or ask without --only-assigned"] if weaker else []),
    ]
    return [f"no longer kept out: {told}. To keep them out, {'; '.join(advice)}."]


def _too_many(counts: GuardCounts) -> list[str]:
    """A line for each guard that keeps out more than a few."""
    return [
        f"{one.name} keeps out {one.n_marked / one.n_asked:.0%}, which is much: are those right? Else raise its "
        "threshold (--thresholds), or mark only (--exclude none)."
        for one in counts.guards
        if one.excludes and one.n_marked > MANY * one.n_asked
    ]


def _examples(pool: CandidatePool) -> list[str]:
    """Gold and a marked ending of some rows, drawn at random, for each guard."""
    guards = guards_of(pool)
    found: list[list[tuple[int, int]]] = [[] for _ in guards]
    order = np.random.default_rng(0).permutation(len(pool))
    for begin in range(0, len(pool), N_ROWS):
        rows = np.sort(order[begin : begin + N_ROWS])
        marked = marks(pool, rows, np.tile(np.arange(pool.n_candidates), (len(rows), 1)))  # (n, K, G)
        for i, mine in enumerate(found):
            at, columns = np.nonzero(marked[:, :, i])
            chosen = np.random.default_rng(0).permutation(len(at))[: N_EXAMPLES - len(mine)].tolist()
            mine += [(int(rows[at[place]]), int(columns[place])) for place in chosen]
        if all(len(mine) == N_EXAMPLES for mine in found):
            break
    lines = []
    for guard, mine in zip(guards, found, strict=True):
        for row, column in mine:
            lines.append(f"{guard['name']}: {phrase(pool.contexts[row])}")
            lines += [f"  * {pool.text(row, 0)}", f"    {pool.text(row, column)}"]
    return [*lines, ""] if lines else []


def dry_run_lines(estimates: Sequence[Estimate]) -> list[str]:
    """Candidates and time, guard by guard; nothing was written."""
    rows = [
        ("guard", "candidates to ask about", "time"),
        *((one.name, f"{one.n:,}", _time(one.seconds)) for one in estimates),
    ]
    return [*table(rows), "", "From a block of rows that was just scored here, on one core. Nothing was written."]


def _time(seconds: float | None) -> str:
    return "as the server takes" if seconds is None else duration(seconds)
