"""Claims about what is said of an audit: it names the strongest probe, its interval, chance, and no more."""

import re
from dataclasses import replace

import pytest
from made_up_audits import audit, integrity, probe, questions, word

from swag_af.auditing.diagnostics import Balanced, Diagnostic
from swag_af.auditing.outcome import Audit, Probe
from swag_af.auditing.probes.findings import diagnostics_of
from swag_af.auditing.ranking import gold_probabilities, hits
from swag_af.auditing.storing import saved_form
from swag_af.auditing.verdict import between, diagnostic_rows, figure, further, headline, plain_words, verdict
from swag_af.data.instances.instances import Instance, Instances
from swag_af.reporting.tables.text import audited_lines, table

DATA = questions(400)


def test_the_verdict_names_the_strongest_probe_with_interval_and_chance() -> None:
    made = audit(DATA, [probe(DATA, 0.7), probe(DATA, 0.5, model="fasttext"), probe(DATA, 0.9, input="full")])
    said = verdict(made)
    assert said.startswith("70.0 % of the questions (95 % interval 6")
    assert "are answered rightly from the options alone, without the question, by a linear model over words" in said
    assert "one of 2 probes" in said
    assert said.endswith("Guessing gets 25.0 %.")
    assert verdict(saved_form(made)) == said
    assert "The probes: options by fasttext, tfidf." in further(made)


def test_of_one_the_noun_is_singular() -> None:
    alone = questions(2)
    lines = further(audit(alone, [], features={"longest": 0.5}))
    assert lines[0].startswith("With 1 group only")
    assert lines[-1].startswith("Of 1 check ")


def test_checks_that_had_nothing_to_look_at_are_not_counted_as_clear() -> None:
    made = audit(DATA, [probe(DATA, 0.26)])
    idle = replace(made.diagnostics[0], code="AF505", subject="train to test", n=0)
    counts = saved_form(replace(made, diagnostics=(*made.diagnostics, idle))).about.counts
    assert counts["idle"] == 1
    assert further(replace(made, diagnostics=(idle,)))[-1] == (
        "Of 1 check 0 found something, 0 clear, 1 had nothing to look at."
    )


def test_an_interval_that_ends_at_chance_is_told_with_the_decimals_that_part_them() -> None:
    """`50.0 to 56.2, chance 50.0` was found."""
    near = Diagnostic("AF103", "other-context", "found", 0.53125, "accuracy", "", 0.50024, 0.562021, 0.5)
    assert between(near) == "50.02 to 56.20 %"
    assert between(replace(near, low=0.51)) == "51.0 to 56.2 %"


def test_at_chance_the_verdict_says_so_and_claims_no_more() -> None:
    said = verdict(audit(DATA, [probe(DATA, 0.26)]))
    assert said.startswith("No probe surely answers these questions better than guessing, which gets 25.0 %")
    assert "26.0 %" in said


def test_what_published_splits_give_is_said_where_it_is_surely_more() -> None:
    """It is what whoever trains on one and is scored on the other gets: 99 % stood below a verdict of no better than
    guessing."""
    by_split = replace(probe(DATA, 0.9), folds="split", fitted_on="train", scored_on="test")
    said = verdict(audit(DATA, [probe(DATA, 0.26), by_split]))
    assert said.startswith(
        "No probe surely answers these questions better than guessing on folds of whole groups, which gets"
    )
    assert "But the published splits share what tells: 90.0 % of test (95 % interval" in said
    assert said.endswith("without the question, by a linear model over words fitted on train.")
    for other in (replace(by_split, hits=probe(DATA, 0.3).hits), replace(by_split, input="full")):
        assert "published" not in verdict(audit(DATA, [probe(DATA, 0.29), other]))


def turned(one: Probe) -> Probe:
    """The probe that likes least what this one likes best."""
    scores = -one.scores
    return replace(one, scores=scores, hits=hits(scores, DATA), probabilities=gold_probabilities(scores, DATA))


