"""An order of instances that no file decides, and the folds dealt in it."""

from dataclasses import dataclass, replace

import numpy as np

from swag_af.data.errors import InputError
from swag_af.data.instances.grouping import text_order
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.splits import deal, numbered_as_met


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
    rows = text_order(instances)
    answers = np.concatenate([instances.offsets[row] + np.array(orders[row]) for row in rows.tolist()])
    made = replace(instances, instances=tuple(each[row] for row in rows.tolist()))
    return Sorted(made, rows, answers, numbered_as_met(groups[rows]))


def _reordered(one: Instance, order: list[int]) -> Instance:
    return replace(one, options=tuple(one.options[i] for i in order), answer=order.index(one.answer))


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
