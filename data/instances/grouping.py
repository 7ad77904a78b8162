"""Groups of instances that no fold or split may separate: those named, or those that share a text, or nearly."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swag_af.data.cells.values import split_context
from swag_af.data.errors import several, told
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.instances.recycling import MUCH, recycled
from swag_af.data.splits import (
    FEW_TOGETHER,
    MOST_TOGETHER,
    Joined,
    deal,
    join_by_text,
    join_pairs,
    least_of_few,
    named_groups,
    numbered,
    renumbered,
    rows_apart,
)
from swag_af.data.text.near_duplicates import shingle_sets, similar_without_phrases, word_sets
from swag_af.data.text.sentences import sentences_of
from swag_af.data.text.wording import comparable, text_key, words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NEAR = 0.8
"""The Jaccard similarity from which two texts are nearly the same: of 3-grams of words, for options of words."""
TELLING = 5
"""Different words that options must have together to join anything, or a sentence: fewer are labels, colours, names,
which questions share that have nothing else in common. Our choice."""

MOST_COPIES = 0.5
"""From more than this share of the set on, rows that are wholly the same are probably told apart by something that was
not read, such as an image: they are no copies. Our choice."""


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

    def take(self, rows: np.ndarray) -> "Groups":
        """The groups of `rows` (n,) alone, numbered anew."""
        return Groups(renumbered(self.numbers[rows]), self.said)


def group(instances: Instances) -> Groups:
    """The groups of `by_name_or_text`, joined where questions share an option, if many are right here and wrong there.

    As after Adversarial Matching. Groups stay as they are where few are, or one would be too large (`Recycled.joined`).
    """
    made = by_name_or_text(instances)
    joined = renumbered(recycled(instances).joined(made.numbers))
    n = len(np.unique(joined))
    if n == made.n:
        return made
    why = "many options are right in one question and wrong in another"
    return Groups(joined, f"{several(n, 'group')} that share no option, since {why}; {made.said}")


def by_name_or_text(instances: Instances) -> Groups:
    """The groups that the dataset names, unless it is one for all; those without a name are together if their texts are
    the same or nearly so.

    What is compared is the context (as `text_key` does, or similar to `NEAR` or more), and where there is none the text
    that is classified, or all options. Of choices, options are compared beside the context too, so that copies whose
    question was reworded stay together; those of few words are not (`TELLING`). A question that goes on where another's
    right option ends tells the same story, and premises that share a hypothesis (a claim, with its evidence), if many
    do, may have been labelled as one. Contrast sets stay whole, however large, and so do copies: rows that are the same
    in all that was read (`same_as`), unless most are (`MOST_COPIES`). No other joining by texts makes a group larger
    than `MOST_TOGETHER` of the instances: a text that would, such as "Which is true?" or the same options everywhere,
    joins nothing, and where chains of near duplicates would, they must be more similar (`STRICTER`). The order of the
    instances does not matter, nor does a mask.
    """
    given = instances.unmasked or instances.instances
    names = [one.group for one in given]
    only = names[0] if len(set(names)) == 1 else ""
    if only:
        names = [""] * len(names)  # one name for all parts nothing
    by_name = named_groups(names)
    named = _with_contrast_sets(by_name, instances)
    if all(names):
        n = len(np.unique(named))
        kept = ", contrast sets kept together" if n < len(np.unique(by_name)) else ""
        return Groups(renumbered(named), f"{several(n, 'group')}, named by the dataset{kept}")
    free = np.flatnonzero([not name for name in names])
    rows = [given[row] for row in free.tolist()]
    by_context = _together(named, free, [_first_text(one) for one in rows], shingle_sets)
    telling = [i for i, one in enumerate(rows) if instances.kind == "choices" and _is_telling(one)]
    by_options = _together(by_context.groups, free[telling], [_all_options(rows[i]) for i in telling], word_sets)
    if instances.kind == "choices":
        how, (at, keys) = "go on where another's right option ends", _stories(rows)
    else:
        how, (at, keys) = "share the text that is classified", _hypotheses(rows, by_options.groups[free])
    by_story = join_by_text(by_options.groups, free[at], keys, most=_most(len(names)))
    copies = join_by_text(by_story.groups, free, _copies(rows), most=MOST_COPIES)
    shared = {"share their options, or nearly": by_options.n, how: len(np.unique(by_story.groups))}
    said = _said(by_context, by_options, shared, copies, _named(len(names) - len(free), only))
    return Groups(renumbered(copies.groups), said)


def _with_contrast_sets(groups: np.ndarray, instances: Instances) -> np.ndarray:
    """(N,) `groups` (N,) joined where they share a contrast set: its members differ by an edit."""
    names = ["", *(one.contrast_set for one in instances.instances)]
    keys = numbered(names)[1:]  # 0 where there is none
    return join_by_text(groups, np.arange(len(groups)), keys, most=1.0).groups


def _copies(rows: Sequence[Instance]) -> np.ndarray:
    """(n,) equal for those of `rows` that are the same, from 1; 0 for those without a visible character."""
    keys = [same_as(one) for one in rows]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(key for key in keys if key), start=1)}
    return np.array([numbers[key] if key else 0 for key in keys], np.int64)


def same_as(one: Instance) -> tuple[object, ...] | None:
    """What the same instances have in common: context, start, options in any order, media, and never the label; None
    for one without a visible character."""
    options = tuple(sorted(map(comparable, one.options)))
    key = (comparable(one.context), comparable(one.start), options)
    return (*key, one.media) if key[0] or key[1] or any(options) else None


def _first_text(one: Instance) -> str:
    """The context, or what stands for it."""
    return one.context or one.start or _all_options(one)


def _all_options(one: Instance) -> str:
    """All options in an order of their own; of classes the one text."""
    return " ".join(sorted(one.options))


def _is_telling(one: Instance) -> bool:
    """Whether no other question has these options by accident."""
    return len(set(words(_all_options(one)))) >= TELLING


def _stories(rows: Sequence[Instance]) -> tuple[np.ndarray, np.ndarray]:
    """Rows and keys (t,) of the sentences of right options that stand in contexts of `rows` as well, of both."""
    contexts = [_sentences(one.context, split_context(one.context)[0]) for one in rows]
    ends = [_sentences(*_ends(one)) for one in rows]
    both = set().union(*contexts) & set().union(*ends)
    return _pairs([(begin | end) & both for begin, end in zip(contexts, ends, strict=True)])


def _ends(one: Instance) -> tuple[str, ...]:
    """The right option with its start; where that has no column, the option, and it with the end of the context, if
    that is no full sentence."""
    gold = one.options[one.answer]
    return (f"{one.start} {gold}",) if one.start else (gold, f"{split_context(one.context)[1]} {gold}")


def _hypotheses(rows: Sequence[Instance], groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and keys (t,) of the texts that are classified beside a context; none unless `MUCH` of the rows have one
    that rows of another of `groups` (n,) have too: a few are a coincidence, each labelled by itself."""
    at, keys = _pairs([{text_key(_all_options(one))} if one.context and _is_telling(one) else set() for one in rows])
    is_much = rows_apart(groups, at, keys).sum() >= MUCH * len(rows)
    return (at, keys) if is_much else (at[:0], keys[:0])


