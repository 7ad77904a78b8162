"""Claims about strangers: only the invited come in, made-up ids hold nothing up, questions cannot be prepared for."""

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import make_contexts_of
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, update
from verify_people import TOKEN, Browser, Clock, judge_next, make_desk, make_run, said, small_pool

from swag_af.cli.main import main
from swag_af.data.errors import InputError
from swag_af.data.pool.listing import Contexts
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run
from swag_af.verify.checks import check_of, keep_checks
from swag_af.verify.desk import Answer, Desk, Screening
from swag_af.verify.items import rows_left_out
from swag_af.verify.options import ServeOptions
from swag_af.verify.presentation import shown_question
from swag_af.verify.qualification import (
    N_DRAWN_EACH,
    QualificationQuestion,
    draw_questions,
    is_long,
    read_questions,
    share_right,
    shuffled,
)
from swag_af.verify.schema import checks
from swag_af.verify.store import read_keys
from swag_af.verify.web.security import Signer
from swag_af.verify.web.server import _site, make_app
from swag_af.verify.web.site import Site


def invite(run: Run, *words: object) -> list[dict[str, str]]:
    assert run.path is not None
    out = run.path.parent / "links.csv"
    main(["verify", "invite", str(run.path), "--out", str(out), "--force", *map(str, words)])
    assert out.stat().st_mode & 0o777 == 0o600
    with out.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def client_of(desk: Desk, run: Run, *, invited_only: bool) -> TestClient:
    signer = Signer(read_keys(run.path).secret, " invited" if invited_only else "")
    return TestClient(make_app(Site(desk, run, signer, invited_only=invited_only), TOKEN, 1e6))


# ------------------------------------------------------------------------------- invitations


def test_an_invited_person_comes_in_and_nobody_else(run: Run) -> None:
    desk = make_desk(run)
    links = invite(run, "--n", 2, "--address", "http://testserver")
    assert len({link["annotator"] for link in links}) == 2
    client = client_of(desk, run, invited_only=True)
    assert client.get(links[0]["link"]).url.path == "/start"
    for link in ("/a/ann", "/enter?annotator=ann", links[0]["link"].replace(links[0]["annotator"], "ann")):
        assert client_of(desk, run, invited_only=True).get(link).status_code == 403
    swapped = f"{links[0]['link'].partition('?')[0]}?key={links[1]['link'].partition('=')[2]}"
    assert client_of(desk, run, invited_only=True).get(swapped).status_code == 403


def test_a_cookie_from_before_the_study_was_closed_does_not_let_in(run: Run) -> None:
    desk = make_desk(run)
    before = client_of(desk, run, invited_only=False)
    before.get("/a/ann")
    after = client_of(desk, run, invited_only=True)
    assert before.get("/item", follow_redirects=False).status_code != 401
    assert after.get("/item", cookies=dict(before.cookies)).status_code == 401


def test_a_list_of_ids_gets_one_link_each_and_the_same_ones_again(run: Run, tmp_path: Path) -> None:
    make_desk(run)
    (tmp_path / "ids.txt").write_text("ann\nbob\n\nann\n")
    links = invite(run, "--annotators", tmp_path / "ids.txt")
    assert [link["annotator"] for link in links] == ["ann", "bob"]
    assert links == invite(run, "--annotators", tmp_path / "ids.txt")


@pytest.mark.parametrize(("content", "fault"), [("a b\n", "cannot be used"), ("", "no ids")])
def test_a_list_that_cannot_be_used_is_refused(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, fault: str
) -> None:
    (tmp_path / "ids.txt").write_text(content)
    with pytest.raises(SystemExit):
        invite(run, "--annotators", tmp_path / "ids.txt")
    assert fault in capsys.readouterr().err


# ------------------------------------------------------------------------------- leases


def hold(desk: Desk, name: str) -> str | None:
    desk.admit(name)
    task = desk.next_task(name, "tab")
    return None if task is None else str(task.item)


def test_a_hundred_made_up_ids_leave_the_study_to_those_who_work(run: Run) -> None:
    desk = make_desk(run, clock=Clock())
    assert judge_next(desk, "ann") is not None
    for k in range(100):
        hold(desk, f"x{k}")
    n = 0
    while judge_next(desk, "ann") is not None:
        n += 1
    assert n == len(run.pool.contexts) - 1


def test_people_without_answers_share_an_item_only_when_nothing_else_is_left_and_two_at_most(run: Run) -> None:
    desk = make_desk(run, limit=3, clock=Clock())
    held = [hold(desk, f"x{k}") for k in range(7)]
    assert len(set(held[:3])) == len(set(held[3:6])) == 3
    assert held[6] is None


