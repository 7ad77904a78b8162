"""Instances as flat arrays, and their groups."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow.groups import groups_of_instances

from swag_af.data.errors import InputError
from swag_af.data.instances.grouping import NEAR, TELLING, by_name_or_text, group, same_as
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.splits import MOST_TOGETHER


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
        (
            {"instances": (Instance("a", "", ("t",), 0),) * 2, "kind": "classes", "classes": ("x", "y")},
            "the id 'a' occurs twice",
        ),
        ({"instances": (Instance("a", "", ("t",), 0),), "kind": "classes", "classes": ("x",)}, "one class only"),
        (
            {"instances": (Instance("a", "", ("t", "u"), 2),), "kind": "choices"},
            "'a' has the answer 2, no number of its",
        ),
        ({"instances": (Instance("a", "", ("t", "u"), -1),), "kind": "choices"}, "'a' has the answer -1"),
        ({"instances": (Instance("a", "", ("t", "u"), "t"),), "kind": "choices"}, "'a' has the answer 't'"),
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
    made = group(Instances(tuple(rows), "choices"))
    assert made.numbers[0] == made.numbers[2] == made.numbers[3]
    assert made.numbers[4] == made.numbers[5]  # no context, and the same options
    assert made.n == 3
    assert made.said.endswith("the dataset names none")


def classified(*texts: str, **more: str) -> list[Instance]:
    """Texts without a context, with classes in turn."""
    return [Instance(f"{more.get('group', '')}{i}", "", (text,), i % 2, **more) for i, text in enumerate(texts)]


def groups_of(rows: list[Instance]) -> set[frozenset[str]]:
    """The groups as sets of ids."""
    numbers = group(Instances(tuple(rows), "classes", ("no", "yes"))).numbers
    return {frozenset(rows[i].id for i in np.flatnonzero(numbers == number)) for number in np.unique(numbers)}


def test_texts_without_a_context_are_grouped_by_themselves() -> None:
    assert groups_of(classified("A dog runs.", "A cat sits.", "a dog runs")) == {frozenset("02"), frozenset("1")}


def test_instances_without_a_name_are_grouped_among_themselves() -> None:
    named = classified("A dog runs.", "A cat sits.", group="v") + classified("A bird.", "Nobody.", group="w")
    rows = named + classified("A dog runs.", "Nobody.", "nobody")
    assert groups_of(rows) == {frozenset({"v0", "v1"}), frozenset({"w0", "w1"}), frozenset("0"), frozenset("12")}
    assert "names the groups of 4 instances" in group(Instances(tuple(rows), "classes", ("no", "yes"))).said


def test_a_context_that_most_instances_have_joins_nothing() -> None:
    rows = [Instance(f"{i}", "Which is true?", (f"it is {i}", f"or {i}"), 0) for i in range(300)]
    rows += [Instance(f"x{i}", f"Where is number {i // 2}?", ("here", "there"), 0) for i in range(100)]
    made = group(Instances(tuple(rows), "choices"))
    assert made.n == 350
    assert "300 instances have a context so common" in made.said


def test_what_is_nearly_a_common_context_joins_none_of_those_that_have_it() -> None:
    common = "Read the story about the old man and the sea, then choose the option that is true of the man in it"
    rows = [Instance(f"{i}", common, (f"it is {i}", f"or {i}"), 0) for i in range(60)]
    rows.append(Instance("x", f"{common} today", ("at it", "on it"), 0))
    assert group(Instances(tuple(rows), "choices")).n == 61


def test_chains_of_near_duplicates_do_not_swallow_the_set() -> None:
    """Each text shares all but a word with the next; the first and the last share none."""
    window = [" ".join(f"w{word}" for word in range(i, i + 12)) for i in range(100)]
    twins = [" ".join(f"a{k}b{word}" for word in range(60)) + end for k in range(20) for end in (" one", " two")]
    rows = [Instance(f"{i}", text, ("a", "b"), 0) for i, text in enumerate([*window, *twins])]
    made = group(Instances(tuple(rows), "choices"))
    assert np.bincount(made.numbers).max() <= 14
    assert all(made.numbers[100 + 2 * k] == made.numbers[101 + 2 * k] for k in range(20))
    assert "chains of near duplicates" in made.said


PHRASES = st.lists(st.sampled_from(["a", "b", "c", "d e f", "g h i j k", "the red fox", ". "]), max_size=8).map(
    " ".join
)


@given(st.lists(st.tuples(PHRASES, st.sampled_from(["", "", "v", "w"])), min_size=1, max_size=40), st.randoms())
@settings(max_examples=60)
def test_the_order_of_instances_changes_no_group(given: list[tuple[str, str]], random: Random) -> None:
    rows = [Instance(f"{i}", "", (text,), 0, group=name) for i, (text, name) in enumerate(given)]
    assert groups_of(rows) == groups_of(random.sample(rows, len(rows)))


WORDS = st.sampled_from(["red", "fox", "runs", "home", "slowly", "today", "and"])
SHORT = st.lists(WORDS, max_size=5).map(" ".join)
LONG = st.permutations(["red", "fox", "runs", "home", "slowly"]).map(
    lambda words: " ".join(words[:3]) + ". " + " ".join(words)
)


@given(
    st.lists(
        st.tuples(SHORT | LONG, SHORT, st.lists(SHORT | LONG, min_size=2, max_size=3), st.sampled_from(["", "", "v"])),
        min_size=1,
        max_size=9,
    )
)
@settings(max_examples=300)
def test_groups_are_those_of_every_two_instances_compared(
    given: list[tuple[str, str, list[str], str]],
) -> None:
    """So few that no group is too large, and nothing a phrase of the set."""
    rows = [Instance(f"{i}", context, tuple(o), 0, start, name) for i, (context, start, o, name) in enumerate(given)]
    names = {row.group for row in rows}
    alone = [replace(row, group="" if len(names) == 1 else row.group) for row in rows]
    assert sets_of(rows) == groups_of_instances(alone, near=NEAR, telling=TELLING)


def test_a_question_that_goes_on_where_another_ended_tells_the_same_story() -> None:
    """Captions of one video, which no column names: a model knows the words of a video again, as it did in SWAG."""
    story = [f"A man with hat {i} climbs hill number {i}." for i in range(40)]
    rows = [
        Instance(f"{i}", story[i], (f"a dog {i} barks at the moon.", story[i + 1][6:]), 1, start="A man")
        for i in range(39)
        if i % 4 != 3  # so that stories have three questions
    ]
    stories = {frozenset(range(first, first + 3)) for first in range(0, 30, 3)}
    assert sets_of(rows) == stories
    ended = [replace(row, start="", options=(row.options[0], story[int(row.id) + 1])) for row in rows]
    assert sets_of(ended) == stories
    unmarked = [replace(row, context=row.context.removesuffix(".")) for row in ended]
    assert sets_of(unmarked) == stories, "a sentence without its mark is no start"
    wrong = [replace(row, answer=0) for row in rows]
    assert len(sets_of(wrong)) == 30
    short = [replace(row, context="He nods.", options=("He nods.", "no")) for row in rows]
    assert "go on" not in group(Instances(tuple(short), "choices")).said


def test_a_claim_is_together_with_all_its_evidence() -> None:
    """Labelled once, with several premises: parted, a model knows the label of the claim."""
    rows = [
        Instance(f"{i}-{k}", f"Page {i * 3 + k} of {k} has word {i}x{k}.", (f"The claim {i} is that it holds.",), i % 2)
        for i in range(60)
        for k in range(3)
    ]
    made = group(Instances(tuple(rows), "classes", ("true", "false")))
    assert made.n == 60
    assert "180 by context alone, but some share the text that is classified" in made.said
    short = [replace(row, options=("It holds.",)) for row in rows]
    assert group(Instances(tuple(short), "classes", ("true", "false"))).n == 180
    few = [
        replace(row, options=(f"The claim {i} of page {i} holds." if i > 14 else row.options[0],))
        for i, row in enumerate(rows)
    ]
    assert group(Instances(tuple(few), "classes", ("true", "false"))).n == 180, "a coincidence, as in SNLI"


def sets_of(rows: list[Instance]) -> set[frozenset[int]]:
    """The groups of choices as sets of rows."""
    numbers = by_name_or_text(Instances(tuple(rows), "choices")).numbers
    return {frozenset(np.flatnonzero(numbers == number).tolist()) for number in np.unique(numbers)}


def copies(n: int, context: str = "{i} {i} {i} is what, in {k} words?", *, edit: bool = True) -> list[Instance]:
    """`n` questions of four options, each twice: the context differs by `k`, and of the options a word if `edit`."""
    rows = []
    for i in range(n):
        for k in ("few", "many"):
            options = [
                f"the {side} of number w{i}x{o} or w{i}y{o}" for o, side in enumerate(("top", "end", "left", "right"))
            ]
            options[2] += " perhaps" if edit and k == "many" else ""
            rows.append(Instance(f"{i}-{k}", context.format(i=i, k=k), tuple(options), 0))
    return rows


@pytest.mark.parametrize("context", ["", "Which is true?", "{i} {i} {i} is what, in {k} words?", "{k} {k}{i} {k}"])
@pytest.mark.parametrize("edit", [False, True])
def test_copies_with_other_contexts_or_an_edited_option_are_together(context: str, edit: bool) -> None:
    rows = copies(60, context, edit=edit)
    assert sets_of(rows) == {frozenset({2 * i, 2 * i + 1}) for i in range(60)}


@pytest.mark.parametrize(
    "options",
    [
        ("yes", "no"),
        ("spring", "summer", "autumn", "winter"),
        ("it follows from what is said", "it contradicts what is said", "neither of the two can be told"),
    ],
)
def test_a_label_set_that_most_questions_have_joins_nothing(options: tuple[str, ...]) -> None:
    rows = [Instance(f"{i}", f"What of number {i}, {i + 1} and {i + 2}?", options, 0) for i in range(300)]
    rows += copies(20)
    made = group(Instances(tuple(rows), "choices"))
    assert made.n == 320
    assert ("300 instances have options so common" in made.said) is (len(" ".join(options).split()) >= TELLING)


@given(st.lists(st.tuples(PHRASES, PHRASES), min_size=1, max_size=150))
@settings(max_examples=60)
def test_no_group_is_too_large_whatever_is_shared(given: list[tuple[str, str]]) -> None:
    rows = [Instance(f"{i}", context, (option, f"not {option}"), 0) for i, (context, option) in enumerate(given)]
    for found in sets_of(rows):
        are_copies = len({same_as(rows[row]) for row in found}) == 1
        assert len(found) <= max(10, MOST_TOGETHER * len(rows)) or are_copies


@pytest.mark.parametrize("n_copies", [2, 20, 45, 120])
@pytest.mark.parametrize("options", [("yes", "no"), ("it is red or so today", "it is blue or so"), ("!", "?")])
def test_copies_of_a_row_are_together_however_many_they_are(n_copies: int, options: tuple[str, ...]) -> None:
    """More than a tenth were groups of their own, so that every fold had some."""
    one = Instance("x", "What is the colour of it?", options, 0)
    rows = [replace(one, id=f"x{i}", options=options[:: (-1) ** i], answer=i % 2) for i in range(n_copies)]
    others = [Instance(f"{i}", f"What is number {i} of all of {i}?", ("yes", "no"), 0) for i in range(150)]
    assert frozenset(range(n_copies)) in sets_of(rows + others)
    assert len(sets_of(rows + others)) == 151
    assert len(sets_of([replace(row, media=row.id) for row in rows] + others)) >= 151
    said = group(Instances((*rows, *others), "choices")).said
    assert (f"{n_copies} instances that are copies of one another stay together" in said) is (n_copies > 17)


def test_what_most_rows_are_is_no_copy() -> None:
    """One question about every image, which was not read: as one group there would be no folds."""
    rows = [Instance(f"{i}", "Is this true?", ("yes", "no"), i % 2) for i in range(60)]
    assert len(sets_of(rows)) == 60
