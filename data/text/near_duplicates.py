"""Texts that are nearly the same: MinHash proposes pairs (`datasketch`), and the true similarity decides.

The similarity of two texts is the Jaccard similarity of their sets of token 3-grams: the size of the intersection over
that of the union. Tokens are compared as given; callers lower-case them. Nothing is dropped here.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from swag_af.data.errors import InputError

SHINGLE = 3
"""Tokens a shingle."""
RECALL = 0.995
"""The share of the pairs exactly at the threshold that the hashing must find; above it, it finds more."""

_N_HASHES = 128


def near_duplicate_pairs(
    token_lists: Sequence[Sequence[str]], *, threshold: float, seed: int = 0
) -> list[tuple[int, int]]:
    """The pairs `i < j` that were found with a similarity of at least `threshold` (over 0, at most 1), in order.

    No pair below the threshold is ever listed; of those at it or above, at least RECALL are, whatever the seed. A text
    of fewer than three tokens is one shingle. Of texts with the same shingles the first one represents all: it is a
    pair with each of the others, and they are in no other pair; otherwise a text that occurs a thousand times would
    make half a million pairs.
    """
    return _pairs(_shingle_sets(token_lists), threshold, seed)


def repeats(token_lists: Sequence[Sequence[str]], *, threshold: float, seed: int = 0) -> dict[int, int]:
    """The texts that are nearly the same as an earlier one, which is no repeat itself, each with that earlier one."""
    shingles = _shingle_sets(token_lists)
    found: dict[int, int] = {}
    for earlier, later in sorted(_pairs(shingles, threshold, seed), key=lambda pair: pair[::-1]):
        if earlier not in found or shingles[earlier] == shingles[later]:
            found.setdefault(later, earlier)
    return found


def _pairs(shingles: Sequence[frozenset[int]], threshold: float, seed: int) -> list[tuple[int, int]]:
    if not 0 < threshold <= 1:
        raise InputError(f"near duplicates at {threshold}: a similarity over 0 and up to 1.")
    first: dict[frozenset[int], int] = {}
    pairs = []
    for i, items in enumerate(shingles):
        if first.setdefault(items, i) < i:
            pairs.append((first[items], i))
    distinct = list(first)
    for a, b in _candidate_pairs(distinct, threshold, seed):
        if similarity(distinct[a], distinct[b]) >= threshold:
            pairs.append((first[distinct[a]], first[distinct[b]]))
    return sorted(pairs)


def similarity(one: frozenset[int], other: frozenset[int]) -> float:
    """The Jaccard similarity of two sets, not both empty."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def _shingle_sets(token_lists: Sequence[Sequence[str]]) -> list[frozenset[int]]:
    """The shingles of every text, numbered over all texts: exact, where hashes could collide."""
    numbers: dict[tuple[str, ...], int] = {}
    return [
        frozenset(
            numbers.setdefault(tuple(tokens[at : at + SHINGLE]), len(numbers))
            for at in range(max(1, len(tokens) - SHINGLE + 1))
        )
        for tokens in token_lists
    ]


def _candidate_pairs(sets: Sequence[frozenset[int]], threshold: float, seed: int) -> Iterator[tuple[int, int]]:
    """Pairs that share a band of their MinHashes: most of those at the threshold, and some below."""
    if threshold == 1 or len(sets) < 2:
        return  # the sets are all different
    from datasketch import MinHash

    hashed = MinHash.generator(sets, num_perm=_N_HASHES, seed=seed, hashfunc=_itself)
    signatures = np.array([minhash.hashvalues for minhash in hashed])  # (n, _N_HASHES)
    n_bands, n_rows = _bands(threshold)
    proposed: set[tuple[int, int]] = set()
    for band in range(n_bands):
        bytes_of = np.ascontiguousarray(signatures[:, band * n_rows : (band + 1) * n_rows])
        keys = bytes_of.view(np.dtype((np.void, bytes_of.dtype.itemsize * n_rows))).ravel()
        _, bucket_of, sizes = np.unique(keys, return_inverse=True, return_counts=True)  # (n,), (n_buckets,)
        order = np.argsort(bucket_of, kind="stable")
        ends = np.cumsum(sizes)
        for bucket in np.flatnonzero(sizes > 1):
            proposed.update(combinations(order[ends[bucket] - sizes[bucket] : ends[bucket]].tolist(), 2))
    yield from proposed


def _bands(threshold: float) -> tuple[int, int]:
    """`(bands, rows)`: the longest bands, so the fewest false proposals, that still find RECALL at the threshold.

    Two texts of similarity s share at least one of b bands of r hashes with probability 1 - (1 - s^r)^b.
    """
    rows = next(r for r in range(_N_HASHES, 0, -1) if 1 - (1 - threshold**r) ** (_N_HASHES // r) >= RECALL or r == 1)
    return _N_HASHES // rows, rows


def _itself(number: int) -> int:
    """The hash of a shingle's number; MinHash mixes it by itself."""
    return number
