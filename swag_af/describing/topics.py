"""Topics of a set by latent Dirichlet allocation (Blei et al. 2003), as Table 7 of Zellers et al. 2018.

scikit-learn's online variational Bayes. A document is what is true of one instance: context, start and gold, or premise
and text; equal ones count once. The model is fitted on nine tenths of the groups. Of the documents in the last tenth
every other word says what their topics are, and the rest are foretold (document completion; Wallach et al. 2009,
"Evaluation methods for topic models"); beside their perplexity stands that by word frequencies alone, so that topics
which tell nothing are told from others. scikit-learn's own `perplexity` counts the prior of the topics against the
few words held out, and is of no use here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.work.progress import Advance
from swag_af.describing.parts import plain, token_list

N_WORDS = 10
"""Words shown of a topic."""
HELD_OUT = 0.1
"""The share of the documents, in whole groups, on which perplexity is measured."""
FEW = 50
"""Documents a topic; with fewer, topics change with the seed."""
MANY = 1000
"""Documents from which on a word must be in `LEAST` of them."""
LEAST = 5
MOST_COMMON = 0.2
"""Words of a larger share of the documents are of no topic."""
PRIOR = 0.3
"""Of a document's topics. Instances are short: with scikit-learn's 1 / topics, held-out words of SNLI and HellaSwag are
foretold worse."""
_BATCH = 512
_VISITS = 100_000
"""Documents are gone through as often as makes so many, from twice to fifty times."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and its words."""

    share: float
    """Of all documents: the mean of what each gives to the topic."""
    words: tuple[str, ...]
    """The likeliest first."""


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a set, the largest first."""

    topics: tuple[Topic, ...]
    n_documents: int
    n_held_out: int
    n_types: int
    """Different words that the model knows."""
    perplexity: float | None
    """Of every other word of the held-out documents, given the rest; None where nothing could be held out."""
    by_frequency: float | None
    """The same if each word came by its share of all words, whatever the document."""
    warnings: tuple[str, ...]


def topics_of(
    instances: Instances, groups: np.ndarray, n_topics: int, *, seed: int, advance: Advance = lambda *_, **__: None
) -> Topics:
    """`n_topics` topics of a set whose groups have the numbers `groups` (N,).

    The order of the instances does not matter. Advances by 1 for each batch, by `n_batches` at most.
    """
    documents, parted = _documents(instances, groups, seed)
    held = _held_out(parted)
    counter = _counter(documents, ~held)
    if counter is None:
        return Topics((), len(documents), 0, 0, None, None, ("Too few different words for topics.",))
    counts = counter.transform(documents)  # (D, W)
    words = counter.get_feature_names_out().tolist()
    model = _fitted(counts[~held], n_topics, seed, advance)
    halves = [counter.transform([documents[i][half::2] for i in np.flatnonzero(held)]) for half in (0, 1)]
    perplexities = _perplexities(model, counts[~held], *halves) if held.any() else (None, None)
    shares = model.transform(counts).mean(axis=0)  # (topics,)
    found = [
        Topic(round(float(share), 6), tuple(words[i] for i in np.argsort(-weights, kind="stable")[:N_WORDS].tolist()))
        for share, weights in zip(shares, model.components_, strict=True)
    ]
    ordered = tuple(sorted(found, key=lambda one: (-one.share, one.words)))
    told = tuple(_warnings(len(documents), n_topics, perplexities))
    return Topics(ordered, len(documents), int(held.sum()), len(words), *perplexities, told)


def n_batches(n_documents: int) -> int:
    """How many batches a fit takes of so many documents or fewer, at most: fewer are gone through more often."""
    return max((_passes(begin + 1) * (begin // _BATCH + 1) for begin in range(0, n_documents, _BATCH)), default=0)


def document_of(one: Instance, kind: str) -> str:
    """What is true of an instance, as one text."""
    text = one.options[one.answer] if kind == "choices" else one.options[0]
    return " ".join(filter(None, (one.context, one.start, text)))


def _documents(instances: Instances, groups: np.ndarray, seed: int) -> tuple[list[list[str]], np.ndarray]:
    """The words of each different document and its group, in an order drawn by a hash of its text."""
    key = seed.to_bytes(8, "little")
    drawn: dict[tuple[bytes, str], int] = {}
    for one, group in zip(instances.instances, groups.tolist(), strict=True):
        text = document_of(one, instances.kind)
        place = (blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=key).digest(), text)
        drawn[place] = min(group, drawn.get(place, group))
    order = sorted(drawn)
    _, numbers = np.unique([drawn[place] for place in order], return_inverse=True)
    return [content_words(text) for _, text in order], numbers


def content_words(text: str) -> list[str]:
    """The words of a text in lower case that are of two letters or more and no stop words, tags or masks (`plain`)."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    lower = (token.lower() for token in token_list(plain(text)))
    return [word for word in lower if len(word) > 1 and word.isalpha() and word not in ENGLISH_STOP_WORDS | _PIECES]


