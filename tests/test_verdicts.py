"""Claims about items, verdicts, the majority and refills."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_af.data.errors import InputError
from swag_af.verdicts import (
    RATINGS,
    Item,
    Verdict,
    is_example,
    judge,
    make_items,
    read_verdicts,
    refill,
    write_verdicts,
)

ITEM = Item(3, (0, 7, 9, 4, 12, 5))
ASSIGNED = np.array([0, 4, 5, 7, 9, 12, 20, 21, 22, 23])


def verdict(ratings="lluuuu", best=0, second=1, annotator="a", item=ITEM):
    word = {rating[0]: rating for rating in RATINGS}
    return Verdict(item, annotator, tuple(word[letter] for letter in ratings), best, second, 12.5)


def test_an_item_is_gold_and_five_of_its_rows_negatives():
    assignment = np.stack([ASSIGNED, ASSIGNED + (np.arange(10) > 0)])
    items = make_items(assignment, seed=1)
    assert [item.row for item in items] == [0, 1]
    for item, columns in zip(items, assignment, strict=True):
        assert item.columns[0] == 0
        assert len(set(item.columns)) == 6
        assert set(item.columns) <= set(columns.tolist())


def test_the_items_of_a_row_hang_on_the_seed_and_that_row_alone():
    assignment = np.stack([ASSIGNED] * 40)
    many = make_items(assignment, seed=1)
    assert many[:5] == make_items(assignment[:5], seed=1)
    assert many != make_items(assignment, seed=2)
    assert len({item.columns for item in many}) > 30


def test_an_item_of_a_short_row_has_all_its_negatives():
    (item,) = make_items(np.array([[0, 3, 8]]), seed=0)
    assert sorted(item.columns) == [0, 3, 8]


def test_the_judgement_of_one_annotator_is_what_they_said():
    (judgement,) = judge([verdict("llugul", best=5, second=0)])
    assert judgement.ratings == verdict("llugul").ratings
    assert (judgement.best, judgement.second, judgement.n_annotators) == (5, 0, 1)
    assert judgement.likelihoods == (1, 1, 0, -1, 0, 1)


def test_a_majority_decides_each_rating_and_points_decide_the_best():
    said = [verdict("llulgu", 1, 0, "a"), verdict("luulgu", 0, 3, "b"), verdict("luugll", 0, 1, "c")]
    (judgement,) = judge(said)
    assert "".join(rating[0] for rating in judgement.ratings) == "luulgu"
    assert (judgement.best, judgement.second) == (0, 1)


def test_of_two_commonest_ratings_the_worse_counts_and_of_three_the_middle():
    (two,) = judge([verdict("llllll", annotator="a"), verdict("uuuggg", annotator="b")])
    assert [rating[0] for rating in two.ratings] == list("uuuggg")
    (three,) = judge([verdict(letter * 6, annotator=letter) for letter in "lug"])
    assert set(three.ratings) == {"unlikely"}


@given(st.permutations(range(4)))
def test_a_judgement_does_not_hang_on_the_order_of_verdicts(order):
    said = [
        verdict("llulgu", 1, 0, "a"),
        verdict("luulgu", 2, 3, "b"),
        verdict("luugll", 3, 2, "c"),
        verdict("gggggg", 4, 5, "d"),
    ]
    assert judge([said[i] for i in order]) == judge(said)


def test_three_sensible_endings_are_too_few():
    (three,) = judge([verdict("lluggg")])
    (four,) = judge([verdict("lluugg")])
    assert not is_example(three)
    assert is_example(four)


def test_a_refill_keeps_gold_and_what_is_sensible_and_below_it():
    (judgement,) = judge([verdict("lguggl", best=5, second=0)])
    again = refill(judgement, ASSIGNED, ITEM.columns)
    assert again == Item(3, (0, 9, 20, 21, 22, 23), 1)


def test_a_refill_shows_nothing_twice():
    (judgement,) = judge([verdict("lguggl", best=5, second=0)])
    again = refill(judgement, ASSIGNED, {20, 21})
    assert again == Item(3, (0, 9, 22, 23), 1)
    assert refill(judgement, ASSIGNED, {20, 21, 22}) is None


def test_gold_stays_when_everybody_calls_it_gibberish():
    (judgement,) = judge([verdict("gguggg", best=2, second=1)])
    again = refill(judgement, ASSIGNED, ())
    assert again is not None
    assert again.columns[0] == 0
    assert not {7, 9} & set(again.columns)


def test_verdicts_are_read_as_they_were_written(tmp_path):
    said = [verdict(annotator="a"), verdict("gggull", 4, 0, "b")]
    write_verdicts(tmp_path / "v.jsonl", said, "pool-1")
    assert read_verdicts(tmp_path / "v.jsonl", "pool-1") == said


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": [7, 0, 9, 4, 12, 5]}, "first column is not gold"),
        ({"columns": [0, 7, 7, 4, 12, 5]}, "repeat"),
        ({"ratings": ["likely"]}, "1 ratings for 6"),
        ({"ratings": ["fine"] * 6}, "none of likely, unlikely, gibberish"),
        ({"best": 1}, "two different places"),
        ({"second": 6}, "two different places"),
        ({"best": "x"}, "not a verdict"),
        ({"annotator": ""}, "no annotator"),
        ({"pool": "other"}, "another pool"),
    ],
)
def test_a_line_that_is_no_verdict_is_named(tmp_path, changes, message):
    path = tmp_path / "v.jsonl"
    write_verdicts(path, [verdict()], "pool-1")
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record) + "\n" + json.dumps(record | {"annotator": "b"} | changes) + "\n")
    with pytest.raises(InputError, match=message) as caught:
        read_verdicts(path, "pool-1")
    assert "line 2" in str(caught.value)


def test_a_verdict_given_twice_is_named(tmp_path):
    write_verdicts(tmp_path / "v.jsonl", [verdict(), verdict("llllll")], "pool-1")
    with pytest.raises(InputError, match="a judged item 3-0 before"):
        read_verdicts(tmp_path / "v.jsonl")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("row", float("inf")),
        ("row", 1.5),
        ("row", -1),
        ("round", -1),
        ("best", "1"),
        ("ratings", [["likely"]] * 6),
        ("ratings", [{}] * 6),
        ("seconds", float("nan")),
        ("seconds", -1),
        ("seconds", 10**400),
    ],
)
def test_a_value_that_is_none_is_refused_with_its_line(tmp_path, name, value):
    write_verdicts(tmp_path / "v.jsonl", [verdict()], "p")
    record = json.loads((tmp_path / "v.jsonl").read_text())
    (tmp_path / "v.jsonl").write_text(json.dumps(record | {name: value}) + "\n")
    with pytest.raises(InputError, match="line 1"):
        read_verdicts(tmp_path / "v.jsonl")
