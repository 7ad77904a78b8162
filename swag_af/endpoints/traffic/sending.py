"""One request at a server until it is answered: tried again with ever longer waits, counted, and kept in the journal.

All of this happens in an event loop on a thread of its own, so that answers are read and kept while the caller works on
others, and nothing is waited for when the caller stops.
"""

import asyncio
import json
import os
import re
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from swag_af.data.errors import ExhaustedError, InputError
from swag_af.data.extras import install
from swag_af.endpoints.address import is_local
from swag_af.endpoints.contract import FAILED, Answer, Request
from swag_af.endpoints.costs.budget import Budget
from swag_af.endpoints.costs.usage import Usage, most_tokens, usage_of
from swag_af.endpoints.journal import Journal
from swag_af.endpoints.options import EndpointOptions
from swag_af.endpoints.traffic.clock import Clock
from swag_af.endpoints.traffic.replies import Reply, reply_of
from swag_af.endpoints.traffic.streams import loads

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

FIRST_WAIT = 1.0
"""Seconds: the longest wait before the second try; it doubles from try to try. What is waited is a random share of it
("full jitter"), so that requests which failed together do not come again together."""
LONGEST_WAIT = 120.0
HASTY_SECONDS = 15.0
"""For a tiny request to a server that has answered others."""
_SECRET = 12
"""Characters of a key that stands nowhere. A shorter one, such as the `none` or `local` that a server of one's own is
content with, is a word, and would be taken out of answers and of the names of models."""
_FAULTS = 1
"""Of a hasty request, before the one at which it is given up."""
_BUSY = frozenset({"status_408", "status_425", "status_429", "status_502", "status_503", "connection_lost"})
"""Failures of a server that is busy or begins, whatever it is asked."""
MOST_PATIENCE = 3600.0
"""Seconds: who is asked to wait longer is better told than kept waiting."""


_SOMETHING = {
    "completions": Request("completions", {"prompt": "Hello", "max_tokens": 1}),
    "chat/completions": Request(
        "chat/completions", {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}
    ),
}
"""What a server that works answers, or refuses."""


