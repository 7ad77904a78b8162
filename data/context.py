"""Contexts: a sentence, the noun phrase that begins the next one, and the ending found in the source (gold).

What a context is, and how it is shown. `captions.context_set` reads and writes files of contexts.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from swag_af.data.tokens import capitalise, detokenize, tokenize


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
    def sentences(self) -> tuple[str, str]:
        """The first sentence, and the whole second one with its gold ending."""
        return self.sent1, f"{self.start} {self.gold}"

    def record(self) -> dict[str, Any]:
        """For JSON and for hashes: every field, but `media` only where there is some."""
        return {name: value for name, value in asdict(self).items() if value or name != "media"}


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
    return " ".join(filter(None, display(context)))


def display(context: Context) -> tuple[str, str]:
    """`(sent1, start)` as released: detokenised, each with a capital at its beginning, but for names such as iPhone. A
    text of several lines, and one with signs of code, formulas or addresses, is as it is written."""
    return _shown(context.sent1), _shown(context.start)


_NO_SENTENCE = re.compile(r"[\n<>=*\\^_|~@{}]|://")


def _shown(text: str) -> str:
    return text if _NO_SENTENCE.search(text) else capitalise(detokenize(tokenize(text)))
