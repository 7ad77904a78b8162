"""Claims about files: whole or not there, and errors that name the place."""

import csv
import errno
import io
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_af.data.disk import files, replacing
from swag_af.data.errors import FormatError, InputError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_exception_inside_replacing_leaves_the_old_file_and_no_temporary(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    files.write_text(path, "old")
    with pytest.raises(RuntimeError), replacing.replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_an_exception_inside_replacing_leaves_the_old_folder_and_no_temporary(tmp_path: Path) -> None:
    path = tmp_path / "a"
    files.write_text(path / "inside", "old")
    with pytest.raises(RuntimeError), replacing.replacing(path) as temporary:
        files.write_text(temporary / "inside", "half")
        raise RuntimeError
    assert (path / "inside").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_a_folder_takes_the_place_of_the_old_one_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    files.write_text(path / "old", "")
    with replacing.replacing(path) as temporary:
        files.write_text(temporary / "new", "")
    assert names(path) == ["new"]
    assert names(tmp_path) == ["a"]


def test_a_folder_that_cannot_be_renamed_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    files.write_text(path / "old", "")
    rename = os.replace

    def full(source: Path, target: Path) -> None:
        if Path(target) == path and (Path(source) / "new").exists():
            raise OSError(errno.ENOSPC, "full")
        rename(source, target)

    with pytest.raises(OSError, match="full"), replacing.replacing(path) as temporary:
        files.write_text(temporary / "new", "")
        monkeypatch.setattr(os, "replace", full)
    assert names(path) == ["old"]
    assert names(tmp_path) == ["a"]


def test_a_replaced_folder_that_is_half_deleted_is_never_brought_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"

    def write(text: str) -> None:
        with replacing.replacing(path) as temporary:
            for name in ("one", "two"):
                files.write_text(temporary / name, text)

    def stopped(folder: Path, ignore_errors: bool) -> None:
        (Path(folder) / "one").unlink()
        raise KeyboardInterrupt

    write("old")
    for text in ("new", "newer"):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(shutil, "rmtree", stopped)
            write(text)
        assert {name: (path / name).read_text() for name in names(path)} == {"one": text, "two": text}
        write("between")
        assert names(tmp_path) == ["a"]
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(shutil, "rmtree", stopped)
        write("last")
    replacing.discard(path)
    with pytest.raises(InputError, match="no such file"):
        replacing.check_there(path)
    monkeypatch.setattr(replacing, "_is_alive", lambda process: False)
    replacing.remove_leftovers_of(path)
    assert names(tmp_path) == []


def test_records_that_fail_half_way_leave_the_old_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    files.write_jsonl(path, [{"a": 1}])
    with pytest.raises(TypeError):
        files.write_jsonl(path, [{"a": 2}, {"a": object()}])
    assert path.read_text() == '{"a": 1}\n'
    assert names(tmp_path) == ["a.jsonl"]


def test_a_table_that_fails_half_way_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    files.write_array(path, np.arange(3))
    with pytest.raises(ValueError, match="pickle"):
        files.write_array(path, np.array([object()]))
    assert np.load(path).tolist() == [0, 1, 2]
    assert names(tmp_path) == ["a.npy"]


DEAD = 1 << 23
"""No process has this number: Linux stops at 1 << 22."""
HERE = replacing.HOST


def test_leftovers_of_dead_processes_go_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / f".a.{HERE}.{DEAD}.tmp").touch()
    (tmp_path / f".00001.{HERE}.{DEAD}.tmp" / "deep").mkdir(parents=True)
    (tmp_path / f".0001.npy.{HERE}.{DEAD}.tmp").touch()
    (tmp_path / "b").touch()
    (tmp_path / f".b.{HERE}.{DEAD}.old.tmp").touch()
    (tmp_path / "c.tmp").touch()
    (tmp_path / ".hidden").touch()
    replacing.remove_leftovers(tmp_path)
    assert names(tmp_path) == [".hidden", "b", "c.tmp"]


def test_a_folder_that_was_moved_aside_comes_back_where_nothing_took_its_place(tmp_path: Path) -> None:
    files.write_text(tmp_path / f".a.{HERE}.{DEAD}.old.tmp" / "inside", "old")
    (tmp_path / f".a.{HERE}.{DEAD}.tmp").mkdir()
    replacing.remove_leftovers_of(tmp_path / "a")
    assert (tmp_path / "a" / "inside").read_text() == "old"
    assert names(tmp_path) == ["a"]


