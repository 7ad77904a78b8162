"""Claims about figures of agreement, each held against a slow and obvious twin."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask

from swag_af.judging.agreement import (
    MATCHED,
    NAMES,
    PAPER,
    PAPER_FOUND,
    PAPER_GENERATED,
    agreement_rows,
    annotator_rows,
    consensus_rows,
    distribution_rows,
    measure,
)
from swag_af.judging.consensus import RANKS
from swag_af.judging.reliability import coincidences_of, fleiss, krippendorff
from swag_af.judging.verdicts import RATINGS, Item, Verdict


def crowd(seed: int, *, n_items: int = 12, n_annotators: int = 5, most: int = 4) -> list[Verdict]:
    """Verdicts of 1 to `most` annotators an item, leaning to one truth; items of 3 to 6 endings."""
    rng = random.Random(seed)
    made = []
    for row in range(n_items):
        n = rng.randrange(3, 7)
        item = Item(row, tuple(range(n)))
        for name in rng.sample(range(n_annotators), rng.randrange(1, most + 1)):
            ratings = tuple(RATINGS[min(2, max(0, i // 2 + rng.choice((-1, 0, 0, 1))))] for i in range(n))
            best, second = (0, 1) if rng.random() < 0.5 else rng.sample(range(n), 2)
            made.append(Verdict(item, f"a{name}", ratings, best, second, rng.random() * 60))
    return made


def rank(verdict: Verdict, i: int) -> str:
    return "best" if i == verdict.best else "second" if i == verdict.second else "neither"


def triples(verdicts: list[Verdict], kind: str) -> list[tuple[str, str, int]]:
    """(annotator, ending, label) as nltk wants them."""
    names = RATINGS if kind == "rating" else RANKS
    return [
        (v.annotator, f"{v.item.id} {i}", names.index(v.ratings[i] if kind == "rating" else rank(v, i)))
        for v in verdicts
        for i in range(len(v.ratings))
    ]


def ordinal_distance(labels: list[tuple[str, str, int]]):
    """Krippendorff's ordinal metric over labels of units that were labelled twice."""
    of_unit: dict[str, list[int]] = {}
    for _, unit, label in labels:
        of_unit.setdefault(unit, []).append(label)
    n = [sum(given.count(label) for given in of_unit.values() if len(given) > 1) for label in range(3)]

    def distance(a: int, b: int) -> float:
        low, high = min(a, b), max(a, b)
        return (sum(n[low : high + 1]) - (n[low] + n[high]) / 2) ** 2

    return distance


def pairs(verdicts: list[Verdict]):
    """Two verdicts of one item."""
    return [(a, b) for a, b in itertools.combinations(verdicts, 2) if a.item == b.item]


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_alpha_is_nltk_s(seed: int) -> None:
    said = crowd(seed)
    figures = measure(said).figures
    for kind in ("rating", "rank"):
        labels = triples(said, kind)
        assert figures[f"{kind}_alpha"].value == pytest.approx(AnnotationTask(labels).alpha())
        slow = AnnotationTask(labels, distance=ordinal_distance(labels)).alpha()
        assert figures[f"{kind}_alpha_ordinal"].value == pytest.approx(slow)


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_pairwise_agreement_is_counted_over_pairs(seed: int) -> None:
    said = crowd(seed)
    figures = measure(said).figures
    both = [(a, b, i) for a, b in pairs(said) for i in range(len(a.ratings))]
    rating = np.mean([a.ratings[i] == b.ratings[i] for a, b, i in both])
    ranking = np.mean([rank(a, i) == rank(b, i) for a, b, i in both])
    top2 = np.mean([(rank(a, i) == "neither") == (rank(b, i) == "neither") for a, b, i in both])
    assert figures["rating_pairwise"].value == pytest.approx(rating)
    assert figures["rank_pairwise"].value == pytest.approx(ranking)
    assert figures["top2_pairwise"].value == pytest.approx(top2)


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_kappa_is_fleiss_s_formula_spelled_out(seed: int) -> None:
    said = crowd(seed)
    of_unit: dict[str, list[int]] = {}
    for _, unit, label in triples(said, "rating"):
        of_unit.setdefault(unit, []).append(label)
    units = [labels for labels in of_unit.values() if len(labels) > 1]
    agreed = np.mean([np.mean([a == b for a, b in itertools.combinations(labels, 2)]) for labels in units])
    given_labels = [label for labels in units for label in labels]
    chance = sum((given_labels.count(label) / len(given_labels)) ** 2 for label in range(3))
    assert measure(said).figures["rating_kappa"].value == pytest.approx((agreed - chance) / (1 - chance))


