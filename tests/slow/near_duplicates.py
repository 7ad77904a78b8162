"""The slow, obvious twins of near-duplicate search: every pair compared."""

from collections.abc import Sequence
from itertools import combinations


def shingles(tokens: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(tokens[at : at + 3]) for at in range(len(tokens) - 2)} or {tuple(tokens)}


def all_pairs(texts: Sequence[Sequence[str]], threshold: float) -> set[tuple[int, int]]:
    """The slow twin: every pair compared."""
    sets = [shingles(tokens) for tokens in texts]
    shared = ((i, j, len(sets[i] & sets[j])) for i, j in combinations(range(len(sets)), 2))
    return {(i, j) for i, j, n in shared if n and n / len(sets[i] | sets[j]) >= threshold}


def repeats_by_all_pairs(texts: Sequence[Sequence[str]], threshold: float) -> set[int]:
    """The slow twin: every text against every earlier one that is kept."""
    pairs, gone = all_pairs(texts, threshold), set[int]()
    for later in range(len(texts)):
        if any((earlier, later) in pairs for earlier in range(later) if earlier not in gone):
            gone.add(later)
    return gone
