"""Claims about who accepted which text, about signing out, and about stores that an older release made."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from test_paying import people_of
from verify_people import TOKEN, Browser, Clock, judge_next, make_client, make_desk

from swag_af.cli.main import main
from swag_af.data.disk.files import write_text
from swag_af.data.runs.run import Run
from swag_af.verify.checks import Attention
from swag_af.verify.consent import AcceptedText, has_accepted
from swag_af.verify.options import ServeOptions
from swag_af.verify.overview import overview
from swag_af.verify.store import FOLDER, open_store
from swag_af.verify.web.security import ANNOTATOR
from swag_af.verify.web.server import attention_of

ONE = {"consent": ("Your answers are published.",), "instructions": ("Read well.",)}
OTHER = {"consent": ("Your answers are published, and your age.",), "instructions": ("Read well.",)}


def agree(ann: Browser) -> Any:
    fields = {name: ann.hidden(name) for name in ("token", "text")}
    return ann.client.post("/start", data={**fields, "consent": "yes"})


def consents_of(client: TestClient) -> list[dict[str, Any]]:
    text = client.get("/admin/consents.jsonl", headers={"authorization": f"Bearer {TOKEN}"}).text
    return [json.loads(line) for line in text.splitlines()]


# ------------------------------------------------------------------------------- consent


def test_what_was_accepted_and_when_is_kept_and_exported(run: Run) -> None:
    clock = Clock()
    desk = make_desk(run, clock=clock)
    client = make_client(desk, run, **ONE)
    agree(Browser(client, "ann"))
    sha256 = AcceptedText(ONE["instructions"], ONE["consent"]).sha256
    assert consents_of(client) == [
        {"annotator": "ann", "at": 1000.0, "sha256": sha256, **{name: list(text) for name, text in ONE.items()}}
    ]
    (line,) = people_of(client)
    assert (line["accepted"], line["accepted_at"]) == (sha256, "1000.0")
    clock.now += 60
    agree(Browser(client, "ann"))  # once more changes nothing
    assert len(consents_of(client)) == 1


@pytest.mark.parametrize("changed", [OTHER, {**ONE, "instructions": ("Read very well.",)}])
def test_who_accepted_another_text_is_asked_again(run: Run, changed: dict[str, Any]) -> None:
    desk = make_desk(run)
    ann = Browser(make_client(desk, run, **ONE), "ann")
    assert "Item 1" in agree(ann).text
    ann.client, old = make_client(desk, run, **changed), ann.client
    ann.client.cookies = old.cookies
    page = ann.client.get("/item").text
    assert "has changed since you were last here" in page
    assert 'name="consent"' in page
    ann.page = page
    refused = ann.client.post("/start", data={name: ann.hidden(name) for name in ("token", "text")})
    assert refused.status_code == 400
    assert "Item 1" in agree(ann).text
    assert [one["consent"] for one in consents_of(ann.client)] == [list(ONE["consent"]), list(changed["consent"])]
    assert "Item 1" in ann.client.get("/item").text


def test_an_answer_in_hand_is_kept_though_the_text_has_changed(run: Run) -> None:
    desk = make_desk(run)
    ann = Browser(make_client(desk, run, **ONE), "ann")
    ann.page = agree(ann).text
    cookies, ann.client = ann.client.cookies, make_client(desk, run, **OTHER)
    ann.client.cookies = cookies
    assert "has changed since" in ann.send().text
    assert len(desk.store.verdicts()) == 1


def test_a_text_that_changed_while_it_was_read_is_not_taken_as_accepted(run: Run) -> None:
    desk = make_desk(run)
    ann = Browser(make_client(desk, run, **ONE), "ann")
    cookies, ann.client = ann.client.cookies, make_client(desk, run, **OTHER)
    ann.client.cookies = cookies
    assert "and your age" in agree(ann).text
    assert desk.state_of("ann") is None
    assert consents_of(ann.client) == []


def test_without_a_text_of_the_owner_nobody_is_asked(run: Run) -> None:
    desk = make_desk(run)
    client = make_client(desk, run)
    assert "Item 1" in Browser(client, "ann").begin().page
    assert consents_of(client) == []
    assert has_accepted(desk.store, "anybody", AcceptedText())
    assert not has_accepted(desk.store, "anybody", AcceptedText(consent=("Yes?",)))


# ------------------------------------------------------------------------------- signing out


@pytest.mark.parametrize("page", ["/start", "/item", "/done"])
def test_every_page_says_who_is_signed_in_and_lets_them_sign_out(run: Run, page: str) -> None:
    desk = make_desk(run, limit=1)
    client = make_client(desk, run)
    ann = Browser(client, "ann").begin()
    if page == "/done":
        ann.send()
    text = client.get(page).text
    assert "Signed in as ann" in text
    assert 'form="leave">Sign out<' in text
    assert '<form id="leave" method="post" action="/leave">' in text


def test_signing_out_ends_the_session_on_the_server(run: Run) -> None:
    desk = make_desk(run)
    client = make_client(desk, run)
    ann = Browser(client, "ann").begin()
    copied, form, task = client.cookies[ANNOTATOR], ann.form(), ann.task
    page = client.post("/leave", data={"token": ann.hidden("token")})
    assert "You are signed out" in page.text
    assert ANNOTATOR not in client.cookies
    assert client.get("/item").status_code == 401
    client.cookies.set(ANNOTATOR, copied)
    for path in ("/", "/start", "/item", f"/item/{task}", "/done"):
        assert client.get(path).status_code == 401
    assert client.post(f"/item/{task}", data=form).status_code == 401
    assert client.post(f"/item/{task}/draft", data=form).status_code == 401
    assert desk.store.verdicts() == []


def test_by_the_link_one_comes_in_again_in_another_session_with_the_item_in_hand(run: Run) -> None:
    client = make_client(make_desk(run), run)
    ann = Browser(client, "ann").begin()
    copied, task, endings = client.cookies[ANNOTATOR], ann.task, ann.endings
    client.post("/leave", data={"token": ann.hidden("token")})
    client.cookies.clear()
    sent = client.get("/a/ann", headers={"cookie": f"{ANNOTATOR}={copied}"}, follow_redirects=False)
    new, old = (client.app.app.state.site.signer.unseal(one, ANNOTATOR) for one in (client.cookies[ANNOTATOR], copied))
    assert (sent.status_code, new.who) == (303, "ann")
    assert new.number != old.number  # a copy does not become a session again
    again = Browser(client, "ann").begin()
    assert (again.task, again.endings) == (task, endings)


def test_signing_out_here_ends_no_session_elsewhere(run: Run) -> None:
    desk = make_desk(run)
    here, there = (Browser(make_client(desk, run), "ann").begin() for _ in range(2))
    here.client.post("/leave", data={"token": here.hidden("token")})
    assert there.client.get("/start").status_code == 200


# ------------------------------------------------------------------------------- stores of older releases

OLD_SCHEMA = """
CREATE TABLE settings (name VARCHAR(64) NOT NULL, value JSON, PRIMARY KEY (name));
CREATE TABLE annotators (id VARCHAR(64) NOT NULL, state VARCHAR(16) NOT NULL, paused BOOLEAN NOT NULL,
  exempt BOOLEAN NOT NULL, begun_at FLOAT NOT NULL, study VARCHAR(64), submission VARCHAR(64), PRIMARY KEY (id));
