"""A store of S3's kind on this machine, and what tests do with it: other caches, as if on other machines."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from swag_af.data.disk import urls
from swag_af.data.stores import opened

BUCKET = "bucket"


@contextmanager
def s3_server(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server on a port of this machine, which the environment names, with an empty bucket."""
    pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    point_at(running.get_host_and_port()[1], patch)
    try:
        files().mkdir(BUCKET)
        yield
    finally:
        running.stop()


def point_at(port: int, patch: pytest.MonkeyPatch) -> None:
    """Have s3:// mean that port, and say so at once where it fails."""
    import s3fs

    named = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1"}
    for name, value in (named | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_MAX_ATTEMPTS": "1"}).items():
        patch.setenv(name, value)
    patch.setattr(s3fs.S3FileSystem, "retries", 1)
    s3fs.S3FileSystem.clear_instance_cache()


def files() -> Any:
    """fsspec's view of the store."""
    import fsspec

    return fsspec.filesystem("s3", use_listings_cache=False)


def content(url: str) -> dict[str, bytes]:
    """Every file below `url`, by its name from there."""
    import fsspec

    protocol, _, root = url.partition("://")
    there = fsspec.filesystem(protocol, use_listings_cache=False)
    return {path.lstrip("/")[len(root) + 1 :]: there.cat_file(path) for path in there.find(root)}


def move_to(cache: Path, patch: pytest.MonkeyPatch) -> None:
    """Go on as on another machine, with a cache of its own."""
    opened.close()
    urls.ROOTS.clear()
    patch.setenv("SWAG_AF_CACHE", str(cache))


def in_fork(work: Callable[[], object]) -> int:
    """Do it in a copy of this process; returns its exit code, 1 where it raises."""
    process = os.fork()
    if not process:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