ASIDE = {
    "a folder": ("runs/a", "runs/a"),
    "a file in it": ("runs/a/inside", "runs/a"),
    "a file in a folder within it": ("runs/a/inside", "runs"),
    "a link to it": ("link", "runs/a"),
}
"""What is looked for, and what was moved aside."""


@pytest.mark.parametrize(("wanted", "moved"), ASIDE.values(), ids=ASIDE)
def test_a_folder_that_a_killed_run_had_moved_aside_is_there_for_whoever_looks_for_it(
    wanted: str, moved: str, tmp_path: Path
) -> None:
    """It was told as not there, until the same output was written again."""
    files.write_text(tmp_path / "runs" / "a" / "inside", "old")
    (tmp_path / "link").symlink_to(tmp_path / "runs" / "a")
    place = tmp_path / moved
    place.rename(place.with_name(f".{place.name}.{HERE}.{DEAD}.old.tmp"))
    place.with_name(f".{place.name}.{HERE}.{DEAD}.tmp").mkdir()
    replacing.check_there(tmp_path / wanted)
    assert (tmp_path / "runs" / "a" / "inside").read_text() == "old"


@pytest.mark.parametrize("mark", [f"{HERE}.{os.getpid()}", f"other-{HERE}.{DEAD}"], ids=["at work", "elsewhere"])
def test_a_folder_that_may_be_moved_aside_by_a_run_at_work_is_named(mark: str, tmp_path: Path) -> None:
    old = tmp_path / f".a.{mark}.old.tmp"
    old.mkdir()
    for name in (f".b.{mark}.old.tmp", f".a.b.{mark}.old.tmp", f".a.{mark}.tmp"):
        (tmp_path / name).mkdir()
    with pytest.raises(InputError) as raised:
        replacing.check_there(tmp_path / "a" / "inside", "no such file. Check the path.")
    assert str(raised.value) == (
        f"{tmp_path / 'a' / 'inside'}: no such file. Check the path. {old} was there before a run began to replace it: "
        "rename it if none is at work."
    )
    assert old.exists()
    with pytest.raises(InputError, match=r"c: no such file or folder\. Check the path\.$"):
        replacing.check_there(tmp_path / "c")
    for odd in ("c\0", "c\ud800"):
        with pytest.raises(InputError, match="no such file or folder"):
            replacing.check_there(tmp_path / odd)


def test_leftovers_of_one_target_go_and_those_of_others_stay(tmp_path: Path) -> None:
    mark = f"{HERE}.{DEAD}.tmp"
    for name in (f".a.txt.{mark}", f"..a.txt.{mark}.{mark}", f".a.txt.{HERE}.{os.getpid()}.tmp"):
        (tmp_path / name).touch()
    others = [f".b.a.txt.{mark}", f"..a.txt.{mark}", f".a.{mark}", f".a.txt.not-{HERE}.{DEAD}.tmp"]
    for name in others:
        (tmp_path / name).touch()
    replacing.check_output(tmp_path / "a.txt")
    assert names(tmp_path) == sorted([*others, f".a.txt.{HERE}.{os.getpid()}.tmp"])


def write_pair(folder: Path, text: str) -> None:
    with replacing.replacing_all(folder / "beside", folder / "commit") as temporaries:
        for temporary in temporaries:
            files.write_text(temporary, text)


def test_an_exception_inside_replacing_all_leaves_every_old_file_and_no_temporary(tmp_path: Path) -> None:
    write_pair(tmp_path, "old")
    with pytest.raises(RuntimeError), replacing.replacing_all(tmp_path / "beside", tmp_path / "commit") as temporaries:
        temporaries[0].write_text("half")
        raise RuntimeError
    assert [(tmp_path / name).read_text() for name in names(tmp_path)] == ["old", "old"]


