"""Which questions train and which evaluate: no video, and no two near-duplicates, on different sides.

The groups of the pool (`CandidatePool.groups`) are joined where contexts are alike, and whole groups go to a split.
What is like what is found by `swag_af.data.near_duplicates`.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from swag_af.data.contexts import Context
from swag_af.data.groups import join_pairs
from swag_af.data.near_duplicates import near_duplicate_pairs
from swag_af.data.tokens import tokenize

SPLITS = ("train", "val", "test")


def groups_of(groups: np.ndarray, contexts: Sequence[Context], threshold: float) -> np.ndarray:
    """(n,) group numbers: `groups` (n,), such as those of one video, joined where contexts are near-duplicates.

    Near-duplicates are pairs whose lower-cased tokens of `sent1`, `start` and `gold` have a Jaccard similarity of
    3-grams of at least `threshold`; they join at any remove.
    """
    pairs = near_duplicate_pairs([_tokens_of(context) for context in contexts], threshold=threshold, seed=0)
    return join_pairs(groups, pairs)


def split_by_group(
    groups: Sequence[int] | np.ndarray, val_share: float, test_share: float, *, rng: np.random.Generator
) -> list[str]:
    """(n,) the split of each: whole groups in random order fill test and val up to their shares; train has the rest."""
    size = Counter(int(group) for group in groups)
    wanted = {"test": test_share * len(groups), "val": val_share * len(groups)}
    split_of: dict[int, str] = {}
    filled: Counter[str] = Counter()
    numbers = sorted(size)
    for i in rng.permutation(len(numbers)):
        group = numbers[i]
        open_splits = [split for split, share in wanted.items() if filled[split] + size[group] / 2 <= share]
        split_of[group] = open_splits[0] if open_splits else "train"
        filled[split_of[group]] += size[group]
    return [split_of[int(group)] for group in groups]


def _tokens_of(context: Context) -> list[str]:
    return [token.lower() for text in (context.sent1, context.start, context.gold) for token in tokenize(text)]
