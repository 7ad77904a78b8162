"""Filter negatives of your own, from Python lists, with any filter and a guard of your own.

Reads a JSON-lines file, each line {"sent1": ..., "start": ..., "gold": ..., "negatives": [...]}, and prints the
endings that remain. Negatives that say what gold says in other words are left out by `means_the_same`.

    python examples/custom_negatives.py questions.jsonl --filter bow --iterations 20 --n-negatives 3

The same from a terminal, for files of any size and of other formats:

    swag-af pool questions.jsonl --flag examples/custom_negatives.py:means_the_same --out pool
    swag-af filter pool --schedule bow:20 --n-negatives 3 --out run
"""

import argparse
import json
from pathlib import Path

from swag_af import AFOptions, CandidatePool, Context, filter_pool

FILLERS = frozenset({"a", "an", "the", "then", "and", "just", "slowly", "quickly", "carefully"})


def means_the_same(context: Context, negative: str) -> bool:
    """Whether `negative` has gold's words in any order, but for words that change nothing."""
    gold, other = (
        {word.strip(".,?!;:").lower() for word in text.split()} - FILLERS for text in (context.gold, negative)
    )
    return gold == other


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--filter", default="bow")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--n-negatives", type=int, default=3)
    parser.add_argument("--out", type=Path, help="keep the run in this folder")
    arguments = parser.parse_args()

    records = [json.loads(line) for line in arguments.questions.read_text(encoding="utf-8").split("\n") if line]
    contexts = [Context(record["sent1"], record["start"], record["gold"]) for record in records]
    pool = CandidatePool.from_texts(contexts, [record["negatives"] for record in records], flag=means_the_same)
    options = AFOptions(iterations=arguments.iterations, n_negatives=arguments.n_negatives)
    run = filter_pool(pool, arguments.filter, options, out=arguments.out)
    for context, endings in zip(contexts, run.texts(), strict=True):
        print(
            json.dumps({"sent1": context.sent1, "start": context.start, "gold": endings[0], "distractors": endings[1:]})
        )


if __name__ == "__main__":
    main()
