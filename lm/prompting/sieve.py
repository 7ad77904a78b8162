"""Endings from the raw texts of a language model, and why others are none.

What comes back is a continuation, a JSON list, lines with numbers, or a refusal. `endings_in` finds what could be
endings; a `Sieve` keeps those of one context that are distinct, readable and not gold, and counts the others by reason.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass, field

from swag_af.data.captions.published import sentences_of
from swag_af.data.context import Context, phrase
from swag_af.data.text.surface import CLOSERS
from swag_af.data.text.wording import characters_apart, comparable, is_readable
from swag_af.data.tokens import SENTENCE_ENDS, normalise_blanks, token_spans
from swag_af.lm.prompting.prompt import Prompt

UNREADABLE = "unreadable_text"
"""The reason of a text with half a character or a control character: byte-level tokenizers make such."""
UNFINISHED = "unfinished"
"""The reason of a text that was cut off."""
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
    "too_short": "fewer tokens than --min-tokens",
    "too_long": "more tokens than --max-tokens",
    "equal_to_gold": "the words of gold",
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
_DOTTED = re.compile(r"^\s*[-*•]\s+")
_NUMBERED = re.compile(r"^\s*\(?(\d{1,3}|[a-zA-Z])[.):]\s+")
_LONG = 3
"""Lines whose numbers count up are numbered, wherever they begin, if there are so many."""
_ANSWERS = ("answer", "text", "ending", "option", "choice", "distractor", "wrong_answer", "value")
"""Under what name an object has an answer, where it has other things beside it."""
_ECHO = 5
"""Tokens of the context that make an ending an echo of it: a wrong answer may be a word of the question."""
_FENCE = re.compile(r"^\s*```\w*\s*|\s*```\s*$")


def endings_in(text: str, prompt: Prompt) -> list[str]:
    """What could be endings in one text that came back, in order.

    Of a prompt that is continued, one: up to the end of its sentence or its line. Of one that asks for a list, the
    strings and numbers of the first JSON list, an object's list or strings too, and one string of each object in a
    list; where there is none, or it is cut off, the strings or lines that are whole.
    """
    if prompt.way == "continue":
        first = next(filter(str.strip, text.splitlines()), "")
        return [first_sentence(first) if prompt.ends == "sentence" else normalise_blanks(first)]
    plain = _FENCE.sub("", text.strip())
    begins = sorted({0, plain.find("["), plain.find("{")} - {-1})
    each = (_json_strings(plain[begin:]) for begin in begins)
    strings = next((one for one in each if one is not None), None)
    found = _lines(plain) if strings is None else strings
    return [normalise_blanks(one) for one in found]


def first_sentence(text: str) -> str:
    """`text` up to and with the mark that ends its first sentence."""
    return next(iter(sentences_of(normalise_blanks(text))), "")


def is_within_word(before: str, text: str) -> bool:
    """Whether `text` goes on within the last word of `before`; in scripts without blanks letters need not be of one
    word."""
    letters = before[-1:] + text[:1]
    return len(letters) == 2 and letters.isalnum() and characters_apart(letters) == letters


def _json_strings(text: str) -> list[str] | None:
    """The strings and numbers of a JSON value at the beginning of `text`; of a list that is cut off, the strings that
    are whole; None where there is no JSON."""
    if text[:1] not in ("[", "{", '"'):
        return None
    try:
        value, _ = json.JSONDecoder(parse_int=_Number, parse_float=_Number).raw_decode(text)
    except ValueError:
        if not text.startswith("["):
            return None
        return [json.loads(found) for found in re.findall(r'"(?:[^"\\\n]|\\["\\/bfnrtu])*"(?=\s*[,\]])', text)] or None
    return _strings_of(value)


class _Number(str):
    """A number of JSON, as it is written."""


def _strings_of(value: object) -> list[str]:
    """Of an object its lists, where it has some: what stands beside them are words about them. Else its answer, or all
    its strings."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        named = _named(value)
        lists = [one for one in value.values() if isinstance(one, list)]
        value = lists or ([named] if named is not None else list(value.values()))
    if not isinstance(value, list):
        return []
    return [text for one in value for text in (_one_of(one) if isinstance(one, dict) else _strings_of(one))]


