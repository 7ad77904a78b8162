"""Claims about a judge's journal in the user's cache, which nobody chose: whose answers stand there is asked, limits
count what one process used, others wait for it, and every way to write an address is one file."""

import multiprocessing
import time
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import pytest
from mock_server import ABLE, Asked, MockServer, Said

from swag_af.data.disk.manifests import sha256_json
from swag_af.data.errors import ExhaustedError, InputError
from swag_af.endpoints import shared
from swag_af.endpoints.journal import Journal
from swag_af.filters.judge.asking import Question, Verdict
from swag_af.filters.judge.judge import JudgeFilter

COW = Question("", ("a cow", "a horse"))
GOAT = Question("", ("a goat", "a hen"))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SWAG_AF_CACHE", str(tmp_path / "cache"))
    begin_process()
    return tmp_path / "cache"


def begin_process() -> None:
    """As if a command began."""
    shared._KNOWN.clear()


def says_a(asked: Asked) -> Said | None:
    """A to every question about letters, and the name of the model."""
    if "Say the letter" not in str(asked.body.get("messages")):
        return None
    message = {"role": "assistant", "content": f"A\n{asked.body['model']}"}
    return Said(body={"choices": [{"index": 0, "finish_reason": "stop", "message": message}]})


def judge(server: MockServer, **settings: Any) -> JudgeFilter:
    return JudgeFilter(**{"url": server.url, "by": "letter", **settings})


def asked_about(made: JudgeFilter, question: Question = COW, n: int = 2) -> str:
    """Who answered."""
    (found,) = made.verdicts([question], n=n)
    return words(found[0])


def words(verdict: Verdict) -> str:
    return verdict.text.splitlines()[1]


# ------------------------------------------------------------------------------------------------------ which model


