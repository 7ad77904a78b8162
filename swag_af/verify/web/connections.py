"""Limits the connections of the server: time limits, connections per client, connections in all, and lines of log.

A connection is *waiting* while no complete request has arrived on it: it is new, idle, or its headers or body are
still on the way. Waiting connections are closed after `REQUEST_SECONDS`, and earlier when a newer one needs the room,
so that neither slow nor half-open connections keep anybody out. Nothing here reads what a request contains.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 15.0
"""Seconds that the headers of a request may take, and its body again as many."""

ANSWER_SECONDS = 300.0
"""Seconds until a client must have taken the response to its request."""

BACKLOG = 100
"""Connections that the operating system holds until they are accepted, and the most that are accepted in one turn."""

RESERVED_FILES = 480
"""File descriptors kept free: connections accepted but not counted yet, the database, files being served."""

MOST_CONNECTIONS = 4096
"""Connections in all, where the operating system allows so many."""

LINES_PER_MINUTE = 5
"""Lines that the log gets of one kind of event in a minute."""


@dataclass
class Connections:
    """All connections of a server: how many there are, and which of them may be closed for a newer one."""

    most: int
    most_per_client: int
    proxies: frozenset[str] = frozenset()
    """Addresses that many clients share, and to which the limit per client does not apply."""
    of_clients: Counter[str] = field(default_factory=Counter)
    waiting: dict["LimitedProtocol", None] = field(default_factory=dict)
    """Those without a complete request, the longest waiting first."""

    def enter(self, new: "LimitedProtocol") -> bool:
        """Count a new connection and close another when there are too many; False if there is no room for it."""
        self.of_clients[new.address] += 1
        if new.address not in self.proxies and self.of_clients[new.address] > self.most_per_client:
            return self._make_room(new.address)
        return self.of_clients.total() <= self.most or self._make_room(None)

    def leave(self, old: "LimitedProtocol") -> None:
        """Count a connection no more."""
        self.waiting.pop(old, None)
        self.of_clients[old.address] -= 1
        if self.of_clients[old.address] <= 0:
            del self.of_clients[old.address]

    def _make_room(self, address: str | None) -> bool:
        """Close one waiting connection (of this address), preferably one that never sent a request."""
        could_go = [one for one in self.waiting if address is None or one.address == address]
        victim = next((one for one in could_go if not one.was_served), could_go[0] if could_go else None)
        if victim is None:
            return False
        victim.drop()
        return True


class LimitedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 protocol on one connection, with time limits and a place among the other connections."""

    crowd: ClassVar[Connections]
    """The connections of the server; set in the class made by `limited_protocol`."""
    address: str = "unknown"
    was_served = False
    is_counted = False
    watched: tuple[bool, object] | None = None
    deadline: asyncio.TimerHandle | None = None

    def connection_made(  # type: ignore[override]  # as in uvicorn's class: narrower than asyncio's BaseTransport
        self, transport: asyncio.Transport
    ) -> None:
        """Count the connection, and close it at once where there is no room."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else "unknown"
        self.is_counted = True
        if self.crowd.enter(self):
            self._watch()
        else:
            self.drop()

    def data_received(self, data: bytes) -> None:
        """Read what arrived."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self.was_served = True
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._leave()
        super().connection_lost(exc)

    def drop(self) -> None:
        """Close the connection at once, whatever is under way."""
        self._leave()
        self.transport.abort()

    def _watch(self) -> None:
        """Start the time limit again whenever the connection begins to wait, or a request is complete."""
        if not self.is_counted:
            return
        arriving = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        is_waiting = self.cycle is None or self.cycle.response_complete or arriving
        if self.watched == (is_waiting, self.cycle):
            return
        if self.deadline is not None:
            self.deadline.cancel()
        self.watched = (is_waiting, self.cycle)
        self.deadline = self.loop.call_later(REQUEST_SECONDS if is_waiting else ANSWER_SECONDS, self.drop)
        self.crowd.waiting.pop(self, None)
        if is_waiting:
            self.crowd.waiting[self] = None

    def _leave(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
        if self.is_counted:
            self.is_counted = False
            self.crowd.leave(self)


def limited_protocol(most_per_client: int, proxies: frozenset[str]) -> type[LimitedProtocol]:
    """The protocol class of one server, which shares one count of connections."""
    crowd = Connections(most_connections(), most_per_client, proxies)
    return type("ServedProtocol", (LimitedProtocol,), {"crowd": crowd})


def most_connections() -> int:
    """How many connections the limit on open files leaves room for; raises that limit as far as this user may."""
    try:
        import resource
    except ModuleNotFoundError:  # not a Unix
        return BACKLOG
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + RESERVED_FILES
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else max(soft, min(wanted, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(32, min(MOST_CONNECTIONS, soft - RESERVED_FILES))


class Seldom(logging.Filter):
    """Lets few lines of one kind through in a minute, so that a flood of faults does not fill the disk."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.clock, self.minute, self.seen = clock, -1.0, Counter[Any]()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this line is written; the last of a minute says that more of its kind are left out."""
        if (minute := self.clock() // 60) != self.minute:
            self.minute, self.seen = minute, Counter()
        kind = (record.module, record.lineno)
        self.seen[kind] += 1
        if self.seen[kind] == LINES_PER_MINUTE:
            record.msg = f"{record.msg} (More of this kind are left out for a minute.)"
        return self.seen[kind] <= LINES_PER_MINUTE


def limit_log() -> None:
    """Put the filter on the loggers that strangers can make write."""
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        if not any(isinstance(one, Seldom) for one in logger.filters):
            logger.addFilter(Seldom())