def test_kappa_with_as_many_labels_a_unit_is_nltk_s_pi() -> None:
    rng = random.Random(1)
    both = [
        Verdict(Item(row, (0, 1, 2)), name, tuple(rng.choices(RATINGS, (3, 2, 1), k=3)), 0, 1)
        for row in range(20)
        for name in "ab"
    ]
    slow = AnnotationTask(triples(both, "rating")).pi()
    assert measure(both).figures["rating_kappa"].value == pytest.approx(slow)


def test_kappa_of_fleiss_s_worked_kind_of_table() -> None:
    """Ten units, 14 raters, 5 categories: the example that textbooks print, 0.210."""
    votes = np.array(
        [
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ]
    )
    agreed = ((votes * (votes - 1)).sum(axis=1) / (14 * 13)).mean()
    assert fleiss(agreed, votes.sum(axis=0)) == pytest.approx(0.210, abs=5e-4)


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=8))
def test_a_coincidence_matrix_has_as_many_values_as_labels_that_can_be_paired(votes: list[list[int]]) -> None:
    table = np.array(votes)
    matrix = coincidences_of(table).sum(axis=0)
    assert np.allclose(matrix, matrix.T)
    assert matrix.sum() == pytest.approx(table[table.sum(axis=1) > 1].sum())


def test_perfect_agreement_is_1_and_mere_chance_about_0() -> None:
    rng = np.random.default_rng(0)
    alike = np.eye(3)[rng.integers(3, size=500)] * 2
    assert krippendorff(coincidences_of(alike).sum(axis=0), "ordinal") == pytest.approx(1)
    random_votes = np.eye(3)[rng.integers(3, size=(20000, 2))].sum(axis=1)
    assert abs(krippendorff(coincidences_of(random_votes).sum(axis=0))) < 0.03


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_the_distribution_is_counted_by_type_of_ending(seed: int) -> None:
    said = crowd(seed)
    found = measure(said)
    gold = [(v.ratings[0], rank(v, 0)) for v in said]
    negatives = [(v.ratings[i], rank(v, i)) for v in said for i in range(1, len(v.ratings))]
    for group, figures in ((gold, found.found), (negatives, found.generated)):
        for label, figure in figures.items():
            assert figure.value == pytest.approx(np.mean([label in both for both in group]))
    top2 = found.figures["gold_in_top2"].value
    assert top2 == pytest.approx(np.mean([v.gold_in_top2 for v in said]))


def test_an_annotator_s_row_is_counted_from_their_own_pairs() -> None:
    said = crowd(7)
    for one in measure(said).annotators:
        own = [v for v in said if v.annotator == one.annotator]
        both = [
            (a if a.annotator == one.annotator else b, b if a.annotator == one.annotator else a)
            for a, b in pairs(said)
            if one.annotator in (a.annotator, b.annotator)
        ]
        agreed = [a.ratings[i] == b.ratings[i] for a, b in both for i in range(len(a.ratings))]
        assert one.n_items == len(own)
        assert one.gold_in_top2 == pytest.approx(np.mean([v.gold_in_top2 for v in own]))
        assert one.median_seconds == pytest.approx(np.median([v.seconds for v in own]))
        assert one.rating_pairwise == (pytest.approx(np.mean(agreed)) if agreed else None)


def test_figures_of_one_annotator_an_item_are_not_defined_and_say_so() -> None:
    said = crowd(1, most=1)
    found = measure(said, model="dawid-skene")
    assert found.n_shared_items == 0
    assert {name for name, figure in found.figures.items() if figure.value is None} == set(NAMES) - {"gold_in_top2"}
    text = [cell for row in agreement_rows(found) for cell in row]
    assert text.count("not defined: no item was judged twice") == len(NAMES) - 1


def test_labels_that_are_all_the_same_have_no_alpha() -> None:
    item = Item(0, (0, 1, 2))
    said = [Verdict(item, name, ("likely",) * 3, 0, 1) for name in "ab"]
    found = measure(said)
    assert found.figures["rating_alpha"].value is None
    assert found.figures["rating_pairwise"].value == 1
    assert "not defined: all labels are the same" in [cell for row in agreement_rows(found) for cell in row]


