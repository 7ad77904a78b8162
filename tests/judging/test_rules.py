"""Claims about the rules of Zellers et al. 2018, 3.5 and A.4: what becomes of an item that people have judged."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_af.judging.rules import (
    LEFT_OUT,
    distractors_of,
    found_example,
    found_examples,
    generated_example,
    generated_is_preferred,
    gold_is_preferred,
    likeliest_last,
    most_distractors,
    second_examples,
    why_not_found,
    why_not_second,
)
from swag_af.judging.verdicts import RATINGS, Item, Judgement

COLUMNS = (0, 11, 12, 13, 14, 15)
LIKELIHOODS = (0.9, 0.5, 0.1, 0.7, 0.3, -0.2)


def judged(ratings="lluuuu", best=0, second=1, *, row=0, round_=0, likelihoods=LIKELIHOODS) -> Judgement:
    """A judgement; ratings by their first letters."""
    word = {rating[0]: rating for rating in RATINGS}
    item = Item(row, COLUMNS, round_)
    return Judgement(item, tuple(word[letter] for letter in ratings), likelihoods, best, second, 1)


@st.composite
def judgements(draw: st.DrawFn, *, row: int = 0, round_: int = 0) -> Judgement:
    ratings = "".join(draw(st.lists(st.sampled_from("luug"), min_size=6, max_size=6)))
    best, second = draw(st.permutations(range(6)))[:2]
    likelihoods = tuple(draw(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=6, max_size=6)))
    return judged(ratings, best, second, row=row, round_=round_, likelihoods=likelihoods)


# ------------------------------------------------------------------------------- found examples (3.5)


@pytest.mark.parametrize(("best", "second", "kept"), [(0, 3, True), (3, 0, True), (3, 4, False)])
def test_the_found_ending_is_gold_when_best_or_second_best(best: int, second: int, kept: bool) -> None:
    assert gold_is_preferred(judged(best=best, second=second)) is kept
    assert (why_not_found(judged(best=best, second=second), 3) is None) is kept


@pytest.mark.parametrize(("ratings", "reason"), [("luuggg", "too_few_sensible"), ("luuugg", None)])
def test_three_or_fewer_sensible_endings_are_no_example(ratings: str, reason: str | None) -> None:
    assert why_not_found(judged(ratings), 2) == reason


@given(judgements(), st.integers(0, 6))
def test_the_second_best_is_a_distractor_only_where_the_others_are_too_few(one: Judgement, fewest: int) -> None:
    without, kept = set(distractors_of(one)), set(distractors_of(one, fewest))
    assert kept - without <= {one.second}
    assert kept == without or len(without) < fewest
    assert not kept & {0, one.best}


def test_where_wrong_answers_were_matched_all_four_options_may_make_a_question() -> None:
    one = judged("luuu", best=0, second=2)
    assert found_examples([one], 1, 3)[1]["too_few_distractors"] == 1
    ((example, _),), _ = found_examples([one], 1, 3, keep_second=True)
    assert set(example.distractors) == {COLUMNS[place] for place in (1, 2, 3)}
    assert found_examples([judged("luuu", best=2, second=0)], 1, 3, keep_second=True)[1]["too_few_distractors"] == 1
    assert found_examples([judged("luu", best=0, second=1)], 1, 2, keep_second=True)[1]["not_judged"] == 0


def test_a_gold_that_is_gibberish_is_left_out() -> None:
    assert why_not_found(judged("gluuuu"), 3) == "gold_gibberish"


def test_an_example_short_of_distractors_is_left_out() -> None:
    assert why_not_found(judged("luuugg", best=0, second=1), 3) == "too_few_distractors"
    assert why_not_found(judged("luuuug", best=0, second=1), 3) is None


@given(judgements())
def test_distractors_are_the_generated_endings_that_are_not_gibberish_nor_among_the_best_two(one: Judgement) -> None:
    out = {0, one.best, one.second} | {i for i, rating in enumerate(one.ratings) if rating == "gibberish"}
    assert set(distractors_of(one)) == set(range(6)) - out


@given(judgements())
def test_there_are_at_most_four_distractors_when_gold_is_preferred(one: Judgement) -> None:
    if gold_is_preferred(one):
        assert len(distractors_of(one)) <= 4


def test_the_second_best_option_is_filtered_out_of_the_distractors() -> None:
    assert 2 not in distractors_of(judged(best=0, second=2))  # A.4


# ------------------------------------------------------------------------------- the fourth distractor (A.4)


@given(judgements())
def test_the_last_distractor_is_the_likeliest(one: Judgement) -> None:
    ordered = [one.likelihoods[place] for place in likeliest_last(distractors_of(one), one)]
    assert ordered == sorted(ordered)


@given(judgements(), st.permutations(range(6)))
def test_the_order_of_distractors_does_not_hang_on_their_places(one: Judgement, move: list[int]) -> None:
    item = replace(one.item, columns=tuple(COLUMNS[i] for i in move))
    other = replace(one, item=item, likelihoods=tuple(one.likelihoods[i] for i in move))
    ordered = likeliest_last(range(6), one)
    assert [COLUMNS[place] for place in ordered] == [item.columns[place] for place in likeliest_last(range(6), other)]
    assert likeliest_last([place for place in ordered if place > 2], one) == [place for place in ordered if place > 2]


def test_each_of_several_distractors_of_one_likelihood_may_be_the_last() -> None:
    alike = [judged(row=row, likelihoods=(0.0,) * 6) for row in range(40)]
    assert {likeliest_last([2, 4, 5], one)[-1] for one in alike} == {2, 4, 5}


def test_a_found_example_has_its_fourth_distractor_last() -> None:
    example = found_example(judged("llulug", best=0, second=5))
    assert example.distractors == (12, 14, 11, 13)
    assert example.distractor_ratings == ("unlikely", "unlikely", "likely", "likely")
    assert (example.answer, example.answer_rating) == (0, "likely")


# ------------------------------------------------------------------------------- rounds (footnote 6)


@pytest.mark.parametrize(
    ("best", "second", "round_", "source"),
    [(0, 3, 0, "gold0-orig"), (3, 0, 0, "gold1-orig"), (0, 3, 1, "gold0-reannot"), (3, 0, 2, "gold1-reannot")],
)
def test_the_source_says_how_gold_ranked_and_whether_it_was_shown_again(best, second, round_, source) -> None:
    assert found_example(judged(best=best, second=second, round_=round_)).source == source


def test_a_refilled_round_counts_where_the_first_failed() -> None:
    found, left_out = found_examples([judged("luuggg"), judged(round_=1)], 1, 3)
    assert [example.source for example, _ in found] == ["gold0-reannot"]
    assert not left_out


def test_the_first_round_counts_where_it_made_a_question() -> None:
    found, _ = found_examples([judged(round_=1, best=3, second=4), judged()], 1, 3)
    assert [example.source for example, _ in found] == ["gold0-orig"]


def test_a_row_that_never_makes_a_question_is_left_out_for_its_last_reason() -> None:
    found, left_out = found_examples([judged("luuggg"), judged(best=3, second=4, round_=1)], 1, 3)
    assert not found
    assert left_out == Counter(gold_not_preferred=1)


@given(st.lists(st.one_of(st.none(), judgements()), max_size=8), st.integers(1, 4))
def test_every_row_is_a_question_or_counted_once(drawn: list[Judgement | None], n_distractors: int) -> None:
    given_ = [judged_of_row(one, row) for row, one in enumerate(drawn) if one is not None]
    found, left_out = found_examples(given_, len(drawn), n_distractors)
    assert len(found) + left_out.total() == len(drawn)
    assert set(left_out) <= set(LEFT_OUT)
    assert left_out["not_judged"] == sum(one is None for one in drawn)
    for example, _ in found:
        assert len(example.distractors) >= n_distractors
        assert 0 not in example.distractors


def test_of_a_row_shown_with_two_sets_of_endings_none_may_reject_gold() -> None:
    """Whichever of two sets made a question was released, though people had rejected gold beside the other."""
    taken, other = judged(), Item(0, (0, 11, 12, 13, 14, 16))
    for rejecting, reason in ((judged(best=3, second=4), "gold_not_preferred"), (judged("gluuuu"), "gold_gibberish")):
        rejected = replace(rejecting, item=other)
        for both in ([taken, rejected], [rejected, taken]):
            assert found_examples(both, 1, 3) == ([], Counter({reason: 1}))
    found, left_out = found_examples([taken, replace(judged(), item=other)], 1, 3)
    assert (len(found), left_out) == (1, Counter())


@pytest.mark.parametrize("keep_second", [False, True])
@pytest.mark.parametrize("n_negatives", range(1, 6))
def test_no_verdict_gives_more_distractors_than_are_said_to_be_possible(n_negatives: int, keep_second: bool) -> None:
    def makes(n_distractors: int) -> bool:
        item, ratings = Item(0, tuple(range(n_negatives + 1))), ("likely",) * (n_negatives + 1)
        pairs = [(best, second) for best in range(n_negatives + 1) for second in range(n_negatives + 1)]
        said = [Judgement(item, ratings, (0.0,) * len(ratings), *pair, 1) for pair in pairs if len({*pair}) == 2]
        return any(found_examples([one], 1, n_distractors, keep_second=keep_second)[0] for one in said)

    possible = [n for n in range(1, 7) if makes(n)]
    assert max(possible, default=0) == most_distractors(n_negatives, keep_second=keep_second)


def judged_of_row(one: Judgement, row: int) -> Judgement:
    return Judgement(Item(row, COLUMNS), one.ratings, one.likelihoods, one.best, one.second, 1)


# ------------------------------------------------------------------------------- second examples (3.5, footnote 5)


@pytest.mark.parametrize(("best", "second", "is_so"), [(3, 0, True), (0, 3, False), (3, 4, False)])
def test_a_generated_ending_answers_when_it_is_best_and_gold_second(best: int, second: int, is_so: bool) -> None:
    assert generated_is_preferred(judged(best=best, second=second)) is is_so


@given(judgements())
def test_a_second_example_has_the_best_ending_and_the_remaining_generations(one: Judgement) -> None:
    if generated_is_preferred(one):
        example = generated_example(one)
        assert (example.answer, example.source) == (COLUMNS[one.best], "gen-orig")
        assert sorted(example.distractors) == sorted(COLUMNS[place] for place in distractors_of(one))
        assert 0 not in example.distractors


@pytest.mark.parametrize(
    ("split", "reason"), [("train", None), ("val", "evaluation_context"), ("test", "evaluation_context")]
)
def test_contexts_of_the_evaluation_sets_have_no_second_example(split: str, reason: str | None) -> None:
    one = judged(best=3, second=0)
    assert why_not_second(one, split) == reason
    second, left_out = second_examples([(found_example(one), one)], {0: split})
    assert len(second) == (reason is None)
    assert left_out == (Counter() if reason is None else Counter([reason]))


def test_a_generated_ending_that_is_gibberish_answers_nothing() -> None:
    assert why_not_second(judged("lluguu", best=3, second=0), "train") == "generated_gibberish"


def test_only_first_rounds_make_second_examples() -> None:
    again = judged(best=3, second=0, round_=1)
    assert second_examples([(found_example(again), again)], {0: "train"}) == ([], Counter())


def test_where_nobody_judged_there_is_no_second_example() -> None:
    assert second_examples([(found_example(judged()), None)], {0: "train"}) == ([], Counter())
