"""Tags in texts, such as `[person1]`: what they stand for is an object of the row, so a text that is recycled gets new
ones.

    response of row j     [person2] hands [person1] the [cup1].
    template              person hands person the cup.                what models of relevance and similarity read
    given to row i        [person3] hands [person1] the [cup2].       tags of the objects that row i has

Each tag of a recycled text becomes one of the same kind: with some probability one that the query or its right answer
names, otherwise a random one of the row (Zellers et al. 2019b, appendix C). Two tags become two objects while the row
has enough of the kind: no right answer says `[person2] and [person2]`, so a wrong one that did would be given away.
Where the row has no object of the kind, the word stays without a tag.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

TAG = re.compile(r"\[([A-Za-z][A-Za-z _-]*?)(\d+)\]")
"""A kind and a number in brackets."""

Tag = tuple[str, int]
"""`("person", 1)`."""


def tags_in(text: str) -> list[Tag]:
    """The tags of `text` in the order in which they are first met, none twice."""
    return list(dict.fromkeys((_plain(kind), int(number)) for kind, number in TAG.findall(text)))


def _plain(kind: str) -> str:
    """A kind without what parts its words: `traffic light` and `traffic_light` are one."""
    return re.sub(r"[ _-]", "", kind)


def template(text: str) -> str:
    """`text` with the kind of each object in place of its tag."""
    return TAG.sub(lambda found: found[1], text)


@dataclass(frozen=True)
class Scene:
    """The objects that texts of a row may name."""

    objects: Mapping[str, tuple[int, ...]]
    """Numbers of the objects of each kind."""
    named: Mapping[str, tuple[int, ...]]
    """Those that the query or its right answer names."""

    @staticmethod
    def of(objects: Iterable[Tag], texts: Sequence[str]) -> "Scene":
        """The scene of a row with these objects, whose query and response are `texts`; their tags are objects too."""
        named = list(dict.fromkeys(tag for text in texts for tag in tags_in(text)))
        return Scene(_by_kind([*objects, *named]), _by_kind(named))


def _by_kind(tags: Iterable[Tag]) -> dict[str, tuple[int, ...]]:
    found: dict[str, dict[int, None]] = {}
    for kind, number in tags:
        found.setdefault(kind, {})[number] = None
    return {kind: tuple(sorted(numbers)) for kind, numbers in found.items()}


def remapped(text: str, scene: Scene, share_named: float, *, rng: np.random.Generator) -> str:
    """`text` of another row with tags of the objects of `scene`; the same tag becomes the same everywhere in it.

    `share_named` is how often a tag becomes one that the query or its right answer names, where there is one that no
    other tag has become.
    """
    new: dict[Tag, int | None] = {}
    for kind, number in tags_in(text):
        taken = {one for (other, _), one in new.items() if other == kind}
        new[kind, number] = _drawn(kind, scene, share_named, taken, rng)

    def with_new(found: re.Match[str]) -> str:
        number = new[_plain(found[1]), int(found[2])]
        return found[1] if number is None else f"[{found[1]}{number}]"

    return TAG.sub(with_new, text)


def _drawn(kind: str, scene: Scene, share_named: float, taken: Set[int | None], rng: np.random.Generator) -> int | None:
    """The number of an object of this kind, none of those that are `taken` while there are others; None where there is
    none."""
    every = scene.objects.get(kind, ())
    objects = tuple(one for one in every if one not in taken) or every
    named = tuple(one for one in scene.named.get(kind, ()) if one in objects)
    of_these = named if named and rng.random() < share_named else objects
    return of_these[int(rng.integers(len(of_these)))] if of_these else None


def objects_of(kinds: Sequence[str]) -> list[Tag]:
    """The tags of a row's list of objects, such as person, person, chair: numbered within each kind, from 1."""
    seen: dict[str, int] = {}
    tags = []
    for kind in kinds:
        plain = _plain(kind)
        seen[plain] = seen.get(plain, 0) + 1
        tags.append((plain, seen[plain]))
    return tags


def share_of_tags_named(distractor: str, query: str, answer: str) -> tuple[int, int]:
    """How many tags of a wrong answer occur in its query or the right answer, of how many; each as often as it
    stands."""
    known = {*tags_in(query), *tags_in(answer)}
    found = [(_plain(kind), int(number)) for kind, number in TAG.findall(distractor)]
    return sum(tag in known for tag in found), len(found)
