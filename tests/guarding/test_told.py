"""Claims about what people are told of guards: marked endings first in a verification, rates in report and card."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import HashFilter, make_pool
from verify_people import judge_next, make_desk

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.cli.runs.guarding import guarded_lines
from swag_af.data.context import Context
from swag_af.data.pool.guarded import guard_counts, marks
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run, open_run
from swag_af.guarding.options import GuardOptions
from swag_af.guarding.verb import guard
from swag_af.judging.verdicts import make_items
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.verb import release
from swag_af.reporting.verb import write_report
from swag_af.verify.exchange.verb import items_to_judge
from swag_af.verify.options import ExportOptions
from swag_af.verify.web.server import of_guards


@pytest.fixture(autouse=True)
def no_curve(plain_process: None) -> None:
    """Curves are drawn elsewhere."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on a pool, which was guarded afterwards by likelihood: it marks much, and keeps nothing out."""
    folder = tmp_path_factory.mktemp("told")
    pool = make_pool()
    pool.save(folder / "pool", changes={"feature_names": ["ending_given_context", *"abcdefg"]})
    options = AFOptions(iterations=2, n_negatives=5)
    filter_pool(CandidatePool.open(folder / "pool"), HashFilter(), options, out=folder / "run")
    guard(GuardOptions(folder / "pool", "likelihood", "likelihood=0.8"))
    return folder


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Run:
    """A copy of it."""
    shutil.copytree(made, tmp_path / "copy")
    return open_run(tmp_path / "copy" / "run")


def test_the_advice_where_rows_have_nothing_left_leaves_out_those_alone(tmp_path: Path) -> None:
    """It left out those with one ending too, and named the number of the others."""
    contexts = [Context(f"A man waits in room {i}.", "He", "opens the small door.", id=str(i)) for i in range(4)]
    endings = [["opens the small door now.", "opens the door."], *[["opens the small door now.", "eats."]] * 2]
    CandidatePool.from_texts(contexts, [*endings, ["sleeps.", "eats."]]).save(tmp_path / "pool")
    options = GuardOptions(tmp_path / "pool", "words")
    said = guarded_lines(guard(options), options)[-1]
    assert "1 row has no negative left and cannot be filtered: the same command with --min-negatives 1 and" in said
    kept = guard(replace(options, out=tmp_path / "kept", min_negatives=1))
    assert [context.id for context in kept.contexts] == ["1", "2", "3"]
    assert kept.n_eligible.tolist() == [2, 2, 3]


def n_marked(run: Run, row: int, columns: tuple[int, ...]) -> int:
    return int(marks(run.pool, np.array([row]), np.array([columns])).sum())


def test_people_see_questions_with_marked_endings_first(run: Run) -> None:
    desk, order = make_desk(run, seed=1), []
    while judge_next(desk, "ann") is not None:
        order.append(desk.store.verdicts())
    shown = [next(v.item for v in now if v not in before) for before, now in zip([[], *order], order, strict=False)]
    numbers = [n_marked(run, item.row, item.columns) for item in shown]
    assert numbers == sorted(numbers, reverse=True)
    assert len(set(numbers)) > 2
    assert sorted(shown, key=lambda item: item.row) == make_items(run.assignment(), seed=1)


def test_a_limit_draws_at_random_and_growing_it_keeps_what_was_drawn(run: Run) -> None:
    drawn = set(np.random.default_rng(1).permutation(len(run.pool))[:8].tolist())
    desk = make_desk(run, seed=1, limit=8)
    while judge_next(desk, "ann") is not None:
        pass
    assert {verdict.item.row for verdict in desk.store.verdicts()} == drawn
    more = make_desk(run, seed=1, limit=16)
    while judge_next(more, "ann") is not None:
        pass
    rows = {verdict.item.row for verdict in more.store.verdicts()}
    assert rows == set(np.random.default_rng(1).permutation(len(run.pool))[:16].tolist())


def test_tasks_for_other_platforms_have_them_first_too(run: Run) -> None:
    items = items_to_judge(run, ExportOptions(run.path, seed=1, limit=20))
    numbers = [n_marked(run, item.row, item.columns) for item in items]
    assert numbers == sorted(numbers, reverse=True)
    assert {item.row for item in items} == set(np.random.default_rng(1).permutation(len(run.pool))[:20].tolist())


def test_the_server_says_that_they_come_first(run: Run, pool_folder: Path, tmp_path: Path) -> None:
    assert "come first" in "".join(of_guards(run))
    plain = filter_pool(CandidatePool.open(pool_folder), HashFilter(), AFOptions(iterations=1), out=tmp_path / "plain")
    assert of_guards(plain) == []


def test_the_report_has_rates_of_pool_and_assigned_and_says_what_was_not_kept_out(run: Run, tmp_path: Path) -> None:
    write_report(run, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    rows = np.arange(len(run.pool))
    for counts in (guard_counts(run.pool), guard_counts(run.pool, rows, run.assignment())):
        assert counts is not None
        (one,) = counts.guards
        assert f"{one.n_marked:,} of {one.n_asked:,}" in page
    assert "was made when the pool was guarded otherwise, or not" in page
    again = filter_pool(run.pool, HashFilter(), AFOptions(iterations=1, n_negatives=5), out=tmp_path / "again")
    write_report(again, tmp_path / "again.html")
    assert "Flagged endings were kept out" in (tmp_path / "again.html").read_text()
    options = AFOptions(iterations=1, n_negatives=5, ignore_guard=True)
    write_report(filter_pool(run.pool, HashFilter(), options, out=tmp_path / "b"), tmp_path / "b.html")
    assert "ignored the guard" in (tmp_path / "b.html").read_text()


def test_the_report_of_a_pool_without_guards_has_no_such_section(pool: CandidatePool, tmp_path: Path) -> None:
    write_report(filter_pool(pool, HashFilter(), AFOptions(iterations=1)), tmp_path / "page.html")
    assert "could be right" not in (tmp_path / "page.html").read_text()


def test_the_card_has_rates_of_what_is_released(run: Run, tmp_path: Path) -> None:
    dataset = release(ReleaseOptions(run.path, tmp_path / "set", audit="none"))
    rows = np.array([question.example.row for question in dataset.questions])
    counts = guard_counts(run.pool, rows, np.array([question.columns for question in dataset.questions]))
    assert counts is not None
    assert counts.n == 3 * len(run.pool)
    card = (tmp_path / "set" / "README.md").read_text()
    assert "of the released" in card
    assert f"{counts.guards[0].n_marked:,} of {counts.guards[0].n_asked:,}" in card
