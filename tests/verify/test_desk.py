"""Claims about who gets which item, what becomes of answers, and who may go on."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select, update
from verify_people import N_ROWS, Clock, judge_next, make_desk, make_run, said, small_pool

from swag_af.cli.main import main
from swag_af.data.disk.files import write_jsonl
from swag_af.data.errors import InputError
from swag_af.data.runs.run import Run
from swag_af.judging.verdicts import make_items, read_verdicts, with_ordered_columns, write_verdicts
from swag_af.verify.desk import Desk, Screening
from swag_af.verify.items import n_wanted
from swag_af.verify.overview import overview
from swag_af.verify.qualification import read_questions, share_right
from swag_af.verify.schema import annotators, items, tasks, writing
from swag_af.verify.store import open_store, read_keys


def all_of(desk: Desk, name: str, answer=None) -> list[str]:
    """Everything that is there for `name`."""
    answered = []
    while (item := judge_next(desk, name, answer)) is not None:
        answered.append(item)
    return answered


def line(desk: Desk, item: str):
    with desk.store.engine.connect() as connection:
        return connection.execute(select(items).where(items.c.id == item)).one_or_none()


# ------------------------------------------------------------------------------- which item to whom


def test_every_item_of_the_run_is_shown_with_the_endings_drawn_for_it(run: Run) -> None:
    desk = make_desk(run, seed=3)
    assert len(all_of(desk, "ann")) == N_ROWS
    assert [verdict.item for verdict in desk.store.verdicts()] == make_items(run.assignment(), seed=3)


def test_the_order_is_drawn_by_the_seed(tmp_path: Path) -> None:
    one, same, other = (
        make_desk(make_run(small_pool(), tmp_path / f"run{i}"), seed=s) for i, s in enumerate((1, 1, 2))
    )
    assert all_of(one, "ann") == all_of(same, "bob") != all_of(other, "ann")


def test_one_annotator_an_item_closes_it(run: Run) -> None:
    desk = make_desk(run)
    assert len(all_of(desk, "ann")) == N_ROWS
    assert all_of(desk, "bob") == []


def test_each_item_gets_as_many_people_as_asked_for_when_they_agree(run: Run) -> None:
    desk = make_desk(run, annotators_per_item=2)
    for _ in range(N_ROWS):
        for name in ("ann", "bob", "cid"):
            judge_next(desk, name)
    assert set(Counter(verdict.item for verdict in desk.store.verdicts()).values()) == {2}


def test_nobody_is_shown_an_item_twice(run: Run) -> None:
    desk = make_desk(run, annotators_per_item=3)
    answered = all_of(desk, "ann")
    assert len(answered) == len(set(answered)) == N_ROWS


def test_an_item_in_hand_goes_to_nobody_else(run: Run) -> None:
    desk = make_desk(run)
    desk.admit("ann"), desk.admit("bob")
    one, two = desk.next_task("ann", "s"), desk.next_task("bob", "s")
    assert one.item != two.item
    assert desk.next_task("ann", "s").id == one.id


def test_an_item_whose_answers_disagree_goes_to_another_person_first(run: Run) -> None:
    desk = make_desk(run, annotators_per_item=2, max_annotators_per_item=3)
    ann, bob = all_of(desk, "ann", said(best=0)), []
    for k in range(N_ROWS):
        bob.append(judge_next(desk, "bob", said(best=2) if k == 8 else said()))
    assert ann == bob
    desk.admit("cid")
    assert desk.next_task("cid", "s").item == bob[8]
    assert all_of(desk, "cid") == [bob[8]]


def test_disagreement_ends_with_the_largest_number_of_people(run: Run) -> None:
    desk = make_desk(run, limit=1, annotators_per_item=2, max_annotators_per_item=4)
    answered = [judge_next(desk, f"a{k}", said(best=k % 6, second=(k + 1) % 6)) for k in range(6)]
    assert [item is not None for item in answered] == [True] * 4 + [False] * 2


def test_a_lease_that_ran_out_returns_the_item_and_a_late_answer_is_still_kept(run: Run) -> None:
    clock = Clock()
    desk = make_desk(run, limit=2, lease_minutes=10, clock=clock)
    judge_next(desk, "ann"), desk.admit("bob")
    late = desk.next_task("ann", "s")
    clock.now += 599
    assert desk.next_task("bob", "s") is None
    clock.now += 2
    assert judge_next(desk, "bob") == late.item
    assert desk.take(late.id, "ann", "s", 0, said())
    assert {verdict.annotator for verdict in desk.store.verdicts()} == {"ann", "bob"}


def test_who_comes_back_to_a_lapsed_first_item_has_it_anew(run: Run) -> None:
    """Its lease had ended before it began: somebody else got the item as well, and a reload led to another."""
    clock = Clock()
    desk = make_desk(run, limit=3, lease_minutes=10, clock=clock)
    for name in ("ann", "bob"):
        desk.admit(name)
    first = desk.next_task("ann", "s")
    clock.now += 1500
    again = desk.next_task("ann", "s")
    assert again.id == first.id
    assert again.expires_at > clock.now
    assert desk.next_task("bob", "s").item != first.item
    assert desk.next_task("ann", "s").id == first.id


def test_who_is_shut_out_holds_no_item_by_choosing_on(run: Run) -> None:
    desk = make_desk(run, limit=1)
    desk.admit("ann"), desk.admit("bob")
    task = desk.next_task("ann", "s")
    desk.qualify("ann", False)
    desk.keep_draft(task.id, "ann", "s", {"best": "1"})
    assert desk.next_task("bob", "s").item == task.item


def test_a_draft_renews_the_lease(run: Run) -> None:
    clock = Clock()
    desk = make_desk(run, limit=2, lease_minutes=10, clock=clock)
    judge_next(desk, "ann"), desk.admit("bob")
    task = desk.next_task("ann", "s")
    clock.now += 500
    assert desk.keep_draft(task.id, "ann", "s", {"best": "1"})
    clock.now += 500
    assert desk.next_task("bob", "s") is None
    assert desk.next_task("ann", "s").draft == {"best": "1"}


def test_people_get_no_more_items_than_they_are_meant_to(run: Run) -> None:
    assert len(all_of(make_desk(run, items_per_annotator=4), "ann")) == 4


@pytest.mark.parametrize("n_threads", [8])
def test_people_at_once_at_two_servers_never_hold_the_same_item(run: Run, n_threads: int) -> None:
    desks = make_desk(run), make_desk(run)

    def work(k: int) -> list[str]:
        return all_of(desks[k % 2], f"a{k}")

    # what people without an answer hold may go to others in the end, so everybody has given one before
    answered = [judge_next(desks[k % 2], f"a{k}") for k in range(n_threads)]
    with ThreadPoolExecutor(n_threads) as pool:
        answered += [item for part in pool.map(work, range(n_threads)) for item in part]
    assert sorted(answered) == sorted(item.id for item in make_items(run.assignment(), seed=0))


# ------------------------------------------------------------------------------- refills


def test_an_item_with_too_few_sensible_endings_is_refilled_for_somebody_else(run: Run) -> None:
    desk = make_desk(run, limit=1)
    first = judge_next(desk, "ann", said("lgglgg", best=0, second=3))
    assert judge_next(desk, "ann") is None
    again = judge_next(desk, "bob")
    assert again == first.replace("-0", "-1")
    old, new = (verdict.item for verdict in desk.store.verdicts())
    assert set(new.columns) & set(old.columns) == {0, old.columns[3]}
    assert set(new.columns) <= set(run.assignment()[new.row].tolist())
    assert all_of(desk, "cid") == []


def test_refills_end_when_the_assignment_has_no_more(run: Run) -> None:
    desk = make_desk(run, limit=1)
    rounds = [judge_next(desk, f"a{k}", said("lggggg", best=0)) for k in range(4)]
    assert rounds[1].endswith("-1")
    assert rounds[2:] == [None, None]  # of nine negatives five were shown, then four


def test_taking_gibberish_back_withdraws_the_refill_that_nobody_has_seen(run: Run) -> None:
    desk = make_desk(run, limit=1)
    first = judge_next(desk, "ann", said("lggggg"))
    task = desk.task(desk.before("ann", "tab", None), "ann", "tab")
    assert line(desk, first.replace("-0", "-1")) is not None
    assert desk.take(task.id, "ann", "tab", 1, said())
    assert line(desk, first.replace("-0", "-1")) is None
    assert judge_next(desk, "bob") is None


def test_a_refill_in_somebodys_hands_stays(run: Run) -> None:
    desk = make_desk(run, limit=1)
    judge_next(desk, "ann", said("lggggg"))
    desk.admit("bob")
    held = desk.next_task("bob", "s")
    desk.take(desk.before("ann", "tab", None), "ann", "tab", 1, said())
    assert desk.take(held.id, "bob", "s", 0, said())


# ------------------------------------------------------------------------------- answers


def test_the_same_answer_sent_twice_is_one(run: Run) -> None:
    desk = make_desk(run)
    desk.admit("ann")
    task = desk.next_task("ann", "s")
    assert desk.take(task.id, "ann", "s", 0, said())
    assert not desk.take(task.id, "ann", "s", 0, said(best=3))
    assert [verdict.best for verdict in desk.store.verdicts()] == [0]


def test_an_answer_can_be_changed_afterwards(run: Run) -> None:
    clock = Clock()
    desk = make_desk(run, clock=clock)
    for best in (2, 3):
        judge_next(desk, "ann", said(best=best))
        clock.now += 1
    last = desk.before("ann", "tab", None)
    first = desk.before("ann", "tab", last)
    assert desk.before("ann", "tab", first) is None
    assert desk.take(first, "ann", "tab", 1, said(best=4))
    assert sorted(verdict.best for verdict in desk.store.verdicts()) == [3, 4]


def test_another_browser_of_the_same_id_sees_none_of_the_answers(run: Run) -> None:
    desk = make_desk(run)
    judge_next(desk, "ann")
    task = desk.before("ann", "tab", None)
    assert desk.before("ann", "elsewhere", None) is None
    assert desk.task(task, "ann", "elsewhere") is None
    with pytest.raises(InputError, match="no such task"):
        desk.take(task, "ann", "elsewhere", 1, said())


def test_another_browser_gets_the_item_in_hand_without_the_draft(run: Run) -> None:
    desk = make_desk(run)
    desk.admit("ann")
    task = desk.next_task("ann", "one")
    desk.keep_draft(task.id, "ann", "one", {"best": "1"})
    other = desk.next_task("ann", "two")
    assert (other.id, other.draft) == (task.id, None)


@pytest.mark.parametrize(
    ("counted", "passed", "kept"), [(None, 40, 40), (12, 40, 12), (900, 40, 40), (None, 1e6, 3600)]
)
def test_seconds_are_those_in_view_and_never_more_than_went_by(
    run: Run, counted: float | None, passed: float, kept: float
) -> None:
    clock = Clock()
    desk = make_desk(run, clock=clock)
    desk.admit("ann")
    task = desk.next_task("ann", "s")
    clock.now += passed
    desk.take(task.id, "ann", "s", 0, said(seconds=counted))
    (verdict,) = desk.store.verdicts()
    assert verdict.seconds == kept


def test_a_changed_answer_took_no_longer_than_went_by(run: Run) -> None:
    clock = Clock()
    desk = make_desk(run, clock=clock)
    desk.admit("ann")
    task = desk.next_task("ann", "s")
    clock.now += 1
    assert desk.take(task.id, "ann", "s", 0, said(seconds=1))
    clock.now += 1
    assert desk.take(task.id, "ann", "s", desk.task(task.id, "ann", "s").revision, said(best=1, second=0, seconds=3000))
    (verdict,) = desk.store.verdicts()
    assert verdict.seconds == 2


def test_an_item_whose_answers_count_no_more_is_as_at_first(run: Run) -> None:
    """It went on being counted and served as a disagreement."""
    desk = make_desk(run, annotators_per_item=2)
    for name, best in (("ann", 0), ("bob", 1)):
        desk.admit(name)
        judge_next(desk, name, said(best=best, second=2))
    assert overview(desk.store, desk.clock()).n_disagreements == 1
    for name in ("ann", "bob"):
        desk.qualify(name, False)
    assert overview(desk.store, desk.clock()).n_disagreements == 0


def test_the_store_agrees_with_a_count_of_its_verdicts(run: Run) -> None:
    """Whatever people do, each item is as open as the verdicts that count say, and a refill that is withdrawn closed,
    of which `test_refills.py` asks when."""
    desk = make_desk(run, Screening(min_gold_items=4, min_gold_share=0.4), annotators_per_item=2)
    rng = np.random.default_rng(5)
    people = [f"a{k}" for k in range(9)]
    for name in people:
        desk.admit(name)
    for _ in range(100):
        name = str(rng.choice(people))
        order = rng.permutation(6).tolist()
        kind = rng.random()
        if kind < 0.85:
            judge_next(desk, name, said("".join(rng.choice(list("llug"), 6)), order[0], order[1]))
        elif kind < 0.93 and (last := desk.before(name, "tab", None)) and desk.state_of(name) == "active":
            revision = desk.task(last, name, "tab").revision
            assert desk.take(last, name, "tab", revision, said(best=order[0], second=order[1]))
        else:
            desk.qualify(name, bool(rng.random() < 0.6))
    by_item = Counter(verdict.item.id for verdict in desk.store.verdicts())
    assert by_item
    with desk.store.engine.connect() as connection:
        lines = connection.execute(select(items)).all()
        assert connection.scalars(select(tasks.c.id)).all()
    for item in lines:
        verdicts = [verdict for verdict in desk.store.verdicts() if verdict.item.id == item.id]
        assert (item.n_answers, item.wanted) == (len(verdicts), n_wanted(verdicts, desk.rules))
        lacks_answers = len(verdicts) < item.wanted
        assert item.is_open in ((False, lacks_answers) if item.round else (lacks_answers,))


# ------------------------------------------------------------------------------- who may go on


def test_who_prefers_other_endings_to_gold_is_dequalified_and_the_items_go_to_others(run: Run) -> None:
    desk = make_desk(run, Screening(min_gold_items=10, min_gold_share=0.55))
    poor = all_of(desk, "ann", said(best=3, second=4))
    assert (len(poor), desk.state_of("ann")) == (10, "dequalified")
    assert desk.store.verdicts() == []
    assert len(desk.store.verdicts(include_dequalified=True)) == 10
    assert set(poor) <= set(all_of(desk, "bob"))


def test_a_share_that_is_just_reached_is_enough(tmp_path: Path) -> None:
    """14 of 25 are 0.56, though 0.56 * 25 is a little more than 14 to a computer."""
    run = make_run(small_pool(25), tmp_path / "run")
    desk = make_desk(run, Screening(min_gold_items=25, min_gold_share=0.56))
    for k in range(25):
        judge_next(desk, "ann", said() if k < 14 else said(best=3, second=4))
    assert desk.state_of("ann") == "active"


@pytest.mark.parametrize(
    ("n_assigned", "given", "state"),
    [(4, None, "dequalified"), (4, 0.55, "active"), (7, None, "active"), (2, None, "active")],
)
def test_how_often_gold_must_be_in_the_top_two_hangs_on_the_number_of_endings(
    tmp_path: Path, n_assigned: int, given: float | None, state: str
) -> None:
    """Six of ten are above 0.55, though of four endings luck gives five."""
    run = make_run(small_pool(), tmp_path / "run", n_assigned=n_assigned)
    desk = make_desk(run, Screening(min_gold_items=10, min_gold_share=given))
    n = min(6, n_assigned)
    other = said("l" * n, *((1, 2) if n > 2 else (1, 0)))
    for k in range(10):
        judge_next(desk, "ann", said("l" * n) if k < 6 else other)
    assert desk.state_of("ann") == state


def test_gold_second_best_is_gold_in_the_top_two(run: Run) -> None:
    desk = make_desk(run, Screening(min_gold_items=10, min_gold_share=0.55))
    assert len(all_of(desk, "ann", said(best=3, second=0))) == N_ROWS


def test_who_is_let_in_again_counts_again_and_is_exempt(run: Run) -> None:
    desk = make_desk(run, Screening(min_gold_items=2))
    all_of(desk, "ann", said(best=3, second=4))
    desk.qualify("ann", True)
    assert len(desk.store.verdicts()) == 2
    assert len(all_of(desk, "ann", said(best=3, second=4))) == N_ROWS - 2


def test_who_is_paused_gets_nothing_until_resumed(run: Run) -> None:
    desk = make_desk(run)
    held = (desk.admit("ann"), desk.next_task("ann", "s"))[1]
    desk.pause("ann", True)
    assert desk.next_task("ann", "s") is None
    assert judge_next(desk, "bob") == held.item
    desk.pause("ann", False)
    assert judge_next(desk, "ann") is not None


def test_the_qualification_lets_in_who_knows_the_answers(run: Run) -> None:
    questions = read_questions("builtin")
    desk = make_desk(run, Screening(questions, share=0.75))
    for question in questions:
        right = "".join((rating or "likely")[0] for rating in question.ratings)
        assert desk.state_of("ann") in (None, "new")
        assert judge_next(desk, "ann", said(right, *question.best)) == question.id
    assert desk.state_of("ann") == "active"
    assert desk.store.verdicts() == []


def test_the_qualification_keeps_out_who_guesses(run: Run) -> None:
    desk = make_desk(run, Screening(read_questions("builtin"), share=0.75))
    assert len(all_of(desk, "ann", said("llllll", 2, 3))) == 4
    assert desk.state_of("ann") == "failed"


def test_an_answer_of_the_qualification_is_final_once_it_is_over(run: Run) -> None:
    desk = make_desk(run, Screening(read_questions("builtin")[:1], share=0.75))
    desk.admit("ann")
    task = desk.next_task("ann", "s")
    desk.take(task.id, "ann", "s", 0, said("llllll", 2, 3))
    with pytest.raises(InputError, match="not taken"):
        desk.take(task.id, "ann", "s", 1, said("lluugu", 0, 1))


def test_known_answers_are_counted_one_by_one() -> None:
    (question,) = read_questions("builtin")[:1]
    assert share_right(question, question.ratings, 0, 1) == (8, 8)
    assert share_right(question, ["gibberish"] * 6, 5, 0) == (2, 8)


def test_that_no_whole_ending_is_called_gibberish_is_one_known_answer(tmp_path: Path) -> None:
    line = {"sent1": "A.", "start": "He", "endings": ["a", "b", "c"], "ratings": [None, None, "gibberish"], "best": 0}
    write_jsonl(tmp_path / "mine.jsonl", [line | {"whole": [0, 1]}])
    (question,) = read_questions(str(tmp_path / "mine.jsonl"))
    assert share_right(question, ("likely", "unlikely", "gibberish"), 0, 1) == (3, 3)
    assert share_right(question, ("gibberish", "gibberish", "gibberish"), 0, 1) == (2, 3)


BAD_QUESTIONS = [
    ('{"start": "He", "endings": ["a", "b"], "best": 0}', "sent1"),
    ('{"sent1": "A.", "start": "He", "endings": ["a"], "best": 0}', "from two to nine"),
    ('{"sent1": "A.", "start": "He", "endings": ["a", "b"], "best": 2}', "places from 0 to 1"),
    ('{"sent1": "A.", "start": "He", "endings": ["a", "b"], "best": [], "ratings": null}', "names one at least"),
    ('{"sent1": "A.", "start": "He", "endings": ["a", "b"], "best": 0, "second": 0}', "the same place"),
    ('{"sent1": "A.", "start": "He", "endings": ["a", "b"], "best": 0, "whole": [2]}', "places from 0 to 1"),
    (
        '{"sent1": "A.", "start": "", "endings": ["a", "b"], "best": 0, "whole": [1], "ratings": [null, "gibberish"]}',
        "an ending that whole names is known as gibberish",
    ),
    ('{"sent1": "A.", "start": "He", "endings": ["a", "a "], "best": 0}', "two of its endings are the same"),
    ('{"sent1": "A.", "start": "He", "endings": ["a", "b"], "best": 0, "ratings": ["likely"]}', "1 ratings for 2"),
    (
        '{"sent1": "A.", "start": "He", "endings": ["a", "b"], "best": 0, "ratings": ["good", null]}',
        r"ratings\[0\]: invalid enum",
    ),
    (
        '{"sent1": "A.", "start": "He", "endings": ["a", "b"], "best": 0, "ratings": [["likely"], {}]}',
        r"ratings\[0\]: expected str",
    ),
    ('{"sent1": "A.", "start": "He", "endings": "ab", "best": 0}', "endings: expected array"),
    ('{"sent1": "A.", "start": "He", "endings": ["a", "b"], "best": Infinity}', "best: expected int"),
    ('{"sent1": "A.", "start": "He", "endings": ["a", "b"], "best": [0.5]}', r"best\[0\]: expected int"),
    ("", "no question"),
]


@pytest.mark.parametrize(("content", "said"), BAD_QUESTIONS, ids=[said for _, said in BAD_QUESTIONS])
def test_a_question_that_cannot_be_asked_is_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "q.jsonl").write_text(content)
    with pytest.raises(InputError, match=said):
        read_questions(str(tmp_path / "q.jsonl"))


# ------------------------------------------------------------------------------- the store, begun and opened again


def test_a_verification_goes_on_where_it_was(run: Run) -> None:
    first = make_desk(run)
    answered = [judge_next(first, "ann") for _ in range(7)]
    first.store.close()
    assert set(all_of(make_desk(run), "ann")).isdisjoint(answered)


@pytest.mark.parametrize("changed", [{"seed": 1}])
def test_a_verification_begun_otherwise_is_refused(run: Run, changed: dict[str, int]) -> None:
    make_desk(run)
    with pytest.raises(InputError, match="begun with other seed"):
        make_desk(run, **changed)


def test_the_limit_may_grow(run: Run) -> None:
    few = all_of(make_desk(run, limit=5), "ann")
    assert len(few) == 5
    assert len(all_of(make_desk(run, limit=12), "ann")) == 7


def test_more_annotators_an_item_reopen_it(run: Run) -> None:
    all_of(make_desk(run, limit=5), "ann")
    assert len(all_of(make_desk(run, limit=5, annotators_per_item=2), "bob")) == 5


def test_verdicts_of_the_store_are_a_file_that_reads_back(run: Run, tmp_path: Path) -> None:
    all_of(make_desk(run, limit=5), "ann", said("lugull", best=4, second=0))
    verdicts = open_store(run.path).verdicts()
    write_verdicts(tmp_path / "verdicts.jsonl", verdicts, run.pool.identity)
    collected = [with_ordered_columns(verdict) for verdict in verdicts]
    assert read_verdicts(tmp_path / "verdicts.jsonl", run.pool.identity) == collected
    assert [verdict.best for verdict in verdicts] == [4] * 5


def test_a_verification_that_was_not_begun_is_refused_and_leaves_nothing(run: Run) -> None:
    with pytest.raises(InputError, match="no verification was begun"):
        open_store(run.path)
    assert not (run.path / "verification").exists()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("nonsense", "not a database URL"),
        ("abc://x/y", "neither PostgreSQL nor SQLite"),
        ("sqlite+abc:///x", "not a database URL"),
        ("sqlite:////nowhere/x.db", "opened"),
    ],
)
def test_a_database_that_cannot_be_had_is_refused(run: Run, url: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        open_store(run.path, url)


def test_the_overview_counts_what_is_there(run: Run) -> None:
    clock = Clock()
    desk = make_desk(run, annotators_per_item=2, limit=6, clock=clock)
    all_of(desk, "ann")
    for k in range(3):
        judge_next(desk, "bob", said(best=2, second=0) if k else said())
    desk.admit("cid"), desk.next_task("cid", "s")
    seen = overview(desk.store, clock())
    counts = (seen.n_items, seen.n_closed, seen.n_disagreements, seen.n_in_hand, seen.n_answers)
    assert counts == (6, 1, 2, 1, 9)
    assert [(one.annotator, one.n, one.n_gold) for one in seen.annotators] == [
        ("ann", 6, 6),
        ("bob", 3, 3),
        ("cid", 0, 0),
    ]


def test_another_rule_of_screening_holds_from_the_next_start_for_answers_given_before(run: Run) -> None:
    desk = make_desk(run, Screening(min_gold_items=10))
    assert desk.screen_again() == 0
    for name in ("bad", "let in"):
        for _ in range(5):
            judge_next(desk, name, said("uuuull", best=4, second=5))
    for _ in range(2):
        judge_next(desk, "few", said("uuuull", best=4, second=5))
    desk.qualify("let in", True)
    desk.pause("bad", True)
    desk.store.close()
    again = make_desk(run, Screening(min_gold_items=5))
    assert again.screen_again() == 1
    again.pause("bad", False)
    assert [again.state_of(name) for name in ("bad", "let in", "few")] == ["dequalified", "active", "active"]
    assert Counter(verdict.annotator for verdict in again.store.verdicts()) == {"let in": 5, "few": 2}
    assert len(all_of(again, "new")) == N_ROWS - 7


def test_the_same_rule_of_screening_shuts_nobody_out_at_the_next_start(run: Run) -> None:
    desk = make_desk(run, Screening(min_gold_items=5))
    desk.screen_again()
    for _ in range(6):
        judge_next(desk, "bad", said("uuuull", best=4, second=5))
    desk.qualify("bad", True)
    with writing(desk.store.engine) as connection:
        connection.execute(update(annotators).values(exempt=False))
    assert desk.screen_again() == 0
    assert desk.state_of("bad") == "active"


def test_the_server_screens_again_when_it_is_started_with_another_rule(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    desk = make_desk(run)
    for _ in range(6):
        judge_next(desk, "bad", said("uuuull", best=4, second=5))
    desk.store.close()
    for flags, is_told in ((("--min-gold-items", "7"), False), (("--min-gold-items", "6"), True)):
        main(["verify", "serve", str(run.path), "--port", "0", *flags])
        assert ("1 person is dequalified by it" in capsys.readouterr().out) == is_told
    assert make_desk(run).state_of("bad") == "dequalified"


def test_a_dequalification_that_was_sent_twice_can_be_undone(run: Run) -> None:
    desk = make_desk(run)
    desk.admit("ann")
    desk.qualify("ann", False)
    desk.qualify("ann", False)
    assert desk.undo("ann")
    assert desk.state_of("ann") == "active"


def test_a_database_that_is_not_there_is_not_made_by_who_looks_for_it(run: Run, tmp_path: Path) -> None:
    make_desk(run)
    missing = tmp_path / "typo.db"
    with pytest.raises(InputError, match="no verification was begun"):
        open_store(run.path, f"sqlite:///{missing}")
    assert not missing.exists()


def test_keys_that_several_ask_for_at_once_are_one(run: Run) -> None:
    make_desk(run)
    (run.path / "verification" / "keys.json").unlink(missing_ok=True)
    with ThreadPoolExecutor(8) as executor:
        made = list(executor.map(lambda _: read_keys(run.path), range(16)))
    assert len(set(made)) == 1
