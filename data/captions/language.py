"""Texts that are not English: the captions of a video, or texts of a set; by `py3langid`, which ships its model.

Word lists, splitters and taggers here are English. A single caption is too short to identify (the model takes 4 of
5,000 English ones for another language), so the captions of a video are judged together. Nothing is dropped here.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from swag_af.data.video import Video

SURE = 0.6
"""The least probability at which another language is accepted. None of 24,701 English videos (ActivityNet, YouCook2,
Charades) is taken for another language at any; two captions in one of 12 other languages have over 0.7."""

_SAMPLE = 200
"""Texts of a set that are read together."""
_LEAST = 20
"""Letters; fewer are not judged."""

BY_LETTER = frozenset({"dz", "ja", "km", "lo", "th", "zh"})
"""Languages in which each letter (of Dzongkha each syllable) counts as a token (`characters_apart`), for no blank parts
their words."""


def foreign_videos(videos: Sequence[Video]) -> list[bool]:
    """For each video, whether its captions are with near certainty in a language other than English."""
    return [_is_foreign(" ".join(caption.text for caption in video.captions)) for video in videos]


def foreign_language(texts: Iterable[str]) -> str:
    """The ISO 639-1 code of the language of `texts`, judged together; empty for English, and where it is not sure.

    `_SAMPLE` of the different texts are read, drawn by a hash: their order decides nothing.
    """
    drawn = sorted({text for text in texts if text}, key=_hash)[:_SAMPLE]
    text = " ".join(drawn)
    return _foreign(text) if sum(map(str.isalpha, text)) >= _LEAST else ""


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _is_foreign(text: str) -> bool:
    return bool(_foreign(text))


def _foreign(text: str) -> str:
    language, probability = _identifier().classify(text)
    return str(language) if language != "en" and probability >= SURE else ""


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