def audited(*probes: Probe) -> Audit:
    """The audit of probes with the diagnostics that an audit makes of them."""
    made = audit(DATA, probes)
    return replace(made, diagnostics=tuple(diagnostics_of(probes, DATA, made.groups)))


def test_what_avoiding_gets_is_said_where_it_is_surely_more() -> None:
    """A release that a classifier of its training split solves to 59.8 % by avoiding what it prefers, was told to be
    answered no better than by guessing."""
    below = replace(turned(probe(DATA, 0.6)), folds="split", fitted_on="train", scored_on="test")
    made = audited(probe(DATA, 0.26), below)
    said = verdict(made)
    assert said.startswith("No probe surely answers these questions better than guessing")
    assert "the option that a linear model over words fitted on train finds least likely from the options" in said
    assert "without the question, is right in 60.0 % of test (95 % interval 5" in said
    (kept,) = (one for one in made.diagnostics if one.code == "AF108")
    assert kept.avoiding is not None
    assert kept.avoiding.value == pytest.approx(hits(-below.scores, DATA).mean())
    on_folds = verdict(audited(turned(probe(DATA, 0.6))))
    assert "finds least likely from the options alone, without the question, is right in 60.0 % (95 %" in on_folds
    for others in ([probe(DATA, 0.8), below], [probe(DATA, 0.26), replace(below, input="full")], [probe(DATA, 0.26)]):
        assert "avoiding" not in verdict(audited(*others))


def test_a_terminal_shows_the_strongest_checks_and_says_how_many_more_there_are() -> None:
    """A table of 38 rows pushed the verdict off the screen."""
    made = audit(DATA, [probe(DATA, 0.5)], features={f"f{i}": 0.4 + 0.02 * i for i in range(20)})
    every, some = audited_lines(made), audited_lines(made, most=12)
    rows = [line for line in every if line.startswith("  AF")]
    shown = [line for line in some if line.startswith("  AF")]
    assert (len(rows), len(shown)) == (21, 12)
    values = [float(re.split(r" {2,}", row.strip())[1].removesuffix(" %")) for row in (*shown, *rows)]
    assert sorted(values[:12]) == sorted(values[12:])[-12:]
    assert "And 9 weaker. A pipe (`| cat`) gets all of them, and --out keeps them." in some
    assert not [line for line in every if "weaker" in line]


@pytest.mark.parametrize(
    ("names", "is_told"),
    [(("train", "testleak"), True), (("train", "test"), False), (("",), False), (("a", "b"), True)],
)
def test_splits_whose_names_do_not_say_what_they_are_for_are_told(names: tuple[str, ...], is_told: bool) -> None:
    """Copies of training questions in a test split were not looked for, without a word."""
    rows = tuple(replace(one, split=names[i % len(names)]) for i, one in enumerate(DATA.instances))
    lines = further(audit(replace(DATA, instances=rows), [probe(DATA, 0.26)]))
    told = [line for line in lines if "was not asked of probes (AF108)" in line]
    assert bool(told) == is_told
    assert all(f"What the splits {', '.join(sorted(names))} share" in line for line in told)


def test_what_was_found_comes_before_a_larger_gain_that_may_be_luck() -> None:
    """The sentence denied what the table below it found: hits in few groups gain more, and are not sure."""
    sure, unsure = probe(DATA, 0.4), probe(DATA, 0.26, model="fasttext")
    made = audit(DATA, [sure, unsure])
    larger = [
        replace(one, value=0.45, low=0.2, effect=0.3) if one.status == "clear" else one for one in made.diagnostics
    ]
    best = headline(saved_form(replace(made, diagnostics=tuple(larger))))
    assert best is not None
    assert best.status == "found"
    assert best.subject == "options, tfidf"


def test_of_probes_alike_the_plainest_input_is_named() -> None:
    other = probe(DATA, 0.71, input="other-context")
    for share, first in ((0.7, "options, tfidf"), (0.5, "other-context, tfidf")):
        best = headline(saved_form(audit(DATA, [probe(DATA, share), other])))
        assert best is not None
        assert best.subject == first


