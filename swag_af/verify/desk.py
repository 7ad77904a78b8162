"""The desk: hands every annotator the next item, and takes the answers.

Every change is one transaction: an answer and its consequences (whether its item needs more annotators or a refill,
whether the annotator may go on) are stored together or not at all. The web pages are elsewhere.
"""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, case, func, insert, or_, select, update

from swag_af.data.errors import InputError
from swag_af.data.secrets import secret_rng
from swag_af.judging.screening import GoldCount, needed_share
from swag_af.judging.verdicts import Rating
from swag_af.verify.checks import Attention, check_of, counts_as_work, due_check, passes, scores
from swag_af.verify.consent import AcceptedText, keep_consent
from swag_af.verify.items import Rules, next_item, settle
from swag_af.verify.linked import is_told, n_linked
from swag_af.verify.qualification import QualificationQuestion, share_right
from swag_af.verify.schema import N_RATED, annotators, events, items, settings, tasks, writing
from swag_af.verify.store import Store, put_setting

SCREENED_BY = "screening"
"""The line of `settings` that says by which rule all annotators were screened last."""

PAUSED = "paused"
"""The line of `settings` that says whether the whole study is paused."""

MOST_SECONDS = 3600.0
"""The longest time that is recorded for one item."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An annotator's answer to a task, with the endings in the order of the item."""

    ratings: tuple[Rating, ...]
    best: int
    second: int
    seconds: float | None = None
    """Seconds in which the page was visible, if the browser counted them."""


@dataclass(frozen=True, slots=True)
class Screening:
    """Who may judge the items of the run."""

    questions: tuple[QualificationQuestion, ...] = ()
    """All questions of the qualification."""
    share: float = 0.75
    min_gold_share: float | None = None
    """None for what the number of endings asks for (`needed_share`)."""
    min_gold_items: int = 10
    most_items: int | None = None
    """Items per annotator; None for no limit."""
    n_questions: int | None = None
    """How many of the questions one annotator is asked; None for all."""
    secret: str = ""
    """Draws each annotator's questions and their order; with none, all annotators get them in the order given."""

    def lets_in(self, right: int, known: int) -> bool:
        """Whether so many of the known answers are enough."""
        return not known or right / known >= self.share

    def needed(self, n_of: Mapping[int, int]) -> float:
        """The share of gold among the best two below which somebody is dequalified who judged so many items, counted by
        the number of their endings."""
        return needed_share(n_of) if self.min_gold_share is None else self.min_gold_share

    def questions_for(self, annotator: str) -> tuple[QualificationQuestion, ...]:
        """The questions that this annotator is asked, in their order."""
        if not self.secret:
            return self.questions[: self.n_questions]
        order = secret_rng(self.secret, annotator).permutation(len(self.questions))[: self.n_questions]
        return tuple(self.questions[i] for i in order)


