"""Single features: each agrees with a loop, none reads labels that it may not, and luck is not found."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from auditing.made import (
    random_choices,
    random_classes,
    rare_classes,
    singles,
    some_choices,
    some_classes,
    with_gold,
    with_labels,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import shared
from slow import single_features as slow

from swag_af.auditing.balance import are_unequal, class_weights, weighed
from swag_af.auditing.codes.code import codes
from swag_af.auditing.diagnostics import Diagnostic, as_found, mirrored, of_accuracy
from swag_af.auditing.gates.conditions import decide_one, parse_condition
from swag_af.auditing.single import form, likeness, naming, numbers, perplexity, recurrence, rules
from swag_af.auditing.single.features import FEATURES, OTHERS, feature_diagnostics
from swag_af.auditing.single.rules import Tried, choose
from swag_af.auditing.single.significance import adjusted, p_value
from swag_af.auditing.single.tables import Seen, ngram_ids, token_table
from swag_af.data.errors import InputError
from swag_af.data.instances.grouping import Groups, folds_of, group
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.tokens import tokenize


def by_subject(diagnostics: list[Diagnostic]) -> dict[str, Diagnostic]:
    assert len({(one.code, one.subject) for one in diagnostics}) == len(diagnostics)
    return {one.subject: one for one in diagnostics}


# tables


@given(st.lists(st.text("ab .,'?\"", max_size=12), max_size=6))
def test_the_tokens_of_a_table_are_those_of_each_word(texts: list[str]) -> None:
    table = token_table(texts)
    parts = [[table.types[i] for i in table.ids[a:b]] for a, b in zip(table.offsets, table.offsets[1:], strict=False)]
    assert parts == [slow.tokens_of(text) for text in texts]


def test_a_plain_sentence_has_the_tokens_of_the_project() -> None:
    sentence = "She can't run, but he's fast."
    table = token_table([sentence])
    assert [table.types[i] for i in table.ids] == [token.lower() for token in tokenize(sentence)]


@given(st.lists(st.text("ab ", max_size=8), max_size=5))
def test_ngrams_have_the_same_number_where_their_tokens_are_the_same(texts: list[str]) -> None:
    table = token_table(texts)
    for n, ids in enumerate(ngram_ids(table, 3), start=1):
        spelt = {}
        for at, id in enumerate(ids.tolist()):
            is_whole = at - n + 1 >= table.offsets[table.rows[at]]
            assert (id >= 0) == is_whole
            if is_whole:
                assert spelt.setdefault(id, tuple(table.ids[at - n + 1 : at + 1])) == tuple(
                    table.ids[at - n + 1 : at + 1]
                )
        assert len(set(spelt.values())) == len(spelt)


# features against loops


@given(some_choices())
def test_overlap_likeness_and_recurrence_are_those_of_loops(instances: Instances) -> None:
    seen = Seen(instances.texts)
    assert np.allclose(likeness.overlap(seen), slow.overlap(instances))
    assert np.allclose(likeness.likeness(seen), slow.likeness(instances), atol=1e-8)
    assert recurrence.recurrences(seen).tolist() == slow.recurrences(instances)
    folds = np.arange(len(instances)) % 3
    expected = slow.right_elsewhere(instances, folds.tolist())
    assert np.allclose(recurrence.right_elsewhere(seen, folds, instances), expected)


@given(some_choices())
@settings(max_examples=50)
def test_surprise_is_that_of_a_kneser_ney_model_of_dictionaries(instances: Instances) -> None:
    folds = np.arange(len(instances)) % 3
    assert np.allclose(perplexity.surprise(Seen(instances.texts), folds), slow.surprise(instances, folds.tolist()))


def test_probabilities_of_the_reference_sum_to_one() -> None:
    model = slow.KneserNey({("a", "b", "a"), ("b",), ("a", "b")}, 4)
    for history in (("<begin>",), ("<begin>", "a"), ("a", "b"), ("c", "b"), ("c", "c")):
        assert sum(model.probability(history, token) for token in ("a", "b", "c", "<end>")) == pytest.approx(1)


def test_options_that_end_a_sentence_of_another_context_are_counted() -> None:
    contexts = ["She opens the big door. He", "A man sings. She opens the big door. It", "The big door. It", ""]
    options = ("opens the big door.", "the big door", "big door")
    instances = Instances(tuple(Instance(str(i), c, options, 0) for i, c in enumerate(contexts)), "choices")
    counts = recurrence.in_other_contexts(Seen(instances.texts)).reshape(4, 3)
    assert counts[0].tolist() == [1, 2, 0]  # its own context does not count; two words are too few
    assert counts[3].tolist() == [2, 3, 0]


def test_an_equal_context_elsewhere_is_no_other_context() -> None:
    instances = Instances(
        tuple(Instance(str(i), "He sees a dog.", ("sees a dog", "runs"), 0) for i in range(2)), "choices"
    )
    assert not recurrence.in_other_contexts(Seen(instances.texts)).any()


@pytest.mark.parametrize(
    ("feature", "text", "value"),
    [
        (form.characters, "ab c", 4),
        (form.tokens, "She can't.", 4),
        (form.full_stop, 'He says "no."', 1),
        (form.full_stop, "no!", 0),
        (form.question_mark, "why?", 1),
        (form.commas, "a, b, c", 2),
        (form.capital, '"Paris is', 1),
        (form.capital, "paris Is", 0),
        (form.capitals, "NASA and the USA, A", 2),
        (form.capitals, "ОН видит ÉTÉ, Ё", 2),
        (form.capitals, "E\u0301TE\u0301 看NBA了 B2 iPad McDONALD", 2),
        (form.capitals_within, "He sees Paris and NASA", 5),
        (form.capitals_within, "he SEES", 4),
        (form.capitals_within, "«Он видит Ёлку»", 1),
        (form.capitals_within, "3 Dogs", 1),
        (form.capitals_within, "", 0),
        (form.digits, "12 dogs in 1999", 6),
        (form.quotes, "the “big” dog's 'bone.'", 4),
        (form.typographic, "“it’s” – here…", 5),
        (form.typographic, '"it\'s" - here...', 0),
        (form.stray_blanks, "a plain text.", 0),
        (form.stray_blanks, "  a text ", 3),
        (form.stray_blanks, "a  text  b", 2),
        (form.stray_blanks, "a\u00a0text\tb", 2),
        (form.stray_blanks, "a \u00a0text\n", 2),
        (form.stray_blanks, "a text .", 1),
        (form.stray_blanks, "a , b ; c : d ! e ? f … g", 6),
        (form.stray_blanks, 'he says ( so ) . "no !"', 3),
        (form.stray_blanks, "a text ,then", 1),
        (form.stray_blanks, "a  , b", 2),
        (form.stray_blanks, "他 ，看 。नहीं ।", 3),
        (form.stray_blanks, "a .5 share - (so) [there] he's", 0),
        (form.stray_blanks, "it does n't , it 's", 3),
        (form.part_of_speech("NOUN", "PROPN"), "the dog in the park", 0.4),
        (form.part_of_speech("PRON"), "she sees him", 2 / 3),
        (form.part_of_speech("ADV"), "", 0),
    ],
)
def test_a_feature_of_form_is_what_it_is_called(feature: Callable[[Seen], np.ndarray], text: str, value: float) -> None:
    instances = Instances((Instance("1", "", (text, "x"), 0),), "choices")
    assert feature(Seen(instances.texts))[0] == pytest.approx(value)


def test_content_overlap_leaves_out_words_without_content() -> None:
    instances = Instances((Instance("1", "the dog is in the park", ("the dog", "the cat", "in the"), 0),), "choices")
    assert likeness.content_overlap(Seen(instances.texts)).tolist() == [1, 0, 0]


def test_making_one_feature_changes_no_other() -> None:
    instances = random_choices(30, seed=0)
    folds = np.arange(30) % 5
    seen, before = Seen(instances.texts), perplexity.surprise(Seen(instances.texts), folds)
    for feature in FEATURES.values():
        assert np.array_equal(feature.of(seen), feature.of(Seen(instances.texts)))
    assert np.array_equal(perplexity.surprise(seen, folds), before)


# rules


@given(some_choices(), st.integers(0, 10_000))
def test_variance_is_that_over_all_places_of_gold(instances: Instances, seed: int) -> None:
    scores = np.random.default_rng(seed).integers(0, 3, len(instances.texts.options)).astype(float)
    tried = rules.choose("AF201", "s", scores, instances)
    for row, one in enumerate(instances.instances):
        hits = []
        for answer in range(len(one.options)):
            moved = list(instances.instances)
            moved[row] = replace(one, answer=answer)
            hits.append(rules.choose("AF201", "s", scores, replace(instances, instances=tuple(moved))).hits[row])
        assert np.mean(hits) == pytest.approx(tried.chance[row])
        assert np.var(hits) == pytest.approx(tried.variances[row], abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=6))
def test_luck_of_a_rule_for_classes_is_that_over_all_orders_of_the_labels(rows: list[tuple[int, int]]) -> None:
    bins, labels = (np.array(column) for column in zip(*rows, strict=True))
    shares = np.eye(3)[bins] * 0.5 + np.eye(3)[labels[::-1]] * 0.5
    residuals, variances = rules._beyond_luck(shares, labels, np.zeros(len(labels), int))
    mean, variance = slow.moments_of_shuffled(shares.tolist(), labels.tolist())
    assert residuals.sum() == pytest.approx(shares[np.arange(len(labels)), labels].sum() - mean, abs=1e-9)
    assert variances.sum() == pytest.approx(variance, abs=1e-9)


@given(some_classes(), st.data())
def test_the_class_of_a_bin_is_the_most_frequent_in_the_other_folds(instances: Instances, data: st.DataObject) -> None:
    n = len(instances)
    bins = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    folds = np.arange(n) % 2
    expected = slow.frequent_classes(bins.tolist(), instances.answers.tolist(), folds.tolist(), 3)
    assert np.allclose(rules.frequent_classes(bins, instances, folds), expected)


@given(some_classes(), st.data())
def test_where_classes_weigh_the_same_a_bin_has_the_class_with_the_largest_share_there(
    instances: Instances, data: st.DataObject
) -> None:
    n = len(instances)
    bins = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    folds = np.arange(n) % 2
    expected = slow.classes_by_share(bins.tolist(), instances.answers.tolist(), folds.tolist(), 3)
    assert np.allclose(rules.frequent_classes(bins, instances, folds, weights=np.ones(3)), expected)


@given(st.lists(st.integers(-3, 30), min_size=1, max_size=60))
def test_bins_keep_order_and_equal_values_together(values: list[int]) -> None:
    bins = rules.quantile_bins(np.array(values, float))
    assert bins.max() < rules.N_BINS
    for value, bin in zip(values, bins, strict=True):
        assert all((other > bin) <= (v > value) for v, other in zip(values, bins, strict=True))
        assert all(other == bin for v, other in zip(values, bins, strict=True) if v == value)


def test_bins_of_different_values_are_of_equal_size() -> None:
    assert (
        np.bincount(rules.quantile_bins(np.random.default_rng(0).permutation(100).astype(float))).tolist() == [10] * 10
    )


# labels


@given(some_choices(), st.integers(0, 10_000))
def test_labels_of_held_out_rows_change_no_score(instances: Instances, seed: int) -> None:
    rng = np.random.default_rng(seed)
    folds = np.arange(len(instances)) % 2
    drawn = np.where(folds == 1, rng.integers(0, instances.n_answers), instances.answers)
    other = with_labels(instances, drawn)
    held_out = folds[instances.texts.rows] == 1
    one, two = (recurrence.right_elsewhere(Seen(x.texts), folds, x)[held_out] for x in (instances, other))
    assert np.array_equal(one, two)


@given(some_classes(), st.integers(0, 10_000))
def test_labels_of_held_out_texts_change_no_choice_of_a_class(instances: Instances, seed: int) -> None:
    folds = np.arange(len(instances)) % 2
    drawn = np.where(folds == 1, np.random.default_rng(seed).integers(0, 3, len(folds)), instances.answers)
    bins = recurrence.same_texts(Seen(instances.texts))
    one, two = (rules.frequent_classes(bins, x, folds)[folds == 1] for x in (instances, with_labels(instances, drawn)))
    assert np.array_equal(one, two)


@given(some_classes(), st.integers(0, 10_000))
def test_a_rule_that_learns_forward_reads_no_label_of_its_own_or_a_later_fold(instances: Instances, seed: int) -> None:
    folds = np.arange(len(instances)) % 3
    drawn = np.where(folds > 0, np.random.default_rng(seed).integers(0, 3, len(folds)), instances.answers)
    bins = recurrence.same_texts(Seen(instances.texts))
    both = (rules.frequent_classes(bins, x, folds, forward=True) for x in (instances, with_labels(instances, drawn)))
    one, two = (shares[folds <= 1] for shares in both)
    assert np.array_equal(one, two)
    assert np.allclose(one[folds[folds <= 1] == 0], 1 / 3)  # the first fold has nothing to learn from


def test_p_values_of_a_rule_that_learns_are_small_no_more_often_than_luck() -> None:
    """With the hits of the folds as they are scored, not forward, it is 0.15 of them."""
    rng, folds = np.random.default_rng(0), np.arange(300) % 5
    drawn = random_classes(300, seed=0)
    n_small = 0
    for _ in range(300):
        instances, bins = with_labels(drawn, rng.integers(0, 3, 300)), rng.integers(0, 10, 300)
        tried = rules.classify("AF201", "bins", bins, instances, folds)
        n_small += p_value(tried.residuals, tried.variances, np.arange(300)) < 0.05
    assert n_small < 0.09 * 300


@pytest.mark.parametrize("make", [random_choices, random_classes])
def test_random_labels_are_found_no_more_often_than_promised(make: Callable[..., Instances]) -> None:
    """At least one rule is found or hinted at in 5 % of such datasets at most; here in one of twenty."""
    alarms = 0
    for seed in range(20):
        instances = make(150, seed=seed)
        alarms += any(one.status != "clear" for one in feature_diagnostics(instances, group(instances)))
    assert alarms <= 2


# planted artifacts


@pytest.mark.parametrize(
    ("edit", "subject"),
    [
        (" w1 w2 w3 w4 w5 w6 w7 w8 w9", "longest"),
        (" 1 2 3 4 5 6 7 8 9", "most tokens"),
        (",,,,,,,", "most commas"),
        (" .", "full stop"),
        (" ?", "question mark"),
        (" 123456789", "most digits"),
        (' """', "most quotes"),
        (" ABC DEF GHI", "most words in capitals"),
        (" slowly quickly badly gladly sadly", "most adverbs"),
        (" zq zr zs zt zu zv", "least perplexing"),
    ],
)
def test_what_was_planted_in_gold_is_found(edit: str, subject: str) -> None:
    instances = with_gold(random_choices(150, seed=3), edit)
    found = by_subject(feature_diagnostics(instances, singles(instances)))[subject]
    assert found.status == "found"
    assert found.value > 0.5
    assert (found.chance, found.n, found.n_groups) == (0.25, 150, 150)
    assert len(found.examples) == 5
    assert all("\n* " in one.text and edit.strip() in one.text for one in found.examples)


