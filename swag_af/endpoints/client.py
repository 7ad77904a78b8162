"""`Endpoint`: a server that answers requests, many at a time, each of them once.

    endpoint = Endpoint("http://localhost:8000", EndpointOptions(), journal=Path("answers.jsonl"))
    for position, answer in endpoint.ask(requests):
        ...

Killed at any moment and run again, it asks only what has no answer yet. Nothing here knows what is asked about.
"""

from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from swag_af.data.disk.records import parse_record
from swag_af.data.errors import ExhaustedError, InputError
from swag_af.data.work.progress import note, progress
from swag_af.endpoints.address import base_of
from swag_af.endpoints.contract import Abilities, Answer, Request
from swag_af.endpoints.costs.budget import SpentError
from swag_af.endpoints.costs.prices import Price, read_price
from swag_af.endpoints.costs.usage import Usage
from swag_af.endpoints.journal import Journal
from swag_af.endpoints.options import EndpointOptions
from swag_af.endpoints.probing import probe
from swag_af.endpoints.shared import shared_at
from swag_af.endpoints.traffic.asking import Asking, Line, exhausted
from swag_af.endpoints.traffic.clock import Clock
from swag_af.endpoints.traffic.sending import Background, Sender, server_key


class Endpoint:
    """A server that speaks OpenAI's `/v1/completions` or `/v1/chat/completions`, and its answers so far.

    `journal` is the file of its answers, made where there is none; without one they are kept in memory only. Without
    `keeps_failures`, a request that is refused, or fails however often it is tried, is asked again by the next run,
    for work that cannot do without it. A journal that `is_shared` is one that nobody chose, as in the cache: see
    `Shared`. The constructor asks nothing; InputError for an address or a key that cannot be used.
    """

    def __init__(
        self,
        url: str,
        options: EndpointOptions | None = None,
        *,
        journal: Path | None = None,
        clock: Clock | None = None,
        keeps_failures: bool = True,
        is_shared: bool = False,
    ):
        self.url = base_of(url)
        self.options = options or EndpointOptions()
        self._shared = shared_at(journal) if is_shared and journal is not None else None
        self._journal = Journal(journal, self._shared)
        self._clock = clock or Clock()
        self._keeps_failures = keeps_failures
        self._model: str | None = self.options.model or None
        self._abilities: Abilities | None = None
        self._has_probed = False
        self._has_met = self._has_looked = False
        server_key(self.options)

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r}, {self.options}, journal={self._journal.path})"

    @property
    def model(self) -> str:
        """The model's name, as the server calls it: from the options, the journal, or the server, which must have one
        only; empty where it does not say. A journal that is shared is not believed before the server is asked."""
        if self._model is None:
            with self._journal.held():
                known = self._known
                if known is None:
                    with self._line():
                        pass
                elif self._shared is not None and self.url not in self._shared.models:
                    self._check(known)
                if self._model is None:
                    self._model = known
                if self._shared is not None:
                    self._shared.models[self.url] = self._model or ""
        return self._model or ""

    @property
    def price(self) -> Price | None:
        """What its tokens cost, where the options name prices."""
        return None if self.options.prices is None else read_price(self.options.prices, self.model)

    def usage(self) -> Usage:
        """All that was used of the model, over all runs with this journal."""
        with self._journal.held():
            return self._journal.usage(self.model)

    def abilities(self) -> Abilities:
        """What the server can do: tried once, then known by the journal."""
        if self._abilities is None:
            with self._journal.held():
                kept = self._journal.value(self._about_abilities)
                self._abilities = self._tried() if kept is None else self._parsed(kept)
        return self._abilities

    def abilities_now(self) -> Abilities:
        """The same, tried anew where the journal knew it: for who would refuse the server otherwise."""
        if not self._has_probed:
            with self._journal.held():
                self._abilities = self._tried()
        return self.abilities()

    def _tried(self) -> Abilities:
        """What the server can do now, and keep it."""
        found = asdict(self._probed())
        self._journal.add_value(self._about_abilities, found)
        self._has_probed = True
        return self._parsed(found)

    def _parsed(self, kept: Any) -> Abilities:
        return parse_record(kept, Abilities, f"{self._journal.path}: {self._about_abilities}")

    @property
    def _about_abilities(self) -> str:
        return f"abilities of {self.model} at {self.url}"

    def _probed(self) -> Abilities:
        with self._line() as (background, sender):

            def attempt(request: Request, *, is_hasty: bool) -> Answer:
                work = sender.answer(request, self.model, is_kept=False, is_hasty=is_hasty)
                return background.submit(work).result()

            try:
                return probe(self.model, attempt)
            except SpentError as error:
                raise exhausted(str(error), self._journal.spent(self.model)) from None

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[int, Answer]]:
        """The position and answer of every request, as it comes; each answer is on disk before it is given.

        Requests are taken as there is room for them (`--concurrency`); equal ones are asked once. Raises InputError
        where the server cannot be reached, or fails all requests; ExhaustedError when a limit of the options is
        reached. What was answered until then is kept, and is not asked again.
        """
        with self._journal.held():
            price = self.price
            asking = Asking(self._line, self._journal, self.model, self.options.concurrency)
            if not isinstance(requests, Sized):
                yield from asking.run(requests)
                return
            with progress("ask", len(requests), "requests") as advance:
                for position, answer in asking.run(requests):
                    advance(1, note=self._journal.spent(self.model).told(price))
                    yield position, answer

    def withdraw(self, request: Request) -> None:
        """Keep the answer to this request no longer: who asked cannot use it, and asks again."""
        with self._journal.held():
            self._journal.withdraw(request, self.model)

    @contextmanager
    def _line(self) -> Iterator[Line]:
        """The way to the server; when it is first opened, the model is looked at."""
        with self._way() as (background, sender):
            if not self._has_looked and not self.options.model:
                self._meet(background.submit(sender.models()).result())
            yield background, sender

    @contextmanager
    def _way(self) -> Iterator[Line]:
        with Background() as background:
            sender = Sender(
                self.url,
                self.options,
                self._journal,
                self._clock,
                has_met=self._has_met,
                keeps_failures=self._keeps_failures,
            )
            try:
                yield background, sender
            finally:
                self._has_met = sender.has_met
                background.submit(sender.close()).result()

    def _check(self, known: str) -> None:
        """Ask which model is there now, in place of the one that a shared journal knows; nobody there, its answers
        serve."""
        try:
            with self._way() as (background, sender):
                served = background.submit(sender.models(is_hasty=True)).result()
        except (InputError, ExhaustedError) as error:
            note(f"{error} Answers of {_named(known)} that were kept are used.")
            return
        self._meet(served)

    def _meet(self, served: list[str]) -> None:
        """Know the model by what the server says it serves; InputError where that is open, or another than before."""
        known = self._known
        is_same = known is not None and (known in served or not served)
        if known is not None and not is_same and (self._shared is None or self.url in self._shared.models):
            raise InputError(self._another(known, served))
        if not is_same:
            self._take_up(served, known)
        self._has_looked = True

    def _take_up(self, served: list[str], known: str | None) -> None:
        """Ask the model that is served from now on; `known` was before."""
        if len(served) > 1:
            raise InputError(
                f"{self.url}: serves {_some(served)}. Choose one with --model NAME, in brackets model=NAME."
            )
        self._model = served[0] if served else ""
        if known is None and self._model and self._shared is None:
            for about in self._journal.named(self._model)[:1]:
                where = about.removeprefix(_ABOUT_MODEL)
                note(f"{self._journal.path}: answers of {self._model} that were asked at {where} are used, too.")
        if known is not None:
            note(f"{self.url}: serves {self._model} now, and served {_named(known)} before. {self._model} is asked.")
        self._journal.add_value(self._about_model, self._model)

    def _another(self, known: str, served: list[str]) -> str:
        """What to do about another model than the one whose answers are used."""
        if self._shared is not None:
            return (
                f"{self.url}: serves {_some(served)}, and this command began with {_named(known)}. "
                "Run the same command again."
            )
        return (
            f"{self.url}: serves {_some(served)}, and {self._journal.path} was begun with {_named(known)}. Start that "
            "model again, ask this one by --model NAME (in brackets model=NAME), or choose another journal."
        )

    @property
    def _known(self) -> str | None:
        """The model whose answers are used, as far as that is settled or stands in the journal."""
        settled = None if self._shared is None else self._shared.models.get(self.url)
        return self._journal.value(self._about_model) if settled is None else settled

    @property
    def _about_model(self) -> str:
        return f"{_ABOUT_MODEL}{self.url}"


_ABOUT_MODEL = "model at "


def _some(names: list[str]) -> str:
    """The first names of a list, and how many more there are."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def _named(model: str) -> str:
    return model or "a model that had no name"
