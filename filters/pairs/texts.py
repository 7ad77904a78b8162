"""Texts and pairs of them as numbers of words, every distinct text once, from a view or from strings.

Words are the tokens of `swag_af.data.tokens` in lower case. Of a view, endings and starts are read as the pool has
tokenised them; first sentences are tokenised once each. No Python step a token of an ending, nor a row of a table.

Letters: `t` distinct texts of `T` words in all, `q` pairs, `n` rows and `m` candidates a row of a view.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import torch

from swag_af.data.pool.view import View
from swag_af.data.text.ragged import distinct, joined, stacked, unpadded
from swag_af.data.text.scripts import tokenize_any
from swag_af.data.vocabulary import UNK
from swag_af.filters.pairs.batch import UNKNOWN, TextBatch
from swag_af.filters.sequences import alive_of

Pieces = tuple[np.ndarray, np.ndarray]
"""Numbers of words, and where each text begins (`swag_af.data.text.ragged`)."""

BLANK = ""
"""The only word of a text without words; no table of vectors has it, so it is an unknown one."""


@dataclass(frozen=True)
class Texts:
    """`t` texts, one after another; each has a word at least."""

    numbers: np.ndarray
    """(T,) the number of each word among `words`; or its row in a table of word vectors."""
    offsets: np.ndarray
    """(t + 1,) where each text begins."""
    words: tuple[str, ...]
    """Those that occur, in lower case."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> np.ndarray:
        """(t,) words of each text."""
        return np.diff(self.offsets)

    def in_table(self, rows: Mapping[str, int]) -> "Texts":
        """The same with the row of each word in place of its number, of those without one that of unknown words."""
        row = np.array([rows.get(word, UNKNOWN) for word in self.words], np.int64)
        return Texts(row[self.numbers], self.offsets, self.words)

    def batch(self, index: np.ndarray, device: torch.device) -> tuple[TextBatch, np.ndarray]:
        """The texts at `index` (k,) as a network reads them, and the place (k,) of each among them."""
        order = np.argsort(-self.lengths[index], kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        lengths = self.lengths[index[order]]
        at = np.arange(lengths[0])
        inside = at < lengths[:, None]  # (k, L)
        words = np.zeros(inside.shape, np.int64)
        words[inside] = self.numbers[(self.offsets[index[order]][:, None] + at)[inside]]
        long = torch.from_numpy(lengths)
        return TextBatch(torch.from_numpy(words).to(device), long.to(device), alive_of(long)), place


@dataclass(frozen=True)
class Pairs:
    """`q` pairs of `t` distinct texts."""

    texts: Texts
    first: np.ndarray
    """(q,) which text each pair has first."""
    second: np.ndarray
    """(q,) and which follows."""

    def __len__(self) -> int:
        return len(self.first)

    @property
    def has_firsts(self) -> bool:
        """Whether any pair has words in its first text."""
        used = self.texts.numbers[self.texts.offsets[np.unique(self.first)]]
        return any(self.texts.words[number] != BLANK for number in np.unique(used))


def pairs_of_view(view: View, *, see_context: bool, as_one: bool) -> Pairs:
    """The n * m pairs of a view, row by row: first sentence, and start with ending.

    Rows without a first sentence, and all rows without `see_context`, are parted between start and ending. With
    `as_one`, a pair is one text, twice: all that it would have on its two sides.
    """
    n, m = view.shape
    sentences = [context.sent1 if see_context else "" for context in view.contexts]
    spelled, ids = _numbered(view, sentences)
    endings = view.tokens.reshape(n * m, view.tokens.shape[2]), view.lengths.reshape(-1)
    pieces = stacked(ids, unpadded(view.starts, view.start_lengths), unpadded(*endings))
    rows, has_first = np.arange(n), np.diff(ids[1]) > 0
    of_candidate, nothing = np.repeat(rows, m), 2 * n + n * m
    candidates = 2 * n + np.arange(n * m)
    starts = n + of_candidate
    if as_one:
        whole = np.stack([of_candidate, starts, candidates], axis=1)
        return _pairs(pieces, spelled, whole, whole)
    firsts = np.where(has_first, rows, n + rows)[:, None]
    seconds = np.stack([np.where(has_first[of_candidate], starts, nothing), candidates], axis=1)
    return _pairs(pieces, spelled, firsts, seconds, of_candidate)


def pairs_of_texts(firsts: Sequence[str], seconds: Sequence[str], *, as_one: bool) -> Pairs:
    """The q pairs of `firsts` and `seconds`; with `as_one`, as in `pairs_of_view`."""
    known: dict[str, int] = {}
    first, second = (
        np.array([known.setdefault(text, len(known)) for text in texts], np.int64)[:, None]
        for texts in (firsts, seconds)
    )
    words, pieces = _spelled([words_of(text) for text in known])
    if as_one:
        first = second = np.concatenate([first, second], axis=1)
    return _pairs(pieces, words, first, second)


def texts_of(strings: Iterable[str]) -> Texts:
    """The texts in the order of `strings`, those twice in it twice."""
    words, (numbers, offsets) = _spelled([words_of(text) or (BLANK,) for text in strings])
    return Texts(numbers, offsets, words)


@lru_cache(maxsize=1 << 17)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text of any number of sentences, in lower case."""
    sentences = _BETWEEN_SENTENCES.split(text.strip())
    return tuple(token.lower() for sentence in sentences for token in tokenize_any(sentence))


_BETWEEN_SENTENCES = re.compile(r"(?<=[.?!])(?<!\b(?:Mr|Ms|Dr|St)\.)(?<!\bMrs\.)\s+")
"""`tokenize_any` takes a sentence, and leaves a full stop within it at its word."""


def _numbered(view: View, sentences: list[str]) -> tuple[tuple[str, ...], Pieces]:
    """The words of the vocabulary, then those that `sentences` alone have, and the sentences as numbers of them."""
    words, (numbers, offsets) = _spelled([words_of(sentence) for sentence in sentences])
    ids = np.array(view.vocabulary.ids(words), np.int64)
    is_new = ids == UNK
    ids[is_new] = len(view.vocabulary) + np.arange(is_new.sum())
    new = [word for word, one in zip(words, is_new.tolist(), strict=True) if one]
    return (*view.vocabulary.tokens, *new), (ids[numbers], offsets)


def _spelled(texts: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], Pieces]:
    """The words of `texts`, numbered as they are first met, and the texts as those numbers."""
    known: dict[str, int] = {}
    numbers = [known.setdefault(word, len(known)) for text in texts for word in text]
    return tuple(known), (np.array(numbers, np.int64), np.cumsum([0, *map(len, texts)]))


def _pairs(
    pieces: Pieces, words: Sequence[str], firsts: np.ndarray, seconds: np.ndarray, rows: np.ndarray | None = None
) -> Pairs:
    """Pairs of texts made of `pieces`: `firsts` (n, k) names those of each first text, `seconds` (q, l) those of each
    second; with `rows` (q,), a pair has the first text of its row."""
    nothing = len(pieces[1]) - 1
    numbers, offsets = stacked(pieces, (np.array([len(words)]), np.array([0, 0, 1])))  # then nothing, and a blank
    sides = []
    for side in (firsts, seconds):
        is_empty = np.diff(offsets)[side].sum(axis=1) == 0
        sides.append(joined(numbers, offsets, np.column_stack([side, np.where(is_empty, nothing + 1, nothing)])))
    made = stacked(*sides)
    kept, which = distinct(*made)
    numbers, offsets = joined(*made, kept[:, None])
    occurs = np.bincount(numbers, minlength=len(words) + 1) > 0
    spelled = (*words, BLANK)
    texts = Texts((np.cumsum(occurs) - 1)[numbers], offsets, tuple(spelled[i] for i in np.flatnonzero(occurs).tolist()))
    first, second = np.split(which, [len(firsts)])
    return Pairs(texts, first if rows is None else first[rows], second)
