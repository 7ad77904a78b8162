"""A server of language models that answers by hashes, can do what a test lets it do, and misbehaves when told to.

Its texts depend on the prompt, the seed and the number of the choice alone. It runs on a thread, on a port of this
machine, for as long as the `with` block lasts.
"""

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from swag_af.endpoints.traffic.clock import Clock

WORDS = {
    "verb": ("opens", "paints", "lifts", "washes", "throws", "carries", "breaks", "hides", "sells", "burns"),
    "noun": ("door", "horse", "table", "letter", "bottle", "ladder", "window", "carpet", "piano", "basket"),
    "place": ("garden", "kitchen", "street", "cellar", "station", "market", "forest", "harbour", "office", "tower"),
}
ABLE = frozenset({"completions", "chat", "echo", "logprobs", "n", "json_schema", "seed", "stop", "usage"})
"""What it can do, if a test does not say otherwise; `prompt_logprobs` beside."""


@dataclass(frozen=True)
class Said:
    """A reply."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    way: str = "whole"
    """whole; cut: half of the bytes that were announced; close: nothing at all; hang: nothing, until the end."""

    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Asked:
    """A request."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]


class MockServer:
    """`troubles` are said first, one a request; then it answers."""

    def __init__(
        self,
        *troubles: Said,
        able: frozenset[str] = ABLE,
        models: tuple[str, ...] = ("mock",),
        say: Callable[[Asked], Said | None] = lambda asked: None,
    ):
        self.troubles = list(troubles)
        self.able = able
        self.models = models
        self.say = say
        self.listed: list[Any] | None = None
        """What /models lists, where it is not `models`."""
        self.asked: list[Asked] = []
        """Every POST, in order."""
        self.stopping = threading.Event()
        self._lock = threading.Lock()

    def __enter__(self) -> "MockServer":
        outer = self

        class Handler(_Handler):
            server_of = outer

        self._http = _Server(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()

    def reply(self, asked: Asked) -> Said:
        """What is said to a POST."""
        with self._lock:
            self.asked.append(asked)
            if self.troubles:
                return self.troubles.pop(0)
        said = self.say(asked)
        return answer(asked, self.able) if said is None else said


class _Server(ThreadingHTTPServer):
    request_queue_size = 64  # of five, those who are not let in try again after a second


class _Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # the body would wait 40 ms for the head to be acknowledged
    protocol_version = "HTTP/1.1"
    server_of: MockServer

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            listed = self.server_of.listed
            named: list[Any] = [{"id": model} for model in self.server_of.models]
            self._send(Said(body={"data": named if listed is None else listed}))
        else:
            self._send(Said(404, {"error": {"message": "no such page"}}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server_of.reply(Asked(self.path, body, headers)))

    def _send(self, said: Said) -> None:
        if said.way == "hang":
            self.server_of.stopping.wait(20)
        if said.way in ("hang", "close"):
            self.close_connection = True
            return
        content = said.content()
        self.send_response(said.status)
        for name, value in {"Content-Type": "application/json", **said.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if said.way == "cut" else content)
        self.close_connection = self.close_connection or said.way == "cut"


def answer(asked: Asked, able: frozenset[str]) -> Said:
    """What a server that can do `able` answers."""
    kind = "chat" if asked.path == "/v1/chat/completions" else "completions"
    if kind not in able or not asked.path.startswith("/v1/"):
        return Said(404, {"detail": "Not Found"})
    body = asked.body
    for name in ("n", "seed", "stop"):
        if name in body and name not in able:
            return Said(400, {"error": {"message": f"{name} is not supported", "code": None}})
    prompt = body["prompt"] if kind == "completions" else body["messages"][-1]["content"]
    choices = [_choice(asked, able, kind, prompt, index) for index in range(body.get("n", 1))]
    made: dict[str, Any] = {"id": "x", "model": body.get("model", ""), "choices": choices}
    if "usage" in able:
        made["usage"] = {"prompt_tokens": len(prompt.split()), "completion_tokens": 7 * len(choices)}
    return Said(body=made)


def _choice(asked: Asked, able: frozenset[str], kind: str, prompt: str, index: int) -> dict[str, Any]:
    body = asked.body
    text = text_of(prompt, body.get("seed", 0), index, wants_list="JSON" in prompt or "list" in prompt)
    if "response_format" in body and "json_schema" in able:
        text = _of_schema(body["response_format"]["json_schema"]["schema"], text)
    made: dict[str, Any] = {"index": index, "finish_reason": "stop"}
    if kind == "chat":
        return made | {"message": {"role": "assistant", "content": text}}
    if body.get("echo") and "echo" in able:
        made["logprobs"] = logprobs_of(prompt, text)
        text = prompt + text
    elif body.get("logprobs") and "logprobs" in able:
        made["logprobs"] = logprobs_of("", text)
    if "prompt_logprobs" in body and "prompt_logprobs" in able:
        made["prompt_logprobs"] = _as_vllm(prompt)
    return made | {"text": text}


def text_of(prompt: str, seed: int, index: int, *, wants_list: bool) -> str:
    """One sentence, or a JSON list of four."""
    made = [_sentence(f"{prompt} {seed} {index} {i}") for i in range(4)]
    return json.dumps(made) if wants_list else f" {made[0]} And then some more."


def _sentence(salt: str) -> str:
    digest = hashlib.sha256(salt.encode()).digest()
    verb, noun, place = (words[digest[i] % len(words)] for i, words in enumerate(WORDS.values()))
    return f"{verb} the {noun} number {digest[4]} in the {place}."


def _of_schema(schema: Mapping[str, Any], text: str) -> str:
    (name, kind), *_ = schema["properties"].items()
    if "enum" in kind:
        return json.dumps({name: kind["enum"][0]})
    found = json.loads(text) if text.startswith("[") else [text.strip()]
    return json.dumps({name: found})


def tokens_of(text: str) -> list[str]:
    """A tokeniser of sorts: line breaks, and words with the blank before them in pieces of five."""
    if text.startswith("\n"):
        return ["\n", *tokens_of(text[1:])]
    pieces = []
    for i, word in enumerate(text.split(" ")):
        whole = f" {word}" if i else word
        pieces += [whole[at : at + 5] for at in range(0, len(whole), 5)]
    return pieces


def nats_of(before: str, token: str) -> float:
    """The log-probability of a token: a hash of what it is and what comes before it."""
    return -hashlib.sha256(f"{before}|{token}".encode()).digest()[0] / 32 - 0.01


def logprobs_of(prompt: str, text: str) -> dict[str, Any]:
    """As OpenAI's completions have it: the first token has none."""
    tokens = tokens_of(prompt) + tokens_of(text) if prompt else tokens_of(text)
    offsets, at = [], 0
    for token in tokens:
        offsets.append(at)
        at += len(token)
    whole = prompt + text
    nats = [nats_of(whole[:at], token) for at, token in zip(offsets, tokens, strict=True)]
    return {
        "tokens": tokens,
        "text_offset": offsets,
        "token_logprobs": [None, *nats[1:]] if prompt else nats,
        "top_logprobs": [None] * len(tokens),
    }


def _as_vllm(prompt: str) -> list[dict[str, Any] | None]:
    made: list[dict[str, Any] | None] = [None]
    at = len(tokens_of(prompt)[0])
    for i, token in enumerate(tokens_of(prompt)[1:]):
        made.append({str(i): {"logprob": nats_of(prompt[:at], token), "rank": 1, "decoded_token": token}})
        at += len(token)
    return made


class FakeClock(Clock):
    """Waits for nothing, and notes how long it should have waited."""

    def __init__(self) -> None:
        self.moment = 0.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.moment

    def since_1970(self) -> float:
        return 1_000_000.0 + self.moment

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.moment += seconds

    def share(self) -> float:
        return 1.0
