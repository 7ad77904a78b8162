"""How often gold is the likeliest of four endings: as a run assigns them, and with all likelier endings kept out.

    python benchmarks/guard_likelihood.py run

Whoever keeps out what is likelier than gold makes gold the likeliest. Chance is 25 %; intervals at 95 %, by groups.
"""

import argparse

import numpy as np

from swag_af.data.numbers.interval import interval
from swag_af.data.pool.folder import FEATURES
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import open_run

MARGINS = (0.0, 0.25, 0.5, 1.0, 2.0)
"""Nats a token; endings likelier by as much or more are kept out."""
N_WRONG = 3


def main() -> None:
    """Print a line for the iterations of the run, and one for each margin."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="a run on a pool with features")
    run = open_run(parser.parse_args().run)
    pool = run.pool
    every = np.tile(np.arange(pool.n_candidates), (len(pool), 1))
    losses = pool.feature(FEATURES[0], np.arange(len(pool)), every)  # (N, K) nats a token, the lower the likelier
    there = (every > 0) & (every < pool.counts[:, None])
    for iteration in sorted({0, *(i for i in (30, 50) if i <= run.n_finished), run.n_finished}):
        assigned = np.zeros_like(there)
        np.put_along_axis(assigned, run.assignment(iteration).astype(np.int64), True, axis=1)
        say(f"iteration {iteration}", pool, losses, there & assigned)
    for margin in MARGINS:
        say(f"likelier by {margin:g} kept out", pool, losses, there & (losses[:, :1] - losses < margin))


def say(what: str, pool: CandidatePool, losses: np.ndarray, allowed: np.ndarray) -> None:
    """How often gold is the likeliest beside three drawn from those that are `allowed` (N, K); ties are shared."""
    rng = np.random.default_rng(0)
    rows = np.flatnonzero(allowed.sum(axis=1) >= N_WRONG)
    drawn = [rng.permutation(np.flatnonzero(allowed[row]))[:N_WRONG] for row in rows.tolist()]
    four = losses[rows[:, None], np.column_stack([np.zeros(len(rows), np.int64), drawn])]  # (n, 4)
    best = four == four.min(axis=1, keepdims=True)
    hits = best[:, 0] / best.sum(axis=1)
    low, high = interval(hits, np.unique(pool.groups[rows], return_inverse=True)[1])
    print(f"{what}: {100 * hits.mean():.1f} % ({100 * low:.1f}-{100 * high:.1f}), {len(rows):,} questions")


if __name__ == "__main__":
    main()
