"""Contrast sets that two files make together, and what is odd about those of a set of instances.

Two files `NAME_original` and `NAME_contrast` with a row each for a set, as IMDb's (Gardner et al. 2020), and files of
NLVR2 whose edits name their originals in another file. What one row says of its set is read in `rows`.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from swag_af.data.cells.words import CONTRAST, ORIGINAL
from swag_af.data.errors import several
from swag_af.data.instances.rows import Found

_PAIRED = re.compile(rf"(.*?)[-_. ]?({ORIGINAL}|{CONTRAST})", re.IGNORECASE)


def pairs_of_files(paths: Sequence[Path]) -> list[tuple[str, Path, Path]]:
    """`(NAME, original, contrast)` of every two files NAME_original.tsv and NAME_contrast.tsv among `paths`."""
    halves: dict[tuple[Path, str, str], dict[str, Path]] = {}
    for path in paths:
        if found := _PAIRED.fullmatch(path.stem):
            halves.setdefault((path.parent, found[1], path.suffix), {})[found[2].lower()] = path
    return [(name, both[ORIGINAL], both[CONTRAST]) for (_, name, _), both in halves.items() if len(both) == 2]


def numbers_by_id(original: Sequence[Found], contrast: Sequence[Found]) -> list[int] | None:
    """The number from 1 of the original that has the id of each row of `contrast`; None where ids are no such pairs."""
    number_of = {one.id: number for number, one in enumerate(original, start=1)}
    ids = [one.id for one in contrast]
    if "" in number_of or len(number_of) < len(original) or sorted(ids) != sorted(number_of):
        return None
    return [number_of[id] for id in ids]


def in_pairs(found: Sequence[Found], name: str, variant: str, numbers: Sequence[int] | None = None) -> list[Found]:
    """The rows of such a file, whose sets are called by `name` and their `numbers`, in order from 1 where none are
    given; sets are groups if the dataset names none."""
    sets = [f"{name or 'set'}:{number}" for number in numbers or range(1, len(found) + 1)]
    return [
        one._replace(contrast_set=which, variant=variant, group=one.group or which)
        for one, which in zip(found, sets, strict=True)
    ]


def with_originals(found: Sequence[Found]) -> tuple[list[Found], list[str]]:
    """Instances of NLVR2 and its edits in the contrast sets of the edits, and what is to be said of that.

    An edit's set is named by the id of its original. Where an original is there, it is one of the set; all others are
    in no set, since consistency over sentences with several pairs, their own sets, is another measure.
    """
    edits = {one.contrast_set for one in found if one.variant == CONTRAST}
    ids = {one.id for one in found if not one.variant} & edits
    if not ids:
        return list(found), []
    joined = [one if one.variant else _original(one, one.id in ids) for one in found]
    others = sum(not one.variant for one in joined)
    said = f"contrast sets: {len(ids):,} originals were found by the ids that their edits name"
    return joined, [f"{said}; the other {others:,} originals are in no set (read their file alone for its own sets)"]


def _original(one: Found, has_edits: bool) -> Found:
    return one._replace(contrast_set=one.id, variant=ORIGINAL) if has_edits else one._replace(contrast_set="")


def notes_of(found: Sequence[Found]) -> Iterator[str]:
    """How many contrast sets there are, and how many of them can show no contrast."""
    sets: dict[str, list[Found]] = {}
    for one in found:
        if one.contrast_set:
            sets.setdefault(one.contrast_set, []).append(one)
    if not sets:
        return
    sizes = [len(members) for members in sets.values()]
    to = f"{min(sizes):,} to " if min(sizes) < max(sizes) else ""
    yield f"contrast sets: {len(sets):,}, of {to}{several(max(sizes), 'instance')}"
    n_alone = sum(size == 1 for size in sizes)
    if n_alone:
        yield f"contrast sets: {n_alone:,} {'has' if n_alone == 1 else 'have'} one instance only"
    n_firsts = sum(sum(one.variant == ORIGINAL for one in members) > 1 for members in sets.values())
    if n_firsts:
        yield f"contrast sets: {n_firsts:,} with several originals; are different sets of two files called alike?"
    n_same = sum(len({_right(one) for one in members}) == 1 for members in sets.values() if len(members) > 1)
    if n_same:
        yield f"contrast sets: in {n_same:,} with two instances or more, the right answer never differs"


def _right(one: Found) -> str:
    """The text of the right option, or the class."""
    return one.options[one.answer] if isinstance(one.answer, int) else one.answer
