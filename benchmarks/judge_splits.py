"""Draw contexts by seed for a person to judge: is the cut right before the final verb phrase of the main clause?

    python benchmarks/judge_splits.py contexts.jsonl --n 200 --seed 2026
    python benchmarks/judge_splits.py contexts.jsonl --n 200 --seed 2026 --wrong 36,42,60

The first prints one numbered line a context, its cut marked by `|`. The second, told which numbers were judged wrong,
prints the share that is right with Wilson's 95 % interval, and a JSON line last.
"""

import argparse
import json
from math import sqrt
from pathlib import Path

import numpy as np

from swag_af.data.captions.context_set import read_contexts
from swag_af.data.context import Context


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contexts", type=Path)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--wrong", type=numbers, default=None, help="those judged wrong, by commas; '' when none is")
    options = parser.parse_args()
    drawn = draw(read_contexts(options.contexts), options.n, options.seed)
    if options.wrong is None:
        for number, context in enumerate(drawn, start=1):
            print(f"{number:>4}  {context.id}  {context.start} | {context.gold}")
        return
    wrong = sorted(options.wrong)
    for number in wrong:
        if not 1 <= number <= len(drawn):
            parser.error(f"--wrong {number}: the contexts drawn have the numbers 1 to {len(drawn)}")
    for number in wrong:
        print(f"{number:>4}  {drawn[number - 1].id}  {drawn[number - 1].start} | {drawn[number - 1].gold}")
    low, high = wilson(len(drawn) - len(wrong), len(drawn))
    right = 1 - len(wrong) / len(drawn)
    print(json.dumps({"n": len(drawn), "wrong": len(wrong), "right": right, "low": low, "high": high}))


def numbers(text: str) -> set[int]:
    """The numbers between commas, each once."""
    return {int(number) for number in text.split(",") if number.strip()}


def draw(contexts: list[Context], n: int, seed: int) -> list[Context]:
    """`n` different contexts, drawn uniformly, in the order drawn."""
    chosen = np.random.default_rng(seed).choice(len(contexts), min(n, len(contexts)), replace=False)
    return [contexts[int(i)] for i in chosen]


def wilson(n_right: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share, with the quantile of the normal distribution, as docs/CAPTIONS.md has it. That of
    `swag_af.data.numbers.interval` takes Student's and is wider: for 196 of 200 from 94.9 %, not 95.0 %."""
    share, spread = n_right / n, z * z / n
    middle = (share + spread / 2) / (1 + spread)
    half = z * sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    return middle - half, middle + half


if __name__ == "__main__":
    main()
