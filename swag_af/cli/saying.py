"""What a verb prints, safe for a terminal."""

from swag_af.data.terminal import tell, visible
from swag_af.data.urls import as_told


def say(*lines: str) -> None:
    """Print lines of text that may come from data: no character in them commands the terminal."""
    tell("\n".join(visible(as_told(line)) for line in lines))