def test_an_error_between_the_renames_leaves_a_set_that_the_next_run_knows_as_unfinished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pair(tmp_path, "old")
    rename = os.replace

    def stopped(source: Path, target: Path) -> None:
        if Path(target).name == "commit":
            raise KeyboardInterrupt
        rename(source, target)

    paths = tmp_path / "beside", tmp_path / "commit"
    with (
        monkeypatch.context() as patch,
        pytest.raises(KeyboardInterrupt),
        replacing.replacing_all(*paths) as temporaries,
    ):
        for temporary in temporaries:
            files.write_text(temporary, "new")
        patch.setattr(os, "replace", stopped)
    replacing.check_outputs(tmp_path / "beside", tmp_path / "commit")
    write_pair(tmp_path, "new")
    assert names(tmp_path) == ["beside", "commit"]


def test_a_set_without_its_commit_point_is_unfinished_only_if_a_process_died_at_it(tmp_path: Path) -> None:
    paths = (tmp_path / "beside", tmp_path / "commit")
    paths[0].touch()
    for of_another in (f".commit.{HERE}.{os.getppid()}.tmp", f".commit.not-{HERE}.{DEAD}.tmp"):
        (tmp_path / of_another).touch()
    with pytest.raises(InputError, match="beside: already exists"):
        replacing.check_outputs(*paths)
    (tmp_path / f"..commit.{HERE}.{DEAD}.tmp.{HERE}.{DEAD}.tmp").touch()
    with pytest.raises(InputError, match="beside: already exists"):  # killed while it wrote, before any rename
        replacing.check_outputs(*paths)
    (tmp_path / f".commit.{HERE}.{DEAD}.tmp").touch()
    replacing.check_outputs(*paths)
    paths[1].touch()
    with pytest.raises(InputError, match="already exists"):
        replacing.check_outputs(*paths)


def test_what_another_machine_is_writing_stays(tmp_path: Path) -> None:
    (tmp_path / f".a.not-{HERE}.{DEAD}.tmp").touch()
    replacing.remove_leftovers(tmp_path)
    assert len(names(tmp_path)) == 1


