"""Masks hide what they say in all texts, and change nothing else of a set."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import write
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared
from test_reading import labelled

from swag_af.data.errors import InputError
from swag_af.data.instances.grouping import group
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.instances.masking import MASK, WORDS, masked
from swag_af.data.instances.options import ReadingOptions
from swag_af.data.instances.reading import read_instances


def made(*texts: str, **more: Any) -> Instances:
    rows = [Instance(f"q{i}", text, (f"yes {i}", f"no {i}"), i % 2, **more) for i, text in enumerate(texts)]
    return Instances(tuple(rows), "choices", name="made")


def contexts(instances: Instances) -> list[str]:
    return [one.context for one in instances.instances]


HIDDEN = {
    "pronouns": ("She sees him, and his dog.", "[MASK] sees [MASK], and [MASK] dog."),
    "in any case, before clitics": ("SOMEONE's here. He's late.", "[MASK]'s here. [MASK]'s late."),
    "nouns": ("Two men and a girl in a woman's coat.", "Two [MASK] and a [MASK] in a [MASK]'s coat."),
    "whole words alone": ("The theme of her management is manly.", "The theme of [MASK] management is manly."),
    "tags, and then nothing else": ("He and [person12] see [chair1].", "He and [MASK] see [chair1]."),
}


@pytest.mark.parametrize(("text", "hidden"), HIDDEN.values(), ids=HIDDEN.keys())
def test_persons_are_hidden(text: str, hidden: str) -> None:
    assert contexts(masked(made(text), "persons")) == [hidden]


def test_a_regular_expression_hides_its_matches_in_all_texts() -> None:
    rows = (Instance("red", "red and blue", ("a red one", "blues"), 1, start="The red", group="red", media="red"),)
    hidden = masked(Instances(rows, "choices"), r"\b(red|blue)\b|x*")
    assert hidden.instances == (
        Instance(
            "red", f"{MASK} and {MASK}", (f"a {MASK} one", "blues"), 1, start=f"The {MASK}", group="red", media="red"
        ),
    )
    assert hidden.notes[-1].startswith("4 matches of --mask")


def test_what_was_changed_is_remembered_and_the_rest_is_the_same() -> None:
    before = made("He runs.", "A dog runs.", "They run.")
    after = masked(before, "persons")
    assert after.masked is not None
    assert after.masked.tolist() == [True, False, True]
    assert before.masked is None
    assert after.unmasked == before.instances
    assert after.instances[1] is before.instances[1]
    part = after.take([2, 1])
    assert part.masked is not None
    assert part.masked.tolist() == [True, False]
    assert "2 pronouns and nouns for persons were hidden as [MASK], in 2 of 3 instances" in after.notes


def test_options_that_become_equal_stay_two() -> None:
    rows = (Instance("q", "Who?", ("he", "she"), 1),)
    assert masked(Instances(rows, "choices"), "persons").instances[0].options == (MASK, MASK)


def test_a_mask_changes_no_group() -> None:
    before = made(*(f"{person} walks to house number {i} again" for i, person in enumerate(["He", "She", "Bo"] * 20)))
    hidden = masked(before, r"\w+")
    assert len(set(contexts(hidden))) == 1
    assert np.array_equal(group(hidden).numbers, group(before).numbers)


def test_a_mask_that_hides_nothing_is_refused() -> None:
    for mask in ("persons", "zebra", "x*"):
        with pytest.raises(InputError, match=r"made: no text matches --mask .*nothing would be hidden"):
            masked(made("A dog runs."), mask)


def test_no_regular_expression_is_one_line() -> None:
    with pytest.raises(InputError, match="no regular expression"):
        ReadingOptions(mask="(")


@given(st.lists(st.sampled_from([*WORDS, "dog", "The", "he's", "HER", ",", "theirs."]), min_size=1, max_size=12))
def test_words_are_hidden_as_a_slow_twin_hides_them(words: list[str]) -> None:
    text = " ".join(words)
    spelt = [re.sub(r"\W.*", "", word).lower() in WORDS for word in words]
    slow = " ".join(re.sub(r"^\w+", MASK, word) if hide else word for word, hide in zip(words, spelt, strict=True))
    if any(spelt):
        assert contexts(masked(made(text), "persons")) == [slow]


def test_a_mask_is_put_on_after_ids_labels_and_groups_are_known(tmp_path: Path) -> None:
    rows = [
        row | {"id": f"he{i}", "choices": ["he", "she", "it"], "label": "she"} for i, row in enumerate(labelled(0, 1))
    ]
    read = read_instances([write(tmp_path / "rows.jsonl", rows)], ReadingOptions(mask="persons"))
    assert [(one.id, one.options, one.answer) for one in read.instances] == [
        (f"he{i}", (MASK, MASK, "it"), 1) for i in range(2)
    ]


@pytest.mark.real
def test_the_pilot_of_vcr_cs_has_no_person_left() -> None:
    path = shared("vcr_cs/vcr_cs_val.jsonl")
    tags, names = (
        read_instances([path], ReadingOptions(mask="persons", persons=persons)) for persons in ("tags", "names")
    )
    assert tags.instances == names.instances
    assert tags.masked is not None
    assert tags.masked.all()
    assert not any("[person" in text for one in tags.instances for text in (one.context, *one.options))
