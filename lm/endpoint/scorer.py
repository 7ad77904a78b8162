"""Likelihoods by a language model behind an address, where the server gives those of a text that it is given.

All five columns of `swag_af.lm.scorers.contract`, from three kinds of texts: the context, "CONTEXT ENDING" and "ENDING
CONTEXT". Servers give no likelihood of the first token of a text; so a line break stands before each, in place of the
begin of the text, and every token of ours has one.

Tokens are told apart by the characters that they take up. One that the line break and the first word share has no
likelihood, and is left out. One that begins in the context and ends in the ending counts as the ending's, with all of
its likelihood; the blank between them is the ending's too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from swag_af.data.context import Context, phrase
from swag_af.data.disk.urls import command
from swag_af.data.errors import InputError
from swag_af.endpoints.client import Endpoint
from swag_af.endpoints.contract import FAILED, Abilities, Answer, Request
from swag_af.endpoints.likelihood import reading, tokens_of_prompt
from swag_af.endpoints.options import EndpointOptions
from swag_af.lm.scorers.contract import COLUMNS

BEGIN = "\n"
"""Stands for the begin of a text."""


@dataclass
class EndpointScorer:
    """How likely endings are to the model of a server, which may have read them when it was trained."""

    url: str
    """The server's address: `http://HOST:PORT`, or what comes before `/completions`."""
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    journal: Path | None = None
    """The file of the answers; in memory where there is none."""
    _endpoint: Endpoint | None = field(default=None, init=False, repr=False, compare=False)

    name: ClassVar[str] = "endpoint"
    argument: ClassVar[str] = "url"
    """What stands in the brackets of `endpoint[...]`."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All of `COLUMNS`; InputError where the server gives no likelihoods of given texts."""
        self._abilities()
        return COLUMNS

    def score(self, contexts: Sequence[Context], endings: Sequence[Sequence[str]]) -> Iterator[np.ndarray]:
        """For each context, in order: (K, 5) float32; InputError for a text that the server refuses or does not read,
        ExhaustedError when a limit of `endpoint` is reached."""
        readings: list[_Reading] = []
        waiting: dict[int, _Row] = {}
        requests = self._requests(contexts, endings, readings, waiting)
        n_given = 0
        for position, answer in self._opened().ask(requests):
            part = readings[position]
            waiting[part.row].take(part, self._nats(part, answer, contexts[part.row]))
            while n_given in waiting and waiting[n_given].is_whole:
                yield waiting.pop(n_given).values
                n_given += 1

    def record(self) -> dict[str, Any]:
        """The model and the server, how it was asked, and what stands for the begin of a text."""
        abilities = self._abilities()
        way = "echo" if abilities.echo_logprobs else "prompt_logprobs"
        server = {"model": abilities.model, "server": self._opened().url, "way": way, "begin": BEGIN}
        return {**server, "foreign": True, "abilities": asdict(abilities)}

    def _requests(
        self,
        contexts: Sequence[Context],
        endings: Sequence[Sequence[str]],
        readings: list["_Reading"],
        waiting: dict[int, "_Row"],
    ) -> Iterator[Request]:
        """One for every text that is read; notes in `readings` what each is for."""
        abilities = self._abilities()
        for row, (context, mine) in enumerate(zip(contexts, endings, strict=True)):
            text = phrase(context)
            waiting[row] = _Row(len(mine), has_context=bool(text))
            parts = [_Reading(row, "context", 0, text, "")] if text else []
            for number, ending in enumerate(mine):
                parts.append(_Reading(row, "after", number, text, ending))
                parts.append(_Reading(row, "before", number, ending, text))
            for part in parts:
                readings.append(part)
                yield reading(part.text, abilities)

    def _nats(self, part: "_Reading", answer: Answer, context: Context) -> tuple[list[float], list[float]]:
        """Of the tokens of the first part and of the second."""
        where = f"{self.url}: context {context.id!r}"
        if answer.error.startswith(FAILED):
            raise InputError(
                f"{where}: fails however often it is tried ({answer.error}: {answer.said}). All answers are kept: run "
                "the same command again."
            )
        if answer.error:
            raise InputError(f"{where}: is refused ({answer.error}: {answer.said}). Leave the row out.")
        tokens = tokens_of_prompt(answer.body, part.text)
        if tokens is None:
            self._opened().withdraw(reading(part.text, self._abilities()))
            raise InputError(
                f"{where}: came back without likelihoods of all its tokens; that answer alone is not kept. "
                f"Try `{command('probe-endpoint', self.url)}`, and the same command again."
            )
        border = len(BEGIN) + len(part.first)
        known = [token for token in tokens if token.nats is not None and token.end > len(BEGIN)]
        first = [token.nats for token in known if token.end <= border]
        second = [token.nats for token in known if token.end > border]
        return [nats for nats in first if nats is not None], [nats for nats in second if nats is not None]

    def _abilities(self) -> Abilities:
        abilities = self._opened().abilities()
        if not abilities.reads_prompts:
            raise InputError(
                f"{self.url}: gives no likelihoods of given texts (tried: completions with echo and logprobs, "
                "prompt_logprobs). Take another server (docs/GENERATORS.md), or hf[PATH]."
            )
        return abilities

    def _opened(self) -> Endpoint:
        self._endpoint = self._endpoint or Endpoint(self.url, self.endpoint, journal=self.journal, keeps_failures=False)
        return self._endpoint


@dataclass(frozen=True)
class _Reading:
    """A text of one or two parts that is read for one row."""

    row: int
    kind: str
    """context: that alone; after: the ending after it; before: the ending before it."""
    number: int
    """Of the ending."""
    first: str
    second: str

    @property
    def text(self) -> str:
        return BEGIN + " ".join(filter(None, (self.first, self.second)))


class _Row:
    """The values of one context's K endings, as they come."""

    def __init__(self, n_endings: int, *, has_context: bool):
        self.values = np.zeros((n_endings, len(COLUMNS)), np.float32)  # (K, 5)
        self._n_missing = 2 * n_endings + has_context

    @property
    def is_whole(self) -> bool:
        return self._n_missing == 0

    def take(self, part: _Reading, nats: tuple[list[float], list[float]]) -> None:
        """Put what was read where it belongs; an empty context has 0, and so has a text without a likelihood."""
        first, second = (float(np.mean(of)) if of else 0.0 for of in nats)
        at = {name: column for column, name in enumerate(COLUMNS)}
        if part.kind == "context":
            self.values[:, at["context_alone"]] = first
        elif part.kind == "after":
            self.values[part.number, at["ending_given_context"]] = second
            self.values[part.number, at["last_token"]] = (nats[1] or nats[0] or [0.0])[-1]
        else:
            self.values[part.number, at["ending_alone"]] = first
            self.values[part.number, at["context_given_ending"]] = second
        self._n_missing -= 1
