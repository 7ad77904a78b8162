"""Claims about the judgements that models of annotators make, beside the majority's."""

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from swag_af.consensus import METHODS, RANKS, judge_by, labels_of, screened, worker_skills
from swag_af.data.errors import InputError
from swag_af.verdicts import RATINGS, Item, Verdict, judge

MODELS = [method for method in METHODS if method != "majority"]


def crowd(seed: int, *, n_items: int, n_annotators: int, each: int, skill: float = 0.8) -> list[Verdict]:
    """Verdicts of annotators who say the truth about an ending with probability `skill`, the last one of whom never."""
    rng = random.Random(seed)
    truth = ("likely", "likely", "unlikely", "unlikely", "unlikely", "gibberish")
    made = []
    for row in range(n_items):
        item = Item(row, tuple(range(6)))
        for name in rng.sample(range(n_annotators), each):
            right = skill if name < n_annotators - 1 else 0.0
            ratings = tuple(
                rating if rng.random() < right else rng.choice([r for r in RATINGS if r != rating]) for rating in truth
            )
            best, second = (0, 1) if rng.random() < right else rng.sample(range(2, 6), 2)
            made.append(Verdict(item, f"a{name}", ratings, best, second))
    return made


def verdict(row: int, annotator: str, best: int = 0) -> Verdict:
    return Verdict(Item(row, tuple(range(6))), annotator, ("likely",) * 6, best, 1 if best == 0 else 3)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_with_one_annotator_an_item_every_method_is_the_majority(method: str, seed: int) -> None:
    said = crowd(seed, n_items=12, n_annotators=4, each=1)
    assert judge_by(method, said) == judge(said)
    assert worker_skills(said, method) == {}


@pytest.mark.parametrize("method", METHODS)
def test_what_all_say_is_what_every_method_says(method: str) -> None:
    one = crowd(1, n_items=30, n_annotators=2, each=1, skill=1.0)
    said = [Verdict(v.item, name, v.ratings, v.best, v.second) for v in one for name in "abc"]
    for found, said_once in zip(judge_by(method, said), judge(one), strict=True):
        assert (found.ratings, found.best, found.second) == (said_once.ratings, said_once.best, said_once.second)
        assert found.n_annotators == 3


@pytest.mark.parametrize("method", METHODS)
def test_neither_the_order_of_verdicts_nor_names_matter(method: str) -> None:
    said = crowd(2, n_items=12, n_annotators=6, each=3)
    mixed = random.Random(0).sample(said, len(said))
    judged = judge_by(method, said)
    assert judge_by(method, mixed) == judged
    renamed = [Verdict(v.item, f"z{9 - int(v.annotator[1])}", v.ratings, v.best, v.second) for v in said]
    for found, as_before in zip(judge_by(method, renamed), judged, strict=True):
        assert (found.ratings, found.best, found.second) == (as_before.ratings, as_before.best, as_before.second)
        assert found.likelihoods == pytest.approx(as_before.likelihoods, abs=0.05)


@pytest.mark.parametrize("method", MODELS)
def test_a_model_recovers_the_truth_better_than_the_majority_when_somebody_always_errs(method: str) -> None:
    said = crowd(3, n_items=150, n_annotators=4, each=3, skill=0.75)
    truth = ("likely", "likely", "unlikely", "unlikely", "unlikely", "gibberish")

    def share_right(how: str) -> float:
        return sum(a == b for found in judge_by(how, said) for a, b in zip(found.ratings, truth, strict=True)) / 900

    assert share_right(method) > share_right("majority") + 0.02


@pytest.mark.parametrize("method", METHODS)
def test_who_always_errs_has_the_least_skill(method: str) -> None:
    skills = worker_skills(crowd(4, n_items=60, n_annotators=5, each=3), method)
    assert min(skills, key=lambda name: skills[name]) == "a4"
    assert all(0 <= skill <= 1 for skill in skills.values())


@pytest.mark.parametrize("method", METHODS)
def test_items_with_fewer_endings_have_judgements_of_their_size(method: str) -> None:
    said = crowd(5, n_items=20, n_annotators=4, each=3)
    short = Item(99, (0, 4, 7))
    said += [Verdict(short, name, ("likely", "unlikely", "unlikely"), 0, 2) for name in ("a0", "a1")]
    last = judge_by(method, said)[-1]
    assert (last.item, len(last.ratings), last.best, last.second) == (short, 3, 0, 2)


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(InputError, match="no way to agree called 'guess'"):
        judge_by("guess", [])


def test_labels_are_the_verdicts_spelled_out() -> None:
    said = crowd(6, n_items=7, n_annotators=3, each=2)
    labels = labels_of(said)
    spelled = {
        (labels.items[i], labels.annotators[a], int(place), RATINGS[rating], RANKS[rank])
        for i, a, place, rating, rank in zip(
            labels.item, labels.annotator, labels.place, labels.rating, labels.rank, strict=True
        )
    }
    assert spelled == {
        (v.item, v.annotator, i, v.ratings[i], "best" if i == v.best else "second" if i == v.second else "neither")
        for v in said
        for i in range(6)
    }


@given(
    n_items=st.integers(1, 30), n_good=st.integers(0, 30), min_items=st.integers(1, 20), min_rate=st.floats(0.05, 0.95)
)
@example(n_items=25, n_good=14, min_items=10, min_rate=0.56)  # 0.56 * 25 is a little more than 14
def test_who_misses_gold_too_often_is_screened_and_nobody_before_their_time(
    n_items: int, n_good: int, min_items: int, min_rate: float
) -> None:
    n_good = min(n_good, n_items)
    said = [verdict(row, "a", best=0 if row < n_good else 2) for row in range(n_items)]
    is_bad = n_items >= min_items and n_good / n_items < min_rate
    assert screened(said, min_items=min_items, min_rate=min_rate) == ({"a"} if is_bad else set())


def test_the_paper_s_threshold_is_55_per_cent_over_10_items() -> None:
    assert screened([verdict(row, "a", best=2 * (row >= 5)) for row in range(10)]) == {"a"}
    assert screened([verdict(row, "a", best=2 * (row >= 6)) for row in range(10)]) == set()
    assert screened([verdict(row, "a", best=2) for row in range(9)]) == set()
