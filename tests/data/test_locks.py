"""Claims about locks: one process at a time, gone with it, nothing left."""

import errno
import fcntl
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from swag_af.data.errors import InputError
from swag_af.data.work.locks import alone, seize


def test_threads_take_turns_and_nothing_is_left(tmp_path: Path) -> None:
    inside, seen = [0], []

    def work() -> None:
        for _ in range(20):
            with alone(tmp_path / "model"):
                inside[0] += 1
                seen.append(inside[0])
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1] * 80
    assert not list(tmp_path.iterdir())


def test_a_folder_may_go_with_the_work_that_is_done_in_it(tmp_path: Path) -> None:
    folder, done = tmp_path / "journal", []

    def work() -> None:
        for _ in range(50):
            with alone(folder / "joining"):
                done.append(1)
            shutil.rmtree(folder, ignore_errors=True)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 200
    shutil.rmtree(folder, ignore_errors=True)
    assert not list(tmp_path.iterdir())


HOLDER = """
import sys
from pathlib import Path
from swag_af.data.work.locks import alone
with alone(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_who_waits_says_so_and_goes_on_when_the_other_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new" / "fold-0"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        threading.Timer(0.3, other.kill).start()
        with alone(path):
            assert other.wait() != 0
    assert f"{path}: another process is at work on this. Waiting" in capsys.readouterr().err
    assert not list(path.parent.iterdir())


def test_a_link_to_nothing_is_told_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "lms").symlink_to(tmp_path / "gone")
    with (
        pytest.raises(InputError, match="lms: a link to what is not there"),
        alone(tmp_path / "lms" / "new" / "fold-0"),
    ):
        pass


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
def test_a_folder_in_which_no_file_can_be_made_is_told() -> None:
    """It was tried without end."""
    with pytest.raises(InputError, match="/proc: no file can be made here"), alone(Path("/proc/new")):
        pass


def test_an_error_lets_go(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="mine"), alone(tmp_path / "model"):
        raise RuntimeError("mine")
    with alone(tmp_path / "model"):
        assert (tmp_path / ".model.lock").exists()


@pytest.mark.parametrize(("number", "goes_on"), [(errno.ENOSYS, True), (errno.EIO, False)])
def test_a_file_system_without_locks_is_told(
    number: int, goes_on: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(file: object, how: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    if not goes_on:
        with pytest.raises(OSError, match=os.strerror(number)), alone(tmp_path / "model"):
            pass
        return
    with alone(tmp_path / "model"):
        assert "this file system has no locks" in capsys.readouterr().err
    with (tmp_path / "journal").open("ab") as file:
        assert seize(file, tmp_path / "journal")
        assert "journal: this file system has no locks" in capsys.readouterr().err
