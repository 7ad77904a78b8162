"""Videos whose captions are not English, identified by `py3langid`, which ships its model.

Word lists, splitters and taggers here are English. A single caption is too short to identify (the model takes 4 of
5,000 English ones for another language), so the captions of a video are judged together. Nothing is dropped here.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from swag_af.data.video import Video

SURE = 0.6
"""The least probability at which another language is accepted. None of 24,701 English videos (ActivityNet, YouCook2,
Charades) is taken for another language at any; two captions in one of 12 other languages have over 0.7."""


def foreign_videos(videos: Sequence[Video]) -> list[bool]:
    """For each video, whether its captions are with near certainty in a language other than English."""
    return [_is_foreign(" ".join(caption.text for caption in video.captions)) for video in videos]


def _is_foreign(text: str) -> bool:
    language, probability = _identifier().classify(text)
    return language != "en" and probability >= SURE


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
