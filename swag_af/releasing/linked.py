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
Links = Mapping[int, Sequence[int]]
"""Contexts by the one whose answer stands in them."""
FEWEST_WORDS = 3
"""Second sentences of fewer words stand in many contexts by chance."""


def links_of(contexts: Sequence[Context]) -> Links:
    """For each of `n` contexts i whose second sentence, with its gold, is a sentence of others: which, i perhaps too.

    Letter case, blanks and punctuation do not count. Contexts that look for one sentence share a list.
    """
    told: dict[int, list[int]] = {}
    for j, context in enumerate(contexts):
        for key in sentence_keys(context.sent1):
            told.setdefault(key, []).append(j)
    links = {}
    for i, context in enumerate(contexts):
        second = one_after_another(context.start, context.gold)
        found = told.get(text_key(second), []) if len(words(second)) >= FEWEST_WORDS else []
        if found and found != [i]:
            links[i] = found
    return links


def unlinked(links: Links, is_there: Sequence[bool], is_guarded: Sequence[bool]) -> set[int]:
    """The contexts to leave out of those that are there, so that no guarded one's answer is in another one.

    Only guarded ones go: where i's answer is in j, that is j, so that of a chain every second one stays; i where j is
    not guarded.
    """
    gone: set[int] = set()
    for i, others in links.items():
        if not is_there[i] or not is_guarded[i] or i in gone:
            continue
        for j in others:
            if j != i and is_there[j] and j not in gone:
                gone.add(j if is_guarded[j] else i)
                if i in gone:
                    break
    return gone


def count_by_split(links: Links, split_of: Mapping[int, str]) -> dict[str, int]:
    """How many contexts of each split have their answer in another context, of those that are in one."""
    linked = (i for i, others in links.items() if i in split_of and any(j in split_of for j in others if j != i))
    counts = Counter(split_of[i] for i in linked)
    return {split: counts[split] for split in SPLITS if counts[split]}
