"""The slow, obvious twin of joined groups: every pair compared, groups merged until none share a row."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from slow.near_duplicates import shingles
from swag_af.data.cells.values import split_context
from swag_af.data.context import Context
from swag_af.data.instances.instances import Instance
from swag_af.data.text.sentences import sentences_of
from swag_af.data.text.wording import text_key, words
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
    return merged(groups)


def merged(groups: list[set[int]]) -> set[frozenset[int]]:
    """`groups` with those that share a member made one, until none do."""
    is_done = False
    while not is_done:
        is_done = True
        for a, b in combinations(groups, 2):
            if a & b:
                groups = [g for g in groups if g not in (a, b)] + [a | b]
                is_done = False
                break
    return {frozenset(group) for group in groups}


def groups_of_instances(rows: Sequence[Instance], *, near: float, telling: int) -> set[frozenset[int]]:
    """The slow twin of `grouping.group` where no group grows too large: every two instances compared, by definition."""
    groups = [{i} for i in range(len(rows))]
    for i, j in combinations(range(len(rows)), 2):
        if belong_together(rows[i], rows[j], near=near, telling=telling):
            groups.append({i, j})
    return merged(groups)


def belong_together(one: Instance, other: Instance, *, near: float, telling: int) -> bool:
    """The same name; or, where neither has one, a context or options that are the same or nearly so, or a sentence with
    which one is right and that the other's context has."""
    if one.group or other.group:
        return one.group == other.group
    options = [" ".join(sorted(row.options)) for row in (one, other)]
    first = [row.context or row.start or text for row, text in zip((one, other), options, strict=True)]
    if same_or_near(*first, near, by=shingles):
        return True
    if min(len(set(words(text))) for text in options) >= telling and same_or_near(*options, near, by=tuple):
        return True
    return any(goes_on(*pair, telling) for pair in ((one, other), (other, one)))


def goes_on(one: Instance, other: Instance, telling: int) -> bool:
    """Whether the context of `other` has a sentence of the right option of `one`, or one that the unfinished end of its
    context begins."""
    gold, (begun, _) = one.options[one.answer], split_context(other.context)
    ends = [f"{one.start} {gold}"] if one.start else [gold, f"{split_context(one.context)[1]} {gold}"]
    return any(share_a_sentence(end, begin, telling) for end in ends for begin in (other.context, begun))


def share_a_sentence(one: str, other: str, telling: int) -> bool:
    """Whether two texts have a long sentence in common, or one is a sentence of the other."""
    first, second = (
        {text_key(part) for part in (text, *sentences_of(text)) if is_long(part, telling)} for text in (one, other)
    )
    return bool(first & second)


def is_long(text: str, telling: int) -> bool:
    """Whether it has so many different words."""
    return len(set(words(text))) >= telling


def same_or_near(one: str, other: str, near: float, *, by: Callable[[list[str]], Iterable[object]]) -> bool:
    """Whether two texts have the same key, or sets `by` their words that are as similar as `near`."""
    if not text_key(one) or not text_key(other):
        return False
    sets = set(by(words(one))), set(by(words(other)))
    return text_key(one) == text_key(other) or len(sets[0] & sets[1]) >= near * len(sets[0] | sets[1])
