"""Claims about contrast sets: counted whole, chance exact, and only more than a guess gets is a finding."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made import planned_probes
from made_up_audits import audit, probe, questions
from slow.consistency import alike_chances_of_sets, chances_of_sets, sets_wholly_right

from swag_af.auditing.outcome import Probe
from swag_af.auditing.probes.consistency import (
    alike_chances,
    consistency_diagnostics,
    contrast_sets,
    set_chances,
    set_hits,
)
from swag_af.auditing.probes.findings import diagnostics_of
from swag_af.auditing.ranking import gold_probabilities, hits
from swag_af.auditing.verdict import further
from swag_af.data.instances.grouping import Groups, group
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.numbers.interval import CROSS_VALIDATED, interval
from swag_af.reporting.pages.audit import audit_page


def in_sets(instances: Instances, size: int = 2) -> Instances:
    """The same, `size` in a row in a contrast set."""
    rows = (replace(one, contrast_set=f"s{i // size}") for i, one in enumerate(instances.instances))
    return replace(instances, instances=tuple(rows))


def alone(n: int) -> Groups:
    return Groups(np.arange(n), "each alone")


def of_scores(instances: Instances, scores: np.ndarray, *, input: str = "text", seed: int = 0) -> Probe:
    """A probe with these scores (M,)."""
    found = hits(scores, instances), gold_probabilities(scores, instances)
    return Probe(input, "tfidf", "group", np.arange(len(instances)), *found, scores, 5, seed)


@st.composite
def some_scored(draw: st.DrawFn) -> tuple[Instances, Probe]:
    """A few instances, some in sets, and a probe that scored some of them, with ties."""
    kind = draw(st.sampled_from(["choices", "classes"]))
    names = draw(st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=2, max_size=12))
    n_options = [draw(st.integers(2, 3)) if kind == "choices" else 1 for _ in names]
    answers = [draw(st.integers(0, n - 1 if kind == "choices" else 1)) for n in n_options]
    rows = [
        Instance(f"q{i}", "", tuple(f"{k}" for k in range(n)), answer, contrast_set=name)
        for i, (n, answer, name) in enumerate(zip(n_options, answers, names, strict=True))
    ]
    made = Instances(tuple(rows), kind, ("no", "yes") if kind == "classes" else ())
    size = int(made.offsets[-1])
    scores = np.array(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)), float)
    whole = of_scores(made, scores)
    kept = np.flatnonzero(draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    return made, replace(whole, rows=kept, hits=whole.hits[kept])


@given(some_scored())
@settings(max_examples=200)
def test_sets_are_those_counted_one_by_one(made: tuple[Instances, Probe]) -> None:
    instances, one = made
    expected = sets_wholly_right(one, instances)
    sets = contrast_sets(instances, alone(len(instances)), one.rows)
    if not expected:
        assert sets is None
        return
    assert sets is not None
    names = sorted(expected)
    np.testing.assert_allclose(set_hits(one, sets), [expected[name] for name in names])
    np.testing.assert_allclose(set_chances(sets, instances), chances_of_sets(instances, names))
    if instances.kind == "choices":
        np.testing.assert_allclose(alike_chances(sets, instances), alike_chances_of_sets(instances, names))


def sentences(labels: list[tuple[int, ...]]) -> Instances:
    """A sentence for each tuple, shown with other media for each of its labels."""
    rows = [
        Instance(
            f"{i}-{k}", "", (f"sentence number {i}",), label, group=f"g{i}", media=f"{i}-{k}", contrast_set=f"s{i}"
        )
        for i, of in enumerate(labels)
        for k, label in enumerate(of)
    ]
    return Instances(tuple(rows), "classes", ("no", "yes"))


def test_by_guessing_the_sets_of_the_largest_class_alone_are_right() -> None:
    made = sentences([(1, 0), (1, 1), (1, 1, 1), (0, 0)])
    sets = contrast_sets(made, group(made), np.arange(len(made)))
    assert sets is not None
    assert set_chances(sets, made).tolist() == [0, 1, 1, 0]


def test_a_set_that_lost_a_row_on_reading_does_not_count() -> None:
    made = sentences([(1, 0), (1,), (1, 1)])
    whole, cut = (contrast_sets(one, group(one), np.arange(5)) for one in (made, replace(made, cut_sets={"s1"})))
    assert whole is not None
    assert cut is not None
    assert (whole.n, cut.n) == (3, 2)
    assert contrast_sets(replace(made, cut_sets={"s0", "s2"}), group(made), np.arange(5)) is None


def test_by_guessing_in_a_published_split_its_own_largest_class_is_named() -> None:
    """The largest class of all splits was, so that a model that says `no` was above chance."""
    made = sentences([(1, 1)] * 50 + [(0, 0)] * 20 + [(1, 1)] * 5)
    of_split = np.arange(100, len(made))
    whole = of_scores(made, np.array([1.0, 0.0] * len(made)))
    says_no = replace(whole, rows=of_split, hits=whole.hits[of_split], folds="split")
    (found,) = consistency_diagnostics([says_no], made, group(made))
    assert (found.value, found.chance, found.status) == (0.8, 0.8, "clear")


def test_pairs_of_four_options_are_right_by_luck_in_one_of_sixteen() -> None:
    made = in_sets(questions(200))
    (found,) = consistency_diagnostics([probe(made, 0.9)], made, group(made))
    assert found.chance == pytest.approx(1 / 16)
    assert found.n == 100
    assert found.status == "found"
    assert found.low is not None
    assert 0.7 < found.value < 0.9
    assert found.examples


def reworded(n: int = 150, *, tells: bool = False, differ: bool = False) -> Instances:
    """`n` pairs of questions with the same four options in two orders; gold by lot, the same text in both, unless they
    `differ`. Where it `tells`, its option has a word that others have not."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(n):
        gold, turn = int(rng.integers(4)), int(rng.integers(4))
        options = [f"option {k} of {i}{' truly' * (tells and k == gold)}" for k in range(4)]
        for k, order in enumerate((options, options[turn:] + options[:turn])):
            answer = order.index(options[(gold + (k if differ else 0)) % 4])
            rows.append(Instance(f"{i}-{k}", f"what of {i}, by {k * 7}?", tuple(order), answer, contrast_set=f"s{i}"))
    return Instances(tuple(rows), "choices")