def test_an_item_held_by_somebody_who_works_goes_to_nobody_else(run: Run) -> None:
    desk = make_desk(run, limit=2, clock=Clock())
    judge_next(desk, "ann")
    assert hold(desk, "ann") is not None
    judge_next(desk, "bob")
    assert hold(desk, "bob") is None


def test_who_has_answered_nothing_cannot_hold_an_item_for_long(run: Run) -> None:
    clock = Clock()
    desk = make_desk(run, limit=1, clock=clock)
    desk.admit("new")
    task = desk.next_task("new", "tab")
    assert task is not None
    assert task.expires_at == clock.now + 300
    for _ in range(12):
        clock.now += 250
        desk.keep_draft(task.id, "new", "tab", {})
        task = desk.task(task.id, "new", "tab")
        assert task is not None
    assert task.expires_at == task.begun_at + 1800 < clock.now
    assert desk.take(task.id, "new", "tab", 0, said())


# ------------------------------------------------------------------------------- the qualification


def test_each_person_is_asked_other_questions_in_another_order() -> None:
    screening = Screening(read_questions("builtin"), n_questions=3, secret="one")
    asked = {screening.questions_for(f"a{k}") for k in range(200)}
    assert len(asked) == 4 * 3 * 2
    assert screening.questions_for("ann") == screening.questions_for("ann")
    other = Screening(read_questions("builtin"), n_questions=3, secret="two")
    assert [other.questions_for(f"a{k}") for k in range(9)] != [screening.questions_for(f"a{k}") for k in range(9)]


def test_the_order_of_a_questions_endings_depends_on_the_secret() -> None:
    (question, *_) = read_questions("builtin")
    orders = {shown_question(question, secret=f"s{k}", annotator="ann").order for k in range(40)}
    assert len(orders) > 30


def test_drawn_questions_are_of_contexts_that_are_not_shown_and_depend_on_the_secret(run: Run) -> None:
    desk = make_desk(run, limit=5)
    rows = rows_left_out(desk.store, len(run.pool.contexts))
    assert len(rows) == len(run.pool.contexts) - 5
    questions = draw_questions(run, rows, "one")
    golds = {run.pool.text(row, 0) for row in rows}
    assert all(question.endings[0] == run.pool.text(row, 0) for row, question in questions.items())
    assert {text for question in questions.values() for text in question.endings[:4]} <= golds, "none is an item's"
    assert questions == draw_questions(run, rows, "one") != draw_questions(run, rows, "two")
    for question in questions.values():
        for text in question.endings[4:]:
            whole = [run.pool.text(row, 0) for row in rows]
            (source,) = {one for one in whole if sorted(words_of(one)) == sorted(words_of(text))}
            assert list(pairwise(words_of(source))) != list(pairwise(words_of(text)))


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_few_contexts_are_read_to_draw_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, read = make_run(small_pool(1100), tmp_path / "run"), list[int]()
    get = Contexts.__getitem__
    monkeypatch.setattr(Contexts, "__getitem__", lambda contexts, row: read.append(row) or get(contexts, row))
    questions = draw_questions(run, range(1100), "one")
    assert len(read) < 15 * len(questions) < 1100


def test_a_study_that_shows_all_contexts_has_none_to_draw_questions_of(run: Run) -> None:
    with pytest.raises(InputError, match="--limit"):
        draw_questions(run, rows_left_out(make_desk(run).store, len(run.pool.contexts)), "one")


def make_short_run(path: Path, n_long: int) -> Run:
    """A run whose golds have two words, but for the first `n_long`."""
    contexts = make_contexts_of(40, n_videos=10)
    contexts = [one if i < n_long else replace(one, gold=f"sleeps {i}.") for i, one in enumerate(contexts)]
    negatives = [[f"sees {k} birds, {i} trees and a cat." for k in range(12)] for i in range(40)]
    return make_run(CandidatePool.from_texts(contexts, negatives, tagger="none"), path)


def test_no_ending_of_few_words_is_shuffled_in_a_question(tmp_path: Path) -> None:
    """One of one word is the same in any order, and was to be called gibberish."""
    run = make_short_run(tmp_path / "run", 12)
    lengths = [[len(text.split()) for text in one.endings] for one in draw_questions(run, range(40), "one").values()]
    assert len(lengths) == 40
    assert {n for of_question in lengths for n in of_question[4:]} == {7}
    assert {n for of_question in lengths for n in of_question[:4]} == {2, 7}


@pytest.mark.parametrize("text", ["Ha ha ha ha ha!", "no no no no no.", "A - - - - -", "Tick, tock, tick, tock, tick."])
def test_an_ending_whose_order_says_nothing_is_not_shuffled(text: str) -> None:
    """It was known as gibberish, and whole."""
    assert not is_long(text)
    assert is_long("walks to the door.".replace("door", "old door"))


