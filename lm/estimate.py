"""What `generate` would take, before it starts: disk, memory, and time from counted operations and a measured rate."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from swag_af.data.captions.context_set import read_dropped
from swag_af.data.context import Context
from swag_af.data.pool.folder import FEATURES, smallest_uint
from swag_af.data.tokens import tokenize
from swag_af.data.vocabulary import Vocabulary
from swag_af.lm.lstm.golds import Bounds, unfit_golds
from swag_af.lm.lstm.reader import TILE
from swag_af.lm.lstm.workers import (
    CONTEXT_BYTES,
    LEARNT_A_SECOND,
    SECONDS_A_TOKEN,
    SECONDS_TO_START,
    token_operations,
    training_operations,
    worker_bytes,
)
from swag_af.lm.options import GenerateOptions, LMOptions
from swag_af.lm.reuse import reusable
from swag_af.lm.rows import Block, blocks_of
from swag_af.lm.texts.settings import lms_of
from swag_af.lm.trying import Tried, try_some
from swag_af.lm.verb import Job, lm_options, missing_folds, prepare, vocabulary_of, workers_of
from swag_af.nn.device import pick_device
from swag_af.nn.products import multiply
from swag_af.nn.threads import threads

GENERATE_OVER_FLOOR, TRAIN_OVER_FLOOR = 1.3, 1.6
"""Measured time over that of the products alone, at the paper's size (benchmarks/generate.py and train_lm.py)."""

DRAWS_PER_ENDING = 1.13
"""Endings drawn for each that is kept where there are no models to try; the others are too short, cut off, or repeat
one (docs/experiment/one-commit: 2,302,860 for 2,046,000). Models that have learnt little draw several times as many."""

SECONDS_A_FOLD = 0.3
"""Seconds that a process spends on each fold of a shard, at least: loading the model, projecting its inputs, and the
small batches at the end."""

SECONDS_TO_BEGIN = 2.0
"""Seconds before the first shard: the models checked, the pool's vocabulary tagged."""

_SAMPLE = 1000
"""Contexts whose lengths are counted."""


@dataclass(frozen=True)
class Estimate:
    """What a `generate` would take."""

    n_contexts: int
    unfit: Counter[str]
    """How many of them no sample could stand beside, by reason: they are left out."""
    n_tried: int
    """Contexts whose rows were made to find out what is drawn in vain; 0 where no model is trained yet."""
    n_copied: int
    """Contexts whose rows other pools have."""
    n_shards: int
    workers: int
    """Processes that sample and score."""
    folds_to_train: tuple[int, ...]
    disk_bytes: float
    memory_bytes: float
    products_per_second: float
    """Floating-point operations a second of a large fp32 product here, by all workers together."""
    seconds_to_train: float
    seconds_to_generate: float
    seconds_for_lazy_features: float
    """What computing all features that are left for later would take."""

    @property
    def n_made(self) -> int:
        """Contexts whose rows are sampled."""
        return self.n_contexts - self.n_copied - self.unfit.total()


