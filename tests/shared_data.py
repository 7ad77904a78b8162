"""Public data beside the checkout, which nothing may copy: tests that read it skip where it is absent."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Beside the repository; `data` and `papers` in it."""


def shared(path: str) -> Path:
    """The file or folder `path` of the public data; skips the test where it is not there."""
    found = SHARED / "data" / path
    if not found.exists():
        pytest.skip(f"{path} is not in ../shared/data")
    return found
