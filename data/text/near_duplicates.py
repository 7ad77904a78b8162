"""Texts that are nearly the same, found exactly: no pair is missed, and none depends on the order of the texts.

The similarity of two texts is the Jaccard similarity of their sets of token 3-grams (shingles): the size of the
intersection over that of the union. Tokens are compared as given; callers lower-case them. Nothing is dropped here.

Pairs are found by prefix filtering (Bayardo, Ma and Srikant 2007, "Scaling up all pairs similarity search") with the
bound on positions of Xiao et al. (2008, "Efficient similarity joins for near duplicate detection"): two sets that are
similar enough share one of their rarest shingles, so only texts that share a rare one are compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from swag_af.data.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SHINGLE = 3
"""Tokens a shingle."""
COMMON = 0.1
"""A shingle of more than this share of the texts is a phrase of the set (`peculiar`)."""

_FEW = 10
"""No shingle of so few texts or fewer is common."""
_MOST_PROPOSED = 5_000_000
"""From so many proposed pairs on, `peculiar` calls rarer shingles common."""
_USUAL = 100
"""Proposed pairs a text, at 0.7: SNLI has 1.2, MNLI 0.8, ActivityNet 0.1; 16,000 questions behind one instruction have
350."""
_CHUNK = 2_000_000
"""Pairs that are looked at together."""
_BLOCK, _LARGEST_BLOCK = 1_000, 20_000
"""Texts that `repeats` compares with those before them at a time: as many as these, within bounds."""
_SLACK = 1e-9
"""What products of a threshold and a size may be wrong by."""


def repeats(token_lists: Sequence[Sequence[str]], *, threshold: float) -> dict[int, int]:
    """The texts that are nearly the same as an earlier one, which is no repeat itself, each with that earlier one.

    Texts are taken in order, a block at a time, and compared with those that are no repeats: a thousand that are all
    alike make few pairs.
    """
    sets = shingle_sets(token_lists)
    _check(threshold)
    first = same_sets(sets)
    distinct, kept, found = np.unique(first), np.zeros(0, np.int64), dict[int, int]()
    begin = 0
    while begin < len(distinct):
        block = distinct[begin : begin + min(max(_BLOCK, len(kept)), _LARGEST_BLOCK)]
        rows = np.concatenate([kept, block])
        for earlier, later in _by_later(rows[similar_sets(sets[rows], threshold)[0]]):
            if not {earlier, later} & found.keys():
                found[later] = earlier
        kept = rows[[row not in found for row in rows.tolist()]]
        begin += len(block)
    for row in np.flatnonzero(first != np.arange(len(first))).tolist():
        found[row] = found.get(int(first[row]), int(first[row]))
    return dict(sorted(found.items()))


def _by_later(pairs: np.ndarray) -> list[list[int]]:
    """`pairs` (p, 2) by the second, then by the first of the two."""
    return pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))].tolist()


def shingle_sets(token_lists: Sequence[Sequence[str]]) -> "csr_array":
    """(n, shingles) the set of shingles of every text as ones in its row; exact, where hashes could collide."""
    numbers: dict[str, int] = {}
    lengths = np.array([len(tokens) for tokens in token_lists], np.int64)  # (n,)
    every = (numbers.setdefault(token, len(numbers) + 1) for tokens in token_lists for token in tokens)
    ids = np.fromiter(every, np.int64, int(lengths.sum()))
    padded = np.maximum(lengths, SHINGLE)
    flat = np.zeros(int(padded.sum()), np.int64)  # 0 where a text is too short
    flat[_places(padded, lengths)] = ids
    at = _places(padded, padded - SHINGLE + 1)
    shingle = flat[at]
    for next_one in range(1, SHINGLE):
        shingle = np.unique(shingle * (len(numbers) + 1) + flat[at + next_one], return_inverse=True)[1]
    return sets_of(np.repeat(np.arange(len(lengths)), padded - SHINGLE + 1), shingle, len(lengths))


def word_sets(token_lists: Sequence[Sequence[str]]) -> "csr_array":
    """(n, tokens) the set of tokens of every text as ones in its row, in place of its shingles: order is lost."""
    numbers: dict[str, int] = {}
    ids = [numbers.setdefault(token, len(numbers)) for tokens in token_lists for token in tokens]
    rows = np.repeat(np.arange(len(token_lists)), [len(tokens) for tokens in token_lists])
    return sets_of(rows, np.array(ids, np.int64), len(token_lists))


def sets_of(rows: np.ndarray, items: np.ndarray, n: int) -> "csr_array":
    """(n, items) sets as rows of ones: set `rows[i]` has `items[i]`; (e,) each, in any order, repeats allowed."""
    from scipy.sparse import csr_array

    width = int(items.max(initial=-1)) + 1
    made = csr_array((np.ones(len(rows), np.int32), (rows, items)), shape=(n, width))
    made.sum_duplicates()
    made.data[:] = 1
    return made


def same_sets(sets: "csr_array") -> np.ndarray:
    """(n,) for every set the number of the first one that is equal to it."""
    first: dict[bytes, int] = {}
    ends = sets.indptr.tolist()
    keys = (sets.indices[begin:end].tobytes() for begin, end in pairwise(ends))
    return np.fromiter((first.setdefault(key, i) for i, key in enumerate(keys)), np.int64, sets.shape[0])


def similar_sets(sets: "csr_array", threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """(p, 2) the pairs `i < j` of `sets` (n, shingles) whose similarity is at least `threshold`, and (p,) that.

    In order, every pair once. An empty set is similar to none.
    """
    _check(threshold)
    n = sets.shape[0]
    parts = [np.zeros(0, np.int64), *_proposals(_Prefixes.of(sets, threshold), n, threshold)]
    keys = np.unique(np.concatenate(parts))
    pairs = np.stack([keys // max(1, n), keys % max(1, n)], axis=1)  # (p, 2)
    found = jaccard(sets, pairs)
    return pairs[found >= threshold], found[found >= threshold]


def jaccard(sets: "csr_array", pairs: np.ndarray) -> np.ndarray:
    """(p,) the similarity of the two of `sets` (n, shingles) in each of `pairs` (p, 2); 1 where both are empty."""
    sizes = np.diff(sets.indptr)
    found = np.ones(len(pairs))
    for begin in range(0, len(pairs), _CHUNK // 40):
        one, other = pairs[begin : begin + _CHUNK // 40].T
        shared = np.asarray(sets[one].multiply(sets[other]).sum(axis=1)).ravel()
        union = sizes[one] + sizes[other] - shared
        np.divide(shared, union, out=found[begin : begin + _CHUNK // 40], where=union > 0)
    return found


def is_templated(sets: "csr_array", threshold: float) -> bool:
    """Whether so many pairs of `sets` (n, shingles) share a rare shingle that what they share is a template."""
    n_proposed = int(_Prefixes.of(sets, threshold).n_proposed.sum())
    return n_proposed > max(_MOST_PROPOSED, _USUAL * sets.shape[0])


def peculiar(sets: "csr_array", threshold: float) -> "csr_array":
    """(n, fewer) the `sets` (n, shingles) without the phrases of the set: instructions and templates make no two
    texts the same.

    Left out is what more than COMMON of the texts have, and half as many, and so on, while there would be too many
    pairs to compare: time stays in proportion to the texts also where most of them are alike.
    """
    n_having = np.bincount(sets.indices, minlength=sets.shape[1])
    limit = max(_FEW, int(COMMON * sets.shape[0]))
    while True:
        kept = sets[:, n_having <= limit]
        kept.sort_indices()
        if limit <= _FEW or _Prefixes.of(kept, threshold).n_proposed.sum() <= _MOST_PROPOSED:
            return kept
        limit = max(_FEW, limit // 2)


def similar_without_phrases(sets: "csr_array", threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """(p, 2) the pairs of `sets` (n, shingles) that are similar enough also without what many have, and (p,) how
    similar."""
    pairs, without = similar_sets(peculiar(sets, threshold), threshold)
    similarity = np.minimum(without, jaccard(sets, pairs))
    return pairs[similarity >= threshold], similarity[similarity >= threshold]


def _check(threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise InputError(f"near duplicates at {threshold}: a similarity over 0 and up to 1.")


def _counted(n_each: np.ndarray) -> np.ndarray:
    """0, 1 ... up to the first of `n_each` (n,), then again from 0 up to the second, and so on."""
    return np.arange(int(n_each.sum())) - np.repeat(np.cumsum(n_each) - n_each, n_each)


def _places(sizes: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """The places of the first `taken` (n,) of the items of each list, where lists of `sizes` (n,) follow each other."""
    return np.repeat(np.cumsum(sizes) - sizes, taken) + _counted(taken)


@dataclass(frozen=True)
class _Prefixes:
    """The rarest shingles of every set, by shingle, then by size of set: (e,) entries."""

    set: np.ndarray
    """(e,) which set has it."""
    size: np.ndarray
    """(e,) how large that set is."""
    place: np.ndarray
    """(e,) how many rarer shingles the set has."""
    indexed: np.ndarray
    """(i,) entries that larger sets are compared with: smaller sets need a longer overlap, so less of them."""
    first: np.ndarray
    """(e,) the number in `indexed` of the first entry with the same shingle."""
    n_proposed: np.ndarray
    """(e,) with how many of `indexed`, from `first` on, the entry makes a pair."""

    @classmethod
    def of(cls, sets: "csr_array", threshold: float) -> "_Prefixes":
        sizes = np.diff(sets.indptr)
        by_size = np.argsort(sizes, kind="stable")
        rarity = np.argsort(np.argsort(np.bincount(sets.indices, minlength=sets.shape[1]), kind="stable"))
        shingle, row = rarity[sets.indices], np.repeat(np.argsort(by_size), sizes)  # rows numbered by size
        order = np.lexsort((shingle, row))
        shingle, row, sizes = shingle[order], row[order], sizes[by_size]
        place = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        kept = np.flatnonzero(place <= sizes[row] - np.ceil(threshold * sizes[row] - _SLACK))
        kept = kept[np.lexsort((row[kept], shingle[kept]))]
        shingle, row, place = shingle[kept], row[kept], place[kept]
        needed = np.ceil(2 * threshold / (1 + threshold) * sizes[row] - _SLACK)
        is_indexed = place <= sizes[row] - needed
        n_before = np.cumsum(is_indexed) - is_indexed
        first = n_before[np.searchsorted(shingle, shingle)]
        return cls(by_size[row], sizes[row], place, np.flatnonzero(is_indexed), first, n_before - first)


def _proposals(prefixes: _Prefixes, n: int, threshold: float) -> Iterator[np.ndarray]:
    """Keys `i * n + j` of pairs `i < j` that share a rare shingle and may be similar enough; a pair may come twice."""
    n_so_far = np.cumsum(prefixes.n_proposed)
    begin = 0
    while begin < len(n_so_far):
        done = n_so_far[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(n_so_far, done + _CHUNK, side="right")))
        n_each = prefixes.n_proposed[begin:end]
        large = np.repeat(np.arange(begin, end), n_each)
        small = prefixes.indexed[np.repeat(prefixes.first[begin:end], n_each) + _counted(n_each)]
        one, other = prefixes.size[small], prefixes.size[large]
        most = np.minimum(one - prefixes.place[small], other - prefixes.place[large])  # they can have in common
        may = (most >= threshold / (1 + threshold) * (one + other) - _SLACK) & (one >= threshold * other - _SLACK)
        sets = prefixes.set[np.stack([small[may], large[may]])]  # (2, kept)
        yield np.unique(sets.min(axis=0).astype(np.int64) * n + sets.max(axis=0))
        begin = end