@dataclass(frozen=True)
class Desk:
    """The desk of one verification."""

    store: Store
    rules: Rules
    screening: Screening = Screening()
    lease_seconds: float = 1800.0
    clock: Callable[[], float] = field(default=time.time)
    first_lease_seconds: float = 300.0
    """The lease of annotators who have answered no item yet, and who may be made up."""
    closes_at: float | None = None
    """From when on no new item is handed out, in seconds since 1970; None for never."""
    attention: Attention = field(default_factory=Attention)

    def admit(
        self,
        annotator: str,
        study: str | None = None,
        submission: str | None = None,
        *,
        accepted: AcceptedText | None = None,
    ) -> None:
        """Record that `annotator` has begun, and accepted this text; a second call changes only the platform's ids and
        what was accepted, where they are given.
        """
        ids = {"study": study, "submission": submission}
        with writing(self.store.engine) as connection:
            if accepted is not None:
                keep_consent(connection, annotator, accepted, self.clock())
            if _annotator(connection, annotator) is None:
                state = "new" if self.screening.questions else "active"
                values = {"id": annotator, "state": state, "paused": False, "exempt": False, "begun_at": self.clock()}
                connection.execute(insert(annotators).values({**values, **ids}))
            elif given := {name: value for name, value in ids.items() if value}:
                connection.execute(update(annotators).where(annotators.c.id == annotator).values(given))

    def state_of(self, annotator: str) -> str | None:
        """new, active, paused, failed or dequalified; None for an annotator who has not begun."""
        with self.store.engine.connect() as connection:
            known = _annotator(connection, annotator)
        return None if known is None else "paused" if known.paused else str(known.state)

    def next_task(self, annotator: str, session: str) -> Row[Any] | None:
        """The annotator's unanswered task, or a new one; None if there is none (left)."""
        now = self.clock()
        with writing(self.store.engine) as connection:
            known = _annotator(connection, annotator)
            if known is None or not _may_go_on(known):
                return None
            if known.state == "new":
                return self._next_question(connection, annotator, session, now)
            held = _held(connection, annotator, now)
            if held is not None:
                return self._claimed(connection, held, session, now)
            most = self.screening.most_items
            if self._is_closed(connection, now) or (most is not None and _n_done(connection, annotator) >= most):
                return None
            item = next_item(connection, annotator, now)
            if item is None:
                return None
            check = due_check(connection, annotator, self.attention)
            if check is not None:
                return self._handed(connection, check.id, None, annotator, session, now, is_check=True)
            return self._handed(connection, item.id, item.row, annotator, session, now)

    def task(self, task: str, annotator: str, session: str) -> Row[Any] | None:
        """The task with this id, if it belongs to this annotator and this browser; None otherwise."""
        with self.store.engine.connect() as connection:
            found = connection.execute(select(tasks).where(_own(task, annotator, session))).one_or_none()
        return found

    def has_in_hand(self, annotator: str) -> bool:
        """Whether `annotator` has an item in hand, which is not answered yet."""
        with self.store.engine.connect() as connection:
            return _held(connection, annotator, self.clock()) is not None

    def before(self, annotator: str, session: str, task: str | None) -> str | None:
        """The last task answered in this browser, or the last before `task` was begun; None if there is none."""
        answered = (
            select(tasks)
            .where(tasks.c.annotator == annotator, tasks.c.session == session)
            .where(tasks.c.answered_at.is_not(None), counts_as_work())
            .order_by(tasks.c.begun_at.desc(), tasks.c.id)
        )
        with self.store.engine.connect() as connection:
            if task is not None:
                begun = select(tasks.c.begun_at).where(tasks.c.id == task).scalar_subquery()
                answered = answered.where(tasks.c.begun_at < begun)
            found = connection.execute(answered.limit(1)).one_or_none()
        return None if found is None else str(found.id)

    def n_items(self) -> int:
        """Items of the run that are shown, refills not counted."""
        with self.store.engine.connect() as connection:
            return connection.scalar(select(func.count()).where(items.c.round == 0)) or 0

    def is_over(self) -> bool:
        """Whether every item has the answers that it needs."""
        with self.store.engine.connect() as connection:
            return not connection.scalar(select(func.count()).where(items.c.is_open))

    def is_told(self, annotator: str) -> bool:
        """Whether an open item is kept from `annotator`, who has read its answer, or would then know another one's."""
        with self.store.engine.connect() as connection:
            return is_told(connection, annotator)

    def n_linked(self) -> int:
        """Items, refills not counted, of which one gives another away: nobody is handed both."""
        with self.store.engine.connect() as connection:
            return n_linked(connection)

    def n_answered(self, annotator: str) -> int:
        """Items that `annotator` has answered, checks among them: to the annotator, and for the pay, they are items."""
        with self.store.engine.connect() as connection:
            return _n_done(connection, annotator)

    def keep_draft(self, task: str, annotator: str, session: str, draft: dict[str, Any]) -> bool:
        """Keep the draft of a task, and renew its lease if the annotator may go on; False if it is answered already."""
        with writing(self.store.engine) as connection:
            known = _annotator(connection, annotator)
            found = connection.execute(select(tasks).where(_own(task, annotator, session))).one_or_none()
            values: dict[str, Any] = {"draft": draft}
            if known is not None and found is not None and _may_go_on(known):
                values["expires_at"] = self._lease_end(connection, annotator, found.begun_at, self.clock())
            kept = connection.execute(
                update(tasks).where(_own(task, annotator, session), tasks.c.answered_at.is_(None)).values(values)
            )
            return kept.rowcount > 0

    def take(self, task: str, annotator: str, session: str, revision: int, answer: Answer) -> bool:
        """Store the answer to a task; it replaces the answer with number `revision`, 0 for none.

        False, and nothing changes, if the stored answer has another number: it was sent twice, or changed elsewhere.
        Raises InputError if there is no such task, or this annotator may not answer it (any more).
        """
        with writing(self.store.engine) as connection:
            known = _annotator(connection, annotator)
            found = connection.execute(select(tasks).where(_own(task, annotator, session))).one_or_none()
            if known is None or found is None:
                raise InputError("There is no such task for you.")
            if found.revision != revision:
                return False
            is_question = found.row is None and not found.is_check
            if known.paused or known.state != ("new" if is_question else "active"):
                raise InputError("Answers are not taken from you at the moment.")
            now = self.clock()
            connection.execute(
                update(tasks)
                .where(tasks.c.id == task)
                .values(
                    ratings=list(answer.ratings),
                    best=answer.best,
                    second=answer.second,
                    seconds=round(_seconds(found, answer.seconds, now), 3),
                    answered_at=found.answered_at or now,
                    revision=revision + 1,
                    draft=None,
                )
            )
            if is_question:
                self._mark(connection, annotator)
            elif found.is_check:
                self._mark_check(connection, known, found, answer)
            else:
                shut_out = self._screen(connection, known)
                self._settle(connection, _answered_rows(connection, annotator) if shut_out else [found.row])
            return True

    def screen_again(self) -> int:
        """Screen all who are active where the rule is not the one of the start before; returns how many it shut out."""
        rule = {"min_gold_share": self.screening.min_gold_share, "min_gold_items": self.screening.min_gold_items}
        with writing(self.store.engine) as connection:
            if connection.scalar(select(settings.c.value).where(settings.c.name == SCREENED_BY)) == rule:
                return 0
            active = connection.execute(select(annotators).where(annotators.c.state == "active")).all()
            shut_out = [known.id for known in active if self._screen(connection, known)]
            self._settle(connection, sorted({row for who in shut_out for row in _answered_rows(connection, who)}))
            put_setting(connection, SCREENED_BY, rule)
            return len(shut_out)

    def pause_all(self, paused: bool, who: str = "admin") -> None:
        """Give nobody a new item, or go on; items in hand may be finished, and answers count in either case."""
        with writing(self.store.engine) as connection:
            self._log(connection, who, "pause all" if paused else "resume all")
            put_setting(connection, PAUSED, paused)

    def is_paused(self) -> bool:
        """Whether the whole study is paused."""
        with self.store.engine.connect() as connection:
            return _study_is_paused(connection)

    def pause(self, annotator: str, paused: bool, who: str = "admin") -> None:
        """Pause `annotator`, or let them go on; their answers count in either case."""
        with writing(self.store.engine) as connection:
            self._log(connection, who, "pause" if paused else "resume", annotator)
            connection.execute(update(annotators).where(annotators.c.id == annotator).values(paused=paused))
            if paused:
                _let_go(connection, annotator)

    def qualify(self, annotator: str, qualified: bool, who: str = "admin") -> None:
        """Dequalify `annotator`, so that no answer of theirs counts; or qualify them, exempt from the rules."""
        with writing(self.store.engine) as connection:
            last = last_event(connection, annotator)
            if not qualified and last is not None and last.action == "dequalify":
                return  # a click twice; there would be nothing to undo
            self._log(connection, who, "requalify" if qualified else "dequalify", annotator)
            self._set_state(connection, annotator, "active" if qualified else "dequalified", exempt=qualified)
            self._settle(connection, _answered_rows(connection, annotator))

    def undo(self, annotator: str, who: str = "admin") -> bool:
        """Undo the admin's dequalification of `annotator`: all is as it was before; False if there is none to undo."""
        with writing(self.store.engine) as connection:
            last = last_event(connection, annotator)
            if last is None or last.action != "dequalify":
                return False
            self._log(connection, who, "undo", annotator)
            connection.execute(update(annotators).where(annotators.c.id == annotator).values(last.before))
            self._settle(connection, _answered_rows(connection, annotator))
            return True

    def _settle(self, connection: Connection, changed: Sequence[int]) -> None:
        for row in changed:
            settle(connection, row, self.rules)

    def _is_closed(self, connection: Connection, now: float) -> bool:
        """Whether no new item is handed out, because of a pause or because the time is over."""
        return _study_is_paused(connection) or (self.closes_at is not None and now >= self.closes_at)

    def _log(self, connection: Connection, who: str, action: str, annotator: str | None = None) -> None:
        """Record who changes what, and what the annotator's state was before."""
        known = None if annotator is None else _annotator(connection, annotator)
        before = None if known is None else {"state": known.state, "paused": known.paused, "exempt": known.exempt}
        values = {"at": self.clock(), "who": who[:80], "action": action, "annotator": annotator, "before": before}
        connection.execute(insert(events).values(values))

    def _next_question(self, connection: Connection, annotator: str, session: str, now: float) -> Row[Any] | None:
        mine = {
            task.item: task for task in connection.execute(select(tasks).where(tasks.c.annotator == annotator)).all()
        }
        for question in self.screening.questions_for(annotator):
            task = mine.get(question.id)
            if task is None:
                return self._handed(connection, question.id, None, annotator, session, now)
            if task.answered_at is None:
                return self._claimed(connection, task, session, now)
        self._mark(connection, annotator)  # the questions became fewer since
        return None

    def _handed(
        self,
        connection: Connection,
        item: str,
        row: int | None,
        annotator: str,
        session: str,
        now: float,
        *,
        is_check: bool = False,
    ) -> Row[Any]:
        """A new lease of `item`; a lease of it that ran out is renewed."""
        old = connection.execute(
            select(tasks).where(tasks.c.item == item, tasks.c.annotator == annotator)
        ).one_or_none()
        if old is not None:
            # it was free, so its lease is new; as a question of the trial it may have been begun, and be a check now
            anew = {"begun_at": now, "is_check": is_check, "row": row}
            connection.execute(update(tasks).where(tasks.c.id == old.id).values(anew))
            known = connection.execute(select(tasks).where(tasks.c.id == old.id)).one()
            return self._claimed(connection, known, session, now)
        task = secrets.token_urlsafe(16)
        connection.execute(
            insert(tasks).values(
                id=task,
                item=item,
                row=row,
                annotator=annotator,
                session=session,
                begun_at=now,
                expires_at=self._lease_end(connection, annotator, now, now),
                revision=0,
                is_check=is_check,
            )
        )
        return connection.execute(select(tasks).where(tasks.c.id == task)).one()

    def _claimed(self, connection: Connection, task: Row[Any], session: str, now: float) -> Row[Any]:
        """The task with its lease renewed; another browser of the annotator gets it blank."""
        values: dict[str, Any] = {"expires_at": self._lease_end(connection, task.annotator, task.begun_at, now)}
        if task.session != session:
            values |= {"session": session, "draft": None}
        connection.execute(update(tasks).where(tasks.c.id == task.id).values(values))
        return connection.execute(select(tasks).where(tasks.c.id == task.id)).one()

    def _lease_end(self, connection: Connection, annotator: str, begun_at: float, now: float) -> float:
        """Until when a task stays with this annotator; who has answered none cannot renew it for ever."""
        if _n_answered(connection, annotator):
            return now + self.lease_seconds
        return min(now + self.first_lease_seconds, begun_at + self.lease_seconds)

    def _mark(self, connection: Connection, annotator: str) -> None:
        """Once every qualification question is answered: admit the annotator, or not."""
        answered = {
            task.item: task
            for task in connection.execute(
                select(tasks).where(tasks.c.annotator == annotator, tasks.c.answered_at.is_not(None))
            )
        }
        right = known = 0
        for question in self.screening.questions_for(annotator):
            task = answered.get(question.id)
            if task is None:
                return
            counts = share_right(question, task.ratings, task.best, task.second)
            right, known = right + counts[0], known + counts[1]
        self._set_state(connection, annotator, "active" if self.screening.lets_in(right, known) else "failed")

    def _screen(self, connection: Connection, known: Row[Any]) -> bool:
        """Dequalify who prefers other endings to gold too often (Zellers et al. 2018, A.5); returns whether it did."""
        if known.exempt:
            return False
        found = gold_count(connection, known.id)
        if found.n_items < self.screening.min_gold_items or found.share >= self.screening.needed(found.n_of):
            return False
        self._log(connection, "rule", "screen", known.id)
        self._set_state(connection, known.id, "dequalified")
        return True

    def _mark_check(self, connection: Connection, known: Row[Any], task: Row[Any], answer: Answer) -> None:
        """Record whether a check was passed; who failed it, and too many, is paused or dequalified if that is asked."""
        passed = passes(check_of(connection, task.item), answer.ratings, answer.best, answer.second)
        connection.execute(update(tasks).where(tasks.c.id == task.id).values(passed=passed))
        if passed or known.exempt or not self.attention.flags(*scores(connection, known.id)[known.id]):
            return
        if self.attention.action == "pause":
            self._log(connection, "attention checks", "pause", known.id)
            connection.execute(update(annotators).where(annotators.c.id == known.id).values(paused=True))
            _let_go(connection, known.id)
        elif self.attention.action == "dequalify":
            self._log(connection, "attention checks", "screen", known.id)
            self._set_state(connection, known.id, "dequalified")
            self._settle(connection, _answered_rows(connection, known.id))

    def _set_state(self, connection: Connection, annotator: str, state: str, **values: bool) -> None:
        connection.execute(update(annotators).where(annotators.c.id == annotator).values(state=state, **values))
        if state != "active":
            _let_go(connection, annotator)


