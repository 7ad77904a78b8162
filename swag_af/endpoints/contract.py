"""Requests, answers, and what a server can do."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from swag_af.data.disk.manifests import sha256_json
from swag_af.data.errors import InputError

Api = Literal["completions", "chat"]
"""The two ways of asking a server."""
Address = Literal["completions", "chat/completions"]
FAILED = "failed_"
"""How the error of an answer begins where the server, which answers others, failed however often it was asked."""
ADDRESSES: Mapping[Api, Address] = {"completions": "completions", "chat": "chat/completions"}
"""Where each is asked, behind `/v1/`."""


@dataclass(frozen=True)
class Request:
    """One question to a server; two that are equal are asked once."""

    path: Address
    """The address, behind `/v1/`."""
    body: Mapping[str, Any] = field(hash=False)
    """What is sent as JSON, but for the model's name, which the client adds."""
    draw: int = 0
    """Tells apart requests that are equal and should each have an answer of their own, as where no seed is taken."""

    @property
    def key(self) -> str:
        """A hash of what is asked."""
        return sha256_json({"path": self.path, "body": dict(self.body)} | ({"draw": self.draw} if self.draw else {}))


@dataclass(frozen=True)
class Answer:
    """What came back for one request."""

    body: Mapping[str, Any] = field(hash=False)
    """The server's JSON; empty where there is an `error`."""
    error: str = ""
    """Why the server refuses this request for good, in words that can be counted: `refused_400`."""
    said: str = ""
    """What the server says of the error, shortened."""

    @property
    def choices(self) -> list["Choice"]:
        """All choices, of either kind of answer; none where there is no list of them."""
        found = self.body.get("choices")
        return [_choice(one) for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []

    @property
    def texts(self) -> list[str]:
        """Their texts; a choice without text gives an empty one."""
        return [choice.text for choice in self.choices]


@dataclass(frozen=True)
class Choice:
    """One of the texts of an answer."""

    text: str
    end: str = ""
    """Why it ends, as the server says: `stop`, `length` where it is cut off, `content_filter` where it is withheld."""


def _choice(choice: Mapping[str, Any]) -> Choice:
    message, end = choice.get("message"), choice.get("finish_reason")
    text = message.get("content") if isinstance(message, Mapping) else choice.get("text")
    return Choice(text if isinstance(text, str) else "", end if isinstance(end, str) else "")


FEWEST_REFUSED = 5
"""Refusals, and not one answer, that stop the work: such a server refuses whatever it is asked."""


def refuses_all(url: str, answer: Answer, advice: str) -> InputError:
    """The error for a server that gives such an answer to every request."""
    said = f": {answer.said}" if answer.said else ""
    return InputError(f"{url}: refuses every request ({answer.error}{said}){advice}")


MANY = 16
"""Texts that one request may ask for, at most."""


@dataclass(frozen=True)
class Abilities:
    """What a server was found to be able to do, by trying it."""

    model: str
    """The model that answers, as the server calls it."""
    completions: bool = False
    """It answers at /v1/completions."""
    chat: bool = False
    """It answers at /v1/chat/completions."""
    echo_logprobs: bool = False
    """Completions with `echo` have a log-probability for every token of the prompt but the first."""
    prompt_logprobs: bool = False
    """`prompt_logprobs`, as vLLM has it, gives the same."""
    answer_logprobs: bool = False
    """The tokens that it generates come with log-probabilities."""
    many: bool = False
    """`n` gives as many choices as were asked for, up to `MANY`; some servers take it up to a number of their own."""
    json_schema: bool = False
    """`response_format` with a JSON schema is kept to."""
    stop: bool = False
    """`stop` is accepted."""
    seed: bool = False
    """`seed` is accepted."""
    repeats: bool = False
    """The same request with the same `seed` gave the same text twice; what a server does when it is busy may differ."""
    blanks: bool = False
    """A completion that begins with a new word begins with the blank before it."""
    limit: str = "max_tokens"
    """What the most tokens of an answer are called: `max_tokens`, or `max_completion_tokens`."""

    @property
    def reads_prompts(self) -> bool:
        """Whether the likelihood of a given text can be had at all."""
        return self.echo_logprobs or self.prompt_logprobs


def chosen_api(wanted: Api | Literal["auto"], abilities: Abilities, url: str, *, first: Api) -> Api:
    """The way in which a server is asked: that which is wanted, or `first`, else the other; InputError where it gives
    no text there."""
    order: list[Api] = [wanted] if wanted != "auto" else [first, *(api for api in ADDRESSES if api != first)]
    for api in order:
        if getattr(abilities, api):
            return api
    tried = " and ".join(f"{url}/{ADDRESSES[api]}" for api in order)
    raise InputError(f"{tried}: gave no text when tried. Check the server's log; --api says which address is asked.")


class Asker(Protocol):
    """Something that answers requests: `Endpoint`, or a stand-in of a test."""

    url: str

    def abilities(self) -> Abilities:
        """What the server can do; tried once, then known."""

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[int, Answer]]:
        """The position and answer of every request, as it comes; each answer is on disk before it is given.

        Raises InputError where the server cannot be reached or refuses the key, ExhaustedError when a limit of the
        options is reached; what was answered until then is kept and is not asked again.
        """


@runtime_checkable
class Retried(Asker, Protocol):
    """Something that remembers what it can do, and can be tried anew."""

    def abilities_now(self) -> Abilities:
        """What the server can do now, which is kept; tried once."""
