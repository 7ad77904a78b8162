"""What endings of token ids say, for telling those of a context apart thousands a second.

The language models give endings as ids, and other ids may be the same words: "gets on to the beam." and "gets onto the
beam.". Readers, and whoever makes pools of texts, compare endings by `comparable`.
"""

from collections.abc import Sequence

from swag_af.data.text.wording import comparable
from swag_af.data.vocabulary import PAD, Vocabulary


class Wording:
    """Gives the `comparable` form of `vocabulary.text(ids)` for the ids of an ending, in less time.

    A text is compared without its blanks, but for those between digits, and readable text differs from its tokens in
    blanks alone where no two quote marks could meet: then its form is that of its tokens, one after another.
    """

    def __init__(self, vocabulary: Vocabulary):
        self._vocabulary = vocabulary
        spellings = ["" if i == PAD else spelling for i, spelling in enumerate(vocabulary.spellings)]
        self._forms = ["".join(spelling.casefold().split()) for spelling in spellings]
        """Of each type; right where it is of ASCII and without quote marks, but for an apostrophe."""
        self._doubts = [s.count("'") + _at_an_end(s) if s.isascii() and not {"`", '"'} & {*s} else 2 for s in spellings]
        """Of each type; from two in an ending on, it has to be compared in its text."""

    def __call__(self, ids: Sequence[int]) -> str:
        if sum(map(self._doubts.__getitem__, ids)) > 1:
            return comparable(self._vocabulary.text(ids))
        joined = "".join(map(self._forms.__getitem__, ids))
        return joined.rstrip(".") or joined


def _at_an_end(spelling: str) -> bool:
    """Whether it begins or ends with a digit, so that the blank beside it may count."""
    return spelling[:1].isdigit() or spelling[-1:].isdigit()
