"""gs:// on a server of that kind: a run goes on on another machine, and leaves the bytes of one that stayed at home."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from conftest import make_pool
from stores import BUCKET, content, move_to

from swag_af.cli.main import main
from swag_af.data.disk import urls
from swag_af.data.runs.run import open_run
from swag_af.data.stores import opened


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """The address of an empty bucket on a port of this machine; the cache is empty, too."""
    gcsfs = pytest.importorskip("gcsfs")
    emulator = pytest.importorskip("gcp_storage_emulator.server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = emulator.create_server("127.0.0.1", port, in_memory=True, default_bucket=BUCKET)
    server.start()
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{port}")
    gcsfs.GCSFileSystem.clear_instance_cache()
    move_to(tmp_path / "cache", monkeypatch)
    yield f"gs://{BUCKET}"
    server.stop()
    opened.close()
    urls.ROOTS.clear()
    gcsfs.GCSFileSystem.clear_instance_cache()


def test_a_run_goes_on_elsewhere_to_the_bytes_of_one_at_home(
    bucket: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_pool(n=24).save(tmp_path / "pool")
    make_pool(n=24).save(opened.local(f"{bucket}/pool"))
    move_to(tmp_path / "first", monkeypatch)
    how = ["--schedule", "bow:4", "--n-negatives", "2", "--audit", "none", "--seed", "3"]
    main(["filter", f"{bucket}/pool", "--out", f"{bucket}/run", *how, "--iterations", "2"])
    move_to(tmp_path / "second", monkeypatch)
    main(["filter", f"{bucket}/pool", "--out", f"{bucket}/run", *how])
    main(["filter", str(tmp_path / "pool"), "--out", str(tmp_path / "run"), *how])
    kept = content(f"{bucket}/run")
    for path in (tmp_path / "run").rglob("*.npy"):
        assert kept[path.relative_to(tmp_path / "run").as_posix()] == path.read_bytes()
    assert kept["log.jsonl"] == (tmp_path / "run" / "log.jsonl").read_bytes()
    assert open_run(tmp_path / "run").n_finished == 4
    move_to(tmp_path / "third", monkeypatch)
    capsys.readouterr()
    main(["show", f"{bucket}/run"])
    assert f"{bucket}/run" in capsys.readouterr().out
    main(["report", f"{bucket}/run"])
    assert f"Copy {bucket}/run/report.html to this machine" in capsys.readouterr().out.replace("\n", " ")


class Refusing(BaseHTTPRequestHandler):
    """A store that lets nobody in."""

    def do_GET(self) -> None:
        self.send_error(403)

    def log_message(self, *_: object) -> None:
        pass


def test_what_a_google_store_refuses_is_one_line(tmp_path: Path) -> None:
    """Its package printed tracebacks above it. In a process of its own, in which nobody listens to loggers."""
    pytest.importorskip("gcsfs")
    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        there = {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{server.server_port}", "SWAG_AF_CACHE": str(tmp_path)}
        ended = subprocess.run(
            [sys.executable, "-m", "swag_af", "show", f"gs://{BUCKET}/pool"],
            env=os.environ | there,
            capture_output=True,
            text=True,
        )
        server.shutdown()
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert ended.stderr.startswith(f"swag-af: gs://{BUCKET}/pool: ")
