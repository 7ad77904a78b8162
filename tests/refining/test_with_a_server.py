"""A judge behind a real address: stopped by its budget and run again, it asks nothing twice, to the same bytes."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from folders import write
from mock_server import Asked, MockServer, Said
from test_refine import MARK, content_of, marks_all, question

from swag_af.auditing.runs.audit import audit_pool
from swag_af.data.context import Context
from swag_af.data.errors import ExhaustedError, InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.filters.judge.judge import JudgeFilter
from swag_af.refining.options import RefineOptions
from swag_af.refining.verb import refine


def say(asked: Asked) -> Said | None:
    """The letter of the first option with the mark; wrong options that have it too; other requests are the mock's."""
    if "messages" not in asked.body:
        return None
    prompt = asked.body["messages"][-1]["content"]
    if "Right: " in prompt:
        return chat(marks_all(prompt))
    if "Say the letter" not in prompt:
        return None
    shown = [line for line in prompt.splitlines() if line[1:3] == ". "]
    return chat(next((line[0] for line in shown if MARK in line), "A"))


def chat(text: str) -> Said:
    message = {"role": "assistant", "content": text}
    return Said(body={"choices": [{"index": 0, "finish_reason": "stop", "message": message}]})


def prompts_of(server: MockServer) -> Counter[str]:
    """How often each question was sent."""
    said = [one.body["messages"][-1]["content"] for one in server.asked if "messages" in one.body]
    return Counter(prompt for prompt in said if "Say the letter" in prompt or "Right: " in prompt)


def refined_straight(tmp_path: Path, server: MockServer) -> tuple[RefineOptions, Counter[str]]:
    """Eight questions, refined into `straight` without a stop: by which options, and what was sent."""
    data = tmp_path / "questions.jsonl"
    write(data, (question(i) for i in range(8)))
    names = {"judge": f"judge[{server.url}]", "rewriter": f"endpoint[{server.url}]"}
    options = RefineOptions((data,), out=tmp_path / "straight", audit_models="none", **names)
    refine(options)
    sent = prompts_of(server)
    server.asked.clear()
    return options, sent


def test_a_refinement_that_ran_out_goes_on_and_asks_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MockServer(say=say) as server:
        options, n_straight = refined_straight(tmp_path, server)
        options = replace(options, out=tmp_path / "stopped")
        with monkeypatch.context() as patched:
            limited = JudgeFilter(url=server.url, max_requests=30)
            patched.setattr("swag_af.refining.voting.make_filter", lambda name: limited)
            with pytest.raises(ExhaustedError, match="--max-requests"):
                refine(options)
        assert 0 < prompts_of(server).total() < n_straight.total()
        refine(options)
        assert prompts_of(server) == n_straight
        assert set(n_straight.values()) == {1}
    assert content_of(tmp_path / "stopped") == content_of(tmp_path / "straight")


def lines_of(out: Path) -> list[bytes]:
    return [(out / name).read_bytes() for name in ("questions.jsonl", "versions.jsonl")]


def test_a_budget_that_is_raised_by_name_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    """The message says to raise it; what judges are called, budget and all, was taken for who they are."""
    with MockServer(say=say) as server:
        options, n_straight = refined_straight(tmp_path, server)
        stopped = replace(options, out=tmp_path / "stopped", judge=f"judge[{server.url},max_requests=45]")
        with pytest.raises(ExhaustedError):
            refine(stopped)
        with pytest.raises(InputError, match="begun with other judges"):
            refine(replace(stopped, judge=f"judge[{server.url},see=options]"))
        raised = replace(stopped, judge=f"judge[{server.url},max_requests=999,concurrency=2,timeout=9]")
        with pytest.raises(ExhaustedError):
            refine(replace(raised, rewriter=f"endpoint[{server.url},max_requests=12]"))
        refine(replace(raised, rewriter=f"endpoint[{server.url},max_requests=99,retries=1]"))
        assert prompts_of(server) == n_straight
    assert lines_of(tmp_path / "stopped") == lines_of(tmp_path / "straight")


def test_a_folder_with_answers_alone_is_gone_on_with(tmp_path: Path) -> None:
    """It is what a server that was not there leaves."""
    data, out = tmp_path / "questions.jsonl", tmp_path / "refined"
    write(data, (question(i) for i in range(4)))
    with MockServer(say=say) as server:
        names = {"judge": "judge[http://127.0.0.1:1]", "rewriter": f"endpoint[{server.url}]"}
        options = RefineOptions((data,), out=out, audit_models="none", **names)
        for _ in range(2):
            with pytest.raises(InputError, match="no server there"):
                refine(options)
            assert [path.name for path in out.iterdir()] == ["answers"]
        refine(replace(options, judge=f"judge[{server.url}]"))
    assert (out / "refine.json").exists()


def test_an_audit_made_again_sends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAG_AF_CACHE", str(tmp_path / "cache"))
    contexts = [Context(f"Scene {i}.", "He", f"walks {i} miles {MARK}.", video=f"v{i}") for i in range(6)]
    pool = CandidatePool.from_texts(contexts, [[f"runs {k + i} miles." for k in range(2)] for i in range(6)])
    columns = np.tile(np.arange(3), (6, 1))
    with MockServer(say=say) as server:
        (first,) = audit_pool(pool, columns, [JudgeFilter(url=server.url, by="letter")], n_folds=2)
        assert first.accuracy == 1
        server.asked.clear()
        (again,) = audit_pool(pool, columns, [JudgeFilter(url=server.url, by="letter")], n_folds=2)
        assert not server.asked
    assert again == first
    assert any("places named" in line for line in first.said)
