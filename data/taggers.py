"""Taggers by name: universal part-of-speech (UD) tags for sentences and for word types.

The default, `rules`, needs no download: a word list and rules over the neighbours, both in `english`. spaCy
is an option, imported when asked for. Splitting sentences happens elsewhere.
"""

import difflib
import importlib
import importlib.util
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from swag_af.data.english import penn_tags, universal_tags
from swag_af.data.errors import InputError

TAGS: tuple[str, ...] = (
    "_", "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT",
    "SCONJ", "SYM", "VERB", "X",
)  # fmt: skip
"""UPOS tags; the index is the integer code. Code 0, `_`, is no tag: padding and tokens that are not words."""


class Tagger(Protocol):
    """Something that gives every token of a sentence a tag of `TAGS`."""

    name: str
    """Recorded in the pool's manifest."""

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Tags parallel to the tokens of `sentences`, which come in their original case."""
        ...


_TAGGERS = {"rules": "swag_af.data.taggers:RulesTagger", "spacy": "swag_af.data.taggers:SpacyTagger"}
_SPACY_PIPELINE = "en_core_web_sm"


def load_tagger(name: str = "auto") -> Tagger:
    """The tagger called `name`: `rules`, `spacy`, `spacy:PIPELINE` (a package or a folder) or `auto`.

    `auto` is spaCy when it and its small English pipeline are installed, and the rules otherwise.
    """
    if name == "auto":
        name = "spacy" if _has_spacy_pipeline() else "rules"
    tagger: Tagger = load_by_name("tagger", name, _TAGGERS, ["auto"])
    return tagger


def tag_word_types(words: Sequence[str], tagger: Tagger) -> np.ndarray:
    """One code of `TAGS` per word, each lower-cased and tagged alone: `(V,)` uint8."""
    tags = tagger.tag([[word.lower()] for word in words])
    codes = {tag: code for code, tag in enumerate(TAGS)}
    return np.array([codes[sentence[0]] for sentence in tags], dtype=np.uint8)  # (V,)


def load_by_name(what: str, name: str, table: dict[str, str], more: Sequence[str] = ()) -> Any:
    """An object of the class that `table` (name -> `module:Class`) names; `spacy:PIPELINE` is passed on.

    InputError with near matches and the list when `table` has no such name; `more` names join that list.
    """
    key, _, pipeline = name.partition(":")
    if key not in table or (pipeline and key != "spacy"):
        known = [*more, *table, "spacy:PIPELINE"]
        near = difflib.get_close_matches(name, known, n=2)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise InputError(f"{name}: no such {what}.{hint} Known: {', '.join(known)}.")
    module, _, attribute = table[key].partition(":")
    made = getattr(importlib.import_module(module), attribute)
    return made(pipeline) if pipeline else made()


class RulesTagger:
    """Tags by `swag_af.data.english`."""

    name = "rules"

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        return [universal_tags(tokens, penn_tags(tokens)) for tokens in sentences]


class SpacyTagger:
    """The UPOS tags of a spaCy pipeline."""

    def __init__(self, pipeline: str = _SPACY_PIPELINE) -> None:
        self.name = f"spacy:{pipeline}"
        self._nlp = load_spacy(pipeline)

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        return [[token.pos_ or "X" for token in doc] for doc in parse_tokens(self._nlp, sentences)]


def _has_spacy_pipeline() -> bool:
    return all(importlib.util.find_spec(module) is not None for module in ("spacy", _SPACY_PIPELINE))


@lru_cache(maxsize=2)
def load_spacy(pipeline: str = _SPACY_PIPELINE) -> Any:
    """A spaCy pipeline by package name or folder, without its entity recogniser."""
    try:
        import spacy
    except ImportError as error:
        raise InputError("spacy is not installed. Install it with: pip install 'swag-af[spacy]'") from error
    try:
        return spacy.load(pipeline, exclude=["ner"])
    except OSError as error:
        install = f"Install it with: python -m spacy download {pipeline}"
        raise InputError(f"{pipeline}: no such spaCy pipeline. {install}") from error


def parse_tokens(nlp: Any, sentences: Sequence[Sequence[str]]) -> list[Any]:
    """The sentences as spaCy documents, token for token as given."""
    from spacy.tokens import Doc

    return list(nlp.pipe([Doc(nlp.vocab, words=list(tokens)) for tokens in sentences]))