def test_another_model_at_the_address_is_taken_up_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The answers of the model before were taken for those of the model that is there."""
    with MockServer(say=says_a) as server:
        assert asked_about(judge(server)) == "mock"
        assert "served" not in capsys.readouterr().err
        server.models = ("other",)
        begin_process()
        made = judge(server)
        assert asked_about(made) == "other"
        assert f"{server.url}/v1: serves other now, and served mock before." in capsys.readouterr().err
        assert f"judge[{server.url}]: the model that answered: other" in made.said()
        server.models = ("mock",)
        server.asked.clear()
        begin_process()
        assert asked_about(judge(server)) == "mock"
        assert not server.asked
        assert "serves mock now, and served other before" in capsys.readouterr().err


def test_the_model_is_asked_for_once_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    with MockServer(say=says_a) as server:
        asked_about(judge(server))
        begin_process()
        asked_about(judge(server))
        monkeypatch.setattr("swag_af.endpoints.traffic.sending.Sender.models", lambda *given, **named: 1 / 0)
        asked_about(judge(server))
        assert asked_about(judge(server, model="mock")) == "mock"


def test_kept_answers_serve_where_the_server_is_gone_and_it_is_told_whose(capsys: pytest.CaptureFixture[str]) -> None:
    with MockServer(say=says_a) as server:
        asked_about(judge(server))
    begin_process()
    capsys.readouterr()
    assert asked_about(judge(server)) == "mock"
    (line,) = capsys.readouterr().err.splitlines()
    assert "no server there" in line
    assert line.endswith("Answers of mock that were kept are used.")
    with pytest.raises(InputError, match="no server there"):
        asked_about(judge(server), GOAT)


def test_another_model_that_comes_in_the_middle_is_refused() -> None:
    with MockServer(say=says_a) as server:
        asked_about(judge(server))
        server.models = ("other",)
        with pytest.raises(InputError, match=r"serves other, and this command began with mock. Run the same command"):
            asked_about(judge(server), GOAT)


def test_several_models_in_place_of_the_one_before_are_not_chosen_among() -> None:
    with MockServer(say=says_a) as server:
        asked_about(judge(server))
        server.models = ("a", "b")
        begin_process()
        made = judge(server)
        for _ in range(2):
            with pytest.raises(InputError, match=r"serves a, b\. .*in brackets model=NAME"):
                asked_about(made)
        server.models = ("a", "mock")
        assert asked_about(judge(server)) == "mock"


def test_a_journal_that_was_named_stays_that_of_its_model_and_the_way_out_is_told(tmp_path: Path) -> None:
    path = str(tmp_path / "mine.jsonl")
    with MockServer(say=says_a) as server:
        asked_about(judge(server, journal=path))
        server.models = ("other",)
        begin_process()
        made, way_out = judge(server, journal=path), r"was begun with mock. .*--model NAME \(in brackets model=NAME\)"
        for _ in range(2):  # the second time it was asked, and its answers kept as those of the other
            with pytest.raises(InputError, match=way_out) as told:
                asked_about(made, GOAT)
            assert "\n" not in str(told.value)
        assert asked_about(judge(server, journal=path, model="other"), GOAT) == "other"


# ------------------------------------------------------------------------------------------------- what it can do


def test_a_server_that_can_do_more_now_is_not_refused_by_what_was_kept() -> None:
    with MockServer(able=ABLE - {"echo"}) as server:
        for _ in range(2):
            with pytest.raises(InputError, match="gives no log-probabilities of texts"):
                judge(server, by="likelihood").check()
        server.able = ABLE
        begin_process()
        judge(server, by="likelihood").check()
        server.asked.clear()
        begin_process()
        judge(server, by="likelihood").check()
        assert not server.asked


def test_a_server_that_is_tried_is_not_tried_again_before_it_is_refused() -> None:
    with MockServer(able=ABLE - {"echo"}) as server:
        with pytest.raises(InputError, match="gives no log-probabilities"):
            judge(server, by="likelihood").check()
        n = len(server.asked)
        begin_process()
        with pytest.raises(InputError, match="gives no log-probabilities"):
            judge(server, by="likelihood").check()
        assert len(server.asked) == 2 * n


def test_a_server_that_gives_texts_now_is_not_refused_by_what_was_kept() -> None:
    with MockServer(able=ABLE - {"chat"}) as server:
        with pytest.raises(InputError, match="gave no text"):
            judge(server, by="yes", api="chat").check()
        server.able = ABLE
        judge(server, by="yes", api="chat").check()


# --------------------------------------------------------------------------------------------------------- limits


def test_limits_count_from_the_start_of_the_process() -> None:
    with MockServer(say=says_a) as server:
        asked_about(judge(server))
        begin_process()
        limited = judge(server, max_requests=2)
        asked_about(limited, GOAT)
        with pytest.raises(ExhaustedError, match=r"--max-requests is reached: 2 requests, "):
            asked_about(judge(server, max_requests=2), Question("", ("a pig", "an ox")))


def test_limits_of_a_journal_that_was_named_count_all_of_it(tmp_path: Path) -> None:
    path = str(tmp_path / "mine.jsonl")
    with MockServer(say=says_a) as server:
        asked_about(judge(server, journal=path))
        begin_process()
        with pytest.raises(ExhaustedError, match="--max-requests is reached"):
            asked_about(judge(server, journal=path, max_requests=2), GOAT)


# ----------------------------------------------------------------------------------------------- the file, and others


def hold(path: Path, is_held: Event, seconds: float) -> None:
    with Journal(path).held():
        is_held.set()
        time.sleep(seconds)


def held_by_another(path: Path, seconds: float) -> multiprocessing.process.BaseProcess:
    context = multiprocessing.get_context("fork")
    is_held = context.Event()
    other = context.Process(target=hold, args=(path, is_held, seconds))
    other.start()
    assert is_held.wait(10)
    return other


def test_another_command_that_asks_the_same_server_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    with MockServer(say=says_a) as server:
        made = judge(server)
        asked_about(made)
        path = made.default_journal()
        assert path is not None
        capsys.readouterr()
        for _ in range(2):
            other = held_by_another(path, 0.5)
            assert asked_about(made) == "mock"
            other.join()
    told = [line for line in capsys.readouterr().err.splitlines() if "Waiting" in line]
    assert told == [f"{path}: another process is asking the same server. Waiting until it is done."]


def test_a_journal_that_was_named_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    with MockServer(say=says_a) as server:
        made = judge(server, journal=str(path))
        asked_about(made)
        other = held_by_another(path, 30)
        try:
            with pytest.raises(InputError, match="another process is writing it"):
                asked_about(made)
        finally:
            other.kill()
            other.join()


WAYS = ("http://h:8000", "http://h:8000/", "http://h:8000/v1", "http://h:8000/v1/", "http://h:8000/v1/models")


@pytest.mark.parametrize("url", WAYS)
def test_an_address_is_one_file_however_it_is_written(url: str, cache: Path) -> None:
    assert JudgeFilter(url=url).default_journal() == JudgeFilter(url=WAYS[0]).default_journal()
    assert JudgeFilter(url=url).default_journal() != JudgeFilter(url="http://h:8001").default_journal()


@pytest.mark.parametrize("url", WAYS)
def test_a_journal_that_was_named_by_the_address_as_it_was_written_is_gone_on_with(url: str, cache: Path) -> None:
    old = cache / "judges" / f"{sha256_json(url)[:16]}.jsonl"
    old.parent.mkdir(parents=True)
    old.touch()
    assert JudgeFilter(url=url).default_journal() == old
    if not url.endswith("models"):
        assert {JudgeFilter(url=way).default_journal() for way in WAYS} == {old}
