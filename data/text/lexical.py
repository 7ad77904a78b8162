"""How far two texts say the same in words: the share of one text's words and letter triples that the other has.

No understanding: *He leaves the room.* and *The man walks out.* are different here.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from swag_af.data.text.wording import marked_words

BOTH_WAYS = 0.1
"""How much it counts that both texts say no more than the other, beside that one of them does."""
STOP_WORD = 0.25
"""The weight of a word without content, such as *the*, beside 1 for all others."""
LETTERS = 0.5
"""How much triples of letters count beside words."""

Parts = Callable[[str], list[str]]
"""What a text is cut into."""


def lexical_similarity(first: Sequence[str], second: Sequence[str], *, letter_weight: float = LETTERS) -> np.ndarray:
    """(n, m) float32 how far texts i (n) and j (m) share their words: mostly by the lighter of the two, from 0 to 1.

    1 for the same `marked_words` in whatever order, 0 for texts without one. Containment more than overlap: *on the
    table* says nothing that *a cup on the table* does not. Words that differ in their endings share most of their
    triples of letters, so *jump* and *jumps* are nearly the same, and so is a word with a slip of the pen.
    """

    def by(parts: Parts) -> np.ndarray:
        one, other, weights = _counted(first, second, parts)
        common = (one.multiply(weights).tocsr() @ other.T).toarray()  # (n, m)
        return _shared(common, (one @ weights)[:, None], other @ weights)

    return _mixed(by, letter_weight)


def lexical_pairs(first: Sequence[str], second: Sequence[str]) -> np.ndarray:
    """(q,) the same of q pairs of texts, without the others."""

    place = {text: i for i, text in enumerate(dict.fromkeys([*first, *second]))}
    left, right = ([place[text] for text in side] for side in (first, second))

    def by(parts: Parts) -> np.ndarray:
        has, _, weights = _counted([*place], [], parts)
        sizes = has @ weights  # (texts,)
        return _shared(has[left].multiply(has[right]).tocsr() @ weights, sizes[left], sizes[right])

    return _mixed(by, LETTERS)


def has_content(text: str) -> bool:
    """Whether a text has a word beside *of*, *are* and their like."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return any(word not in ENGLISH_STOP_WORDS for word in marked_words(text))


def _mixed(by: Callable[[Parts], np.ndarray], letter_weight: float) -> np.ndarray:
    """What words share and what triples of letters share, weighed."""
    made = by(marked_words)
    made *= np.float32(1 - letter_weight)
    made += np.float32(letter_weight) * by(_triples)
    return np.clip(made, 0, 1, out=made)


def _counted(first: Sequence[str], second: Sequence[str], parts: Parts) -> tuple[Any, Any, np.ndarray]:
    """Which parts each text of both sides has, (n, V) and (m, V) sparse, and the weight of each part (V,)."""
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

    counter = CountVectorizer(analyzer=parts, binary=True, dtype=np.float32)
    try:
        has = counter.fit_transform([*first, *second])
    except ValueError:  # no text has a part
        return csr_matrix((len(first), 1), dtype=np.float32), csr_matrix((len(second), 1), dtype=np.float32), np.ones(1)
    light = ENGLISH_STOP_WORDS if parts is marked_words else frozenset[str]()  # `the` in `mother` is no word
    names = counter.get_feature_names_out().tolist()
    weights = np.array([STOP_WORD if name in light else 1.0 for name in names], np.float32)
    return has[: len(first)], has[len(first) :], weights


def _shared(common: np.ndarray, sizes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """float32 weight of what two texts have in `common`, mostly by the lighter of the two, of weights `sizes` and
    `others`, from 0 to 1."""
    sizes, others = np.maximum(sizes, np.float32(1e-9)), np.maximum(others, np.float32(1e-9))
    union = sizes + others - common
    made = np.float32(1 - BOTH_WAYS) * (common / np.minimum(sizes, others)) + np.float32(BOTH_WAYS) * (common / union)
    return np.asarray(made, np.float32)


def _triples(text: str) -> list[str]:
    """Three letters in a row of each word, its beginning and end marked."""
    return [f"^{word}$"[i : i + 3] for word in marked_words(text) for i in range(len(word))]
