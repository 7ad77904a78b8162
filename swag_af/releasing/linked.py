"""Questions of which one's answer stands in the context of another, as consecutive captions make them.

The second caption of one question is the first of the next, in SWAG too. A model that is asked question by question
does not see it; whoever reads the whole file looks the answer up, also that of a test question whose label is withheld.

Letters: `n` contexts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from swag_af.data.context import Context
from swag_af.data.text.wording import sentence_keys, text_key, words
from swag_af.data.tokens import one_after_another
from swag_af.releasing.questions import SPLITS

HELD_OUT = frozenset(("val", "test"))
"""The splits whose answers are not to be looked up."""
FEWEST_WORDS = 3
"""Second sentences of fewer words stand in many contexts by chance."""


def linked_pairs(contexts: Sequence[Context]) -> list[tuple[int, int]]:
    """`(i, j)`, in order, for each of `n` contexts i whose second sentence, with its gold, is a sentence of context j.

    Letter case, blanks and punctuation do not count.
    """
    told: dict[int, list[int]] = {}
    for j, context in enumerate(contexts):
        for key in sentence_keys(context.sent1):
            told.setdefault(key, []).append(j)
    pairs = []
    for i, context in enumerate(contexts):
        second = one_after_another(context.start, context.gold)
        if len(words(second)) >= FEWEST_WORDS:
            pairs += [(i, j) for j in told.get(text_key(second), ()) if j != i]
    return pairs


def unlinked(pairs: Sequence[tuple[int, int]], is_guarded: Sequence[bool]) -> set[int]:
    """The contexts to leave out so that of no pair `(i, j)` both are there, where i is one of those that are guarded.

    Only guarded ones go: j of most pairs, so that of a chain every second one stays; i where j is not guarded.
    """
    gone: set[int] = set()
    for i, j in pairs:
        if is_guarded[i] and not {i, j} & gone:
            gone.add(j if is_guarded[j] else i)
    return gone


def count_by_split(pairs: Sequence[tuple[int, int]], split_of: Mapping[int, str]) -> dict[str, int]:
    """How many contexts of each split have their answer in another context, of those that are in one."""
    counts = Counter(split_of[i] for i in {i for i, j in pairs if i in split_of and j in split_of})
    return {split: counts[split] for split in SPLITS if counts[split]}
