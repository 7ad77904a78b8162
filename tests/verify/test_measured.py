"""Claims about the figures on the admin page: measured when something has changed, and not at every look."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from verify_people import TOKEN, Clock, judge_next, make_client, make_desk, make_run, said, small_pool

from swag_af.judging.agreement import agreement_rows, distribution_rows, measure
from swag_af.verify.desk import Desk
from swag_af.verify.web import measured
from swag_af.verify.web.measured import MeasuredStore


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = make_desk(make_run(small_pool(), tmp_path / "run"), annotators_per_item=2)
    for name in ("ann", "bob"):
        for _ in range(3):
            judge_next(desk, name)
    return desk


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many verdicts were measured, each time."""
    seen: list[int] = []

    def counted(verdicts: list) -> object:
        seen.append(len(verdicts))
        return measure(verdicts)

    monkeypatch.setattr(measured, "measure", counted)
    return seen


def test_an_unchanged_study_is_measured_once_however_often_the_page_is_loaded(
    desk: Desk, times: list[int], tmp_path: Path
) -> None:
    client = make_client(desk, make_run(small_pool(), tmp_path / "run"))
    pages = [client.get("/admin", headers={"authorization": f"Bearer {TOKEN}"}).text for _ in range(3)]
    assert times == [6]
    assert all("Measured just now" in page for page in pages)


@pytest.mark.parametrize(
    ("verb", "drawn", "called"),
    [
        ("match", {}, ["right", "wrong"]),
        ("pool", {}, ["right", "wrong"]),
        ("generate", {"n_draws": 9}, ["found", "generated"]),
    ],
)
def test_endings_are_called_generated_where_they_were(
    desk: Desk, tmp_path: Path, verb: str, drawn: dict[str, int], called: list[str]
) -> None:
    """Those of a pool of one's own were called so, too."""
    run = make_run(small_pool(), tmp_path / "run")
    pool = small_pool().save(tmp_path / "pool", changes={"made_by": {"verb": verb}, **drawn})
    client = make_client(desk, replace(run, pool=pool))
    page = client.get("/admin", headers={"authorization": f"Bearer {TOKEN}"}).text
    header = re.findall('<th scope="col">(.*?)</th>', page.split('id="labels"')[1])
    assert header[1:5:2] == called


def test_whatever_changes_the_figures_has_them_measured_again(desk: Desk, times: list[int]) -> None:
    kept = MeasuredStore(desk.store)

    def is_measured_anew() -> bool:
        before = len(times)
        found = kept.figures()
        now = measure(desk.store.verdicts())
        assert (found.agreement, found.distribution) == (agreement_rows(now), distribution_rows(now))
        return len(times) > before

    assert is_measured_anew()
    judge_next(desk, "cid")
    assert is_measured_anew()
    task = desk.task(desk.before("ann", "tab", None), "ann", "tab")
    desk.take(task.id, "ann", "tab", task.revision, said("uulluu", best=3, second=2))
    assert is_measured_anew()
    desk.qualify("bob", False)
    assert is_measured_anew()
    desk.undo("bob")
    assert is_measured_anew()
    assert not is_measured_anew()


def test_what_takes_long_is_kept_for_a_while_although_answers_come(
    desk: Desk, times: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "FREE_SECONDS", 0.0)
    monkeypatch.setattr(measured, "REST", 0)
    clock = Clock()
    kept = MeasuredStore(desk.store, clock)
    first = kept.figures()
    judge_next(desk, "cid")
    clock.now += 9
    assert kept.figures() is first
    assert kept.age(first) == 9
    clock.now += 2
    assert kept.figures() is not first
    assert times == [6, 7]


def test_without_answers_there_are_no_figures(tmp_path: Path) -> None:
    found = MeasuredStore(make_desk(make_run(small_pool(), tmp_path / "run")).store).figures()
    assert (found.agreement, found.distribution) == ([], [])
