"""The items of a verification: which are still open, and which one an annotator gets next.

Items with endings that guards have marked (`swag-af guard`) come first, those with most of them before others.

An item is open while it needs more answers: fewer than `annotators`, or, until `most_annotators`, one more than it has
when they disagree. Once closed, an item with too few sensible endings is refilled from the run's assignment and shown
again, to people who have not seen its row, nor one that is linked with it (`linked`). A refill that the answers before
it no longer ask for is withdrawn: nobody is handed it any more, though the answer of somebody who has opened it is
still taken, and counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, delete, exists, func, insert, literal, or_, select, true, update

from swag_af.data.errors import InputError
from swag_af.data.pool.guarded import n_marked
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run
from swag_af.judging.verdicts import Item, Judgement, Verdict, is_example, judge, make_items, refill
from swag_af.verify.linked import N_AT_ONCE, keep_links, rows_told_to
from swag_af.verify.options import ServeOptions
from swag_af.verify.schema import annotators, checks, golds, items, settings, tasks, writing
from swag_af.verify.store import Store, put_setting, verdict_of

DISAGREEMENT, BEGUN, REFILLED, UNTOUCHED = range(4)
"""Priorities of open items; the lowest is shown first."""

STANDS = or_(items.c.is_open, items.c.n_answers > 0)
"""The condition that an item is not a withdrawn refill that nobody has answered: these are closed for nothing."""


@dataclass(frozen=True)
class Rules:
    """How many people judge an item, and where its refills come from."""

    assignment: np.ndarray
    """(N, A) of the run."""
    annotators: int = 1
    most_annotators: int = 3
    seed: int = 0
    """Breaks ties among endings (`verdicts.judge`)."""
    pool: CandidatePool | None = None
    """The pool whose guards say which endings are marked, and whose contexts may be linked; None where neither is
    looked at."""

    def n_marked(self, item: Item) -> int:
        """How many of the item's endings a guard has marked."""
        return n_marked(self.pool, item.row, item.columns) if self.pool is not None else 0


def rules_of(run: Run, options: ServeOptions) -> Rules:
    """The rules of `verify serve` for the endings of a run."""
    per_item = options.annotators_per_item, options.most_annotators
    return Rules(run.assignment(options.iteration), *per_item, options.seed, run.pool)


def lay_out(store: Store, rules: Rules, *, limit: int | None, seed: int) -> int:
    """Add the items that the store lacks, and settle all if the rules changed; returns how many there are, refills
    not counted.

    Stores of older releases, which left refills open that nothing asked for, are settled once as well.
    """
    order = _drawn(len(rules.assignment), limit, seed)
    made = make_items(rules.assignment, seed=seed)
    now = {"annotators": rules.annotators, "most_annotators": rules.most_annotators, "refills": "kept closed"}
    with writing(store.engine) as connection:
        known = set(connection.scalars(select(items.c.row)))
        ranks = [rank - len(made) * rules.n_marked(made[row]) for rank, row in enumerate(order.tolist())]
        drawn = zip(ranks, order.tolist(), strict=True)
        new = [_line(made[row], rank, UNTOUCHED, rules) for rank, row in drawn if row not in known]
        for i in range(0, len(new), N_AT_ONCE):
            connection.execute(insert(items), new[i : i + N_AT_ONCE])
        if connection.scalar(select(settings.c.value).where(settings.c.name == "rules")) != now:
            untouched = update(items).where(items.c.n_answers == 0, items.c.is_open)
            connection.execute(untouched.values(wanted=rules.annotators))
            begun = (items.c.n_answers > 0) | (items.c.round > 0)
            for row in connection.scalars(select(items.c.row).where(begun).distinct()).all():
                settle(connection, row, rules)
            put_setting(connection, "rules", now)
        if rules.pool is not None:
            keep_links(connection, rules.pool.contexts)
        return connection.scalar(select(func.count()).select_from(items).where(items.c.round == 0)) or 0


