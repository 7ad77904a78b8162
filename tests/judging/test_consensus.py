"""Claims about the judgements that models of annotators make, beside the majority's."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from swag_af.cli.main import main
from swag_af.data.disk.files import read_json
from swag_af.data.errors import InputError
from swag_af.judging.agreement import measure
from swag_af.judging.consensus import METHODS, RANKS, judge_by, labels_of, worker_skills
from swag_af.judging.screening import screened
from swag_af.judging.verdicts import RATINGS, Item, Judgement, Verdict, judge, write_verdicts

MODELS = [method for method in METHODS if method != "majority"]


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models that are fitted in a few of their steps, for what must hold after any number: a step costs as much as
    its tables do, of however few rows."""
    from few_steps import fit_in_fewer_steps

    fit_in_fewer_steps(monkeypatch, 25)


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
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_with_one_annotator_an_item_every_method_is_the_majority(method: str, seed: int) -> None:
    said = crowd(seed, n_items=12, n_annotators=4, each=1)
    assert judge_by(method, said) == judge(said)
    assert worker_skills(said, method) == {}


@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize("method", METHODS)
def test_what_all_say_is_what_every_method_says(method: str) -> None:
    one = crowd(1, n_items=30, n_annotators=2, each=1, skill=1.0)
    said = [Verdict(v.item, name, v.ratings, v.best, v.second) for v in one for name in "abc"]
    for found, said_once in zip(judge_by(method, said), judge(one), strict=True):
        assert (found.ratings, found.best, found.second) == (said_once.ratings, said_once.best, said_once.second)
        assert found.n_annotators == 3


@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize("method", METHODS)
def test_neither_the_order_of_verdicts_nor_names_matter(method: str) -> None:
    said = crowd(2, n_items=12, n_annotators=6, each=3)
    names = sorted({v.annotator for v in said})
    other = dict(zip(names, random.Random(0).sample(names, len(names)), strict=True))
    assert sorted(names, key=other.__getitem__) not in (names, names[::-1]), "MACE is fitted in both directions anyway"
    mixed = random.Random(0).sample(said, len(said))
    assert judge_by(method, [replace(v, annotator=other[v.annotator]) for v in mixed]) == judge_by(method, said)


@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize(("method", "n"), [("majority", 50), ("dawid-skene", 2), ("mace", 2)])
def test_a_judgement_moves_with_its_endings_wherever_they_stand(method: str, n: int) -> None:
    for seed in range(n):
        weights = ((3, 2, 1), (1, 0, 0))[seed % 2]  # where all ratings are alike, nothing but ranks is left
        said = mumbling(seed, n_items=40, n_annotators=10, each=2, weights=weights)
        moves = {item: random.Random(f"{seed} {item.id}").sample(range(6), 6) for item in {v.item for v in said}}
        moved_item = {item: moved(item, move) for item, move in moves.items()}
        before = judge_by(method, said, seed=seed % 3)
        after = judge_by(method, [moved_verdict(v, moved_item[v.item], moves[v.item]) for v in said], seed=seed % 3)
        assert after == [moved_judgement(one, moved_item[one.item], moves[one.item]) for one in before]


@pytest.mark.parametrize("method", ["majority", "dawid-skene"])
def test_the_seed_breaks_ties_and_decides_nothing_else(method: str) -> None:
    said = mumbling(1, n_items=60, n_annotators=60, each=2)
    said = [
        v
        for one in said
        for v in (one, replace(one, annotator=f"{one.annotator}'", best=5 - one.best, second=5 - one.second))
    ]
    zero, one = judge_by(method, said), judge_by(method, said, seed=1)
    assert [(j.item, j.ratings, j.likelihoods) for j in zero] == [(j.item, j.ratings, j.likelihoods) for j in one]
    assert [j.best for j in zero] != [j.best for j in one]


