"""Text as it was meant: repairs HTML entities, invisible characters and wrongly decoded letters where that is safe.

`ftfy` recognises UTF-8 that was read as Latin-1 and undoes it only when nothing has to be guessed. `is_broken` finds
what cannot be repaired; `drops` leaves it out.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import replace

from swag_af.data.tokens import normalise_blanks
from swag_af.data.video import Caption, Video

_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-f]+|[a-z]+\d*);", re.IGNORECASE)
_JOINED = "[^\x00-\u052f\u2000-\u200b\u200e-\u206f\u3000\ufeff]"
"""What joiners stand between in Persian, Hindi and emoji: neither Latin, Greek, Cyrillic, a blank nor a mark."""
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
    f"|(?<!{_JOINED})[\u200c\u200d]|[\u200c\u200d](?!{_JOINED})"
)
"""Control characters, soft hyphens, zero-width blanks, joiners where nothing is joined, marks of direction and of byte
order."""


def mend(text: str) -> str:
    """`text` with entities as characters, without invisible ones, wrong decodings undone, and blanks normalised."""
    while (plain := _ENTITY.sub(lambda found: html.unescape(found[0]), text)) != text:  # some are escaped twice
        text = plain
    if not text.isascii():
        import ftfy

        text = ftfy.fix_encoding(text)
    return normalise_blanks(_INVISIBLE.sub("", text))


def mend_videos(videos: Sequence[Video]) -> tuple[list[Video], int]:
    """The videos with every caption repaired, and how many captions changed by more than their blanks.

    A caption with a tree stays as it is: its words must be the tree's.
    """
    n_mended = 0
    mended = []
    for video in videos:
        captions = tuple(caption if caption.tree else _mend_caption(caption) for caption in video.captions)
        n_mended += sum(new.text != old.text for new, old in zip(captions, video.captions, strict=True))
        mended.append(replace(video, captions=captions))
    return mended, n_mended


def _mend_caption(caption: Caption) -> Caption:
    text = mend(caption.text)
    return caption if text == caption.text else replace(caption, text=text)


def is_broken(text: str) -> bool:
    """Whether letters were lost (U+FFFD) or are still wrong after the repair."""
    if text.isascii():
        return False
    import ftfy.badness

    return "\ufffd" in text or bool(ftfy.badness.is_bad(text))