def _sentences(*texts: str) -> set[int]:
    """The keys of texts and of their sentences, but of short ones."""
    parts = {part for text in set(texts) for part in (text, *sentences_of(text))}
    return {text_key(part) for part in parts if len(set(words(part))) >= TELLING}


def _pairs(keys: Sequence[set[int]]) -> tuple[np.ndarray, np.ndarray]:
    """(t,) and (t,): the number of each set once for every key in it, and that key."""
    rows = np.repeat(np.arange(len(keys)), list(map(len, keys)))
    return rows, np.array([key for of_row in keys for key in sorted(of_row)], np.int64)


@dataclass(frozen=True)
class _Together:
    """Groups joined by one kind of text."""

    groups: np.ndarray
    """(N,)"""
    threshold: float
    """How similar texts had to be; 1 if those that are not the same could not be joined."""
    n_apart: int
    """Instances whose text is so common that it joins nothing."""

    @property
    def n(self) -> int:
        """How many groups there are."""
        return len(np.unique(self.groups))


def _together(
    groups: np.ndarray, rows: np.ndarray, texts: list[str], sets_of: Callable[[Sequence[Sequence[str]]], "csr_array"]
) -> _Together:
    """`groups` (N,) joined where the `texts` of `rows` (n,) are the same, or as `sets_of` their words nearly so."""
    most = _most(len(groups))
    keys = np.array([text_key(text) for text in texts], np.int64)
    joined = join_by_text(groups, rows, keys, most=most)
    of_each = _one_of_each(texts, keys, joined.groups[rows])
    sets = sets_of([words(texts[i]) for i in of_each.tolist()])
    largest = max(int(np.bincount(joined.groups).max()), int(most * len(groups)))
    return _Together(*_with_near(joined.groups, rows[of_each], sets, largest), joined.n_apart)


