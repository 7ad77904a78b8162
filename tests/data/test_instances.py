"""Instances as flat arrays, and their groups."""

import numpy as np
import pytest

from swag_af.data.errors import InputError
from swag_af.data.instances.grouping import group
from swag_af.data.instances.instances import Instance, Instances


def choices(*rows: tuple[tuple[str, ...], int], **more: str) -> Instances:
    return Instances(
        tuple(Instance(f"q{i}", f"context {i}", options, answer, **more) for i, (options, answer) in enumerate(rows)),
        "choices",
    )


def test_answers_are_flat_and_gold_is_marked() -> None:
    made = choices((("a", "b", "c"), 2), (("d", "e"), 0))
    assert made.offsets.tolist() == [0, 3, 5]
    assert made.is_gold.tolist() == [False, False, True, True, False]
    assert made.chance.tolist() == [1 / 3, 1 / 2]
    assert made.texts.options == ("a", "b", "c", "d", "e")
    assert made.texts.rows.tolist() == [0, 0, 0, 1, 1]


def test_classes_have_one_text_and_the_answers_are_the_classes() -> None:
    rows = [Instance(f"p{i}", "premise", (f"text {i}",), answer) for i, answer in enumerate([0, 1, 1])]
    made = Instances(tuple(rows), "classes", ("no", "yes"))
    assert made.n_answers.tolist() == [2, 2, 2]
    assert made.is_gold.tolist() == [True, False, False, True, False, True]
    assert made.chance.tolist() == [2 / 3] * 3
    assert made.texts.rows.tolist() == [0, 1, 2]


def test_texts_do_not_depend_on_labels() -> None:
    one, other = choices((("a", "b"), 0), (("c", "d"), 1)), choices((("a", "b"), 1), (("c", "d"), 0))
    assert one.texts.options == other.texts.options
    assert np.array_equal(one.texts.offsets, other.texts.offsets)


@pytest.mark.parametrize(
    ("instances", "said"),
    [
        ({"instances": (), "kind": "choices"}, "no instances"),
        ({"instances": (Instance("a", "", ("t",), 0),) * 2, "kind": "classes", "classes": ("x", "y")}, "occur twice"),
        ({"instances": (Instance("a", "", ("t",), 0),), "kind": "classes", "classes": ("x",)}, "one class only"),
    ],
)
def test_sets_that_cannot_be_used(instances: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Instances(**instances)


def test_named_groups_win() -> None:
    rows = [Instance(f"q{i}", "the same", ("a", "b"), 0, group=name) for i, name in enumerate(["v1", "v2", "v1", ""])]
    numbers = group(Instances(tuple(rows), "choices")).numbers.tolist()
    assert numbers[0] == numbers[2]
    assert sorted(set(numbers)) == [0, 1, 2]


def test_without_names_contexts_that_are_nearly_the_same_are_together() -> None:
    long = "a man in a red shirt walks down the long street and looks at all the shops on his way home"
    contexts = [long, "Another thing altogether happens here.", long.upper() + ".", long + " today", "", ""]
    rows = [Instance(f"q{i}", context, ("a", "b"), 0) for i, context in enumerate(contexts)]
    numbers = group(Instances(tuple(rows), "choices")).numbers
    assert numbers[0] == numbers[2] == numbers[3]
    assert len(set(numbers.tolist())) == 4
