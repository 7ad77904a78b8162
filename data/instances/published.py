"""Published splits: which of them is for training, and which for scoring, by their names."""

import re
from collections.abc import Mapping
from typing import Literal

from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instances

SplitKind = Literal["train", "validation", "test"]
SPLIT_WORDS: dict[str, SplitKind] = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("validation", "valid", "val", "dev", "development"), "validation"),
    **dict.fromkeys(("test", "testing"), "test"),
}
"""What splits are called, and what they are for."""


def split_pairs(instances: Instances) -> list[tuple[str, str]]:
    """The published splits that a model can be fitted on and then score: `("train", "validation")`, validation first.

    Of several splits for training the one that is called so and no more, else the largest. None where there is no
    split for training or none for scoring.
    """
    return pairs_of_splits({split: len(rows) for split, rows in instances.splits().items()})


def pairs_of_splits(sizes: Mapping[str, int]) -> list[tuple[str, str]]:
    """`split_pairs` of splits of these names and sizes."""
    splits = {split: n for split, n in sorted(sizes.items()) if split_kind(split)}
    trains = [split for split in splits if split_kind(split) == "train"]
    trains.sort(key=lambda split: (split.lower() not in SPLIT_WORDS, -splits[split]))
    held_out = [split for split in splits if split not in trains]
    held_out.sort(key=lambda split: (split_kind(split) == "test", split.lower() not in SPLIT_WORDS))
    return [(train, split) for train in trains[:1] for split in held_out]


def published_pairs(instances: Instances) -> list[tuple[str, str]]:
    """`split_pairs`; raises InputError, saying which splits there are, where they are none."""
    pairs, names = split_pairs(instances), sorted(instances.splits())
    if not pairs and len(names) == 1:
        said = f"all rows are of the split {names[0]}" if names[0] else "the rows name no split"
        raise InputError(
            f"{instances.name}: {said}. Give the files of training and test together, or name a column with "
            "--split-column."
        )
    if not pairs:
        said = ", ".join(name or "one without a name" for name in names)
        raise InputError(
            f"{instances.name}: no split for training beside one to score; there are {said}. One is found by the "
            "word train, dev, val or test in its name; rename the files or splits."
        )
    return pairs


def split_kind(split: str) -> SplitKind | None:
    """What a split is for, by the one word of its name that says so: `train_full`, `s_test` and `dev-1` have one; None
    for a name without such a word, and for one with words of two kinds."""
    kinds = {SPLIT_WORDS[word] for word in re.split(r"[\W\d_]+", split.lower()) if word in SPLIT_WORDS}
    return kinds.pop() if len(kinds) == 1 else None
