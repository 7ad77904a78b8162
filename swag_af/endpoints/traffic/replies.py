"""What one reply of a server means: an answer, a refusal of this request, something that may pass, or the end."""

import email.utils
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any, Literal

from swag_af.endpoints.traffic.streams import assembled, loads

_WRONG_PLACE = (401, 403, 404, 405)
"""The key, or the address: no other request would fare better."""
_PASSING = (408, 409, 425, 429)
_NEVER = 501
_LONGEST_SAID = 300
_TOO_LONG = re.compile(r"context.{0,20}(?:length|window|size)|too (?:long|many tokens)|maximum.{0,20}tokens", re.I)
_NO_MONEY = re.compile(r"insufficient_quota|payment required", re.I)
_PERHAPS_NO_MONEY = re.compile("billing", re.I)
_LATER = re.compile(r"(?:re)?try (?:again )?in|per.?minute", re.I)
"""Words of a limit that passes, though it names billing as well."""
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Reply:
    """What a reply means for whoever sent the request."""

    kind: Literal["answer", "refused", "again", "stop"]
    """An answer; this request is refused for good; it may be answered later; nothing will be answered."""
    body: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    """Why there is no answer, in words that can be counted: `status_429`, `invalid_json`."""
    said: str = ""
    """What the server says of it, shortened."""
    after: float | None = None
    """Seconds that the server asks to wait."""


def reply_of(status: int, headers: Mapping[str, str], content: bytes, *, now: float) -> Reply:
    """What an HTTP reply means; `now` is the time in seconds since 1970, for a `Retry-After` that is a date."""
    text = content.decode("utf-8", "replace")
    if 200 <= status < 300:
        return _answer_of(text, headers)
    return _failure(status, text, retry_after(headers.get("retry-after", ""), now))


def retry_after(value: str, now: float) -> float | None:
    """The seconds of a `Retry-After`, which has seconds or a date; None where it has neither."""
    try:
        return max(0.0, float(value)) if float(value) < float("inf") else None
    except ValueError:
        pass
    try:
        when = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - now)


def _answer_of(text: str, headers: Mapping[str, str]) -> Reply:
    """An answer with choices; whatever else comes with a 200 may pass."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        body = assembled(text) if kind == "text/event-stream" else loads(text)
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):  # of pieces of no known form
        is_json = "json" in kind or kind in ("", "text/event-stream")
        return Reply("again", reason="invalid_json" if is_json else "wrong_content_type", said=_said(text))
    if not isinstance(body, dict):
        return Reply("again", reason="invalid_json", said=_said(text))
    if body.get("error"):
        error = body["error"]
        code = error.get("code") if isinstance(error, Mapping) else None
        return _failure(code if isinstance(code, int) and code >= 400 else 500, text, None)
    choices = body.get("choices")
    if not isinstance(choices, list) or not any(isinstance(choice, Mapping) for choice in choices):
        return Reply("again", reason="no_choices", said=_said(text))
    return Reply("answer", _without_halves(body))


def _failure(status: int, text: str, after: float | None) -> Reply:
    reason, said = f"status_{status}", _said(text)
    passes = after is not None or _LATER.search(text)
    if status == 402 or (status == 429 and (_NO_MONEY.search(text) or (_PERHAPS_NO_MONEY.search(text) and not passes))):
        return Reply("stop", reason="no_money", said=said)
    if status in _WRONG_PLACE or 300 <= status < 400:
        return Reply("stop", reason=reason, said=said)
    if status in _PASSING or (status >= 500 and status != _NEVER):
        return Reply("again", reason=reason, said=said, after=after)
    is_long = status in (400, 413, 422) and _TOO_LONG.search(said)
    return Reply("refused", reason="context_too_long" if is_long else f"refused_{status}", said=said)


def _said(text: str) -> str:
    """What an error says, on one line: the message of its JSON, or the words of its page."""
    try:
        found: Any = json.loads(text)
        for name in ("error", "detail", "message"):
            found = found.get(name, found) if isinstance(found, Mapping) else found
        plain = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
        code = _code(text)
        plain = f"{plain} ({code})" if code and code not in plain else plain
    except (ValueError, RecursionError):
        plain = re.sub(r"<[^>]*>", " ", text)
    plain = " ".join(_HALF.sub("\ufffd", plain).split())
    return plain if len(plain) <= _LONGEST_SAID else f"{plain[: _LONGEST_SAID - 4]} ..."


def _code(text: str) -> str:
    """The error's code where it is a word: `insufficient_quota`."""
    value = json.loads(text)
    error = value.get("error") if isinstance(value, Mapping) else None
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, str) else ""


def _without_halves(body: dict[str, Any]) -> dict[str, Any]:
    """`body` with every half of a character that no file can hold replaced; two that stand together become one."""
    text = json.dumps(body, ensure_ascii=False)
    if not _HALF.search(text):
        return body
    whole: dict[str, Any] = json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    return whole
