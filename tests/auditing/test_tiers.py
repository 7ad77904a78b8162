"""Claims about tiers: luck makes nobody easy, order and sureness do not matter, and weights are the likeliest."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_audits import probe, questions

from swag_af.auditing.outcome import Probe
from swag_af.auditing.tiers import TIERS, Tiers, baseline, numbers_of, partial, tiers_of
from swag_af.data.instances.instances import Instance, Instances


def tiers(probes: list[Probe], instances: Instances) -> Tiers:
    found = tiers_of(probes, instances)
    assert found is not None
    return found


def test_probes_at_chance_make_nobody_easy_though_they_hit() -> None:
    data = questions(400, 2)
    lucky = [probe(data, 0.5, model=f"m{i}", seed=i, sure=4.0) for i in range(3)]
    found = tiers(lucky, data)
    assert (found.solved_by == 3).mean() > 0.05
    assert (found.numbers == TIERS.index("hard")).mean() > 0.97
    assert not (found.numbers == TIERS.index("easy")).any()


@pytest.mark.parametrize("sure", [0.4, 3.0])
def test_how_sure_a_probe_is_of_itself_changes_no_tier(sure: float) -> None:
    data = questions(300)
    one, other = (tiers([probe(data, 0.6, sure=s)], data) for s in (1.0, sure))
    assert (one.numbers == other.numbers).mean() > 0.99
    assert set(one.numbers.tolist()) == {0, 1, 2}


def test_a_probe_that_always_says_chance_changes_nothing() -> None:
    data = questions(200)
    useful = probe(data, 0.6)
    silent = replace(useful, model="silent", scores=np.zeros(4 * len(data)), hits=np.full(len(data), 0.25))
    alone, both = tiers([useful], data), tiers([useful, silent], data)
    assert np.array_equal(alone.numbers, both.numbers)
    assert np.allclose(alone.probability, both.probability, atol=1e-3)


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_neither_rows_nor_probes_have_an_order(seed: int) -> None:
    data = questions(80)
    probes = [probe(data, 0.7, seed=seed), probe(data, 0.4, model="other", seed=seed + 1)]
    order = np.random.default_rng(seed).permutation(len(data))
    mixed = [replace(p, hits=p.hits[order], scores=p.scores.reshape(-1, 4)[order].ravel()) for p in reversed(probes)]
    one, other = tiers(probes, data), tiers(mixed, data.take(order))
    assert np.array_equal(one.numbers[order], other.numbers)
    assert one.weights == pytest.approx(dict(other.weights), abs=1e-3)


@settings(max_examples=10)
@given(st.floats(0.3, 0.8), st.floats(0.2, 0.6), st.integers(0, 99))
def test_the_weights_are_the_likeliest_of_a_grid(first: float, second: float, seed: int) -> None:
    """The slow twin: every pair of weights in steps, one instance after the other."""
    data = questions(40, 3)
    probes = [probe(data, first, seed=seed), probe(data, second, model="other", seed=seed + 1)]

    def centred(scores: np.ndarray) -> np.ndarray:
        by_row = scores.reshape(-1, 3) - scores.reshape(-1, 3).mean(axis=1, keepdims=True)
        return by_row / by_row.std()

    ours = [centred(one.scores) for one in probes]

    def log_likelihood(weights: tuple[float, float]) -> float:
        total = 0.0
        for row, one in enumerate(data.instances):
            odds = [weights[0] * ours[0][row, k] + weights[1] * ours[1][row, k] for k in range(3)]
            total += odds[one.answer] - np.log(np.sum(np.exp(odds)))
        return float(total)

    grid = [i * 0.25 for i in range(17)]
    found = tiers(probes, data).weights
    assert max(found.values()) < 4
    best = max(log_likelihood((a, b)) for a in grid for b in grid)
    assert log_likelihood((found["options, tfidf"], found["options, other"])) >= best - 1e-3


@pytest.mark.parametrize("odd", [False, True])
def test_classes_that_a_probe_cannot_tell_have_their_shares(odd: bool) -> None:
    rows = tuple(Instance(str(i), "", ("text",), int(i % 4 == 0)) for i in range(80))
    data = Instances(rows, "classes", ("no", "yes"))
    scores = np.random.default_rng(0).normal(size=160) if odd else np.zeros(160)
    blind = Probe("hypothesis", "m", "group", np.arange(80), np.zeros(80), np.zeros(80), scores, 5, 0)
    found = tiers([blind], data)
    assert np.allclose(found.probability, baseline(data), atol=0.15 if odd else 1e-3)
    assert not (found.numbers == TIERS.index("easy")).any()


def test_the_cuts_lie_where_the_module_says() -> None:
    four, two = np.full(4, 0.25), np.full(4, 0.5)
    assert numbers_of(np.array([0.51, 0.49, 0.30, 0.28]), four).tolist() == [0, 1, 1, 2]
    assert numbers_of(np.array([0.71, 0.70, 0.54, 0.53]), two).tolist() == [0, 1, 1, 2]


def test_the_hard_tier_is_below_chance_for_its_own_probe_by_construction() -> None:
    data = questions(400)
    own, fresh = probe(data, 0.6, seed=1), probe(data, 0.6, model="fresh", seed=2)
    hard = tiers([own], data).numbers == TIERS.index("hard")
    assert own.hits[hard].mean() < 0.05
    assert fresh.hits[hard].mean() > 0.5


def test_only_parts_read_across_groups_count() -> None:
    data = questions(40)
    counted = probe(data, 0.5)
    others = [probe(data, 0.9, input=input) for input in ("full", "shuffled")]
    others += [probe(data, 0.9, folds="random"), probe(data, 0.9, folds="split")]
    assert partial([counted, *others]) == [counted]
    assert tiers_of(others, data) is None


def test_several_seeds_of_a_probe_count_once() -> None:
    data = questions(40)
    seeds = [replace(probe(data, 0.6, seed=seed), seed=seed) for seed in range(3)]
    found = tiers(seeds, data)
    assert len(found.weights) == 1
    assert np.array_equal(found.solved_by == 1, np.mean([one.hits for one in seeds], axis=0) > 0.5)


def test_without_text_a_class_has_its_share() -> None:
    rows = tuple(Instance(str(i), "", ("text",), int(i % 4 == 0)) for i in range(8))
    data = Instances(rows, "classes", ("no", "yes"))
    assert baseline(data).tolist() == [0.25, 0.75, 0.75, 0.75, 0.25, 0.75, 0.75, 0.75]
