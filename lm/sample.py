"""Sampling distinct endings for one context from the forward language model's full softmax.

Temperature 1, no beam, no top-k: the paper's "greedy" is plain sampling in its released code (Zellers et al.
2018, 3.3), since beams give endings of too low a perplexity. Each draw's choices come from uniforms fixed
beforehand, by inverting the cumulative distribution. Scoring by the backward model happens elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from swag_af.data.vocabulary import BOS, SPECIAL_TOKENS
from swag_af.lm.network import BidirectionalLM, State

N_SPECIAL = len(SPECIAL_TOKENS)


@dataclass(frozen=True)
class SampledRow:
    """The candidates of one context, gold first, with what the forward model says of them."""

    tokens: np.ndarray
    """(K, L) ids, 0 beyond each length."""
    lengths: np.ndarray
    """(K,) tokens."""
    ending_nats: np.ndarray
    """(K,) negative log-likelihood of the ending given the context."""
    last_token_nats: np.ndarray
    """(K,) the same of the last token alone."""
    context_nats: float
    """Negative log-likelihood of the context."""
    n_draws: int
    """How many endings were drawn to get K - 1 that count."""


@torch.inference_mode()
def sample_row(
    model: BidirectionalLM,
    context: Sequence[int],
    gold: Sequence[int],
    *,
    n_negatives: int,
    min_tokens: int,
    max_tokens: int,
    max_draws: int,
    ends: Tensor,
    rng: np.random.Generator,
) -> SampledRow | None:
    """Gold and `n_negatives` endings of `min_tokens` to `max_tokens`, distinct from it and from each other.

    `ends` (V,) is true for the tokens that end a sentence. Draws count in the order in which they are made.
    None when `max_draws * n_negatives` draws have not given enough.
    """
    device = model.embedding.device
    inputs = torch.tensor([BOS, *context], device=device)[:, None]  # (T, 1)
    hidden, state = model.forward_lm(model.embed(inputs))
    log_p = torch.log_softmax(model.logits(hidden[:-1, 0]), dim=-1)  # (T - 1, V)
    context_nats = -float(log_p.gather(1, inputs[1:]).sum())

    kept = _Kept()
    drawn, missing = 0, n_negatives
    while missing:
        if drawn >= max_draws * n_negatives:
            return None
        n = missing + missing // 8 + 16
        uniforms = torch.from_numpy(rng.random((n, max_tokens))).to(device)
        draws = _draw(model, hidden[-1], state, uniforms, ends, forced=gold if drawn == 0 else None)
        kept.add(draws, min_tokens=min_tokens, most=1 + n_negatives)
        drawn += n
        missing = 1 + n_negatives - len(kept)
    return kept.row(context_nats, drawn, width=max(max_tokens, len(gold)))


@dataclass
class _Draws:
    tokens: np.ndarray  # (R, steps)
    lengths: np.ndarray  # (R,)
    ending_nats: np.ndarray  # (R,)
    last_token_nats: np.ndarray  # (R,)


def _draw(
    model: BidirectionalLM,
    top: Tensor,
    state: State,
    uniforms: Tensor,
    ends: Tensor,
    forced: Sequence[int] | None,
) -> _Draws:
    """Continue one context, `top` (1, H) and `state`, once a row of `uniforms` (R, steps); finished rows leave.

    With `forced`, one more row comes first and takes these tokens, whatever their number, instead of sampling.
    """
    if forced is not None:
        uniforms = torch.cat((uniforms.new_zeros(1, uniforms.shape[1]), uniforms))
    n, max_steps = uniforms.shape
    n_steps = max(max_steps, len(forced) if forced is not None else 0)
    tokens = torch.zeros(n, n_steps, dtype=torch.long, device=top.device)
    lengths = torch.zeros(n, dtype=torch.long, device=top.device)
    nats, last = top.new_zeros(n), top.new_zeros(n)
    active = torch.arange(n, device=top.device)  # rows still going, (R,)
    for step in range(n_steps):
        u = uniforms[active, step] if step < max_steps else uniforms.new_zeros(len(active))
        chosen, chosen_nats = _choose(
            model.logits(top), u, forced[step] if forced is not None and step < len(forced) else None
        )
        tokens[active, step] = chosen
        nats[active] += chosen_nats
        last[active] = chosen_nats
        lengths[active] = step + 1
        going = ~ends[chosen] if step + 1 < max_steps else torch.zeros_like(chosen, dtype=torch.bool)
        if forced is not None and step < len(forced):
            going[0] = step + 1 < len(forced)
            forced = forced if going[0] else None
        active, chosen = active[going], chosen[going]
        if not len(active):
            break
        if step == 0:
            state = [(h.expand(len(active), -1), c.expand(len(active), -1)) for h, c in state]
        else:
            state = [(h[going], c[going]) for h, c in state]
        top, state = model.forward_lm.step(model.embedding[chosen], state)
    return _Draws(tokens.cpu().numpy(), lengths.cpu().numpy(), nats.cpu().numpy(), last.cpu().numpy())


def _choose(logits: Tensor, u: Tensor, forced: int | None) -> tuple[Tensor, Tensor]:
    """A token for every `u` (R,) from `logits` (R, V), or (1, V) when all rows share them, and its nats.

    The special tokens are never chosen: the others share their probability. `forced` overrides row 0.
    """
    normaliser = torch.logsumexp(logits, dim=-1)  # (R or 1,)
    # in float32 the rarest types, last in the vocabulary, would lie below the rounding of the cumulative sum
    cumulative = torch.exp(logits[:, N_SPECIAL:] - normaliser[:, None]).cumsum(dim=-1, dtype=torch.float64)
    total = cumulative[:, -1]
    if len(logits) == 1:
        chosen = torch.searchsorted(cumulative[0], u * total, right=True)
    else:
        chosen = torch.searchsorted(cumulative, (u * total)[:, None], right=True)[:, 0]
    chosen = chosen.clamp_(max=cumulative.shape[1] - 1) + N_SPECIAL
    if forced is not None:
        chosen[0] = forced
    picked = logits.expand(len(chosen), -1).gather(1, chosen[:, None])[:, 0]
    return chosen, normaliser - picked


class _Kept:
    """Gold, then the draws that are long enough and new, in the order drawn."""

    def __init__(self) -> None:
        self.seen: set[tuple[int, ...]] = set()
        self.values: list[tuple[float, float]] = []
        self.endings: list[tuple[int, ...]] = []

    def __len__(self) -> int:
        return len(self.endings)

    def add(self, draws: _Draws, *, min_tokens: int, most: int) -> None:
        for tokens, length, nats, last in zip(
            draws.tokens.tolist(),
            draws.lengths.tolist(),
            draws.ending_nats,
            draws.last_token_nats,
            strict=True,
        ):
            ending = tuple(tokens[:length])
            long_enough = length >= min_tokens or not self.endings  # gold, forced first, is as it is
            if len(self) < most and long_enough and ending not in self.seen:
                self.seen.add(ending)
                self.endings.append(ending)
                self.values.append((float(nats), float(last)))

    def row(self, context_nats: float, n_draws: int, *, width: int) -> SampledRow:
        tokens = np.zeros((len(self), width), np.int32)
        for i, ending in enumerate(self.endings):
            tokens[i, : len(ending)] = ending
        nats, last = np.array(self.values, np.float32).T
        return SampledRow(tokens, np.array([len(e) for e in self.endings]), nats, last, context_nats, n_draws)
