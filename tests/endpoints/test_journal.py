"""Claims about the journal and the limits: nothing is asked twice or lost, and no more is used than allowed."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mock_server import ABLE, Asked, MockServer, Said, answer

from swag_af.data.errors import ExhaustedError, InputError, SwagAfError
from swag_af.endpoints.client import Endpoint
from swag_af.endpoints.contract import Answer, Request
from swag_af.endpoints.costs.usage import Usage
from swag_af.endpoints.journal import Journal
from swag_af.endpoints.options import EndpointOptions


def ask_about(i: int) -> Request:
    return Request("completions", {"prompt": f"Question {i}.", "max_tokens": 8})


def filled(path: Path, n: int) -> Journal:
    journal = Journal(path)
    with journal.held():
        for i in range(n):
            journal.add_answer(ask_about(i), "m", Answer({"choices": [{"text": f"é{i}"}]}), Usage(1, 10, i))
    return journal


def test_what_is_kept_comes_back_by_request_and_model(tmp_path: Path) -> None:
    filled(tmp_path / "j", 3)
    journal = Journal(tmp_path / "j")
    with journal.held():
        kept = journal.answer(ask_about(1), "m")
        assert kept is not None
        assert kept.texts == ["é1"]
        assert journal.answer(ask_about(1), "other") is None
        assert journal.answer(ask_about(3), "m") is None
        assert journal.usage("m") == Usage(3, 30, 3)


@settings(max_examples=60)
@given(cut=st.integers(0, 1200))
def test_a_file_cut_anywhere_loses_no_whole_line_and_is_mended(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "j"
    filled(path, 4)
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    journal = Journal(path)
    with journal.held():
        found = [journal.answer(ask_about(i), "m") is not None for i in range(4)]
        journal.add_answer(ask_about(9), "m", Answer({"choices": []}), Usage(1))
    n_lines = whole[:cut].count(b"\n")
    assert found == [i < n_lines - 1 for i in range(4)]
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert len(lines) == max(n_lines, 1) + 1
    assert lines[0] == {"format": 1, "kind": "answers"}


def test_a_last_line_of_rubbish_is_taken_away_and_one_in_the_middle_is_told(tmp_path: Path) -> None:
    path = tmp_path / "j"
    filled(path, 2)
    whole = path.read_bytes()
    path.write_bytes(whole + b"\0\0\0\n")
    filled(path, 0)
    assert path.read_bytes() == whole
    path.write_bytes(whole + b"\0\0\0\n" + whole.splitlines(keepends=True)[-1])
    with pytest.raises(InputError, match="line 4 is not valid JSON"):
        filled(path, 0)


@pytest.mark.parametrize("line", ['{"a": 1}', "[]", '{"model": "m", "usage": {"n_requests": "x"}}', '{"format": 2}'])
def test_another_file_is_no_journal_and_is_left_as_it_is(tmp_path: Path, line: str) -> None:
    path = tmp_path / "j"
    path.write_text(f"{line}\n")
    with pytest.raises(SwagAfError, match=r"line 1.*journal of answers"):
        filled(path, 1)
    assert path.read_text() == f"{line}\n"
    with pytest.raises(InputError, match="a folder"):
        filled(tmp_path, 1)


ANSWER: dict[str, Any] = {"key": ask_about(0).key, "model": "m", "usage": {"n_requests": 1}}


@pytest.mark.parametrize(
    "line",
    [
        {"about": "what a server can do"},
        {"about": ["what"], "value": 1},
        {"about": None, "value": 1},
        ANSWER,
        ANSWER | {"answer": None},
        ANSWER | {"answer": []},
        ANSWER | {"error": "refused_400"},
        ANSWER | {"error": 400, "said": "no"},
        ANSWER | {"key": 5, "answer": {}},
        {"model": "m", "usage": {}, "answer": {}},
        {"model": "m", "usage": {"n_requests": "1"}},
        {"usage": {}},
        {"format": 1},
        {},
        [],
        None,
        "key",
        5,
    ],
    ids=str,
)
def test_an_odd_line_is_told_with_its_number_and_nothing_is_changed(tmp_path: Path, line: Any) -> None:
    path = tmp_path / "j"
    filled(path, 2)
    odd = path.read_text() + json.dumps(line) + "\n"
    for more in ("", '{"about": "last", "value": 1}\n', '{"cut'):
        path.write_text(odd + more)
        with pytest.raises(SwagAfError, match=r"j: line 4: .*remove that line: what it kept is asked again\.") as told:
            filled(path, 1)
        assert "\n" not in str(told.value)
        assert path.read_text() == odd + more


@pytest.mark.parametrize("body", [{}, {"choices": None}, {"choices": 5}, {"choices": {"text": "x"}}, {"choices": [5]}])
def test_an_answer_without_choices_has_no_texts_and_usage_of_more_kinds_is_read(
    tmp_path: Path, body: dict[str, Any]
) -> None:
    path = tmp_path / "j"
    filled(path, 0)
    with path.open("a") as file:
        file.write(json.dumps(ANSWER | {"answer": body, "usage": {"n_requests": 1, "n_new": 2}}) + "\n")
    journal = Journal(path)
    with journal.held():
        kept = journal.answer(ask_about(0), "m")
        assert kept is not None
        assert kept.texts == []
        assert journal.usage("m") == Usage(1)


def hold(path: Path, is_held: "multiprocessing.synchronize.Event") -> None:
    with Journal(path).held():
        is_held.set()
        time.sleep(30)


def test_a_second_process_is_refused_until_the_first_ends(tmp_path: Path) -> None:
    path = tmp_path / "j"
    filled(path, 1)
    context = multiprocessing.get_context("fork")
    is_held = context.Event()
    other = context.Process(target=hold, args=(path, is_held))
    other.start()
    try:
        assert is_held.wait(10)
        with pytest.raises(InputError, match="another process is writing it"):
            filled(path, 1)
    finally:
        other.kill()
        other.join()
    filled(path, 1)


def test_what_another_added_meanwhile_is_known(tmp_path: Path) -> None:
    path = tmp_path / "j"
    first = filled(path, 1)
    filled(path, 3)
    with first.held():
        assert first.answer(ask_about(2), "m") is not None
        assert first.usage("m").n_requests == 4


def endpoint_at(server: MockServer, path: Path | None = None, **options: Any) -> Endpoint:
    return Endpoint(server.url, EndpointOptions(**options), journal=path)


def test_an_answer_is_on_disk_before_it_is_given(tmp_path: Path) -> None:
    with MockServer() as server:
        for n, _ in enumerate(endpoint_at(server, tmp_path / "j", concurrency=1).ask(map(ask_about, range(5)))):
            kept = [line for line in (tmp_path / "j").read_text().splitlines() if '"answer"' in line]
            assert len(kept) >= n + 1


KILLED = """
    import sys
    from pathlib import Path
    from swag_af.endpoints.client import Endpoint
    from swag_af.endpoints.contract import Request
    from swag_af.endpoints.options import EndpointOptions
    endpoint = Endpoint(sys.argv[1], EndpointOptions(concurrency=3), journal=Path(sys.argv[2]))
    for position, answer in endpoint.ask(Request("completions", {"prompt": f"Question {i}."}) for i in range(30)):
        print(position, *answer.texts, flush=True)
