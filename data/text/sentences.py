"""A text of several sentences: where each ends, and the tokens of all. By rules, mostly for English."""

import re

from swag_af.data.text.scripts import END_MARKS, OTHER_END, tokenize_any
from swag_af.data.tokens import normalise_blanks

_ABBREVIATION = re.compile(r"(?:\b(?:mr|mrs|ms|dr|st|prof|vs|approx)|\b\w\.\w)\.$", re.IGNORECASE)
_CLOSERS = r"\"')\]’”」』】》〉）"
_PAIR = re.compile(r"(?=(?:^|[\s(])([^\W\d_A-Z]\.\s\w{1,3}\.))")
"""Two short words, of which neither ends a sentence: z. B., d. h., u. a., т. д."""
_WITHIN = re.compile(
    r"^[A-Z]\.$"  # J. Smith
    r"|\b(?:am|vom|zum|beim|dem|den|der|des|die|das|bis|jede[nmrs]?) \d{1,2}\.$"  # am 3. Mai
)
"""What else ends in a full stop in the midst of a sentence, even before a capital: an initial, and numbers that count
in German."""
_LONGEST = 16
"""Characters, more than what any of these three patterns finds has."""
_TITLE = re.compile(r"\b(?:mr|mrs|ms|dr|st|prof)\.$", re.IGNORECASE)
_END = re.compile(
    r"(?<=[a-z][.?!])(?=[A-Z])|(?<=[.?!])[\"')\]]*(\s+)(?=\S)|"
    rf"{OTHER_END}(?:\s*|[{_CLOSERS}]+(?:\s+|(?=[“‘「『《（])))(?=[^\s{_CLOSERS}{''.join(sorted(END_MARKS))}])"
)


def sentences_of(text: str) -> list[str]:
    """The sentences of a plain text: they end at `. ? !` before a blank, or before a capital where the blank is
    missing, and behind the marks of other scripts, but not where a closing quote and more of the sentence follow.

    An abbreviation ends a sentence only when a capital follows; a title (`Mr.`), a pair of short ones (`z. B.`), an
    initial at the beginning, and a number behind a German article (`am 3. Mai`) never do.
    """
    sentences, begin = [], 0
    within = {at for found in _PAIR.finditer(text) for at in range(found.start(1) + 1, found.end(1) + 1)}
    for found in _END.finditer(text):
        before, after = text[max(begin, found.start() - _LONGEST) : found.start()], text[found.end()]
        is_shortened = found.start() in within or _WITHIN.search(before)
        if _TITLE.search(before) or is_shortened or (_ABBREVIATION.search(before) and not after.isupper()):
            continue
        if after.islower() and found[0].strip():  # behind a closing quote or bracket it goes on
            continue
        sentences.append(normalise_blanks(text[begin : found.end()]))
        begin = found.end()
    sentences.append(normalise_blanks(text[begin:]))
    return [sentence for sentence in sentences if sentence]


def tokens_of(text: str) -> list[str]:
    """The tokens of a text of one or more sentences, each mark that ends one a token of its own."""
    return [token for sentence in sentences_of(text) for token in tokenize_any(sentence)]
