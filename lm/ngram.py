"""The quick generator: interpolated n-grams of the other folds' texts, for tests, teaching and demos.

Every fold has a model of its own, which counts the contexts of all other folds, `sent1` and the second sentence one
after the other, each closed by an end, as is every sentence of longer texts. Orders one to four are interpolated as
Witten and Bell do (Chen and Goodman 1999, 2.6): after a history h that was followed c(h) times, by T(h) different
types,

    P(w | h) = (c(h w) + T(h) P(w | h')) / (c(h) + T(h)),    h' = h without its first token,

down to a uniform distribution over the types of the other folds. Only types that stand in a gold of the other folds can
be drawn, so other words are not counted where they follow, only where they precede; golds with words that no gold of
another fold has are kept, where the LSTMs leave them out. Endings are drawn from the model as it is, thousands a
second: a draw goes down the orders until one keeps it, and takes a token that followed there. Texts are tokenised
sentence by sentence, and an ending of several sentences is left out.

Such a model knows much by heart. Whole golds of other contexts do not count: a filter that has met a gold as a negative
avoids it, and finds the gold of a held-out row less often than a guess would.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from swag_af.data.context import Context
from swag_af.data.errors import InputError, check_kind
from swag_af.data.folds import FoldMap
from swag_af.data.text.normalise import normalise
from swag_af.data.text.scripts import END_MARKS, characters_joined, tokenize_any
from swag_af.data.text.sentences import sentences_of, tokens_of
from swag_af.data.text.wording import comparable, key_of, text_key
from swag_af.data.vocabulary import BOS, EOS, SPECIAL_TOKENS, Vocabulary, build_vocabulary
from swag_af.lm.contract import DRAWN_OUT, READ, Generated
from swag_af.lm.options import GenerateOptions
from swag_af.lm.seeding import rng_of

ORDER = 4
"""Tokens of the longest n-gram."""
_BITS = 63 // (ORDER - 1)
"""Of a history's key, for each of its tokens."""
_BLOCK_DRAWS = 1 << 15
"""Endings that are drawn together: enough to keep arrays busy, few enough for the cache."""


