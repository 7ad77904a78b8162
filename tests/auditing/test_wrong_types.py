"""What is no dataset, no checks, no gate is told in one line, before any work."""

from pathlib import Path
from typing import Any

import pytest
from made_up_audits import questions

import swag_af
from swag_af.auditing.dataset import Checks
from swag_af.auditing.gate import read_gate
from swag_af.data.errors import InputError


def refused(call: Any, *given: Any, **named: Any) -> str:
    """What the error says: one line."""
    with pytest.raises(InputError) as caught:
        call(*given, **named)
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 300
    return said


@pytest.mark.parametrize("data", [5, None, [5], {}, [None], b"data.jsonl", {"questions.jsonl"}])
def test_what_is_no_dataset_is_told(data: Any) -> None:
    assert "no dataset" in refused(swag_af.audit, data)
    assert "no dataset" in refused(swag_af.probe, data)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"checks": 5}, "checks 5"),
        ({"checks": {"models": ["tfidf"]}}, "checks {'models'"),
        ({"groups": [0, 1]}, "groups [0, 1]"),
    ],
)
def test_wrong_arguments_of_audit_are_told(named: dict[str, Any], said: str) -> None:
    assert refused(swag_af.audit, questions(12), **named).startswith(said)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"input": 5}, "input 5"),
        ({"model": 7}, "model 7"),
        ({"folds": "leave-one-out"}, "folds 'leave-one-out': group, random, split"),
        ({"groups": "video"}, "groups 'video'"),
    ],
)
def test_wrong_arguments_of_probe_are_told(named: dict[str, Any], said: str) -> None:
    assert refused(swag_af.probe, questions(12), **named).startswith(said)


def test_all_faults_of_checks_are_told_together() -> None:
    said = refused(Checks, models="tfidf", inputs="options", n_folds="5", seeds=3)
    assert all(name in said for name in ("models 'tfidf'", "inputs 'options'", "n_folds '5'", "seeds 3"))
    for named in ({"models": ()}, {"inputs": [1]}, {"n_folds": 1}, {"seeds": ()}, {"seeds": [-1]}, {"seeds": ["0"]}):
        refused(Checks, **named)
    assert Checks(seeds=range(2)).n_folds == 5


@pytest.mark.parametrize(
    "text",
    [
        "gate = 5",
        "gate = [1]",
        'gate = "AF101 <= 3%"',
        "gate = [[]]",
        "[gate]",
        "gate = []",
        "[tool.swag-af]\naudit = 5",
    ],
)
def test_a_gate_of_another_type_is_told(text: str, tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(text)
    assert str(path) in refused(read_gate, path)
