"""The slow, obvious twin of joined groups: every pair compared, groups merged until none share a row."""

from itertools import combinations

from swag_af.data.context import Context
from swag_af.data.tokens import tokenize


def alike(one: Context, other: Context, threshold: float) -> bool:
    """Jaccard similarity of token 3-grams, from its definition."""
    sets = []
    for c in (one, other):
        tokens = [t.lower() for t in tokenize(f"{c.sent1} {c.start} {c.gold}")]
        sets.append({tuple(tokens[i : i + 3]) for i in range(max(1, len(tokens) - 2))})
    return len(sets[0] & sets[1]) >= threshold * len(sets[0] | sets[1])


def groups_by_all_pairs(contexts: list[Context], threshold: float) -> set[frozenset[int]]:
    """The slow twin: every pair is compared, and groups that share a pair are merged until none do."""
    groups = [{i} for i in range(len(contexts))]
    for i, j in combinations(range(len(contexts)), 2):
        a, b = contexts[i], contexts[j]
        if (a.video and a.video == b.video) or alike(a, b, threshold):
            groups.append({i, j})
    merged = True
    while merged:
        merged = False
        for a, b in combinations(groups, 2):
            if a & b:
                groups = [g for g in groups if g not in (a, b)] + [a | b]
                merged = True
                break
    return {frozenset(group) for group in groups}
