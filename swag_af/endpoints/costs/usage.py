"""How much was used: requests, tokens and money, as the server counts them, or estimated where it does not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from swag_af.data.errors import several
from swag_af.endpoints.contract import Answer, Request
from swag_af.endpoints.costs.prices import Price

CHARACTERS_A_TOKEN = 4
"""Of English, about, in the vocabularies of today's models; only where the server does not count."""


@dataclass(frozen=True)
class Usage:
    """What was used so far, or by one answer."""

    n_requests: int = 0
    """Requests sent, tried again or not."""
    prompt_tokens: int = 0
    answer_tokens: int = 0
    n_estimated: int = 0
    """Answers whose tokens the server did not count."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.n_requests + other.n_requests,
            self.prompt_tokens + other.prompt_tokens,
            self.answer_tokens + other.answer_tokens,
            self.n_estimated + other.n_estimated,
        )

    @property
    def tokens(self) -> int:
        """Of prompts and of answers."""
        return self.prompt_tokens + self.answer_tokens

    def told(self, price: Price | None = None) -> str:
        """`120 requests, 3,400 + 560 tokens, cost 0.0012`."""
        about = "about " if self.n_estimated else ""
        cost = "" if price is None else f", cost {price.of(self.prompt_tokens, self.answer_tokens):.4g}"
        return (
            f"{several(self.n_requests, 'request')}, {about}{self.prompt_tokens:,} + {self.answer_tokens:,} "
            f"tokens{cost}"
        )


def usage_of(request: Request, body: Mapping[str, Any]) -> Usage:
    """What one answer took; the tokens of failed tries are nowhere told."""
    told = body.get("usage")
    told = told if isinstance(told, Mapping) else {}
    prompt, answer = told.get("prompt_tokens"), told.get("completion_tokens")
    if _is_count(prompt) and _is_count(answer):
        return Usage(1, prompt, answer)
    whole = told.get("total_tokens")
    if _is_count(prompt) and _is_count(whole):
        return Usage(1, prompt, max(0, whole - prompt))
    texts = Answer(body).texts
    return Usage(1, prompt_estimate(request), sum(map(_estimate, texts)), n_estimated=1)


def most_tokens(request: Request) -> int:
    """About how many tokens a request may use at most."""
    limits = [request.body.get(name) for name in ("max_tokens", "max_completion_tokens")]
    limit = next((value for value in limits if _is_count(value)), 0)
    n = request.body.get("n")
    return prompt_estimate(request) + limit * (n if _is_count(n) else 1)


def prompt_estimate(request: Request) -> int:
    """About how many tokens the prompt of a request has."""
    said = request.body.get("messages", request.body.get("prompt", ""))
    if isinstance(said, str):
        return _estimate(said)
    turns = [turn.get("content") if isinstance(turn, Mapping) else turn for turn in said]
    return sum(_estimate(turn) for turn in turns if isinstance(turn, str))


def _estimate(text: str) -> int:
    return -(-len(text) // CHARACTERS_A_TOKEN)


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
