"""An answer that comes in pieces, as server-sent events, put together as one: some servers answer in no other way."""

import json
from collections.abc import Iterator, Mapping
from typing import Any


def assembled(text: str) -> dict[str, Any]:
    """The pieces of an event stream as the answer that would have come at once.

    Raises ValueError where the stream is cut off: a choice has not ended, or there is none, and the stream's own end is
    not there.
    """
    whole: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    is_ended = False
    for data in _events(text):
        if data == "[DONE]":
            is_ended = True
            break
        piece = loads(data)
        if not isinstance(piece, dict):
            raise ValueError("an event that is no JSON object")
        whole |= {name: value for name, value in piece.items() if name != "choices" and value is not None}
        for choice in piece.get("choices") or []:
            _add(choices, choice)
    is_ended |= bool(choices) and all(choice["finish_reason"] is not None for choice in choices.values())
    if "error" not in whole and not is_ended:
        raise ValueError("a stream that is cut off")
    return whole | ({"choices": [choices[index] for index in sorted(choices)]} if choices else {})


def loads(text: str) -> Any:
    """JSON as servers write it: infinite numbers and NaN, which no JSON has, are None."""
    return json.loads(text, parse_constant=lambda _: None)


def _events(text: str) -> Iterator[str]:
    """The data of every event."""
    for event in text.replace("\r\n", "\n").split("\n\n"):
        lines = [line.removeprefix("data:").strip() for line in event.split("\n") if line.startswith("data:")]
        if lines:
            yield "\n".join(lines)


def _add(choices: dict[int, dict[str, Any]], piece: Any) -> None:
    """Add what a piece says to its choice."""
    if not isinstance(piece, Mapping):
        raise ValueError("a choice that is no JSON object")
    index = int(piece.get("index") or 0)
    choice = choices.setdefault(index, {"index": index, "finish_reason": None})
    delta = piece.get("delta")
    if isinstance(delta, Mapping):
        message = choice.setdefault("message", {"role": "assistant", "content": ""})
        message["content"] += delta.get("content") or ""
    elif "text" in piece:
        choice["text"] = choice.get("text", "") + (piece["text"] or "")
    if piece.get("finish_reason"):
        choice["finish_reason"] = piece["finish_reason"]
