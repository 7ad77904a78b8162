"""How like an option is to its context and to the other options of its question."""

from typing import TYPE_CHECKING

import numpy as np

from swag_af.auditing.single.tables import CONTENT, Seen, TokenTable

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LONG = 6
"""Letters from which a word is long: such words are seldom in a text by chance."""


def overlap(seen: Seen) -> np.ndarray:
    """The share of a text's tokens that occur in its context."""
    return seen.options.share(seen.in_context)


def content_overlap(seen: Seen) -> np.ndarray:
    """The share of a text's words of content (nouns, verbs, adjectives, adverbs, numerals) that occur in its context;
    0 where it has none."""
    content = seen.tagged(CONTENT)  # (T,)
    n_content = np.bincount(seen.options.rows, content, len(seen.options))
    return np.bincount(seen.options.rows, content & seen.in_context, len(seen.options)) / np.maximum(1, n_content)


def long_words(seen: Seen) -> np.ndarray:
    """How many different words of `LONG` letters or more of a text occur in its context."""
    is_long = np.array([len(word) >= LONG and word.isalpha() for word in seen.options.types], bool)  # (V,)
    shared = is_long[seen.options.ids] & seen.in_context
    words = np.unique(seen.options.rows[shared] * len(is_long) + seen.options.ids[shared])
    return np.bincount(words // max(1, len(is_long)), minlength=len(seen.options)).astype(float)


def likeness(seen: Seen) -> np.ndarray:
    """(M,) the mean cosine similarity of an option to the other options of its question, by tf-idf of its tokens.

    Inverse document frequencies are those of all options of the set. 0 for the only option of a question.
    """
    vectors = _tfidf(seen.options)  # (M, V), rows of length 1 or 0
    sums = _sum_of_rows(vectors, seen.texts.rows, len(seen.texts))  # (N, V)
    with_all = vectors.multiply(sums[seen.texts.rows]).sum(axis=1)  # (M,)
    with_itself = vectors.multiply(vectors).sum(axis=1)
    others = np.diff(seen.texts.offsets)[seen.texts.rows] - 1
    return np.round((np.asarray(with_all) - np.asarray(with_itself)).ravel() / np.maximum(1, others), 9)


def _tfidf(table: TokenTable) -> "csr_array":
    """(n, V) sparse: tf-idf of each text, of length 1."""
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import TfidfTransformer

    shape = len(table), max(1, len(table.types))
    counts = csr_array((np.ones(len(table.ids)), table.ids, table.offsets), shape=shape, copy=True)
    counts.sum_duplicates()  # in place, so of a copy
    return csr_array(TfidfTransformer().fit_transform(counts))


def _sum_of_rows(vectors: "csr_array", rows: np.ndarray, n: int) -> "csr_array":
    """(n, V) sparse: the sums of the `vectors` (M, V) of each of `rows` (M,)."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(n, len(rows))) @ vectors