def test_golds_that_many_contexts_share_stand_once_in_a_question_and_the_study_starts_again(tmp_path: Path) -> None:
    contexts = [
        replace(one, gold=f"opens door {i % 7} and walks in.")
        for i, one in enumerate(make_contexts_of(40, n_videos=40))
    ]
    negatives = [[f"sees {k} birds, {i} trees and a cat." for k in range(12)] for i in range(40)]
    run = make_run(CandidatePool.from_texts(contexts, negatives, tagger="none"), tmp_path / "run")
    store = make_desk(run, limit=5).store
    for _ in range(2):
        questions = draw_questions(run, rows_left_out(store, 40), "one")
        keep_checks(store, questions.items())
        assert len(questions) == 35
        for question in questions.values():
            assert len({" ".join(sorted(words_of(text))) for text in question.endings}) == 6


@pytest.mark.parametrize("n_long", [0, 1])
def test_without_endings_to_shuffle_no_questions_are_drawn(tmp_path: Path, n_long: int) -> None:
    run = make_short_run(tmp_path / "run", n_long)
    with pytest.raises(InputError, match="2 of which have golds of 5 words or more"):
        draw_questions(run, range(40), "one")


def test_a_context_of_the_qualification_is_no_item_for_the_same_person_when_the_limit_grows(run: Run) -> None:
    """Nor is one whose gold stood there as a wrong ending: who met it knows it."""
    assert run.path is not None
    few = make_desk(run, limit=5)
    desk = _site(run, few.store, (), "a secret", ServeOptions(run.path, limit=5, qualification="drawn")).desk
    desk.admit("ann")
    asked, golds = set(), set[str]()
    for _ in range(N_DRAWN_EACH):
        task = desk.next_task("ann", "tab")
        assert task is not None
        (question,) = (one for one in desk.screening.questions if one.id == task.item)
        asked.add(next(row for row in range(12) if run.pool.contexts[row].sent1 == question.sent1))
        golds |= {" ".join(sorted(words_of(text))) for text in question.endings}
        desk.take(task.id, "ann", "tab", 0, said("llllgg"))
    assert desk.state_of("ann") == "active"
    all_of = make_desk(run)
    shown = {name: [judge_next(all_of, name) for _ in range(12)] for name in ("ann", "bob")}
    rows = {name: {int(item.split("-")[0]) for item in given if item} for name, given in shown.items()}
    met = {row for row in range(12) if " ".join(sorted(words_of(run.pool.text(row, 0)))) in golds}
    assert met > asked
    assert rows == {"ann": set(range(12)) - met, "bob": met}


def test_drawn_questions_are_asked_and_let_in(run: Run) -> None:
    rows = rows_left_out(make_desk(run, limit=5).store, len(run.pool.contexts))
    questions = tuple(draw_questions(run, rows, "one").values())
    screening = Screening(questions, n_questions=N_DRAWN_EACH, secret="one", min_gold_items=99)
    desk = make_desk(run, screening, limit=5)
    client = TestClient(make_app(Site(desk, run, Signer("one")), TOKEN, 1e6))
    ann = Browser(client, "ann")
    assert f"First come {N_DRAWN_EACH} trial questions" in ann.page
    ann.begin()
    for k in range(N_DRAWN_EACH):
        assert f"Trial question {k + 1} of {N_DRAWN_EACH}" in " ".join(ann.page.split())
        question = next(one for one in questions if desk_item(desk, ann.task) == one.id)
        order = shown_question(question, secret="one", annotator="ann").order
        ratings = ["gibberish" if place >= 4 else "likely" for place in order]
        ann.send(ratings=ratings, best=order.index(0), second=order.index(1))
    assert desk.state_of("ann") == "active"


N_GUESSING = 2000
"""People of each strategy."""


def at_random(letters: str, rng: np.random.Generator) -> str:
    return "".join(letters[i] for i in rng.integers(len(letters), size=6))


GUESSING: dict[str, Callable[[np.random.Generator], str]] = {
    "all gibberish": lambda rng: "gggggg",
    "all likely": lambda rng: "llllll",
    "all unlikely": lambda rng: "uuuuuu",
    "the first two gibberish": lambda rng: "ggllll",
    "every other one gibberish": lambda rng: "glglgl",
    "at random": lambda rng: at_random("lug", rng),
    "at random, half of them gibberish": lambda rng: at_random("lg", rng),
    "any two gibberish": lambda rng: "".join("g" if i < 2 else "l" for i in rng.permutation(6)),
}
"""Ratings by the places shown, of people who do not read."""


