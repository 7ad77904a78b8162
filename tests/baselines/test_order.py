"""Rank agreement with the paper, and what papers say."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from swag_af.baselines.order import order_p, rank_agreement, tau_b
from swag_af.baselines.published import ROWS, published_figure, published_row


def slow_tau(one: list[float], other: list[float]) -> float:
    """Every pair looked at: concordant less discordant, over the pairs that are not tied in each."""
    pairs = [(i, j) for i in range(len(one)) for j in range(i)]
    signs = [(np.sign(one[i] - one[j]), np.sign(other[i] - other[j])) for i, j in pairs]
    untied = sum(a != 0 for a, _ in signs) * sum(b != 0 for _, b in signs)
    return float(sum(a * b for a, b in signs) / untied**0.5) if untied else 0.0


VALUES = st.integers(0, 4).map(float)


@given(pairs=st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=8))
def test_tau_counts_every_pair(pairs: list[tuple[float, float]]) -> None:
    one, other = (list(column) for column in zip(*pairs, strict=True))
    assert tau_b(np.array(one), np.array(other)) == pytest.approx(slow_tau(one, other), abs=1e-9)


def test_five_rows_in_order_may_be_luck() -> None:
    paper, ours = np.arange(5.0), np.array([0.0, 1.0, 2.0, 4.0, 3.0])
    assert tau_b(ours, paper) == pytest.approx(0.8)
    assert order_p(ours, paper, rng=np.random.default_rng(0)) == pytest.approx(10 / 120)


@settings(max_examples=50)
@given(pairs=st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=5))
def test_p_is_the_share_of_all_orders_that_are_as_far_from_none(pairs: list[tuple[float, float]]) -> None:
    one, other = (list(column) for column in zip(*pairs, strict=True))
    taus = [abs(slow_tau(list(order), other)) for order in permutations(one)]
    slow = np.mean([tau >= abs(slow_tau(one, other)) - 1e-9 for tau in taus])
    assert order_p(np.array(one), np.array(other), rng=np.random.default_rng(0)) == pytest.approx(slow)


def test_ties_make_an_order_less_sure_than_a_normal_curve_says() -> None:
    """Two rows of three are tied in both: a third of the orders is as good."""
    p = order_p(np.array([0.25, 0.25, 0.3]), np.array([0.25, 0.25, 0.27]), rng=np.random.default_rng(0))
    assert p == pytest.approx(1 / 3)


def test_of_more_rows_orders_are_drawn_by_the_seed() -> None:
    rng = np.random.default_rng(0)
    ours, paper = np.arange(11.0), np.array([1, 0, 2, 4, 3, 7, 5, 10, 6, 8, 9.0])
    shuffled = rng.permutation(11)
    for one in (ours, ours[shuffled]):
        drawn = [order_p(one, paper, rng=np.random.default_rng(seed)) for seed in (1, 1, 2)]
        assert drawn[0] == drawn[1]
        assert 0 < drawn[2] == pytest.approx(kendalltau(one, paper, method="exact").pvalue, abs=0.01)


def test_rows_far_apart_have_a_sure_order_and_rows_alike_none() -> None:
    rng = np.random.default_rng(0)
    paper, groups = np.array([0.2, 0.4, 0.6, 0.8]), np.arange(500)
    sure = rank_agreement((rng.random((4, 500)) < paper[:, None]).astype(float), groups, paper, rng=rng)
    none = rank_agreement((rng.random((4, 500)) < 0.5).astype(float), groups, paper, rng=rng)
    assert sure is not None
    assert none is not None
    assert (sure.value, sure.low) == (1.0, 1.0)
    assert none.low < 0 < none.high


def test_a_few_large_groups_tell_less_than_many_questions() -> None:
    rng = np.random.default_rng(0)
    paper = np.array([0.45, 0.5, 0.55])
    by_group = (rng.random((3, 10)) < paper[:, None]).astype(float)
    hits = np.repeat(by_group, 50, axis=1)
    clustered = rank_agreement(hits, np.repeat(np.arange(10), 50), paper, rng=np.random.default_rng(1))
    single = rank_agreement(hits, np.arange(500), paper, rng=np.random.default_rng(1))
    assert clustered is not None
    assert single is not None
    assert clustered.high - clustered.low > single.high - single.low


def test_two_rows_have_no_order() -> None:
    assert rank_agreement(np.zeros((2, 5)), np.arange(5), np.array([0.1, 0.2]), rng=np.random.default_rng(0)) is None


def test_a_row_is_found_by_name_and_vectors_and_its_figures_by_place() -> None:
    assert published_row("encoder[some/folder]") is ROWS["encoder"]
    assert published_row("esim", "numberbatch-en-19.08.txt.gz") is ROWS["esim numberbatch"]
    assert published_row("esim", "glove.6B.300d.txt") is ROWS["esim"]
    assert published_row("tfidf") is None
    assert published_figure(ROWS["esim"], "full", "all", "test") == 0.527
    assert published_figure(ROWS["esim"], "full", "found+generated", "validation") == 0.525
    assert published_figure(ROWS["esim"], "ending", "all", "test") is None
    assert published_figure(None, "full", "all", "test") is None


def test_papers_have_accuracies_between_chance_and_all() -> None:
    values = [
        x for row in ROWS.values() for of in (row.found, row.generated) for pair in of.values() for x in pair if x
    ]
    assert min(values) == 25.0
    assert max(values) == 86.7
