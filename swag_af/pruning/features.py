"""Fixed representations of texts, made without labels: a vector for each, on which linear classifiers are fitted.

`tfidf-svd` and `fasttext` are fitted on the texts of the set, `encoder[PATH]` is pretrained. One of your own is a class
with `vectors(reading, seed=...)`, named `package.module:Class`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from swag_af.auditing.probes.inputs import Reading
from swag_af.auditing.probes.words import ngram_counts
from swag_af.data.errors import InputError, check_faults
from swag_af.data.plugins.registry import Registry

REPRESENTATIONS = Registry(
    "representation",
    {
        "tfidf-svd": "swag_af.pruning.features:TfidfSvd",
        "fasttext": "swag_af.pruning.features:FastTextVectors",
        "encoder": "swag_af.pruning.features:Encoder",
    },
    {"encoder": "PATH"},
)
"""By the names of `--features`."""


class Representation(Protocol):
    """What makes a vector of each text.

    One attribute is optional: `check()`, called before any work, which raises InputError for what would fail later.
    """

    def vectors(self, reading: Reading, *, seed: int) -> np.ndarray:
        """(q, D) floats, one row for each entry of `reading`; a `Reading` holds no label."""


def features_of(representation: Representation, reading: Reading, *, seed: int) -> np.ndarray:
    """(q, D) float32 vectors of the entries of `reading`, less their mean, in units of their mean length.

    So the penalty of a classifier means the same for all representations. Raises InputError for another shape, and
    for what is not finite.
    """
    made = np.asarray(representation.vectors(reading, seed=seed), np.float64)
    if made.ndim != 2 or len(made) != len(reading.pieces) or not np.isfinite(made).all():
        raise InputError(
            f"--features: vectors of shape {made.shape}, not all finite, where ({len(reading.pieces)}, D) is due."
        )
    centred = made - made.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=1).mean())
    return (centred / length if length > 0 else centred).astype(np.float32)


@dataclass
class TfidfSvd:
    """Words and pairs of words weighted by tf-idf, their table reduced by truncated SVD (latent semantic analysis)."""

    dim: int = 100
    """Length of the vectors, where there are so many n-grams and texts."""

    def check(self) -> None:
        """Raise InputError for a setting out of range."""
        check_faults([(self.dim < 1, f"representation tfidf-svd: dim={self.dim}, at least 1")])

    def vectors(self, reading: Reading, *, seed: int) -> np.ndarray:
        """As `Representation` says."""
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfTransformer

        weighted = TfidfTransformer().fit_transform(ngram_counts(reading.tokens.joined(reading.pieces)))
        if min(weighted.shape) <= self.dim:
            return np.asarray(weighted.toarray())
        return np.asarray(TruncatedSVD(self.dim, random_state=seed % 2**32).fit_transform(weighted))


@dataclass
class FastTextVectors:
    """Mean word vectors of a fastText model that is fitted on the texts without labels (skip-gram)."""

    def vectors(self, reading: Reading, *, seed: int) -> np.ndarray:
        """As `Representation` says; raises InputError where the package is missing."""
        from swag_af.filters.fast_text import word_vectors

        joined = reading.tokens.joined(reading.pieces)
        texts = [joined.text(i) for i in range(len(reading.pieces))]
        return word_vectors(texts, rng=np.random.default_rng((seed, *b"vectors"))).vectors(texts)


@dataclass
class Encoder:
    """A Hugging Face encoder as it is, its last layer averaged over the tokens of the text."""

    model: str
    """A folder that holds model and tokenizer, or a name on the Hugging Face hub."""
    max_length: int = 128
    """Tokens; what is longer is cut."""
    device: str = "auto"

    argument: ClassVar[str] = "model"

    def check(self) -> None:
        """Raise InputError for a setting out of range."""
        check_faults([(self.max_length < 8, f"representation encoder: max_length={self.max_length}, at least 8")])

    def vectors(self, reading: Reading, *, seed: int) -> np.ndarray:
        """As `Representation` says; draws nothing."""
        from swag_af.filters.frozen import mean_vectors

        texts, of_entry = np.unique(np.array(reading.whole(), dtype=object), return_inverse=True)
        made: Any = mean_vectors(self.model, texts.tolist(), max_length=self.max_length, device=self.device)
        return np.asarray(made[of_entry])
