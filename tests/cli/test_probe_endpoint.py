"""Claims about the verb `probe-endpoint`."""

import json
from pathlib import Path

import pytest
from mock_server import ABLE, MockServer

from swag_af.cli.main import main


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(["probe-endpoint", *arguments])
    return capsys.readouterr().out


def test_a_table_says_what_works_and_what_is_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with MockServer(able=ABLE - {"echo"}) as server:
        shown = told(capsys, server.url, "--journal", str(tmp_path / "j"))
        rows = {line.rsplit(maxsplit=1)[0].strip(): line.split()[-1] for line in shown.splitlines() if line[:2] == "  "}
        assert rows["likelihoods of a given text by echo and logprobs"] == "no"
        assert rows["answers kept to a JSON schema"] == "yes"
        assert "features --scorer does not" in shown
        assert f"'endpoint[{server.url}]'" in shown
        n = len(server.asked)
        assert told(capsys, server.url, "--journal", str(tmp_path / "j")) == shown
        assert len(server.asked) == n


def test_json_has_every_ability(capsys: pytest.CaptureFixture[str]) -> None:
    with MockServer() as server:
        found = json.loads(told(capsys, server.url, "--json"))
    assert (found["model"], found["echo_logprobs"], found["prompt_logprobs"]) == ("mock", True, False)


def test_a_server_without_texts_is_one_line_and_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with MockServer(able=frozenset()) as server, pytest.raises(SystemExit) as stopped:
        main(["probe-endpoint", server.url])
    assert stopped.value.code == 2
    assert "gave no text at /completions and /chat/completions" in capsys.readouterr().err
