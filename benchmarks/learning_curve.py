"""What each filter finds, by number of contexts: cross-validated accuracy on one assignment of a pool.

Five folds of the first n rows, a fresh filter for each, the mean held-out accuracy of every head. Without --run the
assignment is random; with it, the one that the run ended in: what a fresh filter still finds.

    python benchmarks/learning_curve.py pool --filters mlp,ensemble --rows 250,500,1000,2000 --json
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from swag_af.af.measures import accuracy, scores_by_head
from swag_af.data.pool.assignments import random_assignment
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.run import open_run
from swag_af.filters.registry import make_filter

N_FOLDS = 5


def cross_validate(pool: CandidatePool, assignment: np.ndarray, name: str, n_rows: int) -> dict[str, float]:
    """The mean held-out accuracy of every head over five folds of the first `n_rows` rows."""
    folds = np.array_split(np.random.default_rng(0).permutation(n_rows), N_FOLDS)
    accuracies: dict[str, list[float]] = {}
    for i, test in enumerate(folds):
        train = np.setdiff1d(np.arange(n_rows), test)
        filter = make_filter(name)
        filter.fit(pool.view(train, assignment[train]), rng=np.random.default_rng(i))
        for head, scores in scores_by_head(filter, pool.view(test, assignment[test])).items():
            accuracies.setdefault(head, []).append(accuracy(scores))
    return {head: float(np.mean(values)) for head, values in accuracies.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", type=Path)
    parser.add_argument("--filters", default="mlp,bow,cnn,poslstm,ensemble")
    parser.add_argument("--rows", default="250,500")
    parser.add_argument("--n-negatives", type=int, default=9)
    parser.add_argument("--run", type=Path, help="take the assignment that this run ended in")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    pool = CandidatePool.open(arguments.pool)
    if arguments.run:
        assignment = open_run(arguments.run).assignment()
    else:
        assignment = random_assignment(pool.counts, 1 + arguments.n_negatives, rng=np.random.default_rng(0))
    results = []
    for n_rows in (min(int(n), len(pool)) for n in arguments.rows.split(",")):
        for name in arguments.filters.split(","):
            started = time.perf_counter()
            found = cross_validate(pool, assignment, name, n_rows)
            seconds = time.perf_counter() - started
            heads = "  ".join(f"{head} {value:.3f}" for head, value in found.items())
            print(f"{n_rows:>6} rows  {name:<10}{seconds:>7.0f} s  {heads}", flush=True)
            results.append({"rows": n_rows, "filter": name, "seconds": round(seconds, 1), "accuracy": found})
    if arguments.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
