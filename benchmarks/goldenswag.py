"""HellaSwag's WikiHow questions, and those that GoldenSwag kept of them: one set before and after.

    python benchmarks/goldenswag.py hellaswag.jsonl goldenswag.jsonl --out FOLDER
    swag-af audit FOLDER/kept.jsonl --compare FOLDER/wikihow.jsonl --draws 20 --out FOLDER/audit

GoldenSwag (nearly all from WikiHow) has marks such as `[step]`, which the copy of HellaSwag here has not: questions are
told by their options' letters and digits, and both files have HellaSwag's rows.
"""

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path

from swag_af.data.files import read_jsonl, write_text


def key(options: Sequence[str]) -> tuple[str, ...]:
    """What tells a question: its options without marks, spaces and letter case."""
    return tuple(re.sub(r"\[\w+\]|\W", "", option.lower()) for option in options)


def main() -> None:
    """Write wikihow.jsonl and kept.jsonl, and say how many questions each has."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hellaswag", type=Path)
    parser.add_argument("goldenswag", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    rows = [row for _, row in read_jsonl(asked.hellaswag)]
    kept = {key(row["choices"]) for _, row in read_jsonl(asked.goldenswag)}
    wikihow = [row for row in rows if not row["activitynet_context"]]
    sets = {"wikihow": wikihow, "kept": [row for row in wikihow if key(row["endings"]) in kept]}
    for name, chosen in sets.items():
        write_text(asked.out / f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in chosen))
        print(f"{name}: {len(chosen):,} questions")
    others = sum(key(row["endings"]) in kept for row in rows if row["activitynet_context"])
    print(f"of those from ActivityNet {others} were kept")


if __name__ == "__main__":
    main()
