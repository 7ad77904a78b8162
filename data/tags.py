"""Universal part-of-speech tags (UD), taggers by name, and the tags of word types. No tagger lives here."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from swag_af.data.errors import ContractError, several, told
from swag_af.data.plugins.own_code import blaming, is_own
from swag_af.data.plugins.registry import Registry

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


_NEEDS = "A tagger has a name, a sha256, and tag(sentences), which gives each token one of swag_af.data.tags.TAGS."
TAGGERS = Registry(
    "tagger",
    {
        "auto": "swag_af.data.syntax.taggers:best_tagger",
        "rules": "swag_af.data.syntax.taggers:RulesTagger",
        "spacy": "swag_af.data.syntax.taggers:SpacyTagger",
    },
    {"spacy": "PIPELINE"},
    methods=("tag",),
    needs=_NEEDS,
)


def load_tagger(name: str = "auto") -> Tagger:
    """The tagger called `name`: `rules`, `spacy`, `spacy[PIPELINE]` (a package or a folder) or `auto`.

    `auto` is spaCy when it and its small English pipeline are installed, and the rules otherwise.
    """
    tagger: Tagger = TAGGERS.make(name)
    alone = getattr(tagger, "alone", {}) if is_own(tagger) else {}  # that of the rules is read when it is used
    if not isinstance(alone, Mapping) or not all(map(_is_tag, alone.values())):
        raise ContractError(
            f"tagger {name}: a {type(tagger).__name__} has an `alone` {told(alone)}, where a tag of TAGS by word is "
            f"due. {_NEEDS}"
        )
    return tagger


def _is_tag(value: object) -> bool:
    return isinstance(value, str) and value in CODES


def tags_of(tagger: Tagger, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """`tagger.tag(sentences)`; ContractError, which names it, where somebody's own raises, or gives anything but a tag
    of `TAGS` for each token."""
    with blaming(tagger, "tag", _NEEDS):
        tagged = tagger.tag(sentences)
    if not isinstance(tagged, list) or len(tagged) != len(sentences):
        what = f"{len(tagged):,}" if isinstance(tagged, list) else told(tagged)
        raise ContractError(f"tagger {tagger.name}: gave {what} for {len(sentences):,} sentences. {_NEEDS}")
    for words, tags in zip(sentences, tagged, strict=True):
        if not isinstance(tags, list | tuple) or len(tags) != len(words):
            what = f"gave {told(list(tags) if isinstance(tags, tuple) else tags)} for {told(list(words))}"
            raise ContractError(f"tagger {tagger.name}: {what}, which has {several(len(words), 'token')}. {_NEEDS}")
        if strange := [tag for tag in tags if not _is_tag(tag)]:
            raise ContractError(f"tagger {tagger.name}: gave {told(strange[0])}, which is none of TAGS. {_NEEDS}")
    return tagged


def tag_word_types(words: Sequence[str], tagger: Tagger) -> np.ndarray:
    """One code of `TAGS` per word, tagged out of context in the spelling that it has inside sentences: `(V,)` uint8.

    Where a tagger lists in `alone` which tag a word has most often, that one is used.
    """
    alone: Mapping[str, str] = getattr(tagger, "alone", {})
    tagged = tags_of(
        tagger, [[word] if word == word.lower() else [",", word] for word in words]
    )  # not the first word of a sentence
    return np.array(
        [CODES[alone.get(word.lower(), tags[-1])] for word, tags in zip(words, tagged, strict=True)], dtype=np.uint8
    )  # (V,)