def test_what_another_container_of_this_machine_is_writing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Containers may have one name, as with `--network host`, and each numbers its processes from 1."""
    stat, namespace = os.stat, [0xEFFFFFFC]
    monkeypatch.setattr("platform.node", lambda: "box.local")
    monkeypatch.setattr(os, "stat", lambda path: SimpleNamespace(st_ino=namespace[0]) if "ns" in path else stat(path))
    assert replacing.this_host() == "box-local", "as ever where there is no container"
    hosts = []
    for namespace[0] in (4026532201, 4026532307):
        hosts.append(replacing.this_host())
    assert len({"box-local", *hosts}) == 3
    monkeypatch.undo()
    (tmp_path / f".a.{hosts[0]}.{DEAD}.tmp").touch()
    for other in ("box-local", hosts[1]):
        monkeypatch.setattr(replacing, "HOST", other)
        replacing.remove_leftovers(tmp_path)
        assert len(names(tmp_path)) == 1
    monkeypatch.setattr(replacing, "HOST", hosts[0])
    replacing.remove_leftovers(tmp_path)
    assert names(tmp_path) == []


def test_where_no_namespaces_are_a_host_is_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.node", lambda: "")
    monkeypatch.setattr(os, "stat", fails_with(errno.ENOENT))
    assert replacing.this_host() == "local"


def test_what_a_living_process_is_writing_stays(tmp_path: Path) -> None:
    temporary = tmp_path / f".{DEAD}.npy.{HERE}.{os.getpid()}.tmp"
    temporary.touch()
    replacing.remove_leftovers(tmp_path)
    assert temporary.exists()


def test_jsonl_reads_back_what_was_written_with_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    records = [{"a": "é\u2028\n\r"}, {"b": [1, None]}]
    assert files.write_jsonl(path, records) == 2
    assert list(files.read_jsonl(path)) == [(1, records[0]), (2, records[1])]


def test_a_record_that_is_none_is_told_with_its_line_and_a_log_may_end_in_half_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"low": 0, "high": 1}\n\n{"low": 2}')
    with pytest.raises(FormatError, match=r"a\.jsonl: line 3: .*high.* Mend it\."):
        list(files.read_records(path, Range, "Mend it."))
    path.write_text('{"low": 0, "high": 1}\n{"low": 2, "hi')
    assert list(files.read_records(path, Range, is_log=True)) == [Range(0, 1)]


@dataclass
class Range:
    low: int
    high: int


def test_numbers_of_numpy_and_paths_are_plain_json(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    files.write_json(path, {"n": np.int64(3), "x": np.float32(0.5), "row": np.arange(2), "path": Path("a/b")})
    assert files.read_json(path) == {"n": 3, "x": 0.5, "row": [0, 1], "path": "a/b"}


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\n')
    assert files.read_json(path) == {"a": 1}
    assert list(files.read_jsonl(path)) == [(1, {"a": 1})]


BROKEN = [
    (b'{\n"a": 1,\n}', "line 3"),
    (b'{\n"a": "x\ty"}', r"at line 2, column 8 \(Invalid control character\)\. Mend that line or"),
    (b'{"a": "\xff"}', "UTF-8"),
]


@pytest.mark.parametrize(("content", "said"), BROKEN)
def test_broken_json_is_named_with_its_place(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as caught:
        files.read_json(path)
    assert str(path) in str(caught.value)


BROKEN_LINES = [
    (b'{"a": 1}\n\n{"a": }\n', "line 3"),
    (b'{"a": "x\ty"}\n', r"line 1 is not valid JSON \(Invalid control character, column 9\)\. Mend that line\."),
    (b'{"a": "x}', r"line 1 is not valid JSON \(Unterminated string, column 7\)\. Mend that line\."),
    (b'{"a": 1}\n[1]\n', "line 2 is not a JSON object"),
    (b'{"a": 1}\n"\xff"\n', "UTF-8"),
    (b'{"a": 1}\n{"a": {"b": 1, "c": 2, "b": 3}}\n', "line 2 is JSON in which 'b' stands twice in one object"),
]


@pytest.mark.parametrize(("content", "said"), BROKEN_LINES)
def test_a_broken_json_line_is_named_with_its_place(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as caught:
        list(files.read_jsonl(path))
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le"])
def test_what_converts_a_text_that_is_not_utf8_can_be_pasted(encoding: str, tmp_path: Path) -> None:
    """`iconv -t utf-8` took the file for one of UTF-8, and failed."""
    path = tmp_path / "my rows.csv"
    path.write_bytes("Küche;Straße".encode(encoding))
    with pytest.raises(InputError, match="Convert it, say with") as error:
        files.read_text(path)
    command = str(error.value).split("`")[1].replace("NEW", shlex.quote(str(tmp_path / "new.csv")))
    subprocess.run(command, shell=True, check=True)
    assert files.read_text(tmp_path / "new.csv") == "Küche;Straße"


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        files.read_json(tmp_path / "a.json")
    with pytest.raises(InputError, match="a folder"):
        files.read_json(tmp_path)


def test_an_existing_output_is_refused_unless_forced(tmp_path: Path) -> None:
    replacing.check_output(tmp_path / "new")
    replacing.check_output(tmp_path, force=True, folder=True)
    with pytest.raises(InputError, match="--force"):
        replacing.check_output(tmp_path, folder=True)
    with pytest.raises(InputError, match=r"this is a folder, and a file is to be written\. Choose another --out"):
        replacing.check_output(tmp_path)


def test_an_output_that_may_not_be_written_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path) != tmp_path)
    for path in (tmp_path / "new.txt", tmp_path / "folder" / "new.txt", tmp_path):
        with pytest.raises(InputError, match="you may not write to"):
            replacing.check_output(path, force=True, folder=path == tmp_path)
    (tmp_path / "mine").mkdir()
    replacing.check_output(tmp_path / "mine", force=True, folder=True)  # a folder of one's own in another's


@pytest.mark.skipif(not Path("/sys/kernel").exists(), reason="there is no /sys")
def test_a_folder_whose_mode_allows_what_the_system_refuses_is_found_before_any_work() -> None:
    """To root, os.access allows everything, and the work was done for nothing."""
    for path, is_folder in ((Path("/sys/page.html"), False), (Path("/sys/new/pool"), True)):
        with pytest.raises(InputError, match=f"^{path}: you may not write to /sys\\. Choose another --page\\.$"):
            replacing.check_output(path, folder=is_folder, flag="--page")


def test_a_look_whether_a_folder_takes_files_leaves_it_as_it_was(tmp_path: Path) -> None:
    replacing.check_output(tmp_path / "deep" / "new")
    assert not list(tmp_path.iterdir())


def test_a_temporary_path_tells_what_it_becomes(tmp_path: Path) -> None:
    with replacing.replacing(tmp_path / "x.csv") as outer, replacing.replacing(outer) as inner:
        assert replacing.becomes(inner) == tmp_path / "x.csv"
        assert replacing.becomes(outer / "part.npy") == tmp_path / "x.csv" / "part.npy"
        inner.touch()
    assert replacing.becomes(tmp_path / ".x.tmp") == tmp_path / ".x.tmp"


def test_a_link_to_a_file_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    """The link became a file, and what it named stayed old."""
    disk, links = tmp_path / "disk", tmp_path / "links"
    links.mkdir()
    for name in ("a", "b", "commit"):
        files.write_text(disk / name, "old")
        (links / name).symlink_to(disk / name)
    files.write_text(links / "a", "new")
    with replacing.replacing_all(links / "b", links / "commit") as temporaries:
        for temporary in temporaries:
            temporary.write_text("new")
    assert [(disk / name).read_text() for name in ("a", "b", "commit")] == ["new"] * 3
    assert all(path.is_symlink() for path in links.iterdir())


def test_linked_files_of_a_set_that_a_kill_left_unfinished_may_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*given: object) -> None:
        raise KeyboardInterrupt

    disk, links = tmp_path / "disk", tmp_path / "links"
    links.mkdir()
    paths = [links / name for name in ("a", "commit")]
    for path in paths:
        files.write_text(disk / path.name, "old")
        path.symlink_to(disk / path.name)
    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt), replacing.replacing_all(*paths) as temporaries:
        for temporary in temporaries:
            temporary.write_text("new")
    replacing.check_outputs(*paths)


def test_a_link_to_a_folder_stays_and_its_folder_is_replaced(tmp_path: Path) -> None:
    files.write_text(tmp_path / "disk" / "pool" / "old", "old")
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "pool")
    with replacing.replacing(tmp_path / "link") as temporary:
        files.write_text(temporary / "new", "new")
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path / "disk" / "pool") == ["new"]
    assert names(tmp_path / "disk") == ["pool"]


def test_what_an_earlier_process_of_this_number_left_is_cleared_away(tmp_path: Path) -> None:
    """As in a container that was started again: its temporary folder was there already."""
    left = tmp_path / f".pool.{replacing.HOST}.{os.getpid()}.tmp"
    files.write_text(left / "half", "half")
    files.write_text(tmp_path / f".pool.{replacing.HOST}.{os.getpid()}.old.tmp" / "old", "old")
    with replacing.replacing(tmp_path / "pool") as temporary:
        assert (tmp_path / "pool" / "old").read_text() == "old"
        temporary.mkdir()
    assert names(tmp_path) == ["pool"]


def fails_with(number: int) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


def test_a_table_for_which_the_disk_has_no_room_is_named_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Filled through its map, it would end the process by SIGBUS."""
    monkeypatch.setattr(os, "posix_fallocate", fails_with(errno.ENOSPC))
    with pytest.raises(OSError, match="No space left") as caught:
        files.empty_array(tmp_path / "a.npy", (1000, 8), np.dtype(np.float32))
    assert caught.value.filename == str(tmp_path / "a.npy")
    assert names(tmp_path) == []


def test_a_table_to_be_filled_has_all_of_its_disk(tmp_path: Path) -> None:
    table = files.empty_array(tmp_path / "a.npy", (50_000, 8), np.dtype(np.float32))
    assert (tmp_path / "a.npy").stat().st_blocks * 512 >= table.nbytes
    table[7] = 3
    del table
    assert np.load(tmp_path / "a.npy").sum() == 24


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.EINVAL, None])
def test_where_no_room_can_be_taken_ahead_a_table_is_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int | None
) -> None:
    if number is None:
        monkeypatch.delattr(os, "posix_fallocate")
    else:
        monkeypatch.setattr(os, "posix_fallocate", fails_with(number))
    assert not files.empty_array(tmp_path / "a.npy", (10, 8), np.dtype(np.float32)).any()


@given(st.lists(st.lists(st.text('a\r\n," '), min_size=1, max_size=3), max_size=4))
def test_a_table_with_line_feeds_is_read_as_it_was_written(rows: list[list[str]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(files.LineFeeds(text)).writerows(rows)
    assert list(csv.reader(io.StringIO(text.getvalue(), newline=""))) == rows
    assert "\r\n" not in re.sub('"[^"]*"', "", text.getvalue())
