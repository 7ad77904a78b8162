"""Claims about refills once the answers that asked for them have changed: withdrawn, remade, and never at a loss."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from sqlalchemy import select, update
from verify_people import Browser, Clock, judge_next, make_client, make_desk, said

from swag_af.data.errors import InputError
from swag_af.data.runs.run import Run
from swag_af.judging.verdicts import Verdict, is_example, judge, refill
from swag_af.verify.desk import Desk
from swag_af.verify.items import n_wanted
from swag_af.verify.overview import overview
from swag_af.verify.schema import items, settings, writing

LONG = 10_000
"""Seconds after which every lease has ended."""


def lines(desk: Desk) -> list[tuple[int, bool, int]]:
    """The round, whether it is open, and the answers that count, of each item."""
    with desk.store.engine.connect() as connection:
        return [(one.round, one.is_open, one.n_answers) for one in connection.execute(select(items).order_by("round"))]


def columns_of(desk: Desk, item: str) -> tuple[int, ...]:
    with desk.store.engine.connect() as connection:
        return tuple(connection.scalars(select(items.c.columns).where(items.c.id == item)).one())


def change(desk: Desk, name: str, ratings: str) -> None:
    """Let `name` change the last answer."""
    task = desk.task(desk.before(name, "tab", None), name, "tab")
    assert desk.take(task.id, name, "tab", task.revision, said(ratings))


def opened_refill(run: Run, **options: object) -> tuple[Desk, Clock, object]:
    """A desk of one row that ann called gibberish, and the task of bob, who has opened its refill."""
    clock = Clock()
    desk = make_desk(run, clock=clock, limit=1, **options)
    for name in ("bob", "cid"):
        desk.admit(name)
    judge_next(desk, "ann", said("luuggg"))
    return desk, clock, desk.next_task("bob", "tab")


@pytest.mark.parametrize("left_first", [True, False])
def test_a_refill_that_was_opened_and_left_is_withdrawn(run: Run, left_first: bool) -> None:
    """It was handed out, and paid, though the release uses the first round."""
    desk, clock, _ = opened_refill(run)
    clock.now += LONG if left_first else 0
    change(desk, "ann", "luuuuu")
    clock.now += 0 if left_first else LONG
    assert lines(desk) == [(0, False, 1), (1, False, 0)]
    assert desk.is_over()
    assert (desk.next_task("cid", "tab"), desk.next_task("bob", "tab")) == (None, None)
    seen = overview(desk.store, clock())
    assert (seen.n_items, seen.n_closed, seen.n_refilled, seen.n_needed) == (1, 1, 0, 0)


def test_a_refill_of_a_reopened_item_waits_until_it_is_asked_for_again(run: Run) -> None:
    desk, clock, left = opened_refill(run)
    clock.now += LONG
    desk.qualify("ann", False)
    assert lines(desk) == [(0, True, 0), (1, False, 0)]
    assert desk.next_task("cid", "tab").item.endswith("-0")
    desk.undo("ann")
    clock.now += LONG
    assert lines(desk) == [(0, False, 1), (1, True, 0)]
    assert desk.next_task("bob", "tab").id == left.id


def test_a_refill_left_with_other_endings_is_made_anew_under_another_number(run: Run) -> None:
    desk, clock, left = opened_refill(run)
    shown = columns_of(desk, left.item)
    change(desk, "ann", "lgguug")
    clock.now += LONG
    again = desk.next_task("cid", "tab")
    assert again.item == left.item.replace("-1", "-2")
    first = columns_of(desk, left.item.replace("-1", "-0"))
    assert columns_of(desk, again.item)[:3] == (first[0], first[3], first[4])
    assert columns_of(desk, left.item) == shown != columns_of(desk, again.item)


def test_who_comes_back_to_a_withdrawn_refill_is_answered_and_loses_nothing(run: Run) -> None:
    desk, clock, _ = opened_refill(run)
    bob = Browser(make_client(desk, run), "bob").begin()
    number = bob.task
    change(desk, "ann", "luuuuu")
    clock.now += LONG
    assert bob.client.get(f"/item/{number}").status_code == 200
    assert bob.client.post(f"/item/{number}/draft", data=bob.form()).status_code == 204
    clock.now += LONG
    response = bob.send()
    assert (response.status_code, desk.n_answered("bob")) == (200, 1)
    assert [(one.annotator, one.item.round) for one in desk.store.verdicts()] == [("ann", 0), ("bob", 1)]
    assert desk.is_over()


def test_a_late_answer_to_a_refill_made_anew_keeps_its_own_endings(run: Run) -> None:
    desk, clock, left = opened_refill(run)
    shown = columns_of(desk, left.item)
    change(desk, "ann", "lgguug")
    clock.now += LONG
    judge_next(desk, "cid")
    assert desk.take(left.id, "bob", "tab", 0, said())
    assert [(one.annotator, one.item.round) for one in desk.store.verdicts()] == [("ann", 0), ("bob", 1), ("cid", 2)]
    assert desk.store.verdicts()[1].item.columns == shown


def test_a_late_answer_to_a_withdrawn_refill_counts_and_opens_it_for_nobody(run: Run) -> None:
    """It was handed out, and paid, to somebody who had nothing to decide."""
    clock = Clock()
    desk = make_desk(run, clock=clock, limit=1, annotators_per_item=2)
    for name in ("ann", "abe", "bob", "cid"):
        desk.admit(name)
    judge_next(desk, "ann", said("luuggg")), judge_next(desk, "abe", said("luuggg"))
    left = desk.next_task("bob", "tab")
    change(desk, "ann", "luuuuu"), change(desk, "abe", "luuuuu")
    assert desk.take(left.id, "bob", "tab", 0, said())
    assert lines(desk) == [(0, False, 2), (1, False, 1)]
    assert desk.is_over()
    assert desk.next_task("cid", "tab") is None
    assert [one.annotator for one in desk.store.verdicts()] == ["abe", "ann", "bob"]
    change(desk, "ann", "luuggg"), change(desk, "abe", "luuggg")
    assert lines(desk) == [(0, False, 2), (1, True, 1)]
    assert desk.next_task("cid", "tab").item == left.item


def test_gibberish_in_a_refill_that_nothing_asks_for_is_not_refilled(run: Run) -> None:
    desk, clock, left = opened_refill(run)
    change(desk, "ann", "luuuuu")
    clock.now += LONG
    assert desk.take(left.id, "bob", "tab", 0, said("luuggg"))
    assert lines(desk) == [(0, False, 1), (1, False, 1)]
    change(desk, "ann", "luuggg")
    assert lines(desk) == [(0, False, 1), (1, False, 1), (2, True, 0)]


def test_a_refill_that_only_people_shut_out_have_answered_is_withdrawn_and_counts_again_with_them(run: Run) -> None:
    desk, _, left = opened_refill(run)
    assert desk.take(left.id, "bob", "tab", 0, said())
    desk.qualify("bob", False)
    assert lines(desk) == [(0, False, 1), (1, True, 0)]
    change(desk, "ann", "luuuuu")
    assert lines(desk) == [(0, False, 1), (1, False, 0)]
    desk.undo("bob")
    assert lines(desk) == [(0, False, 1), (1, False, 1)]
    assert len(desk.store.verdicts()) == 2


def test_more_annotators_an_item_reopen_no_withdrawn_refill(run: Run) -> None:
    desk, clock, _ = opened_refill(run)
    change(desk, "ann", "luuuuu")
    clock.now += LONG
    desk.store.close()
    again = make_desk(run, clock=clock, limit=1, annotators_per_item=2)
    assert lines(again) == [(0, True, 1), (1, False, 0)]
    assert judge_next(again, "cid").endswith("-0")


def test_a_store_of_an_older_release_is_settled_at_the_next_start(run: Run) -> None:
    desk, clock, _ = opened_refill(run)
    change(desk, "ann", "luuuuu")
    with writing(desk.store.engine) as connection:  # as it was left then
        connection.execute(update(items).where(items.c.round == 1).values(is_open=True))
        older = {"annotators": 1, "most_annotators": 3}
        connection.execute(update(settings).where(settings.c.name == "rules").values(value=older))
    desk.store.close()
    clock.now += LONG
    assert make_desk(run, clock=clock, limit=1).is_over()


# ------------------------------------------------------------------------------- whatever people do


@dataclass
class Crowd:
    """People who open, leave, come back late, answer, correct themselves, and are shut out and let in again."""

    run: Run
    seed: int
    per_item: int = 1
    clock: Clock = field(default_factory=Clock)
    shown: dict[str, tuple[str, str, tuple[int, ...]]] = field(default_factory=dict)
    """Of each task handed out: who has it, of which item, with which endings."""
    said: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What was last taken for each task."""

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.people = [f"a{k}" for k in range(6)]
        self.begin()
        for name in self.people:
            self.desk.admit(name)

    def begin(self) -> None:
        """Start the server, or start it again."""
        self.desk = make_desk(self.run, clock=self.clock, limit=4, annotators_per_item=self.per_item)

    def step(self) -> None:
        """One thing that somebody does."""
        name, kind = str(self.rng.choice(self.people)), self.rng.random()
        if kind < 0.5:
            self.open_next(name)
        elif kind < 0.75 and self.shown:
            self.send(str(self.rng.choice(list(self.shown))))
        elif kind < 0.85:
            self.clock.now += float(self.rng.choice([10, 400, 4000]))
        elif kind < 0.9:
            self.desk.qualify(name, bool(self.rng.random() < 0.6))
        elif kind < 0.94:
            self.desk.undo(name)
        elif kind < 0.98:
            self.desk.pause(name, bool(self.rng.random() < 0.4))
        else:
            self.desk.store.close()
            self.per_item = int(self.rng.integers(1, 4))
            self.begin()

    def open_next(self, name: str) -> None:
        """Ask for an item; half of the time it is left there."""
        task = self.desk.next_task(name, "tab")
        if task is None:
            return
        if task.id not in self.shown:
            assert not self.of_row(name, task.row), "a row twice"
        self.shown[task.id] = name, task.item, columns_of(self.desk, task.item)
        if self.rng.random() < 0.5:
            self.send(task.id)

    def of_row(self, name: str, row: int) -> list[tuple[int, ...]]:
        """The endings of a row that this person was shown."""
        return [columns for who, item, columns in self.shown.values() if who == name and item.startswith(f"{row}-")]

    def send(self, number: str) -> None:
        """Answer a task, however old, or change its answer."""
        name, item, columns = self.shown[number]
        assert columns_of(self.desk, item) == columns, "other endings than were shown"
        task, words = self.desk.task(number, name, "tab"), "".join(self.rng.choice(list("luggg"), len(columns)))
        best, second = self.rng.permutation(len(columns))[:2].tolist()
        answer = said(words, best, second)
        try:
            assert self.desk.take(number, name, "tab", task.revision, answer)
        except InputError:
            assert self.desk.state_of(name) != "active"
            return
        self.said[number] = answer.ratings

    def check(self) -> None:
        """That nothing answered is lost, and every row is as its answers ask for."""
        kept = {(one.annotator, one.item.id): one for one in self.desk.store.verdicts(include_dequalified=True)}
        assert len(kept) == len(self.said)
        for number, ratings in self.said.items():
            name, item, columns = self.shown[number]
            assert (kept[name, item].ratings, kept[name, item].item.columns) == (ratings, columns)
        rows = _standing(self.desk)
        for of_row in rows:
            check_row(self.desk, of_row)
        assert self.desk.is_over() == (not any(one.is_open for of_row in rows for one in of_row))