_PIECES = frozenset({"ca", "wo", "na", "ta", "does", "did", "don", "let", "gon", "wan"})
"""What tokens leave of *can't*, *won't*, *gonna*, and auxiliaries that scikit-learn's list of stop words lacks."""


def _held_out(groups: np.ndarray) -> np.ndarray:
    """(D,) whether a document is held out: whole groups, in the order of their first documents, each that `HELD_OUT`
    has room for.

    No document is where there are fewer than ten groups.
    """
    names, first, sizes = np.unique(groups, return_index=True, return_counts=True)
    if len(first) < 1 / HELD_OUT:
        return np.zeros(len(groups), bool)
    room, taken = max(1.0, HELD_OUT * len(groups)), []
    for group in np.argsort(first).tolist():
        if sizes[group] <= room:
            taken.append(names[group])
            room -= sizes[group]
    return np.isin(groups, taken)


def _counter(documents: Sequence[Sequence[str]], fitted: np.ndarray) -> Any:
    """A counter of the words that are common enough among the documents that are `fitted` (D,), and not too common;
    None where there are fewer than two."""
    from sklearn.feature_extraction.text import CountVectorizer

    those = [words for words, is_fitted in zip(documents, fitted, strict=True) if is_fitted]
    least = LEAST if len(documents) >= MANY else 2
    counter = CountVectorizer(analyzer=list, min_df=least, max_df=max(least + 1, int(MOST_COMMON * len(those))))
    try:
        counter.fit(those)
    except ValueError:  # no word is left
        return None
    return counter if len(counter.vocabulary_) > 1 else None


def _fitted(counts: Any, n_topics: int, seed: int, advance: Advance) -> Any:
    """The model of the documents `counts` (D, W), fitted batch by batch."""
    from sklearn.decomposition import LatentDirichletAllocation

    n = counts.shape[0]
    model = LatentDirichletAllocation(n_topics, doc_topic_prior=PRIOR, total_samples=n, random_state=seed)
    for _ in range(_passes(n)):
        for begin in range(0, n, _BATCH):
            model.partial_fit(counts[begin : begin + _BATCH])
            advance(1)
    return model


def _passes(n_documents: int) -> int:
    return max(2, min(50, _VISITS // max(1, n_documents)))


def _perplexities(model: Any, fitted: Any, given: Any, asked: Any) -> tuple[float | None, float | None]:
    """Of the words `asked` (H, W) of held-out documents, by the topics of those `given` (H, W), and by how frequent
    words are among the documents that are `fitted` (one added to each count); None where no word is asked."""
    n = int(asked.sum())
    if not n:
        return None, None
    frequency = np.asarray(fitted.sum(axis=0)).ravel() + 1.0  # (W,)
    of_topic = model.components_ / model.components_.sum(axis=1, keepdims=True)  # (topics, W)
    topics = model.transform(given)  # (H, topics)
    rows, words = asked.nonzero()
    times = np.asarray(asked[rows, words]).ravel()
    likely = (topics[rows] * of_topic[:, words].T).sum(axis=1)
    by_frequency = (frequency / frequency.sum())[words]
    return _perplexity(likely, times), _perplexity(by_frequency, times)


def _perplexity(likely: np.ndarray, times: np.ndarray) -> float:
    """Of words that occur so many `times`; five digits, so that sums in another order are the same."""
    return float(f"{np.exp(-(times * np.log(likely)).sum() / times.sum()):.5g}")


def _warnings(n_documents: int, n_topics: int, perplexities: tuple[float | None, float | None]) -> list[str]:
    warnings = []
    if n_documents < FEW * n_topics:
        warnings.append(
            f"{n_documents:,} documents are few for {n_topics} topics: with fewer than {FEW} a topic they change with "
            f"the seed. Ask for {max(2, n_documents // FEW)} or fewer."
        )
    topics, frequency = perplexities
    if topics is not None and frequency is not None and topics >= frequency:
        warnings.append(
            f"On held-out documents the topics tell no more than word frequencies do (perplexity {topics:,.0f}, by "
            f"frequencies {frequency:,.0f})."
        )
    return warnings
