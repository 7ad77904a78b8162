"""What the verbs around the filter cost as a dataset grows: `pool`, a short run, `report`, `release` and `verify`.

    python benchmarks/after_filtering.py                                     # 10,000 and 100,000 contexts x 16
    python benchmarks/after_filtering.py --sizes 300000 --folder runs/after  # keeps what it makes

A file of contexts with negatives of their own is written, sentences of made-up words, five contexts a video; then each
command runs as a user would type it, in a process of its own, whose CPU seconds and largest resident memory are told.
People's answers are made up too: everybody finds gold best. Two iterations with bag of words stand for a run, since
what follows depends on the questions alone.
"""

import argparse
import csv
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

WORDS, A_VIDEO, PEOPLE = 20_000, 5, 500

COMMANDS = {
    "pool": "pool mine.jsonl --out pool",
    "filter": "filter pool --out run --schedule bow:2 --audit none",
    "report": "report run --out report.html",
    "release": "release run --out dataset --audit none",
    "verify export": "verify export run --to csv --out tasks.csv",
    "verify import": "verify import run answers.csv --key tasks.csv.key.json --out verdicts.jsonl",
    "verify agreement": "verify agreement verdicts.jsonl",
    "release, verified": "release run --out verified --verdicts verdicts.jsonl --audit none",
}


def main() -> None:
    """Print a row a command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000], help="numbers of contexts")
    parser.add_argument("--candidates", type=int, default=16, help="candidates a context, gold among them")
    parser.add_argument("--folder", type=Path, help="keep everything here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for n in options.sizes:
            folder = (options.folder or Path(temporary)) / f"{n}x{options.candidates}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            golds = write_contexts(folder / "mine.jsonl", n, options.candidates)
            for name, command in COMMANDS.items():
                if name == "verify import":
                    answer(folder / "tasks.csv", folder / "answers.csv", golds)
                seconds, gigabytes = measured(command.split(), folder)
                print(f"{n:>10,}  {name:<18} {seconds:8.1f} CPU s {gigabytes:6.2f} GB", flush=True)


def sentences(rng: random.Random) -> Iterator[str]:
    """Five to twelve words, the commonest of which are drawn as often as in English."""
    parts = [a + b for a in "bdfghklmnprstvwz" for b in "aeiou"]
    words = ["".join(parts[n // 80**i % 80] for i in range(3)) for n in rng.sample(range(80**3), WORDS)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(WORDS)))
    while True:
        yield " ".join(rng.choices(words, cum_weights=weights, k=rng.randint(5, 12))) + "."


def write_contexts(path: Path, n: int, n_candidates: int) -> set[str]:
    """`n` contexts with distinct endings each; returns the golds."""
    drawn, golds = sentences(random.Random(0)), set()
    with path.open("w", encoding="utf-8") as file:
        for i in range(n):
            gold, *negatives = {next(drawn): None for _ in range(n_candidates)}
            golds.add(gold)
            row = {"id": f"{i}", "video": f"v{i // A_VIDEO}", "sent1": next(drawn).capitalize(), "start": "She"}
            file.write(json.dumps(row | {"gold": gold, "negatives": negatives}) + "\n")
    return golds


def answer(tasks: Path, out: Path, golds: set[str]) -> None:
    """Fill in the tasks."""
    with tasks.open(encoding="utf-8", newline="") as asked, out.open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictReader(asked)
        names = list(rows.fieldnames or ())
        written = csv.DictWriter(file, names)
        written.writeheader()
        endings = [name for name in names if name.startswith("ending")]
        for i, row in enumerate(rows):
            best = 1 + next(at for at, name in enumerate(endings) if row[name] in golds)
            rated = {f"rating{1 + at}": "likely" if 1 + at == best else "unlikely" for at in range(len(endings))}
            said = {"best": best, "second": 1 + best % len(endings), "annotator": f"a{i % PEOPLE}", "seconds": 30}
            written.writerow(row | rated | said)


def measured(arguments: list[str], folder: Path) -> tuple[float, float]:
    """CPU seconds, and the most memory that was resident, of `swag-af` with `arguments`."""
    with (folder / "log.txt").open("a", encoding="utf-8") as log:
        process = subprocess.Popen([sys.executable, "-m", "swag_af", *arguments], cwd=folder, stdout=log)
        _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"swag-af {' '.join(arguments)}: exit code {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e9


if __name__ == "__main__":
    main()
