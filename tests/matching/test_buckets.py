"""Claims about buckets: none too large, groups whole, kinds apart, the rows of small kinds not lost."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.data.errors import InputError
from swag_af.matching.algorithm.buckets import (
    buckets_of,
    folds_of_groups,
    kinds_of,
    pronoun_class,
    question_type,
    sizes_said,
    verb_form,
)


def by_length(texts: Sequence[str]) -> np.ndarray:
    return np.array([[len(text), text.count("a")] for text in texts], np.float64)


@given(st.integers(0, 10**6), st.integers(2, 900), st.integers(100, 300), st.integers(1, 6))
@settings(max_examples=30)
def test_every_row_is_in_one_bucket_of_its_fold_and_none_is_too_large(seed: int, n: int, size: int, kinds: int) -> None:
    rng = np.random.default_rng(seed)
    folds = rng.integers(0, 3, n)
    texts = ["ab"[i % 2] * int(i) for i in rng.integers(1, 60, n)]
    named = [f"neutral, {('other', *range(9))[i]}" for i in rng.zipf(1.5, n) % kinds]
    made = buckets_of(texts, texts, folds, by_length, size=size, smallest=50, kinds=named)
    sizes = Counter(made.numbers.tolist())
    assert sorted(row for bucket in range(len(made.names)) for row in made.rows(bucket).tolist()) == list(range(n))
    assert max(sizes.values()) <= size
    for bucket, n_rows in sizes.items():
        fold = set(folds[made.rows(bucket)].tolist())
        assert len(fold) == 1
        alone = n_rows == int((folds == fold.pop()).sum())
        assert n_rows >= 25 or alone


def test_parts_of_a_large_kind_have_equal_sizes() -> None:
    rng = np.random.default_rng(0)
    texts = ["a" * int(i) for i in rng.integers(1, 500, 1000)]
    made = buckets_of(
        texts, texts, np.zeros(1000, int), by_length, size=300, smallest=50, kinds=["neutral, why"] * 1000
    )
    assert sorted(Counter(made.numbers.tolist()).values()) == [250] * 4
    assert sizes_said(made) == "4 buckets of 250 rows"


def test_pronoun_classes_are_kept_apart_where_they_are_large_enough() -> None:
    responses = ["She leaves."] * 60 + ["He leaves with him."] * 60 + ["They leave."] * 60 + ["Her hat."] * 3
    queries = ["Why?"] * 183
    made = buckets_of(queries, responses, np.zeros(183, int), by_length, size=3000, smallest=50)
    assert made.names == ("fold 0, female, why", "fold 0, male, why", "fold 0, neutral, why")
    assert Counter(made.numbers.tolist()) == {0: 63, 1: 60, 2: 60}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("She is at her desk", "female"), ("Himself", "male"), ("He sees her", "both"), ("The sheep", "neutral")],
)
def test_pronouns_are_whole_words(text: str, expected: str) -> None:
    assert pronoun_class(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Why is [person1] angry?", "why"),
        ("A man sits. What will he do next?", "what"),
        ("Is it raining?", "yes or no"),
        ("In which room are they?", "which"),
        ("Whose hat is it?", "who"),
        ("They left, didn't they?", "yes or no"),
        ("What's [person1] doing?", "what"),
        ("Who\u2019s there?", "who"),
        ("A man sits. Where'd she go?", "where"),
        ("Why is Dr. Smith angry?", "why"),
        ("Why did the U.S. enter the war?", "why"),
        ("What time is it, 3.5?", "what"),
        ('She asks, "Why?"', "why"),
        ("Isn't it?", "yes or no"),
        ("A man walks in. He", "statement"),
        ("", "statement"),
    ],
)
def test_question_types(text: str, expected: str) -> None:
    assert question_type(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("walks away.", "singular"),
        ("slowly lifts it.", "singular"),
        ("is then seen", "singular"),
        ("'s now wearing", "singular"),
        ("are dancing.", "plural"),
        ("then discuss it", "plural"),
        ("passes the ball", "singular"),
        ("walked off", "other"),
        ("went home.", "other"),
        ("then took it", "other"),
        ("were dancing", "plural"),
        ("have it", "plural"),
        ("will go", "other"),
        ("", "other"),
    ],
)
def test_endings_agree_with_their_subjects(text: str, expected: str) -> None:
    assert verb_form(text) == expected


def test_where_a_sentence_goes_on_its_verb_takes_the_place_of_the_question() -> None:
    assert kinds_of(["Why? She", "Why?"], ["takes her hat.", "takes her hat."], [True, False]) == [
        "female, singular",
        "female, why",
    ]


def test_kinds_name_both() -> None:
    assert kinds_of(["Why is she here?"], ["She waits."]) == ["female, why"]


def test_folds_keep_groups_whole() -> None:
    groups = np.random.default_rng(0).integers(0, 40, 300)
    folds = folds_of_groups(np.unique(groups, return_inverse=True)[1], 11, rng=np.random.default_rng(1))
    assert all(len(set(folds[groups == group].tolist())) == 1 for group in set(groups.tolist()))
    assert len(set(folds.tolist())) == 11


def test_one_group_is_refused() -> None:
    with pytest.raises(InputError, match="all 10 rows are one group"):
        folds_of_groups(np.zeros(10, int), 11, rng=np.random.default_rng(0))


def test_buckets_too_small_to_choose_from_are_refused() -> None:
    with pytest.raises(InputError, match="at least"):
        buckets_of(["a"], ["b"], np.zeros(1, int), by_length, size=10, smallest=50)