CREATE TABLE items (id VARCHAR(32) NOT NULL, "row" INTEGER NOT NULL, round INTEGER NOT NULL, columns JSON NOT NULL,
  rank INTEGER NOT NULL, priority INTEGER NOT NULL, n_answers INTEGER NOT NULL, wanted INTEGER NOT NULL,
  is_open BOOLEAN NOT NULL, PRIMARY KEY (id), UNIQUE ("row", round));
CREATE INDEX items_to_show ON items (is_open, priority, rank);
CREATE TABLE tasks (id VARCHAR(32) NOT NULL, item VARCHAR(32) NOT NULL, "row" INTEGER, annotator VARCHAR(64) NOT NULL,
  session VARCHAR(32) NOT NULL, begun_at FLOAT NOT NULL, expires_at FLOAT NOT NULL, draft JSON, answered_at FLOAT,
  revision INTEGER NOT NULL, ratings JSON, best INTEGER, second INTEGER, seconds FLOAT, PRIMARY KEY (id),
  UNIQUE (item, annotator));
CREATE INDEX tasks_of_an_annotator ON tasks (annotator, "row");
CREATE INDEX tasks_of_a_row ON tasks ("row");
CREATE TABLE events (id INTEGER NOT NULL, at FLOAT NOT NULL, who VARCHAR(80) NOT NULL, action VARCHAR(16) NOT NULL,
  annotator VARCHAR(64), "before" JSON, PRIMARY KEY (id));