@dataclass(frozen=True)
class Standing:
    """An item that was not withdrawn, with the verdicts that count."""

    columns: tuple[int, ...]
    is_open: bool
    is_answered: bool
    """Whether it has all the answers that it needs."""
    verdicts: list[Verdict]
    round: int


def _standing(desk: Desk) -> list[list[Standing]]:
    """The items of each row that were not withdrawn, by round."""
    verdicts, rows = desk.store.verdicts(), {}
    with desk.store.engine.connect() as connection:
        for line in connection.execute(select(items).order_by(items.c.row, items.c.round)):
            counting = [one for one in verdicts if one.item.id == line.id]
            assert line.n_answers == len(counting)
            if line.is_open or counting:
                n = n_wanted(counting, desk.rules)
                assert line.wanted == n
                one = Standing(tuple(line.columns), line.is_open, len(counting) >= n, counting, line.round)
                rows.setdefault(line.row, []).append(one)
    return list(rows.values())


def check_row(desk: Desk, of_row: list[Standing]) -> None:
    """A refill is open if it is the one that the rounds before it ask for and lacks answers, and none that they ask
    for is lacking; one without answers is open."""
    assert of_row[0].round == 0
    assert of_row[0].is_open == (not of_row[0].is_answered)
    for k, one in enumerate(of_row[1:], 1):
        assert one.is_open == (not one.is_answered and one.columns == asked_for(desk, of_row[:k]))
        assert one.is_open or one.verdicts
    assert any(one.is_open for one in of_row) or asked_for(desk, of_row) is None


def asked_for(desk: Desk, before: list[Standing]) -> tuple[int, ...] | None:
    """The endings that should be shown after these rounds; None for no further round."""
    judged = [judge(one.verdicts, seed=desk.rules.seed)[0] for one in before if one.is_answered]
    if any(one.is_open for one in before) or any(map(is_example, judged)):
        return None
    shown = {column for one in before if one.round <= judged[-1].item.round for column in one.columns}
    found = refill(judged[-1], desk.rules.assignment[judged[-1].item.row, 1:], shown)
    return None if found is None else found.columns


@pytest.mark.parametrize("seed", range(4))
def test_whatever_people_do_a_refill_stands_where_it_is_asked_for_and_nothing_is_lost(run: Run, seed: int) -> None:
    crowd = Crowd(run, seed, per_item=1 + seed % 3)
    for _ in range(25):
        for _ in range(10):
            crowd.step()
        crowd.check()
    assert crowd.said
