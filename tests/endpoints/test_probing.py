"""Claims about what servers can do: true only where an answer showed it."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from mock_server import ABLE, Asked, FakeClock, MockServer, Said, answer, logprobs_of

from swag_af.data.errors import InputError
from swag_af.endpoints.client import Endpoint
from swag_af.endpoints.contract import Abilities
from swag_af.endpoints.likelihood import nats_of_answer, tokens_of_prompt
from swag_af.endpoints.options import EndpointOptions, ProbeEndpointOptions


def abilities(server: MockServer, journal: Path | None = None) -> dict[str, Any]:
    return asdict(Endpoint(server.url, journal=journal).abilities())


ALL = asdict(
    Abilities(
        "mock",
        completions=True,
        chat=True,
        echo_logprobs=True,
        answer_logprobs=True,
        many=True,
        json_schema=True,
        stop=True,
        seed=True,
        repeats=True,
        blanks=True,
    )
)
WITHOUT = {
    "chat": {"chat", "json_schema"},
    "echo": {"echo_logprobs"},
    "logprobs": {"answer_logprobs"},
    "n": {"many"},
    "json_schema": {"json_schema"},
    "stop": {"stop"},
    "seed": {"seed", "repeats"},
    "usage": set[str](),
    "completions": {"completions", "echo_logprobs", "answer_logprobs", "blanks"},
}


@pytest.mark.parametrize(("ability", "lost"), WITHOUT.items())
def test_what_a_server_cannot_do_is_found_out(ability: str, lost: set[str]) -> None:
    with MockServer(able=ABLE - {ability}) as server:
        assert abilities(server) == ALL | dict.fromkeys(lost, False)


def test_prompt_logprobs_are_found() -> None:
    with MockServer(able=(ABLE - {"echo"}) | {"prompt_logprobs"}) as server:
        assert abilities(server) == ALL | {"echo_logprobs": False, "prompt_logprobs": True}


def test_it_is_tried_once_and_then_known_without_the_server(tmp_path: Path) -> None:
    with MockServer() as server:
        found = abilities(server, tmp_path / "j.jsonl")
        n = len(server.asked)
        assert n <= 16
        assert abilities(server, tmp_path / "j.jsonl") == found
        assert len(server.asked) == n
    assert abilities(server, tmp_path / "j.jsonl") == found


def test_a_limit_by_its_newer_name_is_found() -> None:
    def say(asked: Asked) -> Said | None:
        return Said(400, {"error": "use max_completion_tokens"}) if "max_tokens" in asked.body else None

    with MockServer(say=say) as server:
        assert abilities(server) == ALL | {"limit": "max_completion_tokens"}


def test_a_server_that_makes_other_texts_each_time_does_not_repeat() -> None:
    def say(asked: Asked) -> Said:
        changed = {**asked.body, "seed": len(server.asked)}
        return answer(Asked(asked.path, changed, asked.headers), ABLE)

    with MockServer(say=say) as server:
        assert abilities(server) == ALL | {"repeats": False}


def test_a_server_that_hangs_at_a_setting_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `transformers serve` does at `stop`: it answers 200 and sends nothing more."""
    monkeypatch.setattr("swag_af.endpoints.traffic.sending.HASTY_SECONDS", 0.3)
    with MockServer(say=lambda asked: Said(way="hang") if "stop" in asked.body else None) as server:
        assert abilities(server) == ALL | {"stop": False}


def test_a_server_that_fails_at_a_setting_lacks_it() -> None:
    """As the server of llama-cpp-python does at a JSON schema."""
    with MockServer(say=lambda asked: Said(500, {}) if "response_format" in asked.body else None) as server:
        assert abilities(server) == ALL | {"json_schema": False}


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_is_busy_while_it_is_tried_lacks_nothing(status: int) -> None:
    """A limit of requests a minute made an ability one that the server was said to lack, for good."""
    n_asked = Counter[str]()

    def say(asked: Asked) -> Said | None:
        key = str(sorted(asked.body.items()))
        n_asked[key] += 1
        return Said(status, {}) if len(asked.body) > 3 and n_asked[key] <= 4 else None

    with MockServer(say=say) as server:
        assert asdict(Endpoint(server.url, clock=FakeClock()).abilities()) == ALL
        assert n_asked.most_common(1)[0][1] > 4


