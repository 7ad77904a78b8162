"""Claims about options that are right in one question and wrong in another."""

import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_af.auditing.integrity.recycled import note_on_probes, recycling_diagnostic
from swag_af.auditing.probes.probe import probe
from swag_af.data.instances.grouping import Groups, by_name_or_text, group
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.instances.recycling import recycled

QUESTIONS = st.lists(
    st.tuples(st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=4), st.integers(0, 1)), min_size=2, max_size=12
)


def instances_of(questions: list[tuple[list[str], int]]) -> Instances:
    return Instances(
        tuple(Instance(str(i), f"context {i}", tuple(o), answer) for i, (o, answer) in enumerate(questions)), "choices"
    )


def slow_misled(instances: Instances, groups: np.ndarray) -> set[int]:
    """The questions whose gold, among the options of other groups, is right less than half as often as by a guess."""
    each, found = instances.instances, set()
    for i, one in enumerate(each):
        others = [other for j, other in enumerate(each) if groups[j] != groups[i]]
        gold = one.options[one.answer]
        right = sum(Fraction(other.options[other.answer] == gold) for other in others)
        by_guess = sum(Fraction(other.options.count(gold), len(other.options)) for other in others)
        if right < by_guess / 2:
            found.add(i)
    return found


@given(QUESTIONS)
def test_who_is_misled_is_what_a_slow_look_finds(questions: list[tuple[list[str], int]]) -> None:
    instances = instances_of(questions)
    groups = np.arange(len(instances)) // 2
    assert set(np.flatnonzero(recycled(instances).misled(groups)).tolist()) == slow_misled(instances, groups)


@given(QUESTIONS)
def test_joining_helps_more_than_half_or_is_not_done(questions: list[tuple[list[str], int]]) -> None:
    instances = instances_of(questions)
    groups = np.arange(len(instances))
    found = recycled(instances)
    joined = found.joined(groups)
    before, after = (int(found.misled(numbers).sum()) for numbers in (groups, joined))
    assert (joined == groups).all() or 2 * after < before


