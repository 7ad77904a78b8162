"""Limits of what may be used. They hold for all that a journal has seen of a model, over all runs; of a journal that is
shared, for what this process used."""

import asyncio

from swag_af.endpoints.costs.usage import Usage
from swag_af.endpoints.options import EndpointOptions


class SpentError(Exception):
    """A limit is reached; it names the option."""


class Budget:
    """Admits requests one by one. Used from one event loop only.

    The tokens of a request are known when it is answered, and are reckoned before. So one that might go over the limit
    waits until those under way have been counted, and at most one answer goes over; more, where the server counts more
    tokens than were reckoned.
    """

    def __init__(self, options: EndpointOptions, used: Usage):
        self._options = options
        self.used = used
        self._reserved = 0
        self._n_under_way = 0
        self._changed = asyncio.Condition()

    async def admit(self, most_tokens: int) -> None:
        """Return when a request that takes so many tokens at most may be sent; SpentError when none may."""
        limit = self._options.max_total_tokens
        async with self._changed:
            while True:
                self._check()
                if limit is None or not self._n_under_way or self.used.tokens + self._reserved + most_tokens <= limit:
                    break
                await self._changed.wait()
            self.used += Usage(n_requests=1)
            self._reserved += most_tokens
            self._n_under_way += 1

    async def settle(self, most_tokens: int, used: Usage) -> None:
        """Count what an admitted request has used; its sending is counted already."""
        async with self._changed:
            self.used += Usage(0, used.prompt_tokens, used.answer_tokens, used.n_estimated)
            self._reserved -= most_tokens
            self._n_under_way -= 1
            self._changed.notify_all()

    def _check(self) -> None:
        options, used = self._options, self.used
        if options.max_requests is not None and used.n_requests >= options.max_requests:
            raise SpentError("--max-requests")
        if options.max_total_tokens is not None and used.tokens >= options.max_total_tokens:
            raise SpentError("--max-total-tokens")
