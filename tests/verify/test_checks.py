"""Claims about attention checks: where they stand, that nobody can tell them from items, what failing them does."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, update
from test_paying import people_of
from test_web import admin_of
from verify_people import Browser, Clock, judge_next, make_client, make_desk, make_run, said, small_pool

from swag_af.data.disk.files import write_jsonl
from swag_af.data.errors import InputError
from swag_af.data.runs.run import Run
from swag_af.data.work.locks import alone
from swag_af.verify.checks import N_NONSENSE, Attention, check_of, draw_checks, keep_checks, passes
from swag_af.verify.desk import Answer, Desk, Screening
from swag_af.verify.items import rows_left_out
from swag_af.verify.options import ServeOptions
from swag_af.verify.overview import overview
from swag_af.verify.qualification import QualificationQuestion, read_questions
from swag_af.verify.schema import checks, events, tasks
from swag_af.verify.store import open_store
from swag_af.verify.web.server import attention_of, open_verification, rows_to_draw_of, serve, welcome
from swag_af.verify.web.site import Payment

N_ITEMS = 24
LARGE = 40


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return make_run(small_pool(LARGE), tmp_path / "run")


def make_attentive(run: Run, *, limit: int = N_ITEMS, clock: Clock | None = None, **options: Any) -> Desk:
    """The desk of `verify serve RUN` with checks."""
    desk = make_desk(run, limit=limit, clock=clock)
    assert run.path is not None
    serve = ServeOptions(run.path, limit=limit, **{"check_every": 4, **options})
    return replace(desk, attention=attention_of(run, desk.store, "a secret", serve))


def work(desk: Desk, name: str, n: int, *, attentive: bool = True) -> list[bool]:
    """Let `name` answer up to `n` tasks; returns which were checks."""
    desk.admit(name)
    kinds = []
    for _ in range(n):
        task = desk.next_task(name, "tab")
        if task is None:
            break
        answer = right_answer(desk, task.item) if task.is_check and attentive else said("llllll")
        assert desk.take(task.id, name, "tab", task.revision, answer)
        kinds.append(bool(task.is_check))
    return kinds


def right_answer(desk: Desk, check: str) -> Answer:
    with desk.store.engine.connect() as connection:
        question = check_of(connection, check)
    ratings = "".join("l" if known is None else "u" for known in question.ratings)
    return said(ratings, *[i for i, known in enumerate(question.ratings) if known is None][:2])


# ------------------------------------------------------------------------------- which check, and when


@given(every=st.integers(2, 12), name=st.text("abc", min_size=1, max_size=5), blocks=st.integers(1, 5))
def test_the_place_of_a_check_is_within_its_block_and_drawn_by_the_secret(every: int, name: str, blocks: int) -> None:
    one, other = (Attention((), every, secret=secret) for secret in ("one", "two"))
    places = [one.place(name, block) for block in range(blocks)]
    assert all(0 <= place < every for place in places)
    assert places == [one.place(name, block) for block in range(blocks)]
    assert [one.place(name, b) for b in range(60)] != [other.place(name, b) for b in range(60)]


@pytest.mark.parametrize("every", [2, 3, 5, 8])
def test_one_task_of_every_block_is_a_check_at_its_drawn_place(run: Run, every: int) -> None:
    """The slow twin of what asks the store: a list of blocks."""
    desk = make_attentive(run, check_every=every)
    kinds = work(desk, "ann", N_ITEMS)
    expected = [desk.attention.place("ann", i // every) == i % every for i in range(N_ITEMS)]
    assert kinds == expected
    assert kinds != work(desk, "bob", N_ITEMS)


def test_no_check_is_given_twice_and_without_any_left_there_are_items(run: Run) -> None:
    desk = make_attentive(run, check_every=2)
    desk = replace(desk, attention=replace(desk.attention, questions=desk.attention.questions[:3]))
    kinds = work(desk, "ann", 100)
    assert (kinds.count(True), kinds.count(False)) == (3, N_ITEMS)


def test_checks_that_begin_in_the_middle_of_work_are_not_made_up_for(run: Run) -> None:
    desk = make_attentive(run)
    assert work(replace(desk, attention=Attention()), "ann", 11) == [False] * 11
    assert sum(work(desk, "ann", 5)) <= 2


def test_nobody_gets_a_check_when_no_item_is_left_or_the_study_is_paused(run: Run) -> None:
    desk = make_attentive(run, check_every=2)
    work(desk, "ann", 100)
    assert work(desk, "bob", 9) == []
    other = make_attentive(run, check_every=2, limit=N_ITEMS + 4)
    other.pause_all(True)
    assert work(other, "bob", 9) == []


def test_drawn_checks_are_of_contexts_that_are_not_shown_and_depend_on_the_secret(run: Run) -> None:
    desk = make_desk(run, limit=N_ITEMS)
    rows, assignment = rows_left_out(desk.store, LARGE), run.assignment()
    drawn = draw_checks(run, rows, "one", assignment=assignment, seed=0)
    assert set(drawn) == set(rows)
    assert list(drawn.items()) == list(draw_checks(run, rows, "one", assignment=assignment, seed=0).items())
    assert drawn != draw_checks(run, rows, "two", assignment=assignment, seed=0)
    for row, question in drawn.items():
        assert (question.sent1, question.endings[0]) == (run.pool.contexts[row].sent1, run.pool.text(row, 0))
        assert question.ratings.count("gibberish") == N_NONSENSE
        texts = {run.pool.text(row, column) for column in assignment[row].tolist()}
        for text, known in zip(question.endings, question.ratings, strict=True):
            assert (text not in texts) == (known is not None)
            words = [re.findall(r"\w+", one.lower()) for one in (text, *texts)]
            assert sorted(words[0]) in map(sorted, words[1:])


def test_a_study_that_shows_all_contexts_has_none_to_draw_checks_of(run: Run) -> None:
    with pytest.raises(InputError, match="--checks drawn: needs contexts that are neither shown"):
        make_attentive(run, limit=LARGE)


def test_questions_of_the_qualification_and_checks_are_drawn_of_different_contexts(run: Run) -> None:
    assert run.path is not None
    store = make_desk(run, limit=N_ITEMS).store
    halves = []
    for limit in (N_ITEMS, N_ITEMS + 8):
        make_desk(run, limit=limit)
        options = ServeOptions(run.path, limit=limit, check_every=4, qualification="drawn")
        rows = [set(rows_to_draw_of(run, store, "s", options, of_checks=which)) for which in (False, True)]
        assert all(rows)
        assert not rows[0] & rows[1]
        assert sorted(rows[0] | rows[1]) == rows_left_out(store, LARGE)
        halves.append(rows)
    assert halves[1][0] <= halves[0][0]  # no question becomes a check when the limit grows
    assert halves[1][1] <= halves[0][1]
    one = ServeOptions(run.path, limit=N_ITEMS + 8, check_every=4)
    assert rows_to_draw_of(run, store, "s", one, of_checks=True) == rows_left_out(store, LARGE)


def test_nobody_gets_two_checks_of_one_context_though_others_are_drawn_when_the_limit_grows(run: Run) -> None:
    work(make_attentive(run, limit=12, check_every=2), "ann", 12)
    for limit in (12, 20, 30):
        desk = make_attentive(run, limit=limit, check_every=2)
        work(desk, "ann", 24)
    with desk.store.engine.connect() as connection:
        of_checks = select(checks.c.row).join(tasks, tasks.c.item == checks.c.id).where(tasks.c.annotator == "ann")
        rows = [*connection.scalars(of_checks)]
        rows += connection.scalars(select(tasks.c.row).where(tasks.c.annotator == "ann", tasks.c.row.is_not(None)))
    assert len(rows) == len(set(rows)) > 20


def test_a_context_that_was_a_check_is_no_item_for_the_same_person_when_the_limit_grows(run: Run) -> None:
    work(make_attentive(run, check_every=2), "ann", 12)
    desk = make_attentive(run, check_every=2, limit=LARGE - 1)
    with desk.store.engine.connect() as connection:
        mine = select(checks.c.row).join(tasks, tasks.c.item == checks.c.id).where(tasks.c.annotator == "ann")
        seen = set(connection.scalars(mine))
    work(replace(desk, attention=Attention()), "ann", 100)
    rows = {verdict.item.row for verdict in desk.store.verdicts() if verdict.annotator == "ann"}
    assert seen
    assert not rows & seen
    assert len(rows | seen) >= LARGE - 1


def test_a_file_of_checks_must_look_like_items(run: Run, tmp_path: Path) -> None:
    line = {"sent1": "A man sits.", "start": "He", "endings": [f"does {k}." for k in range(6)], "best": 0}
    write_jsonl(tmp_path / "six.jsonl", [line])
    desk = make_attentive(run, checks=str(tmp_path / "six.jsonl"))
    assert [question.sent1 for question in desk.attention.questions] == ["A man sits."]
    write_jsonl(tmp_path / "four.jsonl", [line, line | {"sent1": "She sits.", "endings": line["endings"][:4]}])
    with pytest.raises(InputError, match=r"1 question \(first: number 2\) has not the 6 endings"):
        make_attentive(run, checks=str(tmp_path / "four.jsonl"))


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"check_every": 1}, "--check-every 1"),
        ({"check_every": -3}, "--check-every -3"),
        ({"min_checks": 0}, "--min-checks 0: at least 1"),
        ({"min_check_share": 1.5}, "--min-check-share: from 0 to 1"),
    ],
)
def test_impossible_checks_are_refused(options: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError, match=line):
        ServeOptions(Path("run"), **options)


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (
            {"checks": "mine.jsonl", "min_check_share": 0.5, "min_checks": 5, "failed_checks": "pause"},
            [
                f"{flag}: only with --check-every"
                for flag in ("--checks", "--min-check-share", "--min-checks", "--failed-checks")
            ],
        ),
        (
            {"qualification_questions": 3, "qualification_share": 0.5},
            [f"--qualification-{what}: only with --qualification" for what in ("questions", "share")],
        ),
    ],
)
def test_what_has_no_effect_without_another_option_is_refused(options: dict[str, Any], lines: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        ServeOptions(Path("run"), **options)
    assert sorted(str(caught.value).removesuffix(".").split("; ")) == sorted(lines)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"proxies": ("127.0.0.1:443",)}, "--proxies 127.0.0.1:443: an address"),
        ({"proxies": ("localhost",)}, "--proxies localhost: an address"),
        ({"hosts": ("http://your.host",)}, "--hosts http://your.host: a name alone"),
        ({"hosts": ("your.host:80",)}, "--hosts your.host:80: a name alone"),
        ({"deadline": "0001-01-01T00:00"}, "--deadline 0001-01-01T00:00: write it like"),
    ],
)
def test_names_that_nobody_would_be_known_by_are_refused(options: dict[str, Any], said: str) -> None:
    """The server started, and let in nobody, or took all for one."""
    with pytest.raises(InputError, match=re.escape(said)):
        ServeOptions(Path("run"), **options)
    ServeOptions(Path("run"), proxies=("127.0.0.1", "::1"), hosts=("your.host", "[::1]"))


def test_more_qualification_questions_than_there_are_are_refused(run: Run) -> None:
    options = ServeOptions(run.path, port=0, qualification="builtin", qualification_questions=99)
    with pytest.raises(InputError, match=r"--qualification-questions 99: there are \d+"):
        serve(options, say=lambda *lines: None)


# ------------------------------------------------------------------------------- what annotators see


def plain(page: str) -> str:
    """The page without its texts, numbers and tokens."""
    page = re.sub(r'(?<=class="words" dir="auto">)[^<]*|<h1 class="scene".*?</h1>', "", page)
    return re.sub(r'/item/[\w-]+|data-task="[\w-]+"|value="[\w-]{20,}"|Item \d+|data-back="[^"]*"', "", page)


def test_the_pages_of_checks_and_of_items_are_the_same(run: Run) -> None:
    desk = make_attentive(run)
    client = make_client(desk, run)
    ann = Browser(client, "ann").begin()
    pages: dict[bool, set[str]] = {True: set(), False: set()}
    numbers = []
    for k in range(12):
        task = desk.task(ann.task, "ann", _session(desk))
        assert task is not None
        (number,) = re.findall(r"<title>Item (\d+)", ann.page)
        numbers.append(int(number))
        if k > 1:  # the first has no answer before it, the second no note
            pages[bool(task.is_check)].add(plain(ann.page))
            again = client.get(f"/item/{task.id}").text
            assert ("Signed in as ann" in again, again.count('class="words"')) == (True, 6)
        ann.send()
        answered = client.get(f"/item/{task.id}")  # earlier answers may be looked at and changed, whatever they are
        assert (answered.status_code, "Keep the change" in answered.text) == (200, True)
    assert pages[True] == pages[False]
    assert len(pages[True]) == 1
    assert numbers == list(range(1, 13))


def _session(desk: Desk) -> str:
    with desk.store.engine.connect() as connection:
        return connection.scalars(select(tasks.c.session).limit(1)).one()


# ------------------------------------------------------------------------------- what counts


def test_checks_are_no_verdicts_and_change_no_number_of_items(run: Run) -> None:
    desk = make_attentive(run, check_every=3)
    kinds = work(desk, "ann", 15)
    assert run.path is not None
    verdicts = open_store(run.path).verdicts(include_dequalified=True)
    assert len(verdicts) == kinds.count(False) == 10
    assert max(Counter(verdict.item.id for verdict in verdicts).values()) == 1
    found = overview(desk.store, 0.0)
    assert (found.n_answers, found.n_items, found.n_closed) == (10, N_ITEMS, 10)
    (line,) = found.annotators
    assert (line.n, line.n_checks, line.n_passed, line.n_done) == (10, 5, 5, 15)


def test_checks_are_paid_as_items(run: Run) -> None:
    desk = make_attentive(run, check_every=2)
    desk = replace(desk, screening=replace(desk.screening, most_items=8))
    assert work(desk, "ann", 100).count(True) == 4
    assert desk.n_answered("ann") == 8
    client = make_client(desk, run, payment=Payment(n_items=8), completion_code="FULL")
    (line,) = people_of(client)
    assert (line["items"], line["outcome"], line["checks"], line["checks_passed"]) == ("8", "complete", "4", "4")


KNOWN = QualificationQuestion("A.", "He", tuple("abcd"), ("likely", None, "unlikely", "gibberish"), (0, 1), (0, 1))


@pytest.mark.parametrize(
    ("ratings", "best", "second", "passed"),
    [
        ("llug", 0, 1, True),
        ("ulgu", 1, 0, True),  # unlikely and gibberish are a matter of taste
        ("lllg", 0, 1, False),
        ("llul", 0, 1, False),
        ("glug", 0, 1, False),
        ("llug", 2, 1, False),
        ("llug", 0, 3, False),
    ],
)
def test_an_answer_shows_attention_or_not(ratings: str, best: int, second: int, passed: bool) -> None:
    answer = said(ratings, best, second)
    assert passes(KNOWN, answer.ratings, best, second) is passed


@pytest.mark.parametrize(
    ("ratings", "passed"),
    [
        *(("llgguu", True), ("gglguu", False), ("gggggg", False), ("uuuggg", True), ("lguugg", True)),
        *(("uggguu", True), ("lggggg", True), ("gglluu", True)),
    ],
)
def test_a_drawn_check_in_which_gold_and_most_whole_endings_are_called_gibberish_is_failed(
    run: Run, ratings: str, passed: bool
) -> None:
    """Gold, three negatives that are whole, then the two whose words are shuffled; who called all six gibberish passed,
    and then who called three negatives so that read badly failed."""
    question = next(iter(draw_checks(run, range(LARGE), "one", assignment=run.assignment(), seed=0).values()))
    assert len(question.whole) == 4
    order = (*question.whole, *(i for i in range(6) if i not in question.whole))
    by_place = said("".join(ratings[order.index(i)] for i in range(6)))
    assert passes(question, by_place.ratings, *question.whole[:2]) is passed


def test_who_fails_too_many_is_flagged_on_the_admin_page_and_in_the_table(run: Run) -> None:
    desk = make_attentive(run, check_every=2)
    work(desk, "ann", 4, attentive=False)  # two checks: too few to tell
    client = make_client(desk, run)
    admin_of(client)
    assert "flagged</span>" not in client.get("/admin").text
    work(desk, "ann", 2, attentive=False)
    work(desk, "bob", 6)
    page = client.get("/admin").text
    assert "0 of 3" in page
    assert "3 of 3" in page
    assert page.count("flagged</span>") == 1
    assert {line["annotator"]: line["flagged"] for line in people_of(client)} == {"ann": "1", "bob": "0"}
    assert desk.state_of("ann") == "active"


@pytest.mark.parametrize(
    ("action", "state", "logged"), [("pause", "paused", "pause"), ("dequalify", "dequalified", "screen")]
)
def test_who_fails_too_many_can_be_shut_out_and_the_log_says_why(
    run: Run, action: str, state: str, logged: str
) -> None:
    desk = make_attentive(run, check_every=2, failed_checks=action)
    kinds = work(desk, "ann", 100, attentive=False)
    assert (kinds.count(True), kinds[-1], desk.state_of("ann")) == (3, True, state)
    with desk.store.engine.connect() as connection:
        (event,) = connection.execute(select(events)).all()
    assert (event.who, event.action, event.annotator, event.before["state"]) == (
        "attention checks",
        logged,
        "ann",
        "active",
    )
    found = overview(desk.store, 0.0)
    assert found.n_closed == (0 if action == "dequalify" else kinds.count(False))  # those items go to others
    if action == "pause":
        desk.pause("ann", False)
        assert len(work(desk, "ann", 100)) > 10  # nothing more is done to who passes from now on


def test_who_was_requalified_is_exempt_from_checks_too(run: Run) -> None:
    desk = make_attentive(run, check_every=2, failed_checks="dequalify")
    work(desk, "ann", 100, attentive=False)
    desk.qualify("ann", True)
    work(desk, "ann", 6, attentive=False)
    assert desk.state_of("ann") == "active"


def test_a_question_of_the_trial_that_was_left_open_can_be_answered_as_a_check(run: Run) -> None:
    """It came again and again, and no answer to it was taken."""
    questions = read_questions("builtin")
    desk = make_desk(run, Screening(questions, secret="s"), limit=N_ITEMS)
    keep_checks(desk.store, [(None, one) for one in questions])
    desk = replace(desk, attention=Attention(questions, 2, secret="z"))
    desk.admit("ann")
    assert desk.next_task("ann", "tab") is not None
    desk.qualify("ann", True)
    kinds = []
    for _ in range(2 * len(questions) + 4):
        task = desk.next_task("ann", "tab")
        assert task is not None
        kinds.append(task.is_check)
        answer = right_answer(desk, task.item) if task.is_check else said("llllll")
        assert desk.take(task.id, "ann", "tab", task.revision, answer)
    assert sum(kinds) == len(questions)


def test_a_changed_answer_is_marked_again(run: Run) -> None:
    desk = make_attentive(run, check_every=2)
    work(desk, "ann", 2, attentive=False)
    with desk.store.engine.connect() as connection:
        task = connection.execute(select(tasks).where(tasks.c.is_check.is_(True))).one()
    assert task.passed is False
    assert desk.take(task.id, "ann", "tab", 1, right_answer(desk, task.item))
    assert overview(desk.store, 0.0).annotators[0].n_passed == 1


def test_a_corrected_key_marks_answers_before_and_after_it(run: Run, tmp_path: Path) -> None:
    """The question had been kept with its first key, by which all were marked for ever."""
    line = {"sent1": "A man sits.", "start": "He", "endings": [f"does {k}." for k in range(6)]}
    scores = []
    for best, name in ((3, "ann"), (0, "bob")):
        write_jsonl(tmp_path / "checks.jsonl", [line | {"best": best}])
        desk = make_attentive(run, check_every=2, checks=str(tmp_path / "checks.jsonl"))
        assert True in work(desk, name, 2, attentive=False)  # who says that 0 is the best
        scores.append({one.annotator: (one.n_checks, one.n_passed) for one in overview(desk.store, 0.0).annotators})
    assert scores == [{"ann": (1, 0)}, {"ann": (1, 1), "bob": (1, 1)}]


# ------------------------------------------------------------------------------- leases, and a server that is killed


def at_a_check(desk: Desk, name: str) -> Any:
    """The first check that `name` gets, in hand."""
    desk.admit(name)
    while True:
        task = desk.next_task(name, "tab")
        assert task is not None
        if task.is_check:
            return task
        desk.take(task.id, name, "tab", 0, said())


def test_a_check_in_hand_is_there_again_after_a_kill_whatever_the_next_start_is_given(run: Run, tmp_path: Path) -> None:
    held = at_a_check(make_attentive(run), "ann")
    line = {"sent1": "A man sits.", "start": "He", "endings": [f"does {k}." for k in range(6)], "best": 0}
    write_jsonl(tmp_path / "other.jsonl", [line])
    for options in ({"check_every": 0}, {"checks": str(tmp_path / "other.jsonl")}):
        desk = make_attentive(run, **options)
        again = desk.next_task("ann", "tab")
        assert again is not None
        assert again.id == held.id
        client = make_client(desk, run)
        with desk.store.engine.begin() as connection:
            connection.execute(update(tasks).values(session="tab"))
        client.cookies.set("swag_af_annotator", client.app.app.state.site.signer.seal(_tab(), "swag_af_annotator"))
        with desk.store.engine.connect() as connection:
            sent1 = check_of(connection, held.item).sent1.split()[0]
        assert sent1 in client.get(f"/item/{held.id}").text
    assert desk.take(held.id, "ann", "tab", 0, right_answer(desk, held.item))


def _tab() -> Any:
    from swag_af.verify.web.security import Session

    return Session("ann", "tab")


def test_a_check_whose_lease_ran_out_comes_back_as_the_same_check(run: Run) -> None:
    clock = Clock()
    desk = make_attentive(run, clock=clock)
    held = at_a_check(desk, "ann")
    clock.now += 24 * 3600
    again = desk.next_task("ann", "another browser")
    assert again is not None
    assert (again.id, again.is_check, again.session) == (held.id, True, "another browser")
    assert desk.task(held.id, "ann", "tab") is None


def test_a_check_in_hand_holds_no_item_up(run: Run) -> None:
    desk = make_attentive(run)
    at_a_check(desk, "ann")
    n = len({verdict.item for verdict in desk.store.verdicts()})
    assert work(desk, "bob", 1000).count(False) == N_ITEMS - n


def test_a_start_that_is_refused_lays_nothing_out(run: Run) -> None:
    """Whoever then followed the advice was refused for ever, for all contexts were shown."""
    assert run.path is not None
    options = ServeOptions(run.path, port=0, qualification="drawn")
    with pytest.raises(InputError, match="--limit"):
        serve(options, say=lambda *lines: None)
    assert rows_left_out(open_verification(run, options), LARGE) == list(range(LARGE))


def test_a_start_that_is_refused_settles_nothing(run: Run, tmp_path: Path) -> None:
    """Seed and iteration stayed those of a start whose --consent was mistyped."""
    assert run.path is not None
    with pytest.raises(InputError, match="--consent"):
        serve(ServeOptions(run.path, port=0, seed=1, consent=tmp_path / "none"), say=lambda *lines: None)
    assert make_desk(run, seed=2).store.settings["seed"] == open_store(run.path).settings["seed"] == 2
    with pytest.raises(InputError, match=r"other seed \(2, now 3\)"):
        make_desk(run, seed=3)


def test_a_second_server_for_the_same_answers_is_refused(run: Run) -> None:
    """It laid out items by its own options, and the first could never be started again."""
    assert run.path is not None
    with alone(run.path / "verification"), pytest.raises(InputError, match="Stop that server first"):
        serve(ServeOptions(run.path, port=0), say=lambda *lines: None)


def test_a_limited_study_is_not_started_without_its_limit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """All contexts were laid out for good, and none was left for checks and questions."""
    told_at_start(run, monkeypatch, limit=6)
    with pytest.raises(InputError, match=rf"shows 6 of {LARGE} contexts.* Give --limit 6 again, or --limit {LARGE}"):
        told_at_start(run, monkeypatch)
    assert "(8 items)" in told_at_start(run, monkeypatch, limit=8)
    assert f"({LARGE} items)" in told_at_start(run, monkeypatch, limit=LARGE)
    assert f"({LARGE} items)" in told_at_start(run, monkeypatch)


def test_what_a_start_does_not_do_is_told(run: Run) -> None:
    assert run.path is not None
    lines = "\n".join(welcome(ServeOptions(run.path, limit=4, deadline="2020-01-01"), 80, "token", 6))
    assert "--limit 4 is fewer than were laid out before" in lines
    assert "--deadline 2020-01-01 is over" in lines
    assert "over" not in "\n".join(welcome(ServeOptions(run.path, limit=6, deadline="2999-01-01"), 80, "token", 6))


def told_at_start(run: Run, monkeypatch: pytest.MonkeyPatch, **options: Any) -> str:
    """What `verify serve` prints, which here stops at once."""
    lines: list[str] = []
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    assert run.path is not None
    serve(ServeOptions(run.path, port=0, **options), say=lambda *said: lines.extend(said))
    return "\n".join(lines)


def test_a_start_says_that_verdicts_could_make_no_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = make_run(small_pool(), tmp_path / "few", n_assigned=4)
    assert "Warning: " in told_at_start(few, monkeypatch)
    none = make_run(small_pool(), tmp_path / "none", n_assigned=3)
    with pytest.raises(InputError, match="shows 2 negatives, of which no verdict makes a question"):
        told_at_start(none, monkeypatch)
    spareless = make_run(small_pool(), tmp_path / "spareless", n_assigned=5)
    assert "no spare endings. An item shows 4 negatives" in told_at_start(spareless, monkeypatch)
    assert "Warning: " not in told_at_start(make_run(small_pool(), tmp_path / "run", n_assigned=6), monkeypatch)


def test_a_study_of_few_negatives_that_was_begun_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(small_pool(), tmp_path / "run", n_assigned=3)
    assert judge_next(make_desk(run), "ann", said("luu")) is not None
    assert "no verdict makes a question" in told_at_start(run, monkeypatch)
