"""Groups of rows that belong together, and their division into parts: folds, held-out rows, splits.

Groups come first: `named_groups` by a name (`numbered` numbers any texts), joined by `join_by_text` and `join_pairs`.
Whole groups then go to parts: `deal` into folds of even size, `hold_out` a share for one round, `hold_aside` a few to
stop a fit by, `fill_shares` into named parts of given shares.

Rows of one video share people and places, and rows that share a sentence leak each other's endings: a model that has
read one has read the other. Knows numbers and keys only; the caller decides which texts count.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from swag_af.data.errors import InputError, several

MOST_TOGETHER = 0.1
"""Shared texts may not make a group larger than this share of the rows: it would not fit into a fold or split."""
FEW_TOGETHER = 10
"""No group of so few is too large."""
STRICTER = (0.8, 0.85, 0.9, 0.95)
"""The Jaccard similarities that are tried in turn where chains of texts, each nearly the same as the next, make a group
too large."""


def named_groups(names: Sequence[str]) -> np.ndarray:
    """(n,) group numbers, equal for equal names; a blank name is a group of its own."""
    return numbered([name or f"\0{row}" for row, name in enumerate(names)])


def numbered(texts: Sequence[str]) -> np.ndarray:
    """(n,) the number of each text among the distinct ones in their order, from 0: the inverse of `np.unique`, which
    would keep every text at the length of the longest."""
    numbers = {text: number for number, text in enumerate(sorted(set(texts)))}
    return np.array([numbers[text] for text in texts], np.int64)


def renumbered(groups: np.ndarray) -> np.ndarray:
    """(n,) the same `groups` (n,) in the same order, numbered from 0 without a gap."""
    return np.unique(groups, return_inverse=True)[1]


def numbered_as_met(groups: np.ndarray) -> np.ndarray:
    """(n,) the same `groups` (n,) in the same order, numbered from 0 as they are first met."""
    _, first, own = np.unique(groups, return_index=True, return_inverse=True)
    numbers: np.ndarray = first.argsort().argsort()[own]
    return numbers


@dataclass(frozen=True)
class Joined:
    """Groups that were joined where their rows share a text."""

    groups: np.ndarray
    """(n,) group numbers, from 0."""
    n_joined: int
    """Number of rows that share a text with a row of another given group, and are now in one group with all of
    those."""
    n_apart: int
    """Number of rows that share a text with a row that is still in another group."""


A_STORY = 20
"""Rows: as many lines as a text of consecutive sentences may have."""


def a_story(n: int) -> int:
    """How many of `n` rows may hang together by their sentences though that is over a tenth: a story, and no more than
    a third of all."""
    return min(A_STORY, n // 3)


def join_by_text(
    groups: np.ndarray, rows: np.ndarray, keys: np.ndarray, *, most: float = MOST_TOGETHER, few: int = 0
) -> Joined:
    """Join the `groups` (n,) of rows that share a text: row `rows[i]` contains the text with key `keys[i]`.

    `rows` and `keys` are (t,), in any order; a key of 0 is no text. A common phrase must not make one group of all
    rows, nor a chain of texts: a group of more than `most` of the rows, or of `few` of them where that is more, is too
    large. First all texts join. What becomes too large is taken apart and joined again by rarer texts only (in at most
    a power of 2 of groups), and so on; what is small enough stays. Equal sets of rows give equal groups, however they
    are ordered.
    """
    rows, keys = rows[keys != 0], keys[keys != 0]
    text = np.unique(keys, return_inverse=True)[1]  # (t,)
    n_holders = _n_groups_of_text(text, groups[rows])  # (texts,)
    largest = max(int(np.bincount(groups).max(initial=0)), int(most * len(groups)), few)
    is_open = np.ones(len(groups), bool)  # rows in no group that is small enough yet
    kept = np.zeros(len(rows), bool)
    for limit in _limits(int(n_holders.max(initial=1))):
        joins = (n_holders > 1)[text] & (n_holders <= limit)[text] & is_open[rows]
        tried = _connected(groups, groups[rows[joins]], text[joins])
        is_open &= np.bincount(tried)[tried] > largest
        kept |= joins & ~is_open[rows]
        if not is_open.any():
            break
    return counted(groups, _connected(groups, groups[rows[kept]], text[kept]), rows, keys)


def counted(groups: np.ndarray, joined: np.ndarray, rows: np.ndarray, keys: np.ndarray) -> Joined:
    """The groups `joined` (n,), each of whole `groups` (n,), with the counts of `join_by_text`."""
    shared, apart = (rows_apart(numbers, rows, keys) for numbers in (groups, joined))  # (n,)
    return Joined(joined, int((shared & ~apart).sum()), int(apart.sum()))


def rows_apart(groups: np.ndarray, rows: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """(n,) whether each row shares a text with a row of another of `groups` (n,); texts as in `join_by_text`."""
    rows, keys = rows[keys != 0], keys[keys != 0]
    text = np.unique(keys, return_inverse=True)[1]  # (t,)
    apart = np.zeros(len(groups), bool)
    apart[rows[(_n_groups_of_text(text, groups[rows]) > 1)[text]]] = True
    return apart


def join_pairs(groups: np.ndarray, pairs: Sequence[tuple[int, int]] | np.ndarray) -> np.ndarray:
    """(n,) `groups` (n,) with the groups of the two rows of every pair joined."""
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return _connected(groups, groups[rows.ravel()], np.repeat(np.arange(len(rows)), 2))


def least_of_few(
    groups: np.ndarray, pairs: np.ndarray, similarity: np.ndarray, largest: float, *, least: float
) -> float | None:
    """The similarity, `least` or more, from which on `pairs` (p, 2) with these (p,) can join `groups` (n,) and make
    none larger than `largest`; None where there is none."""
    for threshold in (least, *(one for one in STRICTER if one > least)):
        if np.bincount(join_pairs(groups, pairs[similarity >= threshold])).max(initial=0) <= largest:
            return threshold
    return None


def deal(groups: np.ndarray, n_parts: int, *, rng: np.random.Generator, largest_first: bool = True) -> np.ndarray:
    """(n,) a part for every row, whole `groups` (n,) together, each to the emptiest part.

    With `largest_first`, larger groups are placed earlier, so that parts are as even as possible; otherwise groups come
    in random order.
    """
    sizes = np.bincount(groups)
    order = rng.permutation(len(sizes))
    if largest_first:
        order = order[np.argsort(-sizes[order], kind="stable")]
    filled = np.zeros(n_parts, np.int64)
    part = np.empty(len(sizes), np.int64)
    for group in order:
        part[group] = filled.argmin()
        filled[part[group]] += sizes[group]
    return part[groups]


def hold_out(groups: np.ndarray, n_test: int, *, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows to fit on and rows held out, both ascending: whole groups at random until `n_test` rows are held out."""
    order = rng.permutation(int(groups.max()) + 1)
    sizes = np.bincount(groups)[order]
    n_groups = 1 + int(np.searchsorted(np.cumsum(sizes), n_test))
    is_out = np.zeros(len(order), bool)
    is_out[order[:n_groups]] = True
    return np.flatnonzero(~is_out[groups]), np.flatnonzero(is_out[groups])


