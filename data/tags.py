"""Universal part-of-speech tags (UD), taggers by name, and the tags of word types. No tagger lives here."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from swag_af.data.registry import Registry

TAGS: tuple[str, ...] = (
    "_", "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT",
    "SCONJ", "SYM", "VERB", "X",
)  # fmt: skip
"""UPOS tags; the index is the integer code. Code 0, `_`, is no tag: padding and tokens that are not words."""


CODES: dict[str, int] = {tag: code for code, tag in enumerate(TAGS)}
"""The code of each tag."""


class Tagger(Protocol):
    """Something that gives every token of a sentence a tag of `TAGS`."""

    name: str
    """Recorded in the pool's manifest."""

    @property
    def sha256(self) -> str:
        """A hash of what decides the tags; recorded when a pool is tagged in context."""
        ...

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Tags parallel to the tokens of `sentences`, which come in their original case."""
        ...


TAGGERS = Registry(
    "tagger",
    {
        "auto": "swag_af.data.syntax.taggers:best_tagger",
        "rules": "swag_af.data.syntax.taggers:RulesTagger",
        "spacy": "swag_af.data.syntax.taggers:SpacyTagger",
    },
    {"spacy": "PIPELINE"},
)


def load_tagger(name: str = "auto") -> Tagger:
    """The tagger called `name`: `rules`, `spacy`, `spacy[PIPELINE]` (a package or a folder) or `auto`.

    `auto` is spaCy when it and its small English pipeline are installed, and the rules otherwise.
    """
    tagger: Tagger = TAGGERS.make(name)
    return tagger


def tag_word_types(words: Sequence[str], tagger: Tagger) -> np.ndarray:
    """One code of `TAGS` per word, tagged out of context in the spelling that it has inside sentences: `(V,)` uint8.

    Where a tagger lists in `alone` which tag a word has most often, that one is used.
    """
    alone: Mapping[str, str] = getattr(tagger, "alone", {})
    tagged = tagger.tag(
        [[word] if word == word.lower() else [",", word] for word in words]
    )  # not the first word of a sentence
    return np.array(
        [CODES[alone.get(word.lower(), tags[-1])] for word, tags in zip(words, tagged, strict=True)], dtype=np.uint8
    )  # (V,)
