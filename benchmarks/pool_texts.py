"""Texts of a view of a pool on disk, against reading one text after another, the same texts in the same run.

    python benchmarks/pool_texts.py POOL

CPU seconds, for ten candidates of every row; each way reads everything once before it is timed.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from swag_af.data.pool.assignments import random_assignment
from swag_af.data.pool.pool import CandidatePool

Texts = list[list[str]]


def seconds_of(read: Callable[[], Texts]) -> tuple[float, Texts]:
    """CPU seconds of the second of two readings, and what it read."""
    read()
    started = time.process_time()
    found = read()
    return time.process_time() - started, found


def main() -> None:
    """Print a row a way, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", type=Path)
    pool = CandidatePool.open(parser.parse_args().pool)
    rows = np.arange(len(pool))
    columns = random_assignment(pool.counts, min(10, int(pool.counts.min())), rng=np.random.default_rng(0))

    def one_by_one() -> Texts:
        return [[pool.text(row, int(column)) for column in chosen] for row, chosen in enumerate(columns)]

    slow, expected = seconds_of(one_by_one)
    fast, found = seconds_of(lambda: pool.view(rows, columns).texts)
    assert found == expected
    print(f"{columns.size:,} texts: {slow:.3f} s one by one, {fast:.3f} s by views, {slow / fast:.1f} times as fast")


if __name__ == "__main__":
    main()
