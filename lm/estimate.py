"""What `generate` would take, before it starts: disk, memory, and time from counted operations and a measured rate."""

import time
from dataclasses import dataclass

import numpy as np
import torch

from swag_af.data.captions.context_set import read_dropped
from swag_af.data.pool.folder import FEATURES, smallest_uint
from swag_af.data.tokens import tokenize
from swag_af.lm.lstm.checkpoints import open_vocabulary
from swag_af.lm.lstm.corpus import caption_vocabulary
from swag_af.lm.lstm.reader import LIVE_TILES, TILE
from swag_af.lm.options import GenerateOptions, LMOptions
from swag_af.lm.verb import Job, lm_options, missing_folds, prepare
from swag_af.nn.products import multiply

GENERATE_OVER_FLOOR, TRAIN_OVER_FLOOR = 1.3, 1.6
"""Measured time over that of the products alone, at the paper's size (benchmarks/generate.py and train_lm.py)."""

DRAWS_PER_ENDING = 1.13
"""Endings drawn for each that is kept; the others are too short, cut off, or repeat one (docs/RESULTS.md: 285,782 for
253,873)."""

SECONDS_A_TOKEN = {"cpu": 7e-6, "cuda": 0.0}
"""Core seconds a token takes beside its products: drawing, sorting, copying. Next to nothing at the paper's size, most
of the time with a small model; on a GPU not measured."""

SECONDS_A_FOLD = 0.3
"""Seconds that each shard spends on each fold in it: loading the model, projecting its inputs, and the small batches
at the end."""

SECONDS_TO_BEGIN = 2.0
"""Seconds before the first shard: the models checked, the pool's vocabulary tagged."""

_BASE_BYTES = 450e6
"""Python, torch and the contexts."""

_SAMPLE = 1000
"""Contexts whose lengths are counted."""


@dataclass(frozen=True)
class Estimate:
    """What a `generate` would take."""

    n_contexts: int
    n_shards: int
    folds_to_train: tuple[int, ...]
    disk_bytes: float
    memory_bytes: float
    products_per_second: float
    """Floating-point operations a second of a large fp32 product here."""
    seconds_to_train: float
    seconds_to_generate: float
    seconds_for_lazy_features: float
    """What computing all features that are left for later would take."""


def token_operations(n_types: int, lm: LMOptions) -> float:
    """Floating-point operations of sampling or scoring one token: one direction and the output layer.

    The first layer's input is projected once for each token type that is read at a time, which costs next to nothing.
    """
    H = lm.hidden
    return 2.0 * H * (n_types + H * (5 + 11 * (lm.layers - 1)))


def training_operations(n_types: int, lm: LMOptions) -> float:
    """The same of learning from one token: a forward pass that projects every input, and twice as much backwards."""
    H = lm.hidden
    return 3 * 2.0 * H * (n_types + H * (6 + 5) * lm.layers)


def estimate(options: GenerateOptions) -> Estimate:
    """Estimate without writing anything; what can be checked is checked. Takes some seconds."""
    job = prepare(options)
    lm = lm_options(options)
    dropped = read_dropped(options.contexts) if options.use_dropped else []
    vocabulary = (
        open_vocabulary(options.lms)
        if (options.lms / "vocabulary.tsv").exists()
        else caption_vocabulary(job.every_context, dropped, min_count=lm.min_count)
    )
    V, K, L = len(vocabulary), 1 + options.n_negatives, options.max_tokens
    sample = job.contexts[:: max(1, len(job.contexts) // _SAMPLE)]
    n_context = float(np.mean([len(tokenize(c.sent1)) + len(tokenize(c.start)) for c in sample]))
    n_ending = float(np.mean([min(L, len(tokenize(c.gold))) for c in sample]))
    forward, backward = DRAWS_PER_ENDING * K * n_ending, K * (n_ending + n_context)  # tokens a context
    per_token, per_second = token_operations(V, lm), measure_products(lm.hidden, V, job.device)
    beside = SECONDS_A_TOKEN[job.device] / torch.get_num_threads()
    seconds = (GENERATE_OVER_FLOOR * per_token / per_second + beside) * len(job.contexts)
    lazy = options.features == "lazy"
    missing = missing_folds(job)
    n_folds = 1 + max(context.fold for context in job.every_context)
    n_pairs = (len(job.every_context) + len(dropped)) * (1 - 1 / n_folds)  # all folds but one are learnt from
    n_read = 2 * len(missing) * lm.epochs * n_pairs * (n_context + n_ending)
    widest = max(len(tokenize(c.start)) for c in sample)
    bytes_a_row = K * (
        L * np.dtype(vocabulary.id_dtype).itemsize + np.dtype(smallest_uint(L)).itemsize + 4 * len(FEATURES)
    )
    bytes_a_row += (1 + widest) * np.dtype(vocabulary.id_dtype).itemsize + 400
    return Estimate(
        n_contexts=len(job.contexts),
        n_shards=len(job.groups),
        folds_to_train=missing,
        disk_bytes=float(bytes_a_row * len(job.contexts)),
        memory_bytes=_memory(V, lm, job.device, options.live_rows),
        products_per_second=per_second,
        seconds_to_train=TRAIN_OVER_FLOOR * training_operations(V, lm) / per_second * n_read,
        seconds_to_generate=_fixed_seconds(job) + seconds * (forward + (0 if lazy else backward)),
        seconds_for_lazy_features=seconds * backward if lazy else 0.0,
    )


def _fixed_seconds(job: Job) -> float:
    """What is spent however few endings a context gets."""
    return SECONDS_TO_BEGIN + SECONDS_A_FOLD * sum(len({c.fold for c in group}) for group in job.groups)


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


def _memory(n_types: int, lm: LMOptions, device: str, live_rows: int | None) -> float:
    """Bytes: a model as loaded and as laid out, the states of two engines, and two tiles of distributions."""
    H, tile = lm.hidden, TILE[device]
    weights = 4.0 * (n_types * H + 2 * lm.layers * 11 * H * H)
    states = 4.0 * (live_rows or LIVE_TILES[device] * tile) * 2 * lm.layers * H
    return _BASE_BYTES + 2.5 * weights + 2 * 3 * states + 2 * 2 * 4.0 * tile * n_types
