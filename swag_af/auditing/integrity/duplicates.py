"""Duplicates within a split, across splits and files; contradictions; groups and contexts that several splits share.

Copies in groups that are named and differ may be told apart by what the groups show, unless media are named: they are
no more than a hint. Copies within one group are found as if no group were named.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from swag_af.auditing.diagnostics import ONE_SPLIT, Diagnostic, Example
from swag_af.auditing.integrity.sameness import Sameness, sameness
from swag_af.auditing.integrity.shares import examples_of, of_share
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.splits import numbered
from swag_af.data.text.wording import comparable

DESIGN = 0.5
"""Where more than this share of the instances is the same as others of their split and file, they are meant to be: all
that is the same is a hint, no fault. Copies in another split or file tell nothing of that: one may be in the other."""


def duplicate_diagnostics(instances: Instances, groups: np.ndarray) -> list[Diagnostic]:
    """AF501, AF502, AF505, AF506, AF507, AF513 and AF514 of instances in `groups` (N,)."""
    found = sameness(instances)
    looked = _Looked(instances, found, _sure(instances, found), groups)
    return [*_within(looked), *_across(looked), _contradictions(looked), *_shared(instances, groups)]


def _sure(instances: Instances, found: Sameness) -> Sameness:
    """As `found`, but what is in groups that differ is not the same, where all that is the same names a group and no
    media; in the folds of a matching videos are such groups."""
    rows = instances.instances
    names = [one.video or one.group for one in rows]
    is_told = np.array([bool(name) and not one.media for name, one in zip(names, rows, strict=True)])
    told = np.bincount(found.same, weights=~is_told)[found.same] == 0  # (N,)
    group = np.where(told, numbered(names), -1)
    same = np.unique(np.stack([found.same, group]), axis=1, return_inverse=True)[1].ravel()
    return replace(found, same=same)


@dataclass(frozen=True)
class _Looked:
    """Instances in `groups` (N,), which of them are the same, and which are so whatever their groups show."""

    instances: Instances
    found: Sameness
    sure: Sameness
    groups: np.ndarray

    def same(
        self,
        code: str,
        subject: str,
        mark: Callable[[Sameness], np.ndarray],
        twin: Callable[[Sameness, int], int],
        said: str,
        *,
        twin_is: str = "the same as",
        rows: np.ndarray | None = None,
    ) -> Diagnostic:
        """The diagnostic of those of `rows`, or of all, that are the same as others: `mark` gives (N,), `twin` a row.

        Those that are surely so are found, and others are told beside them; where none is, the others are a hint.
        """
        rows = np.arange(len(self.instances)) if rows is None else rows
        by, why_hint, is_of = self.found, "", np.zeros(len(self.instances), bool)
        is_of[rows] = True
        has, sure = mark(self.found) & is_of, mark(self.sure) & is_of
        n_more = int(has.sum() - sure.sum())
        if has.any() and self.found.exact_within_file.mean() > DESIGN:
            why_hint = "; so many that something which was not read, such as an image, probably tells them apart"
        elif n_more and not sure.any():
            why_hint = "; what their groups show may tell them apart, since these are named and differ"
        elif n_more:
            said += f"; not counted: {n_more:,} with such copies in other named groups alone, which may tell them apart"
        if not why_hint:
            by, has = self.sure, sure
        examples = self.twins(has, partial(twin, by), twin_is)
        is_hint = bool(why_hint)
        return of_share(
            code, subject, has[rows], self.groups[rows], said=said + why_hint, is_hint=is_hint, examples=examples
        )

    def twins(self, has: np.ndarray, twin: Callable[[int], int], said: str) -> tuple[Example, ...]:
        """Rows that `has` marks, one of each cluster of duplicates, with the place of their twin."""

        def why(row: int) -> str:
            return f"{said} {place(self.instances, twin(row))}"

        return examples_of(self.instances, np.flatnonzero(has), why, each=self.found.clusters)


def _within(looked: _Looked) -> list[Diagnostic]:
    """AF501 and AF502 of a split, and AF513 where several files were read."""
    found = looked.found
    near, one_file = found.near_within, len(np.unique(found.file)) < 2
    same, nearly = "are the same as another of their split", "are nearly the same as another of their split"
    alike = looked.twins(near, partial(found.twin, near=True), "nearly the same as")
    return [
        looked.same("AF501", "instances", lambda one: one.exact_within, Sameness.twin, same),
        of_share("AF502", "instances", near, looked.groups, said=nearly, is_hint=True, examples=alike),
        looked.same(
            "AF513",
            f"{ONE_SPLIT}, files" if one_file else "files",
            lambda one: one.exact_in_other_file,
            partial(Sameness.twin, other_file=True),
            f"are the same as one of their split in another file{_given_twice(looked)}",
            rows=np.zeros(0, np.int64) if one_file else None,
        ),
    ]


def _given_twice(looked: _Looked) -> str:
    """A question to whoever gave a file all of which stands in another; empty where there is none."""
    if (rows := looked.found.within_another()) is None:
        return ""
    one, other = (looked.instances.instances[row].where.rpartition(",")[0] for row in rows)
    return f"; {other} has all of {one}: is it the same file, given twice?"


def _across(looked: _Looked) -> list[Diagnostic]:
    """AF505 and AF506, for each split; a gate that names no split asks for the worst."""
    instances, found, groups = looked.instances, looked.found, looked.groups
    diagnostics = []
    for subject, rows in _splits(instances):
        is_in = np.zeros(len(instances), bool)
        is_in[rows] = True
        near = found.near_across & is_in
        same = f"of {subject} are the same as one of another split"
        twin = partial(Sameness.twin, across=True)
        diagnostics.append(looked.same("AF505", subject, lambda one: one.exact_across, twin, same, rows=rows))
        alike = looked.twins(near, partial(found.twin, across=True, near=True), "nearly the same as")
        nearly = f"of {subject} are nearly the same as one of another split"
        diagnostics.append(
            of_share("AF506", subject, near[rows], groups[rows], said=nearly, is_hint=True, examples=alike)
        )
    return diagnostics


def _contradictions(looked: _Looked) -> Diagnostic:
    """AF507: the same instances whose gold is another text, or another class."""
    number = numbered([_gold(looked.instances, one) for one in looked.instances.instances])

    def mark(found: Sameness) -> np.ndarray:
        pairs = np.unique(np.stack([found.same, number]), axis=1)  # (2, pairs)
        return (np.bincount(pairs[0]) > 1)[found.same]

    def other(found: Sameness, row: int) -> int:
        return int(np.flatnonzero((found.same == found.same[row]) & (number != number[row]))[0])

    said = "have another label in another place"
    return looked.same("AF507", "instances", mark, other, said, twin_is="another label in")


def _gold(instances: Instances, one: Instance) -> str:
    return instances.classes[one.answer] if instances.kind == "classes" else comparable(one.options[one.answer])


_SHARED = {"group": "groups", "context": "contexts", "likeness": "alike"}
_HAVE = {
    "group": "have a named group that another split has too",
    "context": "have a context that another split has too",
    "likeness": "are in one group with instances of another split: named so, or alike in context or options",
}


def _shared(instances: Instances, groups: np.ndarray) -> list[Diagnostic]:
    """AF514: named groups, contexts, and groups of what is alike, that several splits have, for each split."""
    rows = instances.instances
    diagnostics = []
    for what, keys in (
        ("group", [one.group for one in rows]),
        ("context", [comparable(one.context) for one in rows]),
        ("likeness", [f"group {number}" for number in groups.tolist()]),
    ):
        other = _elsewhere(keys, [one.split for one in rows])
        numbers = numbered(keys)
        for subject, of_split in _splits(instances):
            some = of_split[[bool(keys[row]) for row in of_split.tolist()]] if len(of_split) else of_split
            why = partial(_shared_with, instances, other, what)
            diagnostics.append(
                of_share(
                    "AF514",
                    f"{subject}, {_SHARED[what]}",
                    other[some] >= 0,
                    groups[some],
                    said=f"of {subject} {_HAVE[what]}",
                    is_hint=what != "group",
                    examples=examples_of(instances, some[other[some] >= 0], why, each=numbers),
                )
            )
    return diagnostics


def _elsewhere(keys: Sequence[str], splits: Sequence[str]) -> np.ndarray:
    """(N,) the first row of another split with the same key; -1 where there is none."""
    first: dict[str, dict[str, int]] = {}
    for row, (key, split) in enumerate(zip(keys, splits, strict=True)):
        first.setdefault(key, {}).setdefault(split, row)
    found = [
        next((row for other, row in first[key].items() if other != split), -1)
        for key, split in zip(keys, splits, strict=True)
    ]
    return np.array(found, np.int64)


def _shared_with(instances: Instances, other: np.ndarray, what: str, row: int) -> str:
    told = "in one group with" if what == "likeness" else f"the same {what} as"
    return f"{told} {place(instances, int(other[row]))}"


def _splits(instances: Instances) -> list[tuple[str, np.ndarray]]:
    """The name and the rows of each split; of a set in one split no rows, since nothing can be compared."""
    splits = instances.splits()
    if len(splits) < 2:
        return [(ONE_SPLIT, np.zeros(0, np.int64))]
    return sorted((split or "no split", rows) for split, rows in splits.items())


def place(instances: Instances, row: int) -> str:
    """Where an instance stands, or its id where nobody said."""
    one = instances.instances[row]
    return one.where or one.id
