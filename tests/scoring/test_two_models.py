"""Claims about two models on the same instances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_scores import choices

from swag_af.scoring.chance import Chance
from swag_af.scoring.comparison import FEWEST_GROUPS, bootstrap, compare, gap_of, holm, mcnemar
from swag_af.scoring.figures import share
from swag_af.scoring.reading.predictions import Predictions, predictions_of
from swag_af.scoring.told import gap_sentence, p_rows, untested


@given(st.integers(0, 80), st.integers(0, 80))
def test_mcnemar_is_the_binomial_test_of_a_fair_coin(b: int, c: int) -> None:
    from scipy.stats import binomtest

    if b + c:
        assert mcnemar(b, c) == pytest.approx(binomtest(b, b + c).pvalue)


def test_holm_multiplies_the_least_by_all_and_keeps_the_order() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def models(seed: int, n: int = 400) -> tuple[list[Predictions], np.ndarray]:
    instances = choices(n, n_groups=40)
    rng = np.random.default_rng(seed)
    good = np.where(rng.random(n) < 0.7, instances.answers, rng.integers(4, size=n))
    bad = np.where(rng.random(n) < 0.3, instances.answers, rng.integers(4, size=n))
    groups = np.arange(n) % 40
    return [predictions_of(instances, one, name=name) for one, name in ((good, "good"), (bad, "bad"))], groups


def test_a_better_model_is_told_from_a_worse() -> None:
    (good, bad), groups = models(0)
    one, other = compare(good, [bad, good], groups, seed=0)
    assert one.difference.value == pytest.approx(good.hits.mean() - bad.hits.mean())
    assert one.mcnemar is not None
    assert max(one.mcnemar, one.bootstrap_p) < 0.01
    assert one.difference.low is not None
    assert 0 < one.difference.low <= one.bootstrap_low + 0.02
    assert (other.difference.value, other.mcnemar, other.bootstrap_p) == (0.0, None, 1.0)


def test_of_few_groups_there_is_no_bootstrap() -> None:
    """Of one its interval had no width, of three p was 0.001 where no test of three can be below 0.25."""
    (good, bad), groups = models(0)
    few = compare(good, [bad], groups % (FEWEST_GROUPS - 1), seed=0)
    assert (few[0].bootstrap_low, few[0].bootstrap_high, few[0].bootstrap_p) == (None, None, None)
    assert p_rows(few)[1][-2:] == ("", "")
    assert untested(few) == ["No bootstrap, which is too sure of fewer than 20 groups: the interval above is not."]
    (enough,) = compare(good, [bad], groups % FEWEST_GROUPS, seed=0)
    assert enough.bootstrap_p is not None
    assert untested([enough]) == []


def test_that_seeing_less_gets_more_is_told_from_nothing() -> None:
    (good, bad), groups = models(0)
    for sighted, blind, said in (
        (bad, good, "It is below 0: seeing less gets more"),
        (good, good, "It is not distinguishable from 0"),
        (good, bad, "that gets 45.00 %."),
    ):
        figure = share("accuracy", blind.hits, groups, Chance(np.full(400, 0.25)))
        told = gap_sentence(gap_of("no-image", sighted, blind, groups, figure))
        assert said in told
        assert ("0" in told.rpartition("%.")[2]) == (sighted is not good or blind is good)


def test_counts_are_of_all_instances() -> None:
    (good, bad), groups = models(1)
    counts = compare(good, [bad], groups, seed=0)[0].counts
    right = np.stack([good.hits, bad.hits])
    assert counts.both == right.prod(axis=0).sum()
    assert counts.both + counts.only_first == right[0].sum()
    assert counts.both + counts.only_first + counts.only_second + counts.neither == 400


@given(st.integers(0, 1000))
@settings(max_examples=20)
def test_the_bootstrap_of_any_order_of_rows_is_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    differences, groups = rng.choice([-1, -0.5, 0, 0.25, 1], 100), np.arange(100) % 17
    order = rng.permutation(100)
    assert bootstrap(differences, groups, seed=3) == bootstrap(differences[order], groups[order], seed=3)


def test_the_bootstrap_is_that_of_single_groups() -> None:
    """Against the slow way: groups drawn one by one."""
    rng = np.random.default_rng(0)
    differences, groups = rng.choice([-1, 0, 1], 300, p=[0.2, 0.5, 0.3]), np.sort(rng.integers(25, size=300))
    groups = np.unique(groups, return_inverse=True)[1]
    of_group = [differences[groups == g] for g in range(groups.max() + 1)]
    slow = [
        np.concatenate([of_group[g] for g in rng.integers(len(of_group), size=len(of_group))]).mean()
        for _ in range(4000)
    ]
    low, high, _ = bootstrap(differences, groups, seed=0, draws=20_000)
    assert (low, high) == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])), abs=0.01)


def test_ties_are_left_out_of_mcnemar() -> None:
    instances = choices(40)
    level = predictions_of(instances, np.zeros(160), name="level")
    right = predictions_of(instances, instances.answers, name="right")
    found = compare(right, [level], np.arange(40) % 10, seed=0)[0]
    assert level.n_tied == 40
    assert (found.n_discordant, found.n_ties, found.mcnemar, found.holm) == (0, 40, None, None)
    assert found.difference.value == pytest.approx(0.75)


def test_a_tie_without_gold_is_a_tie_for_mcnemar() -> None:
    """Where ties count as wrong unless they hold gold, when they are left out, a guesser that ties always loses."""
    instances, rng = choices(400), np.random.default_rng(0)
    ties = np.argsort(rng.random((400, 4)), axis=1) < 2  # (400, 4) two of four
    guess = predictions_of(instances, rng.integers(4, size=400), name="guess")
    level = predictions_of(instances, ties.astype(float).ravel(), name="level")
    found = compare(guess, [level], np.arange(400), seed=0)[0]
    assert set(level.hits) == {0, 0.5}
    assert (found.n_discordant, found.mcnemar) == (0, None)
    assert found.n_ties == (guess.hits != level.hits).sum()


def test_holm_counts_the_comparisons_that_have_a_test() -> None:
    """A model that ties throughout, and the same model again, leave nothing to test: they make no other p larger."""
    (good, bad), groups = models(0)
    level = predictions_of(choices(400, n_groups=40), np.zeros(1600), name="level")
    alone = compare(good, [bad], groups, seed=0)[0]
    found = compare(good, [level, bad, good], groups, seed=0)
    assert [one.holm for one in found] == [None, alone.holm, None]
    assert alone.holm == alone.mcnemar
    assert [row[1] for row in p_rows(found)[1:]] == ["", "< 0.0001", ""]
    assert untested(found) == [
        "good less level: nothing to test for McNemar, since answers tie in all 400 instances where the two differ; "
        "Holm leaves it out.",
        "good less good: nothing to test for McNemar, since the two are right on the same instances; Holm leaves it "
        "out.",
    ]


def test_holm_corrects_all_that_have_a_test() -> None:
    (good, bad), groups = models(0)
    for one in compare(good, [bad, bad], groups, seed=0):
        assert one.mcnemar is not None
        assert one.holm == pytest.approx(2 * one.mcnemar)