def test_items_that_are_all_alike_give_an_interval_below_all_of_them() -> None:
    """Of 40 items of which all are alike, "100.0 to 100.0 %" claims what 40 cannot."""
    said = [
        Verdict(Item(row, (0, 1, 2)), name, ("likely", "gibberish", "unlikely"), 0, 1)
        for row in range(40)
        for name in "ab"
    ]
    found = measure(said)
    for figure in (found.found["best"], found.figures["rating_pairwise"]):
        assert (figure.value, figure.high) == (1.0, 1.0)
        assert figure.low == pytest.approx(0.907, abs=1e-3)
    assert found.generated["gibberish"].low == pytest.approx(0.421, abs=1e-3)
    assert found.figures["rating_alpha"].low is None


def test_intervals_of_shares_of_few_items_hold_the_truth() -> None:
    """A bootstrap over ten items held it in 87 of 100 samples."""
    held, n = 0, 150
    for seed in range(n):
        rng, said = np.random.default_rng(seed), []
        for row in range(10):
            prefers_gold = rng.beta(2, 0.5)
            best = [0 if rng.random() < prefers_gold else int(rng.integers(2, 6)) for _ in "abc"]
            said += [
                Verdict(Item(row, tuple(range(6))), name, ("likely",) * 6, one, 1)
                for name, one in zip("abc", best, strict=True)
            ]
        share = measure(said).figures["gold_in_top2"]
        assert share.low is not None
        assert share.high is not None
        held += share.low <= 0.8 <= share.high
    assert held >= 0.94 * n


def test_an_interval_holds_its_figure_and_narrows_with_items() -> None:
    few, many = (measure(crowd(3, n_items=n)).figures["rating_pairwise"] for n in (30, 480))
    for figure in (few, many):
        assert figure.low < figure.value < figure.high
    assert many.high - many.low < (few.high - few.low) / 2.5
    assert measure(crowd(3, n_items=480)).figures["rating_pairwise"] == many


def test_intervals_of_agreement_are_of_the_shared_items_alone_and_of_alpha_of_thirty_or_more() -> None:
    """Two items judged twice among 200 had an interval, or none, by the seed."""
    rng = random.Random(0)

    def said(row: int, name: str) -> Verdict:
        best, second = rng.sample(range(3), 2)
        return Verdict(Item(row, (0, 1, 2)), name, tuple(rng.choices(RATINGS, k=3)), best, second)

    alone = [said(row, "z") for row in range(1000, 1200)]
    for n_shared, has_interval in ((2, False), (29, False), (30, True), (40, True)):
        shared = [said(row, name) for row in range(n_shared) for name in "ab"]
        for seed in range(5):
            found, of_shared = measure([*shared, *alone], seed=seed).figures, measure(shared, seed=seed).figures
            assert found["rating_pairwise"].low is not None
            assert (found["rating_alpha"].low is not None) is has_interval
            assert {name: found[name] for name in set(NAMES) - {"gold_in_top2"}} == {
                name: of_shared[name] for name in set(NAMES) - {"gold_in_top2"}
            }
            assert found["gold_in_top2"].low is not None


def test_an_interval_does_not_hang_on_a_resample_that_has_no_figure() -> None:
    """Where one of 40 items has other labels than the rest, a third of the resamples lacks it."""
    said = [Verdict(Item(row, (0, 1, 2)), name, ("likely",) * 3, 0, 1) for row in range(39) for name in "ab"]
    said += [Verdict(Item(39, (0, 1, 2)), name, ("likely", "unlikely", "gibberish"), 0, 1) for name in "ab"]
    said += [Verdict(Item(40, (0, 1, 2)), name, (RATINGS[k], "likely", "likely"), 0, 1) for k, name in enumerate("ab")]
    assert all(measure(said, seed=seed).figures["rating_alpha"].low is not None for seed in range(5))


def test_every_row_is_as_long_as_its_header_and_the_paper_stands_beside() -> None:
    found = measure(crowd(5), model="dawid-skene")
    for rows in (distribution_rows(found), agreement_rows(found), consensus_rows(found), annotator_rows(found)):
        assert {len(row) for row in rows} == {len(rows[0])}
    assert [row[5:] for row in distribution_rows(found)][1] == ["53.5 %", "9.3 %"]
    assert consensus_rows(found)[0] == ["consensus", "majority", "dawid-skene"]


