"""The demo from end to end, small."""

import contextlib
import io
import re

import pytest

from swag_af.cli import demo as demo_module
from swag_af.cli.main import main
from swag_af.lm.options import LMOptions


@pytest.fixture(scope="module")
def small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo_module, "N_VIDEOS", 60)
        patch.setattr(demo_module, "LM", LMOptions(hidden=24, epochs=1, learning_rate=1e-2))
        patch.setattr(demo_module, "N_CONTEXTS", 30)
        patch.setattr(demo_module, "N_NEGATIVES", 15)
        patch.setattr(demo_module, "SCHEDULE", "mlp:3,ensemble:1")
        yield


@pytest.fixture(scope="module")
def made(small, tmp_path_factory):
    """The folder of a demo, and what it printed."""
    out, printed = tmp_path_factory.mktemp("demos") / "demo", io.StringIO()
    with contextlib.redirect_stdout(printed):
        main(["demo", "--out", str(out)])
    return out, printed.getvalue()


def test_demo_ends_in_a_dataset_a_plot_and_three_questions(made):
    out, printed = made
    assert "synthetic" in printed.lower()
    assert len(re.findall(r"^  \* [a-d]\) ", printed, re.MULTILINE)) == 3
    for name in ("train.csv", "val.csv", "test.csv", "README.md"):
        assert (out / "dataset" / name).stat().st_size
    for suffix in ("png", "svg"):
        assert (out / "run" / f"curve.{suffix}").stat().st_size


def test_demo_run_again_changes_nothing(made):
    out, _ = made
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