@pytest.mark.parametrize(
    ("edit", "name", "code"),
    [
        (" more words than others have here", "tokens", "AF201"),
        (" ?", "question mark", "AF205"),
        (" " + "9" * 20, "digits", "AF207"),
    ],
)
def test_what_was_planted_in_a_class_is_found(edit: str, name: str, code: str) -> None:
    drawn = random_classes(300, seed=4)
    made = tuple(replace(x, options=(x.options[0] + edit,)) if x.answer == 2 else x for x in drawn.instances)
    instances = replace(drawn, instances=made)
    found = by_subject(feature_diagnostics(instances, group(instances)))[name]
    assert (found.code, found.status) == (code, "found")


def test_a_shortcut_to_a_rare_class_is_found_though_no_accuracy_shows_it() -> None:
    """Every text of the rare class has it, and more of the other: the largest class is the best guess everywhere."""
    instances = rare_classes(600, seed=4, edit=" " + "9" * 20)
    one = by_subject(feature_diagnostics(instances, singles(instances)))["digits"]
    assert one.value == pytest.approx(one.chance, abs=0.01)
    assert one.balanced is not None
    assert (one.status, one.balanced.status, one.balanced.chance) == ("found", "found", 0.5)
    assert one.balanced.low > 0.8
    assert "Each class weighed equally" in one.said
    assert all("* rare" in example.text for example in one.examples)


