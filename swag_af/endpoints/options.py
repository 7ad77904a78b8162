"""The options that every verb shares which asks a server, and those of `probe-endpoint`."""

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

from swag_af.data.errors import Options, check_faults


@dataclass(frozen=True)
class EndpointOptions(Options):
    """How a server is asked, for `endpoint[URL]` and `judge[URL]`."""

    model: str = ""
    """The model's name on the server. Not needed if the server has only one."""
    api: Literal["auto", "completions", "chat"] = "auto"
    """Which address is asked: /v1/completions or /v1/chat/completions. auto tries what the server can do."""
    concurrency: int = 8
    """Requests in progress at a time, at most."""
    timeout: float = 120.0
    """Seconds until a request is given up and tried again."""
    retries: int = 8
    """How often a request is tried again after errors that may pass, with growing waits."""
    max_requests: int | None = None
    """Stop once this many requests have been sent, repeated ones included. All answers are kept."""
    max_total_tokens: int | None = None
    """Stop once this many tokens of prompts and answers have been used. All answers are kept."""
    prices: Path | None = None
    """A TOML file of prices by model, in money per million tokens: `["my-model"]`, `prompt = 0.5`, `answer = 1.5`."""
    key_variable: str = "OPENAI_API_KEY"
    """The environment variable that holds the server's key, if it needs one. The key itself is written nowhere."""

    def __post_init__(self) -> None:
        super().__post_init__()
        limits = [name for name in ("max_requests", "max_total_tokens") if getattr(self, name) is not None]
        check_faults(
            [
                (self.concurrency < 1, f"--concurrency {self.concurrency}: at least 1"),
                (self.timeout <= 0, f"--timeout {self.timeout}: above 0"),
                (self.retries < 0, f"--retries {self.retries}: not below 0"),
                *((getattr(self, n) < 1, f"--{n.replace('_', '-')} {getattr(self, n)}: at least 1") for n in limits),
            ]
        )

    @property
    def given(self) -> list[str]:
        """The flags of all that is not as it is where nothing is said."""
        return self.given_of(*(one.name for one in fields(self)))


@dataclass(frozen=True)
class ProbeEndpointOptions(Options):
    """Test what a language model server can do before anything is built on it.

    Sends ten tiny requests. Servers accept settings that they ignore, likelihoods of a given text above all, and a
    result that relies on such a setting measures nothing. So yes means that an answer showed it.

    Try:
      swag-af probe-endpoint http://localhost:8000
      swag-af probe-endpoint https://HOST/v1 --model NAME --key-variable MY_KEY --json
    """

    url: str
    """The server's address: http://HOST:PORT, or what comes before /chat/completions."""
    journal: Path | None = None
    """Keep the answers in this file, and do not ask again for those that it has."""
    json: bool = False
    """Print JSON."""
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    """How the server is asked."""

    def __post_init__(self) -> None:
        super().__post_init__()
        idle = self.endpoint.given_of("concurrency", "prices")
        check_faults([(True, f"{flag}: a probe sends one request at a time, and tells no costs") for flag in idle])
