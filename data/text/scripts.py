"""What other scripts do otherwise than Latin: marks of their own end their sentences, some part no words by blanks.

Marks are those of Unicode's property Sentence_Terminal, of scripts in use.
"""

import re

from swag_af.data.tokens import SENTENCE_ENDS, tokenize

_FULL_STOPS = {
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff": "。",  # kana and Han
    "\u0900-\u09ff\u0a00-\u0a7f\u0b00-\u0b7f": "।",  # Devanagari, Bengali, Gurmukhi, Odia
    "\u0530-\u058f": "։",  # Armenian
    "\u1200-\u137f": "።",  # Ethiopic
    "\u1000-\u109f": "။",  # Burmese
    "\u1780-\u17ff": "។",  # Khmer
    "\u0e00-\u0eff": "",  # Thai and Lao, whose sentences end in a blank, if in anything
}
"""What ends a sentence whose last letter is in one of these ranges."""
_STOP_OF = [(re.compile(f"[{letters}]"), stop) for letters, stop in _FULL_STOPS.items()]

_OTHER_ENDS = "։؟۔।॥።፧။។៕。．｡！？﹒﹖﹗‼⁇⁈⁉"
END_MARKS = SENTENCE_ENDS | frozenset(_OTHER_ENDS)
"""The marks that end a sentence, in any script."""
QUESTION_MARKS = frozenset("?؟፧？﹖⁇⁈")
"""Those that end a question."""
OTHER_END = rf"(?:(?<=[{_OTHER_ENDS.replace('．', '')}])|(?<=．)(?!\d))"
"""A pattern of the place behind a mark of another script than Latin; no blank need follow. `．` is the point of numbers
as well."""

_APART = re.compile(f"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff{_OTHER_ENDS}،؛]")
"""Thai, Lao, kana, Han, and marks that `tokenize` takes for letters."""
_BETWEEN = re.compile(
    "(?<=[\u0e00-\u0eff\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff00-\uff60]) "
    "(?=[\u0e00-\u0eff\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff00-\uff60])"
    f"| (?=[{_OTHER_ENDS}،؛])"
)


def characters_apart(text: str) -> str:
    """`text` with blanks around each character of a script without blanks (Thai, Lao, kana, Han), and around marks of
    other scripts that end sentences."""
    return text if text.isascii() else _APART.sub(r" \g<0> ", text)


def characters_joined(text: str) -> str:
    """`text` without the blanks of `characters_apart`; between words of different scripts one stays."""
    return text if text.isascii() else _BETWEEN.sub("", text)


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
