"""Claims about assignments: gold first, nothing twice, nothing that is not there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.data.errors import ExhaustedError, InputError
from swag_af.data.pool.assignments import check_assignment, check_enough, random_assignment

COUNTS = np.array([4, 6, 5])
GOOD = np.array([[0, 1, 3], [0, 5, 2], [0, 4, 1]])


@given(st.integers(2, 6), st.lists(st.integers(6, 30), min_size=1, max_size=8), st.integers(0, 99))
@settings(max_examples=60)
def test_a_random_assignment_is_sound(n_assigned: int, counts: list[int], seed: int) -> None:
    assignment = random_assignment(np.array(counts), n_assigned, rng=np.random.default_rng(seed))
    assert assignment.shape == (len(counts), n_assigned)
    check_assignment(assignment, np.array(counts))


@given(st.integers(2, 6), st.lists(st.integers(6, 30), min_size=1, max_size=8), st.integers(0, 99))
@settings(max_examples=60)
def test_no_flagged_candidate_is_drawn(n_assigned: int, counts: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    flagged = np.zeros((len(counts), max(counts)), bool)
    for row, count in enumerate(counts):
        flagged[row, 1 + rng.permutation(count - 1)[: count - n_assigned]] = True  # as many as there may be
    assignment = random_assignment(np.array(counts), n_assigned, rng=rng, flagged=flagged)
    assert not np.take_along_axis(flagged, assignment.astype(np.int64), axis=1).any()
    check_assignment(assignment, np.array(counts))


def test_a_table_without_a_flag_changes_no_draw() -> None:
    counts = np.array([9, 30, 12])
    one, two = (
        random_assignment(counts, 5, rng=np.random.default_rng(3), flagged=flagged)
        for flagged in (None, np.zeros((3, 30), bool))
    )
    np.testing.assert_array_equal(one, two)


def test_a_row_whose_candidates_are_flagged_is_named() -> None:
    flagged = np.zeros((3, 6), bool)
    flagged[1, 2:6] = True
    with pytest.raises(ExhaustedError, match=r"first: row 1 with 1 beside 4 flagged ones.*swag-af guard --min-neg"):
        check_enough(COUNTS, 3, flagged)


def test_the_same_rng_draws_the_same_assignment() -> None:
    one, two, other = (random_assignment(np.full(9, 40), 6, rng=np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def test_negatives_are_drawn_uniformly() -> None:
    drawn = random_assignment(np.full(4000, 6), 3, rng=np.random.default_rng(0))[:, 1:]
    shares = np.bincount(drawn.ravel(), minlength=6)[1:] / len(drawn)
    np.testing.assert_allclose(shares, 2 / 5, atol=0.04)  # five standard errors


def test_a_row_may_be_used_up_whole() -> None:
    assignment = random_assignment(np.array([4]), 4, rng=np.random.default_rng(0))
    assert sorted(assignment[0]) == [0, 1, 2, 3]


def test_a_row_with_too_few_candidates_is_named() -> None:
    with pytest.raises(ExhaustedError, match=r"1 of 3 rows .*first: row 2 with 1\)"):
        check_enough(np.array([5, 3, 2]), 3)


def test_where_every_row_has_too_few_the_most_there_are_is_said() -> None:
    with pytest.raises(ExhaustedError, match=r"no row has 50 negatives; the most that one has is 7\. Ask for fewer"):
        check_enough(np.array([5, 8, 4]), 51)


def test_gold_alone_is_no_assignment() -> None:
    with pytest.raises(InputError, match="at least one negative"):
        check_enough(COUNTS, 1)


BROKEN = {
    "gold elsewhere": ([[1, 0, 3], [0, 5, 2], [0, 4, 1]], "gold"),
    "beyond the row": ([[0, 1, 4], [0, 5, 2], [0, 4, 1]], "does not have"),
    "below zero": ([[0, 1, -1], [0, 5, 2], [0, 4, 1]], "does not have"),
    "twice": ([[0, 1, 1], [0, 5, 2], [0, 4, 1]], "twice"),
    "gold twice": ([[0, 1, 0], [0, 5, 2], [0, 4, 1]], "twice"),
    "too few rows": ([[0, 1, 2]], "for 3 rows"),
    "one dimension": ([0, 1, 2], "for 3 rows"),
}


@pytest.mark.parametrize(("assignment", "said"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_assignment_is_refused(assignment: list, said: str) -> None:
    check_assignment(GOOD, COUNTS)
    with pytest.raises(InputError, match=said):
        check_assignment(np.array(assignment), COUNTS)
