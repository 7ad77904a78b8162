"""What protects the pages: signed cookies that expire, form tokens (CSRF), rate and size limits, response headers.

Signatures are made by itsdangerous. Nothing here depends on the content of the pages.
"""

import base64
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import itsdangerous
from starlette.requests import cookie_parser

ID_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
"""The ids that an annotator may have."""

MOST_BYTES = 16 * 1024
"""The largest request body, in bytes; an answer takes about a sixteenth of it."""

ANNOTATORS_A_CLIENT = 10
"""An IP address may send as many requests as this many annotators: a household or a class may share it."""

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
"""Names under which a machine reaches itself."""

ANNOTATOR, ADMIN = "swag_af_annotator", "swag_af_admin"
"""The names of the cookies."""

LIFETIME_SECONDS = {ANNOTATOR: 14 * 24 * 3600, ADMIN: 12 * 3600}
"""How long a cookie is valid after it was signed.

Annotators work on and off for days, and every visit by their link and every answer signs their cookie anew, so that
two weeks without either must pass before they need the link again. The admin can do more, and logs in for half a day.
"""

SIGNING: dict[str, Any] = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
"""How itsdangerous signs; it derives another key for every salt, so that no token can serve as another."""

HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self'; media-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
"""Headers of every response: only our own scripts run, nobody may frame a page, nothing is sniffed or cached."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Session:
    """One browser: who uses it, and a random number of its own."""

    who: str
    number: str

    @classmethod
    def new(cls, who: str) -> "Session":
        """Another browser of `who`."""
        return cls(who, secrets.token_hex(16))


@dataclass(frozen=True)
class Signer:
    """Signs cookies and form tokens with the secret of the verification."""

    secret: str
    group: str = ""
    """Cookies of one group do not count in another: those of invited annotators are a group of their own."""

    def seal(self, session: Session, purpose: str) -> str:
        """The value of the cookie named `purpose`, signed now."""
        return self._cookies(purpose).dumps([session.who, session.number])

    def unseal(self, cookie: str | None, purpose: str) -> Session | None:
        """The session in a cookie named `purpose`; None if it is missing, was not signed by us, or has expired."""
        try:
            who, number = self._cookies(purpose).loads(cookie or "", max_age=LIFETIME_SECONDS[purpose])
        except itsdangerous.BadData:
            return None
        return Session(who, number)

    def form_token(self, session: Session, purpose: str) -> str:
        """The token (CSRF) that every form of this session must send; valid as long as the session."""
        return self._forms(purpose).get_signature(_form_content(session)).decode()

    def accepts_form(self, token: str, session: Session, purpose: str) -> bool:
        """Whether `token` is the token of this session's forms; compared in constant time."""
        return self._forms(purpose).verify_signature(_form_content(session), token)

    def accepts_invitation(self, annotator: str, key: str) -> bool:
        """Whether `key` is the key of this annotator; compared in constant time."""
        return same(key, invitation(self.secret, annotator))

    def completion_code(self, annotator: str, outcome: str) -> str:
        """The code that this annotator alone gets for this outcome; nobody can make it up."""
        made = hmac.digest(self.secret.encode(), f"completion {outcome} {annotator}".encode(), "sha256")
        return base64.b32encode(made).decode()[:10]

    def _cookies(self, purpose: str) -> itsdangerous.URLSafeTimedSerializer:
        return itsdangerous.URLSafeTimedSerializer(
            self.secret, salt=f"cookie {purpose}{self.group}", signer_kwargs=SIGNING
        )

    def _forms(self, purpose: str) -> itsdangerous.Signer:
        return itsdangerous.Signer(self.secret, salt=f"form {purpose}", **SIGNING)


def invitation(secret: str, annotator: str) -> str:
    """The key that lets `annotator` into the verification with this secret."""
    return itsdangerous.Signer(secret, salt="invitation", **SIGNING).get_signature(annotator).decode()


def _form_content(session: Session) -> str:
    return f"{session.who} {session.number}"


def same(given: str, right: str) -> bool:
    """Whether two secrets are equal, compared in constant time."""
    return hmac.compare_digest(given.encode(errors="surrogatepass"), right.encode())


@dataclass
class RateLimit:
    """A token bucket for each key, refilled at `per_minute`; it holds a third of a minute's requests, at least ten."""

    per_minute: float
    clock: Callable[[], float] = time.monotonic
    buckets: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By key: the tokens left, and when they were counted."""

    def allows(self, key: str) -> bool:
        """Take one token of `key`; False if none is left."""
        now, most = self.clock(), max(10.0, self.per_minute / 3)
        left, then = self.buckets.get(key, (most, now))
        left = min(most, left + (now - then) * self.per_minute / 60)
        if len(self.buckets) > 20_000:  # full buckets need no entry
            full = most / self.per_minute * 60
            self.buckets = {k: v for k, v in self.buckets.items() if now - v[1] < full}
        self.buckets[key] = (left - 1 if left >= 1 else left, now)
        return left >= 1


@dataclass
class Guard:
    """Middleware around the whole application: response headers, the size of bodies, the number of requests."""

    app: App
    signer: Signer
    requests_per_minute: float
    hosts: frozenset[str] = frozenset()
    """Names by which the server may be addressed, beside this machine's own; empty for any."""

    def __post_init__(self) -> None:
        self.of_annotators = RateLimit(self.requests_per_minute)
        self.of_clients = RateLimit(self.requests_per_minute * ANNOTATORS_A_CLIENT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 413, 421 or 429."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        send = _with_headers(send)
        if self.hosts and _host_name(headers.get("host", "")) not in self.hosts | LOOPBACK_NAMES:
            await _refuse(send, 421, "No study is found under this name.")
            return
        if not self._allows(scope, headers):
            await _refuse(send, 429, "Too many requests. Wait a little, then go on.", ("retry-after", "5"))
            return
        try:
            body = await _body(headers, receive)
        except ConnectionError:
            return  # nobody is there to answer
        if body is None:
            await _refuse(send, 413, f"More than {MOST_BYTES} bytes. Nothing of ours sends so much.")
            return
        await self.app(scope, _replay(body, receive), send)

    def _allows(self, scope: Scope, headers: MutableMapping[str, str]) -> bool:
        client = scope["client"][0] if scope.get("client") else "unknown"
        who = self.signer.unseal(cookie_parser(headers.get("cookie", "")).get(ANNOTATOR), ANNOTATOR)
        allowed = self.of_clients.allows(client)
        return (who is None or self.of_annotators.allows(who.who)) and allowed


def _host_name(host: str) -> str:
    """The name in a Host header, without the port."""
    return host.lower().partition("]")[0].lstrip("[") if host.startswith("[") else host.lower().partition(":")[0]


def _with_headers(send: Send) -> Send:
    async def sender(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message.get("headers", [])}
            ours = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in present]
            message = {**message, "headers": [*message.get("headers", []), *ours]}
        await send(message)

    return sender


async def _body(headers: MutableMapping[str, str], receive: Receive) -> bytes | None:
    """The whole body; None as soon as it is too long. Raises ConnectionError where the client goes away."""
    length = headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 9 or int(length) > MOST_BYTES:
        return None
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise ConnectionError("the client went away before its request was complete")
        parts.append(message.get("body", b""))
        size, more = size + len(parts[-1]), message.get("more_body", False)
        if size > MOST_BYTES:
            return None
    return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Receives the body that was read already, then whatever comes after it."""
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
