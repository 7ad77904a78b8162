"""The endings of one context among texts of a language model: those that are distinct, readable and not gold are kept,
and the others counted by reason."""

import re
from collections import Counter
from dataclasses import dataclass, field

from swag_af.data.context import Context, phrase
from swag_af.data.text.normalise import normalise
from swag_af.data.text.scripts import END_MARKS, characters_apart, tokenize_any
from swag_af.data.text.sentences import sentences_of
from swag_af.data.text.surface import is_finished
from swag_af.data.text.wording import comparable, is_readable, marked_words
from swag_af.data.tokens import normalise_blanks
from swag_af.lm.prompting.marks import unwrapped, without_label, wrapping_of

UNREADABLE = "unreadable_text"
"""The reason of a text with half a character or a control character: byte-level tokenizers make such."""
UNFINISHED = "unfinished"
"""The reason of a text that was cut off."""
HOLDS_GOLD = "holds_gold"
"""The reason of a text that says gold as a whole, such as `not GOLD`: it may be right, and tells what gold is."""
MID_WORD = "mid_word"
"""The reason of a text that goes on within the last word of the context, which is then another word."""
FILTERED = "filtered"
"""The reason of a text that a server's filter of contents withheld."""
NOTHING = "nothing_found"
"""The reason of a text in which nothing could be an ending, such as an empty list."""

REASONS: dict[str, str] = {
    UNREADABLE: "half a character or a control character in it",
    "blank": "nothing to read in it",
    "refusal": "the model declines, or speaks of itself",
    "echo": "repeats the context",
    UNFINISHED: "stops within a sentence",
    "several_sentences": "goes on behind its sentence, as no gold may",
    "too_short": "fewer tokens than --min-tokens",
    "too_long": "more tokens than --max-tokens",
    "equal_to_gold": "the words of gold",
    HOLDS_GOLD: "all words of gold in a row, and others",
    "repeated": "the words of an earlier ending of the context",
    MID_WORD: "goes on within the last word of the context",
    FILTERED: "withheld by the server",
    NOTHING: "an answer without endings",
}
"""Every reason for leaving out a text that could have been an ending, in the order in which a sieve tests them; the
last three are of texts that are offered to none."""

_REFUSAL = re.compile(
    r"^\W*(?:i(?:'m| am)? ?(?:sorry|unable|can(?:'t|not)|won't|will not)|as an ai|sorry,|here (?:are|is) |sure[,!:]|"
    r"certainly[,!:]|of course[,!:]|unfortunately, i)|\b(?:language model|ai assistant)\b",
    re.IGNORECASE,
)
_LEAST_HELD = 3
"""Tokens of a gold that no ending may hold; shorter ones, such as `a dog`, stand in others by chance."""
_QUOTES, _ENDS = "\"'`()[]“”‘’", ",;:" + "".join(sorted(END_MARKS))
_ECHO = 5
"""Tokens of the context that make an ending an echo of it: a wrong answer may be a word of the question."""


def is_within_word(before: str, text: str) -> bool:
    """Whether `text` goes on within the last word of `before`; in scripts without blanks letters need not be of one
    word."""
    letters = before[-1:] + text[:1]
    return len(letters) == 2 and letters.isalnum() and characters_apart(letters) == letters


def is_refusal(held: str) -> bool:
    """Whether the text `held`, as the pool has it, begins as models do that decline or chat."""
    return bool(_REFUSAL.search(held))


def is_echo(key: str, n_tokens: int, before: str) -> bool:
    """Whether a text of `n_tokens` with the words `key` is a piece of the context, whose words are `before`."""
    return n_tokens >= _ECHO and key in before


