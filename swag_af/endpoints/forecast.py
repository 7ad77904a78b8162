"""What many requests would take, from a few that are sent: for `--dry-run`."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from swag_af.data.work.progress import duration
from swag_af.endpoints.client import Endpoint
from swag_af.endpoints.contract import Answer, Request
from swag_af.endpoints.costs.usage import Usage, usage_of


@dataclass(frozen=True)
class Forecast:
    """What requests take, if they are like the sample: tries again and second draws are counted as there."""

    n_requests: int
    """Tries, those in place of what could not be kept among them."""
    n_sampled: int
    prompt_tokens: float
    answer_tokens: float
    n_estimated: int
    """Of the sample, those whose tokens the server did not count."""
    seconds: float | None
    """None where the sample was answered from the journal."""
    money: float | None
    """None without prices."""
    n_refused: int = 0
    """Of the sample, those that the server refuses for good."""
    refusal: str = ""
    """What it says of the first of these."""
    kept: float = 1.0
    """Of what the sample gave, the share that could be kept."""
    tries: float = 1.0
    """Of each request of the sample, on average."""


T = TypeVar("T")
_MOST_AGAIN = 8
"""How many times as much is asked for at most where little could be kept; then contexts are given up."""


def spread(items: Sequence[T], n: int) -> list[T]:
    """At most `n` of them, from the middle of as many equal shares: no end of an ordered list is left out."""
    n = min(n, len(items))
    return [items[(2 * i + 1) * len(items) // (2 * n)] for i in range(n)]


def forecast(
    endpoint: Endpoint,
    sample: Sequence[Request],
    n_requests: int,
    *,
    length: float | None = None,
    kept_of: Callable[[Mapping[int, Answer]], float] = lambda _: 1.0,
) -> Forecast:
    """Ask the sample, whose answers are kept, and scale what it took to `n_requests`, whose mean `length` in characters
    scales the tokens of prompts where it is known.

    `kept_of` says which share of what the answers gave, by their place in the sample, could be kept: for the rest
    others are asked for, at most eight times as many. Time is scaled as if all went as the sample did: it should have
    as many requests as are asked at a time, or more.
    """
    n_before, begun = endpoint.usage().n_requests, time.monotonic()
    answers = list(endpoint.ask(sample))
    n_tries, kept = endpoint.usage().n_requests - n_before, kept_of(dict(answers))
    n_requests = round(n_requests / max(kept, 1 / _MOST_AGAIN))
    tries = max(1.0, n_tries / max(len(sample), 1))  # fewer where some were in the journal
    used = sum((usage_of(sample[position], answer.body) for position, answer in answers), Usage())
    refused = [": ".join(filter(None, (answer.error, answer.said))) for _, answer in answers if answer.error]
    seconds = time.monotonic() - begun if n_tries >= len(sample) else None
    scale = n_requests / max(len(sample), 1)
    longer = length * len(sample) / sum(len(str(one.body)) for one in sample) if length and sample else 1.0
    prompt, answer = used.prompt_tokens * scale * longer, used.answer_tokens * scale
    price = endpoint.price
    return Forecast(
        round(n_requests * tries),
        len(sample),
        prompt,
        answer,
        used.n_estimated,
        None if seconds is None else seconds * scale,
        None if price is None else price.of(math.ceil(prompt), math.ceil(answer)),
        len(refused),
        refused[0] if refused else "",
        kept,
        tries,
    )


def forecast_lines(made: Forecast) -> list[str]:
    """The same in lines for people."""
    if made.n_refused and made.n_refused == made.n_sampled:
        return [
            f"Warning: all {made.n_sampled} requests sent now are refused ({made.refusal}). Change what it refuses."
        ]
    about = ", by characters: the server does not count" if made.n_estimated else ""
    lines = [
        f"about {made.n_requests:,} requests, as {made.n_sampled} that were sent now (their answers are kept)",
        f"{made.prompt_tokens:,.0f} tokens of prompts and {made.answer_tokens:,.0f} of answers{about}",
    ]
    if made.kept < 1 or made.tries > 1:
        lines.append(
            f"reckoned in: {made.kept:.0%} of what these gave could be kept, and each took {made.tries:.1f} tries"
        )
    if made.n_refused:
        lines.append(f"Warning: {made.n_refused} of these {made.n_sampled} are refused (first: {made.refusal})")
    if made.seconds is not None:
        lines.append(f"{duration(made.seconds)} as fast as these went")
    if made.money is not None:
        lines.append(f"cost {made.money:,.2f}, in the money of --prices")
    return lines