def test_words_around_a_word_that_is_told_are_left_out() -> None:
    told = [word("no comment", 9.0), word("no", 8.0), word("note", 7.0), word("comment .", 6.0), word("no", 5.0, "x")]
    assert [(one.ngram, one.label) for one in plain_words(told)] == [
        ("no comment", "gold"),
        ("note", "gold"),
        ("comment .", "gold"),
        ("no", "x"),
    ]
    assert plain_words([word("no", 9.0), word("no", -9.0)]) == [word("no", 9.0), word("no", -9.0)]


def test_words_in_random_order_and_all_words_are_no_headline() -> None:
    made = audit(DATA, [probe(DATA, 0.9, input="full"), probe(DATA, 0.8, input="shuffled"), probe(DATA, 0.3)])
    best = headline(saved_form(made))
    assert best is not None
    assert best.subject == "options, tfidf"
    assert headline(saved_form(audit(DATA, []))) is None
    assert "was not asked" in verdict(audit(DATA, []))


def test_a_gain_that_is_real_and_slight_is_called_slight() -> None:
    data = questions(4000, 2)
    said = verdict(audit(data, [probe(data, 0.53)]))
    assert said.startswith("A little more than by guessing: 53.0 % of the questions")


def test_below_chance_is_told_with_how_far_its_opposite_gets() -> None:
    """Questions whose gold a model liked least in half of them were passed as hard: 10 % were right."""
    below = probe(DATA, 0.1)
    opposite = hits(-below.scores, DATA).mean()
    made = audit(DATA, [below])
    lines = further(replace(made, diagnostics=tuple(diagnostics_of([below], DATA, made.groups))))
    (line,) = [one for one in lines if "Below chance, which is a finding too" in one]
    assert "is right in 10.0 % of the instances" in line
    assert f"The option that it finds least likely is right in {100 * opposite:.1f} %" in line
    assert any(one.endswith("with 100.0 %, but for whoever avoids what they like.") for one in lines)


def test_a_feature_that_is_to_be_avoided_is_told_where_none_gains_more() -> None:
    """Writers who were told never to make gold the longest: a gate passed, and no sentence said what they gave away."""
    told = "By one feature alone, shortest, gold is found in 1.0 %"
    lines = further(audit(DATA, [probe(DATA, 0.25)], features={"longest": 0.1, "shortest": 0.01, "first": 0.25}))
    (line,) = [line for line in lines if line.startswith(told)]
    assert line.endswith("where a guess finds 25.0 %: a guess among the other options finds 33.0 % or so.")
    above = further(audit(DATA, [probe(DATA, 0.25)], features={"longest": 0.44, "shortest": 0.01}))
    assert not [line for line in above if line.startswith(told)]


def test_features_words_tiers_and_faults_have_a_sentence_each() -> None:
    made = audit(
        DATA,
        [probe(DATA, 0.7)],
        features={"longest": 0.44, "shortest": 0.1, "first": 0.25},
        others=[integrity()],
        words=[word("never", 6.0), word("the", -9.0)],
    )
    lines = further(made)
    assert lines[0].startswith("One feature alone, longest, is right in 44.0 %")
    assert any(line.startswith("Question by question, the probes settle") for line in lines)
    assert 'The most telling words: "never" (gold), "the" (wrong).' in lines
    assert any(line.startswith("Faults in the data itself: ") for line in lines)
    assert lines[-1] == "Of 5 checks 4 found something, 1 clear."


def test_faults_are_told_with_how_many_instances_have_them() -> None:
    """Two rows of 400 were "wrongly encoded text", as if all were."""
    two = Diagnostic("AF511", "mojibake", "found", 0.005, "share", "", n=400, chance=0.0)
    one = replace(two, subject="lone surrogates", value=0.0025)
    balance = Diagnostic("AF508", "positions", "found", 0.95, "share", "", n=400, chance=0.25)
    lines = further(audit(DATA, [probe(DATA, 0.25)], others=[balance, one, two]))
    assert "Faults in the data itself: labels out of balance; wrongly encoded text in 2 of 400 questions." in lines


