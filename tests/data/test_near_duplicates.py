"""Claims about near duplicates: every pair at the threshold or above, and no other."""

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from slow.near_duplicates import all_pairs, repeats_by_all_pairs, shingles

from swag_af.data.errors import InputError
from swag_af.data.text import near_duplicates
from swag_af.data.text.near_duplicates import peculiar, repeats, shingle_sets, similar_sets

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TEXTS = st.lists(st.lists(st.sampled_from("abc"), max_size=9), max_size=12)


@given(TEXTS, st.floats(0.05, 1.0))
@settings(max_examples=120)
def test_pairs_are_those_of_every_text_compared_with_every_other(texts: list[list[str]], threshold: float) -> None:
    found, _ = similar_sets(shingle_sets(texts), threshold)
    assert found.tolist() == [list(pair) for pair in sorted(all_pairs(texts, threshold))]


@given(TEXTS, st.sampled_from([0.25, 0.5, 2 / 3, 0.75, 0.8, 1.0]), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_order_of_texts_does_not_matter(texts: list[list[str]], threshold: float, random: Random) -> None:
    distinct = [list(text) for text in dict.fromkeys(map(tuple, texts)) if len(text) < 3 or len(shingles(text)) > 1]
    order = random.sample(range(len(distinct)), len(distinct))
    sets = shingle_sets([distinct[i] for i in order])
    pairs, similarity = similar_sets(sets, threshold)
    met = {(min(order[a], order[b]), max(order[a], order[b])): s for (a, b), s in zip(pairs, similarity, strict=True)}
    straight, expected = similar_sets(shingle_sets(distinct), threshold)
    assert met == dict(zip(map(tuple, straight.tolist()), expected, strict=True))


def test_a_text_met_often_repeats_the_first_of_it() -> None:
    texts = [["a", "man", "runs"], ["a", "man", "sits"]] * 1000
    assert repeats(texts, threshold=0.7) == {i: i % 2 for i in range(2, len(texts))}


@given(TEXTS, st.sampled_from([0.2, 0.5, 0.8, 1.0]), st.sampled_from([1, 3, 1_000]))
@example([list("abcdefg"), list("abcdefh"), list("abcdefh")], 0.5, 1_000)  # a repeat, and the same again
@settings(max_examples=100)
def test_repeats_are_those_of_every_text_compared_with_every_earlier_one_that_is_kept(
    texts: list[list[str]], threshold: float, block: int
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(near_duplicates, "_BLOCK", block)
        found, pairs = repeats(texts, threshold=threshold), all_pairs(texts, threshold)
    assert set(found) == repeats_by_all_pairs(texts, threshold)
    assert not set(found) & set(found.values())
    assert all((first, later) in pairs for later, first in found.items())


def test_texts_that_are_all_alike_are_not_compared_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs of them were listed, which of 20,000 are 200 million."""
    compared: list[int] = []
    similar = near_duplicates.similar_sets

    def counted(sets: "csr_array", threshold: float) -> tuple[np.ndarray, np.ndarray]:
        pairs, found = similar(sets, threshold)
        compared.append(len(pairs))
        return pairs, found

    monkeypatch.setattr(near_duplicates, "_BLOCK", 50)
    monkeypatch.setattr(near_duplicates, "similar_sets", counted)
    texts = [f"please say in one word what stands in picture {i} here".split() for i in range(1_000)]
    assert repeats(texts, threshold=0.3) == dict.fromkeys(range(1, 1_000), 0)
    assert sum(compared) <= 1_000 * 51 / 2


def edited(rng: np.random.Generator, n: int) -> list[list[str]]:
    """Texts of which every tenth is an earlier one with some words changed."""
    texts = [[f"w{word}" for word in rng.integers(0, 400, int(rng.integers(8, 30)))] for _ in range(n)]
    for i in range(10, n, 10):
        texts[i] = list(texts[i - int(rng.integers(1, 10))])
        for at in rng.integers(0, len(texts[i]), int(rng.integers(0, 3))):
            texts[i][at] = "changed"
    return texts


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7, 0.9])
def test_all_pairs_of_many_longer_texts_are_found(threshold: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates, "_CHUNK", 50)
    texts = edited(np.random.default_rng(5), 700)
    expected = all_pairs(texts, threshold)
    assert len(expected) >= 20
    assert set(map(tuple, similar_sets(shingle_sets(texts), threshold)[0].tolist())) == expected


def templated(n: int) -> list[list[str]]:
    """Long texts that differ in their last three words, but for the last two, which differ in none but the first."""
    template = [f"word{i}" for i in range(40)]
    texts = [[*template, f"a{i}", f"b{i}", f"c{i}"] for i in range(n - 1)]
    return [*texts, ["other", *texts[-1][1:]]]


def test_phrases_that_many_texts_have_make_no_two_of_them_similar() -> None:
    sets = shingle_sets(templated(200))
    assert len(similar_sets(sets, 0.7)[0]) == 200 * 199 // 2
    assert similar_sets(peculiar(sets, 0.7), 0.7)[0].tolist() == [[198, 199]]


def test_where_most_texts_are_alike_rarer_phrases_are_common(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = shingle_sets([[*"abcdefghijklmnopqrst", f"x{i}"] for i in range(15)] + [[f"y{i}"] for i in range(285)])
    assert len(similar_sets(peculiar(sets, 0.8), 0.8)[0]) == 15 * 14 // 2
    monkeypatch.setattr(near_duplicates, "_MOST_PROPOSED", 50)
    assert len(similar_sets(peculiar(sets, 0.8), 0.8)[0]) == 0


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.5, float("nan")])
def test_a_threshold_that_is_no_similarity_is_refused(threshold: float) -> None:
    with pytest.raises(InputError, match="near duplicates"):
        repeats([["a"]], threshold=threshold)
    with pytest.raises(InputError, match="near duplicates"):
        similar_sets(shingle_sets([["a"]]), threshold)
