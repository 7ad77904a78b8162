"""Real servers of language models on this machine, started for a test and killed by it; skips where they are absent."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

SECONDS = 120
"""Until a server must be there."""


class LocalServer:
    """A process that serves at `url`, on a port that stays the same when it is started again."""

    def __init__(self, command: Callable[[int], Sequence[str]], log: Path):
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        self._command = [*command(self.port)]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "LocalServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Begin, and wait until it answers."""
        quiet = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, env=os.environ | quiet)
        begun = time.monotonic()
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() - begun > SECONDS:
                pytest.fail(f"{self._command[:4]} does not start: {self.log.read_text()[-2000:]}")
            time.sleep(0.1)

    def kill(self) -> None:
        """At once, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/v1/models", timeout=1) as reply:
                return bool(reply.status == 200)
        except OSError:
            return False


def transformers_serve(model: str, log: Path) -> LocalServer:
    """`transformers serve`, which needs `transformers[serving]`."""
    for name in ("transformers", "openai", "uvicorn", "fastapi"):
        pytest.importorskip(name)
    cli = [sys.executable, "-m", "transformers.commands.transformers_cli", "serve", "--force-model", model]
    return LocalServer(lambda port: [*cli, "--port", str(port), "--log-level", "warning"], log)


def llama_cpp_python(gguf: str, log: Path) -> LocalServer:
    """The server of `llama-cpp-python[server]`."""
    for name in ("llama_cpp", "sse_starlette", "starlette_context", "pydantic_settings"):
        pytest.importorskip(name)
    settings = ["--model", gguf, "--logits_all", "true", "--n_ctx", "512", "--n_threads", "1", "--seed", "1"]
    return LocalServer(lambda port: [sys.executable, "-m", "llama_cpp.server", *settings, "--port", str(port)], log)


def llama_server(gguf: str, log: Path) -> LocalServer:
    """llama.cpp's own, `llama-server`."""
    program = shutil.which("llama-server")
    if program is None:
        pytest.skip("llama-server is not installed")
    settings = ["--model", gguf, "--ctx-size", "2048", "--threads", "1", "--parallel", "4", "--no-webui"]
    return LocalServer(lambda port: [program, *settings, "--port", str(port)], log)


SERVERS = {
    "transformers serve": transformers_serve,
    "llama-cpp-python": llama_cpp_python,
    "llama-server": llama_server,
}


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
