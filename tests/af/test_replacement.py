"""The replacement rule: the fast walk against the slow reference, and what no iteration may break."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow.replacement import replace_row

from swag_af.af import replacement
from swag_af.af.replacement import Draws, Policy, replace
from swag_af.data.pool.assignments import check_assignment, random_assignment

RULES = ("paper", "released")
PICKS = ("random", "hardest")


@st.composite
def cases(draw):
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n, n_candidates = draw(st.integers(1, 12)), draw(st.integers(4, 60))
    n_assigned = draw(st.integers(2, min(10, n_candidates)))
    counts = rng.integers(n_assigned, n_candidates + 1, n)
    levels = draw(st.sampled_from([3, 10, 10**6]))  # few levels make ties common
    scores = rng.integers(0, levels, (n, n_candidates)) / levels
    scores[:, 0] += draw(st.sampled_from([-0.5, 0.0, 0.5]))
    assignment = random_assignment(counts, n_assigned, rng=rng)
    return scores, assignment, counts, seed, draw(st.integers(1, 4))


def draws_of(case):
    scores, assignment, _, seed, _ = case
    return Draws(*scores.shape, assignment.shape[1], rng=np.random.default_rng((seed, 1)))


def run(case, rule, pick, *, lazy=True, flagged=None):
    scores, assignment, counts, _, n_easy = case
    asked = []

    def score(rows, columns):
        asked.append((rows, columns))
        return scores[rows[:, None], columns]

    assigned_scores = np.take_along_axis(scores, assignment.astype(int), axis=1)
    draws = draws_of(case)
    return replace(assignment, assigned_scores, counts, score, draws, Policy(n_easy, rule, pick, lazy), flagged)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("pick", PICKS)
@given(case=cases())
@settings(max_examples=150)
def test_walk_equals_the_reference_row_by_row(case, rule, pick):
    scores, assignment, counts, _, n_easy = case
    keys, got = draws_of(case).next(len(scores)), run(case, rule, pick).assignment
    for i in range(len(scores)):
        expected = replace_row(
            scores[i], assignment[i], counts[i], keys.easy[i], keys.candidates[i], Policy(n_easy, rule, pick)
        )
        np.testing.assert_array_equal(got[i], expected)


@given(seed=st.integers(0, 2**32 - 1), n_candidates=st.integers(2, 9), sizes=st.lists(st.integers(0, 4), max_size=6))
def test_keys_are_the_same_however_many_are_drawn_at_a_time(seed, n_candidates, sizes):
    parted, whole = (Draws(sum(sizes), n_candidates, 3, rng=np.random.default_rng(seed)) for _ in range(2))
    parts, keys = [parted.next(n) for n in sizes], whole.next(sum(sizes))
    rng = np.random.default_rng(seed)
    np.testing.assert_array_equal(keys.easy, rng.random((sum(sizes), 2)))
    np.testing.assert_array_equal(keys.candidates, rng.random((sum(sizes), n_candidates), dtype=np.float32))
    for name in ("easy", "candidates"):
        np.testing.assert_array_equal(
            np.concatenate([getattr(one, name) for one in parts] or [getattr(keys, name)]), getattr(keys, name)
        )


@pytest.mark.parametrize("pick", PICKS)
@given(case=cases(), at_once=st.sampled_from([1, 100]))
@settings(max_examples=60)
def test_rows_looked_at_some_at_a_time_give_the_same(case, pick, at_once):
    whole = run(case, "paper", pick)
    with patch.object(replacement, "ORDERED_AT_ONCE", at_once):
        parts = run(case, "paper", pick)
    for name in ("assignment", "changes"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name), strict=True)
    counted = [(made.n_easy, made.n_scored, made.n_unassigned) for made in (parts, whole)]
    assert counted[0] == counted[1]


@pytest.mark.parametrize("rule", RULES)
@given(case=cases())
@settings(max_examples=100)
def test_lazy_scan_equals_full_scan_and_scores_no_more(case, rule):
    lazy, full = run(case, rule, "random"), run(case, rule, "random", lazy=False)
    np.testing.assert_array_equal(lazy.assignment, full.assignment)
    assert lazy.n_scored <= full.n_scored <= full.n_unassigned


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("pick", PICKS)
@given(case=cases())
@settings(max_examples=100)
def test_gold_stays_nothing_repeats_and_newcomers_pass(case, rule, pick):
    scores, assignment, counts, _, n_easy = case
    result = run(case, rule, pick)
    check_assignment(result.assignment, counts)
    changed = result.assignment != assignment
    assert (changed.sum(axis=1) <= n_easy).all()
    for row, column in zip(*np.nonzero(changed), strict=True):
        old, new = scores[row, assignment[row, column]], scores[row, result.assignment[row, column]]
        assert old < scores[row, 0], "only easy distractors leave"
        assert new > (scores[row, 0] if rule == "released" else old)


@pytest.mark.parametrize("n_above", [1, 2])
def test_of_released_every_easy_distractor_leaves_as_often(n_above):
    """The easiest two of a draw went in order of their scores, so that where one candidate beats gold the hardest of
    all never left."""
    n = 4000
    scores = np.tile(np.array([5.0, 1.0, 2.0, 3.0, 4.0, *[9.0] * n_above]), (n, 1))
    assignment = np.tile(np.arange(5), (n, 1))
    counts = np.full(n, scores.shape[1])
    made = run((scores, assignment, counts, 0, 2), "released", "random")
    left = np.bincount(made.changes[:, 1], minlength=5)[1:]
    due = len(made.changes) / 4
    assert len(made.changes) == n * n_above
    assert ((left - due) ** 2 / due).sum() < 16.27  # chi squared of 3 degrees of freedom, 1 in 1,000


def flags_of(case, share):
    """(n, K) which candidates are flagged, never gold; some of those assigned may be."""
    scores, assignment, *_ = case
    rng = np.random.default_rng(int(assignment.sum()) + scores.size)
    flagged = rng.random(scores.shape) < share
    flagged[:, 0] = False
    return flagged


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("pick", PICKS)
@given(case=cases(), share=st.sampled_from([0.1, 0.5, 0.9, 1.0]))
@settings(max_examples=80)
def test_no_flagged_candidate_enters_and_the_walk_equals_the_reference(case, rule, pick, share):
    scores, assignment, counts, _, n_easy = case
    keys, flagged = draws_of(case).next(len(scores)), flags_of(case, share)
    result = run(case, rule, pick, flagged=flagged)
    entered = result.assignment != assignment
    rows = np.nonzero(entered)[0]
    assert not flagged[rows, result.assignment[entered]].any()
    for i in range(len(scores)):
        policy = Policy(n_easy, rule, pick)
        expected = replace_row(
            scores[i], assignment[i], counts[i], keys.easy[i], keys.candidates[i], policy, flagged[i]
        )
        np.testing.assert_array_equal(result.assignment[i], expected)


@pytest.mark.parametrize("pick", PICKS)
@given(case=cases())
@settings(max_examples=40)
def test_a_table_without_a_flag_changes_nothing(case, pick):
    scores, *_ = case
    with_table, without = run(case, "paper", pick, flagged=np.zeros(scores.shape, bool)), run(case, "paper", pick)
    np.testing.assert_array_equal(with_table.changes, without.changes)
    assert (with_table.n_scored, with_table.n_unassigned) == (without.n_scored, without.n_unassigned)


def test_flagged_candidates_are_not_scored():
    scores, asked = np.arange(8.0)[None], []

    def score(rows, columns):
        asked.extend(columns.ravel().tolist())
        return scores[rows[:, None], columns]

    draws = Draws(1, 8, 3, rng=np.random.default_rng(0))
    flagged = np.isin(np.arange(8), [3, 5, 6])[None]
    result = replace(np.array([[0, 1, 2]]), np.array([[9.0, 1, 2]]), np.array([8]), score, draws, Policy(), flagged)
    assert result.n_unassigned == 2
    assert set(asked) <= {0, 4, 7}


def test_newcomers_are_drawn_uniformly_from_those_that_pass():
    scores = np.array([5.0, 1.0, 0.0, 2.0, 3.0, 4.0, 0.5])  # 1 and 2 assigned, both easy
    assignment, counts, seen = np.array([[0, 1, 2]], np.int32), np.array([7]), np.zeros((7, 7))
    rng, n = np.random.default_rng(0), 6000
    for _ in range(n):
        result = replace(
            assignment,
            scores[assignment],
            counts,
            lambda r, c: scores[c],
            Draws(1, 7, 3, rng=rng),
            Policy(),
        )
        seen[result.assignment[0, 1], result.assignment[0, 2]] += 1
    # slot of candidate 2 (easier) takes any of 3, 4, 5, 6; then that of candidate 1 any of 3, 4, 5 still free
    expected = {(b, a): n / 4 / (2 if a in (3, 4, 5) else 3) for a in (3, 4, 5, 6) for b in (3, 4, 5) if a != b}
    assert seen.sum() == sum(seen[pair] for pair in expected)
    chi_square = sum((seen[pair] - e) ** 2 / e for pair, e in expected.items())
    assert chi_square < 24.7  # 0.1 % level at 8 degrees of freedom is 26.1


def test_a_row_with_nothing_outside_keeps_its_assignment():
    scores = np.array([[2.0, 1.0, 0.0]])
    result = replace(
        np.array([[0, 1, 2]]),
        scores,
        np.array([3]),
        lambda r, c: scores[r[:, None], c],
        Draws(1, 3, 3, rng=np.random.default_rng(0)),
        Policy(),
    )
    assert result.n_scored == 0
    assert not len(result.changes)