@pytest.mark.parametrize("tells", [False, True])
def test_pairs_with_the_same_options_are_right_by_luck_in_one_of_four(tells: bool) -> None:
    """One of sixteen was chance, so that gold by lot was found: a probe answers the same options alike."""
    made = reworded(tells=tells)
    groups = group(made)
    inputs = ("options", "other-context", "shuffled")
    found = consistency_diagnostics(planned_probes(made, groups, inputs=inputs, models=("tfidf",)).found, made, groups)
    of = {one.subject: one for one in found}
    assert {one.chance for one in of.values()} == {0.25}
    assert {one.status for one in of.values()} == {"found" if tells else "clear"}
    assert of["options, tfidf"].value == 1 if tells else of["options, tfidf"].value > 1 / 8
    assert "by guessing, with one answer for the same options, 25.0 %" in of["options, tfidf"].said


def test_where_the_right_one_of_the_same_options_differs_guesses_made_one_by_one_are_chance() -> None:
    made = reworded(differ=True)
    (found,) = consistency_diagnostics([probe(made, 0.9)], made, group(made))
    assert (found.chance, found.status) == (1 / 16, "found")
    assert "by guessing 6.2 %" in found.said


def test_a_probe_that_sees_the_same_of_every_member_finds_nothing() -> None:
    """Half of the answers right, and no set; below chance is no finding here."""
    made = sentences([(1, 0)] * 150 + [(1, 1)] * 30 + [(0, 0)] * 20)
    says_yes = np.array([0.0, 1.0] * len(made))
    (found,) = consistency_diagnostics([of_scores(made, says_yes)], made, group(made))
    assert (found.value, found.chance, found.status) == (0.15, 0.15, "clear")
    says_no = 1 - says_yes
    (found,) = consistency_diagnostics([of_scores(made, says_no)], made, group(made))
    assert (found.value, found.status) == (0.1, "clear")


def test_coins_have_more_sets_right_than_the_largest_class_and_find_nothing() -> None:
    made = sentences([(1, 0)] * 300 + [(1, 1)])
    coins = np.random.default_rng(0).random(2 * len(made))
    (found,) = consistency_diagnostics([of_scores(made, coins)], made, group(made))
    assert found.chance is not None
    assert found.low is not None
    assert found.low > found.chance
    assert found.status == "clear"
    assert "by lot, gets 25." in found.said or "by lot, gets 24." in found.said


