"""Matching from Python: lists of texts in, which row's response each query gets out. Nothing is written or kept."""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from swag_af.data.errors import InputError, check_kind
from swag_af.data.plugins.contracts import factory_of
from swag_af.matching.algorithm.work import Models, Outcome, match_items, plan_of
from swag_af.matching.contract import RELEVANCE, SIMILARITY, Relevance, Similarity
from swag_af.matching.options import MatchingOptions
from swag_af.matching.own import call_method
from swag_af.matching.rows.items import items_of


def match_texts(
    queries: Sequence[str],
    responses: Sequence[str],
    groups: Sequence[str] | None = None,
    *,
    relevance: str | Relevance | Callable[[], Relevance] = "encoder",
    similarity: str | Similarity = "lexical",
    options: MatchingOptions | None = None,
) -> Outcome:
    """Which rows' responses become wrong answers of each query: `assigned` (n, rounds), rows as they are given.

    `relevance` is a name, whatever returns a new model for each fold, a class for example, or an unfitted model, which
    is copied; `similarity` a name or a model; their names in `options` do not count. `groups` are what no fold may
    part, each row by itself when not given. The wrong answers of row i are `[responses[j] for j in assigned[i]]`, which
    `CandidatePool.from_texts` takes as negatives; tags in them stay as they are. Raises InputError for lists of
    different lengths, for numbers out of range, and where there is no matching.
    """
    used = MatchingOptions() if options is None else options
    check_kind("options", used, MatchingOptions)
    if isinstance(similarity, type):
        raise InputError(f"similarity: {similarity.__name__} is a class. Give an object of it, or its name.")
    models = Models(
        (lambda: RELEVANCE.make(relevance)) if isinstance(relevance, str) else factory_of(relevance, "fit"),
        SIMILARITY.make(similarity) if isinstance(similarity, str) else similarity,
    )
    for model in (models.relevance(), models.similarity):
        if hasattr(model, "check"):
            call_method(model, "check")
    items = items_of(queries, responses, groups)
    plan = plan_of(items, used, models=models)
    with TemporaryDirectory() as folder:
        (outcome,) = match_items(items, plan, used, weights=[used.weight], folder=Path(folder), models=models)
    return outcome
