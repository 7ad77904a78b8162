"""What labels mean, and where they begin to count."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swag_af.data.cells.labels import (
    AS_TEXT,
    base_named,
    base_of,
    check_base,
    fits_both,
    gold_of,
    index_of,
    label_cells,
)
from swag_af.data.cells.values import did_you_mean, listed, names_of_options, nested, text_of, texts_of
from swag_af.data.errors import InputError, RowError

Cells = list[tuple[Any, list[str | None], list[str]]]


def slow_base_of(cells: Cells) -> int:
    """By the definition: the first reading that every number allows, in the order that its company asks for."""
    labels = [(value, texts) for value, texts, _ in cells if value not in (-1, "-1", "-")]
    numbers = [(value, texts) for value, texts in labels if str(value).lstrip("-").isdecimal()]
    others = [(value, texts) for value, texts in labels if (value, texts) not in numbers]
    readings = {
        0: lambda value, texts: 0 <= int(value) < len(texts),
        1: lambda value, texts: 1 <= int(value) <= len(texts),
        AS_TEXT: lambda value, texts: str(value) in texts,
    }
    hidden = any(value in texts for value, texts, _ in cells if value in ("-1", "-"))
    order = [0, 1, AS_TEXT]
    if any(value not in texts for value, texts in others):
        order = [1, 0, AS_TEXT] if numbers else [0]
    if any(value in texts for value, texts in others):
        order = [AS_TEXT, *(base for base in order if base != AS_TEXT)] if numbers or hidden else [0]
    return next((base for base in order if all(readings[base](*label) for label in numbers)), 0)


def options_of(first: int, n: int) -> list[str | None]:
    return [str(first + i) for i in range(n)]


OPTIONS = st.builds(options_of, st.integers(0, 3), st.integers(2, 4))
LABELS = st.one_of(st.integers(-2, 5), st.integers(-2, 5).map(str))
MIXED = st.one_of(LABELS, st.sampled_from(["A", "b", "red", "-"]))
MIXED_OPTIONS = st.one_of(OPTIONS, st.sampled_from([["red", "1", "2"], ["-1", "red", "3", "4"], ["+", "-", "red"]]))


@given(st.lists(st.tuples(LABELS, OPTIONS, st.just([]))))
def test_labels_are_read_in_the_first_way_that_all_rows_allow(cells: Cells) -> None:
    assert base_of(cells) == slow_base_of(cells)


@given(st.lists(st.tuples(MIXED, MIXED_OPTIONS, st.just([]))))
@example([(-1, ["-1", "red", "3", "4"], []), ("A", ["red", "1", "2"], [])])
@example([("A", ["red", "1", "2"], []), ("-", ["+", "-", "red"], [])])
def test_numbers_are_read_as_what_stands_among_them_says(cells: Cells) -> None:
    cells = [(value, texts, names) for value, texts, names in cells if value != "red" or value in texts]
    assert base_of(cells) == slow_base_of(cells)


FITTING = st.integers(0, 1).flatmap(
    lambda base: st.lists(
        st.integers(2, 4).flatmap(
            lambda n: st.tuples(st.integers(base, n - 1 + base), st.just(["a", "b", "c", "d"][:n]))
        )
    )
)


@given(FITTING, st.lists(st.sampled_from(["", " ", None]), max_size=2))
def test_padding_does_not_say_from_where_labels_count(rows: list[tuple[int, list[str]]], pad: list[str | None]) -> None:
    """Labels from 1 were read from 0 where a last option without a text left room for them."""
    cells: Cells = [(number, [*texts], []) for number, texts in rows]
    padded: Cells = [(number, [*texts, *pad], []) for number, texts in rows]
    assert base_of(padded) == base_of(cells)
    assert fits_both(padded) == fits_both(cells)


def test_a_null_among_options_says_from_where_labels_count() -> None:
    texts = ["red", None, "blue"]
    assert base_of([(1, texts, []), (3, texts, [])]) == 1
    assert base_of([(2, texts, []), (2, ["red", "green", "blue"], [])]) == 0
    assert not fits_both([(2, texts, [])])


def test_one_row_whose_gold_is_blank_does_not_move_all_labels() -> None:
    texts = ["red", "green", "blue"]
    damaged = ("red", "green", " ")
    assert base_of([(3, texts, []), (1, texts, []), (3, [*damaged], [])]) == 1
    assert base_of([(0, texts, []), (2, [*damaged], [])]) == 0


def test_arc_has_numbers_among_letters() -> None:
    four = ["a plant", "a rock", "a lake", "a cow"]
    assert base_of([("A", four, []), ("3", four, []), ("1", four, [])]) == 1
    assert base_of([("A", four, []), ("3", four, []), ("0", four, [])]) == 0


def test_numerals_among_texts_are_texts() -> None:
    cells: Cells = [("red", ["red", "1"], []), ("3", ["4", "1", "3", "2"], [])]
    assert base_of(cells) == AS_TEXT
    assert index_of("3", "label", cells[1][1], what="options", base=AS_TEXT) == 2


def test_minus_one_may_be_the_text_of_an_option() -> None:
    numbers = ["-1", "5", "7", "12"]
    assert base_of([("-1", numbers, []), ("7", numbers, [])]) == AS_TEXT
    assert index_of("-1", "label", numbers, what="options", base=AS_TEXT) == 0
    assert base_of([("-", ["+", "-"], []), ("+", ["+", "-"], [])]) == AS_TEXT
    with pytest.raises(RowError, match="has no label"):
        index_of("-1", "label", numbers, what="options", base=0)


@given(st.lists(st.tuples(st.integers(0, 3), st.just(options_of(7, 4)), st.just([])), min_size=1))
def test_what_may_count_from_0_does(cells: Cells) -> None:
    assert base_of(cells) == 0


def test_names_are_no_numbers() -> None:
    names = ["1", "2", "3", "4"]
    assert base_of([("1", options_of(7, 4), names), ("4", options_of(7, 4), names)]) == 0


def test_numbers_that_fit_as_texts_alone_are_texts() -> None:
    cells: Cells = [("2", ["1", "2"], []), ("7", ["7", "8"], [])]
    assert base_of(cells) == AS_TEXT
    assert [index_of(value, "label", texts, what="options", base=AS_TEXT) for value, texts, _ in cells] == [1, 0]


TEXTS = ["red", "green", "blue"]
MEANT = {
    "a number": (1, 0, 1),
    "a number in a text": (" 1 ", 0, 1),
    "a number from 1": (1, 1, 0),
    "a float": (2.0, 0, 2),
    "a float in a text": ("2.0", 0, 2),
    "a letter": ("B", 0, 1),
    "a small letter": ("c", 0, 2),
    "a letter in brackets": ("(B)", 0, 1),
    "a letter and a stop": ("B.", 0, 1),
    "its text": ("green", 0, 1),
    "marks": ([0, 0, 1], 0, 2),
    "marks that are truth values": ([False, True, False], 0, 1),
    "marks in a text": ("[0, 1, 0]", 0, 1),
}


@pytest.mark.parametrize(("value", "base", "index"), MEANT.values(), ids=MEANT.keys())
def test_what_a_label_means(value: object, base: int, index: int) -> None:
    assert index_of(value, "label", TEXTS, what="options", base=base) == index


@pytest.mark.parametrize(
    ("label", "index"),
    {
        "a text whose accents stand apart": ("gru\u0308n", 1),
        "a wide letter": ("\uff22", 1),
        "a wide letter in wide brackets": ("\uff08\uff43\uff09", 2),
        "a wide number": ("\uff10", 0),
        "a letter that is a text": ("\uff21", 0),
    }.values(),
)
def test_a_label_is_read_as_the_row_writes_what_it_means(label: str, index: int) -> None:
    """The same text on a screen was said to be none of the options."""
    texts = ["\uff21", "gr\u00fcn", "blau"] if label == "\uff21" else ["rot", "gr\u00fcn", "blau"]
    assert gold_of({"options": texts, "label": label}, "label", "options")[0] == index


def test_options_that_only_accents_apart_tell_apart_are_told_apart() -> None:
    row = {"options": ["gr\u00fcn", "gru\u0308n"], "label": "gru\u0308n"}
    assert gold_of(row, "label", "options")[0] == 1


def test_numbers_among_texts_whose_accents_stand_apart_are_texts_too() -> None:
    rows = [{"options": ["1", "0"], "key": "1"}, {"options": ["gr\u00fcn", "1"], "key": "gru\u0308n"}]
    assert base_of(label_cells(rows, "key", "options")) == AS_TEXT


NONE_MEANT = {
    "none": (None, "has no label"),
    "of a test file": (-1, "has no label"),
    "of no majority": ("-", "has no label"),
    "NaN": (float("nan"), "has no label"),
    "too large": (3, "has label 3, and 3 options, which count from 0"),
    "another text": ("yellow", "'yellow' under label"),
    "a letter beyond": ("D", "'D' under label"),
    "two marks": ([1, 1, 0], "has 2 marks"),
    "marks of others": ([1, 0], r"the list \[1, 0\] under label, .* each of its 3 options"),
}


@pytest.mark.parametrize(("value", "said"), NONE_MEANT.values(), ids=NONE_MEANT.keys())
def test_labels_that_mean_nothing(value: object, said: str) -> None:
    with pytest.raises(RowError, match=said):
        index_of(value, "label", TEXTS, what="options")


@pytest.mark.parametrize("label", [True, 1])
def test_a_truth_value_is_the_second_of_two(label: object) -> None:
    assert index_of(label, "label", ["no", "yes"], what="options") == 1


@pytest.mark.parametrize(
    ("options", "true"),
    [(("yes", "no"), 0), (("True", "False"), 0), (("No.", "Yes."), 1), (("red", "blue"), 1), (("yes", "yes!"), 1)],
)
def test_a_truth_value_is_the_option_that_says_so(options: tuple[str, str], true: int) -> None:
    """All right answers of a set of yes-or-no questions were read as wrong ones, for yes came first."""
    assert index_of(True, "label", options, what="options") == true
    assert index_of(False, "label", options, what="options") == 1 - true


def test_numbers_beside_names_that_are_numbers_are_refused() -> None:
    """0 to 3 of options called 1 to 4: a label that is a name meant it, any other was counted, in one column."""
    names = ["1", "2", "3", "4"]
    assert index_of(2, "label", TEXTS, what="options", names=names) == 1
    with pytest.raises(RowError, match="has label 0, and options called 1, 2, 3, 4"):
        index_of(0, "label", TEXTS, what="options", names=names)
    assert index_of(0, "label", TEXTS, what="options", names=["A", "B", "C", "D"]) == 0


def test_names_beside_nested_options_come_before_numbers() -> None:
    row = {"choices": {"text": TEXTS, "label": ["3", "2", "1"]}, "choices.text": TEXTS, "key": "3"}
    assert gold_of(row, "key", "choices.text") == (0, TEXTS)
    assert names_of_options({"options": {"A": "x", "B": "y"}}, "options", 2) == ["A", "B"]


def test_a_label_of_an_empty_option_is_refused() -> None:
    with pytest.raises(RowError, match="no text under option 0"):
        gold_of({"options": [None, "x"], "label": 0}, "label", "options")


NAMES = ("a10", "a2", "a1", "choice_1", "choice-0", "A", "B")


@pytest.mark.parametrize(
    ("stem", "columns"),
    [("a", ("a1", "a2", "a10")), ("choices", ("choice-0", "choice_1")), ("A,B", ("A", "B")), ("A,C", ()), ("", ())],
)
def test_columns_of_a_list(stem: str, columns: tuple[str, ...]) -> None:
    assert listed(stem, NAMES) == columns


def test_numbered_columns_are_one_text() -> None:
    assert text_of({"s2": "Then he sits. ", "s1": "He stands."}, "s") == "He stands. Then he sits."
    assert texts_of({"s2": "b", "s1": ""}, "s") == [None, "b"]


def test_cells_within_cells() -> None:
    assert nested({"a": [{"b": {"c": 1}}, {"b": {"c": 2}}]}, "a.b.c") == [1, 2]
    assert nested({"a": 3}, "a.b") is None


def test_numbers_that_are_texts_of_options_as_well_are_refused_where_nothing_tells() -> None:
    """Of questions whose options are small numbers a fourth of the golds were right, by chance."""
    cells: Cells = [("1", ["2", "3", "1", "4"], []), ("3", ["3", "1", "4", "2"], [])]
    with pytest.raises(InputError, match=r"each is the text of an option.*Say --label-base text, or --label-base 1"):
        check_base(1, cells, "labels", "--label-base")
    check_base(AS_TEXT, cells, "labels", "--label-base")
    odd: Cells = [("1", ["two", "three"], [])]
    with pytest.raises(InputError, match=r"labels: 2 of 3 are the text of an option"):  # one row says nothing of others
        check_base(1, [*cells, *odd], "labels", "--label-base")
    check_base(1, [*cells, *odd, *odd], "labels", "--label-base")
    check_base(1, [(int(str(value)), texts, names) for value, texts, names in cells], "labels", "--label-base")
    assert base_named("text") == AS_TEXT


def test_names_are_suggested_whatever_their_letter_case() -> None:
    """Nothing was suggested for frage."""
    said = did_you_mean(["frage", "antwort", "Bild"], ["FRAGE", "Antwort", "bild"])
    assert said == " Did you mean FRAGE for frage, Antwort for antwort, bild for Bild?"
    assert did_you_mean(["question "], ["question"]) == " Did you mean 'question' for 'question '?"