@pytest.mark.parametrize(("sizes", "called"), [((6, 6), "paper"), ((4, 4), "paper, of six endings"), ((6, 4), "")])
def test_the_paper_s_figures_are_said_to_be_of_six_endings_where_items_have_others(
    sizes: tuple[int, ...], called: str
) -> None:
    """By luck an ending is second best in a fourth of four and a sixth of six, which stood beside each other."""
    items = [Item(row, tuple(range(n))) for row, n in enumerate(sizes)]
    found = measure([Verdict(item, name, ("likely",) * len(item.columns), 0, 1) for item in items for name in "ab"])
    paper = called or "paper, of six endings"
    assert agreement_rows(found)[0][-1] == paper
    assert distribution_rows(found)[0][-2:] == [f"{paper}: found", "generated"]


def test_wrong_answers_of_a_matching_are_not_called_generated() -> None:
    found = measure(crowd(5))
    of_here = [*(row[0] for row in consensus_rows(found, MATCHED)), *distribution_rows(found, MATCHED)[0][:5]]
    assert {"right", "wrong", "right ending best", "wrong likely"} <= set(of_here)
    assert not [word for word in of_here if "generated" in word or "found" in word]


def told_of_more(verdicts: list[Verdict]) -> list[list[str]]:
    """What stands below the figures of agreement."""
    return agreement_rows(measure(verdicts))[1 + len(NAMES) :]


def test_verdicts_of_more_people_on_some_items_than_on_others_are_told_below_the_figures() -> None:
    item_of = {name: [Item(row, (0, 1, 2)) for row in range(n)] for name, n in (("a", 9), ("b", 8), ("c", 3))}
    said = [Verdict(item, name, ("likely",) * 3, 0, 1) for name, items in item_of.items() for item in items]
    first, *others = told_of_more(said)
    assert first == ["items judged by more people than others", "3 of 8", "", ""]
    assert [row[1] for row in others] == ["too high", "too low"]
    assert measure(said).n_judged_more == 3


def test_where_each_shared_item_has_as_many_verdicts_nothing_is_told_below_the_figures() -> None:
    items = [Item(row, (0, 1, 2)) for row in range(9)]
    for n in (1, 2):  # the others have one verdict, which nothing agrees with
        said = [Verdict(item, name, ("likely",) * 3, 0, 1) for k, name in enumerate("abc"[:n]) for item in items[k:]]
        assert told_of_more(said) == []


def test_a_third_who_is_asked_on_disagreement_alone_raises_kappa_and_lowers_pairs_and_gold() -> None:
    """What the rows say of the figures, held against a third on every item."""
    rng = random.Random(0)
    every, disputed = [], []
    for row in range(600):
        item, clear = Item(row, (0, 1, 2, 3)), rng.random()
        tops = [(0, 1) if rng.random() < clear else tuple(rng.sample(range(4), 2)) for _ in range(3)]
        said = [Verdict(item, f"a{k}", ("likely",) * 4, *top) for k, top in enumerate(tops)]
        every += said
        disputed += said[: 2 if said[0].best == said[1].best else 3]
    full, partly = measure(every), measure(disputed)
    assert partly.figures["rank_kappa"].value > full.figures["rank_kappa"].value + 0.02
    for name in ("rank_pairwise", "top2_pairwise", "gold_in_top2"):
        assert partly.figures[name].value < full.figures[name].value - 0.005, name


def test_the_paper_s_alphas_follow_from_its_agreement_when_they_are_nominal() -> None:
    """Which metric the paper does not say; with Table 2's shares, nominal ones come within its rounding or near it."""
    shares = [[PAPER_FOUND[label], *[PAPER_GENERATED[label]] * 5] for label in (*RANKS, *RATINGS)]
    of_label = np.mean(shares, axis=1)  # (6,)
    ranking = 1 - (1 - PAPER["rank_pairwise"]) / (1 - (of_label[:3] ** 2).sum())
    likelihood = 1 - (1 - PAPER["rating_pairwise"]) / (1 - (of_label[3:] ** 2).sum())
    assert ranking == pytest.approx(PAPER["rank_alpha"], abs=0.015)
    assert likelihood == pytest.approx(PAPER["rating_alpha"], abs=0.03)


def test_an_interval_about_nothing_has_no_negative_nothing() -> None:
    """Its end, -0.004, was told as -0.00."""
    agreement = measure(crowd(0, n_items=80))
    name = next(name for name, one in agreement.figures.items() if one.low is not None and "alpha" in name)
    about = replace(agreement.figures[name], value=-0.004, low=-0.004, high=0.12)
    rows = agreement_rows(replace(agreement, figures={**agreement.figures, name: about}))
    assert [tuple(row[1:3]) for row in rows if "0.00 to 0.12" in row] == [("0.00", "0.00 to 0.12")]
    assert not any("-0.00" in cell for row in rows for cell in row)
