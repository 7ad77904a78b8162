"""Texts of words and numbers of objects as plain text: tags and names are unique, stable, and tell the same persons."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.instances.masking import MASK, masked
from swag_af.data.instances.tagged import NAMES, PERSON_TAG, person_name, tagged_columns, tags_of, with_texts

OBJECTS = ["person", "tie", "person", "chair", "person", "chair"]


def text_of(words: list[Any], persons: Any = "tags", objects: list[str] = OBJECTS) -> str:
    row, faults = with_texts({"objects": objects, "question": words}, ("question",), persons)
    assert not faults
    return str(row["question"])


SPELT: dict[str, tuple[list[Any], str]] = {
    "a person": (["What", "is", [0], "doing", "?"], "What is [person1] doing?"),
    "numbers count objects of one kind": ([[4], "sits", "on", [5], "."], "[person3] sits on [chair2]."),
    "two": (["Are", [0, 2], "a", "couple", "?"], "Are [person1] and [person2] a couple?"),
    "three": ([[0, 2, 4], "run", "."], "[person1], [person2] and [person3] run."),
    "a possessive": (["In", [2], "'", "s", "hand", ",", "yes", "."], "In [person2]'s hand, yes."),
    "clitics": (["She", "can", "'", "t", "say", "they", "'", "re", "here"], "She can't say they're here"),
    "a compound": (["They", "are", "co", "-", "workers", "."], "They are co-workers."),
    "a quotation": (["He", "says", "'", "stop", "'", "."], "He says 'stop'."),
    "no object": (["Is", "it", "late", "?"], "Is it late?"),
}


@pytest.mark.parametrize(("words", "text"), SPELT.values(), ids=SPELT.keys())
def test_words_and_numbers_become_a_text(words: list[Any], text: str) -> None:
    assert text_of(words) == text


def test_names_stand_for_persons_and_tags_for_other_objects() -> None:
    assert text_of([[2], "gives", [0], "a", [3]], "names") == f"{NAMES[1]} gives {NAMES[0]} a [chair1]"


def test_lists_of_texts_are_rendered_one_by_one_and_texts_stay() -> None:
    row = {"objects": OBJECTS, "choices": [[[0], "runs", "."], ["Nobody", "."]], "question": "Who?", "n": [1, 2]}
    made, faults = with_texts(row, ("choices", "question"))
    assert (made["choices"], made["question"], made["n"], faults) == (
        ["[person1] runs.", "Nobody."],
        "Who?",
        [1, 2],
        [],
    )
    spelt = row | {"choices": ["He runs away.", "Nobody does."]}
    assert with_texts(spelt, ("choices",))[0] == spelt


def test_columns_are_tagged_where_words_stand_beside_numbers() -> None:
    row = {
        "objects": OBJECTS,
        "q": ["Is", [0], "?"],
        "options": [["a"], [[1], "b"]],
        "order": [1, 2],
        "tags": ["x", "y"],
    }
    assert tagged_columns([row | {"q": ["Is", "it"]}, row]) == ("q", "options")
    assert tagged_columns([{name: value for name, value in row.items() if name != "objects"}]) == ()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["Is", [6], "?"], "has object 6 under question, and 6 objects, from 0"),
        (["Is", [-1], "?"], "has object -1 under question"),
        (["Is", 3.5, "?"], "has 3.5 among the words of question"),
    ],
)
def test_numbers_without_an_object_are_told(words: list[Any], said: str) -> None:
    faults = with_texts({"objects": OBJECTS, "question": words}, ("question",))[1]
    assert said in faults[0]


@given(st.lists(st.sampled_from(["person", "chair", "dining table"]), max_size=80))
def test_no_two_objects_share_a_tag_or_a_name(objects: list[str]) -> None:
    tags = tags_of(objects)
    assert len(set(tags)) == len(tags)
    assert tags[: len(tags) // 2] == tags_of(objects[: len(tags) // 2])
    persons = [int(found[1]) for tag in tags if (found := PERSON_TAG.fullmatch(tag))]
    assert persons == list(range(1, 1 + objects.count("person")))
    assert len({person_name(number) for number in range(1, 200)}) == 199


WORDS = st.one_of(
    st.sampled_from(["he", "Runs", "'", "s", "t", "-", ",", ".", '"', "(", ")", "co", "can", "dogs", "?", "&", "a"]),
    st.lists(st.integers(0, 39), min_size=1, max_size=3),
)


@given(st.lists(WORDS, max_size=12))
def test_names_tell_the_same_persons_as_tags(words: list[Any]) -> None:
    """The slow twin: each tag of the text with tags, replaced by hand."""
    objects = ["person"] * 40
    tags, names = text_of(words, "tags", objects), text_of(words, "names", objects)
    by_hand = tags
    for number in range(40, 0, -1):
        by_hand = by_hand.replace(f"[person{number}]", person_name(number))
    assert names == by_hand
    if PERSON_TAG.search(tags):
        hidden = [
            masked(one_of(text), "persons", has_names=has_names).instances[0].context
            for text, has_names in ((tags, False), (names, True))
        ]
        assert hidden[0] == hidden[1]
        assert hidden[0].count(MASK) == len(PERSON_TAG.findall(tags))


def one_of(text: str) -> Instances:
    return Instances((Instance("q", text, ("one", "two"), 0),), "choices")


def test_names_are_names_only() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(re.fullmatch(r"[A-Z][a-z]+", name) for name in NAMES)
