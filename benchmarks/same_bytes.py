"""Whether two checkouts make the same bytes: contexts, models, pool, run, report, release, and pools of texts.

For changes that should change nothing. Runs a small pipeline by each checkout, in processes of their own, and compares
every file. What may differ is left out by name: seconds, memory, versions, the hash of the tagging rules' source, and
keys that only one of two manifests has, which are listed. What else differs is listed, and the exit code is 1.

    git worktree add ../before COMMIT
    python benchmarks/same_bytes.py ../before . --out runs/same_bytes
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

STEPS = (
    "demo --out demo --seed 3",
    "pool demo/dataset/train.csv --out pool --tagger rules",
    "tag pool --in-context --tagger rules --workers 2",
    "features pool --lms demo/lms",
    "filter demo/pool --out run --schedule mlp:3,poslstm:2 --n-negatives 5 --audit ngrams --seed 1 --policy released",
    "audit run --filters chars --seeds 2",
    "verify export run --out tasks.csv --limit 20",
    "release run --out dataset --n-distractors 3 --audit ngrams",
)
"""Verbs, as their command lines are read before and after."""

PASSED_OVER = ("timing.jsonl", "timing.json", "lightning_logs", "events.out.tfevents", ".lock")
"""Files that hold seconds and memory."""

FREE = {"seconds", "endings_per_second", "tokens_per_second", "peak_memory_gb", "version", "context_tagger_sha256"}
"""Keys of manifests that may differ."""
TIMED = re.compile(r'<section id="timing">.*?</section>', re.DOTALL)


def make(checkout: Path, out: Path) -> None:
    """Run the steps by the code of `checkout`, in folder `out`."""
    out.mkdir(parents=True)
    environment = os.environ | {"PYTHONPATH": str(checkout.resolve()), "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
    for step in STEPS:
        print(f"{checkout}: swag-af {step}", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "swag_af", *step.split()]
        done = subprocess.run(command, cwd=out, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{checkout}: swag-af {step}: {done.stderr.strip().splitlines()[-1]}")


def digests(folder: Path, added: set[str]) -> dict[str, str]:
    """Every file's hash by its path within `folder`, what may differ and the keys `added` left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not any(part in name for part in PASSED_OVER):
            content = path.read_bytes()
            if path.suffix == ".json":
                content = json.dumps(without(json.loads(content), FREE | added)).encode()
            elif path.suffix == ".html":
                content = TIMED.sub("", content.decode()).encode()
            found[name] = hashlib.sha256(content).hexdigest()
    return found


def without(value: Any, keys: set[str]) -> Any:
    """JSON without some keys, at any depth."""
    if isinstance(value, dict):
        return {key: without(inner, keys) for key, inner in value.items() if key not in keys}
    return [without(inner, keys) for inner in value] if isinstance(value, list) else value


def keys_of(folder: Path) -> set[str]:
    """The keys of every manifest, at its top."""
    return {key for path in folder.rglob("manifest.json") for key in json.loads(path.read_bytes())}


def main() -> None:
    """Make both, compare, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a checkout")
    parser.add_argument("after", type=Path, help="another")
    parser.add_argument("--out", type=Path, default=Path("runs/same_bytes"), help="made where it is missing")
    options = parser.parse_args()
    for name in ("before", "after"):
        if not (options.out / name / "dataset").exists():
            make(getattr(options, name), options.out / name)
    added = keys_of(options.out / "after") ^ keys_of(options.out / "before")
    before, after = (digests(options.out / name, added) for name in ("before", "after"))
    differing = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    print(
        json.dumps(
            {
                "files": len(before),
                "same": len(before.keys() & after.keys())
                - sum(before[name] != after[name] for name in before.keys() & after.keys()),
                "keys_of_one": sorted(added),
                "differing": differing,
            },
            indent=1,
        )
    )
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
