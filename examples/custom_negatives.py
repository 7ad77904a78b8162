"""Filter negatives of your own, from a JSON-lines file, with any filter.

Each line: {"sent1": ..., "start": ..., "gold": ..., "negatives": [...]}. Prints the endings that remain.

    python examples/custom_negatives.py questions.jsonl --filter bow --iterations 20 --n-negatives 3
"""

import argparse
import json
from pathlib import Path

from swag_af import AFOptions, CandidatePool, Context, filter_pool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--filter", default="bow")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--n-negatives", type=int, default=3)
    parser.add_argument("--out", type=Path, help="keep the run in this folder")
    arguments = parser.parse_args()

    records = [json.loads(line) for line in arguments.questions.read_text(encoding="utf-8").splitlines() if line]
    contexts = [Context(record["sent1"], record["start"], record["gold"]) for record in records]
    pool = CandidatePool.from_texts(contexts, [record["negatives"] for record in records])
    options = AFOptions(iterations=arguments.iterations, n_negatives=arguments.n_negatives)
    run = filter_pool(pool, arguments.filter, options, out=arguments.out)
    for context, endings in zip(contexts, run.texts(), strict=True):
        print(
            json.dumps({"sent1": context.sent1, "start": context.start, "gold": endings[0], "distractors": endings[1:]})
        )


if __name__ == "__main__":
    main()
