"""Claims about the client: whatever a server does, each request gets one answer, on disk before it is given."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mock_server import FakeClock, MockServer, Said

from swag_af.data.errors import ExhaustedError, InputError
from swag_af.endpoints.client import Endpoint
from swag_af.endpoints.contract import Answer, Choice, Request
from swag_af.endpoints.options import EndpointOptions
from swag_af.endpoints.traffic.sending import LONGEST_WAIT, _without_key
from swag_af.endpoints.traffic.streams import assembled


def ask_about(i: int, **settings: Any) -> Request:
    return Request("completions", {"prompt": f"Question {i}.", "max_tokens": 8, **settings})


def answers(endpoint: Endpoint, requests: list[Request]) -> list[Answer]:
    found = dict(endpoint.ask(requests))
    return [found[position] for position in range(len(requests))]


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


def endpoint_at(
    server: MockServer, journal: Path | None = None, *, keeps_failures: bool = True, **options: Any
) -> Endpoint:
    clock = FakeClock()
    return Endpoint(server.url, EndpointOptions(**options), journal=journal, clock=clock, keeps_failures=keeps_failures)


def chat_of(content: Any, **choice: Any) -> Said:
    made = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    return Said(body={"choices": [made | choice]})


GOOD = {"choices": [{"index": 0, "text": " sits down."}]}
STREAM = b'data: {"choices":[{"index":0,"text":" sits"}]}\n\ndata: {"choices":[{"index":0,"text":" down.","x":1}]}\n\n'
PASSING = {
    "429 without a word": Said(429, {"error": {"message": "slow down"}}),
    "429 with seconds": Said(429, {"error": "slow down"}, {"Retry-After": "7"}),
    "429 with a date": Said(429, {}, {"Retry-After": "Mon, 12 Jan 1970 13:46:47 GMT"}),
    "429 of a limit a minute": Said(
        429, {"error": {"message": f"You exceeded your quota, check your billing details. {'*' * 400} Retry in 24.6s."}}
    ),
    "429 of a limit that names when": Said(429, {"error": {"message": "billing"}}, {"Retry-After": "1"}),
    "503 while it loads": Said(503, {"error": {"message": "Loading model", "code": 503}}),
    "500": Said(500, {"error": {"message": "CUDA error"}}),
    "500 without content": Said(500, b""),
    "502 of a proxy": Said(502, b"<html><body>Bad <b>Gateway</b></body></html>", {"Content-Type": "text/html"}),
    "200 with a page": Said(200, b"<html>hello</html>", {"Content-Type": "text/html"}),
    "200 with an error": Said(200, {"error": {"message": "upstream failed", "code": 502}}),
    "200 with an error in words": Said(200, {"error": "upstream failed"}),
    "JSON cut off": Said(200, b'{"choices": [{"index": 0, "te'),
    "bytes cut off": Said(200, GOOD, way="cut"),
    "a stream cut off": Said(200, STREAM, {"Content-Type": "text/event-stream"}),
    "connection closed": Said(way="close"),
    "hanging": Said(way="hang"),
    "no choices": Said(200, {"choices": []}),
    "choices that are none": Said(200, {"choices": [None]}),
    "a body that is not packed as it says": Said(200, b'{"choices": []}', {"Content-Encoding": "gzip"}),
    "a stream of no texts": Said(
        200, b'data: {"choices":[{"index":[],"text":["a"]}]}\n\n', {"Content-Type": "text/event-stream"}
    ),
    "a list": Said(200, [GOOD]),
    "nested without end": Said(200, b"[" * 100_000),
}


@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING.keys())
def test_what_may_pass_is_tried_again(trouble: Said, journal: Path) -> None:
    """A hanging server is given up after a second here."""
    timeout = 1.0 if trouble.way == "hang" else 20.0
    with MockServer(trouble) as server:
        (answer,) = answers(endpoint_at(server, journal, timeout=timeout), [ask_about(1)])
        assert answer.texts[0].endswith("And then some more.")
        assert not answer.error
        assert len(server.asked) == 2


REFUSED = {
    "400": (Said(400, {"error": {"message": "n is not supported"}}), "refused_400"),
    "422 in FastAPI's words": (Said(422, {"detail": [{"msg": "unexpected"}]}), "refused_422"),
    "501": (Said(501, {}), "refused_501"),
    "too long": (Said(400, {"error": {"message": "This model's maximum context length is 64"}}), "context_too_long"),
}


@pytest.mark.parametrize(("trouble", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_a_request_that_is_refused_is_told_and_asked_once(trouble: Said, reason: str, journal: Path) -> None:
    with MockServer(trouble) as server:
        (answer,) = answers(endpoint_at(server, journal), [ask_about(1)])
        assert (answer.error, answer.texts) == (reason, [])
        assert answers(endpoint_at(server, journal), [ask_about(1)]) == [answer]
        assert len(server.asked) == 1


STOPS = {
    "401": (Said(401, {"error": {"message": "Incorrect API key: secret-key-1"}}), InputError, "refuses the key in"),
    "403": (Said(403, {}), InputError, "(403: this key, or this model, is not allowed)"),
    "404": (Said(404, {"error": {"message": "no model x"}}), InputError, "not there (no model x)"),
    "405": (Said(405, {}), InputError, "Check the address"),
    "moved": (Said(301, b"", {"Location": "http://elsewhere"}), InputError, "Use the address it moved to"),
    "no money": (Said(429, {"error": {"code": "insufficient_quota", "message": "quota"}}), ExhaustedError, "no money"),
    "no credit": (Said(429, {"error": {"message": "Check your billing details."}}), ExhaustedError, "no money"),
    "402": (Said(402, {"error": {"message": "pay"}}), ExhaustedError, "no money left there (pay)"),
    "a day off": (Said(429, {}, {"Retry-After": "86400"}), ExhaustedError, "asks to wait 24.0 hours"),
}


@pytest.mark.parametrize(("trouble", "error", "told"), STOPS.values(), ids=STOPS.keys())
def test_what_will_not_pass_stops_at_once_in_one_line(
    trouble: Said, error: type[Exception], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key-1")
    with MockServer(*[trouble] * 3) as server, pytest.raises(error) as raised:
        answers(endpoint_at(server, concurrency=1), [ask_about(1), ask_about(2)])
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)
    assert len(server.asked) == 1


STRANGE = {
    "null content": (chat_of(None), [""]),
    "no message": (Said(200, {"choices": [{"index": 0}]}), [""]),
    "fewer choices than asked for": (Said(200, GOOD), [" sits down."]),
    "half a character": (Said(200, b'{"choices": [{"text": "a \\ud83d b"}]}'), ["a � b"]),
    "two halves": (Said(200, b'{"choices": [{"text": "\\ud83d\\ude00"}]}'), ["😀"]),
    "bytes that are no UTF-8": (Said(200, b'{"choices": [{"text": "a \xff b"}]}'), ["a � b"]),
    "text/plain": (Said(200, GOOD, {"Content-Type": "text/plain"}), [" sits down."]),
    "no usage": (Said(200, GOOD | {"usage": None}), [" sits down."]),
    "infinite numbers": (Said(200, b'{"choices": [{"text": "a", "x": -Infinity}]}'), ["a"]),
    "a stream": (Said(200, STREAM + b"data: [DONE]\n\n", {"Content-Type": "text/event-stream"}), [" sits down."]),
}


@pytest.mark.parametrize(("said", "texts"), STRANGE.values(), ids=STRANGE.keys())
def test_an_answer_that_is_odd_is_an_answer_and_comes_back_from_disk(
    said: Said, texts: list[str], journal: Path
) -> None:
    with MockServer(said) as server:
        (answer,) = answers(endpoint_at(server, journal), [ask_about(1)])
        assert answer.texts == texts
        assert answers(endpoint_at(server, journal), [ask_about(1)]) == [answer]
        assert len(server.asked) == 1


def test_why_a_choice_ends_is_told() -> None:
    with MockServer(chat_of(None, finish_reason="content_filter")) as server:
        (answer,) = answers(endpoint_at(server), [ask_about(1)])
    assert answer.choices == [Choice("", "content_filter")]


def test_equal_requests_that_are_told_apart_are_each_asked(journal: Path) -> None:
    requests = [Request("completions", {"prompt": "x"}, draw=draw) for draw in (0, 1, 1)]
    with MockServer() as server:
        answers(endpoint_at(server, journal), requests)
        assert [asked.body for asked in server.asked] == [{"prompt": "x", "model": "mock"}] * 2


def test_waits_double_and_have_an_end_and_a_told_wait_is_kept() -> None:
    troubles = [*[Said(500, {})] * 8, Said(429, {}, {"Retry-After": "300"})]
    with MockServer(*troubles) as server:
        endpoint = endpoint_at(server, retries=9)
        answers(endpoint, [ask_about(1)])
    clock = endpoint._clock
    assert isinstance(clock, FakeClock)
    assert clock.slept[:8] == [1, 2, 4, 8, 16, 32, 64, LONGEST_WAIT]
    assert sum(clock.slept[8:]) >= 300


def test_all_wait_when_the_server_asks_for_it() -> None:
    """The second request is not sent before the time that the first was told."""
    with MockServer(Said(429, {}, {"Retry-After": "50"})) as server:
        endpoint = endpoint_at(server, concurrency=1)
        answers(endpoint, [ask_about(1), ask_about(2)])
        assert endpoint._clock.now() >= 50
        assert len(server.asked) == 3


def failing(prompts: tuple[str, ...], status: int = 500) -> Any:
    return lambda asked: Said(status, {"error": "no"}) if asked.body["prompt"] in prompts else None


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_request_that_always_fails_does_not_stop_the_others(concurrency: int, journal: Path) -> None:
    with MockServer(say=failing(("Question 1.",))) as server:
        endpoint = endpoint_at(server, journal, retries=1, concurrency=concurrency)
        found = answers(endpoint, [ask_about(i) for i in range(5)])
    assert [answer.error for answer in found] == ["", "failed_status_500", "", "", ""]


@pytest.mark.parametrize(("status", "error"), [(500, "failed_status_500"), (400, "refused_400")])
def test_a_failure_that_is_not_kept_is_asked_about_again(status: int, error: str, journal: Path) -> None:
    with MockServer(say=failing(("Question 1.",), status)) as server:
        found = answers(endpoint_at(server, journal, retries=0, keeps_failures=False), [ask_about(1)])
        assert found[0].error == error
        server.say = lambda asked: None
        assert not answers(endpoint_at(server, journal), [ask_about(1)])[0].error


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_server_that_fails_them_all_is_an_error_and_nothing_is_taken_for_an_answer(
    concurrency: int, journal: Path
) -> None:
    with MockServer(say=failing(("Hello", *(f"Question {i}." for i in range(2, 9))))) as server:
        endpoint = endpoint_at(server, journal, retries=1, concurrency=concurrency)
        given = []
        with pytest.raises(InputError, match=r"fails \(status_500: no\), however often") as raised:
            given += endpoint.ask(ask_about(i) for i in range(9))
        assert "\n" not in str(raised.value)
        server.say = lambda asked: None
        assert not any(
            answer.error for answer in answers(endpoint_at(server, journal), [ask_about(i) for i in range(9)])
        )


def test_equal_requests_are_asked_once(journal: Path) -> None:
    with MockServer() as server:
        found = answers(endpoint_at(server, journal), [ask_about(i % 3) for i in range(12)])
        assert found[0] == found[3] == found[9] != found[1]
        assert len(server.asked) == 3


def test_requests_are_taken_as_there_is_room(journal: Path) -> None:
    taken: list[int] = []

    def requests() -> Iterator[Request]:
        for i in range(20):
            taken.append(i)
            yield ask_about(i)

    with MockServer() as server:
        asking = endpoint_at(server, journal, concurrency=4).ask(requests())
        next(asking)
        assert len(taken) <= 5
        asking.close()


def test_a_model_that_is_not_named_is_the_only_one(journal: Path) -> None:
    with MockServer() as server:
        answers(endpoint_at(server, journal), [ask_about(1)])
        assert server.asked[0].body["model"] == "mock"
        server.models = ("other",)
        assert len(answers(endpoint_at(server, journal), [ask_about(1)])) == 1
        with pytest.raises(InputError, match=r"serves other, and .* was begun with mock"):
            answers(endpoint_at(server, journal), [ask_about(2)])


def test_several_models_are_told_and_none_is_left_out_of_the_request() -> None:
    with MockServer(models=("a", "b")) as server:
        with pytest.raises(InputError, match=r"serves a, b. Choose one with --model."):
            answers(endpoint_at(server), [ask_about(1)])
        answers(endpoint_at(server, model="b"), [ask_about(1)])
        assert server.asked[0].body["model"] == "b"


@pytest.mark.parametrize("listed", [["mid-7b"], [None], [{"id": None}, 3]])
def test_a_list_of_models_without_ids_is_one_of_none(listed: list[Any]) -> None:
    """`"id" in model` was a TypeError."""
    with MockServer() as server:
        server.listed = listed
        assert len(answers(endpoint_at(server, model="a"), [ask_about(1)])) == 1
        server.listed = [*listed, {"id": "b"}]
        answers(endpoint_at(server), [ask_about(1)])
        assert server.asked[-1].body["model"] == "b"


def test_no_server_is_one_line_at_once() -> None:
    with MockServer() as server:
        url = server.url
    with pytest.raises(InputError, match=r"no server there .*Start it, or check the address.") as raised:
        answers(Endpoint(url, clock=FakeClock()), [ask_about(1)])
    assert "\n" not in str(raised.value)


def test_a_server_without_tls_is_told() -> None:
    with MockServer() as server, pytest.raises(InputError, match=r"TLS fails .*Write http:// for a server without"):
        answers(Endpoint(server.url.replace("http", "https"), clock=FakeClock()), [ask_about(1)])


URLS = {
    "http://h:1": "http://h:1/v1",
    "http://h:1/": "http://h:1/v1",
    "https://h/v1": "https://h/v1",
    "https://h/api/v1/chat/completions": "https://h/api/v1",
    "http://[::1]:8000": "http://[::1]:8000/v1",
}


@pytest.mark.parametrize(("url", "base"), URLS.items())
def test_addresses_as_people_write_them(url: str, base: str) -> None:
    assert Endpoint(url).url == base


@pytest.mark.parametrize("url", ["localhost:8000", "h", "ftp://h", "http://", "http://h:x", "http://h:99999", ""])
def test_what_is_no_address_is_told(url: str) -> None:
    with pytest.raises(InputError, match=r"not an address. Write http://HOST:PORT"):
        Endpoint(url)


@pytest.mark.parametrize("url", ["http://me:secret@h", "https://h/v1?key=secret", "https://h/#secret", "me:secret@h"])
def test_no_key_stands_in_an_address(url: str) -> None:
    with pytest.raises(InputError) as raised:
        Endpoint(url)
    assert "secret" not in str(raised.value)


def test_a_key_that_is_a_word_is_taken_out_of_no_answer(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "local")
    with MockServer(chat_of("takes the local train")) as server:
        found = answers(endpoint_at(server, journal, key_variable="MY_KEY"), [ask_about(1)])
        assert {asked.headers["authorization"] for asked in server.asked} == {"Bearer local"}
    assert found[0].texts == ["takes the local train"]


@pytest.mark.parametrize("said", ["no such token: Bearer local", 'api_key="local" is unknown', "bad key: local."])
def test_a_key_that_is_a_word_is_taken_out_of_errors_where_it_was_sent(said: str) -> None:
    found = _without_key(f"{said} Use the local server.".encode(), "local", is_error=True).decode()
    assert found == f"{said.replace('local', '[key]')} Use the local server."


def test_the_key_is_sent_and_stands_nowhere(
    journal: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A server that repeats it in an answer and in an error, all logs on."""
    key = "sk-0123456789abcdef"
    monkeypatch.setenv("MY_KEY", f" {key}\n")
    caplog.set_level(0)
    troubles = (
        chat_of(f"your key is {key}"),
        Said(500, {"error": f"bad {key}"}),
        Said(400, {"error": f"bad {key}"}),
        Said(401, {"error": f"bad {key}"}),
    )
    with MockServer(*troubles) as server:
        endpoint = endpoint_at(server, journal, key_variable="MY_KEY")
        found = answers(endpoint, [ask_about(1)]) + answers(endpoint, [ask_about(2)])
        with pytest.raises(InputError) as raised:
            answers(endpoint, [ask_about(3)])
        assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {key}"}
    assert found[0].texts == ["your key is [key]"]
    written = [path.read_text() for path in journal.parent.iterdir()]
    everything = [*written, str(raised.value), repr(endpoint), repr(endpoint.options), caplog.text, *capfd.readouterr()]
    assert not [text for text in [*everything, repr(found)] if key in text]


