"""How long the texts of a set are, and the curve of the lengths of sentences (Suhr et al. 2019, Figure 3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swag_af.data.instances.instances import Instances
from swag_af.describing.options import Of
from swag_af.describing.parts import Part, Size, sentences, sizes_of

LONGEST = 60
"""Tokens; the curve counts longer sentences together."""


@dataclass(frozen=True, slots=True)
class Length:
    """The lengths of one part of a set, in tokens but for the last two."""

    part: str
    n: int
    mean: float
    sd: float
    """Of this part; 0 for one text."""
    least: int
    q5: float
    median: float
    q95: float
    most: int
    words: float
    """The mean number of words, without punctuation."""
    signs: float
    """The mean number of signs, as VCR counts."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The share of sentences of each length."""

    name: str
    n: int
    """Different sentences."""
    mean: float
    shares: tuple[float, ...]
    """(LONGEST + 1,) by the number of tokens; the last one of `LONGEST` and more."""


def lengths_of(parts: Sequence[Part], known: dict[str, Size]) -> tuple[Length, ...]:
    """The lengths of each part; `known` keeps what was measured."""
    return tuple(_length(part.name, sizes_of(part.texts, known)) for part in parts)


def _length(name: str, sizes: np.ndarray) -> Length:
    """`sizes` are (n, 3)."""
    tokens = sizes[:, 0]
    q5, median, q95 = (round(float(value), 4) for value in np.quantile(tokens, (0.05, 0.5, 0.95)))
    mean, words, signs = (round(value / len(sizes), 4) for value in sizes.sum(axis=0).tolist())
    sd = round(float(tokens.std(ddof=1)), 4) if len(tokens) > 1 else 0.0
    return Length(name, len(sizes), mean, sd, int(tokens.min()), q5, median, q95, int(tokens.max()), words, signs)


def curve_of(instances: Instances, of: Of, known: dict[str, Size]) -> Curve:
    """The curve of the different sentences of a set: an option behind its start, a text, a sentence of a context."""
    everywhere = np.zeros(len(instances), np.int64)
    texts = sorted({f"{one.start} {one.text}".strip() for one in sentences(instances, everywhere, of)})
    tokens = sizes_of(texts, known)[:, 0]
    counts = np.bincount(np.minimum(tokens, LONGEST), minlength=LONGEST + 1)
    n = max(1, len(texts))
    shares = tuple(round(count / n, 6) for count in counts.tolist())
    return Curve(instances.name, len(texts), round(int(tokens.sum()) / n, 4), shares)
