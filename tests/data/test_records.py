"""Claims about typed records and the readers of files: each fault is one line that names the file and the field."""

import io
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from swag_af.cli import main as command_line
from swag_af.data.captions.readers import read_videos
from swag_af.data.disk import files, replacing
from swag_af.data.disk.records import parse_record
from swag_af.data.errors import FormatError, InputError
from swag_af.data.syntax.treebank import read_treebank
from swag_af.data.tables.sources import open_source, read_csv


@dataclass(frozen=True, slots=True)
class Point:
    name: str
    at: tuple[float, ...]
    n: int = 0


def test_a_record_is_read_and_unknown_fields_are_ignored() -> None:
    assert parse_record({"name": "a", "at": [1, 2.5], "new": None}, Point, "f") == Point("a", (1.0, 2.5))


WRONG = [
    ({"at": []}, "f: object missing required field name. Mend it."),
    ({"name": None, "at": []}, "f: name: expected str, got null. Mend it."),
    ({"name": "a", "at": [0.5, "1"]}, r"f: at\[.+\]: expected float, got str. Mend it."),
    ({"name": "a", "at": [float("nan")]}, r"f: at\[0\]: nan is not a finite number"),
    ({"name": "a", "at": [float("inf")]}, r"f: at\[0\]: inf is not a finite number"),
    ({"name": "a", "at": [10**400]}, "f: "),
    ({"name": "a", "at": [], "n": True}, "f: n: expected int, got bool"),
    ({"name": "a", "at": [], "n": 1 << 70}, "f: n: "),
    ([], "f: expected object, got array"),
]


@pytest.mark.parametrize(("value", "line"), WRONG)
def test_a_wrong_field_is_named(value: object, line: str) -> None:
    with pytest.raises(FormatError, match=line):
        parse_record(value, Point, "f", "Mend it.")


BAD_JSON = {
    "deep": (b"[" * 100_000, "nested too deeply"),
    "deep, and still JSON": (b"[" * 100 + b"]" * 100, "nested deeper than 64"),
    "a long number": (b"1" * 5_000, "too many digits"),
    "half a character": (rb'{"a": "\ud83d"}', "half a surrogate pair under a"),
    "a name twice": (b'{"a": 1, "a": 1}', "JSON in which 'a' stands twice in one object"),
    "UTF-16": ("{}".encode("utf-16"), "not UTF-8"),
    "UTF-16 without a mark": ("{}".encode("utf-16-le"), "NUL"),
    "latin-1": ('{"a": "é"}'.encode("latin-1"), "not UTF-8"),
    "cut short": (b'{"a": 1', "not valid JSON"),
}


@pytest.mark.parametrize(("content", "line"), BAD_JSON.values(), ids=BAD_JSON.keys())
def test_bad_json_is_one_line(tmp_path: Path, content: bytes, line: str) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(InputError, match=f"a.json: .*{line}"):
        files.read_json(tmp_path / "a.json")


def test_a_whole_character_in_two_escapes_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(r'{"a": "\ud83d\ude00", "b": "\\ud83d"}')
    assert files.read_json(tmp_path / "a.json") == {"a": "\U0001f600", "b": "\\ud83d"}


@pytest.mark.parametrize(
    "read",
    [files.read_json, files.read_toml, files.read_array, files.read_arrays, open_source, read_treebank, read_videos],
)
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, read) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    with pytest.raises(InputError, match="a pipe or a device"):
        read(tmp_path / "a.jsonl")


def test_toml_of_any_kind_of_damage_is_one_line(tmp_path: Path) -> None:
    for content in (b"a = " + b"[" * 50_000, b"a = " + b"1" * 5_000, b"a = \xff", b"a = "):
        (tmp_path / "a.toml").write_bytes(content)
        with pytest.raises(InputError, match=r"a\.toml: not"):
            files.read_toml(tmp_path / "a.toml")


