"""What two texts share when a reader would call them the same words, and numbers that stand for it.

Unicode NFKC, letter case, blanks, quote marks and a final full stop make no difference.
"""

import re
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
    """64 bits, signed, that stand for the letters and digits of `text`; 0 when there is nothing to read.

    Coarser than `comparable`: no mark makes a difference, so that a text written out again by somebody else is the
    same.
    """
    words = comparable(text)
    plain = "".join(filter(str.isalnum, words)) or words
    return int.from_bytes(blake2b(plain.encode(), digest_size=8).digest(), "little", signed=True) if words else 0


def sentence_keys(text: str) -> list[int]:
    """The keys of a text and, where it holds several sentences, of each that has three words or more; none twice."""
    parts = [part for part in _SENTENCE_END.split(text) if len(part.split()) >= _MIN_WORDS]
    return [key for key in dict.fromkeys(map(text_key, [text, *parts])) if key]


def open_end(text: str) -> str:
    """What follows the last full sentence of `text`: the beginning of another, or nothing."""
    return _SENTENCE_END.split(text.rstrip() + " ")[-1].strip()


_SENTENCE_END = re.compile(r"""(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)[.?!]+["')\]’”]*\s+""")
_MIN_WORDS = 3
