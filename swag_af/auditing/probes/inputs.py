"""What a probe reads of each entry of options: pieces of the texts, chosen without labels, which `Texts` do not have.

choices    options           the option alone
           second-sentence   start and option, where options complete a start
           other-context     the same behind the context of a row of another group
           shuffled          context, start and option, the words of each in a random order
           full              context, start and option: the task itself, for reference
classes    hypothesis        the text that is classified, alone, where something stands before it
           text              the same, where something else is shown with it, such as an image
           premise           what stands before it, alone
           shuffled, full    both, as above
"""

from dataclasses import dataclass

import numpy as np

from swag_af.auditing.probes.words import Tokens
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Kind, Texts

FULL = "full"
"""What reads all texts: no artifact by itself, unless something else is shown with them."""


@dataclass(frozen=True)
class Input:
    """A part of each instance."""

    name: str
    said: str
    """As it stands in a sentence: `the options alone`."""
    context: bool = True
    start: bool = True
    option: bool = True
    """Which of the three pieces are read."""
    is_other: bool = False
    """Whether the context is that of another row."""
    is_shuffled: bool = False
    shown_with: bool = False
    """Whether it lacks what is shown with the texts, and no text."""

    def applies(self, texts: Texts) -> bool:
        """Whether `texts` have what it reads, and it is not the same as reading less."""
        has_context, has_start = any(texts.contexts), any(texts.starts)
        if self.is_shuffled:
            return True
        if texts.kind == "classes" and not has_context:
            return self.shown_with if texts.has_media else self.name == FULL
        if self.shown_with:
            return False
        return (has_context or not self.context) and (has_start or self.context or not self.start)


INPUTS: dict[Kind, dict[str, Input]] = {
    "choices": {
        one.name: one
        for one in (
            Input("options", "the options alone", context=False, start=False),
            Input("second-sentence", "the second sentence, start and option, alone", context=False),
            Input("other-context", "the options behind the context of another row", is_other=True),
            Input("shuffled", "context and options with their words shuffled", is_shuffled=True),
            Input("full", "context and options"),
        )
    },
    "classes": {
        one.name: one
        for one in (
            Input("hypothesis", "the hypothesis alone", context=False, start=False),
            Input("text", "the text alone, without what is shown with it", context=False, start=False, shown_with=True),
            Input("premise", "the premise alone", start=False, option=False),
            Input("shuffled", "all its texts with their words shuffled", is_shuffled=True),
            Input("full", "all its texts"),
        )
    },
}
"""By kind of instances, then by name."""

MAIN = ("options", "second-sentence", "hypothesis", "text")
"""Where artifacts are looked for first: what models beside tf-idf read unless they are told."""


def input_names(texts: Texts) -> tuple[str, ...]:
    """The inputs that `texts` have."""
    return tuple(name for name, one in INPUTS[texts.kind].items() if one.applies(texts))


def find_input(name: str, texts: Texts) -> Input:
    """The input of that name; raises InputError where `texts` have no such input."""
    names = input_names(texts)
    if name not in names:
        raise InputError(f"input {name!r}: these {texts.kind} have none. There are {', '.join(names)}.")
    return INPUTS[texts.kind][name]


@dataclass(frozen=True)
class Source:
    """All texts of a set, numbered and read once: N contexts, N starts, the options, and an empty one at the end."""

    texts: Texts
    strings: tuple[str, ...]
    """(2 N + options + 1,)"""
    tokens: Tokens
    """The words of each of them."""

    @staticmethod
    def of(texts: Texts) -> "Source":
        """Read `texts`."""
        strings = (*texts.contexts, *texts.starts, *texts.options, "")
        return Source(texts, strings, Tokens.of(strings))


@dataclass(frozen=True)
class Reading:
    """What a model reads of q entries: of choices each option, of classes each text."""

    texts: Texts
    pieces: np.ndarray
    """(q, 3) the numbers of context, start and option among the texts of the source; that of the empty text where a
    piece is not read."""
    strings: tuple[str, ...]
    """The texts of the source, as they are read."""
    tokens: Tokens
    """Their words, as they are read."""

    def whole(self) -> list[str]:
        """(q,) what is read of each entry as one text, a blank between pieces."""
        strings = self.strings
        return [" ".join([strings[i] for i in entry if strings[i]]) for entry in self.pieces.tolist()]


def read(one: Input, source: Source, groups: np.ndarray, *, rng: np.random.Generator) -> Reading:
    """What the input `one` has of every entry; rows are in `groups` (N,).

    Raises InputError where contexts of other groups are asked for and one group has more than half of the rows.
    """
    texts, n, rows = source.texts, len(source.texts), source.texts.rows
    nothing = np.full(len(texts.options), len(source.strings) - 1)
    contexts = other_rows(groups, rng=rng)[rows] if one.is_other else rows
    pieces = np.stack(
        [
            contexts if one.context else nothing,
            n + rows if one.start else nothing,
            2 * n + np.arange(len(texts.options)) if one.option else nothing,
        ],
        axis=1,
    )
    if not one.is_shuffled:
        return Reading(texts, pieces, source.strings, source.tokens)
    tokens = source.tokens.shuffled(rng)
    return Reading(texts, pieces, tuple(tokens.text(i) for i in range(len(source.strings))), tokens)


def other_rows(groups: np.ndarray, *, rng: np.random.Generator) -> np.ndarray:
    """(N,) for every row one of another of `groups` (N,), at random, no row twice.

    Groups stand in random order on a circle, and every row takes the one that is as far on as the largest group is
    long. Raises InputError where a group has more than half of the rows.
    """
    sizes = np.bincount(groups)
    largest = int(sizes.max())
    if 2 * largest > len(groups):
        raise InputError(
            f"other-context: one group has {largest:,} of {len(groups):,} instances, more than half, so not every one "
            "can get the context of another group. Name smaller groups."
        )
    order = np.lexsort((rng.random(len(groups)), rng.permutation(len(sizes))[groups]))
    other = np.empty_like(order)
    other[order] = np.roll(order, -largest)
    return other
