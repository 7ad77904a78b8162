"""The fastText filter (Joulin et al. 2017): an average of word and n-gram vectors, trained by fastText itself.

SWAG's first baseline: trained by binary cross-entropy, the ending with the highest positive likelihood chosen (Zellers
et al. 2018, 4.1, footnote 7). Three faults of the package `fasttext` 0.9.3 are worked around here, and only here:

* Fewer than ten threads initialise only so many tenths of the input vectors; the rest is whatever the memory held,
  so that models differ from fit to fit or are NaN. `_blank_memory` has the C library hand out zeros meanwhile.
* More than one thread makes the order of updates a race, so there is one.
* `predict` of a single text fails under numpy 2, and its probabilities of 0.99999 tie. Scores are computed from the
  vectors instead.
"""

import contextlib
import ctypes
import platform
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from swag_af.data.errors import InputError
from swag_af.data.extras import needing
from swag_af.data.pool.view import View
from swag_af.filters.contract import check_fit, gold_labels, unfitted
from swag_af.filters.strings import second_sentence_tokens


@dataclass(kw_only=True)
class FastTextSettings:
    """How fastText is trained, here and wherever else it is used."""

    dim: int = 32
    """Length of the vectors."""
    epochs: int = 25
    """Passes over the training rows."""
    learning_rate: float = 0.3
    """Falls linearly to 0."""
    longest: int = 2
    """Words of the longest n-gram."""
    n_buckets: int = 100_000
    """N-grams of two words or more are hashed into this many vectors (fastText's own default, 2 million, takes 256 MB
    at 32 numbers a vector, filled anew in every fit)."""

    name: ClassVar[str] = "fasttext"

    def check(self) -> None:
        """Raise InputError when the package is missing or a setting is out of range."""
        import_fasttext()
        if min(self.dim, self.epochs, self.longest, self.n_buckets) < 1 or self.learning_rate <= 0:
            raise InputError(
                "filter fasttext: dim, epochs, longest and n_buckets must be 1 or more, learning_rate above 0."
            )


@dataclass(frozen=True)
class FastText:
    """A fitted model of texts with labels."""

    model: Any
    """Of the package."""
    outputs: Mapping[int, np.ndarray]
    """For each label that was seen its output vector, (dim,) float64."""

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """(q, dim) float64 the vectors of q texts; times an output vector, the logit of its label."""
        return np.array([self.model.get_sentence_vector(_line(text)) for text in texts], np.float64)


def train(
    settings: FastTextSettings, texts: Sequence[str], labels: np.ndarray, *, rng: np.random.Generator
) -> FastText:
    """fastText on `texts` with `labels` (q,) from 0, in an order drawn from `rng`, on one thread.

    The same `rng` gives the same model with glibc, which is what Linux has as a rule; elsewhere fastText reads
    memory that nobody set. Not for two threads at once: while it lasts, memory comes zeroed to the whole process.
    Raises InputError for a training that diverges.
    """
    lines = [f"{_PREFIX}{label} {_line(text)}\n" for label, text in zip(labels.tolist(), texts, strict=True)]
    shuffled = [lines[i] for i in rng.permutation(len(lines))]
    model = _trained(settings, shuffled, seed=int(rng.integers(2**31 - 1)))
    vectors = model.get_output_matrix().astype(np.float64)  # (labels, dim)
    found = [int(label.removeprefix(_PREFIX)) for label in model.get_labels()]
    return FastText(model, dict(zip(found, vectors, strict=True)))


def word_vectors(texts: Sequence[str], *, rng: np.random.Generator) -> FastText:
    """fastText's skip-gram vectors of words and their parts, fitted on `texts` without labels, on one thread.

    The package's own settings (Bojanowski et al. 2017), but words count that occur twice, and parts of words are hashed
    into 100,000 vectors. The order of the texts is drawn from `rng`; the package takes no seed here. What `train` says
    of equal models and of threads holds.
    """
    lines = [f"{_line(text)}\n" for text in texts]
    with _file_of([lines[i] for i in rng.permutation(len(lines))]) as path, _blank_memory():
        model = import_fasttext().train_unsupervised(
            path, dim=100, epoch=5, minCount=2, bucket=100_000, thread=1, verbose=0
        )
    return FastText(model, {})


def _trained(settings: FastTextSettings, lines: list[str], *, seed: int) -> Any:
    try:
        with _file_of(lines) as path, _blank_memory():
            return import_fasttext().train_supervised(
                path,
                dim=settings.dim,
                epoch=settings.epochs,
                lr=settings.learning_rate,
                wordNgrams=settings.longest,
                bucket=settings.n_buckets,
                label=_PREFIX,
                seed=seed,
                thread=1,
                verbose=0,
            )
    except RuntimeError as error:
        if "NaN" not in str(error):
            raise
        raise InputError(
            f"filter fasttext: the training diverges at learning_rate={settings.learning_rate:g}. Take a lower one."
        ) from error


@contextlib.contextmanager
def _file_of(lines: Sequence[str]) -> Iterator[str]:
    """A file with these lines, while it lasts."""
    import_fasttext()  # before anything is written
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.txt"
        path.write_text("".join(lines), encoding="utf-8", newline="\n")
        yield str(path)


@dataclass(kw_only=True)
class FastTextFilter(FastTextSettings):
    """Supervised fastText on the tokens of the second sentence."""

    _fitted: FastText | None = field(default=None, init=False, repr=False, compare=False)

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        """Train on gold against the other columns, in an order drawn from `rng`.

        Raises InputError for fewer than 2 candidates a row and when the package is missing.
        """
        check_fit(self.name, view)
        self.check()
        self._fitted = train(self, second_sentence_tokens(view), gold_labels(view), rng=rng)

    def score(self, view: View) -> np.ndarray:
        """(n, m) float64 log-odds of gold: the text's vector times the difference of the two output vectors."""
        if self._fitted is None:
            raise unfitted("filter fasttext")
        direction = self._fitted.outputs[1] - self._fitted.outputs[0]
        return (self._fitted.vectors(second_sentence_tokens(view)) @ direction).reshape(view.shape)


_PREFIX = "\ue000"
"""What makes a word a label to fastText; a private character, since a text may well hold `__label__`."""


def _line(text: str) -> str:
    """A text that fastText reads as words and nothing else: no line ends, no label, no `</s>`, which ends a line."""
    return " ".join(text.replace(_PREFIX, "").replace("</s>", "<s>").split())


def import_fasttext() -> Any:
    """The package; raises InputError that says how to install it."""
    with needing("fasttext"):
        import fasttext
    return fasttext


_M_PERTURB = -6
"""glibc's malloc.h: fill allocated memory with the complement of a byte."""


@contextlib.contextmanager
def _blank_memory() -> Iterator[None]:
    """While it lasts, glibc's malloc gives out zeroed memory; does nothing with another C library."""
    if platform.libc_ver()[0] != "glibc":
        yield
        return
    libc = ctypes.CDLL(None)
    libc.mallopt(_M_PERTURB, 0xFF)
    try:
        yield
    finally:
        libc.mallopt(_M_PERTURB, 0)
