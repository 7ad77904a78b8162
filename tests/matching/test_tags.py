"""Claims about tags: recycled texts name objects of the row that gets them, of the same kind."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from swag_af.matching.rows.tags import Scene, objects_of, remapped, share_of_tags_named, tags_in, template

TEXT = "[person2] hands [person1] the [cup1] and [person2] smiles."


def test_a_template_has_kinds_in_place_of_tags() -> None:
    assert template(TEXT) == "person hands person the cup and person smiles."
    assert tags_in(TEXT) == [("person", 2), ("person", 1), ("cup", 1)]


@given(st.integers(0, 10**6), st.lists(st.sampled_from(["person", "cup", "dog"]), max_size=9), st.floats(0, 1))
def test_every_new_tag_is_an_object_of_the_row_and_of_its_kind(seed: int, kinds: list[str], share: float) -> None:
    scene = Scene.of(objects_of(kinds), ["What is [person1] doing?", "[person1] runs."])
    made = remapped(TEXT, scene, share, rng=np.random.default_rng(seed))
    assert template(made) == template(TEXT)
    assert set(tags_in(made)) <= {*objects_of(kinds), ("person", 1)}
    assert ("cup" in kinds) == any(kind == "cup" for kind, _ in tags_in(made))


def test_the_same_tag_becomes_the_same_everywhere() -> None:
    scene = Scene.of(objects_of(["person"] * 50), [])
    made = remapped(TEXT, scene, 0.5, rng=np.random.default_rng(1))
    first, _, third = made.replace("[cup1]", "").split("[")[1:]
    assert first.partition("]")[0] == third.partition("]")[0]


@given(st.integers(0, 10**6), st.integers(0, 5), st.floats(0, 1))
def test_two_tags_become_two_objects_while_there_are_enough(seed: int, n: int, share: float) -> None:
    """*[person2] and [person2]* stood in wrong answers alone, and gave them away."""
    scene = Scene.of(objects_of(["person"] * n), ["Where is [person1]?", "[person1] and [person3] left."])
    made = remapped(
        "[person4], [person7] and [person9] wait for [person4].", scene, share, rng=np.random.default_rng(seed)
    )
    assert len(tags_in(made)) == min(3, len({1, 3} | set(range(1, n + 1))))


def test_tags_of_query_and_answer_come_as_often_as_asked() -> None:
    scene = Scene.of(objects_of(["person"] * 20), ["Why is [person1] here?", "[person1] waits."])
    rng = np.random.default_rng(0)
    made = [remapped("[person7] left.", scene, 0.5, rng=rng) for _ in range(2000)]
    share = sum("[person1]" in text for text in made) / 2000
    assert abs(share - (0.5 + 0.5 / 20)) < 0.05


def test_text_without_tags_stays() -> None:
    assert remapped("He left [quickly].", Scene.of([], []), 0.5, rng=np.random.default_rng(0)) == "He left [quickly]."


def test_tags_that_query_or_answer_name_are_counted_as_they_stand() -> None:
    assert share_of_tags_named("[person1] and [person1] see [person3].", "Is [person1] in?", "Yes.") == (2, 3)


def test_kinds_of_several_words_are_one_however_they_are_parted() -> None:
    """Objects had their blanks taken out, and tags not: those of an object that was only listed were lost."""
    scene = Scene.of(objects_of(["traffic light", "person", "wine glass"]), ["[person1] waits.", "she waits."])
    rng = np.random.default_rng(0)
    assert remapped("[traffic light4] turns, [traffic light4] blinks.", scene, 0.5, rng=rng) == (
        "[traffic light1] turns, [traffic light1] blinks."
    )
    assert remapped("[wine_glass2] falls.", scene, 0.5, rng=rng) == "[wine_glass1] falls."
    assert remapped("the [stop sign2].", scene, 0.5, rng=rng) == "the stop sign."
    assert share_of_tags_named("[traffic light1]", "the [trafficlight1]?", "yes.") == (1, 1)
