"""The texts of a set by what they are (contexts, starts, options, golds), and how long a text is.

Three measures, because papers differ: *tokens* of `tokens_of` (Penn Treebank, with punctuation; SWAG, NLVR2), *words*
(tokens with a letter or digit) and *signs*, where each run of letters and digits is one and each other sign is one:
`can't` is three. VCR publishes its texts as lists of signs, in which objects named together, `[person1] and [person2]`,
are one; its lengths count the entries of the lists. In Chinese, Japanese, Thai and Lao, which have no blanks between
words, each character is one of all three.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.instances.masking import MASK
from swag_af.data.text.scripts import OF_A_WORD, characters_apart
from swag_af.data.text.sentences import sentences_of, tokens_of
from swag_af.describing.options import Of


class Part(NamedTuple):
    """Texts of one kind, in the order of the instances."""

    name: str
    texts: tuple[str, ...]


class Size(NamedTuple):
    """How long a text is."""

    tokens: int
    words: int
    signs: int


class Sentence(NamedTuple):
    """A sentence whose verbs are counted."""

    group: int
    start: str
    """Its beginning, whose verbs do not count: of the first sentence of an option, the start."""
    text: str


_OBJECT = re.compile(r"\[(\w+)\]")
_OBJECTS = re.compile(r"\[\w+\](?:(?:,| and)?\s*\[\w+\])*")
"""Objects that are named together: `[person1], [person2] and [chair1]`."""
_SIGN = re.compile(rf"(?:(?!_)[{OF_A_WORD}])+|[^{OF_A_WORD}\s]|_")


def token_list(text: str) -> list[str]:
    """The tokens of a text of one or more sentences; the name of an object, `[person1]`, is a word."""
    return tokens_of(_OBJECT.sub(r"\1", text.replace("][", "] [")))


STAND_IN = "someone"
"""What a tagger reads in place of a tag or of what is hidden. No verb has it within it."""
_TAG = re.compile(r"\[[^\W\d]+\d+\]")
"""An object with its number: `[person1]`, `[traffic_light2]`."""
_HIDDEN = re.compile(rf"(?:[\w'-]*{re.escape(MASK)})+(?:[\w-]+(?:'\w+)?)?")
"""What is hidden, with the rest of the word that it was in; `'s` behind it stays."""


def plain(text: str) -> str:
    """The text with `STAND_IN` in place of each tag of an object, and of each word in which something is hidden."""
    shown = _HIDDEN.sub(f" {STAND_IN} ", text) if MASK in text else text
    return _TAG.sub(STAND_IN, shown.replace("][", "] ["))


def size_of(text: str) -> Size:
    """How long a text is, by each measure."""
    tokens = token_list(text)
    words = sum(any(map(str.isalnum, token)) for token in tokens)
    return Size(len(tokens), words, len(_SIGN.findall(characters_apart(_OBJECTS.sub("x", text)))))


def sizes_of(texts: Iterable[str], known: dict[str, Size]) -> np.ndarray:
    """(n, 3) the sizes of `texts`; each different text is measured once, and then `known`."""
    found = [known.get(text) or known.setdefault(text, size_of(text)) for text in texts]
    return np.array(found, np.int64).reshape(-1, 3)


def parts_of(instances: Instances) -> list[Part]:
    """The parts of a set that have any text; where there are several, golds by variant and stage, texts by class."""
    ones = instances.instances
    first = "contexts" if instances.kind == "choices" else "premises"
    parts = [_part(first, (one.context for one in ones)), _part("starts", (one.start for one in ones))]
    parts += _of_choices(ones) if instances.kind == "choices" else _of_classes(instances)
    return [part for part in parts if part.texts]


def _part(name: str, texts: Iterable[str]) -> Part:
    return Part(name, tuple(text for text in texts if text))


def _of_choices(ones: Sequence[Instance]) -> Iterator[Part]:
    yield _part("options", (text for one in ones for text in one.options))
    yield _part("golds", (one.options[one.answer] for one in ones))
    yield _part("other options", (text for one in ones for text in others(one)))
    ways: list[tuple[Callable[[Instance], str], str]] = [(_variant, "contexts"), (_stage, "contexts")]
    for value_of, first in ways:
        values = sorted({value_of(one) for one in ones} - {""})
        for value in values if len(values) > 1 else ():
            those = [one for one in ones if value_of(one) == value]
            yield _part(f"{first}, {value}", (one.context for one in those))
            yield _part(f"golds, {value}", (one.options[one.answer] for one in those))


def _variant(one: Instance) -> str:
    return one.variant


def _stage(one: Instance) -> str:
    return one.stage


def _of_classes(instances: Instances) -> Iterator[Part]:
    yield _part("texts", (one.options[0] for one in instances.instances))
    for answer, name in enumerate(instances.classes):
        yield _part(f"texts, {name}", (one.options[0] for one in instances.instances if one.answer == answer))


def others(one: Instance) -> tuple[str, ...]:
    """The options of a question that are not right."""
    return one.options[: one.answer] + one.options[one.answer + 1 :]


def sentences(instances: Instances, groups: np.ndarray, of: Of) -> list[Sentence]:
    """The different sentences of each group whose verbs count, in the order of their texts; `groups` (N,) are
    numbers."""
    found = set[Sentence]()
    for one, group in zip(instances.instances, groups.tolist(), strict=True):
        if of == "contexts":
            found.update(_sentences(group, "", one.context))
        else:
            chosen = one.options if of == "options" or instances.kind == "classes" else (one.options[one.answer],)
            for text in chosen:
                found.update(_sentences(group, one.start, text))
    return sorted(found, key=lambda one: (one.text, one.start, one.group))


def _sentences(group: int, start: str, text: str) -> Iterator[Sentence]:
    """Those of a text, the first behind `start`."""
    for i, sentence in enumerate(sentences_of(text)):
        yield Sentence(group, "" if i else start, sentence)