def test_where_classes_are_nearly_equal_nothing_else_is_asked() -> None:
    instances = random_classes(300, seed=4)
    assert all(one.balanced is None for one in feature_diagnostics(instances, group(instances)))


def test_a_class_of_fewer_than_five_texts_counts_nothing() -> None:
    """A single wrong label would else be a third of all."""
    counts = np.repeat(np.arange(3), [80, 20, 2])
    weights = class_weights(counts, 3)
    assert weights is not None
    assert weights.tolist() == [0.25, 1.0, 0.0]
    found = weighed(np.ones(102), counts, weights, np.arange(102))
    assert (found.value, found.chance) == (1.0, 0.5)
    assert are_unequal(weights)
    alike = class_weights(np.repeat(np.arange(3), [50, 50, 2]), 3)
    assert alike is not None
    assert not are_unequal(alike)
    assert class_weights(np.repeat(np.arange(2), [50, 2]), 2) is None


def test_a_balanced_value_is_the_mean_of_the_recalls() -> None:
    rng = np.random.default_rng(0)
    labels, hits = rng.choice(3, 200, p=[0.7, 0.2, 0.1]), rng.random(200)
    weights = class_weights(labels, 3)
    assert weights is not None
    found = weighed(hits, labels, weights, np.arange(200))
    assert found.value == pytest.approx(np.mean([hits[labels == c].mean() for c in range(3)]), abs=1e-6)