def test_a_rule_of_item_writing_has_a_sentence() -> None:
    """That gold was never an extreme stood in the table alone, below a verdict that nothing tells."""
    said = "The smallest and the largest number: wrong in 100 % of 400 questions."
    rule = Diagnostic("AF411", "extremes", "found", 1.0, "accuracy", said, n=400, n_groups=400, chance=0.75, effect=1.0)
    clear = replace(rule, status="clear")
    assert f"By a rule of item writing: {said}" in further(audit(DATA, [probe(DATA, 0.25)], others=[rule]))
    assert not any("item writing" in line for line in further(audit(DATA, [probe(DATA, 0.25)], others=[clear])))


def test_classes_are_labelled() -> None:
    rows = tuple(Instance(str(i), "p", ("t",), i % 2) for i in range(400))
    data = Instances(rows, "classes", ("no", "yes"))
    found = replace(audit(DATA, [probe(DATA, 0.7)]).diagnostics[0], code="AF105", subject="hypothesis, tfidf")
    made = Audit(data, audit(data, []).groups, (found,), (), (), {})
    assert "of the instances (95 %" in verdict(made)
    assert "are labelled rightly from the hypothesis alone, without the premise" in verdict(made)


def test_what_accuracy_hides_is_told_with_each_class_weighed_equally() -> None:
    rows = tuple(Instance(str(i), "p", ("t",), int(i % 10 == 0)) for i in range(400))
    data = Instances(rows, "classes", ("no", "yes"))
    plain = replace(audit(DATA, [probe(DATA, 0.25)]).diagnostics[0], code="AF105", subject="hypothesis, tfidf")
    plain = replace(plain, status="clear", value=0.9, low=0.87, high=0.93, chance=0.9, effect=0.0)
    one = replace(plain, status="found", balanced=Balanced(0.8, 0.7, 0.87, 0.5, "found"))
    other = replace(plain, subject="hypothesis, fasttext")
    made = Audit(data, audit(data, []).groups, (other, one), (), (), {})
    assert verdict(made) == (
        "80.0 % of the instances (95 % interval 70.0 to 87.0 %), each class weighed equally, are labelled rightly from "
        "the hypothesis alone, without the premise, by a linear model over words, one of 2 probes. "
        "Guessing gets 50.0 %."
    )
    assert diagnostic_rows(made.diagnostics)[1][:4] == (
        "AF105 hypothesis, tfidf, each class weighed equally",
        "80.0 %",
        "70.0 to 87.0 %",
        "50.0 %",
    )
    assert not any("below chance" in line.lower() for line in further(made))


def of_unequal(code: str, subject: str, value: float, balanced: Balanced, *, half: float = 0.01) -> Diagnostic:
    """A finding by accuracy, of a class that nine texts in ten have."""
    low, high, effect = value - half, value + half, round((value - 0.9) / 0.1, 6)
    return Diagnostic(code, subject, "found", value, "accuracy", "", low, high, 0.9, effect, 3000, balanced=balanced)


def of_rare(*diagnostics: Diagnostic) -> Audit:
    rows = tuple(Instance(str(i), "p", ("t",), int(i % 10 == 0)) for i in range(40))
    data = Instances(rows, "classes", ("no", "yes"))
    return Audit(data, audit(data, []).groups, diagnostics, (), (), {})


