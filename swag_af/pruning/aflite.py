"""AFLite: an instance is as predictable as linear classifiers find it that were not fitted on it.

Sakaguchi et al. 2020 ("WinoGrande", algorithm 1) and Le Bras et al. 2020 ("Adversarial Filters of Dataset Biases").
`n_partitions` times the set is parted at random, a linear classifier is fitted on one part, on fixed features, and
predicts the other. Predictability is the share of the times that an instance was held out in which it was predicted
rightly. Which instances are removed is decided in `rounds`.

Where we differ, and why: whole groups stand on one side (`groups` of one instance each are the published version, and
give away to the classifier what two instances of one video share); of a question with options, each option is a row,
and it is predicted rightly as far as gold has the highest score, a tie shared.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from swag_af.auditing.probes.models import ByEntry, answers_of
from swag_af.auditing.ranking import hits
from swag_af.data.instances.instances import Instances
from swag_af.data.splits import hold_out, renumbered
from swag_af.filters.contract import class_logits


class Linear:
    """Logistic regression on fixed vectors, scikit-learn's defaults; multinomial where there are more than two labels.

    A learner as in `swag_af.auditing.probes.models`: it knows the entries by their numbers.
    """

    def __init__(self, vectors: np.ndarray):
        """`vectors` (q, D) of all entries."""
        self.table = vectors

    def fit(self, entries: np.ndarray, labels: np.ndarray, n_labels: int, *, rng: np.random.Generator) -> None:
        """Learn `labels` (p,) of `entries` (p,); draws nothing."""
        from sklearn.linear_model import LogisticRegression

        self.found, self.n_labels = np.unique(labels), n_labels
        self.regression: Any = None
        if len(self.found) > 1:
            self.regression = LogisticRegression(max_iter=1000).fit(self.table[entries], labels)

    def score(self, entries: np.ndarray) -> np.ndarray:
        """(p, n_labels) logits."""
        if self.regression is None:
            return class_logits(np.zeros((len(entries), 1)), self.found, self.n_labels)
        logits = self.regression.decision_function(self.table[entries]).astype(np.float64)
        return class_logits(logits, self.found, self.n_labels)


@dataclass(frozen=True)
class AFLite:
    """How predictable the instances of a set are, round after round."""

    instances: Instances
    features: np.ndarray
    """(M, D) of choices, (N, D) of classes."""
    groups: np.ndarray
    """(N,) what partitions keep whole."""
    n_train: int
    """Instances that each fit is given, at most: whole groups are held out until no more are left."""
    n_partitions: int = 64
    seed: int = 0

    def predictability(self, rows: np.ndarray, round: int) -> np.ndarray:
        """(r,) the share of the partitions holding each of `rows` (r,) out that predict it; NaN where none did.

        Depends on seed and round, and on nothing that happened before.
        """
        right, n_held = np.zeros((2, len(self.instances)))
        scorer = ByEntry(self.instances.texts, Linear(self.features))
        groups = renumbered(self.groups[rows])
        for rng in np.random.default_rng((self.seed, round, *b"aflite")).spawn(self.n_partitions):
            train, held = hold_out(groups, len(rows) - self.n_train, rng=rng)
            if len(train):
                right[rows[held]] += self._hits(scorer, rows[train], rows[held], rng)
                n_held[rows[held]] += 1
        shares = np.full(len(rows), np.nan)
        np.divide(right[rows], n_held[rows], out=shares, where=n_held[rows] > 0)
        return shares

    def _hits(self, scorer: ByEntry, train: np.ndarray, held: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(h,) how far each of `held` (h,) is predicted rightly by a fit on `train`, of which alone it sees labels."""
        scores = np.zeros(int(self.instances.offsets[-1]))
        found = scorer.fit_score(train, self.instances.answers[train], held, rng=rng)
        scores[answers_of(held, self.instances.offsets)] = found
        return hits(scores, self.instances)[held]