def _one_of(value: dict[str, object]) -> list[str]:
    """The answer of an object in a list: by its name, else the first string, else a number."""
    named = _named(value)
    texts = [one for one in value.values() if isinstance(one, str)]
    first = next((one for one in texts if not isinstance(one, _Number)), next(iter(texts), None))
    one = first if named is None else named
    return _strings_of(value) if one is None else [one]


def _named(value: dict[str, object]) -> str | None:
    lowered = {str(name).lower(): one for name, one in value.items()}
    return next((one for name in _ANSWERS if isinstance(one := lowered.get(name), str)), None)


def _lines(text: str) -> list[str]:
    """The lines of `text` that have a number or a dot before them, without it; all lines where none has.

    A number, or a letter, is one that counts lines: others, of "E. coli" or "3. October", are theirs.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    dotted = [_DOTTED.sub("", line) for line in lines if _DOTTED.match(line)]
    numbered = [(found[1], line[found.end() :]) for line in lines if (found := _NUMBERED.match(line))]
    is_alone = len(numbered) == 1 and len(lines) > 2
    counts = _count_up([mark for mark, _ in numbered]) and not is_alone
    return [rest for _, rest in numbered] if counts else dotted or lines


def _count_up(marks: list[str]) -> bool:
    """Whether marks of lines, numbers or letters, count them: 1, 2, 3; a, b, c; 1, 1, 1."""
    if not marks or len({mark.isdecimal() for mark in marks}) > 1:
        return False
    numbers = [int(mark) if mark.isdecimal() else ord(mark.lower()) - ord("a") + 1 for mark in marks]
    ascends = numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return (ascends and (numbers[0] <= 1 or len(numbers) >= _LONG)) or set(numbers) == {1}


@dataclass
class Sieve:
    """The endings of one context, until there are `n`."""

    context: Context
    n: int
    min_tokens: int
    """Tokens that an ending has at least; golds should have as many."""
    max_tokens: int
    ends: str = "sentence"
    """As the prompt says; an ending that is a sentence must be finished."""
    endings: list[str] = field(default_factory=list)
    """Those that are kept, in the order in which they came."""
    rejected: Counter[str] = field(default_factory=Counter)
    """How many were left out for each of `REASONS`."""

    def __post_init__(self) -> None:
        self._gold = comparable(self.context.gold)
        self._before = comparable(phrase(self.context))
        self._known = {comparable(ending) for ending in self.endings}

    @property
    def is_full(self) -> bool:
        """Whether there are as many as were asked for."""
        return len(self.endings) >= self.n

    def add(self, text: str) -> str:
        """Keep `text` if it can be kept and is needed; returns the reason why not, empty where it is kept or there are
        enough already."""
        if self.is_full:
            return ""
        ending = normalise_blanks(_without_quotes(self._without_context(text)))
        reason = self._reason(ending)
        if reason:
            self.rejected[reason] += 1
        else:
            self._known.add(comparable(ending))
            self.endings.append(ending)
        return reason

    def _without_context(self, text: str) -> str:
        """`text` without the context's start, where it begins with that: models often write the whole sentence."""
        for before in (phrase(self.context), self.context.start):
            if before and text[: len(before) + 1].casefold() == f"{before} ".casefold():
                return text[len(before) :]
        return text

    def _reason(self, ending: str) -> str:
        key = comparable(ending)
        n_tokens = len(token_spans(ending))
        tests = {
            UNREADABLE: not is_readable(ending),
            "blank": not any(map(str.isalnum, key)),
            "refusal": bool(_REFUSAL.search(ending)),
            "echo": n_tokens >= _ECHO and key in self._before,
            UNFINISHED: self.ends == "sentence" and ending.rstrip(CLOSERS)[-1:] not in SENTENCE_ENDS,
            "too_short": n_tokens < self.min_tokens,
            "too_long": n_tokens > self.max_tokens,
            "equal_to_gold": key == self._gold,
            "repeated": key in self._known,
        }
        return next((reason for reason, is_so in tests.items() if is_so), "")


def _without_quotes(text: str) -> str:
    """`text` without a pair of quotes around the whole of it."""
    plain = text.strip()
    is_quoted = len(plain) > 2 and plain[0] == plain[-1] == '"' and '"' not in plain[1:-1]
    return plain[1:-1] if is_quoted else plain
