"""Slow, obvious twins of the single features: loops over questions, options and words."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

from swag_af.data.instances.instances import Instances
from swag_af.data.text.wording import comparable
from swag_af.data.tokens import tokenize


def tokens_of(text: str) -> list[str]:
    return [token.lower() for word in text.split() for token in tokenize(word)]


def overlap(instances: Instances) -> list[float]:
    scores = []
    for one in instances.instances:
        before = {*tokens_of(one.context), *tokens_of(one.start)}
        for option in one.options:
            tokens = tokens_of(option)
            scores.append(sum(token in before for token in tokens) / max(1, len(tokens)))
    return scores


def likeness(instances: Instances) -> list[float]:
    options = [tokens_of(option) for one in instances.instances for option in one.options]
    n_with = Counter(token for tokens in options for token in set(tokens))
    scores, at = [], 0
    for one in instances.instances:
        vectors = [_tfidf(tokens, n_with, len(options)) for tokens in options[at : at + len(one.options)]]
        at += len(vectors)
        for i, vector in enumerate(vectors):
            cosines = [sum(w * other.get(t, 0.0) for t, w in vector.items()) for other in vectors]
            scores.append((sum(cosines) - cosines[i]) / max(1, len(vectors) - 1))
    return scores


def _tfidf(tokens: Sequence[str], n_with: Counter[str], n: int) -> dict[str, float]:
    """As scikit-learn has it: idf = 1 + log((1 + n) / (1 + texts with the token)), then length 1."""
    weights = {t: c * (1 + math.log((1 + n) / (1 + n_with[t]))) for t, c in Counter(tokens).items()}
    norm = math.sqrt(sum(w * w for w in weights.values())) or 1.0
    return {t: w / norm for t, w in weights.items()}


def recurrences(instances: Instances) -> list[int]:
    holders = [{comparable(option) for option in one.options} for one in instances.instances]
    return [
        sum(comparable(option) in texts for j, texts in enumerate(holders) if j != i)
        for i, one in enumerate(instances.instances)
        for option in one.options
    ]


def right_elsewhere(instances: Instances, folds: Sequence[int]) -> list[float]:
    scores = []
    for one, fold in zip(instances.instances, folds, strict=True):
        for option in one.options:
            same = [
                k == other.answer
                for other, its in zip(instances.instances, folds, strict=True)
                if its != fold
                for k, text in enumerate(other.options)
                if comparable(text) == comparable(option)
            ]
            scores.append((sum(same) + 1 / len(one.options)) / (len(same) + 1))
    return scores


def surprise(instances: Instances, folds: Sequence[int]) -> list[float]:
    """Interpolated Kneser-Ney trigrams by dictionaries, for each fold a model of the options of the others."""
    types = {t for one in instances.instances for text in (*one.options, one.context) for t in tokens_of(text)}
    scores = []
    for one, fold in zip(instances.instances, folds, strict=True):
        others = [other for other, its in zip(instances.instances, folds, strict=True) if its != fold]
        model = KneserNey({tuple(tokens_of(text)) for other in others for text in other.options}, len(types) + 1)
        for option in one.options:
            history, bits = ["<begin>"], 0.0
            for token in [*tokens_of(option), "<end>"]:
                bits -= math.log2(model.probability(tuple(history[-2:]), token))
                history.append(token)
            scores.append(bits / (len(history) - 1))
    return scores


class KneserNey:
    """A history has two tokens, or one where a text has just begun; counts of lower orders are of kinds."""

    def __init__(self, texts: set[tuple[str, ...]], n_types: int, discount: float = 0.75) -> None:
        self.n_types, self.discount = n_types, discount
        top: Counter[tuple[str, ...]] = Counter()
        for text in texts:
            whole = ("<begin>", *text, "<end>")
            top.update(whole[max(0, at - 2) : at + 1] for at in range(1, len(whole)))
        longer = {3: dict(top)}
        for n in (2, 1):
            kinds: Counter[tuple[str, ...]] = Counter()
            for gram in longer[n + 1]:
                kinds[gram[-n:] if len(gram) >= n else gram] += 1
            longer[n] = dict(kinds)
        self.after: dict[int, dict[tuple[str, ...], dict[str, int]]] = {}
        for n, counts in longer.items():
            table: defaultdict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
            for gram, count in counts.items():
                table[gram[:-1]][gram[-1]] = count
            self.after[n] = table

    def probability(self, history: tuple[str, ...], token: str) -> float:
        p = 1 / self.n_types
        for n in (1, 2, 3):
            counts = self.after[n].get(history[max(0, len(history) - n + 1) :] if n > 1 else ())
            if counts:
                rest = self.discount * len(counts) * p
                p = (max(counts.get(token, 0) - self.discount, 0) + rest) / sum(counts.values())
        return p


def frequent_classes(bins: Sequence[int], labels: Sequence[int], folds: Sequence[int], n: int) -> list[list[float]]:
    shares = []
    for own, fold in zip(bins, folds, strict=True):
        others = [(b, y) for b, y, f in zip(bins, labels, folds, strict=True) if f != fold]
        here, all_ = Counter(y for b, y in others if b == own), Counter(y for _, y in others)
        best = max((here[c], all_[c]) for c in range(n))
        top = [(here[c], all_[c]) == best for c in range(n)]
        shares.append([is_top / sum(top) for is_top in top])
    return shares


def classes_by_share(bins: Sequence[int], labels: Sequence[int], folds: Sequence[int], n: int) -> list[list[float]]:
    """As `frequent_classes`; the class of whose texts the largest share is in the bin."""
    shares = []
    for own, fold in zip(bins, folds, strict=True):
        others = [(b, y) for b, y, f in zip(bins, labels, folds, strict=True) if f != fold]
        here, all_ = Counter(y for b, y in others if b == own), Counter(y for _, y in others)
        each = [Fraction(here[c], all_[c] or 1) for c in range(n)]
        top = [share == max(each) for share in each]
        shares.append([is_top / sum(top) for is_top in top])
    return shares


def moments_of_shuffled(shares: Sequence[Sequence[float]], labels: Sequence[int]) -> tuple[float, float]:
    """Mean and variance of the summed shares at the labels, over all orders of these."""
    sums = [sum(row[y] for row, y in zip(shares, order, strict=True)) for order in permutations(labels)]
    mean = sum(sums) / len(sums)
    return mean, sum((one - mean) ** 2 for one in sums) / len(sums)
