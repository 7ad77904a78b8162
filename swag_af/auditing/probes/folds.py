"""An order of instances that no file decides, the folds dealt in it, and published splits."""

import re
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.splits import deal

SplitKind = Literal["train", "validation", "test"]
SPLIT_WORDS: dict[str, SplitKind] = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("validation", "valid", "val", "dev", "development"), "validation"),
    **dict.fromkeys(("test", "testing"), "test"),
}
"""What splits are called, and what they are for."""


@dataclass(frozen=True)
class Sorted:
    """Instances in an order that depends on their texts alone: whoever permutes rows or options finds the same."""

    instances: Instances
    """Rows by their texts, then group and id; of choices, the options of each by their texts."""
    rows: np.ndarray
    """(N,) which row of the set as given each one is."""
    answers: np.ndarray
    """(M,) which answer of the set as given each one is."""
    groups: np.ndarray
    """(N,) their groups, numbered as they are first met here."""


def sort(instances: Instances, groups: np.ndarray) -> Sorted:
    """`instances`, which are in `groups` (N,), in that order."""
    each, orders = instances.instances, [[*range(n)] for n in instances.n_answers.tolist()]
    if instances.kind == "choices":
        orders = [sorted(order, key=one.options.__getitem__) for one, order in zip(each, orders, strict=True)]
        each = tuple(_reordered(one, order) for one, order in zip(each, orders, strict=True))
    rows = sorted(range(len(each)), key=lambda row: _key(each[row]))
    answers = np.concatenate([instances.offsets[row] + np.array(orders[row]) for row in rows])
    _, first, mine = np.unique(groups[rows], return_index=True, return_inverse=True)
    made = replace(instances, instances=tuple(each[row] for row in rows))
    return Sorted(made, np.array(rows), answers, np.argsort(np.argsort(first))[mine])


def _reordered(one: Instance, order: list[int]) -> Instance:
    return replace(one, options=tuple(one.options[i] for i in order), answer=order.index(one.answer))


def _key(one: Instance) -> tuple[object, ...]:
    return one.context, one.start, one.options, one.group, one.id


def deal_folds(groups: np.ndarray, n_folds: int, *, rng: np.random.Generator) -> np.ndarray:
    """(N,) the fold of each row, whole `groups` (N,) together: `n_folds` of them, or one for each group if those are
    fewer.

    Raises InputError for fewer than two folds or groups.
    """
    n_groups = int(groups.max()) + 1
    if n_folds < 2 or n_groups < 2:
        what = f"{n_folds} folds" if n_folds < 2 else "all instances are of one group"
        raise InputError(f"{what}: a probe is fitted on some groups and scores others. Two folds and groups or more.")
    return deal(groups, min(n_folds, n_groups), rng=rng)


def parted(folds: np.ndarray, groups: np.ndarray, *, rng: np.random.Generator) -> np.ndarray:
    """(N,) `folds` (N,) with those of the rows that share a group exchanged at random: single rows are dealt.

    A row that is a group of its own keeps its fold, so that what differs is due to the groups, not to other folds.
    """
    shared = np.flatnonzero(np.bincount(groups)[groups] > 1)
    made = folds.copy()
    made[shared] = rng.permutation(folds[shared])
    return made


def split_pairs(instances: Instances) -> list[tuple[str, str]]:
    """The published splits that a model can be fitted on and then score: `("train", "validation")`, validation first.

    Of several splits for training the one that is called so and no more, else the largest. None where there is no
    split for training or none for scoring.
    """
    splits = {split: rows for split, rows in sorted(instances.splits().items()) if split_kind(split)}
    trains = [split for split in splits if split_kind(split) == "train"]
    trains.sort(key=lambda split: (split.lower() not in SPLIT_WORDS, -len(splits[split])))
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
