"""How often guesses that read nothing are right: of choices one way to guess, of classes two.

    choices    one option drawn at random, anew in each instance
    classes    always the commonest class, as NLVR2's paper counts it; and beside it each class drawn as often as it is
               right, anew in each instance. Always one class makes a contrast set right only where its golds are equal,
               so it is 0 for sets of two different golds, where the drawn ones still get some

Reads no texts and no files.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swag_af.data.instances.instances import Instances


@dataclass(frozen=True, slots=True)
class Chance:
    """How often guesses are right in each of `n` things."""

    usual: np.ndarray
    """(n,) an option at random; of classes always the commonest class."""
    by_shares: np.ndarray | None = None
    """(n,) of classes, drawn by their shares; None of choices."""

    def at(self, rows: Sequence[int] | np.ndarray) -> "Chance":
        """That of the things `rows`."""
        return Chance(self.usual[rows], None if self.by_shares is None else self.by_shares[rows])

    def all_right(self, starts: np.ndarray) -> "Chance":
        """(sets,) that all things of a set are right; a set goes from its place in `starts` to the next."""
        usual = np.multiply.reduceat(self.usual, starts)
        return Chance(usual, None if self.by_shares is None else np.multiply.reduceat(self.by_shares, starts))


def chance_of(instances: Instances) -> Chance:
    """(N,) how often guesses are right in each instance."""
    if instances.kind == "choices":
        return Chance(1 / instances.n_answers)
    usual = (instances.answers == np.bincount(instances.answers).argmax()).astype(float)
    return Chance(usual, class_shares(instances)[instances.answers])


def class_shares(instances: Instances) -> np.ndarray:
    """(classes,) how often each class is right."""
    return np.bincount(instances.answers, minlength=len(instances.classes)) / len(instances)


def drawn_answers(instances: Instances) -> np.ndarray:
    """(M,) how often each answer of each instance is drawn: options alike, classes by their shares."""
    if instances.kind == "classes":
        return np.tile(class_shares(instances), len(instances))
    return np.repeat(1 / instances.n_answers, instances.n_answers)
