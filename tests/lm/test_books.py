"""Books for pretraining: which files, which paragraphs, which sentences, which pairs."""

import os
from pathlib import Path

import numpy as np
import pytest

from swag_af.data.errors import ExhaustedError, InputError
from swag_af.data.tokens import tokenize
from swag_af.data.vocabulary import UNK, Vocabulary, build_vocabulary
from swag_af.lm.lstm.books import LONGEST, RUN, Books, book_hashes, books_corpus, find_books, read_books

STORY = """CHAPTER I

A Walk by the River

The boy walked to the
river with his dog. He threw a ball
into the water.

The dog did not want to swim.

CHAPTER II

Mr. Brown saw it all. He laughed at the dog.
"""


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    known = [*STORY.replace("\n", " ").split(". "), 'Mr. Brown said "it didn\'t swim."']
    return build_vocabulary([tokenize(line) for line in known], min_count=1)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def texts(books: Books, vocabulary: Vocabulary) -> list[str]:
    return [vocabulary.text(pair) for book in books.pairs for pair in book]


def test_sentences_pair_across_paragraphs_but_not_across_headings(tmp_path, vocabulary):
    read = read_books([write(tmp_path / "a.txt", STORY)], vocabulary)
    assert [text.lower() for text in texts(read, vocabulary)] == [
        "the boy walked to the river with his dog. he threw a ball into the water.",
        "he threw a ball into the water. the dog did not want to swim.",
        "mr. brown saw it all. he laughed at the dog.",
    ]


def test_a_text_without_blank_lines_still_loses_its_headings(tmp_path, vocabulary):
    lines = "\n".join(line for line in STORY.split("\n") if line and line != "A Walk by the River")
    read = read_books([write(tmp_path / "a.txt", lines)], vocabulary)
    assert read.drops["kept"] == 3
    assert not any("chapter" in text.lower() for text in texts(read, vocabulary))


def test_a_blank_line_in_mid_sentence_and_a_hyphen_at_its_end_are_mended(tmp_path, vocabulary):
    text = "The boy walked to the\n\nriver with his dog. He threw a half-\ncoloured ball into the water."
    read = read_books([write(tmp_path / "a.txt", text)], vocabulary)
    first = "The boy walked to the river with his dog."
    second = "He threw a half-coloured ball into the water."
    assert read.pairs == [[tuple(vocabulary.ids([*tokenize(first), *tokenize(second)]))]]


def test_the_licence_around_a_book_is_cut_off(tmp_path, vocabulary):
    licence = "Anyone may copy this dog. It is free of charge."
    bare = read_books([write(tmp_path / "a.txt", STORY)], vocabulary)
    for which in ("THE", "THIS"):
        begin, end = (f"*** {edge} OF {which} PROJECT GUTENBERG EBOOK A WALK ***" for edge in ("START", "END"))
        wrapped = f"{licence}\n\n{begin}\n\n{STORY}\n\n{end}\n\n{licence}\n"
        assert read_books([write(tmp_path / "b.txt", wrapped)], vocabulary) == bare


def test_a_part_that_ends_does_not_end_the_book(tmp_path, vocabulary):
    """What stood behind such a line was left out, and nothing told of it."""
    first, second = "The boy walked to the river. He laughed at the dog.", "The dog did not swim. He threw the ball."
    text = f"{first}\n\n*** END OF PART ONE ***\n\n*** START OF PART TWO ***\n\n{second}"
    said = texts(read_books([write(tmp_path / "a.txt", text)], vocabulary), vocabulary)
    assert any("river" in one for one in said)
    assert any("threw" in one for one in said)


def test_typeset_quotes_and_italics_read_as_typed_ones(tmp_path, vocabulary):
    typed = 'He said "the dog" didn\'t swim. He laughed at the dog.'
    typeset = "He said “the _dog_” didn’t swim. He laughed at the dog."
    books = [read_books([write(tmp_path / "a.txt", text)], vocabulary) for text in (typed, typeset)]
    assert books[0].pairs == books[1].pairs


