"""The demo from end to end, small."""

import re

import pytest

from swag_af.cli import demo as demo_module
from swag_af.cli.main import main
from swag_af.lm.options import LMOptions


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(demo_module, "N_VIDEOS", 60)
    monkeypatch.setattr(demo_module, "LM", LMOptions(hidden=24, epochs=1, learning_rate=1e-2))
    monkeypatch.setattr(demo_module, "N_CONTEXTS", 30)
    monkeypatch.setattr(demo_module, "N_NEGATIVES", 15)
    monkeypatch.setattr(demo_module, "SCHEDULE", "mlp:3,ensemble:1")


def test_demo_ends_in_a_dataset_a_plot_and_three_questions(small, tmp_path, capsys):
    main(["demo", "--out", str(tmp_path / "demo")])
    printed = capsys.readouterr().out
    assert "synthetic" in printed.lower()
    assert len(re.findall(r"^  \* [a-d]\) ", printed, re.MULTILINE)) == 3
    for name in ("train.csv", "val.csv", "test.csv", "README.md"):
        assert (tmp_path / "demo" / "dataset" / name).stat().st_size
    for suffix in ("png", "svg"):
        assert (tmp_path / "demo" / "run" / f"curve.{suffix}").stat().st_size


def test_demo_run_again_changes_nothing(small, tmp_path, capsys):
    out = tmp_path / "demo"
    main(["demo", "--out", str(out)])
    kept = (
        "contexts.jsonl",
        "lms/fold-0/weights.safetensors",
        "pool/manifest.json",
        "run/log.jsonl",
        "dataset/train.csv",
    )
    before = {name: (out / name).read_bytes() for name in kept}
    main(["demo", "--out", str(out)])
    assert {name: (out / name).read_bytes() for name in kept} == before
