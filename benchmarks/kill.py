"""Kill a filtering run at random moments, again and again, and see that it ends in the same bytes.

    python benchmarks/kill.py --kills 100      # about 2 minutes
    python benchmarks/kill.py --splits fixed   # filters that learn on, whose states must come through too

A small pool is filtered by the verb `filter`, with audits and a report, once without a break. Then a second run is
begun and its process killed (SIGKILL) after a random while, begun again, and so on, until it has been killed often
enough; it is started anew when it has come to its end before that. Whenever one ends, every file that does not tell
seconds must be the same, byte for byte. Exit code 1 if one is not.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal

import numpy as np

from swag_af.af.options import AFOptions, FilterOptions
from swag_af.cli.runs.filtering import run_filter
from swag_af.data.context import Context
from swag_af.data.pool.pool import CandidatePool

VARYING = ("timing.jsonl", "report.html", "curve.png", "manifest.json")
"""Seconds stand in the first two, the curve is drawn from the log, and the manifest names the run's own folder."""


def main() -> None:
    """Kill as often as asked and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--splits", choices=["fresh", "fixed"], default="fresh")
    arguments = parser.parse_args()
    dice = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        pool, straight, run = (Path(folder) / name for name in ("pool", "straight", "run"))
        _pool().save(pool)
        started = time.perf_counter()
        _in_a_process(pool, straight, arguments.splits, None)
        whole = time.perf_counter() - started
        expected, n_kills, n_ends = _bytes(straight), 0, 0
        while n_kills < arguments.kills:
            if _in_a_process(pool, run, arguments.splits, dice.uniform(0, whole / 3)):
                n_kills += 1
                continue
            n_ends += 1
            differing = [name for name, content in _bytes(run).items() if expected.get(name) != content]
            if differing or _bytes(run).keys() != expected.keys():
                print(f"after {n_kills} kills: {', '.join(differing) or 'other files'} differ")
                sys.exit(1)
            shutil.rmtree(run)
        while _in_a_process(pool, run, arguments.splits, None):
            pass
        same = _bytes(run) == expected
        print(f"{n_kills} kills in {n_ends + 1} runs of {whole:.1f} s: {'the same bytes' if same else 'other bytes'}")
        sys.exit(0 if same else 1)


def _in_a_process(pool: Path, run: Path, splits: Literal["fresh", "fixed"], seconds: float | None) -> bool:
    """Filter in a child process; whether it was killed, after `seconds`, before its end."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        options = AFOptions(iterations=12, n_negatives=4, splits=splits)
        schedule = "ngrams:6,bow:6" if splits == "fresh" else "bow:12"
        run_filter(FilterOptions(pool, run, schedule=schedule, audit="ngrams", audit_every=4, af=options))
        os._exit(0)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _pool() -> CandidatePool:
    rng = np.random.default_rng(0)
    words = ["runs", "eats", "the", "a", "dog", "ball", "up", "down", "quickly", "hill", "to", "with", "friend"]
    contexts, negatives = [], []
    for i in range(80):
        phrases = [" ".join(rng.choice(words, 6)) + f" {k} ." for k in range(40)]
        contexts.append(Context("She looks on .", "The man", phrases[0], id=f"{i}", video=f"v{i // 2}"))
        negatives.append(phrases[1:])
    return CandidatePool.from_texts(contexts, negatives)


def _bytes(folder: Path) -> dict[str, bytes]:
    files = (p for p in sorted(folder.rglob("*")) if p.is_file() and p.name not in VARYING)
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


if __name__ == "__main__":
    main()
