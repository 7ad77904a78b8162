"""Rules of item writing mark what they say, and their precision is what a loop counts."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from auditing.made import random_choices, random_classes, singles, some_choices, with_gold
from hypothesis import given

from swag_af.auditing.codes.code import codes
from swag_af.auditing.single import flaws
from swag_af.auditing.single.tables import Seen
from swag_af.auditing.single.writing import RULES, tried, writing_diagnostics
from swag_af.data.errors import InputError
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instance, Instances


def marked(
    rule: Callable[[Seen], np.ndarray], options: tuple[str, ...], context: str = "", *, has_order: bool = True
) -> set[str]:
    instances = Instances((Instance("1", context, options, 0),), "choices", has_order=has_order)
    return {option for option, is_marked in zip(options, rule(Seen(instances.texts)), strict=True) if is_marked}


@pytest.mark.parametrize(
    ("rule", "yes", "no"),
    [
        (
            flaws.all_of_the_above,
            ("All of the above", "all of these.", "All of the above are correct", "Both A and B", "all the above"),
            ("all of the time he spends at home with children", "all dogs bark", "above all"),
        ),
        (
            flaws.none_of_the_above,
            ("None of the above.", "none of these", "Neither of the above", "none of them"),
            ("none", "none of the dogs that they had seen before barked", "no one"),
        ),
        (
            flaws.absolute_terms,
            ("It always rains", "no one came", "Every dog", "That is impossible."),
            ("all of the above", "none of these", "allowed", "it rains", "nevertheless"),
        ),
        (flaws.hedges, ("It may rain", "Usually not", "he tends to run"), ("mayor", "it rains", "unlikely")),
    ],
)
def test_words_of_an_option_mark_it(
    rule: Callable[[Seen], np.ndarray], yes: tuple[str, ...], no: tuple[str, ...]
) -> None:
    assert marked(rule, yes + no) == set(yes)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("She eats an", {"banana", "unicorn", "European apple"}),
        ("She eats a ___.", {"apple", "hour", "8-page menu"}),
        ("She eats A:", {"apple", "hour", "8-page menu"}),
        ("She eats a(n)", set()),
        ("She eats the", set()),
        ("Panama", set()),
    ],
)
def test_options_that_an_article_does_not_fit_are_marked(context: str, expected: set[str]) -> None:
    options = ("apple", "banana", "hour", "unicorn", "European apple", "8-page menu")
    assert marked(flaws.unfit_article, options, context) == expected


def test_an_article_may_end_the_start_of_an_option() -> None:
    instances = Instances((Instance("1", "He sits.", ("apple", "pear"), 0, start="He eats an"),), "choices")
    assert flaws.unfit_article(Seen(instances.texts)).tolist() == [False, True]


@pytest.mark.parametrize(
    ("context", "applies"),
    [
        ("Which of these is NOT a fruit?", True),
        ("All of the following are fruits except", True),
        ("They are not cats。Which is the dog？", False),
        ("All are cats。Which is not？", True),
        ("Why don't cats bark?", True),
        ("Which is a fruit?", False),
        ("She did not come. What did she do?", False),
        ("He did not come", False),
    ],
)
def test_the_odd_one_out_of_a_question_for_an_exception_is_marked(context: str, applies: bool) -> None:
    options = ("a red fruit", "a green fruit", "one dog", "a red green fruit")
    assert marked(flaws.exception, options, context) == ({"one dog"} if applies else set())


def test_the_only_option_with_a_word_of_the_question_is_marked() -> None:
    context = "Where does the dog sleep in the house?"
    assert marked(flaws.repeated_words, ("in the house", "in a barn", "on the roof"), context) == {"in the house"}
    assert marked(flaws.repeated_words, ("in the house", "a dog", "on the roof"), context) == set()
    assert marked(flaws.repeated_words, ("in the", "a barn"), context) == set()


def test_an_option_half_as_long_again_as_the_others_has_detail() -> None:
    assert marked(flaws.detail, ("a" * 15, "b" * 10, "c" * 10)) == {"a" * 15}
    assert marked(flaws.detail, ("a" * 14, "b" * 10, "c" * 10)) == set()
    assert marked(flaws.detail, ("", "")) == set()


def test_options_that_contain_another_word_for_word_are_marked() -> None:
    assert marked(flaws.contained, ("Elvis", "His name is Elvis.", "Elvish", "a dog")) == {
        "Elvis",
        "His name is Elvis.",
    }
    assert marked(flaws.contained, ("the dog", "The dog!", "", "a")) == set()
    assert marked(flaws.contained, ("看见鸟", "他看见鸟了", "鱼")) == {"看见鸟", "他看见鸟了"}
    assert marked(flaws.contained, ("गया", "घर गया", "गय")) == {"गया", "घर गया"}, "a vowel is part of its word"


@pytest.mark.parametrize(
    ("options", "unordered", "outer"),
    [
        (("1", "2", "5", "3"), {"5", "3"}, {"1", "5"}),
        (("9", "1 dog", "2 dogs", "3,000 dogs"), {"9"}, {"1 dog", "3,000 dogs"}),
        (("3", "2", "1.5", "-1"), set(), {"3", "-1"}),
        (("1", "2", "two"), set(), set()),
        (("1 to 2", "3", "4"), set(), set()),
        (("1", "1", "4"), set(), set()),
        (("2", "1"), set(), set()),
    ],
)
def test_numbers_are_marked_by_their_order(options: tuple[str, ...], unordered: set[str], outer: set[str]) -> None:
    assert marked(flaws.out_of_order, options) == unordered
    assert marked(flaws.out_of_order, options, has_order=False) == set()
    assert marked(flaws.extremes, options) == outer


@given(some_choices())
def test_precision_is_that_of_a_loop(instances: Instances) -> None:
    for name, rule in RULES.items():
        marks = rule.marks(Seen(instances.texts))
        hits, chance, at = [], [], 0
        for one in instances.instances:
            its = marks[at : at + len(one.options)]
            at += len(one.options)
            if 0 < its.sum() < len(its):
                right = its[one.answer] / its.sum()
                hits.append(right if rule.claim == "right" else 1 - right)
                chance.append(1 / len(its) if rule.claim == "right" else 1 - 1 / len(its))
        found = tried(name, Seen(instances.texts), instances)
        assert found.hits.tolist() == pytest.approx(hits)
        assert found.chance.tolist() == pytest.approx(chance)


def of(name: str, instances: Instances, groups: Groups | None = None) -> tuple[str, float, int]:
    found = {one.subject: one for one in writing_diagnostics(instances, groups or singles(instances))}[name]
    return found.status, found.value, found.n


def test_a_precise_rule_is_found_and_a_weak_one_is_a_hint() -> None:
    drawn = random_choices(200, seed=1)
    plain = replace(
        drawn,
        instances=tuple(
            replace(one, options=tuple(o.replace("may", "x").replace("always", "x") for o in one.options))
            for one in drawn.instances
        ),
    )
    assert of("hedges", plain) == ("clear", 0, 0)
    assert of("hedges", with_gold(plain, " perhaps")) == ("found", 1, 200)
    assert of("absolute terms", with_gold(plain, " always")) == ("hint", 0, 200)
    made = tuple(
        replace(x, options=tuple(o + " perhaps" * (k in (x.answer, (i + 1) % 4)) for k, o in enumerate(x.options)))
        for i, x in enumerate(plain.instances)
    )
    status, value, n = of("hedges", replace(plain, instances=made))
    assert (status, n) == ("hint", 200)
    assert 0.4 < value < 0.7


def test_a_precise_rule_of_one_group_is_clear() -> None:
    instances = with_gold(random_choices(50, seed=2), " perhaps perhaps")
    assert of("hedges", instances, Groups(np.zeros(50, int), "one"))[0] == "clear"


def test_every_rule_gives_a_diagnostic_with_a_known_code() -> None:
    instances = random_choices(30, seed=3)
    found = writing_diagnostics(instances, singles(instances))
    assert [one.code for one in found] == [f"AF4{n:02}" for n in range(1, 12)]
    assert {one.code for one in found} <= set(codes())
    assert [one.subject for one in found] == list(RULES)
    one, said = found[0], "“all of the above”: no question has any, so the rule does not apply."
    assert (one.n, one.low, one.chance, one.said) == (0, None, None, said)


def test_classes_have_no_rules_of_item_writing() -> None:
    instances = random_classes(30, seed=3)
    assert writing_diagnostics(instances, singles(instances)) == []


def test_random_labels_are_found_no_more_often_than_promised() -> None:
    alarms = 0
    for seed in range(20):
        instances = random_choices(300, seed=seed)
        alarms += any(one.status != "clear" for one in writing_diagnostics(instances, singles(instances)))
    assert alarms <= 2


def test_a_name_that_is_no_rule_is_refused() -> None:
    instances = random_choices(4, seed=1)
    with pytest.raises(InputError, match=r"length: no such rule. There are all of the above"):
        writing_diagnostics(instances, singles(instances), rules=["length"])
