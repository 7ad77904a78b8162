"""Options that are right in one question and wrong in another, and which questions folds must keep together for them.

A model that was fitted on a text as a wrong answer avoids it, and so misses it where it is right: across folds that
part such questions, accuracy falls below chance, whatever the options give away. Adversarial Matching makes all so.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from swag_af.data.instances.instances import Instances
from swag_af.data.splits import join_by_text
from swag_af.data.text.wording import text_key

MOST_RECYCLED = 0.35
"""Questions joined by such texts may be this share of all, as in a matching of three folds: two thirds are left to fit
on. Our choice."""


MUCH = 0.1
"""From this share of the questions on, what folds part moves the accuracy of a probe. Our choice."""


def is_much(misled: np.ndarray) -> bool:
    """Whether `misled` (N,) marks so many questions that the accuracy of probes suffers."""
    return bool(misled.mean() >= MUCH)


@dataclass(frozen=True)
class Recycled:
    """Where texts stand that are right in one question and wrong in another."""

    rows: np.ndarray
    """(t,) the question of each such option."""
    keys: np.ndarray
    """(t,) its text, as `text_key` has it."""
    is_gold: np.ndarray
    """(t,) whether it is right there."""
    chances: np.ndarray
    """(t,) how often a guess takes it: 1 / options."""
    shared_rows: np.ndarray
    """(s,) the question of each option that stands in several questions, right or wrong ..."""
    shared_keys: np.ndarray
    """(s,) ... and its text."""

    @property
    def n_texts(self) -> int:
        """How many different texts there are."""
        return len(np.unique(self.keys))

    def misled(self, groups: np.ndarray) -> np.ndarray:
        """(N,) whether the right answer of each question is, in others of `groups` (N,), wrong more than it should be.

        Less than half as often right as an option drawn at random: whoever learns from those groups avoids it.
        """
        n_texts = self.n_texts
        text = np.unique(self.keys, return_inverse=True)[1]  # (t,)
        _, pair = np.unique(text * (int(groups.max(initial=0)) + 1) + groups[self.rows], return_inverse=True)
        right, by_guess = (
            np.bincount(text, what, n_texts)[text] - np.bincount(pair, what)[pair]
            for what in (self.is_gold.astype(float), self.chances)
        )  # (t,) of the other groups
        found = np.zeros(len(groups), bool)
        found[self.rows[self.is_gold & (right < by_guess / 2 - 1e-9)]] = True
        return found

    def joined(self, groups: np.ndarray) -> np.ndarray:
        """`joined_at` these `groups` (N,).

        As they are, where less than `MUCH` of the questions are misled, or no more than half of those would be helped:
        options that recur by themselves mislead a model as often as they guide it.
        """
        if not is_much(self.misled(groups)):
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
        return Recycled(none, none, np.zeros(0, bool), np.zeros(0), none, none)
    key_of = cache(text_key)
    keys = np.array([key_of(text) for text in instances.texts.options], np.int64)  # (M,)
    rows, is_gold = instances.texts.rows, instances.is_gold
    both = np.intersect1d(keys[is_gold], keys[~is_gold])
    once = np.unique(np.stack([keys, rows]), axis=1)[0]  # each text once a question
    text, n_rows = np.unique(once, return_counts=True)
    several = text[(n_rows > 1) & (text != 0)]
    shared = np.isin(keys, several)
    entries = np.flatnonzero(shared & np.isin(keys, both))
    return Recycled(
        rows[entries], keys[entries], is_gold[entries], instances.chance[rows[entries]], rows[shared], keys[shared]
    )
