"""The log-probabilities of a given text, out of an answer: `echo` of completions, or vLLM's `prompt_logprobs`.

A server may accept either and give nothing, or give it for the words of its own answer only. Then there is nothing here
to read, and nothing is made up.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from swag_af.endpoints.contract import Abilities, Request


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a text, by the characters that it takes up."""

    begin: int
    end: int
    nats: float | None
    """Its negative log-likelihood after all before it; None for the first, which has nothing before it."""


def reading(text: str, abilities: Abilities) -> Request:
    """What asks a server that reads prompts for the log-probabilities of `text`; one token that nobody reads is
    generated, since some servers refuse none."""
    way = {"echo": True, "logprobs": 1} if abilities.echo_logprobs else {"prompt_logprobs": 0}
    return Request("completions", {"prompt": text, abilities.limit: 1, "temperature": 0.0, **way})


def tokens_of_prompt(body: Mapping[str, Any], prompt: str) -> list[Token] | None:
    """The tokens of `prompt` in an answer to it; None where they do not cover it, or have no likelihoods."""
    choice = next(iter(body.get("choices") or []), None)
    if not isinstance(choice, Mapping):
        return None
    for read in (_echoed, _as_vllm):
        found = read(choice, prompt)
        if found is not None and _is_whole(found, prompt):
            return found
    return None


def nats_of_answer(body: Mapping[str, Any]) -> list[float]:
    """The negative log-likelihoods of the tokens that were generated, of the first choice; none where there are
    none."""
    choice = next(iter(body.get("choices") or []), None)
    given = choice.get("logprobs") if isinstance(choice, Mapping) else None
    if not isinstance(given, Mapping):
        return []
    said = given.get("token_logprobs")
    if said is None:  # of chats
        content = given.get("content")
        entries = content if isinstance(content, list) else []
        said = [one.get("logprob") for one in entries if isinstance(one, Mapping)]
    return [-float(value) for value in said if _is_number(value)] if isinstance(said, list) else []


def _echoed(choice: Mapping[str, Any], prompt: str) -> list[Token] | None:
    """As OpenAI's completions answer to `echo` with `logprobs`."""
    given = choice.get("logprobs")
    if not isinstance(given, Mapping):
        return None
    pieces, values = given.get("tokens"), given.get("token_logprobs")
    if not isinstance(pieces, list) or not isinstance(values, list) or not pieces or len(pieces) != len(values):
        return None
    return _placed([str(piece) for piece in pieces], values, prompt, given.get("text_offset"))


def _as_vllm(choice: Mapping[str, Any], prompt: str) -> list[Token] | None:
    """As vLLM answers to `prompt_logprobs`: None for the first token, then one mapping a token, its own entry first."""
    given = choice.get("prompt_logprobs")
    if not isinstance(given, list) or len(given) < 2:
        return None
    entries = [next(iter(one.values()), None) if isinstance(one, Mapping) else None for one in given[1:]]
    if not all(isinstance(entry, Mapping) for entry in entries):
        return None
    pieces = [str(entry.get("decoded_token") or "") for entry in entries if entry is not None]
    rest = "".join(pieces)
    first = prompt[: -len(rest)] if rest and prompt.endswith(rest) else ""
    return _placed([first, *pieces], [None, *(entry and entry.get("logprob") for entry in entries)], prompt, None)


def _placed(pieces: Sequence[str], values: Sequence[Any], prompt: str, offsets: Any) -> list[Token] | None:
    """The tokens with their places, found by their own texts, or by the offsets that the server tells."""
    begins = _by_texts(pieces, prompt) or _by_offsets(pieces, prompt, offsets)
    if begins is None:
        return None
    ends = [*begins[1:], begins[-1] + len(pieces[-1])]
    placed = zip(begins, ends, values, strict=True)
    return [
        Token(max(begin, 0), min(end, len(prompt)), -float(value) if _is_number(value) else None)
        for begin, end, value in placed
        if begin < len(prompt) and end > 0
    ]


def _by_texts(pieces: Sequence[str], prompt: str) -> list[int] | None:
    """Where each piece begins; a first one that is no text, and a blank before all, stand before the prompt."""
    whole = "".join(pieces)
    for before in ("", " ", pieces[0], f"{pieces[0]} "):
        if whole.startswith(before + prompt):
            return _sums(pieces, -len(before))
    return None


def _by_offsets(pieces: Sequence[str], prompt: str, offsets: Any) -> list[int] | None:
    """For pieces that are not whole characters. Those that are must stand where the server says."""
    if not isinstance(offsets, list) or len(offsets) != len(pieces) or not all(isinstance(at, int) for at in offsets):
        return None
    begins = [at - offsets[0] for at in offsets]
    is_right = all(
        prompt.startswith(piece[: max(0, len(prompt) - at)], at)
        for at, piece in zip(begins, pieces, strict=True)
        if at < len(prompt) and "\ufffd" not in piece and not piece.startswith("bytes:")
    )
    return begins if is_right and begins == sorted(begins) else None


def _sums(pieces: Iterable[str], at: int) -> list[int]:
    begins = []
    for piece in pieces:
        begins.append(at)
        at += len(piece)
    return begins


def _is_whole(tokens: Sequence[Token], prompt: str) -> bool:
    """Whether the tokens cover the prompt, all but the first have a likelihood, which is none above certainty, and not
    all are certain."""
    if len(tokens) < 2 or tokens[0].begin != 0 or tokens[-1].end < len(prompt):
        return False
    nats = [token.nats for token in tokens[1:]]
    return all(value is not None and value >= -_ROUNDING for value in nats) and any(nats)


_ROUNDING = 1e-3
"""Nats: log-likelihoods of quantised models may be so far above 0. More is no logarithm of a probability."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