def test_a_split_is_measured_on_the_scale_of_what_it_is_beside() -> None:
    """85.6 % with each class weighed equally, of 50, were more than accuracies of 91.6 %, of 90, for the same model."""
    whole = of_unequal("AF105", "hypothesis, loud", 0.916, Balanced(0.854, 0.81, 0.89, 0.5, "found"))
    split = of_unequal(
        "AF108", "hypothesis, loud, train to val", 0.92, Balanced(0.856, 0.761, 0.917, 0.5, "found"), half=0.03
    )
    assert split.stands_on_balanced
    assert not whole.stands_on_balanced
    assert "published" not in verdict(of_rare(whole, split))
    surely = replace(split, balanced=Balanced(0.96, 0.93, 0.98, 0.5, "found"))
    assert "But the published splits share what tells: 96.0 % of val" in verdict(of_rare(whole, surely))
    equal = replace(split, balanced=None, value=0.96, low=0.93, high=0.98, chance=0.5, effect=0.92)
    assert "But the published splits share what tells: 96.0 % of val" in verdict(of_rare(whole, equal))
    too_few = replace(equal, chance=0.9, effect=0.6, low=0.95)
    assert "published" not in verdict(of_rare(whole, too_few)), "nobody knows how far it gets in each class"


def test_what_is_ranked_is_ranked_on_one_scale() -> None:
    """A feature that was right less often both ways was named, for its smaller gain had more room left."""
    stronger = of_unequal("AF203", "overlap", 0.926, Balanced(0.87, 0.83, 0.90, 0.5, "found"))
    weaker = of_unequal("AF203", "commas", 0.9, Balanced(0.70, 0.65, 0.75, 0.5, "found"))
    best = headline(saved_form(of_rare(weaker, stronger)))
    assert best is not None
    assert best.subject == "overlap"
    rows = diagnostic_rows([weaker, stronger])
    assert [row[0] for row in rows[1:]] == ["AF203 overlap", "AF203 commas, each class weighed equally"]
    likewise = [replace(one, code="AF105", subject=f"hypothesis, {one.subject}") for one in (weaker, stronger)]
    best = headline(saved_form(of_rare(*likewise)))
    assert best is not None
    assert best.subject == "hypothesis, overlap"


def test_a_check_that_is_clear_stands_on_no_figure() -> None:
    """All that an instance shows is a reference, clear whatever it is, and went as a shortcut that accuracy hides."""
    full = of_unequal("AF110", "full, tfidf", 0.9, Balanced(0.8, 0.7, 0.87, 0.5, "found"))
    assert full.stands_on_balanced
    assert not replace(full, status="clear").stands_on_balanced


def test_rows_are_those_asked_for_and_align() -> None:
    made = audit(DATA, [probe(DATA, 0.7)], features={"first": 0.25}, others=[integrity()])
    rows = diagnostic_rows(made.diagnostics)
    assert [row[0] for row in rows] == ["check", "AF101 options, tfidf", "AF501 exact duplicates"]
    assert rows[2][1:4] == ("3", "–", "–")
    assert [row[0] for row in diagnostic_rows(made.diagnostics, ("clear",))] == ["check", "AF201 first"]
    assert len({len(line) for line in table(diagnostic_rows(made.diagnostics, ("found", "clear")))}) <= 2


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        *((0.7134, "accuracy", "71.3 %"), (0.0, "share", "0.0 %"), (0.0004, "share", "0.04 %"), (None, "share", "–")),
        *((1204, "count", "1,204"), (12.61, "z", "12.6")),
    ],
)
def test_figures_have_their_unit(value: float, unit: str, said: str) -> None:
    assert figure(value, unit) == said  # type: ignore[arg-type]


def test_an_interval_names_its_unit_once() -> None:
    one = Diagnostic("AF101", "a", "clear", 0.5, "accuracy", "", low=0.4, high=0.6)
    assert between(one) == "40.0 to 60.0 %"


def test_a_feature_that_is_surely_better_than_every_probe_is_the_headline() -> None:
    made = audit(DATA, [probe(DATA, 0.3)], features={"in most other contexts": 0.6})
    assert "60.0 % of the questions" in verdict(made)
    assert "by one feature alone, in most other contexts" in verdict(made)
    assert not any(line.startswith("One feature alone") for line in further(made))
