"""AFLite removes what was planted, little by luck, and just what the published algorithm removes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow.aflite import aflite

from swag_af.data.instances.instances import Instance, Instances
from swag_af.pruning import aflite as module
from swag_af.pruning.aflite import AFLite, Linear
from swag_af.pruning.by_probes import ByProbes
from swag_af.pruning.rounds import Limits, Round, above_by_luck, choose, left_after, rounds_of, shuffled


def make(kind: str, n: int, *, seed: int = 0, planted: float = 0.0) -> tuple[Instances, np.ndarray, np.ndarray]:
    """`n` instances, vectors of five numbers, and which instances have gold told by the first of them."""
    rng = np.random.default_rng(seed)
    is_planted = rng.random(n) < planted
    rows, vectors = [], []
    for i in range(n):
        m = int(rng.integers(2, 5)) if kind == "choices" else 1
        answer = int(rng.integers(m if kind == "choices" else 3))
        each = rng.normal(size=(m, 5))
        if is_planted[i]:
            each[:, 0] = np.where(np.arange(m) == answer, 4, -4) if kind == "choices" else 4 * (answer - 1)
        vectors.append(each)
        texts = tuple(f"text {i} {k}" for k in range(m))
        rows.append(Instance(f"q{i}", f"context {i}", texts, answer))
    data = Instances(tuple(rows), "choices") if kind == "choices" else Instances(tuple(rows), "classes", tuple("abc"))
    return data, np.concatenate(vectors).astype(np.float32), is_planted


def removed(rounds: list[Round]) -> np.ndarray:
    return np.concatenate([one.removed for one in rounds])


@settings(max_examples=15)
@given(
    st.sampled_from(["choices", "classes"]),
    st.integers(0, 1000),
    st.integers(12, 26),
    st.sampled_from([0.4, 0.75, 1.0]),
    st.integers(1, 4),
    st.sampled_from([0, 15]),
    st.booleans(),
)
def test_it_removes_what_the_published_algorithm_removes(
    kind: str, seed: int, n: int, threshold: float, most: int, target: int, alone: bool
) -> None:
    data, vectors, _ = make(kind, n, seed=seed, planted=0.6)
    groups = np.arange(n) if alone else np.arange(n) // 3
    limits = Limits(threshold, most, target, fewest=n // 2)
    rounds = rounds_of(AFLite(data, vectors, groups, n // 2, 4, seed), limits)
    assert [one.removed.tolist() for one in rounds] == aflite(data, vectors, groups, limits, 4, seed)


@pytest.mark.parametrize("kind", ["choices", "classes"])
def test_what_is_planted_goes_first_and_more_often(kind: str) -> None:
    data, vectors, is_planted = make(kind, 240, planted=0.4)
    rounds = rounds_of(AFLite(data, vectors, np.arange(240), 60, 16), Limits(0.75, 12, fewest=60))
    assert is_planted[rounds[0].removed].mean() > 0.75
    gone = np.isin(np.arange(240), removed(rounds))
    assert gone[is_planted].mean() > 3 * gone[~is_planted].mean()


def test_luck_removes_little_where_there_are_several_options() -> None:
    data, vectors, _ = make("choices", 300, planted=0.5)
    measure, limits = AFLite(data, vectors, np.arange(300), 60, 32), Limits(0.75, 15, fewest=60)
    n_luck = np.median(above_by_luck(measure, limits))
    assert n_luck < 0.1 * 300
    assert rounds_of(measure, limits)[0].n_above > 3 * n_luck


def test_shuffled_labels_say_nothing_of_the_old_ones() -> None:
    data, _, _ = make("choices", 400)
    other = shuffled(data, rng=np.random.default_rng(3))
    assert other.texts.options == data.texts.options
    assert (other.answers == data.answers).mean() == pytest.approx(data.chance.mean(), abs=0.08)
    classes, _, _ = make("classes", 400)
    assert sorted(shuffled(classes, rng=np.random.default_rng(3)).answers.tolist()) == sorted(classes.answers.tolist())


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from([0.0, 0.5, 0.75, 0.9, 1.0, float("nan")]), min_size=1, max_size=20),
    st.integers(1, 8),
    st.integers(0, 20),
    st.integers(0, 9),
)
def test_a_round_takes_the_most_predictable_and_keeps_its_bounds(
    values: list[float], most: int, target: int, seed: int
) -> None:
    target = min(target, len(values) - 1)
    predictability, limits = np.array(values), Limits(0.75, most, target)
    chosen = choose(predictability, limits, rng=np.random.default_rng(seed))
    assert len(chosen) <= most
    assert len(values) - len(chosen) >= target
    assert (predictability[chosen] >= 0.75).all()
    stays = np.setdiff1d(np.flatnonzero(predictability >= 0.75), chosen)
    assert not len(stays) or not len(chosen) or predictability[stays].max() <= predictability[chosen].min()
    assert not len(stays) or len(chosen) == min(most, len(values) - target)


def test_rounds_end_when_fewer_are_left_than_may_go_or_the_target_is_met() -> None:
    data, vectors, _ = make("choices", 200, planted=0.5)
    measure = AFLite(data, vectors, np.arange(200), 50, 8)
    rounds = rounds_of(measure, Limits(0.75, 10, fewest=50))
    assert all(len(one.removed) == 10 for one in rounds[:-1])
    assert len(rounds[-1].removed) < 10
    short = rounds_of(measure, Limits(0.75, 10, target=175, fewest=50))
    assert len(left_after(short, 200, len(short))) == 175


def test_a_group_stands_on_one_side_and_only_labels_of_the_fitted_side_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, vectors, _ = make("classes", 60)
    groups, seen = np.arange(60) // 4, []

    class Watching(Linear):
        def fit(self, entries: np.ndarray, labels: np.ndarray, n_labels: int, *, rng: np.random.Generator) -> None:
            seen.append((entries, labels))
            super().fit(entries, labels, n_labels, rng=rng)

        def score(self, entries: np.ndarray) -> np.ndarray:
            assert not set(groups[entries]) & set(groups[seen[-1][0]])
            return super().score(entries)

    monkeypatch.setattr(module, "Linear", Watching)
    AFLite(data, vectors, groups, 20, 6).predictability(np.arange(60), 1)
    assert len(seen) == 6
    assert all(len(entries) <= 20 and np.array_equal(labels, data.answers[entries]) for entries, labels in seen)


@pytest.mark.parametrize("kind", ["choices", "classes"])
def test_a_label_changes_no_prediction_of_its_own_row(kind: str) -> None:
    """With other labels of one row, that row is right or wrong by the same predictions: of classes the shares of the
    three add up to 1."""
    data, vectors, _ = make(kind, 40, planted=0.3)
    n_answers = int(data.n_answers[7])
    shares = []
    for answer in range(n_answers):
        rows = [replace(one, answer=answer) if i == 7 else one for i, one in enumerate(data.instances)]
        other = replace(data, instances=tuple(rows))
        shares.append(AFLite(other, vectors, np.arange(40), 20, 9).predictability(np.arange(40), 1)[7])
    assert sum(shares) == pytest.approx(1)


def test_probes_choose_what_gives_itself_away_and_nothing_where_nothing_does() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for i in range(160):
        answer, tells = int(rng.integers(4)), i % 2 == 0
        options = [" ".join(rng.choice([f"w{k}" for k in range(40)], 5)) for _ in range(4)]
        options[answer] += " indeed" if tells else ""
        rows.append(Instance(f"q{i}", f"context {i}", tuple(options), answer))
    data = Instances(tuple(rows), "choices")
    measure = ByProbes(data, np.arange(160), ["options"], ["tfidf"])
    found = rounds_of(measure, Limits(0.5, 20, fewest=20))
    assert (removed(found) % 2 == 0).mean() > 0.95
    assert len(removed(found)) > 40
    assert max(above_by_luck(measure, Limits(0.5, 20))) <= 3
