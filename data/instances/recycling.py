"""Options that are right in one question and wrong in another, and which questions folds must keep together for them.

A model that was fitted on a text as a wrong answer avoids it, and so misses it where it is right: across folds that
part such questions, accuracy falls below chance, whatever the options give away. Adversarial Matching makes all so.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from swag_af.data.instances.instances import Instances
from swag_af.data.splits import join_by_text
from swag_af.data.text.wording import option_key

MOST_RECYCLED = 0.35
"""Questions joined by such texts may be this share of all, as in a matching of three folds: two thirds are left to fit
on. Our choice."""


MUCH = 0.1
"""From this share of the questions on, what folds part moves the accuracy of a probe. Our choice."""


@dataclass(frozen=True)
class Recycled:
    """Where texts stand that are right in one question and wrong in another, and all that stand in several."""

    rows: np.ndarray
    """(t,) the question of each option that is right in one question and wrong in another ..."""
    keys: np.ndarray
    """(t,) ... and its text, as `option_key` has it."""
    shared_rows: np.ndarray
    """(s,) the question of each option that stands in several questions, right or wrong, ..."""
    shared_keys: np.ndarray
    """(s,) ... its text, ..."""
    shared_numbers: np.ndarray
    """(s,) ... and its place among the options of the question."""
    answers: np.ndarray
    """(N,) the place of the right one ..."""
    n_options: np.ndarray
    """(N,) ... of so many."""

    @property
    def n_texts(self) -> int:
        """How many different texts are right in one question and wrong in another."""
        return len(np.unique(self.keys))

    def misled(self, groups: np.ndarray) -> np.ndarray:
        """(N,) whether the right answer of each question is, in others of `groups` (N,), wrong more than it should be.

        Less than half as often right as an option drawn at random: whoever learns from those groups avoids it.
        """
        is_gold = self.answers[self.shared_rows] == self.shared_numbers  # (s,)
        right, by_guess = self._elsewhere(groups, is_gold, 1 / self.n_options[self.shared_rows])
        found = np.zeros(len(groups), bool)
        found[self.shared_rows[is_gold & (right < by_guess / 2 - 1e-9)]] = True
        return found

    def misled_by_luck(self, groups: np.ndarray) -> float:
        """The share of questions that `misled` would mark if labels were drawn by lot, on average.

        Where options recur, many golds are not right again in the few other places, and no harm is done: others are
        right there more often than a guess. Of options of questions with different numbers of them the mean is taken.
        """
        from scipy.special import bdtr

        chance = 1 / self.n_options[self.shared_rows]  # (s,) that an entry is gold
        n, by_guess = self._elsewhere(groups, np.ones(len(chance)), chance)
        fewer = (np.ceil(by_guess / 2 - 1e-9) - 1).astype(np.int64)  # right so often at most
        n_elsewhere = np.maximum(n.astype(np.int64), 1)
        is_misled = bdtr(np.maximum(fewer, 0), n_elsewhere, by_guess / n_elsewhere) * (fewer >= 0)
        return round(float((chance * is_misled).sum()) / max(1, len(groups)), 9)

    def misleads(self, groups: np.ndarray) -> bool:
        """Whether probes suffer by what folds of `groups` (N,) part: `MUCH` more than by luck, and surely more."""
        share, by_luck = float(self.misled(groups).sum()) / max(1, len(groups)), self.misled_by_luck(groups)
        return share - by_luck >= max(MUCH, 2 * (by_luck * (1 - by_luck) / max(1, len(groups))) ** 0.5)

    def _elsewhere(self, groups: np.ndarray, *each: np.ndarray) -> list[np.ndarray]:
        """(s,) the sum of each of the values (s,) over the entries of the same text in other groups."""
        _, text = np.unique(self.shared_keys, return_inverse=True)
        _, pair = np.unique(text * (int(groups.max(initial=0)) + 1) + groups[self.shared_rows], return_inverse=True)
        return [np.round(np.bincount(text, one)[text] - np.bincount(pair, one)[pair], 9) for one in each]

    def joined(self, groups: np.ndarray) -> np.ndarray:
        """`joined_at` these `groups` (N,).

        As they are, where less than `MUCH` of the questions are misled, or no more than half of those would be helped:
        options that recur by themselves mislead a model as often as they guide it.
        """
        if self.misled(groups).mean() < MUCH:
            return groups
        whole = self.joined_at(groups)
        return whole if self.misled(whole).sum() < self.misled(groups).sum() / 2 else groups

    def joined_at(self, groups: np.ndarray) -> np.ndarray:
        """`groups` (N,) joined where questions share an option, but for common ones (`join_by_text`).

        Whatever an option is, right or wrong, it joins: if only those that are right here and wrong there did, folds
        would part just the questions that agree, and a model would be right more often than a guess where labels were
        drawn by lot.
        """
        return join_by_text(groups, self.shared_rows, self.shared_keys, most=MOST_RECYCLED).groups


def recycled(instances: Instances) -> Recycled:
    """The options of `instances` that are right in one question and wrong in another; of classes none."""
    if instances.kind == "classes":
        none = np.zeros(0, np.int64)
        return Recycled(none, none, none, none, none, none, none)
    key_of = cache(option_key)
    keys = np.array([key_of(text) for text in instances.texts.options], np.int64)  # (M,)
    rows, is_gold = instances.texts.rows, instances.is_gold
    both = np.intersect1d(keys[is_gold], keys[~is_gold])
    once = np.unique(np.stack([keys, rows]), axis=1)[0]  # each text once a question
    text, n_rows = np.unique(once, return_counts=True)
    several = text[(n_rows > 1) & (text != 0)]
    shared = np.flatnonzero(np.isin(keys, several))
    entries = shared[np.isin(keys[shared], both)]
    numbers = shared - instances.offsets[rows[shared]]
    return Recycled(
        rows[entries], keys[entries], rows[shared], keys[shared], numbers, instances.answers, instances.n_answers
    )