def check_limit(store: Store, n_rows: int, limit: int | None) -> None:
    """Raise InputError where a study of some of the `n_rows` contexts is started without saying of how many: all the
    others would be laid out for good."""
    with store.engine.connect() as connection:
        n = connection.scalar(select(func.count()).select_from(items).where(items.c.round == 0)) or 0
    if limit is None and 0 < n < n_rows:
        raise InputError(
            f"this verification shows {n:,} of {n_rows:,} contexts, and without --limit it would show all from now on. "
            f"Give --limit {n} again, or --limit {n_rows} for all."
        )


def is_begun(store: Store) -> bool:
    """Whether somebody has answered anything."""
    with store.engine.connect() as connection:
        return bool(connection.scalar(select(exists().where(tasks.c.answered_at.is_not(None)))))


def _drawn(n_rows: int, limit: int | None, seed: int) -> np.ndarray:
    """The rows that get items, in the order in which they are shown."""
    return np.random.default_rng(seed).permutation(n_rows)[:limit]


def rows_left_out(store: Store, n_rows: int, *, limit: int | None = 0, seed: int = 0) -> list[int]:
    """The rows of the pool that no item shows, nor will when `lay_out` has added those of this `limit` and `seed`."""
    with store.engine.connect() as connection:
        shown = set(connection.scalars(select(items.c.row)))
    shown |= set(_drawn(n_rows, limit, seed).tolist())
    return [row for row in range(n_rows) if row not in shown]


def next_item(connection: Connection, annotator: str, now: float) -> Row[Any] | None:
    """The first open item by priority and rank that is not leased to others, of a row that is new to `annotator` and
    not linked with one that is not.

    Where all are leased, one that is leased to people without any answer, so that made-up ids cannot hold a study up:
    to those with answers in any case, to others only while fewer than twice the people needed hold it.
    """
    leases = (
        select(func.count())
        .where(tasks.c.item == items.c.id, tasks.c.annotator != annotator)
        .where(tasks.c.answered_at.is_(None), tasks.c.expires_at > now)
    )
    in_hand, of_workers = leases.scalar_subquery(), leases.where(_has_answered(tasks.c.annotator)).scalar_subquery()
    needed = items.c.wanted - items.c.n_answers
    free = _first_open(connection, annotator, in_hand < needed)
    if free is not None:
        return free
    is_worker = connection.scalar(select(_has_answered(literal(annotator))))
    few = true() if is_worker else in_hand < 2 * needed
    return _first_open(connection, annotator, (of_workers < needed) & few, fewest=in_hand)


def _has_answered(annotator: Any) -> Any:
    """Whether this annotator has answered an item of the run."""
    answers = tasks.alias("answers")
    mine = answers.c.annotator == annotator, answers.c.answered_at.is_not(None), answers.c.row.is_not(None)
    return exists().where(*mine)


def _first_open(connection: Connection, annotator: str, condition: Any, fewest: Any = None) -> Row[Any] | None:
    """The first open item for which the condition is true, of a row that nothing has told `annotator` of.

    Where `fewest` is given, the item for which that is lowest.
    """
    order = (items.c.priority, items.c.rank)
    seen = exists().where(
        tasks.c.row == items.c.row,
        tasks.c.annotator == annotator,
        or_(tasks.c.item != items.c.id, tasks.c.answered_at.is_not(None)),
    )
    checked = exists().where(  # where --limit has grown
        checks.c.row == items.c.row, tasks.c.item == checks.c.id, tasks.c.annotator == annotator
    )
    met = exists().where(golds.c.row == items.c.row, tasks.c.item == golds.c.question, tasks.c.annotator == annotator)
    return connection.execute(
        select(items)
        .where(items.c.is_open, condition, ~seen, ~checked, ~met, items.c.row.not_in(rows_told_to(annotator)))
        .order_by(*order if fewest is None else (fewest, *order))
        .limit(1)
    ).one_or_none()