@pytest.mark.parametrize("key", ["two words", "schlüssel"])
def test_a_key_that_cannot_be_sent_is_told_without_it(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(InputError, match="OPENAI_API_KEY: holds no key") as raised:
        Endpoint("http://h")
    assert key not in str(raised.value)


def test_a_server_that_wants_a_key_says_which_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with (
        MockServer(Said(401, {})) as server,
        pytest.raises(InputError, match=r"wants a key. Put it into .* OPENAI_API_"),
    ):
        answers(endpoint_at(server), [ask_about(1)])


def test_no_proxy_is_asked_for_a_server_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with MockServer() as server:
        assert len(answers(endpoint_at(server), [ask_about(1)])) == 1


def test_answers_have_nothing_that_json_lacks(journal: Path) -> None:
    with MockServer(Said(200, b'{"choices": [{"text": "a", "x": [NaN, Infinity, -Infinity]}]}')) as server:
        answers(endpoint_at(server, journal), [ask_about(1)])
    assert "[null, null, null]" in journal.read_text()
    for line in journal.read_text().splitlines():
        json.loads(line, parse_constant=lambda name: pytest.fail(name))


def test_a_stream_whose_choices_have_not_all_ended_is_cut_off() -> None:
    """One choice had ended, and the beginning of another was kept as a whole answer."""
    pieces = [{"index": 0, "text": "sits.", "finish_reason": "stop"}, {"index": 1, "text": "walks to the"}]
    events = "".join(f"data: {json.dumps({'choices': [piece]})}\n\n" for piece in pieces)
    with pytest.raises(ValueError, match="cut off"):
        assembled(events)
    assert len(assembled(f"{events}data: [DONE]\n\n")["choices"]) == 2
    rest = json.dumps({"choices": [{"index": 1, "text": " door.", "finish_reason": "stop"}]})
    assert assembled(f"{events}data: {rest}\n\n")["choices"][1]["text"] == "walks to the door."