def test_luck_with_unequal_classes_is_seldom_found() -> None:
    found = 0
    for seed in range(40):
        instances = rare_classes(200, seed=seed, share=0.15)
        made = feature_diagnostics(instances, singles(instances), features=["tokens", "digits", "commas", "full stop"])
        found += any(one.status == "found" for one in made)
    assert found <= 4


def test_what_only_equal_classes_show_has_examples_of_that() -> None:
    """Where accuracy was surely below chance and the balanced figure above it, the examples were `wrong`."""
    instances = rare_classes(400, seed=4, edit=" " + "9" * 20)
    rows, labels = np.arange(400), instances.answers
    weights = class_weights(labels, 2)
    right, luck = (labels == 1).astype(float), np.full(400, 0.01)
    plain = Tried("AF207", "digits", "{value}", rows, right, instances.chance, right - 0.9, luck, np.zeros(400))
    hits = np.where(labels == 1, 1.0, rows % 2)
    balanced = replace(plain, hits=hits, residuals=hits - 0.5, chance=np.full(400, 0.5), weights=weights)
    (one,) = rules.diagnostics_of([replace(plain, balanced=balanced)], instances, singles(instances))
    assert one.high < one.chance
    assert as_found(one).low > 0.5
    assert {example.said for example in one.examples} == {"digits: right"}
    (below,) = rules.diagnostics_of([plain], instances, singles(instances))
    assert {example.said for example in below.examples} == {"digits: wrong"}


def test_gold_that_never_is_longest_is_found_below_chance() -> None:
    drawn = random_choices(200, seed=5)
    made = tuple(
        replace(x, options=tuple(o + " w1" * 9 * (k != x.answer) for k, o in enumerate(x.options)))
        for x in drawn.instances
    )
    instances = replace(drawn, instances=made)
    longest = by_subject(feature_diagnostics(instances, singles(instances), features=["characters"]))["longest"]
    assert longest.status == "found"
    assert longest.value < 0.05
    assert longest.examples[0].said == "longest: wrong"


def test_what_other_features_give_away_makes_no_place_easier_to_find() -> None:
    """A place with gold in 30 % of 400 questions, p 0.02, is luck among four; among forty found rules it was found."""
    answers = np.repeat(np.arange(4), [94, 120, 93, 93])
    instances = with_labels(random_choices(400, seed=8), answers.tolist())
    places = np.arange(len(instances.texts.options)) - instances.offsets[:-1][instances.texts.rows]
    gold = np.zeros(len(places))
    gold[instances.offsets[:-1] + answers] = 1.0
    tried = [choose("AF202", f"option {k + 1}", (places == k).astype(float), instances) for k in range(4)]
    others = [choose("AF201", f"feature {k}", gold, instances) for k in range(40)]
    found = by_subject(rules.diagnostics_of([*tried, *others], instances, singles(instances)))
    assert {found[f"feature {k}"].status for k in range(40)} == {"found"}
    assert {found[f"option {k + 1}"].status for k in range(4)} == {"clear"}


def test_one_answer_for_all_questions_is_found_as_a_position() -> None:
    instances = with_labels(random_choices(60, seed=6), [1] * 60)
    found = by_subject(feature_diagnostics(instances, singles(instances), features=["position"]))
    assert found["option 2"].value == 1
    assert found["option 2"].status == "found"


def test_gold_that_is_always_last_is_found_whatever_the_number_of_options() -> None:
    """Counted from the first alone, the best place was right in half."""
    drawn = random_choices(90, seed=6)
    rows = [replace(one, options=one.options[: 2 + i % 3], answer=1 + i % 3) for i, one in enumerate(drawn.instances)]
    found = by_subject(
        feature_diagnostics(replace(drawn, instances=tuple(rows)), singles(drawn), features=["position"])
    )
    assert found["last option"].value == 1
    assert found["last option"].status == "found"
    of_four = by_subject(feature_diagnostics(drawn, singles(drawn), features=["position"]))
    assert "last option" not in of_four


def test_a_rule_that_seldom_applies_but_never_fails_is_a_hint() -> None:
    drawn = random_choices(1000, seed=7)
    made = tuple(
        replace(x, options=tuple(o + " (é" * (k == x.answer and i < 12) for k, o in enumerate(x.options)))
        for i, x in enumerate(drawn.instances)
    )
    marked = replace(drawn, instances=made)
    scores = np.array(["é" in text for text in marked.texts.options], float)
    (one,) = rules.diagnostics_of([rules.choose("AF208", "é", scores, marked)], marked, singles(marked))
    assert one.status == "hint"
    assert one.low is not None
    assert one.low <= 0.25 <= (one.high or 0)


def test_a_few_questions_do_not_prove_a_rule() -> None:
    variances, residuals = np.zeros((2, 500))
    variances[:3], residuals[:3] = 0.1875, 0.75  # three of three, by luck 1 in 64
    assert p_value(residuals, variances, np.arange(500)) > 1 / 64


def test_questions_of_one_group_prove_as_little_as_one() -> None:
    variances, residuals = np.full(40, 0.1875), np.full(40, 0.75)
    assert p_value(residuals, variances, np.zeros(40, int)) == 1
    alone = p_value(residuals, variances, np.arange(40))
    in_fours = p_value(residuals - 0.5 * (np.arange(40) < 20), variances, np.arange(40) // 10)
    assert alone < 1e-9 < in_fours


def test_adjusted_p_values_are_those_of_the_textbook() -> None:
    p = [0.01, 0.04, 0.03, 0.5]
    assert adjusted(p).tolist() == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])
    assert adjusted([]).tolist() == []


# orders


def values(diagnostics: list[Diagnostic]) -> list[tuple[object, ...]]:
    return [(x.code, x.subject, x.status, x.value, x.low, x.high) for x in diagnostics]


