"""The texts of a set as flat tables of tokens, made once for all features. Nothing here knows a label.

Letters: `n` texts, `T` tokens of all of them, `V` types (distinct tokens).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from swag_af.data.instances.instances import Texts
from swag_af.data.tags import CODES, load_tagger, tag_word_types
from swag_af.data.text.scripts import characters_apart, lower
from swag_af.data.tokens import tokenize

_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class TokenTable:
    """Tokens of texts, in lower case, those of text 0 first."""

    types: tuple[str, ...]
    """(V,) in alphabetical order."""
    ids: np.ndarray
    """(T,) the type of each token."""
    offsets: np.ndarray
    """(n + 1,) where the tokens of each text begin."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> np.ndarray:
        """(n,) tokens of each text."""
        return np.diff(self.offsets)

    @cached_property
    def rows(self) -> np.ndarray:
        """(T,) the text of each token."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def share(self, marked: np.ndarray) -> np.ndarray:
        """(n,) how many of a text's tokens are `marked` (T,), of 1; 0 for a text without tokens."""
        return np.bincount(self.rows, marked, len(self)) / np.maximum(1, self.lengths)

    def part(self, begin: int, end: int) -> "TokenTable":
        """The table of the texts `begin` to `end` alone, of the same types."""
        first, last = self.offsets[begin], self.offsets[end]
        return TokenTable(self.types, self.ids[first:last], self.offsets[begin : end + 1] - first)


def token_table(texts: Sequence[str]) -> TokenTable:
    """The tokens of `texts`, each word between blanks tokenised as if it were a sentence.

    `tokenize` reads one sentence; a text may be a passage, so a full stop after any word is a token here. Each
    distinct word is tokenised once. Of a script without blanks each letter, with the marks on it, is a word.
    """
    words: dict[str, int] = {}
    split = [characters_apart(text).split() for text in texts]
    numbers = np.array([words.setdefault(word, len(words)) for parts in split for word in parts], np.int64)  # (W,)
    pieces = [[lower(token) for token in tokenize(word)] for word in words]
    types = tuple(sorted({token for tokens in pieces for token in tokens}))
    number = {token: i for i, token in enumerate(types)}
    flat = np.array([number[token] for tokens in pieces for token in tokens], np.int64)
    n_tokens = np.array([len(tokens) for tokens in pieces], np.int64)
    begins = np.cumsum(n_tokens) - n_tokens
    ids = flat[_ranges(begins[numbers], n_tokens[numbers])]
    ends = np.concatenate([[0], np.cumsum(n_tokens[numbers])])  # (W + 1,)
    n_words = np.array([len(parts) for parts in split], np.int64)
    return TokenTable(types, ids, ends[np.concatenate([[0], np.cumsum(n_words)])])


def _ranges(begins: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Every number from each of `begins` on, `lengths` of them each, in one array."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(begins - ends + lengths, lengths)


def ngram_ids(table: TokenTable, n_max: int) -> list[np.ndarray]:
    """For n = 1 to `n_max` (T,): the number of the n-gram that ends at each token, from 0; -1 where a text has just
    begun. Equal n-grams of one length, and no others, have equal numbers."""
    found = [table.ids]
    for _ in range(2, n_max + 1):
        before = np.concatenate([[-1], found[-1][:-1]])[: len(table.ids)]
        before[table.offsets[:-1][table.lengths > 0]] = -1
        whole = before >= 0
        ids = np.full(len(table.ids), -1)
        ids[whole] = np.unique(before[whole] * len(table.types) + table.ids[whole], return_inverse=True)[1]
        found.append(ids)
    return found


CONTENT = ("NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM")
"""Universal tags of words that carry content."""


class Seen:
    """What features read: the texts, and tables that several of them need, each made when it is first asked for."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts

    @cached_property
    def premises(self) -> "Seen":
        """The contexts alone, each as if it were the text that is classified."""
        none = ("",) * len(self.texts)
        return Seen(Texts("classes", none, none, self.texts.contexts, np.arange(len(self.texts) + 1), has_order=True))

    @cached_property
    def stems(self) -> list[str]:
        """(N,) what stands before the options: the context and, behind it, the start."""
        return [
            f"{context} {start}".strip() for context, start in zip(self.texts.contexts, self.texts.starts, strict=True)
        ]

    @cached_property
    def _tokens(self) -> TokenTable:
        return token_table([*self.texts.options, *self.stems])

    @cached_property
    def options(self) -> TokenTable:
        """The tokens of `texts.options`."""
        return self._tokens.part(0, len(self.texts.options))

    @cached_property
    def contexts(self) -> TokenTable:
        """(N,) the tokens of each context, its start included."""
        return self._tokens.part(len(self.texts.options), len(self._tokens))

    @cached_property
    def tags(self) -> np.ndarray:
        """(V,) the universal tag that a type of the options has most often, by rules that see no sentence; 0 for marks
        and for types of contexts alone."""
        types = self.options.types
        words = [i for i in np.unique(self.options.ids).tolist() if _WORD.search(types[i])]
        codes = np.zeros(len(types), np.uint8)
        codes[words] = tag_word_types([types[i] for i in words], load_tagger("rules"))
        return codes

    def tagged(self, tags: Sequence[str]) -> np.ndarray:
        """(T,) whether each token of the options has one of `tags`."""
        return np.isin(self.tags, [CODES[tag] for tag in tags])[self.options.ids]

    @cached_property
    def in_context(self) -> np.ndarray:
        """(T,) whether each token of the options occurs in the context of its instance."""
        n_types = len(self.options.types)
        context = self.contexts.rows * n_types + self.contexts.ids
        return np.isin(self.texts.rows[self.options.rows] * n_types + self.options.ids, context)
