"""What a matching would take, before it starts: pairs, memory and time, from a small sample that is measured here.

Relevance is learned from a few hundred rows, and scaled to all by their number. All their pairs are scored, and scaled
by the number of pairs. Samples of two sizes are matched: their times give the power by which larger take longer.
"""

import tracemalloc
from dataclasses import dataclass
from time import process_time

import numpy as np

from swag_af.matching.algorithm.buckets import sizes_said
from swag_af.matching.algorithm.rounds import InfeasibleError, match_rounds
from swag_af.matching.algorithm.work import Plan
from swag_af.matching.contract import RELEVANCE, SIMILARITY
from swag_af.matching.models.weights import Worth
from swag_af.matching.options import MatchingOptions
from swag_af.matching.own import call_method, scores_of
from swag_af.matching.rows.items import Items

SAMPLE = 600
"""Rows that are measured; half of them are matched once more, for the smaller of two sizes."""
UNSEEN_BYTES = 4
"""Bytes a pair that a network holds where Python's count of memory does not see them."""
BASE_BYTES = 0.4e9
"""The program itself, with its libraries."""


@dataclass(frozen=True)
class Estimate:
    """What one matching would take."""

    name: str
    """`answers` or `rationales`."""
    notes: tuple[str, ...]
    """How the data was read."""
    n: int
    n_folds: int
    buckets: str
    """How many, and how large."""
    n_pairs: int
    """Pairs of query and response to score."""
    memory_bytes: float
    """At its peak."""
    seconds_to_fit: float
    seconds_to_score: float
    seconds_to_match: float

    @property
    def seconds(self) -> float:
        """All of it, on one core."""
        return self.seconds_to_fit + self.seconds_to_score + self.seconds_to_match


@dataclass(frozen=True)
class _Measured:
    """What a sample of rows took."""

    n: int
    fit: float
    score: float
    match: float
    n_half: int
    match_half: float
    """Of that many of the rows, by the same scores: half of few may be fewer than a model learns from."""
    bytes: int
    """The most memory that scoring and matching held."""


def estimate(name: str, items: Items, plan: Plan, options: MatchingOptions, weight: float) -> Estimate:
    """Estimate the matching of `items` by `plan`, from at most `SAMPLE` of them; writes nothing.

    Takes some seconds; models of which that is not true say in `n_measured` how many rows are enough.
    """
    models = RELEVANCE.find(options.relevance), SIMILARITY.find(options.similarity)
    n_measured = min(int(getattr(model, "n_measured", SAMPLE)) for model in models)
    rows = np.random.default_rng(0).permutation(len(items))[:n_measured]
    large = _measure(items, rows, options, weight)
    power = float(np.clip(np.log(large.match / large.match_half) / np.log(large.n / large.n_half), 2, 3))
    sizes = np.bincount(plan.buckets.numbers)
    n_folds = int(plan.folds.max()) + 1
    n_pairs = plan.n_pairs()
    return Estimate(
        name=name,
        notes=items.notes,
        n=len(items),
        n_folds=n_folds,
        buckets=sizes_said(plan.buckets),
        n_pairs=n_pairs,
        memory_bytes=BASE_BYTES + (large.bytes / large.n**2 + UNSEEN_BYTES) * float(sizes.max()) ** 2,
        seconds_to_fit=large.fit / large.n * (n_folds - 1) * len(items),
        seconds_to_score=large.score / large.n**2 * n_pairs,
        seconds_to_match=float(large.match * ((sizes / large.n) ** power).sum()),
    )


def _measure(items: Items, rows: np.ndarray, options: MatchingOptions, weight: float) -> _Measured:
    """CPU seconds of learning from `rows`, scoring all their pairs, and matching them; memory in a second go."""
    model, similarity = RELEVANCE.make(options.relevance), SIMILARITY.make(options.similarity)
    queries, responses = ([texts[row] for row in rows.tolist()] for texts in (items.queries, items.responses))
    times = [process_time()]
    call_method(model, "fit", queries, responses, rng=np.random.default_rng(0))
    times.append(process_time())
    relevant, same = scores_of(model, queries, responses), scores_of(similarity, responses, responses)
    worth = Worth(relevant, same, items.texts[rows], weight)
    times.append(process_time())
    _match(worth, options)
    times.append(process_time())
    half = slice(max(2, len(rows) // 2))
    _match(Worth(relevant[half, half], same[half, half], items.texts[rows[half]], weight), options)
    times.append(process_time())
    tracemalloc.start()
    again = model.score(queries, responses), similarity.score(responses, responses)
    _match(Worth(*again, items.texts[rows], weight), options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    fit, score, match, match_half = np.maximum(np.diff(times), 1e-4).tolist()
    return _Measured(len(rows), fit, score, match, half.stop, match_half, peak)


def _match(worth: Worth, options: MatchingOptions) -> None:
    """The rounds of a sample; one that cannot be matched, as where a text is common in it, is only less to time."""
    try:
        match_rounds(worth, min(options.n_distractors, len(worth) // 2), top=options.top)
    except InfeasibleError:
        return
