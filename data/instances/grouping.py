"""Groups of instances that no fold or split may separate: those named, or those that share a text, or nearly."""

from dataclasses import dataclass

import numpy as np

from swag_af.data.instances.instances import Instances
from swag_af.data.splits import deal, join_by_text, join_pairs, named_groups
from swag_af.data.text.near_duplicates import near_duplicate_pairs
from swag_af.data.text.wording import text_key
from swag_af.data.tokens import tokenize

NEAR = 0.8
"""The Jaccard similarity of token 3-grams from which two texts are nearly the same."""


@dataclass(frozen=True)
class Groups:
    """Which instances belong together, and why."""

    numbers: np.ndarray
    """(N,) group numbers, from 0 without a gap."""
    said: str
    """How they were made, in a sentence."""

    @property
    def n(self) -> int:
        """How many groups there are."""
        return int(self.numbers.max()) + 1


def group(instances: Instances) -> Groups:
    """The groups that the dataset names; where it names none, instances whose contexts are the same or nearly so.

    An instance without a name is a group of its own. Contexts compare as `text_key` does; nearly the same are those of
    similarity `NEAR` or more.
    """
    names = [one.group for one in instances.instances]
    if any(names):
        numbers = _numbered(named_groups(names))
        return Groups(numbers, f"{int(numbers.max()) + 1:,} groups, named by the dataset")
    texts = [one.context or (one.options[0] if instances.kind == "classes" else "") for one in instances.instances]
    keys = np.array([text_key(text) for text in texts], np.int64)
    some = np.flatnonzero(keys)
    joined = join_by_text(np.arange(len(instances)), some, keys[some]).groups
    _, first = np.unique(joined, return_index=True)
    known = [row for row in first.tolist() if texts[row]]
    pairs = near_duplicate_pairs([tokenize(texts[row].lower()) for row in known], threshold=NEAR)
    numbers = _numbered(join_pairs(joined, [(known[one], known[other]) for one, other in pairs]))
    n = int(numbers.max()) + 1
    return Groups(numbers, f"{n:,} groups of instances whose context is the same or nearly so; the dataset names none")


def folds_of(instances: Instances, groups: Groups, n_folds: int, *, seed: int) -> np.ndarray:
    """(N,) a fold for each instance, from 0: whole groups together, the same for the same ids in whatever order.

    No more folds than there are groups.
    """
    ids = [one.id for one in instances.instances]
    rank = np.empty(len(ids), np.int64)
    rank[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    first = np.full(groups.n, len(ids))
    np.minimum.at(first, groups.numbers, rank)  # (groups,) the rank of a group's first id
    in_order = first.argsort().argsort()[groups.numbers]
    return deal(in_order, min(n_folds, groups.n), rng=np.random.default_rng((seed, *b"folds")))


def _numbered(groups: np.ndarray) -> np.ndarray:
    numbers: np.ndarray = np.unique(groups, return_inverse=True)[1]
    return numbers
