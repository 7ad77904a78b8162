"""Claims about rounds of matching: exact, each response once, never its own query's, infeasible rows named."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.data.errors import InputError
from swag_af.matching.algorithm.rounds import InfeasibleError, match_rounds, stuck_rows
from swag_af.matching.models.weights import Worth
from tests.slow.matching import best_round, worth_of


def made(seed: int, n: int, n_texts: int | None = None, weight: float = 0.3, *, n_questions: int = 0) -> Worth:
    rng = np.random.default_rng(seed)
    similarity = rng.random((n, n), np.float32)
    similarity = np.maximum(similarity, similarity.T)
    texts = rng.integers(0, n_texts, n) if n_texts else np.arange(n)
    questions = rng.integers(0, n_questions, n) if n_questions else None
    right = None if questions is None else np.array([_are_right(texts, questions == one) for one in questions])
    return Worth(rng.random((n, n), np.float32), similarity, texts, weight, right)


def _are_right(texts: np.ndarray, of_question: np.ndarray) -> np.ndarray:
    """(n,) whether each of `texts` (n,) is one of those of the rows `of_question` (n,)."""
    return np.isin(texts, texts[of_question])


def last_round(worth: Worth, assigned: np.ndarray) -> float:
    """What the last round of `assigned` (n, rounds) is worth: the sum over queries."""
    return float(worth.matrix(assigned[:, :-1])[np.arange(len(worth)), assigned[:, -1]].sum())


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 2), st.booleans())
@settings(max_examples=40)
def test_every_round_is_the_best_there_is(seed: int, n: int, n_rounds: int, has_questions: bool) -> None:
    worth = made(seed, n, n_questions=2 * n if has_questions else 0)
    n_rounds = min(n_rounds, n - 1)
    try:
        found = match_rounds(worth, 1)
    except InfeasibleError:
        assert best_round(worth, np.zeros((n, 0), np.int64)) == -np.inf
        return
    assert last_round(worth, found.assigned) == pytest.approx(best_round(worth, np.zeros((n, 0), np.int64)), rel=1e-5)
    if n_rounds == 2 and n > 3:
        try:
            again = match_rounds(worth, 2, first=found.assigned)
        except InfeasibleError:
            assert best_round(worth, found.assigned) == -np.inf
        else:
            assert last_round(worth, again.assigned) == pytest.approx(best_round(worth, found.assigned), rel=1e-5)


@given(st.integers(0, 10**6), st.integers(3, 6), st.integers(1, 4), st.sampled_from([None, 2]))
@settings(max_examples=40)
def test_questions_yield_in_as_few_rows_as_can_be(seed: int, n: int, n_questions: int, top: int | None) -> None:
    worth = made(seed, n, n_questions=n_questions)
    free, own = replace(worth, right=None), np.arange(n)
    assert worth.right is not None
    found = match_rounds(replace(worth, yields=True), 1, top=top).assigned[:, 0]

    def cost(columns: np.ndarray) -> tuple[int, float]:
        assert worth.right is not None
        n_right = int(worth.right[own, columns].sum())
        return n_right, -sum(worth_of(free, i, j, []) for i, j in enumerate(columns.tolist()))

    least = min(cost(np.array(columns)) for columns in permutations(range(n)) if (own != columns).all())
    assert cost(found)[0] == least[0]
    assert cost(found)[1] == pytest.approx(least[1], rel=1e-5)


@given(st.integers(0, 10**6), st.integers(6, 40), st.integers(4, 12), st.integers(0, 12))
@settings(max_examples=40)
def test_matrix_is_the_formula_written_out(seed: int, n: int, n_texts: int, n_questions: int) -> None:
    worth = made(seed, n, n_texts, n_questions=n_questions)
    assigned = np.random.default_rng(seed).integers(0, n, (n, 2))
    matrix = worth.matrix(assigned)
    slow = [[worth_of(worth, i, j, assigned[i].tolist()) for j in range(n)] for i in range(n)]
    np.testing.assert_allclose(matrix, slow, rtol=1e-4, atol=1e-5)


@given(st.integers(0, 10**6), st.integers(20, 40), st.integers(0, 2))
@settings(max_examples=40)
def test_each_response_is_used_once_a_round_and_never_by_one_that_has_its_text(seed: int, n: int, top: int) -> None:
    worth = made(seed, n, n_texts=8 * n)
    found = match_rounds(worth, 3, top=(None, 2, 5)[top])
    assert all(sorted(column) == list(range(n)) for column in found.assigned.T.tolist())
    held = worth.texts[np.concatenate([np.arange(n)[:, None], found.assigned], axis=1)]
    assert all(len(set(row)) == 4 for row in held.tolist())


def test_among_responses_that_are_hardly_relevant_the_likelier_count() -> None:
    """Below one in a million all were alike, and rows were paired with their neighbours."""
    relevance = np.full((6, 6), 1e-9, np.float32)
    likeliest = [3, 4, 5, 0, 1, 2]
    relevance[np.arange(6), likeliest] = 5e-7
    worth = Worth(relevance, np.zeros((6, 6), np.float32), np.arange(6), 0.1)
    assert match_rounds(worth, 1).assigned[:, 0].tolist() == likeliest


def test_a_table_of_the_best_alone_loses_no_more_than_it_says() -> None:
    worth = made(3, 60)
    exact, sparse = match_rounds(worth, 1), match_rounds(worth, 1, top=3)
    assert exact.loss[0] == 0
    best = last_round(worth, exact.assigned)
    assert 0 <= best - last_round(worth, sparse.assigned) <= sparse.loss[0]
    assert last_round(worth, match_rounds(worth, 1, top=60).assigned) == pytest.approx(best)


def test_rounds_go_on_from_those_that_are_there() -> None:
    worth = made(5, 30)
    straight = match_rounds(worth, 3)
    resumed = match_rounds(worth, 3, first=match_rounds(worth, 1).assigned)
    assert (resumed.assigned == straight.assigned).all()


def test_more_than_half_of_one_text_is_infeasible_and_the_rows_are_named() -> None:
    worth = made(0, 7)
    texts = np.array([9, 9, 9, 9, 1, 2, 3])  # four queries that may only have three responses
    with pytest.raises(InfeasibleError) as caught:
        match_rounds(Worth(worth.relevance, worth.similarity * 0.9, texts, 0.1), 1)
    assert caught.value.rows.tolist() == [0, 1, 2, 3]
    assert stuck_rows(np.ones((4, 4), bool)).tolist() == []


@pytest.mark.parametrize("top", [None, 2])
def test_responses_that_surely_mean_the_same_are_not_matched(top: int | None) -> None:
    worth = made(1, 12)
    similarity = worth.similarity * 0.5
    similarity[0, 3] = similarity[3, 0] = 1
    relevance = worth.relevance * 0.1
    relevance[0, 3] = relevance[3, 0] = 1
    found = match_rounds(Worth(relevance, similarity, worth.texts, 0.0), 3, top=top)
    assert 3 not in found.assigned[0]
    assert 0 not in found.assigned[3]


def test_a_larger_lambda_chooses_responses_that_are_less_similar() -> None:
    tables = [made(4, 80, weight=weight) for weight in (0.01, 0.3, 10.0)]
    chosen = [table.similarity[np.arange(80)[:, None], match_rounds(table, 2).assigned] for table in tables]
    means = [float(similar.mean()) for similar in chosen]
    assert means == sorted(means, reverse=True)


@pytest.mark.parametrize("fault", ["shape", "range", "nan", "weight"])
def test_tables_that_hold_no_probabilities_are_refused(fault: str) -> None:
    worth = made(0, 4)
    relevance = worth.relevance.copy()
    if fault == "range":
        relevance[0, 0] = 1.5
    if fault == "nan":
        relevance[0, 0] = np.nan
    with pytest.raises(InputError, match="lambda" if fault == "weight" else "relevance"):
        Worth(
            relevance[:3] if fault == "shape" else relevance,
            worth.similarity,
            worth.texts,
            -1.0 if fault == "weight" else 0.1,
        )