@dataclass
class Sieve:
    """The endings of one context, until there are `n`."""

    context: Context
    n: int
    min_tokens: int
    """Tokens that an ending has at least; golds should have as many."""
    max_tokens: int
    ends: str = "sentence"
    """As the prompt says; an ending that is a sentence must be finished, and the only one."""
    endings: list[str] = field(default_factory=list)
    """Those that are kept, in the order in which they came."""
    rejected: Counter[str] = field(default_factory=Counter)
    """How many were left out for each of `REASONS`."""
    normalise: bool = False
    """Whether the pool gives gold and endings one surface form: their lengths and words are those that it will hold."""
    may_echo: bool = False
    """Whether a piece of the context may be an ending, as where golds are pieces of a passage."""

    def __post_init__(self) -> None:
        self.keeps = wrapping_of(self.context.gold)
        """Marks that stay around endings, as they stand around gold: without them gold would be told by its quotes."""
        self._gold = self._key(self._held(self.context.gold))
        self._gold_words = _words(self.context.gold)
        self._gold_marked = marked_words(self._held(self.context.gold))
        self._is_labelled = without_label(self.context.gold) != self.context.gold.strip()
        self._before = comparable(phrase(self.context))
        self._known = {self._key(self._held(ending)) for ending in self.endings}

    @property
    def is_full(self) -> bool:
        """Whether there are as many as were asked for."""
        return len(self.endings) >= self.n

    @property
    def n_seen(self) -> int:
        """Texts that were kept or left out: what came when there were enough was neither."""
        return len(self.endings) + self.rejected.total()

    def leave_out(self, reason: str) -> None:
        """Count a text in which nothing could be an ending, unless there are enough already."""
        if not self.is_full:
            self.rejected[reason] += 1

    def add(self, text: str) -> str:
        """Keep `text` if it can be kept and is needed; returns the reason why not, empty where it is kept or there are
        enough already."""
        if self.is_full:
            return ""
        plain = text if self._is_labelled else without_label(text)
        ending = normalise_blanks(unwrapped(self._without_context(plain), keeps=self.keeps))
        reason = self._reason(ending)
        if reason:
            self.rejected[reason] += 1
        else:
            self._known.add(self._key(self._held(ending)))
            self.endings.append(ending)
        return reason

    def _without_context(self, text: str) -> str:
        """`text` without the context's start, where it begins with that: models often write the whole sentence."""
        for before in (phrase(self.context), self.context.start):
            if before and text[: len(before) + 1].casefold() == f"{before} ".casefold():
                return text[len(before) :]
        return text

    def _held(self, text: str) -> str:
        """`text` as the pool will hold it."""
        return normalise(text) if self.normalise else text

    def _key(self, held: str) -> str:
        """What of a text in the pool must be another in every candidate: its words, without marks that may stay."""
        return comparable(unwrapped(held) if self.keeps else held)

    def _reason(self, ending: str) -> str:
        held = self._held(ending)
        key, n_tokens = self._key(held), len(tokenize_any(held))
        tests = {
            UNREADABLE: not is_readable(ending),
            "blank": not any(map(str.isalnum, key)),
            "refusal": is_refusal(held),
            "echo": not self.may_echo and is_echo(key, n_tokens, self._before),
            UNFINISHED: self.ends == "sentence" and not is_finished(ending),
            "several_sentences": self.ends == "sentence" and len(sentences_of(ending)) > 1,
            "too_short": n_tokens < self.min_tokens,
            "too_long": n_tokens > self.max_tokens,
            "equal_to_gold": key == self._gold or self._says_gold(held),
            HOLDS_GOLD: self._holds_gold(ending),
            "repeated": key in self._known,
        }
        return next((reason for reason, is_so in tests.items() if is_so), "")

    def _says_gold(self, held: str) -> bool:
        """Whether a text has the words of gold in its order, whatever marks stand between and around them."""
        return bool(self._gold_marked) and marked_words(held) == self._gold_marked

    def _holds_gold(self, ending: str) -> bool:
        gold = self._gold_words
        if len(gold) < _LEAST_HELD:
            return False
        found = _words(ending)
        return len(found) > len(gold) and f" {' '.join(gold)} " in f" {' '.join(found)} "


def _words(text: str) -> list[str]:
    """The tokens of `text` in lower case, without quotes and the marks that end parts of it; 3.5 is one of them."""
    return [word for token in tokenize_any(text.lower()) if (word := token.lstrip(_QUOTES).rstrip(_QUOTES + _ENDS))]
