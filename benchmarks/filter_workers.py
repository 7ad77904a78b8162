"""What workers cost and save in filtering: the same run by this process and by others, one thread each.

    OMP_NUM_THREADS=1 python benchmarks/filter_workers.py    # --splits together, the ensemble, N = 250
    OMP_NUM_THREADS=1 python benchmarks/filter_workers.py --contexts 2000 --workers 5 --json

A random pool (that of benchmarks/filter.py) is filtered for two rounds of five folds, once here and once by processes.
Told are seconds of CPU and of the clock an iteration, the first round, which fits from scratch, apart; what workers
add: CPU seconds to start and to hand things over, bytes that travel an iteration, and milliseconds to write and to
read the state of a filter. `same_bytes` says whether both runs are the same. Seconds of the clock mean little where
other work runs beside; a run by workers is not faster than its slowest fold, five of them on two workers take three
turns.
"""

import argparse
import json
import pickle
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from filter import _make_random_pool

from swag_af.af.fitting import WARM
from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.af.turns import Outcome, Turn
from swag_af.data.engines.options import EngineOptions, Workers
from swag_af.data.files import read_arrays
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.run import Run

N_FOLDS = 5


def main() -> None:
    """Measure, print a table, and with --json one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=int, default=250)
    parser.add_argument("--candidates", type=int, default=64)
    parser.add_argument("--filter", default="ensemble")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="print one line of JSON last")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _make_random_pool(folder, arguments.contexts, arguments.candidates)
        here, cpu_here = _filtered(folder, "here", arguments.filter, Workers(1))
        processes = Workers[Any](arguments.workers, EngineOptions("processes"))
        there, cpu_there = _filtered(folder, "there", arguments.filter, processes)
        made = {"workers": arguments.workers, "contexts": arguments.contexts}
        made |= {"same_bytes": _bytes(folder / "here") == _bytes(folder / "there")}
        made |= _rounds("here", cpu_here) | _rounds("workers", cpu_there)
        made |= {"cpu_seconds_added": cpu_there[-1][0] - cpu_here[-1][0]}
        made |= _travels(here, there)
    for key, value in made.items():
        print(f"{key:36} {value:12,.4g}" if not isinstance(value, bool) else f"{key:36} {value!s:>12}")
    if arguments.json:
        print(json.dumps(made))
    sys.exit(0 if made["same_bytes"] else 1)


def _filtered(folder: Path, name: str, filter: str, workers: Workers[Any]) -> tuple[Run, list[tuple[float, float]]]:
    """The run, and CPU and clock seconds at its beginning, after each iteration, and when the workers are gone."""
    began = _seconds()
    seconds = [(0.0, 0.0)]

    def since(run: Run | None = None) -> None:
        seconds.append((_seconds()[0] - began[0], _seconds()[1] - began[1]))

    options = AFOptions(2 * N_FOLDS, splits="together")
    pool = CandidatePool.open(folder / "pool")
    run = filter_pool(pool, filter, options, out=folder / name, after_iteration=since, workers=workers)
    since()
    return run, seconds


def _seconds() -> tuple[float, float]:
    """CPU seconds of this process and of those that it started and that are gone; seconds of the clock."""
    gone = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + gone.ru_utime + gone.ru_stime, time.perf_counter()


def _rounds(who: str, seconds: list[tuple[float, float]]) -> dict[str, float]:
    """Means over a round; the CPU seconds of workers are known when they are gone."""
    clock = np.array(seconds)[:, 1]
    return {
        f"cpu_seconds_per_iteration_{who}": seconds[-1][0] / (2 * N_FOLDS),
        f"seconds_per_iteration_{who}_first": float(clock[N_FOLDS]) / N_FOLDS,
        f"seconds_per_iteration_{who}_later": float(clock[2 * N_FOLDS] - clock[N_FOLDS]) / N_FOLDS,
    }


def _travels(here: Run, there: Run) -> dict[str, float]:
    """What goes to a worker for an iteration, what comes back, and what stays in the folder of the run."""
    assert there.path is not None
    turn = Turn(1, here.assignment())
    outcome = Outcome(there.log[0], there.timing[0], there.replacements[0])
    state = max((there.path / WARM).glob("*.npz"))
    started = time.perf_counter()
    arrays = read_arrays(state, "")
    read = time.perf_counter()
    with tempfile.TemporaryFile() as file:
        np.savez(file, allow_pickle=False, **arrays)
    written = time.perf_counter()
    return {
        "bytes_to_worker_per_iteration": len(pickle.dumps(turn)),
        "bytes_from_worker_per_iteration": len(pickle.dumps(outcome)),
        "bytes_of_state": state.stat().st_size,
        "milliseconds_to_read_state": 1e3 * (read - started),
        "milliseconds_to_write_state": 1e3 * (written - read),
    }


def _bytes(run: Path) -> dict[str, bytes]:
    files = (path for path in sorted(run.rglob("*")) if path.is_file() and path.name != "timing.jsonl")
    return {str(path.relative_to(run)): path.read_bytes() for path in files}


if __name__ == "__main__":
    main()