class Background:
    """An event loop on a thread, for as long as the block lasts; what is unfinished then is cancelled."""

    def __enter__(self) -> "Background":
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        return self

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Begin some work."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def __exit__(self, *_: object) -> None:
        self.submit(_cancel_others()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class Sender:
    """Sends requests to one server. Made outside of the event loop, used within."""

    def __init__(
        self,
        base: str,
        options: EndpointOptions,
        journal: Journal,
        clock: Clock,
        *,
        has_met: bool = False,
        keeps_failures: bool = True,
    ):
        self.base = base
        self._options = options
        self._journal = journal
        self._clock = clock
        self._keeps_failures = keeps_failures
        self._key = server_key(options)
        self._client = _client(base, options, self._key)
        self._not_before = 0.0
        """When the server, as it told, wants to be asked again."""
        self.has_met = has_met
        """Whether the server ever said anything."""
        self._budget: Budget | None = None

    async def close(self) -> None:
        """Hang up."""
        await self._client.aclose()

    async def models(self, *, is_hasty: bool = False) -> list[str]:
        """The models that the server says it has; none where it does not say. A hasty question is given up soon."""
        retries = min(self._options.retries, 1) if is_hasty else self._options.retries
        seconds = min(self._options.timeout, HASTY_SECONDS) if is_hasty else self._options.timeout
        for attempt in range(1 + retries):
            await self._pause(attempt)
            reply = await self._exchange("models", None, seconds)
            if reply.kind == "refused" or reply.reason in ("status_404", "status_405", "invalid_json"):
                return []
            if reply.kind == "answer":
                said = reply.body.get("data")
                ids = [one.get("id") for one in said if isinstance(one, Mapping)] if isinstance(said, list) else []
                return [one for one in ids if isinstance(one, str)]
            self._stop_at(reply, "models")
        raise InputError(f"{self.base}/models: fails ({reply.reason}: {reply.said}). Try again when the server works.")

    async def answer(self, request: Request, model: str, *, is_kept: bool = True, is_hasty: bool = False) -> Answer:
        """What the server answers to `request` in the end, on disk by then where `is_kept`.

        A request that fails however often it is tried, by a server that answers another one then, is answered by an
        error. Raises SpentError when a limit is reached, InputError or ExhaustedError where no request would be
        answered; where it is not kept, a wrong address is a refusal like others. A hasty one is given up after a few
        seconds, or two failures that are not of a server that is busy: some servers hang, or break, at a setting that
        they do not know.
        """
        n_faults = 0
        seconds = min(self._options.timeout, HASTY_SECONDS) if is_hasty else self._options.timeout
        self._budget = self._budget or Budget(self._options, self._journal.spent(model))
        for attempt in range(1 + self._options.retries):
            await self._pause(attempt)
            reply = await self._try(request, model, is_kept=is_kept, seconds=seconds)
            if reply.kind in ("answer", "refused"):
                return Answer(reply.body, reply.reason, reply.said)
            self._stop_at(reply, request.path)
            n_faults += reply.reason not in _BUSY
            if is_hasty and (reply.reason == "timeout" or n_faults > _FAULTS):
                break
        other = await self._try(_SOMETHING[request.path], model, is_kept=False, seconds=self._options.timeout)
        if other.kind not in ("answer", "refused"):
            raise InputError(
                f"{self.base}/{request.path}: fails ({reply.reason}{f': {reply.said}' if reply.said else ''}), however "
                "often it is tried. All answers are kept: run the same command again when the server works."
            )
        answer = Answer({}, f"{FAILED}{reply.reason}", reply.said)
        if is_kept and self._keeps_failures:
            self._journal.add_answer(request, model, answer, Usage())
        return answer

    async def _try(self, request: Request, model: str, *, is_kept: bool, seconds: float) -> Reply:
        """Send it once, in its turn; whatever comes of it is counted on disk."""
        assert self._budget is not None
        most = most_tokens(request)
        while (wait := self._not_before - self._clock.now()) > 0:
            await self._clock.sleep(wait + self._clock.share())
        await self._budget.admit(most)
        used = Usage(n_requests=1)
        try:
            body = {**request.body, **({"model": model} if model else {})}
            reply = await self._exchange(request.path, body, seconds)
            if not is_kept and reply.reason in ("status_404", "status_405"):
                reply = Reply("refused", reason=reply.reason, said=reply.said)
            if reply.kind == "answer":
                used = usage_of(request, reply.body)
            if is_kept and (reply.kind == "answer" or (reply.kind == "refused" and self._keeps_failures)):
                self._journal.add_answer(request, model, Answer(reply.body, reply.reason, reply.said), used)
            else:
                self._journal.add_usage(model, used)
        finally:
            await self._budget.settle(most, used)
        return reply

    async def _pause(self, attempt: int) -> None:
        """Wait before a try: none before the first (0), ever longer before others."""
        if attempt:
            await self._clock.sleep(self._clock.share() * min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1)))

    async def _exchange(self, path: str, body: dict[str, Any] | None, seconds: float) -> Reply:
        """One request over the wire, a GET where there is no `body`; what failed on the way is a reply too."""
        import httpx

        try:
            async with asyncio.timeout(seconds):
                content = None if body is None else json.dumps(body).encode()
                response = await self._client.request("GET" if body is None else "POST", path, content=content)
        except (httpx.TimeoutException, TimeoutError):
            return Reply("again", reason="timeout", said=f"no answer in {seconds:g} s")
        except httpx.RequestError as error:
            return self._lost(error)
        self.has_met = True
        content = response.content
        content = _without_key(content, self._key, is_error=not response.is_success)
        if body is None and response.is_success:
            return _listed(content)
        return reply_of(response.status_code, response.headers, content, now=self._clock.since_1970())

    def _lost(self, error: "httpx.RequestError") -> Reply:
        """What it means that there was no reply; a server that was never met is a mistake in the address."""
        import httpx

        said = f"{type(error).__name__}: {error}".strip(": ")
        if "SSL" in said or "CERTIFICATE" in said:
            return Reply("stop", reason="tls", said=said)
        if isinstance(error, httpx.ConnectError) and not self.has_met:
            return Reply("stop", reason="no_server", said=said)
        return Reply("again", reason="connection_lost", said=said)

    def _stop_at(self, reply: Reply, path: str) -> None:
        """Raise where nothing will be answered; else take the server at its word when it is to be asked again."""
        if reply.kind == "stop":
            raise self._stopped(reply, path)
        if reply.after is None:
            return
        if reply.after > MOST_PATIENCE:
            raise ExhaustedError(
                f"{self.base}: asks to wait {reply.after / 3600:.1f} hours ({reply.reason}). All answers are kept: run "
                "the same command again then."
            )
        self._not_before = max(self._not_before, self._clock.now() + reply.after)

    def _stopped(self, reply: Reply, path: str) -> InputError | ExhaustedError:
        variable = self._options.key_variable
        said = f" ({reply.said})" if reply.said else ""
        lines = {
            "no_server": f"{self.base}: no server there{said}. Start it, or check the address.",
            "tls": f"{self.base}: TLS fails{said}. Write http:// for a server without, or trust its certificate.",
            "status_401": f"{self.base}: refuses the key in {variable}. Check it, or name another by --key-variable."
            if self._key
            else f"{self.base}: wants a key. Put it into the environment variable {variable}, or name another by "
            "--key-variable.",
            "status_404": f"{self.base}/{path}: not there{said}. Check the address, --model and --api.",
            "status_405": f"{self.base}/{path}: not there{said}. Check the address and --api.",
        }
        lines["status_403"] = f"{lines['status_401'][:-1]} (403: this key, or this model, is not allowed)."
        if reply.reason == "no_money":
            return ExhaustedError(f"{self.base}: no money left there{said}. All answers are kept: run it again later.")
        return InputError(
            lines.get(reply.reason, f"{self.base}: sends elsewhere ({reply.reason}). Use the address it moved to.")
        )


