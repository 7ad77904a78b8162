"""Words that go with a label: the test agrees with a loop, is exact, and does not find luck."""

import json
from dataclasses import replace
from math import comb
from unittest.mock import patch

import numpy as np
import pytest
from auditing.made import random_choices, random_classes, singles, some_choices, some_classes, with_gold, with_labels
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import shared
from slow import words as slow

from swag_af.auditing.codes.code import codes
from swag_af.auditing.outcome import Association
from swag_af.auditing.single import words
from swag_af.auditing.single.tables import Seen
from swag_af.auditing.single.words import occurrences, word_associations, word_diagnostics
from swag_af.data.instances.grouping import Groups, group
from swag_af.data.instances.instances import Instance, Instances


@given(st.one_of(some_choices(), some_classes()), st.integers(1, 3))
def test_the_statistics_are_those_of_a_loop(instances: Instances, n_groups: int) -> None:
    groups = Groups(np.arange(len(instances)) % n_groups, "dealt")
    with patch.object(words, "MIN_COUNT", 2):
        found = word_associations(instances, groups, most_q=1.1)
    expected = slow.associations(instances, groups.numbers.tolist(), n_max=words.N_MAX, min_count=2)
    assert {(one.ngram, one.label) for one in found} == set(expected)
    for one in found:
        assert (one.n, one.share, one.chance, one.z) == pytest.approx(expected[one.ngram, one.label], abs=1e-3)


@given(st.integers(1, 30), st.data(), st.floats(0.05, 0.95))
def test_p_values_are_those_of_a_binomial(n: int, data: st.DataObject, chance: float) -> None:
    x = data.draw(st.integers(0, n))
    tails = [comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n + 1)]
    expected = min(1.0, 2 * min(sum(tails[x:]), sum(tails[: x + 1])))
    found = words._binomial(np.array([float(x)]), np.array([float(n)]), np.array([chance]))
    assert found[0] == pytest.approx(expected, abs=1e-12)


def test_an_ngram_of_all_options_of_a_question_is_not_counted_there() -> None:
    rows = [Instance(str(i), f"{i}", ("the dog", "the cat"), i % 2) for i in range(12)]
    found = word_associations(Instances(tuple(rows), "choices"), Groups(np.arange(12), ""), most_q=1.1)
    assert {one.ngram for one in found} == {"dog", "cat", "the dog", "the cat"}


def test_an_ngram_counts_once_where_a_text_repeats_it() -> None:
    rows = [Instance(str(i), "", ("so so so", "no"), 0) for i in range(12)]
    found = word_associations(Instances(tuple(rows), "choices"), Groups(np.arange(12), ""), most_q=1.1)
    so = next(one for one in found if one.ngram == "so")
    assert (so.n, so.share, so.chance) == (12, 1, 0.5)


def test_a_word_of_one_group_alone_counts_as_one_text() -> None:
    rows = [Instance(str(i), "", (f"rare word {i}" if i < 12 else f"x{i % 5}",), int(i >= 12)) for i in range(60)]
    instances = Instances(tuple(rows), "classes", ("a", "b"))
    alone, together = np.arange(60), np.maximum(np.arange(60), 11)
    strength = {}
    for numbers in (alone, np.unique(together, return_inverse=True)[1]):
        found = word_associations(instances, Groups(numbers, ""), most_q=1.1)
        rare = next(one for one in found if (one.ngram, one.label) == ("rare", "a"))
        strength[int(numbers.max())] = rare
    assert strength[59].z == pytest.approx(12**0.5 * strength[48].z, abs=1e-3)
    assert strength[59].q < 0.001 < 0.05 < strength[48].q


@given(st.one_of(some_choices(), some_classes()), st.integers(1, 4), st.booleans())
def test_rows_that_stand_twice_make_nothing_surer(instances: Instances, n_groups: int, turned: bool) -> None:
    """Of a set of 400 questions 25 words were found, and 33 where each stood twice: more of them reached MIN_COUNT."""
    numbers = np.arange(len(instances)) % n_groups
    copies = [replace(one, id=f"copy of {one.id}") for one in instances.instances]
    if turned and instances.kind == "choices":
        copies = [replace(x, options=x.options[::-1], answer=len(x.options) - 1 - x.answer) for x in copies]
    twice = replace(instances, instances=(*instances.instances, *copies))
    with patch.object(words, "MIN_COUNT", 2):
        once = word_associations(instances, Groups(numbers, ""), most_q=1.1)
        assert word_associations(twice, Groups(np.tile(numbers, 2), ""), most_q=1.1) == once


def test_pmi_of_a_word_at_chance_is_nothing_and_of_a_common_one_that_of_its_share() -> None:
    assert words._pmi(0.25, 0.25, 10) == 0
    assert words._pmi(0.5, 0.25, 10**9) == pytest.approx(1)
    assert 0 < words._pmi(1.0, 0.25, 10) < 0.5


@pytest.mark.parametrize("make", [random_choices, random_classes])
def test_random_labels_go_with_no_word(make: type) -> None:
    alarms = 0
    for seed in range(20):
        instances = make(400, seed=seed)
        alarms += bool(word_associations(instances, group(instances)))
    assert alarms <= 2


