"""What an engine costs for each block of work, how two workers compare with one, and a simulation of up to 64 nodes.

    python benchmarks/scale.py --json                         # about three CPU minutes; run it alone on the machine
    python benchmarks/scale.py --parts simulation --timing POOL  # from the shard times of a pool of `swag-af generate`
    python benchmarks/scale.py --engines processes --parts overhead efficiency

`overhead`: blocks of 128 contexts that take no time, counted from the first result, so without the start. `driver_ms`
are CPU milliseconds of the process that sends and takes, which hold on a busy machine; `wall_ms` do not. Bytes are
those of the pickled block and its result, for Slurm with those of the logs, which stay.

`efficiency`: blocks by one worker and by two, counted from the first result, so without the start. `wall` is half the
ratio of the seconds, which needs two idle cores: `load` says how busy the machine was before. `cpu` needs none: CPU
seconds of the blocks, over those and the driver's. `counting` takes the same CPU seconds whatever the other core does;
`products`, fp32 ones as of a language model, do not, and `slower` says by how much with two workers. A worker has
OMP_NUM_THREADS threads, one if not given.

`audit`: seconds of the command `audit` of a run over 300 random contexts by MLP, CNN and n-grams, before and after, as
typed, so with its start: one process and two, with as many threads as it takes, and two of one thread each.

`simulation`: no cluster, but the scheduler of the Ray engine on a simulated clock (`simulated_cluster.py`). Blocks take
times drawn from those that were measured, with their stragglers: `products` here, or with --timing those of the shards
of a pool. A shard's seconds are those since the one before it was done, so the pool must be one worker's
(`generate --workers 1`); the first shard, which has the start in it, is left out. Nodes have one worker each, start
late, and are lost at a rate.
"""

import argparse
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from filter import _make_random_pool
from scale_work import BLOCK_CONTEXTS, Work, blocks_of
from simulated_cluster import Nodes, simulate

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.data.engines.on_slurm import CHUNKS
from swag_af.data.engines.options import SLURM_FOLDER, EngineOptions
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.scale import run_blocks

ENGINES = ("processes", "ray", "slurm[local]")
PARTS = ("overhead", "efficiency", "audit", "simulation")
NODES = (1, 2, 4, 8, 16, 32, 64)


def main() -> None:
    """Measure, simulate, print, and with --json one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES))
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--blocks", type=int, default=200, help="blocks without work")
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds of a block with work")
    parser.add_argument("--timing", type=Path, help="a pool of `generate --workers 1`, whose shards say what they took")
    parser.add_argument("--contexts", type=int, default=100_000, help="of the simulated run")
    parser.add_argument("--start", type=float, default=60.0, help="seconds until a simulated node has its first block")
    parser.add_argument("--losses", type=float, nargs="+", default=[0.0, 0.1], help="of a simulated node, an hour")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print one line of JSON last")
    arguments = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    found: dict[str, Any] = {"load": os.getloadavg()[0]}
    if "audit" in arguments.parts:
        found["audit"] = [_shown(row) for row in _audits()]
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # of each worker
    if "overhead" in arguments.parts:
        found["overhead"] = [_shown(_overhead(engine, arguments.blocks)) for engine in arguments.engines]
    if "efficiency" in arguments.parts:
        found["efficiency"] = [
            _shown(_efficiency(engine, kind, arguments.seconds))
            for engine in arguments.engines
            if engine in ("processes", "ray")
            for kind in ("counting", "products")
        ]
    if "simulation" in arguments.parts:
        seconds = _measured(arguments.timing, found.get("efficiency", []), arguments.seconds)
        found["simulation"] = [_shown(row) for row in _simulated(seconds, found, arguments)]
    if arguments.json:
        print(json.dumps(found))


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    cells = (f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items())
    print("  ".join(cell for cell in cells if not cell.startswith("times ")), flush=True)
    return row


def _overhead(engine: str, n: int) -> dict[str, Any]:
    """Milliseconds and bytes for each block beyond those of this process."""
    if engine.startswith("slurm"):
        return _overhead_of_tasks(engine)
    here, there = _empty("local", n), _empty(engine, n)
    wall, driver = ((there[name] - here[name]) / n * 1000 for name in ("wall", "driver"))
    return {
        "engine": engine,
        "wall_ms": wall,
        "driver_ms": driver,
        "bytes": _pickled(),
        "start_seconds": there["start"],
    }


def _pickled() -> int:
    """Bytes of a block and its result."""
    block = blocks_of(1)[0]
    return len(pickle.dumps(block)) + len(pickle.dumps(Work(0.0).open()(block)))


def _empty(engine: str, n: int) -> dict[str, float]:
    """Seconds until the first block is done, and seconds and driver's CPU seconds of `n` more, all without work."""
    workers, begun = 2 if engine == "processes" else 1, time.perf_counter()  # one process is never started
    with run_blocks(Work(0.0), blocks_of(n + 1), workers=workers, engine=EngineOptions(engine)) as results:
        next(results)
        first, cpu = time.perf_counter(), time.process_time()
        assert sum(1 for _ in results) == n
        last = time.perf_counter()
        return {"start": first - begun, "wall": last - first, "driver": time.process_time() - cpu}


