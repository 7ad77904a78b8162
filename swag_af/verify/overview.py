"""The progress of a verification: counts of items, and one line per annotator. Reads the store, changes nothing."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, Row, Select, func, select

from swag_af.judging.screening import chance_of
from swag_af.verify.checks import scores
from swag_af.verify.consent import last_consents
from swag_af.verify.items import DISAGREEMENT, STANDS
from swag_af.verify.schema import N_RATED, annotators, events, items, tasks
from swag_af.verify.store import Store

N_EVENTS = 50
"""Changes that the overview shows."""

N_DAYS, N_DISPUTED = 14, 20
"""Days, and disputed items, that the overview shows."""

SECONDS_A_DAY, SECONDS_AN_HOUR = 86400.0, 3600.0


@dataclass(frozen=True)
class AnnotatorLine:
    """One annotator's state and counts."""

    annotator: str
    state: str
    paused: bool
    exempt: bool
    n: int
    """Items answered."""
    n_gold: int
    """Those with gold among the best two."""
    median_seconds: float | None
    last_at: float | None
    begun_at: float = 0.0
    n_fast: int = 0
    """Items answered in less than the seconds that `overview` was given."""
    study: str | None = None
    submission: str | None = None
    can_undo: bool = False
    """Whether the last change was that the admin dequalified them."""
    n_checks: int = 0
    """Attention checks answered, which `n` does not count."""
    n_passed: int = 0
    accepted: str | None = None
    """The hash of the text that they accepted last ..."""
    accepted_at: float | None = None
    """... and when."""
    n_of: Mapping[int, int] = field(default_factory=dict)
    """Items answered, by the number of their endings."""

    @property
    def n_done(self) -> int:
        """Items and checks answered: the work that is paid."""
        return self.n + self.n_checks

    @property
    def gold_share(self) -> float | None:
        """Share of the items with gold among the best two; None without items."""
        return self.n_gold / self.n if self.n else None

    @property
    def gold_chance(self) -> float | None:
        """That share by luck."""
        return chance_of(self.n_of) if self.n else None


@dataclass(frozen=True)
class Disputed:
    """An item whose annotators do not all choose the same best ending."""

    item: str
    row: int
    n: int
    """Answers that count."""
    share: float
    """Share of them for the ending that most chose as the best."""


@dataclass(frozen=True)
class Overview:
    """The whole verification."""

    n_items: int
    """Items and refills, those left out that were withdrawn."""
    n_closed: int
    n_disagreements: int
    """Open items whose answers disagree."""
    n_refilled: int
    """Items that are refills."""
    n_in_hand: int
    n_answers: int
    """Answers that count."""
    annotators: tuple[AnnotatorLine, ...]
    events: tuple[Row[Any], ...] = ()
    """The latest changes by the admin or by rule, the latest first."""
    per_day: tuple[tuple[str, int], ...] = ()
    """Answers that count on each of the last days with any, by date (UTC), the latest first."""
    n_needed: int = 0
    """Answers that open items still need, as far as is known by now."""
    days_left: float | None = None
    """Days until these are given, at the pace of the last 24 hours; None without answers in these or a first hour."""
    disputed: tuple[Disputed, ...] = ()
    """Items with several answers that disagree, the most disputed first."""


def overview(store: Store, now: float, min_seconds: float = 0.0) -> Overview:
    """Everything as it stands at `now`; answers given in less than `min_seconds` count as fast."""
    with store.engine.connect() as connection:
        kinds = Counter[str]()
        kind = items.c.is_open, items.c.priority, items.c.round
        query = select(*kind, func.count(), func.sum(items.c.n_answers)).where(STANDS).group_by(*kind)
        for is_open, priority, round, n, n_answers in connection.execute(query):
            kinds["items"] += n
            kinds["answers"] += n_answers
            kinds["closed"] += 0 if is_open else n
            kinds["disagreements"] += n if is_open and priority == DISAGREEMENT else 0
            kinds["refilled"] += n if round else 0
        in_hand = connection.scalar(
            select(func.count()).where(
                tasks.c.answered_at.is_(None), tasks.c.row.is_not(None), tasks.c.expires_at > now
            )
        )
        needed = select(func.sum(items.c.wanted - items.c.n_answers)).where(items.c.is_open)
        n_needed = connection.scalar(needed) or 0
        log = tuple(connection.execute(select(events).order_by(events.c.id.desc()).limit(N_EVENTS)))
    return Overview(
        kinds["items"],
        kinds["closed"],
        kinds["disagreements"],
        kinds["refilled"],
        in_hand or 0,
        kinds["answers"],
        tuple(_lines(store, min_seconds)),
        log,
        *_pace(store, now, n_needed),
        _disputed(store),
    )


