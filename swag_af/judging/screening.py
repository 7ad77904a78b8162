"""Who is screened out: annotators who rank gold among their two best too seldom (Zellers et al. 2018, A.5).

How seldom depends on how often luck puts it there, and so on how many endings the items have that they judged
(`needed_share`). All that screens, or says below what, asks here.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from swag_af.data.numbers.percent import from_to, in_percent
from swag_af.judging.verdicts import N_ENDINGS, Verdict

MIN_ITEMS = 10
"""Items that an annotator may do before anything is held against them (Zellers et al. 2018, A.5)."""
MIN_RATE = Fraction(55, 100)
"""Annotators who rank gold among their two best of six less often lose their qualification (Zellers et al. 2018,
A.5)."""

NOBODY_SCREENED = "Of two endings gold is always among the best two, so that screening by it drops nobody."
"""What to say where no item has more endings."""


@dataclass(frozen=True, slots=True)
class GoldCount:
    """How often an annotator ranked gold among their two best."""

    n_gold: int
    n_of: Mapping[int, int]
    """Items judged, by the number of their endings."""

    @property
    def n_items(self) -> int:
        """Items judged."""
        return sum(self.n_of.values())

    @property
    def share(self) -> float:
        """Share of the items with gold among the best two."""
        return self.n_gold / self.n_items

    @property
    def chance(self) -> float:
        """That share by luck."""
        return chance_of(self.n_of)

    @property
    def needed(self) -> float:
        """The share below which they are dropped."""
        return needed_share(self.n_of)


def chance_of(n_of: Mapping[int, int]) -> float:
    """How often luck puts gold among the best two: 2/k of k endings, and the mean over items of several numbers.

    `n_of` counts items by the number of their endings.
    """
    return float(_chance(n_of))


def needed_share(n_of: Mapping[int, int]) -> float:
    """The share of items with gold among the two best below which an annotator is dropped, if no user gives another.

    It is as far between chance and 1 as MIN_RATE is for the paper's six endings: 0.55 of these, 0.66 of four, 0.775 of
    three. Of two it is 1, and nobody is below. `n_of` counts items by the number of their endings.
    """
    from_one = (1 - MIN_RATE) / (1 - Fraction(2, N_ENDINGS))
    return float(1 - (1 - _chance(n_of)) * from_one)


def _chance(n_of: Mapping[int, int]) -> Fraction:
    """Exact, so that a share that just reaches what is needed is enough."""
    return sum((Fraction(2 * n, size) for size, n in n_of.items()), Fraction(0)) / sum(n_of.values())


def gold_counts(verdicts: Sequence[Verdict]) -> dict[str, GoldCount]:
    """How often each annotator ranked gold among their two best."""
    n_gold = Counter(verdict.annotator for verdict in verdicts if verdict.gold_in_top2)
    n_of: dict[str, Counter[int]] = {}
    for verdict in verdicts:
        n_of.setdefault(verdict.annotator, Counter())[len(verdict.item.columns)] += 1
    return {name: GoldCount(n_gold[name], of) for name, of in n_of.items()}


def screened(verdicts: Sequence[Verdict], *, min_items: int = MIN_ITEMS, min_rate: float | None = None) -> set[str]:
    """Annotators to drop: gold among their two best on less than `min_rate` of `min_items` items or more, or, if none
    is given, on less than `needed_share` says.

    Nobody is dropped before they have judged `min_items`, however badly.
    """
    return {
        name
        for name, one in gold_counts(verdicts).items()
        if one.n_items >= min_items and one.share < (one.needed if min_rate is None else min_rate)
    }


def counted_of(verdicts: Sequence[Verdict], *, screen: bool = True) -> tuple[list[Verdict], frozenset[str]]:
    """The verdicts that count, and the annotators whose do not: none without `screen`."""
    dropped = frozenset(screened(verdicts)) if screen else frozenset[str]()
    return [verdict for verdict in verdicts if verdict.annotator not in dropped], dropped


def screens_nobody(verdicts: Sequence[Verdict]) -> bool:
    """Whether all items have two endings (NOBODY_SCREENED)."""
    return all(len(verdict.item.columns) == 2 for verdict in verdicts)


def told_rule(verdicts: Sequence[Verdict]) -> str:
    """Below what annotators are dropped, in words: `under 66.2 % of 10 items or more (chance 50.0 %)`.

    Ranges, where they judged items of several numbers of endings.
    """
    counts = gold_counts(verdicts).values()
    needed, chance = _spread([one.needed for one in counts]), _spread([one.chance for one in counts])
    return f"under {needed} of {MIN_ITEMS} items or more (chance {chance})"


def _spread(shares: Collection[float]) -> str:
    low, high = min(shares), max(shares)
    return in_percent(low) if low == high else f"{from_to(low, high)} %"
