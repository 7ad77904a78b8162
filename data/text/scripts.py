"""Which texts are Latin, and what other scripts do otherwise: marks of their own end sentences, some have no blanks.

Marks are those of Unicode's property Sentence_Terminal, of scripts in use.
"""

import re
import unicodedata

from swag_af.data.tokens import SENTENCE_ENDS, tokenize

_FULL_STOPS = {
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff": "。",  # kana and Han
    "\u0900-\u09ff\u0a00-\u0a7f\u0b00-\u0b7f": "।",  # Devanagari, Bengali, Gurmukhi, Odia
    "\u0530-\u058f": "։",  # Armenian
    "\u1200-\u137f": "።",  # Ethiopic
    "\u1000-\u109f": "။",  # Burmese
    "\u1780-\u17ff": "។",  # Khmer
    "\u0f00-\u0fff": "།",  # Tibetan
    "\u0e00-\u0eff": "",  # Thai and Lao, whose sentences end in a blank, if in anything
}
"""What ends a sentence whose last letter is in one of these ranges."""
_STOP_OF = [(re.compile(f"[{letters}]"), stop) for letters, stop in _FULL_STOPS.items()]

_OTHER_STOPS = "։۔।॥።။។៕。．｡﹒"
_OTHER_ENDS = _OTHER_STOPS + "؟፧！？﹖﹗‼⁇⁈⁉"
END_MARKS = SENTENCE_ENDS | frozenset(_OTHER_ENDS)
"""The marks that end a sentence, in any script."""
FULL_STOPS = "." + _OTHER_STOPS
"""Those that neither ask nor exclaim."""
QUESTION_MARKS = frozenset("?؟፧？﹖⁇⁈")
"""Those that end a question."""
COMMAS = frozenset(",՝،፣᠂᠈、꓾︐︑﹐﹑，､")
"""Commas of any script."""
OTHER_END = rf"(?:(?<=[{_OTHER_ENDS.replace('．', '')}])|(?<=．)(?!\d))"
"""A pattern of the place behind a mark of another script than Latin; no blank need follow. `．` is the point of numbers
as well."""

OF_A_WORD = (
    r"\w"
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0898-\u08e1"
    "\u08e3-\u0963\u0981-\u09e3\u09fe-\u0a75\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83"
    "\u0cbc-\u0d4d\u0d57-\u0d63\u0d81-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd\u0f18-\u0f19\u0f35\u0f37"
    "\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u0fc6\u102b-\u103e\u1056-\u109d\u135d-\u135f\u1712-\u1734\u1752-\u17d3"
    "\u17dd\u180b-\u180d\u180f-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3"
    "\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1dff\u20d0-\u20f0\u2cef-\u2cf1\u2d7f-\u2dff"
)
"""What stands within words, for a class of a pattern: letters, digits, `_`, and marks on letters (Unicode's categories
Mn and Mc), such as the vowels of Hindi and the tones of Thai, which `\\w` leaves out."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf"
    "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer and their like; kana and Han."""
_BLOCKS = (
    range(0xE00, 0xF00),
    range(0x1000, 0x10A0),
    range(0x1780, 0x1AB0),
    range(0x3099, 0x309B),
    range(0xA9E0, 0xAAE0),
)
_ON_LETTERS = "\u0300-\u036f\ufe00-\ufe0f\u0e33\u0eb3\uff9e\uff9f" + "".join(
    chr(code) for block in _BLOCKS for code in block if unicodedata.category(chr(code)) in ("Mn", "Mc")
)
"""Vowels, tones and other marks that stand on a letter; the vowel AM of Thai and Lao."""
_CLUSTER = rf"(?!\d)[{_UNSPACED}](?:[{_ON_LETTERS}]|(?<=[\u1039\u17d2\u1a60])[{_UNSPACED}])*"
"""A letter with the marks on it, and with consonants that are stacked below it."""
_SYLLABLE = r"[\u0f00\u0f18\u0f19\u0f35\u0f37\u0f39\u0f40-\u0fbc]+[\u0f0b\u0f0c]?"
"""A syllable of Tibetan, with the point that ends it."""
_LETTERLIKE = f"{_OTHER_ENDS}،؛"
"""Marks that `tokenize` takes for letters."""
_APART = re.compile(f"{_SYLLABLE}|{_CLUSTER}|[{_LETTERLIKE}]")
_JOINS = rf"[\u0f00-\u0fff\u3000-\u303f\uff00-\uff60{_UNSPACED}]"
_BETWEEN = re.compile(f"(?<={_JOINS}) (?={_JOINS})| (?=[{_LETTERLIKE}])")

_LOOSE_DOTS = re.compile("(?<=i)\u0307+")


def is_latin(text: str) -> bool:
    """Whether most letters of `text` are Latin, or it has none."""
    letters = [] if text.isascii() else [c for c in text if c.isalpha()]
    return 2 * sum("LATIN" not in unicodedata.name(c, "") for c in letters) <= len(letters)


def characters_apart(text: str) -> str:
    """`text` with blanks around each letter, with the marks on it, of a script without blanks (Thai, Lao, Khmer,
    Burmese, kana, Han), around each syllable of Tibetan, and around marks of other scripts that end sentences."""
    return text if text.isascii() else _APART.sub(r" \g<0> ", text)


def characters_joined(text: str) -> str:
    """`text` without the blanks of `characters_apart`; between words of different scripts one stays."""
    return text if text.isascii() else _BETWEEN.sub("", text)


def composed(text: str) -> str:
    """The text in one of the two forms that Unicode has for letters with accents, which look the same (NFC)."""
    return unicodedata.normalize("NFC", text)


def lower(text: str) -> str:
    """`text` in lower case as it is compared: letters and their accents in one (NFC), and `İ` an i without a second
    dot. As in English, `I` is an i: which texts are Turkish is not asked."""
    return text.lower() if text.isascii() else undotted(composed(text.lower()))


def undotted(text: str) -> str:
    """A `text` in lower case without the dot that `İ` leaves behind its i."""
    return _LOOSE_DOTS.sub("", text)


def tokenize_any(text: str) -> list[str]:
    """The tokens of a text of any script, as pools count them: those of `tokenize`, and each of `characters_apart` by
    itself."""
    return tokenize(characters_apart(text))


def has_no_end_mark(character: str) -> bool:
    """Whether it is of a script whose sentences end without a mark."""
    return full_stop_after(character) == ""


def full_stop_after(character: str) -> str:
    """The full stop of the script of `character`: `.` where it has none of its own, nothing where none is written."""
    return next((stop for letters, stop in _STOP_OF if letters.match(character)), ".")
