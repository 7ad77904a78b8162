"""Claims about texts compared pair by pair: as fast as that may be, the slow table of all pairs says the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.data.context import Context
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.text.lexical import lexical_pairs, lexical_similarity
from swag_af.guarding.words import WordsGuard

TEXTS = st.lists(
    st.sampled_from(["", "the", "jumps", "jump", "over", "a", "dog", "dogs", "...", "über"]), max_size=6
).map(" ".join)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12))
@settings(max_examples=60)
def test_pairs_are_the_diagonal_of_the_table(pairs: list[tuple[str, str]]) -> None:
    first, second = map(list, zip(*pairs, strict=True))
    np.testing.assert_allclose(lexical_pairs(first, second), lexical_similarity(first, second).diagonal(), atol=1e-6)


def test_what_says_no_more_is_as_right_as_what_says_more() -> None:
    less, other = lexical_pairs(["takes a cup on the table."] * 2, ["takes a cup.", "walks to the door."])
    assert less > 0.9
    assert other < 0.3


@given(st.decimals(0, 10**9, places=6) | st.integers(0, 10**9), st.sampled_from("-−–±"))
def test_a_number_is_not_the_same_without_its_sign(number: object, sign: str) -> None:
    """All negatives -N of gold N were kept out, and in a matching no N was given to -N."""
    assert lexical_pairs([f"{number}"], [f"{sign}{number}"]) < WordsGuard.threshold
    assert lexical_pairs([f"-{number}"], [f"−{number}."]) == 1


@pytest.mark.parametrize(("one", "other"), [("C", "C++"), ("C", "C#"), ("C++", "C#"), ("Net", ".NET"), ("A", "A+")])
def test_a_name_is_not_the_same_without_its_marks(one: str, other: str) -> None:
    assert lexical_pairs([one], [other]) < WordsGuard.threshold
    assert lexical_pairs([f"{other}."], [other.lower()]) == 1


def test_a_function_word_alone_says_nothing() -> None:
    contexts = [Context("What are they?", "", "they are symbiotic.", id=f"c{i}", video=f"v{i}") for i in range(2)]
    pool = CandidatePool.from_texts(contexts, [["are.", "symbiotic."]] * 2, tagger="rules")
    columns = np.tile(np.arange(3), (2, 1))
    scores = WordsGuard().score(pool.view(np.arange(2), columns))
    assert (scores[:, 1] == 0).all()
    assert (scores[:, 2] > 0.6).all()
