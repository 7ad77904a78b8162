"""How predictable a text is to an n-gram model that was fitted on the other folds. No label is read.

The model is interpolated Kneser-Ney (Chen and Goodman 1999, section 2.7) of trigrams over the tokens of options, each
distinct text once, right and wrong ones alike. Contexts are not learnt: where questions are made of one text, the gold
of one is in the context of another, and that is another finding (`recurrence`). The lowest order is interpolated with
all types alike, so that a new word has a probability; types are those of the whole set, which tells the model how many
words there are and nothing else.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from swag_af.auditing.single.tables import Seen, TokenTable, ngram_ids

ORDER = 3
DISCOUNT = 0.75
"""What is taken from each count, as Kneser and Ney (1995) estimate it for newspapers."""


def surprise(seen: Seen, folds: np.ndarray) -> np.ndarray:
    """The mean surprise of a text's tokens, its end among them, in bits: the binary logarithm of its perplexity.

    `folds` (N,) are of the instances; a model of the other folds reads each.
    """
    texts, fold_of = _framed(seen.options), folds[seen.texts.rows]  # (M,)
    grams = _number(texts)
    same = _numbers_of_equals(texts)
    bits = np.empty(len(texts.ids))
    for fold in range(int(folds.max()) + 1):
        kept = np.zeros(len(texts), bool)
        kept[_one_of_each(same, np.flatnonzero(fold_of != fold))] = True
        held_out = fold_of[texts.rows] == fold
        bits[held_out] = -np.log2(_probabilities(grams, kept[texts.rows], held_out, len(texts.types)))
    return np.round(np.bincount(texts.rows, bits * grams.is_target, len(texts)) / (seen.options.lengths + 1), 9)


@dataclass(frozen=True)
class Grams:
    """The n-grams of texts."""

    ids: list[np.ndarray]
    """For n = 1 to ORDER (T,): the number of the n-gram that ends at each token; shorter at the beginning of a text."""
    is_target: np.ndarray
    """(T,) whether a token is predicted: all but the beginning of a text."""


def _framed(table: TokenTable) -> TokenTable:
    """The texts, each between a beginning and an end, which are two more types."""
    begin, end = len(table.types), len(table.types) + 1
    offsets = table.offsets + 2 * np.arange(len(table) + 1)
    ids = np.full(offsets[-1], end)
    ids[offsets[:-1]] = begin
    ids[np.arange(len(table.ids)) + 2 * table.rows + 1] = table.ids
    return TokenTable((*table.types, "<begin>", "<end>"), ids, offsets)


def _number(texts: TokenTable) -> Grams:
    """The n-grams of framed texts; where a text is too young for n tokens, the shorter n-gram from its beginning."""
    ids = ngram_ids(texts, ORDER)
    for n in range(1, ORDER):
        young = ids[n] < 0
        ids[n] = np.where(young, ids[n].max(initial=-1) + 1 + ids[n - 1], ids[n])
        ids[n] = np.unique(ids[n], return_inverse=True)[1]
    is_target = np.ones(len(texts.ids), bool)
    is_target[texts.offsets[:-1]] = False
    return Grams(ids, is_target)


def _numbers_of_equals(texts: TokenTable) -> np.ndarray:
    """(texts,) a number for each text, the same for those of the same tokens."""
    numbers: dict[bytes, int] = {}
    ends = texts.offsets.tolist()
    return np.array([numbers.setdefault(texts.ids[begin:end].tobytes(), len(numbers)) for begin, end in pairwise(ends)])


def _one_of_each(numbers: np.ndarray, among: np.ndarray) -> np.ndarray:
    """One of the entries `among` (k,) for each of `numbers` (n,) that occurs there."""
    chosen = np.full(int(numbers.max(initial=-1)) + 1, -1)
    chosen[numbers[among]] = among
    return chosen[chosen >= 0]


def _probabilities(grams: Grams, is_fitted: np.ndarray, is_read: np.ndarray, n_types: int) -> np.ndarray:
    """(read,) the probability of each token that `is_read` (T,), after a model of the tokens that `is_fitted` (T,).

    That of a beginning, which nobody predicts, means nothing.
    """
    fitted, before = is_fitted & grams.is_target, np.flatnonzero(is_read) - 1
    p = np.full(int(is_read.sum()), 1 / (n_types - 1))  # any type but the beginning
    for n in range(1, ORDER + 1):
        ids, seen = grams.ids[n - 1], np.flatnonzero(fitted)
        if n < ORDER:  # lower orders count in how many different longer n-grams one ends
            seen = _one_of_each(grams.ids[n], seen)
        history = grams.ids[n - 2] if n > 1 else np.zeros(len(ids), np.int64)
        counts = np.bincount(ids[seen], minlength=int(ids.max()) + 1)
        after = np.bincount(history[seen - 1], minlength=int(history.max()) + 1)
        n_kinds = np.bincount(history[_one_of_each(ids, seen) - 1], minlength=len(after))
        given = history[before]
        rest = DISCOUNT * n_kinds[given] * p
        mixed = (np.maximum(counts[ids[is_read]] - DISCOUNT, 0) + rest) / np.maximum(1, after[given])
        p = np.where(after[given] > 0, mixed, p)
    return p
