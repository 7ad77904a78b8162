"""Taggers by name: universal part-of-speech (UD) tags for sentences and for word types.

The default, `rules`, needs no download: word lists and rules over the neighbours, in `english` and its like. spaCy
is an option, imported when asked for. Splitting sentences happens elsewhere.
"""

import difflib
import importlib
import importlib.metadata
import importlib.util
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from swag_af.data import english
from swag_af.data.english import penn_tags
from swag_af.data.english_universal import universal_tags
from swag_af.data.english_words import COMMONEST_TAGS
from swag_af.data.errors import InputError
from swag_af.data.files import sha256_file, sha256_json

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
        """Differs where tags may differ; recorded when a pool is tagged in context."""
        ...

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Tags parallel to the tokens of `sentences`, which come in their original case."""
        ...


_TAGGERS = {
    "auto": "swag_af.data.taggers:best_tagger",
    "rules": "swag_af.data.taggers:RulesTagger",
    "spacy": "swag_af.data.taggers:SpacyTagger",
}
_SPACY_PIPELINE = "en_core_web_sm"


def load_tagger(name: str = "auto") -> Tagger:
    """The tagger called `name`: `rules`, `spacy`, `spacy:PIPELINE` (a package or a folder) or `auto`.

    `auto` is spaCy when it and its small English pipeline are installed, and the rules otherwise.
    """
    tagger: Tagger = load_by_name("tagger", name, _TAGGERS, {"spacy": "PIPELINE"})
    return tagger


def best_tagger() -> Tagger:
    """spaCy where it and its small English pipeline are installed, and the rules elsewhere."""
    return SpacyTagger() if has_spacy_pipeline() else RulesTagger()


def tag_word_types(words: Sequence[str], tagger: Tagger) -> np.ndarray:
    """One code of `TAGS` per word, tagged out of context in the spelling that it has inside sentences: `(V,)` uint8.

    Where a tagger says in `alone` which tag a word has most often, it has that one.
    """
    alone: Mapping[str, str] = getattr(tagger, "alone", {})
    tagged = tagger.tag([[word] if word == word.lower() else [",", word] for word in words])  # no sentence's first word
    return np.array(
        [CODES[alone.get(word.lower(), tags[-1])] for word, tags in zip(words, tagged, strict=True)], dtype=np.uint8
    )  # (V,)


def load_by_name(what: str, name: str, table: dict[str, str], takes: Mapping[str, str]) -> Any:
    """An object of the class that `table` (name -> `module:Class`) names, made with what follows a colon.

    `takes` says what may follow which name. InputError with near matches and the list when `table` has no such name.
    """
    key, _, argument = name.partition(":")
    if key not in table or (argument and key not in takes):
        known = [*table, *(f"{one}:{word}" for one, word in takes.items())]
        near = difflib.get_close_matches(name, known, n=2)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise InputError(f"{name}: no such {what}.{hint} Known: {', '.join(known)}.")
    module, _, attribute = table[key].partition(":")
    made = getattr(importlib.import_module(module), attribute)
    return made(argument) if argument else made()


class RulesTagger:
    """Tags by `swag_af.data.english` and `english_universal`."""

    name = "rules"
    alone = COMMONEST_TAGS

    @property
    def sha256(self) -> str:
        """Hex SHA-256 of the rules and of whose lexicon they read: another release may tag otherwise."""
        files = sorted(Path(english.__file__).parent.glob("english*.py"))
        return sha256_json([*map(sha256_file, files), importlib.metadata.version("textblob")])

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        return [universal_tags(tokens, penn_tags(tokens)) for tokens in sentences]


class SpacyTagger:
    """The UPOS tags of a spaCy pipeline."""

    def __init__(self, pipeline: str = _SPACY_PIPELINE) -> None:
        self.name = f"spacy:{pipeline}"
        self._nlp = load_spacy(pipeline)

    @property
    def sha256(self) -> str:
        """Hex SHA-256 of the pipeline's files: what stands at a path may be trained anew."""
        files = sorted(path for path in Path(self._nlp.path).rglob("*") if path.is_file())
        return sha256_json([[str(path.relative_to(self._nlp.path)), sha256_file(path)] for path in files])

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        docs = parse_tokens(self._nlp, sentences, disable=_unneeded_for_tags(self._nlp))
        return [[token.pos_ if token.pos_ in CODES else "X" for token in doc] for doc in docs]


def _unneeded_for_tags(nlp: Any) -> list[str]:
    """Components that take time and set no tags: a parser, unless rules on attributes may look at what it says."""
    return ["parser"] if "parser" in nlp.pipe_names and "attribute_ruler" not in nlp.pipe_names else []


def has_spacy_pipeline() -> bool:
    """Whether spaCy and its small English pipeline are installed."""
    return all(importlib.util.find_spec(module) is not None for module in ("spacy", _SPACY_PIPELINE))


@lru_cache(maxsize=2)
def load_spacy(pipeline: str = _SPACY_PIPELINE) -> Any:
    """A spaCy pipeline by package name or folder, without its entity recogniser."""
    spacy = import_spacy()
    try:
        return spacy.load(pipeline, exclude=["ner"])
    except OSError as error:
        install = f"Install it with: python -m spacy download {pipeline}"
        advice = "Check the path." if Path(pipeline).exists() or os.sep in pipeline else install
        raise InputError(f"{pipeline}: no such spaCy pipeline. {advice}") from error
    except Exception as error:  # whatever a damaged pipeline, or one of another version, makes spaCy say
        said = " ".join(str(error).split())[:200]
        raise InputError(
            f"{pipeline}: spaCy cannot load this pipeline ({type(error).__name__}: {said}). Train it again, or with "
            "this version of spaCy."
        ) from error


def import_spacy() -> Any:
    """The package spacy; InputError that says how to install it where it is missing."""
    try:
        import spacy
    except ImportError as error:
        raise InputError("spacy is not installed. Install it with: pip install 'swag-af[spacy]'") from error
    return spacy


def parse_tokens(nlp: Any, sentences: Sequence[Sequence[str]], *, disable: Sequence[str] = ()) -> list[Any]:
    """The sentences as spaCy documents, token for token as given; the components `disable` do nothing."""
    from spacy.tokens import Doc

    return list(nlp.pipe([Doc(nlp.vocab, words=list(tokens)) for tokens in sentences], disable=list(disable)))
