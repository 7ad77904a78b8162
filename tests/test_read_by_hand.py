"""Claims about the benchmarks that count what a person judged: slips of the pen change no figure unsaid."""

import json
import sys
from pathlib import Path

import judge_splits
import pytest
import ways

from swag_af.data.disk.files import write_json


@pytest.fixture
def judge(contexts_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """What is said of the six contexts, all drawn, of which some were judged wrong."""

    def said(wrong: str) -> list[str]:
        monkeypatch.setattr(sys, "argv", ["judge_splits.py", str(contexts_file), "--wrong", wrong])
        judge_splits.main()
        return capsys.readouterr().out.splitlines()

    return said


@pytest.mark.parametrize(("wrong", "n"), [("", 0), ("2", 1), ("2,5", 2), ("5, 2,5,", 2)])
def test_a_split_is_wrong_once_however_often_it_is_named(judge, wrong: str, n: int) -> None:
    *lines, last = judge(wrong)
    found = json.loads(last)
    assert len(lines) == n
    assert (found["n"], found["wrong"], found["right"]) == (6, n, 1 - n / 6)


@pytest.mark.parametrize(
    ("wrong", "said"), [("7", "--wrong 7: the contexts"), ("0,1", "--wrong 0: the"), ("-1", "-1: the"), ("x", "'x'")]
)
def test_a_number_that_no_split_has_is_refused(
    judge, capsys: pytest.CaptureFixture[str], wrong: str, said: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        judge(wrong)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("header", ["", "number,answer\n", "\ufeff", "\ufeffnumber,answer\n"])
def test_answers_may_have_a_header_and_small_letters(tmp_path: Path, header: str) -> None:
    """Small letters counted as wrong, and a header was no number."""
    key = [{"number": i, "way": "one", "id": f"q{i}", "answer": "ABCD"[i % 4]} for i in range(1, 5)]
    write_json(tmp_path / "key.json", key)
    (tmp_path / "answers.csv").write_text(f"{header}1,b\n2,C\n3, d\n4,b\n", encoding="utf-8")
    found = ways.judged(tmp_path, tmp_path / "answers.csv")["one"]
    assert (found["right"], found["of"]) == (3, 4)


def test_another_row_without_a_number_is_an_error(tmp_path: Path) -> None:
    write_json(tmp_path / "key.json", [])
    (tmp_path / "answers.csv").write_text("number,answer\n1,A\nnone,B\n", encoding="utf-8")
    with pytest.raises(ValueError, match="none"):
        ways.judged(tmp_path, tmp_path / "answers.csv")
