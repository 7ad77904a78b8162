"""Claims about accuracy by stage and part, consistency and sensitivity."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_scores import choices, classes, paired_classes, pairs, same_gold, staged
from slow.scoring import consistency, right_by_drawing, sensitivity

from swag_af import scores_of
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.numbers.interval import interval, ratio_interval
from swag_af.scoring.figures import clusters_of
from swag_af.scoring.outcome import Score
from swag_af.scoring.told import figure_rows


def tied_scores(instances: Instances, seed: int) -> np.ndarray:
    """Few different scores, so that many tie."""
    return np.random.default_rng(seed).integers(0, 3, int(instances.offsets[-1])).astype(float)


def shares_of(instances: Instances, scores: np.ndarray) -> np.ndarray:
    parts = np.split(scores, instances.offsets[1:-1])
    return np.concatenate([(part == part.max()) / (part == part.max()).sum() for part in parts])


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_consistency_and_sensitivity_are_what_one_counts_over_all_ties(seed: int) -> None:
    instances = pairs(12, seed=seed)
    scores = tied_scores(instances, seed)
    shares, rows = shares_of(instances, scores), [(2 * i, 2 * i + 1) for i in range(12)]
    found = scores_of(instances, scores)
    assert found.figure("consistency").value == pytest.approx(consistency(instances, shares, rows), abs=1e-8)
    differing, both = sensitivity(instances, shares, rows)
    one = found.figure("sensitivity")
    assert (one.n if one.n_expected is None else one.n_expected) == pytest.approx(differing, abs=1e-8)
    value = found.figure("sensitivity").value
    assert (value is None) if differing == 0 else value == pytest.approx(both / differing, abs=1e-8)


def test_right_answers_are_right_in_every_figure() -> None:
    for instances in (choices(), pairs(), classes(), staged()):
        found = scores_of(instances, instances.answers)
        assert scores_of(instances, instances.answers.tolist()) == found
        assert {one.value for one in found.figures if one.kind == "share"} == {1.0}


def test_lists_of_arrays_are_read_and_what_does_not_fit_is_refused() -> None:
    """A list that was turned round was right in another share, since its numbers were as many in all."""
    several = (Instance(f"q{i}", f"Question {i}?", tuple("abcd"[: 2 + i % 3]), i % 2) for i in range(40))
    instances = Instances(tuple(several), "choices")
    scores = np.random.default_rng(0).random(int(instances.offsets[-1]))
    parts = np.split(scores, instances.offsets[1:-1])
    expected = scores_of(instances, scores).figures
    ragged = np.empty(len(parts), object)
    ragged[:] = parts
    for listed in (parts, [part.tolist() for part in parts], tuple(parts), ragged):
        assert scores_of(instances, listed).figures == expected
    whole = [(10 * part).astype(int) for part in parts]
    assert scores_of(instances, whole).figures == scores_of(instances, [part.astype(float) for part in whole]).figures
    n = len(instances)
    for wrong in ({"parts": {"length": ["short"] * (n - 1)}}, {"groups": np.zeros(n + 1, int)}):
        with pytest.raises(InputError, match=rf"{next(iter(wrong))[:5]}|length: .* for {n} instances"):
            scores_of(instances, scores, **wrong)
    for shifted in (parts[1:] + parts[:1], parts[:-1], parts[::-1]):
        with pytest.raises(InputError, match="lists of other lengths"):
            scores_of(instances, shifted)
    unknown = scores.copy()
    unknown[0] = np.nan
    with pytest.raises(InputError, match="no numbers"):
        scores_of(instances, unknown)
    with pytest.raises(InputError, match="texts are given"):
        scores_of(instances, ["yes"] * n)


def test_chance_is_that_of_each_instance() -> None:
    of_pairs = scores_of(pairs(), pairs().answers)
    assert of_pairs.figure("consistency").chance == pytest.approx(1 / 16)
    assert of_pairs.figure("sensitivity").chance == pytest.approx(1 / 12)
    of_stages = scores_of(staged(), staged().answers)
    assert [(one.name, one.chance) for one in of_stages.figures[1:]] == [
        ("Q->A", 0.25),
        ("QA->R", 0.25),
        ("Q->AR", 0.0625),
    ]


def test_chance_of_classes_is_always_the_commonest() -> None:
    instances = classes()
    always = scores_of(instances, np.ones(len(instances), int))
    for name in ("accuracy", "consistency"):
        assert always.figure(name).value == pytest.approx(always.figure(name).chance)


def test_random_answers_reach_the_chance_of_consistency_and_sensitivity() -> None:
    instances = pairs(3000)
    found = scores_of(instances, np.random.default_rng(1).integers(4, size=len(instances)))
    for name in ("consistency", "sensitivity", "original accuracy", "contrast accuracy"):
        one = found.figure(name)
        assert one.low is not None
        assert one.high is not None
        assert one.chance is not None
        assert one.low < one.chance < one.high


def test_predictions_are_the_same_by_text_and_not_by_number() -> None:
    """A model that always says "red" never differs, wherever "red" stands."""
    instances = pairs()
    red = np.array([one.options.index("red") for one in instances.instances])
    assert scores_of(instances, red).figure("sensitivity").value is None
    assert scores_of(instances, red).figure("sensitivity").n == 0


def test_edited_options_are_compared_by_number() -> None:
    instances = pairs()
    edited = tuple(
        replace(one, options=tuple(f"{text} {one.variant}" for text in one.options)) for one in instances.instances
    )
    first = np.zeros(len(edited), int)
    assert scores_of(replace(instances, instances=edited), first).figure("sensitivity").n == 0


def test_numbers_of_edited_options_that_were_drawn_are_no_answers() -> None:
    """Where gold has a column of its own, pairs whose golds had drawn the same number were left out, and others that
    had counted as the same prediction, by lot."""
    instances = pairs(40)
    edited = tuple(
        replace(one, options=tuple(f"{text} {one.variant}" for text in one.options)) for one in instances.instances
    )
    drawn = replace(instances, instances=edited, has_order=False)
    assert any(drawn.answers[::2] == drawn.answers[1::2])
    right, wrong = (scores_of(drawn, given).figure("sensitivity") for given in (drawn.answers, (drawn.answers + 1) % 4))
    assert (right.value, right.n, right.n_left_out, right.chance) == (1.0, 40, 0, 1 / 16)
    assert (wrong.value, wrong.n) == (0.0, 40)


def test_numbers_of_the_same_options_may_be_drawn() -> None:
    """Then the text says what is the same."""
    instances = same_gold(pairs(), 5)
    drawn = replace(instances, has_order=False)
    given = np.random.default_rng(0).integers(4, size=len(drawn))
    assert scores_of(drawn, given).figures == scores_of(instances, given).figures


def test_consistency_takes_sets_of_any_size() -> None:
    instances = classes(30)
    answers = instances.answers.copy()
    answers[0] = 1 - answers[0]
    found = scores_of(instances, answers)
    assert found.figure("consistency").value == 0.9
    assert found.figure("consistency").n == 10


def test_contrasts_less_originals_is_the_difference_of_the_two_accuracies() -> None:
    """An original counted once for each of its contrasts, so that the sign could be another."""
    ones = [
        Instance(f"{s}-{v}", f"Q {s}-{v}?", (f"a{s}{v}", f"b{s}{v}"), 0, contrast_set=f"s{s}", variant=kind)
        for s in range(12)
        for v, kind in enumerate(("original", *["contrast"] * (1 + s % 3)))
    ]
    instances = Instances(tuple(ones), "choices")
    answers = np.random.default_rng(0).integers(0, 2, len(ones))
    found = scores_of(instances, answers)
    original, contrast, less = (
        found.figure(name).value for name in ("original accuracy", "contrast accuracy", "contrast less original")
    )
    assert original is not None
    assert contrast is not None
    assert less == pytest.approx(contrast - original, abs=1e-5)


def test_sets_without_a_contrast_are_not_counted_where_contrasts_are_compared() -> None:
    """They were: 12 sets, of which 4 have one."""
    every = pairs(12).instances
    some = tuple(one for i, one in enumerate(every) if one.variant == "original" or i < 8)
    instances = Instances(some, "choices")
    assert scores_of(instances, instances.answers).figure("contrast less original").n == 4


def test_two_contrasts_without_their_original_are_no_pair() -> None:
    ones = [
        Instance(f"{s}-{v}", f"Q {s}-{v}?", (f"a{s}", f"b{s}"), v, contrast_set=f"s{s}", variant=kind)
        for s in range(6)
        for v, kind in enumerate(("contrast", "contrast"))
    ]
    for kind, is_paired in (("contrast", False), ("", True)):
        instances = Instances(tuple(replace(one, variant=kind) for one in ones), "choices")
        names = {one.name for one in scores_of(instances, instances.answers).figures}
        assert ("sensitivity" in names) == is_paired


def test_all_stages_takes_questions_that_have_all() -> None:
    instances = staged()
    fewer = replace(instances, instances=instances.instances[:-1])
    found = scores_of(fewer, fewer.answers)
    assert found.figure("Q->AR").n == 11
    assert found.figure("Q->A").n == 11


def test_missing_answers_are_wrong_in_sensitivity_too() -> None:
    """Pairs without an answer were left out: of those that a model was sure of, it got 100 %."""
    instances = pairs()
    answers = instances.answers.copy()
    answers[::2] = -1
    found = scores_of(instances, answers)
    assert found.n_missing == 20
    assert found.figure("accuracy").value == 0.5
    sensitivity = found.figure("sensitivity")
    assert (sensitivity.n, sensitivity.value) == (20, 0.0)


def in_order(score: Score) -> tuple[object, ...]:
    return score.figures, score.parts, score.groups, score.spread


@pytest.mark.parametrize("make", [choices, pairs, classes, staged])
def test_the_order_of_rows_does_not_matter(make: Callable[[], Instances]) -> None:
    instances = make()
    scores = tied_scores(instances, 3)
    order = np.random.default_rng(5).permutation(len(instances))
    moved = np.concatenate([scores[instances.offsets[row] : instances.offsets[row + 1]] for row in order])
    assert in_order(scores_of(instances, scores)) == in_order(scores_of(instances.take(order), moved))


def test_intervals_keep_contrast_sets_and_questions_together() -> None:
    without = [replace(one, group="", context=f"{i}") for i, one in enumerate(pairs(10).instances)]
    assert clusters_of(replace(pairs(10), instances=tuple(without))).n == 10
    linked = Instances(
        tuple(
            Instance(f"{i}", f"Who {i}?", (f"a{i}", f"b{i}"), 0, group=f"g{i % 2}", contrast_set="s" if i < 2 else "")
            for i in range(20)
        ),
        "choices",
    )
    assert clusters_of(linked).n == 1
    assert clusters_of(linked).said == "1 group, named by the dataset, contrast sets kept together"
    asked = [replace(one, group="", context=f"{i}") for i, one in enumerate(staged(6).instances)]
    assert clusters_of(replace(staged(6), instances=tuple(asked))).n == 6


@given(st.integers(0, 10_000))
@settings(max_examples=40)
def test_a_ratio_of_whole_counts_has_the_interval_of_the_share(seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = rng.integers(2, size=60).astype(float)
    part = whole * rng.integers(2, size=60)
    groups = rng.integers(8, size=60)
    if whole.any():
        counted = whole == 1
        numbers = np.unique(groups[counted], return_inverse=True)[1]
        assert ratio_interval(part, whole, groups) == pytest.approx(interval(part[counted], numbers))


def test_groups_that_differ_by_luck_alone_spread_as_luck_does() -> None:
    instances = choices(4000, n_groups=100)
    found = scores_of(instances, np.random.default_rng(2).integers(4, size=4000))
    assert found.spread is not None
    assert found.spread.deviation == pytest.approx(found.spread.by_luck, rel=0.25)
    values = [one.value for one in found.groups]
    assert values == sorted(values)
    assert sum(one.n for one in found.groups) == 4000


def test_hits_that_ties_share_vary_less_by_luck() -> None:
    """Luck was that of answers which are right or wrong: 1.7 times as much where two of four tie."""
    instances = choices(4000, n_groups=100)
    pairs_tie = np.random.default_rng(2).integers(2, size=4000)
    found = scores_of(instances, [[i, i, 1 - i, 1 - i] for i in pairs_tie.tolist()])
    assert found.spread is not None
    assert found.spread.by_luck == pytest.approx(0.25 / np.sqrt(40), rel=0.01)  # hits are 0 or 1/2
    assert found.spread.deviation == pytest.approx(found.spread.by_luck, rel=0.25)


def test_sensitivity_is_told_with_what_it_is_divided_by() -> None:
    """Beside a share of 41.25 stood 49, the pairs that may differ."""
    one = Instance("a", "", ("x", "y"), 0, contrast_set="s", variant="original")
    instances = Instances((one, replace(one, id="b", answer=1, variant="contrast")), "choices")
    found = scores_of(instances, [[1.0, 1.0], [0.0, 1.0]])
    assert (found.figure("sensitivity").n, found.figure("sensitivity").n_expected) == (1, 0.5)
    assert next(row for row in figure_rows([found]) if row[0] == "sensitivity")[2] == "0.50 pairs that differ"


def test_splits_are_parts() -> None:
    instances = choices(40)
    halves = [replace(one, split="val" if i % 2 else "test") for i, one in enumerate(instances.instances)]
    found = scores_of(replace(instances, instances=tuple(halves)), instances.answers)
    assert [(one.part, one.n) for one in found.parts] == [("split: test", 20), ("split: val", 20)]
    assert scores_of(instances, instances.answers).parts == ()


def test_arrays_of_another_shape_are_refused() -> None:
    instances = choices()
    for wrong in (np.zeros(3, int), np.full(40, 4), np.full(40, -2), np.zeros(40)):
        with pytest.raises(InputError, match="data: "):
            scores_of(instances, wrong)


def test_the_first_row_of_vcr_cs_is_reproduced_from_predictions() -> None:
    """ViLBERT's row: 100, 66 and 34 of 159 pairs, and 34 of the 67 whose predictions differ (Kim et al. 2023)."""
    instances = pairs(159)
    said = []
    for i in range(159):
        one, other = instances.instances[2 * i : 2 * i + 2]
        first, second = one.options[one.answer], other.options[other.answer]
        wrong = next(text for text in one.options if text not in (first, second))
        said += (
            [first, second] if i < 34 else [first, wrong] if i < 67 else [first, first] if i < 100
            else [second, second] if i < 132 else [wrong, wrong]
        )  # fmt: skip
    chosen = np.array([one.options.index(text) for one, text in zip(instances.instances, said, strict=True)])
    found = scores_of(instances, chosen)
    names = ("original accuracy", "contrast accuracy", "consistency", "sensitivity")
    values = [100 * (found.figure(name).value or 0) for name in names]
    assert values == pytest.approx([62.89, 41.51, 21.38, 50.75], abs=0.005)
    assert found.figure("sensitivity").n == 67


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_pairs_with_one_right_answer_twice_are_left_out_of_sensitivity(seed: int) -> None:
    instances = same_gold(pairs(12, seed=seed), 5)
    scores = tied_scores(instances, seed)
    differing, both = sensitivity(instances, shares_of(instances, scores), [(2 * i, 2 * i + 1) for i in range(12)])
    found = scores_of(instances, scores).figure("sensitivity")
    assert found.n_left_out == 5
    assert (found.value is None) if differing == 0 else found.value == pytest.approx(both / differing, abs=1e-8)


