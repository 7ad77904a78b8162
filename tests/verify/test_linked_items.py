"""Claims about items of which one tells another's answer, as consecutive captions make them: nobody gets both."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import chained
from sqlalchemy import delete, insert, select, update
from verify_people import Browser, Clock, judge_next, make_client, make_desk, make_run, said

from swag_af.cli.main import main
from swag_af.data.context import Context
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run
from swag_af.judging.verdicts import Verdict, write_verdicts
from swag_af.verify.checks import Attention, keep_checks
from swag_af.verify.desk import Desk
from swag_af.verify.exchange.verb import items_to_judge
from swag_af.verify.items import rows_left_out
from swag_af.verify.options import ExportOptions, ServeOptions
from swag_af.verify.qualification import QualificationQuestion, draw_questions
from swag_af.verify.schema import checks, linked, tasks, writing
from swag_af.verify.web.server import attention_of, welcome

N_VIDEOS, N_CAPTIONS = 4, 6
N = N_VIDEOS * (N_CAPTIONS - 1)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    negatives = [[f"takes the cup {k} of {row} away." for k in range(12)] for row in range(N)]
    return make_run(CandidatePool.from_texts(chained(N_VIDEOS, N_CAPTIONS), negatives, tagger="none"), tmp_path / "run")


def are_linked(one: int, other: int) -> bool:
    """Whether these rows of `chained` follow one another in a video."""
    return abs(one - other) == 1 and one // (N_CAPTIONS - 1) == other // (N_CAPTIONS - 1)


def row_of(item: Any) -> int:
    return int(str(item).split("-")[0])


def rows_judged(desk: Desk, name: str) -> list[int]:
    """The rows that `name` judges until none is left."""
    return [row_of(item) for item in iter(lambda: judge_next(desk, name), None)]


def is_clean(rows: list[int]) -> bool:
    return not any(are_linked(one, other) for one in rows for other in rows)


def test_nobody_reads_the_answer_of_an_item_in_another_and_other_people_get_what_is_left(run: Run) -> None:
    desk = make_desk(run)
    first, second, third = (rows_judged(desk, name) for name in ("ann", "bob", "cid"))
    assert is_clean(first)
    assert is_clean(second)
    assert N / 3 <= len(first) <= 3 * N_VIDEOS
    assert sorted(first + second + third) == list(range(N)), "each once"
    assert desk.is_over()


def test_who_alone_judges_a_study_is_left_without_a_neighbour_of_each(run: Run) -> None:
    desk = make_desk(run)
    rows = rows_judged(desk, "ann")
    left = set(range(N)) - set(rows)
    assert all(any(are_linked(one, row) for row in rows) for one in left)
    assert desk.is_told("ann")
    assert not desk.is_told("bob")
    assert not desk.is_over()


def test_an_item_that_was_opened_and_given_back_keeps_its_neighbours_away(run: Run) -> None:
    clock = Clock()
    desk = make_desk(run, clock=clock)
    desk.admit("ann")
    opened = desk.next_task("ann", "tab")
    assert opened is not None
    clock.now += 1e5
    assert judge_next(desk, "bob") == opened.item
    assert not any(are_linked(row, opened.row) for row in rows_judged(desk, "ann"))


def test_a_study_begun_before_links_were_known_goes_on(run: Run) -> None:
    desk = make_desk(run)
    with writing(desk.store.engine) as connection:
        connection.execute(delete(linked))
    begun = [row_of(judge_next(desk, "ann")) for _ in range(N - 4)]
    assert not is_clean(begun)
    again = make_desk(run)
    assert all(not any(are_linked(row, other) for other in begun) for row in rows_judged(again, "ann"))
    assert set(range(N)) - set(begun) <= {*rows_judged(again, "bob"), *rows_judged(again, "cid")}
    assert again.is_over()


def test_a_task_in_hand_stays_though_its_neighbour_was_answered_before(run: Run) -> None:
    desk = make_desk(run)
    judge_next(desk, "ann")
    held = desk.next_task("ann", "tab")
    assert held is not None
    (first,) = (verdict.item.row for verdict in desk.store.verdicts())
    other = next(row for row in (first - 1, first + 1) if row in range(N) and are_linked(first, row))
    with writing(desk.store.engine) as connection:
        connection.execute(update(tasks).where(tasks.c.id == held.id).values(row=other))
    again = desk.next_task("ann", "tab")
    assert again is not None
    assert again.id == held.id


def test_who_has_met_a_check_is_not_handed_its_neighbours(run: Run) -> None:
    desk = make_desk(run)
    desk.admit("ann")
    question = QualificationQuestion("One.", "Two", ("a", "b", "c"), (None,) * 3, (0,))
    keep_checks(desk.store, [(2, question)])
    with writing(desk.store.engine) as connection:
        task = {"id": "t", "item": question.id, "annotator": "ann", "session": "tab", "is_check": True, "revision": 0}
        connection.execute(insert(tasks).values(**task, begun_at=0.0, expires_at=0.0))
    assert not {1, 2, 3} & set(rows_judged(desk, "ann"))


def test_nobody_reads_the_answer_of_an_item_in_a_check_or_the_other_way_round(run: Run) -> None:
    desk = make_desk(run, limit=N // 2)
    options = ServeOptions(run.path or Path(), limit=N // 2, check_every=2)
    desk = replace(desk, attention=attention_of(run, desk.store, "a secret", options))
    kinds = set[bool]()
    for name in ("ann", "bob", "cid", "dan"):
        while judge_next(desk, name) is not None:
            pass
        with desk.store.engine.connect() as connection:
            mine = select(tasks.c.row, checks.c.row).outerjoin(checks, checks.c.id == tasks.c.item)
            found = connection.execute(mine.where(tasks.c.annotator == name)).all()
        assert is_clean([of_item if of_item is not None else of_check for of_item, of_check in found])
        kinds |= {of_item is None for of_item, _ in found}
    assert kinds == {True, False}


@pytest.mark.parametrize("is_of_neighbour", [True, False])
@pytest.mark.parametrize("is_answered", [True, False])
def test_in_place_of_a_check_that_an_opened_item_gives_away_there_is_an_item(
    run: Run, is_answered: bool, is_of_neighbour: bool
) -> None:
    clock = Clock()
    desk = make_desk(run, clock=clock)
    desk.admit("ann")
    opened = desk.next_task("ann", "tab")
    assert opened is not None
    if is_answered:
        judge_next(desk, "ann")
    clock.now += 1e5  # what is not answered is given back
    neighbour = next(row for row in range(N) if are_linked(row, opened.row))
    question = QualificationQuestion("One.", "Two", ("a", "b", "c"), (None,) * 3, (0,))
    keep_checks(desk.store, [(neighbour if is_of_neighbour else opened.row, question)])
    task = replace(desk, attention=Attention((question,), every=1)).next_task("ann", "tab")
    assert task is not None
    assert task.row is not None


def test_no_drawn_question_of_the_qualification_tells_the_answer_of_another(tmp_path: Path) -> None:
    contexts = [
        replace(one, sent1=f"He takes cup {i} of {one.video} away.", gold=f"takes cup {i + 1} of {one.video} away.")
        for i, one in enumerate(replace(one, start="He") for one in chained(N_VIDEOS, N_CAPTIONS))
    ]
    negatives = [[f"takes the cup {k} of {row} away." for k in range(12)] for row in range(N)]
    run = make_run(CandidatePool.from_texts(contexts, negatives, tagger="none"), tmp_path / "run")
    rows = sorted(draw_questions(run, range(N), "a secret"))
    assert is_clean(rows)
    assert N / 3 <= len(rows) <= 3 * N_VIDEOS


def test_of_texts_that_many_contexts_share_nobody_reads_one_that_tells_another(tmp_path: Path) -> None:
    contexts = [
        Context("He waves at them." if i % 2 else f"Snow falls {i} times.", "He", "waves at them.", id=str(i))
        for i in range(10)
    ]
    negatives = [[f"takes the cup {k} of {row} away." for k in range(12)] for row in range(10)]
    run = make_run(CandidatePool.from_texts(contexts, negatives, tagger="none"), tmp_path / "run")
    desk = make_desk(run)
    rows = rows_judged(desk, "ann")
    assert len(rows) == 1 or not any(row % 2 for row in rows)
    assert "Linked      10 of these items" in "\n".join(welcome(ServeOptions(tmp_path), 80, "t", 10, desk.n_linked()))


def test_the_start_counts_linked_items_that_are_shown_and_a_run_without_any_says_nothing(run: Run) -> None:
    assert make_desk(run).n_linked() == N
    assert "Linked" not in "\n".join(welcome(ServeOptions(Path("run")), 80, "token", N))


def test_only_links_among_the_items_shown_are_counted(run: Run) -> None:
    desk = make_desk(run, limit=6)
    shown = [row for row in range(N) if row not in rows_left_out(desk.store, N)]
    assert desk.n_linked() == sum(any(are_linked(row, other) for other in shown) for row in shown) < 6


def test_the_last_page_says_kindly_why_items_are_left(run: Run) -> None:
    desk = make_desk(run)
    browser = Browser(make_client(desk, run), "ann").begin()
    while "endings" in browser.page and 'action="/item/' in browser.page:
        browser.send()
    assert "Some items are kept for other people" in browser.page
    assert "all that one person can do" in " ".join(browser.page.split())
    for name in ("bob", "cid"):
        rows_judged(desk, name)
    assert "Some items are kept" not in browser.client.get("/done").text


def endings_told(path: Path) -> tuple[int, int]:
    """`(tasks, n)` of an exported table, by its texts alone: with an ending that stands as `sent1` of another task."""
    rows = list(csv.DictReader(path.open(encoding="utf-8", newline="")))
    firsts = {row["sent1"] for row in rows}
    told = (any(f"{row['start']} {row[f'ending{i}']}" in firsts for i in range(1, 7)) for row in rows)
    return len(rows), sum(told)


def test_an_export_warns_of_links_or_leaves_one_of_two_out(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, apart = tmp_path / "all.csv", tmp_path / "apart.csv"
    main(["verify", "export", str(run.path), "--out", str(out)])
    said = capsys.readouterr().out
    assert endings_told(out) == (N, N - N_VIDEOS)
    assert f"Warning: {N} of {N} items give each other away" in said
    assert "--linked none" in said
    main(["verify", "export", str(run.path), "--out", str(apart), "--linked", "none"])
    assert "first sentence of another" not in capsys.readouterr().out
    assert endings_told(apart) == (3 * N_VIDEOS, 0)


def test_what_an_export_left_out_comes_once_the_others_are_judged(run: Run, tmp_path: Path) -> None:
    assert run.path is not None
    first = items_to_judge(run, ExportOptions(run.path, linked="none"))
    verdicts = [Verdict(item, "ann", said().ratings, 0, 1, 1.0) for item in first]
    write_verdicts(tmp_path / "verdicts.jsonl", verdicts, run.pool.unguarded_identity)
    options = ExportOptions(run.path, verdicts=tmp_path / "verdicts.jsonl", linked="none")
    assert {item.row for item in [*first, *items_to_judge(run, options)]} == set(range(N))


def test_collected_verdicts_have_no_links_to_leave_out() -> None:
    with pytest.raises(InputError, match="--linked: not with --to verdicts"):
        ExportOptions(Path("run"), to="verdicts", linked="none")
