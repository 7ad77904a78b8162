"""Whether printed percentages can be shares of N things: k / N for a whole k, in exact arithmetic.

The GRIM test (Brown and Heathers 2017, "The GRIM test: a simple technique detects numerous anomalies in the reporting
of results in psychology") for percentages, and for a sensitivity beside a consistency.

A percentage that was rounded stands for all shares within half a unit of its last decimal; one whose further decimals
were cut for those from itself to a whole unit above. In VCR-CS's Table 2 (Kim et al. 2023), of 159 pairs, some
percentages are cut, three rows are shares of 152, and one sensitivity can be neither.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import ceil, floor, prod
from numbers import Integral
from typing import Literal

import numpy as np

from swag_af.data.errors import InputError, check_whole, takes_options
from swag_af.scoring.options import LARGEST_COUNT, CountCheckOptions, is_percentage, without_sign

Fit = Literal["rounded", "cut", "no"]


@dataclass(frozen=True, slots=True)
class Share:
    """A percentage, and what it can be a share of."""

    printed: str
    fit: Fit
    """Whether it is a share as rounded, else as cut, or not at all."""
    least: int
    """The least whole number of things that prints so; where none does, the nearest from below."""
    most: int
    """The most that prints so; where none does, the nearest from above."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """A sensitivity, k of the m pairs whose predictions differ, beside a consistency, k of all pairs."""

    printed: str
    fit: Fit
    pairs: tuple[tuple[int, int], ...]
    """The first `(k, m)` that print so, ten at most; where none does, for each k the nearest from above and below."""


@dataclass(frozen=True, slots=True)
class CountCheck:
    """What percentages can be."""

    n: int
    shares: tuple[Share, ...]
    others: tuple[int, ...]
    """Other numbers near by of which all percentages are shares as rounded, the nearest first."""
    others_cut: tuple[int, ...]
    """The same where some must have been cut."""
    by_luck: float
    """How probable it is that so many percentages, drawn at random, are all shares of one such number: as rounded, or
    where one of these was cut, as rounded or cut."""
    sensitivity: Sensitivity | None = None

    @property
    def is_possible(self) -> bool:
        """Whether everything can be, as rounded or as cut."""
        found = [one.fit for one in self.shares] + ([self.sensitivity.fit] if self.sensitivity else [])
        return "no" not in found


@takes_options
def count_check(options: CountCheckOptions) -> CountCheck:
    """The verb `count-check`: `counts` of its options."""
    return counts(options.percentages, options.n, options.sensitivity, near=options.near)


def counts(
    percentages: Sequence[str | float] | str | float, n: int, sensitivity: str | float = "", *, near: int = 10
) -> CountCheck:
    """Whether each of `percentages` can be a share of `n`; other numbers up to `near` away are tried, too.

    One alone may stand without a list. They are taken as printed: "41.50" has two decimals, 41.5 has one. With a
    `sensitivity` the last of them is the consistency k / n, and the sensitivity must be k / m for a whole m, k <= m <=
    n. Raises InputError for what is none.
    """
    if not isinstance(percentages, Iterable) or isinstance(percentages, str):
        percentages = [percentages]
    printed = [_checked(one) for one in percentages]
    check_whole(near=near)
    if not printed or not isinstance(n, Integral) or not 1 <= n <= LARGEST_COUNT:
        raise InputError(f"counts of {n}: give one percentage or more, and n from 1 to {LARGEST_COUNT:,}.")
    nearby = [m for away in range(1, near + 1) for m in (n - away, n + away) if m > 0]
    worst = {m: _worst(_share(one, m).fit for one in printed) for m in nearby}
    shares = tuple(_share(one, n) for one in printed)
    return CountCheck(
        n,
        shares,
        tuple(m for m in nearby if worst[m] == "rounded"),
        tuple(m for m in nearby if worst[m] == "cut"),
        float(prod(_accepted(one, n, cut="cut" in [share.fit for share in shares]) for one in printed)),
        _sensitivity(_checked(sensitivity), shares[-1], n) if sensitivity != "" else None,
    )


def _checked(value: str | float) -> str:
    text = str(value).strip()
    if not is_percentage(text):
        raise InputError(f"{text[:40]!r}: no percentage from 0 to 100 with up to six decimals. Write it as printed.")
    return without_sign(text)


def _worst(fits: Iterable[Fit]) -> Fit:
    found = set(fits)
    return "no" if "no" in found else "cut" if "cut" in found else "rounded"


def _unit(printed: str) -> Fraction:
    """One unit of the last decimal of a percentage, as a share."""
    return Fraction(1, 100 * 10 ** len(printed.partition(".")[2]))


def _accepted(printed: str, n: int, *, cut: bool) -> Fraction:
    """The share of the numbers of so many decimals, 0 and 100 among them, that can be a share of `n`, as rounded or,
    with `cut`, as cut."""
    n_units = int(1 / _unit(printed))
    if n >= n_units:
        return Fraction(1)
    shares = 2 * n_units * np.arange(n + 1, dtype=np.int64)  # in halves of a unit, times n
    up = (shares + n) // (2 * n)
    down = shares // (2 * n) if cut else -((n - shares) // (2 * n))  # another where a half is rounded either way
    return Fraction(len(np.union1d(up, down)), n_units + 1)


def _share(printed: str, n: int) -> Share:
    value, unit = Fraction(printed) / 100, _unit(printed)
    least, most = ceil((value - unit / 2) * n), floor((value + unit / 2) * n)  # a half may be rounded either way
    least, most = max(0, least), min(n, most)
    if least <= most:
        return Share(printed, "rounded", least, most)
    least, above = ceil(value * n), (value + unit) * n
    if least < above and least <= n:
        return Share(printed, "cut", least, ceil(above) - 1)
    return Share(printed, "no", floor(value * n), least)


def _sensitivity(printed: str, consistency: Share, n: int) -> Sensitivity:
    """The whole numbers of pairs of which the consistent ones are the share that is printed."""
    value, unit = Fraction(printed) / 100, _unit(printed)
    ks = range(consistency.least, consistency.most + 1)
    above = value + unit
    found: dict[Fit, Iterator[tuple[int, int]]] = {
        "rounded": ((k, m) for k in ks for m in _wholes(k, value - unit / 2, value + unit / 2, n)),
        "cut": ((k, m) for k in ks for m in _wholes(k, value, above, n) if Fraction(k, m) < above),
    }
    for fit, every in found.items():
        if pairs := tuple(islice(every, MOST_PAIRS)):  # all would be as many as n squared
            return Sensitivity(printed, fit, pairs)
    return Sensitivity(printed, "no", tuple(pair for k in ks[:MOST_PAIRS] for pair in _around(k, value, n)))


MOST_PAIRS = 10
"""So many pairs of numbers are told."""


def _wholes(k: int, low: Fraction, high: Fraction, n: int) -> range:
    """Every m, max(k, 1) <= m <= n, with low <= k / m <= high; where low is 0 or less, as many as there may be."""
    if k == 0:
        return range(1, n + 1) if low <= 0 else range(0)
    if high <= 0:
        return range(0)
    largest = n if low <= 0 else min(n, floor(k / low))
    return range(max(k, ceil(k / high)), largest + 1)


def _around(k: int, value: Fraction, n: int) -> list[tuple[int, int]]:
    """The two pairs of numbers whose shares are next to `value`."""
    m = n if value == 0 else min(n, floor(k / value))
    return [(k, each) for each in (m, m + 1) if max(k, 1) <= each <= n]
