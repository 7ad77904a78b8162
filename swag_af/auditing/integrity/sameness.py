"""Which instances are the same, and which nearly so: counted a group at a time, so that no two rows are compared.

An instance is its context, its start and its options, in any order, or its text, and what media it names; never its
label. Instances are *the same* if these are equal as `data.text.wording.comparable` has it. They are *nearly* the same
if they are not, but the 3-grams of words of their contexts are similar to `NEAR` or more, those of their options too,
and so is what they have besides the phrases of the whole set (`near_duplicates.peculiar`). So premises that several
hypotheses share, or a passage with several questions, make no duplicates. Of classes, nearly the same have the same
label too: a sentence that was edited until its label changed is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from swag_af.data.instances.grouping import NEAR, same_as
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.text.near_duplicates import jaccard, peculiar, same_sets, sets_of, shingle_sets, similar_sets
from swag_af.data.text.wording import words

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class Sameness:
    """The duplicates of a set of instances; every array is (N,)."""

    same: np.ndarray
    """Equal for instances that are the same."""
    alike: np.ndarray
    """Equal for instances that have the same shingles."""
    near: "csr_array"
    """(alike, alike) ones where two different sets of shingles are nearly the same."""
    beside: np.ndarray
    """Equal for instances with the same media and, of classes, the same label: others are never nearly the same."""
    split: np.ndarray
    """Numbers in the order of `split_names`."""
    split_names: tuple[str, ...]
    file: np.ndarray

    @cached_property
    def exact_within(self) -> np.ndarray:
        """Whether another instance of the split is the same."""
        return _sizes(self.same, self.split) > 1

    @cached_property
    def exact_within_file(self) -> np.ndarray:
        """Whether another instance of the split and file is the same."""
        return _sizes(self.same, self.split, self.file) > 1

    @cached_property
    def exact_across(self) -> np.ndarray:
        """Whether an instance of another split is the same."""
        return _sizes(self.same) > _sizes(self.same, self.split)

    @cached_property
    def exact_in_other_file(self) -> np.ndarray:
        """Whether an instance of another file, but of the same split, is the same."""
        return _sizes(self.same, self.split) > _sizes(self.same, self.split, self.file)

    def within_another(self) -> tuple[int, int] | None:
        """The first rows of a file and of another, in which all that the first has stands in the same splits; None
        where there are no such files."""
        from scipy.sparse import csr_array

        keys = np.unique(np.stack([self.same, self.split]), axis=1, return_inverse=True)[1].ravel()
        (files, of), n_files = np.unique(np.stack([self.file, keys]), axis=1), int(self.file.max()) + 1
        has = csr_array((np.ones(len(of), np.int64), (files, of)), shape=(n_files, int(keys.max()) + 1))
        shared = (has @ has.T).tocoo()
        whole = (shared.data == np.bincount(files)[shared.row]) & (shared.row != shared.col)
        if not whole.any():
            return None
        pair = min(zip(shared.row[whole].tolist(), shared.col[whole].tolist(), strict=True))
        first, second = (int(np.flatnonzero(self.file == file)[0]) for file in pair)
        return first, second

    @cached_property
    def clusters(self) -> np.ndarray:
        """Equal for instances that are joined by a chain of duplicates."""
        from scipy.sparse.csgraph import connected_components

        found: np.ndarray = connected_components(self.near, directed=False)[1][self.alike]
        return found

    @property
    def near_within(self) -> np.ndarray:
        """Whether another instance of the split is nearly the same."""
        return self._n_near[0] > 0

    @property
    def near_across(self) -> np.ndarray:
        """Whether an instance of another split is nearly the same."""
        return self._n_near[1] > 0

    @cached_property
    def _n_near(self) -> tuple[np.ndarray, np.ndarray]:
        """How many different instances are nearly the same, in the split of each and in all others together.

        The same instance counts once in a split. Nearly the same is what has the same shingles, or similar ones.
        """
        from scipy.sparse import csr_array

        n_splits, n_kinds = len(self.split_names), int(self.beside.max()) + 1
        column = self.beside * n_splits + self.split
        once = np.unique(np.stack([self.same, column]), axis=1, return_index=True)[1]
        shape = (self.near.shape[0], n_kinds * n_splits)
        having = csr_array((np.ones(len(once), np.int64), (self.alike[once], column[once])), shape=shape)
        around = csr_array(having + self.near @ having)  # different instances, by what is beside them and by split
        of_kind = (np.arange(shape[1]), np.arange(shape[1]) // n_splits)
        in_all = csr_array(around @ csr_array((np.ones(shape[1], np.int64), of_kind)))
        once_each = self.same[once] * n_kinds + self.beside[once]
        n_splits_of = _counts(once_each, self.same * n_kinds + self.beside)
        here = around[self.alike, column] - 1
        return here, in_all[self.alike, self.beside] - n_splits_of - here

    def twin(self, row: int, *, near: bool = False, across: bool = False, other_file: bool = False) -> int:
        """The first row that is the same as `row`, or `near`ly, in its split, or `across` splits, in another file."""
        if near:
            alike = np.append(self.near[[int(self.alike[row])]].indices, self.alike[row])
            fits = np.isin(self.alike, alike) & (self.beside == self.beside[row]) & (self.same != self.same[row])
        else:
            fits = self.same == self.same[row]
        fits &= (self.split != self.split[row]) if across else (self.split == self.split[row])
        if other_file:
            fits &= self.file != self.file[row]
        fits[row] = False
        return int(np.flatnonzero(fits)[0])


def sameness(instances: Instances) -> Sameness:
    """The duplicates of `instances`."""
    rows = instances.instances
    same = _numbers([same_as(one) or one.id for one in rows])
    by_text = sorted(range(len(rows)), key=lambda row: _raw(rows[row]))
    first = np.array(by_text)[np.unique(same[by_text], return_index=True)[1]]  # (K,) one of each: by text, not by place
    contexts, options = _shingles([rows[row] for row in first.tolist()])
    alike, near = _near(contexts, options)
    names = tuple(sorted({one.split for one in rows}))
    return Sameness(
        same,
        alike[same],
        near,
        _numbers([(one.media, one.answer if instances.kind == "classes" else 0) for one in rows]),
        np.searchsorted(np.array(names), [one.split for one in rows]),
        names,
        _numbers([one.where.rpartition(",")[0] for one in rows]),
    )


def _sizes(*numbers: np.ndarray) -> np.ndarray:
    """(N,) of each row, how many rows have the same of all `numbers`."""
    _, group, sizes = np.unique(np.stack(numbers), axis=1, return_inverse=True, return_counts=True)
    return sizes[group.ravel()]


def _counts(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(N,) how often each of `wanted` (N,) is among `keys` (n,), which have them all."""
    known, n = np.unique(keys, return_counts=True)
    return n[np.searchsorted(known, wanted)]