@settings(max_examples=5)
@given(st.integers(0, 100))
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    for make in (random_choices, random_classes):
        instances = make(60, seed=seed)
        groups = Groups(np.arange(60) // 2, "pairs")
        order = np.random.default_rng(seed).permutation(60)
        shuffled = Groups(groups.numbers[order], "pairs")
        assert feature_diagnostics(instances.take(order), shuffled) == feature_diagnostics(instances, groups)


@settings(max_examples=5)
@given(st.integers(0, 100))
def test_the_order_of_options_matters_for_positions_alone(seed: int) -> None:
    rng, instances = np.random.default_rng(seed), random_choices(60, seed=seed)
    turned = []
    for one in instances.instances:
        order = rng.permutation(4)
        turned.append(
            replace(one, options=tuple(one.options[k] for k in order), answer=order.tolist().index(one.answer))
        )
    features = [name for name in (*FEATURES, *OTHERS) if name not in ("position", "named")]
    other = replace(instances, instances=tuple(turned))
    one, two = (values(feature_diagnostics(x, singles(x), features=features)) for x in (instances, other))
    assert one == two


def test_folds_keep_groups_whole_whatever_the_order_of_rows() -> None:
    instances = random_choices(50, seed=0)
    groups = Groups(np.arange(50) // 3, "threes")
    folds = folds_of(instances, groups, 5, seed=1)
    assert all(len(set(folds[groups.numbers == g])) == 1 for g in range(groups.n))
    assert np.bincount(folds).tolist() == sorted(np.bincount(folds), reverse=True) or np.ptp(np.bincount(folds)) <= 3
    order = np.random.default_rng(0).permutation(50)
    numbers = np.unique(groups.numbers[order][::-1], return_inverse=True)[1][::-1]
    shuffled = instances.take(order)
    assert np.array_equal(folds_of(shuffled, Groups(numbers, ""), 5, seed=1), folds[order])
    by_line = tuple(replace(one, id=f"line {i}") for i, one in enumerate(shuffled.instances, 1))
    assert np.array_equal(folds_of(replace(shuffled, instances=by_line), Groups(numbers, ""), 5, seed=1), folds[order])
    assert folds_of(instances, Groups(np.zeros(50, int), "one"), 5, seed=1).tolist() == [0] * 50


@pytest.mark.parametrize(
    ("edit", "code", "subject"),
    [
        (str.upper, "AF206", "words in capitals of the premise"),
        (lambda text: f"{text} and on and on and on", "AF201", "characters of the premise"),
        (lambda text: text + "  ", "AF212", "stray blanks of the premise"),
        (lambda text: text + " 1700000000000000000", "AF207", "digits of the premise"),
    ],
)
def test_the_form_of_a_premise_is_asked_of_pairs(edit: Callable[[str], str], code: str, subject: str) -> None:
    """A class that every premise in capitals had was found by nothing."""
    drawn = random_classes(300, seed=3)
    rows = [replace(one, context=edit(one.context) if one.answer == 1 else one.context) for one in drawn.instances]
    planted = replace(drawn, instances=tuple(rows))
    (one,) = [one for one in feature_diagnostics(planted, singles(planted)) if one.subject == subject]
    assert (one.code, one.status) == (code, "found")
    (clear,) = [one for one in feature_diagnostics(drawn, singles(drawn)) if one.subject == subject]
    assert clear.status == "clear"


# what is given for what


def test_every_check_gives_a_diagnostic_with_a_known_code() -> None:
    instances = random_choices(40, seed=1)
    found = feature_diagnostics(instances, singles(instances))
    assert {one.code for one in found} == {f"AF2{n:02}" for n in range(1, 16)} <= set(codes())
    assert values(found) == sorted(values(found))
    classes = random_classes(40, seed=1)
    of_classes = {one.code for one in feature_diagnostics(classes, singles(classes))}
    assert of_classes == {one.code for one in found} - {"AF202", "AF204", "AF213", "AF214"}


@pytest.mark.parametrize(
    ("mark", "rule"),
    [
        (lambda text: f"{text} ", "most stray blanks"),
        (lambda text: f"so\u00a0{text}", "most stray blanks"),
        (lambda text: f"{text}…", "most typographic signs"),
    ],
)
def test_blanks_and_signs_that_readers_of_words_do_not_see_are_found(mark: Callable[[str], str], rule: str) -> None:
    """Gold with a blank behind it was clear in all checks."""
    plain = random_choices(200, seed=1)
    marked = tuple(
        replace(one, options=tuple(mark(text) if i == one.answer else text for i, text in enumerate(one.options)))
        for one in plain.instances
    )
    found = feature_diagnostics(replace(plain, instances=marked), singles(plain))
    assert {(one.code, one.subject) for one in found if one.status == "found" and one.value == 1} >= {("AF212", rule)}
    assert not [
        one for one in feature_diagnostics(plain, singles(plain)) if one.code == "AF212" and one.low != one.high
    ]


@pytest.mark.parametrize(
    ("of_gold", "of_others", "code", "rule"),
    [
        ("He sees Paris in {}.", "He sees paris in {}.", "AF206", "most capitals within"),
        ("So may I {}.", "So may i {}.", "AF206", "most capitals within"),
        ("Он видит КОТА {}.", "Он видит кота {}.", "AF206", "most words in capitals"),
        ("He runs, {}.", "He runs , {}.", "AF212", "fewest stray blanks"),
        ("He does n't {}.", "He doesn't {}.", "AF212", "most stray blanks"),
    ],
)
def test_form_that_lower_cased_words_do_not_show_is_found_anywhere_in_an_option(
    of_gold: str, of_others: str, code: str, rule: str
) -> None:
    """Letter case behind the first letter, and blanks before inner marks, were clear in all checks."""
    rng = np.random.default_rng(1)

    def made(template: str, number: int) -> Instances:
        """`number` questions whose gold is of the first template; the others of `template`."""
        rows = []
        for i in range(number):
            texts = [" ".join(rng.choice(["red", "cat", "park", "sees"], rng.integers(2, 9))) for _ in range(4)]
            answer = int(rng.integers(4))
            options = tuple((of_gold if k == answer else template).format(text) for k, text in enumerate(texts))
            rows.append(Instance(str(i), "", options, answer))
        return Instances(tuple(rows), "choices")

    marked, plain = made(of_others, 150), made(of_gold, 150)
    found = feature_diagnostics(marked, singles(marked))
    assert (code, rule, "found", 1) in {(one.code, one.subject, one.status, one.value) for one in found}
    assert all(one.status == "clear" for one in feature_diagnostics(plain, singles(plain)))


def numeric(n: int, *, gold: int | None, n_options: int = 4, seed: int = 1) -> Instances:
    """Questions of different numbers of five digits; `gold` is the rank of the right one, drawn where None."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        drawn = rng.choice(np.arange(10_000, 100_000), n_options, replace=False).tolist()
        answer = int(rng.integers(n_options)) if gold is None else drawn.index(sorted(drawn)[gold])
        rows.append(Instance(f"q{i}", "", tuple(map(str, drawn)), answer))
    return Instances(tuple(rows), "choices")


@pytest.mark.parametrize("n_options", [2, 4])
@pytest.mark.parametrize(("gold", "rule"), [(-1, "largest number"), (0, "smallest number")])
def test_gold_that_is_always_the_largest_or_the_smallest_number_is_found(n_options: int, gold: int, rule: str) -> None:
    """Both were clear in all checks of two options, and at most a hint of four."""
    instances = numeric(150, gold=gold, n_options=n_options)
    found = by_subject(feature_diagnostics(instances, singles(instances)))
    assert (found[rule].code, found[rule].status, found[rule].value) == ("AF213", "found", 1)
    assert (found[rule].mirror != "") == (n_options == 2)
    drawn = numeric(150, gold=None, n_options=n_options)
    assert all(one.status == "clear" for one in feature_diagnostics(drawn, singles(drawn)))


def test_numbers_are_compared_only_where_all_options_have_one() -> None:
    options = [("3,000 dogs", "-1", "2.5"), ("2", "1"), ("1", "one"), ("7", "7", "9" * 400), ("1-2", "3"), ("", "")]
    instances = Instances(tuple(Instance(str(i), "", texts, 0) for i, texts in enumerate(options)), "choices")
    ranks = numbers.values(Seen(instances.texts))
    assert ranks.tolist() == [2, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
    (one, _) = feature_diagnostics(instances, singles(instances), features=["number"])
    assert "it tells options apart in 3" in one.said


@pytest.mark.parametrize("template", ["画家买下箱子{}次", "他有{}個りんご", "ครู{}คน", "المعلم {} مرة"])
@pytest.mark.parametrize("zero", ["0", "０", "٠", "๐"])
def test_numbers_are_seen_beside_letters_of_any_script(template: str, zero: str) -> None:
    """The largest number was right in 89 %, and no options differed."""
    options = tuple(template.format("".join(chr(ord(zero) + int(c)) for c in n)) for n in ("12", "7", "350"))
    instances = Instances((Instance("1", "", options, 0),), "choices")
    assert numbers.values(Seen(instances.texts)).tolist() == [1, 0, 2]


def test_decimals_of_full_width_and_of_arabic_are_one_number() -> None:
    instances = Instances((Instance("1", "", ("３．５米", "٣٫٢", "3.4"), 0),), "choices")
    assert numbers.values(Seen(instances.texts)).tolist() == [2, 0, 1]


def test_where_no_options_are_numbers_none_is_the_largest() -> None:
    drawn = random_choices(60, seed=1)
    instances = replace(
        drawn,
        instances=tuple(replace(one, options=("a dog", "a cat", "12 or 13", "2")) for one in drawn.instances),
    )
    for one in feature_diagnostics(instances, singles(instances), features=["number"]):
        assert (one.status, one.low, one.high) == ("clear", one.value, one.value)
        assert "no options differ in any of 60 questions" in one.said


def test_a_rule_by_which_no_options_differ_is_at_chance_without_luck() -> None:
    """A gate said of it that other instances might decide it otherwise."""
    instances = random_choices(60, seed=1)
    found = feature_diagnostics(instances, singles(instances))
    (one,) = [each for each in found if each.subject == "most typographic signs"]
    assert (one.status, one.low, one.high) == ("clear", one.value, one.value)
    assert one.value == one.chance == pytest.approx(float(instances.chance.mean()), abs=1e-6)
    assert "no options differ in any of 60 questions" in one.said
    decided = decide_one(parse_condition("AF212 <= chance + 10%"), one)
    assert decided.status == "passed"
    assert not decided.by_luck


def with_context(instances: Instances, said: Callable[[Instance], str]) -> Instances:
    """The same with what is `said` of an instance behind its context."""
    rows = (replace(one, context=f"A man asks I what. {one.context} {said(one)}") for one in instances.instances)
    return replace(instances, instances=tuple(rows))


@pytest.mark.parametrize(
    ("said", "subject"),
    [
        (lambda answer: f"({'ABCD'[answer]})", "letter in the question"),
        (lambda answer: f"({'abcd'[answer]})", "letter in the question"),
        (lambda answer: f"Answer: {'ABCD'[answer]}.", "letter in the question"),
        (lambda answer: f"[{answer + 1}]", "number in the question"),
        (lambda answer: f"gold {answer}", "number from 0 in the question"),
    ],
)
def test_a_question_that_names_its_answer_is_found(said: Callable[[int], str], subject: str) -> None:
    drawn = random_choices(200, seed=3)
    made = with_context(drawn, lambda one: said(one.answer))
    found = by_subject(feature_diagnostics(made, singles(made), features=["named"]))
    assert (found[subject].status, found[subject].code) == ("found", "AF214")
    assert found[subject].value > 0.9
    by_lot = with_context(drawn, lambda one: said(int(one.id[1:]) % 4))
    assert by_subject(feature_diagnostics(by_lot, singles(by_lot), features=["named"]))[subject].status == "clear"
    assert not feature_diagnostics(replace(made, has_order=False), singles(made), features=["named"])


def test_articles_and_parts_of_numbers_name_no_option() -> None:
    instances = Instances((Instance("1", "A dog, and I, saw 3.5 m. I ran.", ("a", "b", "c", "d"), 0),), "choices")
    assert [scores.tolist() for scores in naming.named(Seen(instances.texts))] == [[0] * 4] * 3


@pytest.mark.parametrize(("text", "n"), [("the the dog", 1), ("No no NO", 2), ("the dog the", 0), ("5 5 x", 0)])
def test_doubled_words_are_counted(text: str, n: int) -> None:
    instances = Instances((Instance("1", "", (text, "x"), 0),), "choices")
    assert form.doubled_words(Seen(instances.texts))[0] == n


@pytest.mark.parametrize(
    ("text", "measure", "n"),
    [
        ("今天，他走了、又来", form.commas, 2),
        ("غدا، يذهب", form.commas, 1),
        ("他走了。", form.full_stop, 1),
        ("वह गया।", form.full_stop, 1),
        ("走了？", form.question_mark, 1),
        ("هل ذهب؟", form.question_mark, 1),
        ("「うん」と", form.quotes, 2),
        ("《红楼梦》", form.quotes, 2),
        ("Ku\u0308che", form.characters, 5),
        ("Ku\u0308che", form.accents_apart, 1),
        ("Küche", form.accents_apart, 0),
        ("a, b. ", form.commas, 1),
    ],
)
def test_marks_of_every_script_count(text: str, measure: Callable[[Seen], np.ndarray], n: int) -> None:
    """Commas, quotes and final marks of other scripts than Latin were none."""
    assert measure(Seen(Instances((Instance("1", "", (text, "x"), 0),), "choices").texts))[0] == n


def test_accents_apart_from_their_letters_are_found_and_asked_about_only_where_some_text_has_them() -> None:
    drawn = random_choices(200, seed=3)
    made = with_gold(drawn, " Ku\u0308che")
    found = by_subject(feature_diagnostics(made, singles(made)))["accents apart"]
    assert (found.code, found.status, found.value) == ("AF212", "found", 1)
    assert not feature_diagnostics(drawn, singles(drawn), features=["accents apart"])
    texts = Instances(
        tuple(replace(o, context="u\u0308", options=o.options[:1]) for o in drawn.instances), "classes", tuple("abcd")
    )
    assert [o.subject for o in feature_diagnostics(texts, singles(texts), features=["accents apart"])] == [
        "accents apart of the premise"
    ]


def test_doubled_words_of_wrong_options_are_found() -> None:
    drawn = random_choices(300, seed=3)
    rng = np.random.default_rng(0)

    def doubled(one: Instance) -> Instance:
        return replace(
            one,
            options=tuple(
                f"so so {o}" if k != one.answer and rng.random() < 0.4 else o for k, o in enumerate(one.options)
            ),
        )

    made = replace(drawn, instances=tuple(map(doubled, drawn.instances)))
    assert by_subject(feature_diagnostics(made, singles(made)))["fewest doubled words"].status == "found"
    assert by_subject(feature_diagnostics(drawn, singles(drawn)))["fewest doubled words"].status == "clear"


def test_long_words_of_the_context_are_counted_once_whatever_the_length() -> None:
    options = ("A carpenter, a carpenter and a ladder", "carpenter", "the tree")
    instances = Instances((Instance("1", "The carpenter has a ladder by the tree", options, 0),), "choices")
    assert likeness.long_words(Seen(instances.texts)).tolist() == [2, 1, 0]


def test_long_words_that_gold_has_from_its_context_are_found() -> None:
    drawn = random_choices(300, seed=3)
    rng = np.random.default_rng(0)
    rows = []
    for one in drawn.instances:
        word = f"carpenter{'abcdefgh'[int(rng.integers(8))]}"
        options = [
            o + (f" {word} w1 w2 w3 w4" if rng.random() < (0.6 if k == one.answer else 0.2) else "")
            for k, o in enumerate(one.options)
        ]
        rows.append(replace(one, context=f"{one.context} {word}", options=tuple(options)))
    made = replace(drawn, instances=tuple(rows))
    assert by_subject(feature_diagnostics(made, singles(made)))["most long words of the context"].status == "found"


def test_positions_are_not_looked_at_where_the_order_was_drawn() -> None:
    instances = replace(random_choices(40, seed=1), has_order=False)
    assert "AF202" not in {one.code for one in feature_diagnostics(instances, singles(instances))}


def test_texts_without_words_are_no_obstacle() -> None:
    for instances in (
        Instances((Instance("1", "", ("", ""), 0), Instance("2", "", ("", "", " "), 1)), "choices"),
        Instances((Instance("1", "", ("",), 0), Instance("2", "", (" ",), 1)), "classes", ("a", "b")),
    ):
        found = feature_diagnostics(instances, singles(instances))
        assert {one.status for one in found if one.code != "AF202"} == {"clear"}


def test_a_name_that_is_no_feature_is_refused() -> None:
    instances = random_choices(4, seed=1)
    with pytest.raises(InputError, match=r"smell: no such feature. There are characters"):
        feature_diagnostics(instances, singles(instances), features=["smell"])


# two options


@given(some_choices(most=12))
@settings(max_examples=35)
def test_of_two_options_the_better_of_opposite_rules_stands_for_both(made: Instances) -> None:
    rows = (replace(one, options=one.options[:2], answer=one.answer % 2) for one in made.instances)
    pairs = replace(made, instances=tuple(rows))
    more = Instance("more", "", ("a", "b", "c"), 0)
    of_two = by_subject(feature_diagnostics(pairs, singles(pairs)))
    for name, feature in FEATURES.items():
        seen = Seen(pairs.texts)
        of_both = {
            subject: choose(feature.code, subject, sign * feature.of(seen), pairs).hits.mean()
            for subject, sign in ((feature.highest, 1), (feature.lowest, -1))
        }
        if feature.if_any and not feature.of(seen).any():
            assert not of_both.keys() & of_two.keys()
            continue
        (kept,) = [of_two[subject] for subject in of_both if subject in of_two]
        assert kept.value == pytest.approx(max(of_both.values()), abs=1e-6), name
        opposite = mirrored(kept)
        again = opposite and mirrored(opposite)
        assert opposite is not None
        assert again is not None
        assert {kept.subject, opposite.subject} == of_both.keys()
        assert opposite.value == pytest.approx(of_both[opposite.subject], abs=1e-6)
        assert again.value == pytest.approx(kept.value)
    assert len({"option 1", "option 2"} & of_two.keys()) == 1
    mixed = replace(made, instances=(*pairs.instances, more))
    assert {"longest", "shortest", "option 1", "option 2"} <= by_subject(
        feature_diagnostics(mixed, singles(mixed))
    ).keys()


def test_the_mirror_of_a_rule_has_the_interval_that_it_would_have_itself() -> None:
    made = with_gold(random_choices(200, seed=1, n_options=2), " indeed")
    (kept,) = feature_diagnostics(made, singles(made), features=["characters"])
    opposite = mirrored(kept)
    assert opposite is not None
    itself = of_accuracy("AF201", "shortest", 1 - hits_of(made), made.chance, singles(made).numbers, said="")
    assert (kept.subject, opposite.subject) == ("longest", "shortest")
    assert (opposite.value, opposite.low, opposite.high) == pytest.approx((itself.value, itself.low, itself.high))
    assert (opposite.effect, opposite.chance) == pytest.approx((itself.effect, itself.chance))
    assert opposite.status == itself.status == "found"


def hits_of(made: Instances) -> np.ndarray:
    """(N,) of the longest option."""
    return choose("AF201", "longest", FEATURES["characters"].of(Seen(made.texts)), made).hits


# real data


def read_choices(name: str) -> Instances:
    rows = map(json.loads, shared(f"mcq/{name}.jsonl").read_text(encoding="utf-8").splitlines())
    made = (Instance(str(i), x["question"], tuple(x["choices"]), x["label"]) for i, x in enumerate(rows))
    return Instances(tuple(made), "choices")


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "longest", "shortest"), [("goldenswag", 13.1, 34.5), ("openbookqa", 44.0, 14.5), ("piqa", 46.3, 53.7)]
)
def test_the_longest_in_characters_is_as_often_right_as_is_known(name: str, longest: float, shortest: float) -> None:
    instances = read_choices(name)
    found = by_subject(feature_diagnostics(instances, singles(instances), features=["characters"]))
    both = found | {one.mirror: other for one in found.values() if (other := mirrored(one))}
    assert round(100 * both["longest"].value, 1) == longest
    assert round(100 * both["shortest"].value, 1) == shortest


@pytest.mark.real
def test_golds_of_swag_stand_in_contexts_of_its_other_questions() -> None:
    rows = map(json.loads, shared("swag/swag_questions.jsonl").read_text(encoding="utf-8").splitlines())
    made = (Instance(x["id"], x["startphrase"], tuple(x["endings"]), int(x["label"])) for x in rows)
    instances = Instances(tuple(made), "choices")
    found = by_subject(feature_diagnostics(instances, singles(instances), features=["contexts"]))
    assert found["in most other contexts"].value > 0.5


@pytest.mark.real
def test_no_feature_of_a_sentence_tells_in_nlvr2() -> None:
    """Each sentence is used with several pairs of images, right of some and wrong of others."""
    rows = [json.loads(line) for line in shared("nlvr2/dev.json").read_text(encoding="utf-8").splitlines()]
    made = (
        Instance(
            x["identifier"], "", (x["sentence"],), int(x["label"] == "True"), group=x["identifier"].rsplit("-", 2)[0]
        )
        for x in rows
    )
    instances = Instances(tuple(made), "classes", ("False", "True"))
    assert {one.status for one in feature_diagnostics(instances, group(instances))} == {"clear"}


@pytest.mark.real
def test_what_recurs_in_next_qa_is_right_more_often_than_luck_by_video() -> None:
    with open(shared("mcq/nextqa_val.csv"), encoding="utf-8", newline="") as file:
        made = tuple(
            Instance(str(i), x["question"], tuple(x[f"a{k}"] for k in range(5)), int(x["answer"]), group=x["video"])
            for i, x in enumerate(csv.DictReader(file))
        )
    instances = Instances(made, "choices")
    found = by_subject(feature_diagnostics(instances, group(instances), features=["label elsewhere"]))
    assert found["right most often elsewhere"].n_groups == 570
    assert 0.2 < found["right most often elsewhere"].value < 0.25


def test_a_text_that_ends_a_sentence_of_another_context_is_found_in_any_script() -> None:
    stems = ("他来了。他看见鸟。", "她走了。", "वह आया। घर गया।")
    options = (("鱼游走", "花开了"), ("看见鸟", "坐下来"), ("वह सो गया", "वह घर गया"))
    made = tuple(Instance(f"q{i}", stem, two, 0) for i, (stem, two) in enumerate(zip(stems, options, strict=True)))
    counts = recurrence.in_other_contexts(Seen(Instances(made, "choices").texts)).reshape(3, 2)
    assert counts.tolist() == [[0, 0], [1, 0], [0, 0]]


@pytest.mark.parametrize("apostrophe", ["'", "’"])
def test_an_apostrophe_is_no_quote_however_it_is_written(apostrophe: str) -> None:
    questions = tuple(
        Instance(f"q{i}", f"What of {i}?", (f"he doesn{apostrophe}t know {i}", f"he never knew {i}", f"he saw {i}"), 0)
        for i in range(60)
    )
    found = {
        one.subject: one for one in feature_diagnostics(Instances(questions, "choices"), Groups(np.arange(60), ""))
    }
    assert found["most quotes"].status == "clear"


@pytest.mark.parametrize("minus", ["-", "−", "–"])
def test_numbers_have_their_minus_and_their_exponent(minus: str) -> None:
    question = Instances((Instance("q", "x?", (f"{minus}5", f"{minus}3", "2", "1e5"), 0),), "choices")
    ((_, found),) = numbers.numeric_questions(Seen(question.texts))
    assert found == [-5, -3, 2, 100_000]
