"""Contexts: a sentence, the noun phrase that begins the next one, and the ending found in the source (gold).

What a context is, and how it is shown. `captions.context_set` reads and writes files of contexts.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from swag_af.data.tokens import attach_clitics, capitalise, detokenize, has_signs, one_after_another


@dataclass(frozen=True, slots=True)
class Context:
    """One question without its distractors."""

    sent1: str
    start: str
    gold: str
    id: str = ""
    video: str = ""
    source: str = "custom"
    fold: int = 0
    media: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """References to media that are shown with the text, by name: `{"image": "kitchen.jpg", "objects": ["person",
    "cup"]}`. Nothing here opens them."""

    @property
    def named_video(self) -> str:
        """The video, or group, that somebody named; empty where it has its name from the context's own id, or from the
        number of a line, which other files have for others."""
        return "" if self.video == self.id else self.likely_video

    @property
    def likely_video(self) -> str:
        """As `named_video`, and also one that is called as the context: there may be one context a video."""
        return "" if _MADE_UP.fullmatch(self.video) else self.video

    @property
    def sentences(self) -> tuple[str, str]:
        """The first sentence, and the whole second one with its gold ending."""
        return self.sent1, f"{self.start} {self.gold}"

    def record(self) -> dict[str, Any]:
        """For JSON and for hashes: every field, but `media` only where there is some."""
        return {name: value for name, value in asdict(self).items() if value or name != "media"}


_MADE_UP = re.compile(r"(?:row|line)-\d+")
"""What contexts and videos are called that came without a name."""


@dataclass(frozen=True, slots=True)
class DroppedPair:
    """Two consecutive captions that make no context, and why."""

    sent1: str
    sent2: str
    reason: str
    id: str
    video: str
    fold: int = 0

    @property
    def sentences(self) -> tuple[str, str]:
        """The two captions."""
        return self.sent1, self.sent2


def phrase(context: Context) -> str:
    """The context as released, in one text: all that comes before an ending, or a question before its answer."""
    return one_after_another(*display(context))


def display(context: Context) -> tuple[str, str]:
    """`(sent1, start)` as released: `readable`, each with a capital at its beginning, but for names such as iPhone. A
    text of several lines, and one with signs of code, formulas or addresses, is as it is written."""
    return _capitalised(context.sent1), _capitalised(context.start)


def readable(text: str) -> str:
    """`text` as people read it, on annotators' pages, in exports and in a release alike.

    Where it visibly is tokenised throughout, the blanks of its tokens are gone: `ca n't go .` becomes `can't go.` Any
    other text, one of several lines, and one with signs of code, formulas or addresses is as it is written, but for
    clitics by themselves.
    """
    if _is_no_sentence(text):
        return text
    marks = _TOKENISED if text.isascii() else _TOKENISED_ANYWHERE
    is_tokenised = marks.search(text) or attach_clitics(text) != text
    return attach_clitics(detokenize(text.split()) if is_tokenised and not _WRITTEN.search(text) else text)


def _is_no_sentence(text: str) -> bool:
    return "\n" in text or has_signs(text)


_TOKENISED = re.compile(r"\s(?:[.,]|[?!]+|['\"])(?=\s|$)|(?:^|\s)(?:``|'')(?=\s|$)")
"""What nobody writes, beside a clitic by itself: a blank before a mark or on both sides of a quote."""
_TOKENISED_ANYWHERE = re.compile(r"\s[.,](?=\s|$)|(?:^|\s)(?:``|'')(?=\s|$)")
"""The same in other languages: French has a blank before `? ! : ;` and within `« »`."""
_WRITTEN = re.compile(r"\w[,?!](?=\s|$)|\w\.$|\d \. \d|\s\s|[^\S ]")
"""What no tokeniser leaves: a mark at its word, more blanks than one, blanks of another kind; and the point of a
number, of which nobody knows whether it was one."""
_NAME = re.compile(r"\S*(?:[\d_/:(]|\w\.\w)")
"""A first word that is no word of a sentence: `x19`, `a_b`, `np.dot`."""


def _capitalised(text: str) -> str:
    return text if _is_no_sentence(text) or _NAME.match(text) else capitalise(readable(text))
