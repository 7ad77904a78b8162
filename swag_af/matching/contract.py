"""What relevance and similarity are: tables of probabilities for all pairs of two lists of texts.

A relevance model, `P_rel`, says how probable it is that a response answers a query. In three sentences, which
`checking.check_relevance` tests on anyone's class:

    1. `fit` learns from queries, each with its own response, and forgets any earlier fit.
    2. `score` gives a probability for each query and each response, whatever else is scored in the same call.
    3. The same `rng` gives the same probabilities.

A similarity model, `P_sim`, says how probable it is that two responses mean the same. It learns nothing here; in two
sentences, which `checking.check_similarity` tests:

    1. `score` gives a probability for each pair, whatever else is scored in the same call, whichever comes first.
    2. A text and itself have the highest probability of all.

Three attributes are optional for both: `check()`, called before any work, raises InputError for what would fail later;
`settings() -> dict`, what a resumed matching must have the same; `n_measured`, a class attribute, how many rows a dry
run measures, fewer than usual where a model is slow. A relevance model may have `fewest`, a class attribute, how many
queries it learns from at least, so that fewer are told before any work. A similarity model may have `key(text)`, equal
for texts that `score` gives 1: such are not matched, and are counted as one text where it is checked that none is too
common.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from swag_af.data.plugins.registry import Registry


@runtime_checkable
class Relevance(Protocol):
    """A model of which response answers which query."""

    name: str

    def fit(self, queries: Sequence[str], responses: Sequence[str], *, rng: np.random.Generator) -> None:
        """Learn from n queries and the response of each."""

    def score(self, queries: Sequence[str], responses: Sequence[str]) -> np.ndarray:
        """(n, m) float32 probabilities that responses j (m) answer queries i (n)."""


@runtime_checkable
class Similarity(Protocol):
    """A model of which responses mean the same."""

    name: str

    def score(self, first: Sequence[str], second: Sequence[str]) -> np.ndarray:
        """(n, m) float32 probabilities that texts i (n) and j (m) mean the same."""


RELEVANCE = Registry(
    "relevance model",
    {
        "tfidf": "swag_af.matching.models.relevance:TfidfRelevance",
        "encoder": "swag_af.matching.models.encoder:DualEncoder",
        "cross": "swag_af.matching.models.cross:CrossEncoder",
        "filter": "swag_af.matching.models.filtered:FilterRelevance",
    },
    {"cross": "path/to/model", "filter": "esim"},
    "swag_af.check_relevance",
)
"""By the names of `--relevance`."""
SIMILARITY = Registry(
    "similarity model",
    {
        "lexical": "swag_af.matching.models.similarity:LexicalSimilarity",
        "nli": "swag_af.matching.models.entailment:NliSimilarity",
    },
    {"nli": "path/to/model"},
    "swag_af.check_similarity",
)
"""By the names of `--similarity`."""

SHARE_TRUE = 0.25
"""Share of the pairs in training whose response is the query's own (Zellers et al. 2019b, appendix C)."""


def training_pairs(n: int, *, rng: np.random.Generator, per_query: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """`(queries, responses)`: (n * per_query,) rows of each pair, the query's own first, then responses of others.

    One of `per_query` is true, a quarter by default (`SHARE_TRUE`); every response is false as often as every other.
    """
    false = [_deranged(n, rng) for _ in range(per_query - 1)]
    responses = np.stack([np.arange(n), *false], axis=1)  # (n, per_query)
    return np.repeat(np.arange(n), per_query), responses.ravel()


def _deranged(n: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) a permutation that leaves no row where it is: the rows on a circle in random order, each takes the next."""
    order = rng.permutation(n)
    other = np.empty(n, np.int64)
    other[order] = np.roll(order, -1)
    return other
