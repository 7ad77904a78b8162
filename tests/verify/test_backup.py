"""Claims about the answers on disk: whole copies while people work, one file after a stop, read by the owner alone."""

import shutil
import sqlite3
import time
from pathlib import Path

import pytest
from verify_people import judge_next, make_desk

from swag_af.cli.main import main
from swag_af.data.runs.run import Run
from swag_af.verify.store import open_store
from swag_af.verify.web.server import checkpoints


def n_answers(path: Path) -> int:
    connection = sqlite3.connect(path)
    (n,) = connection.execute("SELECT count(*) FROM tasks WHERE answered_at IS NOT NULL").fetchone()
    connection.close()
    return int(n)


def alone(run: Run, tmp_path: Path) -> Path:
    """A copy of answers.db without its log."""
    assert run.path is not None
    return Path(shutil.copy(run.path / "verification" / "answers.db", tmp_path / "alone.db"))


def test_a_backup_holds_every_answer_while_the_desk_works(run: Run, tmp_path: Path) -> None:
    desk, out = make_desk(run), tmp_path / "copy.db"
    for k in range(3):
        judge_next(desk, "ann")
        main(["verify", "backup", str(run.path), "--out", str(out), "--force"])
        assert n_answers(out) == k + 1
    assert out.stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.glob("copy.db-*"))


def test_a_verification_goes_on_from_a_backup(run: Run, tmp_path: Path) -> None:
    desk, out = make_desk(run), tmp_path / "copy.db"
    judge_next(desk, "ann")
    main(["verify", "backup", str(run.path), "--out", str(out)])
    desk.store.close()
    assert run.path is not None
    for path in (run.path / "verification").glob("answers.db*"):
        path.unlink()
    shutil.copy(out, run.path / "verification" / "answers.db")
    assert make_desk(run).n_answered("ann") == 1


def test_a_backup_replaces_nothing_unasked(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_desk(run)
    (tmp_path / "copy.db").write_text("mine")
    with pytest.raises(SystemExit):
        main(["verify", "backup", str(run.path), "--out", str(tmp_path / "copy.db")])
    assert "--force" in capsys.readouterr().err
    assert (tmp_path / "copy.db").read_text() == "mine"


def test_the_file_holds_every_answer_after_a_stop(run: Run, tmp_path: Path) -> None:
    desk = make_desk(run)
    with checkpoints(desk.store):
        judge_next(desk, "ann")
    assert n_answers(alone(run, tmp_path)) == 1


def test_the_file_holds_every_answer_after_some_time(run: Run, tmp_path: Path) -> None:
    desk = make_desk(run)
    with checkpoints(desk.store, 0.05):
        judge_next(desk, "ann")
        for _ in range(1000):
            time.sleep(0.05)
            if n_answers(alone(run, tmp_path)) == 1:
                return
    raise AssertionError("the answer is not in the file")


def test_the_answers_are_read_by_their_owner_only_also_where_others_could_before(run: Run) -> None:
    desk = make_desk(run)
    judge_next(desk, "ann")
    assert run.path is not None
    files = list((run.path / "verification").glob("answers.db*"))
    assert len(files) == 3
    for path in files:
        path.chmod(0o644)
    judge_next(make_desk(run), "bob")
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


OLD_SCHEMA = """
CREATE TABLE settings (name VARCHAR(64) NOT NULL, value JSON, PRIMARY KEY (name));
CREATE TABLE annotators (id VARCHAR(64) NOT NULL, state VARCHAR(16) NOT NULL, paused BOOLEAN NOT NULL,
  exempt BOOLEAN NOT NULL, begun_at FLOAT NOT NULL, PRIMARY KEY (id));
CREATE TABLE items (id VARCHAR(32) NOT NULL, "row" INTEGER NOT NULL, round INTEGER NOT NULL, columns JSON NOT NULL,
  rank INTEGER NOT NULL, priority INTEGER NOT NULL, n_answers INTEGER NOT NULL, wanted INTEGER NOT NULL,
  is_open BOOLEAN NOT NULL, PRIMARY KEY (id), UNIQUE ("row", round));
CREATE TABLE tasks (id VARCHAR(32) NOT NULL, item VARCHAR(32) NOT NULL, "row" INTEGER, annotator VARCHAR(64) NOT NULL,
  session VARCHAR(32) NOT NULL, begun_at FLOAT NOT NULL, expires_at FLOAT NOT NULL, draft JSON, answered_at FLOAT,
  revision INTEGER NOT NULL, ratings JSON, best INTEGER, second INTEGER, seconds FLOAT, PRIMARY KEY (id),
  UNIQUE (item, annotator));
"""
"""The tables of the first release."""


@pytest.mark.parametrize("by_serving", [True, False])
def test_a_database_of_the_first_release_still_opens(run: Run, by_serving: bool) -> None:
    assert run.path is not None
    desk = make_desk(run)
    judge_next(desk, "ann")
    desk.store.close()
    path = run.path / "verification" / "answers.db"
    new, old = sqlite3.connect(path), sqlite3.connect(path.with_name("old.db"))
    old.executescript(OLD_SCHEMA)
    for table in ("settings", "annotators", "items", "tasks"):
        names = [name for _, name, *_ in old.execute(f"PRAGMA table_info({table})")]
        columns = ", ".join(f'"{name}"' for name in names)
        lines = new.execute(f"SELECT {columns} FROM {table}").fetchall()
        old.executemany(f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(names))})", lines)
    old.commit(), old.close(), new.close()
    path.with_name("old.db").replace(path)
    if by_serving:
        desk = make_desk(run)
        assert judge_next(desk, "ann") is not None
        desk.store.end_session("number", 0.0, 1.0)
        assert desk.store.has_ended("number")
    assert len(open_store(run.path).verdicts()) == 1 + by_serving