def _numbers(keys: Sequence[object]) -> np.ndarray:
    """(N,) equal numbers for equal keys, from 0 without a gap."""
    known: dict[object, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in keys], np.int64)


def _raw(one: Instance) -> tuple[object, ...]:
    return one.context, one.start, sorted(one.options)


def _shingles(rows: Sequence[Instance]) -> tuple["csr_array", "csr_array"]:
    """(K, shingles) of context and start, and (K, others) of the options of each instance."""
    first = [f"{one.context} {one.start}" for one in rows]
    n_options = [len(one.options) for one in rows]
    options = [option for one in rows for option in one.options]
    return _by_row(first, np.arange(len(rows)), len(rows)), _by_row(
        options, np.repeat(np.arange(len(rows)), n_options), len(rows)
    )


def _by_row(texts: Sequence[str], row_of: np.ndarray, n: int) -> "csr_array":
    """(n, shingles) of the texts of each row: `texts[i]` is of row `row_of[i]`. Equal texts are cut up once."""
    number = _numbers(texts)
    sets = shingle_sets([words(text) for text in dict.fromkeys(texts)])
    sizes = np.diff(sets.indptr)[number]
    at = (
        np.repeat(sets.indptr[number], sizes) + np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    )
    return sets_of(np.repeat(row_of, sizes), sets.indices[at], n)


def _near(contexts: "csr_array", options: "csr_array") -> tuple[np.ndarray, "csr_array"]:
    """(K,) the set of shingles of each different instance, and which two sets are nearly the same, (alike, alike)."""
    from scipy.sparse import coo_array, csr_array, hstack

    both = csr_array(hstack([contexts, options]))
    both.sort_indices()
    first, alike = np.unique(same_sets(both), return_inverse=True)
    pairs, _ = similar_sets(peculiar(both[first], NEAR), NEAR)
    for part in (contexts[first], options[first]):
        pairs = pairs[jaccard(part, pairs) >= NEAR]
    either = np.concatenate([pairs, pairs[:, ::-1]]).T
    return alike, csr_array(coo_array((np.ones(either.shape[1], np.int64), tuple(either)), shape=(len(first),) * 2))