def test_right_answers_are_sensitive_though_some_pairs_have_one_twice() -> None:
    instances = same_gold(pairs(), 5)
    found = scores_of(instances, instances.answers).figure("sensitivity")
    assert (found.value, found.n, found.n_left_out) == (1.0, 15, 5)


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_chance_by_class_shares_is_what_one_counts_over_all_draws(seed: int) -> None:
    instances = paired_classes(15, seed=seed)
    shares = (np.bincount(instances.answers, minlength=3) / 30).tolist()
    found = scores_of(instances, instances.answers)
    golds = instances.answers.tolist()
    assert found.figure("accuracy").chance_by_shares == pytest.approx(
        np.mean([right_by_drawing([gold], shares) for gold in golds])
    )
    of_pairs = [right_by_drawing(golds[i : i + 2], shares) for i in range(0, 30, 2)]
    assert found.figure("consistency").chance_by_shares == pytest.approx(np.mean(of_pairs))
    differ = [p for p, i in zip(of_pairs, range(0, 30, 2), strict=True) if golds[i] != golds[i + 1]]
    if differ:
        expected = np.mean(differ) / (1 - sum(share**2 for share in shares))
        assert found.figure("sensitivity").chance_by_shares == pytest.approx(expected)
    assert found.figure("sensitivity").chance is None


def test_a_fair_coin_reaches_the_chance_by_class_shares_of_consistency() -> None:
    """Two opposite classes in every set: always one class is never consistent, a coin in a quarter of the sets."""
    instances = classes(6000)
    opposite = [
        replace(one, answer=i % 2, contrast_set=f"s{i // 2}", group=f"s{i // 2}")
        for i, one in enumerate(instances.instances)
    ]
    instances = replace(instances, instances=tuple(opposite))
    found = scores_of(instances, np.random.default_rng(0).integers(2, size=6000)).figure("consistency")
    assert (found.chance, found.chance_by_shares) == (0.0, 0.25)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.25 < found.high
