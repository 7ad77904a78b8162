"""Captions and videos: what a reader yields and a splitter takes. Nothing is read or split here."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Caption:
    """One sentence of a video, its blanks normalised."""

    text: str
    seconds: tuple[float, float | None] | None = None
    """Start and end within the video, when the source gives them; the end None where it gives the start alone."""
    tree: str | None = None
    """Bracketed constituency tree (Penn Treebank labels), when the source carries one."""


@dataclass(frozen=True, slots=True)
class Video:
    """The captions of one video (or document), in the order in which things happen."""

    id: str
    source: str
    captions: tuple[Caption, ...]
    n_back: int = field(default=0, compare=False)
    """How many captions begin before the one that the source lists above them; readers sort them by time."""
