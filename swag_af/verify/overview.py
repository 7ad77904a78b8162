"""The progress of a verification: counts of items, and one line per annotator. Reads the store, changes nothing."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select

from swag_af.verify.items import DISAGREEMENT
from swag_af.verify.schema import annotators, items, tasks
from swag_af.verify.store import Store


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

    @property
    def gold_share(self) -> float | None:
        """Share of the items with gold among the best two; None without items."""
        return self.n_gold / self.n if self.n else None


@dataclass(frozen=True)
class Overview:
    """The whole verification."""

    n_items: int
    n_closed: int
    n_disagreements: int
    """Open items whose answers disagree."""
    n_refilled: int
    """Items that are refills."""
    n_in_hand: int
    n_answers: int
    """Answers that count."""
    annotators: tuple[AnnotatorLine, ...]


def overview(store: Store, now: float) -> Overview:
    """Everything as it stands at `now`."""
    with store.engine.connect() as connection:
        kinds = Counter[str]()
        kind = items.c.is_open, items.c.priority, items.c.round
        query = select(*kind, func.count(), func.sum(items.c.n_answers)).group_by(*kind)
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
    return Overview(
        kinds["items"],
        kinds["closed"],
        kinds["disagreements"],
        kinds["refilled"],
        in_hand or 0,
        kinds["answers"],
        tuple(_lines(store)),
    )


def _lines(store: Store) -> Sequence[AnnotatorLine]:
    of: defaultdict[str, list[tuple[bool, float, float]]] = defaultdict(list)
    with store.engine.connect() as connection:
        answers = select(tasks.c.annotator, tasks.c.best, tasks.c.second, tasks.c.seconds, tasks.c.answered_at)
        for name, best, second, seconds, at in connection.execute(
            answers.where(tasks.c.answered_at.is_not(None), tasks.c.row.is_not(None))
        ):
            of[name].append((0 in (best, second), seconds, at))
        people = connection.execute(select(annotators).order_by(annotators.c.id)).all()
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
        )
        for one in people
    ]
    return sorted(lines, key=lambda line: (-line.n, line.annotator))
