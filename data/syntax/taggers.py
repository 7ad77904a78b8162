"""Taggers by name: universal part-of-speech (UD) tags for sentences and for word types.

The default, `rules`, needs no download: word lists and rules over the neighbours, in `english`. spaCy is an option,
imported when it is used. Splitting sentences happens elsewhere.
"""

import importlib
import importlib.metadata
import importlib.util
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from swag_af.data.disk.manifests import sha256_file, sha256_json, sha256_tree
from swag_af.data.disk.replacing import check_there
from swag_af.data.errors import InputError, in_one_line
from swag_af.data.extras import needing
from swag_af.data.syntax.english import rules as english
from swag_af.data.syntax.english.rules import penn_tags
from swag_af.data.syntax.english.universal import universal_tags
from swag_af.data.syntax.english.words import COMMONEST_TAGS
from swag_af.data.tags import CODES, Tagger

_SPACY_PIPELINE = "en_core_web_sm"


def best_tagger() -> Tagger:
    """spaCy where it and its small English pipeline are installed, and the rules elsewhere."""
    return SpacyTagger() if has_spacy_pipeline() else RulesTagger()


class RulesTagger:
    """Tags by `swag_af.data.syntax.english.rules` and `english.universal`."""

    name = "rules"
    alone = COMMONEST_TAGS

    @property
    def sha256(self) -> str:
        """Hex SHA-256 of the rules and of the release of the lexicon: another release may tag differently."""
        files = sorted(Path(english.__file__).parent.glob("*.py"))
        return sha256_json([*map(sha256_file, files), importlib.metadata.version("textblob")])

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        return [universal_tags(tokens, penn_tags(tokens)) for tokens in sentences]


class SpacyTagger:
    """The UPOS tags of a spaCy pipeline."""

    argument: ClassVar[str] = "pipeline"

    def __init__(self, pipeline: str = _SPACY_PIPELINE) -> None:
        self.name = f"spacy:{pipeline}"
        self._nlp = load_spacy(pipeline)
        check_annotates(self._nlp, pipeline, ("POS",), "Give one with a tagger, or tag with rules.")

    @property
    def sha256(self) -> str:
        """Hex SHA-256 of the pipeline's files: the one at a path may be trained again."""
        return sha256_tree(Path(self._nlp.path))

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        docs = parse_tokens(self._nlp, sentences, disable=_unneeded_for_tags(self._nlp))
        return [[token.pos_ if token.pos_ in CODES else "X" for token in doc] for doc in docs]


def _unneeded_for_tags(nlp: Any) -> list[str]:
    """Components that take time and set no tags: a parser, unless attribute rules may read its output."""
    return ["parser"] if "parser" in nlp.pipe_names and "attribute_ruler" not in nlp.pipe_names else []


def has_spacy_pipeline() -> bool:
    """Whether spaCy and its small English pipeline are installed."""
    return all(importlib.util.find_spec(module) is not None for module in ("spacy", _SPACY_PIPELINE))


@lru_cache(maxsize=2)
def load_spacy(pipeline: str = _SPACY_PIPELINE) -> Any:
    """A spaCy pipeline by package name or folder, without its entity recogniser."""
    spacy = import_spacy()
    if os.sep in pipeline:
        check_there(Path(pipeline), "no such spaCy pipeline. Check the path.")
    try:
        return spacy.load(pipeline, exclude=["ner"])
    except OSError as error:
        install = f"Install it with: python -m spacy download {pipeline}"
        advice = "Check the path." if Path(pipeline).exists() else install
        raise InputError(f"{pipeline}: no such spaCy pipeline. {advice}") from error
    except Exception as error:  # whatever error a damaged pipeline, or one of another version, causes in spaCy
        raise InputError(
            f"{pipeline}: spaCy cannot load this pipeline ({type(error).__name__}: {in_one_line(error)}). Train it "
            "again, or with this version of spaCy."
        ) from error


def import_spacy() -> Any:
    """The package spacy; InputError that says how to install it where it is missing."""
    with needing("spacy"):
        import spacy
    return spacy


def check_annotates(nlp: Any, pipeline: str, wanted: Sequence[str], advice: str) -> None:
    """Raise InputError, with `advice`, where a spaCy pipeline gives the words of a sentence no parts of speech (`POS`)
    or no dependencies (`DEP`), as far as these are `wanted`. Rules for single words may be of others than these."""
    (doc,) = parse_tokens(nlp, [["The", "man", "walks", "."]])
    has_rules = "attribute_ruler" in nlp.pipe_names
    lacking = [_CALLED[name] for name in wanted if not (doc.has_annotation(name) or (has_rules and name == "POS"))]
    if lacking:
        raise InputError(f"{pipeline}: this spaCy pipeline gives words no {' and no '.join(lacking)}. {advice}")


_CALLED = {"POS": "parts of speech", "DEP": "dependencies"}


def parse_tokens(nlp: Any, sentences: Sequence[Sequence[str]], *, disable: Sequence[str] = ()) -> list[Any]:
    """The sentences as spaCy documents, token for token as given; the components `disable` do nothing."""
    from spacy.tokens import Doc

    return list(nlp.pipe([Doc(nlp.vocab, words=list(tokens)) for tokens in sentences], disable=list(disable)))
