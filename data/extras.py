"""The command that installs an extra, as this package is installed. What needs one imports it itself."""

import json
import shlex
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

_CHECKOUT = Path(__file__).resolve().parents[1]
"""The folder that holds the package, and pyproject.toml where it is a checkout."""


def install(extra: str) -> str:
    """`pip install -e '/path/to/swag-af[hf]'` in a checkout; by its name where the package came from an index."""
    if (_CHECKOUT / "pyproject.toml").exists():
        return f"pip install -e {shlex.quote(f'{_CHECKOUT}[{extra}]')}"
    return f"pip install {shlex.quote(f'{_source()}[{extra}]')}"


def _source() -> str:
    """The folder that pip installed from, as it notes for whatever came from no index (PEP 610); else the name."""
    try:
        noted = distribution("swag-af").read_text("direct_url.json")
    except PackageNotFoundError:
        noted = None
    url = urlsplit(json.loads(noted)["url"] if noted else "")
    return url2pathname(url.path) if url.scheme == "file" and Path(url2pathname(url.path)).is_dir() else "swag-af"