def test_a_planted_word_is_found_with_its_examples() -> None:
    instances = with_gold(random_choices(150, seed=1), " gladly so")
    one, longer = word_diagnostics(instances, singles(instances))
    assert (one.code, longer.code) == ("AF301", "AF302")
    assert {one.code, longer.code} <= set(codes())
    assert (one.status, longer.status) == ("found", "found")
    assert (one.unit, one.n, one.n_groups, one.chance) == ("count", 150, 150, 0)
    assert "gold: “gladly” (100 % of 150, chance 25 %)" in one.said
    assert one.examples[0].said == "“gladly”: gold"
    assert "gladly so\n" in one.examples[0].text + "\n"


def test_a_word_that_gold_lacks_is_shown_where_another_option_has_it() -> None:
    drawn = random_choices(150, seed=2)
    made = tuple(
        replace(x, options=tuple(o + " sadly" * (k == (x.answer + 1) % 4) for k, o in enumerate(x.options)))
        for x in drawn.instances
    )
    instances = replace(drawn, instances=made)
    one, _ = word_diagnostics(instances, singles(instances))
    assert "not gold: “sadly” (0 % of 150, chance 25 %)" in one.said
    assert one.examples[0].said == "“sadly”: not gold"
    shown = [line for line in one.examples[0].text.splitlines() if "sadly" in line]
    assert shown
    assert all(line.startswith("- ") for line in shown)


def test_a_planted_word_goes_with_its_class() -> None:
    drawn = random_classes(300, seed=3)
    made = tuple(replace(x, options=(x.options[0] + " nobody",)) if x.answer == 1 else x for x in drawn.instances)
    instances = replace(drawn, instances=made)
    first = word_associations(instances, group(instances))[0]
    assert (first.ngram.split()[-1], first.label, first.share) == ("nobody", "no", 1)
    one, _ = word_diagnostics(instances, group(instances))
    assert "no: “nobody” (100 % of" in one.said
    assert one.examples[0].text.endswith("nobody\n* no")


def test_a_set_without_words_or_with_one_label_has_none() -> None:
    blank = Instances(tuple(Instance(str(i), "", ("", ""), 0) for i in range(12)), "choices")
    one_label = with_labels(random_classes(40, seed=0), [2] * 40)
    for instances in (blank, one_label):
        assert word_associations(instances, singles(instances)) == []
        assert [one.status for one in word_diagnostics(instances, singles(instances))] == ["clear", "clear"]


def test_neither_the_order_of_rows_nor_that_of_options_matters() -> None:
    instances = with_gold(random_choices(80, seed=4), " gladly")
    order = np.random.default_rng(0).permutation(80)
    turned = tuple(replace(x, options=x.options[::-1], answer=3 - x.answer) for x in instances.instances)
    expected = word_associations(instances, singles(instances))
    assert expected
    assert word_associations(instances.take(order), singles(instances)) == expected
    assert word_associations(replace(instances, instances=turned), singles(instances)) == expected


@pytest.mark.real
def test_the_words_of_snli_are_those_that_are_known() -> None:
    rows = map(json.loads, shared("snli/snli_pairs.jsonl").read_text(encoding="utf-8").splitlines())
    classes = ("entailment", "neutral", "contradiction")
    made = tuple(
        Instance(str(i), x["premise"], (x["hypothesis"],), classes.index(x["label"])) for i, x in enumerate(rows)
    )
    instances = Instances(made, "classes", classes)
    found = [one for one in word_associations(instances, group(instances)) if " " not in one.ngram and one.z > 0]
    assert {"nobody", "sleeping", "cat"} <= strongest(found, "contradiction")
    assert {"outdoors", "outside", "instrument"} <= strongest(found, "entailment")


def strongest(found: list[Association], label: str) -> set[str]:
    return {one.ngram for one in [one for one in found if one.label == label][:12]}


@given(st.one_of(some_choices(most=30), some_classes(most=30)))
@settings(max_examples=60)
def test_tables_that_were_made_for_features_give_the_same_occurrences(made: Instances) -> None:
    """They have the words of contexts too, which are none of the options'."""
    with patch.object(words, "MIN_COUNT", 2):
        alone, shared = occurrences(made, singles(made)), occurrences(made, singles(made), Seen(made.texts))
    assert alone.ngrams == shared.ngrams
    for name in ("ngram", "row", "n_with", "in_gold"):
        assert np.array_equal(getattr(alone, name), getattr(shared, name))


def test_one_word_goes_with_a_label_and_two_go() -> None:
    groups = group(some := random_choices(40, seed=0))
    one = Association("box", "gold", 20, 1.0, 0.25, 9.0, 0.0, 2.0)
    for ngrams, said in ((["box"], "1 word goes with"), (["a box"], f"1 n-gram of 2 to {words.N_MAX} goes with")):
        made = word_diagnostics(some, groups, [replace(one, ngram=ngram) for ngram in ngrams])
        assert sum(found.said.startswith(said) for found in made) == 1
    assert word_diagnostics(some, groups, [one, replace(one, ngram="lid")])[0].said.startswith("2 words go with")


@pytest.mark.parametrize(
    ("ngram", "shown"),
    [
        ("书 包 了", "书包了"),
        ("子 \u200b", "子 U+200B"),
        ("\u200b", "U+200B"),
        ("der küche", "der küche"),
        ("แ ล้ ว", "แล้ว"),
    ],
)
def test_an_ngram_is_shown_as_it_stands_in_texts(ngram: str, shown: str) -> None:
    """`书 包 了` stands in no text, and a word of one invisible character was printed as nothing."""
    one = Association(ngram, "gold", 10, 0.9, 0.5, 3.0, 0.01, 0.5)
    assert one.shown == shown
    assert shown in words._said(one)
