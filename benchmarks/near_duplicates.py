"""How many groups of videos a release must keep together, by how alike near-duplicates are, and the cost of that.

    swag-af contexts train.json val_1.json --out contexts.jsonl --splitter rules
    python benchmarks/near_duplicates.py contexts.jsonl

CPU seconds are of the grouping, tokenising included.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from swag_af.data.captions.context_set import join_near_duplicates, read_contexts
from swag_af.data.splits import named_groups


def main() -> None:
    """Print a row a threshold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contexts", type=Path)
    parser.add_argument("--thresholds", type=float, nargs="+", default=[0.5, 0.6, 0.7, 0.8, 0.9])
    options = parser.parse_args()
    contexts = read_contexts(options.contexts)
    print(f"{len(contexts):,} contexts of {len({c.video or c.id for c in contexts}):,} videos")
    print("similarity   groups  largest, contexts  CPU s")
    for threshold in options.thresholds:
        started = time.process_time()
        groups = join_near_duplicates(named_groups([context.video for context in contexts]), contexts, threshold).groups
        seconds = time.process_time() - started
        print(f"{threshold:10.2f}  {groups.max() + 1:7,}  {np.bincount(groups).max():17,}  {seconds:5.1f}")


if __name__ == "__main__":
    main()