"""


def keyed(key: str) -> dict[str, str]:
    """Who asks is told by the key: what a killed process has sent may reach the server after the next has begun."""
    return {**os.environ, "OPENAI_API_KEY": key}


def test_killed_again_and_again_nothing_that_was_answered_is_asked_twice(tmp_path: Path) -> None:
    def slow(asked: Asked) -> Said:
        time.sleep(0.02)
        return answer(asked, ABLE)

    command = [sys.executable, "-c", textwrap.dedent(KILLED)]
    kept: list[str] = []
    with MockServer(say=slow) as server:
        arguments = [server.url, str(tmp_path / "j")]
        for n in (1, 7):
            killed = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True, env=keyed("killed"))
            assert killed.stdout is not None
            for _ in range(n):
                killed.stdout.readline()
            os.kill(killed.pid, signal.SIGKILL)
            killed.wait()
            killed.stdout.close()
            n_asked = len(server.asked)
            kept = [json.loads(line)["request"]["prompt"] for line in read_answers(tmp_path / "j")]
            assert n_asked - len(kept) <= 3 * 2  # under way when it was killed, at most
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True, env=keyed("last"))
        asked_again = [a.body["prompt"] for a in server.asked if a.headers["authorization"] == "Bearer last"]
    assert not set(kept) & set(asked_again)
    assert len(set(asked_again)) == len(asked_again) == 30 - len(kept)
    with MockServer() as server:
        straight = sorted(endpoint_at(server).ask(map(plain, range(30))), key=lambda pair: pair[0])
    assert sorted(done.stdout.splitlines()) == sorted(f"{i} {answer.texts[0]}" for i, answer in straight)


def plain(i: int) -> Request:
    return Request("completions", {"prompt": f"Question {i}."})


def read_answers(path: Path) -> list[str]:
    """Whole lines with an answer; a last one that is cut short is none."""
    return [line for line in path.read_text().splitlines(keepends=True) if '"answer"' in line and line[-1] == "\n"]


def test_a_limit_of_requests_holds_over_runs_and_counts_tries(tmp_path: Path) -> None:
    path = tmp_path / "j"
    requests = [ask_about(i) for i in range(10)]
    with MockServer(Said(429, {}, {"Retry-After": "0"})) as server:
        got: list[int] = []
        for _ in range(3):
            with pytest.raises(
                ExhaustedError, match=r"--max-requests is reached: 5 requests.*raise it and run the same"
            ):
                got += (position for position, _ in endpoint_at(server, path, max_requests=5).ask(requests))
        assert len(server.asked) == 5
        assert len(list(endpoint_at(server, path, max_requests=11).ask(requests))) == 10
        assert len(server.asked) == 11


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_limit_of_tokens_is_passed_by_one_answer_at_most(tmp_path: Path, concurrency: int) -> None:
    """The mock counts 2 tokens of prompt and 7 of answer."""
    with MockServer() as server:
        endpoint = endpoint_at(server, tmp_path / "j", max_total_tokens=40, concurrency=concurrency)
        with pytest.raises(ExhaustedError, match=r"--max-total-tokens is reached: 5 requests, 10 [+] 35 tokens"):
            list(endpoint.ask(map(ask_about, range(20))))
        assert endpoint.usage() == Usage(5, 10, 35)


def test_what_the_server_does_not_count_is_estimated_and_said_so(tmp_path: Path) -> None:
    with MockServer(able=ABLE - {"usage"}) as server:
        endpoint = endpoint_at(server, tmp_path / "j")
        list(endpoint.ask([ask_about(1)]))
        used = endpoint.usage()
    assert used.n_estimated == 1
    assert used.prompt_tokens == 3
    assert used.told().startswith("1 request, about 3 + ")


def test_money_is_told_by_the_prices_of_a_file(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('["mock"]\nprompt = 1_000_000.0\nanswer = 10\n')
    with MockServer() as server:
        endpoint = endpoint_at(server, prices=prices)
        list(endpoint.ask([ask_about(1)]))
        assert endpoint.usage().told(endpoint.price) == "1 request, 2 + 7 tokens, cost 2"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('["other"]\nprompt = 1\nanswer = 1', "no price of 'mock', but of other"),
        ('["mock"]\nprompt = 1', "answer"),
        ('["mock"]\nprompt = -1\nanswer = 1', "below 0"),
        ('["mock"]\nprompt = "x"\nanswer = 1', "prompt"),
    ],
)
def test_prices_that_cannot_be_used_are_told_before_anything_is_asked(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "prices.toml").write_text(text)
    with MockServer() as server:
        with pytest.raises(InputError, match=told):
            list(endpoint_at(server, prices=tmp_path / "prices.toml").ask([ask_about(1)]))
        assert not server.asked
