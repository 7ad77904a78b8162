"""Contexts of which one's second sentence, with its gold, stands in another, as consecutive captions make them.

The second caption of one context is the first of the next, in SWAG too. Who reads both knows the answer to one of them.

Letters: `n` contexts.
"""

from collections.abc import Collection, Mapping, Sequence

from swag_af.data.context import Context
from swag_af.data.text.wording import sentence_keys, text_key, words
from swag_af.data.tokens import one_after_another

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


def linked_rows(links: Links, rows: Collection[int]) -> set[int]:
    """Those of the contexts `rows` of which the answer stands in another of them, or that tell another's."""
    found = set[int]()
    for i, others in links.items():
        if i in rows and (there := {j for j in others if j in rows and j != i}):
            found |= {i, *there}
    return found


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
