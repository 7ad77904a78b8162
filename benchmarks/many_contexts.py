"""What `generate` holds of its contexts, by their number: in the process that is started, and in each worker.

    python benchmarks/many_contexts.py                       # 10,000 and 100,000 contexts
    python benchmarks/many_contexts.py --sizes 1000000 --json

Contexts are made up, each another sentence, and no model is trained or loaded: what is measured is the contexts file as
it is read, and the map of what the models have learnt. Each number is of a process of its own, the most that it held at
once of anonymous pages; the growth is told from size to size, so that Python and torch do not count.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from filter import _memory_watched, _vocabulary

from swag_af.data.context import Context
from swag_af.data.disk.files import write_jsonl
from swag_af.data.folds import FoldMap
from swag_af.lm.lstm.candidates import all_types
from swag_af.lm.lstm.checkpoints import open_lm_folder, open_vocabulary
from swag_af.lm.lstm.corpus import corpus_hash, each_pair, fold_map
from swag_af.lm.options import GenerateOptions, LMOptions
from swag_af.lm.rows import RowsJob
from swag_af.lm.verb import prepare

A_VIDEO = 5
"""Contexts of a video."""


def main() -> None:
    """Measure each process at each size; print gigabytes, and the bytes that each further context takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000], help="numbers of contexts, rising")
    parser.add_argument("--json", action="store_true", help="print one line of JSON last")
    parser.add_argument("--process", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.process:
        process, folder, n = arguments.process
        print(json.dumps(_measured(PROCESSES[process], _options(Path(folder)), int(n))))
        return
    made: dict[str, dict[int, float]] = {name: {} for name in PROCESSES if name != "made"}
    for n in arguments.sizes:
        with tempfile.TemporaryDirectory() as folder:
            _in_a_process("made", folder, n)
            for name, found in made.items():
                found[n] = _in_a_process(name, folder, n)
                print(f"{n:>10,} contexts  {name:<8} {found[n]:6.3f} GB", flush=True)
    for name, found in made.items():
        for a, b in pairwise(found):
            print(f"{name}: {1e9 * (found[b] - found[a]) / (b - a):,.0f} bytes a context from {a:,} to {b:,}")
    if arguments.json:
        print(json.dumps(made))


def _in_a_process(name: str, folder: str, n: int) -> float:
    command = [sys.executable, __file__, "--process", name, folder, str(n)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout.splitlines()[-1])


def _measured(work: Callable[[GenerateOptions, int], object], options: GenerateOptions, n: int) -> float:
    with _memory_watched() as memory:
        held = work(options, n)
        time.sleep(0.1)  # where the work takes no time, so that it is looked at
    del held  # until here
    return memory["peak_memory_gb"]


def _options(folder: Path) -> GenerateOptions:
    return GenerateOptions(folder / "contexts.jsonl", folder / "lms", folder / "pool", tagger="rules")


def _make(options: GenerateOptions, n: int) -> None:
    """The file of contexts, and the folder of models that are to learn from them, none of them trained."""
    contexts = [_context(i) for i in range(n)]
    write_jsonl(options.contexts, (context.record() for context in contexts))
    open_lm_folder(options.lms, LMOptions(), "", _vocabulary(), fold_map(contexts, []), 0)


def _context(i: int) -> Context:
    """Of 23 words."""
    sent1, gold = f"A man number {i} opens the very large box near the old door.", f"gives {i} apples to the woman."
    return Context(sent1, "He then slowly", gold, f"c{i}", f"v{i // A_VIDEO}", "made", i // A_VIDEO % 5)


def _started(options: GenerateOptions, n: int) -> object:
    """What the process that is started reads and checks before the first ending, and what it goes on with."""
    job = prepare(options)
    corpus_hash(each_pair(job.every_context, [], open_vocabulary(options.lms)))
    return job, FoldMap.load(options.lms)


def _worker(options: GenerateOptions, n: int) -> object:
    """What another process reads, but for the model."""
    return RowsJob(options, "cpu", "fp32", all_types(open_vocabulary(options.lms)), is_alone=False).open()


PROCESSES: dict[str, Callable[[GenerateOptions, int], object]] = {
    "made": _make,
    "started": _started,
    "worker": _worker,
}

if __name__ == "__main__":
    main()