def lottery(n: int, n_texts: int, seed: int) -> Instances:
    """Questions whose options recur in others and whose labels are drawn by lot."""
    rng = np.random.default_rng(seed)
    texts = [f"{a} {b}" for a in ["kilo", "lima", "mike", "papa"] for b in map(str, range(n_texts // 4))]
    return instances_of([(rng.choice(texts, 4, replace=False).tolist(), int(rng.integers(4))) for _ in range(n)])


def test_labels_that_were_drawn_by_lot_are_found_by_luck_alone() -> None:
    """Folds must not depend on labels: joined for being right here and wrong there, questions that agree were parted,
    and a model was right in 28 % where a guess is in 25."""
    shares = []
    for seed in range(8):
        instances = lottery(200, 400, seed)
        forced = recycled(instances).joined_at(np.arange(200))
        shares.append(probe(instances, "options", "tfidf", groups=Groups(forced, "")).hits.mean())
    assert abs(np.mean(shares) - 0.25) < 0.03  # 0.298 by the folds of before, with a standard error of 0.014


@given(QUESTIONS, st.randoms(use_true_random=False))
def test_what_is_joined_does_not_depend_on_what_is_right(questions: list[tuple[list[str], int]], random: Any) -> None:
    others = [(options, random.randrange(len(options))) for options, _ in questions]
    one, other = (recycled(instances_of(given)).joined_at(np.arange(len(questions))) for given in (questions, others))
    assert (one == other).all()


@pytest.mark.parametrize(("n", "n_texts"), [(60, 40), (250, 300), (1000, 1500)])
def test_what_luck_alone_does_is_a_hint(n: int, n_texts: int) -> None:
    """Of options that recur by themselves a third of the golds or more are mostly wrong elsewhere: all such sets were
    found, and their audits said that probes learn to avoid what is right."""
    for seed in range(10):
        instances = lottery(n, n_texts, seed)
        made = recycling_diagnostic(instances, np.arange(n))
        assert made.status == "hint"
        assert recycled(instances).misled(np.arange(n)).mean() > 0.1
        assert note_on_probes(instances, np.arange(n)) == ""


def test_what_luck_does_asks_scipy_of_whole_numbers() -> None:
    """Of floats scipy warns, and will refuse them."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert recycled(lottery(300, 200, 0)).misled_by_luck(np.arange(300) // 3) > 0


def test_what_luck_does_is_what_many_draws_do_on_average() -> None:
    instances = lottery(300, 200, 0)
    rng, groups, shares = np.random.default_rng(1), np.arange(300) // 3, []
    for _ in range(60):
        drawn = tuple(replace(one, answer=int(rng.integers(4))) for one in instances.instances)
        shares.append(recycled(Instances(drawn, "choices")).misled(groups).mean())
    assert recycled(instances).misled_by_luck(groups) == pytest.approx(np.mean(shares), abs=0.015)


def test_answers_that_are_right_once_are_told_from_luck() -> None:
    """As Adversarial Matching makes them: every answer right in one question, and wrong in three others."""
    rng = np.random.default_rng(0)
    shifts = rng.choice(np.arange(1, 200), 3, replace=False)
    made = instances_of([([f"answer {(i + s) % 200}" for s in (0, *shifts)], 0) for i in range(200)])
    assert recycling_diagnostic(made, np.arange(200)).status == "found"


def rings(n_rings: int, size: int) -> Instances:
    """Questions whose wrong answer is the right one of the next in their ring."""
    return instances_of(
        [([f"answer {ring} {i}", f"answer {ring} {(i + 1) % size}"], 0) for ring in range(n_rings) for i in range(size)]
    )


def test_questions_that_share_options_are_in_one_group_where_that_is_possible() -> None:
    instances = rings(5, 8)
    found = group(instances)
    assert found.n == 5
    assert "right in one question and wrong in another" in found.said
    made = recycling_diagnostic(instances, found.numbers)
    assert (made.code, made.status, made.value) == ("AF515", "hint", 1)
    assert "40 texts" in made.said
    assert "folds keep them together" in made.said
    assert note_on_probes(instances, found.numbers) == ""


def test_one_ring_of_everything_cannot_be_kept_together_and_that_is_said() -> None:
    instances = rings(1, 40)
    found = group(instances)
    assert (found.numbers == by_name_or_text(instances).numbers).all()
    made = recycling_diagnostic(instances, found.numbers)
    assert made.status == "found"
    assert "the gold of 40 is mostly wrong in other folds" in made.said
    assert "AF515" in note_on_probes(instances, found.numbers)


def test_named_groups_are_joined_too() -> None:
    instances = rings(5, 8)
    named = replace(
        instances, instances=tuple(replace(one, group=f"g{i // 4}") for i, one in enumerate(instances.instances))
    )
    assert group(named).n == 5


def test_data_without_recycled_options_is_clear() -> None:
    instances = instances_of([([f"yes {i}", f"no {i}"], 0) for i in range(30)])
    made = recycling_diagnostic(instances, group(instances).numbers)
    assert (made.status, made.value) == ("clear", 0)


def test_options_that_are_right_as_often_as_they_should_be_mislead_nobody() -> None:
    """As yes and no: each is on every side of every fold."""
    instances = instances_of([(["yes", "no"], i % 2) for i in range(60)])
    found = group(instances)
    made = recycling_diagnostic(instances, found.numbers)
    assert made.status == "hint"
    assert note_on_probes(instances, found.numbers) == ""


def test_classes_have_no_options() -> None:
    instances = Instances(
        tuple(Instance(str(i), "", (f"text {i}",), i % 2) for i in range(6)), "classes", ("no", "yes")
    )
    assert recycled(instances).n_texts == 0
    assert recycling_diagnostic(instances, np.arange(6)).n == 0


def test_an_option_with_another_sign_is_another_option() -> None:
    greater = (["x > y", "x = y"], 0)
    less = (["x < y", "x = y"], 0)
    assert not len(recycled(instances_of([greater, less])).rows)
    assert len(recycled(instances_of([greater, (["x > y", "x < y"], 1)])).rows)
