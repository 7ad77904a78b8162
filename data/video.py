"""Captions and videos: what a reader yields and what a splitter takes. No reading, no splitting here."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caption:
    """One sentence of a video, its blanks normalised."""

    text: str
    seconds: tuple[float, float] | None = None
    """Start and end within the video, when the source says so."""
    tree: str | None = None
    """Bracketed constituency tree (Penn Treebank labels), when the source carries one."""


@dataclass(frozen=True, slots=True)
class Video:
    """The captions of one video (or document), in the order in which things happen."""

    id: str
    source: str
    captions: tuple[Caption, ...]