def test_a_table_may_be_empty_and_a_mark_is_skipped(tmp_path: Path) -> None:
    files.write_array(tmp_path / "a.npy", np.zeros((0, 3), np.int32))
    assert files.read_array(tmp_path / "a.npy").shape == (0, 3)
    (tmp_path / "a.csv").write_bytes(b'\xef\xbb\xbfa,b\r\n1,"x\r\ny"\r\n')
    assert list(read_csv(tmp_path / "a.csv")) == [(1, ["a", "b"]), (3, ["1", "x\r\ny"])]


def test_two_tables_with_long_cells_are_read_side_by_side(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(f"a,b\n1,2\n3,{'x' * 200_000}\n")
    first, second = read_csv(tmp_path / "a.csv"), read_csv(tmp_path / "b.csv")
    next(second)
    assert len(list(first)) == 3
    assert len(list(second)) == 2


def test_an_archive_under_the_name_of_a_table_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "a.npy").open("wb") as file:
        np.savez(file, a=np.zeros(3))
    with pytest.raises(FormatError, match=r"not a \.npy table"):
        files.read_array(tmp_path / "a.npy")


ARCHIVES = {
    "a table": lambda path: np.save(path.open("wb"), np.zeros(3)),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-30]),
    "another byte": lambda path: path.write_bytes(path.read_bytes().replace(b"\x05\0\0\0", b"\x06\0\0\0", 1)),
    "objects": lambda path: np.savez(path.open("wb"), a=np.array([{}], object)),
    "nothing": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize("spoil", ARCHIVES.values(), ids=ARCHIVES.keys())
def test_a_damaged_archive_of_tables_is_one_line(tmp_path: Path, spoil) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, a=np.full(3, 5, np.int32), b=np.zeros(()))
    assert {name: table.tolist() for name, table in files.read_arrays(path).items()} == {"a": [5] * 3, "b": 0.0}
    spoil(path)
    with pytest.raises(FormatError, match=r"a\.npz: (not an \.npz archive|damaged|missing)[^\n]*\. Mend it\.$"):
        files.read_arrays(path, "Mend it.")


@pytest.mark.parametrize("content", [content for content, _ in BAD_JSON.values() if content.isascii()])
def test_a_cell_of_bad_json_is_a_value_error(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        files.json_value(content.decode())


def test_a_target_of_the_wrong_kind_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path, is_folder, line in [
        (tmp_path, False, "this is a folder, and a file"),
        (tmp_path / "file", True, "this is a file, and a folder"),
        (tmp_path / "file" / "below", True, "is a file, not a folder"),
    ]:
        with pytest.raises(InputError, match=line):
            replacing.check_output(path, force=True, folder=is_folder)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every verb has a bug; the folder for temporary files is `tmp_path`."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(command_line, "_function_of", lambda kind: None)
    monkeypatch.delenv("SWAG_AF_TRACEBACK", raising=False)


def stop(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[object, str, str]:
    """The exit code and the one line of a verb that breaks, and the report in `folder` that the line names."""
    with pytest.raises(SystemExit) as stopped:
        command_line.main(["show", "run"])
    err = capsys.readouterr().err
    (report,) = folder.glob("swag-af-*.txt")
    assert err.count("\n") == 1
    assert str(report) in err
    return stopped.value.code, err, report.read_text()


def test_a_bug_of_ours_ends_with_70_and_a_file_with_the_traceback(
    broken: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, report = stop(tmp_path, capsys)
    assert code == 70
    assert "TypeError: 'NoneType' object is not callable" in report


def test_a_bug_of_the_users_own_code_is_told_with_its_line(
    broken: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command_line, "_function_of", lambda kind: lambda options: json.loads("[")["nothing"])
    code, err, _ = stop(tmp_path, capsys)
    assert code == 2
    assert f"{__file__}, line" in err
    assert "JSONDecodeError" in err


def test_the_traceback_is_shown_when_asked_for(broken: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAG_AF_TRACEBACK", "1")
    with pytest.raises(TypeError):
        command_line.main(["show", "run"])


def test_a_terminal_without_a_character_shows_an_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    monkeypatch.setattr(command_line, "help_text", lambda: "café")
    command_line.main([])
    sys.stdout.flush()
    assert written.getvalue() == b"caf\\xe9\n"