def estimate(options: GenerateOptions) -> Estimate:
    """Estimate without writing anything; what can be checked is checked. Takes some seconds.

    For the paper's LSTMs; `swag_af.lm.texts.estimate` is for generators of text.
    """
    options = replace(options, lms=lms_of(options))
    job = prepare(options)
    pick_device(job.device)  # whose products are measured here
    lm = lm_options(options)
    dropped = read_dropped(options.contexts) if options.use_dropped else []
    vocabulary = vocabulary_of(job)
    V, K, L = len(vocabulary), 1 + options.n_negatives, options.max_tokens
    sample = job.contexts[:: max(1, len(job.contexts) // _SAMPLE)]
    n_context = float(np.mean([len(tokenize(c.sent1)) + len(tokenize(c.start)) for c in sample]))
    n_ending = float(np.mean([min(L, len(tokenize(c.gold))) for c in sample]))
    copied = reusable(job.reused, job.named)
    blocks = _blocks_to_make(job, copied)
    workers = workers_of(job, blocks, V)
    per_second = _rate(workers, lm, V, job.device)
    a_token, a_token_learnt = _seconds_a_token(job.device, per_second, lm, V)
    fit, unfit = _told_apart(job, vocabulary)
    n, n_made = len(fit), len(fit) - len(copied)
    tried = try_some(job, fit, workers=workers) if n_made else None
    drawn = tried.drawn_an_ending if tried else DRAWS_PER_ENDING * n_ending
    forward, backward = n_ending + (K - 1) * drawn, K * (n_ending + n_context)  # tokens a context
    lazy = options.features == "lazy"
    missing = missing_folds(job)
    n_folds = len({context.fold for context in job.every_context})
    n_pairs = (len(job.every_context) + len(dropped)) * (1 - 1 / n_folds)  # all folds but one are learnt from
    n_read = 2 * len(missing) * lm.epochs * n_pairs * (n_context + n_ending)
    begun = _fixed_seconds(blocks, workers, _seconds_a_fold(tried, a_token * workers))
    return Estimate(
        n_contexts=len(job.contexts),
        unfit=unfit,
        n_tried=tried.n_contexts if tried else 0,
        n_copied=len(copied),
        n_shards=len(job.groups),
        workers=workers,
        folds_to_train=missing,
        disk_bytes=float(_row_bytes(options, vocabulary, sample) * n),
        memory_bytes=CONTEXT_BYTES * len(job.every_context)
        + workers * worker_bytes(V, lm, job.device, options.live_rows),
        products_per_second=per_second,
        seconds_to_train=a_token_learnt * n_read,
        seconds_to_generate=begun + a_token * n_made * (forward + (0 if lazy else backward)),
        seconds_for_lazy_features=a_token * n * backward if lazy else 0.0,
    )


def _told_apart(job: Job, vocabulary: Vocabulary) -> tuple[list[Context], Counter[str]]:
    """The contexts that endings can be sampled for, and how many others there are, by reason."""
    reasons = unfit_golds(job.contexts, vocabulary, Bounds(job.options.min_tokens, job.options.max_tokens))
    fit = [context for context, reason in zip(job.contexts, reasons, strict=True) if reason is None]
    return fit, Counter(reason for reason in reasons if reason is not None)


def _seconds_a_fold(tried: Tried | None, a_token: float) -> float:
    """What a fold of a shard costs one process beside its tokens, of which each takes `a_token` seconds."""
    if tried is None:
        return SECONDS_A_FOLD
    return max(SECONDS_A_FOLD, tried.seconds - a_token * (tried.n_drawn + tried.n_scored))


def _seconds_a_token(device: str, per_second: float, lm: LMOptions, n_types: int) -> tuple[float, float]:
    """Of sampling or scoring one token, and of learning one in one direction; on a GPU, where products take least, as
    was measured."""
    if device != "cpu":
        return SECONDS_A_TOKEN[device], 0.5 / LEARNT_A_SECOND
    beside = SECONDS_A_TOKEN[device] / torch.get_num_threads()
    return (
        GENERATE_OVER_FLOOR * token_operations(n_types, lm) / per_second + beside,
        TRAIN_OVER_FLOOR * training_operations(n_types, lm) / per_second,
    )


def _blocks_to_make(job: Job, copied: set[int]) -> list[Block]:
    """The blocks of all contexts but those at the positions `copied`."""
    blocks, first = list[Block](), 0
    for number, group in enumerate(job.groups):
        settled = {position for position in range(len(group)) if first + position in copied}
        blocks += blocks_of(number, group, settled, job.options, job.device)
        first += len(group)
    return blocks


def _rate(workers: int, lm: LMOptions, n_types: int, device: str) -> float:
    """Floating-point operations a second of a large fp32 product, by all processes together."""
    if workers == 1:
        return measure_products(lm.hidden, n_types, device)
    n_cores = torch.get_num_threads()
    with threads(1):
        return min(workers, n_cores) * measure_products(lm.hidden, n_types, device)


def _row_bytes(options: GenerateOptions, vocabulary: Vocabulary, sample: Sequence[Context]) -> int:
    """Bytes of a row of the pool on disk."""
    K, L = 1 + options.n_negatives, options.max_tokens
    widest = max(len(tokenize(c.start)) for c in sample)
    an_id = np.dtype(vocabulary.id_dtype).itemsize
    return K * (L * an_id + np.dtype(smallest_uint(L)).itemsize + 4 * len(FEATURES)) + (1 + widest) * an_id + 400


def _fixed_seconds(blocks: Sequence[Block], workers: int, a_fold: float) -> float:
    """What is spent however few endings a context gets: a process loads a model whenever its fold changes, and that and
    the small batches at the end take it `a_fold` seconds."""
    n_changes = len({(block.number, block.contexts[0].fold) for block in blocks})
    n_loads = n_changes if workers == 1 else min(n_changes, len(blocks) / workers)
    return SECONDS_TO_BEGIN + a_fold * n_loads + (SECONDS_TO_START if workers > 1 else 0.0)


def measure_products(hidden: int, n_types: int, device: str) -> float:
    """Floating-point operations a second of a tile's product with the vocabulary: the median over half a second."""
    x = torch.randn(TILE[device], hidden, device=device)
    weight = torch.randn(n_types, hidden, device=device)
    seconds: list[float] = []
    while len(seconds) < 4 or sum(seconds) < 0.5:
        started = time.perf_counter()
        multiply(x, weight)
        if device == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - started)
    return 2.0 * x.numel() * n_types / float(np.median(seconds[1:]))
