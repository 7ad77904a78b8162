"""What stands between the network and the pages: signed cookies, form tokens, limits, headers.

Nothing here knows what the pages are about.
"""

import base64
import hashlib
import hmac
import json
import re
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import cookie_parser

ID_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
"""What an annotator may be called."""

MOST_BYTES = 16 * 1024
"""The largest body that a request may have; an answer takes about one of the sixteen."""

ANNOTATORS_A_CLIENT = 10
"""A client, an address that a household or a class may share, gets as many requests as this many annotators."""

ANNOTATOR, ADMIN = "swag_af_annotator", "swag_af_admin"
"""The cookies."""

HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
"""On every answer: no script but ours, no frame, no guess, no trace."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Session:
    """One browser: who it is, and a number of its own."""

    who: str
    number: str

    @classmethod
    def new(cls, who: str) -> "Session":
        """Another browser of `who`."""
        return cls(who, secrets.token_hex(16))


@dataclass(frozen=True)
class Signer:
    """Signs what a browser keeps for us, and makes the tokens of its forms."""

    secret: str

    def seal(self, session: Session, purpose: str) -> str:
        """The value of the cookie `purpose`."""
        content = base64.urlsafe_b64encode(json.dumps([session.who, session.number]).encode()).decode().rstrip("=")
        return f"{content}.{self._mac(purpose, content)}"

    def unseal(self, cookie: str | None, purpose: str) -> Session | None:
        """The session that was sealed for `purpose`; None when anything about it is not ours."""
        content, _, mac = (cookie or "").partition(".")
        if not same(mac, self._mac(purpose, content)):
            return None
        who, number = json.loads(base64.urlsafe_b64decode(content + "=" * (-len(content) % 4)))
        return Session(who, number)

    def form_token(self, session: Session, purpose: str) -> str:
        """What every form of this browser must send along."""
        return self._mac(f"form {purpose}", f"{session.who} {session.number}")

    def _mac(self, purpose: str, content: str) -> str:
        return hmac.new(self.secret.encode(), f"{purpose}\n{content}".encode(), hashlib.sha256).hexdigest()


def same(given: str, right: str) -> bool:
    """Whether two secrets are equal, told in the same time wherever they differ."""
    return hmac.compare_digest(given.encode(errors="surrogatepass"), right.encode())


@dataclass
class RateLimit:
    """A bucket a key, filled at `per_minute`; it holds a third of a minute's requests, or ten."""

    per_minute: float
    clock: Callable[[], float] = time.monotonic
    buckets: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Tokens left, and when that was counted."""

    def allows(self, key: str) -> bool:
        """Take one token of `key`, if there is one."""
        now, most = self.clock(), max(10.0, self.per_minute / 3)
        left, then = self.buckets.get(key, (most, now))
        left = min(most, left + (now - then) * self.per_minute / 60)
        if len(self.buckets) > 20_000:  # those that are full again say nothing
            full = most / self.per_minute * 60
            self.buckets = {k: v for k, v in self.buckets.items() if now - v[1] < full}
        self.buckets[key] = (left - 1 if left >= 1 else left, now)
        return left >= 1


@dataclass
class Guard:
    """Around the whole application: headers, the size of bodies, the number of requests."""

    app: App
    signer: Signer
    requests_per_minute: float

    def __post_init__(self) -> None:
        self.of_annotators = RateLimit(self.requests_per_minute)
        self.of_clients = RateLimit(self.requests_per_minute * ANNOTATORS_A_CLIENT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or turn it away with 413 or 429."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        send = _with_headers(send)
        if not self._allows(scope, headers):
            await _refuse(send, 429, "Too many requests. Wait a little, then go on.", ("retry-after", "5"))
            return
        body = await _body(headers, receive)
        if body is None:
            await _refuse(send, 413, f"More than {MOST_BYTES} bytes. Nothing of ours sends so much.")
            return
        await self.app(scope, _replay(body, receive), send)

    def _allows(self, scope: Scope, headers: MutableMapping[str, str]) -> bool:
        client = scope["client"][0] if scope.get("client") else "unknown"
        who = self.signer.unseal(cookie_parser(headers.get("cookie", "")).get(ANNOTATOR), ANNOTATOR)
        allowed = self.of_clients.allows(client)
        return (who is None or self.of_annotators.allows(who.who)) and allowed


def _with_headers(send: Send) -> Send:
    async def sender(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message.get("headers", [])}
            ours = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in present]
            message = {**message, "headers": [*message.get("headers", []), *ours]}
        await send(message)

    return sender


async def _body(headers: MutableMapping[str, str], receive: Receive) -> bytes | None:
    """All of the body, or None as soon as it is too long."""
    length = headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 9 or int(length) > MOST_BYTES:
        return None
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            break
        parts.append(message.get("body", b""))
        size, more = size + len(parts[-1]), message.get("more_body", False)
        if size > MOST_BYTES:
            return None
    return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """A body that was read already, then whatever comes after it."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiver() -> MutableMapping[str, Any]:
        return messages.pop() if messages else await receive()

    return receiver


async def _refuse(send: Send, status: int, text: str, *headers: tuple[str, str]) -> None:
    plain = [("content-type", "text/plain; charset=utf-8"), *headers]
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(name.encode(), value.encode()) for name, value in plain],
        }
    )
    await send({"type": "http.response.body", "body": text.encode()})
