"""What a verb prints, safe for a terminal."""

import sys

from swag_af.data.terminal import folded_for, tell, visible
from swag_af.data.urls import as_told


def say(*lines: str) -> None:
    """Print lines of text that may come from data: no character in them commands the terminal, and on a terminal prose
    is broken between words."""
    tell(folded_for(sys.stdout, "\n".join(visible(as_told(line)) for line in lines)))