def test_who_rates_drawn_questions_without_reading_them_is_not_let_in(tmp_path: Path) -> None:
    """Half of those who called everything gibberish were. `pytest -s` prints the figures of docs/VERIFY.md."""
    questions = tuple(draw_questions(make_run(small_pool(40), tmp_path / "run"), range(40), "one").values())
    screening = Screening(questions, n_questions=N_DRAWN_EACH, secret="one")
    rng, let_in = np.random.default_rng(0), dict.fromkeys(GUESSING, 0)
    for k in range(N_GUESSING):
        asked = screening.questions_for(f"a{k}")
        orders = [shown_question(one, secret="one", annotator=f"a{k}").order for one in asked]
        for name, rate in GUESSING.items():
            shown = [rate(rng) for _ in asked]
            best = 0 if k % 2 else int(rng.integers(6))  # by place, or by lot
            answers = [
                said("".join(of[order.index(i)] for i in range(6)), order[best], order[(best + 1) % 6])
                for of, order in zip(shown, orders, strict=True)
            ]
            let_in[name] += is_let_in(screening, asked, answers)
    print({name: f"{n} of {N_GUESSING:,}" for name, n in let_in.items()})
    assert max(let_in.values()) <= 0.02 * N_GUESSING


def is_let_in(screening: Screening, asked: Sequence[QualificationQuestion], answers: Sequence[Answer]) -> bool:
    counts = [share_right(one, of.ratings, of.best, of.second) for one, of in zip(asked, answers, strict=True)]
    return screening.lets_in(sum(right for right, _ in counts), sum(known for _, known in counts))


@pytest.mark.parametrize(
    ("mistake", "passes"),
    [
        (said("llllgg", 0, 1), True),
        (said("uuuugg", 0, 1), True),  # which whole endings are likely is open
        (said("llllgg", 1, 0), True),
        (said("llgugg", 0, 1), True),
        (said("llllgu", 0, 1), True),
        (said("llgugg", 1, 0), False),
        (said("llllgu", 1, 0), False),
    ],
)
def test_one_mistake_in_each_drawn_question_is_forgiven_and_two_are_not(
    run: Run, mistake: Answer, passes: bool
) -> None:
    questions = tuple(draw_questions(run, range(12), "one").values())[:N_DRAWN_EACH]
    assert is_let_in(Screening(questions), questions, [mistake] * N_DRAWN_EACH) is passes


def test_a_study_with_questions_of_an_older_release_goes_on_and_who_was_let_in_stays(run: Run) -> None:
    """Its store has the questions without what whole endings are."""
    assert run.path is not None
    store, options = make_desk(run, limit=5).store, ServeOptions(run.path, limit=5, qualification="drawn")
    new = _site(run, store, (), "one", options).desk
    old = replace(new, screening=replace(new.screening, questions=old_of(new.screening.questions)))
    with store.engine.begin() as connection:
        for id, kept in connection.execute(select(checks.c.id, checks.c.question)).all():
            older = {name: value for name, value in kept.items() if name != "whole"}
            connection.execute(update(checks).where(checks.c.id == id).values(question=older))
    all_gibberish = {name: answer_trial(old, name) for name in ("ann", "bob", "cid")}
    assert "active" in all_gibberish.values()
    old.admit("dan")
    judge_next(old, "dan", said("gggggg"))  # has begun the trial
    again = _site(run, store, (), "one", options).desk
    assert {name: again.state_of(name) for name in all_gibberish} == all_gibberish
    with store.engine.connect() as connection:
        assert all(len(check_of(connection, one.id).whole) == 4 for one in again.screening.questions)
    assert [answer_trial(again, name) for name in ("dan", "eve")] == ["failed", "failed"]


def old_of(questions: Sequence[QualificationQuestion]) -> tuple[QualificationQuestion, ...]:
    return tuple(replace(one, whole=()) for one in questions)


def answer_trial(desk: Desk, name: str) -> str | None:
    """Call all endings of the trial gibberish, and another one the best in each question of it."""
    for best in range(N_DRAWN_EACH):
        if desk.state_of(name) in ("active", "failed"):
            break
        judge_next(desk, name, said("gggggg", best, best + 1))
    return desk.state_of(name)


def desk_item(desk: Desk, task: str) -> str:
    with desk.store.engine.connect() as connection:
        return str(connection.exec_driver_sql("SELECT item FROM tasks WHERE id = ?", (task,)).scalar())


@given(
    st.lists(st.sampled_from(["red", "Anna", "I", "runs", "far,", "x"]), min_size=1), st.sampled_from(["", ".", "!'"])
)
def test_shuffled_words_keep_their_last_marks_and_the_capital_at_the_beginning(words: list[str], mark: str) -> None:
    text = " ".join(words).rstrip(",") + mark
    made = shuffled(text, np.random.default_rng(0))
    assert sorted(words_of(made)) == sorted(words_of(text))
    assert made.endswith(mark)
    assert not mark or mark not in made.removesuffix(mark)
    assert made[0].isupper() or not text[0].isupper()
