"""The command that installs an extra, as this package is installed. What needs one imports it itself, in `needing`."""

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from swag_af.data.errors import InputError, in_one_line

_CHECKOUT = Path(__file__).resolve().parents[1]
"""The folder that holds the package, and pyproject.toml where it is a checkout."""


def install(extra: str) -> str:
    """`pip install -e '/path/to/swag-af[hf]'` in a checkout; by its name where the package came from an index."""
    if (_CHECKOUT / "pyproject.toml").exists():
        return f"pip install -e {shlex.quote(f'{_CHECKOUT}[{extra}]')}"
    return f"pip install {shlex.quote(f'{_source()}[{extra}]')}"


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Import something of `extra` within: InputError that says how to install what is missing, or cannot be used."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "swag_af":
            raise  # a fault of ours
        what = error.name or f"what the extra {extra} brings"
        if isinstance(error, ModuleNotFoundError):
            raise InputError(f"{what} is not installed. Install it with: {install(extra)}") from error
        said = f"{what} cannot be imported ({in_one_line(error)})"
        raise InputError(f"{said}. Install it again, with: {install(extra)}") from error


def _source() -> str:
    """The folder that pip installed from, as it notes for whatever came from no index (PEP 610); else the name."""
    try:
        noted = distribution("swag-af").read_text("direct_url.json")
    except PackageNotFoundError:
        noted = None
    url = urlsplit(json.loads(noted)["url"] if noted else "")
    return url2pathname(url.path) if url.scheme == "file" and Path(url2pathname(url.path)).is_dir() else "swag-af"
