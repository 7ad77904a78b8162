"""CPU seconds of `prune`, and how many of them the sets of random answers take.

    python benchmarks/prune.py snli-2000.jsonl
    python benchmarks/prune.py snli-2000.jsonl --points 1 --audit-models tfidf

Flags are those of `swag-af prune`. One thread, and CPU seconds of the process alone; each part is told when it is done,
so that of a run that is ended before its end something is known.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from swag_af.pruning import verb
from swag_af.pruning.options import PruneOptions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--points", type=int, default=PruneOptions.points)
    parser.add_argument("--draws", type=int, default=PruneOptions.draws)
    parser.add_argument("--audit-models", default=PruneOptions.audit_models)
    asked = vars(parser.parse_args())
    took = dict.fromkeys(PARTS, 0.0)
    for name, what in PARTS.items():
        setattr(what[0], what[1], timed(getattr(*what), name, took))
    with TemporaryDirectory() as folder:
        began = time.process_time()
        pruned = verb.prune(PruneOptions((asked.pop("data"),), out=Path(folder), **asked))
        whole = time.process_time() - began
    print(f"{pruned.about.n:,} instances, {len(pruned.about.rounds)} rounds, {pruned.about.n_kept:,} kept")
    for name, seconds in {**took, "all": whole}.items():
        print(f"{name:16}{seconds:8.1f} CPU s{seconds / whole:8.1%}")


PARTS: dict[str, tuple[Any, str]] = {
    "random answers": (verb, "above_by_luck"),
    "rounds": (verb, "rounds_of"),
    "audits": (verb._Work, "audits"),
    "curve": (verb._Work, "curve"),
}


def timed(function: Callable[..., Any], name: str, took: dict[str, float]) -> Callable[..., Any]:
    """`function`, whose CPU seconds are added to `took`."""

    def run(*given: Any, **named: Any) -> Any:
        began = time.process_time()
        try:
            return function(*given, **named)
        finally:
            took[name] += time.process_time() - began
            print(f"{name}: {took[name]:.1f} CPU s", flush=True)

    return run


if __name__ == "__main__":
    main()
