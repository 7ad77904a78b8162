"""Claims about items, verdicts, the majority, its ties and refills."""

import itertools
import json
import random

import numpy as np
import pytest
from folders import write
from hypothesis import given
from hypothesis import strategies as st

from swag_af.data.errors import InputError
from swag_af.judging.verdicts import (
    RATINGS,
    Item,
    Verdict,
    check_in_pool,
    is_example,
    judge,
    make_items,
    rank_endings,
    read_verdicts,
    refill,
    rows_apart,
    told_apart,
    with_ordered_columns,
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


@given(st.permutations(ITEM.columns), st.integers(0, 9), st.lists(st.integers(0, 2), min_size=13, max_size=13))
def test_endings_are_ranked_alike_wherever_they_stand(columns, seed, value_of_column):
    ranked = []
    for item in (ITEM, Item(3, tuple(columns))):
        values = [value_of_column[column] for column in item.columns]
        ranked.append([item.columns[place] for place in rank_endings(item, values, seed=seed)])
    assert ranked[0] == ranked[1]
    assert [value_of_column[column] for column in ranked[0]] == sorted(values, reverse=True)


def test_a_tie_hangs_on_seed_row_round_and_the_columns_themselves():
    def first(seed=0, row=0, round_=0):
        item = Item(row, ITEM.columns, round_)
        return item.columns[rank_endings(item, [1] * 6, seed=seed)[0]]

    for name in ("seed", "row", "round_"):
        assert {first(**{name: i}) for i in range(60)} == set(ITEM.columns)
    item = Item(0, (0, 7, 9))
    ranked = [ITEM.columns[i] for i in rank_endings(Item(0, ITEM.columns), [1] * 6, seed=0)]
    assert [item.columns[i] for i in rank_endings(item, [1] * 3, seed=0)] == [c for c in ranked if c in item.columns]


def test_of_random_verdicts_gold_is_best_as_often_as_by_chance():
    rng = random.Random(0)
    said = []
    for row, name in itertools.product(range(4000), "ab"):
        order = rng.sample(range(6), 6)  # each rates as they rank, and so two of them often tie
        said.append(
            verdict(["llluug"[rank] for rank in order], order.index(0), order.index(1), name, Item(row, ITEM.columns))
        )
    for what in ("best", "second"):
        share = sum(getattr(judgement, what) == 0 for judgement in judge(said)) / 4000
        assert abs(share - 1 / 6) < 3.3 * (1 / 6 * 5 / 6 / 4000) ** 0.5


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
    assert read_verdicts(tmp_path / "v.jsonl", "pool-1") == [with_ordered_columns(one) for one in said]


@given(st.permutations([1, 2, 3, 4, 5]))
def test_the_same_endings_in_any_order_are_one_item_of_which_the_same_was_said(others):
    order = (0, *others)
    first = verdict("lluugg", best=2, second=0)
    moved = Verdict(
        Item(3, tuple(ITEM.columns[place] for place in order)),
        "b",
        tuple(first.ratings[place] for place in order),
        order.index(2),
        order.index(0),
    )
    one, two = (with_ordered_columns(given) for given in (first, moved))
    assert one.item == two.item == Item(3, (0, 4, 5, 7, 9, 12))
    assert (one.ratings, one.best, one.second) == (two.ratings, two.best, two.second)
    assert [one.ratings[one.item.columns.index(column)] for column in ITEM.columns] == list(first.ratings)


def test_verdicts_of_two_seeds_on_the_same_endings_are_brought_together(tmp_path):
    other = Item(3, (0, 12, 5, 7, 9, 4))
    said = [verdict(annotator="a"), verdict(annotator="b", item=other), verdict(annotator="a", item=other)]
    write_verdicts(tmp_path / "v.jsonl", said, "pool-1")
    read = read_verdicts(tmp_path / "v.jsonl", "pool-1")
    assert [one.annotator for one in read] == ["a", "b"]
    (judgement,) = judge(read)
    assert judgement.n_annotators == 2


def test_a_row_shown_with_different_endings_in_one_round_is_counted_and_told():
    items = [ITEM, Item(3, (0, 7, 9, 4, 12, 20)), Item(4, (0, 1, 2)), Item(4, (0, 2, 1)), Item(3, (0, 7, 21), 1)]
    assert rows_apart(items) == {3}
    assert str(told_apart(items)).startswith("1 context shown with different endings in one round")
    assert told_apart(items[2:]) is None


def test_lines_of_two_pools_in_one_file_are_refused(tmp_path):
    path = tmp_path / "v.jsonl"
    write_verdicts(path, [verdict()], "pool-1")
    nameless = json.loads(path.read_text())
    del nameless["pool"]
    lines = [nameless, nameless | {"annotator": "b", "pool": "pool-1"}, nameless | {"annotator": "c", "pool": "pool-2"}]
    write(path, lines[:2])
    assert len(read_verdicts(path)) == 2
    write(path, lines)
    with pytest.raises(InputError, match=r"line 3: a verdict on another pool.*line 2 is of the first"):
        read_verdicts(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": [7, 0, 9, 4, 12, 5]}, "first column is not gold"),
        ({"columns": []}, "first column is not gold"),
        ({"columns": [0, 7, 7, 4, 12, 5]}, "repeat"),
        ({"columns": [0]}, "fewer than two endings"),
        ({"row": -1}, "a row or a round below 0"),
        ({"seconds": -1}, "seconds that are no time"),
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
        ("item", "9-0"),
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


@pytest.mark.parametrize("item", [Item(2, (0, 1)), Item(0, (0, 3))], ids=["row", "column"])
def test_an_item_outside_the_pool_is_refused(item):
    check_in_pool([Item(0, (0, 2)), Item(1, (0, 4))], np.array([3, 5]), "v.jsonl")
    with pytest.raises(InputError, match=r"v\.jsonl: item .* which the pool does not have"):
        check_in_pool([item], np.array([3, 5]), "v.jsonl")
