"""Addresses of servers, as people write them: `http://host:port`, `https://host/api/v1`.

A key or a password has no place in an address: it would stand in every record.
"""

from urllib.parse import SplitResult, urlsplit

from swag_af.data.errors import InputError

_BEHIND = ("/chat/completions", "/completions", "/models")
"""Ends of addresses that people copy from a manual."""
_LOCAL = ("localhost", "127.0.0.1", "::1")


def base_of(url: str) -> str:
    """The address under which `/models` and `/chat/completions` lie: `http://host:8000` -> `http://host:8000/v1`.

    Raises InputError for what is no such address, or holds a password or a query; those are not repeated.
    """
    parts = _parts(url)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InputError(
            f"endpoint {parts.scheme}://{parts.hostname or ''}: an address without user, password, query or #. "
            "Put the server's key into an environment variable (--key-variable)."
        )
    path = parts.path.rstrip("/")
    for end in _BEHIND:
        path = path.removesuffix(end)
    return f"{parts.scheme}://{parts.netloc}{path or '/v1'}"


def spellings(url: str) -> tuple[str, ...]:
    """Other ways in which the same address is often written: without `/v1`, and with a slash at the end."""
    base = base_of(url)
    short = base.removesuffix("/v1")
    return short, f"{short}/", f"{base}/"


def is_local(base: str) -> bool:
    """Whether the server runs on this machine, so that no proxy is asked for it."""
    return urlsplit(base).hostname in _LOCAL


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_address = False
    if not is_address:
        shown = url.rpartition("@")[2][:60]
        raise InputError(f"endpoint {shown!r}: not an address. Write http://HOST:PORT or https://HOST/v1.")
    return parts