def test_the_interval_is_that_of_a_cross_validated_accuracy_as_of_other_probes() -> None:
    """That of hits one by one left out chance in 9 of 140 draws of labels by lot, where nothing is to be found."""
    made = in_sets(questions(200))
    (found,) = consistency_diagnostics([probe(made, 0.6)], made, alone(200))
    (of_split,) = consistency_diagnostics([replace(probe(made, 0.6), folds="split")], made, alone(200))
    sets = contrast_sets(made, alone(200), np.arange(200))
    assert sets is not None
    right = set_hits(probe(made, 0.6), sets)
    assert (found.low, found.high) == pytest.approx(interval(right, sets.groups, times=CROSS_VALIDATED), abs=1e-6)
    assert (of_split.low, of_split.high) == pytest.approx(interval(right, sets.groups), abs=1e-6)


def test_the_name_of_a_model_may_have_braces() -> None:
    """A KeyError ended the audit of contrast sets."""
    made = in_sets(questions(40))
    (found,) = consistency_diagnostics([probe(made, 0.9, model="mine{a}{value}")], made, alone(40))
    assert "ine{a}{value}, reading the options alone, has every instance right in" in found.said


def test_words_in_random_order_are_no_part_of_an_instance() -> None:
    """The line on parts named the share of the probe that read every word, shuffled."""
    made = in_sets(questions(80))
    each = [probe(made, 0.5), probe(made, 0.95, input="shuffled"), probe(made, 0.97, input="full")]
    found = list(consistency_diagnostics(each, made, group(made)))
    part = next(one for one in found if one.subject.startswith("options"))
    (line,) = (line for line in further(audit(made, each, others=found)) if "No probe of a part" in line)
    assert f"has more than {100 * part.value:.1f} % of 40 contrast sets" in line


def test_over_seeds_it_is_the_mean_of_the_consistencies_and_not_that_of_mean_answers() -> None:
    made = sentences([(1, 1), (0, 0)] * 10)
    yes = np.array([0.0, 1.0] * len(made))
    seeds = [of_scores(made, yes), of_scores(made, 1 - yes, seed=1)]
    (found,) = consistency_diagnostics(seeds, made, group(made))
    assert found.value == 0.5  # each seed has half of the sets; mean hits would say a quarter


def test_of_data_without_contrast_sets_nothing_is_said() -> None:
    made = questions(40)
    assert not list(consistency_diagnostics([probe(made, 0.9)], made, alone(40)))
    each_alone = in_sets(made, size=1)
    assert not list(consistency_diagnostics([probe(each_alone, 0.9)], each_alone, alone(40)))


def test_every_probe_but_those_of_random_folds_reports_it_and_the_page_shows_it() -> None:
    """Nor do published splits, where they part the sets."""
    made = in_sets(questions(80))
    groups = group(made)
    found = diagnostics_of(planned_probes(made, groups, models=("tfidf",)).found, made, groups)
    names = {one.subject for one in found if one.code == "AF109"}
    assert names == {one.subject for one in found if one.code in ("AF101", "AF103", "AF104", "AF110")}
    whole = audit(made, [probe(made, 0.9)], others=[one for one in found if one.code == "AF109"])
    assert "Contrast sets wholly right</h3>" in audit_page(whole)
    assert "Contrast sets wholly right</h3>" not in audit_page(audit(questions(80), [probe(questions(80), 0.9)]))
    assert any("contrast sets (by guessing 6.2 %) wholly right" in line for line in further(whole))


def test_a_contrast_set_is_never_parted() -> None:
    rows = [
        Instance(
            f"{i}-{k}",
            f"{'who' if k else 'what'} does {i} {k * 7} in room {i}?",
            (f"a{i}", f"b{i}"),
            k,
            contrast_set=f"{i}",
        )
        for i in range(40)
        for k in range(2)
    ]
    for named in (rows, [replace(one, group=one.id) for one in rows]):
        made = Instances(tuple(named), "choices")
        numbers = group(made).numbers
        assert all(numbers[2 * i] == numbers[2 * i + 1] for i in range(40))
        assert group(made).n == 40
