"""Claims about hostile connections: slow bodies, half-open requests, and floods of log lines keep nobody out."""

import asyncio
import contextlib
import logging
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from test_load import free_port, wait_for
from verify_people import TOKEN, Browser, make_run, small_pool

from swag_af.data.runs.run import Run
from swag_af.verify.options import ServeOptions
from swag_af.verify.web import connections
from swag_af.verify.web.connections import Seldom
from swag_af.verify.web.security import Receive, Scope, Send
from swag_af.verify.web.server import config_of, listen

N_FILES, N_HALF_OPEN, N_SLOW = 1024, 1010, 300

SLOW = b"POST /start HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 900\r\n\r\ntoken="
HALF_OPEN = b"GET /start HTTP/1.1\r\nhost: 127.0.0.1\r\nx-"


def few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (N_FILES, N_FILES))


@contextlib.contextmanager
def served_with(run: Run, log: Path, seconds: float, *options: object) -> Iterator[int]:
    """A server with few file descriptors and this time limit, its log in a file; its port."""
    port = free_port()
    words = ["verify", "serve", run.path, "--port", port, "--admin-token", TOKEN, "--min-gold-share", 0, *options]
    code = (
        "import sys; from swag_af.verify.web import connections; from swag_af.cli.main import main; "
        f"connections.REQUEST_SECONDS = {seconds}; main(sys.argv[1:])"
    )
    with log.open("wb") as file:
        command = [sys.executable, "-c", code, *map(str, words)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, preexec_fn=few_files, text=True) as process:
            try:
                wait_for(port, process)
                yield port
            finally:
                process.kill()


def open_many(port: int, n: int, content: bytes) -> list[socket.socket]:
    """`n` connections on which a part of a request is sent.

    Not faster than they are accepted: with a full queue, Linux tries a connection again after a whole second.
    """
    opened = []
    for i in range(n):
        if i % (connections.BACKLOG // 2) == 0:
            time.sleep(0.1)
        one = socket.create_connection(("127.0.0.1", port), timeout=20)
        with contextlib.suppress(OSError):
            one.sendall(content)
        opened.append(one)
    return opened


def n_open(connections: list[socket.socket]) -> int:
    """How many of them the server has not closed."""
    n = 0
    for one in connections:
        one.setblocking(False)
        try:
            n += one.recv(1) != b""
        except BlockingIOError:
            n += 1
        except OSError:
            pass
    return n


def judge_three(port: int) -> None:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", follow_redirects=True, timeout=60) as client:
        ann = Browser(client, "ann").begin()
        for _ in range(3):
            assert ann.send().status_code == 200
            assert "Your answer is kept." in ann.page


@pytest.mark.parametrize("proxies", [(), ("--proxies", "127.0.0.1")])
def test_while_slow_and_half_open_connections_stay_an_annotator_works(
    run: Run, tmp_path: Path, proxies: tuple[str, ...]
) -> None:
    """With the proxy named, no limit per client applies, and the limit of all connections alone has to hold."""
    log = tmp_path / "log"
    with served_with(run, log, 600, *proxies) as port:
        slow = open_many(port, N_SLOW, SLOW)
        half_open = open_many(port, N_HALF_OPEN, HALF_OPEN)
        judge_three(port)
        most = N_FILES - connections.RESERVED_FILES if proxies else 64
        assert 32 <= n_open(slow + half_open) <= most
        for one in slow + half_open:
            one.close()
    assert log.stat().st_size < 10_000


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a server that gives a request two seconds."""
    folder = tmp_path_factory.mktemp("hasty")
    with served_with(make_run(small_pool(), folder / "run"), folder / "log", 2) as port:
        yield port


@pytest.mark.parametrize("content", [SLOW, HALF_OPEN, b""])
def test_a_request_that_does_not_come_is_given_up(hasty: int, content: bytes) -> None:
    opened = open_many(hasty, 5, content)
    assert n_open(opened) == 5
    until = time.monotonic() + 10
    while n_open(opened) and time.monotonic() < until:
        time.sleep(0.05)
    assert n_open(opened) == 0


def test_drops_of_a_body_do_not_lengthen_its_time(hasty: int) -> None:
    (slow,) = open_many(hasty, 1, SLOW)
    with pytest.raises(ConnectionError):
        for _ in range(40):
            time.sleep(0.1)
            slow.sendall(b"x")


def test_a_body_that_breaks_off_changes_nothing(hasty: int) -> None:
    with httpx.Client(base_url=f"http://127.0.0.1:{hasty}", follow_redirects=True, timeout=60) as client:
        ann = Browser(client, "ann").begin()
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        form = f"token={ann.hidden('token')}&best=3"
        head = f"POST /item/{ann.task}/draft HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: {cookies}\r\n"
        head += "content-type: application/x-www-form-urlencoded\r\ncontent-length: 400\r\n\r\n"
        (broken,) = open_many(hasty, 1, (head + form).encode())
        time.sleep(0.2)
        broken.close()
        time.sleep(0.3)
        assert 'name="best" value="3" required aria-label' in (page := client.get("/item").text)
        assert 'aria-label="Ending 4 is the best" checked' not in page


def test_the_log_takes_few_lines_of_one_kind_in_a_minute() -> None:
    now = [0.0]
    seldom = Seldom(lambda: now[0])

    def written(n: int, line: int = 1) -> int:
        records = [logging.LogRecord("x", logging.ERROR, "file.py", line, "fault", (), None) for _ in range(n)]
        return sum(bool(seldom.filter(record)) for record in records)

    assert written(1000) == connections.LINES_PER_MINUTE
    assert written(1, line=2) == 1
    now[0] = 61.0
    assert written(1) == 1


def test_small_responses_are_sent_at_once() -> None:
    """The socket option, since asyncio sets it only where the listening socket names TCP."""

    async def nodelay() -> int:
        made: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def accepted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            made.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with listen("127.0.0.1", 0) as listener:
            async with await asyncio.start_server(accepted, sock=listener) as server:
                _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
                answer = await made
                writer.close()
        return answer

    assert asyncio.run(nodelay()) != 0


@pytest.mark.parametrize(
    ("proxies", "address", "scheme"), [((), "127.0.0.1", "http"), (("127.0.0.1",), "9.9.9.9", "https")]
)
def test_what_a_proxy_says_counts_only_where_it_was_named(
    run: Run, proxies: tuple[str, ...], address: str, scheme: str
) -> None:
    seen = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append((scope["client"][0], scope["scheme"]))

    assert run.path is not None
    config = config_of(app, ServeOptions(run.path, proxies=proxies))
    config.load()
    headers = [(b"x-forwarded-for", b"9.9.9.9"), (b"x-forwarded-proto", b"https")]
    scope = {"type": "http", "client": ("127.0.0.1", 5), "scheme": "http", "headers": headers}
    asyncio.run(config.loaded_app(scope, None, None))
    assert seen == [(address, scheme)]