def test_unfit_pairs_are_dropped_and_counted(tmp_path, vocabulary):
    long = "The boy walked to the river " + "and the river " * LONGEST + "."
    strange = "Zounds gramercy forsooth quotha yclept."
    text = f"He laughed at the dog. No! {long} {strange} He laughed at the dog. The dog did not want to swim."
    drops = read_books([write(tmp_path / "a.txt", text)], vocabulary).drops
    assert drops == {"pairs": 5, "kept": 1, "short_sentence": 2, "long_sentence": 1, "unknown_words": 1}


def test_unknown_words_are_read_as_unknown(tmp_path, vocabulary):
    text = "The boy threw a ball into the maelstrom. He laughed at the dog."
    read = read_books([write(tmp_path / "a.txt", text)], vocabulary)
    assert read.pairs[0][0].count(UNK) == 1


def test_folders_and_files_name_the_same_books_in_any_order(tmp_path):
    one, two = write(tmp_path / "a.txt", "One."), write(tmp_path / "b.txt", "Two.")
    write(tmp_path / "notes.md", "Not a book.")
    assert find_books([tmp_path]) == [one, two]
    assert list(book_hashes(find_books([two, one])).items()) == list(book_hashes(find_books([tmp_path])).items())


def test_all_missing_books_are_named_at_once(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"gone\.txt: no such file.*; .*empty: no \.txt files"):
        find_books([tmp_path / "gone.txt", tmp_path / "empty"])


def test_two_books_of_one_name_are_refused(tmp_path):
    (tmp_path / "more").mkdir()
    paths = [write(tmp_path / "a.txt", "One."), write(tmp_path / "more" / "a.txt", "Two.")]
    with pytest.raises(InputError, match=r"a\.txt: 2 books of this name"):
        find_books(paths)


@pytest.mark.parametrize("kind", ["folder", "pipe", "name"])
def test_what_is_no_book_is_refused_before_any_is_read(tmp_path, kind):
    write(tmp_path / "a.txt", "One.")
    path = tmp_path / "b.txt"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        write(tmp_path / os.fsdecode(b"b\xe9.txt"), "Two.")
    line = {"folder": "a folder, a pipe", "pipe": "a pipe or", "name": "this name is not UTF-8"}[kind]
    with pytest.raises(InputError, match=line):
        find_books([tmp_path])


BAD_BOOKS = [(b" \n\n", "empty"), (b"The caf\xe9 was shut.", "not UTF-8"), ("Hm.".encode("utf-16-le"), "NUL")]


@pytest.mark.parametrize(("content", "fault"), BAD_BOOKS)
def test_a_book_that_cannot_be_read_is_named(tmp_path, vocabulary, content, fault):
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"a\.txt: {fault}"):
        read_books([path], vocabulary)


def test_books_without_a_pair_are_refused(tmp_path, vocabulary):
    with pytest.raises(ExhaustedError, match="no pair of sentences"):
        read_books([write(tmp_path / "a.txt", "He laughed at the dog.")], vocabulary)


@pytest.mark.parametrize("n", [2, 3, RUN + 1, 12 * RUN])
def test_every_pair_is_learnt_from_or_held_out(n):
    pairs = [(i, i) for i in range(n)]
    corpus = books_corpus(Books([pairs[: n // 2], pairs[n // 2 :]], {}), 0.1, rng=np.random.default_rng(0))
    assert sorted(corpus.train + corpus.held_out) == pairs
    assert corpus.train
    assert corpus.held_out
    assert not corpus.fold


def test_few_pairs_stand_on_the_border_of_what_is_held_out():
    pairs = [(i, i) for i in range(50 * RUN)]
    corpus = books_corpus(Books([pairs], {}), 0.1, rng=np.random.default_rng(0))
    held = {pair[0] for pair in corpus.held_out}
    assert len(held) == 5 * RUN
    assert sum(i + 1 not in held for i in held) <= 5


def test_a_single_pair_is_not_enough():
    with pytest.raises(ExhaustedError, match="not enough"):
        books_corpus(Books([[(1, 2)]], {}), 0.1, rng=np.random.default_rng(0))
