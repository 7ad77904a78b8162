"""The slow, obvious twins of sampling and scoring: one context, one ending, one token at a time, no packing."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
import torch

from swag_af.data.vocabulary import BOS, SPECIAL_TOKENS
from swag_af.lm.lstm.network import BidirectionalLM


@torch.inference_mode()
def probabilities(model: BidirectionalLM, direction: str, read: Sequence[int]) -> np.ndarray:
    """(V,) float64 distribution of the token after `read`, which begins with BOS or EOS."""
    stack = model.forward_lm if direction == "forward" else model.backward_lm
    hidden, _ = stack(model.embed(torch.tensor(read)[:, None]))
    return torch.softmax(model.logits(hidden[-1, 0]).double(), -1).numpy()


def nats(model: BidirectionalLM, direction: str, first: int, read: Sequence[int]) -> list[float]:
    """Negative log-likelihood of every token of `read` after `first`."""
    return [-float(np.log(probabilities(model, direction, [first, *read[:i]])[token])) for i, token in enumerate(read)]


def ending(
    model: BidirectionalLM,
    context: Sequence[int],
    max_tokens: int,
    stop: int,
    uniforms: Sequence[float],
    never: Sequence[int] = (),
) -> tuple[int, ...]:
    """One ending: each token by inverting, at a uniform, the cumulative distribution of all tokens but the special ones
    and those that are `never` sampled."""
    made: list[int] = []
    while len(made) < max_tokens and (not made or made[-1] != stop):
        p = probabilities(model, "forward", [BOS, *context, *made])
        p[[*range(len(SPECIAL_TOKENS)), *never]] = 0
        cumulative = np.cumsum(p)
        made.append(int(np.searchsorted(cumulative, uniforms[len(made)] * cumulative[-1], side="right")))
    return tuple(made)


def row(
    model: BidirectionalLM,
    context: Sequence[int],
    gold: Sequence[int],
    *,
    n_negatives: int,
    min_tokens: int,
    max_tokens: int,
    stop: int,
    rng: np.random.Generator,
    never: Sequence[int] = (),
    said: Callable[[Sequence[int]], Hashable] = tuple,
) -> tuple[list[tuple[int, ...]], list[str], int]:
    """Gold, then the first endings that are finished, long enough and say what none before them has `said`; why each
    draw counted or did not; and how many tokens that took."""
    kept, outcomes, n_tokens = [tuple(gold)], [], 0
    while len(kept) <= n_negatives:
        drawn = ending(model, context, max_tokens, stop, rng.random(max_tokens), never)
        n_tokens += len(drawn)
        if drawn[-1] != stop:
            outcomes.append("cut_off")
        elif len(drawn) < min_tokens:
            outcomes.append("too_short")
        elif said(drawn) in map(said, kept):
            outcomes.append("repeated")
        else:
            outcomes.append("kept")
            kept.append(drawn)
    return kept, outcomes, n_tokens


def by_multinomial(
    model: BidirectionalLM, context: Sequence[int], n: int, max_tokens: int, stop: int, seed: int
) -> list[tuple[int, ...]]:
    """`n` endings, each token by `torch.multinomial`: another way to draw from the same distribution."""
    generator = torch.Generator().manual_seed(seed)
    endings, known = [], {}
    for _ in range(n):
        made: list[int] = []
        while len(made) < max_tokens and (not made or made[-1] != stop):
            if tuple(made) not in known:
                known[tuple(made)] = torch.from_numpy(probabilities(model, "forward", [BOS, *context, *made]))
                known[tuple(made)][: len(SPECIAL_TOKENS)] = 0
            p = known[tuple(made)]
            made.append(int(torch.multinomial(p, 1, generator=generator)))
        endings.append(tuple(made))
    return endings
