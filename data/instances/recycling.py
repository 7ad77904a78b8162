"""Options that are right in one question and wrong in another, and which questions folds must keep together for them.

A model that was fitted on a text as a wrong answer avoids it, and so misses it where it is right: across folds that
part such questions, accuracy falls below chance, whatever the options give away. Adversarial Matching makes all so.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from swag_af.data.instances.instances import Instances
from swag_af.data.splits import join_by_text, rows_apart
from swag_af.data.text.wording import text_key

MOST_RECYCLED = 0.35
"""Questions joined by such texts may be this share of all, as in a matching of three folds: two thirds are left to fit
on. Our choice."""


@dataclass(frozen=True)
class Recycled:
    """Where texts stand that are right in one question and wrong in another."""

    rows: np.ndarray
    """(t,) the question of each such option."""
    keys: np.ndarray
    """(t,) its text, as `text_key` has it."""

    @property
    def n_texts(self) -> int:
        """How many different texts there are."""
        return len(np.unique(self.keys))

    def apart(self, groups: np.ndarray) -> np.ndarray:
        """(N,) whether each question shares such a text with one of another of `groups` (N,)."""
        return rows_apart(groups, self.rows, self.keys)

    def joined(self, groups: np.ndarray) -> np.ndarray:
        """`groups` (N,) joined wherever questions share such a text; as they are if that makes one too large."""
        whole = join_by_text(groups, self.rows, self.keys, most=MOST_RECYCLED)
        return groups if whole.n_apart else whole.groups


def recycled(instances: Instances) -> Recycled:
    """The options of `instances` that are right in one question and wrong in another; of classes none."""
    if instances.kind == "classes":
        return Recycled(*np.zeros((2, 0), np.int64))
    key_of = cache(text_key)
    keys = np.array([key_of(text) for text in instances.texts.options], np.int64)  # (M,)
    both = np.intersect1d(keys[instances.is_gold], keys[~instances.is_gold])
    entries = np.isin(keys, both[both != 0])
    rows, keys = instances.texts.rows[entries], keys[entries]
    several = rows_apart(np.arange(len(instances)), rows, keys)[rows]  # not only within one question
    return Recycled(rows[several], keys[several])
