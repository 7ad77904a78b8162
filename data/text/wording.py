"""Keys of texts, equal for two texts when a reader would call them the same words.

Differences in Unicode normal form (NFKC, but for superscripts, subscripts and fractions), letter case, blanks, quote
marks and final full stops, of any script, do not count.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from hashlib import blake2b

from swag_af.data.text.scripts import FULL_STOPS, OF_A_WORD, OTHER_END, characters_apart, undotted
from swag_af.data.text.surface import is_unseen

_QUOTES = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "`": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "。": "."}
)


_TITLES = ("Mr", "Mrs", "Ms", "Dr", "St")
_MARK = "".join(rf"(?<!\b{title}[.?!])" for title in _TITLES) + r"(?<![.?!]{2})"
_BEHIND_TITLE = "|".join(rf"(?<=\b{title}[.?!]{{2}})" for title in _TITLES)
SENTENCE_END = re.compile(
    rf"""(?:[.?!](?:{_MARK}|{_BEHIND_TITLE})[.?!]*["')\]’”]*\s+|(?:.{OTHER_END})+["')\]’”」』）]*\s*)"""
)
"""What parts a sentence from the next; behind the marks of other scripts there need be no blank."""


_RAISED_CHARACTERS = (
    "\u00aa\u00b2-\u00b3\u00b9-\u00ba\u00bc-\u00be\u02b0-\u02b8\u02e0-\u02e4\u10fc\u1d2c-\u1d2e"
    "\u1d30-\u1d3a\u1d3c-\u1d4d\u1d4f-\u1d6a\u1d78\u1d9b-\u1dbf\u2070-\u2071\u2074-\u208e\u2090-\u209c"
    "\u2120\u2122\u2150-\u215f\u2189\u2c7c-\u2c7d\u2d6f\u3192-\u319f\ua69c-\ua69d\ua770\ua7f2-\ua7f4"
    "\ua7f8-\ua7f9\uab5c-\uab5f\uab69\U00010781-\U00010785\U00010787-\U000107b0\U000107b2-\U000107ba"
    "\U0001f16a-\U0001f16c"
)
"""Superscripts, subscripts and fractions, for a class of a pattern: what Unicode takes apart as such."""
_RAISED = re.compile(f"([{_RAISED_CHARACTERS}]+)")


def compatible(text: str) -> str:
    """`text` in NFKC, with superscripts, subscripts and fractions as they are: 10⁵ is not 105, nor 1½ 11⁄2."""
    if not _RAISED.search(text):
        return unicodedata.normalize("NFKC", text)
    parts = _RAISED.split(text)  # those at odd places are raised
    return "".join(part if i % 2 else unicodedata.normalize("NFKC", part) for i, part in enumerate(parts))


_BETWEEN_DIGITS = re.compile(r"\d\s+\d")
_BESIDE_OTHERS = re.compile(r"(?<!\d) | (?!\d)")
"""A blank that does not stand between digits."""


def comparable(text: str) -> str:
    """A form that is equal for two texts when a reader would call them the same; empty for a text without a visible
    character.

    All blanks but those between digits are removed, so "can not" and "cannot", "do n't" and "don't", "down ." and
    "down." are the same, and "1 1/2" is not "11/2".
    """
    if not text.isascii():
        text = _seen(fold(text, compatible).translate(_QUOTES))
    key = _without_blanks(text.casefold().replace("`", "'").replace("''", '"'))
    return key.rstrip(FULL_STOPS) or key


def _seen(text: str) -> str:
    """`text` without soft hyphens, zero-width blanks, selectors of emoji and the like."""
    return text if text.isascii() else "".join(c for c in text if not is_unseen(c))


def _without_blanks(text: str) -> str:
    """`text` without blanks, but for one between digits."""
    parts = text.split()
    return _BESIDE_OTHERS.sub("", " ".join(parts)) if _BETWEEN_DIGITS.search(text) else "".join(parts)


def by_value(key: str) -> str:
    """`key`, a form by which texts are compared; of a number what it is worth: `12` for 12.0 and 012, `100000` for 1e5.

    Exact, whatever the digits; a number with a comma, such as 1,000, and words such as inf stay as they are.
    """
    if not key[-1:].isdecimal():
        return key
    try:
        number = Decimal(key.translate(_MINUS))
    except InvalidOperation:
        return key
    if not number.is_finite():
        return key
    exact = Context(prec=len(key), Emax=MAX_EMAX, Emin=MIN_EMIN)
    return str(exact.plus(exact.normalize(number)))


def text_key(text: str) -> int:
    """A signed 64-bit hash of the letters and digits of `text`; 0 when it has none.

    Coarser than `comparable`: punctuation does not count, so a text that was typed again elsewhere has the same key.
    """
    return key_of(comparable(text))


def key_of(compared: str) -> int:
    """The `text_key` of the texts that have this `comparable` form."""
    letters = filter(str.isalnum, compared) if compared.isascii() else filter(_is_of_a_word, compared)
    plain = "".join(letters) or compared
    return _hashed(plain) if plain else 0


def _hashed(plain: str) -> int:
    hashed = blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(hashed.digest(), "little", signed=True)


def option_key(text: str) -> int:
    """A signed 64-bit hash of the `marked_words` of `text`, for options and candidates; 0 when it has none.

    Of texts with a letter or a digit it is finer than `text_key`, for an answer may be a sign and little else: x > y is
    not x < y, nor -3 is 3, nor 1/2 is 12; 10⁵ is not 105 for either. Punctuation and blanks do not count here, either.
    """
    words = _marked(_folded(_seen(compatible(text)), compatible))
    return _hashed(_without_blanks(" ".join(words))) if words else text_key(text)


def _is_of_a_word(c: str) -> bool:
    """Whether it is a letter, a digit, or a mark on one, as the vowels of Hindi and the tones of Thai are."""
    return c.isalnum() or unicodedata.category(c)[0] == "M"


def is_readable(text: str) -> bool:
    """Whether `text` holds no half character (U+FFFD, where a byte of one was lost, or an unpaired surrogate) and no
    control character but blanks."""
    if text.isprintable():
        return "\ufffd" not in text
    return not any(c == "\ufffd" or (unicodedata.category(c) in ("Cc", "Cs") and not c.isspace()) for c in text)


def words(text: str) -> list[str]:
    """The words of `text` in the order in which they stand, in lower case and NFKC, without punctuation.

    For texts of any language that are compared, where `tokenize` is for English that is read or counted: a sign such
    as + or % is a word, and so is each character of scripts without blanks.
    """
    return _WORD.findall(_folded(text))


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _folded(text: str, form: Callable[[str], str] = _nfkc) -> str:
    """`text` in lower case and a normal `form`, characters of scripts without blanks apart."""
    if not text.isascii():
        text = characters_apart(fold(text, form).translate(_QUOTES))
    return text.casefold()


def fold(text: str, form: Callable[[str], str] = _nfkc) -> str:
    """`text` in lower case and a normal `form`, the Turkish `İ` an i without a second dot."""
    return undotted(form(form(text).casefold()))


def marked_words(text: str) -> list[str]:
    """The `words` of `text`, numbers with their minus, decimals and thousands (-3, 0.5, 10,000) and names with the
    marks glued to them (C++, C#, .NET): what means something else without the mark."""
    return _marked(_folded(text))


def _marked(folded: str) -> list[str]:
    return [word.translate(_MINUS) for word in _MARKED_WORD.findall(folded)]


def words_of(texts: Sequence[str]) -> list[str]:
    """The words of all texts one after another, `END` behind those of each: as `words` has them, in less time."""
    joined = "\0".join([*(text if _is_plain(text) else "" for text in texts), ""])
    for sign in _SIGNS:
        if sign in joined:
            joined = joined.replace(sign, f" {sign} ")
    joined = joined.translate(_WITHOUT_MARKS)
    if not all(map(_is_plain, texts)):
        parts = zip(texts, joined.split("\0"), strict=False)
        joined = "".join(f"{part if _is_plain(text) else ' '.join(words(text))} {END} " for text, part in parts)
    else:
        joined = joined.replace("\0", f" {END} ")
    return joined.split()


def _is_plain(text: str) -> bool:
    return text.isascii() and "\0" not in text


def sentence_keys(text: str) -> list[int]:
    """The keys of a text and, where it has several sentences, of each with three words or more; none twice."""
    parts = [part for part in SENTENCE_END.split(text) if len(characters_apart(part).split()) >= _MIN_WORDS]
    return [key for key in dict.fromkeys(map(text_key, [text, *parts])) if key]


def last_sentence(text: str) -> str:
    """The last sentence of `text`: what stands behind the last end of one that no small letter follows, as in `the U.S.
    enters`, nor a number, as in `3.5`."""
    return re.split(rf"{SENTENCE_END.pattern}(?=[^a-z\s])", text.strip())[-1]


def open_end(text: str) -> str:
    """What follows the last full sentence of `text`: the beginning of another, or nothing."""
    return SENTENCE_END.split(text.rstrip() + " ")[-1].strip()


_WORD = re.compile(rf"""[{OF_A_WORD}]+|[^{OF_A_WORD}\s.,;:!?'"`()\[\]…–—-]""")
_MINUS = str.maketrans(dict.fromkeys("−–", "-"))
_BEGINS = r"""(?<![^\s(\[{"'=<>≤≥≈~,;:*/+×÷^|$€£])"""
"""Where a mark may begin a word: not in 5-3, (a)-3, 5%-10% and --3."""
_MARKED_WORD = re.compile(
    rf"(?:{_BEGINS}(?:[±−–-]\.?(?=\d)|\.(?=\w)))?(?:\d+\.(?=\d)|\d{{1,3}},(?=\d{{3}}(?!\d)))*"
    rf"[{OF_A_WORD}]+(?:[+#]+(?![{OF_A_WORD}+#]))?|{_WORD.pattern}"
)
END = "\0\0"
"""What stands behind the words of each text: no word, since a word of signs has one alone."""
_ASCII = [chr(i) for i in range(128)]
_MARKS = [c for c in _ASCII if not _WORD.fullmatch(c) and not c.isspace()]
_SIGNS = [c for c in _ASCII if _WORD.fullmatch(c) and not re.fullmatch(r"\w", c) and c != "\0"]
"""Characters of ASCII that stand for nothing, and those that are a word each."""
_WITHOUT_MARKS = str.maketrans(dict.fromkeys(_MARKS, " ") | {c: c.casefold() for c in _ASCII if c.isupper()})
_MIN_WORDS = 3