def _overhead_of_tasks(engine: str) -> dict[str, Any]:
    """The same where blocks are done by tasks that start a process each: for each task, of one block."""
    n, back = CHUNKS - 1, Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            took = _empty(engine, n)
            logs = [path.stat().st_size for path in SLURM_FOLDER.rglob("*") if path.is_file()]
        finally:
            os.chdir(back)
    wall, driver = (took[name] / n * 1000 for name in ("wall", "driver"))
    row = {"engine": engine, "wall_ms": wall, "driver_ms": driver, "bytes": _pickled() + sum(logs) // CHUNKS}
    return row | {"start_seconds": took["start"], "a_block_is": "a task"}


def _efficiency(engine: str, kind: Any, seconds: float, n: int = 12) -> dict[str, Any]:
    """One worker against two, on `n` blocks each."""
    one, two = (_worked(engine, Work(seconds, kind), n, workers) for workers in (1, 2))
    return {
        "engine": engine,
        "work": kind,
        "wall": one["wall"] / (2 * two["wall"]),
        "cpu": sum(two["times"]) / (sum(two["times"]) + two["driver"]),
        "slower": sum(two["times"]) / sum(one["times"]),
        "times": one["times"] + two["times"],
    }


def _worked(engine: str, work: Work, n: int, workers: int) -> dict[str, Any]:
    """Seconds and driver's CPU seconds from the first result of each worker to the last, and each block's."""
    options = EngineOptions("local" if workers == 1 and engine == "processes" else engine)
    with run_blocks(work, blocks_of(n + workers), workers=workers, engine=options) as results:
        for _ in range(workers):
            next(results)
        begun, cpu = time.perf_counter(), time.process_time()
        times = [took for _, took in results]
        return {"wall": time.perf_counter() - begun, "driver": time.process_time() - cpu, "times": times}


def _audits(n: int = 300) -> Iterator[dict[str, Any]]:
    """Seconds of an audit by one worker and by two."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        _make_random_pool(path, n, 64)
        filter_pool(CandidatePool.open(path / "pool"), [("bow", 2)], AFOptions(), out=path / "run")
        for workers, threads in ((1, ""), (2, ""), (2, "1")):
            shutil.copytree(path / "run", path / "again")
            command = [sys.executable, "-m", "swag_af", "audit", str(path / "again"), "--workers", str(workers)]
            more = {"OMP_NUM_THREADS": threads} if threads else {}
            begun = time.perf_counter()
            subprocess.run(
                [*command, "--filters", "mlp,cnn,ngrams"], check=True, env=os.environ | more, stdout=subprocess.DEVNULL
            )
            yield {"workers": workers, "threads": threads or "all", "seconds": time.perf_counter() - begun}
            shutil.rmtree(path / "again")


def _measured(pool: Path | None, efficiency: list[dict[str, Any]], seconds: float) -> np.ndarray:
    """(m,) seconds that a block of 128 contexts took."""
    if pool is None:
        times = [took for row in efficiency if row["work"] == "products" for took in row["times"]]
        return np.array(times or _worked("processes", Work(seconds, "products"), 12, 1)["times"])
    shards = sorted((pool / "shards").glob("[0-9]*"))[1:]
    if not shards:
        sys.exit(f"{pool}: needs two shards or more.")
    took = [json.loads((shard / "timing.json").read_text(encoding="utf-8"))["seconds"] for shard in shards]
    rows = [json.loads((shard / "shard.json").read_text(encoding="utf-8"))["n_rows"] for shard in shards]
    return np.array(took) / np.array(rows) * BLOCK_CONTEXTS


def _simulated(seconds: np.ndarray, found: dict[str, Any], arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for each number of nodes and rate of loss."""
    driver = [row["driver_ms"] for row in found.get("overhead", []) if row["engine"] == "ray"] or [2.0]
    n_blocks, rows = -(-arguments.contexts // BLOCK_CONTEXTS), []
    for losses in arguments.losses:
        for n in NODES:
            nodes = Nodes(n, arguments.start, driver[0] / 1000, losses)
            done = simulate(seconds, n_blocks, nodes, rng=np.random.default_rng(arguments.seed))
            row = {"nodes": n, "losses_per_hour": losses, "hours": done.seconds / 3600}
            rows.append(row | {"efficiency": done.efficiency, "lost_blocks": done.n_lost})
    mean, slowest = float(seconds.mean()), float(seconds.max())
    told = {"simulated_blocks": n_blocks, "mean_seconds": mean, "slowest_seconds": slowest, "driver_ms": driver[0]}
    return [told, *rows]


if __name__ == "__main__":
    main()