def last_event(connection: Connection, annotator: str) -> Row[Any] | None:
    """What was changed last of an annotator's state."""
    latest = select(events).where(events.c.annotator == annotator).order_by(events.c.id.desc()).limit(1)
    return connection.execute(latest).one_or_none()


def _study_is_paused(connection: Connection) -> bool:
    return bool(connection.scalar(select(settings.c.value).where(settings.c.name == PAUSED)))


def gold_count(connection: Connection, annotator: str) -> GoldCount:
    """The items that `annotator` answered, and those where gold was best or second best."""
    is_gold = case((or_(tasks.c.best == 0, tasks.c.second == 0), 1), else_=0)
    answered = select(N_RATED, func.count(), func.sum(is_gold)).where(
        tasks.c.annotator == annotator, tasks.c.row.is_not(None), tasks.c.answered_at.is_not(None)
    )
    by_endings = connection.execute(answered.group_by(N_RATED)).all()
    return GoldCount(sum(n_gold for *_, n_gold in by_endings), {size: n for size, n, _ in by_endings})


def _annotator(connection: Connection, annotator: str) -> Row[Any] | None:
    return connection.execute(select(annotators).where(annotators.c.id == annotator)).one_or_none()


def _may_go_on(known: Row[Any]) -> bool:
    return not known.paused and known.state in ("new", "active")


