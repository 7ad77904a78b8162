"""HellaSwag's WikiHow questions, and those that GoldenSwag kept of them: one set before and after.

    python benchmarks/goldenswag.py hellaswag.jsonl goldenswag.jsonl --out FOLDER
    swag-af audit FOLDER/kept.jsonl --compare FOLDER/wikihow.jsonl --draws 20 --out FOLDER/audit

GoldenSwag (nearly all from WikiHow) has marks such as `[step]`, which the copy of HellaSwag here has not: questions are
told by their options' letters and digits, and both files have HellaSwag's rows. From WikiHow are those whose context
begins with "How to", the title, and HellaSwag does not give as a caption: its `activitynet_context` is false of some
captions, too.
"""

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from swag_af.data.disk.files import read_jsonl, write_text


def key(options: Sequence[str]) -> tuple[str, ...]:
    """What tells a question: its options without marks, spaces and letter case."""
    return tuple(re.sub(r"\[\w+\]|\W", "", option.lower()) for option in options)


def is_wikihow(row: Mapping[str, Any]) -> bool:
    """Whether a question is from WikiHow, not from ActivityNet."""
    return row["ctx"].startswith("How to ") and not row["activitynet_context"]


def main() -> None:
    """Write wikihow.jsonl and kept.jsonl, and say how many questions each has."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hellaswag", type=Path)
    parser.add_argument("goldenswag", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    rows = [row for _, row in read_jsonl(asked.hellaswag)]
    kept = {key(row["choices"]) for _, row in read_jsonl(asked.goldenswag)}
    wikihow = [row for row in rows if is_wikihow(row)]
    sets = {"wikihow": wikihow, "kept": [row for row in wikihow if key(row["endings"]) in kept]}
    for name, chosen in sets.items():
        write_text(asked.out / f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in chosen))
        print(f"{name}: {len(chosen):,} questions")
    others = sum(key(row["endings"]) in kept for row in rows if not is_wikihow(row))
    print(f"of those from ActivityNet {others} were kept")


if __name__ == "__main__":
    main()
