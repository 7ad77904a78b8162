"""Claims about the parts of a diagnosis: each agrees with a slow, obvious twin."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from conftest import make_pool
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.data.numbers.interval import paired_difference
from swag_af.diagnosing.agreement import agreements, centred_ranks, rank_correlations, swaps_agreed
from swag_af.diagnosing.diagnosis import fewer_candidates
from swag_af.diagnosing.figures import Figure, average_of, mean_of, share_of
from swag_af.diagnosing.fits import UNREAD, Fits
from swag_af.diagnosing.growth import Hits, hits_against, sizes_up_to
from swag_af.diagnosing.left import Measured, by_others, count_harder, hardest, histogram, hits_of, ties
from swag_af.diagnosing.trend import POWERS, at, power_law, resampled_means, trend_of
from swag_af.diagnosing.words import change, number, points

SEEDS = st.integers(0, 2**32 - 1)


def made(seed: int, *, n: int = 6, k: int = 9, a: int = 4, share: float = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores (n, k) with ties, rows of different lengths and a share that was not read; and an assignment (n, a)."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5, (n, k)).astype(float)
    if share:
        scores[rng.random((n, k)) < share] = UNREAD
    counts = rng.integers(a, k + 1, n)
    scores[np.arange(k) >= counts[:, None]] = np.nan
    assigned = np.array([[0, *(1 + rng.choice(count - 1, a - 1, replace=False))] for count in counts])
    return scores, assigned


def present(row: np.ndarray) -> list[int]:
    return [k for k in range(len(row)) if not np.isnan(row[k])]


@given(SEEDS)
@settings(max_examples=60)
def test_harder_candidates_are_counted_as_one_would_by_hand(seed: int) -> None:
    scores, assigned = made(seed)
    counted = count_harder(scores, assigned)
    for i, (row, mine) in enumerate(zip(scores, assigned.tolist(), strict=True)):
        outside = [k for k in present(row) if k not in mine]
        easiest = min(row[j] for j in mine[1:])
        assert counted.above_easiest[i] == sum(row[k] > easiest for k in outside)
        assert counted.above_gold[i] == sum(row[k] > row[0] for k in outside)
        assert counted.has_easy[i] == any(row[j] < row[0] for j in mine[1:])


@given(SEEDS)
@settings(max_examples=60)
def test_the_hardest_are_the_first_of_all_sorted(seed: int) -> None:
    scores, assigned = made(seed)
    keys = np.random.default_rng(seed).random(scores.shape)
    for i, chosen in enumerate(hardest(scores, assigned.shape[1], keys).tolist()):
        ranked = sorted(present(scores[i])[1:], key=lambda k: (-scores[i, k], keys[i, k]))
        assert chosen == [0, *ranked[: assigned.shape[1] - 1]]


@given(SEEDS)
@settings(max_examples=60)
def test_agreed_swaps_are_counted_as_one_would_by_hand(seed: int) -> None:
    (one, assigned), other = made(seed), np.random.default_rng(seed).integers(0, 4, (6, 9)).astype(float)
    found = swaps_agreed(one, other, assigned)
    for i, mine in enumerate(assigned.tolist()):
        agreed = [
            1.0 if other[i, k] > other[i, j] else 0.5 if other[i, k] == other[i, j] else 0.0
            for j in mine[1:]
            for k in present(one[i])
            if one[i, j] < one[i, 0] and k not in mine and one[i, k] > one[i, j]
        ]
        assert found[i] == pytest.approx(np.mean(agreed)) if agreed else np.isnan(found[i])


@given(SEEDS)
@settings(max_examples=40)
def test_rank_correlations_are_those_of_scipy(seed: int) -> None:
    from scipy.stats import spearmanr

    (one, _), rng = made(seed, k=12), np.random.default_rng(seed)
    other = np.where(np.isnan(one), np.nan, one + rng.integers(0, 6, one.shape))
    found = rank_correlations(centred_ranks(one), centred_ranks(other))
    for i in range(len(one)):
        a, b = one[i, present(one[i])], other[i, present(one[i])]
        if np.ptp(a) and np.ptp(b):
            assert found[i] == pytest.approx(spearmanr(a, b).statistic)
        else:
            assert np.isnan(found[i])


@given(SEEDS, st.integers(1, 6))
@settings(max_examples=60)
def test_hits_against_some_are_the_mean_over_all_subsets(seed: int, n_negatives: int) -> None:
    scores = np.random.default_rng(seed).integers(0, 4, (3, 7)).astype(float)
    found = hits_against(scores, n_negatives)
    for row, hit in zip(scores, found.tolist(), strict=True):
        hits = []
        for some in itertools.combinations(row[1:].tolist(), n_negatives):
            top = max(row[0], *some)
            hits.append((row[0] == top) / (1 + some.count(row[0])))
        assert hit == pytest.approx(np.mean(hits))


def test_what_a_fit_chose_is_judged_by_every_other_fit_and_never_by_itself() -> None:
    keys = np.zeros((1, 4))
    scores = [np.array([[2.0, 3, 1, 0]]), np.array([[2.0, 1, 3, 0]]), np.array([[2.0, 0, 1, 3]])]
    chosen = [hardest(one, 2, keys) for one in scores]
    assert [one.tolist() for one in chosen] == [[[0, 1]], [[0, 2]], [[0, 3]]]
    assert [hits_of(s, c).tolist() for s, c in zip(scores, chosen, strict=True)] == [[0.0]] * 3
    assert by_others(scores, chosen).tolist() == [1.0]


def test_the_histogram_has_doubling_bins() -> None:
    assert histogram(np.array([[0, 1, 2, 3, 4, 7, 8, 0]])) == (0.25, 0.125, 0.25, 0.25, 0.125)


def test_sizes_are_halves_down_to_sixteen() -> None:
    assert sizes_up_to(2400) == (75, 150, 300, 600, 1200, 2400)
    assert sizes_up_to(70) == (17, 35, 70)
    assert sizes_up_to(7) == (7,)


def test_figures_of_nothing_are_none_and_those_of_correlations_reach_below_zero() -> None:
    groups = np.arange(40)
    assert mean_of(np.full(40, np.nan), groups) is None
    assert share_of(np.zeros(40), np.zeros(40), groups) is None
    found = average_of(np.tile([-0.5, 0.1], 20), groups)
    assert found is not None
    assert (found.value, found.low < -0.2 < found.high, found.high < 0.1) == (-0.2, True, True)


def law_of(x: np.ndarray, ceiling: float, slope: float, power: float) -> np.ndarray:
    made: np.ndarray = ceiling + slope * x**-power
    return made


@given(st.floats(0.2, 0.9), st.floats(-1.5, 1.5), st.sampled_from(POWERS.tolist()))
@settings(max_examples=40)
def test_a_power_law_is_found_again(ceiling: float, slope: float, power: float) -> None:
    x = np.array([25.0, 50, 100, 200, 400])
    y = law_of(x, ceiling, slope, power)
    assert at(power_law(x, y[None]), 800.0)[0] == pytest.approx(
        law_of(np.array(800.0), ceiling, slope, power), abs=1e-6
    )


def test_the_power_law_is_no_worse_than_that_of_scipy() -> None:
    from scipy.optimize import curve_fit

    rng = np.random.default_rng(0)
    x = np.array([25.0, 50, 100, 200, 400, 800])
    y = law_of(x, 0.6, -1.0, 0.5) + rng.normal(0, 0.01, (20, len(x)))
    for mine, values in zip(power_law(x, y), y, strict=True):
        bounds = ([0, -np.inf, POWERS[0]], [1, np.inf, POWERS[-1]])
        theirs = curve_fit(law_of, x, values, p0=(0.5, -1, 0.5), bounds=bounds, maxfev=20000)[0]
        errors = [float(((law_of(x, *law) - values) ** 2).sum()) for law in (mine, theirs)]
        assert errors[0] <= 1.02 * errors[1] + 1e-9


def hits(
    curve: list[float], *, n: int = 3000, seed: int = 0, sizes: tuple[int, ...] = (50, 100, 200, 400, 800)
) -> Hits:
    rng = np.random.default_rng(seed)
    values = (rng.random((n, 1)) < np.array(curve)).astype(float)
    return Hits(sizes[: len(curve)], values, np.arange(n) // 2, np.arange(n) % 3)


def test_a_rising_curve_is_known_to_rise_and_a_flat_one_is_not() -> None:
    rising = trend_of(hits([0.3, 0.38, 0.45, 0.51, 0.565]), rng=np.random.default_rng(0))
    assert rising.direction == 1
    assert rising.doubled is not None
    assert rising.doubled.low <= 0.05 <= rising.doubled.high
    flat = trend_of(hits([0.4] * 5), rng=np.random.default_rng(0))
    assert flat.direction == 0


def test_a_curve_that_is_no_power_law_is_not_extrapolated() -> None:
    kinked = trend_of(hits([0.3, 0.3, 0.3, 0.3, 0.6]), rng=np.random.default_rng(0))
    assert kinked.doubled is None
    assert "misses the largest" in kinked.why_unknown
    assert kinked.last is not None
    assert kinked.last.low > 0.25


@pytest.mark.parametrize(("curve", "n"), [([0.3, 0.4, 0.5], 3000), ([0.3, 0.4, 0.45, 0.5], 30)])
def test_of_few_sizes_or_groups_nothing_is_said(curve: list[float], n: int) -> None:
    found = trend_of(hits(curve, n=n), rng=np.random.default_rng(0))
    assert found.doubled is None
    assert found.direction == 0
    assert "are needed" in found.why_unknown


def test_a_doubling_that_changed_no_group_is_not_sure_to_change_none() -> None:
    """Resampled groups that are all alike gave an interval of no width: +0.0 points (+0.0 to +0.0)."""
    sizes, groups, draws = (50, 100, 200, 400), np.arange(80) // 2, np.zeros(80, int)
    of_none = trend_of(Hits(sizes, np.zeros((80, 4)), groups, draws), rng=np.random.default_rng(0))
    for found in (of_none.last, of_none.missed, of_none.doubled):
        assert found is not None
        expected = paired_difference(np.zeros(40), np.zeros(40), np.arange(40))
        assert (found.value, found.low, found.high) == pytest.approx((0, expected.low, expected.high), abs=1e-6)
        assert not found.is_near(0)
    values = np.array([[0.0, 0.0, 0.0, 1.0]] * 80)
    of_all = trend_of(Hits(sizes, values, groups, draws), rng=np.random.default_rng(0))
    assert of_all.last is not None
    assert (of_all.last.value, of_all.last.high) == (1, 1)
    assert 0.7 < of_all.last.low < 0.9


def test_samples_are_of_whole_groups_and_draws_and_the_first_is_all() -> None:
    values = np.random.default_rng(0).random((40, 2))
    made = Hits((1, 2), values, np.arange(40) % 7, np.arange(40) // 20)
    means = resampled_means(made, rng=np.random.default_rng(1))
    assert means[0] == pytest.approx(values.mean(axis=0))
    rng = np.random.default_rng(1)
    of_group, of_draw = rng.multinomial(7, np.full(7, 1 / 7), 1000), rng.multinomial(2, np.full(2, 1 / 2), 1000)
    weights = of_group[4][made.groups] * of_draw[4][made.draws]
    assert means[5] == pytest.approx((weights[:, None] * values).sum(axis=0) / weights.sum())


@given(SEEDS, st.integers(1, 40))
@settings(max_examples=10)
def test_fits_are_compared_some_contexts_at_a_time_to_the_last_bit(seed: int, at_once: int) -> None:
    rng, (_, assigned) = np.random.default_rng(seed), made(seed, n=23)
    counts = 1 + np.maximum(assigned.max(axis=1), rng.integers(0, 9, 23))
    scores = [[some_scores(rng, counts) for _ in range(n)] for n in (4, 2)]  # 12 pairs of the first
    groups = rng.integers(0, 9, 23)
    whole, parts = (agreements(["x", "y"], scores, assigned, groups, at_once=one) for one in (23 * 9, at_once))
    assert parts == whole


def some_scores(rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
    """(n, 9) of a fit that could not read all."""
    scores = rng.integers(0, 5, (len(counts), 9)) + rng.random((len(counts), 9)).round(1)
    scores[rng.random(scores.shape) < 0.1] = UNREAD
    return np.where(np.arange(9) < counts[:, None], scores, np.nan)


@given(SEEDS, st.integers(1, 40))
@settings(max_examples=10)
def test_fewer_candidates_are_taken_some_contexts_at_a_time_to_the_last_bit(seed: int, at_once: int) -> None:
    rng, pool = np.random.default_rng(seed), make_pool(n=23, fewest=8, most=8)
    rows, assigned = np.arange(23), np.tile(np.arange(4), (23, 1))
    fits = Fits(pool, rows, assigned, pool.groups, [], 3, seed, Path())
    measured = Measured([some_scores(rng, np.full(23, 9)) for _ in range(4)], [], [], [])
    whole, parts = (fewer_candidates(fits, measured, at_once=one) for one in (23 * 9, at_once))
    assert np.array_equal(parts.values, whole.values)
    assert np.array_equal(whole.values, fewer_of_all(fits, measured))


def fewer_of_all(fits: Fits, measured: Measured) -> np.ndarray:
    """The slow twin: a random part of each row, and the hardest of it, taken from tables of all rows."""
    values = []
    for size in (4, 9):
        chosen = []
        for seed, scores in enumerate(measured.scores):
            order, keys = fits.rng(seed, b"fewer").random(scores.shape), ties(fits, seed)
            order[:, 0] = -1
            taken = np.argsort(order, axis=1)[:, :size]
            part = np.full(scores.shape, np.nan)
            np.put_along_axis(part, taken, np.take_along_axis(scores, taken, axis=1), axis=1)
            chosen.append(hardest(part, 4, keys))
        values.append(by_others(measured.scores, chosen))
    return np.stack(values, axis=1)


def test_no_figure_is_a_negative_nothing() -> None:
    near = Figure(-0.0004, -0.0004, 0.0004)
    assert (points(near), number(near)) == ("0.0 points (0.0 to 0.0)", "0.00 (0.00 to 0.00)")
    assert change(near) == "+0.0 points (+0.0 to +0.0)"
