"""Claims about the guard `judge`: what it asks of a server, what it makes of the answers, and what a budget leaves."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judges import FakeServer

from swag_af.data.errors import ExhaustedError, InputError
from swag_af.data.pool.guarded import guards_of
from swag_af.data.pool.pool import CandidatePool
from swag_af.endpoints.contract import Abilities
from swag_af.guarding import judge as judging
from swag_af.guarding import scoring
from swag_af.guarding.checking import check_guard
from swag_af.guarding.estimate import estimate
from swag_af.guarding.judge import JudgeGuard
from swag_af.guarding.options import GuardOptions
from swag_af.guarding.scoring import Asked
from swag_af.guarding.verb import guard, guard_estimate

URL = "http://fake"


def says_four(text: str) -> bool | None:
    """Endings that see four birds are right; of seven birds it does not want to speak."""
    return None if "sees 7 " in text else "sees 4 " in text


def fake(**settings: Any) -> FakeServer:
    return FakeServer(is_right=says_four, **settings)


@pytest.fixture
def folder(pool_folder: Path, tmp_path: Path) -> Path:
    """A copy of the pool."""
    return Path(shutil.copytree(pool_folder, tmp_path / "pool"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    """Every guard made by name asks this one."""
    one = fake()
    monkeypatch.setattr(scoring, "BLOCK_CANDIDATES", 64)
    made = judging.JudgeGuard._asking
    monkeypatch.setattr(JudgeGuard, "_asking", lambda self: setattr(self, "asker", one) or made(self))
    return one


def test_it_keeps_the_contract() -> None:
    one = FakeServer(is_right=lambda text: "ba" in text)
    check_guard(lambda: JudgeGuard(url=URL, asker=one))


def test_an_answer_without_room_is_refused_before_anything_is_asked() -> None:
    one = fake()
    with pytest.raises(InputError, match="max_tokens=0, at least 1"):
        JudgeGuard(url=URL, asker=one, max_tokens=0).check()
    assert not one.prompts


def test_what_the_server_says_is_flagged_and_gold_is_not_asked_about(folder: Path, server: FakeServer) -> None:
    made = guard(GuardOptions(folder, f"judge[{URL}]"))
    four = np.array([[k == 5 and k < n for k in range(made.n_candidates)] for n in made.counts])
    np.testing.assert_array_equal(made.flagged(np.arange(len(made))), four)
    assert len(server.prompts) == made.counts.sum() - len(made)
    gold = made.text(0, 0)
    assert all(prompt.split("\n\n")[-2] != gold for prompt in server.prompts)
    assert any(f"\n\n{gold}\n\n" in prompt for prompt in server.prompts)


def test_answers_that_cannot_be_read_mark_nothing_and_are_told(
    folder: Path, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    made = guard(GuardOptions(folder, f"judge[{URL}]"))
    scores = made.gather("guard_scores", np.arange(len(made)))[:, :, 0]
    assert (scores[:, 8][np.isfinite(scores[:, 8])] == 0.5).all()
    assert "unreadable" in capsys.readouterr().err


def test_a_budget_that_is_used_up_keeps_the_blocks_and_a_larger_one_goes_on(folder: Path, server: FakeServer) -> None:
    server.most = 100
    with pytest.raises(ExhaustedError, match="--max-requests"):
        guard(GuardOptions(folder, f"judge[{URL}]"))
    n_blocks = len(list((folder / "guarding").rglob("*.npy")))
    assert n_blocks
    assert "flagged" not in CandidatePool.open(folder).tables
    server.most, n = None, len(server.prompts)
    pool = guard(GuardOptions(folder, f"judge[{URL}]"))
    assert len(server.prompts) - n < pool.counts.sum() - len(pool)
    assert pool.flagged(np.arange(len(pool))).any()


def test_no_scores_of_another_model_behind_the_same_address_are_kept(folder: Path, server: FakeServer) -> None:
    """A pool had the first model's blocks and the second's under one guard, and then kept the scores of both."""
    server.most = 100
    with pytest.raises(ExhaustedError):
        guard(GuardOptions(folder, f"judge[{URL}]"))
    server.most, server.is_right = None, lambda text: "sees 5 " in text
    server.can = Abilities("another", chat=True)
    pool = guard(GuardOptions(folder, f"judge[{URL}]"))
    five = np.array([[k == 6 and k < n for k in range(pool.n_candidates)] for n in pool.counts])
    np.testing.assert_array_equal(pool.flagged(np.arange(len(pool))), five)
    assert [one["settings"]["answered_by"] for one in guards_of(pool)] == [{"model": "another"}]
    server.is_right, server.can, n = says_four, Abilities("fake", chat=True), len(server.prompts)
    again = guard(GuardOptions(folder, f"judge[{URL}]"))
    assert len(server.prompts) - n == pool.counts.sum() - len(pool)
    assert not (again.flagged(np.arange(len(again))) & five).any()


def test_scores_of_the_same_model_are_kept(folder: Path, server: FakeServer) -> None:
    guard(GuardOptions(folder, f"judge[{URL}]"))
    n = len(server.prompts)
    guard(GuardOptions(folder, f"judge[{URL}]"))
    assert len(server.prompts) == n


def test_a_dry_run_asks_nothing(folder: Path, server: FakeServer) -> None:
    (one,) = guard_estimate(GuardOptions(folder, f"judge[{URL}]"))
    pool = CandidatePool.open(folder)
    assert (one.n, one.seconds) == (pool.counts.sum() - len(pool), None)
    assert server.prompts == []
    assert estimate(Asked(pool), []) == []


def test_several_processes_are_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="--concurrency"):
        guard(GuardOptions(folder, f"judge[{URL}]", workers=2))
