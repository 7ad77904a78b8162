"""Texts as numbered words, each text read once whatever probes are made of it, and counts of their n-grams.

A word is a run of letters, marks on them and digits, an apostrophe within it too; every other visible character is a
word of its own, and so is each letter of a script without blanks (Thai, Khmer, kana, Han ...), with the marks on it.
Letter case is dropped. One regular expression, not `swag_af.data.tokens`, which splits one English sentence by the
rules of the Penn Treebank: contexts may be passages, and in any language.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from swag_af.data.text.ragged import joined
from swag_af.data.text.scripts import OF_A_WORD, characters_apart, lower

_WORD = re.compile(rf"[{OF_A_WORD}]+(?:['’][{OF_A_WORD}]+)*|[^{OF_A_WORD}\s]")


def words(text: str) -> list[str]:
    """The words and marks of a text, in lower case."""
    return _WORD.findall(lower(characters_apart(text)))


@dataclass(frozen=True)
class Tokens:
    """Texts as numbers of words, T in all, one text after another."""

    numbers: np.ndarray
    """(T,) the numbers of the words."""
    offsets: np.ndarray
    """(t + 1,) where each text begins."""
    vocabulary: tuple[str, ...]
    """(V,) the words, numbered as they are first met."""

    @staticmethod
    def of(texts: Sequence[str]) -> "Tokens":
        """The words of t texts."""
        known: dict[str, int] = {}
        numbers: list[int] = []
        offsets = [0]
        for text in texts:
            numbers += [known.setdefault(word, len(known)) for word in words(text)]
            offsets.append(len(numbers))
        return Tokens(np.array(numbers, np.int64), np.array(offsets, np.int64), tuple(known))

    @cached_property
    def lengths(self) -> np.ndarray:
        """(t,) words of each text."""
        return np.diff(self.offsets)

    @cached_property
    def owners(self) -> np.ndarray:
        """(T,) int32, the text of each word."""
        return np.repeat(np.arange(len(self.lengths), dtype=np.int32), self.lengths)

    def shuffled(self, rng: np.random.Generator) -> "Tokens":
        """Each text with its own words in a random order."""
        order = np.lexsort((rng.random(len(self.numbers)), self.owners))
        return Tokens(self.numbers[order], self.offsets, self.vocabulary)

    def joined(self, pieces: np.ndarray) -> "Tokens":
        """q texts, each made of the k texts whose numbers are in a row of `pieces` (q, k), one after another."""
        numbers, offsets = joined(self.numbers, self.offsets, pieces)
        return Tokens(numbers, offsets, self.vocabulary)

    def text(self, number: int) -> str:
        """The words of a text, a blank between two."""
        mine = self.numbers[self.offsets[number] : self.offsets[number + 1]]
        return " ".join([self.vocabulary[word] for word in mine.tolist()])


def ngram_counts(tokens: Tokens) -> Any:
    """(t, F) float64 sparse counts of the words and pairs of neighbouring words of t texts, equal columns merged.

    No n-gram is hashed or left out. Which there are is all that is taken from texts that are scored later; those that
    no fitted text has are to be given no weight (`models.Tfidf`).
    """
    return merged(_counts(tokens))


def _counts(tokens: Tokens) -> Any:
    """(t, F) as `ngram_counts`, a column for each n-gram: words, then pairs."""
    from scipy.sparse import csr_matrix

    inside = tokens.owners[:-1] == tokens.owners[1:]
    columns, n_kinds = _columns(tokens, inside)
    rows = np.concatenate([tokens.owners, tokens.owners[:-1][inside]])
    shape = (len(tokens.lengths), n_kinds)
    counts = csr_matrix((np.ones(len(rows), np.int32), (rows, columns)), shape=shape)  # sums what occurs twice
    return counts.astype(np.float64)


def _columns(tokens: Tokens, inside: np.ndarray) -> tuple[np.ndarray, int]:
    """int32 columns of all words and of the pairs that are `inside` (T - 1,) a text, and how many there are."""
    n_words, of_words = _kinds(tokens.numbers)
    n_pairs, of_pairs = _kinds((len(tokens.vocabulary) * tokens.numbers[:-1] + tokens.numbers[1:])[inside])
    return np.concatenate([of_words, n_words + of_pairs]), n_words + n_pairs


def _kinds(numbers: np.ndarray) -> tuple[int, np.ndarray]:
    """How many different `numbers` (n,) there are, and which of them in order each one is: (n,) int32."""
    kinds, which = np.unique(numbers, return_inverse=True)
    return len(kinds), which.astype(np.int32)


def merged(counts: Any) -> Any:
    """(t, F') the `counts` (t, F) with each set of k equal columns made one, its values times the square root of k.

    Most n-grams stand in one context only, with all the others of that context. A regression with an L2 penalty gives
    equal columns equal weights, and of one column with that factor it makes the same scores at the same penalty; the
    length of a row is the same too, and how many of any texts have the n-gram. So nothing changes but the cost.
    Columns are told apart by their products with two random vectors: 100 bits or so.
    """
    from scipy.sparse import csr_matrix

    draw = np.random.default_rng(0).random
    sums = counts.T @ (draw(counts.shape[0]) + 1j * draw(counts.shape[0]))  # (F,), added up row by row
    _, first, column, k = np.unique(sums, return_index=True, return_inverse=True, return_counts=True)
    kept = first[column[counts.indices]] == counts.indices  # (nonzero,)
    at = column[counts.indices[kept]]
    indptr = np.concatenate([[0], np.cumsum(kept)])[counts.indptr]
    return csr_matrix((counts.data[kept] * np.sqrt(k)[at], at, indptr), shape=(counts.shape[0], len(k)))
