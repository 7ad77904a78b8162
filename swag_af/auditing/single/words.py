"""Words and n-grams that go with a label, by the competency test of Gardner et al. (2021). Codes AF301 and AF302.

An n-gram counts once where it occurs several times. Of classes the unit is a text that contains it, and chance the
share of the class. Of choices the unit is a question in which some options contain it and others do not: if all do, it
tells nothing. It goes with gold where gold contains it; chance is the mean share of the options that do. Copies of an
instance count once: the same in all that was read, gold too, and in one group. What an n-gram does together with others
is not asked.

Letters: `E` occurrences (a unit and an n-gram in it), `G` n-grams that are tested.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from swag_af.auditing.diagnostics import Diagnostic, Example
from swag_af.auditing.examples import AT_MOST, example
from swag_af.auditing.outcome import Association
from swag_af.auditing.single.significance import LEVEL, adjusted
from swag_af.auditing.single.tables import Seen, TokenTable, ngram_ids, token_table
from swag_af.data.errors import several
from swag_af.data.instances.grouping import Groups, same_as
from swag_af.data.instances.instances import Instances
from swag_af.data.numbers.percent import in_percent
from swag_af.data.text.scripts import lower
from swag_af.data.text.wording import comparable

N_MAX = 3
"""Tokens of the longest n-grams."""
MIN_COUNT = 10
"""Units that an n-gram must occur in to be tested; no label decides it."""
SMOOTHING = 100
"""Units at chance that PMI adds, so that rare n-grams do not lead; Gururangan et al. (2018) add 100 to every count."""
GOLD = "gold"
"""The label of choices."""


@dataclass(frozen=True)
class Occurrences:
    """Which n-grams occur in which units."""

    ngrams: tuple[str, ...]
    """(G,) in order of their lengths, then their spelling."""
    ngram: np.ndarray
    """(E,) the n-gram."""
    row: np.ndarray
    """(E,) the instance."""
    n_with: np.ndarray
    """(E,) options of the instance that contain it; 1 of classes."""
    in_gold: np.ndarray
    """(E,) whether gold contains it; of classes True, and nothing that a label decides."""
    counted: np.ndarray
    """(N,) the instances that count: of copies one."""


@dataclass(frozen=True)
class Tests:
    """What the test says of every n-gram with one label, each (G,): the fields of an `Association`."""

    label: str
    n: np.ndarray
    share: np.ndarray
    chance: np.ndarray
    z: np.ndarray
    p: np.ndarray


def word_associations(
    instances: Instances, groups: Groups, *, most_q: float = LEVEL, seen: Seen | None = None
) -> list[Association]:
    """The words and n-grams of options, or of classified texts, that go with a label or against it; strongest first.

    Those of a q-value below `most_q`; q is the p-value after Benjamini and Hochberg over all n-grams of up to N_MAX
    tokens that occur in MIN_COUNT units, with all labels. The strongest is that with the largest absolute z. `seen` as
    of `occurrences`.
    """
    found = occurrences(instances, groups, seen)
    return _associations(found, list(label_tests(found, instances, groups)), most_q)


def _associations(found: Occurrences, tests: list[Tests], most_q: float) -> list[Association]:
    if not tests:
        return []
    q_values = adjusted(np.concatenate([test.p for test in tests])).reshape(len(tests), -1)  # (labels, G)
    made = [
        Association(
            found.ngrams[g],
            test.label,
            int(test.n[g]),
            round(float(test.share[g]), 6),
            round(float(test.chance[g]), 6),
            round(float(test.z[g]), 4),
            float(q[g]),
            round(_pmi(float(test.share[g]), float(test.chance[g]), int(test.n[g])), 4),
        )
        for test, q in zip(tests, q_values, strict=True)
        for g in np.flatnonzero(q < most_q).tolist()
    ]
    return sorted(made, key=lambda one: (-abs(one.z), one.ngram, one.label))


def _pmi(share: float, chance: float, n: int) -> float:
    """Pointwise mutual information in bits, of the share with SMOOTHING units at chance added."""
    return float(np.log2((share * n + chance * SMOOTHING) / (n + SMOOTHING) / chance))


def occurrences(instances: Instances, groups: Groups, seen: Seen | None = None) -> Occurrences:
    """The n-grams of the options (texts) that occur in MIN_COUNT units or more, and where; without copies.

    `seen` are tables of the texts that were made already.
    """
    table = seen.options if seen else token_table(instances.texts.options)
    counted = one_of_copies(instances, groups)
    spelt: list[str] = []
    parts = []
    for n, ids in enumerate(ngram_ids(table, N_MAX), start=1):
        text, ngram = _distinct(table.rows[ids >= 0], ids[ids >= 0])
        is_counted = counted[instances.texts.rows[text]]
        text, ngram = text[is_counted], ngram[is_counted]
        row, ngram, n_with, in_gold = _units(text, ngram, instances)
        enough = np.bincount(ngram, minlength=1) >= MIN_COUNT  # (n-grams of n tokens,)
        kept = enough[ngram]
        names = _spellings(table, ids, np.flatnonzero(enough), n)
        order = np.argsort(names)
        rank = np.full(len(enough), -1)
        rank[np.flatnonzero(enough)[order]] = len(spelt) + np.arange(len(names))
        parts.append((rank[ngram[kept]], row[kept], n_with[kept], in_gold[kept]))
        spelt += [names[i] for i in order]
    ngram, row, n_with, in_gold = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Occurrences(tuple(spelt), ngram, row, n_with, in_gold, counted)


def one_of_copies(instances: Instances, groups: Groups) -> np.ndarray:
    """(N,) whether no earlier instance of the group is the same in all that was read, gold too: in a set whose every
    row stands twice nothing is surer. Copies that `group` leaves apart are told apart by what was not read."""
    known: set[tuple[object, ...]] = set()
    counted = np.ones(len(instances), bool)
    for row, (one, number) in enumerate(zip(instances.instances, groups.numbers.tolist(), strict=True)):
        gold = one.answer if instances.kind == "classes" else comparable(one.options[one.answer])
        key = (number, gold, same_as(one))
        counted[row] = key not in known
        known.add(key)
    return counted


def _distinct(text: np.ndarray, ngram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of a text and an n-gram, each once."""
    n = int(ngram.max(initial=0)) + 1
    texts, ngrams = np.divmod(np.unique(text * n + ngram), n)
    return texts, ngrams


