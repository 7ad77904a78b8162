"""What two texts share when a reader would call them the same words, and a number that stands for it.

Unicode NFKC, letter case, blanks, quote marks and a final full stop make no difference.
"""

import unicodedata
from hashlib import blake2b

_QUOTES = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "`": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "。": "."}
)


def comparable(text: str) -> str:
    """What two texts share when a reader would call them the same; empty when there is nothing to read.

    Blanks go altogether, so "can not" and "cannot", "do n't" and "don't", "down ." and "down." are the same.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).casefold()
        text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
        text = "".join(c for c in text if unicodedata.category(c) != "Cf")  # soft hyphens, zero-width blanks
    key = "".join(text.casefold().replace("`", "'").replace("''", '"').split())
    return key.rstrip(".") or key


def text_key(text: str) -> int:
    """64 bits, signed, that stand for the words of `text`; 0 when there is nothing to read."""
    words = comparable(text)
    return int.from_bytes(blake2b(words.encode(), digest_size=8).digest(), "little", signed=True) if words else 0
