"""Word vectors from a file: the layouts, what is found, what is wrong with a file, and what filters make of them."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow.pairs import slow_vectors

from swag_af.data.context import Context
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.filters import make_filter
from swag_af.filters.contract import settings_of
from swag_af.filters.pairs.vectors import VectorFile, open_vectors

TERM = st.sampled_from(["dog", "Dog", "DOG", "cat", "a", ".", "/c/en/cow", "/c/en/Cat", "cow", "Ärger", "ärger"])
VECTOR = st.lists(st.floats(-9, 9, width=32), min_size=3, max_size=3)


def written(path: Path, lines: list[str], *, header: bool = False, zipped: bool = False) -> Path:
    text = "".join(f"{line}\n" for line in ([f"{len(lines)} 3", *lines] if header else lines))
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    return path


@given(st.lists(st.tuples(TERM, VECTOR), min_size=1, max_size=8), st.booleans(), st.booleans(), st.lists(TERM))
@settings(max_examples=60)
def test_words_have_the_vectors_of_the_slow_twin(tmp_path_factory, terms, header, zipped, words) -> None:
    lines = [f"{term} {' '.join(map(repr, vector))}" for term, vector in terms]
    path = written(tmp_path_factory.mktemp("vectors") / "v", lines, header=header, zipped=zipped)
    found, expected = VectorFile(path).find(words), slow_vectors(lines, words)
    assert {word: vector.tolist() for word, vector in found.items()} == expected


def test_words_asked_for_later_are_found_too_and_none_is_read_twice(tmp_path, monkeypatch) -> None:
    file = VectorFile(written(tmp_path / "v.txt", ["a 1 2 3", "b 4 5 6"]))
    assert list(file.find(["a", "z"])) == ["a"]
    assert file.find(["b"])["b"].tolist() == [4, 5, 6]
    monkeypatch.setattr(VectorFile, "_lines", lambda self: pytest.fail("read again"))
    assert list(file.find(["z", "b", "a"])) == ["b", "a"]


@pytest.mark.parametrize("line", ["dog\t1\t2\t3", "dog\t1 2 3", "dog 1\t2 3"])
def test_tabs_part_words_and_numbers_too(tmp_path, line) -> None:
    assert VectorFile(written(tmp_path / "v.txt", ["a 1 2 3", line])).find(["dog"])["dog"].tolist() == [1, 2, 3]


def test_terms_of_several_words_and_of_other_languages_are_left_out(tmp_path) -> None:
    path = written(tmp_path / "v", ["x 1 1 1", ". . . 7 8 9", "/c/de/hund 1 2 3", "/c/en/dog 4 5 6"])
    found = VectorFile(path).find([".", "hund", "dog", "/c/de/hund"])
    assert {word: vector.tolist() for word, vector in found.items()} == {"dog": [4, 5, 6]}


def test_a_file_that_changed_is_read_again(tmp_path) -> None:
    path = written(tmp_path / "v", ["a 1 2 3"])
    assert open_vectors(path) is open_vectors(path)
    assert open_vectors(path).find(["a"])["a"].tolist() == [1, 2, 3]
    written(path, ["a 4 5 6", "b 1 1 1"])
    assert open_vectors(path).find(["a"])["a"].tolist() == [4, 5, 6]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "its first line is no word with numbers"),
        (b"hello\nyou\n", "its first line is no word with numbers"),
        (b"the cat sat\n", "line 1 has what is no number"),
        (b"2 3\na 1 2 3\nb 1 2\n", "line 3 has not 3 finite numbers"),
        (b"a 1 2 3\nb 1 nan 3\n", "line 2 has not 3 finite numbers"),
        (b"2 300\na \x00\x01\x02\xff\xfe\n", "not word vectors as text"),
        (b"PK\x03\x04", "a zip archive"),
        (gzip.compress(b"a 1 2 3\n" * 999, mtime=0)[:30], "damaged gzip"),
    ],
)
def test_a_file_without_vectors_is_one_line(tmp_path, content, said) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as fault:
        VectorFile(path).find(["a", "b"])
    assert str(fault.value).startswith(str(path))
    assert "\n" not in str(fault.value)


# ------------------------------------------------------------------------------------------------ filters

N_ROWS = 240


@pytest.fixture(scope="module")
def synonyms():
    """Gold has the topic of the first sentence; no topic of a scored row is ever fitted."""
    rng = np.random.default_rng(0)
    contexts, negatives = [], []
    for i in range(N_ROWS):
        one, *others = rng.permutation(40)[:4] if i < N_ROWS // 2 else 40 + rng.permutation(20)[:4]
        contexts.append(Context(f"p{one} here", "", f"q{one} t{i}"))
        negatives.append([f"q{other} t{i}" for other in others])
    pool = CandidatePool.from_texts(contexts, negatives, tagger="none")
    return pool.view(np.arange(N_ROWS), np.tile(np.arange(4), (N_ROWS, 1)))


@pytest.fixture(scope="module")
def vectors(tmp_path_factory) -> Path:
    """The words of a topic have the same vector."""
    lines = []
    for k, vector in enumerate(np.random.default_rng(0).normal(size=(60, 6)).round(2).tolist()):
        lines += [f"{letter}{k} {' '.join(map(str, vector))}" for letter in "pq"]
    path: Path = tmp_path_factory.mktemp("vectors") / "v.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def accuracy(view, **more) -> float:
    filter = make_filter("dualbow", device="cpu", learning_rate=3e-2, max_epochs=15, patience=15, dropout=0.0, **more)
    filter.fit(view.take(np.arange(N_ROWS // 2)), rng=np.random.default_rng(0))
    held_out = filter.score(view.take(np.arange(N_ROWS // 2, N_ROWS)))
    return float((held_out[:, :1] > held_out[:, 1:]).all(axis=1).mean())  # a tie is no hit


def test_words_that_no_fitted_row_has_are_understood_by_their_vectors(synonyms, vectors) -> None:
    assert accuracy(synonyms, vectors=str(vectors), tune_vectors=False) > 0.8
    assert accuracy(synonyms) < 0.45


def test_vectors_that_are_not_tuned_stay_and_others_move(synonyms, vectors) -> None:
    for tune in (False, True):
        filter = make_filter(f"dualbow[{vectors}]", device="cpu", tune_vectors=tune, max_epochs=1)
        filter.fit(synonyms, rng=np.random.default_rng(0))
        state = filter.encode_texts(["p3"]).states[0].numpy()
        assert np.array_equal(state, open_vectors(vectors).find(["p3"])["p3"]) == (not tune)


def test_coverage_is_the_share_of_words_that_the_file_has(synonyms, vectors) -> None:
    filter = make_filter("dualbow", vectors=str(vectors), device="cpu", max_epochs=1)
    few = synonyms.take(np.arange(2))
    filter.fit(few, rng=np.random.default_rng(0))
    assert filter.coverage == 0.5  # of "p here" and "q t" one word each


def test_settings_hold_the_hash_of_the_file_not_its_place(vectors, tmp_path) -> None:
    copy = tmp_path / "elsewhere.txt"
    copy.write_bytes(vectors.read_bytes())
    one, other = (settings_of(make_filter("lstm", vectors=str(path))) for path in (vectors, copy))
    assert one == other
    copy.write_text("p1 1 2 3 4 5 6\n")
    assert settings_of(make_filter("lstm", vectors=str(copy))) != one


def test_a_file_without_any_of_the_words_is_said(synonyms, tmp_path) -> None:
    path = written(tmp_path / "v", ["hund 1 2 3", "katze 1 2 4"])
    with pytest.raises(InputError, match="it has none of the"):
        make_filter("dualbow", vectors=str(path)).fit(synonyms, rng=np.random.default_rng(0))


def test_a_blank_line_is_no_word(tmp_path) -> None:
    """A pool in which a text had no words was refused for the blank last line of the file."""
    assert list(VectorFile(written(tmp_path / "v", ["a 1 2 3", "", " "])).find(["", "a"])) == ["a"]
