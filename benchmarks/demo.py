"""Does the demo show what it is meant to show, whatever the seed? Runs it once a seed and compares before and after.

    python benchmarks/demo.py --out demos --json demos.json

Prints, for each seed, every head's held-out accuracy at the start and the end of its phase, and for each audit filter
that took no part the paired difference with its 95 % interval. Takes a demo's time a seed; run again, it only prints.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from swag_af.auditing.runs.summary import comparisons, took_part
from swag_af.cli.demo import demo
from swag_af.cli.options import DemoOptions
from swag_af.data.runs.findings import read_audits
from swag_af.data.runs.run import Run, open_run
from swag_af.reporting.plot import curves, ends


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="a folder for the demos' folders")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write all figures here")
    options = parser.parse_args()
    found = {}
    for seed in range(options.seeds):
        demo(DemoOptions(options.out / f"seed-{seed}", seed))
        found[seed] = figures(open_run(options.out / f"seed-{seed}" / "run"))
        print_one(seed, found[seed])
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def figures(run: Run) -> dict[str, Any]:
    """Each head's accuracy, means of five iterations, and each audit's paired difference."""
    heads = {name: list(ends(v)) for name, (_, v) in curves(run).items()}
    audits = {}
    for c in comparisons(run, read_audits(run.path).findings):
        if not took_part(run, c.filter) and c.difference is not None:
            audits[c.filter] = [c.before, c.after, c.difference.mean, c.difference.low, c.difference.high]
    return {"heads": heads, "audits": audits, "seconds": sum(t.seconds for t in run.timing)}


def print_one(seed: int, found: dict[str, Any]) -> None:
    """A line a seed and a line an audit filter."""
    heads = ", ".join(f"{name} {first:.3f} to {last:.3f}" for name, (first, last) in found["heads"].items())
    print(f"seed {seed}: {heads}; filtering took {found['seconds']:.0f} s")
    for name, (before, after, mean, low, high) in found["audits"].items():
        print(f"  {name:10} {before:.3f} to {after:.3f}: {mean:+.3f} ({low:+.3f} to {high:+.3f})", flush=True)


if __name__ == "__main__":
    main()
