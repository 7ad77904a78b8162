"""Claims about intervals: they hold the truth as often as they say, whatever contexts of a video have in common."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from swag_af.auditing.probes.probe import probe
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.numbers.interval import (
    CROSS_VALIDATED,
    difference_of_means,
    effective_groups,
    interval,
    mean_of_folds,
    paired_difference,
    ratio_interval,
    rounded_mean,
    widened,
)


def test_the_interval_of_single_contexts_is_that_of_wilson() -> None:
    n, p, z = 4000, 0.25, 1.96
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    hits = np.tile([1.0, 0, 0, 0], n // 4)
    assert interval(hits, np.arange(n)) == pytest.approx((centre - half, centre + half), abs=2e-4)


def test_the_interval_is_wider_where_contexts_of_a_video_are_alike() -> None:
    groups, hits = np.repeat(np.arange(50), 4), np.tile([1.0, 0, 0, 0], 50)
    alike = np.sort(hits)
    narrow, wide = interval(hits, groups), interval(alike, groups)
    assert wide[1] - wide[0] > 1.5 * (narrow[1] - narrow[0])


def test_what_files_keep_is_the_mean_and_its_interval() -> None:
    hits, groups = np.array([1.0, 0, 0, 1, 1, 0, 1]), np.array([4, 4, 9, 9, 2, 2, 7])
    expected = (hits.mean(), *interval(hits, groups, times=CROSS_VALIDATED))
    assert rounded_mean(hits, groups, times=CROSS_VALIDATED) == tuple(round(float(one), 6) for one in expected)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_the_interval_has_a_width_where_every_hit_is_the_same(value: float) -> None:
    low, high = interval(np.full(40, value), np.repeat(np.arange(10), 4))
    assert 0 <= low <= value <= high <= 1
    assert 0.2 < high - low < 0.5


@pytest.mark.parametrize("n_videos", [8, 60])
@pytest.mark.parametrize("alike", [0.0, 0.2])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(n_videos: int, alike: float) -> None:
    rng, truth, held = np.random.default_rng(0), 0.3, []
    for _ in range(600):
        groups = np.repeat(np.arange(n_videos), rng.integers(1, 7, n_videos))
        spread = (1 - alike) / alike if alike else 0.0
        p = rng.beta(truth * spread, (1 - truth) * spread, n_videos) if alike else np.full(n_videos, truth)
        low, high = interval((rng.random(len(groups)) < p[groups]).astype(float), groups)
        held.append(low <= truth <= high)
    assert np.mean(held) > 0.93


@pytest.mark.parametrize("df", [1, 2, 5, 30, 1000])
def test_the_quantile_of_student_is_that_of_scipy_stats(df: int) -> None:
    from swag_af.data.numbers.interval import t_quantile

    assert t_quantile(df) == pytest.approx(stats.t.ppf(0.975, df), rel=1e-9)


@pytest.mark.parametrize(("n_videos", "largest"), [(21, 60), (101, 300), (101, 75)])
def test_the_interval_holds_the_truth_where_one_video_has_many_contexts(n_videos: int, largest: int) -> None:
    """By the number of videos alone it held the truth in 79, 70 and 94 of 100."""
    rng, truth, alike, held = np.random.default_rng(3), 0.6, 0.3, []
    groups = np.repeat(np.arange(n_videos), [largest, *[3] * (n_videos - 1)])
    for _ in range(400):
        spread = (1 - alike) / alike
        of_video = rng.beta(truth * spread, (1 - truth) * spread, n_videos)
        low, high = interval((rng.random(len(groups)) < of_video[groups]).astype(float), groups)
        held.append(low <= truth <= high)
    assert np.mean(held) >= 0.92


def test_videos_of_very_different_sizes_do_not_make_a_difference_where_there_is_none() -> None:
    """By the number of videos alone one in eight was told."""
    rng, told = np.random.default_rng(4), []
    for _ in range(400):
        groups = np.repeat(np.arange(20), np.maximum(1, rng.lognormal(2, 1.2, 20).round()).astype(int))
        lean, at = rng.normal(0, 0.3, 20)[groups] / 2, rng.random(len(groups))
        before, after = np.clip(0.2 + lean, 0, 0.5), np.clip(0.2 - lean, 0, 0.5)
        fell, rose = at < before, (at >= before) & (at < before + after)
        told.append(paired_difference(fell.astype(float), rose.astype(float), groups).is_significant)
    assert np.mean(told) <= 0.08


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_effective_groups_are_all_where_they_are_alike_and_never_more(sizes: list[int]) -> None:
    assert 1 <= effective_groups(np.array(sizes)) <= len(sizes) + 1e-9
    assert effective_groups(np.full(len(sizes), sizes[0])) == pytest.approx(len(sizes))
    assert effective_groups(np.array([*sizes, 0])) == effective_groups(np.array(sizes))


def test_hits_that_count_for_less_tell_no_more_than_as_many_as_they_sum_to() -> None:
    """All hits of 1,000 that counted for 5 and of 5 others, all right, were as sure as if there were 20."""
    whole = np.repeat([0.005, 1.0], [1000, 5])
    for p in (0.0, 1.0):
        assert ratio_interval(p * whole, whole, np.arange(1005)) == pytest.approx(
            interval(np.full(10, p), np.arange(10))
        )
    one_wrong = whole.copy()
    one_wrong[0] = 0.0
    assert ratio_interval(one_wrong, whole, np.arange(1005))[0] < interval(np.ones(10), np.arange(10))[0]


def test_a_single_video_says_nothing() -> None:
    hits, groups = np.array([1.0, 0.0, 1.0]), np.zeros(3, np.int64)
    assert interval(hits, groups) == (0, 1)
    found = paired_difference(hits, 1 - hits, groups)
    assert (found.low, found.high) == (-1, 1)


# -------------------------------------------------------------------------------------------------- paired differences


def slowly(before: np.ndarray, after: np.ndarray, groups: np.ndarray) -> tuple[float, float, float]:
    """The same, video by video, and context by context where that is wider."""
    differences = [float(b) - float(a) for a, b in zip(before, after, strict=True)]
    n, videos = len(differences), sorted(set(groups.tolist()))
    mean = sum(differences) / n
    by_video = 0.0
    for video in videos:
        by_video += sum(d - mean for d, g in zip(differences, groups, strict=True) if g == video) ** 2
    effective = n**2 / sum(groups.tolist().count(video) ** 2 for video in videos)
    by_video *= effective / (effective - 1) / n**2
    by_context = sum((d - mean) ** 2 for d in differences) / (n - 1) / n
    half = stats.t.ppf(0.975, effective - 1) * max(by_video, by_context) ** 0.5
    return mean, max(-1.0, mean - half), min(1.0, mean + half)


@pytest.mark.parametrize("seed", range(5))
def test_a_paired_difference_is_that_of_its_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(7), rng.integers(1, 6, 7))
    before, after = rng.choice([0, 0.5, 1], (2, len(groups)))
    found = paired_difference(before, after, groups)
    assert (found.mean, found.low, found.high) == pytest.approx(slowly(before, after, groups))


@pytest.mark.parametrize("n_videos", [8, 60])
@pytest.mark.parametrize("alike", [0.0, 0.3])
def test_a_paired_difference_holds_the_truth_about_as_often_as_it_says(n_videos: int, alike: float) -> None:
    """Videos differ in how easy they are, and in how much filtering changes them."""
    rng, held = np.random.default_rng(1), []
    for _ in range(600):
        groups = np.repeat(np.arange(n_videos), rng.integers(1, 7, n_videos))
        easy = 0.5 + alike * rng.uniform(-1, 1, n_videos)  # (videos,) chance of a hit before
        fall = 0.1 + alike * rng.uniform(-0.3, 0.3, n_videos)  # 0.1 on average
        before = (rng.random(len(groups)) < easy[groups]).astype(float)
        after = (rng.random(len(groups)) < (easy - fall)[groups]).astype(float)
        found = paired_difference(before, after, groups)
        held.append(found.low <= -0.1 <= found.high)
    assert np.mean(held) >= 0.93


@pytest.mark.parametrize("seed", range(5))
def test_a_difference_of_means_is_the_paired_one_where_each_has_one_partner(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(7), rng.integers(1, 6, 7))
    sets = np.arange(len(groups))
    before, after = rng.choice([0, 0.5, 1], (2, len(groups)))
    order = rng.permutation(len(groups))
    found = difference_of_means(before, after[order], (sets, sets[order]), (groups, groups[order]))
    expected = slowly(before, after, groups)
    assert (found.mean, found.low, found.high) == pytest.approx(expected)
    alike = difference_of_means(before, before, (sets, sets))
    assert alike.low < alike.mean == 0 < alike.high


def test_a_difference_of_means_holds_the_truth_where_sets_have_several() -> None:
    """Sets with more contrasts are the harder ones; the difference is that of the two accuracies."""
    rng, held, truth = np.random.default_rng(2), [], []
    for _ in range(600):
        n = rng.integers(1, 4, 60)
        easy = 0.9 - 0.2 * n + 0.2 * rng.uniform(-1, 1, 60)
        of = np.repeat(np.arange(60), n)
        before = (rng.random(60) < easy).astype(float)
        after = (rng.random(len(of)) < easy[of] - 0.1).astype(float)
        found = difference_of_means(before, after, (np.arange(60), of))
        held.append((found.low, found.high))
        truth.append((easy[of] - 0.1).mean() - easy.mean())
    middle = np.mean(truth)
    assert np.mean([low <= middle <= high for low, high in held]) >= 0.93


def test_pairing_tells_a_change_that_two_intervals_would_not() -> None:
    before = np.tile([1.0, 1, 0, 0], 50)
    after = before.copy()
    after[:40:4] = 0  # ten contexts that were found are lost, and nothing else changes
    groups = np.arange(len(before))
    assert interval(after, groups)[1] > interval(before, groups)[0]
    assert paired_difference(before, after, groups).is_significant


@pytest.mark.parametrize("value", [-1.0, -0.2, 0.0, 1.0])
def test_where_every_difference_is_the_same_its_interval_has_a_width(value: float) -> None:
    groups = np.repeat(np.arange(20), 2)
    found = paired_difference(np.zeros(40), np.full(40, value), groups)
    assert -1 <= found.low <= value <= found.high <= 1
    assert 0.1 < found.high - found.low < 0.4
    assert found.is_significant == (abs(value) == 1)


def test_that_width_holds_a_change_too_rare_to_be_seen() -> None:
    """Of 20 contexts none changed; where a twentieth do in truth, that happens in over a third of the samples."""
    found = paired_difference(np.zeros(20), np.zeros(20), np.arange(20))
    assert found.low <= -0.05
    assert found.high >= 0.05


def test_videos_that_all_balance_within_themselves_are_no_certainty() -> None:
    found = paired_difference(np.tile([0.0, 1.0], 6), np.tile([1.0, 0.0], 6), np.repeat(np.arange(6), 2))
    assert found.high - found.low > 0.5


def test_a_difference_stays_between_minus_one_and_one() -> None:
    found = paired_difference(np.array([0.0, 0.0, 1.0]), np.array([1.0, 1.0, 0.0]), np.arange(3))
    assert (found.low, found.high) == (-1, 1)


def test_numbers_of_groups_may_have_gaps() -> None:
    before, after, groups = np.tile([0.0, 1.0, 1.0], 8), np.tile([1.0, 1.0, 0.0], 8), np.arange(24) // 2
    assert paired_difference(before, after, 7 * groups + 3) == paired_difference(before, after, groups)
    assert paired_difference(before, after, np.full(24, 3)).low == -1.0
    taken = Groups(groups, "of two").take(np.array([9, 4, 5, 23]))
    assert (taken.numbers.tolist(), taken.n, taken.said) == ([1, 0, 0, 2], 3, "of two")


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_twice_the_variance_is_the_interval_of_half_as_many(share: float) -> None:
    """As for hits of cross-validation, where labels of two questions that agree by luck count in both."""
    hits = (np.arange(200) < 200 * share).astype(float)
    low, high = interval(hits, np.arange(200), times=2.0)
    t, n = stats.t.ppf(0.975, 199), 100
    centre, half = share + t**2 / (2 * n), t * np.sqrt(share * (1 - share) / n + (t / (2 * n)) ** 2)
    expected = ((centre - half) / (1 + t**2 / n), (centre + half) / (1 + t**2 / n))
    assert (low, high) == pytest.approx(np.clip(expected, 0, 1), abs=1e-3)


@pytest.mark.parametrize("seed", range(12))
def test_an_interval_is_widened_to_that_of_twice_the_variance_without_its_hits(seed: int) -> None:
    """As of audits that an earlier checkout kept."""
    rng = np.random.default_rng(seed)
    n, share = int(rng.integers(10, 900)), (0.0, 0.03, 0.25, 0.6, 0.97, 1.0)[seed % 6]
    hits, groups = (rng.random(n) < share).astype(float), np.arange(n) // int(rng.integers(1, 5))
    once, expected = rounded_mean(hits, groups), mean_of_folds(hits, groups)
    assert widened(*once, times=CROSS_VALIDATED) == pytest.approx(expected[1:], abs=5e-6)


@pytest.mark.parametrize("ends", [(0.3, 0.0, 1.0), (0.3, 0.3, 0.3), (0.3, 0.5, 0.4), (0.3, float("nan"), 0.4)])
def test_what_is_no_interval_is_not_widened(ends: tuple[float, float, float]) -> None:
    assert repr(widened(*ends, times=2.0)) == repr(ends[1:])


def test_a_difference_of_twice_the_variance_is_that_of_half_as_many_contexts() -> None:
    before, after = np.tile([1.0, 0.0, 0.0, 0.0], 50), np.tile([1.0, 1.0, 1.0, 0.0], 50)
    found, once = (paired_difference(before, after, np.arange(200), times=times) for times in (2.0, 1.0))
    assert found.mean == once.mean == 0.5
    assert found.high - found.mean == pytest.approx(2**0.5 * (once.high - once.mean))
    assert found.mean - found.low == pytest.approx(2**0.5 * (once.mean - once.low))
    none, fewer = np.zeros(200), paired_difference(np.zeros(100), np.zeros(100), np.arange(100))
    assert paired_difference(none, none, np.arange(200), times=2.0).high == pytest.approx(fewer.high, rel=0.02)


def test_probes_of_labels_drawn_by_lot_are_seldom_found() -> None:
    """Of these 30 sets 3 are found by the interval of hits drawn one by one."""
    words = np.array([f"w{i}" for i in range(60)])
    found = 0
    for seed in range(100, 130):
        rng = np.random.default_rng(seed)
        rows = [[" ".join(rng.choice(words, 6)) for _ in range(4)] for _ in range(120)]
        instances = Instances(
            tuple(Instance(str(i), "", tuple(row), int(rng.integers(4))) for i, row in enumerate(rows)), "choices"
        )
        hits = probe(instances, "options", "tfidf").hits
        low, high = interval(hits, np.arange(len(hits)), times=CROSS_VALIDATED)
        found += not low <= 0.25 <= high
    assert found == 0