def mumbling(
    seed: int, *, n_items: int, n_annotators: int, each: int, weights: tuple[int, ...] = (3, 2, 1)
) -> list[Verdict]:
    """Verdicts by chance, which tie often, on items whose columns stand in any order."""
    rng = random.Random(seed)
    made = []
    for row in range(n_items):
        item = Item(row, tuple(rng.sample(range(12), 6)), rng.randrange(2))
        for name in rng.sample(range(n_annotators), each):
            ratings = tuple(rng.choices(RATINGS, weights, k=6))
            made.append(Verdict(item, f"a{name}", ratings, *rng.sample(range(6), 2)))
    return made


def moved(item: Item, move: list[int]) -> Item:
    """The item with, in each place, the ending that stood in the place that `move` names."""
    return replace(item, columns=tuple(item.columns[i] for i in move))


def moved_verdict(verdict: Verdict, item: Item, move: list[int]) -> Verdict:
    ratings = tuple(verdict.ratings[i] for i in move)
    return replace(
        verdict, item=item, ratings=ratings, best=move.index(verdict.best), second=move.index(verdict.second)
    )


def moved_judgement(judgement: Judgement, item: Item, move: list[int]) -> Judgement:
    ratings, likelihoods = (tuple(values[i] for i in move) for values in (judgement.ratings, judgement.likelihoods))
    best, second = move.index(judgement.best), move.index(judgement.second)
    return replace(judgement, item=item, ratings=ratings, likelihoods=likelihoods, best=best, second=second)


@pytest.mark.parametrize("method", MODELS)
def test_a_model_recovers_the_truth_better_than_the_majority_when_somebody_always_errs(method: str) -> None:
    said = crowd(3, n_items=150, n_annotators=4, each=3, skill=0.75)
    truth = ("likely", "likely", "unlikely", "unlikely", "unlikely", "gibberish")

    def share_right(how: str) -> float:
        return sum(a == b for found in judge_by(how, said) for a, b in zip(found.ratings, truth, strict=True)) / 900

    assert share_right(method) > share_right("majority") + 0.02


@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize("method", METHODS)
def test_who_always_errs_has_the_least_skill(method: str) -> None:
    skills = worker_skills(crowd(4, n_items=60, n_annotators=5, each=3), method)
    assert min(skills, key=lambda name: skills[name]) == "a4"
    assert all(0 <= skill <= 1 for skill in skills.values())


@pytest.mark.usefixtures("few_steps")
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


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_a_side", [1, 2, 3])
def test_two_sides_that_balance_do_not_give_every_item_to_one_of_them(method: str, n_a_side: int) -> None:
    """Half of the annotators always prefer gold, half another ending: a model's first guess must not decide for all."""
    rng = np.random.default_rng(n_a_side)
    verdicts = []
    for row in range(40):
        item, other = Item(row, (0, *rng.permutation(np.arange(1, 40))[:5].tolist())), int(rng.integers(1, 6))
        for side, order in enumerate(((0, other), (other, 0))):
            verdicts += [Verdict(item, f"{side}-{i}", ("likely",) * 6, *order) for i in range(n_a_side)]
    gold_best = sum(judgement.best == 0 for judgement in judge_by(method, verdicts))
    assert 8 <= gold_best <= 32  # of 40; one case in ten thousand is outside


def test_agreement_leaves_out_whom_a_release_leaves_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = crowd(0, n_items=60, n_annotators=4, each=3)
    write_verdicts(tmp_path / "v.jsonl", verdicts, "pool")
    counted = [one for one in verdicts if one.annotator != "a3"]
    for flags, of in (([], counted), (["--no-screen"], verdicts)):
        main(["verify", "agreement", str(tmp_path / "v.jsonl"), "--json", str(tmp_path / "a.json"), "--force", *flags])
        said, found = capsys.readouterr().out, read_json(tmp_path / "a.json")
        assert (f"a3 ({len(verdicts) - len(counted)} verdicts), who ranks gold" in said) is not bool(flags)
        assert found["figures"]["gold_in_top2"]["value"] == measure(of).figures["gold_in_top2"].value
        assert [one["annotator"] for one in found["annotators"]] == ["a0", "a1", "a2", "a3"]
        assert [one["is_screened"] for one in found["annotators"]] == [False, False, False, True]
