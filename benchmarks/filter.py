"""What an iteration of filtering costs, by phase, number of contexts and candidates; lazy against full scans.

    python benchmarks/filter.py                      # N = 500 and 2,000
    python benchmarks/filter.py --sizes 500 2000 10000 --json
    python benchmarks/filter.py --sizes 500 --candidates 64 256 1024    # how cost grows with K
    python benchmarks/filter.py --sizes 500 --whole-run    # all 140 iterations: the share scored over a run
    python benchmarks/filter.py --sizes 10000 --splits fixed --json     # an iteration of `--splits fixed` alone
    python benchmarks/filter.py --sizes 10000 --ensemble "ensemble[max_epochs=1]"   # shorter fits

Pools are drawn at random: words by Zipf's law, endings of 5 to 25 tokens, features in which gold stands out as it does
in captions (the MLP is right in about a third of the rows at the start). A pool is made in one process, written to a
temporary folder (85 MB for 1,000 x 1,024) and filtered in another, whose memory is told in two numbers:
`peak_memory_gb` is the most that the process held at once of memory of its own (anonymous pages, looked at fifty times
a second), which is what it needs; `peak_resident_gb` counts the pages of the mapped tables and libraries that happened
to be in memory too, which the system takes back when it needs them. Full scans are timed after that. Seconds are of the
whole process (all threads) where they say CPU. `scored_share` is over all iterations of the run, the 140 of a whole run
with --whole-run, which `iterations_mlp` and `iterations_ensemble` tell. The original's loop takes 15 s of CPU an
iteration with the MLP and 545 s with the ensemble at N = 500 x 1,024 (measured on the same kind of machine, its code
made runnable).

With `--splits fixed` a fold's ensemble is fitted from scratch once, at its first turn, and then goes on:
`cpu_seconds_first_turn_ensemble_fixed`, and a mean over later turns, `cpu_seconds_per_iteration_ensemble_fixed`.
Between its turns an MLP re-assigns the other folds: one fold's turns then show what takes five folds of ensembles an
hour, and about as many candidates are new at each turn. `--splits fresh fixed` measures both.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.data.context import Context
from swag_af.data.pool.folder import FEATURES, finish_pool, write_shard
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Iteration, Run
from swag_af.data.tags import load_tagger, tag_word_types
from swag_af.data.vocabulary import Vocabulary, build_vocabulary
from swag_af.data.work.watching import every

N_TYPES, L, S = 8000, 25, 6
ORIGINAL_CPU_SECONDS = {"mlp": 15.0, "ensemble": 545.0}
"""An iteration of the original at N = 500 x 1,024."""
N_LATER_TURNS = 1
"""Of the fold that is measured with fixed splits, after its first."""


def main() -> None:
    """Measure each size in a process of its own, print a table, and with --json one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 2000], help="numbers of contexts")
    parser.add_argument("--candidates", type=int, nargs="+", default=[1024], help="candidates a row")
    parser.add_argument("--whole-run", action="store_true", help="100 iterations with the MLP, 40 with the ensemble")
    parser.add_argument("--splits", nargs="+", choices=["fresh", "fixed"], default=["fresh"], help="which to measure")
    parser.add_argument("--ensemble", default="ensemble", help="with settings in brackets, for other fits of it")
    parser.add_argument("--json", action="store_true", help="print one line of JSON last")
    parser.add_argument("--make", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        folder, n, k = arguments.make
        _make_random_pool(Path(folder), int(n), int(k))
        return
    if arguments.measure:
        folder = Path(arguments.measure)
        spec = arguments.ensemble
        made = _measure(folder, spec, whole=arguments.whole_run) if "fresh" in arguments.splits else {}
        print(json.dumps(made | (_measure_fixed(folder, spec) if "fixed" in arguments.splits else {})))
        return
    flags = ["--splits", *arguments.splits, *["--whole-run"] * arguments.whole_run, "--ensemble", arguments.ensemble]
    sizes = []
    for n in arguments.sizes:
        for k in arguments.candidates:
            sizes.append(_measured(n, k, flags))
            print(f"\n{n:,} contexts x {k:,} candidates")
            for name, value in sizes[-1].items():
                print(f"  {name:40} {value:12,.4g}")
    if len(sizes) > 1 and "fresh" in arguments.splits:
        _print_growth(sizes)
    if arguments.json:
        peaks = {name: max(size[name] for size in sizes) for name in ("peak_memory_gb", "peak_resident_gb")}
        print(json.dumps({**sizes[0], **peaks, "sizes": sizes}))


def _measured(n: int, k: int, flags: list[str]) -> dict[str, float]:
    """Make a pool in one process, filter it in another."""
    with tempfile.TemporaryDirectory() as folder:
        this = [sys.executable, __file__]
        subprocess.run([*this, "--make", folder, str(n), str(k)], check=True)
        command = [*this, "--measure", folder, *flags]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        measured: dict[str, float] = json.loads(output.splitlines()[-1])
        return measured


def _print_growth(made: list[dict[str, float]]) -> None:
    """CPU seconds an iteration of every size, and how many times those of the first."""
    header = f"{'contexts':>9} {'candidates':>10} {'MLP, CPU s':>11} {'':8} {'ensemble, CPU s':>16} {'':8}"
    print(f"\n{header} {'memory, GB':>11}")
    for size in made:
        cells = f"{size['n_contexts']:9,.0f} {size['n_candidates']:10,.0f}"
        for name, width in (("mlp", 11), ("ensemble", 16)):
            seconds = size[f"cpu_seconds_per_iteration_{name}"]
            times = seconds / made[0][f"cpu_seconds_per_iteration_{name}"]
            cells += f" {seconds:{width}.2f} {f'{times:.1f} x':>8}"
        print(f"{cells} {size['peak_memory_gb']:11.2f}")


def _measure(folder: Path, ensemble: str, *, whole: bool) -> dict[str, float]:
    pool = CandidatePool.open(folder / "pool")
    n, k = len(pool), pool.n_candidates
    n_mlp, n_ensemble = (100, 40) if whole else (10, 3 if n <= 2000 else 1)
    cpu: list[float] = [time.process_time()]
    with _memory_watched() as memory:
        run = filter_pool(
            pool,
            [("mlp", n_mlp), (ensemble, n_ensemble)],
            AFOptions(),
            out=folder / "run",
            after_iteration=lambda run: cpu.append(time.process_time()),
        )
    made: dict[str, float] = {
        "n_contexts": n,
        "n_candidates": k,
        "iterations_mlp": n_mlp,
        "iterations_ensemble": n_ensemble,
    }
    for name, iterations in (("mlp", range(2, n_mlp + 1)), ("ensemble", range(n_mlp + 1, n_mlp + n_ensemble + 1))):
        made |= _phase(run, name, iterations, np.diff(cpu))
    made["scored_share"] = _share(run.log)
    full = filter_pool(pool, [("mlp", 3)], AFOptions(scan="full"))
    made["full_scan_over_lazy_mlp"] = float(
        np.mean([t.seconds for t in full.timing]) / made["seconds_per_iteration_mlp"]
    )
    if n * k <= 600_000:
        full = filter_pool(pool, [(ensemble, 1)], AFOptions(scan="full"))
        made["full_scan_over_lazy_ensemble"] = full.timing[0].seconds / made["seconds_per_iteration_ensemble"]
    if (n, k) == (500, 1024):
        for name, seconds in ORIGINAL_CPU_SECONDS.items():
            made[f"ratio_to_original_{name}"] = seconds / made[f"cpu_seconds_per_iteration_{name}"]
    return made | memory


def _measure_fixed(folder: Path, ensemble: str) -> dict[str, float]:
    """Turns of one fold's ensemble; in those of the other folds an MLP re-assigns."""
    pool = CandidatePool.open(folder / "pool")
    turns = [(ensemble, 1), ("mlp", 4)] * N_LATER_TURNS + [(ensemble, 1)]
    cpu: list[float] = [time.process_time()]
    with _memory_watched() as memory:
        run = filter_pool(
            pool,
            turns,
            AFOptions(splits="fixed"),
            out=folder / "fixed",
            after_iteration=lambda run: cpu.append(time.process_time()),
        )
    first, *later = (i for i, one in enumerate(run.log) if one.filter == "ensemble")
    seconds = np.diff(cpu)
    return {
        "n_contexts": len(pool),
        "n_candidates": pool.n_candidates,
        "cpu_seconds_first_turn_ensemble_fixed": float(seconds[first]),
        "cpu_seconds_per_iteration_ensemble_fixed": float(seconds[later].mean()),
        "fit_share_ensemble_fixed": float(np.mean([run.timing[i].fit_seconds / run.timing[i].seconds for i in later])),
        **{f"cpu_seconds_turn{2 + n}_ensemble_fixed": float(seconds[i]) for n, i in enumerate(later)},
    } | memory


@contextmanager
def _memory_watched() -> Iterator[dict[str, float]]:
    """A dictionary that holds `peak_memory_gb` and `peak_resident_gb` afterwards (Linux)."""
    found: dict[str, float] = {"peak_memory_gb": 0.0}

    def look() -> None:
        found["peak_memory_gb"] = max(found["peak_memory_gb"], _memory_of_this_process("RssAnon"))

    with every(0.02, look):
        yield found
    # not getrusage: what a new process inherits of its parent counts there
    found["peak_resident_gb"] = _memory_of_this_process("VmHWM")


def _memory_of_this_process(name: str) -> float:
    """A size of /proc/self/status in gigabytes."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) * 1024 / 1e9


def _phase(run: Run, name: str, iterations: range, cpu: np.ndarray) -> dict[str, float]:
    """Means over the iterations of a phase; the very first is left out, it warms up."""
    at = np.array(iterations) - 1
    timing = [run.timing[i] for i in at]
    return {
        f"seconds_per_iteration_{name}": float(np.mean([t.seconds for t in timing])),
        f"fit_seconds_per_iteration_{name}": float(np.mean([t.fit_seconds for t in timing])),
        f"cpu_seconds_per_iteration_{name}": float(cpu[at].mean()),
        f"scored_share_{name}": _share([run.log[i] for i in at]),
        f"first_accuracy_{name}": run.accuracy(iterations[0]),
    }


def _share(records: list[Iteration]) -> float:
    return sum(r.n_scored for r in records) / sum(r.n_unassigned for r in records)


def _make_random_pool(folder: Path, n: int, k: int, *, shard_rows: int = 500) -> None:
    """`folder`/pool: `n` rows of `k` random endings, five rows a video; gold's features are shifted a little."""
    path = folder / "pool"
    rng = np.random.default_rng(0)
    vocabulary = _vocabulary()
    entries = []
    for number, at in enumerate(range(0, n, shard_rows)):
        rows = min(shard_rows, n - at)
        tables = _random_tables(rng, rows, k)
        contexts = [
            Context("She looks .", "The man", "waits .", id=f"{i}", video=f"v{i // 5}") for i in range(at, at + rows)
        ]
        entries.append(write_shard(path, number, contexts, tables))
    finish_pool(path, vocabulary, entries, {"tagger": "rules"})


def _random_tables(rng: np.random.Generator, n: int, k: int) -> dict[str, np.ndarray]:
    """The tables of `n` rows of `k` endings of 5 to 25 words; gold's features are shifted a little."""
    lengths = np.minimum(5 + rng.geometric(0.15, (n, k)) - 1, L).astype(np.uint8)
    tokens = _words(rng, (n, k, L))
    tokens[np.arange(L) >= lengths[..., None]] = 0
    features = rng.normal(3, 1, (n, k, len(FEATURES))).astype(np.float32)
    features[:, 0, :5] -= 0.6
    features[..., 5] = lengths
    return {
        "tokens": tokens,
        "lengths": lengths,
        "starts": _words(rng, (n, S)),
        "start_lengths": np.full(n, S, np.uint16),
        "counts": np.full(n, k, np.uint32),
        "features": features,
    }


def _vocabulary() -> Vocabulary:
    made = build_vocabulary([[f"word{i}" for i in range(N_TYPES)]], min_count=1)
    return made.with_tags(tag_word_types(made.spellings, load_tagger("rules")))


def _words(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Ids by Zipf's law: the inverse of its cumulative distribution at uniforms."""
    return (4 + N_TYPES ** rng.random(shape, np.float32) - 1).astype(np.uint16)


if __name__ == "__main__":
    main()
