"""Stand-ins for servers of language models whose knowledge is planted: what they say depends on the request alone."""

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from swag_af.data.errors import ExhaustedError
from swag_af.endpoints.contract import Abilities, Answer, Request

Chooses = Callable[[Sequence[str]], int | None]
"""Which of the texts shown, by its place, a model says is right; None: it refuses to say."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def knows_style(mark: str) -> Chooses:
    """A model that takes the first text in which `mark` stands, and else the first shown."""
    return lambda texts: next((place for place, text in enumerate(texts) if mark in text), 0)


def knows_nothing(texts: Sequence[str]) -> int:
    """A guess that is another in each order."""
    return zlib.crc32("\n".join(texts).encode()) % len(texts)


def has_opinions(texts: Sequence[str]) -> int:
    """A guess that is the same text in every order."""
    return max(range(len(texts)), key=lambda place: zlib.crc32(texts[place].encode()))


def prefers_a(texts: Sequence[str]) -> int:
    """Always what stands first."""
    return 0


def refuses(texts: Sequence[str]) -> None:
    """Never answers."""


@dataclass
class FakeServer:
    """Answers questions by `chooses`, and whether one text alone is right by `is_right`; writes texts by `writes`."""

    chooses: Chooses = knows_nothing
    is_right: Callable[[str], bool | None] = lambda text: None
    writes: Callable[[str], str] = lambda prompt: "I cannot help with that."
    can: Abilities = field(default_factory=lambda: Abilities("fake", chat=True, completions=True))
    url: str = "http://fake"
    most: int | None = None
    """It stops after so many answers, as a budget does."""
    asked: Counter[str] = field(default_factory=Counter)
    prompts: list[str] = field(default_factory=list)

    def abilities(self) -> Abilities:
        return self.can

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[int, Answer]]:
        for position, request in reversed(list(enumerate(requests))):  # in any order
            if self.most is not None and len(self.prompts) >= self.most:
                raise ExhaustedError("the budget is used up. Ask for more with --max-requests.")
            self.asked[request.key] += 1
            yield position, self._answer(request.body)

    def _answer(self, body: Any) -> Answer:
        prompt = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
        self.prompts.append(prompt)
        if body.get("echo") or "prompt_logprobs" in body:
            return Answer({"choices": [_read(prompt, echo=bool(body.get("echo")))]})
        text = self._says(prompt)
        message = {"message": {"content": text}} if "messages" in body else {"text": text}
        return Answer({"choices": [message]})

    def _says(self, prompt: str) -> str:
        if "Say Yes or No" in prompt:
            right = self.is_right(prompt.split("\n\n")[-2])
            return "I'd rather not." if right is None else "Yes." if right else "No."
        shown = re.findall(r"^[A-Z]\. (.+)$", prompt, re.MULTILINE)
        if "Say the letter" not in prompt:
            return self.writes(prompt)
        chosen = self.chooses(shown)
        return "I'd rather not." if chosen is None else f"{LETTERS[chosen]}\nIt has the mark."


def log_probability(before: str, letter: str) -> float:
    """Of a letter behind a text, as the fake model has it."""
    return -0.1 - (zlib.crc32(f"{before[-1:]}{letter}".encode()) % 1000) / 500


def _read(text: str, *, echo: bool) -> dict[str, Any]:
    """The log-probabilities of a text in tokens of three characters, and one more that is generated."""
    tokens = [text[i : i + 3] for i in range(0, len(text), 3)]
    values: list[float | None] = [None]
    for i in range(3, len(text), 3):
        values.append(sum(log_probability(text[:j], text[j]) for j in range(i, min(i + 3, len(text)))))
    if not echo:
        known = zip(tokens[1:], values[1:], strict=True)
        return {
            "text": "x",
            "prompt_logprobs": [None, *({"7": {"logprob": v, "decoded_token": t}} for t, v in known)],
        }
    offsets = [*range(0, len(text), 3), len(text)]
    return {
        "text": text + "x",
        "logprobs": {"tokens": [*tokens, "x"], "token_logprobs": [*values, -1.0], "text_offset": offsets},
    }