def server_key(options: EndpointOptions) -> str:
    """The key of the server, from the environment; InputError for one that no server can be sent, without the key."""
    key = os.environ.get(options.key_variable, "").strip()
    if not key.isascii() or any(map(str.isspace, key)):
        raise InputError(f"{options.key_variable}: holds no key, but blanks or letters beyond ASCII. Set it anew.")
    return key


def _client(base: str, options: EndpointOptions, key: str) -> "httpx.AsyncClient":
    try:
        import httpx
    except ImportError:
        raise InputError(f"endpoints need httpx. Install it by: {install('endpoints')}.") from None
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "swag-af"}
    return httpx.AsyncClient(
        base_url=base,
        headers=headers | ({"Authorization": f"Bearer {key}"} if key else {}),
        timeout=options.timeout,
        limits=httpx.Limits(max_connections=options.concurrency),
        trust_env=not is_local(base),
        verify=base.startswith("https:"),  # certificates take a tenth of a second to load
    )


def _without_key(content: bytes, key: str, *, is_error: bool) -> bytes:
    """A reply without the key; one that is a word is taken out of errors alone, where it stands as it was sent."""
    if len(key) >= _SECRET:
        return content.replace(key.encode(), b"[key]")
    if not (key and is_error):
        return content
    sent = rb"(?i:bearer\s+|key[\"'\\]*\s*[:=]\s*[\"'\\]*)"
    return re.sub(rb"(%s)%s(?![\w-])" % (sent, re.escape(key.encode())), rb"\1[key]", content)


def _listed(content: bytes) -> Reply:
    try:
        body = loads(content.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        body = None
    return Reply("answer", body) if isinstance(body, dict) else Reply("again", reason="invalid_json")
