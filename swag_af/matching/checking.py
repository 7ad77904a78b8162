"""`check_relevance` and `check_similarity`, which test the sentences of both contracts on anyone's class."""

from collections.abc import Callable
from typing import Any

import numpy as np

from swag_af.data.plugins.contracts import WORDS, broken, factory_of, lacking
from swag_af.matching.contract import Relevance, Similarity
from swag_af.matching.own import call_method

N_TEXTS = 64


def check_relevance(
    model_or_factory: Relevance | Callable[[], Relevance], *, rng: np.random.Generator | None = None
) -> None:
    """Raise ContractError, naming the sentence, unless the model keeps the contract of `Relevance`.

    Takes a class, any function that returns a new model, or an unfitted model. Fits it four times on 64 pairs made of
    random words, and scores pairs of them.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    make: Callable[[], Any] = factory_of(model_or_factory, "fit")
    queries, responses = _texts(rng), _texts(rng)
    seed = int(rng.integers(2**32))
    half = N_TEXTS // 2
    fitted = make()
    _has_methods(_OF_RELEVANCE, fitted, "fit", "score")
    call_method(fitted, "fit", queries, responses, rng=np.random.default_rng(seed))
    scores = _checked(_OF_RELEVANCE, 2, fitted, call_method(fitted, "score", queries, responses), (N_TEXTS, N_TEXTS))
    few = _checked(_OF_RELEVANCE, 2, fitted, call_method(fitted, "score", queries[5:9], responses[20:23]), (4, 3))
    if not np.allclose(few, scores[5:9, 20:23], atol=1e-4):
        raise broken(_OF_RELEVANCE, 2, fitted, "a pair scored among fewer pairs scores otherwise")
    again = make()
    call_method(again, "fit", queries, responses, rng=np.random.default_rng(seed))
    if not np.allclose(call_method(again, "score", queries, responses), scores, atol=1e-4):
        raise broken(_OF_RELEVANCE, 3, again, "two fits with the same rng score differently")
    call_method(again, "fit", queries[:half], responses[:half], rng=np.random.default_rng(seed + 1))
    call_method(again, "fit", queries, responses, rng=np.random.default_rng(seed))
    if not np.allclose(call_method(again, "score", queries, responses), scores, atol=1e-4):
        raise broken(_OF_RELEVANCE, 1, again, "a second fit scores otherwise than a fresh model fitted on the same")


def check_similarity(
    model_or_factory: Similarity | Callable[[], Similarity], *, rng: np.random.Generator | None = None
) -> None:
    """Raise ContractError, naming the sentence, unless the model keeps the contract of `Similarity`.

    Takes a class, any function that returns a new model, or a model. Scores pairs of 64 texts made of random words.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    model = factory_of(model_or_factory, "score")()
    _has_methods(_OF_SIMILARITY, model, "score")
    texts = _texts(rng)
    scores = _checked(_OF_SIMILARITY, 1, model, call_method(model, "score", texts, texts), (N_TEXTS, N_TEXTS))
    few = _checked(_OF_SIMILARITY, 1, model, call_method(model, "score", texts[5:9], texts[20:23]), (4, 3))
    if not np.allclose(few, scores[5:9, 20:23], atol=1e-4):
        raise broken(_OF_SIMILARITY, 1, model, "a pair scored among fewer pairs scores otherwise")
    if not np.allclose(scores, scores.T, atol=1e-4):
        raise broken(_OF_SIMILARITY, 1, model, "two texts are more similar one way round than the other")
    if (scores.diagonal() + 1e-4 < scores.max(axis=1)).any():
        raise broken(_OF_SIMILARITY, 2, model, "a text is more similar to another than to itself")


def _has_methods(sentences: dict[int, str], model: Any, *methods: str) -> None:
    if fault := lacking(model, *methods):
        raise broken(sentences, 1, model, fault)


def _texts(rng: np.random.Generator) -> list[str]:
    return [" ".join(rng.choice(WORDS, int(rng.integers(2, 9)))) + "." for _ in range(N_TEXTS)]


def _checked(sentences: dict[int, str], sentence: int, model: Any, scores: Any, shape: tuple[int, int]) -> np.ndarray:
    if not isinstance(scores, np.ndarray) or scores.shape != shape:
        found = getattr(scores, "shape", type(scores).__name__)
        raise broken(sentences, sentence, model, f"scores of {shape[0]} x {shape[1]} texts are {found}")
    if scores.dtype.kind not in "fiub" or not np.isfinite(scores).all() or scores.min() < 0 or scores.max() > 1:
        raise broken(sentences, sentence, model, "scores are not all probabilities from 0 to 1")
    return scores


_OF_RELEVANCE = {
    1: "fit forgets any earlier fit",
    2: "score gives a probability for each query and each response, whatever else is scored",
    3: "the same rng gives the same probabilities",
}
_OF_SIMILARITY = {
    1: "score gives a probability for each pair, whatever else is scored, whichever comes first",
    2: "a text and itself have the highest probability of all",
}
