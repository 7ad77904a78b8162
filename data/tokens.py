"""Words of a sentence and back: Penn Treebank tokens by NLTK, which needs no model and no download.

Everything in the project that counts or compares tokens goes through `tokenize`, and everything a person reads that was
made from tokens goes through `detokenize`. The vocabulary does the lower-casing.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

SENTENCE_ENDS = frozenset({".", "?", "!"})
"""The tokens that end a sentence; unlike bos and eos, they are targets of the language models."""

_BLANKS = re.compile(r"\s+")
_SIGNS = re.compile(r"[<>=*\\^_|~@{}]|://|&&|(?<=\S\s)--(?=[A-Za-z])|\b[A-Za-z][(\[#]|\(\)")
"""Among them options (`git --help`), functions and entries of one letter, and calls: `f(x)`, `main()`."""
_POINT = re.compile(r"\s+\.(?![0-9])")
"""A full stop, not the point of `.22`."""
_CLOSING = re.compile(r"\s+([,?!;:%)\]}”»])")
_SHORTENED = re.compile(r"(?:[0-9]{2}s?|round|cause)$", re.IGNORECASE)
_NO_WORD = re.compile("(?:til|em|bout|cuz|tis|twas)$", re.IGNORECASE)
"""What stands behind an apostrophe for letters that are left out: `'90s`, `'til`; the second, even after a plural."""
_WIDE = re.compile("[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff00-\uff60]{2}")
"""Two characters of scripts that part neither words nor sentences by blanks."""
_OPENING = re.compile(r"([(\[{$#@“„‘«])\s+")
_INITIALS = re.compile(r"\b([A-Za-z]) & (?=[A-Za-z]\b)")
_GLUED = re.compile(r"\s+(n't|'(?:s|m|d|re|ve|ll)\b)", re.IGNORECASE)
_CLITIC = re.compile(r"\s(?<!\s\s)\s*(n['’]t|['’](?:s|m|d|re|ve|ll))(?!\w)", re.IGNORECASE)
_TYPESET_APOSTROPHE = re.compile(r"\s+’(?:\s+(?=(?:s|t|m|d|re|ve|ll)\b))?", re.IGNORECASE)
_ONE_WORD = re.compile(r"\b(?:(can) (not)|(gim|lem) (me)|(gon|wan) (na)|(got) (ta))\b", re.IGNORECASE)
"""Words that NLTK splits, as the Penn Treebank does."""
_SIMPLE = re.compile(r"[A-Za-z0-9 ,.?!;:-]*")
"""Joined tokens without quotes, brackets or signs, of which only marks lose a blank; most captions."""
_BEFORE_QUOTES = frozenset(
    {"says", "reads", "asks", "yells", "shouts", "spells", "words", "is", "was", "as", "this", "does"}
)
"""Words in -s before which `'` opens a quotation rather than follows a plural."""

_WORD = r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?:'(?:[smdSMD]|re|ve|ll|RE|VE|LL)|(?<=n)'t|(?<=N)'T)?"
_PLAIN = re.compile(rf"(?!.*(?i:cannot|gimme|gonna|gotta|lemme|wanna))(?:{_WORD}(?:, | - | ))*{_WORD}[.?!]?")
"""Texts that `_PIECE` can tokenise: most captions. NLTK gives the same tokens in ten times the time."""
_PIECE = re.compile(r"[A-Za-z0-9-]+?(?=n't|N'T)|n't|N'T|'[A-Za-z]+|[A-Za-z0-9-]+|[,.?!]")


@lru_cache(maxsize=1)
def _tokenizer():  # type: ignore[no-untyped-def]
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()


def normalise_blanks(text: str) -> str:
    """`text` with every run of white space made one blank and none at the ends."""
    return _BLANKS.sub(" ", text).strip()


def has_signs(text: str) -> bool:
    """Whether `text` has signs of code, formulas or addresses, whose blanks, dashes and quotes are a part of them."""
    return _SIGNS.search(text) is not None


def token_spans(text: str) -> list[tuple[int, int]]:
    """Character spans `(begin, end)` of the tokens of one sentence, in order."""
    if _PLAIN.fullmatch(text):
        return [found.span() for found in _PIECE.finditer(text)]
    return list(_tokenizer().span_tokenize(text)) if text else []


def tokenize(text: str) -> list[str]:
    """The tokens of one sentence as they stand in it: `"She can't."` gives `She ca n't .`"""
    if _PLAIN.fullmatch(text):
        return _PIECE.findall(text)
    return [text[begin:end] for begin, end in token_spans(text)]


def detokenize(tokens: Sequence[str]) -> str:
    """The sentence as a person would write it: no blank before punctuation, clitics attached, no blanks inside quotes.

    The inverse of `tokenize` on ordinary English; where two spellings share their tokens, the usual one.
    """
    text = " ".join(tokens)
    return _detokenize_simple(text) if _SIMPLE.fullmatch(text) else _detokenize_any(tokens)


def _detokenize_simple(text: str) -> str:
    """What `_detokenize_any` gives for tokens that make such a text, sooner."""
    text = " ".join(text.split())
    for mark in ",?!;:":
        text = text.replace(f" {mark}", mark)
    return _one_word(_POINT.sub(".", text))


def _detokenize_any(tokens: Sequence[str]) -> str:
    text = normalise_blanks(" ".join(_hug_single_quotes(tokens)))
    text = _GLUED.sub(r"\1", text)
    text = _POINT.sub(".", _CLOSING.sub(r"\1", text))
    text = _TYPESET_APOSTROPHE.sub("’", text)
    text = _OPENING.sub(r"\1", text)
    text = _INITIALS.sub(r"\1&", text)
    return normalise_blanks(_hug_quotes(_one_word(text)))


def _one_word(text: str) -> str:
    return _ONE_WORD.sub(lambda found: found[0].replace(" ", ""), text)


def one_after_another(*texts: str) -> str:
    """The texts that are not empty with a blank between them, but none between two characters of Chinese or Japanese,
    their marks among these."""
    joined = ""
    for text in filter(None, texts):
        blank = "" if not joined or _WIDE.fullmatch(joined[-1] + text[0]) else " "
        joined = f"{joined}{blank}{text}"
    return joined


def attach_clitics(text: str) -> str:
    """`text` with every clitic that stands by itself at the word before it: `ca n't` is `can't`."""
    return _CLITIC.sub(r"\1", text)


def capitalise(sentence: str) -> str:
    """`sentence` with its first letter upper case and the rest as it is; a first word with a capital inside it, such as
    iPhone or eBay, is written as its owners do."""
    first = sentence.partition(" ")[0]
    upper = sentence[:1].upper()
    return sentence if first != first.lower() or len(upper) != 1 else upper + sentence[1:]


def _hug_single_quotes(tokens: Sequence[str]) -> list[str]:
    """The tokens, each single `'` attached to its neighbour: one that closes a quotation, or a plural's, to the word
    before, one that opens to the word after. It opens when a later one can close it, or where letters are left out,
    unless the word before is a plural."""
    lone = [i for i, token in enumerate(tokens) if token == "'"]
    out: list[str] = []
    opened = False
    for i, token in enumerate(tokens):
        if out and out[-1] == "'":
            out[-1] += token
        elif token != "'" or not out:
            opened = opened or token == "'"
            out.append(token)
        elif not opened and _is_shortened(out[-1], tokens[i + 1 : i + 3]):
            out.append(token)
        elif not opened and lone[-1] > i and (not out[-1].endswith("s") or out[-1].lower() in _BEFORE_QUOTES):
            opened = True
            out.append(token)
        else:
            opened = False
            out[-1] += token
    return out


def _is_shortened(before: str, after: Sequence[str]) -> bool:
    """Whether letters are left out between a word and the next, the first of `after`, which no quote closes."""
    if not after or after[1:] == ["'"]:
        return False
    return bool(_NO_WORD.match(after[0]) or (_SHORTENED.match(after[0]) and not before.endswith("s")))


def _hug_quotes(text: str) -> str:
    """Attach the first of every two straight quotes to what follows it, the second to what comes before.

    One without a partner closes when no word follows it, or when it means inches.
    """
    parts = re.split(r'\s*(?:``|\'\'|")\s*', text)
    out = parts[0]
    for i, part in enumerate(parts[1:], start=1):
        alone = i % 2 == 1 and i == len(parts) - 1
        closes = bool(out) and (out[-1].isdigit() or not any(map(str.isalnum, part))) if alone else i % 2 == 0
        if not closes:
            out = (out + " " if out else "") + '"' + part
        else:
            glue = "" if not part or part[0] in ".,?!;:)" else " "
            out = out + '"' + glue + part
    return out
