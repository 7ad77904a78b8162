"""Claims about matching from Python: what the verb does, for lists of texts and anyone's models."""

import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from swag_af.data.errors import ContractError, InputError
from swag_af.matching.algorithm.work import match_items, plan_of
from swag_af.matching.models.relevance import TfidfRelevance
from swag_af.matching.options import MatchingOptions
from swag_af.matching.texts import match_texts
from tests.matching.test_work import OPTIONS, made


class Far:
    """Texts mean the same as far as they begin with the same letter."""

    name: ClassVar[str] = "far"

    def score(self, first: Sequence[str], second: Sequence[str]) -> np.ndarray:
        return np.array([[0.9 if a[:2] == b[:2] else 0.1 for b in second] for a in first], np.float32)


def test_lists_of_texts_are_matched_as_by_the_verb(tmp_path: Path) -> None:
    items = made()
    (expected,) = match_items(items, plan_of(items, OPTIONS), OPTIONS, weights=[OPTIONS.weight], folder=tmp_path)
    texts = [(item.query, item.response, item.context.video) for item in items.rows]
    queries, responses, groups = map(list, zip(*texts, strict=True))
    found = match_texts(queries, responses, groups, relevance="tfidf", options=OPTIONS)
    assert (found.assigned == expected.assigned).all()
    again = match_texts(queries, responses, groups, relevance=TfidfRelevance, similarity="lexical", options=OPTIONS)
    assert (again.assigned == expected.assigned).all()
    model = TfidfRelevance()
    again = match_texts(queries, responses, groups, relevance=model, options=OPTIONS)
    assert (again.assigned == expected.assigned).all(), "an unfitted model is copied for each fold"
    assert model == TfidfRelevance()


def test_what_is_no_model_is_told() -> None:
    """It ended in a TypeError of ours."""
    nothing: Any = 3
    queries, responses = [f"why {i}?" for i in range(9)], [f"because {i}." for i in range(9)]
    with pytest.raises(ContractError, match="int: it has no method fit, and makes nothing"):
        match_texts(queries, responses, relevance=nothing)
    with pytest.raises(InputError, match=r"similarity: Far is a class\. Give an object"):
        match_texts(queries, responses, relevance="tfidf", similarity=Far)


def test_one_long_response_does_not_take_its_length_for_each_row() -> None:
    items = made()
    first, *others = items.rows
    long = replace(items, rows=(replace(first, context=replace(first.context, gold="a" * 400_000)), *others))
    assert len(long.responses) == len(items)
    tracemalloc.start()
    numbers = long.texts
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000
    assert len(np.unique(numbers)) == len({*long.responses})


def test_a_similarity_of_ones_own_is_asked() -> None:
    items = made()
    queries, responses = [item.query for item in items.rows], [item.response for item in items.rows]
    shares = []
    for weight in (0.0, 20.0):
        options = MatchingOptions(folds=3, bucket_size=200, weight=weight)
        found = match_texts(queries, responses, relevance=TfidfRelevance, similarity=Far(), options=options)
        pairs = [(i, j) for i, row in enumerate(found.assigned.tolist()) for j in row]
        shares.append(np.mean([responses[i][:2] == responses[j][:2] for i, j in pairs]))
    assert shares[1] < shares[0] / 2


def test_texts_without_a_word_are_like_nothing_and_are_matched() -> None:
    """Tables of tf-idf ended in "empty vocabulary"."""
    queries = [f"... {'!' * k}" for k in range(1, 251)]
    responses = [f"{'!' * k}{'?' * (k % 7 + 1)}." for k in range(1, 251)]
    options = MatchingOptions(folds=2, n_distractors=1, bucket_size=100)
    found = match_texts(queries, responses, relevance="tfidf", options=options)
    assert (found.assigned[:, 0] != np.arange(250)).all()


def test_the_setting_of_a_model_by_name_is_checked() -> None:
    with pytest.raises(InputError, match="pairs_per_query=1, at least 2"):
        match_texts(["why?"] * 9, ["so."] * 9, relevance="tfidf[pairs_per_query=1]")


def test_lists_of_different_lengths_are_one_line() -> None:
    with pytest.raises(InputError, match="as many of each"):
        match_texts(["a?"] * 3, ["b"] * 2, options=OPTIONS)
