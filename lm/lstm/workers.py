"""How many processes sample, score and learn side by side, and what each of them takes."""

import torch

from swag_af.lm.lstm.reader import LIVE_TILES, PROMPT_BYTES, TILE
from swag_af.lm.options import LMOptions

SECONDS_A_TOKEN = {"cpu": 7e-6, "cuda": 5e-7}
"""Core seconds a token takes beside its products: drawing, sorting, copying. Next to nothing at the paper's size, most
of the time with a small model, and nearly all of it on a GPU (an H100, docs/PERFORMANCE.md)."""

_LEARN_ON_A_GPU = 2
"""Models that learn side by side on a GPU where nobody says how many: it waits for the process most of the time. Two
learnt about 1.8 times as much as one, more were not tried (docs/PERFORMANCE.md)."""

LEARNT_A_SECOND = 25_000
"""Tokens, in both directions, on a GPU, by one process."""

_TOKENS_AN_ENDING = 45
"""Drawn and scored, forwards and backwards, its context's share included."""

_OPERATIONS_A_SECOND = 2e11
"""Of one core with AVX-512; half of that with AVX2 alone. Good enough to tell seconds of work from minutes."""

SECONDS_TO_START = 3.0
"""Until a process has imported what it needs."""

_SECONDS_WORTH = 30.0
"""Core seconds of work that are worth a process."""


def n_workers(asked: int | None, device: str, n_endings: int, n_types: int, lm: LMOptions) -> int:
    """Processes for `n_endings` to be sampled and scored: those asked for, otherwise as many as torch has threads.

    Fewer where there is little to do, and one on a GPU, or where torch has one thread (`OMP_NUM_THREADS=1`).
    """
    if asked is not None:
        return asked
    if device != "cpu":
        return 1
    a_token = token_operations(n_types, lm) / _OPERATIONS_A_SECOND + SECONDS_A_TOKEN[device]
    seconds = n_endings * _TOKENS_AN_ENDING * a_token
    return max(1, min(torch.get_num_threads(), int(seconds / _SECONDS_WORTH)))


def n_trainers(asked: int | None, device: str, n_models: int, n_tokens: int, n_types: int, lm: LMOptions) -> int:
    """Processes that train `n_models` from `n_tokens` in all: those asked for, otherwise as many as torch has threads.

    One where there is little to learn from, two at most on a GPU. The weights do not depend on it, but for what a GPU
    rounds otherwise each time.
    """
    if asked is not None:
        return asked
    on_gpu = device != "cpu"
    products = n_tokens * 2 * training_operations(n_types, lm) / _OPERATIONS_A_SECOND
    seconds = n_tokens / LEARNT_A_SECOND if on_gpu else products
    most = min(torch.get_num_threads(), n_models, _LEARN_ON_A_GPU if on_gpu else n_models)
    return 1 if seconds < _SECONDS_WORTH else most


def training_operations(n_types: int, lm: LMOptions) -> float:
    """Floating-point operations of learning from one token: a forward pass that projects every input, and twice as
    much backwards."""
    H = lm.hidden
    return 3 * 2.0 * H * (n_types + H * (6 + 5) * lm.layers)


def token_operations(n_types: int, lm: LMOptions) -> float:
    """Floating-point operations of sampling or scoring one token: one direction and the output layer.

    The first layer's input is projected once for each token type that is read at a time, which costs next to nothing.
    """
    H = lm.hidden
    return 2.0 * H * (n_types + H * (5 + 11 * (lm.layers - 1)))


def worker_bytes(n_types: int, lm: LMOptions, device: str, live_rows: int | None) -> float:
    """Memory of one process: Python and torch, a model as loaded and as laid out, what the first layer makes of the
    frequent types, the states of two engines, what prompts take, and two tiles of distributions."""
    H, tile = lm.hidden, TILE[device]
    weights = 4.0 * (n_types * H + 2 * lm.layers * 11 * H * H)
    states = 4.0 * (live_rows or LIVE_TILES[device] * tile) * 2 * lm.layers * H
    return _BASE_BYTES + 2.5 * weights + 2 * 3 * states + PROMPT_BYTES[device] + 2 * 2 * 4.0 * tile * n_types


_BASE_BYTES = 450e6
"""Python and torch."""

CONTEXT_BYTES = 1_900
"""What the process that is started holds at most of each context of the file and of what models have read of it
(`benchmarks/many_contexts.py`); the others hold none."""
