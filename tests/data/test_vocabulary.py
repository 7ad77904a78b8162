"""Claims about the vocabulary: ids, spellings, and the file."""

from pathlib import Path

import numpy as np
import pytest

from swag_af.data.errors import FormatError
from swag_af.data.vocabulary import BOS, EOS, PAD, SPECIAL_TOKENS, UNK, Vocabulary, build_vocabulary

SENTENCES = [s.split() for s in ("The dog sees Ann .", "A dog and I see Ann .", "the The Dog .", "I see it")]


def test_special_tokens_come_first_and_were_never_seen() -> None:
    vocabulary = build_vocabulary(SENTENCES, min_count=1)
    assert vocabulary.tokens[:4] == SPECIAL_TOKENS
    assert (PAD, UNK, BOS, EOS) == (0, 1, 2, 3)
    assert vocabulary.counts[:4].tolist() == [0, 0, 0, 0]


def test_types_stand_by_falling_count_then_by_spelling() -> None:
    vocabulary = build_vocabulary(SENTENCES, min_count=2)
    assert list(zip(vocabulary.tokens[4:], vocabulary.counts[4:].tolist(), strict=True)) == [
        (".", 3), ("dog", 3), ("the", 3), ("ann", 2), ("i", 2), ("see", 2),
    ]  # fmt: skip


def test_ids_do_not_know_the_order_of_the_sentences() -> None:
    one, two = build_vocabulary(SENTENCES, min_count=1), build_vocabulary(SENTENCES[::-1], min_count=1)
    assert one.tokens == two.tokens
    assert one.spellings == two.spellings


def test_a_type_is_shown_as_most_often_spelt_inside_sentences() -> None:
    vocabulary = build_vocabulary(SENTENCES, min_count=1)
    shown = dict(zip(vocabulary.tokens, vocabulary.spellings, strict=True))
    assert (shown["ann"], shown["the"], shown["dog"]) == ("Ann", "the", "dog")
    assert vocabulary.text(vocabulary.ids(["ann", "sees", "the", "dog", "."])) == "Ann sees the dog."


def test_unknown_tokens_get_unk_and_letter_case_does_not_matter() -> None:
    vocabulary = build_vocabulary(SENTENCES, min_count=2)
    assert vocabulary.ids(["DOG", "zebra"]) == [vocabulary.tokens.index("dog"), UNK]


def test_padding_is_left_out_of_the_text() -> None:
    vocabulary = build_vocabulary(SENTENCES, min_count=1)
    assert vocabulary.text([*vocabulary.ids(["it"]), PAD, PAD]) == "it"


@pytest.mark.parametrize(("n_types", "dtype"), [(10, np.uint16), (1 << 16, np.uint16), ((1 << 16) + 1, np.uint32)])
def test_ids_take_the_smallest_type_that_holds_them(n_types: int, dtype: type) -> None:
    tokens = tuple(map(str, range(n_types)))
    vocabulary = Vocabulary(tokens, np.zeros(n_types, np.int64), tokens)
    assert vocabulary.id_dtype is dtype
    assert n_types - 1 <= np.iinfo(vocabulary.id_dtype).max


@pytest.mark.parametrize("tagged", [False, True])
def test_a_saved_vocabulary_loads_equal(tmp_path: Path, tagged: bool) -> None:
    made = build_vocabulary([*SENTENCES, ["#", "é", "<unk>", "-", "中"]], min_count=1)
    made = made.with_tags(np.arange(len(made)) % 18) if tagged else made
    made.save(tmp_path / "v.tsv")
    loaded = Vocabulary.load(tmp_path / "v.tsv")
    assert (loaded.tokens, loaded.spellings) == (made.tokens, made.spellings)
    np.testing.assert_array_equal(loaded.counts, made.counts)
    if tagged:
        np.testing.assert_array_equal(loaded.tags, made.tags)
    else:
        assert loaded.tags is None


GOOD = "".join(f"{token}\t0\t{token}\t_\n" for token in SPECIAL_TOKENS)
DAMAGED = {
    "column missing": GOOD + "a\t1\ta\n",
    "no specials": "a\t1\ta\t_\n",
    "count no number": GOOD + "a\tmany\ta\t_\n",
    "unknown tag": GOOD + "a\t1\ta\tNONSENSE\n",
    "empty": "",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_vocabulary_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "v.tsv").write_text(content)
    with pytest.raises(FormatError, match=r"v\.tsv"):
        Vocabulary.load(tmp_path / "v.tsv")


def test_a_missing_vocabulary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="missing"):
        Vocabulary.load(tmp_path / "v.tsv")


def test_a_first_word_shows_its_spelling_where_its_capital_is_not_that_of_the_beginning() -> None:
    """`I have no comment.` and `NASA.` were shown as `i have no comment.` and `nasa.`"""
    sentences = [["I", "have"], ["NASA", "."], ["iPhone", "."], ["Dogs", "bark"], ["I"], ["A"]]
    vocabulary = build_vocabulary(sentences, min_count=1)
    shown = {vocabulary.text(vocabulary.ids(sentence)) for sentence in sentences}
    assert shown == {"I have", "NASA.", "iPhone.", "dogs bark", "I", "a"}


def test_a_word_i_of_another_language_stays_small() -> None:
    vocabulary = build_vocabulary([["I", "haven"], ["ned", "i", "vand"], ["op", "i", "en"]], min_count=1)
    assert vocabulary.text(vocabulary.ids(["ned", "i"])) == "ned i"
