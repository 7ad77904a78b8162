"""Claims about the pages: what annotators and the admin see and do, and what nobody can get at."""

import json
import re
import zlib
from dataclasses import replace
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import make_contexts_of
from fastapi.testclient import TestClient
from itsdangerous import TimestampSigner
from sqlalchemy import delete
from verify_people import TOKEN, Browser, Clock, judge_next, make_client, make_desk, make_run, said, small_pool

from swag_af.data.context import Context, readable
from swag_af.data.pool.listing import Contexts
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run
from swag_af.judging.rules import Example
from swag_af.judging.screening import NOBODY_SCREENED
from swag_af.judging.verdicts import IN_ANOTHER_SCRIPT, MEANINGS, Item, read_verdicts, with_ordered_columns
from swag_af.releasing.questions import make_questions
from swag_af.verify.desk import Desk, Screening
from swag_af.verify.exchange.tasks import BRIEF, brief_of, make_tasks
from swag_af.verify.presentation import shown_item
from swag_af.verify.qualification import read_questions
from swag_af.verify.schema import settings
from swag_af.verify.store import ORDERS, begin_store
from swag_af.verify.web.security import ADMIN, ANNOTATOR, LIFETIME_SECONDS, MOST_BYTES, RateLimit, Session, Signer
from swag_af.verify.web.server import make_app
from swag_af.verify.web.site import Site

HOSTILE = (
    "<script>alert(1)</script> runs.",
    "<img src=x onerror=alert(1)> falls.",
    '"><svg onload=alert(1)> sings.',
    "{{ 7 * 7 }} eats {% raw %} cake.",
    "</fieldset></form><form action=//evil.example> walks.",
    "javascript:alert(1) & &lt;b&gt; jumps.",
    "' onfocus='alert(1) sits.",
    "${7*7} <!-- stands.",
    "\u202e\u0000 <a href=//evil.example>reads</a>.",
)


@pytest.fixture
def desk(run: Run) -> Desk:
    return make_desk(run)


@pytest.fixture
def client(desk: Desk, run: Run) -> TestClient:
    return make_client(desk, run)


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """A browser in which an annotator has begun and the admin is logged in; for what is refused and changes nothing."""
    run = make_run(small_pool(), tmp_path_factory.mktemp("inside") / "run")
    client = make_client(make_desk(run), run)
    Browser(client, "ann").begin()
    admin_of(client)
    return client


def admin_of(client: TestClient) -> str:
    """Log in; returns the form token of the admin's pages."""
    page = client.get("/admin/login").text
    answer = client.post("/admin/login", data={"token": hidden(page), "admin_token": TOKEN})
    assert "Annotators" in answer.text
    return hidden(answer.text)


def hidden(page: str) -> str:
    return re.findall(r'name="token" value="([\w-]+)"', page)[0]


def pass_seconds(monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
    """Move the clock of the signatures on; browsers keep their cookies, so that the server has to refuse them."""
    get_timestamp = TimestampSigner.get_timestamp
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda signer: get_timestamp(signer) + seconds)


def verdicts_of(client: TestClient, query: str = "") -> list[dict[str, Any]]:
    text = client.get(f"/admin/verdicts.jsonl{query}", headers={"authorization": f"Bearer {TOKEN}"}).text
    return [json.loads(line) for line in text.splitlines()]


# ------------------------------------------------------------------------------- the annotator's way


def test_a_person_without_a_script_reads_begins_and_answers(client: TestClient, desk: Desk, run: Run) -> None:
    ann = Browser(client, "ann")
    assert "An example" in ann.page
    ann.begin()
    shown = ann.endings
    answer = ann.send(ratings=("gibberish", "likely", "unlikely", "likely", "likely", "likely"), best=3, second=1)
    assert (answer.status_code, "Your answer is kept." in ann.page) == (200, True)
    (verdict,) = desk.store.verdicts()
    texts = [run.pool.text(verdict.item.row, column) for column in verdict.item.columns]
    assert [texts[verdict.best], texts[verdict.second]] == [shown[3], shown[1]]
    assert dict(zip(texts, verdict.ratings, strict=True))[shown[0]] == "gibberish"


