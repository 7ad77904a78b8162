"""Claims about running a study: what people get at the end, what is undone, pauses, the deadline, the log."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select
from test_web import admin_of
from verify_people import TOKEN, Browser, Clock, judge_next, make_client, make_desk, said

from swag_af.data.errors import InputError
from swag_af.data.runs.run import Run
from swag_af.verify.desk import Desk, Screening
from swag_af.verify.items import lay_out
from swag_af.verify.options import ServeOptions
from swag_af.verify.overview import overview
from swag_af.verify.qualification import read_questions
from swag_af.verify.schema import items
from swag_af.verify.web.server import _paragraphs, welcome
from swag_af.verify.web.site import Payment

PAYMENT = Payment(early_end_code="EARLY", screen_out_url="https://crowd.example/out", screen_out_code="OUT")


def last_page(desk: Desk, run: Run, n: int, payment: Payment = PAYMENT, **form: Any) -> str:
    """The last page of somebody who sends `n` answers."""
    client = make_client(desk, run, completion_code="FULL", payment=payment)
    ann = Browser(client, "ann").begin()
    for _ in range(n):
        ann.send(**form)
    return str(client.get("/done").text)


def people_of(client: TestClient) -> list[dict[str, str]]:
    text = client.get("/admin/annotators.csv", headers={"authorization": f"Bearer {TOKEN}"}).text
    return list(csv.DictReader(io.StringIO(text)))


# ------------------------------------------------------------------------------- codes


def test_enough_items_earn_the_completion_code(run: Run) -> None:
    page = last_page(make_desk(run, items_per_annotator=4), run, 4)
    assert ("FULL" in page, "EARLY" in page) == (True, False)


def test_one_answer_earns_no_completion_code(run: Run) -> None:
    desk = make_desk(run)
    for _ in range(11):
        judge_next(desk, "bob")
    page = last_page(desk, run, 1)
    assert ("FULL" in page, "EARLY" in page) == (False, True)


def test_how_many_items_earn_it_can_be_set(run: Run) -> None:
    desk = make_desk(run)
    for _ in range(11):
        judge_next(desk, "bob")
    assert "FULL" in last_page(desk, run, 1, Payment(n_items=1))


def test_who_has_answered_enough_may_finish_or_go_on(run: Run) -> None:
    """While there were items, the last page led back to them, and nothing led to it."""
    client = make_client(make_desk(run), run, completion_code="FULL", payment=Payment(n_items=2))
    ann = Browser(client, "ann").begin()
    ann.send()
    assert 'href="/done"' not in ann.page
    assert client.get("/done").url.path == "/item"
    ann.send()
    assert '<a href="/done">Finish</a>' in ann.page
    page = client.get("/done").text
    assert ("FULL" in page, "that is all" in page) == (True, False)
    assert '<a href="/item">Go on with the next item</a>' in page
    task, ann.page = ann.task, client.get("/item").text
    assert ann.task == task  # the one that was in hand
    assert ann.send().status_code == 200


def test_nobody_finishes_early_where_nothing_is_to_be_had(run: Run) -> None:
    client = make_client(make_desk(run), run)
    ann = Browser(client, "ann").begin()
    for _ in range(11):
        ann.send()
    assert 'href="/done"' not in ann.page
    assert client.get("/done").url.path == "/item"


def test_who_has_answered_enough_gets_the_code_of_a_paused_study(run: Run) -> None:
    desk = make_desk(run)
    client = make_client(desk, run, completion_code="FULL", payment=Payment(n_items=1))
    ann = Browser(client, "ann").begin()
    desk.pause_all(True)
    ann.send()
    assert "FULL" in ann.page
    assert "The study is paused" in Browser(client, "bob").begin().page


def test_who_fails_the_trial_gets_the_screen_out_code_and_link(run: Run) -> None:
    desk = make_desk(run, Screening(read_questions("builtin")))
    page = last_page(desk, run, 4, ratings=("gibberish",) * 6)
    assert desk.state_of("ann") == "failed"
    assert "OUT" in page
    assert "https://crowd.example/out" in page
    assert "FULL" not in page


def test_everybody_gets_a_code_of_their_own_which_the_table_lists(run: Run) -> None:
    desk = make_desk(run, items_per_annotator=1)
    client = make_client(desk, run, payment=Payment(code_per_annotator=True))
    shown = {}
    for name in ("ann", "bob"):
        Browser(client, name).begin().send()
        (shown[name],) = client.get("/done").text.split('class="code">')[1:]
    listed = {line["annotator"]: (line["outcome"], line["code"]) for line in people_of(client)}
    assert {name: ("complete", page[:10]) for name, page in shown.items()} == listed
    assert shown["ann"][:10] != shown["bob"][:10]


@pytest.mark.parametrize(
    ("link", "ids"),
    [
        ("/enter?PROLIFIC_PID=ann&STUDY_ID=s1&SESSION_ID=t2", ("s1", "t2")),
        ("/enter?workerId=ann&hitId=h1&assignmentId=a2", ("h1", "a2")),
        ("/enter?annotator=ann&STUDY_ID=%3Cscript%3E", ("", "")),
    ],
)
def test_the_platforms_ids_are_kept_with_the_annotator(run: Run, link: str, ids: tuple[str, str]) -> None:
    client = make_client(make_desk(run), run)
    ann = Browser(client, "ann")
    ann.page = client.get(link).text
    fields = {name: ann.hidden(name) for name in ("token", "study", "submission") if f'name="{name}"' in ann.page}
    client.post("/start", data=fields)
    (line,) = people_of(client)
    assert (line["study"], line["submission"]) == ids


def test_answers_that_are_too_fast_are_counted_and_shown(run: Run) -> None:
    desk = make_desk(run)
    for seconds in (1, 2, 30):
        desk.admit("ann")
        task = desk.next_task("ann", "tab")
        assert task is not None
        with desk.store.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE tasks SET begun_at = begun_at - 100")
        desk.take(task.id, "ann", "tab", 0, said(seconds=seconds))
    assert overview(desk.store, 0.0, min_seconds=3).annotators[0].n_fast == 2
    client = make_client(desk, run, min_seconds=3.0)
    admin_of(client)
    assert "Under 3 s" in client.get("/admin").text
    assert people_of(client)[0]["too_fast"] == "2"


# ------------------------------------------------------------------------------- dequalifying


def state_of(desk: Desk) -> tuple[Any, ...]:
    with desk.store.engine.connect() as connection:
        people = connection.exec_driver_sql("SELECT id, state, paused, exempt FROM annotators").all()
        items = connection.exec_driver_sql("SELECT * FROM items ORDER BY id").all()
    return people, items, desk.store.verdicts()


@pytest.mark.parametrize("paused", [False, True])
def test_dequalifying_asks_first_and_is_undone_fully(run: Run, paused: bool) -> None:
    desk = make_desk(run, annotators_per_item=2)
    for _ in range(3):
        judge_next(desk, "ann", said("gggglu"))
        judge_next(desk, "bob")
    desk.pause("ann", paused)
    before = state_of(desk)
    client = make_client(desk, run)
    form = {"token": admin_of(client), "annotator": "ann", "action": "dequalify"}
    asked = client.post("/admin/annotators", data=form)
    assert "Dequalify ann?" in asked.text
    assert "3 answers" in asked.text
    assert state_of(desk) == before
    client.post("/admin/annotators", data={**form, "sure": "yes"})
    assert state_of(desk) != before
    assert {verdict.annotator for verdict in desk.store.verdicts()} == {"bob"}
    client.post("/admin/annotators", data={**form, "action": "undo"})
    assert state_of(desk) == before
    assert client.post("/admin/annotators", data={**form, "action": "undo"}).status_code == 400


def test_what_the_admin_and_the_rules_change_is_logged_with_who_and_when(run: Run) -> None:
    clock = Clock()
    desk = make_desk(run, Screening(min_gold_items=1), clock=clock)
    judge_next(desk, "bad", said(best=4, second=5))
    clock.now += 60
    client = make_client(desk, run)
    client.post("/admin/annotators", data={"token": admin_of(client), "annotator": "bad", "action": "requalify"})
    log = [(one.at, one.who, one.action, one.annotator) for one in overview(desk.store, clock.now).events]
    assert log == [(1060.0, "admin (testclient)", "requalify", "bad"), (1000.0, "rule", "screen", "bad")]
    page = client.get("/admin").text
    cells = re.findall("<td>(.*?)</td>", page.split('id="log"')[1].split("</section>")[0])
    assert [cells[1:4], cells[5:8]] == [
        ["admin (testclient)", "let in again, exempt from the rules", "bad"],
        ["by rule", "dequalified: gold too seldom in the top 2", "bad"],
    ]


# ------------------------------------------------------------------------------- the whole study


def test_a_paused_study_gives_no_new_items_and_takes_those_in_hand(run: Run) -> None:
    desk = make_desk(run)
    client = make_client(desk, run)
    ann = Browser(client, "ann").begin()
    token = admin_of(client)
    client.post("/admin/study", data={"token": token, "action": "pause"})
    assert ann.send().status_code == 200
    assert desk.n_answered("ann") == 1
    assert "The study is paused" in client.get("/item").text
    assert "The study is paused" in client.get("/done").text
    assert "The study is paused" in client.get("/admin").text
    client.post("/admin/study", data={"token": token, "action": "resume"})
    assert 'action="/item/' in client.get("/item").text


def test_after_the_deadline_no_new_items_are_given(run: Run) -> None:
    clock = Clock()
    desk = make_desk(run, clock=clock)
    desk = Desk(desk.store, desk.rules, desk.screening, clock=clock, closes_at=clock.now + 10)
    desk.admit("ann")
    task = desk.next_task("ann", "tab")
    clock.now += 11
    assert task is not None
    assert desk.take(task.id, "ann", "tab", 0, said())
    assert desk.next_task("ann", "tab") is None


@pytest.mark.parametrize("option", [{"deadline": "soon"}, {"min_seconds": -1}, {"early_end_url": "javascript:x"}])
def test_options_that_cannot_be_are_refused(option: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="--" + next(iter(option)).replace("_", "-")):
        ServeOptions(Path("run"), **option)


def test_more_items_to_complete_than_a_person_may_answer_are_refused_and_than_there_are_told() -> None:
    with pytest.raises(InputError, match="--completion-items 21: above --items-per-annotator"):
        ServeOptions(Path("run"), completion_items=21, items_per_annotator=20)
    enough = ServeOptions(Path("run"), completion_items=20, items_per_annotator=20)
    assert "--completion-items 20 is more than the 19 items there are" in "\n".join(welcome(enough, 80, "token", 19))
    assert "--completion-items" not in "\n".join(welcome(enough, 80, "token", 20))


def test_the_most_people_an_item_follow_where_they_are_not_given() -> None:
    assert ServeOptions(Path("run")).most_annotators == 3
    assert ServeOptions(Path("run"), annotators_per_item=5).most_annotators == 5
    assert ServeOptions(Path("run"), max_annotators_per_item=4).most_annotators == 4
    with pytest.raises(InputError, match="--max-annotators-per-item 3: below --annotators-per-item"):
        ServeOptions(Path("run"), annotators_per_item=5, max_annotators_per_item=3)


def test_a_refill_makes_no_limit_fewer_than_were_laid_out_before(run: Run) -> None:
    desk = make_desk(run, limit=3)
    assert judge_next(desk, "ann", said("lluggg")) is not None  # three sensible endings: the item is refilled
    with desk.store.engine.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(items)) == 4
    assert lay_out(desk.store, desk.rules, limit=3, seed=0) == 3


def test_the_health_page_tells_whether_the_database_can_be_read(run: Run) -> None:
    desk = make_desk(run)
    client = make_client(desk, run)
    assert (client.get("/healthz").status_code, client.get("/healthz").text) == (200, "ok")
    assert client.head("/healthz").status_code == 200, "as monitors of servers ask"
    with desk.store.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE items RENAME TO gone")
    assert client.get("/healthz").status_code == 503


def test_the_study_says_how_fast_it_goes_and_how_long_it_will_take(run: Run) -> None:
    clock = Clock()
    clock.now = 10 * 86400.0
    desk = make_desk(run, clock=clock)
    for _ in range(2):
        judge_next(desk, "ann")
    clock.now += 86400 + 10
    for _ in range(4):
        judge_next(desk, "ann")
    seen = overview(desk.store, clock.now)
    assert seen.per_day == (("1970-01-12", 4), ("1970-01-11", 2))
    assert seen.n_needed == len(run.pool.contexts) - 6
    assert seen.days_left == seen.n_needed / 4
    assert overview(desk.store, clock.now - 86400).days_left is None  # begun ten seconds before
    clock.now += 2 * 86400
    assert overview(desk.store, clock.now).days_left is None
    desk.qualify("ann", False, "admin")
    assert overview(desk.store, clock.now).per_day == ()  # none of these answers counts any more


def test_items_are_listed_by_disagreement(run: Run) -> None:
    desk = make_desk(run, limit=3, annotators_per_item=3, max_annotators_per_item=3)
    items: dict[str, str] = {}
    for name in ("ann", "bob", "cat"):
        for _ in range(3):
            desk.admit(name)
            task = desk.next_task(name, "tab")
            assert task is not None
            kind = items.setdefault(task.item, ("all", "two", "one")[len(items) % 3])
            best = {"all": 0, "two": int(name == "cat"), "one": ("ann", "bob", "cat").index(name)}[kind]
            desk.take(task.id, name, "tab", 0, said(best=best, second=5))
    seen = overview(desk.store, 0.0).disputed
    assert [(items[one.item], one.n, round(one.share, 2)) for one in seen] == [("one", 3, 0.33), ("two", 3, 0.67)]
    client = make_client(desk, run)
    admin_of(client)
    assert "Items that people disagree on" in client.get("/admin").text


def test_people_agree_before_they_begin(run: Run) -> None:
    desk = make_desk(run)
    client = make_client(desk, run, instructions=("Read <b>well</b>.",), consent=("Your answers are published.",))
    ann = Browser(client, "ann")
    assert "Read &lt;b&gt;well&lt;/b&gt;." in ann.page
    assert "Your answers are published." in ann.page
    refused = client.post("/start", data={"token": ann.hidden("token")})
    assert refused.status_code == 400
    assert desk.state_of("ann") is None
    client.post("/start", data={"token": ann.hidden("token"), "text": ann.hidden("text"), "consent": "yes"})
    assert desk.state_of("ann") == "active"
    assert "Your answers are published." not in client.get("/start").text


def test_the_files_of_a_study_are_read_as_paragraphs_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("One\nline.\n\n \nTwo.\n")
    assert _paragraphs(path, "--consent") == ("One line.", "Two.")
    for content in (b" \n", b"\xff\xfe"):
        path.write_bytes(content)
        with pytest.raises(InputError, match="--consent"):
            _paragraphs(path, "--consent")
    with pytest.raises(InputError, match="no such file"):
        _paragraphs(tmp_path / "none", "--consent")


def test_who_comes_when_all_is_judged_is_not_told_to_come_again(run: Run) -> None:
    desk = make_desk(run, limit=2)
    judge_next(desk, "ann")
    client = make_client(desk, run)
    in_hand = desk.next_task("ann", "tab")
    assert in_hand is not None
    assert not desk.is_over()
    judge_next(desk, "ann")
    assert desk.is_over()
    Browser(client, "bob").begin()
    seen = " ".join(client.get("/done").text.split())
    assert "Everything has been judged already" in seen
    assert "Look in again" not in seen