CREATE TABLE ended_sessions (number VARCHAR(32) NOT NULL, forget_at FLOAT NOT NULL, PRIMARY KEY (number));
"""
"""The tables before there were checks and consents."""


@pytest.fixture
def old(run: Run) -> Run:
    """A study of the release before: ann has answered two items, and has a third in hand."""
    assert run.path is not None
    desk = make_desk(run, limit=6)
    for _ in range(2):
        judge_next(desk, "ann")
    desk.next_task("ann", "tab")
    desk.store.checkpoint()
    desk.store.close()
    path = run.path / FOLDER / "answers.db"
    new = path.with_name("new.db")
    path.rename(new)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(OLD_SCHEMA)
        database.execute("ATTACH ? AS new", (str(new),))
        for (table,) in database.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall():
            names = ", ".join(f'"{line[1]}"' for line in database.execute(f"PRAGMA main.table_info({table})"))
            database.execute(f"INSERT INTO main.{table} ({names}) SELECT {names} FROM new.{table}")
        database.commit()
    for left in path.parent.glob("*.db-*"):
        left.unlink()
    return run


def test_the_verdicts_of_an_older_store_are_read_as_it_is(old: Run, tmp_path: Path) -> None:
    assert old.path is not None
    before = (old.path / FOLDER / "answers.db").read_bytes()
    assert len(open_store(old.path).verdicts()) == 2
    main(["verify", "export", str(old.path), "--to", "verdicts", "--out", str(tmp_path / "verdicts.jsonl")])
    assert len((tmp_path / "verdicts.jsonl").read_text().splitlines()) == 2
    assert b"is_check" not in before


def test_an_older_store_goes_on_with_checks_and_consents(old: Run, tmp_path: Path) -> None:
    assert old.path is not None
    desk = make_desk(old, limit=6)
    held = desk.next_task("ann", "tab")
    assert held is not None
    assert (held.is_check, held.begun_at > 0) == (None, True)
    write_text(tmp_path / "consent.txt", "Agreed?")
    options = ServeOptions(old.path, limit=6, check_every=2)
    desk = replace(desk, attention=attention_of(old, desk.store, "secret", options))
    assert isinstance(desk.attention, Attention)
    client = make_client(desk, old, consent=("Agreed?",))
    ann = Browser(client, "ann")
    assert "Before you go on" in ann.page  # no record says that they agreed
    ann.page = agree(ann).text
    for _ in range(20):
        if 'id="work"' not in ann.page:
            break
        ann.send()
    (line,) = overview(desk.store, desk.clock()).annotators
    assert line.n == len(desk.store.verdicts()) == 6
    assert line.n_checks >= 2
    assert [one["consent"] for one in consents_of(client)] == [["Agreed?"]]