def settle(connection: Connection, row: int, rules: Rules) -> None:
    """Recount the answers to the items of a row, and open, close, refill or withdraw them accordingly.

    What comes of it depends on the answers that count alone: neither on their order, nor on who holds what.
    """
    lines = connection.execute(select(items).where(items.c.row == row).order_by(items.c.round)).all()
    due: Item | None = Item(row, tuple(lines[0].columns))  # the item that the answers so far ask for
    last, may_refill = 0, True
    for line in lines:
        verdicts = _counting_verdicts(connection, line.id)
        is_due = due is not None and due.columns == tuple(line.columns)
        if not verdicts and not is_due:
            last = line.round if _withdraw(connection, line) else last
            continue
        last, is_answered = line.round, _recount(connection, line, verdicts, rules, is_due=is_due)
        if not is_answered and not is_due:
            continue  # withdrawn, with a late answer: it asks for nothing
        judged = judge(verdicts, seed=rules.seed) if is_answered else []
        may_refill = may_refill and bool(judged) and not is_example(judged[0])
        due = _refilled(connection, judged[0], rules) if may_refill else None
    if due is not None:  # the number of a withdrawn refill that somebody has opened stays with it
        due = replace(due, round=last + 1)
        connection.execute(insert(items).values(_line(due, lines[0].rank, REFILLED, rules)))


def _recount(
    connection: Connection, line: Row[Any], verdicts: Sequence[Verdict], rules: Rules, *, is_due: bool
) -> bool:
    """Store what these verdicts make of an item, which is open where it lacks answers and is due; returns whether it
    has all."""
    wanted = n_wanted(verdicts, rules)
    is_open = is_due and len(verdicts) < wanted
    priority = line.priority
    if is_open and verdicts:
        priority = DISAGREEMENT if len(verdicts) >= rules.annotators else BEGUN
    elif is_open:  # as at first: nobody's answer counts any more
        priority = REFILLED if line.round else UNTOUCHED
    found = {"n_answers": len(verdicts), "wanted": wanted, "is_open": is_open, "priority": priority}
    connection.execute(update(items).where(items.c.id == line.id).values(found))
    return len(verdicts) >= wanted


def n_wanted(verdicts: Sequence[Verdict], rules: Rules) -> int:
    """How many answers an item with these verdicts needs in all, as far as is known by now."""
    n = len(verdicts)
    if n < rules.annotators:
        return rules.annotators
    return n + 1 if disagree(verdicts) and n < rules.most_annotators else n


def disagree(verdicts: Sequence[Verdict]) -> bool:
    """Whether no ending is best to more than half of the annotators."""
    best = np.bincount([verdict.best for verdict in verdicts])
    return bool(2 * best.max() <= len(verdicts))


def _counting_verdicts(connection: Connection, item_id: str) -> list[Verdict]:
    answers = connection.execute(
        select(tasks, items.c.columns, items.c.round)
        .join(items, items.c.id == tasks.c.item)
        .join(annotators, annotators.c.id == tasks.c.annotator)
        .where(tasks.c.item == item_id, tasks.c.answered_at.is_not(None), annotators.c.state != "dequalified")
    )
    return [verdict_of(answer) for answer in answers]


def _refilled(connection: Connection, judgement: Judgement, rules: Rules) -> Item | None:
    """The refill of an item that is no example; None where too few endings are left."""
    row, last = judgement.item.row, judgement.item.round
    earlier = connection.scalars(select(items.c.columns).where(items.c.row == row, items.c.round <= last, STANDS))
    shown = {column for columns in earlier for column in columns}
    return refill(judgement, rules.assignment[row, 1:], shown)


def _withdraw(connection: Connection, line: Row[Any]) -> bool:
    """Delete a refill that nobody has opened, or close it; returns whether it is still there."""
    is_opened = bool(connection.scalar(select(exists().where(tasks.c.item == line.id))))
    here = items.c.id == line.id
    closed = update(items).where(here).values(n_answers=0, is_open=False)
    connection.execute(closed if is_opened else delete(items).where(here))
    return is_opened


def _line(item: Item, rank: int, priority: int, rules: Rules) -> dict[str, Any]:
    return {
        "id": item.id,
        "row": item.row,
        "round": item.round,
        "columns": list(item.columns),
        "rank": rank,
        "priority": priority,
        "n_answers": 0,
        "wanted": rules.annotators,
        "is_open": True,
    }
