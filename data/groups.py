"""Which rows belong together, and dealing what belongs together into parts.

Rows of one video share their people and places, and rows that share a sentence give each other's endings away: a model
that has read the one has read the other. Knows numbers and keys only; which texts count is said by those who call.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

MOST_TOGETHER = 0.1
"""No group may grow beyond this share of the rows by texts that it shares: no fold or split could hold it."""


def named_groups(names: Sequence[str]) -> np.ndarray:
    """(n,) group numbers, equal for equal names; a blank name is a group of its own."""
    return np.unique([name or f"\0{row}" for row, name in enumerate(names)], return_inverse=True)[1]


@dataclass(frozen=True)
class Joined:
    """Groups that were joined where their rows share a text."""

    groups: np.ndarray
    """(n,) group numbers, from 0."""
    n_joined: int
    """Rows that share a text with a row of another group as given, and are in one group with all of those now."""
    n_apart: int
    """Rows that share a text with a row that is in another group still."""


def join_by_text(groups: np.ndarray, rows: np.ndarray, keys: np.ndarray, *, most: float = MOST_TOGETHER) -> Joined:
    """Join the `groups` (n,) of rows that share a text: row `rows[i]` holds the text that `keys[i]` stands for.

    `rows` and `keys` are (t,), in any order; a key of 0 is no text. A commonplace must not make one group of all: texts
    that more than a number of groups hold join nothing, and that number is the largest (all, else a power of 2) at
    which no group grows beyond `most` of the rows. Equal sets of rows give equal groups, however they are ordered.
    """
    rows, keys = rows[keys != 0], keys[keys != 0]
    text = np.unique(keys, return_inverse=True)[1]  # (t,)
    n_holders = _n_groups_of_text(text, groups[rows])  # (texts,)
    largest = max(int(np.bincount(groups).max(initial=0)), int(most * len(groups)))
    joined = groups
    for limit in _limits(int(n_holders.max(initial=1))):
        joins = (n_holders > 1)[text] & (n_holders <= limit)[text]
        tried = _connected(groups, groups[rows[joins]], text[joins])
        if np.bincount(tried).max(initial=0) <= largest:
            joined = tried
            break
    shared, apart = np.zeros((2, len(groups)), bool)
    shared[rows[(n_holders > 1)[text]]] = True
    apart[rows[(_n_groups_of_text(text, joined[rows]) > 1)[text]]] = True
    return Joined(joined, int((shared & ~apart).sum()), int(apart.sum()))


def join_pairs(groups: np.ndarray, pairs: Sequence[tuple[int, int]]) -> np.ndarray:
    """(n,) `groups` (n,) with those of the two rows of every pair made one."""
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return _connected(groups, groups[rows.ravel()], np.repeat(np.arange(len(rows)), 2))


def deal(groups: np.ndarray, n_parts: int, *, rng: np.random.Generator) -> np.ndarray:
    """(n,) a part for every row, whole `groups` (n,) together: the largest group first, each to the emptiest part."""
    sizes = np.bincount(groups)
    shuffled = rng.permutation(len(sizes))
    filled = np.zeros(n_parts, np.int64)
    part = np.empty(len(sizes), np.int64)
    for group in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        part[group] = filled.argmin()
        filled[part[group]] += sizes[group]
    return part[groups]


def _limits(most: int) -> Iterator[int]:
    """`most`, then the powers of 2 below it, down to 2."""
    yield most
    for power in range(most.bit_length(), 0, -1):
        if 2**power < most:
            yield 2**power


def _n_groups_of_text(text: np.ndarray, group: np.ndarray) -> np.ndarray:
    """(texts,) how many groups hold each text; entry i says that `group[i]` holds `text[i]`."""
    n_groups = int(group.max(initial=0)) + 1
    return np.bincount(np.unique(text * n_groups + group) // n_groups, minlength=int(text.max(initial=-1)) + 1)


def _connected(groups: np.ndarray, group: np.ndarray, text: np.ndarray) -> np.ndarray:
    """(n,) `groups` (n,) joined along the edges `group[i]` - `text[i]`, numbered by their smallest old number."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_groups, n_texts = int(groups.max(initial=-1)) + 1, int(text.max(initial=-1)) + 1
    size = n_groups + n_texts
    edges = coo_array((np.ones(len(text), bool), (group, n_groups + text)), shape=(size, size))
    label = connected_components(edges, directed=False)[1][:n_groups]
    smallest = np.full(size, n_groups)
    np.minimum.at(smallest, label, np.arange(n_groups))
    return np.unique(smallest[label], return_inverse=True)[1][groups]
