"""Claims about many people at once, a server that is killed, and the verb from start to Ctrl-C."""

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import httpx
import numpy as np
import pytest
from verify_people import N_ROWS, TOKEN, judge_next, make_desk, make_run, small_pool

from swag_af.cli.main import main
from swag_af.data.disk.files import read_json
from swag_af.data.runs.run import Run
from swag_af.judging.verdicts import RATINGS
from swag_af.verify.options import ServeOptions
from swag_af.verify.overview import overview
from swag_af.verify.store import open_store
from swag_af.verify.web.server import welcome

N_BROWSERS, N_EACH, N_CONTEXTS, N_BEFORE_THE_KILL = 50, 2, 80, 40


@contextmanager
def served(run: Path, port: int, *options: object) -> Iterator[subprocess.Popen[str]]:
    """`swag-af verify serve` in a process of its own, answering."""
    words = ["verify", "serve", run, "--port", port, "--admin-token", TOKEN, *options]
    command = [sys.executable, "-m", "swag_af", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(port, process)
            yield process
        finally:
            process.kill()


def wait_for(port: int, process: subprocess.Popen[str]) -> None:
    for _ in range(600):
        assert process.poll() is None, process.stderr and process.stderr.read()
        try:
            httpx.get(f"http://127.0.0.1:{port}/start")
            return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("the server does not answer")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def person(name: str, address: str, acknowledged: list[tuple[str, str]], *, seed: int) -> None:
    """Judge items as they come, sending some twice; go on by the same link when the server is gone."""
    rng = np.random.default_rng(seed)
    async with httpx.AsyncClient(base_url=address, follow_redirects=True, timeout=20, verify=False) as client:
        n = 0
        while n < N_EACH:
            try:
                page = (await client.get(f"/a/{name}")).text
                token = re.findall(r'name="token" value="([\w-]+)"', page)[0]
                page = (await client.post("/start", data={"token": token})).text
                while n < N_EACH and (found := re.search(r'action="/item/([\w-]+)"', page)):
                    best, second = (str(k) for k in rng.permutation(6)[:2])
                    form = {"token": token, "revision": "0", "best": best, "second": second}
                    form |= {f"rating-{i}": str(rng.choice(RATINGS[:2])) for i in range(6)}
                    sends = [client.post(f"/item/{found[1]}", data=form) for _ in range(1 + (rng.random() < 0.3))]
                    answers = await asyncio.gather(*sends)
                    if all(answer.status_code == 200 for answer in answers):
                        acknowledged.append((name, found[1]))
                        n += 1
                    page = answers[0].text
                    if not re.search(r'action="/item/', page):
                        return
            except httpx.TransportError:
                await asyncio.sleep(0.9)  # a server takes seconds to be back
            await asyncio.sleep(0.1)


async def crowd(address: str, acknowledged: list[tuple[str, str]]) -> None:
    await asyncio.gather(*(person(f"p{k}", address, acknowledged, seed=k) for k in range(N_BROWSERS)))


@pytest.mark.slow
def test_fifty_people_and_a_killed_server_lose_no_answer_and_double_none(tmp_path: Path) -> None:
    run = make_run(small_pool(N_CONTEXTS), tmp_path / "run")
    assert run.path is not None
    port, acknowledged = free_port(), list[tuple[str, str]]()
    options = ("--annotators-per-item", 2, "--requests-per-minute", 1_000_000, "--min-gold-share", 0)

    async def all_of_it() -> None:
        with served(run.path, port, *options) as first:
            work = asyncio.create_task(crowd(f"http://127.0.0.1:{port}", acknowledged))
            while len(acknowledged) < N_BEFORE_THE_KILL and not work.done():
                await asyncio.sleep(0.01)
            first.send_signal(signal.SIGKILL)
            first.wait()
        before = len(acknowledged)
        with served(run.path, port, *options):
            await asyncio.wait_for(work, 120)
        assert N_BEFORE_THE_KILL <= before < len(acknowledged)

    asyncio.run(all_of_it())
    store = open_store(run.path)
    kept = [(verdict.annotator, verdict.item.id) for verdict in store.verdicts()]
    with store.engine.connect() as connection:
        tasks = connection.exec_driver_sql("SELECT id, annotator FROM tasks WHERE answered_at IS NOT NULL").all()
    answered = {(annotator, task) for task, annotator in tasks}
    assert set(acknowledged) <= answered
    assert len(acknowledged) == len(set(acknowledged))
    assert len(kept) == len(set(kept)) == len(tasks)
    per_row = Counter((verdict.annotator, verdict.item.row) for verdict in store.verdicts())
    assert set(per_row.values()) == {1}
    assert max(Counter(verdict.item for verdict in store.verdicts()).values()) <= 3


def test_the_verb_says_where_to_go_and_ends_well_with_ctrl_c(run: Run) -> None:
    port = free_port()
    with served(run.path, port, "--limit", 3) as process:
        assert httpx.get(f"http://127.0.0.1:{port}/a/ann", follow_redirects=True).status_code == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    assert f"http://127.0.0.1:{port}/enter?annotator=NAME" in out
    assert f"http://127.0.0.1:{port}/admin" in out
    assert TOKEN in out
    assert "answers.db (3 items)" in out
    assert "Stopped. Every answer is kept" in out
    assert "Warning" not in out


def refused(*words: object) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(["verify", "serve", *map(str, words)])
    assert stopped.value.code == 2
    return ""


def test_a_port_that_is_taken_is_refused(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused(run.path, "--port", taken.getsockname()[1])
    assert "something listens there already" in capsys.readouterr().err
    assert not (run.path / "verification").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--host", "203.0.113.7"], "not an address of this machine"),
        (["--host", "no such host"], "no such address"),
        (["--iteration", "4"], "this run has 0 to 0"),
        (["--qualification", "none.jsonl"], "no such file"),
        (["--database", "nonsense"], "not a database URL"),
        (["--database", "mysql://me:hidden@host/x"], "mysql://me:***@host/x: neither PostgreSQL nor SQLite"),
    ],
)
def test_what_cannot_be_served_is_refused(
    run: Run, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    refused(run.path, "--port", 0, *options)
    assert said in capsys.readouterr().err


def test_what_is_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(tmp_path / "none", "--port", 0)
    assert "no such folder" in capsys.readouterr().err


def test_another_seed_than_it_was_begun_with_is_refused(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    make_desk(run)
    refused(run.path, "--port", 0, "--seed", 4)
    err = capsys.readouterr().err
    assert "begun with other seed (0, now 4)" in err
    assert "give --iteration and --seed as they were" in err


def test_the_password_of_a_database_is_not_printed() -> None:
    options = ServeOptions(Path("run"), database="postgresql+psycopg://me:hidden@host/answers")
    said = "\n".join(welcome(options, 8000, TOKEN, 3))
    assert "postgresql+psycopg://me:***@host/answers (3 items)" in said


def test_keys_are_made_once_and_read_by_their_owner_only(run: Run) -> None:
    from swag_af.verify.store import read_keys

    make_desk(run)
    keys = read_keys(run.path)
    path = run.path / "verification" / "keys.json"
    assert asdict(keys) == read_json(path) == asdict(read_keys(run.path))
    assert len(keys.admin_token) >= 20
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_answers_are_in_a_write_ahead_log(run: Run) -> None:
    desk = make_desk(run)
    with desk.store.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


# ------------------------------------------------------------------------------- PostgreSQL


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of its own; skipped where PostgreSQL is not installed, or cannot run as this user."""
    if not shutil.which("initdb") or not shutil.which("pg_ctl"):
        pytest.skip("PostgreSQL is not installed")
    folder = tmp_path_factory.mktemp("postgres")
    user = "postgres" if os.geteuid() == 0 else None
    if user:
        for path in (folder, *folder.parents[:2]):
            path.chmod(0o755)
        try:
            shutil.chown(folder, user)
        except LookupError:
            pytest.skip("PostgreSQL does not run as root")
    port = free_port()

    def call(*words: object) -> int:
        environment = {**os.environ, "LC_ALL": "C"}
        return subprocess.run([*map(str, words)], user=user, cwd="/", env=environment, capture_output=True).returncode

    if call("initdb", "-D", folder / "data", "-U", "tester", "-E", "UTF8", "-A", "trust", "--no-sync"):
        pytest.skip("PostgreSQL cannot be set up here")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder} -c fsync=off"
    assert call("pg_ctl", "-D", folder / "data", "-o", options, "-l", folder / "log", "-w", "start") == 0
    yield f"postgresql+psycopg://tester@127.0.0.1:{port}/postgres"
    call("pg_ctl", "-D", folder / "data", "-m", "immediate", "stop")


@pytest.mark.slow
def test_postgresql_keeps_what_sqlite_keeps(run: Run, postgres: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    desk = make_desk(run, annotators_per_item=2, database=postgres)

    def work(name: str) -> list[str]:
        answered = []
        while (item := judge_next(desk, name)) is not None:
            answered.append(item)
        return answered

    with ThreadPoolExecutor(6) as threads:
        answered = [item for part in threads.map(work, [f"a{k}" for k in range(6)]) for item in part]
    assert set(Counter(answered).values()) == {2}
    assert len(answered) == 2 * N_ROWS
    assert Counter(verdict.item.id for verdict in open_store(run.path, postgres).verdicts()) == Counter(answered)
    assert overview(desk.store, 0.0).n_answers == len(answered)
