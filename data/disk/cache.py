"""The folder for what may be had again, but was dear: vectors of an encoder, answers of a judge."""

import os
from pathlib import Path

VARIABLE = "SWAG_AF_CACHE"
"""The environment variable that names it; `none` keeps nothing."""


def cache_folder() -> Path | None:
    """`$SWAG_AF_CACHE`, else `swag-af` in the user's cache; None where nothing is to be kept."""
    said = os.environ.get(VARIABLE, "")
    if said.lower() == "none":
        return None
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(said or Path(home) / "swag-af").expanduser()