def _pace(store: Store, now: float, n_needed: int) -> tuple[tuple[tuple[str, int], ...], int, float | None]:
    """`(per_day, n_needed, days_left)` of the overview."""
    with store.engine.connect() as connection:
        times = [at for (at,) in connection.execute(_that_count(tasks.c.answered_at))]
    days = Counter(datetime.fromtimestamp(at, UTC).date().isoformat() for at in times)
    n_today = sum(now - SECONDS_A_DAY < at <= now for at in times)
    length = min(SECONDS_A_DAY, now - min(times, default=now))  # younger than a day: as long as it has been going on
    is_long = length >= SECONDS_AN_HOUR  # of a shorter time no pace can be told
    days_left = n_needed / n_today * length / SECONDS_A_DAY if n_today and is_long else None
    return tuple(sorted(days.items(), reverse=True)[:N_DAYS]), n_needed, days_left


def _that_count(*columns: Column[Any]) -> Select[Any]:
    """Those columns of the answers to items, without those of dequalified annotators."""
    counting = tasks.c.answered_at.is_not(None), tasks.c.row.is_not(None), annotators.c.state != "dequalified"
    return select(*columns).join(annotators, annotators.c.id == tasks.c.annotator).where(*counting)


def _disputed(store: Store) -> tuple[Disputed, ...]:
    votes: defaultdict[tuple[str, int], Counter[int]] = defaultdict(Counter)
    with store.engine.connect() as connection:
        for item, row, best in connection.execute(_that_count(tasks.c.item, tasks.c.row, tasks.c.best)):
            votes[item, row][best] += 1
    found = [
        Disputed(item, row, of.total(), max(of.values()) / of.total())
        for (item, row), of in votes.items()
        if len(of) > 1
    ]
    return tuple(sorted(found, key=lambda one: (one.share, -one.n, one.row, one.item))[:N_DISPUTED])


def _lines(store: Store, min_seconds: float) -> Sequence[AnnotatorLine]:
    of: defaultdict[str, list[tuple[bool, float, float]]] = defaultdict(list)
    n_of: defaultdict[str, Counter[int]] = defaultdict(Counter)
    with store.engine.connect() as connection:
        answers = select(tasks.c.annotator, tasks.c.best, tasks.c.second, tasks.c.seconds, tasks.c.answered_at, N_RATED)
        for name, best, second, seconds, at, n_endings in connection.execute(
            answers.where(tasks.c.answered_at.is_not(None), tasks.c.row.is_not(None))
        ):
            of[name].append((0 in (best, second), seconds, at))
            n_of[name][n_endings] += 1
        people = connection.execute(select(annotators).order_by(annotators.c.id)).all()
        latest = select(func.max(events.c.id)).where(events.c.annotator.is_not(None)).group_by(events.c.annotator)
        undoable = select(events.c.annotator).where(events.c.id.in_(latest), events.c.action == "dequalify")
        can_undo = set(connection.scalars(undoable))
        checked = scores(connection)
    accepted = last_consents(store)
    lines = [
        AnnotatorLine(
            one.id,
            one.state,
            one.paused,
            one.exempt,
            len(of[one.id]),
            sum(gold for gold, _, _ in of[one.id]),
            statistics.median(seconds for _, seconds, _ in of[one.id]) if of[one.id] else None,
            max((at for _, _, at in of[one.id]), default=None),
            one.begun_at,
            sum(seconds < min_seconds for _, seconds, _ in of[one.id]),
            one.study,
            one.submission,
            one.id in can_undo,
            n_checks=checked.get(one.id, (0, 0))[0],
            n_passed=checked.get(one.id, (0, 0))[1],
            accepted=accepted[one.id].sha256 if one.id in accepted else None,
            accepted_at=accepted[one.id].at if one.id in accepted else None,
            n_of=n_of[one.id],
        )
        for one in people
    ]
    return sorted(lines, key=lambda line: (-line.n, line.annotator))
