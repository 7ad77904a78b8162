"""A server as a name in brackets has it: `judge[http://localhost:8000,model=mine,max_requests=500]`.

A component that asks a server is a dataclass of these settings and of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

from swag_af.endpoints.contract import ADDRESSES, Abilities, Asker, Retried, chosen_api
from swag_af.endpoints.options import EndpointOptions


@dataclass(kw_only=True)
class ServerSettings:
    """Where a server is and how it is asked; all but the address as `EndpointOptions` says."""

    url: str
    """Where the server is: http://localhost:8000/v1."""
    model: str = ""
    api: Literal["auto", "completions", "chat"] = "auto"
    concurrency: int = 8
    timeout: float = 120.0
    retries: int = 8
    max_requests: int | None = None
    max_total_tokens: int | None = None
    prices: str = ""
    key_variable: str = "OPENAI_API_KEY"
    journal: str = ""
    """The file in which answers are kept."""
    asker: Asker | None = field(default=None, repr=False, compare=False)
    """Who answers, where it is not the server at `url`."""

    def endpoint_options(self) -> EndpointOptions:
        """How the server is asked."""
        known = {one.name: getattr(self, one.name) for one in fields(EndpointOptions)}
        return EndpointOptions(**known | {"prices": Path(self.prices) if self.prices else None})

    def opened(self) -> Asker:
        """The server, or who answers in its place; asked nothing yet."""
        if self.asker is None:
            from swag_af.endpoints.client import Endpoint

            journal = self.default_journal() if not self.journal else Path(self.journal)
            self.asker = Endpoint(
                self.url,
                self.endpoint_options(),
                journal=journal,
                keeps_failures=False,
                is_shared=not self.journal,
            )
        return self.asker

    def able(self, suffices: Callable[[Abilities], bool] = lambda found: True) -> Abilities:
        """What the server can do. Where that does not suffice, or no text can be had, and was known from a journal, it
        is tried anew: another server may be there now."""
        asker = self.opened()
        found = asker.abilities()
        apis = ADDRESSES if self.api == "auto" else (self.api,)
        is_enough = suffices(found) and any(getattr(found, api) for api in apis)
        return asker.abilities_now() if not is_enough and isinstance(asker, Retried) else found

    def asks_chat(self, abilities: Abilities) -> bool:
        """Whether it is asked as a model that chats, which it is where that can be chosen; InputError where it gives no
        text."""
        return chosen_api(self.api, abilities, self.opened().url, first="chat") == "chat"

    def default_journal(self) -> Path | None:
        """Where answers are kept when nothing is said; None: in memory only."""
        return None
