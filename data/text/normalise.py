"""One surface form for all endings, so that they differ in their words only.

For pools of your own texts, whose candidates come from several sources. Letter case is decided by the vocabulary, which
shows each word in one spelling; here the case of a first word, and of a text in capitals or in title case, is undone,
so that it does not count as a spelling. Sentences and starts stay as they are: they are the same for all candidates of
a row.
"""

import html
import re

from swag_af.data.text.scripts import END_MARKS, composed, full_stop_after
from swag_af.data.text.surface import final_mark, is_unseen
from swag_af.data.text.wording import compatible
from swag_af.data.tokens import detokenize, has_signs, normalise_blanks, tokenize

_PLAIN_FORMS = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛ʼ′‹›´`", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒−", "-"),
        **dict.fromkeys("–—―", "--"),
    }
)
"""Quotes and dashes replaced by those of a keyboard."""
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_BRACKET = re.compile("|".join(_BRACKETS), re.IGNORECASE)
_DOUBLED_QUOTE = re.compile("``|''")
_DASH = re.compile(r"(?:(?<!\s)\s+)?--+\s*|(?<!\s)\s+-+\s+")
"""A dash between clauses; hyphens within words stay."""
_SINGLE_QUOTED = re.compile(r"(?<![\w'])'(?![nN]')(?=[^\s'])([^']*(?<=[^\s'])(?:'(?=\w)[^']*)*)(?<=[^\s'])'(?![\w'])")
"""A quotation; the `'n'` of rock 'n' roll is none."""
_REFERENCE = re.compile(r"&#?\w+;")
_LOOSE_END = re.compile(r"(?<![\s.,;:，、；：-])[\s.,;:，、；：-]+$")
_AM = {"\u0e4d\u0e32": "\u0e33", "\u0ecd\u0eb2": "\u0eb3"}
"""Vowels of Thai and Lao that NFKC takes apart, as nobody writes them."""
_NARROW = re.compile("(?<=[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff」』]) ?[,!?;:]")
_WIDE = str.maketrans(",!?;:", "，！？；：", " ")
"""Marks behind kana and Han, which NFKC makes narrow."""
_BESIDE_WIDE = re.compile(" (?=[，！？；：。、])|(?<=[，！？；：。、]) ")
_FIRST_WORD = re.compile(r"\W*(\w[\w\u0307]*(?:['.-]\w+)*)")  # U+0307: what lower-casing makes of a dotted capital I
_INSIDE_WORD = re.compile(r"(?<=\s)[^\W\d_]+")
_I = re.compile(r"i(?:'(?:m|d|ve|ll))?", re.IGNORECASE)


def normalise(text: str) -> str:
    """`text` in the common surface form; "" when it has no visible character.

    NFKC but for superscripts, subscripts and fractions, quotes and dashes of a keyboard, no character references, no
    invisible characters, single blanks, tokens joined to words again, a lower-case first letter (but for I, and for
    words with more capitals), and a full stop, of its own script, where no mark ends it: none in Thai and Lao. Marks
    behind Chinese and Japanese characters are wide. Texts that differ only in these become the same.

    A text that `has_signs` of code, formulas or addresses stays as it is written, in NFC, but for character references,
    invisible characters and runs of blanks: `x != y` is neither `x! = y` nor a sentence.
    """
    text = normalise_blanks(_without_unseen(_REFERENCE.sub(lambda found: html.unescape(found[0]), text)))
    text = composed(text)
    if has_signs(text):
        return text
    text = _with_plain_characters(text)
    text = _BRACKET.sub(lambda found: _BRACKETS[found[0].upper()], text)
    text = detokenize(tokenize(_without_shouting(normalise_blanks(text))))
    text = _SINGLE_QUOTED.sub(r'"\1"', text)  # those whose blanks stood on the other side
    text = text if text.isascii() else _BESIDE_WIDE.sub("", text)
    return _with_mark(_with_lower_first(text))


def _without_unseen(text: str) -> str:
    return text if text.isascii() and text.isprintable() else "".join(c for c in text if not is_unseen(c))


def _with_plain_characters(text: str) -> str:
    text = _DOUBLED_QUOTE.sub('"', text).translate(_PLAIN_FORMS)
    if not (text.isascii() and text.isprintable()):
        text = compatible(text).translate(_PLAIN_FORMS)
        for apart, together in _AM.items():
            text = text.replace(apart, together)
        text = _NARROW.sub(lambda found: found[0].translate(_WIDE), text)
    return _SINGLE_QUOTED.sub(r'"\1"', _DASH.sub(" - ", text))


def _without_shouting(text: str) -> str:
    """`text` lower-cased where three quarters of its words, except the first, are capitalised: names cannot be
    recognised there."""
    words = _INSIDE_WORD.findall(text)
    shouts = len(words) >= 3 and 4 * sum(word[0].isupper() for word in words) >= 3 * len(words)
    return text.lower() if shouts else text


def _with_lower_first(text: str) -> str:
    found = _FIRST_WORD.match(text)
    if not found:
        return text
    word, begin = found[1], found.start(1)
    if _I.fullmatch(word):
        return text[:begin] + word.capitalize() + text[found.end(1) :]
    if any(map(str.isupper, word[1:])):
        return text
    return text[:begin] + word.lower() + text[found.end(1) :]


def _with_mark(text: str) -> str:
    """`text` with a full stop for whatever dots, commas, colons and dashes end it, unless a sentence ends there.

    A `.` that stands there stays in scripts whose writers use it beside their own mark, as those of Marathi do.
    """
    bare = _LOOSE_END.sub("", text)
    if not bare or (last := final_mark(bare)) in END_MARKS:
        return bare or text
    stop = full_stop_after(last)
    return bare + ("." if "." in text[len(bare) :] and stop not in ("", "。") else stop)
