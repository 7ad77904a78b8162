"""What a server can do, found out by tiny requests: servers accept settings that they do nothing with.

llama.cpp's and others take `echo` with `logprobs` and answer without a likelihood of the prompt; tools that trust them
score at chance and say nothing. So every ability is true only where an answer showed it.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from swag_af.endpoints.contract import MANY, Abilities, Address, Answer, Request
from swag_af.endpoints.likelihood import nats_of_answer, tokens_of_prompt


class Try(Protocol):
    """Sends one request that is not kept; a refusal is an answer with an error."""

    def __call__(self, request: Request, *, is_hasty: bool) -> Answer:
        """The answer; a hasty one soon, or an error: some servers hang at a setting that they do not know."""


_TEXT = "A man sits down at a piano. He begins to"
_WORDS = ("apple", "river")
_SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string", "enum": list(_WORDS)}},
    "required": ["word"],
    "additionalProperties": False,
}
_LIMITS = ("max_tokens", "max_completion_tokens")


def probe(model: str, attempt: Try) -> Abilities:
    """Try everything that `Abilities` names; about ten requests of a few tokens."""
    completions = _limit("completions", attempt)
    chat = _limit("chat/completions", attempt)
    limit = chat or completions or _LIMITS[0]
    path: Address = "completions" if completions else "chat/completions"
    if not completions and not chat:
        return Abilities(model)

    def tried(**settings: Any) -> Answer:
        return attempt(_request(path, {limit: 4, **settings}), is_hasty=True)

    def read(**settings: Any) -> bool:
        if not completions:
            return False
        answer = attempt(_request("completions", {limit: 1, **settings}), is_hasty=True)
        return tokens_of_prompt(answer.body, _TEXT) is not None

    seeded = [tried(seed=7, temperature=1.0) for _ in range(2)]
    several = tried(n=MANY, temperature=1.0)
    texts = [text for answer in (*seeded, several) for text in answer.texts]
    logprobs = {"logprobs": 1} if completions else {"logprobs": True}
    return Abilities(
        model,
        completions=bool(completions),
        chat=bool(chat),
        echo_logprobs=read(echo=True, logprobs=1),
        prompt_logprobs=read(prompt_logprobs=0),
        answer_logprobs=bool(nats_of_answer(tried(**logprobs).body)),
        many=len(several.texts) == MANY,
        json_schema=bool(chat) and _keeps_schema(attempt(with_schema(_asked(limit), _SCHEMA, "word"), is_hasty=True)),
        stop=not tried(stop=["\n"]).error,
        seed=not seeded[0].error,
        repeats=not seeded[0].error and seeded[0].texts == seeded[1].texts,
        blanks=bool(completions) and any(text[:1].isspace() for text in texts),
        limit=limit,
    )


def with_schema(request: Request, schema: Mapping[str, Any], name: str) -> Request:
    """The same request, to be answered in JSON of a schema."""
    kept = {"name": name, "strict": True, "schema": dict(schema)}
    body = {**request.body, "response_format": {"type": "json_schema", "json_schema": kept}}
    return replace(request, body=body)


def _limit(path: Address, attempt: Try) -> str:
    """What the most tokens of an answer are called there; empty where nothing answers."""
    return next((name for name in _LIMITS if attempt(_request(path, {name: 4}), is_hasty=False).texts), "")


def _request(path: Address, settings: Mapping[str, Any]) -> Request:
    about = {"prompt": _TEXT} if path == "completions" else {"messages": [{"role": "user", "content": _TEXT}]}
    return Request(path, {**about, **settings})


def _asked(limit: str) -> Request:
    """A question whose answer by itself would not be of the schema."""
    said = "Do not use JSON. Answer in plain words: how are you?"
    return Request("chat/completions", {"messages": [{"role": "user", "content": said}], limit: 64})


def _keeps_schema(answer: Answer) -> bool:
    try:
        found = json.loads(next(iter(answer.texts), ""))
    except ValueError:
        return False
    return isinstance(found, dict) and set(found) == {"word"} and found["word"] in _WORDS
