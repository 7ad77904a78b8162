"""The slow, obvious twin of AFLite: the published algorithm, an instance and a prediction at a time."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from swag_af.data.instances.instances import Instances
from swag_af.pruning.rounds import Limits

Multisets = dict[int, list[float]]


def aflite(
    instances: Instances, vectors: np.ndarray, groups: np.ndarray, limits: Limits, n_partitions: int, seed: int
) -> list[list[int]]:
    """The rows that each round removes, ascending."""
    left = list(range(len(instances)))
    rounds: list[list[int]] = []
    while len(left) > limits.target and len(left) > limits.fewest:
        number = len(rounds) + 1
        found: Multisets = {row: [] for row in left}
        for rng in np.random.default_rng((seed, number, *b"aflite")).spawn(n_partitions):
            held = _held_out(left, groups, len(left) - limits.fewest, rng)
            train = [row for row in left if row not in held]
            if train:
                _predict(instances, vectors, train, held, found)
        shares = {row: sum(hits) / len(hits) for row, hits in found.items() if hits}
        above = [row for row in left if row in shares and shares[row] >= limits.threshold]
        draws = np.random.default_rng((seed, number, *b"ties")).random(len(above))
        order = sorted(range(len(above)), key=lambda i: (-shares[above[i]], draws[i]))
        most = min(limits.most, len(left) - limits.target)
        gone = sorted(above[i] for i in order[:most])
        rounds.append(gone)
        left = [row for row in left if row not in gone]
        if len(gone) < limits.most:
            break
    return rounds


def _held_out(left: list[int], groups: np.ndarray, n: int, rng: np.random.Generator) -> list[int]:
    """Whole groups in random order until `n` rows are held out."""
    names = sorted({int(groups[row]) for row in left})
    held: list[int] = []
    for i in rng.permutation(len(names)):
        if len(held) < n:
            held += [row for row in left if groups[row] == names[i]]
    return sorted(held)


def _predict(instances: Instances, vectors: np.ndarray, train: list[int], held: list[int], found: Multisets) -> None:
    """Add to the multiset of each row of `held` how far a fit on `train` predicts it."""
    X, y = [], []
    for row in train:
        for k, vector, is_gold in _examples(instances, vectors, row):
            X.append(vector)
            y.append(is_gold if instances.kind == "choices" else k)
    labels = sorted(set(y))
    model = LogisticRegression(max_iter=1000).fit(np.array(X), np.array(y)) if len(labels) > 1 else None
    for row in held:
        answer = instances.instances[row].answer
        if instances.kind == "choices":
            each = [vector for _, vector, _ in _examples(instances, vectors, row)]
            scores = model.decision_function(np.array(each)) if model else np.zeros(len(each))
            best = [k for k, score in enumerate(scores) if score == max(scores)]
        else:
            best = [int(model.predict(vectors[row : row + 1])[0])] if model else labels
        found[row].append(1 / len(best) if answer in best else 0.0)


def _examples(instances: Instances, vectors: np.ndarray, row: int) -> list[tuple[int, np.ndarray, int]]:
    """`(option or class, vector, whether it is gold)` of what a row teaches."""
    one = instances.instances[row]
    if instances.kind == "classes":
        return [(one.answer, vectors[row], 1)]
    first = int(instances.offsets[row])
    return [(k, vectors[first + k], int(k == one.answer)) for k in range(len(one.options))]