def check_split(groups: np.ndarray, n_test: int, test_share: float) -> None:
    """Raise InputError unless every split leaves at least one row to hold out and two to fit on."""
    most = n_test + int(np.bincount(groups).max()) - 1
    if n_test < 1 or len(groups) - most < 2:
        n_groups = int(groups.max()) + 1
        of = f" of {several(n_groups, 'video')}" if n_groups < len(groups) else ""
        more = "more videos, --split-by context" if n_groups < len(groups) else "more contexts"
        shares = f"{1 - test_share:g} to {test_share:g}"
        raise InputError(
            f"{several(len(groups), 'context')}{of} cannot be split {shares}. Use {more} or another --test-share."
        )


def hold_aside(groups: np.ndarray, n_held: int, *, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows to keep and rows held aside, both in random order, whole groups together.

    Groups are held in random order until there are `n_held` rows, except for one that would make it more than half of
    all. Rows that are all of one group are parted by row.
    """
    _, first, groups = np.unique(groups, return_index=True, return_inverse=True)
    groups = first.argsort().argsort()[groups] if len(first) > 1 else np.arange(len(groups))  # by their first rows
    order, sizes = rng.permutation(int(groups.max()) + 1), np.bincount(groups)
    n_so_far, held = 0, np.zeros(len(sizes), bool)
    for group in order:
        if n_so_far < n_held and n_so_far + sizes[group] <= len(groups) // 2:
            held[group] = True
            n_so_far += sizes[group]
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    rows = np.argsort(place[groups], kind="stable")  # groups in their order
    return rows[~held[groups[rows]]], rows[held[groups[rows]]]


def fill_shares(
    groups: Sequence[int] | np.ndarray, shares: Mapping[str, float], rest: str, *, rng: np.random.Generator
) -> list[str]:
    """(n,) the part of each row: whole groups in random order fill the parts up to their shares; `rest` gets all
    others.

    `shares` are of all rows, in the order in which parts are filled; a group goes to a part where at least half of it
    fits.
    """
    size = Counter(int(group) for group in groups)
    wanted = {part: share * len(groups) for part, share in shares.items()}
    part_of: dict[int, str] = {}
    filled: Counter[str] = Counter()
    numbers = sorted(size)
    for i in rng.permutation(len(numbers)):
        group = numbers[i]
        unfilled = [part for part, most in wanted.items() if filled[part] + size[group] / 2 <= most]
        part_of[group] = unfilled[0] if unfilled else rest
        filled[part_of[group]] += size[group]
    return [part_of[int(group)] for group in groups]


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
    return renumbered(smallest[label])[groups]
