"""What a server is asked about one context, in the way that it can be asked."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from swag_af.data.context import Context
from swag_af.endpoints.contract import ADDRESSES, MANY, Abilities, Api, Request
from swag_af.endpoints.probing import with_schema
from swag_af.lm.prompting.prompt import IN_A_LIST, Prompt
from swag_af.lm.seeding import rng_of

TOKENS_A_TOKEN = 2
"""Tokens of a model's vocabulary to one of ours, about, with room to spare."""
ROOM = 32
"""Tokens beside: marks of a list, a word before it."""
_SCHEMA = {
    "type": "object",
    "properties": {"endings": {"type": "array", "items": {"type": "string"}}},
    "required": ["endings"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Asking:
    """How one server is asked, by one prompt."""

    abilities: Abilities
    prompt: Prompt
    api: Api
    """The address that is asked."""
    settings: dict[str, Any]
    """Those of sampling."""
    answer_tokens: int
    """The longest answer, in the model's tokens."""

    def requests(self, context: Context, n_endings: int, n_texts: int, *, seed: int, draw: int) -> Iterator[Request]:
        """Requests for `n_texts` texts about one context of which `n_endings` endings are wanted altogether.

        They are numbered from `draw`. Each has a seed of its own, by its number, the context's words and `seed`, where
        the server takes one.
        """
        at_once = MANY if self.abilities.many else 1
        for number, first in enumerate(range(0, n_texts, at_once), start=draw):
            n = min(at_once, n_texts - first)
            body = self._about(context, min(n_endings, IN_A_LIST)) | ({"n": n} if n > 1 else {})
            if self.abilities.seed:
                body["seed"] = int(_seeds(context, seed, number))
            yield self._shaped(Request(ADDRESSES[self.api], body, number))

    def _about(self, context: Context, n: int) -> dict[str, Any]:
        body: dict[str, Any] = {**self.settings, self.abilities.limit: self.answer_tokens}
        if self.api == "chat":
            return body | {"messages": self.prompt.messages(context, n)}
        is_line = self.prompt.way == "continue" and self.abilities.stop
        return body | {"prompt": self.prompt.text(context, n)} | ({"stop": ["\n"]} if is_line else {})

    def _shaped(self, request: Request) -> Request:
        if self.prompt.way == "list" and self.api == "chat" and self.abilities.json_schema:
            return with_schema(request, _SCHEMA, "endings")
        return request


def longest_answer(prompt: Prompt, n_endings: int, max_tokens: int) -> int:
    """The model's tokens that an answer may have."""
    return prompt.endings_a_text(n_endings) * TOKENS_A_TOKEN * max_tokens + ROOM


def _seeds(context: Context, seed: int, number: int) -> np.integer[Any]:
    """A seed from 0 to 2^31 - 1, which every server takes."""
    rng: np.random.Generator = np.random.default_rng((int(rng_of(context, seed).integers(1 << 62)), number))
    drawn: np.integer[Any] = rng.integers(1 << 31)
    return drawn