def _units(text: np.ndarray, ngram: np.ndarray, instances: Instances) -> tuple[np.ndarray, ...]:
    """`(row, ngram, n_with, in_gold)` of distinct pairs, those left out that all options of a question have."""
    if instances.kind == "classes":
        return text, ngram, np.ones(len(text), np.int64), np.ones(len(text), bool)
    n = int(ngram.max(initial=0)) + 1
    keys, unit, n_with = np.unique(instances.texts.rows[text] * n + ngram, return_inverse=True, return_counts=True)
    in_gold = np.bincount(unit, instances.is_gold[text], len(keys)) > 0
    row, ngram = np.divmod(keys, n)
    telling = n_with < instances.n_answers[row]
    return row[telling], ngram[telling], n_with[telling], in_gold[telling]


def _spellings(table: TokenTable, ids: np.ndarray, wanted: np.ndarray, n: int) -> list[str]:
    """The tokens of each of the n-grams `wanted`, between blanks."""
    last = np.zeros(int(ids.max(initial=-1)) + 1, np.int64)
    at = np.flatnonzero(ids >= 0)
    last[ids[at]] = at
    return [" ".join(table.types[i] for i in table.ids[end - n + 1 : end + 1]) for end in last[wanted].tolist()]


def label_tests(found: Occurrences, instances: Instances, groups: Groups) -> Iterator[Tests]:
    """The test of every n-gram with gold, or with each class."""
    if instances.kind == "choices":
        expected = found.n_with / instances.n_answers[found.row]
        yield _test(GOLD, found, found.in_gold.astype(float), expected, groups)
        return
    labels = instances.answers
    for number, label in enumerate(instances.classes):
        has = labels == number
        if has.any() and not has.all():
            share = np.full(len(found.row), has[found.counted].mean())
            yield _test(label, found, has[found.row].astype(float), share, groups)


def _test(label: str, found: Occurrences, has: np.ndarray, expected: np.ndarray, groups: Groups) -> Tests:
    """z and the exact binomial p-value of every n-gram; `has` (E,) 1 where the label is there, by luck `expected` (E,).

    Both at n divided by the design effect of groups where it is above 1.
    """
    size = len(found.ngrams)
    n = np.bincount(found.ngram, minlength=size)
    share = np.bincount(found.ngram, has, size) / n
    chance = np.bincount(found.ngram, expected, size) / n
    effective = n / _design_effects(found, has - expected, groups)
    z = (share - chance) / np.sqrt(chance * (1 - chance) / effective)
    return Tests(label, n, share, chance, z, _binomial(share * effective, effective, chance))


