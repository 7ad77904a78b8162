"""What a verb prints, safe for a terminal."""

import sys
from pathlib import Path

from swag_af.data.disk.urls import as_told, url_of
from swag_af.data.display.terminal import folded_for, tell, visible


def say(*lines: str) -> None:
    """Print lines of text that may come from data: no character in them commands the terminal, and on a terminal prose
    is broken between words."""
    tell(folded_for(sys.stdout, "\n".join(visible(as_told(line)) for line in lines)))


def how_to_open(page: Path) -> str:
    """How a page is looked at: browsers do not read addresses of stores."""
    if url_of(page):
        return f"Copy {page} to this machine to look at it in a browser; it needs no network."
    return f"Open {page} in a browser; it needs no network."
