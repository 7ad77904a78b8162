"""What judges and filters get right in several tries, each with its answer hidden from them.

Letters: `r` questions, `k` tries, `m` options.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from swag_af.auditing.probes.probe import probe
from swag_af.data.errors import InputError
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.tokens import one_after_another
from swag_af.filters.judge.asking import Question, Verdict
from swag_af.filters.judge.judge import JudgeFilter
from swag_af.filters.registry import make_filter


class Voter(Protocol):
    """Somebody who answers questions."""

    anew: ClassVar[str]
    """What another draw changes, in a word."""

    @property
    def name(self) -> str:
        """How reports call it."""

    def hits(self, instances: Instances, rows: np.ndarray, k: int, draw: str, shown: Sequence[str] = ()) -> np.ndarray:
        """(r, k) how far it is right about `rows` in each try: 1, 0, or 1/t where t options tie with gold; 0 for an
        answer that cannot be read, since nothing that was not said may flag a question.

        `draw` names a set of tries; another one is independent of it, as far as the model allows. What was seen in the
        set that `shown` names, one for each row, is not shown again.
        """

    def has_unseen(self, instances: Instances, rows: np.ndarray, k: int, shown: Sequence[str]) -> np.ndarray:
        """(r,) whether there is enough that was not seen for `hits` with `shown`."""

    def said(self) -> list[str]:
        """What is to be told of its answers, a line each."""


def voter_of(name: str, groups: Groups, *, n_folds: int, seed: int) -> Voter:
    """Who goes by this name; InputError where there is none, and for a judge that is told what a recipe decides."""
    made = make_filter(name)
    if isinstance(made, JudgeFilter):
        if made.by not in ("auto", "letter") or made.orders != JudgeFilter.orders:
            raise InputError(
                f"--judge {name}: a recipe asks for letters, in orders of its own. Leave by and orders out."
            )
        made.seed += seed
        return JudgeVoter(made, name)
    return FilterVoter(name, groups, n_folds, seed)


@dataclass(frozen=True)
class JudgeVoter:
    """A judge that is shown all options of a question together, in k orders."""

    anew: ClassVar[str] = "orders"
    judge: JudgeFilter
    name: str
    """As it was asked for, with its address."""

    def hits(self, instances: Instances, rows: np.ndarray, k: int, draw: str, shown: Sequence[str] = ()) -> np.ndarray:
        """As `Voter` says."""
        chosen = [instances.instances[row] for row in rows.tolist()]
        answered = self.judge.verdicts([self.question(one) for one in chosen], draw=draw, n=k, shown=shown)
        pairs = zip(chosen, answered, strict=True)
        return np.array([[hit(verdict, one.answer) for verdict in given] for one, given in pairs]).reshape(-1, k)

    def has_unseen(self, instances: Instances, rows: np.ndarray, k: int, shown: Sequence[str]) -> np.ndarray:
        """As `Voter` says: of two options there are two orders, of three six."""
        pairs = zip((instances.instances[row] for row in rows.tolist()), shown, strict=True)
        return np.array([self.judge.has_unseen(self.question(one), n=k, shown=was) for one, was in pairs], bool)

    def reasons(self, instances: Sequence[Instance], draw: str) -> list[str]:
        """How the judge says it could tell, in a sentence or two, in one order."""
        answered = self.judge.verdicts([self.question(one) for one in instances], draw=draw, n=1, reason=True)
        return [given[0].text for given in answered]

    def question(self, one: Instance) -> Question:
        """What the judge is shown."""
        before = one_after_another(one.context, one.start) if self.judge.see == "full" else ""
        return Question(before, one.options)

    def said(self) -> list[str]:
        """Answers that could not be read, and places preferred."""
        return self.judge.said(unread="count as not right")


def hit(verdict: Verdict, answer: int) -> float:
    """1 where the option `answer` has the largest share, 1/t where t options tie for it, else 0; 0 if unreadable."""
    if not verdict.readable:
        return 0.0
    is_top = verdict.shares >= verdict.shares.max() - ALIKE
    return float(is_top[answer]) / float(is_top.sum())


ALIKE = 1e-9
"""Shares of ties, and sums of them, are equal within this."""


@dataclass(frozen=True)
class FilterVoter:
    """A filter that reads options alone, fitted across folds of whole groups; each try has folds and fits of its
    own."""

    anew: ClassVar[str] = "folds"
    name: str
    groups: Groups
    n_folds: int
    seed: int

    def hits(self, instances: Instances, rows: np.ndarray, k: int, draw: str, shown: Sequence[str] = ()) -> np.ndarray:
        """As `Voter` says; all instances are fitted on, and no other draw has the same fits."""
        first = int(np.random.default_rng((self.seed, *draw.encode())).integers(1 << 31))
        found = [
            probe(instances, "options", self.name, groups=self.groups, n_folds=self.n_folds, seed=first + i).hits
            for i in range(k)
        ]
        if any(len(hits) != len(instances) for hits in found):
            raise InputError(f"--judge {self.name}: cannot answer every question. Choose another.")
        return np.stack(found, axis=1)[rows]

    def is_one_try(self, hits: np.ndarray) -> bool:
        """Whether the tries whose `hits` (N, k) of all instances these are, are one: they agree everywhere, or of one
        alone, another would leave out the same groups."""
        k = hits.shape[1]
        return self.groups.n <= self.n_folds if k == 1 else bool((hits == hits[:, :1]).all())

    def has_unseen(self, instances: Instances, rows: np.ndarray, k: int, shown: Sequence[str]) -> np.ndarray:
        """Always."""
        return np.ones(len(rows), bool)

    def said(self) -> list[str]:
        """Nothing."""
        return []