def _design_effects(found: Occurrences, residuals: np.ndarray, groups: Groups) -> np.ndarray:
    """(G,) how much more an n-gram's share varies with whole groups drawn than with single units drawn; at least 1.

    Around chance, not around the share that was found: an n-gram that one group alone has then counts as one unit.
    """
    size = len(found.ngrams)
    keys, cluster = np.unique(groups.numbers[found.row] * size + found.ngram, return_inverse=True)
    sums = np.bincount(cluster, residuals, len(keys))
    over_groups = np.bincount(keys % size, sums**2, size) if size else np.zeros(0)
    return np.maximum(1.0, over_groups / np.bincount(found.ngram, residuals**2, size))


def _binomial(x: np.ndarray, n: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """(G,) twice the smaller tail of a binomial, both of `x` and `n` perhaps fractions; at most 1.

    Where chances of units differ, luck varies less than this (Hoeffding 1956), so p is too large rather than too small.
    """
    from scipy.special import betainc, betaincc

    above = np.where(x > 0, betainc(np.maximum(x, 1e-12), n - x + 1, chance), 1.0)
    below = np.where(x < n, betaincc(x + 1, np.maximum(n - x, 1e-12), chance), 1.0)
    p: np.ndarray = np.minimum(1.0, 2 * np.minimum(above, below))
    return p


def word_diagnostics(
    instances: Instances, groups: Groups, associations: list[Association] | None = None
) -> list[Diagnostic]:
    """AF301, how many words go with a label or against it, and AF302, how many longer n-grams.

    `associations` are those of `word_associations`, computed when not given.
    """
    made = word_associations(instances, groups) if associations is None else associations
    words = [one for one in made if " " not in one.ngram]
    longer = [one for one in made if " " in one.ngram]
    return [
        _diagnostic("AF301", "word", words, instances, groups),
        _diagnostic("AF302", "n-gram", longer, instances, groups, f" of 2 to {N_MAX}"),
    ]


def _diagnostic(
    code: str, one: str, found: list[Association], instances: Instances, groups: Groups, of: str = ""
) -> Diagnostic:
    names, subject = sorted({one.ngram for one in found}), f"{one}s{of}"
    said = f"None of the {subject} goes with a label beyond luck."
    if names:
        goes = "goes" if len(names) == 1 else "go"
        said = (
            f"{several(len(names), one + of, subject)} {goes} with a label beyond luck: {'; '.join(_strongest(found))}."
        )
    return Diagnostic(
        code=code,
        subject=subject,
        status="found" if names else "clear",
        value=float(len(names)),
        unit="count",
        said=said,
        chance=0.0,
        n=len(instances),
        n_groups=groups.n,
        examples=tuple(_examples(found, instances)),
    )


def _strongest(found: list[Association], most: int = 3) -> Iterator[str]:
    """For each label the n-grams that go with it most; for gold also those that go against it."""
    for label in sorted({one.label for one in found}):
        for_it = [one for one in found if one.label == label and one.z > 0][:most]
        against = [one for one in found if one.label == label and one.z < 0][:most]
        if for_it:
            yield f"{label}: {', '.join(map(_said, for_it))}"
        if against and label == GOLD:
            yield f"not {label}: {', '.join(map(_said, against))}"


def _said(one: Association) -> str:
    return f"“{one.shown}” ({in_percent(one.share, 0)} of {one.n:,}, chance {in_percent(one.chance, 0)})"


def _examples(found: list[Association], instances: Instances) -> Iterator[Example]:
    """For each of the strongest the first instance, by id, that shows it; classes show what goes with them only."""
    order = sorted(range(len(instances)), key=lambda row: instances.instances[row].id)
    shown = [one for one in found if one.z > 0 or one.label == GOLD]
    for one in shown[:AT_MOST]:
        row = next((row for row in order if _shows(one, instances, row)), None)
        if row is not None:
            not_ = "" if one.z > 0 else "not "
            yield example(instances, row, f"“{one.shown}”: {not_}{one.label}")


def _shows(association: Association, instances: Instances, row: int) -> bool:
    """Whether the n-gram is in gold, or, where it goes against gold, in other options alone; or in a text of its
    class."""
    one, ngram = instances.instances[row], association.ngram
    if association.label != GOLD:
        return one.answer == instances.classes.index(association.label) and _contains(one.options[0], ngram)
    gold = _contains(one.options[one.answer], ngram)
    return gold if association.z > 0 else not gold and any(_contains(text, ngram) for text in one.options)


def _contains(text: str, ngram: str) -> bool:
    if ngram.partition(" ")[0] not in lower(text):
        return False
    table = token_table([text])
    return f" {ngram} " in f" {' '.join(table.types[i] for i in table.ids)} "
