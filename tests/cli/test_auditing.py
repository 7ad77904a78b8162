"""The verb `audit` of a dataset: what it must never write over."""

import json
from pathlib import Path

import pytest

from swag_af.cli.main import main


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [
        {"question": f"what is number {i}?", "choices": [f"a{i} is", f"b{i} was", f"c{i}"], "label": i % 3}
        for i in range(30)
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("flag", ["--sarif", "--junit"])
def test_an_output_never_replaces_the_data(flag: str, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = data.read_bytes()
    with pytest.raises(SystemExit) as stopped:
        main(["audit", str(data), flag, str(data)])
    assert stopped.value.code == 2
    assert "read or written as something else" in capsys.readouterr().err
    assert data.read_bytes() == before


def test_an_output_never_replaces_another_or_the_gate(data: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate.toml"
    gate.write_text('gate = ["AF101 <= 100%"]\n')
    for flags in (["--gate", str(gate), "--junit", str(gate)], ["--junit", "x.xml", "--sarif", "x.xml"]):
        with pytest.raises(SystemExit) as stopped:
            main(["audit", str(data), *flags])
        assert stopped.value.code == 2
    assert gate.read_text() == 'gate = ["AF101 <= 100%"]\n'


def test_a_repaired_set_whose_rows_repeat_is_matched_whole(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = data.read_text().splitlines()
    old, new = data.with_name("old.jsonl"), data.with_name("new.jsonl")
    old.write_text("\n".join([*rows, *rows[:5]]) + "\n")
    new.write_text("\n".join([*rows[::-1], *rows[:5]]) + "\n")
    main(["audit", str(new), "--compare", str(old), "--filters", "tfidf"])
    assert "35 are in both" in capsys.readouterr().out