@dataclass
class NgramGenerator:
    """Draws from the n-grams of the folds that a context is not in."""

    golds: Sequence[Context] = field(repr=False)
    """All contexts of a dataset, with their folds: what is learnt from, and which types may be drawn."""
    min_tokens: int = GenerateOptions.min_tokens
    max_tokens: int = GenerateOptions.max_tokens
    max_draws: int = GenerateOptions.max_draws
    normalise: bool = False
    """Whether a pool gives texts one surface form: their lengths are those that it will hold."""
    _models: dict[int, "Ngrams"] = field(default_factory=dict, init=False, repr=False, compare=False)

    name: ClassVar[str] = "ngram"

    def __post_init__(self) -> None:
        """Raises InputError for golds that are no contexts."""
        for context in self.golds:
            check_kind("golds", context, Context)

    def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Generated]:
        """An answer for every context, fold by fold; raises InputError where there is one fold only."""
        todo: dict[int, list[_Row]] = {}
        for position, context in enumerate(contexts):
            if self._folds.has_read(context):
                yield Generated(position, reason=READ)
            elif END_MARKS.intersection(tokens_of(context.gold)[:-1]):  # as no ending has
                yield Generated(position, reason="gold_of_several_sentences")
            else:
                row = _Row(position, context, n_negatives, seed, gold=comparable(self.held(context.gold)))
                todo.setdefault(context.fold, []).append(row)
        per_block = max(1, _BLOCK_DRAWS // _Row.most_at_once(n_negatives))
        for fold, rows in sorted(todo.items()):
            model = self._model(fold)
            for at in range(0, len(rows), per_block):
                yield from self._answers(model, rows[at : at + per_block])

    def record(self) -> dict[str, Any]:
        """What makes the endings, beside the contexts and the seed."""
        bounds = {name: getattr(self, name) for name in ("min_tokens", "max_tokens", "max_draws")}
        return {"model": f"interpolated {ORDER}-grams (Witten-Bell) of the other folds' contexts", **bounds}

    def _answers(self, model: "Ngrams", rows: Sequence["_Row"]) -> Iterator[Generated]:
        """The answers of one block; those that need more draws get them together."""
        while rows:
            wanting = []
            numbers = [row.numbers(self.max_tokens + 1, self.max_draws) for row in rows]  # (draws, L + 1) each
            histories = [model.history_of(row.context) for row in rows]
            drawn = self._read(model.draw(np.repeat(histories, [*map(len, numbers)], axis=0), np.concatenate(numbers)))
            first = 0
            for row, mine in zip(rows, numbers, strict=True):
                row.take(drawn[first : first + len(mine)], self)
                first += len(mine)
                if row.is_done(self.max_draws):
                    yield row.answer()
                else:
                    wanting.append(row)
            rows = wanting

    def _read(self, drawn: np.ndarray) -> list["_Drawn"]:
        """Each of `drawn` (m, L), EOS from the end on: why it is no ending, or its ids."""
        ends, longest = drawn == EOS, self.max_tokens  # (m, L)
        lengths = np.where(ends.any(axis=1), ends.argmax(axis=1), longest + 1)  # (m,)
        is_within = np.arange(drawn.shape[1]) < lengths[:, None] - 1  # (m, L): of the ending, and not its last token
        has_several = (self.ends[drawn] & is_within).any(axis=1)
        shortest = self.min_tokens - self.normalise  # a pool may add a full stop
        wrong = [lengths > longest, lengths < shortest, has_several]
        reasons = np.select(wrong, ["unfinished", "too_short", "several_sentences"], "").tolist()
        kept = zip(reasons, drawn.tolist(), lengths.tolist(), strict=True)
        return [(reason, [] if reason else ids[:length]) for reason, ids, length in kept]

    def held(self, text: str) -> str:
        """`text` as the pool will hold it."""
        return normalise(text) if self.normalise else text

    def length_fault(self, held: str, n_tokens: int) -> str:
        """Whether a text, drawn as `n_tokens` and `held` so, is `too_short` or `too_long`; empty where neither."""
        n = len(tokenize_any(held)) if self.normalise else n_tokens
        return "too_short" if n < self.min_tokens else "too_long" if n > self.max_tokens else ""

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The token types of all contexts."""
        return build_vocabulary((tokens for context in self.golds for tokens in _parts(context)), min_count=1)

    @cached_property
    def ends(self) -> np.ndarray:
        """(V,) bool: the marks that end a sentence."""
        is_end = np.zeros(len(self.vocabulary), bool)
        is_end[self.vocabulary.ids(sorted(END_MARKS))] = True
        is_end[: len(SPECIAL_TOKENS)] = False
        return is_end

    @cached_property
    def recycled(self) -> frozenset[int]:
        """The keys of all golds."""
        return frozenset(text_key(self.held(context.gold)) for context in self.golds)

    @cached_property
    def _folds(self) -> FoldMap:
        return FoldMap.of((context.video, context.sentences, context.fold) for context in self.golds)

    def _sampled(self, contexts: Sequence[Context]) -> np.ndarray:
        """(V,) bool: the types of the golds of `contexts` that an ending may be as long as, and the end."""
        sampled = np.zeros(len(self.vocabulary), bool)
        for context in contexts:
            gold = self.vocabulary.ids(tokens_of(context.gold))
            if not self.length_fault(self.held(context.gold), len(gold)):
                sampled[gold] = True
        sampled[: len(SPECIAL_TOKENS)] = False
        sampled[EOS] = True
        return sampled

    def _model(self, fold: int) -> "Ngrams":
        """That of the fold at hand alone is kept."""
        if fold not in self._models:
            self._models.clear()
            others = [context for context in self.golds if context.fold != fold]
            if not others:
                raise InputError(
                    f"ngram: there is no context outside fold {fold} to learn from. Give the contexts two folds at "
                    "least. Without folds they are dealt, where there are two videos at least that share no sentence."
                )
            self._models[fold] = Ngrams(others, self.vocabulary, self._sampled(others))
        return self._models[fold]


_Drawn = tuple[str, list[int]]
"""Of one draw: why it is no ending, or its ids."""


class _Row:
    """The endings of one context, as they are drawn."""

    def __init__(self, position: int, context: Context, n: int, seed: int, *, gold: str):
        self.position = position
        self.context = context
        self.n = n
        self.endings: list[str] = []
        self.n_drawn = 0
        self.rejected = Counter[str]()
        self._gold = gold
        self._known: set[str] = set()
        self._rng = rng_of(context, seed)

    @staticmethod
    def most_at_once(n: int) -> int:
        """Draws that are made together for `n` endings."""
        return n + n // 4 + 8

    def numbers(self, width: int, max_draws: int) -> np.ndarray:
        """(draws, width) numbers from 0 to 1 for the next draws."""
        n = min(self.most_at_once(self.n), max_draws * self.n - self.n_drawn)
        return self._rng.random((n, width))

    def is_done(self, max_draws: int) -> bool:
        """Whether there is nothing more to draw."""
        return len(self.endings) == self.n or self.n_drawn >= max_draws * self.n

    def take(self, drawn: Iterable["_Drawn"], generator: NgramGenerator) -> None:
        """Keep of `drawn` what is an ending, until there are enough."""
        for reason, ids in drawn:
            if len(self.endings) == self.n:
                return
            self.n_drawn += 1
            ending = "" if reason else characters_joined(generator.vocabulary.text(ids))
            held = generator.held(ending)
            key = comparable(held)  # endings that differ in what the pool makes alike are one
            reason = reason or generator.length_fault(held, len(ids)) or self._fault(key, generator.recycled)
            if reason:
                self.rejected[reason] += 1
            else:
                self._known.add(key)
                self.endings.append(ending)

    def _fault(self, key: str, recycled: frozenset[int]) -> str:
        """Why the ending that is compared by `key` does not count; empty where it does."""
        if not any(map(str.isalnum, key)):
            return "blank"
        if key == self._gold:
            return "equal_to_gold"
        if key in self._known:
            return "repeated"
        return "gold_of_another" if key_of(key) in recycled else ""

    def answer(self) -> Generated:
        """The answer, once nothing more is to be drawn."""
        is_short = len(self.endings) < self.n
        endings, reason = ((), DRAWN_OUT) if is_short else (tuple(self.endings), "")
        return Generated(self.position, endings, reason, self.n_drawn, dict(self.rejected))


@dataclass(frozen=True)
class _Level:
    """What followed the histories of one length."""

    keys: np.ndarray
    """(histories,) int64, rising."""
    first: np.ndarray
    """(histories,) where its tokens begin in `tokens`."""
    counts: np.ndarray
    """(histories,) how many there are."""
    kept: np.ndarray
    """(histories,) the share of draws that stay with this history: c / (c + T)."""
    tokens: np.ndarray
    """(events,) what followed, history by history."""


class Ngrams:
    """The model of one fold."""

    def __init__(self, contexts: Sequence[Context], vocabulary: Vocabulary, sampled: np.ndarray):
        self.vocabulary = vocabulary
        self.uniform = np.flatnonzero(sampled)
        """(A,) the types that can be drawn."""
        if len(vocabulary) >= 1 << _BITS:
            raise InputError(f"ngram: {len(vocabulary):,} token types, and {1 << _BITS:,} is the most.")
        texts = [_ids(context, vocabulary) for context in contexts]
        padded = np.concatenate([np.array([BOS] * (ORDER - 1) + ids, np.int64) for ids in texts])
        events = np.flatnonzero(sampled[padded])
        self.levels = [_level(padded, events, n) for n in range(ORDER)]

    def history_of(self, context: Context) -> np.ndarray:
        """(ORDER - 1,) the last token ids before an ending."""
        return np.array(([BOS] * (ORDER - 1) + _before(context, self.vocabulary))[1 - ORDER :], np.int64)

    def draw(self, histories: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """(m, L) token ids, EOS from the end on: after `histories` (m, ORDER - 1), by `numbers` (m, L) from 0 to 1."""
        drawn = np.full(numbers.shape, EOS, np.int64)  # (m, L)
        live, histories = np.arange(len(numbers)), histories.copy()
        for at in range(numbers.shape[1]):
            tokens = self.next(histories, numbers[live, at])  # (live,)
            drawn[live, at] = tokens
            goes_on = tokens != EOS
            live = live[goes_on]
            if not len(live):
                break
            histories = np.concatenate((histories[goes_on, 1:], tokens[goes_on, None]), axis=1)
        return drawn

    def next(self, histories: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """(m,) one token after each of `histories` (m, ORDER - 1): `numbers` (m,) decide for an order and a token."""
        tokens = np.zeros(len(histories), np.int64)
        rest, numbers = np.arange(len(histories)), numbers.copy()
        for n in reversed(range(ORDER)):
            level = self.levels[n]
            keys = _keys(histories[rest, ORDER - 1 - n :])
            at = np.minimum(np.searchsorted(level.keys, keys), len(level.keys) - 1)
            kept = np.where(level.keys[at] == keys, level.kept[at], 0.0)
            stays = numbers[rest] < kept
            mine, where, share = rest[stays], at[stays], kept[stays]
            tokens[mine] = level.tokens[level.first[where] + _choice(numbers[mine] / share, level.counts[where])]
            rest, kept = rest[~stays], kept[~stays]
            numbers[rest] = (numbers[rest] - kept) / (1 - kept)  # again from 0 to 1
        tokens[rest] = self.uniform[_choice(numbers[rest], np.full(len(rest), len(self.uniform)))]
        return tokens


def _level(padded: np.ndarray, events: np.ndarray, n: int) -> _Level:
    """What of `padded` at `events` followed histories of `n` tokens."""
    keys = _keys(np.stack([padded[events - back] for back in range(n, 0, -1)], axis=1) if n else events[:, None][:, :0])
    order = np.lexsort((padded[events], keys))
    keys, tokens = keys[order], padded[events][order]
    found, first, counts = np.unique(keys, return_index=True, return_counts=True)
    is_new = np.ones(len(keys), bool)
    is_new[1:] = (keys[1:] != keys[:-1]) | (tokens[1:] != tokens[:-1])
    n_types = np.add.reduceat(is_new, first, dtype=np.int64)
    return _Level(found, first, counts, counts / (counts + n_types), tokens)


def _keys(histories: np.ndarray) -> np.ndarray:
    """(m,) int64: one number for each of `histories` (m, n), n < ORDER."""
    keys = np.zeros(len(histories), np.int64)
    for column in histories.T:
        keys = (keys << _BITS) | column
    return keys


def _choice(numbers: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(m,) whole numbers below `counts` (m,), from `numbers` (m,) from 0 to 1."""
    return np.minimum((numbers * counts).astype(np.int64), counts - 1)


def _parts(context: Context) -> list[list[str]]:
    """The tokens of the first sentence and of the second, none where there is none."""
    second = [*tokens_of(context.start), *tokens_of(context.gold)]
    return [tokens for tokens in (tokens_of(context.sent1), second) if tokens]


def _before(context: Context, vocabulary: Vocabulary) -> list[int]:
    """All that comes before the ending."""
    sent1 = _closed(context.sent1, vocabulary)
    return [*sent1, *_closed(context.start, vocabulary)[:-1]]


def _ids(context: Context, vocabulary: Vocabulary) -> list[int]:
    """All that is counted of a context."""
    return [*_before(context, vocabulary), *(_closed(context.gold, vocabulary) or [EOS])]


def _closed(text: str, vocabulary: Vocabulary) -> list[int]:
    """The ids of each sentence, an end after it."""
    return [id for sentence in sentences_of(text) for id in (*vocabulary.ids(tokenize_any(sentence)), EOS)]
