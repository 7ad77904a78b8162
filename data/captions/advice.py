"""What a user should know about the captions: signs of a misread source, and rules that drop a large share.

Of captions that are not English it says what splits them. Only counts and words; nothing is dropped here, and nothing
is printed.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from swag_af.data.captions.drops import REASONS, is_enclosed
from swag_af.data.captions.language import BY_LETTER, foreign_language
from swag_af.data.captions.options import ContextRules
from swag_af.data.errors import several, told
from swag_af.data.text.sentences import sentences_of
from swag_af.data.video import Video

MANY = 1 / 3
"""A reason that drops more than this share of the pairs, or pairs of which more than this share are enclosed, call for
a word. Of ActivityNet Captions 12 % are enclosed."""

MANY_SEVERAL = 0.01
"""The same of captions of several sentences; of ActivityNet Captions 0.02 %."""

MANY_BACK = 0.1
"""The same of captions that begin before the one listed above them; of ActivityNet Captions 1 %."""

FLAGS: dict[str, str] = {
    "foreign": "--no-drop-foreign keeps them, for a splitter of their language",
    "gap": "--max-gap-seconds sets how long it may be",
    "enclosed": "--no-drop-enclosed keeps them",
    "short_sentence": "--min-sentence-tokens sets the fewest tokens",
    "rare_token": "--min-token-count sets how often each token must occur",
    "no_verb_phrase": "--splitter sets what splits the sentence",
    "short_context": "--min-context-tokens sets the fewest tokens",
    "long_context": "--max-context-tokens sets the most tokens",
    "short_ending": "--min-ending-tokens sets the fewest tokens",
    "long_ending": "--max-ending-tokens sets the most tokens",
    "near_duplicate": "--near-duplicates sets how similar they may be",
}
"""What to change where a reason drops too many pairs; the other reasons have no option."""


def time_warnings(name: str, videos: Sequence[Video], rules: ContextRules) -> list[str]:
    """Warnings about the times of the captions in the source called `name`: signs that several people's captions of a
    video are mixed, unless videos are there once for each of them, where it says who wrote what."""
    is_by_person = len({(video.source, video.id) for video in videos}) < len(videos)
    pairs = [pair for video in videos for pair in pairwise(video.captions)]
    timed = [(first, second) for first, second in pairs if first.seconds and second.seconds]
    if not timed:
        return []
    lines = []
    n_partly = sum(0 < sum(one.seconds is not None for one in v.captions) < len(v.captions) for v in videos)
    if n_partly:
        lines.append(
            f"{name}: {several(n_partly, 'video has', 'videos have')} times for some captions only, so their captions "
            "stay in the order of the file. Give the others times, or leave them out."
        )
    n_back, n_enclosed = sum(video.n_back for video in videos), sum(is_enclosed(*pair) for pair in timed)
    if n_back > MANY_BACK * len(timed) and not is_by_person:
        lines.append(
            f"{name}: {_of(n_back, len(timed), 'following captions')} begin before the one listed above them, as where "
            "several people described one video; by time, captions of different people make pairs. If the source "
            "says who wrote each, give a table of captions with --annotator-column."
        )
    if n_enclosed > MANY * len(timed) and not rules.drop_enclosed:
        lines.append(
            f"{name}: in {_of(n_enclosed, len(timed), 'pairs')} the second caption lies within the time of the first, "
            "and may describe the same event again. --drop-enclosed drops those pairs."
        )
    return lines


def sentence_warnings(name: str, videos: Sequence[Video]) -> list[str]:
    """A warning where more captions in the source called `name` than a few are of several sentences."""
    texts = [caption.text for video in videos for caption in video.captions]
    n = sum(len(sentences_of(text)) > 1 for text in texts)
    if n <= MANY_SEVERAL * len(texts):
        return []
    return [
        f"{name}: {_of(n, len(texts), 'captions')} are of several sentences. Endings are generated a sentence long, so "
        "`generate` leaves out golds of more. Give each sentence a caption of its own, in order."
    ]


def markup_warnings(name: str, videos: Sequence[Video]) -> list[str]:
    """A warning where captions in the source called `name` have tags of HTML."""
    found = [tag[0] for video in videos for caption in video.captions if (tag := _TAG.search(caption.text))]
    if not found:
        return []
    n_captions = sum(len(video.captions) for video in videos)
    return [
        f"{name}: {_of(len(found), n_captions, 'captions')} have HTML tags (first: {told(found[0])}), whose signs and "
        "names are words of contexts and endings like all others. Take the tags out of the source."
    ]


_TAG = re.compile(r"</?(?:a|b|br|div|em|font|h[1-6]|i|img|li|ol|p|span|strong|sub|sup|u|ul)\b[^<>]*>", re.IGNORECASE)


def language_warnings(videos: Sequence[Video], splitter: str) -> list[str]:
    """A warning where the captions, judged together, are in a language that no splitter cuts, or that `splitter`, named
    as an option names it, does not: without a pipeline or model of one's own it splits English."""
    captions = [caption for video in videos for caption in video.captions]
    language = foreign_language(caption.text for caption in captions)
    has_trees = splitter == "auto" and all(caption.tree for caption in captions)
    if language in BY_LETTER:
        return [
            f"Most captions are not English (language {language}), and no splitter finds words that no blanks part. "
            f"Instead write {_OWN_CONTEXTS}."
        ]
    if not language or splitter not in _ENGLISH or has_trees:
        return []
    return [
        f"Most captions are not English (language {language}), and --splitter {splitter} splits English only. Split "
        "with --no-drop-foreign and a spaCy pipeline (spacy[PIPELINE]) or a benepar model (benepar[MODEL]) of their "
        f"language, or write {_OWN_CONTEXTS}."
    ]


_ENGLISH = frozenset({"auto", "rules", "spacy", "benepar"})
_OWN_CONTEXTS = "contexts of your own: JSONL with sent1, start and gold (docs/FORMATS.md)"


def drop_warnings(drops: Mapping[str, int]) -> list[str]:
    """Warnings about reasons that drop a large share of the pairs, each with the option that governs it."""
    pairs = drops["pairs"]
    return [
        f"{_of(drops[reason], pairs, 'pairs')} are left out because of one rule: {REASONS[reason]}. {advice}."
        for reason, advice in FLAGS.items()
        if drops.get(reason, 0) > MANY * pairs
    ]


def most_common_advice(drops: Mapping[str, int]) -> str:
    """`": ADVICE"` for the reason of most drops; empty where that has no option."""
    reason = max(REASONS, key=lambda reason: drops.get(reason, 0))
    return f": {FLAGS[reason]}" if reason in FLAGS else ""


def _of(n: int, total: int, what: str) -> str:
    return f"{n:,} of {total:,} {what} ({n / total:.0%})"
