"""Consistency: how many contrast sets a probe has wholly right. Code AF109.

A contrast set is an original and its edits, or a sentence with several inputs, which whoever does the task has right
together (Gardner et al. 2020; Suhr et al. 2019 for NLVR2). A probe that sees the same of every member answers all of
them alike, so its accuracy may look like that of a model with half of the answers while no set is right.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from swag_af.auditing.diagnostics import Diagnostic, Example, Status, literal, of_accuracy
from swag_af.auditing.examples import AT_MOST, example
from swag_af.auditing.outcome import Probe
from swag_af.auditing.probes.inputs import FULL, INPUTS
from swag_af.auditing.probes.probe import model_label
from swag_af.data.errors import several
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instances
from swag_af.data.numbers.percent import in_percent
from swag_af.data.splits import join_pairs, numbered
from swag_af.data.text.wording import comparable

CODE = "AF109"

_ABOVE = "More than by guessing: the probe tells members of a set apart, or their answers go with something it reads."
_NOT_ABOVE = "No more than {}. Less is no finding: members that look the same to a probe are answered alike."
REFERENCE = "The task itself, to compare the others with; no artifact by itself."


@dataclass(frozen=True)
class ContrastSets:
    """The contrast sets of some instances."""

    rows: np.ndarray
    """(n,) their instances."""
    of_row: np.ndarray
    """(n,) the set of each, from 0 without a gap."""
    groups: np.ndarray
    """(sets,) the group of each, from 0 without a gap; groups that share a set are one."""

    @property
    def n(self) -> int:
        """How many sets there are."""
        return len(self.groups)

    def wholly(self, values: np.ndarray) -> np.ndarray:
        """(sets,) the product of the `values` (n,) of the members of each."""
        made = np.ones(self.n)
        np.multiply.at(made, self.of_row, values)
        return made

    def wholly_alike(self, values: np.ndarray, kinds: np.ndarray, golds: np.ndarray) -> np.ndarray:
        """(sets,) as `wholly`, where members of one of `kinds` (n,) in a set have one value and one answer: the value
        counts once, and as 0 where their `golds` (n,) differ."""
        _, first, of = np.unique(np.stack([self.of_row, kinds]), axis=1, return_index=True, return_inverse=True)
        of = of.ravel()  # (n,) the kind in its set of each
        is_one = np.ones(len(first), bool)
        np.logical_and.at(is_one, of, golds == golds[first][of])
        made = np.ones(self.n)
        np.multiply.at(made, self.of_row[first], values[first] * is_one)
        return made


def contrast_sets(instances: Instances, groups: Groups, rows: np.ndarray) -> ContrastSets | None:
    """The sets all of whose members are among `rows` (ascending); None where none of them has two members.

    A set of one member counts among others, as in the published figures of NLVR2; one of which a row without a label
    was left out on reading does not.
    """
    names = [one.contrast_set for one in instances.instances]
    of_row = numbered(names)
    sizes, n_scored = np.bincount(of_row), np.bincount(of_row[rows], minlength=int(of_row.max()) + 1)
    are_read = np.array([bool(name) and name not in instances.cut_sets for name in sorted(set(names))])
    is_whole = are_read & (n_scored == sizes)
    mine = rows[is_whole[of_row[rows]]]
    if not (is_whole & (sizes > 1)).any():
        return None
    _, first, number = np.unique(of_row[mine], return_index=True, return_inverse=True)
    pairs = np.stack([mine[first][number], mine], axis=1)
    joined = join_pairs(groups.numbers, pairs)[mine[first]]
    return ContrastSets(mine, number, np.unique(joined, return_inverse=True)[1])


def set_chances(sets: ContrastSets, instances: Instances, known: np.ndarray | None = None) -> np.ndarray:
    """(sets,) how often a guess that knows no texts has each set wholly right.

    Of choices the product over its members, each guessed alone; of classes 1 where every member is of the largest
    class of the rows `known`, of all where not given, which the guess names always, else 0.
    """
    if instances.kind == "choices":
        return sets.wholly(instances.chance[sets.rows])
    largest = int(np.bincount(instances.answers if known is None else instances.answers[known]).argmax())
    return sets.wholly((instances.answers[sets.rows] == largest).astype(float))


def alike_chances(sets: ContrastSets, instances: Instances) -> np.ndarray:
    """(sets,) of choices, how often a guess by the options alone has each set wholly right: what `set_chances` says,
    but members with the same options, in any order, get the same answer.

    So does a probe that knows nothing, whatever else it reads: where the right option of a pair is the same, it has
    both right in 1 of k such pairs, and not in 1 of k squared; where it differs, in none.
    """
    mine = [instances.instances[row] for row in sets.rows.tolist()]
    options = [tuple(map(comparable, one.options)) for one in mine]
    kinds = numbered(["\n".join(sorted(texts)) for texts in options])
    golds = numbered([texts[one.answer] for texts, one in zip(options, mine, strict=True)])
    return sets.wholly_alike(instances.chance[sets.rows], kinds, golds)


def by_own_shares(sets: ContrastSets, probe: Probe, instances: Instances) -> np.ndarray:
    """(sets,) how often a guess has each set wholly right that names each class as often as `probe` does, by lot.

    With labels that differ within sets, that is more than the largest class alone gets: a quarter of all pairs, and
    not none. Only of classes.
    """
    shares = named_shares(probe, instances)  # (classes,)
    return sets.wholly(shares[instances.answers[sets.rows]])


def named_shares(probe: Probe, instances: Instances) -> np.ndarray:
    """(classes,) how often `probe` names each class; the first of classes that tie."""
    n_classes = len(instances.classes)
    named = probe.scores.reshape(-1, n_classes).argmax(axis=1)  # (n,)
    return np.bincount(named, minlength=n_classes) / len(named)


def consistency_diagnostics(probes: Sequence[Probe], instances: Instances, groups: Groups) -> Iterator[Diagnostic]:
    """AF109 of every probe whose folds keep groups whole, or that scored a published split; of seeds the mean.

    Nothing where instances have no contrast sets.
    """
    if any(one.contrast_set for one in instances.instances):
        named: dict[str, list[Probe]] = {}
        for probe in probes:
            if probe.folds != "random":
                named.setdefault(probe.name, []).append(probe)
        for alike in named.values():
            sets = contrast_sets(instances, groups, alike[0].rows)
            if sets is not None:
                yield _of_probe(alike, sets, instances)


def set_hits(probe: Probe, sets: ContrastSets) -> np.ndarray:
    """(sets,) how far each is wholly right: 1, 0, or between where answers tie, which are drawn one by one."""
    return sets.wholly(probe.hits[np.searchsorted(probe.rows, sets.rows)])


def _of_probe(alike: Sequence[Probe], sets: ContrastSets, instances: Instances) -> Diagnostic:
    """`alike` differ in their seed only."""
    one, hits = alike[0], np.mean([set_hits(probe, sets) for probe in alike], axis=0)
    chances = set_chances(sets, instances, one.rows if one.folds == "split" else None)
    guessing, lot, by_lot, better = "by guessing", "", 0.0, "by guessing"
    if instances.kind == "classes":
        by_lot = float(np.mean([by_own_shares(sets, probe, instances).mean() for probe in alike]))
        lot, better = f" Naming classes as often, by lot, gets {in_percent(by_lot)}.", "the better of the two"
    elif (by_options := alike_chances(sets, instances)).mean() > chances.mean():
        chances, guessing = by_options, "by guessing, with one answer for the same options,"
    said = f"{literal(model_label(one.model))}, reading {INPUTS[instances.kind][one.input].said}, has every instance "
    said += f"right in {{value}} of {several(sets.n, 'contrast set')} ({{low}} to {{high}}; {guessing} {{chance}})."
    found = of_accuracy(CODE, one.name, hits, chances, sets.groups, said=said, times=one.times)
    is_above = (found.low or 0.0) > max(found.chance or 0.0, by_lot)
    status: Status = "found" if is_above and one.input != FULL else "clear"
    means = REFERENCE if one.input == FULL else _ABOVE if is_above else _NOT_ABOVE.format(better)
    shown = _examples(hits, sets, instances) if status == "found" else ()
    return replace(found, status=status, said=f"{found.said}{lot} {means}", examples=shown)


def _examples(hits: np.ndarray, sets: ContrastSets, instances: Instances) -> tuple[Example, ...]:
    """A member of each of a few larger sets that are wholly right; the first by id."""
    sizes = np.bincount(sets.of_row)
    ids = [instances.instances[row].id for row in sets.rows.tolist()]
    first: dict[int, int] = {}
    for at in sorted(range(len(ids)), key=ids.__getitem__):
        if hits[sets.of_row[at]] == 1 and sizes[sets.of_row[at]] > 1:
            first.setdefault(int(sets.of_row[at]), at)
    return tuple(
        example(instances, int(sets.rows[at]), f"all {sizes[number]} of its contrast set are right")
        for number, at in list(first.items())[:AT_MOST]
    )