def _most(n: int) -> float:
    """The share of `n` instances beyond which no text makes a group larger."""
    return max(MOST_TOGETHER, FEW_TOGETHER / n)


def _one_of_each(texts: list[str], keys: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """A row for each text whose rows are all in one group; which one does not depend on the order of the rows."""
    holders = np.unique(np.stack([keys, groups]), axis=1)[0]  # a key for every group that holds it
    key, n_groups = np.unique(holders, return_counts=True)
    together = np.isin(keys, key[(n_groups == 1) & (key != 0)])
    by_text = sorted(np.flatnonzero(together).tolist(), key=texts.__getitem__)
    return np.array(by_text, np.int64)[np.unique(keys[by_text], return_index=True)[1]]


def _with_near(groups: np.ndarray, rows: np.ndarray, sets: "csr_array", largest: int) -> tuple[np.ndarray, float]:
    """(N,) `groups` joined where the texts of `rows`, with these `sets`, are nearly the same, and how similar they had
    to be; 1 if none could be joined."""
    pairs, similarity = similar_without_phrases(sets, NEAR)
    threshold = least_of_few(groups, rows[pairs], similarity, largest, least=NEAR)
    return (groups, 1.0) if threshold is None else (join_pairs(groups, rows[pairs[similarity >= threshold]]), threshold)


def _said(by_context: _Together, by_options: _Together, shared: Mapping[str, int], copies: Joined, named: str) -> str:
    """How groups were made; `shared` has what joined instances beside the context, and how many groups that left."""
    n = len(np.unique(copies.groups))
    what = f"{several(n, 'group')} of instances whose context is the same or nearly so"
    parts = [f"{what}; the dataset names {named}"]
    before = [by_context.n, *shared.values()]
    ways = [way for way, left, was in zip(shared, before[1:], before, strict=False) if left < was]
    if ways:
        parts.append(f"{by_context.n:,} by context alone, but some {' and some '.join(ways)}")
    threshold = max(by_context.threshold, by_options.threshold)
    if threshold > NEAR:
        parts.append(
            f"chains of near duplicates would make a group too large, so similarity had to be {threshold:g} or more"
        )
    for of, n_apart in (("a context", by_context.n_apart), ("options", by_options.n_apart)):
        if n_apart:
            have, stay = ("has", "it stays") if n_apart == 1 else ("have", "they stay")
            parts.append(f"{several(n_apart, 'instance')} {have} {of} so common that {stay} apart")
    if copies.n_joined:
        parts.append(f"but {several(copies.n_joined, 'instance')} that are copies of one another stay together")
    return "; ".join(parts)


def _named(n: int, only: str) -> str:
    if only:
        return f"one for all, {told(only)}, which parts nothing"
    return f"the groups of {several(n, 'instance')}" if n else "none"


def by_text(one: Instance) -> tuple[object, ...]:
    """What rows are ordered by where their order in the file must decide nothing: an id may be the number of a line."""
    return one.context, one.start, sorted(one.options), one.group, one.id


def text_order(instances: Instances) -> np.ndarray:
    """(N,) the rows as `by_text` orders them."""
    each = instances.instances
    return np.array(sorted(range(len(each)), key=lambda row: by_text(each[row])), np.int64)


def folds_of(instances: Instances, groups: Groups, n_folds: int, *, seed: int) -> np.ndarray:
    """(N,) a fold for each instance, from 0: whole groups together, the same for the same rows in whatever order.

    No more folds than there are groups.
    """
    rank = text_order(instances).argsort()
    first = np.full(groups.n, len(rank))
    np.minimum.at(first, groups.numbers, rank)  # (groups,) the rank of a group's first row
    in_order = first.argsort().argsort()[groups.numbers]
    return deal(in_order, min(n_folds, groups.n), rng=np.random.default_rng((seed, *b"folds")))
