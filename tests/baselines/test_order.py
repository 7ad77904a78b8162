"""Rank agreement with the paper, and what papers say."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_af.baselines.order import rank_agreement, tau_b
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
    assert tau_b(np.array(one), np.array(other))[0] == pytest.approx(slow_tau(one, other), abs=1e-9)


def test_five_rows_in_order_may_be_luck() -> None:
    paper = np.arange(5.0)
    tau, p = tau_b(np.array([0.0, 1.0, 2.0, 4.0, 3.0]), paper)
    assert tau == pytest.approx(0.8)
    orders = [tau_b(np.array(order, float), paper)[0] for order in permutations(range(5))]
    assert p == pytest.approx(np.mean(np.abs(orders) >= 0.8 - 1e-9))


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
