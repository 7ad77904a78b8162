"""Words of a sentence and back: Penn Treebank tokens by NLTK, which needs no model and no download.

Everything in the project that counts or compares tokens goes through `tokenize`, and everything a person
reads that was made from tokens goes through `detokenize`. Lower-casing belongs to the vocabulary, not here.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

SENTENCE_ENDS = frozenset({".", "?", "!"})
"""The tokens that end a sentence (SPEC: bos and eos are never targets, these are)."""

_BLANKS = re.compile(r"\s+")
_CLOSING = re.compile(r"\s+([.,?!;:%)\]}”»])")
_OPENING = re.compile(r"([(\[{$#“„‘«])\s+")
_PLURAL_POSSESSIVE = re.compile(r"(?<=s)\s+'(?=\s\w|[.,?!;:])")
_GLUED = re.compile(r"\s+(n't|'(?:s|m|d|re|ve|ll)\b)", re.IGNORECASE)
_TYPESET_APOSTROPHE = re.compile(r"\s+’(?:\s+(?=(?:s|t|m|d|re|ve|ll)\b))?", re.IGNORECASE)
_ONE_WORD = re.compile(r"\b(?:(can) (not)|(gim|lem) (me)|(gon|wan) (na)|(got) (ta))\b", re.IGNORECASE)
"""Words that NLTK takes apart, as the Penn Treebank does."""


@lru_cache(maxsize=1)
def _tokenizer():  # type: ignore[no-untyped-def]
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()


def normalise_blanks(text: str) -> str:
    """`text` with every run of white space made one blank and none at the ends."""
    return _BLANKS.sub(" ", text).strip()


def token_spans(text: str) -> list[tuple[int, int]]:
    """Character spans `(begin, end)` of the tokens of one sentence, in order."""
    return list(_tokenizer().span_tokenize(text)) if text else []


def tokenize(text: str) -> list[str]:
    """The tokens of one sentence as they stand in it: `"She can't."` gives `She ca n't .`"""
    return [text[begin:end] for begin, end in token_spans(text)]


def detokenize(tokens: Sequence[str]) -> str:
    """A sentence a person would write: no blank before punctuation, clitics whole, quotes hugging.

    The inverse of `tokenize` on ordinary English; where two spellings share their tokens, the usual one.
    """
    text = " ".join(tokens)
    text = _GLUED.sub(r"\1", text)
    text = _CLOSING.sub(r"\1", text)
    text = _PLURAL_POSSESSIVE.sub("'", text)
    text = _TYPESET_APOSTROPHE.sub("’", text)
    text = _OPENING.sub(r"\1", text)
    text = _ONE_WORD.sub(lambda found: found[0].replace(" ", ""), text)
    text = _hug_quotes(text)
    return normalise_blanks(text)


def capitalise(sentence: str) -> str:
    """`sentence` with its first letter upper case and the rest as it is."""
    return sentence[:1].upper() + sentence[1:]


def _hug_quotes(text: str) -> str:
    """Let the first of every two straight quotes hug what follows it, the second what comes before."""
    parts = re.split(r'\s*(?:``|\'\'|")\s*', text)
    out = parts[0]
    for i, part in enumerate(parts[1:]):
        opens = i % 2 == 0
        if opens:
            out = (out + " " if out else "") + '"' + part
        else:
            glue = "" if not part or part[0] in ".,?!;:)" else " "
            out = out + '"' + glue + part
    return out
