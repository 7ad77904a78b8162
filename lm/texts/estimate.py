"""What a `generate` of texts would take, before it starts: a few contexts are answered and timed, and nothing is kept.

A generator that asks for money says itself what it would take, and is not tried here.
"""

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from swag_af.data.context import Context
from swag_af.data.tokens import token_spans
from swag_af.lm.contract import Generated
from swag_af.lm.options import GenerateOptions
from swag_af.lm.registry import GENERATORS
from swag_af.lm.texts.making import checked_answers
from swag_af.lm.texts.outcome import Texts, advice_of, nothing_left
from swag_af.lm.texts.plan import Job, prepare

SECONDS = 5.0
"""Until so much time has passed, more contexts are tried."""


@dataclass(frozen=True)
class TextEstimate:
    """What it would take."""

    n_contexts: int
    """Those that are asked about."""
    unfit: dict[str, int]
    """Contexts that are left out before, by reason."""
    forecast: tuple[str, ...] = ()
    """What the generator says; otherwise it was tried, and what follows is known."""
    n_tried: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    """Of those that were tried, by reason."""
    rejected: dict[str, int] = field(default_factory=dict)
    """Texts that were left out, by reason."""
    rejected_share: float = 0.0
    """Of the texts that were made."""
    advice: str = ""
    """What to do where all that were tried are dropped."""
    seconds_to_begin: float = 0.0
    """Until the first context was answered: loading, or learning, that for every fold where it took time again."""
    seconds_a_context: float = 0.0
    disk_bytes: float = 0.0
    """The answers and the pool, while both are there."""


def estimate_texts(options: GenerateOptions) -> TextEstimate:
    """Estimate without beginning a pool; what can be checked is checked. ExhaustedError where no context is fit."""
    job = prepare(options)
    asked = [context for row, context in enumerate(job.contexts) if row not in job.unfit]
    unfit = dict(Counter(job.unfit.values()))
    if not asked:
        raise nothing_left(job, unfit)
    forecast = getattr(job.generator, "forecast", None)
    if forecast is not None:
        with GENERATORS.blaming(options.generator, "forecast"):
            return TextEstimate(len(asked), unfit, tuple(forecast(asked, options.n_negatives, seed=options.seed)))
    return _tried(job, asked, unfit)


def _tried(job: Job, asked: Sequence[Context], unfit: dict[str, int]) -> TextEstimate:
    """The first context of the largest fold pays for loading; others of it, more each time, tell the rate, and one of
    another fold what each fold costs. Where every fold has one context, all tell the rate."""
    folds = Counter(context.fold for context in asked)
    ((fold, n_mine),) = folds.most_common(1)
    mine = [context for context in asked if context.fold == fold] if n_mine > 1 else list(asked)
    answers, begin = _timed(job, mine[:1])
    rate, at, n, stop = begin, 1, 1, time.perf_counter() + SECONDS
    seconds_of_one = begin
    while at < len(mine) and (at == 1 or time.perf_counter() < stop):
        more, seconds = _timed(job, mine[at : at + n])
        answers += more
        seconds_of_one = seconds if at == 1 else seconds_of_one
        rate, at, n = seconds / len(more), at + n, 4 * n
    elsewhere = [context for context in asked if context.fold != fold] if n_mine > 1 else []
    if elsewhere:
        more, seconds = _timed(job, elsewhere[:1])
        answers += more
        begin += (len(folds) - 1) * max(0.0, seconds - seconds_of_one)
    texts = Texts()
    for answer in answers:
        texts.add(answer)
    dropped = Counter(answer.reason for answer in answers if answer.reason)
    return TextEstimate(
        n_contexts=len(asked),
        unfit=unfit,
        n_tried=len(answers),
        dropped=dict(dropped.most_common()),
        rejected=dict(texts.rejected.most_common()),
        rejected_share=texts.rejected_share,
        advice=advice_of(dropped, texts.rejected) if dropped.total() == len(answers) else "",
        seconds_to_begin=begin,
        seconds_a_context=rate,
        disk_bytes=len(asked) * _bytes(answers, job.options.n_negatives),
    )


def _timed(job: Job, contexts: Sequence[Context]) -> tuple[list[Generated], float]:
    started = time.perf_counter()
    made = list(checked_answers(job, contexts))
    return made, time.perf_counter() - started


def _bytes(answers: Sequence[Generated], n_negatives: int) -> float:
    """Of a context on disk: its line, and its row of the pool, where the longest ending decides the width."""
    endings = [answer.endings for answer in answers if answer.endings]
    if not endings:
        return 0.0
    line = float(np.mean([len(json.dumps(mine)) for mine in endings]))
    longest = max(len(token_spans(ending)) for mine in endings for ending in mine)
    return line + (1 + n_negatives) * (2 * (1 + longest) + 1)
