"""The commonest verbs of a set beside other corpora, as Figure 4 of Zellers et al. 2018 (there SWAG beside SNLI).

Verbs are tokens that the tagger calls VERB, auxiliaries and copulas aside, by their lemmas. How many times as common a
verb is here is an odds ratio with an informative Dirichlet prior (Monroe, Colaresi and Quinn 2008, "Fightin' Words",
equations 15 to 20): to both corpora `PRIOR` verbs are added, distributed as in the two together. Its interval is wider
than theirs where verbs cluster in groups: the variance is multiplied by the design effect of each corpus.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from swag_af.data.numbers.interval import effective_groups, t_quantile
from swag_af.data.syntax.lemmas import verb_lemma
from swag_af.data.tags import Tagger, tags_of
from swag_af.data.work.progress import Advance
from swag_af.describing.options import Of
from swag_af.describing.parts import STAND_IN, Sentence, plain, token_list

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PRIOR = 100.0
"""The weight of the prior, in verbs: to a verb of the forty commonest, of a share about 0.5 %, it adds a half."""
SUREST = 12
"""How many verbs are named that are surely commoner, or rarer, than in another corpus."""
RANKS = 1000
"""So far the cumulative curve goes."""
_BATCH = 2000


@dataclass(frozen=True)
class VerbCounts:
    """How often each verb occurs in each group of a corpus."""

    name: str
    verbs: tuple[str, ...]
    """(V,) in alphabetical order."""
    counts: "csr_array"
    """(groups, V)"""
    n_sentences: int

    @cached_property
    def totals(self) -> np.ndarray:
        """(V,)"""
        return np.asarray(self.counts.sum(axis=0)).ravel().astype(np.int64)

    @cached_property
    def n(self) -> int:
        """How many verbs there are."""
        return int(self.totals.sum())

    @cached_property
    def sizes(self) -> np.ndarray:
        """(groups,) how many verbs each group has."""
        return np.asarray(self.counts.sum(axis=1)).ravel()

    @cached_property
    def n_groups(self) -> float:
        """How many groups of equal size would tell as much."""
        return effective_groups(self.sizes) if self.n else 0.0

    def over(self, verbs: Sequence[str]) -> "VerbCounts":
        """The same with a column for each of `verbs`, which has all of its own."""
        from scipy.sparse import csr_array

        place = {verb: i for i, verb in enumerate(verbs)}
        columns = np.array([place[verb] for verb in self.verbs], np.int64)
        table = self.counts.tocoo()
        shape = (self.counts.shape[0], len(verbs))
        moved = csr_array((table.data, (table.row, columns[table.col])), shape=shape)
        return VerbCounts(self.name, tuple(verbs), moved, self.n_sentences)


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as common a verb is as in another corpus: an odds ratio, and its 95 % interval."""

    times: float | None
    """None where one of the two has no verbs at all."""
    low: float | None
    """None where a corpus is one group, so that nothing is known of its variance."""
    high: float | None

    @property
    def is_sure(self) -> bool:
        """Whether the interval leaves out 1."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


@dataclass(frozen=True, slots=True)
class VerbRow:
    """One verb in all corpora, that which is described first."""

    verb: str
    counts: tuple[int, ...]
    shares: tuple[float, ...]
    """Of all verbs of the corpus; 0 to 1."""
    ratios: tuple[Ratio, ...]
    """The first corpus against each of the others."""


@dataclass(frozen=True, slots=True)
class Cumulative:
    """What share of all verbs the commonest ones have: rank 1, 2, ..., up to `RANKS`."""

    name: str
    n: int
    """Verbs."""
    n_types: int
    shares: tuple[float, ...]
    half: int
    """How many of the commonest make up half of all verbs."""
    nine_tenths: int
    drawn: bool = False
    """Whether it is of a random draw, as large as the smallest corpus: the fewer verbs, the steeper a curve."""


@dataclass(frozen=True, slots=True)
class Verbs:
    """The verbs of a set, beside other corpora."""

    of: Of
    tagger: str
    corpora: tuple[str, ...]
    n_sentences: tuple[int, ...]
    """Different ones, in each corpus."""
    n: tuple[int, ...]
    """Verbs."""
    rows: tuple[VerbRow, ...]
    """The commonest of all corpora together, by the sum of their shares."""
    commoner: tuple[tuple[VerbRow, ...], ...]
    """Against each other corpus the verbs that are most surely commoner here, by the near end of the interval."""
    rarer: tuple[tuple[VerbRow, ...], ...]
    curves: tuple[Cumulative, ...]


def count_verbs(
    name: str, texts: Sequence[Sentence], tagger: Tagger, advance: Advance = lambda *_, **__: None
) -> VerbCounts:
    """How often each verb occurs in each group."""
    from scipy.sparse import csr_array

    groups: list[int] = []
    verbs: list[str] = []
    for batch in _batches(texts):
        for group, found in zip((one.group for one in batch), verbs_in(batch, tagger), strict=True):
            groups += [group] * len(found)
            verbs += found
        advance(len(batch))
    types, columns = np.unique(np.array(verbs, dtype=np.str_), return_inverse=True)
    shape = (1 + max((one.group for one in texts), default=0), len(types))
    counts = csr_array((np.ones(len(verbs), np.int64), (np.array(groups, np.int64), columns)), shape=shape)
    counts.sum_duplicates()
    return VerbCounts(name, tuple(types.tolist()), counts, len(texts))


def _batches(texts: Sequence[Sentence]) -> Iterator[Sequence[Sentence]]:
    for begin in range(0, len(texts), _BATCH):
        yield texts[begin : begin + _BATCH]


def verbs_in(texts: Sequence[Sentence], tagger: Tagger) -> list[list[str]]:
    """The lemmas of the verbs of each text, which is tagged behind its start; tags and masks are none (`plain`)."""
    starts = [token_list(plain(one.start)) for one in texts]
    tokens = [[*start, *token_list(plain(one.text))] for start, one in zip(starts, texts, strict=True)]
    return [
        [
            verb_lemma(token)
            for token, tag in zip(row[len(start) :], tags[len(start) :], strict=True)
            if tag == "VERB" and STAND_IN not in token
        ]
        for row, tags, start in zip(tokens, tags_of(tagger, tokens), starts, strict=True)
    ]


def compare(counted: Sequence[VerbCounts], *, of: Of, tagger: str, n_verbs: int, seed: int) -> Verbs:
    """The first corpus beside the others; the commonest `n_verbs` of all together."""
    types = sorted({verb for one in counted for verb in one.verbs})
    aligned = [one.over(types) for one in counted]
    counts = np.stack([one.totals for one in aligned])  # (corpora, V)
    shares = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    ratios = [log_odds(aligned[0], other) for other in aligned[1:]]  # each (2, V)

    def rows(places: Sequence[int]) -> tuple[VerbRow, ...]:
        return tuple(
            VerbRow(
                types[i],
                tuple(counts[:, i].tolist()),
                tuple(round(share, 6) for share in shares[:, i].tolist()),
                tuple(_ratio(middle[i], half[i]) for middle, half in ratios),
            )
            for i in places
        )

    up, down = zip(*(_surest(middle, half) for middle, half in ratios), strict=True) if ratios else ((), ())
    return Verbs(
        of,
        tagger,
        tuple(one.name for one in counted),
        tuple(one.n_sentences for one in counted),
        tuple(one.n for one in counted),
        rows(np.argsort(-shares.sum(axis=0), kind="stable")[:n_verbs].tolist()),
        tuple(map(rows, up)),
        tuple(map(rows, down)),
        _curves(counted, seed),
    )


def log_odds(one: VerbCounts, other: VerbCounts) -> np.ndarray:
    """(2, V) the logarithm of how many times as common each verb is in `one`, and half of its 95 % interval.

    Both have the same columns. The half is infinite where nothing is known: one of them has a single group, or both
    have no other verb. Where one of them has no verbs, the logarithm is not known either: NaN.
    """
    n, m = one.totals, other.totals
    if not n.any() or not m.any():
        return np.array([[np.nan], [np.inf]]).repeat(len(n), axis=1)
    prior = PRIOR * (n + m) / max(1, int((n + m).sum()))  # (V,)
    a, b, a0, b0 = n + prior, m + prior, n.sum() + PRIOR, m.sum() + PRIOR
    t = t_quantile(min(one.n_groups, other.n_groups) - 1) if min(one.n_groups, other.n_groups) > 1 else np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.log(a / (a0 - a)) - np.log(b / (b0 - b))
        half = t * np.sqrt(design_effect(one) / a + design_effect(other) / b)
    known = np.isfinite(middle)
    return np.stack([np.where(known, middle, 0.0), np.where(known, half, np.inf)])


def design_effect(one: VerbCounts) -> np.ndarray:
    """(V,) how many times larger the variance of a verb's share is with whole groups drawn than with single verbs.

    1 at least: of the ratio of two sums over groups, by the delta method.
    """
    if one.n_groups <= 1 or not one.n:
        return np.ones(len(one.verbs))
    sizes = one.sizes
    share = one.totals / one.n
    squares = np.asarray((one.counts * one.counts).sum(axis=0)).ravel()
    across = np.asarray(one.counts.T @ sizes).ravel()
    residuals = squares - 2 * share * across + share**2 * float((sizes**2).sum())  # (V,) sums of squares over groups
    variance = one.n_groups / (one.n_groups - 1) * residuals / one.n**2
    single = share * (1 - share) / one.n
    return np.maximum(1, np.divide(variance, single, out=np.ones_like(share), where=single > 0))


def _ratio(middle: float, half: float) -> Ratio:
    """Rounded, so that sums in another order are the same figures."""
    if np.isnan(middle):
        return Ratio(None, None, None)
    if not np.isfinite(half):
        return Ratio(_rounded(np.exp(middle)), None, None)
    return Ratio(_rounded(np.exp(middle)), _rounded(np.exp(middle - half)), _rounded(np.exp(middle + half)))


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _surest(middle: np.ndarray, half: np.ndarray) -> tuple[list[int], list[int]]:
    """The verbs whose intervals are furthest above 1, and those furthest below."""
    sides = []
    for near in (middle - half, -middle - half):
        order = np.argsort(-np.round(near, 9), kind="stable")[:SUREST]
        sides.append([i for i in order.tolist() if near[i] > 0])
    return sides[0], sides[1]


def _curves(counted: Sequence[VerbCounts], seed: int) -> tuple[Cumulative, ...]:
    """The curve of each corpus, and of a draw of the smallest one's size from each that is larger."""
    least = min(one.n for one in counted)
    curves = [cumulative(one.name, one.totals) for one in counted]
    for one in counted:
        if one.n > least > 0:
            rng = np.random.default_rng((seed, *b"verbs"))
            drawn = rng.multivariate_hypergeometric(one.totals, least, method="marginals")
            curves.append(cumulative(one.name, drawn, drawn=True))
    return tuple(curves)


def cumulative(name: str, totals: np.ndarray, *, drawn: bool = False) -> Cumulative:
    """The curve of a corpus whose verbs occur `totals` (V,) times."""
    falling = np.sort(totals[totals > 0])[::-1]
    n = int(falling.sum())
    sums = np.cumsum(falling) / max(1, n)
    half, nine_tenths = (np.searchsorted(sums, (0.5, 0.9)) + 1).tolist() if n else (0, 0)
    shares = tuple(round(value, 6) for value in sums[:RANKS].tolist())
    return Cumulative(name, n, len(falling), shares, half, nine_tenths, drawn)