def _own(task: str, annotator: str, session: str) -> Any:
    return (tasks.c.id == task) & (tasks.c.annotator == annotator) & (tasks.c.session == session)


def _held(connection: Connection, annotator: str, now: float) -> Row[Any] | None:
    """This annotator's unanswered item or check, if its lease has not run out."""
    return connection.execute(
        select(tasks)
        .where(tasks.c.annotator == annotator, tasks.c.answered_at.is_(None), counts_as_work())
        .where(tasks.c.expires_at > now)
        .order_by(tasks.c.begun_at)
        .limit(1)
    ).one_or_none()


def _let_go(connection: Connection, annotator: str) -> None:
    connection.execute(
        update(tasks).where(tasks.c.annotator == annotator, tasks.c.answered_at.is_(None)).values(expires_at=0.0)
    )


def _n_answered(connection: Connection, annotator: str) -> int:
    return gold_count(connection, annotator).n_items


def _n_done(connection: Connection, annotator: str) -> int:
    """Items and checks that `annotator` answered."""
    done = select(func.count()).where(
        tasks.c.annotator == annotator, counts_as_work(), tasks.c.answered_at.is_not(None)
    )
    return connection.scalar(done) or 0


def _answered_rows(connection: Connection, annotator: str) -> Sequence[int]:
    answered = select(tasks.c.row).where(
        tasks.c.annotator == annotator, tasks.c.answered_at.is_not(None), tasks.c.row.is_not(None)
    )
    return connection.scalars(answered.distinct()).all()


def _seconds(task: Row[Any], counted: float | None, now: float) -> float:
    """The seconds that the browser counted, at most the time since the task was begun; that time if it counted none."""
    elapsed = min(MOST_SECONDS, max(0.0, now - task.begun_at))
    if task.answered_at is not None:  # a change: its time comes on top of the first
        return float(max(task.seconds, min(elapsed, task.seconds + max(0.0, counted or 0.0))))
    return elapsed if counted is None else min(elapsed, max(0.0, counted))
