"""Claims about groups: what shares a text is joined as far as that is possible, and dealt whole."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.data.splits import deal, join_by_text, join_pairs, named_groups, numbered

TEXTS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 9)), max_size=30)
"""`(row, key)`; the key 0 is no text."""


def joined_slowly(groups: list[int], texts: list[tuple[int, int]]) -> list[set[int]]:
    """The rows of each group, by merging sets until nothing changes."""
    sets = [{row for row, group in enumerate(groups) if group == one} for one in sorted(set(groups))]
    for key in {key for _, key in texts if key}:
        holders = {row for row, other in texts if other == key}
        touched = [rows for rows in sets if rows & holders]
        sets = [rows for rows in sets if not rows & holders] + [set().union(*touched)]
    return sets


@given(st.lists(st.integers(0, 11), min_size=12, max_size=12), TEXTS)
@settings(max_examples=200)
def test_rows_that_share_a_text_at_any_remove_are_one_group(names: list[int], texts: list[tuple[int, int]]) -> None:
    groups = np.unique(names, return_inverse=True)[1]
    rows, keys = np.array(texts, dtype=np.int64).reshape(-1, 2).T
    made = join_by_text(groups, rows, keys, most=1.0)
    expected = joined_slowly(groups.tolist(), texts)
    assert sorted(map(sorted, expected)) == sorted(
        np.flatnonzero(made.groups == group).tolist() for group in range(int(made.groups.max()) + 1)
    )
    assert made.n_apart == 0


@given(st.lists(st.integers(0, 11), min_size=12, max_size=12), TEXTS, st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_the_order_of_texts_changes_nothing(names: list[int], texts: list[tuple[int, int]], random) -> None:
    groups = np.unique(names, return_inverse=True)[1]
    shuffled = random.sample(texts, len(texts))
    one, other = (
        join_by_text(groups, *np.array(some, dtype=np.int64).reshape(-1, 2).T, most=0.5) for some in (texts, shuffled)
    )
    assert one.groups.tolist() == other.groups.tolist()
    assert (one.n_joined, one.n_apart) == (other.n_joined, other.n_apart)


def test_a_commonplace_joins_nothing_and_what_it_leaves_apart_is_counted() -> None:
    groups = np.arange(40)
    rows, keys = [*range(30), 0, 1, 38, 39], [7] * 30 + [8, 8, 9, 9]  # the key 7 in 30 rows, 8 and 9 in two
    made = join_by_text(groups, np.array(rows), np.array(keys), most=0.1)
    assert [np.flatnonzero(made.groups == made.groups[row]).tolist() for row in (0, 38, 5)] == [[0, 1], [38, 39], [5]]
    assert (made.n_joined, made.n_apart) == (2, 30)


def joined_within_slowly(groups: list[int], texts: list[tuple[int, int]], largest: int) -> list[set[int]]:
    """Sets of rows: all texts join; of what that makes too large only texts in fewer groups do, and so on."""
    holders = {key: {groups[row] for row, other in texts if other == key} for key in {key for _, key in texts if key}}
    most = max(map(len, holders.values()), default=1)
    limits = [most, *(2**power for power in range(most.bit_length(), 0, -1) if 2**power < most)]
    done, waiting = list[set[int]](), set(groups)
    for limit in limits:
        used = [(row, key) for row, key in texts if key and len(holders[key]) <= limit and groups[row] in waiting]
        for rows in joined_slowly(groups, used):
            if groups[min(rows)] in waiting and len(rows) <= largest:
                done.append(rows)
                waiting -= {groups[row] for row in rows}
    return done + [{row for row, group in enumerate(groups) if group == one} for one in waiting]


@given(st.lists(st.integers(0, 11), min_size=12, max_size=12), TEXTS, st.sampled_from([0.1, 0.25, 0.4, 0.7]))
@settings(max_examples=300)
def test_what_would_be_too_large_is_joined_by_rarer_texts_and_the_rest_by_all(
    names: list[int], texts: list[tuple[int, int]], most: float
) -> None:
    groups = np.unique(names, return_inverse=True)[1]
    rows, keys = np.array(texts, dtype=np.int64).reshape(-1, 2).T
    made = join_by_text(groups, rows, keys, most=most).groups
    largest = max(int(np.bincount(groups).max()), int(most * len(groups)))
    expected = joined_within_slowly(groups.tolist(), texts, largest)
    assert sorted(map(sorted, expected)) == sorted(
        np.flatnonzero(made == group).tolist() for group in range(int(made.max()) + 1)
    )


def test_one_long_chain_parts_no_rows_elsewhere() -> None:
    """Ten pairs of equal questions were parted, since a chain of other rows was too long."""
    chain = [(row, 100 + row + step) for row in range(12) for step in (0, 1)]
    pairs = [(row, row // 2) for row in range(20, 40)]
    made = join_by_text(np.arange(100), *np.array(chain + pairs).T)
    assert all(made.groups[row] == made.groups[row + 1] for row in range(20, 40, 2))
    assert len(set(made.groups[:12].tolist())) == 12
    assert (made.n_joined, made.n_apart) == (20, 12)


def test_nothing_shared_changes_no_number() -> None:
    groups = np.array([2, 0, 1, 1])
    made = join_by_text(groups, np.arange(4), np.array([5, 6, 7, 7]))
    assert made.groups.tolist() == groups.tolist()
    assert (made.n_joined, made.n_apart) == (0, 0)


def test_no_rows_make_no_groups() -> None:
    none = np.zeros(0, np.int64)
    assert len(join_by_text(none, none, none).groups) == len(deal(none, 5, rng=np.random.default_rng(0))) == 0


def test_pairs_join_their_groups() -> None:
    assert join_pairs(np.array([0, 0, 1, 2, 3]), [(1, 3)]).tolist() == [0, 0, 1, 0, 2]
    assert join_pairs(np.array([0, 1]), []).tolist() == [0, 1]


def test_a_blank_name_is_a_group_of_its_own() -> None:
    assert len(set(named_groups(["a", "", "a", ""]).tolist())) == 3


@given(st.lists(st.text(st.characters(exclude_characters="\0"), max_size=4), min_size=1))
def test_texts_have_the_numbers_that_numpy_gives_them(texts: list[str]) -> None:
    assert numbered(texts).tolist() == np.unique(texts, return_inverse=True)[1].tolist()


def test_one_long_name_does_not_take_its_length_for_each() -> None:
    names = [*(f"video {i}" for i in range(2_000)), "a" * 20_000]
    tracemalloc.start()
    made = named_groups(names)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(set(made.tolist())) == len(names)
    assert peak < 2_000_000


@given(st.lists(st.integers(0, 20), max_size=60), st.integers(2, 7), st.integers(0, 9))
@settings(max_examples=100)
def test_parts_hold_whole_groups_and_differ_by_one_group_at_most(names: list[int], n_parts: int, seed: int) -> None:
    groups = np.unique(np.array(names, dtype=np.int64), return_inverse=True)[1]
    part = deal(groups, n_parts, rng=np.random.default_rng(seed))
    for group in set(groups.tolist()):
        assert len(set(part[groups == group].tolist())) == 1
    sizes = np.bincount(part, minlength=n_parts)
    assert sizes.max() - sizes.min() <= np.bincount(groups).max(initial=0)


@pytest.mark.parametrize("n", [10, 1000])
def test_single_rows_are_dealt_evenly(n: int) -> None:
    sizes = np.bincount(deal(np.arange(n), 5, rng=np.random.default_rng(0)))
    assert sizes.tolist() == [n // 5] * 5