TEXT = "A man sits down. He"
FULL = logprobs_of(TEXT, " plays.")
DECEPTIVE = {
    "accepted and not given": None,
    "of the answer only": logprobs_of("", " plays."),
    "all zero": FULL | {"token_logprobs": [None, *[0.0] * (len(FULL["tokens"]) - 1)]},
    "probabilities": FULL | {"token_logprobs": [None, *(0.5 for _ in FULL["tokens"][1:])]},
    "one above certainty": FULL | {"token_logprobs": [None, 0.7, *FULL["token_logprobs"][2:]]},
    "one missing": FULL | {"token_logprobs": [None, None, *FULL["token_logprobs"][2:]]},
    "fewer values than tokens": FULL | {"token_logprobs": FULL["token_logprobs"][:-1]},
    "of another text": logprobs_of("A dog sits down. He", " plays."),
    "cut off": {name: values[:3] for name, values in FULL.items()},
    "not a number": FULL | {"token_logprobs": [None, *["x"] * (len(FULL["tokens"]) - 1)]},
    "no lists": {"tokens": 3, "token_logprobs": 4},
    "empty": {"tokens": [], "token_logprobs": [], "text_offset": []},
}


@pytest.mark.parametrize("given", DECEPTIVE.values(), ids=DECEPTIVE.keys())
def test_likelihoods_that_do_not_cover_the_prompt_are_none(given: Any) -> None:
    assert tokens_of_prompt({"choices": [{"text": f"{TEXT} plays.", "logprobs": given}]}, TEXT) is None


def test_likelihoods_of_every_token_but_the_first_are_read() -> None:
    found = tokens_of_prompt({"choices": [{"logprobs": FULL}]}, TEXT)
    assert found is not None
    assert "".join(TEXT[token.begin : token.end] for token in found) == TEXT
    n = len(found)
    assert [token.nats for token in found[1:]] == [-value for value in FULL["token_logprobs"][1:n]]
    assert found[0].nats is None


SHIFTED = {
    "a token that begins the text": ["<s>"],
    "a blank before all": [" "],
    "both": ["<s>", " "],
}


@pytest.mark.parametrize("before", SHIFTED.values(), ids=SHIFTED.keys())
def test_tokens_before_the_text_shift_no_place(before: list[str]) -> None:
    tokens = [*before, *FULL["tokens"]]
    values = [None, *[-1.0] * (len(tokens) - 1)]
    found = tokens_of_prompt({"choices": [{"logprobs": {"tokens": tokens, "token_logprobs": values}}]}, TEXT)
    assert found is not None
    assert [TEXT[token.begin : token.end] for token in found] == [*FULL["tokens"][: len(found)]]


def test_tokens_that_are_no_whole_characters_are_placed_by_offsets() -> None:
    text = "a 😀 b"
    given = {
        "tokens": ["a", " \ufffd", "\ufffd", " b", " c"],
        "token_logprobs": [None, -1.0, -2.0, -3.0, -4.0],
        "text_offset": [0, 1, 2, 3, 5],
    }
    found = tokens_of_prompt({"choices": [{"logprobs": given}]}, text)
    assert found is not None
    assert [token.nats for token in found] == [None, 1.0, 2.0, 3.0]


def test_prompt_logprobs_with_a_token_that_begins_the_text() -> None:
    given = [None, *({"9": {"logprob": -1.0, "decoded_token": piece}} for piece in FULL["tokens"][:-2])]
    joined = "".join(FULL["tokens"][:-2])
    found = tokens_of_prompt({"choices": [{"prompt_logprobs": given}]}, joined)
    assert found is not None
    assert [token.nats for token in found] == [1.0] * (len(given) - 1)


@pytest.mark.parametrize("content", [7, True, {"logprob": -1.0}, "text", None, [None, 3]])
def test_log_probabilities_of_an_answer_that_are_no_list_are_none(content: Any) -> None:
    """A number in their place was a TypeError."""
    assert nats_of_answer({"choices": [{"logprobs": {"content": content}}]}) == []


@pytest.mark.parametrize(
    ("flag", "named"), [("--prices", {"prices": Path("p.toml")}), ("--concurrency", {"concurrency": 2})]
)
def test_what_a_probe_does_nothing_with_is_refused(flag: str, named: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{flag}: a probe sends one request at a time"):
        ProbeEndpointOptions("http://localhost:1", endpoint=EndpointOptions(**named))