def test_no_page_of_an_annotator_reads_all_contexts(desk: Desk, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 300,000 that took 17 seconds, page by page."""
    for owner, name in ((Contexts, "__iter__"), (Contexts, "of_rows")):
        monkeypatch.setattr(owner, name, lambda *given: pytest.fail("all contexts were read"))
    ann = Browser(make_client(desk, run), "ann")
    ann.begin()
    ann.send()
    assert "Your answer is kept." in ann.page


@pytest.mark.parametrize("address", ["/a/ann", "/enter?annotator=ann", "/enter?PROLIFIC_PID=ann&STUDY_ID=3"])
def test_every_link_of_a_platform_leads_in(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.url.path == "/start"
    assert "ann" not in str(answer.url)


def test_the_order_of_the_endings_is_each_annotators_own_and_stays(run: Run) -> None:
    columns = tuple(range(6))
    one, again, other = (
        shown_item(run, 0, columns, seed=0, item="0-0", annotator=name, secret="s") for name in ("ann", "ann", "bob")
    )
    assert one == again != other
    firsts = [
        shown_item(run, 0, columns, seed=0, item="0-0", annotator=f"a{k}", secret="s").order[0] for k in range(600)
    ]
    assert all(60 < firsts.count(place) < 140 for place in range(6))


def test_nobody_can_foretell_the_order_of_an_item_but_of_studies_begun_before(run: Run, tmp_path: Path) -> None:
    """It followed from the seed, the item and one's own id, which an annotator knows."""
    columns = tuple(range(6))
    given = {"seed": 0, "item": "0-0", "annotator": "ann"}
    orders = {shown_item(run, 0, columns, **given, secret=f"s{k}").order for k in range(30)}
    assert len(orders) > 20
    begun = {"pool_identity": "p", "iteration": 1, "seed": 0}
    store = begin_store(tmp_path, None, begun)
    assert store.has_secret_orders
    with store.engine.begin() as connection:
        connection.execute(delete(settings).where(settings.c.name == ORDERS))
    store.close()
    assert not begin_store(tmp_path, None, begun).has_secret_orders
    known = np.random.default_rng((0, zlib.crc32(b"0-0"), zlib.crc32(b"ann"))).permutation(6)
    assert shown_item(run, 0, columns, **given, secret=None).order == tuple(known.tolist())


def test_context_and_endings_are_shown_as_sentences(tmp_path: Path) -> None:
    contexts = make_contexts_of(2, n_videos=2)
    negatives = [[f"ca n't eat {k} cakes , she says ." for k in range(9)]] * 2
    run = make_run(CandidatePool.from_texts(contexts, negatives, tagger="none"), tmp_path / "run", n_assigned=8)
    shown = shown_item(run, 0, (0, 3), seed=0, item="0-0", annotator="ann", secret="s")
    assert (shown.sent1[0], shown.start) == ("A", "The tall man")
    assert "can't eat 2 cakes, she says." in shown.endings


def test_what_is_missing_is_said_and_what_was_chosen_stays(client: TestClient) -> None:
    ann = Browser(client, "ann").begin()
    task, form = ann.task, {"rating-0": "likely", "rating-3": "unlikely", "best": "3"}
    answer = client.post(f"/item/{task}", data={"token": ann.hidden("token"), "revision": "0", **form})
    assert answer.status_code == 422
    assert "Rate ending 2, 3, 5, 6." in answer.text
    assert "Choose the second best ending." in answer.text
    page = client.get("/item").text
    assert len(re.findall(r"checked", page)) == 3 + 1  # and the keys


def test_best_and_second_best_must_differ(client: TestClient, desk: Desk) -> None:
    answer = Browser(client, "ann").begin().send(best=2, second=2)
    assert (answer.status_code, "two different endings" in answer.text) == (422, True)
    assert desk.store.verdicts() == []


def test_a_draft_comes_back_with_the_page(client: TestClient) -> None:
    ann = Browser(client, "ann").begin()
    form = {"token": ann.hidden("token"), "rating-2": "gibberish", "second": "4", "seconds": "17", "other": "x" * 99}
    assert client.post(f"/item/{ann.task}/draft", data=form).status_code == 204
    page = client.get("/item").text
    assert re.search(r'name="rating-2" value="gibberish" required checked', page)
    assert re.search(r'name="second" value="4" [^>]* checked', page)
    assert 'data-before="17"' in page


def test_an_answer_sent_twice_is_kept_once(client: TestClient, desk: Desk) -> None:
    ann = Browser(client, "ann").begin()
    task, form = ann.task, ann.form()
    answers = [client.post(f"/item/{task}", data=form).text for _ in range(2)]
    assert "Your answer is kept." in answers[0]
    assert "kept before; nothing has changed" in answers[1]
    assert len(desk.store.verdicts()) == 1


def test_the_address_behind_an_answer_says_whether_it_was_taken(run: Run) -> None:
    """By it the script knows whether the browser may forget what was chosen."""
    desk = make_desk(run, limit=2)
    ann = Browser(make_client(desk, run), "ann").begin()
    first = ann.send().url
    assert (first.path, first.params.get("kept")) == ("/item", "1")
    desk.pause("ann", True)
    refused = ann.client.post(f"/item/{ann.task}", data=ann.form()).url
    assert (refused.path, "kept" in refused.params) == ("/item", False)
    desk.pause("ann", False)
    ann.page = ann.client.get("/item").text
    last = ann.send().url
    assert (last.path, last.params.get("kept")) == ("/done", "1")


def test_another_answer_from_another_tab_is_told_to_be_left_out(client: TestClient, desk: Desk) -> None:
    """It was said that nothing has changed, and the second answer was gone."""
    ann = Browser(client, "ann").begin()
    task, form = ann.task, ann.form()
    client.post(f"/item/{task}", data=form)
    (kept,) = desk.store.verdicts()
    other = form | {"best": form["second"], "second": form["best"]}
    page = client.post(f"/item/{task}", data=other)
    assert page.url.path == f"/item/{task}"
    assert "what you chose now is not kept" in page.text
    assert re.search(rf'name="best" value="{form["best"]}" [^>]* checked', page.text)
    assert desk.store.verdicts() == [kept]


def test_an_answer_of_another_revision_to_an_item_without_one_is_no_bug(client: TestClient, desk: Desk) -> None:
    ann = Browser(client, "ann").begin()
    page = client.post(f"/item/{ann.task}", data=ann.form() | {"revision": "7"})
    assert page.status_code == 200
    assert desk.store.verdicts() == []


def test_the_previous_answer_is_shown_and_can_be_changed(client: TestClient, desk: Desk) -> None:
    ann = Browser(client, "ann").begin()
    ann.send(best=5, second=0)
    before = desk.store.verdicts()
    (back,) = set(re.findall(r'href="(/item/[\w-]+)"', ann.page))
    ann.page = client.get(back).text
    assert re.search(r'name="best" value="5" [^>]* checked', ann.page)
    ann.send(best=0, second=5)
    after = desk.store.verdicts()
    assert len(before) == len(after) == 1
    assert (after[0].best, after[0].second) == (before[0].second, before[0].best)


def test_an_answer_sent_while_paused_is_there_afterwards(client: TestClient, desk: Desk) -> None:
    ann = Browser(client, "ann").begin()
    desk.pause("ann", True)
    ann.send(best=4, second=3)
    assert "A pause" in ann.page
    desk.pause("ann", False)
    page = client.get("/item").text
    assert re.search(r'name="best" value="4" [^>]* checked', page)
    assert desk.store.verdicts() == []


def test_who_answers_where_the_item_went_to_another_browser_is_shown_the_way_on(desk: Desk, run: Run) -> None:
    first = Browser(make_client(desk, run), "ann").begin()
    Browser(make_client(desk, run), "ann").begin()
    assert first.send().status_code == 404
    assert "the browser that opened it last" in first.page
    assert 'href="/item"' in first.page


def test_the_end_shows_link_and_code_to_those_who_answered(run: Run) -> None:
    desk = make_desk(run, items_per_annotator=1)
    client = make_client(desk, run, completion_url="https://crowd.example/x?cc=1&b=2", completion_code="C<0>DE")
    ann = Browser(client, "ann").begin()
    assert "Item 1 of 1" in unescape(ann.page)
    ann.send()
    assert 'href="https://crowd.example/x?cc=1&amp;b=2"' in ann.page
    assert "C&lt;0&gt;DE" in ann.page
    assert "/item" in ann.page  # the last answer can be looked at again


def test_who_fails_the_trial_is_told_kindly_and_sees_no_item(run: Run) -> None:
    desk = make_desk(run, Screening(read_questions("builtin")))
    client = make_client(desk, run, completion_code="C0DE")
    ann = Browser(client, "ann").begin()
    assert "Trial question 1 of 4" in unescape(ann.page)
    for _ in range(4):
        ann.send(ratings=("gibberish",) * 6)
    assert "Thank you for trying" in ann.page
    assert "C0DE" not in ann.page


# ------------------------------------------------------------------------------- nobody else's answers


def test_one_annotator_reaches_no_page_of_another(desk: Desk, run: Run) -> None:
    ann, bob = (Browser(make_client(desk, run), name).begin() for name in ("ann", "bob"))
    task = ann.task
    ann.send()
    for method, path in (("get", f"/item/{task}"), ("post", f"/item/{task}"), ("post", f"/item/{task}/draft")):
        data = {"data": dict(bob.form())} if method == "post" else {}
        assert getattr(bob.client, method)(path, **data).status_code == 404


def test_somebody_who_guesses_an_id_sees_nothing_of_its_answers(desk: Desk, run: Run) -> None:
    ann = Browser(make_client(desk, run), "ann").begin()
    task = ann.task
    ann.send()
    thief = Browser(make_client(desk, run), "ann").begin()
    assert thief.client.get(f"/item/{task}").status_code == 404
    assert "Previous answer" not in thief.page


@pytest.mark.parametrize("path", ["/", "/start", "/item", "/item/abc", "/done"])
def test_no_page_is_shown_without_a_cookie_of_ours(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 401
    forged = Signer("another secret").seal(Session("ann", "1"), ANNOTATOR)
    late = f"{forged.split('.')[0]}.{'_' * 40}.{forged.split('.')[2]}"  # a time beyond all calendars
    for value in (forged, "", "x.y", forged.split(".")[0] + ".", late, "é.é".encode().decode("latin-1")):
        answer = client.get(path, headers={"cookie": f"{ANNOTATOR}={value}".encode("latin-1")})
        assert answer.status_code == 401


def test_an_expired_cookie_counts_as_none_and_the_link_leads_back_to_the_same_annotator(
    client: TestClient, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = Browser(client, "ann").begin()
    ann.send()
    form, task, expired = ann.form(), ann.task, client.cookies[ANNOTATOR]
    pass_seconds(monkeypatch, LIFETIME_SECONDS[ANNOTATOR] + 60)
    assert client.cookies[ANNOTATOR] == expired
    for path in ("/", "/start", "/item", f"/item/{task}", "/done"):
        answer = client.get(path)
        assert (answer.status_code, "come in by the link" in answer.text) == (401, True)
    assert client.post(f"/item/{task}", data=form).status_code == 401
    again = Browser(client, "ann").begin()
    assert client.cookies[ANNOTATOR] != expired
    assert again.task == task  # the item in hand
    again.send()
    assert [verdict.annotator for verdict in desk.store.verdicts()] == ["ann", "ann"]


@pytest.mark.parametrize("renewed_by", ["an answer", "the link"])
def test_the_cookie_is_valid_again_from_each_answer_and_each_visit_by_the_link(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, renewed_by: str
) -> None:
    ann = Browser(client, "ann").begin()
    most_of_it = LIFETIME_SECONDS[ANNOTATOR] * 2 // 3
    pass_seconds(monkeypatch, most_of_it)
    if renewed_by == "an answer":
        ann.send()
    else:
        client.get("/a/ann")
    pass_seconds(monkeypatch, most_of_it)
    assert client.get("/item").status_code == 200


def test_answers_given_before_the_cookie_was_renewed_can_still_be_changed(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = Browser(client, "ann").begin()
    pass_seconds(monkeypatch, LIFETIME_SECONDS[ANNOTATOR] // 2)
    ann.send()
    (back,) = set(re.findall(r'href="(/item/[\w-]+)"', ann.page))
    assert "An answer you gave" in client.get(back).text


def test_an_expired_admin_logs_in_again(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    token = admin_of(client)
    expired = {"cookie": f"{ADMIN}={client.cookies[ADMIN]}"}
    client.cookies.clear()
    assert client.get("/admin/verdicts.jsonl", headers=expired).status_code == 200
    pass_seconds(monkeypatch, LIFETIME_SECONDS[ADMIN] + 60)
    assert client.get("/admin/verdicts.jsonl", headers=expired).status_code == 401
    assert client.post("/admin/annotators", data={"token": token}, headers=expired).status_code == 401
    assert client.get("/admin", headers=expired).url.path == "/admin/login"
    assert admin_of(client) != token


def test_a_cookie_serves_one_purpose_only(client: TestClient) -> None:
    client.get("/a/admin")
    sealed = client.cookies[ANNOTATOR]
    answer = client.get("/admin/verdicts.jsonl", headers={"cookie": f"{ADMIN}={sealed}"})
    assert answer.status_code == 401


def test_another_token_ends_the_admins_sessions(client: TestClient, desk: Desk, run: Run) -> None:
    admin_of(client)
    headers = {"cookie": f"{ADMIN}={client.cookies[ADMIN]}"}
    paths = ("/admin/verdicts.jsonl", "/admin/login")
    assert [client.get(path, headers=headers).status_code for path in paths] == [200, 200]
    started_again = TestClient(make_app(Site(desk, run, Signer("secret")), "another-token", 1e6))
    assert started_again.get("/admin/verdicts.jsonl", headers=headers).status_code == 401


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(client: TestClient) -> None:
    answer = client.get("/a/ann", follow_redirects=False)
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie


# ------------------------------------------------------------------------------- the admin's side


ADMIN_PATHS = [
    ("get", "/admin"),
    ("get", "/admin/verdicts.jsonl"),
    ("post", "/admin/annotators"),
    ("post", "/admin/logout"),
]


@pytest.mark.parametrize(("method", "path"), ADMIN_PATHS)
@pytest.mark.parametrize(
    "headers", [{}, {"authorization": "Bearer wrong"}, {"authorization": TOKEN}, {"authorization": f"Basic {TOKEN}"}]
)
def test_nothing_of_the_admin_is_reached_without_the_token(
    inside: TestClient, method: str, path: str, headers: dict[str, str]
) -> None:
    cookie = {"cookie": f"{ANNOTATOR}={inside.cookies[ANNOTATOR]}"}
    answer = getattr(inside, method)(path, headers=headers | cookie, follow_redirects=False)
    assert answer.status_code in (401, 303)
    assert "ann" not in answer.text
    assert answer.headers.get("location", "/admin/login") == "/admin/login"


def test_a_wrong_token_is_not_let_in_and_not_tried_for_long(client: TestClient) -> None:
    page = client.get("/admin/login").text
    codes = []
    for _ in range(12):
        answer = client.post("/admin/login", data={"token": hidden(page), "admin_token": "wrong"})
        codes.append(answer.status_code)
        page = client.get("/admin/login").text
    assert set(codes[:10]) == {403}
    assert codes[-1] == 429


def test_the_admin_pauses_dequalifies_and_lets_in_again(client: TestClient, desk: Desk) -> None:
    judge_next(desk, "ann")
    token = admin_of(client)
    for action, state in (
        ("pause", "paused"),
        ("resume", "active"),
        ("dequalify", "dequalified"),
        ("requalify", "active"),
    ):
        client.post("/admin/annotators", data={"token": token, "annotator": "ann", "action": action, "sure": "yes"})
        assert desk.state_of("ann") == state


@pytest.mark.parametrize(("annotator", "action", "status"), [("bob", "pause", 404), ("ann", "promote", 400)])
def test_what_the_admin_cannot_do_is_refused(
    client: TestClient, desk: Desk, annotator: str, action: str, status: int
) -> None:
    judge_next(desk, "ann")
    data = {"token": admin_of(client), "annotator": annotator, "action": action}
    assert client.post("/admin/annotators", data=data).status_code == status


def test_the_admin_page_tells_how_it_goes(run: Run) -> None:
    desk = make_desk(run, limit=4, annotators_per_item=2)
    client = make_client(desk, run)
    for name, answer in (("ann", said()), ("bob", said()), ("cid", said(best=3, second=4))):
        for _ in range(2):
            judge_next(desk, name, answer)
    admin_of(client)
    page = unescape(re.sub(r"<[^>]+>", " ", client.get("/admin").text))
    assert re.search(r"2\s+of 4 items judged", page)
    assert re.search(r"ann\s+active\s+2\s+100.0 %", page)
    assert re.search(r"cid\s+active\s+2\s+0.0 %", page)
    assert "Krippendorff's alpha" in page


@pytest.mark.parametrize(("n_assigned", "beside"), [(7, "55.0 % (33.3)"), (4, "66.2 % (50.0)"), (2, "100.0 % (100.0)")])
def test_the_admin_page_says_what_share_of_gold_is_needed_and_what_chance_is(
    tmp_path: Path, n_assigned: int, beside: str
) -> None:
    run = make_run(small_pool(), tmp_path / "run", n_assigned=n_assigned)
    desk = make_desk(run, Screening(min_gold_items=10))
    judge_next(desk, "ann", said("l" * min(6, n_assigned)))
    client = make_client(desk, run)
    admin_of(client)
    page = " ".join(unescape(re.sub(r"<[^>]+>", " ", client.get("/admin").text)).split())
    assert f"ann active 1 100.0 % {beside}" in page
    needed, chance = beside.removesuffix(")").split(" % (")
    rule = f"fewer than {needed} % of 10 or more items is dequalified (chance: {chance} %)"
    assert (rule in page, NOBODY_SCREENED in page) == (n_assigned > 2, n_assigned == 2)


def test_the_export_is_a_file_of_verdicts_without_the_dequalified(
    client: TestClient, desk: Desk, run: Run, tmp_path: Path
) -> None:
    judge_next(desk, "ann"), judge_next(desk, "bob")
    desk.qualify("bob", False)
    assert [line["annotator"] for line in verdicts_of(client)] == ["ann"]
    assert {line["annotator"] for line in verdicts_of(client, "?all=true")} == {"ann", "bob"}
    admin_of(client)
    (tmp_path / "verdicts.jsonl").write_bytes(client.get("/admin/verdicts.jsonl").content)
    collected = [with_ordered_columns(verdict) for verdict in desk.store.verdicts()]
    assert read_verdicts(tmp_path / "verdicts.jsonl", run.pool.identity) == collected


def test_who_logs_out_is_out(client: TestClient) -> None:
    token = admin_of(client)
    client.post("/admin/logout", data={"token": token})
    assert client.get("/admin/verdicts.jsonl").status_code == 401


# ------------------------------------------------------------------------------- hostile texts and hostile requests


def test_hostile_endings_are_text_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swag_af.verify.presentation.readable", lambda text: text)  # which takes most of them apart
    contexts = make_contexts_of(3, n_videos=3)
    pool = CandidatePool.from_texts(contexts, [list(HOSTILE)] * 3, tagger="none")
    run = make_run(pool, tmp_path / "run", n_assigned=len(HOSTILE))
    desk = make_desk(run)
    client = make_client(desk, run)
    ann = Browser(client, "ann").begin()
    seen = set()
    for _ in range(3):
        scripts = re.findall(r"<script[^>]*>", ann.page)
        assert scripts == ['<script src="/static/work.js" defer>']
        assert not re.search(
            r"<(img|svg|a href=//|!--)|\son\w+=|49 eats", re.sub(r'class="words"[^>]*>[^<]*<', "<", ann.page)
        )
        assert ann.page.count("<form") == 2  # the answer, and to sign out
        assert len(ann.endings) == 6
        seen |= set(ann.endings)
        ann.send()
    assert any("<script>" in text for text in seen)
    assert any("{{" in text for text in seen)


HOSTILE_IDS = ["<b>", "a" * 65, "", "../../etc", "a b", "a\nb", "%00", "é", "-a", "https://evil.example"]


@pytest.mark.parametrize("name", HOSTILE_IDS)
def test_an_id_that_is_none_is_refused_and_not_repeated(inside: TestClient, name: str) -> None:
    answer = inside.get("/enter", params={"annotator": name})
    assert answer.status_code == 400
    assert "set-cookie" not in answer.headers
    assert not name or name not in re.sub(r"<[^>]+>", "", answer.text)


POSTS = ["/start", "/item/abc", "/item/abc/draft", "/admin/login", "/admin/logout", "/admin/annotators", "/admin/study"]
POSTS += ["/leave"]


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("token", [None, "", "0" * 64])
def test_no_form_is_taken_without_its_token(inside: TestClient, path: str, token: str | None) -> None:
    answer = inside.post(path, data={} if token is None else {"token": token}, follow_redirects=False)
    assert answer.status_code == 403


def test_the_token_of_one_annotators_form_does_not_serve_another(desk: Desk, run: Run) -> None:
    ann, bob = (Browser(make_client(desk, run), name).begin() for name in ("ann", "bob"))
    form = {**bob.form(), "token": ann.hidden("token")}
    assert bob.client.post(f"/item/{bob.task}", data=form).status_code == 403
    assert desk.store.verdicts() == []


def test_every_post_asks_for_its_token(desk: Desk, run: Run) -> None:
    """The list above names every route that takes a post."""
    app = make_client(desk, run).app.app
    routes: set[str] = set()

    def collect(found: Any) -> None:
        for route in found:
            inner = getattr(route, "original_router", None)
            if inner is not None:
                collect(inner.routes)
            elif "POST" in (getattr(route, "methods", None) or ()):
                routes.add(re.sub(r"{\w+}", "abc", route.path))

    collect(app.routes)
    assert routes == set(POSTS)


PATHS = ["/", "/a/ann", "/start", "/item", "/admin", "/admin/login", "/static/app.css", "/static/none", "/nowhere"]


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_carries_the_headers_that_browsers_obey(inside: TestClient, path: str) -> None:
    headers = inside.get(path, follow_redirects=False).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


def test_pages_hold_no_script_and_no_style_of_their_own(client: TestClient, desk: Desk) -> None:
    judge_next(desk, "bob")
    ann = Browser(client, "ann")
    pages = [ann.page, ann.begin().page, client.get("/done").text]
    admin_of(client)
    pages.append(client.get("/admin").text)
    for page in pages:
        assert not re.search(r"<script(?! src=)|<style|\sstyle=|\son\w+=|javascript:|https?://", page)


OUTSIDE = ["/static/../server.py", "/static/..%2fserver.py", "/static/%2e%2e/store.py", "/verification/answers.db"]


@pytest.mark.parametrize("path", [*OUTSIDE, "/static/", "/docs", "/openapi.json", "/redoc", "/.env", "/admin/../x"])
def test_no_file_but_the_static_ones_is_served(inside: TestClient, path: str) -> None:
    assert inside.get(path).status_code in (404, 405)


@pytest.mark.parametrize(
    "query", ["next=//evil.example", "annotator=ann&next=https://evil.example", "url=//evil.example"]
)
def test_no_redirect_leads_elsewhere(inside: TestClient, query: str) -> None:
    for path in ("/enter?annotator=ann&", "/a/ann?", "/item?", "/admin?", "/done?"):
        answer = inside.get(f"{path}{query}", follow_redirects=False)
        assert answer.headers.get("location", "/").split("?")[0] in ("/", "/start", "/item", "/done", "/admin/login")


def test_a_body_that_is_too_long_is_refused_whether_or_not_it_says_so(client: TestClient) -> None:
    Browser(client, "ann").begin()
    long = b"token=" + b"x" * MOST_BYTES

    def parts():
        yield from (long[i : i + 999] for i in range(0, len(long), 999))

    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/start", content=long, headers=kind).status_code == 413
    assert client.post("/start", content=parts(), headers=kind).status_code == 413


@pytest.mark.parametrize("content", [b"--x\r\n", b"\xff\xfe=\x00", b"a&" * 900, b"%" * 50])
@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/xml"])
def test_a_body_that_is_no_form_is_refused(inside: TestClient, content: bytes, kind: str) -> None:
    assert inside.post("/start", content=content, headers={"content-type": kind}).status_code in (400, 403)


def test_a_form_of_broken_characters_is_refused(inside: TestClient) -> None:
    part = b'--x\r\nContent-Disposition: form-data; name="token"\r\n\r\n\\ud800\r\n--x--\r\n'
    headers = {"content-type": "multipart/form-data; boundary=x; charset=unicode_escape"}
    assert inside.post("/start", content=part, headers=headers).status_code == 403


def test_a_length_that_is_no_number_one_can_read_is_refused(inside: TestClient) -> None:
    assert inside.post("/start", content=b"x", headers={"content-length": "9" * 5000}).status_code == 413


@pytest.mark.parametrize("path", ["/start/", "/item/", "/admin/", "/static", "//evil.example/"])
def test_no_redirect_repeats_the_host_that_a_request_claims(inside: TestClient, path: str) -> None:
    answer = inside.get(path, headers={"host": "evil.example"}, follow_redirects=False)
    assert "evil" not in answer.headers.get("location", "")


def test_numbers_that_are_none_make_no_answer(client: TestClient, desk: Desk) -> None:
    ann = Browser(client, "ann").begin()
    for value in ("-1", "6", "1e9", "٣", "0x1", "9" * 5000, "None", "\x00"):
        assert client.post(f"/item/{ann.task}", data={**ann.form(), "best": value}).status_code == 422
    assert desk.store.verdicts() == []


@pytest.fixture
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine that answers at once: on a busy one the bucket filled as fast as it was emptied."""
    monkeypatch.setattr("swag_af.verify.web.security.RateLimit", partial(RateLimit, clock=Clock()))


@pytest.mark.usefixtures("no_time_passes")
def test_too_many_requests_of_one_annotator_are_refused(desk: Desk, run: Run) -> None:
    client = make_client(desk, run, requests_per_minute=30)
    client.get("/a/ann")
    codes = [client.get("/start").status_code for _ in range(15)]
    assert codes[0] == 200
    assert codes[-1] == 429
    client.cookies.clear()
    assert client.get("/a/bob").status_code == 200


@pytest.mark.usefixtures("no_time_passes")
def test_an_odd_cookie_beside_ours_does_not_lift_the_limit(desk: Desk, run: Run) -> None:
    client = make_client(desk, run, requests_per_minute=30)
    client.get("/a/ann")
    headers = {"cookie": f'a[]="x; {ANNOTATOR}={client.cookies[ANNOTATOR]}'}
    client.cookies.clear()
    codes = [client.get("/start", headers=headers).status_code for _ in range(15)]
    assert (codes[0], codes[-1]) == (200, 429)


@pytest.mark.usefixtures("no_time_passes")
def test_too_many_requests_of_one_client_are_refused_with_any_cookie(desk: Desk, run: Run) -> None:
    client = make_client(desk, run, requests_per_minute=1)
    codes = []
    for k in range(15):
        client.cookies.clear()
        codes.append(client.get(f"/a/a{k}", follow_redirects=False).status_code)
    assert codes[0] == 303
    assert codes[-1] == 429


def test_the_bucket_fills_again() -> None:
    now = [0.0]
    limit = RateLimit(60, clock=lambda: now[0])
    assert sum(limit.allows("a") for _ in range(50)) == 20
    now[0] += 5
    assert sum(limit.allows("a") for _ in range(50)) == 5
    assert limit.allows("b")


# ------------------------------------------------------------------------------- sessions, proxies, names


def test_a_copied_cookie_is_dead_after_logout(client: TestClient, desk: Desk, run: Run) -> None:
    token = admin_of(client)
    cookie = {"cookie": f"{ADMIN}={client.cookies[ADMIN]}"}
    other = make_client(desk, run)
    assert other.get("/admin", headers=cookie, follow_redirects=False).status_code == 200
    client.post("/admin/logout", data={"token": token})
    for late in (other, make_client(desk, run)):  # also after the server was started again
        assert late.get("/admin", headers=cookie, follow_redirects=False).status_code == 303
        assert late.get("/admin/verdicts.jsonl", headers=cookie).status_code == 401
        assert late.post("/admin/annotators", data={"token": token}, headers=cookie).status_code == 401


def test_a_login_in_a_second_tab_does_not_end_the_first(client: TestClient) -> None:
    first, second = (hidden(client.get("/admin/login").text) for _ in range(2))
    token = hidden(client.post("/admin/login", data={"token": first, "admin_token": TOKEN}).text)
    assert client.post("/admin/login", data={"token": second, "admin_token": TOKEN}).status_code == 200
    assert client.get("/admin/login").url.path == "/admin"
    assert client.post("/admin/logout", data={"token": token}).url.path == "/admin/login"


def test_wrong_tokens_do_not_lock_the_right_one_out(client: TestClient) -> None:
    wrong = [client.get("/admin", headers={"authorization": f"Bearer wrong-{k}"}).status_code for k in range(40)]
    assert wrong[-1] == 429
    assert client.get("/admin", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    admin_of(client)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *((host, 303) for host in ("study.example", "STUDY.example:8000", "127.0.0.1:8000", "[::1]:8000")),
        *((host, 421) for host in ("evil.example", "study.example.evil.example", "")),
    ],
)
def test_only_the_names_given_are_answered(desk: Desk, run: Run, host: str, status: int) -> None:
    client = TestClient(make_app(Site(desk, run, Signer("secret")), TOKEN, 1e6, ["study.example"]))
    assert client.get("/a/ann", headers={"host": host}, follow_redirects=False).status_code == status


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ca n't go , he says .", "can't go, he says."),
        ("`` Hi , '' she says .", '"Hi," she says.'),
        ("the man 's dog", "the man's dog"),
        ("it ’s AT&T", "it’s AT&T"),
        ("sells AT&T shares, and C# code.", "sells AT&T shares, and C# code."),
        ("uses .NET daily ... and more.", "uses .NET daily ... and more."),
        ("ouvre l’homme à 5 % : voilà.", "ouvre l’homme à 5 % : voilà."),
        ("go to www.example.com/a-b, please.", "go to www.example.com/a-b, please."),
        ("mail me@x.org or https://x.org/(a)b .", "mail me@x.org or https://x.org/(a)b ."),
        ("def f(a , b):\n    return a", "def f(a , b):\n    return a"),
    ],
)
def test_pages_exports_and_releases_show_one_text_that_is_changed_only_where_it_is_tokenised(
    tmp_path: Path, text: str, shown: str
) -> None:
    """`AT&T` became `AT & T` for annotators, and in the release endings stayed tokenised."""
    contexts = [replace(context, sent1=f"A {text}") for context in make_contexts_of(3, n_videos=3)]
    pool = CandidatePool.from_texts(contexts, [[f"{text} {k}" for k in range(9)]] * 3, tagger="none")
    run = make_run(pool, tmp_path / "run", n_assigned=6)
    question = make_questions(run, [(Example(0, 0, (1, 2, 3), "gold"), "train")], 3, seed=0)[0]
    page = shown_item(run, 0, range(4), seed=0, item="0-0", annotator="ann", secret=None)
    (task,) = make_tasks(run, [Item(0, (0, 1, 2, 3))], seed=0)
    assert question.sent1 == page.sent1 == task.sent1 == f"A {shown}"
    endings = {readable(pool.text(0, column)) for column in range(4)}
    assert {question.answer, *question.distractors} == set(page.endings) == set(task.endings) == endings
    assert readable(text) == shown


def test_pages_and_exports_explain_the_ratings_in_the_same_words(client: TestClient) -> None:
    page = unescape(client.get("/a/ann").text)
    for meaning in MEANINGS.values():
        assert meaning[1:] in page
        assert meaning in BRIEF


ARABIC = "يفتح الرجل الباب ثم يخرج"


def make_foreign_run(path: Path) -> Run:
    """A run whose texts are Arabic, but for the first three rows."""
    contexts = [
        one if i < 3 else replace(one, sent1=f"{ARABIC} {i}", start="ثم هو", gold=f"{ARABIC} {i}.")
        for i, one in enumerate(make_contexts_of(12, n_videos=12))
    ]
    words = ["sees {} birds, {} trees and a cat." if i < 3 else f"{ARABIC} {{}} {{}}." for i in range(12)]
    negatives = [[text.format(k, i) for k in range(12)] for i, text in enumerate(words)]
    return make_run(CandidatePool.from_texts(contexts, negatives, tagger="none"), path)


def test_texts_in_another_script_are_not_said_to_be_english(tmp_path: Path) -> None:
    """Gibberish was "hardly English" in Arabic too, which a screen reader read as English."""
    run = make_foreign_run(tmp_path / "run")
    ann = Browser(make_client(make_desk(run), run), "ann")
    assert IN_ANOTHER_SCRIPT[1:] in unescape(ann.page)
    ann.begin()
    seen = set()
    for _ in range(12):
        is_foreign = ARABIC in ann.page
        seen.add(is_foreign)
        assert (IN_ANOTHER_SCRIPT[1:] in unescape(ann.page)) == is_foreign
        assert (MEANINGS["gibberish"][1:] in unescape(ann.page)) != is_foreign
        assert len(re.findall(r'id="scene"[^>]* lang="">', ann.page)) == is_foreign
        assert len(re.findall(r'class="words"[^>]* lang="">', ann.page)) == 6 * is_foreign
        ann.send()
    assert seen == {True, False}


def test_forms_for_other_platforms_speak_of_english_where_most_tasks_may_be(tmp_path: Path) -> None:
    tasks = make_tasks(make_foreign_run(tmp_path / "run"), [Item(row, tuple(range(6))) for row in range(12)], seed=0)
    assert MEANINGS["gibberish"] in brief_of(tasks[:4])
    assert IN_ANOTHER_SCRIPT in brief_of(tasks)
    assert MEANINGS["gibberish"] not in brief_of(tasks)


def test_every_page_of_an_annotator_says_who_is_signed_in(desk: Desk, run: Run) -> None:
    client = make_client(make_desk(run, items_per_annotator=1), run)
    ann = Browser(client, "ann")
    pages = [ann.page, ann.begin().page, ann.send().text]
    assert ["Signed in as ann" in page for page in pages] == [True] * 3


def test_questions_without_a_start_are_asked_as_questions(tmp_path: Path) -> None:
    contexts = [Context(f"Why is it {i}?", "", f"since {i}.", id=str(i)) for i in range(12)]
    pool = CandidatePool.from_texts(contexts, [[f"not {k}, {i}." for k in range(12)] for i in range(12)])
    asked = make_run(pool, tmp_path / "run")
    browser = Browser(make_client(make_desk(asked), asked), "ann")
    assert "Which answer is right?" in browser.page
    assert "How could the scene go on?" not in browser.page
    browser.begin()
    assert "what comes next?" not in browser.page
    assert re.search(r"Why is it \d+\?</h1>", browser.page)
