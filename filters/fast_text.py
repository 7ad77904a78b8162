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
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from swag_af.data.errors import InputError
from swag_af.data.pool.pool import View
from swag_af.filters.strings import second_sentence_tokens


@dataclass(kw_only=True)
class FastTextFilter:
    """Supervised fastText on the tokens of the second sentence.

    The same `rng` gives the same model with glibc, which is what Linux has as a rule; elsewhere fastText reads
    memory that nobody set, and a run cannot be repeated.
    """

    dim: int = 32
    """Length of the vectors."""
    epochs: int = 25
    learning_rate: float = 0.3
    """Falls linearly to 0."""
    longest: int = 2
    """Words of the longest n-gram."""
    n_buckets: int = 100_000
    """N-grams of two words or more are hashed into this many vectors (fastText's own default, 2 million, takes 256 MB
    at 32 numbers a vector, filled anew in every fit)."""

    name: ClassVar[str] = "fasttext"

    _fitted: tuple[Any, np.ndarray] | None = field(default=None, init=False, repr=False, compare=False)

    def check(self) -> None:
        """Raise InputError when the package is missing or a setting is out of range."""
        _import_fasttext()
        if min(self.dim, self.epochs, self.longest, self.n_buckets) < 1 or self.learning_rate <= 0:
            raise InputError(
                "filter fasttext: dim, epochs, longest and n_buckets must be 1 or more, learning_rate above 0."
            )

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        """Train on gold against the other columns, in an order drawn from `rng`.

        Raises InputError for fewer than 2 candidates a row and when the package is missing.
        """
        n, m = view.shape
        if n < 1 or m < 2:
            raise InputError(f"filter fasttext needs rows of 2 candidates or more to fit; this view is {n} x {m}.")
        self.check()
        labels = np.tile([_GOLD, *[_NEGATIVE] * (m - 1)], n)  # (q,)
        lines = [f"{label} {text}\n" for label, text in zip(labels, _lines(view), strict=True)]
        shuffled = [lines[i] for i in rng.permutation(len(lines))]
        model = self._train(shuffled, seed=int(rng.integers(2**31 - 1)))
        output = model.get_output_matrix()  # (2, dim)
        at = {label: i for i, label in enumerate(model.get_labels())}
        self._fitted = model, output[at[_GOLD]].astype(np.float64) - output[at[_NEGATIVE]]

    def score(self, view: View) -> np.ndarray:
        """(n, m) float64 log-odds of gold: the text's vector times the difference of the two output vectors."""
        if self._fitted is None:
            raise InputError("filter fasttext has not been fitted. Call fit(view, rng=...) first.")
        model, direction = self._fitted
        vectors = [model.get_sentence_vector(line) for line in _lines(view)]  # q of (dim,)
        return (np.array(vectors, np.float64) @ direction).reshape(view.shape)

    def _train(self, lines: list[str], *, seed: int) -> Any:
        fasttext = _import_fasttext()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "train.txt"
            path.write_text("".join(lines), encoding="utf-8", newline="\n")
            with _blank_memory():
                return fasttext.train_supervised(
                    str(path),
                    dim=self.dim,
                    epoch=self.epochs,
                    lr=self.learning_rate,
                    wordNgrams=self.longest,
                    bucket=self.n_buckets,
                    label=_PREFIX,
                    seed=seed,
                    thread=1,
                    verbose=0,
                )


_PREFIX = "\ue000"
"""What makes a word a label to fastText; a private character, since a text may well hold `__label__`."""
_GOLD, _NEGATIVE = f"{_PREFIX}gold", f"{_PREFIX}negative"


def _lines(view: View) -> list[str]:
    """q texts that fastText reads as words and nothing else: no line ends, no label, no `</s>`, which ends a line."""
    return [" ".join(text.replace(_PREFIX, "").replace("</s>", "<s>").split()) for text in second_sentence_tokens(view)]


def _import_fasttext() -> Any:
    try:
        import fasttext
    except ImportError as error:
        raise InputError("fasttext is not installed. Install it with: pip install 'swag-af[fasttext]'") from error
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
