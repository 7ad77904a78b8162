"""A few rows made and thrown away before `generate` starts: what models draw in vain, and what few contexts cost."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from swag_af.data.context import Context
from swag_af.data.tokens import tokenize
from swag_af.lm.lstm.candidates import Row
from swag_af.lm.lstm.checkpoints import is_trained
from swag_af.lm.lstm.sampling import GivenUp, Rejected
from swag_af.lm.options import GenerateOptions
from swag_af.lm.rows import generator_of
from swag_af.lm.verb import Job
from swag_af.nn.products import multiply
from swag_af.nn.threads import pair, threads

_CONTEXTS, _NEGATIVES, _DRAWS = 8, 32, 40
"""Contexts that are tried, endings for each, and draws for each of these, at most: some seconds at the paper's size."""


@dataclass(frozen=True)
class Tried:
    """What making the rows of a few contexts of one fold took."""

    n_contexts: int
    drawn_an_ending: float
    """Tokens drawn for each ending that was asked for, those of draws that did not count among them."""
    n_drawn: float
    """Tokens drawn, gold's among them."""
    n_scored: float
    """Tokens read by the backward model; 0 where that is left for later."""
    seconds: float
    """With loading the model."""


def try_some(job: Job, fit: Sequence[Context], *, workers: int) -> Tried | None:
    """Make a few rows of `fit` contexts, for few endings each, and write nothing; None where no model is trained yet,
    or others than this machine compute."""
    trained = {fold for fold in {context.fold for context in fit} if is_trained(job.options.lms, fold)}
    if job.options.where.is_remote or not trained:
        return None
    fold, n = Counter(context.fold for context in fit if context.fold in trained).most_common(1)[0]
    some = [context for context in fit if context.fold == fold][:: -(-n // _CONTEXTS)]
    options = replace(
        job.options,
        n_negatives=min(job.options.n_negatives, _NEGATIVES),
        max_draws=min(job.options.max_draws, _DRAWS),
    )
    given_up: dict[int, GivenUp] = {}
    generator = generator_of(options, job.every_context, job.device, job.precision)
    _ = generator.types  # read from all golds, once for all blocks
    started = time.perf_counter()
    with pair(multiply) if workers == 1 else threads(1):
        made = dict(
            generator.unread_rows(
                enumerate(some),
                options.n_negatives,
                seed=options.seed,
                lazy=options.features == "lazy",
                given_up=given_up,
            )
        )
    seconds = time.perf_counter() - started
    rows = [row for row in made.values() if isinstance(row, Row)]
    rejected = [row.rejected for row in rows] + [one.rejected for one in given_up.values()]
    in_vain = sum(_tokens_in_vain(draws, options) for draws in rejected)
    of_golds, of_rows = sum(int(row.lengths[0]) for row in rows), sum(int(row.lengths.sum()) for row in rows)
    of_contexts = sum(len(tokenize(c.sent1)) + len(tokenize(c.start)) for c in some) * (1 + options.n_negatives)
    return Tried(
        n_contexts=len(some),
        drawn_an_ending=(of_rows - of_golds + in_vain) / (len(some) * options.n_negatives),
        n_drawn=of_rows + in_vain,
        n_scored=0 if options.features == "lazy" else of_rows + of_contexts * len(rows) / len(some),
        seconds=seconds,
    )


def _tokens_in_vain(rejected: Rejected, options: GenerateOptions) -> int:
    """Tokens of the draws that did not count; of those that repeat others, which are few, the longest."""
    whole = rejected.cut_off + rejected.repeated
    return whole * options.max_tokens + rejected.too_short * max(1, options.min_tokens - 1)
