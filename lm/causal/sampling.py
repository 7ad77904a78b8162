"""Samples of one prompt from a causal model: the prompt is read once, and what has been read is shared.

All samples of a call advance together, a token at a time; those that are over leave the batch. Nothing else shares it,
so shapes, and with them bits, depend on the prompt and its own random numbers alone.

Letters: `b` samples, `T` tokens of the longest, `V` token types.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from swag_af.lm.causal.model import Causal, take


@dataclass(frozen=True)
class Sampling:
    """How a token is drawn."""

    temperature: float = 1.0
    """Logits are divided by it."""
    top_p: float = 1.0
    """Of the likeliest tokens, as many as together have this probability are drawn from (Holtzman et al. 2020)."""


@dataclass(frozen=True)
class ReadPrompt:
    """A prompt that has been read."""

    past: Any
    logits: torch.Tensor
    """(1, V) of the first token after it."""


def read_prompt(causal: Causal, ids: Sequence[int]) -> ReadPrompt:
    """Read the prompt `ids`, the id that begins a text before them."""
    logits, past = causal.read(torch.tensor([[causal.begin, *ids]]))
    return ReadPrompt(past, logits[:, -1])


def draw(
    causal: Causal,
    prompt: ReadPrompt,
    uniforms: np.ndarray,
    rules: Sampling,
    is_over: Callable[[Sequence[int]], bool],
) -> list[list[int]]:
    """b samples, of T tokens at most: the ids of each, up to and with the one after which `is_over(ids)` holds.

    `uniforms` (b, T) from 0 to 1 decide: sample i draws its token t by `uniforms[i, t]`, whatever the others do.
    """
    n, most = uniforms.shape
    drawn: list[list[int]] = [[] for _ in range(n)]
    alive, past, logits = list(range(n)), None, prompt.logits.expand(n, -1)
    for step in range(most):
        ids = choose(_sampled(causal, logits), uniforms[alive, step], rules)
        for i, token in zip(alive, ids, strict=True):
            drawn[i].append(token)
        staying = [at for at, i in enumerate(alive) if not is_over(drawn[i])]
        if not staying or step == most - 1:
            break
        if past is None:
            past = take(prompt.past, [0] * len(staying))
        elif len(staying) < len(alive):
            past = take(past, staying, is_last=True)
        alive = [alive[at] for at in staying]
        made, past = causal.read(torch.tensor([[drawn[i][-1]] for i in alive]), past)
        logits = made[:, -1]
    return drawn


def _sampled(causal: Causal, logits: torch.Tensor) -> torch.Tensor:
    """(b, V') the logits of ids that the tokenizer knows: some models have more, to fill their tables."""
    return logits[:, : len(causal.tokenizer)]


def choose(logits: torch.Tensor, uniforms: np.ndarray, rules: Sampling) -> list[int]:
    """The token of each of b rows of `logits` (b, V) at which the cumulated probability passes `uniforms` (b,)."""
    p = torch.softmax(logits.double() / rules.temperature, dim=1)  # (b, V)
    order = None
    if rules.top_p < 1:
        p, order = p.sort(dim=1, descending=True, stable=True)
        p = torch.where(p.cumsum(dim=1) - p < rules.top_p, p, 0.0)  # the first is always kept
    mass = p.cumsum(dim=1)  # (b, V)
    asked = torch.from_numpy(uniforms).to(mass.device)[:, None] * mass[:, -1:]  # (b, 1)
    at = torch.searchsorted(mass, asked, right=True).clamp(max=mass.shape[1] - 1)  # (b, 1)
    chosen = at if order is None else order.gather(1, at)
    ids: list[int] = chosen[:, 0].tolist()
    return ids
