"""What is no dataset, no checks, no gate is told in one line, before any work."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import make_contexts_of
from made_up_audits import questions

import swag_af
from swag_af.auditing.dataset import Checks
from swag_af.auditing.gates.gate import read_gate
from swag_af.auditing.probes.keeping import KeptProbes
from swag_af.data.errors import InputError
from swag_af.data.instances.grouping import group
from swag_af.data.pool.pool import CandidatePool


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
        ({"n_folds": "5"}, "n_folds '5': a whole number, at least 2"),
        ({"n_folds": 2.5}, "n_folds 2.5"),
        ({"n_folds": 1}, "n_folds 1"),
        ({"seed": -1}, "seed -1: a whole number, at least 0"),
        ({"seed": 1.5}, "seed 1.5"),
    ],
)
def test_wrong_arguments_of_probe_are_told(named: dict[str, Any], said: str) -> None:
    assert refused(swag_af.probe, questions(12), **named).startswith(said)


def test_groups_and_probes_of_another_set_are_told(tmp_path: Path) -> None:
    """Groups of the whole set were taken for some of it, and leaked: 0.68 where 0.26 is right."""
    data, whole = questions(12), questions(24)
    for call in (swag_af.audit, swag_af.probe):
        assert "groups: those of 24 instances, where made-up has 12" in refused(call, data, groups=group(whole))
    one = data.instances[3]
    relabelled = replace(data, instances=(*data.instances[:3], replace(one, answer=(one.answer + 1) % 4)))
    for other, of in ((whole, whole), (relabelled, relabelled), (data, whole)):
        kept = KeptProbes(tmp_path, other, group(of))
        what = "groups" if other is data else "instances"
        assert refused(swag_af.audit, data, kept=kept).startswith(f"kept: probes of made-up with other {what}")
    again = swag_af.audit(questions(12), Checks(models=["tfidf"]), kept=KeptProbes(tmp_path, data, group(data)))
    assert again.probes
    assert swag_af.probe(data, n_folds=np.int64(3), seed=np.int64(2)).n_folds == 3


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"filters": "chars"}, "filters: 'chars', where a list"),
        ({"n_folds": 1}, "n_folds 1: a whole number is due, 2 or more"),
        ({"n_folds": 2.5}, "n_folds 2.5"),
        ({"seed": -1}, "seed -1"),
        ({"seed": None}, "seed None"),
    ],
)
def test_wrong_arguments_of_audit_pool_are_told(named: dict[str, Any], said: str) -> None:
    """A name alone was read letter by letter."""
    pool = CandidatePool.from_texts(make_contexts_of(12, n_videos=12), [["a b.", "c d."]] * 12)
    assignment = np.tile(np.arange(3), (12, 1))
    assert refused(swag_af.audit_pool, pool, assignment, **named).startswith(said)
    found = swag_af.audit_pool(pool, assignment.tolist(), ["chars"], n_folds=3)
    assert [one.filter for one in found] == ["chars"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("folder", "ngrams"), "pool: a str, where CandidatePool is due"),
        ((None, "ngrams"), "pool: a NoneType"),
        (("pool", "ngrams", {"n_negatives": 2}), "options: a dict, where AFOptions is due"),
    ],
)
def test_wrong_arguments_of_filter_pool_are_told(given: tuple[Any, ...], said: str) -> None:
    if given[0] == "pool":
        given = (CandidatePool.from_texts(make_contexts_of(4, n_videos=4), [["a b.", "c d."]] * 4), *given[1:])
    assert refused(swag_af.filter_pool, *given).startswith(said)


def test_contexts_and_negatives_may_be_arrays() -> None:
    contexts, negatives = make_contexts_of(4, n_videos=4), [["a b.", "c d."]] * 4
    as_array = np.empty(4, object)
    as_array[:] = contexts
    pools = [CandidatePool.from_texts(given, negatives) for given in (contexts, as_array, tuple(contexts))]
    assert len({pool.identity for pool in pools}) == 1


def test_all_faults_of_checks_are_told_together() -> None:
    said = refused(Checks, models="tfidf", inputs="options", n_folds="5", seeds=3)
    assert all(name in said for name in ("models 'tfidf'", "inputs 'options'", "n_folds '5'", "seeds 3"))
    for named in (
        {"models": ()},
        {"inputs": [1]},
        {"n_folds": 1},
        {"seeds": ()},
        {"seeds": [0, 0]},
        {"seeds": [-1]},
        {"seeds": ["0"]},
    ):
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
